/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/past/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/past.h"
#include "ui/term/spark.h"

/* The cells of a line's name before its graph, and of its peak after it. */
#define NAME_CELLS 9
#define PEAK_CELLS 10

/* The most moments in a cell: beyond, the line shows what is around the cursor. */
#define CELL_MOMENTS 16

/* The lines, in percent of the interval. */
enum { LINE_PRESSURE, LINE_WAITED, LINES };

/* The moments that there are cells for. */
struct moments {
	int cells;
	size_t per; /* moments in a cell */
	struct position *positions;
	size_t n, at; /* at: the one in the middle */
};

/* The drawn values: the highest of the moments of each cell. */
struct timeline {
	int used, cursor;
	int left; /* where the present was left; -1: not here */
	double *values[LINES];
	double peak[LINES];
};

bool timeline_wanted(const struct ui *ui)
{
	return ui->rewind.past && (ui->rewind.back || ui->rewind.timeline);
}

/* A moment's value; NAN: not known. */
static double value_of(const struct position *position, int line)
{
	const struct record_entry *entry = position_entry(position);
	double pressure = record_entry_pressure(entry);

	if (line == LINE_PRESSURE)
		return pressure < 0 ? (double)NAN : pressure;
	if (!entry->interval_ns)
		return (double)NAN;
	return (double)entry->waited_ns * 100.0 / (double)entry->interval_ns;
}

/* Takes a moment into its cell. */
static void take_moment(struct timeline *timeline, const struct position *position, int cell)
{
	for (int line = 0; line < LINES; line++) {
		double *at = &timeline->values[line][cell], value = value_of(position, line);

		if (isnan(*at) || value > *at)
			*at = value;
		if (isnan(timeline->peak[line]) || value > timeline->peak[line])
			timeline->peak[line] = value;
	}
}

/* The index of the last moment up to that time, if what comes after it is there; n: it is not. */
static size_t find_left(struct past *past, const struct position *positions, size_t n,
			uint64_t real_ns)
{
	struct position last = positions[n - 1];

	for (size_t i = n; i-- > 0;)
		if (position_entry(&positions[i])->real_ns <= real_ns)
			return i + 1 < n || !past_next(past, &last) ? i : n;
	return n;
}

/* Finds the moments around the one that is shown, or the last, for as many cells. False: none. */
static bool find_moments(struct past *past, int width, struct moments *found)
{
	size_t moments = past_moments(past), cells;
	struct position position;

	*found = (struct moments){ .cells = width - NAME_CELLS - PEAK_CELLS };
	if (found->cells < 1 || (!past_shown(past, &position) && !past_last(past, &position)))
		return false;
	cells = (size_t)found->cells;
	found->per = (moments + cells - 1) / cells;
	if (!found->per)
		found->per = 1;
	if (found->per > CELL_MOMENTS)
		found->per = CELL_MOMENTS;
	found->positions = xcalloc(cells * found->per, sizeof(*found->positions));
	found->n = past_around(past, &position, found->positions, cells * found->per, &found->at);
	return true;
}

/* Fills the cells; left_ns: when the present was left, 0: it is not. */
static void fill_cells(struct timeline *timeline, struct past *past, const struct moments *found,
		       uint64_t left_ns)
{
	size_t left = left_ns ? find_left(past, found->positions, found->n, left_ns) : found->n;

	for (size_t i = 0; i < found->n; i++)
		take_moment(timeline, &found->positions[i], (int)(i / found->per));
	timeline->used = (int)((found->n + found->per - 1) / found->per);
	timeline->cursor = (int)(found->at / found->per);
	timeline->left = left < found->n ? (int)(left / found->per) : -1;
}

/* Draws one line. */
static void draw_graph(struct ui *ui, const struct timeline *timeline, int number, int line)
{
	static const char *const names[] = { "pressure", "waited" };
	struct term *term = &ui->term;
	struct buf cell = { 0 };
	char peak[32];

	term_puts(term, line, 0, names[number], STYLE_LABEL);
	for (int i = 0; i < timeline->used; i++) {
		double value = timeline->values[number][i];
		bool cursor = i == timeline->cursor;

		if (number == LINE_PRESSURE && i == timeline->left && !cursor) {
			term_puts(term, line, NAME_CELLS + i, "|", STYLE_LABEL);
			continue;
		}
		cell.len = 0;
		spark_append_one(value, timeline->peak[number], term->charset, &cell);
		term_put(term, line, NAME_CELLS + i, 1, cell.data, cell.len,
			 cursor ? STYLE_SELECTED_HOT
				: style_of_graph(&term->styles, isnan(value) ? 0 : value));
	}
	buf_free(&cell);
	if (isnan(timeline->peak[number]))
		return;
	snprintf(peak, sizeof(peak), " %.1f %%", timeline->peak[number]);
	term_puts(term, line, NAME_CELLS + timeline->used, peak, STYLE_DIM);
}

void timeline_draw(struct ui *ui, int line)
{
	struct past *past = ui->rewind.past;
	struct timeline timeline;
	struct moments found;

	if (!find_moments(past, ui->term.columns, &found)) {
		if (found.cells > 0)
			term_puts(&ui->term, line, 0, "nothing is kept yet to look back at",
				  STYLE_DIM);
		return;
	}
	for (int i = 0; i < LINES; i++) {
		timeline.peak[i] = (double)NAN;
		timeline.values[i] = xcalloc((size_t)found.cells, sizeof(double));
		for (int cell = 0; cell < found.cells; cell++)
			timeline.values[i][cell] = (double)NAN;
	}
	fill_cells(&timeline, past, &found,
		   ui->rewind.back && !ui->rewind.replay ? ui->rewind.left_ns : 0);
	free(found.positions);
	for (int i = 0; i < LINES; i++) {
		draw_graph(ui, &timeline, i, line + i);
		free(timeline.values[i]);
	}
}
