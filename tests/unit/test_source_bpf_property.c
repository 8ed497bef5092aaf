// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * However tasks come, go and change: samples made of what changed are those that would have been
 * made of everything, and so are the frames of them.
 */
#include "tests/lib/test.h"

#include <stdio.h>

#include "tests/lib/walks.h"

#define RUNS 150
#define STEPS 60
#define INFOS 2 /* in turn, as the sampler has them */

/* The same samples made of everything each time. */
struct naive {
	struct sample samples[2];
	struct frame frame;
	struct frame_info info; /* of the frame */
	uint64_t ticks;
};

/* What has been seen, so that the test is not about nothing. */
static struct {
	uint64_t elements, unchanged, hung, still, failed, reordered, exited, born, twice;
} seen;

/* Pseudo-random numbers, the same in every run. */
static uint64_t roll(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Whether something happens that does once in so many times. */
static bool once_in(uint64_t *seed, unsigned times)
{
	return roll(seed) % times == 0;
}

/* Gives a process more threads, or takes one away. */
static void change_parts(struct walk_task *task, uint64_t *seed)
{
	if (task->nparts > 1 && once_in(seed, 2)) {
		task->nparts--;
	} else if (task->nparts < PARTS_MAX) {
		struct snapshot_record *part = &task->parts[task->nparts];

		*part = task->parts[0];
		part->part =
			task->nparts == 1 && once_in(seed, 2) ? SNAPSHOT_ENDED : SNAPSHOT_THREAD;
		task->nparts++;
	}
	task->parts[0].threads = task->nparts;
	task->changed = true;
}

/* A task that was not there, at times with an id that was. */
static void give_birth(bool threads, uint64_t *seed, uint64_t start_ns)
{
	pid_t pid = (pid_t)(1 + roll(seed) % 200), tgid = threads && once_in(seed, 2) ? 77 : pid;

	for (size_t k = 0; k < walks.n; k++)
		if (walks.tasks[k].parts[0].pid == pid)
			return;
	if (walks.n < WALK_MAX)
		walk_run(walk_add(tgid, pid, start_ns), 0, roll(seed) % 100000);
}

/* Something that happens to a task. */
static void change_task(struct walk_task *task, bool threads, uint64_t *seed)
{
	struct snapshot_record *own = &task->parts[0];

	switch (roll(seed) % 6) {
	case 0:
		own->comm[0] = (char)('a' + roll(seed) % 26);
		break;
	case 1:
		own->state = once_in(seed, 2) ? 2 : 1;
		own->wait = own->state == 2 ? SNAPSHOT_WAIT_D : SNAPSHOT_NO_WAIT;
		own->waited_ns = roll(seed) % 1000;
		break;
	case 2:
		if (!threads)
			change_parts(task, seed);
		break;
	case 3: /* totals may fall a little */
		own->delay[1].ns -= own->delay[1].ns > 5000 ? 1000 : 0;
		own->run_ns -= own->run_ns > 5000 ? 1000 : 0;
		break;
	case 4:
		own->kinds ^= once_in(seed, 4) ? 0xfe : 0;
		break;
	default:
		walk_run(task, (unsigned)(roll(seed) % task->nparts), roll(seed) % 100000);
	}
	task->changed = true;
}

/* What happens between two samples. */
static void happen(bool threads, uint64_t *seed)
{
	/* at times nothing, for a while */
	if (once_in(seed, 3))
		return;
	for (size_t k = 0; k < walks.n; k++)
		if (once_in(seed, 8))
			change_task(&walks.tasks[k], threads, seed);
	if (once_in(seed, 3))
		for (size_t k = 0; k < walks.n; k++)
			if (once_in(seed, 20))
				walk_end(walks.tasks[k].parts[0].pid);
	for (unsigned i = 0; once_in(seed, 3) && i < 4; i++)
		give_birth(threads, seed, walks.now_ns + i + 1);
	for (size_t k = 0; k < walks.n; k++) {
		walks.tasks[k].twice = once_in(seed, 100);
		seen.twice += walks.tasks[k].twice;
	}
	if (walks.n > 2 && once_in(seed, 25)) {
		size_t k = roll(seed) % (walks.n - 1);
		struct walk_task task = walks.tasks[k];

		walks.tasks[k] = walks.tasks[walks.n - 1];
		walks.tasks[walks.n - 1] = task;
		seen.reordered++;
	}
}

/* The sum of what the parts have, by the rules alone. */
static struct task_raw counters_of(const struct walk_task *task)
{
	const struct snapshot_record *own = &task->parts[0];
	struct task_raw raw = { .tgid = own->tgid,
				.pid = own->pid,
				.counters.members = 1,
				.children.user_ns = own->children_user_ns,
				.children.system_ns = own->children_system_ns };
	uint32_t kinds = own->kinds;

	for (unsigned i = 0; i < task->nparts; i++) {
		for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
			raw.counters.delay[kind].count += task->parts[i].count[kind];
			raw.counters.delay[kind].ns += task->parts[i].delay[kind].ns;
		}
		raw.counters.run_ns += task->parts[i].run_ns;
		raw.counters.user_ns += task->parts[i].user_ns;
		raw.counters.system_ns += task->parts[i].system_ns;
		if (task->parts[i].part != SNAPSHOT_ENDED)
			kinds &= task->parts[i].kinds;
	}
	raw.counters.valid =
		DELAY_BOTH(kinds & DELAY_ALL) | VALID_RUN | VALID_TICK | VALID_CHILDREN;
	return raw;
}

/* Orders tasks as samples are sorted. */
static int compare_tasks(const void *a, const void *b)
{
	const struct walk_task *const *x = a, *const *y = b;
	const struct snapshot_record *p = (*x)->parts, *q = (*y)->parts;

	if (p->tgid != q->tgid)
		return p->tgid < q->tgid ? -1 : 1;
	return (p->pid > q->pid) - (p->pid < q->pid);
}

/* Whether it was asked for. */
static bool is_asked(const struct source_env *env, pid_t tgid)
{
	for (size_t i = 0; i < env->npids; i++)
		if (env->pids[i] == tgid)
			return true;
	return !env->pids;
}

/* The task of an element before, or a new one. */
static struct task *task_of(const struct sample *prev, const struct snapshot_record *own)
{
	const struct task_raw *before = prev ? sample_find(prev, own->tgid, own->pid) : NULL;

	if (before && before->task->key.start_ns == own->start_ns)
		return task_ref(before->task);
	return task_new((struct task_key){ own->pid, own->start_ns }, own->tgid);
}

/* Makes a sample of everything. */
static struct sample *sample_everything(struct naive *naive, const struct turn *turn)
{
	struct sample *cur = &naive->samples[naive->ticks % 2];
	const struct sample *prev = naive->ticks ? &naive->samples[(naive->ticks + 1) % 2] : NULL;
	const struct walk_task *sorted[WALK_MAX];
	size_t n = 0;

	sample_reset(cur);
	for (size_t k = 0; k < walks.n; k++)
		if (is_asked(&turn->env, walks.tasks[k].parts[0].tgid))
			sorted[n++] = &walks.tasks[k];
	qsort(sorted, n, sizeof(sorted[0]), compare_tasks);
	for (size_t i = 0; i < n; i++) {
		struct task_raw *raw = sample_add(cur, 0, 0);

		*raw = counters_of(sorted[i]);
		raw->task = task_of(prev, sorted[i]->parts);
		raw->read_ns = walks.now_ns + i;
		raw->now.state = 'S';
		raw->single = turn->env.threads || sorted[i]->parts[0].threads <= 1;
	}
	cur->begin_ns = walks.now_ns - 10;
	naive->ticks++;
	return cur;
}

/* Whether two elements have the same counters. */
static bool same_counters(const struct task_raw *a, const struct task_raw *b)
{
	return a->tgid == b->tgid && a->pid == b->pid && a->counters.valid == b->counters.valid &&
	       !memcmp(a->counters.delay, b->counters.delay, sizeof(a->counters.delay)) &&
	       a->counters.run_ns == b->counters.run_ns &&
	       a->counters.user_ns == b->counters.user_ns &&
	       a->counters.system_ns == b->counters.system_ns &&
	       a->children.user_ns == b->children.user_ns &&
	       a->children.system_ns == b->children.system_ns &&
	       a->counters.members == b->counters.members && a->exited == b->exited &&
	       a->task->status == b->task->status && a->was == b->was;
}

/* The place of an element's task in the walk. */
static size_t place_of(const struct task_raw *raw)
{
	return (size_t)(walk_find(raw->pid) - walks.tasks);
}

/* What the program calls a wait. */
static const enum wait_seen seen_as[] = { [SNAPSHOT_WAIT_CPU] = SEEN_CPU,
					  [SNAPSHOT_WAIT_IO] = SEEN_BLKIO,
					  [SNAPSHOT_WAIT_D] = SEEN_DWAIT };

/* Checks who is in the sample, and what is said to be unchanged. */
static void check_sample(const struct sample *cur, const struct sample *prev,
			 const struct sample *all)
{
	assert_int_equal(cur->n, all->n);
	for (size_t i = 0; i < cur->n; i++) {
		const struct task_raw *raw = cur->raw[i];
		const struct walk_task *task = &walks.tasks[place_of(raw)];
		const struct snapshot_record *own = &task->parts[0];
		const struct task_raw *before =
			prev ? sample_find(prev, raw->tgid, raw->pid) : NULL;
		bool unchanged = sample_unchanged(cur, i);

		seen.elements++;
		seen.unchanged += unchanged;
		assert_int_equal(raw->pid, all->raw[i]->pid);
		assert_int_equal(raw->tgid, all->raw[i]->tgid);
		assert_int_equal(raw->task->key.start_ns, own->start_ns);
		assert_int_equal(raw->task->tgid, own->tgid);
		assert_string_equal(raw->task->comm, own->comm);
		if (task->nparts == 1)
			assert_int_equal(waits_all(&raw->now.waits), own->wait != 0);
		if (own->wait)
			assert_true(raw->now.waits.threads[seen_as[own->wait]]);
		assert_int_equal(unchanged, !walks.written[place_of(raw)]);
		assert_int_equal(!sample_unaccounted(cur, i), (own->kinds & 2) != 0);
		if (unchanged)
			assert_true(before && before->task == raw->task &&
				    raw->now.state == before->now.state);
		else
			assert_true(same_counters(raw, all->raw[i]));
		if (i < cur->stable[1])
			assert_ptr_equal(prev->raw[i]->task, raw->task);
	}
}

/* An exit record comes in: the task has more than was read. It stays for a while, a zombie. */
static void exit_some(struct sample *cur, struct sample *all, uint64_t *seed)
{
	for (size_t i = 0; i < cur->n; i++) {
		struct sample *both[] = { cur, all };
		uint64_t more = roll(seed) % 1000;
		struct walk_task *task = walk_find(cur->raw[i]->pid);

		if (!once_in(seed, 40))
			continue;
		task->parts[0].run_ns += more;
		task->parts[0].delay[1].ns += more;
		for (unsigned k = 0; k < 2; k++) {
			struct task_raw *raw = sample_touch(both[k], i);

			raw->counters.run_ns = counters_of(task).counters.run_ns;
			raw->counters.delay[1].ns = counters_of(task).counters.delay[1].ns;
			raw->exited = true;
			raw->task->status = 9;
		}
		seen.exited++;
	}
}

/* Checks that who has been in state D since the sample before has waited all the time. */
static void check_waiting(const struct frame *frame, size_t i)
{
	const struct row *row = &frame->rows[i];
	const struct task_waits *waits = &row->raw->now.waits;

	if (i >= frame->info->cur->n || !row->before || !sample_unchanged(frame->info->cur, i))
		return;
	assert_int_equal(row->deltas->waited.ns[WAIT_DWAIT],
			 row->interval_ns * waits->threads[SEEN_DWAIT]);
	seen.hung += waits->threads[SEEN_DWAIT] != 0;
}

/* Checks that a frame of what changed is one of everything, counters as they were lifted too. */
static void check_frame(const struct frame *frame, const struct frame *all)
{
	assert_int_equal(frame->n, all->n);
	assert_int_equal(frame->info->born, all->info->born);
	assert_int_equal(frame->info->gone, all->info->gone);
	assert_int_equal(frame->info->stale, all->info->stale);
	assert_int_equal(frame->info->kinds, all->info->kinds);
	seen.unchanged += frame->unchanged;
	seen.born += frame->info->born;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *a = &frame->rows[i], *b = &all->rows[i];

		assert_int_equal(a->raw->pid, b->raw->pid);
		assert_ptr_equal(a->task, a->raw->task);
		assert_ptr_equal(a->raw, frame->info->cur->raw[i]);
		assert_true(same_counters(a->raw, b->raw));
		assert_int_equal(a->valid, b->valid);
		assert_memory_equal(a->deltas->grown.delay, b->deltas->grown.delay,
				    sizeof(a->deltas->grown.delay));
		assert_int_equal(a->deltas->grown.run_ns, b->deltas->grown.run_ns);
		assert_int_equal(a->deltas->grown.user_ns, b->deltas->grown.user_ns);
		assert_int_equal(a->deltas->grown.system_ns, b->deltas->grown.system_ns);
		assert_int_equal(a->deltas->total.ns, b->deltas->total.ns);
		assert_int_equal(a->deltas->mem.ns, b->deltas->mem.ns);
		check_waiting(frame, i);
		assert_int_equal(a->born, b->born);
		assert_int_equal(a->exited, b->exited);
		assert_int_equal(!a->before, !b->before);
		if (a->before)
			assert_true(same_counters(a->before, b->before));
	}
}

/* One walk through time. */
static void walk_on(bool threads, const pid_t *pids, size_t npids, uint64_t *seed)
{
	struct frame_options options = { 0 };
	struct frame frame = { 0 };
	struct frame_info infos[INFOS] = { 0 };
	struct naive naive = { 0 };
	struct turn turn;

	turn_open(&turn, threads);
	turn.env.pids = pids;
	turn.env.npids = npids;
	for (unsigned i = 0; i < 20; i++)
		give_birth(threads, seed, i + 1);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned needs = once_in(seed, 20)   ? NEED_RANGE
				 : once_in(seed, 20) ? NEED_IDENTITY
						     : 0;
		struct sample *cur, *all, *prev;
		bool first = !turn.ticks;

		happen(threads, seed);
		walks.take_error = once_in(seed, 30) ? -ENOMEM : 0;
		walks.fail_after = once_in(seed, 2) ? 1 : 0;
		if (turn_tick(&turn, needs, &cur)) {
			seen.failed++;
			continue;
		}
		prev = first ? NULL : turn_prev(&turn);
		all = sample_everything(&naive, &turn);
		check_sample(cur, prev, all);
		exit_some(cur, all, seed);
		frame_build(&frame, &infos[turn.ticks % INFOS], prev, cur, &options);
		frame_build(&naive.frame, &naive.info,
			    first ? NULL : &naive.samples[naive.ticks % 2], all, &options);
		check_frame(&frame, &naive.frame);
	}
	turn_close(&turn);
	frame_free(&frame);
	for (unsigned i = 0; i < 2; i++)
		sample_free(&naive.samples[i]);
	frame_free(&naive.frame);
}

/* Many walks: of processes, of threads, of some processes. */
TEST(test_property)
{
	static pid_t pids[50];
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; i < 50; i++)
		pids[i] = (pid_t)(4 * i + 1); /* 77 among them */
	for (unsigned run = 0; run < RUNS; run++)
		walk_on(run % 3 == 1, run % 3 == 2 || run % 7 == 1 ? pids : NULL,
			run % 3 == 2 || run % 7 == 1 ? 50 : 0, &seed);
	printf("# %ju elements, %ju of them unchanged, %ju still rows, %ju born, %ju exits, %ju "
	       "other "
	       "orders, %ju met twice, %ju failures\n",
	       (uintmax_t)seen.elements, (uintmax_t)seen.unchanged, (uintmax_t)seen.unchanged,
	       (uintmax_t)seen.born, (uintmax_t)seen.exited, (uintmax_t)seen.reordered,
	       (uintmax_t)seen.twice, (uintmax_t)seen.failed);
	assert_true(seen.elements > 50000 && seen.unchanged > seen.elements / 2);
	assert_true(seen.unchanged > seen.elements / 4 && seen.born > 500 && seen.exited > 500);
	assert_true(seen.hung > 500);
	assert_true(seen.reordered > 50 && seen.twice > 500 && seen.failed > 50);
}
