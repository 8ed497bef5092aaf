/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/header.h"

#include <string.h>

#include "model/notes.h"
#include "ui/rewind.h"
#include "ui/timeline.h"
#include "view/summary.h"

/* The least lines for: the unit and sum rows, the pressure block, more than one note. */
#define LINES_TABLE 12
#define LINES_PRESSURE 16
#define LINES_NOTES 30
#define NOTES_SHOWN 3
#define ROWS_LEAST 4

/* The width in which the first half of the pressure block fits with a space less. */
#define NARROWEST 40

/* Resources that have a pressure file. */
static int pressure_files(const struct frame_info *info)
{
	int n = 0;

	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		n += !info->system->psi_error[r];
	return n;
}

/* Takes lines back for the rows. */
static int give_back(int *lines, int missing)
{
	int given = *lines < missing ? *lines : missing;

	*lines -= given;
	return given;
}

struct header_plan header_plan(const struct ui *ui, int lines)
{
	struct header_plan plan = { .title = true,
				    .tasks = !ui->settings->fold_header,
				    .head = true };
	int files = pressure_files(ui->frame->info), used, missing, flag;

	lines--; /* the footer's */
	plan.unit = plan.sum = lines + 1 >= LINES_TABLE;
	if (files && !ui->settings->fold_header)
		plan.pressure = lines + 1 >= LINES_PRESSURE ? files + 1 : 1;
	plan.notes = (int)ui->note_room;
	if (plan.notes > (lines + 1 >= LINES_NOTES ? NOTES_SHOWN : 1))
		plan.notes = lines + 1 >= LINES_NOTES ? NOTES_SHOWN : 1;
	plan.timeline = timeline_wanted(ui) ? TIMELINE_LINES : 0;
	used = 1 + plan.tasks + plan.pressure + plan.timeline + plan.notes + 1 + plan.unit +
	       plan.sum;
	missing = ROWS_LEAST - (lines - used);
	if (missing > 0) {
		missing -= plan.timeline;
		plan.timeline = 0;
	}
	/* Below ten lines something must be left out: the least informative first. */
	if (missing > 0)
		missing -= give_back(&plan.notes, missing);
	flag = plan.tasks;
	if (missing > 0)
		missing -= give_back(&flag, missing);
	plan.tasks = flag;
	if (missing > 0)
		missing -= give_back(&plan.pressure, missing);
	flag = 1;
	if (missing > 0)
		missing -= give_back(&flag, missing);
	plan.title = flag;
	plan.rows = lines - plan.title - plan.tasks - plan.pressure - plan.timeline - plan.notes -
		    1 - plan.unit - plan.sum;
	plan.head = plan.rows > 0;
	if (plan.rows <= 0)
		plan.rows = lines > 0 ? lines : 0;
	return plan;
}

/* Draws a figure, its value by its weight. Returns the column after it. */
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

/* Draws the program's name, its clock, and what is shown. */
static void draw_title(struct ui *ui, int line)
{
	struct title title = {
		.interval_ns = ui->settings->interval_ns,
		.rows = ui_rows_are(ui),
		.of_group = ui->opened,
		.by = ui->group.by,
		.below = ui->group.below,
		.name = ui->group.named ? buf_cstr(&ui->group.name) : NULL,
		.paused = ui->paused && !ui->rewind.back,
		.held = ui->held,
		.preset = ui->settings->presets.now ? view_preset(ui->settings)->name : NULL,
	};
	struct view view = ui_view(ui);
	struct buf past = { 0 };
	struct summary figures;

	if (ui->rewind.back) {
		rewind_append(ui, &past);
		title.past = buf_cstr(&past);
	}
	figures = summary_title(&ui->scratch, &view, &title);
	draw_figures(&ui->term, line, &figures);
	buf_free(&past);
}

/* Draws the line of tasks and CPU states. */
static void draw_tasks(struct ui *ui, int line)
{
	struct view view = ui_view(ui);
	struct summary figures = summary_tasks(&ui->scratch, &view);

	draw_figures(&ui->term, line, &figures);
}

/* Draws a line of the pressure block. */
static void draw_pressure_line(struct term *term, int line, struct summary *figures)
{
	if (term->columns == NARROWEST)
		figures->figures[0].width--;
	draw_figures(term, line, figures);
}

/* Draws the short form: without its first word where that does not fit. */
static void draw_pressure_short(struct ui *ui, int line)
{
	struct summary figures = summary_pressure_short(&ui->scratch, ui->frame->info, false);

	if (summary_width(&figures, ui->term.charset) > (unsigned)ui->term.columns)
		figures = summary_pressure_short(&ui->scratch, ui->frame->info, true);
	draw_figures(&ui->term, line, &figures);
}

/* Draws the pressure block, or its short form. Returns the line after it. */
static int draw_pressure(struct ui *ui, int line, int lines)
{
	struct summary figures;
	int end = line + lines;

	if (lines == 1)
		draw_pressure_short(ui, line++);
	if (lines <= 1)
		return line;
	figures = summary_pressure_head(&ui->scratch);
	draw_pressure_line(&ui->term, line++, &figures);
	for (enum psi_resource r = 0; line < end && r < PSI_RESOURCES; r++) {
		struct psi_pair pair = summary_pressure_of(ui->frame->info, r);

		if (ui->frame->info->system->psi_error[r])
			continue;
		figures = summary_pressure(&ui->scratch, r, &pair);
		draw_pressure_line(&ui->term, line++, &figures);
	}
	return line;
}

/* Appends a note. For one of the notes the screen offers the remedy itself. */
static void append_note(struct buf *out, const struct note *note)
{
	if (note->id == NOTE_DELAYACCT_OFF)
		buf_puts(out, "delay accounting is off: D switches it on");
	else
		note_append(out, note, false);
}

/* Draws one note; `more` is the number of further notes, shown at the end. */
static void draw_note(struct ui *ui, int line, const struct note *note, size_t more)
{
	struct buf *text = &ui->scratch;
	int room = ui->term.columns;

	text->len = 0;
	if (more) {
		buf_printf(text, " (%zu more)", more);
		room -= (int)text->len;
		term_put(&ui->term, line, room, (int)text->len, text->data, text->len, STYLE_NOTE);
	}
	text->len = 0;
	append_note(text, note);
	term_put(&ui->term, line, 0, room, text->data, text->len, STYLE_NOTE);
}

/* Draws as many notes as there are lines for; notes without a line take turns. */
static int draw_notes(struct ui *ui, int line, int lines)
{
	const struct frame_info *info = ui->frame->info;
	size_t fit = (size_t)lines, more = fit < info->nnotes ? info->nnotes - fit : 0;

	for (size_t i = 0; i < fit && i < info->nnotes; i++)
		draw_note(ui, line + (int)i,
			  &info->notes[(i + (more ? ui->note : 0)) % info->nnotes],
			  i + 1 == fit ? more : 0);
	return line + lines;
}

int header_draw(struct ui *ui, const struct header_plan *plan)
{
	int line = 0;

	if (plan->title)
		draw_title(ui, line++);
	if (plan->tasks)
		draw_tasks(ui, line++);
	line = draw_pressure(ui, line, plan->pressure);
	if (plan->timeline)
		timeline_draw(ui, line);
	line += plan->timeline;
	return draw_notes(ui, line, plan->notes);
}
