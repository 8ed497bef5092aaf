/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that move about, open and leave views, and end the program. */
#include "config.h"

#include "act.h"
#include "view_fields.h"
#include "view_help.h"
#include "view_table.h"
#include "view_task.h"

unsigned act_move(struct ui *ui, int move)
{
	list_move(&ui_page(ui)->list, (enum list_move)move);
	if (ui->depth == 1)
		table_pin(ui);
	return REACT_REDRAW;
}

unsigned act_columns(struct ui *ui, int by)
{
	struct table *table = ui->table;

	/* The last column stays, and the first is always there. */
	if (by > 0 && table->skip + 2 < table->layout.n)
		table->skip++;
	else if (by < 0 && table->skip)
		table->skip--;
	return REACT_REDRAW;
}

unsigned act_open_task(struct ui *ui, int arg)
{
	struct ui_task task;

	(void)arg;
	if (!ui_selected(ui, &task))
		return REACT_NONE;
	table_pin(ui);
	return view_task_open(ui, &task);
}

unsigned act_open_sum(struct ui *ui, int arg)
{
	(void)arg;
	return view_task_open(ui, NULL);
}

unsigned act_open_fields(struct ui *ui, int arg)
{
	(void)arg;
	return view_fields_open(ui);
}

unsigned act_open_help(struct ui *ui, int arg)
{
	(void)arg;
	return view_help_open(ui);
}

unsigned act_leave(struct ui *ui, int arg)
{
	(void)arg;
	if (ui->depth > 1)
		ui_pop(ui);
	else
		table_unpin(ui);
	return REACT_REDRAW;
}

unsigned act_sample(struct ui *ui, int arg)
{
	(void)ui;
	(void)arg;
	return REACT_RESAMPLE;
}

unsigned act_redraw(struct ui *ui, int arg)
{
	(void)arg;
	term_resize(&ui->term);
	term_redraw(&ui->term);
	return REACT_RELAYOUT;
}

unsigned act_quit(struct ui *ui, int arg)
{
	(void)ui;
	(void)arg;
	return REACT_QUIT;
}
