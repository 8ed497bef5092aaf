// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/scratch.h"
#include "tests/lib/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell that shows nothing. */
static bool is_blank(struct screen *s, int row, int col)
{
	uint32_t c = screen_char(s, row, col);

	return c == 0 || c == ' ';
}

/* The cells from first to last as text without spaces around; good until the test's end. */
static const char *text_between(struct screen *s, int row, int first, int last)
{
	char *text;
	size_t n = 0;

	while (first <= last && is_blank(s, row, first))
		first++;
	while (last >= first && is_blank(s, row, last))
		last--;
	text = scratch_keep(calloc((size_t)(last - first + 2), 1));
	for (int col = first; col <= last; col++) {
		uint32_t c = screen_char(s, row, col);

		if (c != UINT32_MAX)
			text[n++] = c == 0 ? ' ' : c < 0x80 ? (char)c : '?';
	}
	return text;
}

/* What stands behind the sort column's head. */
static bool is_mark(struct screen *s, const struct table *t, int col)
{
	uint32_t c = screen_char(s, t->head, col), before = screen_char(s, t->head, col - 1);

	return c == 0x25B2 || c == 0x25BC || c == '^' ||
	       (c == 'v' && before >= 'A' && before <= 'Z');
}

/* Takes the line's words as heads. */
static void read_heads(struct screen *s, struct table *t)
{
	t->columns = 0;
	for (int col = 0; col < screen_cols(s) && t->columns < TABLE_COLUMNS; col++) {
		struct table_head *head = &t->column[t->columns];

		/* '>': there is more at that side */
		if (is_blank(s, t->head, col) || is_mark(s, t, col) ||
		    screen_char(s, t->head, col) == '>')
			continue;
		head->start = col;
		while (col < screen_cols(s) && !is_blank(s, t->head, col) && !is_mark(s, t, col))
			col++;
		head->end = col - 1;
		snprintf(head->text, sizeof(head->text), "%s",
			 text_between(s, t->head, head->start, head->end));
		t->columns++;
	}
}

/* Whether the line begins (after spaces) with the word. */
static bool begins_with(struct screen *s, int row, const char *word)
{
	const char *line = screen_line(s, row);

	line += strspn(line, " ");
	return !strncmp(line, word, strlen(word)) && !isalnum((unsigned char)line[strlen(word)]);
}

/* Whether a line is a row: a number stands under the first head. */
static bool is_row(struct screen *s, const struct table *t, int row)
{
	const char *cell = table_cell(s, t, row, t->column[0].text);

	return *cell && strspn(cell, "0123456789") == strlen(cell);
}

bool table_read(struct screen *s, struct table *t)
{
	int row;

	*t = (struct table){ .head = -1, .first = 0, .last = -1, .sum = -1, .fold = -1 };
	for (row = 0; row < screen_rows(s) && t->head < 0; row++) {
		/* N is a key in help, too */
		if (begins_with(s, row, "PID") ||
		    (begins_with(s, row, "N") && strstr(screen_line(s, row), "GROUP")))
			t->head = row;
	}
	if (t->head < 0)
		return false;
	read_heads(s, t);
	row = t->head + 1;
	/* A sum may stand directly below, and of groups has a number there, too. */
	for (t->first = row; row < screen_rows(s) && is_row(s, t, row) && !begins_with(s, row, "=");
	     row++)
		t->last = row;
	if (row < screen_rows(s) && !strncmp(screen_line(s, row), "+ ", 2) &&
	    strstr(screen_line(s, row), " idle "))
		t->fold = row++;
	for (; row < screen_rows(s) && t->sum < 0; row++)
		if (begins_with(s, row, "="))
			t->sum = row;
	if (t->last < t->first)
		t->last = t->first - 1;
	return true;
}

const struct table_head *table_head(const struct table *t, const char *head)
{
	for (size_t i = 0; i < t->columns; i++)
		if (!strcmp(t->column[i].text, head))
			return &t->column[i];
	return NULL;
}

/* Whether a column is of texts, which begin where their head does. */
static bool is_text(const char *head)
{
	static const char *const texts[] = { "USER",  "S",  "COMMAND", "CGROUP",
					     "GROUP", "ON", "SHARES" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(texts[i], head))
			return true;
	return false;
}

const char *table_cell(struct screen *s, const struct table *t, int line, const char *name)
{
	const struct table_head *head = table_head(t, name);
	int col;

	if (!head)
		return "";
	if (!is_text(name)) {
		for (col = head->end; col >= 0 && !is_blank(s, line, col);)
			col--;
		/* what goes on behind the head's end is not under it */
		if (head->end + 1 < screen_cols(s) && !is_blank(s, line, head->end + 1))
			return "";
		return text_between(s, line, col + 1, head->end);
	}
	if (!strcmp(name, "COMMAND") || !strcmp(name, "GROUP"))
		return text_between(s, line, head->start, screen_cols(s) - 1);
	for (col = head->start; col < screen_cols(s) && !is_blank(s, line, col);)
		col++;
	return text_between(s, line, head->start, col - 1);
}

double table_number(struct screen *s, const struct table *t, int line, const char *head)
{
	const char *cell = table_cell(s, t, line, head);
	char *end;
	double number = strtod(*cell == '>' || *cell == '*' ? cell + 1 : cell, &end);

	/* zeros recede */
	if (!strcmp(cell, "."))
		return 0;
	if (end == cell || (*end && strcmp(end, "k")))
		return -1;
	return *end ? number * 1000 : number;
}

int table_find_pid(struct screen *s, const struct table *t, pid_t pid)
{
	for (int line = t->first; line <= t->last; line++)
		if ((pid_t)table_number(s, t, line, "PID") == pid)
			return line;
	return -1;
}

/* The head of the last column: the names of tasks, or of groups. */
static const char *name_head(const struct table *t)
{
	return table_head(t, "GROUP") ? "GROUP" : "COMMAND";
}

int table_find_name(struct screen *s, const struct table *t, const char *name)
{
	name = scratch_ours(name);
	for (int line = t->first; line <= t->last; line++)
		if (!strncmp(table_cell(s, t, line, name_head(t)), name, strlen(name)))
			return line;
	return -1;
}

/* Whether two places look the same. */
static bool same_look(struct screen_look a, struct screen_look b)
{
	return a.bold == b.bold && a.reverse == b.reverse && a.underline == b.underline &&
	       a.fg == b.fg && a.bg == b.bg;
}

const char *table_sorted_by(struct screen *s, const struct table *t)
{
	struct screen_look looks[TABLE_COLUMNS];

	for (size_t i = 0; i < t->columns; i++)
		looks[i] = screen_look(s, t->head, t->column[i].end);
	for (size_t i = 0; i < t->columns; i++) {
		size_t same = 0;

		for (size_t j = 0; j < t->columns; j++)
			same += same_look(looks[i], looks[j]);
		if (same == 1 && t->columns > 2)
			return t->column[i].text;
	}
	return "";
}

int table_selected(struct screen *s, const struct table *t)
{
	const struct table_head *head = table_head(t, name_head(t));
	int col = head ? head->start : 0;

	for (int line = t->first; line <= t->last; line++) {
		struct screen_look look = screen_look(s, line, col);

		if (look.reverse || look.bg != -1)
			return line;
	}
	return -1;
}

bool table_in_order(struct screen *s, const struct table *t, const char *head, bool descending)
{
	/* The last line may be the finding's row, from further below. */
	int last = t->last - (table_selected(s, t) == t->last);

	for (int line = t->first; line < last; line++) {
		double a = table_number(s, t, line, head);
		double b = table_number(s, t, line + 1, head);

		if (a < 0 && b >= 0)
			return false;
		if (a >= 0 && b >= 0 && (descending ? a < b : a > b))
			return false;
	}
	return t->last > t->first && table_head(t, head);
}

size_t table_values(struct screen *s, const struct table *t, const char *head)
{
	size_t n = 0;

	for (int line = t->first; line <= t->last; line++) {
		double value = table_number(s, t, line, head);
		bool seen = value < 0;

		for (int other = t->first; other < line && !seen; other++)
			seen = table_number(s, t, other, head) >= value &&
			       table_number(s, t, other, head) <= value;
		n += !seen;
	}
	return n;
}

bool table_has_rows(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.last >= t.first;
}

bool table_has_figures(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	if (!table_read(s, &t))
		return false;
	for (int line = t.first; line <= t.last; line++)
		if (table_number(s, &t, line, "RUN") >= 0)
			return true;
	return false;
}

/* What is selected is the row of that offset. */
static bool selects_row(struct screen *s, const void *arg)
{
	const int *row = arg;
	struct table t;

	return table_read(s, &t) && table_selected(s, &t) == t.first + *row;
}

struct screen *table_start(int rows, int cols, const char *args)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = rows, .cols = cols, .args = args });

	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	return s;
}

void table_select(struct screen *s, const char *name)
{
	int row = 0;

	screen_key(s, VTERM_KEY_HOME);
	screen_await(s, selects_row, &row);
	while (!table_selects(s, name) && ++row < screen_rows(s)) {
		screen_key(s, VTERM_KEY_DOWN);
		screen_await(s, selects_row, &row);
	}
	screen_await(s, table_selects, name);
}

/* The table is sorted by the head, and the rows are in that order. */
static bool is_sorted(struct screen *s, const char *head, bool descending)
{
	struct table t;

	return table_read(s, &t) && !strcmp(table_sorted_by(s, &t), head) &&
	       table_in_order(s, &t, head, descending);
}

bool table_descends(struct screen *s, const void *head)
{
	return is_sorted(s, head, true);
}

bool table_ascends(struct screen *s, const void *head)
{
	return is_sorted(s, head, false);
}

bool table_selects(struct screen *s, const void *name)
{
	struct table t;

	return table_read(s, &t) && table_selected(s, &t) >= 0 &&
	       table_selected(s, &t) == table_find_name(s, &t, name);
}

bool table_has_name(struct screen *s, const void *name)
{
	struct table t;

	return table_read(s, &t) && table_find_name(s, &t, name) >= 0;
}

bool table_lacks_name(struct screen *s, const void *name)
{
	struct table t;

	return table_read(s, &t) && table_find_name(s, &t, name) < 0;
}

bool table_has_unit(struct screen *s, const void *unit)
{
	static const char *const words[][2] = {
		{ "(%)", " waits in % of time" }, { "(ms)", " unit ms" },
		{ "(#)", " unit count" },	  { "(ms/#)", " unit avg" },
		{ "(max)", " unit max" },	  { "(tot)", " unit total" },
	};
	struct table t;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i][0], unit))
			return table_read(s, &t) && strstr(screen_line(s, 0), words[i][1]);
	return false;
}

bool table_has_head(struct screen *s, const void *head)
{
	struct table t;

	return table_read(s, &t) && table_head(&t, head);
}

bool table_lacks_head(struct screen *s, const void *head)
{
	struct table t;

	return table_read(s, &t) && !table_head(&t, head);
}
