/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/legend.h"

#include <stdio.h>
#include <string.h>

#include "data/wait_state.h"
#include "ui/table/table_state.h"
#include "view/column_words.h"

/* The prefix of a state in words, as in the heads of the columns of states. */
static const char share[] = "share ";

/* Whether the table shows how time was spent, as a bar. */
static bool has_bar(const struct layout *layout)
{
	for (size_t i = 0; i < layout->n; i++)
		if (column_is_bar(layout->columns[i]))
			return true;
	return false;
}

int legend_lines(struct ui *ui, UNUSED int lines)
{
	return has_bar(&ui->table->layout);
}

/* A state in words. */
static const char *spelled_out(unsigned state)
{
	const struct column *column;
	char id[32];
	int n = snprintf(id, sizeof(id), "s-%s", wait_state_table[state].id);
	const char *name;

	column = column_by_id(id, (size_t)n);
	name = column_name(column);
	return strncmp(name, share, strlen(share)) ? name : name + strlen(share);
}

/* The name of a state. */
static const char *short_name(unsigned state)
{
	return wait_state_table[state].id;
}

/* Cells of all states, each with its letter, and so many blanks between them. */
static int legend_cells(const char *(*name)(unsigned state), int gap)
{
	int cells = -gap;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		cells += (int)strlen(name(state)) + 2 + gap;
	return cells;
}

void legend_draw(struct ui *ui, int line, UNUSED int lines)
{
	const char *(*name)(unsigned state) = spelled_out;
	int column = 0, end = ui->term.columns, gap;

	if (legend_cells(name, 1) > end)
		name = short_name;
	gap = legend_cells(name, 2) > end ? 1 : 2;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		char letter = wait_state_table[state].letter;

		/* A word that is cut says another thing. */
		if (column + 2 + (int)strlen(name(state)) > end)
			continue;
		term_put(&ui->term, line, column, 1, &letter, 1, style_of_state(letter));
		column = term_puts(&ui->term, line, column + 2, name(state), STYLE_LABEL) + gap;
	}
}
