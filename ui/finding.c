/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/finding.h"

#include <string.h>

#include "model/group.h"
#include "model/limits.h"
#include "ui/detail/view_task.h"
#include "ui/sites/view_sites.h"
#include "ui/table/table_state.h"

/* Makes them. */
static const struct finding *take(struct ui *ui)
{
	struct view view = ui_view(ui);

	view.frame = ui_rows_frame(ui);
	findings_take(&ui->findings, &view, ui->frame, &ui->query);
	return findings_first(&ui->findings);
}

/* The task whose quota is read for a row: its own, or a living one of the group; or NULL. */
static const struct task *task_limited(const struct row *row)
{
	if (!row->group)
		return row->task;
	for (size_t i = 0; i < row->group->n; i++)
		if (!row->group->members[i]->exited)
			return row->group->members[i]->task;
	return NULL;
}

/* Whether the quota holds for the row: of a group it is its own, or that of a group above. */
static bool is_quota_of(const struct row *row, struct cpu_limit *cpu)
{
	if (!cpu->period_us)
		return false;
	return !row->group || group_is_below(row->group->name, buf_cstr(&cpu->group));
}

/* Reads the quota that a finding is about. False: not known. */
static bool read_quota_of(struct ui *ui, const struct finding *finding)
{
	const struct task *task = task_limited(finding->row);
	struct limits limits = { 0 };
	bool found;

	/* The past has no files. */
	if (!task || ui->rewind.back)
		return false;
	if (!ui->limits)
		ui->limits = limits_open(ui->sampler_config.proc);
	limits_read(ui->limits, task->tgid, task->key.pid == task->tgid ? 0 : task->key.pid,
		    &limits);
	found = is_quota_of(finding->row, &limits.cpu);
	if (found) {
		ui->findings.quota_of = finding->row;
		ui->findings.quota_cpus =
			(double)limits.cpu.quota_us / (double)limits.cpu.period_us;
	}
	limits_free(&limits);
	return found;
}

/* Reads what would be in the words of a finding. False: it is known already, or cannot be. */
static bool read_more(struct ui *ui, const struct finding *finding)
{
	if (finding->limit == LIMIT_CPU)
		return read_quota_of(ui, finding);
	/* The wait of a single task is read like that of a shown row. */
	if (!finding_wants_target(finding) || row_waiting(ui->frame, finding->row))
		return false;
	sampler_fill(ui->sampler, &finding->row, 1, NEED_WAITING);
	return row_waiting(ui->frame, finding->row);
}

void finding_take(struct ui *ui)
{
	const struct finding *finding;

	if (!ui->findings_due)
		return;
	ui->findings_due = false;
	ui->findings.quota_of = NULL;
	finding = take(ui);
	if (finding && finding->row && read_more(ui, finding))
		take(ui);
}

/*
 * Draws the key that opens it, and how many are not shown, at the end of the line; brief: the keys
 * alone. Returns the cells before that.
 */
static int draw_hint(struct ui *ui, int line, const struct finding *first, bool brief)
{
	size_t more = ui->all_notes || !ui->findings.n ? 0 : ui->findings.n - 1;
	struct buf *text = &ui->scratch;
	int room;

	text->len = 0;
	if (first->id && first->row)
		buf_puts(text, brief ? " (!" : " (! why");
	if (more && brief)
		buf_puts(text, text->len ? ", n" : " (n");
	else if (more)
		buf_printf(text, "%s%zu more: n", text->len ? ", " : " (", more);
	if (text->len)
		buf_putc(text, ')');
	room = ui->term.columns - (int)text->len;
	term_put(&ui->term, line, room, (int)text->len, text->data, text->len, STYLE_DIM);
	return room;
}

/* Draws a finding in so many cells. False: its words are cut. */
static bool draw_words(struct ui *ui, int line, int room, const struct finding *finding)
{
	static const enum style styles[FINDING_SEVERITIES] = {
		[FINDING_INFO] = STYLE_NOTE,
		[FINDING_WARNING] = STYLE_WARM,
		[FINDING_CRITICAL] = STYLE_HOT,
	};
	struct buf *text = &ui->scratch;
	bool whole;

	text->len = 0;
	whole = finding_append(text, &ui->findings, finding, (unsigned)room, ui->term.charset);
	term_put(&ui->term, line, 0, room, text->data, text->len,
		 finding->id ? styles[finding->severity] : STYLE_DIM);
	return whole;
}

void finding_draw(struct ui *ui, int line, int lines)
{
	const struct finding *first = findings_first(&ui->findings);

	ui->finding_line = line;
	if (!first)
		return;
	if (!draw_words(ui, line, draw_hint(ui, line, first, false), first)) {
		term_put(&ui->term, line, 0, ui->term.columns, "", 0, STYLE_NORMAL);
		draw_words(ui, line, draw_hint(ui, line, first, true), first);
	}
	for (int i = 1; i < lines && (size_t)i < ui->findings.n; i++)
		draw_words(ui, line + i, ui->term.columns, &ui->findings.all[i]);
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
	if (!finding || !finding->id || !finding->row) {
		ui_say(ui, finding && finding->id ? "what is found is of no one task"
						  : "nothing is found: there is nothing to open");
		return REACT_NONE;
	}
	if (finding->row->group)
		return view_task_open_group(ui, finding->row->group);
	task = task_meant(ui, finding->row);
	return finding->site ? view_sites_open_task(ui, &task) : view_task_open(ui, &task);
}
