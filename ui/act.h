/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do: the handlers of keys.c. Each returns reactions. */
#ifndef STALLTOP_UI_ACT_H
#define STALLTOP_UI_ACT_H

#include "ui.h"

/* act_show.c: how the rows are shown. */
unsigned act_sort_key(struct ui *ui, int key);
unsigned act_sort_move(struct ui *ui, int by);
unsigned act_sort_reverse(struct ui *ui, int arg);
unsigned act_unit(struct ui *ui, int arg);
unsigned act_threads(struct ui *ui, int arg);
unsigned act_group(struct ui *ui, int arg);
unsigned act_active(struct ui *ui, int arg);
unsigned act_exited(struct ui *ui, int arg);
unsigned act_command(struct ui *ui, int arg);
unsigned act_tree(struct ui *ui, int arg);
unsigned act_fold(struct ui *ui, int unfold);
unsigned act_fold_all(struct ui *ui, int arg);
unsigned act_header(struct ui *ui, int arg);
unsigned act_pause(struct ui *ui, int arg);
unsigned act_hold(struct ui *ui, int arg);

/* act_move.c: moving about, opening and leaving views. */
unsigned act_move(struct ui *ui, int move);
unsigned act_columns(struct ui *ui, int by);
unsigned act_open(struct ui *ui, int arg);
unsigned act_open_detail(struct ui *ui, int arg);
unsigned act_open_sum(struct ui *ui, int arg);
unsigned act_open_fields(struct ui *ui, int arg);
unsigned act_open_help(struct ui *ui, int arg);
unsigned act_leave(struct ui *ui, int arg);
unsigned act_sample(struct ui *ui, int arg);
unsigned act_redraw(struct ui *ui, int arg);
unsigned act_quit(struct ui *ui, int arg);

/* act_ask.c: what asks for a text first. */
unsigned act_filter(struct ui *ui, int arg);
unsigned act_users(struct ui *ui, int arg);
unsigned act_clear(struct ui *ui, int arg);
unsigned act_find(struct ui *ui, int arg);
unsigned act_find_next(struct ui *ui, int arg);
unsigned act_interval(struct ui *ui, int arg);
unsigned act_delayacct(struct ui *ui, int arg);
unsigned act_save(struct ui *ui, int arg);

/* act_task.c: what is done to the selected task. */
unsigned act_signal(struct ui *ui, int arg);
unsigned act_renice(struct ui *ui, int arg);

#endif
