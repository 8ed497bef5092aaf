/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that ask for a text first: filters, find, interval; the switch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/users.h"
#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/table/table_state.h"

/* Applies the filter; an empty one clears it. */
static unsigned take_filter(struct ui *ui, const char *text, struct buf *error)
{
	struct pattern *match = *text ? pattern_compile(text, error) : NULL;

	if (*text && !match)
		return REACT_NONE;
	pattern_free(ui->match);
	free(ui->pattern);
	ui->match = match;
	ui->pattern = match ? xstrdup(text) : NULL;
	return REACT_RESORT;
}

COMMAND(cmd_filter)
{
	prompt_ask(&ui->prompt, "filter by expression", ui->pattern ? ui->pattern : "",
		   take_filter);
	/* As in htop. */
	ui->prompt.clears = true;
	return REACT_REDRAW;
}

/* Applies the users; an empty list clears that filter. */
static unsigned take_users(struct ui *ui, const char *text, struct buf *error)
{
	char *copy = xstrdup(text), *rest = copy, *part;
	struct query *query = &ui->settings->query;
	uid_t *users = NULL;
	size_t n = 0;

	while ((part = strsep(&rest, ", "))) {
		if (!*part)
			continue;
		users = xreallocarray(users, n + 1, sizeof(*users));
		if (user_find(part, &users[n++]))
			continue;
		buf_puts(error, "no such user: ");
		ui_escape(ui, error, part);
		free(users);
		free(copy);
		return REACT_NONE;
	}
	free(copy);
	free(query->users);
	query->users = users;
	query->nusers = n;
	return REACT_RESORT;
}

/* Appends the users that the rows are filtered by. */
static void append_users(const struct ui *ui, struct buf *out)
{
	const struct query *query = &ui->settings->query;
	struct users *users = users_open();

	for (size_t i = 0; i < query->nusers; i++) {
		if (i)
			buf_putc(out, ',');
		buf_puts(out, users_name(users, query->users[i], NULL));
	}
	users_close(users);
}

COMMAND(cmd_users)
{
	struct buf users = { 0 };

	append_users(ui, &users);
	prompt_ask(&ui->prompt, "users", buf_cstr(&users), take_users);
	buf_free(&users);
	return REACT_REDRAW;
}

COMMAND(cmd_clear)
{
	struct buf none = { 0 };

	take_filter(ui, "", &none);
	take_users(ui, "", &none);
	ui->settings->query.over_ms = -1;
	ui->settings->query.active = false;
	buf_free(&none);
	ui_say(ui, "no filters");
	return REACT_RESORT;
}

/* The first screen line of a page, from `from` on, that matches; list->n: none. */
static size_t match_on_screen(struct ui *ui, const struct list *list, int height, size_t from)
{
	int top = height - (int)list->height;
	struct buf text = { 0 };
	size_t line = list->top;

	for (; line < list->n && line - list->top < list->height; line++) {
		text.len = 0;
		term_read_line(&ui->term, top + (int)(line - list->top), &text);
		if (line >= from && pattern_matches(ui->find, buf_cstr(&text)))
			break;
	}
	if (line - list->top >= list->height)
		line = list->n;
	buf_free(&text);
	return line;
}

/* Scrolls a page to its next line that matches, from the one found last on, wrapping around. */
static bool find_in_page(struct ui *ui, struct page *page)
{
	struct list *list = &page->list;
	size_t was = list->top, from = list->found ? list->found : list->top, end = from + list->n;
	int height = ui->term.lines - 1;

	/* The contents of a page are known when it is drawn: one screen at a time. */
	for (size_t at = from; at < end; at += list->height ? list->height : 1) {
		size_t start = at < list->n ? at : at - list->n, found;

		list->top = start;
		term_erase(&ui->term);
		page->ops->draw(ui, page->state, list, height);
		found = match_on_screen(ui, list, height, start);
		if (found < list->n) {
			list->top = list->found = found;
			list->found++;
			return true;
		}
		/* The last screen begins before the requested line. */
		if (start < list->n && start + list->height >= list->n)
			at = list->n - list->height + (at < list->n ? 0 : list->n);
	}
	list->top = was;
	return false;
}

/* Selects the next line that matches, and reports when there is none. */
static unsigned select_next_match(struct ui *ui)
{
	struct page *page = ui_page(ui);
	struct buf *text = &ui->scratch;

	if (page->ops->find ? page->ops->find(ui, page->state, &page->list)
			    : find_in_page(ui, page))
		return REACT_REDRAW;
	text->len = 0;
	ui_escape(ui, text, ui->wanted);
	ui_error(ui, "not found: %s", buf_cstr(text));
	return REACT_REDRAW;
}

/* Takes the text to search for. */
static unsigned take_wanted(struct ui *ui, const char *text, struct buf *error)
{
	struct pattern *find = *text ? pattern_compile(text, error) : NULL;

	if (!find)
		return REACT_NONE;
	pattern_free(ui->find);
	free(ui->wanted);
	ui->find = find;
	ui->wanted = xstrdup(text);
	return select_next_match(ui);
}

COMMAND(cmd_find)
{
	prompt_ask(&ui->prompt, "find expression", ui->wanted ? ui->wanted : "", take_wanted);
	return REACT_REDRAW;
}

unsigned cmd_find_next(struct ui *ui, int arg)
{
	return ui->wanted ? select_next_match(ui) : cmd_find(ui, arg);
}

/* Takes the interval; the loop adjusts its ticker. */
static unsigned take_interval(struct ui *ui, const char *text, struct buf *error)
{
	if (!view_set_interval(ui->settings, text, error))
		return REACT_NONE;
	ui_say(ui, "interval: %.2f s", (double)ui->settings->interval_ns / (double)NSEC_PER_SEC);
	return REACT_REDRAW;
}

COMMAND(cmd_interval)
{
	char text[32];

	snprintf(text, sizeof(text), "%g",
		 (double)ui->settings->interval_ns / (double)NSEC_PER_SEC);
	prompt_ask(&ui->prompt, "interval in seconds", text, take_interval);
	return REACT_REDRAW;
}

/* Switches delay accounting. */
static unsigned switch_delayacct(struct ui *ui, UNUSED const char *text, UNUSED struct buf *error)
{
	bool on = ui->frame->info->head.delayacct != DELAYACCT_ON;
	int err = sampler_switch_delayacct(ui->sampler, on);

	if (err == -EACCES || err == -EPERM)
		ui_error(ui, "no permission to switch kernel.task_delayacct: needs root");
	else if (err == -ENOENT)
		ui_error(ui, "this kernel has no such switch: boot with the parameter delayacct");
	else if (err)
		ui_error(ui, "cannot switch kernel.task_delayacct: %s", strerror(-err));
	else if (on)
		ui_say(ui, "kernel.task_delayacct stays on: new tasks are accounted");
	else
		ui_say(ui, "kernel.task_delayacct stays off");
	return err ? REACT_REDRAW : REACT_RESAMPLE;
}

COMMAND(cmd_delayacct)
{
	if (ui->frame->info->head.delayacct == DELAYACCT_ON)
		prompt_confirm(&ui->prompt, "switch delay accounting off system-wide?",
			       switch_delayacct);
	else
		prompt_confirm(&ui->prompt,
			       "switch delay accounting on? It stays on after stalltop exits",
			       switch_delayacct);
	return REACT_REDRAW;
}
