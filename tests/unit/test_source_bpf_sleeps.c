// SPDX-License-Identifier: GPL-2.0-or-later
/* What the scheduler adds up of sleep in state D, in samples made of walks:
 * kernel.sched_schedstats. */
#include "tests/lib/test.h"

#include "model/exit_merge.h"
#include "tests/lib/tree.h"
#include "tests/lib/walks.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))

#define PID 10

/* Sets the switch in the made-up /proc. */
static void set_switch(const struct tree *tree, char value)
{
	int fd = openat(tree->fd, "sys/kernel/sched_schedstats", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(write(fd, &value, 1), 1);
	close(fd);
}

/* Some processes in a machine whose switch is on. */
static void open_machine(struct turn *turn, const struct tree *tree)
{
	turn_open(turn, false);
	turn->env.proc = tree->proc;
	mkdirat(tree->fd, "sys", 0700);
	mkdirat(tree->fd, "sys/kernel", 0700);
	set_switch(tree, '1');
	for (pid_t pid = PID; pid < PID + 3; pid++) {
		walk_run(walk_add(pid, pid, MS(pid)), 0, MS(pid));
		walk_find(pid)->parts[0].sleeps = SNAPSHOT_SLEEPS_KNOWN;
	}
}

/* The first part of the task that is looked at; something happened to it. */
static struct snapshot_record *part(void)
{
	struct walk_task *task = walk_find(PID);

	task->changed = true;
	return &task->parts[0];
}

/* It waits in state D, for so long by now: the stamp of that is known. */
static void blocks(struct snapshot_record *record, uint64_t ns)
{
	record->wait = SNAPSHOT_WAIT_D;
	record->waited_ns = ns;
	record->dwait_ns += ns;
	record->sleeps |= SNAPSHOT_SLEEPS_BLOCKED;
}

/* It wakes up; of the wait it has not been read for so long. */
static void wakes(struct snapshot_record *record, uint64_t more_ns)
{
	record->wait = SNAPSHOT_NO_WAIT;
	record->dwait_ns += more_ns;
	record->sleeps &= ~SNAPSHOT_SLEEPS_BLOCKED;
	record->run_ns += MS(1);
}

/* Waits in I/O that have ended: as booked, and as the scheduler saw them. */
static void does_io(struct snapshot_record *record, unsigned n, uint64_t booked_ns, unsigned seen,
		    uint64_t slept_ns)
{
	record->delay[DELAY_BLKIO].ns += booked_ns;
	record->count[DELAY_BLKIO] += n;
	record->iowait_ns += slept_ns;
	record->iowaits += seen;
}

/* What the task waited in state D in the next sample. */
static uint64_t dwait_ns(struct turn *turn)
{
	return turn_element(turn_must(turn, 0), PID)->now.waits.dwait_ns;
}

/* Waits that no sample meets are known, and each part of a wait counts once. */
TREE_TEST(test_dwait)
{
	struct turn turn;

	open_machine(&turn, *state);
	part()->dwait_ns = MS(5000); /* from before the first sample */
	turn_must(&turn, 0);
	assert_int_equal(walks.whole, 1);
	assert_int_equal(dwait_ns(&turn), 0);
	wakes(part(), MS(150));
	assert_int_equal(dwait_ns(&turn), MS(150));
	assert_int_equal(dwait_ns(&turn), 0);
	assert_int_equal(dwait_ns(&turn), 0);
	/* One that ended, and one that goes on. */
	wakes(part(), MS(40));
	blocks(part(), MS(300));
	assert_int_equal(dwait_ns(&turn), MS(340));
	assert_int_equal(dwait_ns(&turn), NSEC_PER_SEC);
	assert_int_equal(dwait_ns(&turn), NSEC_PER_SEC);
	part()->dwait_ns += 2 * NSEC_PER_SEC;
	wakes(part(), MS(700));
	assert_int_equal(dwait_ns(&turn), MS(700));
	assert_int_equal(dwait_ns(&turn), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(dwait_ns(&turn), 0);
	assert_int_equal(walks.whole, 1);
	turn_close(&turn);
}

/* What was seen of waits is the least: of those from before the switch nothing is added up. */
TREE_TEST(test_seen)
{
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	part()->wait = SNAPSHOT_WAIT_D;
	part()->waited_ns = MS(800);
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, PID)->now.waits.dwait_ns, MS(800));
	wakes(part(), 0);
	assert_int_equal(dwait_ns(&turn), 0);
	turn_close(&turn);
}

/* Nothing is compared across the switch; all are read when it is switched on. */
TREE_TEST(test_switch)
{
	struct turn turn;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	set_switch(*state, '0');
	part()->dwait_ns += MS(400);
	assert_int_equal(dwait_ns(&turn), 0);
	assert_int_equal(walks.whole, 1);
	part()->dwait_ns += MS(400);
	assert_int_equal(dwait_ns(&turn), 0);
	set_switch(*state, '1');
	part()->dwait_ns += MS(400);
	assert_int_equal(dwait_ns(&turn), 0);
	assert_int_equal(walks.whole, 2);
	part()->dwait_ns += MS(70);
	assert_int_equal(dwait_ns(&turn), MS(70));
	assert_int_equal(walks.whole, 2);
	/* A stamp from before is booked with the next sleep, once. */
	part()->sleeps |= SNAPSHOT_SLEEPS_STALE;
	assert_int_equal(dwait_ns(&turn), 0);
	assert_int_equal(dwait_ns(&turn), 0);
	part()->sleeps &= ~SNAPSHOT_SLEEPS_STALE;
	part()->dwait_ns += MS(99999);
	assert_int_equal(dwait_ns(&turn), 0);
	part()->dwait_ns += MS(60);
	assert_int_equal(dwait_ns(&turn), MS(60));
	turn_close(&turn);
}

/* A kernel without the switch. */
TREE_TEST(test_none)
{
	struct turn turn;

	open_machine(&turn, *state);
	unlinkat(((struct tree *)*state)->fd, "sys/kernel/sched_schedstats", 0);
	turn_must(&turn, 0);
	part()->dwait_ns += MS(400);
	assert_int_equal(dwait_ns(&turn), 0);
	turn_close(&turn);
}

/* Sums are those of living threads: they are compared where these are the same. */
TREE_TEST(test_threads)
{
	struct turn turn;
	struct walk_task *task;

	open_machine(&turn, *state);
	task = walk_find(PID);
	task->nparts = 3;
	task->parts[1] = (struct snapshot_record){ .part = SNAPSHOT_ENDED, .pid = PID };
	task->parts[2] = task->parts[0];
	task->parts[2].part = SNAPSHOT_THREAD;
	task->parts[2].pid = 77;
	turn_must(&turn, 0);
	task->parts[2].dwait_ns += MS(200);
	part()->dwait_ns += MS(10);
	assert_int_equal(dwait_ns(&turn), MS(210));
	/* One ends and another begins. */
	task->parts[2].pid = 78;
	task->parts[2].dwait_ns = 0;
	part()->dwait_ns += MS(500);
	assert_int_equal(dwait_ns(&turn), 0);
	part()->dwait_ns += MS(20);
	assert_int_equal(dwait_ns(&turn), MS(20));
	/* Of a thread of another class nothing is known. */
	task->parts[2].sleeps = 0;
	part()->dwait_ns += MS(30);
	assert_int_equal(dwait_ns(&turn), 0);
	turn_close(&turn);
}

/* Who is new has its life to show. Who was only not met has not. */
TREE_TEST(test_born)
{
	struct snapshot_record *record;
	struct turn turn;
	struct sample *cur;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	record = walk_add(30, 30, walks.now_ns + MS(100))->parts;
	record->sleeps = SNAPSHOT_SLEEPS_KNOWN;
	record->dwait_ns = MS(120);
	does_io(record, 2, MS(600), 2, MS(40));
	record = walk_add(31, 31, MS(31))->parts;
	record->sleeps = SNAPSHOT_SLEEPS_KNOWN;
	record->dwait_ns = MS(120);
	does_io(record, 2, MS(600), 2, MS(40));
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, 30)->now.waits.dwait_ns, MS(120));
	assert_int_equal(turn_element(cur, 30)->counters.delay[DELAY_BLKIO].ns, MS(40));
	assert_int_equal(turn_element(cur, 31)->now.waits.dwait_ns, 0);
	assert_int_equal(turn_element(cur, 31)->counters.delay[DELAY_BLKIO].ns, MS(600));
	assert_int_equal(cur->corrected, 1);
	turn_close(&turn);
}

/* What is booked far beyond what the scheduler saw is cut, for good. */
TREE_TEST(test_blkio)
{
	uint64_t before;
	struct turn turn;
	struct sample *cur;
	struct delay_sum *sum;

	open_machine(&turn, *state);
	cur = turn_must(&turn, 0);
	before = turn_element(cur, PID)->counters.delay[DELAY_BLKIO].ns;
	does_io(part(), 20, MS(7000), 20, MS(900));
	cur = turn_must(&turn, 0);
	sum = &turn_element(cur, PID)->counters.delay[DELAY_BLKIO];
	assert_int_equal(sum->ns, before + MS(900));
	assert_int_equal(cur->corrected, 1);
	assert_int_equal(turn_element(cur, PID)->task->overbooked_ns, MS(6100));
	/* A fifth more may be right, and a few ms are no matter. */
	does_io(part(), 20, MS(1000), 20, MS(850));
	cur = turn_must(&turn, 0);
	sum = &turn_element(cur, PID)->counters.delay[DELAY_BLKIO];
	assert_int_equal(sum->ns, before + MS(1900));
	assert_int_equal(cur->corrected, 0);
	does_io(part(), 2, MS(8), 2, MS(1));
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, PID)->counters.delay[DELAY_BLKIO].ns, before + MS(1908));
	/* Waits that are booked, but not in state D: of io_uring. */
	does_io(part(), 20, MS(900), 15, MS(100));
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, PID)->counters.delay[DELAY_BLKIO].ns, before + MS(2808));
	assert_int_equal(cur->corrected, 0);
	/* With the switch off it stays left out. */
	set_switch(*state, '0');
	does_io(part(), 5, MS(100), 0, 0);
	cur = turn_must(&turn, 0);
	assert_int_equal(turn_element(cur, PID)->counters.delay[DELAY_BLKIO].ns, before + MS(2908));
	turn_close(&turn);
}

/* The exit record has what the kernel booked; what was too much is left out there, too. */
TREE_TEST(test_exit)
{
	struct exit_record record = { .pid = PID, .tgid = PID, .last = true, .single = true };
	struct exit_batch batch = { .records = &record, .n = 1 };
	struct turn turn;
	struct sample *cur;
	struct task_raw *raw;

	open_machine(&turn, *state);
	turn_must(&turn, 0);
	does_io(part(), 20, MS(7000), 20, MS(900));
	cur = turn_must(&turn, 0);
	raw = turn_element(cur, PID);
	record.life_ns = walks.now_ns - MS(PID);
	record.lo_ns = record.hi_ns = walks.now_ns;
	record.counters = raw->counters;
	record.counters.delay[DELAY_BLKIO].ns += MS(6100) + MS(50);
	record.counters.delay[DELAY_BLKIO].count++;
	exit_merge(&batch, &turn.samples[(turn.now + SAMPLES - 1) % SAMPLES], cur);
	assert_true(raw->exited);
	assert_int_equal(raw->counters.delay[DELAY_BLKIO].ns, MS(PID) + DELAY_BLKIO + MS(950));
	turn_close(&turn);
}
