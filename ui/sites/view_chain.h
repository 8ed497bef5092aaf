/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a wait chain: of a row, or of one line of sites. */
#pragma once

#include "ui/table/site_list.h"
#include "ui/term/pager.h"
#include "view/chain.h"

/* Opens the page for the subject of the page on top. */
unsigned view_chain_open(struct ui *ui, int arg);

/* The same for the selected line of a view of sites. */
unsigned view_chain_line(struct ui *ui, int arg);

/* Writes wait chains: their roots, then the wakers and their activities meanwhile. */

/* Memory, reused from drawing to drawing. */
struct chain_page {
	struct chain chain;
	struct chain_index index;
	const struct site **sites; /* the sites of the chain */
	size_t n, cap;
	bool loses; /* they are those that lose time */
	struct buf text, other;
};

/* Clears the list of sites, which will be of that frame. */
void chain_page_begin(struct chain_page *page, const struct trace_frame *trace);

/*
 * Adds the waits of a site that loses time; until there is one, also those ended by tasks, so that
 * an idle task's wakers are shown.
 */
void chain_page_add(struct chain_page *page, const struct site *site);

/* Makes their chain, and writes it at the pager's position. */
void chain_page_write(struct chain_page *page, struct pager *pager);

void chain_page_free(struct chain_page *page);
