/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what failed in a run, of what the options name. */
#ifndef STALLTOP_APP_FAILURE_H
#define STALLTOP_APP_FAILURE_H

#include "app/batch.h"
#include "app/options.h"

/* Writes to standard error where batch mode failed. */
void print_batch_failure(const struct options *options, enum batch_failure failure, int err);

#endif
