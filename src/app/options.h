/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one row an option. Parsing, --help and the manual walk the table. */
#ifndef STALLTOP_APP_OPTIONS_H
#define STALLTOP_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "data/trigger.h"
#include "model/sampler.h"
#include "view/view_config.h"

/*
 * What the program is to do: setters write where the value is used. Strings are those of argv,
 * or of the configuration's text, but for view.fields. options_free() frees all lists.
 */
struct options {
	struct view_config view;
	struct sampler_config sampler; /* threads, brief and triggers are not set yet */
	struct watch_config watch;
	struct pattern *match; /* of view.query; NULL: all */
	const char *pattern; /* what match was made of */
	bool batch;
	const char *format;
	bool enable_delayacct;
	const char *debug_log;
	/* Asked for in place of running. */
	bool help, version, list_fields;
	const char *dump_doc;
	/* Behind "--": a command to run, with its arguments; NULL: none. */
	char **command;
	/* The file to write to; NULL: samples to standard output, a report to standard error. */
	const char *output;
};

struct option_row {
	char letter; /* 0: long only */
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *standard; /* the default, as text */
	const char *help;
	/* Takes the argument; on failure what is allowed is appended to why. NULL: see flag. */
	bool (*set)(struct options *options, const char *arg, struct buf *why);
	size_t flag; /* the place of a bool in struct options that becomes true */
	bool barred; /* from the configuration */
};

extern const struct option_row option_table[];
extern const size_t option_table_n;

/* Sets one option. False, with what is allowed appended to why, when arg is not. */
bool option_set(const struct option_row *row, struct options *options, const char *arg,
		struct buf *why);

/* What holds when nothing is said. */
void options_default(struct options *options);

/*
 * Takes the command line over what is there; lists that it names replace those. 0, or -EINVAL
 * with one line of what is wrong and what is allowed in `why`.
 */
int options_override(struct options *options, int argc, char **argv, struct buf *why);

/* The same over what holds when nothing is said. */
int options_parse(struct options *options, int argc, char **argv, struct buf *why);

/* Appends the text of --help. */
void options_help(struct buf *out);

/* Appends every field with unit and meaning, a line each. */
void options_fields(struct buf *out);

/* Frees what the options own. */
void options_free(struct options *options);

#endif
