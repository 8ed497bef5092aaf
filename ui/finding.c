/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/finding.h"

#include <string.h>
#include <time.h>

#include "frame/group.h"
#include "ui/detail/view_task.h"
#include "ui/sites/view_sites.h"
#include "ui/table/table_state.h"

/* How long a finding's second line stays when it is no longer needed. */
#define FINDING_ROOM_NS (10 * NSEC_PER_SEC)

/* Makes them for all selected tasks, regardless of the current filter. */
static const struct finding *take(struct ui *ui)
{
	struct view view = ui_view(ui);
	struct query query = ui->query;

	query.match = ui->asked;
	query.users = ui->asked_nusers ? ui->asked_users : NULL;
	query.nusers = ui->asked_nusers;
	view.frame = ui_rows_frame(ui);
	findings_take(&ui->findings, &view, ui->frame, &query);
	return findings_first(&ui->findings);
}

/* The row whose quota is read for a row: its own, or a living member's; or NULL. */
static const struct row *row_limited(const struct row *row)
{
	for (size_t i = 0; row->group && i < row->group->n; i++)
		if (!row->group->members[i]->exited)
			return row->group->members[i];
	return row->group ? NULL : row;
}

/* Reads the data needed for the words of a finding. False: it is known already, or unavailable. */
static bool read_more(struct ui *ui, const struct finding *finding)
{
	const struct row *limited = row_limited(finding->row);

	if (finding->limit == LIMIT_CPU && limited && finding->quota_cpus <= 0) {
		sampler_fill(ui->sampler, &limited, 1, NEED_LIMITS);
		return row_evidence(ui->frame, limited);
	}
	/* The wait of a single task is read like that of a shown row. */
	if (!finding_wants_target(finding) || row_waiting(ui->frame, finding->row))
		return false;
	sampler_fill(ui->sampler, &finding->row, 1, NEED_WAITING);
	return row_waiting(ui->frame, finding->row);
}

/* Prints the key that opens it, and the number of hidden ones; brief: only the keys. */
static void put_hint(const struct ui *ui, const struct finding *first, bool brief, struct buf *text)
{
	size_t more = ui->all_notes || !ui->findings.n ? 0 : ui->findings.n - 1;

	text->len = 0;
	if (first->id && first->row && first->row->task && !query_takes(&ui->query, first->row))
		buf_puts(text, brief ? " (not shown, !" : " (not shown, ! why");
	else if (first->id)
		buf_puts(text, brief ? " (!" : " (! why");
	if (more && brief)
		buf_puts(text, text->len ? ", n" : " (n");
	else if (more)
		buf_printf(text, "%s%zu more: n", text->len ? ", " : " (", more);
	if (text->len)
		buf_putc(text, ')');
}

/* Draws that at the end of the line. Returns the cells before it. */
static int draw_hint(struct ui *ui, int line, const struct finding *first, bool brief)
{
	struct buf *text = &ui->scratch;
	int room;

	put_hint(ui, first, brief, text);
	room = ui->term.columns - (int)text->len;
	term_put(&ui->term, line, room, (int)text->len, text->data, text->len, STYLE_DIM);
	return room;
}

static enum style style_of(const struct finding *finding)
{
	static const enum style styles[FINDING_SEVERITIES] = {
		[FINDING_INFO] = STYLE_NORMAL,
		[FINDING_WARNING] = STYLE_BOLD,
		[FINDING_CRITICAL] = STYLE_HOT,
	};

	return finding->id ? styles[finding->severity] : STYLE_DIM;
}

/* Draws a finding in so many cells. False: its words are cut. */
static bool draw_sentence(struct ui *ui, int line, int room, const struct finding *finding)
{
	struct buf *text = &ui->scratch;
	bool whole;

	text->len = 0;
	whole = finding_append(text, &ui->findings, finding, (unsigned)room, ui->term.charset);
	term_put(&ui->term, line, 0, room, text->data, text->len, style_of(finding));
	return whole;
}

/* Length of a text's first line, of at most so many cells: whole words. */
static size_t first_line(const struct ui *ui, const struct buf *text)
{
	size_t found = 0;

	for (size_t at = 0; at < text->len; at++)
		if (text->data[at] == ' ' &&
		    (int)text_width(text->data, at, ui->term.charset) <= ui->term.columns)
			found = at;
	return found;
}

/* Draws a finding in two lines, with as many of its words as fit there. */
static void draw_two(struct ui *ui, int line, const struct finding *finding)
{
	int room = draw_hint(ui, line + 1, finding, false);
	struct buf *text = &ui->scratch;
	size_t at;

	for (int width = ui->term.columns + room; width > ui->term.columns; width -= 4) {
		text->len = 0;
		finding_append(text, &ui->findings, finding, (unsigned)width, ui->term.charset);
		at = first_line(ui, text);
		if (!at || (int)text_width(text->data + at + 1, text->len - at - 1,
					   ui->term.charset) > room)
			continue;
		term_put(&ui->term, line, 0, ui->term.columns, text->data, at, style_of(finding));
		term_put(&ui->term, line + 1, 0, room, text->data + at + 1, text->len - at - 1,
			 style_of(finding));
		return;
	}
	draw_sentence(ui, line, ui->term.columns, finding);
}

/* True if a finding with its keys is longer than a line. */
static bool is_long(struct ui *ui, const struct finding *finding)
{
	struct buf *text = &ui->scratch;
	int hint, words;

	put_hint(ui, finding, false, text);
	hint = (int)text->len;
	text->len = 0;
	finding_append(text, &ui->findings, finding, 0, ui->term.charset);
	words = (int)text_width(text->data, text->len, ui->term.charset);
	return words + hint > ui->term.columns;
}

void finding_take(struct ui *ui)
{
	const struct finding *finding;

	if (!ui->findings_due)
		return;
	ui->findings_due = false;
	finding = take(ui);
	if (finding && finding->row && read_more(ui, finding))
		take(ui);
	finding = findings_first(&ui->findings);
	/* Keeps the rows from jumping each time it gets shorter. */
	if (finding && is_long(ui, finding)) {
		ui->finding_room_until_ns = clock_ns(CLOCK_MONOTONIC) + FINDING_ROOM_NS;
		ui->finding_columns = ui->term.columns;
	}
}

const struct row *finding_row(const struct ui *ui)
{
	const struct finding *first = findings_first(&ui->findings);

	return first && first->id ? first->row : NULL;
}

int finding_lines(const struct ui *ui)
{
	if (ui->all_notes && ui->findings.n)
		return (int)ui->findings.n;
	return ui->finding_columns == ui->term.columns &&
			       clock_ns(CLOCK_MONOTONIC) < ui->finding_room_until_ns
		       ? 2
		       : 1;
}

void finding_draw(struct ui *ui, int line, int lines)
{
	const struct finding *first = findings_first(&ui->findings);

	ui->finding_line = line;
	ui->finding_end = line + 1;
	if (!first)
		return;
	if (lines > 1 && !ui->all_notes && is_long(ui, first)) {
		draw_two(ui, line, first);
		ui->finding_end = line + 2;
		return;
	}
	if (!draw_sentence(ui, line, draw_hint(ui, line, first, false), first)) {
		term_put(&ui->term, line, 0, ui->term.columns, "", 0, STYLE_NORMAL);
		draw_sentence(ui, line, draw_hint(ui, line, first, true), first);
	}
	for (int i = 1; ui->all_notes && i < lines && (size_t)i < ui->findings.n; i++)
		draw_sentence(ui, line + i, ui->term.columns, &ui->findings.all[i]);
}

/* The task of a row. */
static struct ui_task task_meant(const struct ui *ui, const struct row *row)
{
	struct ui_task task = { .key = row->task->key,
				.tgid = row->task->tgid,
				.thread = ui->frame->info->threads };

	memcpy(task.comm, row->task->comm, sizeof(task.comm));
	return task;
}

COMMAND(finding_open)
{
	const struct finding *finding;
	struct ui_task task;

	/* Rows may have changed since the line was drawn. */
	finding_take(ui);
	finding = findings_first(&ui->findings);
	if (!finding || !finding->id) {
		ui_say(ui, "no finding to open");
		return REACT_NONE;
	}
	if (!finding->row)
		return view_sites_open_all(ui);
	if (finding->row->group)
		return view_task_open_group(ui, finding->row->group);
	task = task_meant(ui, finding->row);
	return finding->site ? view_sites_open_task(ui, &task) : view_task_open(ui, &task);
}
