/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/site_column.h"

#include <string.h>

#include "base/util.h"

/* The number of turns in which columns make room. */
#define SITE_TURNS 11

/* Stands for any number of cells. */
#define NO_LIMIT 10000

#define UNUSED __attribute__((unused))

/* The head of a getter, with its parameters. */
#define GETTER(name) \
	static struct value name(UNUSED const struct trace_frame *trace, \
				 const struct site_line *line)

/* A time in ms. */
static struct value in_ms(double ns)
{
	return value_number(ns / (double)NSEC_PER_MSEC);
}

GETTER(get_site_state)
{
	return value_text(site_line_state(line));
}

/* Time in the interval, in ms. */
GETTER(get_site_time)
{
	return line->sum.unknown ? value_unset() : in_ms((double)site_line_ns(line));
}

/* The same as a share of the interval, in percent: of several threads it may be above 100. */
GETTER(get_site_share)
{
	if (!trace->interval_ns || line->sum.unknown)
		return value_unset();
	return value_number((double)site_line_ns(line) * 100.0 / (double)trace->interval_ns);
}

/* Waits that ended. */
GETTER(get_site_count)
{
	return line->sum.unattributed ? value_unset() : value_number((double)line->sum.count);
}

/* Time waited for each wait that ended, in ms. */
GETTER(get_site_avg)
{
	if (!line->sum.count || line->sum.unattributed)
		return value_unset();
	return in_ms((double)line->sum.ns / (double)line->sum.count);
}

/* The longest wait, in ms. */
GETTER(get_site_max)
{
	return line->sum.unattributed ? value_unset() : in_ms((double)line->sum.max_ns);
}

/* The longest wait in progress, in s. */
GETTER(get_site_waiting)
{
	if (!line->sum.waiting_ns)
		return value_unset();
	return value_number((double)line->sum.waiting_ns / (double)NSEC_PER_SEC);
}

/* The process; several that ended have none. */
GETTER(get_site_pid)
{
	return line->sum.tgid > 0 ? value_number(line->sum.tgid) : value_unset();
}

GETTER(get_site_comm)
{
	return value_text(line->sum.comm);
}

GETTER(get_site_syscall)
{
	return value_text(line->sum.syscall);
}

/* What the wait means; of the rest of a kind nothing is known. */
GETTER(get_site_class)
{
	return value_text(line->others || line->sum.unattributed ? NULL
								 : wait_class_ids[line->sum.class]);
}

/* The target; of the rest of a kind, and of many small ones, that they are that. */
GETTER(get_site_on)
{
	if (line->others)
		return value_text("(others)");
	return value_text(line->sum.unattributed && !line->sum.on ? "(unattributed)"
								  : line->sum.on);
}

GETTER(get_site_where)
{
	return value_text(line->sum.where);
}

/* Who ended most of the time. */
GETTER(get_site_waker)
{
	return value_text(line->sum.wakers[0].name);
}

/* A row: the members that all columns have, and further ones. */
#define COLUMN(ident, head, measure, cells, form, getter, text, ...) \
	{ \
		.id = ident, .heading = head, .unit = measure, .width = cells, .format = form, \
		.get = getter, .help = text, __VA_ARGS__ \
	}

const struct site_column site_columns[] = {
	COLUMN("state", "STATE", "", 5, FORMAT_TEXT, get_site_state,
	       "the state in which it waited, or the kind of delay", .most = 7),
	COLUMN("class", "CLASS", "", 9, FORMAT_TEXT, get_site_class,
	       "what the wait means: served, contended, rationed or parked", .from = 160,
	       .yields = 1),
	COLUMN("time", "TIME", "(ms)", 7, FORMAT_SHARE, get_site_time,
	       "time waited in the interval", .lost = true),
	COLUMN("share", "SHARE", "(%)", 6, FORMAT_SHARE, get_site_share,
	       "the same as a share of the interval, of one CPU's time", .lost = true,
	       .yields = 11),
	COLUMN("count", "COUNT", "(#)", 5, FORMAT_COUNT, get_site_count,
	       "waits that ended in the interval", .yields = 7),
	COLUMN("avg", "AVG", "(ms)", 6, FORMAT_WAIT, get_site_avg,
	       "time waited for each wait that ended", .yields = 4),
	COLUMN("max", "MAX", "(ms)", 6, FORMAT_WAIT, get_site_max,
	       "the longest wait since tracing began, or the one in progress", .yields = 5),
	COLUMN("waiting", "WAITING", "(s)", 8, FORMAT_SHARE, get_site_waiting,
	       "how long the longest wait in progress has lasted; >= where tracing began later",
	       .bounded = true, .yields = 2),
	COLUMN("pid", "PID", "(#)", 7, FORMAT_COUNT, get_site_pid, "the process",
	       .of_several = true, .yields = 3),
	COLUMN("comm", "COMMAND", "", 8, FORMAT_TEXT, get_site_comm, "the name of the process",
	       .most = 15, .of_several = true, .yields = 10),
	COLUMN("syscall", "SYSCALL", "", 9, FORMAT_TEXT, get_site_syscall,
	       "the system call in which it waited", .most = 16, .yields = 9),
	COLUMN("on", "ON", "", 18, FORMAT_TEXT, get_site_on,
	       "what it waited on: a file, socket, lock ...; for cpu: who ran instead",
	       .most = NO_LIMIT, .path = true),
	COLUMN("where", "WHERE", "", 10, FORMAT_TEXT, get_site_where,
	       "the function of the kernel in which it waited", .most = 32, .yields = 6),
	COLUMN("waker", "WAKER", "", 13, FORMAT_TEXT, get_site_waker, "who ended most of the time",
	       .most = 20, .yields = 8),
};

const size_t site_columns_n = ARRAY_SIZE(site_columns);

const struct site_column *site_column_by_id(const char *id)
{
	for (size_t i = 0; i < site_columns_n; i++)
		if (!strcmp(site_columns[i].id, id))
			return &site_columns[i];
	return NULL;
}

/* Cells of all columns, with a blank after each but the last. */
static unsigned layout_cells(const struct site_layout *layout)
{
	unsigned cells = layout->n ? (unsigned)layout->n - 1 : 0;

	for (size_t i = 0; i < layout->n; i++)
		cells += layout->cells[i];
	return cells;
}

/* Takes out the columns of a turn. */
static void make_room(struct site_layout *layout, unsigned turn)
{
	size_t kept = 0;

	for (size_t i = 0; i < layout->n; i++) {
		if (layout->columns[i]->yields == turn)
			continue;
		layout->columns[kept] = layout->columns[i];
		layout->cells[kept++] = layout->cells[i];
	}
	layout->n = kept;
}

/* Gives the cells that are left to the texts, in turn. */
static void hand_out(struct site_layout *layout, unsigned left)
{
	bool given = true;

	while (left && given) {
		given = false;
		for (size_t i = 0; i < layout->n && left; i++) {
			if (layout->cells[i] >= layout->columns[i]->most)
				continue;
			layout->cells[i]++;
			left--;
			given = true;
		}
	}
}

void site_layout_fit(struct site_layout *layout, unsigned width, bool several)
{
	layout->n = 0;
	for (size_t i = 0; i < site_columns_n; i++) {
		if ((site_columns[i].of_several && !several) || site_columns[i].from > width)
			continue;
		layout->columns[layout->n] = &site_columns[i];
		layout->cells[layout->n++] = site_columns[i].width;
	}
	for (unsigned turn = 1; turn <= SITE_TURNS && layout_cells(layout) > width; turn++)
		make_room(layout, turn);
	if (layout_cells(layout) < width)
		hand_out(layout, width - layout_cells(layout));
}

void site_column_label(const struct site_column *column, unsigned cells, const char *label,
		       struct buf *out)
{
	text_fit(out, label, strlen(label), cells, column->format != FORMAT_TEXT, TEXT_ASCII);
}

/* Appends a number. */
static void append_number(const struct site_column *column, unsigned cells,
			  const struct value *value, bool at_least, struct buf *scratch,
			  struct buf *out)
{
	bool bound = column->bounded && at_least && value->type == VALUE_NUMBER;
	/* Only counts are shown below 0: the rest of a kind may be. */
	bool below = value->type == VALUE_NUMBER && value->number < 0;
	unsigned most = bound && cells > 2 ? cells - 2 : cells;

	if (!bound) {
		value_append(out, value, below ? FORMAT_COUNT : column->format, cells);
		return;
	}
	scratch->len = 0;
	value_append(scratch, value, column->format, most);
	while (scratch->len && *scratch->data == ' ')
		memmove(scratch->data, scratch->data + 1, --scratch->len);
	buf_fill(out, ' ', cells > scratch->len + 2 ? cells - scratch->len - 2 : 0);
	buf_puts(out, cells > 2 ? ">=" : "");
	buf_add(out, scratch->data, scratch->len);
}

/* Appends a text; word: without blanks, as one word. */
static void append_text(const struct site_column *column, unsigned cells, const struct value *value,
			enum text_charset charset, bool word, struct buf *scratch, struct buf *out)
{
	scratch->len = 0;
	if (value->type == VALUE_TEXT)
		text_escape(scratch, value->text, strlen(value->text), charset);
	else
		buf_putc(scratch, '-');
	if (word)
		text_word(scratch);
	if (column->path && value->type == VALUE_TEXT && *value->text == '/')
		text_fit_end(out, scratch->data, scratch->len, cells, charset);
	else
		text_fit(out, scratch->data, scratch->len, cells, false, charset);
}

void site_column_append(const struct site_column *column, unsigned cells,
			const struct trace_frame *trace, const struct site_line *line,
			enum text_charset charset, struct buf *scratch, struct buf *out)
{
	struct value value = column->get(trace, line);

	if (column->format == FORMAT_TEXT)
		append_text(column, cells, &value, charset, false, scratch, out);
	else
		append_number(column, cells, &value, line->sum.at_least, scratch, out);
}

void site_column_append_word(const struct site_column *column, unsigned cells,
			     const struct trace_frame *trace, const struct site_line *line,
			     enum text_charset charset, struct buf *scratch, struct buf *out)
{
	struct value value = column->get(trace, line);

	if (column->format == FORMAT_TEXT)
		append_text(column, cells, &value, charset, true, scratch, out);
	else
		append_number(column, cells, &value, line->sum.at_least, scratch, out);
}
