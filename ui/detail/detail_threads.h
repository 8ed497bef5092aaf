/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads in a detail, in the table's columns and order; one of them can be chosen. */
#pragma once

#include "ui/detail/detail.h"
#include "ui/term/pager.h"
#include "view/layout.h"

/* The state of the list. Ready when zero-initialised. */
struct detail_threads {
	struct layout layout;
	struct order order;
	size_t line, n; /* the line of the page with the first one, as last written, and their
			 * number */
	struct task_key chosen; /* pid 0: none */
	struct buf text, scratch; /* buffer for drawing */
};

/* Writes the list; nothing without threads. */
void detail_threads_write(struct detail_threads *threads, const struct detail *detail,
			  struct ui *ui, struct pager *pager);

/*
 * Chooses the next thread in sight, upwards or downwards, and keeps it in sight. False: scroll the
 * page.
 */
bool detail_threads_move(struct detail_threads *threads, const struct detail *detail, struct ui *ui,
			 struct list *list, enum list_move by);

/* Chooses the thread in a line of the page. False: there is none. */
bool detail_threads_choose(struct detail_threads *threads, const struct detail *detail,
			   struct ui *ui, size_t line);

/* The chosen thread. False: none. */
bool detail_threads_chosen(const struct detail_threads *threads, const struct detail *detail,
			   struct ui_task *task);

void detail_threads_free(struct detail_threads *threads);
