/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Walks over made-up tasks in place of the program in the kernel: defines snapshot_open()
 * and what goes with it, so that a test that includes this needs no privileges. Included once a
 * test.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "bpf/snapshot.h"
#include "frame/frame.h"
#include "kernel/proc.h"
#include "read/source.h"

#define WALK_MAX 640
#define PARTS_MAX 4

/* A task as the kernel has it. parts[0] is its own, or its process's leader's. */
struct walk_task {
	struct snapshot_record parts[PARTS_MAX];
	unsigned nparts;
	bool changed; /* since the walk before */
	/* The next walk meets it at its place as it was and then at the end, as it is by now. */
	bool twice;
};

/* What the walks find, and what they were asked. */
static struct walks {
	struct walk_task tasks[WALK_MAX];
	size_t n;
	uint64_t now_ns;
	int open_error, take_error;
	unsigned fail_after; /* walks that go well before the one that has the error */
	unsigned taken, whole;
	struct snapshot_entry entries[2 * WALK_MAX];
	struct snapshot_record records[2 * WALK_MAX * PARTS_MAX];
	size_t nentries, nrecords;
	bool written[WALK_MAX]; /* whether the last walk had a record of the task */
} walks;

int snapshot_open(struct snapshot **out, bool threads, enum snapshot_way way,
		  const struct measure *measure, const struct trace *trace)
{
	(void)threads;
	(void)way;
	(void)measure;
	(void)trace;
	*out = (struct snapshot *)&walks;
	return walks.open_error;
}

void snapshot_trace(struct snapshot *snapshot, const struct trace *trace)
{
	(void)snapshot;
	(void)trace;
}

enum snapshot_way snapshot_way(const struct snapshot *snapshot)
{
	(void)snapshot;
	return SNAPSHOT_WALK;
}

/* Meets a task, and writes what it has, if that is to be. */
static inline void walk_meet(struct walk_task *task, bool write, uint64_t now_ns)
{
	walks.entries[walks.nentries++] =
		(struct snapshot_entry){ task->parts[0].pid,
					 write ? (uint32_t)walks.nrecords + 1 : 0 };
	for (unsigned i = 0; i < task->nparts && write; i++) {
		task->parts[i].read_ns = now_ns;
		walks.records[walks.nrecords++] = task->parts[i];
	}
}

int snapshot_take(struct snapshot *snapshot, unsigned how, struct snapshot_view *view)
{
	bool whole = how & SNAPSHOT_WHOLE;

	(void)snapshot;
	walks.nentries = walks.nrecords = 0;
	walks.taken++;
	walks.whole += whole;
	if (walks.take_error && !walks.fail_after--) {
		int err = walks.take_error;

		walks.take_error = 0;
		return err;
	}
	for (size_t k = 0; k < walks.n; k++) {
		struct walk_task *task = &walks.tasks[k];

		struct walk_task was = *task;

		walks.written[k] = whole || task->changed || task->twice;
		if (task->twice) {
			was.parts[0].run_ns /= 2;
			walk_meet(&was, whole || task->changed, walks.now_ns + k);
		} else {
			walk_meet(task, walks.written[k], walks.now_ns + k);
		}
		task->changed = false;
	}
	for (size_t k = 0; k < walks.n; k++) {
		if (walks.tasks[k].twice)
			walk_meet(&walks.tasks[k], true, walks.now_ns + walks.n);
		walks.tasks[k].twice = false;
	}
	*view = (struct snapshot_view){ walks.entries,	walks.nentries, walks.records,
					walks.nrecords, walks.now_ns,	walks.now_ns + walks.n };
	return 0;
}

uint64_t snapshot_syscalls(const struct snapshot *snapshot)
{
	(void)snapshot;
	return walks.taken;
}

void snapshot_pass(struct snapshot *snapshot UNUSED, size_t record UNUSED)
{
}

void snapshot_close(struct snapshot *snapshot)
{
	(void)snapshot;
}

/* The source over walks, with samples in turn. */
struct turn {
	struct source_env env;
	struct proc proc;
	void *state;
	struct sample samples[SAMPLES];
	unsigned now;
	uint64_t ticks;
};

/* Opens it; there is nobody yet. */
static inline void turn_open(struct turn *turn, bool threads)
{
	memset(turn, 0, sizeof(*turn));
	memset(&walks, 0, sizeof(walks));
	walks.now_ns = 1000 * NSEC_PER_SEC;
	turn->env.threads = threads;
	turn->proc.fd = -1;
	turn->env.proc = &turn->proc;
}

/* Adds a task at the end of the walk. */
static inline struct walk_task *walk_add(pid_t tgid, pid_t pid, uint64_t start_ns)
{
	struct walk_task *task = &walks.tasks[walks.n++];

	memset(task, 0, sizeof(*task));
	task->nparts = 1;
	task->changed = true;
	task->parts[0] = (struct snapshot_record){ .start_ns = start_ns,
						   .kinds = (1u << DELAY_KINDS) - 1,
						   .ranges = (1u << DELAY_KINDS) - 1,
						   .pid = pid,
						   .tgid = tgid,
						   .ppid = 1,
						   .uid = 1000,
						   .threads = 1,
						   .state = 1,
						   .comm = "task",
						   .cgroup = 7 };
	return task;
}

/* The task of that id. */
static inline struct walk_task *walk_find(pid_t pid)
{
	for (size_t k = 0; k < walks.n; k++)
		if (walks.tasks[k].parts[0].pid == pid)
			return &walks.tasks[k];
	die("no task %d in the walk", (int)pid);
}

/* Takes a task out of the walk. */
static inline void walk_end(pid_t pid)
{
	struct walk_task *task = walk_find(pid);

	memmove(task, task + 1, (size_t)(&walks.tasks[walks.n] - (task + 1)) * sizeof(*task));
	walks.n--;
}

/* Adds to what a part of a task has of everything. */
static inline void walk_run(struct walk_task *task, unsigned part, uint64_t ns)
{
	struct snapshot_record *record = &task->parts[part];

	record->run_ns += ns;
	record->user_ns += ns / 2;
	record->system_ns += ns / 4;
	record->children_user_ns += ns / 8;
	record->children_system_ns += ns / 16;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		record->delay[kind].ns += ns + kind;
		record->count[kind] += kind + 1;
		if (part || record->delay[kind].max < ns + kind)
			record->delay[kind].max = ns + kind;
		if (!record->delay[kind].min || record->delay[kind].min > ns)
			record->delay[kind].min = ns;
	}
	task->changed = true;
}

/* The sample before the one at hand; empty before the first. */
static inline struct sample *turn_prev(struct turn *turn)
{
	return &turn->samples[(turn->now + SAMPLES - 1) % SAMPLES];
}

/* Takes a sample into the next place, which still holds what it did three ticks ago. */
static inline int turn_tick(struct turn *turn, unsigned needs, struct sample **out)
{
	struct sample none = { 0 }, *prev = turn->ticks ? &turn->samples[turn->now] : &none, *cur;
	unsigned next = (turn->now + 1) % SAMPLES;
	int err = 0;

	if (!turn->state)
		err = source_bpf.open(&turn->env, &turn->state);
	if (err)
		return err;
	walks.now_ns += NSEC_PER_SEC;
	cur = &turn->samples[next];
	cur->begin_ns = walks.now_ns - 10;
	err = source_bpf.sample(turn->state, prev, cur, needs);
	cur->end_ns = walks.now_ns + walks.n + 10;
	*out = cur;
	if (err) {
		sample_reset(cur);
		return err;
	}
	turn->now = next;
	turn->ticks++;
	return 0;
}

/* Closes it. */
static inline void turn_close(struct turn *turn)
{
	if (turn->state)
		source_bpf.close(turn->state);
	for (unsigned i = 0; i < SAMPLES; i++)
		sample_free(&turn->samples[i]);
}

/* Takes a sample that must go well. */
static inline struct sample *turn_must(struct turn *turn, unsigned needs)
{
	struct sample *cur = NULL;

	assert_int_equal(turn_tick(turn, needs, &cur), 0);
	for (size_t i = 1; i < cur->n; i++)
		assert_true(cur->raw[i - 1]->tgid < cur->raw[i]->tgid ||
			    (cur->raw[i - 1]->tgid == cur->raw[i]->tgid &&
			     cur->raw[i - 1]->pid < cur->raw[i]->pid));
	return cur;
}

/* The element of a process. */
static inline struct task_raw *turn_element(const struct sample *sample, pid_t pid)
{
	struct task_raw *raw = sample_find(sample, pid, pid);

	assert_non_null(raw);
	return raw;
}

/* Whether the element is as in the sample before, except for the times of reading. */
static inline bool sample_unchanged(const struct sample *sample, size_t i)
{
	return sample_has_marks(sample, i) && sample->marks[i] & MARK_UNCHANGED;
}

/* Whether an element is marked as unchanged. */
static inline bool turn_kept(const struct sample *sample, pid_t pid)
{
	return sample_unchanged(sample, sample_place(sample, pid, pid));
}
