/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that change how rows are shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/past/history_view.h"
#include "ui/table/table_draw.h"
#include "ui/table/table_state.h"

unsigned cmd_sort_key(struct ui *ui, int key)
{
	return ui_sort_by(ui, column_by_key((char)key));
}

unsigned cmd_sort_move(struct ui *ui, int by)
{
	const struct table_view sheet = ui_table_view(ui);
	const struct layout *layout = sheet.layout;
	const struct column *sort = sheet.sorted;
	size_t at = 0;

	while (at < layout->n && !column_sorts_alike(sort, layout->columns[at]))
		at++;
	if (at == layout->n)
		at = by > 0 ? 0 : layout->n - 1;
	else if (by > 0 ? at + 1 == layout->n : !at)
		return REACT_NONE;
	else
		at = by > 0 ? at + 1 : at - 1;
	return layout->n ? ui_sort_by(ui, layout->columns[at]) : REACT_NONE;
}

COMMAND(cmd_sort_reverse)
{
	const struct table_view sheet = ui_table_view(ui);

	*sheet.descending = !*sheet.descending;
	return REACT_RESORT | REACT_RELEASE;
}

COMMAND(cmd_unit)
{
	ui->settings->unit = (ui->settings->unit + 1) % UNITS;
	ui_say(ui, "unit %s: %s", unit_table[ui->settings->unit].id,
	       unit_table[ui->settings->unit].help);
	return REACT_RELAYOUT | REACT_RESORT;
}

/* Applies another grouping. */
static unsigned group_by(struct ui *ui, enum group_by by)
{
	ui->settings->group_by = by;
	ui->opened = false;
	table_unpin(ui);
	ui_say(ui, "%s", group_table[by].help);
	/* The loop checks whether this switches between processes and threads. */
	return REACT_REOPEN | REACT_RELAYOUT | REACT_RESORT | REACT_RELEASE;
}

COMMAND(cmd_threads)
{
	return group_by(ui, ui->settings->group_by == GROUP_THREAD ? GROUP_PROCESS : GROUP_THREAD);
}

COMMAND(cmd_group)
{
	enum group_by by = ui->settings->group_by;

	do
		by = (by + 1) % GROUP_BYS;
	/* The history is of processes or of threads. */
	while (ui->history.back && (by == GROUP_THREAD) != ui->frame->info->threads);
	return group_by(ui, by);
}

COMMAND(cmd_hierarchy)
{
	const char *shown = ui->frame->info->head.hierarchy;
	struct buf name = { 0 };
	unsigned reactions;
	int err = -ENOENT;

	if (ui->settings->group_by != GROUP_CGROUP) {
		ui_say(ui, "only cgroups have hierarchies: g groups by cgroup");
		return REACT_NONE;
	}
	if (ui->sampler_config.cgroup) {
		ui_error(ui, "--cgroup names a group of this hierarchy: it stays");
		return REACT_NONE;
	}
	/* Several keys may come before the first one's request is done. */
	if (shown)
		err = group_next_hierarchy(ui->sampler_config.proc,
					   ui->hierarchy ? ui->hierarchy : shown, &name);
	if (err) {
		ui_error(ui, "no other cgroup hierarchy: %s", strerror(-err));
		return REACT_NONE;
	}
	free(ui->hierarchy);
	ui->hierarchy = xstrdup(buf_cstr(&name));
	ui->sampler_config.hierarchy = ui->hierarchy;
	reactions = group_by(ui, GROUP_CGROUP);
	name.len = 0;
	ui_escape(ui, &name, ui->hierarchy);
	ui_say(ui, "cgroups of hierarchy %s", buf_cstr(&name));
	buf_free(&name);
	return reactions;
}

COMMAND(cmd_active)
{
	ui->settings->query.active = !ui->settings->query.active;
	ui_say(ui, ui->settings->query.active ? "only tasks that ran or waited in the interval"
					      : "idle tasks are shown too");
	return REACT_RESORT;
}

COMMAND(cmd_idle)
{
	ui->settings->all_idle = !ui->settings->all_idle;
	ui_say(ui, ui->settings->all_idle
			   ? "idle tasks are shown: z folds them"
			   : "idle tasks off screen and idle kernel threads are folded");
	return REACT_RESORT;
}

COMMAND(cmd_exited)
{
	ui->settings->query.no_exited = !ui->settings->query.no_exited;
	ui_say(ui, "rows of exited tasks: %s%s", ui->settings->query.no_exited ? "off" : "on",
	       ui->frame && ui->frame->info->head.exits < 0 ? " (exit records are not received)"
							    : "");
	return REACT_RESORT;
}

COMMAND(cmd_command)
{
	bool names = table_has_command_lines(ui);

	ui->settings->command_line = !names;
	ui->settings->names = names;
	ui_say(ui, names ? "names are shown" : "command lines are shown");
	return REACT_RELAYOUT | REACT_RESORT;
}

COMMAND(cmd_tree)
{
	ui->settings->tree = !ui->settings->tree;
	if (ui_folds(ui) && ui->settings->group_by != GROUP_CGROUP)
		ui_say(ui, "only tasks and cgroups have a tree");
	else
		ui_say(ui, ui->settings->tree ? "tree: + unfolds, - folds, * all" : "list");
	return REACT_RESORT;
}

unsigned cmd_fold(struct ui *ui, int unfold)
{
	const struct item *item = table_item(ui);

	if (!item || !rows_fold(&ui->table->rows, ui, item, unfold != 0))
		return REACT_NONE;
	table_pin(ui);
	return REACT_RESORT;
}

COMMAND(cmd_fold_all)
{
	rows_fold_all(&ui->table->rows);
	return REACT_RESORT;
}

COMMAND(cmd_header)
{
	ui->settings->fold_header = !ui->settings->fold_header;
	return REACT_REDRAW;
}

COMMAND(cmd_notes)
{
	ui->all_notes = !ui->all_notes;
	if (ui->all_notes && ui->frame && !ui->frame->info->head.nnotes && ui->findings.n < 2)
		ui_say(ui, "no other findings or notes");
	return REACT_REDRAW;
}

/* Records that the grouping has changed. */
static unsigned regroup(struct ui *ui, enum group_by before)
{
	enum group_by *by = &ui->settings->group_by;

	/* The history is of processes or of threads. */
	if (ui->history.back && (*by == GROUP_THREAD) != ui->frame->info->threads)
		*by = before;
	if (*by == before)
		return REACT_NONE;
	ui->opened = false;
	table_unpin(ui);
	return REACT_REOPEN;
}

unsigned cmd_preset(struct ui *ui, int by)
{
	enum group_by before = ui->settings->group_by;
	const struct preset *preset;
	unsigned reactions;

	view_next_preset(ui->settings, by);
	preset = view_preset(ui->settings);
	reactions = regroup(ui, before);
	ui->table->skip = 0;
	ui_say(ui, "%s%s%s", preset->name, preset->help ? ": " : "",
	       preset->help ? preset->help : "");
	return reactions | REACT_RELAYOUT | REACT_RESORT | REACT_RELEASE;
}

COMMAND(cmd_pause)
{
	if (ui->history.back) {
		history_play(ui, !ui->history.playing);
		ui_say(ui, ui->history.playing ? "playing: p stops, ( ) set the speed"
					       : "stopped: p plays");
		return REACT_REDRAW;
	}
	ui->paused = !ui->paused;
	ui_say(ui, ui->paused ? "paused: p resumes" : "resumed");
	return REACT_REDRAW;
}

COMMAND(cmd_freeze_order)
{
	ui->held = !ui->held;
	ui_say(ui, ui->held ? "row order frozen: O releases it" : "row order follows the figures");
	return REACT_RESORT | REACT_RELEASE;
}
