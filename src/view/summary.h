/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines above the table as data: figures, which batch mode joins to text, and which the screen
 * draws by weight, as many as fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "frame/group.h"
#include "view/column.h"

/* The importance of a value to its reader. */
enum weight {
	WEIGHT_NORMAL,
	WEIGHT_NAME, /* the program's name */
	WEIGHT_WORD, /* not a figure: a name, a state, a heading */
	WEIGHT_ZERO, /* zero or unknown, among figures that are compared */
	WEIGHT_WARM, /* worth attention */
	WEIGHT_HOT
};

/* Without room for all figures, priority 0 is dropped first, then 1 ... */
#define SUMMARY_PRIORITIES 8

struct summary_figure {
	const char *label; /* before the value; NULL: none */
	const char *unit; /* after it, with the blank between if any; NULL: none */
	size_t at; /* start of the value in the line's text; it ends at the next figure's start */
	unsigned width; /* cells of the figure: label at the left, the rest right; 0: as needed */
	unsigned priority;
	enum weight weight;
	bool joined; /* part of the previous figure: shown with it, after a blank */
	bool tight; /* joined without the blank */
	bool hidden; /* no room for it */
};

/* Maximum figures of a line. */
#define SUMMARY_FIGURES 20

/* A line. */
struct summary {
	struct buf *text; /* all values, escaped, in the caller's buffer */
	struct summary_figure figures[SUMMARY_FIGURES];
	size_t n;
	unsigned gap; /* blanks between separate figures */
};

/* The value's text, not NUL-terminated. */
const char *summary_value(const struct summary *line, size_t i, size_t *len);

/* Cells of a figure: of its label with the blanks after it, of its value, of the whole. */
struct summary_cells {
	unsigned before, value, all;
};

struct summary_cells summary_cells(const struct summary *line, size_t i, enum text_charset charset);

/* Blanks before a figure. */
unsigned summary_gap(const struct summary *line, size_t i);

/* Cells of the whole line. */
unsigned summary_width(const struct summary *line, enum text_charset charset);

/*
 * Hides figures so that the others fit, with fewer blanks between them if necessary. The first
 * figure stays, however long it is, except the first of a table.
 */
void summary_fit(struct summary *line, unsigned width, enum text_charset charset);

/* Appends the visible figures. */
void summary_append(struct buf *out, const struct summary *line);

/* The facts for the title that are not in the view. */
struct title {
	enum group_by rows; /* the kind of rows */
	bool of_group; /* the rows are the members of this group: */
	enum group_by by;
	const char *name; /* raw bytes; NULL: not known */
	bool below; /* including the members of all groups below */
	bool paused, held;
	bool plain; /* for people: the unit always; only unusual facts about the source */
	const char *past; /* how far back it is, in words; NULL: the present */
	const char *preset; /* other than the default view; NULL: none */
	const char *filter; /* which rows are shown, in words; NULL: all */
};

/*
 * Makes the title: time of day, uptime, load, interval, source, what is shown. Like all functions
 * below it empties `text` first, and the line is valid until `text` changes.
 */
struct summary summary_title(struct buf *text, const struct view *view, const struct title *title);

/*
 * The share of the machine's CPU time in some states (bits of enum cpu_state), in percent; below 0:
 * unknown.
 */
double summary_cpu_share(const struct frame_info *info, unsigned states);

/* Makes the line of tasks, CPU states, memory and the program's own cost. */
struct summary summary_tasks(struct buf *text, const struct view *view);

/* Two readings of one resource's pressure. */
struct psi_pair {
	const struct psi *now, *before; /* before is NULL without an earlier reading */
	uint64_t interval_ns; /* between the two; 0: not known */
};

/* Reads the machine's pressure, or that of the group that the view is restricted to. */
struct psi_pair summary_pressure_of(const struct frame_info *info, enum psi_resource resource);

/*
 * The share of the interval in which some task was stalled, or all were (full), in percent; below
 * 0: unknown. (It may exceed 100 slightly, depending on when the interval's ends were read.)
 */
double summary_stalled(const struct psi_pair *pair, bool full);

/* Makes the head of the pressure block. */
struct summary summary_pressure_head(struct buf *text);

/* Makes the line of one resource's pressure. */
struct summary summary_pressure(struct buf *text, enum psi_resource resource,
				const struct psi_pair *pair);

/*
 * Makes the same line without a heading, each average of "some" with that of "full", for a screen
 * of that many columns. The least important averages come last.
 */
struct summary summary_pressure_pairs(struct buf *text, enum psi_resource resource,
				      const struct psi_pair *pair, unsigned width);

/* Makes a line with the avg10 of "some" of each resource; `brief`: without the word "some". */
struct summary summary_pressure_short(struct buf *text, const struct frame_info *info, bool brief);
