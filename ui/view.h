/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view is: the table of rows, a task's detail, the field chooser, help. Views lie on
 * a stack, the table at its bottom; the topmost is drawn and gets the keys.
 *
 * A view handles no keys itself: its commands are rows of the table in keys.c, with its
 * WHERE_ bit. Moving and scrolling in the page's list, leaving and help are there for all.
 */
#ifndef STALLTOP_UI_VIEW_H
#define STALLTOP_UI_VIEW_H

#include <stdbool.h>

#include "ui/list.h"

struct ui;
struct ui_task;

/*
 * What the handlers of keys return: what must happen now. The loop does it; handlers only
 * change the state. RESORT and RELAYOUT draw too.
 */
#define REACT_NONE 0u
#define REACT_REDRAW 0x01u /* something shown has changed */
#define REACT_RESORT 0x02u /* the query has changed: order the rows of this frame anew */
#define REACT_RELAYOUT 0x04u /* the columns have, or the unit */
#define REACT_RESAMPLE 0x08u /* take a sample now */
#define REACT_REOPEN 0x10u /* the source must be opened anew: processes or threads */
#define REACT_QUIT 0x20u
#define REACT_RELEASE 0x40u /* an order that is held is to be taken anew */

/* In which views a command is there. */
#define WHERE_TABLE 0x01u
#define WHERE_TASK 0x02u
#define WHERE_FIELDS 0x04u
#define WHERE_HELP 0x08u
#define WHERE_ALL 0x0fu

struct view_ops {
	const char *name;
	unsigned where; /* its WHERE_ bit */
	/*
	 * A new frame (ui->frame) is there; called for every page of the stack, also those
	 * that are covered. NULL: nothing to do.
	 */
	void (*frame)(struct ui *ui, void *state);
	/* What must be read of every task at the next sample, NEED_ bits; NULL: nothing. */
	unsigned (*needs)(struct ui *ui, void *state);
	/*
	 * Draws lines 0 to height - 1 (height may be 0) over the whole width of ui->term; they
	 * are empty before. The line below is the loop's, for footer, message or prompt. Sets
	 * the list's size by list_size(). There is a frame.
	 */
	void (*draw)(struct ui *ui, void *state, struct list *list, int height);
	/*
	 * Names the one task that the view shows, or that is selected in it: commands act on that
	 * and no other. False, with a message, where there is none. NULL: none in this view.
	 */
	bool (*target)(struct ui *ui, void *state, struct ui_task *task);
	/* A line was clicked at; reactions. NULL: nothing happens. */
	unsigned (*click)(struct ui *ui, void *state, struct list *list, int line, int column);
	/* Frees the state when the page is left. */
	void (*close)(struct ui *ui, void *state);
};

/* A view on the stack. */
struct page {
	const struct view_ops *ops;
	void *state;
	struct list list;
};

#endif
