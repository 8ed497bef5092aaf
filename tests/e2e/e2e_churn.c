// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks come, go, change and leave their pids to others: figures stay those of a task. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <errno.h>
#include <linux/sched.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sample's time is its beginning: what is read last may be that much older. */
#define SLACK_S 1.0

/* A member that is true. */
static bool flag(json_t *task, const char *name)
{
	json_t *v = json_object_get(task, name);

	assert_true(json_is_boolean(v));
	return json_is_true(v);
}

/* One kind of a row against the row before (NULL: none) of the same task. */
static void check_kind(json_t *older, json_t *task, const char *kind, bool born)
{
	static const char *const what[] = { "count", "ns" };
	uint64_t now, then, delta;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (kind_unset(task, "delta", kind, what[i]))
			continue;
		/* who was there before but was not seen has no interval */
		if (!born && !older)
			fail_msg("%s of %ju (%s), seen first, has a delta", kind,
				 member_u64(task, "pid"), member_text(task, "comm"));
		if (!born && kind_unset(older, "cumulative", kind, what[i]))
			continue;
		/* What was booked wrongly may show only when few threads are left. */
		if (!strcmp(kind, "blkio") && kind_unset(task, "cumulative", kind, what[i]))
			continue;
		then = born ? 0 : kind_value(older, "cumulative", kind, what[i]);
		now = kind_value(task, "cumulative", kind, what[i]);
		delta = kind_value(task, "delta", kind, what[i]);
		if (delta != (now > then ? now - then : 0))
			fail_msg("%s %s of %ju (%s): %ju, then %ju, but delta %ju", kind, what[i],
				 member_u64(task, "pid"), member_text(task, "comm"), then, now,
				 delta);
	}
}

/* A thread cannot run for longer than the interval, nor wait for longer than it lives. */
static void check_bounds(json_t *task, const char *kind, double age)
{
	uint64_t ns;

	/* the kernel may book a block I/O wait that shares its CPU wrongly */
	if (!strcmp(kind, "blkio") || kind_unset(task, "delta", kind, "ns"))
		return;
	ns = kind_value(task, "delta", kind, "ns");
	if ((double)ns / 1e9 > age + SLACK_S)
		fail_msg("%s of %s (%ju): %ju ns in a life of %f s", kind,
			 member_text(task, "comm"), member_u64(task, "pid"), ns, age);
}

/* All rows of a sample against the one before. */
static size_t check_sample(json_t *previous, json_t *sample, bool threads)
{
	struct task_index index = { 0 };
	size_t i, k, born = 0;
	json_t *task;

	if (previous)
		index_tasks(previous, &index);
	json_array_foreach(json_object_get(sample, "tasks"), i, task)
	{
		json_t *older = indexed_task(&index, member_u64(task, "pid"));
		double start = member_real(task, "start");
		bool is_new = flag(task, "new");

		if (older && fabs(member_real(older, "start") - start) > 0.005) {
			if (!is_new)
				fail_msg("pid %ju was used again, but is not new",
					 member_u64(task, "pid"));
			older = NULL;
		}
		if (older && is_new)
			fail_msg("%s (%ju) is new twice", member_text(task, "comm"),
				 member_u64(task, "pid"));
		for (k = 0; k < READER_KINDS && (previous || is_new); k++)
			check_kind(older, task, reader_kind_names[k], is_new);
		for (k = 0; k < READER_KINDS && threads; k++)
			/* The row was read after the sample began: its interval may be longer. */
			check_bounds(task, reader_kind_names[k],
				     fmax(member_real(sample, "time") - start,
					  member_real(task, "interval")));
		if (threads && !json_is_null(json_object_get(task, "run_ns")))
			assert_true((double)member_u64(task, "run_ns") / 1e9 <
				    member_real(task, "interval") * 1.05 + SLACK_S);
		born += is_new;
	}
	return born;
}

/* Many samples while tasks come and go. */
static void check_churn(const char *options, bool threads)
{
	struct e2e_result r;
	struct samples s;
	size_t i, born = 0;

	e2e_run(&r, NULL, "-b -n 20 -d 0.15 -o json%s", options);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 20);
	for (i = 0; i < s.n; i++)
		born += check_sample(i ? s.v[i - 1] : NULL, s.v[i], threads);
	/* or else this was no test */
	assert_true(born > 20);
}

/* Process rows. */
E2E_TEST(test_churn)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	assert_true(e2e_load(NULL, "load_churn threads") > 0);
	check_churn("", false);
}

/* Thread rows. */
E2E_TEST(test_churn_threads)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	assert_true(e2e_load(NULL, "load_churn threads") > 0);
	check_churn(" -H", true);
}

/* Without privileges. */
E2E_TEST(test_churn_procfs)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	check_churn(" --source procfs", false);
}

/* A child that uses its CPU and copies pages, or does nothing at all. */
static void child_life(bool busy)
{
	volatile unsigned char *mem;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "reused");
	alarm(60);
	mem = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!busy || mem == MAP_FAILED)
		for (;;)
			pause();
	for (;;) {
		for (i = 0; i < 1 << 20; i += 4096)
			(void)mem[i];
		for (i = 0; i < 1 << 20; i += 4096)
			mem[i] = 1;
		madvise((void *)(uintptr_t)mem, 1 << 20, MADV_DONTNEED);
	}
}

/* A child with a pid of our choice; 0 lets the kernel choose. */
static pid_t clone_with_pid(pid_t pid, bool busy)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t got;

	args.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0;
	args.set_tid_size = pid != 0;
	fflush(NULL);
	got = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (got == 0)
		child_life(busy);
	if (got > 0)
		guard_push_child(got);
	return got;
}

/* The second task is new once, in the first sample that sees it. */
static void check_second(struct samples *s, pid_t pid, bool busy)
{
	double first_start = member_real(task_must(s->v[0], pid), "start");
	size_t i, changes = 0;

	for (i = 1; i < s->n; i++) {
		json_t *task = task_must(s->v[i], pid);
		bool changed = fabs(member_real(task, "start") - first_start) > 0.005;

		changes += flag(task, "new");
		assert_int_equal(changes, changed);
		check_sample(s->v[i - 1], s->v[i], false);
	}
	assert_int_equal(changes, 1);
	if (busy)
		assert_true(member_u64(task_must(s->v[s->n - 1], pid), "run_ns") > 0);
}

/* A pid goes from one task to the next while the program looks; false if it saw none. */
static bool check_reuse(const char *options, bool first_busy, bool second_busy)
{
	pid_t pid = clone_with_pid(0, first_busy);
	struct e2e_result r;
	struct samples s;
	struct e2e_proc p;
	bool seen = true;
	size_t i;

	assert_true(pid > 0);
	e2e_sleep(0.3);
	e2e_start_stalltop(&p, NULL, e2e_format("-b -n 6 -d 0.2 -o json%s", options));
	assert_non_null(e2e_line(&p, 20));
	assert_non_null(e2e_line(&p, 20));
	/* between two samples, where nobody sees the pid unused */
	e2e_sleep(0.1);
	e2e_kill(pid);
	assert_int_equal(clone_with_pid(pid, second_busy), pid);
	e2e_finish(&p, 20, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 6);
	for (i = 0; i < s.n; i++)
		seen &= task_of(s.v[i], pid) != NULL;
	if (seen)
		check_second(&s, pid, second_busy);
	e2e_kill(pid);
	return seen;
}

/* The second task's counters are below the first's, or above: it is new in any case. */
E2E_TEST(test_reuse)
{
	static const char *const options[] = { "", " -H", " --source procfs" };
	pid_t probe;
	size_t i;
	int tries;

	e2e_require();
	probe = clone_with_pid(0, false);
	if (probe < 0)
		e2e_skip("no clone3");
	e2e_kill(probe);
	for (i = 0; i < 6; i++) {
		/* on a busy machine a sample may fall between the two tasks */
		for (tries = 0; tries < 8; tries++)
			if (check_reuse(options[i / 2], i % 2 == 0, i % 2 == 1))
				break;
		if (tries == 8)
			fail_msg("a sample without the pid, eight times (%s)", options[i / 2]);
	}
}

/*
 * Samples of one pid, which is never new after the first, and of this program: of others some
 * may exec in a thread, which takes another's pid.
 */
static void watch(const char *options, pid_t pid, struct samples *s)
{
	struct e2e_result r;
	size_t i;

	e2e_run(&r, NULL, "-b -n 6 -d 0.4 -o json -p %d,%d%s", (int)pid, (int)getpid(), options);
	check_silent_success(&r);
	parse_json(&r, s);
	assert_int_equal(s->n, 6);
	for (i = 0; i < s->n; i++) {
		check_sample(i ? s->v[i - 1] : NULL, s->v[i], false);
		assert_false(flag(task_must(s->v[i], pid), "new"));
	}
}

/* exec: another name, the same task. */
E2E_TEST(test_exec)
{
	const char *argv[] = { "/bin/sh", "-c", "sleep 1.2; exec sleep 60", NULL };
	struct samples s;
	struct e2e_proc p;

	e2e_require();
	e2e_start(&p, NULL, argv);
	watch("", p.pid, &s);
	assert_string_equal(member_text(task_must(s.v[0], p.pid), "comm"), "sh");
	assert_string_equal(member_text(task_must(s.v[5], p.pid), "comm"), "sleep");
	e2e_kill(p.pid);
	close(p.out);
	close(p.err);
}

/* exec by another thread: it takes over the leader's pid and start. */
E2E_TEST(test_thread_exec)
{
	struct samples s;
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_churn thread-exec 1200");
	watch("", pid, &s);
	assert_string_equal(member_text(task_must(s.v[0], pid), "comm"), "load_churn");
	assert_string_equal(member_text(task_must(s.v[5], pid), "comm"), "sleep");
}

/* setuid: another user. */
E2E_TEST(test_setuid)
{
	struct samples s;
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_churn setuid 1200");
	watch("", pid, &s);
	assert_int_equal(member_u64(task_must(s.v[0], pid), "uid"), 0);
	assert_string_equal(member_text(task_must(s.v[0], pid), "user"), "root");
	assert_int_equal(member_u64(task_must(s.v[5], pid), "uid"), NOBODY);
	assert_string_equal(member_text(task_must(s.v[5], pid), "user"), "nobody");
}

/* A parent dies: its child has another. */
E2E_TEST(test_orphan)
{
	struct samples s;
	pid_t parent, child;

	e2e_require();
	/* so that the orphan comes to us, and is known to end */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	parent = e2e_load(NULL, "load_churn orphan 1200");
	child = atoi(e2e_load_line());
	assert_true(child > 0);
	watch("", child, &s);
	assert_int_equal(member_u64(task_must(s.v[0], child), "ppid"), parent);
	assert_int_equal(member_u64(task_must(s.v[5], child), "ppid"), getpid());
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* The leader has ended, its process goes on. */
E2E_TEST(test_leaderless)
{
	struct samples s;
	json_t *task;
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_churn leaderless");
	watch("", pid, &s);
	task = task_must(s.v[5], pid);
	assert_string_equal(member_text(task, "comm"), "load_churn");
	assert_true(member_u64(task, "run_ns") > 0);
	assert_false(flag(task, "exited"));
}

/* The row of a thread that is not the leader. */
static json_t *other_thread(json_t *sample, pid_t tgid)
{
	json_t *task;
	size_t i;

	json_array_foreach(json_object_get(sample, "tasks"), i,
			   task) if (member_u64(task, "tgid") == (uint64_t)tgid &&
				     member_u64(task, "pid") != (uint64_t)tgid) return task;
	fail_msg("no thread of %d but its leader", (int)tgid);
	return NULL;
}

/* How long a row has waited by now: null, or in s. */
static json_t *wait_of(json_t *task)
{
	return json_object_get(json_object_get(task, "fields"), "wait");
}

/* The task, or a thread of it, must have waited for as long as we looked on, at least. */
static void check_waits(json_t *task, size_t i)
{
	/* the first sample is the baseline's next: one interval, of 0.4 s */
	assert_true(fabs(json_number_value(wait_of(task)) - 0.4 * (double)(i + 1)) < 0.39);
}

/* And be in such a wait itself. */
static void check_stuck(json_t *task, size_t i)
{
	assert_string_equal(member_text(task, "state"), "D");
	check_waits(task, i);
}

/* A wait that does not end is booked nowhere, but seen. */
E2E_TEST(test_stuck)
{
	struct samples s;
	pid_t pid;
	size_t i;

	e2e_require();
	pid = e2e_load(NULL, "load_churn stuck");
	e2e_await_hang(pid);
	watch(" -F +wait,+state", pid, &s);
	for (i = 0; i < s.n; i++)
		check_stuck(task_must(s.v[i], pid), i);
	assert_true(json_is_null(wait_of(task_must(s.v[0], getpid()))));
}

/* The same of one thread: its row has it, its leader's has not, and their process's has it. */
E2E_TEST(test_stuck_thread)
{
	static const char *const options[] = { " -H -F +wait,+state --source taskstats",
					       " -H -F +wait,+state --source procfs" };
	struct samples s;
	pid_t pid;
	size_t i, k;

	e2e_require();
	pid = e2e_load(NULL, "load_churn stuck-thread");
	e2e_await_hang(pid);
	for (k = 0; k < 2; k++) {
		watch(options[k], pid, &s);
		for (i = 0; i < s.n; i++) {
			check_stuck(other_thread(s.v[i], pid), i);
			assert_true(json_is_null(wait_of(task_must(s.v[i], pid))));
		}
	}
	watch(" -F +wait,+state --source taskstats", pid, &s);
	for (i = 0; i < s.n; i++) {
		assert_string_equal(member_text(task_must(s.v[i], pid), "state"), "S");
		check_waits(task_must(s.v[i], pid), i);
	}
}
