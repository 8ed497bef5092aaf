/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes of the program, their options, and the capabilities they use. */
#pragma once

#include "app/options.h"

/* Determines the mode from the options: options.mode. */
enum mode options_mode(const struct options *options);

/* True if an option is permitted in a mode, even if it has no effect there. */
bool option_goes(const struct option_row *row, enum mode mode);

/*
 * Checks for options (or a format) not permitted in this mode or together; appends the first
 * conflict and what the option is for.
 */
bool options_clash(const struct options *options, struct buf *why);

/* True if there is a terminal for the screen. */
bool uses_terminal(void);

/* True if the options want no screen, wherever they are given. */
bool uses_no_screen(const struct options *options);

/* True if they are about this machine, and not about a recording. */
bool uses_machine(const struct options *options);

/* The uses of capabilities: PRIVILEGE_ bits. */
unsigned uses_of(const struct options *options);

/* Keeps the capabilities for these uses only. Returns false, with a line printed, on failure. */
bool uses_keep(unsigned uses);

/* Checks whether everything the options need is available, before anything is started. */

/* The exit status for invalid arguments. */
#define EXIT_USAGE 2

/*
 * Checks options against each other and against the terminal, and that the hierarchy, the cgroup
 * and at least one of the processes that they name exist. procfd is /proc. Returns 0, or the exit
 * status after printing a line.
 */
int check_options(const struct options *options, int procfd);
