/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a detail: a task's description, its figures, threads and record; or a sum's. */
#ifndef STALLTOP_UI_DETAIL_PAGE_H
#define STALLTOP_UI_DETAIL_PAGE_H

#include "ui/detail/detail.h"
#include "ui/detail/detail_threads.h"
#include "ui/term/pager.h"

/* The state of a page. Ready when zero-initialised. */
struct detail_page {
	struct pager pager;
	struct detail_threads threads;
	struct buf text; /* scratch for the writing functions */
};

/* Writes the page from its first line to its last; the pager decides what is drawn. */
void detail_page_write(struct detail_page *page, const struct detail *detail, struct ui *ui);

void detail_page_free(struct detail_page *page);

#endif
