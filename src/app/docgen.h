/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts about the program itself: the manual's tables, the schema of its JSON, its version. */
#pragma once

#include <stdbool.h>

#include "base/util.h"

struct proc;

/*
 * Appends a table of the manual as roff (man(7)): fields, options, units or notes. Returns false
 * for any other name.
 */
bool docgen_append(struct buf *out, const char *name);

/* Appends the JSON Schema of the program's JSON. */
void docgen_schema(struct buf *out);

/* Appends the text of --version: the sources built in, and what the kernel supports. */
void docgen_version(struct buf *out, struct proc *proc);
