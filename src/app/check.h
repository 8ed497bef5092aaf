/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether what the options ask for is available, before anything is started. */
#ifndef STALLTOP_APP_CHECK_H
#define STALLTOP_APP_CHECK_H

#include "app/options.h"

/* The exit status for invalid arguments. */
#define EXIT_USAGE 2

/*
 * Checks options against each other and against the terminal, and that the hierarchy, the control
 * group and at least one of the processes that they name exist. procfd is /proc. Returns 0, or the
 * exit status after printing a line.
 */
int check_options(const struct options *options, int procfd);

#endif
