/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/sites/view_chain.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/sites/chain_page.h"
#include "ui/sites/view_sites.h"
#include "view/chain_words.h"

struct chain_view {
	struct site_list own; /* of a row */
	struct site_list *list; /* that, or the list of the view below */
	uint64_t id; /* of a line; 0: all lines */
	struct chain_page page;
	struct pager pager;
	struct buf text;
};

/* Takes a new frame. */
static void chain_frame(struct ui *ui, void *state)
{
	struct chain_view *view = state;

	if (view->list == &view->own)
		site_list_take(&view->own, ui);
}

/* The needs of every task that tell whose processes they are. */
static unsigned chain_needs(UNUSED struct ui *ui, void *state)
{
	const struct chain_view *view = state;

	return view->own.of == SITES_OF_GROUP ? group_table[view->own.group.by].needs : 0;
}

/* Waits are traced. */
static bool chain_traces(UNUSED struct ui *ui, UNUSED void *state)
{
	return true;
}

/* Takes the sites that the chain is of. */
static void take_sites(struct chain_view *view)
{
	const struct site_lines *sites = &view->list->sites;

	chain_page_begin(&view->page);
	for (size_t i = 0; i < sites->n; i++)
		for (size_t k = 0; k < sites->lines[i].n; k++)
			if (!view->id || sites->lines[i].id == view->id)
				chain_page_add(&view->page, sites->lines[i].sites[k]);
}

/* Names what the chain is of. */
static void put_title(struct chain_view *view, const struct ui *ui, struct buf *out)
{
	const struct site_line *line =
		view->id ? site_lines_find(&view->list->sites, view->id) : NULL;

	buf_puts(out, "chain of ");
	if (view->id && !line) {
		buf_puts(out, "waits that nobody had in the last interval");
	} else if (line) {
		if (line->sum.comm)
			ui_escape(ui, out, line->sum.comm);
		if (line->sum.tgid > 0)
			buf_printf(out, " %d", (int)line->sum.tgid);
		buf_puts(out, ": ");
		chain_put_site(out, &line->sum, ui->term.charset);
	} else {
		site_list_title(view->list, ui, out);
	}
}

/* Writes what there is. */
static void write_page(struct chain_view *view, struct ui *ui)
{
	const struct trace_frame *trace = ui->frame->info->trace;

	if (trace && view->page.n) {
		chain_page_write(&view->page, &view->pager, trace);
		return;
	}
	if (trace)
		buf_puts(&view->text, "it lost no time to waits in the last interval");
	else
		view_sites_reason(ui, &view->text);
	pager_put(&view->pager, 0, view->pager.width, view->text.data, view->text.len, STYLE_NOTE);
	view->pager.line++;
	view->text.len = 0;
}

/* Draws the whole view. */
static void chain_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct chain_view *view = state;

	view->text.len = 0;
	take_sites(view);
	put_title(view, ui, &view->text);
	if (height > 0)
		term_put(&ui->term, 0, 0, ui->term.columns, view->text.data, view->text.len,
			 STYLE_HEAD);
	view->text.len = 0;
	list->plain = true;
	pager_count(&view->pager, &ui->term);
	write_page(view, ui);
	list_size(list, view->pager.line, height > 1 ? (size_t)height - 1 : 0);
	pager_draw(&view->pager, list, 1);
	write_page(view, ui);
}

/* Frees the state. */
static void chain_close(UNUSED struct ui *ui, void *state)
{
	struct chain_view *view = state;

	site_list_free(&view->own);
	chain_page_free(&view->page);
	buf_free(&view->pager.cell);
	buf_free(&view->text);
	free(view);
}

static const struct view_ops view_chain = {
	.name = "chain",
	.where = WHERE_CHAIN,
	.frame = chain_frame,
	.needs = chain_needs,
	.traces = chain_traces,
	.draw = chain_draw,
	.close = chain_close,
};

COMMAND(view_chain_open)
{
	struct chain_view *view = xcalloc(1, sizeof(*view));

	view->list = &view->own;
	if (!view_sites_whose(ui, &view->own)) {
		chain_close(ui, view);
		return REACT_NONE;
	}
	ui_push(ui, &view_chain, view);
	site_list_take(&view->own, ui);
	return REACT_REDRAW;
}

COMMAND(view_chain_line)
{
	struct site_list *list;
	const struct site_line *line = view_sites_selected(ui, &list);
	struct chain_view *view;

	if (!line)
		return REACT_NONE;
	view = xcalloc(1, sizeof(*view));
	view->list = list;
	view->id = line->id;
	ui_push(ui, &view_chain, view);
	return REACT_REDRAW;
}
