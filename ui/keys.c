/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands: each key's action, its views, and its description. */
#include <ncurses.h>

#include "base/util.h"
#include "data/delay.h"
#include "ui/cmd/cmd.h"
#include "ui/cmd/command.h"
#include "ui/cmd/view_fields.h"
#include "ui/detail/view_task.h"
#include "ui/finding.h"
#include "ui/sites/view_chain.h"
#include "ui/sites/view_site.h"
#include "ui/sites/view_sites.h"
#include "ui/term/pager.h"

#define CONTROL(letter) ((letter) - '@')

/* The views with figures of an interval. */
#define WHERE_TIMED (WHERE_TABLE | WHERE_TASK | WHERE_SITES | WHERE_SITE | WHERE_CHAIN)

/* The views with a table whose columns are chosen, and rows sorted by them. */
#define WHERE_SHEET (WHERE_TABLE | WHERE_SITES)

/* Pages of text. */
#define WHERE_PAGES (WHERE_TASK | WHERE_SITE | WHERE_CHAIN | WHERE_HELP)

#define SORT "Sorting"
#define MOVE "Navigation"
#define SHOW "Display"
#define WHICH "Filters"
#define WHEN "Time"
#define PAST "History"
#define DO COMMAND_ACTS
#define FIELDS "Fields"
#define OTHER "Program"

/* The command of a kind, whose key is the digit of its row. */
#define KIND_COMMAND(NAME, kernel, id, heading, digit, since, place, place15, text) \
	{ "sort-" id, \
	  SORT, \
	  { digit }, \
	  WHERE_TABLE, \
	  cmd_sort_key, \
	  digit, \
	  .help = "sort by " id ": " text "; again reverses" },

/* A row is easier to read in few lines than with one line per member. */
/* clang-format off */
const struct command command_table[] = {
	DELAY_TABLE(KIND_COMMAND)
	{ "sort-mem", SORT, { '9', 'M' }, WHERE_TABLE, cmd_sort_key, '9',
	  .help = "sort by mem: total memory wait" },
	{ "sort-total", SORT, { '0' }, WHERE_TABLE, cmd_sort_key, '0',
	  .help = "sort by total wait",
	  .hint = "sort", .hint_keys = "0-9", .hint_rank = 8 },
	{ "sort-choose", SORT, { KEY_F(6) }, WHERE_SHEET, view_sort_open, 0,
	  .help = "sort by a column chosen from a list" },
	{ "sort-left", SORT, { '<' }, WHERE_SHEET, cmd_sort_move, -1,
	  .help = "sort by the column to the left" },
	{ "sort-right", SORT, { '>' }, WHERE_SHEET, cmd_sort_move, 1,
	  .help = "sort by the column to the right" },
	{ "sort-reverse", SORT, { 'R', 'I' }, WHERE_SHEET, cmd_sort_reverse, 0,
	  .help = "reverse the order" },
	{ "sort-run", SORT, { 'P' }, WHERE_TABLE, cmd_sort_key, 'P',
	  .help = "sort by time on a CPU" },
	{ "sort-pid", SORT, { 'N' }, WHERE_TABLE, cmd_sort_key, 'N', .help = "sort by process id" },
	{ "sort-time", SORT, { 'T' }, WHERE_TABLE, cmd_sort_key, 'T',
	  .help = "sort by time on a CPU since the task's start" },

	{ "up", MOVE, { KEY_UP }, WHERE_ALL, cmd_move, LIST_UP, .help = "up one line" },
	{ "down", MOVE, { KEY_DOWN }, WHERE_ALL, cmd_move, LIST_DOWN, .help = "down one line" },
	{ "page-up", MOVE, { KEY_PPAGE }, WHERE_ALL, cmd_move, LIST_PAGE_UP,
	  .help = "up one page" },
	{ "page-down", MOVE, { KEY_NPAGE }, WHERE_ALL, cmd_move, LIST_PAGE_DOWN,
	  .help = "down one page" },
	{ "home", MOVE, { KEY_HOME }, WHERE_ALL, cmd_move, LIST_HOME, .help = "to the first line" },
	{ "end", MOVE, { KEY_END }, WHERE_ALL, cmd_move, LIST_END, .help = "to the last line" },
	{ "columns-left", MOVE, { KEY_LEFT }, WHERE_SHEET, cmd_columns, -1,
	  .help = "scroll columns to the left" },
	{ "columns-right", MOVE, { KEY_RIGHT }, WHERE_SHEET, cmd_columns, 1,
	  .help = "scroll columns to the right" },
	{ "open", MOVE, { '\r', KEY_ENTER }, WHERE_TABLE, cmd_open, 0,
	  .help = "open the selected row: task details, or group members",
	  .hint = "open", .hint_rank = 5 },
	{ "detail", MOVE, { 'v' }, WHERE_TABLE, cmd_open_detail, 0,
	  .help = "open the details of the selected task or group",
	  .hint = "detail", .hint_rank = 12 },
	{ "back", MOVE, { '\033' }, WHERE_TABLE, cmd_leave, 0,
	  .help = "from group members to the groups; else to the row of the finding, or the top "
	  "row; never out of the past" },
	{ "leave", MOVE, { '\033', 'q' }, WHERE_ALL & ~WHERE_TABLE, cmd_leave, 0,
	  .help = "leave this view", .hint = "back", .hint_rank = 1 },

	{ "sites", MOVE, { 'w' }, WHERE_TABLE | WHERE_TASK, view_sites_open, 0,
	  .help = "wait sites of the selected row (files, sockets, locks ...); all waits are "
	  "traced while this is open",
	  .hint = "on what", .hint_rank = 3 },
	{ "site", MOVE, { '\r', KEY_ENTER }, WHERE_SITES, view_sites_enter, 0,
	  .help = "open the selected site: latency histogram, wakers, kernel stack",
	  .hint = "open", .hint_rank = 3 },
	{ "chain", MOVE, { 'C' }, WHERE_TABLE | WHERE_TASK, view_chain_open, 0,
	  .help = "wait chain: its wakers, what they were doing, down to a disk, timer, peer, "
	  "quota or running task; traced while open",
	  .hint = "chain", .hint_rank = 8 },
	{ "site-chain", MOVE, { 'C' }, WHERE_SITES, view_chain_line, 0,
	  .help = "wait chain of the selected line", .hint = "chain", .hint_rank = 4 },
	{ "finding", MOVE, { '!' }, WHERE_TABLE, finding_open, 0,
	  .help = "open the finding: the task or group it names, or that task's wait sites", .hint = "why", .hint_rank = 6 },
	{ "open-sum", MOVE, { 'S' }, WHERE_TABLE, cmd_open_sum, 0,
	  .help = "open the sum of all filtered rows" },
	{ "thread", MOVE, { '\r', KEY_ENTER }, WHERE_TASK, view_task_thread, 0,
	  .help = "choose one of the process's threads, by Up and Down, and open it",
	  .hint = "thread", .hint_rank = 4 },
	{ "part-next", MOVE, { KEY_RIGHT, '\t' }, WHERE_TASK, view_task_part, 1,
	  .help = "the next part of the details" },
	{ "part-before", MOVE, { KEY_LEFT }, WHERE_TASK, view_task_part, -1,
	  .help = "the previous part of the details" },

	{ "unit", SHOW, { 'U' }, WHERE_TABLE | WHERE_TASK, cmd_unit, 0,
	  .help = "next unit of the delay columns", .hint = "unit", .hint_rank = 11 },
	{ "threads", SHOW, { 'H' }, WHERE_TABLE | WHERE_PRESENT, cmd_threads, 0,
	  .help = "one row per thread, or one row per process",
	  .hint = "threads", .hint_rank = 10 },
	{ "group", SHOW, { 'g' }, WHERE_TABLE, cmd_group, 0,
	  .help = "next grouping: by process, thread, user, command, cgroup",
	  .hint = "group", .hint_rank = 7 },
	{ "sites-group", SHOW, { 'g' }, WHERE_SITES, view_sites_group, 0,
	  .help = "next grouping of sites: by site, state, system call, target, function, process",
	  .hint = "group", .hint_rank = 5 },
	{ "hierarchy", SHOW, { 'G' }, WHERE_TABLE | WHERE_PRESENT, cmd_hierarchy, 0,
	  .help = "where rows are cgroups: those of the next hierarchy" },
	{ "tree", SHOW, { 'V', KEY_F(5) }, WHERE_TABLE, cmd_tree, 0,
	  .help = "show a tree of processes or cgroups, or a list",
	  .hint = "tree", .hint_rank = 17 },
	{ "unfold", SHOW, { '+' }, WHERE_TABLE, cmd_fold, 1,
	  .help = "expand the selected row: children, then threads" },
	{ "fold", SHOW, { '-' }, WHERE_TABLE, cmd_fold, 0,
	  .help = "collapse the selected row into its sum" },
	{ "fold-callers", SHOW, { '-', '+' }, WHERE_SITE, view_site_fold, 0,
	  .help = "hide the callers of the functions where waits began, or show them" },
	{ "fold-all", SHOW, { '*' }, WHERE_TABLE, cmd_fold_all, 0, .help = "fold or unfold all" },
	{ "command", SHOW, { 'c' }, WHERE_TABLE, cmd_command, 0,
	  .help = "show names or command lines" },
	{ "fields", SHOW, { 'f', KEY_F(2) }, WHERE_SHEET, cmd_open_fields, 0,
	  .help = "choose and order fields", .hint = "fields", .hint_rank = 14 },
	{ "preset-next", SHOW, { '\t' }, WHERE_TABLE, cmd_preset, 1,
	  .help = "next preset: waits, hangs, cpu, io, memory, states, and those of the "
	  "configuration",
	  .hint = "preset", .hint_rank = 4 },
	{ "preset-before", SHOW, { KEY_BTAB }, WHERE_TABLE, cmd_preset, -1,
	  .help = "previous preset" },
	{ "header", SHOW, { 't' }, WHERE_TABLE, cmd_header, 0,
	  .help = "fold or unfold the header" },
	{ "notes", SHOW, { 'n' }, WHERE_TABLE, cmd_notes, 0,
	  .help = "show all findings and notes (what is missing, why, the fix), or one line of "
	  "each" },

	{ "filter", WHICH, { '/', 'o', '\\', KEY_F(4) }, WHERE_TABLE, cmd_filter, 0,
	  .help = "only rows whose name or command line matches an expression",
	  .hint = "filter", .hint_rank = 9 },
	{ "users", WHICH, { 'u' }, WHERE_TABLE, cmd_users, 0, .help = "only rows of some users" },
	{ "active", WHICH, { 'i' }, WHERE_TABLE, cmd_active, 0,
	  .help = "hide rows that neither ran nor waited" },
	{ "sites-idle", WHICH, { 'i' }, WHERE_SITES, view_sites_idle, 0,
	  .help = "hide or show idle waits: in states poll, timer, child, stop and other",
	  .hint = "idle", .hint_rank = 6 },
	{ "idle", WHICH, { 'z' }, WHERE_TABLE, cmd_idle, 0,
	  .help = "show idle tasks, or fold those off screen and idle kernel threads" },
	{ "exited", WHICH, { 'e' }, WHERE_TABLE, cmd_exited, 0,
	  .help = "show or hide rows of exited tasks" },
	{ "clear", WHICH, { '=' }, WHERE_TABLE, cmd_clear, 0, .help = "clear all filters" },
	{ "find", WHICH, { 'L', KEY_F(3) }, WHERE_SHEET, cmd_find, 0,
	  .help = "select the next row whose name or command line matches, or the next site "
	  "with any matching text" },
	{ "find-line", WHICH, { '/', 'L', KEY_F(3) }, WHERE_PAGES, cmd_find, 0,
	  .help = "scroll to the next line with a text", .hint = "find", .hint_rank = 8 },
	{ "find-next", WHICH, { '&' }, WHERE_SHEET | WHERE_PAGES, cmd_find_next, 0,
	  .help = "select the next match, or scroll to it" },

	{ "interval", WHEN, { 'd', 's' }, WHERE_TIMED, cmd_interval, 0,
	  .help = "set the interval" },
	{ "sample", WHEN, { ' ' }, WHERE_TIMED, cmd_sample, 0, .help = "take a sample now" },
	{ "pause", WHEN, { 'p' }, WHERE_TIMED, cmd_pause, 0,
	  .help = "pause the figures (scrolling, sorting and filters work); in the past: play or "
	  "stop", .hint = "pause", .hint_rank = 16 },
	{ "hold", WHEN, { 'O' }, WHERE_TABLE, cmd_freeze_order, 0,
	  .help = "freeze the row order" },

	{ "step-back", PAST, { '[' }, WHERE_TIMED, cmd_step, -1,
	  .help = "back one sample in all views; sampling continues",
	  .hint = "past", .hint_keys = "[ ]", .hint_rank = 13 },
	{ "step-on", PAST, { ']' }, WHERE_TIMED, cmd_step, 1,
	  .help = "forward one sample, up to the present" },
	{ "minute-back", PAST, { '{' }, WHERE_TIMED, cmd_minute, -1, .help = "back by a minute" },
	{ "minute-on", PAST, { '}' }, WHERE_TIMED, cmd_minute, 1, .help = "forward by a minute" },
	{ "go-to", PAST, { 'B' }, WHERE_TIMED, cmd_go_to, 0,
	  .help = "go to a time, such as 14:02, 14:02:30, or -3m; to the present with none" },
	{ "slower", PAST, { '(' }, WHERE_TIMED, cmd_speed, -1,
	  .help = "halve the playback speed" },
	{ "faster", PAST, { ')' }, WHERE_TIMED, cmd_speed, 1,
	  .help = "double the playback speed" },
	{ "timeline", PAST, { 'm' }, WHERE_TABLE, cmd_timeline, 0,
	  .help = "show the timeline of pressure and total wait, also in the present" },

	{ "signal", DO, { 'k', KEY_F(9) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_signal, 0,
	  .help = "send a signal to the selected process", .hint = "signal", .hint_rank = 18 },
	{ "renice", DO, { 'r' }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, 0,
	  .help = "set the nice value of the selected thread, or of all threads of the "
	  "selected process" },
	{ "nice-less", DO, { KEY_F(7) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, -1,
	  .help = "lower the nice value (more CPU); F7 and F8 keep counting" },
	{ "nice-more", DO, { KEY_F(8) }, WHERE_TABLE | WHERE_TASK | WHERE_PRESENT, cmd_renice, 1,
	  .help = "raise the nice value (less CPU)" },
	{ "delayacct", DO, { 'D' }, WHERE_TABLE | WHERE_PRESENT, cmd_delayacct, 0,
	  .help = "switch kernel.task_delayacct on or off (persists after exit)" },
	{ "write", DO, { 'E' }, WHERE_TABLE, cmd_write, 0,
	  .help = "write the current view, past or present, to a new .text, .csv or .json file" },
	{ "save", DO, { 'W' }, WHERE_SHEET, cmd_save, 0,
	  .help = "write the current settings to the configuration file" },

	{ "save-preset", DO, { 'A' }, WHERE_TABLE, cmd_save_preset, 0,
	  .help = "save the fields, order, unit and grouping shown as a named preset, in the "
	  "configuration file" },

	{ "field", FIELDS, { ' ', '\r', KEY_ENTER }, WHERE_FIELDS, view_fields_toggle, 0,
	  .help = "show or hide the field", .hint = "show", .hint_rank = 3 },
	{ "field-up", FIELDS, { KEY_LEFT, '-' }, WHERE_FIELDS, view_fields_shift, -1,
	  .help = "move the field up", .hint = "up", .hint_rank = 4 },
	{ "field-down", FIELDS, { KEY_RIGHT, '+' }, WHERE_FIELDS, view_fields_shift, 1,
	  .help = "move the field down", .hint = "down", .hint_rank = 5 },
	{ "field-find", FIELDS, { 0 }, WHERE_FIELDS | WHERE_SORT, NULL, 0,
	  "search fields by id, heading or meaning; Esc ends",
	  .hint_keys = "a-z", .hint_rank = 6 },
	{ "field-next", FIELDS, { '/' }, WHERE_FIELDS, view_fields_find_next, 0,
	  .help = "the next field that matches", .hint = "next", .hint_rank = 7 },
	{ "sort-field", FIELDS, { '\r', KEY_ENTER, ' ' }, WHERE_SORT, view_sort_take, 0,
	  .help = "in the list of F6: sort by the field", .hint = "sort", .hint_rank = 3 },
	{ "sort-next", FIELDS, { '/' }, WHERE_SORT, view_sort_find_next, 0,
	  .help = "the next field that matches", .hint = "next", .hint_rank = 7 },
	{ "fields-default", FIELDS, { '=' }, WHERE_FIELDS, view_fields_default, 0,
	  .help = "back to the default fields", .hint = "default", .hint_rank = 8 },

	{ "help", OTHER, { 'h', KEY_F(1) }, WHERE_ALL & ~WHERE_HELP, cmd_open_help, 0,
	  .help = "this help", .hint = "help", .hint_rank = 2 },
	{ "explain", OTHER, { '?' }, WHERE_SHEET | WHERE_FIELDS | WHERE_SORT, cmd_open_help, 1,
	  .help = "explain the sort column, or the selected field, and the remedies; "
	  "then this help",
	  .hint = "column", .hint_rank = 15 },
	{ "help-too", OTHER, { '?' }, WHERE_ALL & ~WHERE_HELP & ~WHERE_SHEET & ~WHERE_FIELDS &
	  ~WHERE_SORT, cmd_open_help, 0,
	  .help = "in other views: this help" },
	{ "redraw", OTHER, { CONTROL('L') }, WHERE_ALL, cmd_redraw, 0,
	  .help = "redraw the screen" },
	{ "quit", OTHER, { 'q', KEY_F(10) }, WHERE_TABLE | WHERE_EARLY, cmd_quit, 0,
	  .help = "quit", .hint = "quit", .hint_rank = 1 },
	{ "quit-at-once", OTHER, { KEY_F(10) }, (WHERE_ALL & ~WHERE_TABLE) | WHERE_EARLY, cmd_quit, 0,
	  .help = "quit" },
};

/* clang-format on */
const size_t command_table_n = ARRAY_SIZE(command_table);
