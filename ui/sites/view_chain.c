/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/sites/view_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/sites/view_sites.h"
#include "ui/term/spark.h"
#include "view/chain.h"

/* Minimum share for a line of its own. */
#define SHARE_LEAST 0.005

/* Cells of a share, and of a level's indentation. */
#define SHARE_CELLS 7
#define LEVEL_CELLS 3

/* A page being written. */
struct writing {
	struct chain_page *page;
	struct pager *pager;
	enum text_charset charset;
};

void chain_page_begin(struct chain_page *page, const struct trace_frame *trace)
{
	chain_index_make(&page->index, trace);
	page->n = 0;
	page->loses = false;
}

void chain_page_add(struct chain_page *page, const struct site *site)
{
	bool loses = chain_explains(&page->index, site);

	if (loses && !page->loses)
		page->n = 0;
	page->loses |= loses;
	if (loses != page->loses || !(loses || chain_follows(site)))
		return;
	GROW(page->sites, page->n, page->cap);
	page->sites[page->n++] = site;
}

/* Writes a share and the page's text as a line, and clears the text. */
static void put_line(struct writing *writing, double share, unsigned level, enum style style)
{
	struct pager *pager = writing->pager;
	struct buf *text = &writing->page->text;
	int column = SHARE_CELLS + 1 + (int)level * LEVEL_CELLS;

	buf_decimal(&pager->cell, share * 100, 1);
	buf_puts(&pager->cell, " %");
	pager_right(pager, 0, SHARE_CELLS, style);
	if (column < pager->width)
		pager_put(pager, column, pager->width - column, text->data, text->len, style);
	text->len = 0;
	pager->line++;
}

/* Cells of a root's bar if there is room for it, and the width from which there is. */
#define BAR_CELLS 20
#define BAR_WIDTH 78

/* The style of a root's bar. */
static enum style bar_style(enum chain_root_kind kind)
{
	switch (kind) {
	case CHAIN_QUEUE:
	case CHAIN_QUOTA:
	case CHAIN_RUN:
		return STYLE_CPU;
	case CHAIN_DISK:
		return STYLE_IO;
	case CHAIN_TIMER:
	case CHAIN_UNEXPLAINED:
		return STYLE_DIM;
	default:
		return STYLE_BLOCKED;
	}
}

/* Prints a root with its share as a bar. */
static void put_root(struct writing *writing, double share, enum chain_root_kind kind)
{
	struct pager *pager = writing->pager;

	if (pager->width < BAR_WIDTH) {
		put_line(writing, share, 0, STYLE_NORMAL);
		return;
	}
	gauge_append(share, BAR_CELLS, writing->charset, &pager->cell);
	pager_put(pager, SHARE_CELLS + 1, BAR_CELLS, pager->cell.data, pager->cell.len,
		  bar_style(kind));
	pager->cell.len = 0;
	put_line(writing, share, BAR_CELLS / LEVEL_CELLS + 1, STYLE_NORMAL);
}

/* Writes the root causes of the waits. */
static void write_roots(struct writing *writing)
{
	const struct chain *chain = &writing->page->chain;
	double others = 0;

	pager_part(writing->pager, "Root causes");
	for (size_t i = 0; i < chain->nroots; i++) {
		const struct chain_root *root = &chain->roots[i];

		if (root->share < SHARE_LEAST && root->kind != CHAIN_UNEXPLAINED) {
			others += root->share;
			continue;
		}
		if (root->share < SHARE_LEAST)
			continue;
		chain_put_root(&writing->page->text, root, writing->charset);
		put_root(writing, root->share, root->kind);
	}
	if (others < SHARE_LEAST)
		return;
	buf_puts(&writing->page->text, "others");
	put_root(writing, others, CHAIN_UNEXPLAINED);
}

static void write_steps(struct writing *writing, size_t from, unsigned depth,
			const struct site *of);

/* The share of a step's parts that read like the i-th; 0: an earlier one does. */
static double share_of_alike(struct writing *writing, const struct chain_step *step, size_t i)
{
	const struct chain_part *parts = &writing->page->chain.parts[step->first];
	struct buf *text = &writing->page->text, *other = &writing->page->other;
	double share = 0;

	for (size_t k = 0; k < step->n; k++) {
		other->len = 0;
		chain_put_part(other, &parts[k], writing->charset);
		if (other->len != text->len || memcmp(other->data, text->data, text->len) != 0)
			continue;
		if (k < i)
			return 0;
		share += parts[k].share;
	}
	return share;
}

/* Writes a waker's activity, each part with its wakers. */
static void write_parts(struct writing *writing, size_t at)
{
	const struct chain *chain = &writing->page->chain;
	const struct chain_step *step = &chain->steps[at];

	for (size_t i = 0; i < step->n; i++) {
		const struct chain_part *part = &chain->parts[step->first + i];
		double share;

		chain_put_part(&writing->page->text, part, writing->charset);
		share = share_of_alike(writing, step, i) * step->share;
		if (share >= SHARE_LEAST)
			put_line(writing, share, 2 * step->depth, STYLE_NORMAL);
		writing->page->text.len = 0;
		if (part->site && part->state != STATE_CPU)
			write_steps(writing, at + 1, step->depth + 1, part->site);
	}
}

/* Writes the wakers of a site, of the steps from one on that are as deep or deeper. */
static void write_steps(struct writing *writing, size_t from, unsigned depth, const struct site *of)
{
	const struct chain *chain = &writing->page->chain;

	for (size_t i = from; i < chain->nsteps && chain->steps[i].depth >= depth; i++) {
		const struct chain_step *step = &chain->steps[i];

		if (step->depth != depth || step->of != of)
			continue;
		buf_puts(&writing->page->text, writing->charset == TEXT_UTF8 ? "└─ " : "`- ");
		chain_put_waker(&writing->page->text, step, writing->charset);
		buf_puts(&writing->page->text, !step->waker.count ? "; it"
					       : !step->n	  ? "; its activity is unknown"
					       : step->in_part	  ? "; meanwhile (incomplete)"
								  : "; meanwhile");
		put_line(writing, step->share, 2 * depth - 1, STYLE_NORMAL);
		write_parts(writing, i);
	}
}

/* Writes the waits, and their wakers. */
static void write_chain(struct writing *writing)
{
	struct chain_page *page = writing->page;

	/* Without wakers it would be the root causes again. */
	if (!page->chain.nsteps)
		return;
	pager_part(writing->pager, "Wait chain: waits, wakers, and what the wakers were doing");
	for (size_t i = 0; i < page->n; i++) {
		const struct site *site = page->sites[i];
		double share = (double)site->ns / (double)page->chain.ns;

		if (share < SHARE_LEAST)
			continue;
		chain_put_site(&page->text, site, writing->charset);
		put_line(writing, share, 0, STYLE_NORMAL);
		if (site->state != STATE_CPU)
			write_steps(writing, 0, 1, site);
	}
}

void chain_page_write(struct chain_page *page, struct pager *pager)
{
	struct writing writing = { page, pager, pager->term->charset };

	chain_build(&page->chain, &page->index, page->sites, page->n);
	page->text.len = 0;
	if (!page->chain.ns)
		return;
	write_roots(&writing);
	write_chain(&writing);
}

void chain_page_free(struct chain_page *page)
{
	chain_free(&page->chain);
	chain_index_free(&page->index);
	free(page->sites);
	buf_free(&page->text);
	buf_free(&page->other);
}

struct chain_view {
	struct site_list own; /* of a row */
	struct site_list *list; /* that, or the list of the view below */
	uint64_t id; /* of a line; 0: all lines */
	struct chain_page page;
	struct pager pager;
	struct buf text;
};

/* Processes a new frame. */
static void chain_frame(struct ui *ui, void *state)
{
	struct chain_view *view = state;

	if (view->list == &view->own)
		site_list_take(&view->own, ui);
}

/* The needs of every task to identify its processes. */
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

/* Collects the sites of the chain. */
static void take_sites(struct chain_view *view, const struct trace_frame *trace)
{
	const struct site_lines *sites = &view->list->sites;

	view->page.n = 0;
	if (!trace)
		return;
	chain_page_begin(&view->page, trace);
	for (size_t i = 0; i < sites->n; i++)
		for (size_t k = 0; k < sites->lines[i].n; k++)
			if (!view->id || sites->lines[i].id == view->id)
				chain_page_add(&view->page, sites->lines[i].sites[k]);
}

/* Names the subject of the chain. */
static void put_title(struct chain_view *view, const struct ui *ui, struct buf *out)
{
	const struct site_line *line =
		view->id ? site_lines_find(&view->list->sites, view->id) : NULL;

	buf_puts(out, "chain of ");
	if (view->id && !line) {
		buf_puts(out, "a line without waits in the last interval");
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

/* Writes the chain, or why there is none. */
static void write_page(struct chain_view *view, struct ui *ui)
{
	const struct trace_frame *trace = ui->frame->info->trace;

	if (trace && view->page.n) {
		chain_page_write(&view->page, &view->pager);
		return;
	}
	if (trace)
		buf_puts(&view->text,
			 "no time lost in the last interval, and no task ended its waits");
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
	take_sites(view, ui->frame->info->trace);
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
