/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views: the table of rows, a task's detail, sites of waits, the choosers of fields and of the
 * sort column, help. Views are on a stack, the table at its bottom; the topmost is drawn and gets
 * the keys.
 *
 * A view handles no keys itself, but letters that search in a list: its commands are rows of the
 * table in keys.c with its WHERE_ bit.
 * Moving and scrolling in the page's list, leaving and help work in all views.
 */
#pragma once

#include <stdbool.h>

#include "ui/term/pager.h"

struct column;
struct column_table;
struct layout;
struct term_key;
struct ui;
struct ui_task;

/*
 * The return values of key handlers: actions that must follow. The loop performs them; handlers
 * only change the state. RESORT and RELAYOUT also draw.
 */
#define REACT_NONE 0u
#define REACT_REDRAW 0x01u /* something shown has changed */
#define REACT_RESORT 0x02u /* the query has changed: sort the rows of this frame again */
#define REACT_RELAYOUT 0x04u /* the columns or the unit have changed */
#define REACT_RESAMPLE 0x08u /* take a sample now */
#define REACT_REOPEN 0x10u /* reopen the source: for processes or threads */
#define REACT_QUIT 0x20u
#define REACT_RELEASE 0x40u /* drop the held order and take a new one */

/* The views with a command. */
#define WHERE_TABLE 0x01u
#define WHERE_TASK 0x02u
#define WHERE_FIELDS 0x04u
#define WHERE_HELP 0x08u
#define WHERE_SITES 0x10u
#define WHERE_SITE 0x20u
#define WHERE_SORT 0x40u
#define WHERE_CHAIN 0x80u
#define WHERE_ALL 0xffu

/* Besides those: not while the past is shown; also before the first frame. */
#define WHERE_PRESENT 0x100u
#define WHERE_EARLY 0x200u

/* The table of a view: keys sort it, scroll its columns and choose among them. */
struct table_view {
	const struct column_table *columns; /* all of them */
	const struct layout *layout; /* the shown ones */
	size_t *skip; /* columns scrolled away, after the first */
	const struct column *sorted; /* the sort column */
	/* The settings for that. */
	const struct column **sort;
	bool *descending;
};

struct view_ops {
	const char *name;
	unsigned where; /* its WHERE_ bit */
	/*
	 * Processes a new frame (ui->frame); called for every page of the stack, even covered ones.
	 * NULL: nothing to do.
	 */
	void (*frame)(struct ui *ui, void *state);
	/* Returns the NEED_ bits of every task for the next sample; NULL: none. */
	unsigned (*needs)(struct ui *ui, void *state);
	/* True if it shows traced data; NULL: it does not. */
	bool (*traces)(struct ui *ui, void *state);
	/* Its process, whose user stacks are taken; 0: several. NULL: the same. */
	pid_t (*process)(const void *state);
	/*
	 * Draws lines 0 to height - 1 (height may be 0) over the whole width of ui->term; they are
	 * empty before. The loop uses the line below for footer, message or prompt. Sets the list's
	 * size by list_size(). There is a frame.
	 */
	void (*draw)(struct ui *ui, void *state, struct list *list, int height);
	/*
	 * Names the task of the view, or the selected one: commands act only on that task. Returns
	 * false, with a message, without a task. NULL: the view has none.
	 */
	bool (*target)(struct ui *ui, void *state, struct ui_task *task);
	/* Moves the selection, or scrolls, at a key; NULL: list_move() does. */
	void (*move)(struct ui *ui, void *state, struct list *list, enum list_move move);
	/*
	 * Takes a key before commands do, as a letter of a search. False: it is none. NULL: this
	 * view has no search.
	 */
	bool (*type)(struct ui *ui, void *state, struct list *list, const struct term_key *key);
	/* The view's table; NULL: it has none, and keys mean that of the view below. */
	struct table_view (*sheet)(struct ui *ui, void *state);
	/* Selects the next line that matches ui->find. False: none does. NULL: no lines. */
	bool (*find)(struct ui *ui, void *state, struct list *list);
	/* The selected column, explained in help. NULL: the view selects none. */
	const struct column *(*column)(struct ui *ui, void *state, const struct list *list);
	/* Handles a click on a line; returns reactions. NULL: no effect. */
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
