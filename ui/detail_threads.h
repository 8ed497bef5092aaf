/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of threads in the detail view: the columns of the table, ordered as it is. */
#ifndef STALLTOP_UI_DETAIL_THREADS_H
#define STALLTOP_UI_DETAIL_THREADS_H

#include "detail.h"
#include "layout.h"
#include "paper.h"

/* Zero-initialised it is ready. */
struct detail_threads {
	struct layout layout;
	struct order order;
	struct buf scratch;
};

/* Writes the part of the page. */
void detail_threads_write(struct detail_threads *threads, const struct detail *detail,
			  struct paper *paper, struct ui *ui);

void detail_threads_free(struct detail_threads *threads);

#endif
