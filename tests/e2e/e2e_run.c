// SPDX-License-Identifier: GPL-2.0-or-later
/* A command's delays: what it and all its descendants waited for, however they are related. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Those of the whole machine: other tests run beside. */
#define RECORDS_MAX 32768
#define PID_LIMIT (1 << 22) /* include/linux/threads.h: PID_MAX_LIMIT */

/* A child that burns CPU time and is waited for, and an orphan that ends before the command. */
#define UNPRIVILEGED_TREE \
	"sh -c 'while read -r a b c < /proc/self/schedstat; do [ \"$a\" -gt 300000000 ] && exit; " \
	"done'; (true & exec sleep 0.1) & wait; exit 0"

/* Starts the program with a command as one argument of a shell. */
static void start_shell(struct e2e_proc *p, const struct e2e_how *how, const char *options,
			const char *script)
{
	const char *argv[16] = { e2e_stalltop() };
	char *copy = e2e_keep(strdup(options)), *word, *rest = copy;
	size_t n = 1;

	while ((word = strsep(&rest, " ")))
		if (*word)
			argv[n++] = word;
	argv[n++] = "--";
	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = script;
	e2e_start(p, how, argv);
}

/* The same to its end; the object that it wrote to standard error. */
static json_t *run_shell(const struct e2e_how *how, const char *options, const char *script,
			 struct e2e_result *r)
{
	struct e2e_proc p;

	start_shell(&p, how, e2e_format("-o json %s", options), script);
	e2e_finish(&p, 60, r);
	return parse_json_line(r->err.data);
}

/* Takes the records of all exits since the last call that descend from a process. */
static size_t take_descendants(pid_t root, struct reader_record *records)
{
	bool *ours = e2e_keep(calloc(PID_LIMIT, sizeof(*ours))), more = true;
	size_t n = 0, kept = 0, i;

	assert_non_null(ours);
	while (n < RECORDS_MAX && !reader_next_exit(&records[n]))
		n++;
	assert_true(n < RECORDS_MAX);
	while (more) {
		more = false;
		for (i = 0; i < n; i++) {
			uint32_t pid = records[i].pid, ppid = records[i].ppid;
			/* what the sanitizers start within the program ends as such */
			bool child = ppid == (uint32_t)root &&
				     strncmp(records[i].comm, "stalltop", 8) != 0;

			assert_true(pid < PID_LIMIT && ppid < PID_LIMIT);
			if (ours[pid] || !(child || ours[ppid]))
				continue;
			ours[pid] = more = true;
		}
	}
	for (i = 0; i < n; i++)
		if (ours[records[i].pid])
			records[kept++] = records[i];
	return kept;
}

/* Whether the task lived that long, so that it can have waited as long (the rest is rounding). */
static bool lived(const struct reader_record *record, uint64_t ns)
{
	return ns <= record->etime_us * 1000 + 20000000;
}

/* The run time is user and system time, to the nanosecond. */
static void check_times(json_t *object)
{
	assert_true(member_u64(object, "run_ns") ==
		    member_u64(object, "user_ns") + member_u64(object, "system_ns"));
}

/*
 * Every figure is the sum of those of the records that somebody else received, but for what no
 * task can have waited. The run time has besides what records lack: up to a tick a task.
 */
static void check_sums(json_t *object, const struct reader_record *records, size_t n)
{
	uint64_t run = 0;
	size_t k, i;

	assert_int_equal(member_u64(object, "tasks"), n);
	for (i = 0; i < n; i++)
		run += records[i].run_ns;
	assert_in_range(member_u64(object, "run_ns"), run, run + n * 10000000);
	check_times(object);
	for (k = 0; k < READER_KINDS; k++) {
		json_t *kind =
			json_object_get(json_object_get(object, "delays"), reader_kind_names[k]);
		uint64_t count = 0, ns = 0, max = 0;

		for (i = 0; i < n; i++) {
			if (!lived(&records[i], records[i].kind[k].ns))
				continue;
			count += records[i].kind[k].count;
			ns += records[i].kind[k].ns;
			if (records[i].kind[k].max_ns > max)
				max = records[i].kind[k].max_ns;
		}
		if (json_is_null(kind)) {
			assert_int_equal(count, 0);
			continue;
		}
		assert_int_equal(member_u64(kind, "count"), count);
		assert_int_equal(member_u64(kind, "ns"), ns);
		if (records[0].version >= 15)
			assert_int_equal(member_u64(kind, "max_ns"), max);
	}
}

/* Runs a script and compares with an independent reading of the same exit records. */
static json_t *check_script(const char *script, int status, size_t least)
{
	static struct reader_record records[RECORDS_MAX];
	struct e2e_proc p;
	struct e2e_result r;
	json_t *object;
	size_t n;

	e2e_need(reader_listen(), "no exit records");
	/* As booked, which is what the records have. */
	start_shell(&p, NULL, "-o json --measure no", script);
	e2e_finish(&p, 60, &r);
	n = take_descendants(p.pid, records);
	reader_unlisten();
	assert_int_equal(r.status, status);
	object = parse_json_line(r.err.data);
	assert_true(n >= least);
	check_sums(object, records, n);
	assert_int_equal(member_u64(object, "outlived"), 0);
	return object;
}

/* Children, grandchildren and threads; those that end before their parents and those that don't. */
E2E_TEST(test_descendants)
{
	const char *load = e2e_load_path("load_kind");
	json_t *object;

	e2e_require();
	object = check_script(e2e_format("%s -t 1 -w 3 wpcopy & %s -t 1 cpu & "
					 "for i in 1 2 3 4 5; do sh -c 'sh -c true; true'; done; "
					 "wait; exit 3",
					 load, load),
			      3, 14);
	assert_int_equal(member_u64(object, "exit_code"), 3);
	assert_true(json_is_null(json_object_get(object, "signal")));
	assert_true(member_u64(json_object_get(json_object_get(object, "delays"), "wpcopy"), "ns") >
		    0);
	assert_true(member_real(object, "elapsed") >= 0.9);
	assert_true(member_u64(object, "user_ns") + member_u64(object, "system_ns") > 100000000);
}

/* A double fork hides nobody: an orphan becomes a child of the program. */
E2E_TEST(test_orphans)
{
	e2e_require();
	check_script(e2e_format("(%s -t 1 wpcopy &) ; (sh -c 'sleep 0.5; sh -c true' &) ; sleep 2",
				e2e_load_path("load_kind")),
		     0, 6);
}

/* Far more than one drain takes at once. */
E2E_TEST(test_many)
{
	json_t *object;

	e2e_require();
	object = check_script("i=0; while [ $i -lt 1500 ]; do (:); i=$((i+1)); done", 0, 1501);
	assert_int_equal(member_u64(object, "processes"), 1501);
}

/* Who is still there is counted and named, and not waited for. */
E2E_TEST(test_outlived)
{
	struct e2e_result r;
	json_t *object, *named;
	double begin = e2e_now();

	e2e_require();
	object = run_shell(NULL, "",
			   "sleep 20 >/dev/null 2>&1 & (sleep 21 >/dev/null 2>&1 &); "
			   "sleep 0.2",
			   &r);
	named = json_object_get(object, "outlived_tasks");
	assert_true(e2e_now() - begin < 15);
	assert_int_equal(member_u64(object, "outlived"), 2);
	assert_int_equal(json_array_size(named), 2);
	assert_string_equal(member_text(json_array_get(named, 0), "comm"), "sleep");
	kill((pid_t)member_u64(json_array_get(named, 0), "pid"), SIGKILL);
	kill((pid_t)member_u64(json_array_get(named, 1), "pid"), SIGKILL);
}

/* Signals reach the command, and its end by one is told as shells do. */
E2E_TEST(test_signals)
{
	struct e2e_result r;
	struct e2e_proc p;
	json_t *object;

	e2e_require();
	start_shell(&p, NULL, "-o json",
		    "trap 'exit 7' USR1; echo ready; "
		    "while :; do sleep 0.1; done");
	assert_non_null(e2e_line(&p, 20));
	kill(p.pid, SIGUSR1);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 7);
	start_shell(&p, NULL, "-o json", "echo ready; exec sleep 30");
	assert_non_null(e2e_line(&p, 20));
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 128 + SIGTERM);
	object = parse_json_line(r.err.data);
	assert_int_equal(member_u64(object, "signal"), SIGTERM);
	assert_true(json_is_null(json_object_get(object, "exit_code")));
}

/* The table on standard error; standard output is the command's. */
/* Ignores the ends of children, and blocks what ends the program, as some parents do. */
static int start_deaf(const char *arg)
{
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	return signal(SIGCHLD, SIG_IGN) == SIG_ERR || signal(SIGALRM, SIG_IGN) == SIG_ERR ||
	       sigprocmask(SIG_BLOCK, &all, NULL);
}

/* The end of the command is seen whatever the parent does with signals. */
E2E_TEST(test_deaf_parent)
{
	const struct e2e_how how = { .hook = start_deaf };
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	e2e_run(&r, &how, "-- false");
	assert_int_equal(r.status, 1);
	e2e_start_stalltop(&p, &how, "-- sleep 100");
	e2e_await_sleep(p.pid);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 10, &r);
	assert_int_equal(r.status, 128 + SIGTERM);
}

E2E_TEST(test_text)
{
	static const char *const lines[] = { "\ncpu ",	 "\nblkio ",   "\nwpcopy ",
					     "\ntotal ", "\nelapsed ", "exit 5\n" };
	struct e2e_result r;
	struct e2e_proc p;
	size_t i;

	e2e_require();
	start_shell(&p, NULL, "", "echo hello; exit 5");
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 5);
	assert_string_equal(r.out.data, "hello\n");
	assert_non_null(strstr(r.err.data, "% of elapsed\n"));
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strstr(r.err.data, lines[i]))
			fail_msg("no line '%s'", lines[i] + 1);
}

/* What cannot be run, and results that cannot be written. */
E2E_TEST(test_failures)
{
	struct e2e_result r;

	e2e_require();
	e2e_run(&r, NULL, "-- /nonexistent/command");
	assert_int_equal(r.status, 127);
	assert_non_null(strstr(r.err.data, "cannot run /nonexistent/command: No such file"));
	e2e_run(&r, NULL, "-- /");
	assert_int_equal(r.status, 126);
	e2e_run(&r, NULL, "--");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b -- true");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-p 1 -- true");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-o csv -- true");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "--output /nonexistent/file -- echo ran");
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
	e2e_run(&r, NULL, "--output /dev/full -- true");
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "No space"));
}

/* Tasks that end while the listeners are opened are none of the command's. */
E2E_TEST(test_busy_start)
{
	struct e2e_result r;

	e2e_require();
	assert_true(e2e_load(NULL, "load_churn work 0 0") > 0);
	assert_true(e2e_load(NULL, "load_churn work 0 0") > 0);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(member_u64(run_shell(NULL, "", "exit 0", &r), "tasks"), 1);
}

/* Has the program's wait for a command fail. Returns the command's pid when it was told to end. */
static pid_t break_wait(struct e2e_proc *p, const char *trap)
{
	struct rlimit limit, none;
	pid_t pid;

	start_shell(p, NULL, "",
		    e2e_format("trap '%s' TERM; echo $$; while :; do sleep 0.1; done", trap));
	pid = (pid_t)strtol(e2e_line(p, 20), NULL, 10);
	assert_true(pid > 0);
	assert_int_equal(prlimit(p->pid, RLIMIT_NOFILE, NULL, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	/* poll() takes no more descriptors than may be open; the signal has it called once more. */
	assert_int_equal(prlimit(p->pid, RLIMIT_NOFILE, &none, NULL), 0);
	assert_int_equal(kill(p->pid, SIGWINCH), 0);
	assert_string_equal(e2e_line(p, 20), "told");
	assert_int_equal(prlimit(p->pid, RLIMIT_NOFILE, &limit, NULL), 0);
	return pid;
}

/* A command that cannot be waited for any more is ended: asked first, then killed. */
E2E_TEST(test_wait_fails)
{
	static const char *const traps[] = { "echo told; sleep 0.5; exit", "echo told" };
	struct e2e_result r;
	struct e2e_proc p;
	pid_t pid;
	size_t i;

	e2e_require();
	for (i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
		pid = break_wait(&p, traps[i]);
		e2e_finish(&p, 30, &r);
		assert_int_equal(r.status, 1);
		assert_non_null(strstr(r.err.data, "stalltop: cannot wait for sh: Invalid"));
		assert_int_equal(kill(pid, 0), -1);
	}
}

/* Without listeners the command's own process is read before it is reaped. */
E2E_TEST(test_pid_namespace)
{
	const char *argv[] = { "/usr/bin/unshare",
			       "-pf",
			       "--mount-proc",
			       e2e_stalltop(),
			       "-o",
			       "json",
			       "--",
			       e2e_load_path("load_kind"),
			       "-t",
			       "1",
			       "wpcopy",
			       NULL };
	struct e2e_result r;
	struct e2e_proc p;
	json_t *object;

	e2e_require();
	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 30, &r);
	/* not in a chroot */
	if (r.status == 1 && strstr(r.err.data, "unshare"))
		e2e_skip("no pid namespaces");
	/* its alarm ends the load */
	assert_int_equal(r.status, 128 + SIGALRM);
	object = parse_json_line(r.err.data);
	assert_non_null(note_of(object, "exits-refused"));
	assert_int_equal(member_u64(object, "processes"), 1);
	assert_true(member_u64(object, "run_ns") > 0);
	assert_true(member_u64(json_object_get(json_object_get(object, "delays"), "wpcopy"), "ns") >
		    0);
}

/*
 * Without privileges it is known of all that are reaped how long they ran, and of those that are
 * reaped here, orphans too, how long they waited for CPUs and the disk. The rest is not made up.
 */
E2E_TEST(test_unprivileged)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	json_t *object, *delays, *value;
	const char *name;

	e2e_require();
	object = run_shell(&how, "", "exit 4", &r);
	assert_int_equal(r.status, 4);
	assert_non_null(note_of(object, "exits-refused"));
	assert_non_null(note_of(object, "no-cap"));
	assert_non_null(note_of(object, "run-reaped"));
	assert_int_equal(member_u64(object, "processes"), 1);
	check_times(object);
	assert_true(member_u64(object, "run_ns") > 0);
	delays = json_object_get(object, "delays");
	assert_int_equal(json_object_size(delays), READER_KINDS);
	json_object_foreach(delays, name, value)
	{
		if (strcmp(name, "cpu") != 0 && strcmp(name, "blkio") != 0)
			assert_true(json_is_null(value));
	}
	assert_true(member_u64(json_object_get(delays, "cpu"), "count") > 0);
	assert_true(json_is_null(json_object_get(json_object_get(delays, "blkio"), "count")));
	member_u64(json_object_get(delays, "blkio"), "ns");
	/* How often it waited for the disk /proc does not say: that is not 0. */
	e2e_run(&r, &how, "-- true");
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.err.data, "\nblkio             - "));
	assert_non_null(strstr(r.err.data, "\ntotal             -"));
	/* The child's run time comes through its parent, the orphans' by themselves. */
	object = run_shell(&how, "", UNPRIVILEGED_TREE, &r);
	assert_int_equal(r.status, 0);
	assert_in_range(member_u64(object, "processes"), 2, 3);
	check_times(object);
	assert_true(member_u64(object, "run_ns") >= 300000000);
}

/* A command's report says, too, where the kernel does not count what it drops. */
E2E_TEST(test_inexact)
{
	struct e2e_how how = { .hook = e2e_no_meminfo };
	struct e2e_result r;

	e2e_require();
	assert_null(note_of(run_shell(NULL, "", "exit 3", &r), "exits-inexact"));
	assert_int_equal(r.status, 3);
	assert_non_null(note_of(run_shell(&how, "", "exit 4", &r), "exits-inexact"));
	assert_int_equal(r.status, 4);
}
