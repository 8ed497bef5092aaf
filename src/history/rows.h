/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs for rows of a recording's tables that are not parts of a moment (moment.h). schema.c says
 * which member is which column.
 */
#ifndef STALLTOP_HISTORY_ROWS_H
#define STALLTOP_HISTORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/delay.h"
#include "data/system.h"

/* A fact about a recording: a word, or a number if the word is NULL. */
struct about_row {
	const char *name, *word;
	int64_t number;
};

/* A name with its number. */
struct named_row {
	uint32_t id;
	const char *name;
};

/* Bytes that are valid until the row is written, or another row is read. */
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

/* A line of a pressure file; path and read_ns: only of a group's file. */
struct pressure_row {
	uint32_t path, resource;
	bool full;
	struct psi_line line;
	uint64_t read_ns;
};

/* What a task did in the interval. */
struct activity_row {
	uint32_t task;
	bool ran, ticked; /* run_ns is known; user_ns and system_ns are known */
	uint64_t run_ns, user_ns, system_ns;
	int64_t drift_ns;
	char state;
	uint32_t threads;
	bool waited; /* `cpu` is set: all that it waited for a CPU was booked */
	struct delay_sum cpu;
};

/* Other waits of a task in the interval. */
struct wait_row {
	uint32_t task, kind;
	bool known, counted;
	uint64_t waited_ns, waits;
	int64_t ahead_ns; /* booked minus waited */
};

/* Waits in progress. */
struct waiting_row {
	uint32_t task, kind, threads;
	int64_t first_ns, began_ns;
	bool began; /* began_ns differs from first_ns, or is a sum over threads */
};

/* A task's counters in full. */
struct standing_row {
	uint32_t task, valid;
	unsigned members;
	bool single, exact;
	pid_t was;
	uint64_t run_ns, user_ns, system_ns, life_ns;
};

/* A sum of one kind. */
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
	bool exited, signalled; /* which of exit_code and signal it has */
	unsigned members;
	uint32_t how;
	pid_t reaper;
	bool mixed, left;
	uint32_t place;
	int64_t left_ns;
};

#endif
