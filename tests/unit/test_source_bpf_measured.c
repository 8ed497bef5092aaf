// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits that are measured, in samples made of walks: blkio and dwait are theirs. */
#include "tests/lib/test.h"

#include "bpf/snapshot_counters.h"
#include "model/exit_merge.h"
#include "tests/lib/tree.h"
#include "tests/lib/walks.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))

#define PID 10

/* Some processes whose waits are measured; 7 ms of blkio had been booked before. */
static void open_machine(struct turn *turn, const struct tree *tree)
{
	turn_open(turn, false);
	turn->env.proc = tree->proc;
	for (pid_t pid = PID; pid < PID + 3; pid++) {
		struct snapshot_record *record = walk_add(pid, pid, MS(pid))->parts;

		record->measured = 1;
		record->io = (struct exact_sum){ .ns = MS(7), .count = 1, .max_ns = MS(7) };
	}
}

static struct snapshot_record *part(void)
{
	struct walk_task *task = walk_find(PID);

	task->changed = true;
	return &task->parts[0];
}

static uint64_t blkio_ns(const struct sample *sample)
{
	return turn_element(sample, PID)->counters.delay[DELAY_BLKIO].ns;
}

/* What is booked does not matter, neither too much nor too little. */
TREE_TEST(test_blkio)
{
	struct task_record range = { 0 };
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	part()->delay[DELAY_BLKIO].ns = MS(90);
	assert_int_equal(blkio_ns(turn_must(&turn, 0)), MS(7));
	part()->delay[DELAY_BLKIO].ns = MS(99999);
	part()->io = (struct exact_sum){ .ns = MS(107), .count = 5, .max_ns = MS(40) };
	cur = turn_must(&turn, 0);
	assert_int_equal(blkio_ns(cur), MS(107));
	assert_int_equal(turn_element(cur, PID)->counters.delay[DELAY_BLKIO].count, 5);
	assert_int_equal(cur->corrected, 0);
	part()->io.ns += MS(400);
	assert_int_equal(blkio_ns(turn_must(&turn, 0)), MS(507));
	snapshot_range(part(), 1, &range);
	assert_int_equal(range.max[DELAY_BLKIO], MS(40));
	turn_close(&turn);
}

/* A wait of io_uring in state S is known at its end; what passed in former intervals is not told.
 */
TREE_TEST(test_long)
{
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	for (int i = 0; i < 4; i++)
		turn_must(&turn, 0);
	part()->io.ns += MS(3200);
	cur = turn_must(&turn, 0);
	assert_true(blkio_ns(cur) <= MS(7 + 1001) && blkio_ns(cur) >= MS(7 + 999));
	/* It stays left out. */
	part()->io.ns += MS(100);
	cur = turn_must(&turn, 0);
	assert_true(blkio_ns(cur) <= MS(107 + 1001) && blkio_ns(cur) >= MS(107 + 999));
	turn_close(&turn);
}

static uint64_t dwait_ns(struct turn *turn)
{
	return turn_element(turn_must(turn, 0), PID)->now.waits.dwait_ns;
}

/* Each part of a wait in state D counts once, of threads that have ended, too. */
TREE_TEST(test_dwait)
{
	struct turn turn;

	open_machine(&turn, *state);
	part()->dwait.ns = MS(5000);
	assert_int_equal(dwait_ns(&turn), 0);
	part()->dwait.ns += MS(150);
	assert_int_equal(dwait_ns(&turn), MS(150));
	assert_int_equal(dwait_ns(&turn), 0);
	/* One that ended, and one that goes on. */
	part()->dwait.ns += MS(40);
	part()->wait = SNAPSHOT_WAIT_D;
	part()->waited_ns = MS(300);
	part()->sleeps = SNAPSHOT_SLEEPS_BLOCKED;
	assert_int_equal(dwait_ns(&turn), MS(340));
	assert_int_equal(dwait_ns(&turn), NSEC_PER_SEC);
	assert_int_equal(dwait_ns(&turn), NSEC_PER_SEC);
	part()->dwait.ns += MS(300) + 2 * NSEC_PER_SEC + MS(700);
	part()->wait = SNAPSHOT_NO_WAIT;
	part()->sleeps = 0;
	assert_int_equal(dwait_ns(&turn), MS(700));
	assert_int_equal(dwait_ns(&turn), 0);
	turn_close(&turn);
}

/* Who is new has its life to show. */
TREE_TEST(test_born)
{
	struct snapshot_record *record;
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	record = walk_add(30, 30, walks.now_ns + MS(100))->parts;
	record->measured = 1;
	record->dwait.ns = MS(120);
	record->io.ns = MS(60);
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, 30)->now.waits.dwait_ns, MS(120));
	assert_int_equal(turn_element(cur, 30)->counters.delay[DELAY_BLKIO].ns, MS(60));
	turn_close(&turn);
}

/* Ends PID with so much booked as blkio, or measured. */
static uint64_t end(struct turn *turn, bool measured, uint64_t ns)
{
	struct exit_record record = { .pid = PID, .tgid = PID, .last = true, .single = true };
	struct exit_batch batch = { .records = &record, .n = 1 };
	struct sample *cur = turn_must(turn, 0);
	struct task_raw *raw = turn_element(cur, PID);

	record.life_ns = walks.now_ns - MS(PID);
	record.lo_ns = record.hi_ns = walks.now_ns;
	record.counters = raw->counters;
	record.counters.delay[DELAY_BLKIO].ns = ns;
	record.measured = measured;
	exit_merge(&batch, turn_prev(turn), cur);
	raw = turn_element(cur, PID);
	assert_true(raw->exited);
	return raw->counters.delay[DELAY_BLKIO].ns;
}

/* An exit record has what was measured, or nothing better than the last sample. */
TREE_TEST(test_exit)
{
	struct turn turn;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	assert_int_equal(end(&turn, true, MS(90)), MS(90));
	turn_close(&turn);
	open_machine(&turn, *state);
	turn_must(&turn, 0);
	assert_int_equal(end(&turn, false, MS(9000)), MS(7));
	turn_close(&turn);
}
