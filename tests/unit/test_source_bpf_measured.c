// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits that are measured, in samples made of walks: blkio and dwait are theirs. */
#include "tests/lib/test.h"

#include "bpf/snapshot_counters.h"
#include "read/exit_merge.h"
#include "tests/lib/tree.h"
#include "tests/lib/walks.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))

#define PID 10
#define BLKIO (DELAY_BIT(DELAY_BLKIO) | VALID_DWAIT)

/* Some processes whose waits are measured; 7 ms of blkio had been booked before. */
static void open_machine(struct turn *turn, const struct tree *tree)
{
	turn_open(turn, false);
	turn->env.proc = tree->proc;
	for (pid_t pid = PID; pid < PID + 3; pid++) {
		struct snapshot_record *record = walk_add(pid, pid, MS(pid))->parts;

		record->measured = BLKIO;
		record->delay[DELAY_BLKIO].ns = MS(7);
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

/* It is believed, however much it is. */
TREE_TEST(test_blkio)
{
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	assert_int_equal(blkio_ns(turn_must(&turn, 0)), MS(7));
	part()->delay[DELAY_BLKIO].ns = MS(107);
	part()->count[DELAY_BLKIO] = 5;
	cur = turn_must(&turn, 0);
	assert_int_equal(blkio_ns(cur), MS(107));
	assert_int_equal(turn_element(cur, PID)->counters.delay[DELAY_BLKIO].count, 5);
	assert_int_equal(turn_element(cur, PID)->now.measured, BLKIO);
	turn_close(&turn);
}

/* Of a process of several threads it is the sum, with those that ended; its leader's own are there.
 */
TREE_TEST(test_threads)
{
	struct walk_task *task;
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	task = walk_find(PID);
	task->changed = true;
	task->nparts = 3;
	task->parts[1] = task->parts[2] = task->parts[0];
	task->parts[1].part = SNAPSHOT_ENDED;
	task->parts[2].part = SNAPSHOT_THREAD;
	task->parts[2].pid = PID + 100;
	task->parts[0].threads = 2;
	for (unsigned i = 0; i < 3; i++)
		task->parts[i].dwait_ns = MS(1 << i);
	cur = turn_must(&turn, 0);
	assert_int_equal(blkio_ns(cur), MS(21));
	assert_int_equal(turn_element(cur, PID)->counters.dwait_ns, MS(7));
	assert_true(turn_element(cur, PID)->counters.valid & VALID_DWAIT);
	turn_close(&turn);
}

/* What is measured has waits in progress, which are not added to it once more. */
TREE_TEST(test_in_progress)
{
	struct frame frame = { 0 };
	struct frame_info info = { 0 };
	const struct frame_options options = { 0 };
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	part()->wait = SNAPSHOT_WAIT_IO;
	part()->waited_ns = part()->delay[DELAY_BLKIO].ns = MS(300);
	cur = turn_must(&turn, 0);
	frame_build(&frame, &info, turn_prev(&turn), cur, &options);
	assert_int_equal(frame.rows[0].deltas->waited.ns[DELAY_BLKIO], MS(293));
	assert_int_equal(frame.rows[0].deltas->waited.reason[DELAY_BLKIO], REASON_MEASURED);
	assert_int_equal(turn_element(cur, PID)->now.waits.threads[SEEN_BLKIO], 1);
	frame_free(&frame);
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
	record->measured = BLKIO;
	record->dwait_ns = MS(120);
	record->delay[DELAY_BLKIO].ns = MS(60);
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, 30)->counters.dwait_ns, MS(120));
	assert_int_equal(turn_element(cur, 30)->counters.delay[DELAY_BLKIO].ns, MS(60));
	turn_close(&turn);
}

/* Ends PID with so much booked as blkio, or measured. */
static uint64_t end(struct turn *turn, uint32_t measured, uint64_t ns)
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
	assert_int_equal(end(&turn, BLKIO, MS(90)), MS(90));
	turn_close(&turn);
	open_machine(&turn, *state);
	turn_must(&turn, 0);
	assert_int_equal(end(&turn, 0, MS(9000)), MS(7));
	turn_close(&turn);
}
