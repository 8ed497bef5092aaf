/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/table/pressure.h"

#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "history/past.h"
#include "ui/term/spark.h"

/* The fewest cells that make a graph, and those from which it says how long it goes back. */
#define CELLS_LEAST 3
#define CELLS_SAID 20
#define SAID_WIDTH 7

/* The time that the graphs go back, and the most moments that are looked at for it. */
#define SPAN_NS (300 * NSEC_PER_SEC)
#define MOMENTS_MOST 400

/* The scale's upper end, in percent: the same for all, so that they can be compared. */
#define SCALE 100.0

/* Adds a moment: each cell that its interval touches keeps the highest value. */
static void add_outline(struct pressure_graph *graph, const struct outline *outline)
{
	uint64_t end = outline->real_ns - graph->begin_ns;
	uint64_t begin = end > outline->interval_ns ? end - outline->interval_ns + 1 : 0;

	for (uint64_t cell = begin / graph->cell_ns; cell <= end / graph->cell_ns; cell++) {
		if (cell >= (uint64_t)graph->cells)
			return;
		for (unsigned r = 0; r < PSI_RESOURCES; r++)
			if (outline->stalls[r] > graph->values[r][cell])
				graph->values[r][cell] = outline->stalls[r];
	}
}

/* Finds the last moment to be shown. False: none. */
static bool find_last_moment(struct ui *ui, struct position *position)
{
	struct past *past = ui->rewind.past;

	if (ui->rewind.back)
		return past_shown(past, position);
	past_want_threads(past, ui->sampler_config.threads);
	return past_last(past, position);
}

void pressure_graph_make(struct ui *ui, int column, struct pressure_graph *graph)
{
	const struct frame_info *info = ui->frame->info;
	struct outline now = { .real_ns = info->real_ns, .interval_ns = info->interval_ns };
	struct position position;
	bool more;

	*graph = (struct pressure_graph){ .column = column + 1 };
	graph->cells = ui->term.columns - graph->column;
	graph->said = graph->cells >= CELLS_SAID;
	if (graph->said) {
		graph->column += SAID_WIDTH;
		graph->cells -= SAID_WIDTH;
	}
	if (graph->cells > PRESSURE_CELLS)
		graph->cells = PRESSURE_CELLS;
	if (graph->cells < CELLS_LEAST || !ui->rewind.past)
		graph->cells = 0;
	if (!graph->cells)
		return;
	/* Cells begin at whole multiples of their time: most refreshes do not move them. */
	graph->cell_ns = SPAN_NS / (uint64_t)graph->cells / NSEC_PER_SEC * NSEC_PER_SEC;
	graph->cell_ns += NSEC_PER_SEC;
	graph->begin_ns =
		(info->real_ns / graph->cell_ns - (uint64_t)graph->cells + 1) * graph->cell_ns;
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		for (int i = 0; i < graph->cells; i++)
			graph->values[r][i] = -1;
	/* The present's moment is kept only after it was drawn. */
	lookback_stalls(info, now.stalls);
	add_outline(graph, &now);
	more = find_last_moment(ui, &position);
	for (unsigned i = 0; more && i < MOMENTS_MOST; i++) {
		if (position_outline(&position)->real_ns < graph->begin_ns)
			break;
		add_outline(graph, position_outline(&position));
		more = past_before(ui->rewind.past, &position);
	}
}

/* Writes how long the graph goes back before it. */
static void say_span(struct ui *ui, const struct pressure_graph *graph, int line)
{
	unsigned long long seconds =
		graph->cell_ns / NSEC_PER_SEC * (unsigned long long)graph->cells;
	char text[24];

	snprintf(text, sizeof(text), "%llu min", (seconds + 30) / 60);
	term_puts(&ui->term, line, graph->column - SAID_WIDTH + 1, text, STYLE_LABEL);
}

void pressure_graph_draw(struct ui *ui, const struct pressure_graph *graph,
			 enum psi_resource resource, int line)
{
	const struct styles *styles = &ui->term.styles;
	const float *values = graph->values[resource];
	struct buf *text = &ui->scratch;

	if (graph->cells && graph->said)
		say_span(ui, graph, line);
	for (int from = 0, to; from < graph->cells; from = to) {
		enum style style = style_of_graph(styles, (double)values[from]);

		text->len = 0;
		for (to = from; to < graph->cells; to++) {
			if (style_of_graph(styles, (double)values[to]) != style)
				break;
			if (values[to] >= 0 && values[to] < SHARE_SHOWN)
				buf_putc(text, '.');
			else
				spark_append_one(values[to] < 0 ? (double)NAN : (double)values[to],
						 SCALE, ui->term.charset, text);
		}
		term_put(&ui->term, line, graph->column + from, to - from, text->data, text->len,
			 style);
	}
}
