/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batch text: the screen's lines, written without a screen. */
#include <string.h>

#include "base/util.h"
#include "frame/notes.h"
#include "out/diff_report.h"
#include "out/out.h"
#include "out/out_sites.h"
#include "view/remedies.h"
#include "view/summary.h"

/* The facts that default columns depend on in batch mode: states are not read just for them. */
static struct layout_frame layout_frame(const struct out_config *config, uint32_t kinds,
					unsigned reads)
{
	return (struct layout_frame){ .width = config->width,
				      .kinds = kinds,
				      .group_by = config->view->group_by,
				      .reads = reads };
}

/* The needs of the columns. */
static unsigned text_needs(const struct out_config *config)
{
	/* Cgroups may have pressure: not known yet. */
	unsigned reads = config->view->group_by == GROUP_CGROUP ? NEED_GROUP_PARTS : 0;
	struct layout_frame frame = layout_frame(config, DELAY_ALL, reads);
	struct layout layout;

	layout_resolve(&layout, config->view->fields, &frame);
	return layout_needs(&layout, config->view->unit);
}

/* Appends the triggers that samples are taken for, one per line. */
static void append_triggers(struct out *out, const struct frame_info *info)
{
	const struct trigger_set *set = out->config->triggers;
	struct buf *buf = &out->buf;

	for (size_t i = 0; set && i < set->n; i++) {
		const struct trigger *trigger = &set->all[i];
		const char *text = trigger->spec->text;

		buf_puts(buf, "when: ");
		text_escape(buf, text, strlen(text), out->config->charset);
		if (trigger->last_ns) {
			buf_puts(buf, trigger->fired ? ", reported " : ", last reported ");
			buf_fixed(buf, out_since_ns(trigger, info) / (100 * NSEC_PER_MSEC), 1);
			buf_puts(buf, " s ago");
		} else {
			buf_puts(buf, ", not reported");
		}
		if (trigger->gone)
			buf_puts(buf, ", gone");
		text_end_line(buf);
	}
}

/* Appends a line of figures. */
static void append_summary(struct buf *out, const struct summary *line)
{
	summary_append(out, line);
	text_end_line(out);
}

/* Appends the findings, one per line, or that there are none. */
static void append_findings(struct out *out)
{
	const struct findings *findings = &out->findings;
	const struct finding *first = findings_first(findings);

	for (size_t i = 0; first && (!i || i < findings->n); i++) {
		buf_puts(&out->buf, "finding: ");
		finding_append(&out->buf, findings, first + i, 0, out->config->charset);
		text_end_line(&out->buf);
	}
}

/* Appends the lines above the table. */
static void append_header(struct out *out, const struct view *view)
{
	const struct title title = { .rows = out->config->view->group_by,
				     .past = out->config->past };
	struct buf *buf = &out->buf, *scratch = &out->scratch;
	struct summary line = summary_title(scratch, view, &title);
	bool head = false;

	append_summary(buf, &line);
	line = summary_tasks(scratch, view);
	append_summary(buf, &line);
	for (enum psi_resource r = 0; r < PSI_RESOURCES; r++) {
		struct psi_pair pair = summary_pressure_of(view->frame->info, r);

		if (frame_pressure(view->frame->info)->error[r])
			continue;
		if (!head) {
			line = summary_pressure_head(scratch);
			append_summary(buf, &line);
		}
		head = true;
		line = summary_pressure(scratch, r, &pair);
		append_summary(buf, &line);
	}
	append_findings(out);
	append_triggers(out, view->frame->info);
	for (size_t i = 0; i < view->frame->info->head.nnotes; i++) {
		buf_puts(buf, "note: ");
		remedy_append_note(buf, &view->frame->info->head.notes[i]);
		text_end_line(buf);
	}
	buf_putc(buf, '\n');
}

/* Appends the sum row: "=" at the left of the first cell, the number of rows in the last. */
static void append_sum(struct out *out, const struct view *view)
{
	const struct order *order = &out->order;
	const struct group_row *counted = &group_table[out->config->view->group_by];
	struct buf *buf = &out->buf;

	for (size_t i = 0; i < out->layout.n; i++) {
		const struct column *column = out->layout.columns[i];
		struct value total =
			column_total(column, view, order->rows, order->passed, &order->sum);

		if (i)
			buf_putc(buf, ' ');
		if (column->last && i + 1 == out->layout.n)
			buf_printf(buf, "%zu %s", order->passed,
				   plural(order->passed, counted->one, counted->many));
		else
			column_append_total(column, view, &total, 0, !i, &out->scratch, buf);
	}
	text_end_line(buf);
}

/* Appends the largest sites of waits, and a blank line; nothing if waits are not traced. */
static void append_sites(struct out *out, const struct view *view)
{
	struct site_owners owners = { 0 };

	if (!view->frame->info->trace)
		return;
	out_sites_owners(&owners, &out->order);
	out_sites_text(&out->buf, view, &owners, &out->config->view->sites, true);
	site_owners_free(&owners);
	buf_putc(&out->buf, '\n');
}

/* Appends a row. */
static void append_row(struct out *out, struct text_table *table, const struct row *row)
{
	uint64_t key = out_text_key(out, table->view->frame, row);
	const struct row_text *was = out_text_find(out, key);
	size_t at = out->buf.len;

	if (was)
		buf_add(&out->buf, out->texts.text.data + was->at, was->tail);
	else
		text_table_row(table, row);
	out_text_note(out, key, at, at, at);
}

/* Appends a sample. */
static void text_frame(struct out *out, const struct view *view)
{
	struct layout_frame frame = layout_frame(
		out->config, view->frame->info->kinds,
		layout_reads(out->config->view->group_by, view->frame, group_parts(view->frame)));
	struct text_table table = {
		.layout = &out->layout, .view = view, .out = &out->buf, .scratch = &out->scratch
	};

	if (!out->frames)
		layout_resolve(&out->layout, out->config->view->fields, &frame);
	append_header(out, view);
	if (view->frame->info->bare)
		return;
	text_table_heads(&table);
	for (size_t i = 0; i < out->order.n; i++)
		append_row(out, &table, out->order.rows[i]);
	append_sum(out, view);
	buf_putc(&out->buf, '\n');
	append_sites(out, view);
}

const struct out_ops out_text = {
	.name = "text",
	.needs = text_needs,
	.frame = text_frame,
	.finds = true,
	.run = run_text,
	.diff = diff_text,
};
