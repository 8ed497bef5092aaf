/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV by RFC 4180: a single head row, lines end with CR LF, unknown values are empty. */
#include <string.h>

#include "base/util.h"
#include "out/diff_report.h"
#include "out/out.h"

/* Ends a record. */
static void end_record(struct buf *out)
{
	buf_puts(out, "\r\n");
}

/* Appends a text field, escaped as in every format, quoted if RFC 4180 requires it. */
static void append_csv_text(struct out *out, const char *text)
{
	struct buf *scratch = &out->scratch, *buf = &out->buf;

	if (!text)
		return;
	scratch->len = 0;
	text_escape(scratch, text, strlen(text), TEXT_UTF8);
	if (!strpbrk(buf_cstr(scratch), ",\"\r\n")) {
		buf_add(buf, scratch->data, scratch->len);
		return;
	}
	buf_putc(buf, '"');
	for (size_t i = 0; i < scratch->len; i++) {
		if (scratch->data[i] == '"')
			buf_putc(buf, '"');
		buf_putc(buf, scratch->data[i]);
	}
	buf_putc(buf, '"');
}

/* Appends the value of a column, in the column's unit. */
static void append_csv_value(struct out *out, const struct view *view, const struct row *row,
			     const struct column *column)
{
	struct value value = column_get(column, view, row);

	buf_putc(&out->buf, ',');
	if (value_chars(&value))
		append_csv_text(out, value_chars(&value));
	else if (value.type == VALUE_NUMBER)
		buf_printf(&out->buf, "%.15g", value.number);
}

/* Appends the head row. */
static void append_head(struct out *out, const struct layout *extra)
{
	struct buf *buf = &out->buf;

	buf_puts(buf, group_folds(out->config->view->group_by)
			      ? "time,interval,group,members"
			      : "time,interval,pid,tgid,ppid,uid,user,comm,state,exited");
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		buf_printf(buf, ",%s_count,%s_ns", delay_table[kind].id, delay_table[kind].id);
	buf_puts(buf, ",run_ns");
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		buf_printf(buf, ",%s_waited_ns", delay_table[kind].id);
	buf_puts(buf, ",dwait_waited_ns,wait_ns");
	for (size_t i = 0; i < extra->n; i++)
		buf_printf(buf, ",%s", extra->columns[i]->id);
	end_record(buf);
}

/* Appends the row's group. */
static void append_group_cells(struct out *out, const struct row *row)
{
	append_csv_text(out, row->group->name);
	buf_putc(&out->buf, ',');
	buf_uint(&out->buf, row->members);
}

/* Appends the row's task. */
static void append_task(struct out *out, const struct row *row)
{
	char state = row_state(row);
	const struct task *task = row->task;
	struct buf *buf = &out->buf;

	buf_uint(buf, (uint64_t)task->key.pid);
	buf_putc(buf, ',');
	buf_uint(buf, (uint64_t)task->tgid);
	buf_putc(buf, ',');
	buf_uint(buf, (uint64_t)task->ppid);
	buf_putc(buf, ',');
	buf_uint(buf, task->uid);
	buf_putc(buf, ',');
	append_csv_text(out, task->user);
	buf_putc(buf, ',');
	append_csv_text(out, task->comm);
	buf_putc(buf, ',');
	if (state)
		buf_putc(buf, state);
	buf_putc(buf, ',');
	buf_putc(buf, row->exited ? '1' : '0');
}

/* Appends the time waited in the interval, and the length of the wait in progress. */
static void append_csv_waited(struct buf *buf, const struct frame *frame, const struct row *row)
{
	const struct waited *waited = &row->deltas->waited;
	uint32_t known = row_waited(row);
	uint64_t ns;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		buf_putc(buf, ',');
		if (known & DELAY_BIT(kind))
			buf_uint(buf, waited->ns[kind]);
	}
	buf_putc(buf, ',');
	if (known & VALID_DWAIT)
		buf_uint(buf, waited->ns[WAIT_DWAIT]);
	buf_putc(buf, ',');
	if (row_wait(frame, row, &ns))
		buf_uint(buf, ns);
}

/* Appends a record's fields but its times. */
static void append_row_cells(struct out *out, const struct view *view, const struct row *row)
{
	const struct layout *extra = &out->layout;
	struct buf *buf = &out->buf;

	if (row->group)
		append_group_cells(out, row);
	else
		append_task(out, row);
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		buf_putc(buf, ',');
		if (row->valid & DELAY_COUNT_BIT(kind))
			buf_uint(buf, row->deltas->grown.delay[kind].count);
		buf_putc(buf, ',');
		if (row->valid & DELAY_BIT(kind))
			buf_uint(buf, row->deltas->grown.delay[kind].ns);
	}
	buf_putc(buf, ',');
	if (row->valid & VALID_RUN)
		buf_uint(buf, row->deltas->grown.run_ns);
	append_csv_waited(buf, view->frame, row);
	for (size_t i = 0; i < extra->n; i++)
		append_csv_value(out, view, row, extra->columns[i]);
	end_record(buf);
}

/* Appends one record. */
static void append_csv_row(struct out *out, const struct view *view, const struct row *row)
{
	uint64_t key = out_text_key(out, view->frame, row);
	const struct row_text *was = out_text_find(out, key);
	struct buf *buf = &out->buf;
	size_t at;

	buf_fixed(buf, view->frame->info->real_ns / NSEC_PER_USEC, 6);
	buf_putc(buf, ',');
	if (row->interval_ns)
		buf_fixed(buf, row->interval_ns, 9);
	buf_putc(buf, ',');
	at = buf->len;
	if (was)
		buf_add(buf, out->texts.text.data + was->at, was->tail);
	else
		append_row_cells(out, view, row);
	out_text_note(out, key, at, at, at);
}

/* Appends a sample. */
static void csv_frame(struct out *out, const struct view *view)
{
	if (!out->frames) {
		out_named(out->config, IN_CSV, &out->layout);
		append_head(out, &out->layout);
	}
	for (size_t i = 0; i < out->order.n; i++)
		append_csv_row(out, view, out->order.rows[i]);
}

const struct out_ops out_csv = {
	.name = "csv",
	.frame = csv_frame,
	.diff = diff_csv,
};
