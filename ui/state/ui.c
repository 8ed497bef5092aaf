/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/state/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "view/column_words.h"
#include "view/layout.h"

/*
 * How long a message is shown, by its length: time to be noticed, and to be read, at so many
 * characters a second. Keys within the first of these belong to a series begun before.
 */
#define MESSAGE_SEEN_NS (4 * NSEC_PER_SEC)
#define MESSAGE_READ_NS (NSEC_PER_SEC / 12)
#define MESSAGE_LEAST_NS (NSEC_PER_SEC / 2)
#define MESSAGE_GLANCE_NS (NSEC_PER_SEC / 40)
#define MESSAGE_LEAST_MOST_NS (3 * NSEC_PER_SEC)

#define MESSAGE_MAX_BYTES 512

/* Height of a screen with a line for the words of the sort column. */
#define WORDS_LINES 34

struct view ui_view(const struct ui *ui)
{
	return (struct view){ .frame = ui->frame,
			      .unit = ui->settings->unit,
			      .charset = ui->config->charset,
			      .trends = ui->history.past ? &ui->history.trends : NULL,
			      .booked = ui->settings->booked };
}

struct page *ui_page(struct ui *ui)
{
	return &ui->pages[ui->depth - 1];
}

void ui_push(struct ui *ui, const struct view_ops *ops, void *state)
{
	struct page *page;

	if (ui->depth == UI_PAGES)
		ui_pop(ui);
	page = &ui->pages[ui->depth++];
	*page = (struct page){ .ops = ops, .state = state };
}

void ui_pop(struct ui *ui)
{
	struct page *page = ui_page(ui);

	if (ui->depth == 1)
		return;
	if (page->ops->close)
		page->ops->close(ui, page->state);
	ui->depth--;
}

/* Replaces a message. */
static __attribute__((format(printf, 3, 0))) void say(struct ui *ui, enum style style,
						      const char *format, va_list args)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), least;
	char text[MESSAGE_MAX_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	ui->message.len = 0;
	buf_puts(&ui->message, text);
	ui->message_style = style;
	least = MESSAGE_LEAST_NS + ui->message.len * MESSAGE_GLANCE_NS;
	ui->message_least_ns =
		now + (least < MESSAGE_LEAST_MOST_NS ? least : MESSAGE_LEAST_MOST_NS);
	ui->message_until_ns = now + MESSAGE_SEEN_NS + ui->message.len * MESSAGE_READ_NS;
}

void ui_say_no_more(struct ui *ui, bool at_once)
{
	if (at_once || clock_ns(CLOCK_MONOTONIC) >= ui->message_least_ns)
		ui->message_until_ns = 0;
}

void ui_say(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(ui, STYLE_MESSAGE, format, args);
	va_end(args);
}

void ui_error(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(ui, STYLE_ERROR, format, args);
	va_end(args);
}

void ui_escape(const struct ui *ui, struct buf *out, const char *name)
{
	text_escape(out, name, strlen(name), ui->config->charset);
}

bool ui_has_words(const struct ui *ui)
{
	return ui->term.lines >= WORDS_LINES;
}

void ui_append_words(const struct ui *ui, const struct column *column, struct buf *out)
{
	static const char more[] = "; ? says what to do";
	const struct column_words *words = column_words(column);

	buf_printf(out, "%s is ", column->heading);
	column_append_words(column, out);
	if (words && words->subject && out->len + strlen(more) < (size_t)ui->term.columns)
		buf_puts(out, more);
}

/* Spells out the heading of a column, unless that is always shown. */
static void say_words(struct ui *ui, const struct column *column)
{
	struct buf text = { 0 };

	if (ui_has_words(ui))
		return;
	ui_append_words(ui, column, &text);
	ui_say(ui, "%s", buf_cstr(&text));
	buf_free(&text);
}

struct table_view ui_table_view(struct ui *ui)
{
	const struct page *page = ui_page(ui);

	while (!page->ops->sheet)
		page--;
	return page->ops->sheet(ui, page->state);
}

unsigned ui_sort_by(struct ui *ui, const struct column *column)
{
	struct table_view sheet = ui_table_view(ui);

	if (*sheet.sort != column)
		say_words(ui, column);
	*sheet.descending = *sheet.sort == column ? !*sheet.descending : column_descends(column);
	*sheet.sort = column;
	return REACT_RELAYOUT | REACT_RESORT | REACT_RELEASE;
}

void ui_take_group(const struct ui *ui, struct ui_group *to, const struct group *group)
{
	to->by = ui->settings->group_by;
	to->id = group->id;
	to->named = group->name;
	to->below = ui->settings->tree && to->named && to->by == GROUP_CGROUP;
	to->name.len = 0;
	if (group->name)
		buf_puts(&to->name, group->name);
}

void ui_only_group(struct ui_group *group, struct query *query)
{
	if (group->below) {
		/* The view may already be restricted to a group below this one. */
		if (!query->below || group_is_below(buf_cstr(&group->name), query->below))
			query->below = buf_cstr(&group->name);
		return;
	}
	query->within = true;
	query->within_by = group->by;
	query->within_name = group->named ? buf_cstr(&group->name) : NULL;
}
