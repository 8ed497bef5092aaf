/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manual's tables, made from the program's. */
#ifndef STALLTOP_DOC_H
#define STALLTOP_DOC_H

#include <stdbool.h>

#include "buf.h"

/*
 * Appends a table of the manual as roff (man(7)): fields, options, units or notes. False
 * for any other name.
 */
bool doc_append(struct buf *out, const char *name);

#endif
