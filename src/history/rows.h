/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a recording's tables as structs: those that are not parts of a moment (moment.h). Which
 * member is which column is in schema.c.
 */
#ifndef STALLTOP_HISTORY_ROWS_H
#define STALLTOP_HISTORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/delay.h"
#include "data/system.h"

/* What is told of a recording: a word, or a number where that is NULL. */
struct about_row {
	const char *name, *word;
	int64_t number;
};

/* A name with its number. */
struct named_row {
	uint32_t id;
	const char *name;
};

/* Bytes that stay until the row is written, or another row is read. */
struct row_bytes {
	const void *data;
	size_t len;
};

struct text_row {
	uint32_t id;
	struct row_bytes value;
};

struct file_error_row {
	const char *file;
	int error; /* -errno */
};

struct gap_row {
	uint64_t dropped;
};

struct noted_row {
	uint32_t number;
	const char *name;
	int64_t value;
	int error; /* -errno; 0: not known */
};

struct clock_row {
	uint32_t number;
	int64_t real_ns;
	uint64_t from_ns;
	int64_t ahead_ns;
};

/* A line of a pressure file; path and read_ns: of a group's. */
struct pressure_row {
	uint32_t path, resource;
	bool full;
	struct psi_line line;
	uint64_t read_ns;
};

/* What a task did in the interval. */
struct activity_row {
	uint32_t task;
	bool ran, ticked; /* run_ns, and the others, are known */
	uint64_t run_ns, user_ns, system_ns;
	int64_t drift_ns;
	char state;
	uint32_t threads;
	bool waited; /* what it waited for a CPU stands here: all of it was booked */
	struct delay_sum cpu;
};

/* What else it waited. */
struct wait_row {
	uint32_t task, kind;
	bool known, counted;
	uint64_t waited_ns, waits;
	int64_t ahead_ns; /* booked beyond what was waited */
};

/* Waits in progress. */
struct waiting_row {
	uint32_t task, kind, threads;
	int64_t first_ns, began_ns;
	bool began; /* began_ns is another than first_ns, or of several threads */
};

/* A task's counters as they are. */
struct standing_row {
	uint32_t task, valid;
	unsigned members;
	bool single, exact;
	pid_t was;
	uint64_t run_ns, user_ns, system_ns, life_ns;
};

/* A sum of a kind. */
struct sum_row {
	uint32_t task, kind;
	struct delay_sum sum;
};

struct children_row {
	uint32_t task;
	uint64_t user_ns, system_ns;
};

struct ended_row {
	uint32_t task, status, exit_code, signal;
	bool exited, signalled; /* which of the two it has */
	unsigned members;
	uint32_t how;
	pid_t reaper;
	bool mixed, left;
	uint32_t place;
	int64_t left_ns;
};

#endif
