/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/past.h"
#include "ui/spark.h"

/* The cells of a line's name before its graph, and of its peak after it. */
#define NAME_CELLS 9
#define PEAK_CELLS 10

/* The most moments in a cell: beyond, the line shows what is around the cursor. */
#define CELL_MOMENTS 16

/* The lines, in percent of the interval. */
enum { LINE_PRESSURE, LINE_WAITED, LINES };

/* The drawn values: the highest of the moments of each cell. */
struct timeline {
	int cells, used, cursor;
	int left; /* where the present was left; -1: not here */
	double *values[LINES];
	double peak[LINES];
};

bool timeline_wanted(const struct ui *ui)
{
	return ui->rewind.past && (ui->rewind.back || ui->rewind.timeline);
}

/* A moment's value; NAN: not known. */
static double value_of(const struct spot *place, int line)
{
	const struct point *point = spot_point(place);
	uint64_t waited;

	if (line == LINE_PRESSURE)
		return point->pressure < 0 ? (double)NAN : (double)point->pressure;
	waited = stretch_waited(place->stretch, place->at);
	if (waited == WAITED_UNKNOWN || !point->interval_ns)
		return (double)NAN;
	return (double)waited * 100.0 / (double)point->interval_ns;
}

/* Takes a moment into its cell. */
static void take_moment(struct timeline *timeline, const struct spot *place, int cell)
{
	for (int line = 0; line < LINES; line++) {
		double *at = &timeline->values[line][cell], value = value_of(place, line);

		if (isnan(*at) || value > *at)
			*at = value;
		if (isnan(timeline->peak[line]) || value > timeline->peak[line])
			timeline->peak[line] = value;
	}
}

/* The index of the last moment up to that time, if what comes after it is there; n: it is not. */
static size_t find_left(struct past *past, const struct spot *places, size_t n, uint64_t real_ns)
{
	struct spot last = places[n - 1];

	for (size_t i = n; i-- > 0;)
		if (spot_point(&places[i])->real_ns <= real_ns)
			return i + 1 < n || !past_next(past, &last) ? i : n;
	return n;
}

/* Fills the cells with the moments around one; left_ns: when the present was left, 0: it is not. */
static void fill_cells(struct timeline *timeline, struct past *past, const struct spot *place,
		       uint64_t left_ns)
{
	size_t cells = (size_t)timeline->cells, moments = past_moments(past), per, n, at;
	struct spot *places;

	per = (moments + cells - 1) / cells;
	if (!per)
		per = 1;
	if (per > CELL_MOMENTS)
		per = CELL_MOMENTS;
	places = xcalloc(cells * per, sizeof(*places));
	n = past_around(past, place, places, cells * per, &at);
	for (size_t i = 0; i < n; i++)
		take_moment(timeline, &places[i], (int)(i / per));
	timeline->used = (int)((n + per - 1) / per);
	timeline->cursor = (int)(at / per);
	at = left_ns ? find_left(past, places, n, left_ns) : n;
	timeline->left = at < n ? (int)(at / per) : -1;
	free(places);
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
	struct timeline timeline = { .cells = ui->term.columns - NAME_CELLS - PEAK_CELLS };
	struct spot place;

	if (timeline.cells < 1)
		return;
	if (!past_shown(past, &place) && !past_last(past, &place)) {
		term_puts(&ui->term, line, 0, "nothing is kept yet to look back at", STYLE_DIM);
		return;
	}
	for (int i = 0; i < LINES; i++) {
		timeline.peak[i] = (double)NAN;
		timeline.values[i] = xcalloc((size_t)timeline.cells, sizeof(double));
		for (int cell = 0; cell < timeline.cells; cell++)
			timeline.values[i][cell] = (double)NAN;
	}
	fill_cells(&timeline, past, &place,
		   ui->rewind.back && !ui->rewind.replay ? ui->rewind.left_ns : 0);
	for (int i = 0; i < LINES; i++) {
		draw_graph(ui, &timeline, i, line + i);
		free(timeline.values[i]);
	}
}
