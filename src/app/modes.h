/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes of the program, the options that go with each, and what it then uses. */
#pragma once

#include "app/options.h"

/* Finds out what the options ask for: options.mode. */
enum mode options_mode(const struct options *options);

/* Whether an option goes with a mode, if only to be passed over. */
bool option_goes(const struct option_row *row, enum mode mode);

/*
 * Checks for options (or a format) not allowed in this mode or together; appends the first conflict
 * and what the option is for.
 */
bool options_clash(const struct options *options, struct buf *why);

/* Whether there is a terminal for the screen. */
bool uses_terminal(void);

/* Whether the options want no screen, wherever they are given. */
bool uses_no_screen(const struct options *options);

/* Whether they are about this machine, and not about what was recorded. */
bool uses_machine(const struct options *options);

/* The uses of capabilities: PRIVILEGE_ bits. */
unsigned uses_of(const struct options *options);

/* Keeps the capabilities for these uses alone. Returns false, with a line printed, on failure. */
bool uses_keep(unsigned uses);

/* Checks whether what the options ask for is available, before anything is started. */

/* The exit status for invalid arguments. */
#define EXIT_USAGE 2

/*
 * Checks options against each other and against the terminal, and that the hierarchy, the control
 * group and at least one of the processes that they name exist. procfd is /proc. Returns 0, or the
 * exit status after printing a line.
 */
int check_options(const struct options *options, int procfd);
