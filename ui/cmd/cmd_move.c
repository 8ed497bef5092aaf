/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that move, open and leave views, and end the program. */
#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/cmd/view_fields.h"
#include "ui/cmd/view_help.h"
#include "ui/detail/view_task.h"
#include "ui/past/history_view.h"
#include "ui/table/table_state.h"

unsigned cmd_move(struct ui *ui, int move)
{
	struct page *page = ui_page(ui);

	if (page->ops->move)
		page->ops->move(ui, page->state, &page->list, (enum list_move)move);
	else
		list_move(&page->list, (enum list_move)move);
	if (ui->depth == 1)
		table_pin(ui);
	return REACT_REDRAW;
}

unsigned cmd_columns(struct ui *ui, int by)
{
	const struct table_view sheet = ui_table_view(ui);

	/* The last column stays, and the first is always visible. */
	if (by > 0 && *sheet.skip + 2 < sheet.layout->n)
		++*sheet.skip;
	else if (by < 0 && *sheet.skip)
		--*sheet.skip;
	return REACT_REDRAW;
}

/* Shows the members of a group instead of the groups. */
static unsigned open_group(struct ui *ui, const struct group *group)
{
	ui_take_group(ui, &ui->group, group);
	ui->opened = true;
	table_unpin(ui);
	ui_say(ui, "members of the group: Esc returns to the groups");
	return REACT_RELAYOUT | REACT_RESORT | REACT_RELEASE;
}

/* Returns to the groups and selects the one that was open. */
static unsigned close_group(struct ui *ui)
{
	ui->opened = false;
	ui->table->pinned = true;
	ui->table->selected = (struct ui_task){ .key.start_ns = ui->group.id };
	return REACT_RELAYOUT | REACT_RESORT | REACT_RELEASE;
}

unsigned cmd_open(struct ui *ui, int arg)
{
	const struct item *item = table_item(ui);

	if (item && item->row->group)
		return open_group(ui, item->row->group);
	return cmd_open_detail(ui, arg);
}

COMMAND(cmd_open_detail)
{
	const struct item *item = table_item(ui);
	struct ui_task task;

	if (!item)
		return REACT_NONE;
	table_pin(ui);
	if (item->row->group)
		return view_task_open_group(ui, item->row->group);
	return ui_selected(ui, &task) ? view_task_open(ui, &task) : REACT_NONE;
}

COMMAND(cmd_open_sum)
{
	return view_task_open(ui, NULL);
}

COMMAND(cmd_open_fields)
{
	return view_fields_open(ui);
}

unsigned cmd_open_help(struct ui *ui, int of_column)
{
	return view_help_open(ui, of_column != 0);
}

COMMAND(cmd_leave)
{
	if (ui->depth > 1)
		ui_pop(ui);
	else if (ui->history.back && !ui->history.replay && !ui->opened)
		ui_say(ui, "still in the past: B and Enter return to the present");
	else if (ui->opened)
		return close_group(ui);
	else
		table_unpin(ui);
	return REACT_REDRAW;
}

COMMAND(cmd_sample)
{
	if (ui->history.replay)
		return cmd_step(ui, 1);
	return REACT_RESAMPLE;
}

COMMAND(cmd_redraw)
{
	term_resize(&ui->term);
	term_redraw(&ui->term);
	return REACT_RELAYOUT;
}

COMMAND(cmd_quit)
{
	return REACT_QUIT;
}

/* Keys that move in time. */

#define MINUTE_NS ((int64_t)(60 * NSEC_PER_SEC))

unsigned cmd_step(struct ui *ui, int by)
{
	/* Stepping shows every sample. */
	history_play(ui, false);
	history_step(ui, by);
	return REACT_REDRAW;
}

unsigned cmd_minute(struct ui *ui, int by)
{
	history_by_ns(ui, by * MINUTE_NS);
	return REACT_REDRAW;
}

/* Takes the time to go to. */
static unsigned take_moment_time(struct ui *ui, const char *text, struct buf *error)
{
	if (!*text && !ui->history.replay) {
		history_present(ui);
		return REACT_REDRAW;
	}
	if (history_to(ui, text))
		return REACT_REDRAW;
	buf_puts(error, "14:02, 14:02:30, 2026-11-21 14:02, or -3m");
	return REACT_NONE;
}

COMMAND(cmd_go_to)
{
	prompt_ask(&ui->prompt,
		   ui->history.back && !ui->history.replay
			   ? "go to a time (14:02, -3m; empty: the present)"
			   : "go to a time (14:02, 14:02:30, -3m)",
		   "", take_moment_time);
	return REACT_REDRAW;
}

unsigned cmd_speed(struct ui *ui, int by)
{
	struct history_view *history = &ui->history;

	if (!history->back) {
		ui_say(ui, "only the past can be played: [ goes back");
		return REACT_REDRAW;
	}
	history->speed += by;
	if (history->speed > HISTORY_FASTEST)
		history->speed = HISTORY_FASTEST;
	if (history->speed < HISTORY_SLOWEST)
		history->speed = HISTORY_SLOWEST;
	history_play(ui, true);
	return REACT_REDRAW;
}

COMMAND(cmd_timeline)
{
	ui->history.timeline = !ui->history.timeline;
	if (!ui->history.past)
		ui_error(ui, "no history: --history 0");
	else
		ui_say(ui, ui->history.timeline ? "the timeline is shown"
						: "timeline only while looking back");
	return REACT_REDRAW;
}
