/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batch text: the screen's lines, written without a screen. */
#include "config.h"

#include <string.h>

#include "base/util.h"
#include "model/notes.h"
#include "out/out.h"
#include "out/out_sites.h"
#include "view/summary.h"

/* Ends a line, without trailing spaces. */
static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

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
	/* Control groups may have pressure: that is not known yet. */
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
		end_line(buf);
	}
}

/* Appends a line of figures. */
static void append_summary(struct buf *out, const struct summary *line)
{
	summary_append(out, line);
	end_line(out);
}

/* Appends what there is to find, or that there is nothing; one per line. */
static void append_findings(struct out *out)
{
	const struct findings *findings = &out->findings;
	const struct finding *first = findings_first(findings);

	for (size_t i = 0; first && (!i || i < findings->n); i++) {
		buf_puts(&out->buf, "finding: ");
		finding_append(&out->buf, findings, first + i, 0, out->config->charset);
		end_line(&out->buf);
	}
}

/* Appends the lines above the table. */
static void append_header(struct out *out, const struct view *view)
{
	const struct title title = { .rows = out->config->view->group_by };
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
		note_append(buf, &view->frame->info->head.notes[i], true);
		end_line(buf);
	}
	buf_putc(buf, '\n');
}

/* Appends headings and units. */
static void append_heads(struct out *out)
{
	struct buf *buf = &out->buf;

	for (size_t i = 0; i < out->layout.n; i++) {
		const struct column *column = out->layout.columns[i];
		char heading[COLUMN_HEADING];

		column_heading(column, heading);
		if (i)
			buf_putc(buf, ' ');
		column_append_label(column, heading, buf);
	}
	end_line(buf);
	for (size_t i = 0; i < out->layout.n; i++) {
		const struct column *column = out->layout.columns[i];

		if (i)
			buf_putc(buf, ' ');
		column_append_label(column, column_unit(column, out->config->view->unit), buf);
	}
	end_line(buf);
}

/* The cell of the row above, and its place in the buffer; end 0: there is none. */
struct above {
	struct value value;
	size_t begin, end;
};

/* Whether two values of one sample make the same cell: equal texts are the same bytes then. */
static bool is_same_layout(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == VALUE_BAR)
		return !strcmp(a->bar, b->bar);
	if (a->type == VALUE_TEXT)
		return a->text == b->text && a->more == b->more;
	return a->type == VALUE_UNSET || a->number == b->number;
}

/* Appends a copy of a part of the buffer. */
static void repeat(struct buf *buf, size_t from, size_t len)
{
	char *to = buf_reserve(buf, len);

	memcpy(to, buf->data + from, len);
	buf->len += len;
}

/*
 * Appends one row. The last column has its whole text, others a word in their width, so that lines
 * can be split at blanks. Most cells equal those of the row above: these are copied, as many at
 * once as are side by side.
 */
static void append_text_row(struct out *out, const struct view *view, const struct row *row,
			    struct above *above)
{
	struct buf *buf = &out->buf;
	size_t from = 0, same = 0;

	for (size_t i = 0; i < out->layout.n; i++, above++) {
		const struct column *column = out->layout.columns[i];
		struct value value = column_get(column, view, row);
		bool last = i + 1 == out->layout.n;

		if (above->end && is_same_layout(&above->value, &value)) {
			size_t len = above->end - above->begin;

			from = same ? from : above->begin;
			above->begin = buf->len + same;
			same += len;
			above->end = buf->len + same;
			continue;
		}
		repeat(buf, from, same);
		same = 0;
		*above = (struct above){ .value = value, .begin = buf->len };
		if (i)
			buf_putc(buf, ' ');
		if (last)
			column_append(column, view, &value, 0, &out->scratch, buf);
		else
			column_append_word(column, view, &value, &out->scratch, buf);
		above->end = buf->len;
	}
	repeat(buf, from, same);
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
			column_append_total(column, view, &total, !i, &out->scratch, buf);
	}
	end_line(buf);
}

/* Appends the largest sites of waits, and a blank line; nothing where waits are not traced. */
static void append_sites(struct out *out, const struct trace_frame *trace)
{
	struct site_owners owners = { 0 };

	if (!trace)
		return;
	out_sites_owners(&owners, &out->order);
	out_sites_text(&out->buf, trace, &owners, true, out->config->charset);
	site_owners_free(&owners);
	buf_putc(&out->buf, '\n');
}

/* Appends a sample. */
static void text_frame(struct out *out, const struct view *view)
{
	struct layout_frame frame = layout_frame(
		out->config, view->frame->info->kinds,
		layout_reads(out->config->view->group_by, view->frame, group_parts(view->frame)));
	struct above above[LAYOUT_MAX] = { 0 };

	if (!out->frames)
		layout_resolve(&out->layout, out->config->view->fields, &frame);
	append_header(out, view);
	if (view->frame->info->bare)
		return;
	append_heads(out);
	for (size_t i = 0; i < out->order.n; i++)
		append_text_row(out, view, out->order.rows[i], above);
	append_sum(out, view);
	buf_putc(&out->buf, '\n');
	append_sites(out, view->frame->info->trace);
}

const struct out_ops out_text = {
	.name = "text",
	.needs = text_needs,
	.frame = text_frame,
	.finds = true,
};
