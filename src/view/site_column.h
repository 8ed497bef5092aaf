/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a table of sites: one row per column. Rows are lines of view/site_lines.h. */
#ifndef STALLTOP_VIEW_SITE_COLUMN_H
#define STALLTOP_VIEW_SITE_COLUMN_H

#include "base/text.h"
#include "view/site_lines.h"
#include "view/value.h"

struct site_column {
	const char *id;
	const char *heading;
	const char *unit;
	const char *help;
	unsigned width; /* cells; of a text at least */
	/* Cells beyond which a text has no use for more; 0: it has its width. */
	unsigned most;
	enum value_format format;
	bool lost; /* stands out where the line's time is lost; is added up in the sum */
	bool bounded; /* may be a lower bound: ">=" in front */
	bool path; /* cut in front if it is a path */
	bool of_several; /* only where lines are of several processes */
	unsigned from; /* the least width in which it is shown */
	unsigned yields; /* the turn in which it makes room; 0: never */
	struct value (*get)(const struct trace_frame *trace, const struct site_line *line);
};

/* All columns, in their order. */
extern const struct site_column site_columns[];
extern const size_t site_columns_n;

#define SITE_COLUMNS_MAX 16

/* The columns that fit, and their cells. */
struct site_layout {
	const struct site_column *columns[SITE_COLUMNS_MAX];
	unsigned cells[SITE_COLUMNS_MAX];
	size_t n;
};

/* Chooses the columns for a width: numbers as they are, texts as wide as there is room. */
void site_layout_fit(struct site_layout *layout, unsigned width, bool several);

/* The column of that id, or NULL. */
const struct site_column *site_column_by_id(const char *id);

/* Appends a heading or a unit as a cell. */
void site_column_label(const struct site_column *column, unsigned cells, const char *label,
		       struct buf *out);

/* Appends a line's value as a cell, in exactly so many cells. scratch is for escaping. */
void site_column_append(const struct site_column *column, unsigned cells,
			const struct trace_frame *trace, const struct site_line *line,
			enum text_charset charset, struct buf *scratch, struct buf *out);

/* Does the same as one word without blanks: text_word(). */
void site_column_append_word(const struct site_column *column, unsigned cells,
			     const struct trace_frame *trace, const struct site_line *line,
			     enum text_charset charset, struct buf *scratch, struct buf *out);

#endif
