/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of fields to choose from: found by typing, with meaning and cost of each. */
#pragma once

#include "ui/state/ui.h"

/* Cells of the mark at the left of a line. */
#define FIELD_MARK_CELLS 6

struct field_list {
	const struct column **order; /* the shown fields come first, in their order */
	size_t shown, n;
	struct buf typed; /* the search text; empty: none */
};

/* Initialises the list, empty, for all columns of a table. */
void field_list_open(struct field_list *fields, const struct column_table *table);
void field_list_close(struct field_list *fields);

/*
 * Takes a letter of the search, and selects the best match. Letters that begin no
 * search are commands as everywhere: those that leave, help or move a field.
 */
bool field_list_type(struct field_list *fields, struct list *list, const struct term_key *key);

/* Selects the next field that matches the typed text. False: none, or nothing was typed. */
bool field_list_next(const struct field_list *fields, struct list *list);

/* Ends the search. */
void field_list_forget(struct field_list *fields);

/* Draws the title, the fields after their marks, and the words of the selected one. */
void field_list_draw(const struct field_list *fields, struct ui *ui, struct list *list, int height,
		     const char *title,
		     const char *(*mark)(const struct field_list *fields, struct ui *ui, size_t i));

/* The field in that line of the screen, or SIZE_MAX. */
size_t field_list_at(const struct list *list, int line);
