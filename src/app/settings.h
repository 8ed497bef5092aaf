/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings from the administrator's configuration, the user's and the command line. */
#ifndef STALLTOP_APP_SETTINGS_H
#define STALLTOP_APP_SETTINGS_H

#include <stdbool.h>

#include "app/options.h"
#include "base/buf.h"

/* The texts of both configurations, into which options point. */
struct settings_texts {
	struct buf system, user;
};

/*
 * Sets options by all three, each over the one before; batch mode, and modes that print instead of
 * running, take nothing from configurations but the administrator's read-only setting. Returns
 * false when the command line is invalid, with the reason in `why`; else `why` is what is wrong
 * with the configurations.
 */
bool settings_read(struct options *options, int argc, char **argv, struct settings_texts *texts,
		   struct buf *why);

void settings_texts_free(struct settings_texts *texts);

#endif
