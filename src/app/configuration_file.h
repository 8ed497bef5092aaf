/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the configuration: read at the start, written whole or not at all. */
#ifndef STALLTOP_APP_CONFIGURATION_FILE_H
#define STALLTOP_APP_CONFIGURATION_FILE_H

#include <stdbool.h>

#include "app/options.h"
#include "base/buf.h"

/*
 * Where the configuration is, for the caller to free: $XDG_CONFIG_HOME/stalltop/config, or
 * below ~/.config. NULL when neither is set.
 */
char *configuration_path(void);

/*
 * Sets options by a file; one that is not there sets nothing, nor does a path of NULL.
 * `text`, into which options point then, must outlive them. What is wrong with the file is
 * appended to `message` as one escaped line.
 */
void configuration_load(const char *path, struct options *options, struct buf *text,
			struct buf *message);

/*
 * Writes what keys change to the file of that path (NULL: there is none), and appends what came
 * of it, or the question, to `message` as one escaped line. A broken file is replaced,
 * and a link followed, by force only: what it leads to need not be a configuration. A link of
 * another user is not followed at all.
 */
enum configuration_saved configuration_save(const char *path, const struct view_config *view,
					    bool force, struct buf *message);

#endif
