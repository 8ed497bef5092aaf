/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/site_list.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/table/table_state.h"
#include "view/layout.h"
#include "view/site_lines.h"

/* Leaves out columns that are equal in all lines, if they were chosen for others. */
static void leave_process_out(struct layout *layout)
{
	size_t kept = 0;

	for (size_t i = 0; i < layout->n; i++)
		if (!layout->columns[i]->of_process)
			layout->columns[kept++] = layout->columns[i];
	layout->n = kept ? kept : layout->n;
}

void site_table_fields(const struct ui *ui, struct layout *layout, bool several)
{
	const struct site_choice *choice = &ui->settings->sites;
	const struct column *sort = site_choice_sort(choice);
	const struct trace_frame *trace = ui->frame->info->trace;
	const struct layout_frame frame = { .table = &site_columns,
					    .width = (unsigned)ui->term.columns,
					    .stacked = trace && trace->stacked,
					    .of_process = !several,
					    .screen = true };

	layout_resolve(layout, choice->fields, &frame);
	if (!several)
		leave_process_out(layout);
	if (choice->fields)
		return;
	if (!layout_has(layout, sort))
		layout->columns[layout->n++] = sort;
	room_make(layout, GROUP_PROCESS, sort, ui->term.columns);
}

struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several)
{
	const struct site_choice *choice = &ui->settings->sites;
	struct layout *layout = &table->layout;

	table->n = 0;
	site_table_fields(ui, layout, several);
	if (table->skip >= layout->n)
		table->skip = layout->n - 1;
	return (struct table_draw){ .term = &ui->term,
				    .layout = layout,
				    .skip = table->skip,
				    .sort = site_choice_sort(choice),
				    .descending = !choice->sort || choice->descending,
				    .counts = true,
				    .view = ui_view(ui),
				    .cell = &table->cell,
				    .scratch = &table->scratch };
}

void site_table_add(struct site_table *table, const struct ui *ui, const struct row *line)
{
	GROW(table->items, table->n, table->cap);
	table->items[table->n++] = (struct item){ .row = line, .shown = line, .frame = ui->frame };
}

void site_table_fit(struct site_table *table, struct table_draw *draw)
{
	table_room(draw, &table->layout, &table->wants, table->items, table->n);
}

void site_table_free(struct site_table *table)
{
	free(table->items);
	buf_free(&table->cell);
	buf_free(&table->scratch);
}

void site_list_of_group(struct site_list *list, const struct ui_group *group)
{
	list->of = SITES_OF_GROUP;
	list->group = *group;
	list->group.name = (struct buf){ 0 };
	buf_add(&list->group.name, group->name.data, group->name.len);
}

bool site_list_has(const struct site_list *list, const struct row *row)
{
	const struct task_key *key = &list->task.key;

	if (row->exited)
		return false;
	if (row->task->key.pid != key->pid)
		return row->task->tgid == list->task.tgid && list->task.thread;
	return task_same_start(row->task->key.start_ns, key->start_ns);
}

/* Adds the process of one task. */
static void take_owner(struct site_list *list, struct ui *ui)
{
	const struct frame *frame = ui->frame;
	struct task_key process = { list->task.tgid,
				    list->task.thread ? 0 : list->task.key.start_ns };

	list->ended = true;
	for (size_t i = 0; i < frame->n && list->ended; i++)
		list->ended = !site_list_has(list, &frame->rows[i]);
	list->members = 1;
	site_owners_add(&list->owners, process);
}

/* Adds the processes of all rows that pass, or of a group's members. */
static void take_owners(struct site_list *list, struct ui *ui)
{
	struct query query = ui->query;
	struct view view = ui_view(ui);
	const struct order *order = &list->order;

	query.sort = NULL;
	query.rows = 0;
	if (list->of == SITES_OF_GROUP) {
		/* These filters choose groups: this one has passed, with all its members. */
		query.active = query.hangs = false;
		query.over_ms = -1;
		ui_only_group(&list->group, &query);
	} else if (ui_folds(ui) && ui_rows_frame(ui)) {
		view.frame = ui_rows_frame(ui);
	}
	query_run(&query, &view, &list->order);
	list->members = 0;
	for (size_t i = 0; i < order->n; i++) {
		site_owners_add_row(&list->owners, order->rows[i]);
		list->members += order->rows[i]->group ? order->rows[i]->group->own : 1;
	}
	/* The exit of some processes is not seen. */
	list->owners.all = list->of == SITES_OF_ALL && query_takes_all(&query);
}

void site_list_take(struct site_list *list, struct ui *ui)
{
	const struct site_lines_query query = {
		.owners = &list->owners, .by = list->by, .no_idle = list->no_idle, .tidy = true
	};

	site_owners_clear(&list->owners);
	if (list->of == SITES_OF_TASK)
		take_owner(list, ui);
	else
		take_owners(list, ui);
	site_lines_build(&list->sites, ui->frame->info->trace, &query);
	site_list_order(list, ui, true);
}

bool site_list_order(struct site_list *list, struct ui *ui, bool anew)
{
	const struct site_choice *choice = &ui->settings->sites;
	const struct query query = { .sort = site_choice_is_usual(choice) ? NULL : choice->sort,
				     .descending = choice->descending };
	const struct site_lines *sites = &list->sites;
	struct order *lines = &list->lines;
	struct view view = ui_view(ui);

	if (!anew && query.sort == list->sort && query.descending == list->descending)
		return false;
	list->sort = query.sort;
	list->descending = query.descending;
	order_reserve(lines, sites->n);
	lines->n = 0;
	for (size_t i = 0; i < sites->n; i++) {
		lines->rows[i] = &sites->lines[i].row;
		lines->n += !sites->lines[i].sum.unattributed;
	}
	/* The rest without a site stays last. */
	if (query.sort)
		query_order(&query, &view, lines);
	lines->n = lines->passed = sites->n;
	return true;
}

void site_list_title(const struct site_list *list, const struct ui *ui, struct buf *out)
{
	const struct ui_group *group = &list->group;

	buf_puts(out, "waits of ");
	if (list->of == SITES_OF_TASK) {
		buf_printf(out, "process %d ", (int)list->task.tgid);
		ui_escape(ui, out, list->task.comm);
		/* Sites cover all threads. */
		if (list->task.thread)
			buf_printf(out, " (of thread %d)", (int)list->task.key.pid);
	} else if (list->of == SITES_OF_GROUP) {
		buf_printf(out, "%s ", group_table[group->by].id);
		if (group->named)
			text_escape(out, group->name.data, group->name.len, ui->config->charset);
		else
			buf_putc(out, '-');
		if (group->below)
			buf_puts(out, " and below");
	} else if (list->owners.all) {
		buf_puts(out, "all processes");
	} else {
		buf_printf(out, "%zu %s", list->members,
			   ui->frame->info->threads ? plural(list->members, "thread", "threads")
						    : plural(list->members, "task", "tasks"));
	}
	if (list->by != SITES_BY_SITE)
		buf_printf(out, ", by %s", sites_by_table[list->by].id);
	if (list->no_idle)
		buf_puts(out, ", without idle");
	if (list->ended && list->of == SITES_OF_TASK)
		buf_puts(out, " (ended)");
}

void site_list_free(struct site_list *list)
{
	buf_free(&list->group.name);
	site_owners_free(&list->owners);
	site_lines_free(&list->sites);
	order_free(&list->order);
	order_free(&list->lines);
}
