/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that live, end and are reaped from sample to sample, for the tests of what adds up.
 * A PLAY_TEST()'s state is the struct play.
 */
#pragma once

#include "frame/account.h"
#include "tests/lib/calls.h"
#include "tests/lib/scene.h"
#include "tests/lib/tree.h"

#define INIT 1
#define SHELL 100

#define TAKES_MAX 8
#define ENDS_MAX 4
#define STAT_SYSCALLS 3

#define ALL ACCOUNT_SEEN_ALL
#define SOME ACCOUNT_SEEN_SOME
#define LOST ACCOUNT_SEEN_LOST

/* One that left no more than its exit record. */
struct end {
	pid_t pid, ppid, reaper;
	unsigned members;
	uint64_t run_ns;
	bool mixed;
};

/* Samples one after the other, 2 s apart, and the sums over them. */
struct play {
	struct tree *tree;
	struct account_reader reader;
	struct sample samples[TAKES_MAX];
	unsigned n; /* the sample that is being made */
	struct end ends[ENDS_MAX];
	unsigned nends;
	struct frame frame;
	struct frame_info info; /* of the frame */
	struct account account; /* of the last interval */
	int64_t shown_ns, recovered_ns;
	uint64_t calls; /* of the reader, so far */
};

/* Nobody is there yet. */
static inline int play_setup(void **state)
{
	struct play *play = xcalloc(1, sizeof(*play));
	void *tree;

	if (make_tree(&tree))
		return -1;
	play->tree = tree;
	play->reader = (struct account_reader){ .proc = play->tree->proc, .tick_ns = MS(10) };
	play->samples[0].begin_ns = SEC(100);
	*state = play;
	return 0;
}

/* Everybody goes. */
static inline int play_teardown(void **state)
{
	struct play *play = *state;
	void *tree = play->tree;

	for (unsigned i = 0; i < TAKES_MAX; i++)
		sample_free(&play->samples[i]);
	frame_free(&play->frame);
	free(play);
	return remove_tree(&tree);
}

/* A test of this kind. */
#define PLAY_TEST(name) TEST_WITH(name, play_setup, play_teardown)

/* Sets what a process's children ran that it has reaped so far. */
static inline void reaped(const struct play *play, pid_t pid, unsigned ms)
{
	unsigned ticks = ms / 10;
	char path[32], text[256];

	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	snprintf(text, sizeof(text),
		 "%d (x) S 1 7 7 0 -1 0 11 12 13 14 70000 80000 %u %u 20 0 1 0 "
		 "9022 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 17 1 0 0 42 43 44 45 46 47 48 "
		 "49 50 51 52\n",
		 (int)pid, ticks - ticks / 3, ticks / 3);
	put_text(play->tree, path, text);
}

/* Adds a living process, after those with lower pids: known by its pid if it was there before. */
static inline struct task_raw *lives(struct play *play, pid_t pid, pid_t ppid, unsigned run_ms)
{
	struct sample *cur = &play->samples[play->n];
	const struct task_raw *before = play->n ? sample_find(&cur[-1], pid, pid) : NULL;
	uint64_t start_ns = play->n ? cur[-1].begin_ns + MS(1) : SEC(1);
	char path[32];
	struct task_raw *raw;

	raw = before ? scene_again(cur, before) : scene_add(cur, pid, pid, start_ns);
	raw->exited = false;
	raw->counters.run_ns = MS(run_ms);
	raw->task->ppid = ppid;
	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	if (faccessat(play->tree->fd, path, F_OK, 0))
		reaped(play, pid, 0);
	return raw;
}

/* Adds one that has the pid of another, which was there before. */
static inline void lives_anew(struct play *play, pid_t pid, pid_t ppid, unsigned run_ms)
{
	struct task_raw *raw = lives(play, pid, ppid, run_ms);

	task_unref(raw->task);
	raw->task = task_new((struct task_key){ pid, raw->read_ns - MS(1) }, pid);
	raw->task->ppid = ppid;
}

/* Adds a process whose exit record came, and that is still there. */
static inline void is_zombie(struct play *play, pid_t pid, pid_t ppid, unsigned run_ms)
{
	lives(play, pid, ppid, run_ms)->exited = true;
}

/* Has processes end and go, with records of that much run time together. */
static inline void end_many(struct play *play, pid_t pid, pid_t ppid, unsigned members,
			    unsigned run_ms)
{
	assert_true(play->nends < ENDS_MAX);
	play->ends[play->nends++] = (struct end){ pid, ppid, ppid, members, MS(run_ms), false };
}

/* Has one end and go. */
static inline void ends(struct play *play, pid_t pid, pid_t ppid, unsigned run_ms)
{
	end_many(play, pid, ppid, 1, run_ms);
}

/* Has the child of one that is not there any more end and go. */
static inline void ends_below(struct play *play, pid_t pid, pid_t ppid, pid_t reaper,
			      unsigned run_ms)
{
	ends(play, pid, ppid, run_ms);
	play->ends[play->nends - 1].reaper = reaper;
}

/* Adds the elements of those that left. */
static inline void leave(struct play *play, const struct sample *prev, struct sample *cur)
{
	sample_add_exited(cur, play->nends);
	for (unsigned i = 0; i < play->nends; i++) {
		const struct end *end = &play->ends[i];
		struct task_raw *before = sample_find(prev, end->pid, end->pid);
		struct task_raw *raw = cur->raw[cur->n + i];
		struct task_key key = { end->pid, prev->begin_ns + MS(1) };

		*raw = (struct task_raw){ .tgid = end->pid,
					  .pid = end->pid,
					  .exited = true,
					  .read_ns = key.start_ns + MS(1),
					  .counters = { .members = end->members,
							.run_ns = end->run_ns,
							.valid = SCENE_VALID } };
		raw->task = before ? task_ref(before->task) : task_new(key, end->pid);
		raw->task->ppid = end->ppid;
		raw->task->reaper = end->reaper;
		raw->task->mixed = end->mixed;
	}
	play->nends = 0;
}

/* Ends the interval: nothing may come after in that sample. */
static inline void take(struct play *play, enum account_seen seen)
{
	struct frame_options options = { 0 };
	struct sample *cur = &play->samples[play->n], *prev = play->n ? cur - 1 : NULL;

	if (prev)
		leave(play, prev, cur);
	play->account = (struct account){ 0 };
	play->calls += CALLS_OF(account_reap(&play->reader, prev, cur, seen, &play->account));
	play->recovered_ns += play->account.recovered_ns;
	frame_build(&play->frame, &play->info, prev, cur, &options);
	for (size_t i = 0; i < play->frame.n; i++)
		play->shown_ns += (int64_t)play->frame.rows[i].deltas->grown.run_ns;
	play->n++;
	assert_true(play->n < TAKES_MAX);
	play->samples[play->n].begin_ns = SEC(100 + 2 * play->n);
}

/* Starts a sample: init and its child, the shell, are always there. */
static inline void open_scene(struct play *play)
{
	lives(play, INIT, 0, 0);
	lives(play, SHELL, INIT, 0);
}

/* Starts a sample with the shell and a child of it that ends nowhere. */
static inline void open_two(struct play *play)
{
	open_scene(play);
	lives(play, 150, SHELL, 0);
}

/* The first sample has them alone. */
static inline void prime(struct play *play)
{
	open_scene(play);
	take(play, ALL);
}

/* The first sample has a child of the shell, too, and its child. */
static inline void prime_family(struct play *play)
{
	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 301, 201, 0);
	take(play, ALL);
}

/* Ends the interval. It must have recovered that much. */
static inline void take_recovered(struct play *play, int ms)
{
	take(play, ALL);
	assert_true(play->account.recovered_valid);
	if (play->account.recovered_ns != ms * INT64_C(1000000))
		fail_msg("interval %u: %lld ns recovered, not %d ms", play->n - 1,
			 (long long)play->account.recovered_ns, ms);
}

/* Rows and what was recovered must be what was run since the first sample. */
static inline void assert_run(const struct play *play, int ms)
{
	if (play->shown_ns + play->recovered_ns != ms * INT64_C(1000000))
		fail_msg("%lld ns shown, %lld ns recovered, together not %d ms",
			 (long long)play->shown_ns, (long long)play->recovered_ns, ms);
}

/* Nothing is left to be found in one more interval, and assert_run(). */
static inline void finish(struct play *play, int ms)
{
	open_scene(play);
	take_recovered(play, 0);
	assert_run(play, ms);
}
