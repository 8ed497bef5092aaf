/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/out.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum time for which a reader that stopped reading may delay the exit. */
#define LAST_WRITE_MS 1000

#define ENTRY(format) &out_##format,
const struct out_ops *const out_registry[] = { OUT_FORMATS(ENTRY, ENTRY) NULL };

const struct out_ops *out_by_name(const char *name)
{
	for (const struct out_ops *const *ops = out_registry; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return *ops;
	return NULL;
}

void out_open(struct out *out, const struct out_ops *ops, const struct out_config *config)
{
	*out = (struct out){ .ops = ops, .config = config };
}

int out_begin(struct out *out)
{
	return out->ops->open ? out->ops->open(out) : 0;
}

/* The NEED_ bits of the format; by default only those of the fields that -F names. */
static unsigned format_needs(const struct out *out)
{
	const struct view_config *view = out->config->view;
	struct layout named;

	if (out->ops->needs)
		return out->ops->needs(out->config);
	layout_named(&named, view->fields);
	return layout_needs(&named, view->unit);
}

unsigned out_needs(const struct out *out)
{
	const struct view_config *view = out->config->view;

	return (query_needs(&view->query, view->unit) | format_needs(out) |
		group_table[view->group_by].needs | (out->ops->finds ? NEED_EVIDENCE : 0)) &
	       ~NEED_SHOWN;
}

/* Folds a frame as configured. */
static const struct frame *fold_frame(struct out *out, const struct frame *frame)
{
	const struct view_config *view = out->config->view;
	struct grouping_options options = { .by = view->group_by,
					    .tree = out->ops->tree,
					    .life = out->order.life,
					    .passes = query_takes,
					    .arg = &view->query };

	return group_folds(view->group_by) ? group_fold(&out->grouping, frame, &options) : frame;
}

/* The needs read for the shown rows only, of groups or of tasks. */
static unsigned shown_needs(const struct out *out, unsigned needs)
{
	bool groups = group_folds(out->config->view->group_by);

	return needs & (groups ? NEED_GROUP_PARTS : NEED_SHOWN);
}

/* Reads those for these rows. */
static void fill_shown(const struct out *out, const struct row *const *rows, size_t n,
		       unsigned needs)
{
	const struct out_config *config = out->config;

	needs = shown_needs(out, needs);
	if (config->fill && needs)
		config->fill(config->fill_arg, rows, n, needs);
}

const struct findings *out_findings(const struct out *out)
{
	return out->ops->finds && !out->config->view->query.no_rows ? &out->findings : NULL;
}

const struct frame *out_grouped(const struct out *out)
{
	const struct frame *folded = &out->grouping.frame;

	return group_folds(out->config->view->group_by) && folded->info ? folded : NULL;
}

/* True if a field or the order needs earlier frames; since start there are no intervals. */
static bool wants_trends(const struct out *out, const struct frame *frame)
{
	const struct view_config *view = out->config->view;
	struct layout named;

	layout_named(&named, view->fields);
	return !frame->info->since_start &&
	       (layout_is_of_past(&named) || (view->query.sort && view->query.sort->past));
}

void out_prime(struct out *out, const struct frame *frame)
{
	const struct out_config *config = out->config;
	struct view view = { .frame = frame,
			     .unit = config->view->unit,
			     .charset = config->charset,
			     .booked = config->view->booked };

	/* The earlier frames are forgotten: no interval continues from them. */
	trends_free(&out->trends);
	out->texts.n = 0;
	if (config->view->query.no_rows ||
	    (!(out_needs(out) & NEED_GROUP_PARTS) && !out->ops->first))
		return;
	view.frame = fold_frame(out, frame);
	for (size_t i = 0; i < view.frame->n; i++)
		fill_shown(out, (const struct row *[]){ &view.frame->rows[i] }, 1, out_needs(out));
	if (out->ops->first)
		out->ops->first(out, &view);
}

/* Appends the data of a frame besides its rows. */
static void put_bare(struct out *out, const struct frame *frame)
{
	const struct out_config *config = out->config;
	struct frame_info info = *frame->info;
	struct frame bare = { .info = &info, .group_by = group_table[config->view->group_by].id };
	struct view view = { .frame = &bare,
			     .unit = config->view->unit,
			     .charset = config->charset,
			     .booked = config->view->booked };

	if (!info.bare)
		info.tasks = info.cur->n;
	info.bare = true;
	info.trace = NULL;
	out->ops->frame(out, &view);
	out->frames++;
}

/* Number of texts checked for one that came later in the previous sample. */
#define TEXTS_PASSED 32

/*
 * Starts a sample's texts: those of the previous sample can be copied if they were written since,
 * and if `extra` columns, which the first sample finds, do not change by themselves.
 */
static void begin_texts(struct out *out, const struct view *view)
{
	struct row_texts *texts = &out->texts, was = *texts;
	const struct frame_info *info = view->frame->info;
	const uint64_t of[] = { info->clocks->real_ns, info->head.unknown };
	bool still = out->frames && !info->since_start && !info->trace && !info->cur->records &&
		     !info->cur->procs && !view->trends &&
		     layout_is_still(&out->layout, view->unit);

	*texts = (struct row_texts){ .still = still ? hash_bytes(HASH_START, of, sizeof(of)) : 0,
				     .now = was.before,
				     .cap = was.before_cap,
				     .before = was.now,
				     .before_cap = was.cap,
				     .text = was.text };
	if (out->buf.len || !was.n)
		return;
	texts->nbefore = was.n;
	texts->text = out->buf;
	out->buf = was.text;
	out->buf.len = 0;
}

uint64_t out_text_key(const struct out *out, const struct frame *frame, const struct row *row)
{
	uint64_t key = out->texts.still ? row_still(frame, row) : 0;

	return key ? (key ^ out->texts.still) | 1 : 0;
}

const struct row_text *out_text_find(struct out *out, uint64_t key)
{
	struct row_texts *texts = &out->texts;
	size_t end = texts->next + TEXTS_PASSED;

	if (!key)
		return NULL;
	for (size_t i = texts->next; i < texts->nbefore && i < end; i++) {
		if (texts->before[i].key != key)
			continue;
		texts->next = i + 1;
		return &texts->before[i];
	}
	return NULL;
}

void out_text_note(struct out *out, uint64_t key, size_t at, size_t head, size_t tail)
{
	struct row_texts *texts = &out->texts;

	if (!key)
		return;
	GROW(texts->now, texts->n, texts->cap);
	texts->now[texts->n++] = (struct row_text){ .key = key,
						    .at = at,
						    .head = (uint32_t)(head - at),
						    .between = (uint32_t)(tail - head),
						    .tail = (uint32_t)(out->buf.len - tail) };
}

void out_frame(struct out *out, const struct frame *frame)
{
	const struct out_config *config = out->config;
	const struct query *query = &config->view->query;
	struct view view = { .frame = frame,
			     .unit = config->view->unit,
			     .charset = config->charset,
			     .booked = config->view->booked };
	bool trends = wants_trends(out, frame);
	unsigned needs;

	if (query->no_rows) {
		put_bare(out, frame);
		return;
	}
	if (trends)
		view.trends = &out->trends;
	out->order.life = out_needs(out) & NEED_LIFE;
	view.frame = fold_frame(out, frame);
	/* Sorting needs the data of all rows that is otherwise read of the shown ones. */
	needs = shown_needs(out, query_needs(query, view.unit));
	for (size_t i = 0; needs && i < view.frame->n; i++)
		fill_shown(out, (const struct row *[]){ &view.frame->rows[i] }, 1, needs);
	query_run(query, &view, &out->order);
	fill_shown(out, out->order.rows, out->order.n, format_needs(out));
	if (out->ops->finds)
		findings_take(&out->findings, &view, frame, query);
	begin_texts(out, &view);
	out->ops->frame(out, &view);
	if (trends)
		trends_add(&out->trends, frame);
	out->frames++;
}

/* Waits until the descriptor accepts more. Returns false after a time-out. */
static bool await_room(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };

	return poll(&pollfd, 1, LAST_WRITE_MS) > 0;
}

int out_flush(struct out *out, int fd, const volatile sig_atomic_t *caught)
{
	size_t done = 0;

	while (done < out->buf.len) {
		ssize_t n;

		if (*caught && !await_room(fd))
			return -EINTR;
		n = write(fd, out->buf.data + done, out->buf.len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			await_room(fd);
		else if (errno != EINTR)
			return -errno;
	}
	out->buf.len = 0;
	return 0;
}

void out_close(struct out *out)
{
	if (out->ops && out->ops->close)
		out->ops->close(out);
	order_free(&out->order);
	findings_free(&out->findings);
	grouping_free(&out->grouping);
	trends_free(&out->trends);
	buf_free(&out->scratch);
	buf_free(&out->buf);
	free(out->texts.now);
	free(out->texts.before);
	buf_free(&out->texts.text);
}

uint64_t out_since_ns(const struct trigger *trigger, const struct frame_info *info)
{
	uint64_t now_ns = info->cur->begin_ns;

	return now_ns > trigger->last_ns ? now_ns - trigger->last_ns : 0;
}

void out_named(const struct out_config *config, unsigned format, struct layout *extra)
{
	struct layout named;

	layout_named(&named, config->view->fields);
	extra->n = 0;
	for (size_t i = 0; i < named.n; i++)
		if (!(named.columns[i]->formats & format) ||
		    !layout_applies(named.columns[i], config->view->group_by))
			extra->columns[extra->n++] = named.columns[i];
}

void text_end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

void text_table_heads(struct text_table *table)
{
	const struct layout *layout = table->layout;
	struct buf *buf = table->out;

	for (size_t i = 0; i < layout->n; i++) {
		char heading[COLUMN_HEADING];

		column_heading(layout->columns[i], heading);
		if (i)
			buf_putc(buf, ' ');
		column_append_label(layout->columns[i], heading, 0, buf);
	}
	text_end_line(buf);
	for (size_t i = 0; i < layout->n; i++) {
		if (i)
			buf_putc(buf, ' ');
		column_append_label(layout->columns[i],
				    column_unit(layout->columns[i], table->view->unit), 0, buf);
	}
	text_end_line(buf);
}

/* True if two values of one sample make the same cell: equal texts are then the same bytes. */
static bool is_same_layout(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == VALUE_BAR)
		return !strcmp(a->bar, b->bar);
	if (a->type == VALUE_TEXT)
		return a->text == b->text && a->more == b->more;
	return a->type == VALUE_UNSET || (a->number == b->number && a->at_least == b->at_least);
}

/* Appends a copy of a part of the buffer. */
static void repeat(struct buf *buf, size_t from, size_t len)
{
	char *to = buf_reserve(buf, len);

	memcpy(to, buf->data + from, len);
	buf->len += len;
}

/* Most cells equal those of the row above: adjacent ones are copied at once. */
void text_table_row(struct text_table *table, const struct row *row)
{
	const struct layout *layout = table->layout;
	struct previous_cell *above = table->above;
	struct buf *buf = table->out;
	size_t from = 0, same = 0;

	for (size_t i = 0; i < layout->n; i++, above++) {
		const struct column *column = layout->columns[i];
		struct value value = column_get(column, table->view, row);
		bool last = i + 1 == layout->n;

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
		*above = (struct previous_cell){ .value = value, .begin = buf->len };
		if (i)
			buf_putc(buf, ' ');
		if (last)
			column_append(column, table->view, &value, table->whole ? COLUMN_WHOLE : 0,
				      table->scratch, buf);
		else
			column_append_word(column, table->view, &value, table->scratch, buf);
		above->end = buf->len;
	}
	repeat(buf, from, same);
	buf_putc(buf, '\n');
}
