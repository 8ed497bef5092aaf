/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "data/system.h"
#include "frame/notes.h"
#include "history/cursor.h"
#include "ui/finding.h"
#include "ui/past/history_view.h"
#include "ui/state/ui.h"
#include "ui/table/table_state.h"
#include "ui/term/spark.h"
#include "view/remedies.h"
#include "view/summary.h"

/* Graphs of pressure in the last minutes, beside its figures. */

#define PRESSURE_CELLS 120

struct pressure_graph {
	int column, cells; /* cells 0: there is no room, or no history */
	bool said; /* the time it covers is before it */
	int gauge; /* column of the present value as a bar; 0: no room */
	int first; /* the first cell that is known */
	uint64_t cell_ns; /* the time per cell */
	uint64_t begin_ns; /* CLOCK_REALTIME of the first one */
	double values[PSI_RESOURCES][PRESSURE_CELLS]; /* "some", in percent; negative: unknown */
};

/* Minimum cells of a graph, and those from which the time it covers is shown. */
#define CELLS_LEAST 3
#define CELLS_SAID 20
#define SAID_WIDTH 7

/* Cells of the bar, without the blank before it. */
#define GAUGE_CELLS 10

/* The time covered by the graphs, and the maximum samples read for it. */
#define SPAN_NS (300 * NSEC_PER_SEC)
#define MOMENTS_MOST 400

/* The upper end of the scale, in percent: equal for all, so that they can be compared. */
#define SCALE 100.0

/* Adds a sample: each cell that its interval touches keeps the highest value. */
static void add_to_timeline(struct pressure_graph *graph, const struct record_entry *entry)
{
	uint64_t end = entry->real_ns - graph->begin_ns;
	uint64_t begin = end > entry->interval_ns ? end - entry->interval_ns + 1 : 0;

	for (uint64_t cell = begin / graph->cell_ns; cell <= end / graph->cell_ns; cell++) {
		if (cell >= (uint64_t)graph->cells)
			return;
		for (unsigned r = 0; r < PSI_RESOURCES; r++)
			if (entry->stalls[r] > graph->values[r][cell])
				graph->values[r][cell] = entry->stalls[r];
	}
}

/* Finds the last sample to be shown. False: none. */
static bool find_last_sample(struct ui *ui, struct position *position)
{
	struct cursor *past = ui->history.past;

	if (ui->history.back)
		return cursor_shown(past, position);
	cursor_want_threads(past, ui->sampler_config.threads);
	return cursor_last(past, position);
}

/* Makes the graphs, up to the shown sample, for a block that ends before `column`. */
static void pressure_graph_make(struct ui *ui, int column, struct pressure_graph *graph)
{
	const struct frame_info *info = ui->frame->info;
	struct record_entry now = { .real_ns = info->real_ns, .interval_ns = info->interval_ns };
	struct position position;
	bool more;

	*graph = (struct pressure_graph){ .column = column + 1 };
	if (ui->term.columns - graph->column >= GAUGE_CELLS + CELLS_SAID) {
		graph->gauge = graph->column;
		graph->column += GAUGE_CELLS + 1;
	}
	graph->cells = ui->term.columns - graph->column;
	graph->said = graph->cells >= CELLS_SAID;
	if (graph->said) {
		graph->column += SAID_WIDTH;
		graph->cells -= SAID_WIDTH;
	}
	if (graph->cells > PRESSURE_CELLS)
		graph->cells = PRESSURE_CELLS;
	if (graph->cells < CELLS_LEAST || !ui->history.past)
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
	/* The present's sample is stored only after it was drawn. */
	record_stalls(info, now.stalls);
	add_to_timeline(graph, &now);
	more = find_last_sample(ui, &position);
	for (unsigned i = 0; more && i < MOMENTS_MOST; i++) {
		if (position_entry(&position)->real_ns < graph->begin_ns)
			break;
		add_to_timeline(graph, position_entry(&position));
		more = cursor_before(ui->history.past, &position);
	}
	/* The known part is adjacent to the figures. */
	while (graph->first < graph->cells - 1 && graph->values[PSI_CPU][graph->first] < 0 &&
	       graph->values[PSI_IO][graph->first] < 0)
		graph->first++;
}

/* Draws the stall share of the interval as a bar with a width of 100 %. */
static void draw_gauge(struct ui *ui, const struct pressure_graph *graph, double share, int line)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	gauge_append(share / 100, GAUGE_CELLS, ui->term.charset, text);
	term_put(&ui->term, line, graph->gauge, GAUGE_CELLS, text->data, text->len,
		 style_of_graph(&ui->term.styles, share));
}

/* Writes the time covered by the graph before it. */
static void say_span(struct ui *ui, const struct pressure_graph *graph, int line)
{
	unsigned long long seconds =
		graph->cell_ns / NSEC_PER_SEC * (unsigned long long)graph->cells;
	char text[24];

	snprintf(text, sizeof(text), "%llu min", (seconds + 30) / 60);
	term_puts(&ui->term, line, graph->column - SAID_WIDTH + 1, text, STYLE_LABEL);
}

/* Draws the graph of a resource. */
static void pressure_graph_draw(struct ui *ui, const struct pressure_graph *graph,
				enum psi_resource resource, int line)
{
	const struct styles *styles = &ui->term.styles;
	const double *values = graph->values[resource];
	struct buf *text = &ui->scratch;

	if (graph->cells && graph->said)
		say_span(ui, graph, line);
	for (int from = graph->first, to; from < graph->cells; from = to) {
		enum style style = style_of_graph(styles, values[from]);

		text->len = 0;
		for (to = from; to < graph->cells; to++) {
			if (style_of_graph(styles, values[to]) != style)
				break;
			if (values[to] >= 0 && values[to] < SHARE_SHOWN)
				buf_putc(text, '.');
			else
				spark_append_one(values[to] < 0 ? (double)NAN : values[to], SCALE,
						 ui->term.charset, text);
		}
		term_put(&ui->term, line, graph->column + from - graph->first, to - from,
			 text->data, text->len, style);
	}
}

/* Minimum lines for: the sum row, the pressure block. */
#define LINES_TABLE 12
#define LINES_PRESSURE 16
#define ROWS_LEAST 4

/* Draws a figure, its value by weight. Returns the column after it. */
static int draw_figure(struct term *term, int at, int column, const struct summary *line, size_t i)
{
	static const enum style styles[] = {
		[WEIGHT_NORMAL] = STYLE_NORMAL, [WEIGHT_NAME] = STYLE_BOLD,
		[WEIGHT_WORD] = STYLE_LABEL,	[WEIGHT_ZERO] = STYLE_DIM,
		[WEIGHT_WARM] = STYLE_WARM,	[WEIGHT_HOT] = STYLE_HOT,
	};
	const struct summary_figure *figure = &line->figures[i];
	struct summary_cells cells = summary_cells(line, i, term->charset);
	enum style style = styles[figure->weight];
	size_t len;
	const char *value = summary_value(line, i, &len);

	if (figure->label)
		term_puts(term, at, column, figure->label, STYLE_LABEL);
	column += (int)cells.before;
	column = term_put(term, at, column, (int)cells.value, value, len, style);
	if (!figure->unit)
		return column;
	/* A unit that is a separate word has the style of a word. */
	return term_puts(term, at, column, figure->unit,
			 *figure->unit == ' ' ? STYLE_LABEL : style);
}

/* Draws a line, or the part of it that fits. */
static void draw_figures(struct term *term, int at, struct summary *line)
{
	int column = 0;

	summary_fit(line, (unsigned)term->columns, term->charset);
	for (size_t i = 0; i < line->n; i++)
		if (!line->figures[i].hidden)
			column = draw_figure(term, at, column + (int)summary_gap(line, i), line, i);
	/* Marks a cut last word. */
	if (column > term->columns)
		term_puts(term, at, term->columns - 1, "+", STYLE_DIM);
}

/* Appends the active filters: "tmux, user 1000". */
static void put_filters(struct ui *ui, struct buf *out)
{
	const struct query *query = &ui->query;

	if (ui->pattern)
		ui_escape(ui, out, ui->pattern);
	for (size_t i = 0; i < query->nusers; i++)
		buf_printf(out, "%suser %u", out->len ? ", " : "", (unsigned)query->users[i]);
	if (query->over_ms >= 0)
		buf_printf(out, "%sover %g ms", out->len ? ", " : "", query->over_ms);
	if (query->active)
		buf_printf(out, "%sactive", out->len ? ", " : "");
}

/* Draws the program's name, its clock, and the title. */
static void draw_clock_line(struct ui *ui, int line, UNUSED int lines)
{
	struct title title = {
		.rows = ui_rows_are(ui),
		.of_group = ui->opened,
		.by = ui->group.by,
		.below = ui->group.below,
		.name = ui->group.named ? buf_cstr(&ui->group.name) : NULL,
		.paused = ui->paused && !ui->history.back,
		.held = ui->held,
		.plain = true,
		.preset = ui->settings->presets.now ? view_preset(ui->settings)->name : NULL,
	};
	struct view view = ui_view(ui);
	struct buf past = { 0 }, filters = { 0 };
	struct summary figures;

	put_filters(ui, &filters);
	title.filter = filters.len ? buf_cstr(&filters) : NULL;
	if (ui->history.back) {
		history_append(ui, &past);
		title.past = buf_cstr(&past);
	}
	figures = summary_title(&ui->scratch, &view, &title);
	draw_figures(&ui->term, line, &figures);
	buf_free(&past);
	buf_free(&filters);
}

/* Draws the line of tasks and CPU states. */
static void draw_tasks(struct ui *ui, int line, UNUSED int lines)
{
	struct view view = ui_view(ui);
	struct summary figures = summary_tasks(&ui->scratch, &view);

	draw_figures(&ui->term, line, &figures);
}

/* Draws the short form: without its first word if it does not fit. */
static void draw_pressure_short(struct ui *ui, int line)
{
	struct summary figures = summary_pressure_short(&ui->scratch, ui->frame->info, false);

	if (summary_width(&figures, ui->term.charset) > (unsigned)ui->term.columns)
		figures = summary_pressure_short(&ui->scratch, ui->frame->info, true);
	draw_figures(&ui->term, line, &figures);
}

/* True if a resource has a line: interrupts only if they cost something. */
static bool has_pressure(const struct ui *ui, enum psi_resource r)
{
	const struct psi_reading *pressure = frame_pressure(ui->frame->info);

	return !pressure->error[r] && (r != PSI_IRQ || pressure->psi[r].full.avg300);
}

/* Draws the block, or its short form if there is one line. */
static void draw_pressure(struct ui *ui, int line, int lines)
{
	struct pressure_graph graph = { 0 };
	int end = line + lines;

	if (lines == 1) {
		draw_pressure_short(ui, line);
		return;
	}
	for (enum psi_resource r = 0; line < end && r < PSI_RESOURCES; r++) {
		struct psi_pair pair = summary_pressure_of(ui->frame->info, r);
		struct summary figures;

		if (!has_pressure(ui, r))
			continue;
		figures =
			summary_pressure_pairs(&ui->scratch, r, &pair, (unsigned)ui->term.columns);
		if (!graph.cell_ns)
			pressure_graph_make(ui, (int)summary_width(&figures, ui->term.charset),
					    &graph);
		draw_figures(&ui->term, line, &figures);
		if (graph.gauge)
			draw_gauge(ui, &graph, summary_stalled(&pair, false), line);
		pressure_graph_draw(ui, &graph, r, line++);
	}
}

/* Draws the timeline. */
static void draw_timeline(struct ui *ui, int line, UNUSED int lines)
{
	timeline_draw(ui, line);
}

/* Makes the text of a note, with the remedy. One of them has a key on the screen. */
static void write_note(struct buf *out, const struct note *note, bool remedy)
{
	out->len = 0;
	if (note->id == NOTE_DELAYACCT_OFF)
		buf_puts(out, "delay accounting is off: D switches it on");
	else if (remedy)
		remedy_append_note(out, note);
	else
		note_append(out, note);
}

/* Draws a note in one line, its remedy if it fits, and a hint if there is more to read. */
static void draw_note(struct ui *ui, int line, const struct note *note, size_t more)
{
	struct buf *text = &ui->scratch;
	int room = ui->term.columns;
	char hint[32] = "";

	if (more)
		snprintf(hint, sizeof(hint), " (%zu more: n)", more);
	write_note(text, note, true);
	if (text->len + strlen(hint) > (size_t)room)
		write_note(text, note, false);
	if (!more && text->len > (size_t)room)
		snprintf(hint, sizeof(hint), " (all: n)");
	room -= (int)strlen(hint);
	term_put(&ui->term, line, 0, room, text->data, text->len, STYLE_NOTE);
	if (*hint)
		term_puts(&ui->term, line, room, hint, STYLE_NOTE);
}

/*
 * Goes through a note's lines of whole words, the first at `line`, and draws those before `end`.
 * Returns the line after it.
 */
static int wrap_note(struct ui *ui, const struct buf *text, int line, int end)
{
	unsigned cells = (unsigned)ui->term.columns;

	for (size_t at = 0, n; at < text->len; at += n, line++) {
		n = text_line(text->data + at, cells);
		if (!n)
			n = text->len - at;
		if (line < end)
			term_put(&ui->term, line, 0, (int)cells, text->data + at, n, STYLE_NOTE);
		at += text->data[at + n] == ' ';
	}
	return line;
}

/* Draws all notes from `line` on, as far as they end before `end`. Returns the line after them. */
static int wrap_notes(struct ui *ui, int line, int end)
{
	const struct frame_info *info = ui->frame->info;

	for (size_t i = 0; i < info->head.nnotes; i++) {
		write_note(&ui->scratch, &info->head.notes[i], true);
		buf_cstr(&ui->scratch);
		line = wrap_note(ui, &ui->scratch, line, end);
	}
	return line;
}

/* Draws the first note, or all. */
static void draw_notes(struct ui *ui, int line, int lines)
{
	const struct frame_info *info = ui->frame->info;

	if (ui->all_notes)
		wrap_notes(ui, line, line + lines);
	else if (notes_default_count(info))
		draw_note(ui, line, &info->head.notes[0], info->head.nnotes - 1);
}

/* The title always has its line. */
static int title_lines(UNUSED struct ui *ui, UNUSED int lines)
{
	return 1;
}

/* Tasks are hidden by a key. */
static int tasks_lines(struct ui *ui, UNUSED int lines)
{
	return !ui->settings->fold_header;
}

/* Pressure has a line per available resource, or one for all. */
static int pressure_lines(struct ui *ui, int lines)
{
	int files = 0;

	for (enum psi_resource r = 0; r < PSI_RESOURCES; r++)
		files += has_pressure(ui, r);
	if (!files || ui->settings->fold_header)
		return 0;
	return lines >= LINES_PRESSURE ? files : 1;
}

/* Findings are hidden by the tasks' key; all of them are shown by the notes' key. */
static int findings_lines(struct ui *ui, int lines)
{
	return tasks_lines(ui, lines) ? finding_lines(ui) : 0;
}

/* The timeline is shown while the screen looks back, or by a key. */
static int timeline_lines(struct ui *ui, UNUSED int lines)
{
	return timeline_wanted(ui) ? TIMELINE_LINES : 0;
}

/* Notes keep their line for a while after they have gone. */
static int notes_lines(struct ui *ui, UNUSED int lines)
{
	if (ui->all_notes)
		return wrap_notes(ui, 0, 0);
	return ui->note_room != 0;
}

/* The parts, from top to bottom. */
static const struct part {
	int (*lines)(struct ui *ui, int lines); /* those wanted, on a screen with so many lines */
	void (*draw)(struct ui *ui, int line, int lines);
	int turn; /* the turn in which it gives lines to the rows, from 1 on */
	bool whole; /* gives all of them or none */
} parts[HEADER_PARTS] = {
	[HEADER_TITLE] = { title_lines, draw_clock_line, 7, true },
	[HEADER_TASKS] = { tasks_lines, draw_tasks, 5, true },
	[HEADER_PRESSURE] = { pressure_lines, draw_pressure, 6, false },
	[HEADER_FINDING] = { findings_lines, finding_draw, 4, false },
	[HEADER_TIMELINE] = { timeline_lines, draw_timeline, 1, true },
	[HEADER_NOTES] = { notes_lines, draw_notes, 2, false },
	[HEADER_LEGEND] = { legend_lines, legend_draw, 3, true },
};

/* Takes lines for the rows. Returns how many. */
static int shrink_header(const struct part *part, int *lines, int missing)
{
	int given = part->whole || *lines < missing ? *lines : missing;

	*lines -= given;
	return given;
}

struct header_plan header_plan(struct ui *ui, int lines)
{
	struct header_plan plan = { .head = true };
	int left = lines - 2; /* without the footer, and the heads */
	/* Beside a sum there may be a line of the rows with the number of idle ones. */
	int least = ROWS_LEAST + (lines >= LINES_TABLE);

	plan.sum = lines >= LINES_TABLE;
	left -= plan.sum;
	for (unsigned i = 0; i < HEADER_PARTS; i++) {
		plan.lines[i] = parts[i].lines(ui, lines);
		left -= plan.lines[i];
	}
	/* The least informative is dropped first. */
	for (int turn = 1; turn <= HEADER_PARTS && left < least; turn++)
		for (unsigned i = 0; i < HEADER_PARTS; i++)
			if (parts[i].turn == turn && left < least)
				left += shrink_header(&parts[i], &plan.lines[i], least - left);
	plan.head = left > 0;
	plan.rows = left > 0 ? left : lines > 1 ? lines - 1 : 0;
	return plan;
}

int header_draw(struct ui *ui, const struct header_plan *plan)
{
	int line = 0;

	ui->finding_line = -1;
	for (unsigned i = 0; i < HEADER_PARTS; i++) {
		if (plan->lines[i])
			parts[i].draw(ui, line, plan->lines[i]);
		line += plan->lines[i];
	}
	return line;
}
