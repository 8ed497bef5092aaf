// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples made of walks over all tasks, of which most have nothing to say. */
#include "tests/lib/test.h"

#include "app/errors.h"
#include "tests/lib/tree.h"
#include "tests/lib/walks.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))

/* Some processes. */
static void open_some(struct turn *turn)
{
	turn_open(turn, false);
	for (pid_t pid = 10; pid < 20; pid++)
		walk_run(walk_add(pid, pid, MS(pid)), 0, MS(pid));
}

/* The first sample has everybody, with all there is to know. */
TEST(test_first)
{
	struct turn turn;
	struct sample *cur;
	const struct task_raw *raw;

	open_some(&turn);
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 10);
	assert_int_equal(walks.whole, 1);
	raw = turn_element(cur, 15);
	assert_int_equal(raw->tgid, 15);
	assert_int_equal(raw->counters.members, 1);
	assert_true(raw->single);
	assert_int_equal(raw->read_ns, walks.now_ns + 5);
	assert_int_equal(raw->counters.run_ns, MS(15));
	assert_int_equal(raw->counters.user_ns, MS(15) / 2);
	assert_int_equal(raw->counters.system_ns, MS(15) / 4);
	assert_int_equal(raw->children.user_ns, MS(15) / 8);
	assert_int_equal(raw->children.system_ns, MS(15) / 16);
	assert_int_equal(raw->counters.valid,
			 DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK | VALID_CHILDREN);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		assert_int_equal(raw->counters.delay[kind].ns, MS(15) + kind);
		assert_int_equal(raw->counters.delay[kind].count, kind + 1);
	}
	assert_int_equal(raw->counters.life_ns, raw->read_ns - MS(15));
	assert_int_equal(raw->task->key.start_ns, MS(15));
	assert_int_equal(raw->task->ppid, 1);
	assert_int_equal(raw->task->uid, 1000);
	assert_int_equal(raw->task->cgroup_id, 7);
	assert_string_equal(raw->task->comm, "task");
	assert_true(raw->task->accounted && raw->task->fresh);
	assert_false(turn_kept(cur, 15));
	turn_close(&turn);
}

/* Who did nothing keeps his element, however often the samples come round. */
TEST(test_unchanged)
{
	struct turn turn;
	struct sample *cur;

	open_some(&turn);
	turn_must(&turn, 0);
	for (unsigned i = 1; i < 20; i++) {
		pid_t busy = 10 + (pid_t)(i % 4);

		walk_run(walk_find(busy), 0, MS(1));
		cur = turn_must(&turn, 0);
		assert_int_equal(walks.taken, i + 1);
		assert_int_equal(walks.whole, 1);
		assert_int_equal(cur->stable[1], 10);
		for (pid_t pid = 10; pid < 20; pid++) {
			assert_int_equal(turn_element(cur, pid)->counters.run_ns,
					 walk_find(pid)->parts[0].run_ns);
			assert_ptr_equal(turn_element(cur, pid)->task,
					 turn_element(turn_prev(&turn), pid)->task);
			assert_int_equal(turn_kept(cur, pid), pid != busy);
		}
	}
	turn_close(&turn);
}

/* Births and deaths: the others keep what they have, and their tasks. */
TEST(test_coming_and_going)
{
	struct turn turn;
	struct sample *cur;
	const struct task *task;

	open_some(&turn);
	task = turn_element(turn_must(&turn, 0), 19)->task;
	walk_end(10);
	walk_end(15);
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 8);
	assert_null(sample_find(cur, 10, 10));
	assert_true(turn_kept(cur, 19));
	walk_add(5, 5, MS(2000));
	walk_add(17, 17, MS(1));
	walk_end(17);
	walk_add(30, 30, MS(2001));
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 10);
	assert_int_equal(cur->raw[0]->pid, 5);
	assert_int_equal(cur->raw[9]->pid, 30);
	assert_false(turn_kept(cur, 5));
	assert_true(turn_kept(cur, 19));
	assert_ptr_equal(turn_element(cur, 19)->task, task);
	assert_int_equal(turn_element(cur, 19)->counters.run_ns, MS(19));
	assert_int_equal(walks.whole, 1);
	for (int i = 0; i < 5; i++)
		cur = turn_must(&turn, 0);
	assert_true(turn_kept(cur, 30));
	walks.n = 0;
	assert_int_equal(turn_must(&turn, 0)->n, 0);
	walk_add(5, 5, MS(3000));
	assert_int_equal(turn_must(&turn, 0)->n, 1);
	turn_close(&turn);
}

/* Of a walk in another order everything is read again, once. */
TEST(test_order)
{
	struct turn turn;
	struct walk_task first;
	struct sample *cur;

	open_some(&turn);
	turn_must(&turn, 0);
	turn_must(&turn, 0);
	first = walks.tasks[0];
	walks.tasks[0] = walks.tasks[7];
	walks.tasks[7] = first;
	cur = turn_must(&turn, 0);
	assert_int_equal(walks.taken, 4);
	assert_int_equal(walks.whole, 2);
	assert_int_equal(cur->n, 10);
	for (pid_t pid = 10; pid < 20; pid++)
		assert_int_equal(turn_element(cur, pid)->counters.run_ns, MS(pid));
	cur = turn_must(&turn, 0);
	assert_int_equal(walks.taken, 5);
	assert_true(turn_kept(cur, 17));
	turn_close(&turn);
}

/* The same pid, another start: another task. The same start after exec: the same task. */
TEST(test_reuse_and_exec)
{
	struct turn turn;
	struct sample *cur;
	struct task *old;

	open_some(&turn);
	cur = turn_must(&turn, 0);
	old = task_ref(turn_element(cur, 12)->task);
	walk_end(12);
	walk_run(walk_add(12, 12, MS(4000)), 0, MS(1));
	cur = turn_must(&turn, 0);
	assert_ptr_not_equal(turn_element(cur, 12)->task, old);
	assert_int_equal(turn_element(cur, 12)->task->key.start_ns, MS(4000));
	assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(1));
	task_unref(old);
	old = turn_element(cur, 13)->task;
	old->fresh = false;
	memcpy(walk_find(13)->parts[0].comm, "other", 6);
	walk_find(13)->changed = true;
	cur = turn_must(&turn, 0);
	assert_ptr_equal(turn_element(cur, 13)->task, old);
	assert_string_equal(old->comm, "other");
	assert_true(old->fresh);
	for (int i = 0; i < 4; i++)
		cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(1));
	turn_close(&turn);
}

/* A process of several threads, of whom some have ended. */
TEST(test_parts)
{
	struct turn turn;
	struct sample *cur;
	struct walk_task *task;

	open_some(&turn);
	task = walk_find(14);
	task->nparts = 4;
	task->parts[0].threads = 3;
	task->parts[1] = (struct snapshot_record){ .part = SNAPSHOT_ENDED, .pid = 14, .tgid = 14 };
	task->parts[2] = task->parts[3] = task->parts[0];
	task->parts[2].part = task->parts[3].part = SNAPSHOT_THREAD;
	walk_run(task, 1, MS(100));
	task->parts[3].kinds = 1;
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 10);
	assert_int_equal(turn_element(cur, 14)->counters.run_ns, 3 * MS(14) + MS(100));
	assert_int_equal(turn_element(cur, 14)->counters.delay[2].count, 4 * 3);
	assert_int_equal(turn_element(cur, 14)->children.user_ns, MS(14) / 8);
	assert_false(turn_element(cur, 14)->single);
	assert_int_equal(turn_element(cur, 14)->counters.life_ns, 3 * (walks.now_ns + 4 - MS(14)));
	/* of a thread from before they were accounted they are not known */
	assert_int_equal(turn_element(cur, 14)->counters.valid & DELAY_BOTH(DELAY_ALL),
			 DELAY_BOTH(1));
	task->parts[3].kinds = task->parts[0].kinds;
	/* the leader ends: the kernel adds it to the ended ones */
	task->parts[0].exit_state = 0x20;
	walk_run(task, 1, MS(14));
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, 14)->counters.run_ns, 2 * MS(14) + MS(114));
	assert_int_equal(turn_element(cur, 14)->counters.valid & DELAY_BOTH(DELAY_ALL),
			 DELAY_BOTH(DELAY_ALL));
	assert_int_equal(turn_element(cur, 14)->now.state, 'Z');
	turn_close(&turn);
}

/* A row a thread: each is its own, and single whatever the others are. */
TEST(test_threads)
{
	struct turn turn;
	struct sample *cur;

	turn_open(&turn, true);
	walk_run(walk_add(10, 10, MS(10)), 0, MS(1));
	walk_run(walk_add(20, 20, MS(20)), 0, MS(2));
	walk_run(walk_add(10, 30, MS(30)), 0, MS(3));
	walks.tasks[0].parts[0].threads = walks.tasks[2].parts[0].threads = 2;
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 3);
	assert_int_equal(cur->raw[1]->pid, 30);
	assert_int_equal(cur->raw[1]->counters.run_ns, MS(3));
	assert_int_equal(cur->raw[1]->task->tgid, 10);
	assert_true(cur->raw[0]->single && cur->raw[1]->single);
	for (int i = 0; i < 4; i++)
		cur = turn_must(&turn, 0);
	assert_int_equal(cur->raw[1]->counters.run_ns, MS(3));
	assert_true(sample_unchanged(cur, 1));
	turn_close(&turn);
}

/* Only processes that were asked for, whatever goes on among the others. */
TEST(test_filter)
{
	static const pid_t asked[] = { 12, 18 };
	struct turn turn;
	struct sample *cur;

	open_some(&turn);
	turn.env.pids = asked;
	turn.env.npids = 2;
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 2);
	for (unsigned i = 0; i < 12; i++) {
		if (i == 4)
			walk_end(11);
		if (i == 6)
			walk_add(40, 40, MS(5000));
		walk_run(walk_find(13 + (pid_t)i % 3), 0, MS(1));
		if (i % 5 == 1)
			walk_run(walk_find(18), 0, MS(1));
		cur = turn_must(&turn, 0);
		assert_int_equal(cur->n, 2);
		assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(12));
		assert_int_equal(turn_element(cur, 18)->counters.run_ns,
				 walk_find(18)->parts[0].run_ns);
		assert_int_equal(turn_kept(cur, 18), i % 5 != 1);
	}
	assert_int_equal(walks.whole, 1);
	walk_end(18);
	assert_int_equal(turn_must(&turn, 0)->n, 1);
	turn_close(&turn);
}

/* The letters of /proc/PID/stat. */
TEST(test_states)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
	} cases[] = {
		{ 0, 0, 'R' },	     { 1, 0, 'S' },	 { 2, 0, 'D' },
		{ 4, 0, 'T' },	     { 8, 0, 't' },	 { 0x80, 0x10, 'X' },
		{ 0x80, 0x20, 'Z' }, { 0x40, 0, 'P' },	 { 0x402, 0, 'I' },
		{ 0x102, 0, 'D' }, /* killable */
		{ 0x1000, 0, 'D' },  { 0x8000, 0, 'D' }, { 0x2001, 0, 'S' },
		{ 0x200, 0, 'R' }, /* waking */
	};
	struct turn turn;

	open_some(&turn);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct walk_task *task = walk_find(11);

		task->parts[0].state = cases[i].state;
		task->parts[0].exit_state = cases[i].exit_state;
		task->changed = true;
		assert_int_equal(turn_element(turn_must(&turn, 0), 11)->now.state, cases[i].letter);
	}
	turn_close(&turn);
}

/* The longest wait of all threads is the process's, and goes on while nothing is said of it. */
TEST(test_waits)
{
	struct turn turn;
	struct walk_task *task;
	struct sample *cur;
	const struct task_waits *waits;
	uint64_t since;

	open_some(&turn);
	task = walk_find(16);
	task->nparts = 3;
	task->parts[1] = task->parts[2] = task->parts[0];
	task->parts[1].part = task->parts[2].part = SNAPSHOT_THREAD;
	task->parts[1].wait = SNAPSHOT_WAIT_IO;
	task->parts[1].waited_ns = MS(700);
	task->parts[2].wait = SNAPSHOT_WAIT_CPU;
	task->parts[2].waited_ns = MS(3);
	cur = turn_must(&turn, 0);
	waits = &turn_element(cur, 15)->now.waits;
	assert_int_equal(waits_all(waits), 0);
	waits = &turn_element(cur, 16)->now.waits;
	since = waits->first_ns;
	assert_int_equal(since, walks.now_ns + 6 - MS(700));
	assert_int_equal(waits->threads[SEEN_BLKIO], 1);
	assert_int_equal(waits->threads[SEEN_CPU], 1);
	assert_int_equal(waits_in_d(waits), 1);
	assert_int_equal(waits_progress(waits, SEEN_BLKIO, walks.now_ns + 6), MS(700));
	assert_int_equal(waits_progress(waits, SEEN_CPU, walks.now_ns + 6), MS(3));
	for (int i = 0; i < 5; i++) {
		cur = turn_must(&turn, 0);
		waits = &turn_element(cur, 16)->now.waits;
		assert_int_equal(waits->threads[SEEN_BLKIO], 1);
		assert_int_equal(waits->first_ns, since);
	}
	task->parts[1].wait = SNAPSHOT_NO_WAIT;
	task->parts[2].wait = SNAPSHOT_WAIT_D;
	task->changed = true;
	waits = &turn_element(turn_must(&turn, 0), 16)->now.waits;
	assert_int_equal(waits->threads[SEEN_DWAIT], 1);
	assert_int_equal(waits_all(waits), 1);
	turn_close(&turn);
}

/* A delay that the kernel does not account, or does not know, is unknown and marked. */
TEST(test_unaccounted)
{
	struct turn turn;
	struct sample *cur;

	open_some(&turn);
	walk_find(13)->parts[0].kinds = 1u << DELAY_CPU;
	for (int i = 0; i < 5; i++) {
		cur = turn_must(&turn, 0);
		assert_int_equal(turn_element(cur, 13)->counters.valid & DELAY_BOTH(DELAY_ALL),
				 DELAY_BOTH(1));
		assert_true(sample_unaccounted(cur, 3));
		assert_false(sample_unaccounted(cur, 4));
		assert_false(turn_element(cur, 13)->task->accounted);
		assert_int_equal(turn_kept(cur, 13), i > 0);
	}
	turn_close(&turn);
}

/* What an exit record made of an element holds for that sample, its counters for good. */
TEST(test_exit_record)
{
	struct turn turn;
	struct sample *cur;
	struct task_raw *raw;

	open_some(&turn);
	for (int i = 0; i < 4; i++)
		cur = turn_must(&turn, 0);
	raw = sample_touch(cur, sample_place(cur, 14, 14));
	raw->counters.run_ns += MS(5);
	raw->exited = true;
	raw->task->status = 9;
	raw->was = 3;
	assert_false(turn_kept(cur, 14));
	for (int i = 0; i < 5; i++) {
		/* it stays, a zombie */
		cur = turn_must(&turn, 0);
		raw = turn_element(cur, 14);
		assert_int_equal(raw->counters.run_ns, MS(14) + MS(5));
		assert_true(turn_kept(cur, 14));
		assert_false(raw->exited);
		assert_int_equal(raw->task->status, 9);
		assert_int_equal(raw->was, 0);
	}
	turn_close(&turn);
}

/* Ranges are of all threads, and need everybody's record. */
TEST(test_needs)
{
	struct turn turn;
	struct walk_task *task;
	struct sample *cur;

	open_some(&turn);
	task = walk_find(12);
	task->nparts = 2;
	task->parts[1] = task->parts[0];
	task->parts[1].part = SNAPSHOT_THREAD;
	task->parts[1].delay[1].max = MS(99);
	task->parts[1].delay[1].min = 7;
	turn_must(&turn, 0);
	cur = turn_must(&turn, NEED_RANGE);
	assert_int_equal(walks.whole, 2);
	assert_non_null(cur->records);
	assert_int_equal(cur->records[2].max[1], MS(99));
	assert_int_equal(cur->records[2].min[1], 7);
	assert_int_equal(cur->records[3].max[1], MS(13) + 1);
	assert_true(cur->records[3].range_valid & DELAY_BIT(1));
	assert_true(cur->have & NEED_RANGE);
	cur = turn_must(&turn, 0);
	assert_int_equal(walks.whole, 2);
	assert_true(!cur->records && !(cur->have & NEED_RANGE));
	turn_must(&turn, NEED_IDENTITY);
	assert_int_equal(walks.whole, 3);
	turn_close(&turn);
}

/* After a walk that failed nothing is lost, whichever it was. */
TEST(test_failure)
{
	struct turn turn;
	struct sample *cur;

	for (unsigned after = 0; after < 2; after++) {
		open_some(&turn);
		for (int i = 0; i < 4; i++)
			turn_must(&turn, 0);
		walk_run(walk_find(12), 0, MS(7));
		if (after) {
			struct walk_task first = walks.tasks[0];

			walks.tasks[0] = walks.tasks[7];
			walks.tasks[7] = first;
		}
		walks.take_error = -ENOMEM;
		walks.fail_after = after;
		assert_int_equal(turn_tick(&turn, 0, &cur), -ENOMEM);
		for (int i = 0; i < 5; i++) {
			cur = turn_must(&turn, 0);
			assert_int_equal(cur->n, 10);
			assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(12) + MS(7));
			assert_int_equal(turn_element(cur, 17)->counters.run_ns, MS(17));
		}
		turn_close(&turn);
	}
}

/* Why it does not open. */
TEST(test_explain)
{
	struct buf why = { 0 };
	struct sample *cur;
	struct turn turn;

	turn_open(&turn, false);
	walks.open_error = -EPERM;
	assert_int_equal(turn_tick(&turn, 0, &cur), -EPERM);
	assert_null(turn.state);
	error_of_source(&why, "bpf", -EPERM);
	assert_string_equal(buf_cstr(&why), "it needs CAP_BPF and CAP_PERFMON: run as root");
	buf_free(&why);
}

/* Processes of /proc that the walk does not meet are counted, until they end. */
TREE_TEST(test_hidden)
{
	const struct tree *tree = *state;
	struct turn turn;

	open_some(&turn);
	turn.env.proc = tree->proc;
	put_dir(tree, "1");
	put_dir(tree, "15");
	put_dir(tree, "300");
	put_dir(tree, "self");
	assert_int_equal(turn_must(&turn, 0)->unread, 2);
	assert_int_equal(turn_must(&turn, 0)->unread, 2);
	assert_int_equal(unlinkat(tree->fd, "300", AT_REMOVEDIR), 0);
	walk_end(10);
	assert_int_equal(turn_must(&turn, 0)->unread, 1);
	assert_int_equal(turn_must(&turn, 0)->unread, 1);
	turn_close(&turn);
}

/* Nobody is missed who was not asked for. */
TREE_TEST(test_hidden_of_others)
{
	const struct tree *tree = *state;
	static const pid_t asked[] = { 12, 300 };
	struct turn turn;

	open_some(&turn);
	turn.env.proc = tree->proc;
	turn.env.pids = asked;
	turn.env.npids = 2;
	put_dir(tree, "1");
	assert_int_equal(turn_must(&turn, 0)->unread, 0);
	turn_close(&turn);
}
