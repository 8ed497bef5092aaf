/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a detail: a task's description, its figures, threads and record; or a sum's. */
#pragma once

#include "ui/detail/detail.h"
#include "ui/detail/detail_threads.h"
#include "ui/term/pager.h"

/* Additional parts of the page of a task, below its time. None when zero-initialised. */
struct detail_extra {
	void (*frame)(void *arg, struct ui *ui); /* processes a new frame */
	void (*write)(void *arg, struct ui *ui, struct pager *pager);
	void (*free)(void *arg);
	void *arg;
};

/* The state of a page. Ready when zero-initialised. */
struct detail_page {
	struct detail_extra extra;
	struct pager pager;
	struct detail_threads threads;
	struct buf text; /* buffer for the writing functions */
};

/* Writes the page from first line to last; the pager decides what is drawn. */
void detail_page_write(struct detail_page *page, const struct detail *detail, struct ui *ui);

void detail_page_free(struct detail_page *page);
