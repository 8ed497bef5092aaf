/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Ends of tasks in a scene. After cmocka.h. */

#include <string.h>

#include "read/exit_merge.h"
#include "tests/lib/scene.h"

/* When the listeners were drained: a little after each sample was taken. */
#define DRAINED(i) (SEC(100 + 2 * (i)) + MS(20))

/* Gives every counter a value of its own. */
static inline void fill(struct counters *counters, uint64_t base)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		counters->delay[kind] = (struct delay_sum){ base * 10 + kind, MS(base) + kind };
	counters->run_ns = MS(base) + 50;
	counters->user_ns = MS(3 * base);
	counters->system_ns = MS(base);
}

/* The same of a reading's. */
static inline void give(struct task_raw *raw, uint64_t base)
{
	fill(&raw->counters, base);
}

/* The end of a process's only thread between the drains of samples 0 and 1. */
static inline struct exit_record ended(pid_t pid, uint64_t start_ns, uint64_t end_ns, uint64_t base)
{
	struct exit_record record = { .pid = pid,
				      .tgid = pid,
				      .ppid = 1,
				      .uid = 1000,
				      .last = true,
				      .counters.members = 1,
				      .lo_ns = DRAINED(0),
				      .hi_ns = DRAINED(1) };

	record.life_ns = (end_ns - start_ns) / 1000 * 1000;
	memcpy(record.comm, "worker", 7);
	record.counters.valid = SCENE_VALID;
	record.single = true;
	record.counters.life_ns = record.life_ns;
	fill(&record.counters, base);
	return record;
}

/* The same of one of several threads. */
static inline struct exit_record thread_ended(pid_t tgid, pid_t pid, uint64_t start_ns,
					      uint64_t end_ns, uint64_t base)
{
	struct exit_record record = ended(pid, start_ns, end_ns, base);

	record.tgid = tgid;
	record.last = false;
	return record;
}

/* Merges ends into samples[to] and builds the frame. */
static inline void merge(struct scene *scene, unsigned to, bool threads,
			 struct exit_record *records, size_t n)
{
	struct exit_batch batch = { .records = records, .n = n, .threads = threads };

	exit_merge(&batch, to ? &scene->samples[to - 1] : NULL, &scene->samples[to]);
	scene_build(scene, to, false, 0);
}

/* The only row of that id that has ended, or that lives; NULL where there is none. */
static inline const struct row *row_of(const struct scene *scene, pid_t pid, bool exited)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < scene->frame.n; i++) {
		const struct row *row = &scene->frame.rows[i];

		if (row->raw->pid != pid || row->exited != exited)
			continue;
		assert_null(found);
		found = row;
	}
	return found;
}

/* Asserts that all deltas are those from the one base to the other (see give()). */
static inline void check_delta(const struct row *row, uint64_t from, uint64_t to)
{
	assert_non_null(row);
	assert_int_equal(row->valid | VALID_TICK, SCENE_VALID);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		assert_int_equal(row->deltas->grown.delay[kind].ns,
				 MS(to - from) + (from ? 0 : kind));
		assert_int_equal(row->deltas->grown.delay[kind].count,
				 (to - from) * 10 + (from ? 0 : kind));
	}
	assert_int_equal(row->deltas->grown.run_ns, MS(to - from) + (from ? 0 : 50));
}

/* n short-lived tasks that are alike, with counters of base 1, 2 ... */
static inline void make_alike(struct exit_record *records, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = SEC(101) + MS(10 * i);

		records[i] = ended((pid_t)(20 + i), start, start + MS(40), i + 1);
		records[i].hi_ns -= i;
	}
}

/* Says that nothing is left of any. */
static inline bool is_gone(void *arg, pid_t pid)
{
	(void)arg;
	return pid > 0;
}

/* What all rows of the frame ran together. */
static inline uint64_t run_of_all(const struct frame *frame)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < frame->n; i++)
		ns += frame->rows[i].deltas->grown.run_ns;
	return ns;
}
