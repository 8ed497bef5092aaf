/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a configuration: lines `name = value`, named as the long options, and comments (#).
 * Unknown names are kept. Options take values from here as from the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "app/options.h"
#include "base/util.h"

/* The errors of a configuration, as escaped text. */
struct configuration_faults {
	size_t broken; /* number of lines */
	struct buf why; /* the first of them: "line 3: ..." */
	struct buf unknown; /* unknown names, which are kept; each once, separated by ", " */
};

/*
 * Sets options by the lines of a text. A broken line sets nothing. The text's bytes are modified,
 * and options point into it from then on. It needs room for one more byte past its end.
 */
void configuration_apply(char *text, size_t len, struct options *options,
			 struct configuration_faults *faults);

/*
 * Appends the text without its settings, followed by those of `view`; if there is a preset (NULL:
 * none), only the preset of its name is replaced. All other lines stay, broken ones as comments.
 */
void configuration_rewrite(const char *text, size_t len, const struct view_config *view,
			   const struct preset *preset, struct buf *out);

/* Appends the names of the settings that are written, after a colon. */
void configuration_append_names(const struct view_config *view, struct buf *out);

/* Finds the errors of a text. */
void configuration_check(const char *text, size_t len, struct configuration_faults *faults);

void configuration_faults_free(struct configuration_faults *faults);

/* The file: read at the start, written completely or not at all. */

/*
 * The path of the configuration, which the caller frees: $XDG_CONFIG_HOME/stalltop/config, or below
 * ~/.config. NULL when neither is set.
 */
char *configuration_path(void);

/* The administrator's configuration, which is read before every user's. */
#define CONFIGURATION_SYSTEM "/etc/stalltop/config"

/*
 * Sets options by a file; a missing file or a path of NULL sets nothing. Options point into `text`,
 * which must outlive them. Appends the file's errors to `message` as one escaped line, and returns
 * false if it is unreadable or has broken lines.
 */
bool configuration_load(const char *path, struct options *options, struct buf *text,
			struct buf *message);

/*
 * Writes the settings that keys change to the file of that path (NULL: there is none), and appends
 * the outcome, or the question, to `message` as one escaped line. Replaces a broken file, or
 * follows a link, only by force: its target need not be a configuration. Never follows a link of
 * another user.
 */
enum configuration_saved configuration_save(const char *path, const struct view_config *view,
					    bool force, struct buf *message);

/* Does the same for one preset: all other settings stay as they are in the file. */
enum configuration_saved configuration_save_preset(const char *path, const struct preset *preset,
						   bool force, struct buf *message);

/* Settings from the administrator's configuration, the user's and the command line. */

/* The texts of both configurations, into which options point. */
struct settings_texts {
	struct buf system, user;
};

/*
 * Sets options by all three, each overriding the previous ones; batch mode, and modes that print
 * instead of running, use nothing of configurations but the administrator's read-only setting.
 * Returns false if the command line is invalid, with the reason in `why`; else `why` has the errors
 * of the configurations.
 */
bool settings_read(struct options *options, int argc, char **argv, struct settings_texts *texts,
		   struct buf *why);

void settings_texts_free(struct settings_texts *texts);
