/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growth of waits between two recordings: sums by command and kind, and the report. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/util.h"
#include "frame/frame.h"
#include "out/out.h"
#include "sampler/run.h"

/* The two recordings compared. */
enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/* The waits of a command. */
struct diff_command {
	char *name; /* raw bytes; NULL: tasks without a known name */
	uint64_t ns[DIFF_SIDES][WAIT_KINDS];
};

/* The sums; zero-initialised: empty. */
struct diff {
	struct diff_command *commands; /* in the order of their names, NULL first */
	size_t n, cap;
	uint64_t interval_ns[DIFF_SIDES];
	uint64_t samples[DIFF_SIDES];
	const char *what[DIFF_SIDES]; /* the recordings' names as given */
};

/* Adds a frame folded by command. */
void diff_add(struct diff *diff, enum diff_side side, const struct frame *folded);

struct out_ops;

/* Appends the report in a format that has one. rows: maximum lines of text, 0: all. */
void diff_report(const struct diff *diff, const struct out_ops *format, enum text_charset charset,
		 size_t rows, struct buf *out);

/* One command and kind. */
struct diff_change {
	const struct diff_command *command;
	unsigned kind;
	double percent[DIFF_SIDES]; /* of the interval */
};

/* The lines of a report, largest growth first. */
struct diff_listing {
	const struct diff *diff;
	const struct diff_change *changes;
	size_t n, rows;
	enum text_charset charset; /* for text; csv and json are UTF-8 */
};

/* Appends visible changes as text; all changes as CSV; as one JSON object. */
void diff_text(struct buf *out, const struct diff_listing *listing);
void diff_csv(struct buf *out, const struct diff_listing *listing);
void diff_json(struct buf *out, const struct diff_listing *listing);

void diff_free(struct diff *diff);

/* The waits of a command, as a table and as JSON. */

/* Appends the result as a table, or as a JSON object on one line, to out->buf. */
void run_text(struct out *out, const struct run_result *result);
void run_json(struct out *out, const struct run_result *result);
