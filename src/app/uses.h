/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is used when the options are followed: a screen, the machine, capabilities. */
#ifndef STALLTOP_APP_USES_H
#define STALLTOP_APP_USES_H

#include "app/options.h"

/* Whether there is a terminal for the screen. */
bool uses_terminal(void);

/* Whether the options want no screen, wherever they are given. */
bool uses_no_screen(const struct options *options);

/* Whether they are about this machine, and not about what was recorded. */
bool uses_machine(const struct options *options);

/* What capabilities are for: PRIVILEGE_ bits. */
unsigned uses_of(const struct options *options);

#endif
