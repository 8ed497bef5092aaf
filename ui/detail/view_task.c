/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/view_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/detail/detail.h"
#include "ui/detail/detail_figures.h"
#include "ui/detail/detail_page.h"

struct task_view {
	struct detail detail;
	struct detail_page page;
};

/* Draws the bar at the top: the name of the detail's task or sum. */
static void draw_bar(struct task_view *view, struct ui *ui)
{
	const struct detail *detail = &view->detail;
	struct term *term = &ui->term;
	int column = 0;
	char text[48];

	term_put(term, 0, 0, term->columns, "", 0, STYLE_HEAD);
	if (detail->sum) {
		snprintf(text, sizeof(text), "%s%zu %s", detail->of_group ? "" : "sum of ",
			 detail->members,
			 ui->frame->info->threads ? plural(detail->members, "thread", "threads")
						  : plural(detail->members, "task", "tasks"));
		column = term_puts(term, 0, column, text, STYLE_HEAD);
		view->page.text.len = 0;
		if (detail->of_group)
			detail_group_name(detail, ui->term.charset, &view->page.text);
		term_put(term, 0, column, term->columns - column, view->page.text.data,
			 view->page.text.len, STYLE_HEAD);
		return;
	}
	snprintf(text, sizeof(text), "%s %d ", detail->who.thread ? "thread" : "process",
		 (int)detail->who.key.pid);
	column = term_puts(term, 0, column, text, STYLE_HEAD);
	view->page.text.len = 0;
	ui_escape(ui, &view->page.text, detail->who.comm);
	term_put(term, 0, column, term->columns - column, view->page.text.data, view->page.text.len,
		 STYLE_HEAD);
}

/* Shows that the task has exited: when, as far as readings show, and how. */
static void draw_end(struct task_view *view, struct ui *ui)
{
	const struct detail *detail = &view->detail;
	char seen[DETAIL_TIME], gone[DETAIL_TIME], text[6 * DETAIL_TIME];
	bool before = !detail->seen_ns;

	detail_time(seen, "%H:%M:%S", detail->seen_ns);
	detail_time(gone, "%H:%M:%S", detail->gone_ns);
	snprintf(text, sizeof(text), "ended %s%s%s%s%s%s: its last figures",
		 before ? "before " : "between ", before ? "" : seen, before ? "" : " and ", gone,
		 *detail->how ? ", " : "", detail->how);
	term_put(&ui->term, 1, 0, ui->term.columns, text, strlen(text), STYLE_NOTE);
}

/* The line of the screen where the page begins: below the bar, and the state of the task. */
static int page_top(const struct task_view *view)
{
	return 1 + (view->detail.ended || view->detail.absent);
}

/* Draws the whole view. */
static void task_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct task_view *view = state;
	int top = page_top(view);

	if (height > 0)
		draw_bar(view, ui);
	if (view->detail.ended && height > 1)
		draw_end(view, ui);
	else if (view->detail.absent && height > 1)
		term_puts(&ui->term, 1, 0, "not in this sample: its last known figures",
			  STYLE_NOTE);
	list->plain = true;
	pager_count(&view->page.pager, &ui->term);
	detail_page_write(&view->page, &view->detail, ui);
	list_size(list, view->page.pager.line, height > top ? (size_t)(height - top) : 0);
	pager_draw(&view->page.pager, list, top);
	detail_page_write(&view->page, &view->detail, ui);
}

/* Chooses a thread of those in sight, or scrolls. */
static void task_move(struct ui *ui, void *state, struct list *list, enum list_move by)
{
	struct task_view *view = state;

	if (!detail_threads_move(&view->page.threads, &view->detail, ui, list, by))
		list_move(list, by);
}

/* Chooses the clicked thread. */
static unsigned task_click(struct ui *ui, void *state, struct list *list, int line,
			   UNUSED int column)
{
	struct task_view *view = state;
	int top = page_top(view);

	if (line >= top && (size_t)(line - top) < list->height)
		detail_threads_choose(&view->page.threads, &view->detail, ui,
				      list->top + (size_t)(line - top));
	return REACT_REDRAW;
}

/* The account of the machine's time is needed for the sum only. */
static unsigned task_needs(UNUSED struct ui *ui, void *state)
{
	const struct detail *detail = &((struct task_view *)state)->detail;

	if (detail->of_group)
		return group_table[detail->group.which.by].needs;
	return detail->sum ? NEED_ACCOUNT : 0;
}

/* Processes a new frame. */
static void task_frame(struct ui *ui, void *state)
{
	struct task_view *view = state;

	detail_next(&view->detail, ui);
	if (view->page.extra.frame)
		view->page.extra.frame(view->page.extra.arg, ui);
}

/* Only added parts need it. */
static bool task_traces(UNUSED struct ui *ui, void *state)
{
	return ((struct task_view *)state)->page.extra.write;
}

/* The process of the task. */
static pid_t task_process(const void *state)
{
	return ((const struct task_view *)state)->detail.who.tgid;
}

/* Names the task of the detail. */
static bool task_target(struct ui *ui, void *state, struct ui_task *task)
{
	const struct detail *detail = &((struct task_view *)state)->detail;

	if (detail->sum) {
		ui_error(ui, "%s cannot be signalled or reniced",
			 detail->of_group ? "a group" : "a sum");
		return false;
	}
	*task = detail->who;
	if (detail->ended)
		ui_error(ui, "%d has exited", (int)task->key.pid);
	return !detail->ended;
}

/* Frees the state. */
static void task_close(UNUSED struct ui *ui, void *state)
{
	struct task_view *view = state;

	detail_free(&view->detail);
	detail_page_free(&view->page);
	free(view);
}

static const struct view_ops view_task = {
	.name = "task",
	.where = WHERE_TASK,
	.needs = task_needs,
	.frame = task_frame,
	.traces = task_traces,
	.process = task_process,
	.draw = task_draw,
	.target = task_target,
	.move = task_move,
	.click = task_click,
	.close = task_close,
};

/* Opens the page. */
static unsigned open_page(struct ui *ui, const struct ui_task *task, const struct group *group,
			  const struct detail_extra *extra)
{
	struct task_view *view = xcalloc(1, sizeof(*view));

	if (extra)
		view->page.extra = *extra;
	detail_start(&view->detail, ui, task, group);
	ui_push(ui, &view_task, view);
	return REACT_REDRAW;
}

unsigned view_task_open(struct ui *ui, const struct ui_task *task)
{
	return open_page(ui, task, NULL, NULL);
}

unsigned view_task_open_with(struct ui *ui, const struct ui_task *task,
			     const struct detail_extra *extra)
{
	return open_page(ui, task, NULL, extra);
}

unsigned view_task_open_group(struct ui *ui, const struct group *group)
{
	return open_page(ui, NULL, group, NULL);
}

COMMAND(view_task_thread)
{
	struct page *page = ui_page(ui);
	struct task_view *view = page->state;
	struct detail_threads *threads = &view->page.threads;
	struct ui_task task;

	if (detail_threads_chosen(threads, &view->detail, &task)) {
		/* Each thread replaces the previous one: the way back skips it. */
		if (view->detail.who.thread)
			ui_pop(ui);
		return view_task_open(ui, &task);
	}
	if (!detail_threads_choose(threads, &view->detail, ui, threads->line)) {
		ui_say(ui, "no threads");
		return REACT_REDRAW;
	}
	/* With title and headings above it. */
	list_scroll(&page->list, (long)threads->line - 2 - (long)page->list.top);
	ui_say(ui, "Up and Down choose a thread, Enter opens it");
	return REACT_REDRAW;
}

void view_task_whose(struct ui *ui, struct site_list *list)
{
	const struct detail *detail = &((struct task_view *)ui_page(ui)->state)->detail;

	if (detail->of_group)
		site_list_of_group(list, &detail->group.which);
	else if (detail->sum)
		list->of = SITES_OF_ALL;
	else
		list->task = detail->who;
}

unsigned view_task_part(struct ui *ui, int by)
{
	struct page *page = ui_page(ui);
	const struct task_view *view = page->state;
	const struct pager *pager = &view->page.pager;
	size_t top = page->list.top, to = by > 0 ? top : 0;

	for (size_t i = 0; i < pager->nparts; i++) {
		if (by > 0 ? pager->parts[i] > top : pager->parts[i] < top) {
			to = pager->parts[i];
			if (by > 0)
				break;
		}
	}
	list_scroll(&page->list, (long)to - (long)top);
	return REACT_REDRAW;
}
