/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/table/selected.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "ui/table/site_list.h"
#include "ui/table/table_state.h"

/* The fewest lines, those with one row, and the most that idle rows leave to it. */
#define LINES_LEAST 4
#define LINES_LEFT 7

/* The room for a title's words. */
#define WORDS_MAX 64

struct selected {
	struct site_list list;
	struct site_table table;
};

/* The columns of a wait that is not traced. */
#define UNTRACED "syscall,on,where"

/* Adds the lines with the most time; those of waits for something to do where there are no others.
 */
static struct table_draw add_sites(struct selected *selected, struct ui *ui, size_t most)
{
	struct site_list *list = &selected->list;
	struct table_draw draw;

	list->no_idle = true;
	site_list_take(list, ui);
	list->no_idle = list->lines.n;
	if (!list->no_idle)
		site_list_take(list, ui);
	draw = site_table_begin(&selected->table, ui, list->sites.several);
	for (size_t i = 0; i < list->lines.n && i < most; i++)
		site_table_add(&selected->table, ui, list->lines.rows[i]);
	return draw;
}

/* Adds the wait that lasts, as it was read just now. */
static struct table_draw add_waiting(struct selected *selected, struct ui *ui,
				     const struct item *item)
{
	const struct layout_frame frame = { .width = (unsigned)ui->term.columns, .screen = true };
	struct site_table *table = &selected->table;

	table_fill(ui, item, 1, NEED_WAITING);
	table->n = table->skip = 0;
	layout_resolve(&table->layout, UNTRACED, &frame);
	if (row_waiting(item->frame, item->shown))
		site_table_add(table, ui, item->shown);
	return (struct table_draw){ .term = &ui->term,
				    .layout = &table->layout,
				    .view = ui_view(ui),
				    .cell = &table->cell,
				    .scratch = &table->scratch };
}

size_t selected_lines(const struct ui *ui, size_t room)
{
	size_t third = room / 3;

	if (third < LINES_LEAST)
		return 0;
	if (!ui->frame->info->trace)
		return LINES_LEAST;
	return third < LINES_LEFT ? third : LINES_LEFT;
}

/* Names the task, and says what follows. */
static void draw_title(struct ui *ui, int line, const struct ui_task *task, const char *words)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	ui_escape(ui, text, task->comm);
	buf_printf(text, " %d %s", (int)task->key.pid, words);
	term_put(&ui->term, line, 0, ui->term.columns, text->data, text->len, STYLE_LABEL);
}

/* Draws what was found of a task whose wait is not known, a line each. False: nothing was. */
static bool draw_findings(struct ui *ui, int line, int lines, const struct row *row)
{
	const struct findings *findings = &ui->findings;
	struct buf *text = &ui->scratch;
	int end = line + lines;

	for (size_t i = 0; i < findings->n && line < end; i++) {
		if (!findings->all[i].row || findings->all[i].row->task != row->task)
			continue;
		text->len = 0;
		finding_append(text, findings, &findings->all[i], (unsigned)ui->term.columns,
			       ui->term.charset);
		term_put(&ui->term, line++, 0, ui->term.columns, text->data, text->len,
			 STYLE_LABEL);
	}
	return line > end - lines;
}

/* Says whether the wait in progress is that of the process, or of which of its threads. */
static const char *waiting_words(char words[WORDS_MAX], const struct item *item)
{
	const struct task_waiting *waiting = row_waiting(item->frame, item->shown);

	if (!item->row->raw || item->row->raw->now.threads < 2 || !waiting)
		return "waits now (w: its time by site)";
	snprintf(words, WORDS_MAX, "waits now in thread %d (w: all threads, by site)",
		 (int)waiting->tid);
	return words;
}

void selected_draw(struct ui *ui, int line, int lines)
{
	struct selected *selected = ui->selected;
	const struct item *item = table_item(ui);
	bool traced = ui->frame->info->trace;
	const struct site_table *table;
	struct ui_task task;
	struct table_draw draw;
	char words[WORDS_MAX];

	if (lines < LINES_LEAST || !ui_selected(ui, &task) || item->row->exited)
		return;
	if (!selected)
		selected = ui->selected = xcalloc(1, sizeof(*selected));
	selected->list.task = task;
	table = &selected->table;
	/* Below a blank line, its title and the heads. */
	lines -= 3;
	draw = traced ? add_sites(selected, ui, (size_t)lines) : add_waiting(selected, ui, item);
	/* Without a wait that is known it runs, or nothing can be said. */
	if (!table->n) {
		if (!draw_findings(ui, line + 1, lines + 2, item->row) &&
		    row_state(item->row) == 'R')
			draw_title(ui, line + 1, &task, "runs, or waits for a CPU");
		return;
	}
	draw_title(ui, line + 1, &task,
		   traced ? "waits, times in ms (w: all of it)" : waiting_words(words, item));
	site_table_fit(&selected->table, &draw);
	table_draw_heads(&draw, line + 2);
	for (size_t i = 0; i < table->n; i++)
		table_draw_row(&draw, line + 3 + (int)i, &table->items[i], ROW_PLAIN);
}

void selected_free(struct ui *ui)
{
	struct selected *selected = ui->selected;

	if (!selected)
		return;
	site_list_free(&selected->list);
	site_table_free(&selected->table);
	free(selected);
}
