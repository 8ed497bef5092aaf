/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program is to do: the administrator's configuration, the user's, the command line. */
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
 * Sets options by all three, each over the one before; what is printed in place of running, and
 * batch mode, take nothing of configurations but that the administrator wants it read-only.
 * Returns false when the command line is invalid, with the reason in `why`; else `why` is what is
 * wrong with the configurations.
 */
bool settings_read(struct options *options, int argc, char **argv, struct settings_texts *texts,
		   struct buf *why);

void settings_texts_free(struct settings_texts *texts);

#endif
