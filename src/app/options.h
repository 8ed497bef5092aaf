/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one row per option, used for parsing, --help and the manual. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/trigger.h"
#include "history/recorder.h"
#include "history/replay.h"
#include "history/ring.h"
#include "out/out.h"
#include "sampler/sampler.h"
#include "view/view_config.h"

/* Modes of the program. */
enum mode {
	MODE_SCREEN, /* of the machine, which may be recorded as well */
	MODE_RECORD, /* records when something happens, and has no screen */
	MODE_BATCH,
	MODE_METRICS, /* batch mode, by group and in cumulative counters */
	MODE_LISTEN,
	MODE_REPLAY, /* a recording on the screen */
	MODE_REPLAY_BATCH,
	MODE_REPLAY_METRICS,
	MODE_COMMAND,
	MODE_DIFF,
	MODES
};

#define MODE_BIT(mode) (1U << (mode))

/*
 * The program's task: setters write into the struct that uses the value. Strings belong to argv or
 * to the configuration's text, except view.fields. options_free() frees all lists.
 */
struct options {
	struct view_config view;
	struct sampler_config sampler; /* threads, brief and triggers are not set yet */
	struct watch_config watch;
	struct pattern *match; /* of view.query; NULL: all */
	const char *pattern; /* the text of match */
	const char *pids; /* that of -p */
	/* The command line's own choices; configurations cannot set what it forbids. */
	enum mode mode;
	uint64_t given; /* which options were: bits, in the order of option_table */
	bool batch;
	const struct out_ops *format;
	bool enable_delayacct;
	bool readonly; /* keys change nothing but the screen */
	const char *debug_log;
	/* Requests for output instead of running. */
	bool why, why_json; /* what is delayed, and why: batch mode in that format */
	bool help, help_all, version, doctor, schema, list_fields, list_site_fields;
	char *topic; /* of `help`; "": the list of topics; NULL: not requested */
	const char *dump_doc;
	/* The command to run after "--", with its arguments; NULL: none. */
	char **command;
	struct recorder_config record; /* path NULL: nothing is recorded */
	struct replay_config replay; /* path NULL: the machine is watched */
	struct ring_limits history; /* the screen's history */
	const char *diff[2]; /* the recordings to compare; NULL: none */
	bool paced, lingers; /* the interval, the time after pressure were given */
	/* The file to write to; NULL: samples to standard output, a report to standard error. */
	const char *output;
	const char *listen_names; /* further names of that address; NULL: none */
	const char *listen; /* where metrics are served; NULL: nowhere */
	size_t max_series; /* 0: the default */
	bool grouped; /* the grouping was given on the command line */
};

/* The kind of an option's value, for shell completion. */
enum option_words {
	WORDS_NONE, /* no proposals */
	WORDS_FIELD, /* a field, with or without a sign */
	WORDS_FIELDS, /* fields separated by commas */
	WORDS_SITE_FIELD, /* the same, of sites */
	WORDS_SITE_FIELDS,
	WORDS_UNIT,
	WORDS_GROUPING,
	WORDS_FORMAT,
	WORDS_SOURCE,
	WORDS_MEASURE,
	WORDS_THEME,
	WORDS_PRESSURE, /* some abbreviations */
	/* Values that shells find themselves: */
	WORDS_FILE,
	WORDS_PIDS,
	WORDS_USERS,
	WORDS_CGROUP,
	WORDS_HIERARCHY,
	OPTION_WORDS
};

/* The possible words of a value. */
struct words_row {
	const char *name; /* in the completions */
	/* The word of an index, NULL after the last, and its help if it has one. NULL: no list. */
	const char *(*word)(size_t i, const char **help);
};

extern const struct words_row words_table[OPTION_WORDS];

/* What an option's value does; `at` and `size` are those of a member of struct options. */
enum option_type {
	OPTION_OTHER, /* `set` parses it */
	OPTION_FLAG, /* no value: the member becomes `constant` */
	OPTION_WHOLE, /* an integer from min to max; times `unit` it is the member */
	OPTION_SECONDS, /* a number from min to max; the member has it in ns */
	OPTION_FILE, /* the name of a file */
	OPTION_TIME, /* a time of a recording, as text: resolved when the recording's end is
		      * known */
	OPTION_WORD, /* one of `words`: the member is its index in the list, or see `pick` */
};

/* The parts of --help and of the manual. */
enum option_part {
	PART_WATCH,
	PART_SHOW,
	PART_BATCH,
	PART_PAST,
	PART_TRACING,
	PART_OTHER,
	OPTION_PARTS
};

/* The heading of each part. */
extern const char *const option_parts[OPTION_PARTS];

struct option_row {
	char letter; /* 0: long only */
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *standard; /* the default, as text */
	const char *help;
	enum option_part part;
	const char *brief; /* the line of --help; NULL: only in --help-all */
	enum option_type type;
	uint8_t size;
	size_t at;
	uint64_t constant, min, max, unit;
	const char *unit_name; /* NULL: it is 1 */
	enum option_words words;
	void (*pick)(struct options *options, size_t place);
	/* Parses the argument; on failure appends the valid values to why. */
	bool (*set)(struct options *options, const char *arg, struct buf *why);
	size_t mark; /* the offset of a bool that becomes true as well; 0: none */
	/* MODE_BIT()s: modes where it has an effect; modes that ignore it. */
	unsigned modes, passed; /* 0: a setting, permitted with all */
	const char *needs, *excludes; /* names of other options; NULL: none */
	bool barred; /* not allowed in the configuration */
	/* Keys change it, and it is written to the configuration: a bool of `view` (else: save). */
	bool saved;
	/* Appends its value; an empty one is not written. */
	void (*save)(const struct view_config *view, struct buf *out);
};

extern const struct option_row option_table[];
extern const size_t option_table_n;

/* Settings that exist only in the configuration. */
extern const struct option_row setting_table[];
extern const size_t setting_table_n;

/* Sets one option. Returns false, with the valid values appended to why, if arg is invalid. */
bool option_set(const struct option_row *row, struct options *options, const char *arg,
		struct buf *why);

/* Parses a whole number from min to max. */
bool option_parse_whole(const char *arg, uint64_t min, uint64_t max, uint64_t *number);

/* True if an option was given. */
bool option_given(const struct options *options, const struct option_row *row);

/* Sets the defaults. */
void options_default(struct options *options);

/*
 * Applies the command line over the present options; lists in it replace the old ones. Returns 0,
 * or -EINVAL with one line in `why`: the error and the valid values.
 */
int options_override(struct options *options, int argc, char **argv, struct buf *why);

/* Does the same over the defaults. */
int options_parse(struct options *options, int argc, char **argv, struct buf *why);

/* True if metrics are requested: by group, in cumulative counters. */
bool options_metrics(const struct options *options);

/* The format that samples are written in. */
const struct out_ops *options_format(const struct options *options);

/* Appends the text of --help: one line per usual option; all: that of --help-all. */
void options_help(struct buf *out, bool all);

/* Appends every field with unit and meaning, one per line. */
void options_fields(const struct column_table *table, struct buf *out);

/* Frees what the options own. */
void options_free(struct options *options);
