/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one row per option. Parsing, --help and the manual use the table. */
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
	MODE_SCREEN, /* of the machine, which may be recorded besides */
	MODE_RECORD, /* records when something happens, and has no screen */
	MODE_BATCH,
	MODE_METRICS, /* batch mode, by group and in counters that go on */
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
 * The program's task: setters write where the value is used. Strings belong to argv or to the
 * configuration's text, except view.fields. options_free() frees all lists.
 */
struct options {
	struct view_config view;
	struct sampler_config sampler; /* threads, brief and triggers are not set yet */
	struct watch_config watch;
	struct pattern *match; /* of view.query; NULL: all */
	const char *pattern; /* the text of match */
	const char *pids; /* that of -p */
	/* The choices of the command line; configurations cannot set what it refuses. */
	enum mode mode;
	uint64_t given; /* which options were: bits, in the order of option_table */
	bool batch;
	const struct out_ops *format;
	bool enable_delayacct;
	bool readonly; /* keys change nothing but the screen */
	const char *debug_log;
	/* Requests for output in place of running. */
	bool why, why_json; /* what suffers, and why: batch mode in that format */
	bool help, help_all, version, doctor, list_fields, list_site_fields;
	char *topic; /* of `help`; "": the list of topics; NULL: it was not asked for */
	const char *dump_doc;
	/* The command to run after "--", with its arguments; NULL: none. */
	char **command;
	struct recorder_config record; /* path NULL: nothing is recorded */
	struct replay_config replay; /* path NULL: the machine is looked at */
	struct ring_limits history; /* what the screen keeps to look back at */
	const char *diff[2]; /* the recordings to compare; NULL: none */
	bool paced, lingers; /* the interval, the time after pressure were asked for */
	/* The file to write to; NULL: samples to standard output, a report to standard error. */
	const char *output;
	const char *listen_names; /* further names of that place; NULL: none */
	const char *listen; /* where metrics are asked for; NULL: nowhere */
	size_t max_series; /* 0: the default */
	bool grouped; /* how rows are grouped was asked for, on the command line */
};

/* The sort of an option's value, for shells that complete it. */
enum option_words {
	WORDS_NONE, /* nothing can be proposed */
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
	WORDS_PRESSURE, /* what can be short */
	/* Values that shells find themselves: */
	WORDS_FILE,
	WORDS_PIDS,
	WORDS_USERS,
	WORDS_CGROUP,
	WORDS_HIERARCHY,
	OPTION_WORDS
};

/* The words that a value can be. */
struct words_row {
	const char *name; /* in the completions */
	/* The word at a place, NULL after the last, and its help if it has one. NULL: no list. */
	const char *(*word)(size_t i, const char **help);
};

extern const struct words_row words_table[OPTION_WORDS];

/* The effect of an option's value; `at` and `size` are those of a member of struct options. */
enum option_type {
	OPTION_OTHER, /* `set` takes it */
	OPTION_FLAG, /* no value: the member becomes `constant` */
	OPTION_WHOLE, /* a whole number from min to max; times `unit` it is the member */
	OPTION_SECONDS, /* a number from min to max; the member has it in ns */
	OPTION_FILE, /* the name of a file */
	OPTION_TIME, /* a time of a recording, as text: when that ends shows later */
	OPTION_WORD, /* one of `words`: the member is its place in the list, or see `pick` */
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
	const char *brief; /* the line of --help; NULL: in --help-all alone */
	enum option_type type;
	uint8_t size;
	size_t at;
	uint64_t constant, min, max, unit;
	const char *unit_name; /* NULL: it is 1 */
	enum option_words words;
	void (*pick)(struct options *options, size_t place);
	/* Takes the argument; on failure appends to why what is allowed. */
	bool (*set)(struct options *options, const char *arg, struct buf *why);
	size_t mark; /* the offset of a bool that becomes true as well; 0: none */
	/* MODE_BIT()s: modes where it has a meaning; modes that ignore it. */
	unsigned modes, passed; /* 0: a setting, which goes with all */
	const char *needs, *excludes; /* names of other options; NULL: none */
	bool barred; /* not allowed in the configuration */
	/* Keys change it, and it is written to the configuration: a bool of `view` (else: save). */
	bool saved;
	/* Appends its value; an empty one takes no line. */
	void (*save)(const struct view_config *view, struct buf *out);
};

extern const struct option_row option_table[];
extern const size_t option_table_n;

/* Settings that only the configuration has. */
extern const struct option_row setting_table[];
extern const size_t setting_table_n;

/* Sets one option. Returns false, with what is allowed appended to why, when arg is invalid. */
bool option_set(const struct option_row *row, struct options *options, const char *arg,
		struct buf *why);

/* Parses a whole number from min to max. */
bool option_parse_whole(const char *arg, uint64_t min, uint64_t max, uint64_t *number);

/* Whether an option was given. */
bool option_given(const struct options *options, const struct option_row *row);

/* Sets the defaults. */
void options_default(struct options *options);

/*
 * Applies the command line over the present options; lists that it names replace the old ones.
 * Returns 0, or -EINVAL with one line in `why`: what is wrong and what is allowed.
 */
int options_override(struct options *options, int argc, char **argv, struct buf *why);

/* Does the same over the defaults. */
int options_parse(struct options *options, int argc, char **argv, struct buf *why);

/* Whether metrics are asked for: by group, in counters that go on. */
bool options_metrics(const struct options *options);

/* The format that samples are written in. */
const struct out_ops *options_format(const struct options *options);

/* Appends the text of --help: a line for each of the usual options; all: that of --help-all. */
void options_help(struct buf *out, bool all);

/* Appends every field with unit and meaning, a line each. */
void options_fields(const struct column_table *table, struct buf *out);

/* Frees what the options own. */
void options_free(struct options *options);
