/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "header.h"

#include <string.h>

#include "headline.h"
#include "notes.h"
#include "util.h"

/* From so many lines on: the unit and sum rows, the pressure block, more than one note. */
#define LINES_TABLE 12
#define LINES_PRESSURE 16
#define LINES_NOTES 30
#define NOTES_SHOWN 3
#define ROWS_LEAST 4

/* Columns into which the first half of the pressure block goes with a space less. */
#define NARROWEST 40

/* Stall shares, in percent, from which pressure stands out. */
#define PRESSURE_WARM 10
#define PRESSURE_HOT 40

/* Parts of a line of figures, which three spaces divide. */
#define PARTS_MAX 10

/* What the title line begins with. */
#define NAME "stalltop "

struct part {
	const char *text;
	size_t len;
	int cells;
	bool shown;
};

/* Resources that have a pressure file. */
static int pressure_files(const struct frame *frame)
{
	int n = 0;

	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		n += !frame->system->psi_error[r];
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
	struct header_plan plan = { .title = true, .tasks = !ui->settings->fold_header,
				    .head = true };
	int files = pressure_files(ui->frame), used, missing, flag;

	lines--; /* the footer's */
	plan.unit = plan.sum = lines + 1 >= LINES_TABLE;
	if (files && !ui->settings->fold_header)
		plan.pressure = lines + 1 >= LINES_PRESSURE ? files + 1 : 1;
	plan.notes = (int)ui->note_room;
	if (plan.notes > (lines + 1 >= LINES_NOTES ? NOTES_SHOWN : 1))
		plan.notes = lines + 1 >= LINES_NOTES ? NOTES_SHOWN : 1;
	used = 1 + plan.tasks + plan.pressure + plan.notes + 1 + plan.unit + plan.sum;
	missing = ROWS_LEAST - (lines - used);
	/* Below ten lines something has to go: the least telling first. */
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
	plan.rows = lines - plan.title - plan.tasks - plan.pressure - plan.notes - 1 - plan.unit -
		    plan.sum;
	plan.head = plan.rows > 0;
	if (plan.rows <= 0)
		plan.rows = lines > 0 ? lines : 0;
	return plan;
}

/* Draws text a word at a time: figures stand out from their names. */
static int draw_words(struct term *term, int line, int column, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		size_t gap = strspn(text, " "), word = strcspn(text + gap, " ");
		bool figure;

		if (text + gap + word > end)
			word = (size_t)(end - text) - gap;
		column += (int)gap;
		text += gap;
		figure = (*text >= '0' && *text <= '9') || *text == '-';
		column = term_put(term, line, column, (int)word, text, word,
				  figure ? STYLE_NORMAL : STYLE_LABEL);
		text += word;
	}
	return column;
}

/* Divides a line into its parts. */
static size_t divide(const char *text, struct part *parts)
{
	size_t n = 0;

	while (*text && n < PARTS_MAX) {
		const char *end = strstr(text, "   ");

		if (!end || n + 1 == PARTS_MAX)
			end = text + strlen(text);
		parts[n].text = text;
		parts[n].len = (size_t)(end - text);
		parts[n].cells = (int)parts[n].len;
		parts[n++].shown = false;
		text = end + strspn(end, " ");
	}
	return n;
}

/* Whether a part begins so. */
static bool part_is(const struct part *part, const char *word)
{
	return part->len >= strlen(word) && !memcmp(part->text, word, strlen(word));
}

/*
 * Draws a line of figures. Where it is too narrow for all, the parts are taken as they fit, in
 * the order of `first`, which names parts by digits.
 */
static void draw_figures(struct ui *ui, int line, const char *text, const char *first)
{
	struct term *term = &ui->term;
	struct part parts[PARTS_MAX];
	size_t n = divide(text, parts);
	int gap = (int)strlen(text) <= term->columns ? 3 : 2;
	int room = term->columns + gap, column = 0;

	/* What all figures are restricted to goes before all but the first. */
	for (size_t i = 1; i < n; i++)
		if (part_is(&parts[i], "cgroup ") && parts[0].cells + parts[i].cells + gap < room) {
			parts[i].shown = true;
			room -= parts[i].cells + gap;
		}
	for (; *first; first++) {
		struct part *part = &parts[*first - '0'];

		if ((size_t)(*first - '0') >= n || part->shown ||
		    (part->cells + gap > room && part != parts))
			continue;
		part->shown = true;
		room -= part->cells + gap;
	}
	for (size_t i = 0; i < n; i++)
		if (parts[i].shown)
			column = draw_words(term, line, column, parts[i].text, parts[i].len) + gap;
	/* A cut last word says so. */
	if (column - gap > term->columns)
		term_puts(term, line, term->columns - 1, "+", STYLE_DIM);
}

/* Whose members are shown: the first part, behind the program's name. */
static void append_opened(struct ui *ui, struct buf *text)
{
	buf_printf(text, NAME "in %s ", group_table[ui->group.by].id);
	if (ui->group.named)
		ui_escape(ui, text, buf_cstr(&ui->group.name));
	else
		buf_putc(text, '-');
	buf_puts(text, ui->group.below ? " and below   " : "   ");
}

/* The title line. */
void header_title(struct ui *ui, int line)
{
	struct frame frame = *ui->frame;
	struct view view = ui_view(ui);
	struct buf *text = &ui->scratch;
	size_t at;

	text->len = 0;
	frame.group_by = group_table[ui_rows_are(ui)].id;
	view.frame = &frame;
	if (ui->opened)
		append_opened(ui, text);
	at = text->len;
	headline_title(text, &view, ui->settings->interval_ns);
	/* That begins with the name, too. */
	if (at && !strncmp(buf_cstr(text) + at, NAME, sizeof(NAME) - 1)) {
		text->len -= sizeof(NAME) - 1;
		memmove(text->data + at, text->data + at + sizeof(NAME) - 1, text->len - at);
	}
	if (ui->paused)
		buf_puts(text, "   paused");
	if (ui->held)
		buf_puts(text, "   order held");
	if (ui->paused || ui->held)
		draw_figures(ui, line, buf_cstr(text), ui->opened ? "056781423" : "04567132");
	else
		draw_figures(ui, line, buf_cstr(text), ui->opened ? "014256783" : "03142567");
	term_put(&ui->term, line, 0, 8, "stalltop", 8, STYLE_BOLD);
}

/* The line of tasks and CPU states. */
static void draw_tasks(struct ui *ui, int line)
{
	struct view view = ui_view(ui);

	ui->scratch.len = 0;
	headline_tasks(&ui->scratch, &view);
	draw_figures(ui, line, buf_cstr(&ui->scratch), "0132");
}

/* How a share of time stalled is shown. */
static enum style pressure_style(const char *word, size_t len)
{
	const char *end = word + len;
	uint64_t percent = 0;

	if ((*word < '0' || *word > '9') && *word != '-')
		return STYLE_LABEL;
	if (parse_uint(&word, end, &percent) && percent >= PRESSURE_HOT)
		return STYLE_HOT;
	if (percent >= PRESSURE_WARM)
		return STYLE_WARM;
	/* Of what is left of it, behind the point, any digit but 0 makes it more than nothing. */
	while (word < end && (*word < '1' || *word > '9'))
		word++;
	return percent || word < end ? STYLE_NORMAL : STYLE_DIM;
}

/* Draws a line of pressure, each figure by its size. */
static void draw_pressure_line(struct ui *ui, int line, bool head)
{
	const char *text;
	int column = 0;

	text = buf_cstr(&ui->scratch);
	while (*text) {
		size_t gap = strspn(text, " "), word = strcspn(text + gap, " ");

		column += (int)gap;
		text += gap;
		/* Half a figure would be a wrong one. */
		if (column + (int)word > ui->term.columns)
			return;
		column = term_put(&ui->term, line, column, (int)word, text, word,
				  head ? STYLE_LABEL : pressure_style(text, word));
		text += word;
	}
}

/* Takes bytes out of the line, where it is too long for a narrow screen by those. */
static void squeeze(struct ui *ui, size_t at, size_t n)
{
	struct buf *text = &ui->scratch;

	if (text->len < at + n)
		return;
	memmove(text->data + at, text->data + at + n, text->len - at - n);
	text->len -= n;
}

/* The short form: without its first word where that does not fit. */
static void draw_pressure_short(struct ui *ui, int line)
{
	struct view view = ui_view(ui);

	ui->scratch.len = 0;
	headline_pressure_short(&ui->scratch, &view);
	if (ui->scratch.len > (size_t)ui->term.columns)
		squeeze(ui, 0, strlen("some "));
	draw_pressure_line(ui, line, false);
}

/* The pressure block, or its short form. */
static int draw_pressure(struct ui *ui, int line, int lines)
{
	struct view view = ui_view(ui);
	struct buf *text = &ui->scratch;

	text->len = 0;
	if (lines == 1) {
		draw_pressure_short(ui, line);
		return line + 1;
	}
	if (lines > 0) {
		headline_pressure_head(text);
		if (ui->term.columns == NARROWEST)
			squeeze(ui, strlen("pressure "), 1);
		draw_pressure_line(ui, line++, true);
	}
	for (enum psi_resource r = 0; lines > 1 && r < PSI_RESOURCES; r++) {
		text->len = 0;
		if (!headline_pressure(text, &view, r))
			continue;
		if (ui->term.columns == NARROWEST)
			squeeze(ui, strlen("pressure "), 1);
		draw_pressure_line(ui, line++, false);
		lines--;
	}
	return line;
}

/* Appends a note. On the screen the remedy is at hand for one of them. */
static void append_note(struct buf *out, const struct note *note)
{
	if (note->id == NOTE_DELAYACCT_OFF)
		buf_puts(out, "delay accounting is off: D switches it on");
	else
		note_append(out, note, false);
}

/* Draws one note; with `more`, how many there are besides, which has its place at the end. */
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

/* As many notes as there are lines for; those that find none take turns. */
static int draw_notes(struct ui *ui, int line, int lines)
{
	const struct frame *frame = ui->frame;
	size_t fit = (size_t)lines, more = fit < frame->nnotes ? frame->nnotes - fit : 0;

	for (size_t i = 0; i < fit && i < frame->nnotes; i++)
		draw_note(ui, line + (int)i,
			  &frame->notes[(i + (more ? ui->note : 0)) % frame->nnotes],
			  i + 1 == fit ? more : 0);
	return line + lines;
}

int header_draw(struct ui *ui, const struct header_plan *plan)
{
	int line = 0;

	if (plan->title)
		header_title(ui, line++);
	if (plan->tasks)
		draw_tasks(ui, line++);
	line = draw_pressure(ui, line, plan->pressure);
	return draw_notes(ui, line, plan->notes);
}
