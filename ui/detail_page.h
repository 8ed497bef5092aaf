/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a detail: what a task is, its figures, its threads and its record; or a sum's. */
#ifndef STALLTOP_UI_DETAIL_PAGE_H
#define STALLTOP_UI_DETAIL_PAGE_H

#include "ui/detail.h"
#include "ui/pager.h"
#include "view/layout.h"

/* Zero-initialised it is ready. */
struct detail_page {
	struct pager pager;
	struct layout layout; /* of the threads */
	struct order order;
	struct buf text, scratch; /* for who writes */
};

/* Writes the page from its first line to its last, as the pager has been told to. */
void detail_page_write(struct detail_page *page, const struct detail *detail, struct ui *ui);

void detail_page_free(struct detail_page *page);

#endif
