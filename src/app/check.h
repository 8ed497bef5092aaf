/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what the options ask for can be had, before anything is started. */
#ifndef STALLTOP_APP_CHECK_H
#define STALLTOP_APP_CHECK_H

#include "app/options.h"

/* The exit status for arguments that are of no use. */
#define EXIT_USAGE 2

/*
 * Checks what options demand of each other and of the terminal, and that there are the hierarchy,
 * the control group and at least one of the processes that they name; procfd: of /proc. 0, or the
 * exit status, with a line said.
 */
int check_options(const struct options *options, int procfd);

#endif
