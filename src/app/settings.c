/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/settings.h"

#include <stdlib.h>

#include "app/configuration_file.h"
#include "base/privileges.h"

/*
 * Sets options by the administrator's configuration. What it forbids cannot be told where it cannot
 * be understood: then all is forbidden that it could forbid.
 */
static void take_administrator(struct options *options, struct settings_texts *texts,
			       struct buf *why)
{
	if (!configuration_load(CONFIGURATION_SYSTEM, options, &texts->system, why))
		options->readonly = true;
}

/* Takes of the administrator's configuration only whether it is read-only. */
static void take_readonly(struct options *options, struct buf *why)
{
	struct settings_texts texts = { 0 };
	struct options system;

	options_default(&system);
	take_administrator(&system, &texts, why);
	options->readonly |= system.readonly;
	options_free(&system);
	settings_texts_free(&texts);
}

bool settings_read(struct options *options, int argc, char **argv, struct settings_texts *texts,
		   struct buf *why)
{
	static const unsigned configured =
		MODE_BIT(MODE_SCREEN) | MODE_BIT(MODE_RECORD) | MODE_BIT(MODE_REPLAY);
	enum mode mode;
	char *path;

	if (options_parse(options, argc, argv, why))
		return false;
	mode = options->mode;
	if (!(MODE_BIT(mode) & configured) || options->help || options->help_all ||
	    options->topic || options->version || options->list_fields ||
	    options->list_site_fields || options->dump_doc) {
		take_readonly(options, why);
		return true;
	}
	options_free(options);
	options_default(options);
	options->mode = mode;
	take_administrator(options, texts, why);
	/* Users must not choose what a program does with privileges that they lack. */
	path = privileges_foreign() ? NULL : configuration_path();
	configuration_load(path, options, &texts->user, why);
	free(path);
	/* A saved setting is a wish; only the command line asks. */
	options->grouped = false;
	/* The command line was parsed before: `why` is about the configurations. */
	return !options_override(options, argc, argv, why);
}

void settings_texts_free(struct settings_texts *texts)
{
	buf_free(&texts->system);
	buf_free(&texts->user);
}
