/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one row an option. Parsing, --help and the manual walk the table. */
#ifndef STALLTOP_OPTIONS_H
#define STALLTOP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"
#include "column.h"
#include "group.h"
#include "options_when.h"

/* What the program is to do. Strings are those of argv, or of the configuration's text. */
struct options {
	bool batch;
	uint64_t iterations; /* 0: endless */
	uint64_t interval_ns;
	const struct column *sort;
	bool descending;
	const char *fields; /* checked; NULL: the default */
	enum unit unit;
	enum group_by group_by;
	const char *cgroup; /* only tasks at or below that path; NULL: all */
	pid_t *pids; /* as named; NULL: all */
	size_t npids;
	uid_t *users; /* NULL: all */
	size_t nusers;
	struct pattern *match; /* NULL: all */
	const char *pattern;   /* what match was made of */
	double over_ms;	     /* negative: all */
	bool active;
	size_t rows; /* 0: all */
	bool no_exits;
	size_t exit_buffer; /* bytes, 0: as is good */
	const char *format;
	bool since_start;
	struct when when;   /* pressure to sample at or, on the screen, to tell of */
	uint64_t linger_ns; /* how long its end is waited for */
	bool bell;	    /* the terminal rings then */
	const char *source; /* NULL: auto */
	bool enable_delayacct;
	const char *debug_log;
	const char *hierarchy; /* NULL: as hierarchy_open() chooses */
	/* Of the screen; no options of the command line, but lines of the configuration. */
	bool command_line, hide_exited, tree, fold_header;
	/* Asked for in place of running. */
	bool help, version, list_fields;
	const char *dump_doc;
	/* Behind "--": a command to run, with its arguments; NULL: none. */
	char **command;
	const char *output; /* where to its waits are written; NULL: standard error */
};

struct option_row {
	char letter; /* 0: long only */
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *standard; /* the default, as text */
	const char *help;
	/* Takes the argument; on failure what is wrong is appended to why. */
	bool (*set)(struct options *options, const char *arg, struct buf *why);
};

extern const struct option_row option_table[];
extern const size_t option_table_n;

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

void options_free(struct options *options);

#endif
