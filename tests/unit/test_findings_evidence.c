// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings by what was read of those that suffer: limits of their groups, rivals, rings. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "tests/lib/findings.h"

/* The evidence of a task, as of the second sample. */
static struct task_evidence *evidence_of(struct state *s, unsigned task)
{
	struct task_extra *of = sample_add_extra(&s->scene.samples[1], task);

	if (!of->evidence) {
		of->evidence = xcalloc(1, sizeof(*of->evidence));
		of->evidence->throttled = -1;
	}
	return of->evidence;
}

/* What a task waits on, as of the second sample. */
static struct task_waiting *waiting_of(struct state *s, unsigned task)
{
	struct task_extra *of = sample_add_extra(&s->scene.samples[1], task);

	if (!of->waiting)
		of->waiting = xcalloc(1, sizeof(*of->waiting));
	of->waiting->tid = s->now[task]->task->key.pid;
	return of->waiting;
}

/* Who is throttled does not wait for a CPU, and nobody is to blame for that. */
FINDINGS_TEST(test_throttled)
{
	struct state *s = *state;

	waits(s, 0, DELAY_CPU, 1600);
	runs(s, 0, 400);
	runs(s, 1, 1900);
	evidence_of(s, 0)->throttled = 80;
	evidence_of(s, 0)->quota = 0.2;
	build(s);
	assert_int_equal(s->findings.n, 1);
	check(s, 0, "throttled",
	      "cpu: alpha 1 throttled 80 % of the time by its cgroup's quota of 0.2 CPUs");
	/* By the first reading it is only known that it may be. */
	evidence_of(s, 0)->throttled = -1;
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 1600 ms");
	/* Who has a quota that it does not use waits for what others have. */
	evidence_of(s, 0)->quota = 2;
	evidence_of(s, 0)->rival = 2;
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU; beta 2 runs most, 95 %");
}

/* A budget of its own, or its group's for real-time tasks, is a cause as a quota is. */
FINDINGS_TEST(test_budgets)
{
	struct state *s = *state;
	struct task_evidence *evidence;
	struct site *site;

	waits(s, 0, DELAY_CPU, 1800);
	runs(s, 0, 200);
	set_idle(s, 90);
	evidence = evidence_of(s, 0);
	evidence->throttled = 90;
	evidence->quota = 0.1;
	evidence->budget = BUDGET_DEADLINE;
	build(s);
	assert_int_equal(s->findings.n, 1);
	check(s, 0, "throttled-idle",
	      "cpu: alpha 1 throttled 90 % of the time by its own deadline budget of 0.1 "
	      "CPUs, while CPUs are 90 % idle");
	assert_int_equal(s->findings.all[0].limit, LIMIT_DEADLINE);
	evidence->budget = BUDGET_REALTIME;
	build(s);
	check(s, 0, "throttled-idle",
	      "cpu: alpha 1 throttled 90 % of the time by its cgroup's real-time budget of 0.1 "
	      "CPUs, while CPUs are 90 % idle");
	assert_int_equal(s->findings.all[0].limit, LIMIT_REALTIME);
	/* Who lets the rest of its period go waits for nobody. */
	evidence->budget = BUDGET_YIELD;
	evidence->throttled = -1;
	build(s);
	assert_int_equal(s->findings.n, 0);
	/* The same as traced. */
	evidence->budget = BUDGET_QUOTA;
	evidence->quota = 0;
	site = traces(s, 0, STATE_CPU, 1780);
	site->on = SITE_THROTTLED "its own yield, until its next period";
	build(s);
	assert_int_equal(s->findings.n, 0);
	site->on = SITE_THROTTLED "its own deadline budget";
	build(s);
	check(s, 0, "throttled-idle",
	      "cpu: alpha 1 throttled 89 % of the time by its own deadline budget, while "
	      "CPUs are 90 % idle");
	assert_int_equal(s->findings.all[0].limit, LIMIT_DEADLINE);
}

/* Who ran elsewhere is not named. */
FINDINGS_TEST(test_rival)
{
	struct state *s = *state;

	waits(s, 0, DELAY_CPU, 1600);
	runs(s, 0, 400);
	runs(s, 1, 1900);
	runs(s, 2, 1700);
	evidence_of(s, 0)->rival = 3;
	build(s);
	check(s, 0, "cpu",
	      "cpu: alpha 1 waits 80 % of the time for a CPU; gamma 3 runs most, 85 %");
	evidence_of(s, 0)->rival = 0;
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU");
}

/* A limit of memory is told before the I/O that it makes. */
FINDINGS_TEST(test_limited)
{
	struct state *s = *state;
	struct task_evidence *evidence;

	waits(s, 0, DELAY_BLKIO, 780);
	evidence = evidence_of(s, 0);
	evidence->memory_limit = 40 << 20;
	evidence->memory_used = 40900 << 10;
	build(s);
	assert_int_equal(s->findings.n, 1);
	check(s, 0, "memory-limited",
	      "memory: alpha 1 waits 39 % of the time at its cgroup's limit of 40.0 MiB");
	evidence->memory_used = 30 << 20;
	build(s);
	check(s, 0, "io", "io: alpha 1 waits 39 % of the time");
	/* One task is one, also where it waits in two kinds. */
	evidence->memory_used = 40900 << 10;
	waits(s, 0, DELAY_THRASH, 900);
	build(s);
	check(s, 0, "memory-limited",
	      "memory: alpha 1 waits 45 % of the time at its cgroup's limit of 40.0 MiB");
}

/* One that writes much more than the others that wait for the disk makes them wait, and does not
 * suffer. */
FINDINGS_TEST(test_disk_writer)
{
	struct state *s = *state;

	waits(s, 0, DELAY_BLKIO, 1000);
	waits(s, 1, DELAY_BLKIO, 900);
	waits(s, 2, DELAY_BLKIO, 1200);
	evidence_of(s, 0)->writes = 100;
	evidence_of(s, 1)->writes = 20 * 1024;
	evidence_of(s, 2)->writes = 200;
	build(s);
	check(s, 0, "io",
	      "io: gamma 3 waits 60 % of the time (and 1 other); beta 2 writes 20 MB/s");
	/* Also where it waits most. */
	waits(s, 1, DELAY_BLKIO, 1000);
	build(s);
	check(s, 0, "io",
	      "io: gamma 3 waits 60 % of the time (and 1 other); beta 2 writes 20 MB/s");
	/* Two that write alike are not told apart. */
	evidence_of(s, 2)->writes = 19 * 1024;
	build(s);
	check(s, 0, "io", "io: beta 2 waits 95 % of the time (and 2 others)");
}

/* One that reads much more than the others at the same limit evicts what they need. */
FINDINGS_TEST(test_cache_reader)
{
	struct state *s = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct task_evidence *evidence = evidence_of(s, i);

		waits(s, i, DELAY_BLKIO, 1200 + 400 * i);
		evidence->memory_limit = evidence->memory_used = 60 << 20;
		evidence->memory_group.name = xstrdup("/cache");
		evidence->reads = i ? 900 * 1024 : 8 * 1024;
	}
	build(s);
	check(s, 0, "memory-limited",
	      "memory: alpha 1 waits 60 % of the time at its cgroup's limit of 60.0 MiB; beta 2 "
	      "reads "
	      "900 MB/s");
	/* Whoever could not be looked at may read more. */
	evidence_of(s, 0)->reads = -1;
	build(s);
	check(s, 0, "memory-limited",
	      "memory: beta 2 waits 80 % of the time at its cgroup's limit of 60.0 MiB (and 1 "
	      "other)");
	/* Who is at a limit of its own evicts nothing of others. */
	evidence_of(s, 0)->reads = 8 * 1024;
	*evidence_of(s, 0)->memory_group.name = '!';
	build(s);
	check(s, 0, "memory-limited",
	      "memory: beta 2 waits 80 % of the time at its cgroup's limit of 60.0 MiB (and 1 "
	      "other)");
}

/* Completions that only events bring are no I/O. */
FINDINGS_TEST(test_ring)
{
	struct state *s = *state;
	struct task_waiting *waiting = waiting_of(s, 0);

	waits(s, 0, DELAY_BLKIO, 2000);
	waiting->state = STATE_POLL;
	waiting->class = CLASS_IDLE;
	waiting->syscall = "io_uring_enter";
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 2000 ms");
	waiting->class = CLASS_REMOTE;
	build(s);
	check(s, 0, "io", "io: alpha 1 waits 100 % of the time");
}

/* Several of one service are one subject; those of another name are others. */
FINDINGS_TEST(test_service)
{
	struct state *s = *state;

	for (unsigned i = 0; i < 3; i++) {
		waits(s, i, DELAY_BLKIO, 1000 + 100 * i);
		task_set_comm(s->now[i]->task, i < 2 ? "server" : "gamma", i < 2 ? 6 : 5);
	}
	waits(s, 1, DELAY_BLKIO, 500);
	build(s);
	check(s, 0, "io", "io: 2 server wait up to 80 % of the time (and 1 other)");
	/* In another cgroup it is another service. */
	task_set_cgroup(s->now[0]->task, shared_text("/a"));
	task_set_cgroup(s->now[1]->task, shared_text("/b"));
	build(s);
	check(s, 0, "io", "io: server 2 waits 80 % of the time (and 2 others)");
}

/* Adds a record of tasks that ended and ran for most of the interval. */
static struct task_raw *add_storm(struct state *s)
{
	struct task_raw *left;

	sample_add_exited(&s->scene.samples[1], 1);
	for (unsigned i = 0; i < TASKS; i++)
		s->now[i] = s->scene.samples[1].raw[i];
	left = s->scene.samples[1].raw[TASKS];
	left->task = task_new((struct task_key){ .pid = 99, .start_ns = SEC(101) }, 99);
	task_set_comm(left->task, "sed", 3);
	left->tgid = left->pid = 99;
	left->was = -1;
	left->exited = true;
	left->read_ns = SEC(102);
	left->counters.valid = s->now[0]->counters.valid;
	left->counters.run_ns = MS(1500);
	left->counters.members = 1;
	return left;
}

/* Who comes and goes by the hundred is named by that, where nobody else runs more. */
FINDINGS_TEST(test_storm)
{
	struct state *s = *state;
	struct task_raw *left = add_storm(s);

	waits(s, 0, DELAY_CPU, 1600);
	runs(s, 0, 400);
	build(s);
	/* One is no storm. */
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU");
	left->counters.members = 50;
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU; sed: 25/s, 75 % CPU");
	/* Who starts them is named, if it is there. */
	left->task->ppid = 2;
	build(s);
	check(s, 0, "cpu",
	      "cpu: alpha 1 waits 80 % of the time for a CPU; beta 2 spawns 25 sed/s, 75 % CPU");
	left->task->ppid = 4711;
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU; sed: 25/s, 75 % CPU");
	/* Those that hardly ran are not whom others waited for. */
	left->counters.run_ns = MS(30);
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU");
	left->counters.run_ns = MS(1500);
	/* Who runs more than all of them is named. */
	runs(s, 1, 1900);
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 80 % of the time for a CPU; beta 2 runs most, 95 %");
}

/* Where only those that come and go wait, they are named together. */
FINDINGS_TEST(test_storm_alone)
{
	struct state *s = *state;
	struct system_sample *systems = s->scene.systems;
	struct task_raw *left = add_storm(s);

	left->counters.members = 50;
	left->counters.delay[DELAY_CPU] = (struct delay_sum){ 90, MS(900) };
	build(s);
	check_none(s, "no long waits; sed: 25/s, 75 % CPU");
	s->scene.info.head.delayacct = DELAYACCT_OFF;
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	check(s, 0, "uncounted", "disk and memory waits are unknown; sed: 25/s, 75 % CPU");
	for (unsigned i = 0; i < 2; i++) {
		systems[i].pressure.read_ns = SEC(100) + SEC(2) * i;
		systems[i].pressure.psi[PSI_CPU].some.valid = true;
		systems[i].pressure.psi[PSI_CPU].some.total_us = 5000 + 1120000 * i;
	}
	build(s);
	check_none(s, "cpu pressure 56 %; sed: 25/s, 75 % CPU");
	left->counters.members = 3;
	build(s);
	check_none(s, "cpu pressure 56 %; sed 99 (exited) waited most, 900 ms");
}

/* Of many names that came and went the one that ran most is named, not one that was met first. */
FINDINGS_TEST(test_storm_of_many)
{
	enum { NAMES = 40 };
	struct state *s = *state;

	sample_add_exited(&s->scene.samples[1], NAMES);
	for (unsigned i = 0; i < TASKS; i++)
		s->now[i] = s->scene.samples[1].raw[i];
	for (unsigned i = 0; i < NAMES; i++) {
		struct task_raw *left = s->scene.samples[1].raw[TASKS + i];
		pid_t pid = (pid_t)(200 + i);
		char name[16];

		left->task = task_new((struct task_key){ .pid = pid, .start_ns = SEC(101) }, pid);
		/* Another parent starts as many of that name: these are not the first one's. */
		snprintf(name, sizeof(name), "tool%u", i == 31 ? 30 : i);
		left->task->ppid = i == 30 ? 2 : 4711;
		task_set_comm(left->task, name, strlen(name));
		left->tgid = left->pid = pid;
		left->was = -1;
		left->exited = true;
		left->read_ns = SEC(102);
		left->counters.valid = s->now[0]->counters.valid;
		left->counters.run_ns = i == 30 ? MS(1500) : MS(5);
		left->counters.members = 50;
	}
	waits(s, 0, DELAY_CPU, 1600);
	runs(s, 0, 400);
	build(s);
	check(s, 0, "cpu",
	      "cpu: alpha 1 waits 80 % of the time for a CPU; beta 2 spawns 25 tool30/s, 75 "
	      "% CPU");
}

/* Copying pages is worth a word from a tenth of the time on. */
FINDINGS_TEST(test_wpcopy)
{
	struct state *s = *state;

	waits(s, 0, DELAY_WPCOPY, 340);
	build(s);
	check(s, 0, "wpcopy",
	      "memory: alpha 1 spends 17 % of the time in copy-on-write, as after fork(), "
	      "with 13 % of all memory in use");
}
