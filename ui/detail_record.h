/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of the record that are no delays, in the detail view. */
#ifndef STALLTOP_UI_DETAIL_RECORD_H
#define STALLTOP_UI_DETAIL_RECORD_H

#include "detail.h"
#include "paper.h"

/* Writes them as parts of the page, a part a group, in the order of the record's table. */
void detail_record_write(const struct detail *detail, struct paper *paper);

#endif
