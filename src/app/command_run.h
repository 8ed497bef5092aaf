/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the command that options name, and reports what it waited for. */
#ifndef STALLTOP_APP_COMMAND_RUN_H
#define STALLTOP_APP_COMMAND_RUN_H

#include "app/options.h"
#include "base/text.h"

/* Returns the command's exit status, or the one that shells use when it cannot be run. */
int command_run(const struct options *options, enum text_charset charset);

#endif
