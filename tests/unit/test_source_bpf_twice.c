// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks that meet a task twice, or two tasks of one id. */
#include "tests/lib/test.h"

#include "tests/lib/walks.h"

/* More than a sample has room for at first. */
#define CROWD 600

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))

/* Processes, one of them with a second thread. */
static void open_threads(struct turn *turn)
{
	turn_open(turn, true);
	for (pid_t pid = 10; pid < 20; pid++)
		walk_run(walk_add(pid, pid, MS(pid)), 0, MS(pid));
	walk_run(walk_add(15, 25, MS(25)), 0, MS(25));
}

/*
 * Has a task be met a second time, at the end of the walk, with what it has run by then: so it is
 * when a thread calls exec meanwhile, and takes the id and the start of its leader.
 */
static void meet_again(pid_t tgid, pid_t pid, uint64_t start_ns, uint64_t run_ns)
{
	walk_run(walk_add(tgid, pid, start_ns), 0, run_ns);
}

/* Takes out again what was met last. */
static void meet_once(void)
{
	walks.n--;
}

/* Known tasks that are met twice have one element, with what was found last. */
TEST(test_met_twice)
{
	struct turn turn;
	struct sample *cur;
	struct task *task;

	open_threads(&turn);
	task = turn_element(turn_must(&turn, 0), 15)->task;
	for (unsigned i = 0; i < 8; i++) {
		/* others come and go in the same walk */
		walk_end(i % 2 ? 40 : 25);
		walk_run(walk_add(15, i % 2 ? 25 : 40, MS(30 + i)), 0, MS(1));
		walk_find(15)->changed = i % 3 == 0;
		meet_again(15, 15, MS(15), MS(1000 + i));
		meet_again(12, 12, MS(12), MS(2000 + i));
		cur = turn_must(&turn, 0);
		assert_int_equal(cur->n, 11);
		assert_ptr_equal(turn_element(cur, 15)->task, task);
		assert_int_equal(turn_element(cur, 15)->counters.run_ns, MS(1000 + i));
		assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(2000 + i));
		assert_int_equal(turn_element(cur, 11)->counters.run_ns, MS(11));
		assert_true(turn_kept(cur, 19));
		/* the walk after that finds them where they were met first */
		meet_once();
		meet_once();
		walk_find(15)->parts[0].run_ns = MS(1000 + i);
		walk_find(12)->parts[0].run_ns = MS(2000 + i);
		cur = turn_must(&turn, 0);
		assert_int_equal(cur->n, 11);
		assert_int_equal(turn_element(cur, 15)->counters.run_ns, MS(1000 + i));
		assert_true(turn_kept(cur, 15) && turn_kept(cur, 12));
	}
	turn_close(&turn);
}

/*
 * The same where hardly anybody is left of a crowd: a place that was kept from the walk over the
 * crowd lies outside of the sample.
 */
TEST(test_met_twice_after_crowd)
{
	struct turn turn;
	struct sample *cur;

	turn_open(&turn, true);
	/* whoever is met first has the last element */
	for (pid_t pid = 1000 + CROWD; pid > 1000; pid--)
		walk_add(pid, pid, MS(pid));
	for (pid_t pid = 10; pid < 14; pid++)
		walk_run(walk_add(pid, pid, MS(pid)), 0, MS(pid));
	assert_int_equal(turn_must(&turn, 0)->n, CROWD + 4);
	for (pid_t pid = 1000 + CROWD; pid > 1000; pid--)
		walk_end(pid);
	walk_end(10);
	meet_again(11, 11, MS(11), MS(1000));
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 3);
	assert_int_equal(turn_element(cur, 11)->counters.run_ns, MS(1000));
	assert_int_equal(turn_element(cur, 12)->counters.run_ns, MS(12));
	assert_int_equal(turn_element(cur, 13)->counters.run_ns, MS(13));
	turn_close(&turn);
}

/* The same of tasks that were not there before, in the first sample and later. */
TEST(test_new_met_twice)
{
	struct turn turn;
	struct sample *cur;

	open_threads(&turn);
	meet_again(15, 15, MS(15), MS(1000));
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 11);
	assert_int_equal(turn_element(cur, 15)->counters.run_ns, MS(1000));
	meet_once();
	walk_find(15)->parts[0].run_ns = MS(1000);
	turn_must(&turn, 0);
	for (pid_t pid = 50; pid < 60; pid++) {
		walk_run(walk_add(pid, pid, MS(pid)), 0, MS(1));
		meet_again(pid, pid, MS(pid), MS(2));
		cur = turn_must(&turn, 0);
		assert_int_equal(cur->n, 11 + (size_t)(pid - 49));
		assert_int_equal(turn_element(cur, pid)->counters.run_ns, MS(2));
		meet_once();
		walk_find(pid)->parts[0].run_ns = MS(2);
	}
	turn_close(&turn);
}

/* An id that is used anew within a walk is the new task's: the old one has ended. */
TEST(test_reused_within_walk)
{
	struct turn turn;
	struct sample *cur;

	open_threads(&turn);
	turn_must(&turn, 0);
	turn_must(&turn, 0);
	meet_again(14, 14, MS(7000), MS(3));
	/* one that was a thread is a process now */
	meet_again(25, 25, MS(7001), MS(4));
	cur = turn_must(&turn, 0);
	assert_int_equal(cur->n, 11);
	assert_int_equal(turn_element(cur, 14)->task->key.start_ns, MS(7000));
	assert_int_equal(turn_element(cur, 14)->counters.run_ns, MS(3));
	assert_int_equal(turn_element(cur, 25)->counters.run_ns, MS(4));
	assert_null(sample_find(cur, 15, 25));
	turn_close(&turn);
}
