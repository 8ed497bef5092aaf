/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handlers of the keys in keys.c. Each returns reactions. */
#pragma once

#include "ui/state/ui.h"

/* cmd_show.c: changes how rows are shown. */
unsigned cmd_sort_key(struct ui *ui, int key);
unsigned cmd_sort_move(struct ui *ui, int by);
unsigned cmd_sort_reverse(struct ui *ui, int arg);
unsigned cmd_unit(struct ui *ui, int arg);
unsigned cmd_threads(struct ui *ui, int arg);
unsigned cmd_group(struct ui *ui, int arg);
unsigned cmd_hierarchy(struct ui *ui, int arg);
unsigned cmd_active(struct ui *ui, int arg);
unsigned cmd_idle(struct ui *ui, int arg);
unsigned cmd_exited(struct ui *ui, int arg);
unsigned cmd_command(struct ui *ui, int arg);
unsigned cmd_tree(struct ui *ui, int arg);
unsigned cmd_fold(struct ui *ui, int unfold);
unsigned cmd_fold_all(struct ui *ui, int arg);
unsigned cmd_header(struct ui *ui, int arg);
unsigned cmd_notes(struct ui *ui, int arg);
unsigned cmd_preset(struct ui *ui, int by);
unsigned cmd_pause(struct ui *ui, int arg);
unsigned cmd_freeze_order(struct ui *ui, int arg);

/* cmd_move.c: moves, opens and leaves views. */
unsigned cmd_move(struct ui *ui, int move);
unsigned cmd_columns(struct ui *ui, int by);
unsigned cmd_open(struct ui *ui, int arg);
unsigned cmd_open_detail(struct ui *ui, int arg);
unsigned cmd_open_sum(struct ui *ui, int arg);
unsigned cmd_open_fields(struct ui *ui, int arg);
unsigned cmd_open_help(struct ui *ui, int of_column);
unsigned cmd_leave(struct ui *ui, int arg);
unsigned cmd_sample(struct ui *ui, int arg);
unsigned cmd_redraw(struct ui *ui, int arg);
unsigned cmd_quit(struct ui *ui, int arg);

/* cmd_ask.c: asks for a text first. */
unsigned cmd_filter(struct ui *ui, int arg);
unsigned cmd_users(struct ui *ui, int arg);
unsigned cmd_clear(struct ui *ui, int arg);
unsigned cmd_find(struct ui *ui, int arg);
unsigned cmd_find_next(struct ui *ui, int arg);
unsigned cmd_interval(struct ui *ui, int arg);
unsigned cmd_delayacct(struct ui *ui, int arg);

/* cmd_save.c: writes to the configuration. */
unsigned cmd_save(struct ui *ui, int arg);
unsigned cmd_save_preset(struct ui *ui, int arg);

/* cmd_task.c: acts on the selected task. */
unsigned cmd_signal(struct ui *ui, int arg);
unsigned cmd_renice(struct ui *ui, int by);

/* cmd_move.c: moves in time. */
unsigned cmd_step(struct ui *ui, int by);
unsigned cmd_minute(struct ui *ui, int by);
unsigned cmd_go_to(struct ui *ui, int arg);
unsigned cmd_speed(struct ui *ui, int by);
unsigned cmd_timeline(struct ui *ui, int arg);

/* cmd_save.c: writes the shown frame. */
unsigned cmd_write(struct ui *ui, int arg);
