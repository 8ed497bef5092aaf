/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines above the table as data: figures, which batch mode joins to text, and which the
 * screen draws by what they weigh, as many as there is room for.
 */
#ifndef STALLTOP_VIEW_SUMMARY_H
#define STALLTOP_VIEW_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/group.h"
#include "view/column.h"

/* What a value is to its reader. */
enum weight {
	WEIGHT_NORMAL,
	WEIGHT_NAME, /* the program's */
	WEIGHT_WORD, /* no figure: a name, a state, a heading */
	WEIGHT_ZERO, /* nothing, or unknown, among figures that are compared */
	WEIGHT_WARM, /* to be noticed */
	WEIGHT_HOT
};

/* Where there is no room for all figures, those of priority 0 get it first, then of 1 ... */
#define SUMMARY_PRIORITIES 8

struct summary_figure {
	const char *label; /* before the value; NULL: none */
	const char *unit; /* behind it, with the blank between where there is one; NULL: none */
	size_t at; /* where the value's text begins in the line's; it ends at the next one's */
	unsigned width; /* cells of it all: label at the left, the rest right; 0: what it takes */
	unsigned priority;
	enum weight weight;
	bool joined; /* one with the figure before: shown with it, a blank behind it */
	bool hidden; /* there is no room for it */
};

/* More than any line has. */
#define SUMMARY_FIGURES 20

/* A line. */
struct summary {
	struct buf *text; /* all values, escaped, in the caller's buffer */
	struct summary_figure figures[SUMMARY_FIGURES];
	size_t n;
	unsigned gap; /* blanks between figures that are not joined */
};

/* The value's text, not NUL-terminated. */
const char *summary_value(const struct summary *line, size_t i, size_t *len);

/* Cells of a figure: of its label with the blanks behind, of its value, of all. */
struct summary_cells {
	unsigned before, value, all;
};

struct summary_cells summary_cells(const struct summary *line, size_t i, enum text_charset charset);

/* Blanks before a figure. */
unsigned summary_gap(const struct summary *line, size_t i);

/* Cells of the whole line. */
unsigned summary_width(const struct summary *line, enum text_charset charset);

/*
 * Hides figures, so that the others fit, with fewer blanks between them if need be. The first
 * stays, whatever it takes, but for the first of a table.
 */
void summary_fit(struct summary *line, unsigned width, enum text_charset charset);

/* Appends what of the line is not hidden. */
void summary_append(struct buf *out, const struct summary *line);

/* What the title says besides what is in the view. */
struct title {
	uint64_t interval_ns; /* in ns, while there is no interval yet */
	enum group_by rows; /* what rows are */
	bool of_group; /* they are the members of this group: */
	enum group_by by;
	const char *name; /* raw bytes; NULL: not known */
	bool below; /* with the members of all groups below it */
	bool paused, held;
};

/*
 * Makes the title: time of day, uptime, load, interval, source, what is shown. As all that
 * follows it empties `text` first, and the line is valid until that is changed.
 */
struct summary summary_title(struct buf *text, const struct view *view, const struct title *title);

/* Makes the line of tasks, CPU states, memory, own cost. */
struct summary summary_tasks(struct buf *text, const struct view *view);

/* Two readings of one resource's pressure. */
struct psi_pair {
	const struct psi *now, *before; /* before NULL: there was none */
	uint64_t interval_ns; /* between the two; 0: not known */
};

/* Takes the machine's, or that of the group that all is restricted to. */
struct psi_pair summary_pressure_of(const struct frame_info *info, enum psi_resource resource);

/* Makes the head of the pressure block. */
struct summary summary_pressure_head(struct buf *text);

/* Makes the line of one resource's pressure. */
struct summary summary_pressure(struct buf *text, enum psi_resource resource,
				const struct psi_pair *pair);

/* Makes a line of some avg10 of each resource; `brief`: without the word "some". */
struct summary summary_pressure_short(struct buf *text, const struct frame_info *info, bool brief);

#endif
