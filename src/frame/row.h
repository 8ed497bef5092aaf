/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task in an interval. Frames are made of rows, and everything displayed is derived from them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/wait_state.h"

/* How a kind's time waited is known. */
enum wait_reason {
	REASON_BOOKED, /* as accounted by the kernel, plus waits in progress */
	REASON_MEASURED, /* traced, or measured by the bpf source */
	REASON_CUT, /* more was accounted than can have been waited: the maximum possible */
	REASON_UNKNOWN, /* the accounted time cannot have been waited, and proves nothing */
	WAIT_REASONS
};

/* Their names, for programs, and in words. */
struct wait_reason_words {
	const char *id, *words;
};

extern const struct wait_reason_words wait_reason_table[WAIT_REASONS];

/* Waits of tasks, in ns. The row says which kinds are known: DELAY_BIT()s and VALID_DWAIT. */
struct waited {
	uint64_t ns[WAIT_KINDS];
	uint64_t total, mem; /* as delay_total() and delay_mem(), total with dwait */
	bool beyond; /* more blkio was accounted than pressure allows */
	uint8_t reason[WAIT_KINDS]; /* an enum wait_reason; meaningless in a sum */
};

/* The deltas of a task in the interval. */
struct deltas {
	/* row.valid has the known ones. user_ns and system_ns are run_ns, split in their ratio. */
	struct counters grown;
	struct delay_sum total, mem; /* sums of accounted delays: see delay_total(), delay_mem() */
	struct waited waited;
	struct traced traced; /* of a sum; see row.traced */
};

struct group;

/*
 * A task in the interval, or a sum of such rows. In a sum `task` and `before` are NULL, and `raw`
 * has the members' counters added up. A delta not in `valid` is unknown.
 */
struct row {
	const struct task *task;
	const struct task_raw *raw; /* counters now */
	const struct task_raw *before; /* counters at the previous reading, NULL: none */
	const struct deltas *deltas; /* never NULL; most rows share `no_deltas` */
	const struct traced *traced; /* NULL: waits are not traced, or the task was not seen by the
				      * trace */
	/* The group that it sums up; NULL: a task's row, or the sum of all displayed rows. */
	const struct group *group;
	uint64_t interval_ns; /* between the two readings; 0: there is only one */
	uint32_t valid; /* as counters.valid, of the deltas */
	uint32_t place; /* of `raw` in its sample; of a sum 0 */
	unsigned members;
	bool born, exited;
	bool unchanged; /* unchanged according to its source: all deltas are 0 */
	bool corrected; /* some accounted delay is excluded from its life */
};

/* The kinds whose time waited is known for a row: DELAY_BIT()s and VALID_DWAIT. */
static inline uint32_t row_waited(const struct row *row)
{
	uint32_t known = row->valid & (DELAY_ALL | VALID_DWAIT);

	return row->traced ? known | DELAY_BIT(DELAY_BLKIO) : known;
}
