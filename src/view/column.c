/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds columns, adds up rows, and formats values as cells. */
#include "view/column.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "frame/group.h"

int unit_by_name(const char *name)
{
	for (int unit = 0; unit < UNITS; unit++)
		if (!strcmp(unit_table[unit].id, name))
			return unit;
	return -1;
}

const struct column *column_in(const struct column_table *table, const char *id, size_t id_len)
{
	for (size_t i = 0; i < table->n; i++)
		if (strlen(table->columns[i].id) == id_len &&
		    !memcmp(table->columns[i].id, id, id_len))
			return &table->columns[i];
	return NULL;
}

void column_ask_near(const struct column_table *table, const char *id, size_t id_len,
		     struct buf *out)
{
	struct suggestion near = suggest_for(id, id_len);

	for (size_t i = 0; i < table->n; i++)
		suggest_try(&near, table->columns[i].id, strlen(table->columns[i].id));
	suggest_append(&near, "", out);
}

const struct column *column_by_key(char key)
{
	for (size_t i = 0; i < columns_n; i++)
		if (columns[i].digit == key || columns[i].letter == key)
			return &columns[i];
	return NULL;
}

const struct column *column_sort_default(const struct column_table *table)
{
	const struct column *column = table->columns;

	while (!column->sort_default)
		column++;
	return column;
}

const struct column *column_longer(const struct column *column)
{
	return column->longer ? column_by_id(column->longer, strlen(column->longer)) : NULL;
}

bool column_rose(const struct column *column, const struct view *view, const struct row *row)
{
	const struct task_record *now = row_record(view->frame, row);
	const struct task_record *before = row_record_before(view->frame, row);
	uint32_t kinds;

	if (!now || !before)
		return false;
	kinds = column->kinds & now->range_valid & before->range_valid;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind) && now->max[kind] > before->max[kind])
			return true;
	return false;
}

unsigned column_needs(const struct column *column, enum unit unit)
{
	if (!column_is_delay(column))
		return column->needs;
	return column->needs | (unit == UNIT_MAX ? NEED_RANGE : 0) |
	       (unit == UNIT_TOTAL ? NEED_LIFE : 0);
}

bool column_descends(const struct column *column)
{
	return column->format != FORMAT_TEXT || column->bar;
}

/* True if the getter returns the sum row's value. */
static bool sums_by_row(const struct column *column, const struct view *view)
{
	return column->sum == SUM_ROW || (column->sum == SUM_DELTAS && view->unit != UNIT_TOTAL);
}

/* True if the largest of several values is shown: for SUM_MOST, and for the longest waits. */
static bool takes_most(const struct column *column, const struct view *view)
{
	return column->sum == SUM_MOST || (column_is_delay(column) && view->unit == UNIT_MAX);
}

bool column_adds(const struct column *column, const struct view *view)
{
	return takes_most(column, view) || (column->sum != SUM_NONE && !sums_by_row(column, view));
}

void column_add(const struct column *column, const struct view *view, struct value *total,
		const struct value *value)
{
	if (value->type != VALUE_NUMBER)
		return;
	if (total->type != VALUE_NUMBER)
		*total = *value;
	else if (!takes_most(column, view))
		total->number += value->number;
	else if (value->number > total->number)
		total->number = value->number;
}

struct value column_of_group(const struct column *column, const struct view *view,
			     const struct row *row)
{
	const struct group *group = row->group;
	struct value total = value_unset();

	if (!column_adds(column, view))
		return column->get(column, view,
				   group->head && column->sum == SUM_NONE ? group->head : row);
	for (size_t i = 0; i < group->n; i++) {
		struct value value = column->get(column, view, group->members[i]);

		column_add(column, view, &total, &value);
	}
	return total;
}

struct value column_total(const struct column *column, const struct view *view,
			  const struct row *const *rows, size_t n, const struct row *sum)
{
	struct value total = value_unset();

	if (column->sum == SUM_NONE || takes_most(column, view))
		return total;
	if (sums_by_row(column, view))
		return column_get(column, view, sum);
	for (size_t i = 0; i < n; i++) {
		const struct group *group = rows[i]->group;
		struct value value;

		/* Includes only a group's own members: in a tree, groups below have rows, too. */
		for (size_t m = 0; group && m < group->own; m++) {
			value = column_get(column, view, group->members[m]);
			column_add(column, view, &total, &value);
		}
		if (group)
			continue;
		value = column_get(column, view, rows[i]);
		column_add(column, view, &total, &value);
	}
	return total;
}

/* True if too long a text is cut at the front. */
static bool cuts_front(const struct column *column, const struct value *value)
{
	return column->path && value->type == VALUE_TEXT && *value->text == '/';
}

/*
 * Length of a path that is too long for so many cells, without the file system's server in brackets
 * after it. The whole length if there is none, or it is not too long.
 */
static size_t path_alone(const struct buf *path, unsigned cells, enum text_charset charset)
{
	size_t at = path->len;

	if (!cells || text_width(path->data, path->len, charset) <= cells ||
	    path->data[path->len - 1] != ')')
		return path->len;
	while (at && (path->data[at] != '(' || path->data[at - 1] != ' '))
		at--;
	return at ? at - 1 : path->len;
}

/*
 * Start of the last whole components of a path that fit into the cells after a mark, at least of
 * the last component; 0: all of it fits. Goes backwards: a path may have thousands of components.
 */
static size_t last_parts(const struct buf *path, unsigned cells, enum text_charset charset)
{
	size_t found = 0;

	if (text_width(path->data, path->len, charset) <= cells)
		return 0;
	for (size_t at = path->len - 1; at; at--) {
		if (path->data[at] != '/')
			continue;
		if (found && text_width(path->data + at, path->len - at, charset) >= cells)
			break;
		found = at;
	}
	return found;
}

/* Appends the readable name of a cgroup whose path is too wide; the name may be as wide. */
static void fit_cgroup(struct buf *out, struct buf *scratch, unsigned cells,
		       const struct value *value, enum text_charset charset)
{
	struct buf name = { 0 };
	size_t at;

	group_cgroup_name(value->text, value->pod, value->container, &name);
	scratch->len = 0;
	value_escape(scratch, buf_cstr(&name), NULL, charset);
	buf_free(&name);
	at = last_parts(scratch, cells, charset);
	if (at)
		buf_putc(out, '+');
	text_fit(out, scratch->data + at, scratch->len - at, at ? cells - 1 : cells, false,
		 charset);
}

/* Appends the contents of `scratch` in so many cells; tail: cut at the front. */
static void fit_text(struct buf *out, const struct buf *scratch, unsigned cells, bool tail,
		     enum text_charset charset)
{
	size_t len = tail ? path_alone(scratch, cells, charset) : scratch->len;
	unsigned width = text_width(scratch->data, len, charset);

	if (!tail) {
		text_fit(out, scratch->data, len, cells, false, charset);
	} else if (len == scratch->len || cells < 2) {
		text_fit_end(out, scratch->data, len, cells, charset);
	} else {
		if (width >= cells)
			width = cells - 1;
		text_fit_end(out, scratch->data, len, width, charset);
		buf_putc(out, '+');
		buf_fill(out, ' ', cells - width - 1);
	}
}

void column_append(const struct column *column, const struct view *view, const struct value *value,
		   unsigned cells, struct buf *scratch, struct buf *out)
{
	const char *text = value_chars(value) ? value_chars(value) : "-";
	const char *more = value->type == VALUE_TEXT ? value->more : NULL;
	bool below = column->below && value->type == VALUE_NUMBER && value->number < 0;

	if (column->format != FORMAT_TEXT) {
		value_append(out, value, below ? FORMAT_COUNT : column_format(column, view->unit),
			     cells && cells != COLUMN_WHOLE ? cells : column->width);
		return;
	}
	if (column->graph && value->type == VALUE_BAR && view->charset == TEXT_UTF8) {
		for (const char *bar = value->bar; *bar; bar++)
			buf_puts(out, value_block(*bar));
		return;
	}
	if (!column->last && !cells)
		cells = column->width;
	if (!cells || cells == COLUMN_WHOLE) {
		value_escape(out, text, more, view->charset);
		return;
	}
	scratch->len = 0;
	value_escape(scratch, text, more, view->charset);
	if (column->cgroup && value->type == VALUE_TEXT && cells > 1 &&
	    text_width(scratch->data, scratch->len, view->charset) > cells)
		fit_cgroup(out, scratch, cells, value, view->charset);
	else
		fit_text(out, scratch, cells, cuts_front(column, value), view->charset);
}

void column_append_word(const struct column *column, const struct view *view,
			const struct value *value, struct buf *scratch, struct buf *out)
{
	if (column->format != FORMAT_TEXT || value->type != VALUE_TEXT) {
		column_append(column, view, value, column->width, scratch, out);
		return;
	}
	scratch->len = 0;
	value_escape(scratch, value->text, value->more, view->charset);
	text_word(scratch);
	fit_text(out, scratch, column->width, cuts_front(column, value), view->charset);
}

void column_append_label(const struct column *column, const char *label, unsigned cells,
			 struct buf *out)
{
	size_t len = strlen(label), width = cells ? cells : column->width;
	size_t pad = width > len ? width - len : 0;

	if (column->format != FORMAT_TEXT)
		buf_fill(out, ' ', pad);
	buf_puts(out, label);
	if (column->format == FORMAT_TEXT && !column->last)
		buf_fill(out, ' ', pad);
}

void column_append_total(const struct column *column, const struct view *view,
			 const struct value *total, unsigned cells, bool first, struct buf *scratch,
			 struct buf *out)
{
	size_t begin = out->len;
	bool summed = column->sum != SUM_NONE && column->sum != SUM_MOST &&
		      (column->format != FORMAT_TEXT || value_chars(total));

	if (first && total->type == VALUE_UNSET) {
		column_append_label(column, "=", cells, out);
		return;
	}
	if (summed)
		column_append(column, view, total, cells, scratch, out);
	else
		column_append_label(column, "", cells, out);
	if (!first)
		return;
	/* Must be a separate word for readers that split at spaces: shortens the value. */
	if (out->len - begin > 2 && memcmp(out->data + begin, "  ", 2) != 0) {
		out->len = begin;
		buf_fill(out, ' ', 2);
		value_append(out, total, FORMAT_COUNT, (cells ? cells : column->width) - 2);
	}
	if (out->len - begin > 2)
		out->data[begin] = '=';
}

void column_heading(const struct column *column, char heading[COLUMN_HEADING])
{
	snprintf(heading, COLUMN_HEADING, "%.1s%s", column->digit ? &column->digit : "",
		 column->heading);
}

const char *column_unit(const struct column *column, enum unit unit)
{
	return column->unit ? column->unit : unit_table[unit].label;
}
