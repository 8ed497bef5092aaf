/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the page of one line of sites. */
#ifndef STALLTOP_UI_SITE_PAGE_H
#define STALLTOP_UI_SITE_PAGE_H

#include "ui/table/site_list.h"
#include "ui/table/site_table.h"
#include "ui/term/pager.h"

/* The page's memory, kept from drawing to drawing. */
struct site_page {
	struct pager pager;
	struct site_table table; /* of the sites that the line adds up */
	struct buf text;
};

/*
 * Writes the page from its first line on; without a line, that nothing waited. seen_ns: the line is
 * from an earlier interval of that length; 0: from the last one.
 */
void site_page_write(struct site_page *page, struct site_list *list, const struct site_line *line,
		     uint64_t seen_ns, struct ui *ui);

void site_page_free(struct site_page *page);

#endif
