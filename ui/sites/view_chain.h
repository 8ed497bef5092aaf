/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a chain of waits: of a row, or of one line of sites. */
#pragma once

#include "ui/table/site_list.h"
#include "ui/term/pager.h"
#include "view/chain.h"

/* Opens the page for what the page on top is about. */
unsigned view_chain_open(struct ui *ui, int arg);

/* The same for the selected line of a view of sites. */
unsigned view_chain_line(struct ui *ui, int arg);

/* Writes chains of waits: their roots, then the wakers and their activities meanwhile. */

/* The memory, kept from drawing to drawing. */
struct chain_page {
	struct chain chain;
	struct chain_index index;
	const struct site **sites; /* that the chain is of */
	size_t n, cap;
	bool loses; /* they are those in which time is lost */
	struct buf text, other;
};

/* Empties the list of sites, which will be of that frame. */
void chain_page_begin(struct chain_page *page, const struct trace_frame *trace);

/*
 * Adds the waits of a site in which time is lost; until there is one, also those that tasks ended,
 * so that who has no work tells whom it is from.
 */
void chain_page_add(struct chain_page *page, const struct site *site);

/* Makes their chain, and writes it where the pager stands. */
void chain_page_write(struct chain_page *page, struct pager *pager);

void chain_page_free(struct chain_page *page);
