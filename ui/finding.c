/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/finding.h"

#include <string.h>

#include "ui/view_sites.h"
#include "ui/view_task.h"

/* Makes them. */
static const struct finding *take(struct ui *ui)
{
	struct view view = ui_view(ui);

	view.frame = ui_rows_frame(ui);
	findings_take(&ui->findings, &view, ui->frame, &ui->query);
	return findings_first(&ui->findings);
}

void finding_take(struct ui *ui)
{
	const struct finding *finding;

	if (!ui->findings_due)
		return;
	ui->findings_due = false;
	finding = take(ui);
	/* What the one task waits on is read as that of a row that is shown. */
	if (!finding || !finding_wants_target(finding) || row_waiting(ui->frame, finding->row))
		return;
	sampler_fill(ui->sampler, &finding->row, 1, NEED_WAITING);
	if (row_waiting(ui->frame, finding->row))
		take(ui);
}

void finding_draw(struct ui *ui, int line, int lines)
{
	static const enum style styles[FINDING_SEVERITIES] = {
		[FINDING_INFO] = STYLE_NOTE,
		[FINDING_WARNING] = STYLE_WARM,
		[FINDING_CRITICAL] = STYLE_HOT,
	};
	const struct finding *first = findings_first(&ui->findings);
	struct buf *text = &ui->scratch;
	int room = ui->term.columns;

	(void)lines;
	ui->finding_line = line;
	if (!first)
		return;
	text->len = 0;
	/* The key that opens it. */
	if (first->id && first->row)
		buf_puts(text, " (!)");
	if (ui->findings.n > 1)
		buf_printf(text, " (%zu more)", ui->findings.n - 1);
	if (text->len) {
		room -= (int)text->len;
		term_put(&ui->term, line, room, (int)text->len, text->data, text->len, STYLE_DIM);
	}
	text->len = 0;
	finding_append(text, &ui->findings, first, (unsigned)room, ui->term.charset);
	term_put(&ui->term, line, 0, room, text->data, text->len,
		 first->id ? styles[first->severity] : STYLE_DIM);
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

unsigned finding_open(struct ui *ui, int arg)
{
	const struct finding *finding;
	struct ui_task task;

	(void)arg;
	/* Rows may be others than when the line was drawn. */
	finding_take(ui);
	finding = findings_first(&ui->findings);
	if (!finding || !finding->id || !finding->row) {
		ui_say(ui, "the line above the table means no row");
		return REACT_NONE;
	}
	if (finding->row->group)
		return view_task_open_group(ui, finding->row->group);
	task = task_meant(ui, finding->row);
	return finding->site ? view_sites_open_task(ui, &task) : view_task_open(ui, &task);
}
