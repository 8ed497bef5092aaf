/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/screen.h"

#define TABLE_COLUMNS 40

/* One head: its text and the cells it takes. */
struct table_head {
	char text[24];
	int start, end; /* first and last cell */
};

/* The table as it is found on the screen: numbers of lines, -1 for what is not there. */
struct table {
	int head, first, last, sum; /* last < first: no rows */
	int fold; /* what stands for idle tasks */
	size_t columns;
	struct table_head column[TABLE_COLUMNS];
};

/* Finds the table; false when there is none. */
bool table_read(struct screen *s, struct table *t);

/* The head of that text, or NULL. */
const struct table_head *table_head(const struct table *t, const char *head);

/*
 * What stands in a line under a head: numbers end where the head does, texts begin there.
 * "" when nothing does. Good until the test's end.
 */
const char *table_cell(struct screen *s, const struct table *t, int line, const char *head);

/* The number in a cell; -1 where it is not known. The suffix k counts. */
double table_number(struct screen *s, const struct table *t, int line, const char *head);

/* The line of the row with that pid, or whose last column begins so; -1: none. */
int table_find_pid(struct screen *s, const struct table *t, pid_t pid);
int table_find_name(struct screen *s, const struct table *t, const char *name);

/* The head that looks other than the rest: the sort column's; "" when there is none. */
const char *table_sorted_by(struct screen *s, const struct table *t);

/* The line that looks other than the rest: the selected one; -1 when there is none. */
int table_selected(struct screen *s, const struct table *t);

/* Starts the program and waits for rows with figures, whole on the screen. */
struct screen *table_start(int rows, int cols, const char *args);

/* Moves the selection from the first row to that of the name, which must be shown. */
void table_select(struct screen *s, const char *name);

/* Whether the rows are in order by the column; unknown values come last. */
bool table_in_order(struct screen *s, const struct table *t, const char *head, bool descending);

/* The number of different known values in the column. */
size_t table_values(struct screen *s, const struct table *t, const char *head);

/* --- predicates for screen_await() ---------------------------------------- */

/* There are rows. */
screen_predicate table_has_rows;
/* There are rows with figures, which takes an interval. */
screen_predicate table_has_figures;
/* The table is sorted by the head (a text), its rows in descending or ascending order. */
screen_predicate table_descends, table_ascends;
/* The row with the name (a text) is selected. */
screen_predicate table_selects;
/* A row with the name is there, or none. */
screen_predicate table_has_name, table_lacks_name;
/* The title says that the delays are shown in that unit: (%), (ms), (#) and so on. */
screen_predicate table_has_unit;
/* A head is there, or not. */
screen_predicate table_has_head, table_lacks_head;

/* The table, which must be there. */
#define table_must(s, t) screen_check(s, table_read(s, t))
