/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/e2e.h"

/*
 * The program's three formats, read as strictly as the manual words them: what
 * is not as it should be fails the test. All that is returned lasts as long as
 * the test.
 */

struct samples {
	size_t n;
	json_t **v;
};

/* JSON Lines: each line an object, and whole. */
void parse_json(const struct e2e_result *r, struct samples *s);
json_t *parse_json_line(const char *line);

/* One sample of a run, in whatever surroundings; args has its interval. */
json_t *parse_sample(const struct e2e_how *how, const char *args);

/* The only sample of a short run with these arguments, which must do well. */
json_t *parse_one(const char *args);

/* The rows of the only sample of such a run, of half a second. */
json_t *parse_rows(const char *args);

/* Whether a pid is among rows. */
bool rows_have_pid(json_t *rows, pid_t pid);

/* The run ended well and said nothing on standard error. */
void check_silent_success(const struct e2e_result *r);

/* A member that must be there and be a number (an integer). */
double member_real(json_t *object, const char *name);
uint64_t member_u64(json_t *object, const char *name);
const char *member_text(json_t *object, const char *name);

/* The row of a pid, of a task that ended in the interval if there is no other; or NULL. */
json_t *task_of(json_t *sample, pid_t pid);
/* The same; fails if there is none. */
json_t *task_must(json_t *sample, pid_t pid);

/* A member that is a text, or "(none)" where it is null. */
const char *text_or_none(json_t *object, const char *name);

/* The row of the group of that name ("(none)": of those of whom none is known); or NULL. */
json_t *group_of(json_t *sample, const char *name);

/* The rows of a sample by pid, for where each of many is looked for. */
struct task_index {
	size_t n;
	struct task_entry {
		uint64_t pid;
		json_t *task;
	} * v;
};

void index_tasks(json_t *sample, struct task_index *index);
json_t *indexed_task(const struct task_index *index, uint64_t pid);

/* which: "delta" or "cumulative"; what: "count", "ns", "max_ns". */
uint64_t kind_value(json_t *task, const char *which, const char *kind, const char *what);
/* The value is null, or all of its kind is. */
bool kind_unset(json_t *task, const char *which, const char *kind, const char *what);

/* The text of a note, or NULL. */
const char *note_of(json_t *sample, const char *id);

/* RFC 4180: rows of cells, the head row among them, all of the same length. */
struct csv {
	size_t rows;
	size_t columns;
	char ***cell;
};

void parse_csv(const char *data, size_t len, struct csv *csv);
/* The column of that name; fails if there is none. */
size_t csv_column(const struct csv *csv, const char *name);
/* The first row with that pid; 0 if there is none. */
size_t csv_row(const struct csv *csv, pid_t pid);
/* The cell of a row, by column name. */
const char *csv_cell(const struct csv *csv, size_t row, const char *name);

/* Batch text: samples of header lines, heads, units, rows and the sum row. */
struct text_row {
	const char *line;
	size_t n;
	char **cell; /* the last is the command, with its spaces */
};

struct text_sample {
	size_t header_lines;
	const char **header;
	struct text_row heads;
	struct text_row units;
	size_t rows;
	struct text_row *row;
	struct text_row sum;
};

struct text {
	size_t n;
	struct text_sample *v;
};

void parse_text(const char *data, size_t len, struct text *text);
/* The cell of the row of a pid under a heading; fails if there is none. */
const char *text_cell(const struct text_sample *s, pid_t pid, const char *heading);
size_t text_column(const struct text_sample *s, const char *heading);

/*
 * The value that a text cell shows and how far off it may be by rounding: "12.3"
 * is 12.3 +- 0.05, "12k" 12000 +- 500. False for what is no number.
 */
bool cell_value(const char *cell, double *value, double *slack);
