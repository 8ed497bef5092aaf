/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/sites/view_process.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/detail/view_task.h"
#include "ui/sites/view_chain.h"
#include "ui/sites/view_sites.h"
#include "ui/table/site_list.h"

/* Maximum sites shown: those with most time. */
#define SITES_SHOWN 8

/* Its additions to the page of a task. */
struct process_parts {
	struct site_list list;
	struct site_table table;
	struct chain_page chain;
	struct buf reason; /* why nothing is traced */
};

/* Collects the sites of a new frame. */
static void take_frame(void *arg, struct ui *ui)
{
	struct process_parts *parts = arg;

	site_list_take(&parts->list, ui);
}

/* Writes the sites, as rows of a table. */
static void write_sites(struct process_parts *parts, struct ui *ui, struct pager *pager)
{
	const struct site_lines *sites = &parts->list.sites;
	size_t n = parts->list.lines.n < SITES_SHOWN ? parts->list.lines.n : SITES_SHOWN;
	struct table_draw draw = site_table_begin(&parts->table, ui, sites->several);

	pager_part(pager, "Where it waits: times in ms (w has all)");
	for (size_t i = 0; i < n; i++)
		site_table_add(&parts->table, ui, parts->list.lines.rows[i]);
	site_table_fit(&parts->table, &draw);
	if (pager_shows(pager))
		table_draw_heads(&draw, pager_screen_line(pager));
	pager->line++;
	for (size_t i = 0; i < n; i++, pager->line++)
		if (pager_shows(pager))
			table_draw_row(&draw, pager_screen_line(pager), &parts->table.items[i],
				       ROW_PLAIN);
}

/* Writes the root causes and the chain of its waits. */
static void write_chain_part(struct process_parts *parts, struct pager *pager,
			     const struct trace_frame *trace)
{
	const struct site_lines *sites = &parts->list.sites;

	chain_page_begin(&parts->chain, trace);
	for (size_t i = 0; i < sites->n; i++)
		for (size_t k = 0; k < sites->lines[i].n; k++)
			chain_page_add(&parts->chain, sites->lines[i].sites[k]);
	if (parts->chain.n)
		chain_page_write(&parts->chain, pager);
}

/* Writes both, or why neither is available. */
static void write_sites_and_chain(void *arg, struct ui *ui, struct pager *pager)
{
	const struct trace_frame *trace = ui->frame->info->trace;
	struct process_parts *parts = arg;

	if (trace && trace->n) {
		write_sites(parts, ui, pager);
		write_chain_part(parts, pager, trace);
		return;
	}
	pager_part(pager, "Where it waits");
	parts->reason.len = 0;
	view_sites_reason(ui, &parts->reason);
	pager_long(pager, "", parts->reason.data, parts->reason.len);
}

static void free_parts(void *arg)
{
	struct process_parts *parts = arg;

	site_list_free(&parts->list);
	site_table_free(&parts->table);
	chain_page_free(&parts->chain);
	buf_free(&parts->reason);
	free(parts);
}

unsigned view_process_open(struct ui *ui, const struct ui_task *task)
{
	struct process_parts *parts = xcalloc(1, sizeof(*parts));
	const struct detail_extra extra = { take_frame, write_sites_and_chain, free_parts, parts };

	parts->list.task = *task;
	take_frame(parts, ui);
	return view_task_open_with(ui, task, &extra);
}
