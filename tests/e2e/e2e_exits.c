// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that end between two samples: each is counted, once, with all that it did. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"
#include "tests/lib/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Computes for 50 ms of CPU time. */
static void compute(void)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_nsec < 50000000 && !ts.tv_sec);
}

/* A child of ours; 0 in the child. */
static pid_t fork_named(const char *name)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		guard_push_child(pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	alarm(60);
	return 0;
}

/* One that computes, copies pages, then stops until it is to go on. */
static pid_t spawn(const char *name, int status)
{
	volatile unsigned char *mem;
	pid_t pid = fork_named(name);
	size_t i;

	if (pid)
		return pid;
	mem = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		_exit(99);
	for (i = 0; i < 1 << 20; i += 4096)
		(void)mem[i];
	for (i = 0; i < 1 << 20; i += 4096)
		mem[i] = 1;
	compute();
	raise(SIGSTOP);
	_exit(status);
}

/* Waits until it has stopped. */
static void await_stop(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

/* Ends a stopped child with that signal; its status is left to be asked for, or not. */
static void let_end(pid_t pid, int sig, bool reap)
{
	siginfo_t info;

	assert_int_equal(kill(pid, sig), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | (reap ? 0 : WNOWAIT)), 0);
	if (reap)
		guard_forget_child(pid);
}

/* Row after row a delta is what was added, of one kind. */
static void add_delta(json_t *task, const char *kind, bool first, uint64_t *sum)
{
	/* who was there before brings its past */
	const char *which = first && !flag(task, "new") ? "cumulative" : "delta";

	*sum += kind_value(task, which, kind, "ns");
	assert_int_equal(*sum, kind_value(task, "cumulative", kind, "ns"));
}

/* What an independent reader saw shortly before the end, and a little more. */
static void check_against(json_t *task, const struct reader_record *rec)
{
	size_t i;

	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];
		uint64_t count;

		if (!rec->kind[i].valid || kind_unset(task, "cumulative", kind, "count"))
			continue;
		count = kind_value(task, "cumulative", kind, "count");
		assert_in_range(count, rec->kind[i].count, rec->kind[i].count + 64);
	}
}

/* A task's rows: born at most once, ended once, no row after that; its last one. */
static json_t *check_life(const struct watch *watch, pid_t pid)
{
	uint64_t cpu = 0, copy = 0;
	json_t *task = NULL;
	size_t i, n = 0;

	for (i = 0; i < watch->n; i++) {
		json_t *last = row_of(watch->v[i], pid, true);
		json_t *now = row_of(watch->v[i], pid, false);

		if (!now && !last)
			continue;
		if (task && flag(task, "exited"))
			fail_msg("%s has ended, but is there again", member_text(task, "comm"));
		assert_true(!now || !last);
		task = now ? now : last;
		add_delta(task, "cpu", !n, &cpu);
		add_delta(task, "wpcopy", !n, &copy);
		assert_true(!n++ || !flag(task, "new"));
	}
	assert_true(task && flag(task, "exited"));
	assert_int_equal(member_u64(task, "members"), 1);
	return task;
}

/* Two that live in one interval or two, and one that was there before. */
E2E_TEST(test_rows)
{
	static const char *const names[] = { "exits-older", "exits-code", "exits-signal" };
	static const int ends[] = { 0, 7, SIGKILL };
	struct reader_record rec[3];
	struct watch watch;
	json_t *task;
	pid_t pid[3];
	int i;

	e2e_require();
	pid[0] = spawn(names[0], ends[0]);
	watch_start(&watch, NULL, "-d 0.7");
	pid[1] = spawn(names[1], ends[1]);
	pid[2] = spawn(names[2], 0);
	for (i = 0; i < 3; i++) {
		await_stop(pid[i]);
		assert_int_equal(reader_pid(pid[i], &rec[i]), 0);
		let_end(pid[i], i == 2 ? SIGKILL : SIGCONT, true);
	}
	watch_past(&watch);
	watch_some(&watch, 2);
	watch_end(&watch);
	for (i = 0; i < 3; i++) {
		task = check_life(&watch, pid[i]);
		check_against(task, &rec[i]);
		assert_string_equal(member_text(task, "comm"), names[i]);
		assert_int_equal(member_u64(task, "ppid"), getpid());
		assert_true(is_null(task, i == 2 ? "exit_code" : "signal"));
		assert_int_equal(member_u64(task, i == 2 ? "signal" : "exit_code"), ends[i]);
	}
	/* the time before the last tick is in it */
	task = check_life(&watch, pid[1]);
	assert_true(!flag(task, "new") || member_u64(task, "run_ns") > 40000000);
	assert_false(flag(check_life(&watch, pid[0]), "new"));
}

/* Who has ended but was not waited for is counted once, and may stay for long. */
E2E_TEST(test_zombie)
{
	struct watch watch;
	size_t i, k, exited = 0, zombie = 0;
	pid_t pid;

	e2e_require();
	watch_start(&watch, NULL, "-d 0.4 -F +state");
	pid = spawn("exits-zombie", 0);
	await_stop(pid);
	let_end(pid, SIGCONT, false);
	watch_past(&watch);
	watch_some(&watch, 2);
	let_end(pid, SIGCONT, true);
	watch_past(&watch);
	watch_some(&watch, 1);
	watch_end(&watch);
	for (i = 0; i < watch.n; i++) {
		json_t *task = row_of(watch.v[i], pid, false);

		exited += row_of(watch.v[i], pid, true) != NULL;
		if (!exited || !task)
			continue;
		zombie++;
		assert_string_equal(member_text(task, "state"), "Z");
		for (k = 0; k < READER_KINDS; k++)
			assert_true(kind_unset(task, "delta", reader_kind_names[k], "ns") ||
				    !kind_value(task, "delta", reader_kind_names[k], "ns"));
		assert_int_equal(member_u64(task, "run_ns"), 0);
	}
	assert_int_equal(exited, 1);
	assert_true(zombie >= 2);
	assert_null(row_of(watch.v[watch.n - 1], pid, false));
}

/* Tells the test that the thread has done what it is for. */
static void tell(int told)
{
	if (write(told, "", 1) != 1)
		_exit(99);
}

/* Ends, or (where it is to tell) ends its process, whose leader has ended by then. */
static void *thread_life(void *told)
{
	prctl(PR_SET_NAME, "exits-thread");
	compute();
	if (told) {
		tell(*(int *)told);
		e2e_sleep(1);
		_exit(5);
	}
	return NULL;
}

/* A process whose thread ends, or whose leader ends first. */
static pid_t spawn_threads(bool leader_first)
{
	static int told[2];
	pthread_t thread;
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	pid = fork_named("exits-leader");
	if (pid) {
		close(told[1]);
		assert_int_equal(read(told[0], &byte, 1), 1);
		close(told[0]);
		return pid;
	}
	if (pthread_create(&thread, NULL, thread_life, leader_first ? &told[1] : NULL))
		_exit(99);
	if (leader_first)
		syscall(SYS_exit, 0);
	pthread_join(thread, NULL);
	tell(told[1]);
	for (;;)
		pause();
}

/* Such a process from its start to its end. */
static pid_t watch_threads(struct watch *watch, const char *options, bool leader_first)
{
	pid_t pid;

	watch_start(watch, NULL, options);
	pid = spawn_threads(leader_first);
	watch_past(watch);
	let_end(pid, leader_first ? SIGCONT : SIGKILL, true);
	watch_past(watch);
	watch_some(watch, 1);
	watch_end(watch);
	return pid;
}

/* A thread's end: a row of its own with -H, else in the sum of its process, which lives on. */
E2E_TEST(test_thread)
{
	struct watch watch;
	json_t *task;
	size_t at, end;
	pid_t pid;

	e2e_require();
	pid = watch_threads(&watch, "-d 0.5", false);
	task = check_life(&watch, pid);
	assert_int_equal(member_u64(task, "signal"), SIGKILL);
	pid = watch_threads(&watch, "-d 0.5 -H", false);
	task = row_named(&watch, "exits-thread", true, &at);
	assert_int_equal(member_u64(task, "tgid"), pid);
	assert_int_not_equal(member_u64(task, "pid"), pid);
	assert_int_equal(member_u64(task, "exit_code"), 0);
	assert_true(member_u64(task, "run_ns") > 40000000 || !flag(task, "new"));
	/* the process goes on */
	assert_non_null(row_of(watch.v[at], pid, false));
	task = row_named(&watch, "exits-leader", true, &end);
	assert_true(has_pid(task, pid));
	assert_int_equal(member_u64(task, "signal"), SIGKILL);
	assert_true(end > at);
}

/* A leader that ends first: the process ends with its last thread, by the leader's name. */
E2E_TEST(test_leader)
{
	struct watch watch;
	json_t *task;
	size_t at, end;
	pid_t pid;

	e2e_require();
	pid = watch_threads(&watch, "-d 0.5", true);
	task = check_life(&watch, pid);
	assert_string_equal(member_text(task, "comm"), "exits-leader");
	assert_int_equal(member_u64(task, "exit_code"), 5);
	assert_true(is_null(task, "signal"));
	pid = watch_threads(&watch, "-d 0.5 -H", true);
	task = row_named(&watch, "exits-leader", true, &at);
	assert_true(has_pid(task, pid));
	task = row_named(&watch, "exits-thread", true, &end);
	assert_int_equal(member_u64(task, "tgid"), pid);
	assert_int_equal(member_u64(task, "exit_code"), 5);
	assert_true(end > at);
}

/* What children of a load that is looked at came to. */
struct brood {
	uint64_t rows, members, run_ns;
	json_t *row; /* the last that ended */
};

/* The children that a load makes. */
static void watch_brood(const char *kind, unsigned int n, unsigned int ms, struct load *load,
			struct brood *brood)
{
	struct watch watch;
	json_t *task;
	size_t i, k;

	memset(brood, 0, sizeof(*brood));
	assert_non_null(load_start(load, kind, n, ms));
	watch_start(&watch, NULL, "-d 1");
	load_go(load, &watch);
	assert_int_equal(load->ends, n);
	watch_past(&watch);
	watch_some(&watch, 1);
	watch_end(&watch);
	load_end(load);
	for (i = 1; i < watch.n; i++) {
		json_array_foreach(json_object_get(watch.v[i], "tasks"), k, task)
		{
			if (member_u64(task, "ppid") != (uint64_t)load->p.pid)
				continue;
			brood->run_ns += member_u64(task, "run_ns");
			if (!flag(task, "exited"))
				continue;
			brood->rows++;
			brood->members += member_u64(task, "members");
			brood->row = task;
		}
	}
}

/* Many alike are one row; a few are not. */
E2E_TEST(test_fold)
{
	struct brood brood = { 0 };
	struct load load;

	e2e_require();
	/* Those that end while a sample is taken may still be in the next, and are not folded. */
	for (unsigned i = 0; i < 8 && brood.rows != 1; i++)
		watch_brood("fork", 50, 0, &load, &brood);
	assert_int_equal(brood.rows, 1);
	assert_int_equal(brood.members, 50);
	/* one of them stands for all */
	assert_true(member_u64(brood.row, "pid") != (uint64_t)load.p.pid);
	assert_int_equal(member_u64(brood.row, "tgid"), member_u64(brood.row, "pid"));
	assert_string_equal(member_text(brood.row, "comm"), "load_storm");
	assert_true(flag(brood.row, "new"));
	assert_int_equal(member_u64(brood.row, "exit_code"), 0);
	watch_brood("fork", 3, 0, &load, &brood);
	assert_int_equal(brood.rows, 3);
	assert_int_equal(brood.members, 3);
	/* what they ran is there but for the time since each one's last tick */
	watch_brood("busy", 10, 40, &load, &brood);
	assert_int_equal(brood.members, 10);
	print_message("busy: %ju ns of %ju\n", brood.run_ns, load.took_ns);
	assert_in_range(brood.run_ns + 100000000, load.took_ns, load.took_ns + 110000000);
}

/* How it ended stands behind the name. */
E2E_TEST(test_text)
{
	struct e2e_result r;
	struct e2e_proc p;
	struct load load;
	struct watch none = { .p = { .out = -1, .err = -1 } };
	pid_t pid[2];
	int i;

	e2e_require();
	assert_non_null(load_start(&load, "fork", 50, 0));
	e2e_start_stalltop(&p, NULL, "-b -n 3 -d 2.5");
	assert_non_null(e2e_line(&p, 20));
	load_go(&load, &none);
	pid[0] = spawn("exits-text", 3);
	pid[1] = spawn("exits-text", 0);
	for (i = 0; i < 2; i++) {
		await_stop(pid[i]);
		let_end(pid[i], i ? SIGKILL : SIGCONT, true);
	}
	e2e_finish(&p, 20, &r);
	load_end(&load);
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, " exits-text (exit 3)\n"));
	assert_true(strstr(r.out.data, " exits-text (SIGKILL)\n") ||
		    strstr(r.out.data, " exits-text (signal 9)\n"));
	assert_non_null(strstr(r.out.data, " load_storm (50 tasks)\n"));
}

/* Nobody listens: no row is of the past, and nothing is said of records. */
static void check_deaf(const struct watch *watch)
{
	json_t *task;
	size_t i, k;

	for (i = 0; i < watch->n; i++) {
		assert_true(is_null(watch->v[i], "exits_seen"));
		assert_true(is_null(watch->v[i], "exits_lost"));
		json_array_foreach(json_object_get(watch->v[i], "tasks"), k, task)
			assert_false(flag(task, "exited"));
	}
}

/* -x */
E2E_TEST(test_no_exits)
{
	struct watch watch;
	struct load load;

	e2e_require();
	assert_non_null(load_start(&load, "fork", 50, 0));
	watch_start(&watch, NULL, "-d 0.3 -x");
	load_go(&load, &watch);
	watch_past(&watch);
	watch_end(&watch);
	load_end(&load);
	check_deaf(&watch);
	assert_null(note_of(watch.v[watch.n - 1], "exits-refused"));
}

/* In another namespace, as unshare(1) makes it, it is told that there are no records. */
static void check_namespace(const char *options)
{
	const char *argv[] = { "/bin/sh", "-c",
			       e2e_format("exec unshare %s %s -b -n 2 -d 0.3 -o json", options,
					  e2e_stalltop()),
			       NULL };
	struct watch watch;
	struct e2e_result r;

	e2e_start(&watch.p, NULL, argv);
	watch.n = 0;
	while (watch_next(&watch, 20))
		;
	e2e_finish(&watch.p, 20, &r);
	if (r.status == 127 || (r.status == 1 && strstr(r.err.data, "unshare")))
		e2e_skip("no namespaces");
	check_silent_success(&r);
	assert_int_equal(watch.n, 2);
	check_deaf(&watch);
	assert_non_null(note_of(watch.v[1], "exits-refused"));
}

/* In a pid namespace the kernel refuses, and the rest goes on. */
E2E_TEST(test_namespace)
{
	e2e_require();
	check_namespace("-pf --mount-proc");
}

/* In a network namespace it takes the request, and sends nothing. */
E2E_TEST(test_network)
{
	e2e_require();
	check_namespace("-n");
}

/* Whether the sample has a row of the pid by that name that has not ended. */
static bool lives_as(json_t *sample, pid_t pid, const char *comm)
{
	json_t *task = row_of(sample, pid, false);

	return task && !strcmp(member_text(task, "comm"), comm);
}

/* What the one that lives ran from a sample until another. */
static uint64_t ran(const struct watch *watch, size_t from, size_t until, pid_t pid)
{
	uint64_t ns = 0;

	for (size_t i = from; i < until; i++)
		ns += member_u64(row_of(watch->v[i], pid, false), "run_ns");
	return ns;
}

/*
 * A process ends and another gets its pid: each has its own figures. False where that was not
 * within one interval.
 */
static bool check_reuse(const char *options, unsigned int first_ms, unsigned int second_ms)
{
	bool deaf = strstr(options, "-x") != NULL;
	struct watch watch;
	struct load load;
	json_t *task;
	size_t at, then;
	const char *said = load_start(&load, "reuse", first_ms, second_ms);
	pid_t pid = said ? atoi(said) : 0;

	if (!said)
		e2e_skip("no clone3");
	e2e_sleep(0.1);
	watch_start(&watch, NULL, e2e_format("-d 1 %s", options));
	load_go(&load, &watch);
	assert_int_equal(load.ends, 1);
	watch_past(&watch);
	watch_some(&watch, 1);
	watch_end(&watch);
	load_end(&load);
	/* the one that is there: new once, when the other was gone */
	for (at = 0; at < watch.n && !lives_as(watch.v[at], pid, "storm-second"); at++)
		;
	assert_true(at > 0 && at + 1 < watch.n);
	if (!lives_as(watch.v[at - 1], pid, "storm-first"))
		return false;
	assert_true(flag(row_of(watch.v[at], pid, false), "new"));
	assert_in_range(ran(&watch, at, watch.n, pid), second_ms * 1000000,
			(second_ms + 50) * 1000000);
	assert_false(flag(row_of(watch.v[at + 1], pid, false), "new"));
	if (deaf) {
		check_deaf(&watch);
		return true;
	}
	task = row_named(&watch, "storm-first", true, &then);
	assert_int_equal(then, at);
	assert_true(has_pid(task, pid));
	assert_int_equal(member_u64(task, "exit_code"), 3);
	assert_false(flag(task, "new"));
	/* but for the time since the last tick */
	assert_in_range(ran(&watch, 1, at, pid) + member_u64(task, "run_ns") + 10000000,
			first_ms * 1000000, (first_ms + 60) * 1000000);
	return true;
}

/* Once it was within one interval. */
static void await_reuse(const char *options, unsigned int first_ms, unsigned int second_ms)
{
	for (unsigned i = 0; i < 8; i++)
		if (check_reuse(options, first_ms, second_ms))
			return;
	fail_msg("never within one interval");
}

/* Whoever of the two did more. */
E2E_TEST(test_reuse)
{
	static const char *const options[] = { "", "-H", "-x", "-x -H" };
	size_t i;

	e2e_require();
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		await_reuse(options[i], 0, 100);
		await_reuse(options[i], 100, 0);
	}
}
