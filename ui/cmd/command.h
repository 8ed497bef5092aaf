/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands, one row per command, in keys.c: used for keys, help, footer and the manual's table
 * of keys.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "base/util.h"
#include "ui/state/ui.h"

#define COMMAND_KEYS 4

/* The group of commands that act on the machine, or write: disabled by --readonly. */
#define COMMAND_ACTS "Acting"

struct command {
	const char *name; /* such as "sort-cpu" */
	const char *group; /* its section in help */
	/* A character below 128, or a KEY_ of ncurses; 0: none, then hint_keys explains it. */
	int keys[COMMAND_KEYS];
	unsigned where; /* the WHERE_ bits of the views that have the command */
	/* Runs the command; returns reactions. */
	unsigned (*run)(struct ui *ui, int arg);
	int arg;
	const char *help;
	const char *hint; /* shown in the footer, as "KEY hint"; NULL: not shown */
	const char *hint_keys; /* replaces the first key's name; NULL: does not */
	unsigned hint_rank; /* the turn in which it gets a place there, from 1 on, if there is
			     * room */
};

extern const struct command command_table[];
extern const size_t command_table_n;

/* True if the command acts on the machine, or writes. */
static inline bool command_acts(const struct command *command)
{
	return !strcmp(command->group, COMMAND_ACTS);
}

/* True if the command is available on this screen. */
bool command_is_allowed(const struct ui *ui, const struct command *command);

/* Appends the names of all the command's keys, separated by ", ". */
void command_append_keys(const struct command *command, struct buf *out);

/* Draws a view's footer: as many hints as fit into the line, most important first. */
void command_footer(struct ui *ui, unsigned where, int line);

/* Appends the manual's table of keys as roff (man(7)). */
void command_doc(struct buf *out);

/* Effect of a key or the mouse: answers a prompt, or runs a command of the top view. */

/*
 * Handles one key. Actions on tasks, the machine or files have the caller's privileges only, and
 * are disabled in the past or if everything is read-only. Returns REACT_ bits.
 */
unsigned key_press(struct ui *ui, const struct term_key *key);
