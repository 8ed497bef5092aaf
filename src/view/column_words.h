/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns in words: headings spelled out, subjects of remedies, cost. */
#pragma once

#include "base/util.h"
#include "view/column.h"
#include "view/remedies.h"

/* The words of a column whose heading is no field of the kernel's record. */
struct column_words {
	const char *id;
	const char *name; /* the heading spelled out */
	const char *more; /* more than its one line of help; NULL: nothing */
	enum remedy_subject subject; /* of the remedies for high figures */
};

/* One row per column except those of the record, in the order of columns[]. */
extern const struct column_words column_words_table[];
extern const size_t column_words_n;

/* The words of a column; NULL for one of sites, and for a field of the record (a kernel name). */
const struct column_words *column_words(const struct column *column);

/* The heading spelled out; the kernel's name for a field of the record. */
const char *column_name(const struct column *column);

/* Appends the heading spelled out and the column's help: one line. */
void column_append_words(const struct column *column, struct buf *out);

/*
 * The cost of the column beyond that of every sample: in a few words, such as "1 file a row" ("-"
 * for nothing), and in a sentence.
 */
struct column_cost {
	const char *brief, *words;
};

struct column_cost column_cost(const struct column *column);
