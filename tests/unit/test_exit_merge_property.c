// SPDX-License-Identifier: GPL-2.0-or-later
/* Whatever tasks do between readings and drains, what they did is counted exactly once. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "tests/lib/departing.h"

#define LIVES 400
#define INTERVALS 60
#define PID_FIRST 300
#define PID_LAST 1000

/* The first sample and its drain are over. */
#define BEGUN SEC(101)

/* A life as the kernel knows it. */
struct life {
	pid_t tgid, pid;
	uint64_t start, end, sent, reaped;
	bool several; /* a process of threads: its record brings the sum, its zombie reads 0 */
	bool last;
	uint64_t shown, expected; /* waits by the rows' deltas, and those that there were */
	unsigned exited;
};

/* All that lives, and how it is looked at. */
struct world {
	uint64_t seed;
	struct life lives[LIVES];
	size_t n;
	bool threads;
	unsigned names; /* so many different ones: alike tasks are folded */
	uint64_t drained; /* the last time */
	unsigned folded; /* rows of more than one task */
	struct sample samples[2];
	struct frame frame;
	struct frame_info info; /* of the frame */
	struct exit_record records[3 * LIVES];
	size_t nrecords;
};

/* Pseudo-random numbers below n, the same in every run. */
static uint64_t roll(struct world *world, uint64_t n)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 7;
	world->seed ^= world->seed << 17;
	return (world->seed >> 11) % n;
}

/* How much it waited until then. */
static uint64_t waited(const struct life *life, uint64_t at)
{
	uint64_t lived = (at < life->end ? at : life->end) - life->start;

	return lived / (life->several ? 1 : 4);
}

/* Gives a reading the counters that the task had then. */
static void count(struct counters *counters, const struct life *life, uint64_t at)
{
	uint64_t ns = waited(life, at);

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		counters->delay[kind] = (struct delay_sum){ ns / 1000 + kind, ns };
	counters->run_ns = ns;
	counters->valid = SCENE_VALID;
}

/* Writes the name of a life: its number, or that of its sort. */
static void name(const struct world *world, const struct life *life, char *comm)
{
	snprintf(comm, 16, "%u", (unsigned)(life - world->lives) % world->names);
}

/* How long something takes: moments, the time of an interval, or many of those. */
static uint64_t make_life(struct world *world)
{
	static const uint64_t lengths[] = { MS(1), MS(50), SEC(3), SEC(20) };

	return 1000 + roll(world, lengths[roll(world, 4)]);
}

/* When what began then ends: not before there was something to compare with. */
static uint64_t make_end(struct world *world, uint64_t start)
{
	uint64_t from = start < BEGUN ? BEGUN : start;

	return from + make_life(world);
}

/* The lowest pid that has been free for as long as it takes to go through all others. */
static pid_t find_pid(const struct world *world, uint64_t at)
{
	for (pid_t pid = PID_FIRST;; pid++) {
		bool free = true;

		for (size_t i = 0; i < world->n; i++)
			free &= world->lives[i].pid != pid ||
				world->lives[i].reaped + MS(1100) < at;
		if (free)
			return pid;
	}
}

/* Lets processes of one row each come and go, each at a time of its own. */
static void make_processes(struct world *world)
{
	uint64_t at = SEC(95);

	for (world->n = 0; world->n < LIVES;) {
		struct life *life = &world->lives[world->n];

		at += roll(world, MS(400));
		*life = (struct life){ .start = at, .end = make_end(world, at), .last = true };
		life->sent = life->end + (roll(world, 8) ? 0 : roll(world, MS(50)));
		life->reaped = life->sent + 1 + (roll(world, 2) ? 0 : make_life(world) / 4);
		life->several = !roll(world, 4);
		life->pid = life->tgid = find_pid(world, at);
		world->n++;
	}
}

/* Lets processes of some threads come and go; leaders may end first, and stay till the last. */
static void make_threads(struct world *world)
{
	pid_t pid = PID_FIRST;
	uint64_t at = SEC(95);

	for (world->n = 0; world->n + 5 <= LIVES;) {
		struct life *leader = &world->lives[world->n], *last = leader;
		unsigned threads = 1 + (unsigned)roll(world, 5);
		uint64_t start = at += roll(world, SEC(1));

		for (unsigned i = 0; i < threads; i++) {
			struct life *life = &world->lives[world->n++];

			*life = (struct life){ .start = start,
					       .end = make_end(world, start),
					       .pid = pid++,
					       .tgid = leader->pid };
			life->tgid = leader->pid;
			life->sent = life->end;
			life->reaped = life->end + 1;
			last = life->end > last->end ? life : last;
			/* The next one begins while this process lives. */
			start += roll(world, last->end - start);
		}
		last->last = true;
		leader->reaped = last->end + 1 + (roll(world, 2) ? 0 : make_life(world) / 4);
	}
}

/* Appends a life's exit record, and ends of threads of it that are none of the process's. */
static void send_record(struct world *world, const struct life *life, uint64_t now)
{
	for (unsigned i = 0; i < (life->several ? 3 : 1); i++) {
		struct exit_record record = ended(life->tgid, life->start, life->end, 0);

		record.pid = life->pid;
		record.last = life->last;
		record.lo_ns = world->drained;
		record.hi_ns = now;
		name(world, life, record.comm);
		count(&record.counters, life, life->end);
		record.single = !life->several;
		record.counters.life_ns = life->several ? 0 : record.counters.life_ns;
		if (life->several && i < 2) {
			record.pid += 1000 * (pid_t)(i + 1);
			record.last = record.single = false;
		}
		world->records[world->nrecords++] = record;
	}
}

/* Takes the records of all that ended since the last drain. */
static void drain(struct world *world, uint64_t now)
{
	for (size_t i = 0; i < world->n; i++)
		if (world->lives[i].sent > world->drained && world->lives[i].sent <= now)
			send_record(world, &world->lives[i], now);
	world->drained = now;
}

/* Reads one task, if it is there. */
static void read_life(struct world *world, struct sample *cur, const struct sample *prev,
		      const struct life *life, uint64_t at)
{
	const struct task_raw *before = sample_find(prev, life->tgid, life->pid);
	struct task_raw *raw;
	char comm[16];

	if (at < life->start || at >= life->reaped)
		return;
	raw = sample_add(cur, life->tgid, life->pid);
	raw->read_ns = at;
	/* A task is known again by what its record said of its start, too. */
	if (before && before->task->start_lo <= life->start &&
	    before->task->start_hi >= life->start)
		raw->task = task_ref(before->task);
	else
		raw->task = task_new((struct task_key){ life->pid, life->start }, life->tgid);
	name(world, life, comm);
	task_set_comm(raw->task, comm, sizeof(comm));
	raw->task->ppid = 1;
	raw->task->uid = 1000;
	count(&raw->counters, life, at);
	raw->single = !life->several;
	/* There is no sum of a zombie. */
	if (life->several && at >= life->sent) {
		memset(raw->counters.delay, 0, sizeof(raw->counters.delay));
		raw->counters.run_ns = 0;
	}
}

/* Reads all tasks, in the order of their ids, one after the other. */
static void read_all(struct world *world, unsigned step)
{
	struct sample *cur = &world->samples[step % 2], *prev = &world->samples[(step + 1) % 2];
	uint64_t at;

	sample_reset(cur);
	cur->begin_ns = at = SEC(100 + 2 * step);
	for (pid_t pid = PID_FIRST; pid < PID_LAST; pid++) {
		/* Of those that had the pid one is there at most. */
		for (size_t i = 0; i < world->n; i++)
			if (world->lives[i].pid == pid)
				read_life(world, cur, prev, &world->lives[i], at);
		at += 10000;
	}
	cur->end_ns = at;
}

/* Books the deltas of a frame; what the first one reads was before. */
static void book(struct world *world)
{
	for (size_t i = 0; i < world->frame.n; i++) {
		const struct row *row = &world->frame.rows[i];
		/* By its number; where alike ones are folded they have one for all. */
		struct life *life = &world->lives[strtoul(row->task->comm, NULL, 10)];

		if (!world->info.prev) {
			life->expected -= row->raw->counters.run_ns;
			continue;
		}
		assert_int_equal(row->valid | VALID_TICK, SCENE_VALID);
		for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
			assert_int_equal(row->deltas->grown.delay[kind].ns,
					 row->deltas->grown.run_ns);
		life->shown += row->deltas->grown.run_ns;
		life->exited += row->exited ? row->members : 0;
		world->folded += row->members > 1;
	}
	assert_int_equal(world->info.stale, 0);
}

/* Whether nobody has that pid by the last drain, not even a zombie. */
static bool has_gone(void *arg, pid_t pid)
{
	const struct world *world = arg;

	for (size_t i = 0; i < world->n; i++)
		if (world->lives[i].pid == pid && world->lives[i].start <= world->drained &&
		    world->lives[i].reaped > world->drained)
			return false;
	return true;
}

/* One interval: some drains, a reading of all, the last drain, and the frame. */
static void step_on(struct world *world, unsigned step)
{
	struct sample *cur = &world->samples[step % 2], *prev = &world->samples[(step + 1) % 2];
	struct frame_options options = { .since_start = false };
	struct exit_batch batch = {
		.records = world->records, .threads = world->threads, .gone = has_gone, .arg = world
	};
	uint64_t begin = SEC(100 + 2 * step);

	/* Never longer than a second between two. */
	for (uint64_t at = begin - SEC(2) + MS(500); step && at < begin; at += MS(500))
		if (at == begin - SEC(1) || roll(world, 2)) {
			drain(world, at);
			batch.n = world->nrecords;
			if (world->names < LIVES)
				world->nrecords = exit_fold_kept(&batch, prev, SIZE_MAX);
		}
	drain(world, begin);
	read_all(world, step);
	drain(world, cur->end_ns + roll(world, MS(20)));
	batch.n = world->nrecords;
	exit_merge(&batch, step ? prev : NULL, cur);
	frame_build(&world->frame, &world->info, step ? prev : NULL, cur, &options);
	world->nrecords = 0;
	book(world);
}

/* Runs a world to its end, and compares; each task ends once. */
static void run(struct world *world, bool threads, unsigned names)
{
	world->threads = threads;
	world->names = names;
	world->drained = SEC(98);
	for (unsigned step = 0; step < INTERVALS || world->samples[(step + 1) % 2].n; step++)
		step_on(world, step);
	for (size_t i = 0; i < world->n; i++) {
		struct life *sort = &world->lives[i % names];

		sort->expected += waited(&world->lives[i], world->lives[i].end);
		sort->exited--;
	}
	for (size_t i = 0; i < names && i < world->n; i++) {
		assert_int_equal(world->lives[i].shown, world->lives[i].expected);
		assert_int_equal(world->lives[i].exited, 0);
	}
	assert_int_equal(world->folded > 0, names < LIVES);
	for (unsigned i = 0; i < 2; i++)
		sample_free(&world->samples[i]);
	frame_free(&world->frame);
}

/* Runs several worlds. */
static void run_all(bool threads, unsigned names)
{
	for (unsigned i = 0; i < 10; i++) {
		struct world *world = xcalloc(1, sizeof(*world));

		world->seed = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
		if (threads)
			make_threads(world);
		else
			make_processes(world);
		run(world, threads, names);
		free(world);
	}
}

/* Rows of processes. */
TEST(test_processes)
{
	run_all(false, LIVES);
}

/* Rows of threads. */
TEST(test_threads)
{
	run_all(true, LIVES);
}

/* With few names, so that there are many alike. */
TEST(test_folded)
{
	run_all(false, 2);
	run_all(true, 2);
}
