/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "view/layout.h"

/* The time that a message is shown when no key is pressed. */
#define MESSAGE_NS (6 * NSEC_PER_SEC)

#define MESSAGE_MAX_BYTES 512

struct view ui_view(const struct ui *ui)
{
	return (struct view){ .frame = ui->frame,
			      .unit = ui->settings->unit,
			      .charset = ui->config->charset,
			      .trends = ui->rewind.past ? &ui->rewind.trends : NULL,
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

/* Takes a message over. */
static __attribute__((format(printf, 3, 0))) void say(struct ui *ui, enum style style,
						      const char *format, va_list args)
{
	char text[MESSAGE_MAX_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	ui->message.len = 0;
	buf_puts(&ui->message, text);
	ui->message_style = style;
	ui->message_until_ns = clock_ns(CLOCK_MONOTONIC) + MESSAGE_NS;
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

unsigned ui_sort_by(struct ui *ui, const struct column *column)
{
	struct query *query = &ui->settings->query;

	query->descending = query->sort == column ? !query->descending : column_descends(column);
	query->sort = column;
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
