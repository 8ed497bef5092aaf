/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands: each key's action, its views, and its description. */
#include "config.h"

#include <ncurses.h>

#include "ui/cmd.h"
#include "ui/command.h"
#include "ui/finding.h"
#include "data/delay.h"
#include "ui/list.h"
#include "base/util.h"
#include "ui/view_fields.h"
#include "ui/view_sites.h"
#include "ui/view_sort.h"
#include "ui/view_task.h"

#define CONTROL(letter) ((letter) - '@')

/* The views with a table whose columns are chosen, and rows sorted by them. */
#define WHERE_SHEET (WHERE_TABLE | WHERE_SITES)

/* The views with figures of an interval. */
#define WHERE_TIMED (WHERE_TABLE | WHERE_TASK | WHERE_SITES | WHERE_SITE)

#define SORT "Sorting"
#define MOVE "Moving about"
#define SHOW "What is shown"
#define WHICH "Which rows"
#define WHEN "Time"
#define PAST "The past"
#define DO COMMAND_ACTS
#define FIELDS "Fields"
#define OTHER "Program"

/* The command of a kind, whose key is the digit of its row. */
#define KIND_COMMAND(NAME, kernel, id, heading, digit, since, place, place15, help) \
	{ "sort-" id, \
	  SORT, \
	  { digit }, \
	  WHERE_TABLE, \
	  cmd_sort_key, \
	  digit, \
	  "sort by " id ": " help "; again reverses", \
	  NULL, \
	  NULL, \
	  0 },

/* A row is easier to read in few lines than with one line per member. */
/* clang-format off */
const struct command command_table[] = {
	DELAY_TABLE(KIND_COMMAND)
	{ "sort-mem", SORT, { '9' }, WHERE_TABLE, cmd_sort_key, '9',
	  "sort by mem: all waiting for memory", NULL, NULL, 0 },
	{ "sort-total", SORT, { '0' }, WHERE_TABLE, cmd_sort_key, '0',
	  "sort by total: all waiting", "sort", "0-9", 8 },
	{ "sort-choose", SORT, { KEY_F(6) }, WHERE_SHEET, view_sort_open, 0,
	  "sort by a column chosen from a list", NULL, NULL, 0 },
	{ "sort-left", SORT, { '<' }, WHERE_SHEET, cmd_sort_move, -1,
	  "sort by the column to the left", NULL, NULL, 0 },
	{ "sort-right", SORT, { '>' }, WHERE_SHEET, cmd_sort_move, 1,
	  "sort by the column to the right", NULL, NULL, 0 },
	{ "sort-reverse", SORT, { 'R' }, WHERE_SHEET, cmd_sort_reverse, 0,
	  "reverse the order", NULL, NULL, 0 },
	{ "sort-run", SORT, { 'P' }, WHERE_TABLE, cmd_sort_key, 'P',
	  "sort by time on a CPU", NULL, NULL, 0 },
	{ "sort-pid", SORT, { 'N' }, WHERE_TABLE, cmd_sort_key, 'N',
	  "sort by process id", NULL, NULL, 0 },
	{ "sort-time", SORT, { 'T' }, WHERE_TABLE, cmd_sort_key, 'T',
	  "sort by time on a CPU since the task's start", NULL, NULL, 0 },

	{ "up", MOVE, { KEY_UP }, WHERE_ALL, cmd_move, LIST_UP, "up one line", NULL, NULL, 0 },
	{ "down", MOVE, { KEY_DOWN }, WHERE_ALL, cmd_move, LIST_DOWN, "down one line", NULL,
	  NULL, 0 },
	{ "page-up", MOVE, { KEY_PPAGE }, WHERE_ALL, cmd_move, LIST_PAGE_UP, "up one page", NULL,
	  NULL, 0 },
	{ "page-down", MOVE, { KEY_NPAGE }, WHERE_ALL, cmd_move, LIST_PAGE_DOWN, "down one page",
	  NULL, NULL, 0 },
	{ "home", MOVE, { KEY_HOME }, WHERE_ALL, cmd_move, LIST_HOME, "to the first line", NULL,
	  NULL, 0 },
	{ "end", MOVE, { KEY_END }, WHERE_ALL, cmd_move, LIST_END, "to the last line", NULL, NULL,
	  0 },
	{ "columns-left", MOVE, { KEY_LEFT }, WHERE_SHEET, cmd_columns, -1,
	  "scroll columns to the left", NULL, NULL, 0 },
	{ "columns-right", MOVE, { KEY_RIGHT }, WHERE_SHEET, cmd_columns, 1,
	  "scroll columns to the right", NULL, NULL, 0 },
	{ "open", MOVE, { '\r', KEY_ENTER }, WHERE_TABLE, cmd_open, 0,
	  "open the selected row: the detail of a task, the members of a group", "open",
	  NULL, 5 },
	{ "detail", MOVE, { 'v' }, WHERE_TABLE, cmd_open_detail, 0,
	  "open the detail of the selected task or group", "detail", NULL, 12 },
	{ "back", MOVE, { '\033' }, WHERE_TABLE, cmd_leave, 0,
	  "from the past to the present, then from the members of a group back to the groups; "
	  "otherwise to the top of the list, where the selection then stays", NULL, NULL, 0 },
	{ "leave", MOVE, { '\033', 'q' }, WHERE_ALL & ~WHERE_TABLE, cmd_leave, 0,
	  "leave this view", "back", NULL, 1 },

	{ "sites", MOVE, { 'w' }, WHERE_TABLE | WHERE_TASK, view_sites_open, 0,
	  "what it waits on: the files, sockets, locks ... of the selected row, or of what the "
	  "detail shows; all waits are traced while this is open",
	  "on what", NULL, 3 },
	{ "site", MOVE, { '\r', KEY_ENTER }, WHERE_SITES, view_sites_enter, 0,
	  "open the selected line: how long its waits were, who ended them, the kernel's stack",
	  "open", NULL, 3 },
	{ "finding", MOVE, { '!' }, WHERE_TABLE, finding_open, 0,
	  "open what the line above the table means: the task or group that it names, or what that "
	  "waits on", "why", NULL, 6 },
	{ "open-sum", MOVE, { 'S' }, WHERE_TABLE, cmd_open_sum, 0,
	  "open the sum of all rows that pass the filters", NULL, NULL, 0 },
	{ "thread", MOVE, { '\r', KEY_ENTER }, WHERE_TASK, view_task_thread, 0,
	  "choose one of the process's threads, by Up and Down, and open it", "thread", NULL, 4 },
	{ "part-next", MOVE, { KEY_RIGHT, '\t' }, WHERE_TASK, view_task_part, 1,
	  "the next part of the detail", NULL, NULL, 0 },
	{ "part-before", MOVE, { KEY_LEFT }, WHERE_TASK, view_task_part, -1,
	  "the previous part of the detail", NULL, NULL, 0 },

	{ "unit", SHOW, { 'U' }, WHERE_TABLE | WHERE_TASK, cmd_unit, 0,
	  "next unit of the delay columns", "unit", NULL, 11 },
	{ "threads", SHOW, { 'H' }, WHERE_TABLE | WHERE_PRESENT, cmd_threads, 0,
	  "one row per thread, or one row per process", "threads", NULL, 10 },
	{ "group", SHOW, { 'g' }, WHERE_TABLE, cmd_group, 0,
	  "next grouping: by process, thread, user, command, cgroup", "group", NULL, 7 },
	{ "sites-group", SHOW, { 'g' }, WHERE_SITES, view_sites_group, 0,
	  "next grouping of sites: by site, state, system call, target, function, process",
	  "group", NULL, 5 },
	{ "hierarchy", SHOW, { 'G' }, WHERE_TABLE | WHERE_PRESENT, cmd_hierarchy, 0,
	  "where rows are cgroups: those of the next hierarchy", NULL, NULL, 0 },
	{ "tree", SHOW, { 'V', KEY_F(5) }, WHERE_TABLE, cmd_tree, 0,
	  "show a tree of processes or cgroups, or a list", "tree", NULL, 17 },
	{ "unfold", SHOW, { '+' }, WHERE_TABLE, cmd_fold, 1,
	  "unfold below the selected row: children, then threads", NULL, NULL, 0 },
	{ "fold", SHOW, { '-' }, WHERE_TABLE, cmd_fold, 0,
	  "fold below the selected row, which then has the sums of all that", NULL, NULL, 0 },
	{ "fold-all", SHOW, { '*' }, WHERE_TABLE, cmd_fold_all, 0, "fold or unfold all", NULL,
	  NULL, 0 },
	{ "command", SHOW, { 'c' }, WHERE_TABLE, cmd_command, 0, "show names or command lines",
	  NULL, NULL, 0 },
	{ "fields", SHOW, { 'f', KEY_F(2) }, WHERE_SHEET, cmd_open_fields, 0, "choose and order fields",
	  "fields", NULL, 14 },
	{ "preset-next", SHOW, { '\t' }, WHERE_TABLE, cmd_preset, 1,
	  "next preset: waits, hangs, cpu, io, memory, states, and those of the configuration",
	  "preset", NULL, 4 },
	{ "preset-before", SHOW, { KEY_BTAB }, WHERE_TABLE, cmd_preset, -1, "previous preset", NULL,
	  NULL, 0 },
	{ "header", SHOW, { 't' }, WHERE_TABLE, cmd_header, 0, "fold or unfold the header",
	  NULL, NULL, 0 },
	{ "notes", SHOW, { 'n' }, WHERE_TABLE, cmd_notes, 0,
	  "show all notes of what is missing, why, and what to do about it, or the first in one "
	  "line", NULL, NULL, 0 },

	{ "filter", WHICH, { '/', 'o', KEY_F(4) }, WHERE_TABLE, cmd_filter, 0,
	  "only rows whose name or command line matches an expression", "filter", NULL, 9 },
	{ "users", WHICH, { 'u' }, WHERE_TABLE, cmd_users, 0, "only rows of some users", NULL,
	  NULL, 0 },
	{ "active", WHICH, { 'i' }, WHERE_TABLE, cmd_active, 0,
	  "hide rows that neither ran nor waited", NULL, NULL, 0 },
	{ "sites-idle", WHICH, { 'i' }, WHERE_SITES, view_sites_idle, 0,
	  "hide or show waits of the idle: in states poll, timer, child, stop and other", "idle",
	  NULL, 6 },
	{ "idle", WHICH, { 'z' }, WHERE_TABLE, cmd_idle, 0,
	  "show each task that only idles, or fold those beyond the screen, and idle kernel threads, "
	  "into one line", NULL, NULL, 0 },
	{ "exited", WHICH, { 'e' }, WHERE_TABLE, cmd_exited, 0,
	  "show or hide rows of exited tasks", NULL, NULL, 0 },
	{ "clear", WHICH, { '=' }, WHERE_TABLE, cmd_clear, 0, "clear all filters", NULL, NULL, 0 },
	{ "find", WHICH, { 'L', KEY_F(3) }, WHERE_SHEET, cmd_find, 0,
	  "select the next row whose name or command line matches, or site of which any text does",
	  NULL, NULL, 0 },
	{ "find-next", WHICH, { '&' }, WHERE_SHEET, cmd_find_next, 0, "select the next match", NULL,
	  NULL, 0 },

	{ "interval", WHEN, { 'd', 's' }, WHERE_TIMED, cmd_interval, 0,
	  "set the interval", NULL, NULL, 0 },
	{ "sample", WHEN, { ' ' }, WHERE_TIMED, cmd_sample, 0, "take a sample now",
	  NULL, NULL, 0 },
	{ "pause", WHEN, { 'p' }, WHERE_TIMED, cmd_pause, 0,
	  "pause: figures stand still; scrolling, sorting and filters still work; while looking "
	  "back: play what follows, or stop", "pause", NULL, 16 },
	{ "hold", WHEN, { 'O' }, WHERE_TABLE, cmd_hold, 0,
	  "hold the order of the rows while their figures are updated", NULL, NULL, 0 },

	{ "step-back", PAST, { '[' }, WHERE_TIMED, cmd_step, -1,
	  "back by a sample: all views show what was then, and sampling goes on", "past", "[ ]",
	  13 },
	{ "step-on", PAST, { ']' }, WHERE_TIMED, cmd_step, 1,
	  "forward by a sample; after the last comes the present", NULL, NULL, 0 },
	{ "minute-back", PAST, { '{' }, WHERE_TIMED, cmd_minute, -1, "back by a minute", NULL, NULL,
	  0 },
	{ "minute-on", PAST, { '}' }, WHERE_TIMED, cmd_minute, 1, "forward by a minute", NULL,
	  NULL, 0 },
	{ "go-to", PAST, { 'B' }, WHERE_TIMED, cmd_go_to, 0,
	  "go to a time, such as 14:02, 14:02:30, or -3m", NULL, NULL, 0 },
	{ "slower", PAST, { '(' }, WHERE_TIMED, cmd_speed, -1,
	  "play what follows at half the speed", NULL, NULL, 0 },
	{ "faster", PAST, { ')' }, WHERE_TIMED, cmd_speed, 1,
	  "play what follows at twice the speed", NULL, NULL, 0 },
	{ "timeline", PAST, { 'm' }, WHERE_TABLE, cmd_timeline, 0,
	  "show the timeline, of pressure and of all that was waited, also in the present", NULL,
	  NULL, 0 },

	{ "signal", DO, { 'k', KEY_F(9) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_signal, 0,
	  "send a signal to the selected process", "signal", NULL, 18 },
	{ "renice", DO, { 'r' }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, 0,
	  "set the nice value of the selected thread, or of all threads of the selected process",
	  NULL, NULL, 0 },
	{ "nice-less", DO, { KEY_F(7) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, -1,
	  "set the nice value, one less to begin with: more of the CPUs; F7 and F8 then count on",
	  NULL, NULL, 0 },
	{ "nice-more", DO, { KEY_F(8) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, 1,
	  "set the nice value, one more to begin with: less of the CPUs", NULL, NULL, 0 },
	{ "delayacct", DO, { 'D' }, WHERE_TABLE | WHERE_PRESENT, cmd_delayacct, 0,
	  "switch kernel.task_delayacct on or off, also after stalltop has ended", NULL, NULL,
	  0 },
	{ "write", DO, { 'E' }, WHERE_TABLE, cmd_write, 0,
	  "write what is shown, also of the past, to a new file: by its ending as text, CSV or "
	  "JSON, as batch mode writes it", NULL, NULL, 0 },
	{ "save", DO, { 'W' }, WHERE_SHEET, cmd_save, 0,
	  "write the current settings to the configuration file", NULL, NULL, 0 },

	{ "save-preset", DO, { 'A' }, WHERE_TABLE, cmd_save_preset, 0,
	  "save fields, order, unit and grouping of what is shown as a preset, under a name, in "
	  "the configuration file", NULL, NULL, 0 },

	{ "field", FIELDS, { ' ', '\r', KEY_ENTER }, WHERE_FIELDS, view_fields_toggle, 0,
	  "show or hide the field", "show", NULL, 3 },
	{ "field-up", FIELDS, { KEY_LEFT, '-' }, WHERE_FIELDS, view_fields_shift, -1,
	  "move the field up", "up", NULL, 4 },
	{ "field-down", FIELDS, { KEY_RIGHT, '+' }, WHERE_FIELDS, view_fields_shift, 1,
	  "move the field down", "down", NULL, 5 },
	{ "field-find", FIELDS, { 0 }, WHERE_FIELDS | WHERE_SORT, NULL, 0,
	  "find a field: by letters of its id, its head or its meaning; Esc ends that", NULL, "a-z",
	  6 },
	{ "field-next", FIELDS, { '/' }, WHERE_FIELDS, view_fields_find_next, 0,
	  "the next field that was found so", "next", NULL, 7 },
	{ "sort-field", FIELDS, { '\r', KEY_ENTER, ' ' }, WHERE_SORT, view_sort_take, 0,
	  "in the list of F6: sort by the field", "sort", NULL, 3 },
	{ "sort-next", FIELDS, { '/' }, WHERE_SORT, view_sort_find_next, 0,
	  "the next field that was found so", "next", NULL, 7 },
	{ "fields-default", FIELDS, { '=' }, WHERE_FIELDS, view_fields_default, 0,
	  "back to the default fields", "default", NULL, 8 },

	{ "help", OTHER, { 'h', KEY_F(1) }, WHERE_ALL & ~WHERE_HELP,
	  cmd_open_help, 0, "this help", "help", NULL, 2 },
	{ "explain", OTHER, { '?' }, WHERE_SHEET | WHERE_FIELDS | WHERE_SORT, cmd_open_help, 1,
	  "what the sort column, or the selected field, is, and what to do about it; then this help",
	  "column", NULL, 15 },
	{ "help-too", OTHER, { '?' }, WHERE_ALL & ~WHERE_HELP & ~WHERE_SHEET & ~WHERE_FIELDS &
	  ~WHERE_SORT, cmd_open_help, 0, "in other views: this help", NULL, NULL, 0 },
	{ "redraw", OTHER, { CONTROL('L') }, WHERE_ALL, cmd_redraw, 0, "redraw the screen",
	  NULL, NULL, 0 },
	{ "quit", OTHER, { 'q', KEY_F(10) }, WHERE_TABLE, cmd_quit, 0, "quit", "quit",
	  NULL, 1 },
	{ "quit-at-once", OTHER, { KEY_F(10) }, WHERE_ALL & ~WHERE_TABLE, cmd_quit,
	  0, "quit", NULL, NULL, 0 },
};

/* clang-format on */
const size_t command_table_n = ARRAY_SIZE(command_table);
