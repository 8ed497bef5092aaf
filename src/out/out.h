/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output formats of frames, of a command's report and of a diff. */
#pragma once

#include <signal.h>

#include "view/layout.h"

/*
 * All formats: one line here, and a file with the out_ops of that name. The first, the default, has
 * everything.
 */
#define OUT_FORMATS(FIRST, NEXT) \
	FIRST(text) \
	NEXT(csv) \
	NEXT(json) \
	NEXT(sqlite) \
	NEXT(folded) \
	NEXT(pprof) \
	NEXT(openmetrics) \
	NEXT(why)

#include "base/util.h"
#include "frame/group.h"
#include "history/trends.h"
#include "sampler/triggers.h"
#include "view/findings.h"
#include "view/query.h"
#include "view/view_config.h"

/* The configuration of an output. The caller keeps all of it. */
struct out_config {
	const struct view_config *view;
	enum text_charset charset; /* for text; csv and json are UTF-8 */
	unsigned width; /* of the terminal; 0: no limit */
	/* Reads data of rows that are groups: sampler_fill(). NULL: not available. */
	void (*fill)(void *arg, const struct row *const *rows, size_t n, unsigned needs);
	void *fill_arg;
	const char *past; /* how far back the frame is, in words, for text; NULL: the present */
	const char *path; /* of the file, for a format that creates it itself */
	const struct trigger_set *triggers; /* pressure to sample at; NULL: sample always */
	bool as_json; /* of why: as one line of JSON */
	size_t max_series; /* groups with metrics of their own; 0: the default */
};

/*
 * Texts of unchanged rows: made once, then copied from sample to sample. Each is a head and a tail;
 * between them is the part that belongs to the sample.
 */
struct row_text {
	uint64_t key; /* what it depends on */
	size_t at; /* in the sample's text */
	uint32_t head, between, tail; /* bytes */
};

struct row_texts {
	uint64_t still; /* what all texts of the sample depend on; 0: rows differ each time */
	struct row_text *now, *before; /* in order: of this sample, of the previous one */
	size_t n, nbefore, cap, before_cap;
	size_t next; /* of the previous ones: the one after the last that was found */
	struct buf text; /* of the previous sample */
};

struct diff_listing;
struct out_ops;
struct run_result;

struct out {
	const struct out_ops *ops;
	const struct out_config *config;
	struct grouping grouping;
	struct order order;
	struct findings findings; /* of the frame, in formats that show them */
	struct layout layout; /* resolved with the first frame, then kept */
	uint64_t frames; /* number of frames before this one */
	int error; /* -errno of a format that creates the file itself; 0: no error */
	bool problem; /* why: a frame had a problem */
	bool stacked; /* of a format of stacks: a frame had some, or could have had */
	struct buf scratch;
	struct buf buf; /* the bytes to be written */
	struct row_texts texts;
	struct trends trends; /* of the earlier frames, if requested */
	void *state; /* the format's own; NULL: none yet */
};

struct out_ops {
	const char *name;
	/*
	 * Creates the file config->path, which must not exist; NULL: bytes are written. 0 or
	 * -errno.
	 */
	int (*open)(struct out *out);
	/* The NEED_ bits of every task besides those of the query; NULL: of the fields of -F. */
	unsigned (*needs)(const struct out_config *config);
	/* Appends a frame, with its rows in out->order, to out->buf. */
	void (*frame)(struct out *out, const struct view *view);
	/* Cgroups are folded with their parent groups. */
	bool tree;
	/* It shows user stacks, and nothing else. */
	bool stacks;
	/* It shows findings. */
	bool finds;
	/* It has counters by group that continue from sample to sample: metrics. */
	bool series;
	/* Processes a frame without an interval, and may append it; NULL: it is left out. */
	void (*first)(struct out *out, const struct view *view);
	/* Frees out->state; NULL: there is none. */
	void (*close)(struct out *out);
	/* Appends the waits of a command to out->buf; NULL: not in this format. */
	void (*run)(struct out *out, const struct run_result *result);
	/* Appends the differences of two recordings; NULL: not in this format. */
	void (*diff)(struct buf *out, const struct diff_listing *listing);
};

/* All formats; ends with NULL. The first is the default. */
extern const struct out_ops *const out_registry[];

#define OUT_ONE(format) +1
enum { OUT_FORMATS_N = 0 OUT_FORMATS(OUT_ONE, OUT_ONE) };

/* Their names, for people: "text, csv". */
#define OUT_NAME_FIRST(format) #format
#define OUT_NAME_NEXT(format) ", " #format
#define OUT_FORMAT_NAMES OUT_FORMATS(OUT_NAME_FIRST, OUT_NAME_NEXT)

/* The format of that name, or NULL. */
const struct out_ops *out_by_name(const char *name);

/* Prepares an output; the configuration must outlive the output. */
void out_open(struct out *out, const struct out_ops *ops, const struct out_config *config);

/* Starts the output: a format that creates its file does so. 0 or -errno. */
int out_begin(struct out *out);

/* The NEED_ bits of every task. */
unsigned out_needs(const struct out *out);

/*
 * Processes a frame without an interval: reads the groups' own files, so that the next frame can
 * show their growth. Only formats that can show such a frame append it to out->buf.
 */
void out_prime(struct out *out, const struct frame *frame);

/* The frame processed last, folded into groups, or NULL. */
const struct frame *out_grouped(const struct out *out);

/* The findings of the last frame appended; NULL: the format has none. */
const struct findings *out_findings(const struct out *out);

/* Appends a frame to out->buf. */
void out_frame(struct out *out, const struct frame *frame);

/*
 * Writes all of out->buf and empties it. After a signal it continues as long as the reader reads.
 * Returns 0 or -errno (-EPIPE: the reader closed its end).
 */
int out_flush(struct out *out, int fd, const volatile sig_atomic_t *caught);

void out_close(struct out *out);

/* The time in ns from a trigger's last event to the frame's sample; the trigger has fired. */
uint64_t out_since_ns(const struct trigger *trigger, const struct frame_info *info);

/* The key of a row's text; 0: the text cannot be reused. */
uint64_t out_text_key(const struct out *out, const struct frame *frame, const struct row *row);

/* The previous sample's text under that key, in out->texts.text; NULL: it had none. */
const struct row_text *out_text_find(struct out *out, uint64_t key);

/*
 * Stores the text ending here for the next sample; at, head, tail: where it begins, and where its
 * head ends and its tail begins.
 */
void out_text_note(struct out *out, uint64_t key, size_t at, size_t head, size_t tail);

/* Finds the columns of `fields` that a format (IN_ bit) does not always have in every row. */
void out_named(const struct out_config *config, unsigned format, struct layout *extra);

#define OUT_DECLARE(format) extern const struct out_ops out_##format;
OUT_FORMATS(OUT_DECLARE, OUT_DECLARE)

/* Rows as lines of text, one word per cell: tables of tasks, of groups, and of sites. */

/* The cell of the row above, and its place in the buffer; end 0: none. */
struct previous_cell {
	struct value value;
	size_t begin, end;
};

/* A table being written. The caller sets all members but `above` before. */
struct text_table {
	const struct layout *layout;
	const struct view *view;
	bool whole; /* the last text has no width, whatever its column */
	struct buf *out, *scratch;
	struct previous_cell above[LAYOUT_MAX]; /* zeroed before the first row */
};

/* Ends a line, without trailing spaces. */
void text_end_line(struct buf *out);

/* Appends headings and units. */
void text_table_heads(struct text_table *table);

/*
 * Appends one row. The last column has its whole text, others a word in their width, so that lines
 * can be split at blanks.
 */
void text_table_row(struct text_table *table, const struct row *row);
