// SPDX-License-Identifier: GPL-2.0-or-later
/* From where in a program waits begin: --stacks, of loads that say it themselves. */
#include "tests/lib/e2e.h"
#include "tests/lib/parse.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PAIRS 8

static const char *const callers[] = { "call_even", "call_odd" };
static const char *const functions[] = { "wait_in_sleep", "wait_in_poll", "wait_in_condition",
					 "wait_in_read" };
static const char *const calls[] = { "clock_nanosleep", "poll", "futex", "read" };

static bool is_x86(void)
{
	struct utsname kernel;

	return !uname(&kernel) && !strcmp(kernel.machine, "x86_64");
}

#ifdef LIBDW_BUILT
#define HAS_NAMES true
#else
#define HAS_NAMES false
#endif

#define require_stacks() \
	do { \
		e2e_require_bpf(); \
		if (!HAS_NAMES) \
			e2e_skip("built without libdw"); \
		if (!is_x86()) \
			e2e_skip("user stacks are taken on x86-64"); \
	} while (0)

/* Whether a name is that of a function ("name (file.c:12)", "name (program)"). */
static bool is_of(const char *name, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(name, function, len) && name[len] == ' ';
}

/* Where a function of a list is on a stack, from the innermost on; -1: nowhere. */
static int find(json_t *stack, const char *const *names, size_t n, size_t *which)
{
	for (size_t i = 0; i < json_array_size(stack); i++)
		for (*which = 0; *which < n; ++*which)
			if (is_of(json_string_value(json_array_get(stack, i)), names[*which]))
				return (int)i;
	return -1;
}

/* Whether a stack ends before its first function. */
static bool ends_early(json_t *stack)
{
	const char *last = json_string_value(json_array_get(stack, json_array_size(stack) - 1));

	return *last == '[';
}

/* What samples have of the waits of one process. */
struct seen {
	unsigned long whole[PAIRS], early;
	unsigned long sites, stacks; /* waits that ended */
	double site_ns, stack_ns;
};

/* Adds a stack of a site in that call. */
static void add_stack(struct seen *seen, json_t *part, const char *call)
{
	json_t *stack = json_object_get(part, "stack");
	unsigned long count = member_u64(part, "count");
	size_t function, caller;
	int at = find(stack, functions, 4, &function);

	seen->stacks += count;
	seen->stack_ns += member_real(part, "ns");
	if (at >= 0)
		assert_string_equal(call, calls[function]);
	if (ends_early(stack)) {
		seen->early += count;
		return;
	}
	/* The thread that answers, and the main one when it is done. */
	if (at < 0)
		return;
	assert_true(find(stack, callers, 2, &caller) == at + 1);
	seen->whole[caller * 4 + function] += count;
}

/* Adds a sample, of which the threads' own waits are looked at. */
static void add_sample(struct seen *seen, json_t *sample, pid_t pid)
{
	json_t *sites = json_object_get(sample, "sites"), *site, *part;
	double stack_ns;
	size_t i, k;

	json_array_foreach(sites, i, site)
	{
		const char *call = json_string_value(json_object_get(site, "syscall"));
		json_t *parts = json_object_get(site, "user_stacks");

		if (json_integer_value(json_object_get(site, "pid")) != pid) {
			assert_int_equal(json_array_size(parts), 0);
			continue;
		}
		if (!call || !strcmp(text_or_none(site, "state"), "cpu") ||
		    !strcmp(text_or_none(site, "state"), "run"))
			continue;
		seen->sites += member_u64(site, "count");
		seen->site_ns += member_real(site, "ns");
		stack_ns = seen->stack_ns;
		json_array_foreach(parts, k, part) add_stack(seen, part, call);
		/* Nothing of another interval; stacks are read a little after sites. */
		if (seen->stack_ns - stack_ns > member_real(site, "ns") * 1.05 + 5e7)
			fail_msg("%s: stacks %.0f ns of %.0f", call, seen->stack_ns - stack_ns,
				 member_real(site, "ns"));
	}
}

/* Reads what the load has counted; all of it. */
static unsigned long read_counts(unsigned long truth[PAIRS])
{
	FILE *file = fopen(e2e_path("counts"), "re");
	unsigned long all = 0;
	char caller[16], function[32];

	/* Else the load has not ended while it was looked at. */
	assert_non_null(file);
	for (size_t i = 0; i < PAIRS; i++) {
		assert_int_equal(fscanf(file, "%15s %31s %lu", caller, function, &truth[i]), 3);
		assert_string_equal(caller, callers[i / 4]);
		assert_string_equal(function, functions[i % 4]);
		all += truth[i];
	}
	fclose(file);
	return all;
}

/*
 * The function and its caller are right, of each wait: what is counted for a pair never exceeds
 * what the load counted, and all is counted together with the waits whose stacks ended early.
 */
static void check_waits(const char *load)
{
	unsigned long truth[PAIRS], all = 0, known = 0;
	struct seen seen = { .early = 0 };
	struct e2e_proc p;
	struct e2e_result r;
	struct samples s;
	pid_t pid;

	require_stacks();
	pid = e2e_load(NULL, "%s 2000 %s", load, e2e_path("counts"));
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -n 20 -d 0.5 --stacks %d --stacks-over 0 "
				      "-p %d -o json",
				      pid, pid));
	e2e_finish(&p, 60, &r);
	all = read_counts(truth);
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++)
		add_sample(&seen, s.v[i], pid);
	for (size_t i = 0; i < PAIRS; i++) {
		print_message("# %s of %s: %lu of %lu\n", callers[i / 4], functions[i % 4],
			      seen.whole[i], truth[i]);
		assert_true(seen.whole[i] <= truth[i]);
		known += seen.whole[i];
	}
	print_message("# ended early: %lu; of %.3f s %.3f s\n", seen.early, seen.site_ns / 1e9,
		      seen.stack_ns / 1e9);
	/* Most of the load's time passes after all is learnt. */
	assert_true(known > all / 2);
	assert_true(seen.early < all / 4);
	assert_true(seen.stack_ns > 0.98 * seen.site_ns && seen.stack_ns < 1.02 * seen.site_ns);
}

E2E_TEST(test_waits)
{
	check_waits("load_stack");
}

/* The same of a program that is built with frame pointers. */
E2E_TEST(test_frame_pointers)
{
	check_waits("load_stack_frames");
}

/* Runs a command of the shell, which must do well. */
static void run_shell(const char *command)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct e2e_proc p;

	e2e_start(&p, &how, argv);
	e2e_finish(&p, 30, &r);
	if (r.status)
		fail_msg("%s: %s", command, r.err.data);
}

/* The load, wherever the test runs it. */
static const char *load_program(void)
{
	return e2e_keep(realpath(e2e_load_path("load_stack"), NULL));
}

/* Starts a program that waits endlessly; its pid. */
static pid_t start_waiter(const char *path)
{
	const char *const argv[] = { path, "1000000", NULL };
	struct e2e_how how = { 0 };
	struct e2e_proc p;

	e2e_start(&p, &how, argv);
	assert_string_equal(e2e_line(&p, 20), "ready");
	return p.pid;
}

/* Folded lines of a process's stacks, of two seconds. */
static const char *folded_of(const char *which, const char *options)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n 2 -d 1 --stacks %s -o folded %s", which, options);
	check_silent_success(&r);
	return r.out.data;
}

/* Whether a line of a text has two parts, one after the other. */
static bool has_parts(const char *text, const char *first, const char *second)
{
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *at = strstr(line, first);

		at = at && at < end ? strstr(at + strlen(first), second) : NULL;
		if (at && at < end)
			return true;
	}
	return false;
}

static void must_have(const char *text, const char *first, const char *second)
{
	if (!has_parts(text, first, second))
		fail_msg("no %s, then %s in:\n%s", first, second, text);
}

/* A line for each stack: process, functions from the outermost on, state and target, ns. */
E2E_TEST(test_folded)
{
	const char *text;

	require_stacks();
	e2e_load(NULL, "load_stack 1000000");
	text = folded_of("load_stack", "");
	must_have(text, "load_stack;_start (load_stack);", ";main (load_stack.c:");
	must_have(text, ";call_odd (load_stack.c:", ";wait_in_poll (load_stack.c:");
	must_have(text, ";wait_in_read (load_stack.c:", ";[pipe] pipe");
	/* By name are all of that name, and nobody else. */
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		assert_memory_equal(line, "load_stack;", strlen("load_stack;"));
}

/* Waits that are shorter are left out, and their time is told. */
E2E_TEST(test_over)
{
	const char *text;

	require_stacks();
	e2e_load(NULL, "load_stack 1000000");
	text = folded_of("load_stack", "--stacks-over 1000");
	must_have(text, "load_stack;[no stack]", ";[timer]");
	assert_false(has_parts(text, "wait_in_", " "));
}

/*
 * A stripped program: as much as is known; one whose symbols are in a file beside it; one that was
 * removed, and one whose file is in a mount namespace of its own.
 */
E2E_TEST(test_files)
{
	const char *load = load_program(), *folder = e2e_folder(), *text;

	require_stacks();
	run_shell(e2e_format("cd %s && cp %s whole && strip -o bare whole && "
			     "objcopy --only-keep-debug whole linked.debug && "
			     "strip -o linked whole && "
			     "objcopy --add-gnu-debuglink=linked.debug linked && cp whole gone",
			     folder, load));
	start_waiter(e2e_format("%s/bare", folder));
	start_waiter(e2e_format("%s/linked", folder));
	start_waiter(e2e_format("%s/gone", folder));
	run_shell(e2e_format("rm %s/gone", folder));
	text = folded_of("bare,linked,gone", "");
	must_have(text, "bare;bare+0x", "[timer]");
	must_have(text, "linked;_start (linked);", ";wait_in_sleep (load_stack.c:");
	must_have(text, "gone;_start (gone (deleted));", ";wait_in_sleep (load_stack.c:");
}

/*
 * Symbols come from servers if they are asked for, by the program that asks them: here one that
 * answers after a second, and lists the requests. What is missing is told beforehand.
 */
E2E_TEST(test_debuginfod)
{
	const char *folder = e2e_folder(), *client = e2e_path("debuginfod-find");
	const char *found = getenv("PATH"), *requests = e2e_path("requests"), *text;
	struct e2e_result r;
	FILE *file;

	require_stacks();
	unsetenv("DEBUGINFOD_URLS");
	e2e_run(&r, NULL, "-b -n 1 --stacks bare --debuginfod");
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err.data, "--debuginfod needs servers in DEBUGINFOD_URLS"));
	setenv("DEBUGINFOD_URLS", "http://[::1]:9", 1);
	setenv("PATH", folder, 1);
	e2e_run(&r, NULL, "-b -n 1 --stacks bare --debuginfod");
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err.data, "--debuginfod needs debuginfod-find"));

	setenv("PATH", e2e_format("%s:%s", folder, found), 1);
	file = fopen(client, "we");
	assert_non_null(file);
	fprintf(file,
		"#!/bin/sh\necho $* >>%s\n[ $1 = debuginfo ] || exit 0\nsleep 1\n"
		"echo %s/fetched\n",
		requests, folder);
	assert_int_equal(fclose(file), 0);
	run_shell(e2e_format("cd %s && chmod 755 %s && strip -o bare %s && "
			     "objcopy --only-keep-debug %s fetched",
			     folder, client, load_program(), load_program()));
	start_waiter(e2e_format("%s/bare", folder));
	must_have(folded_of("bare", ""), "bare;bare+0x", "[timer]");
	assert_int_equal(access(requests, F_OK), -1);
	e2e_run(&r, NULL, "-b -n 4 -d 1 --stacks bare -o folded --debuginfod");
	check_silent_success(&r);
	text = r.out.data;
	must_have(text, "bare;bare+0x", "[timer]");
	must_have(text, "bare;_start (bare);", ";wait_in_sleep (load_stack.c:");
	run_shell(e2e_format("[ $(grep -c '^debuginfo [0-9a-f]*$' %s) = "
			     "$(grep '^debuginfo' %s | sort -u | wc -l) ]",
			     requests, requests));
}

/* Generated code is named by its map for perf, which only the process's user may have made. */
E2E_TEST(test_generated)
{
	const char *path;
	const char *text;
	pid_t pid;

	require_stacks();
	pid = e2e_load(NULL, "load_stack 1000000 %s planted;code", e2e_path("counts"));
	path = e2e_format("/tmp/perf-%d.map", pid);
	text = folded_of(e2e_format("%d", pid), "");
	must_have(text, ";main (load_stack.c:", ";planted,code (JIT);call_odd (load_stack.c:");
	e2e_kill(pid);
	assert_int_equal(unlink(path), 0);

	pid = e2e_load(NULL, "load_stack 1000000 %s planted", e2e_path("counts"));
	path = e2e_format("/tmp/perf-%d.map", pid);
	assert_int_equal(chown(path, 12345, 12345), 0);
	text = folded_of(e2e_format("%d", pid), "");
	assert_int_equal(unlink(path), 0);
	must_have(text, ";[ends in generated code];", "generated code+0x");
}

E2E_TEST(test_mount_namespace)
{
	const char *const argv[] = { "/bin/sh", "-c",
				     e2e_format("exec unshare -m sh -c 'mount -t tmpfs none %s && "
						"cat >%s/inside <&3 && chmod 755 %s/inside && "
						"exec %s/inside 1000000' 3<%s",
						e2e_folder(), e2e_folder(), e2e_folder(),
						e2e_folder(), load_program()),
				     NULL };
	struct e2e_how how = { 0 };
	struct e2e_proc p;

	require_stacks();
	e2e_start(&p, &how, argv);
	assert_string_equal(e2e_line(&p, 20), "ready");
	must_have(folded_of("inside", ""), "inside;_start (inside);",
		  ";wait_in_sleep (load_stack.c:");
	e2e_kill(p.pid);
}

/* A recording has the stacks: its replay is what was shown, to the byte. */
E2E_TEST(test_recorded)
{
	static const char *const formats[] = { "json", "folded" };
	const char *path;
	struct e2e_result live, replayed;

	require_stacks();
	e2e_load(NULL, "load_stack 1000000");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		path = e2e_path(formats[i]);
		e2e_run(&live, NULL, "-b -n 4 -d 0.5 --stacks load_stack -m load_stack -w %s -o %s",
			path, formats[i]);
		check_silent_success(&live);
		must_have(live.out.data, "wait_in_read (", "");
		e2e_run(&replayed, NULL, "-b -R %s -m load_stack -o %s", path, formats[i]);
		check_silent_success(&replayed);
		assert_int_equal(replayed.out.len, live.out.len);
		assert_memory_equal(replayed.out.data, live.out.data, live.out.len);
	}
}

/* --why of a process says where in its code it waits, in words and as JSON. */
E2E_TEST(test_why)
{
	struct e2e_result r;
	pid_t pid;

	require_stacks();
	pid = e2e_load(NULL, "load_stack 1000000");
	e2e_run(&r, NULL, "--why -d 1.5 -p %d", pid);
	must_have(r.out.data, "   at: ", "(load_stack.c:");
	e2e_run(&r, NULL, "--why -d 1.5 -p %d -o json", pid);
	must_have(r.out.data, "\"at\":\"", "(load_stack.c:");
}

/* The root that ran is named by the function in which it then ended the wait. */
E2E_TEST(test_root_that_ran)
{
	struct e2e_result r;
	long asking, root;
	char *end;

	require_stacks();
	e2e_load(NULL, "load_chain pipe 1 0 40");
	asking = strtol(e2e_load_line(), &end, 10);
	root = strtol(end, NULL, 10);
	e2e_run(&r, NULL, "--why -d 2 -p %ld --stacks %ld,%ld", asking, asking, root);
	must_have(r.out.data, "because: ", " on CPU before tell (load_chain.c:");
	/* Nothing is taken of others. */
	e2e_run(&r, NULL, "--why -d 2 -p %ld --stacks %ld", asking, asking);
	assert_null(strstr(r.out.data, " before "));
	assert_non_null(strstr(r.out.data, " on CPU\n"));
}

/* Adds up the lines of folded stacks that are the same, in order, as tests/profile.py prints them.
 */
static const char *sum_folded(const char *path, const char *out)
{
	run_shell(e2e_format(
		"awk '{ ns = $NF; sub(/ [0-9]+$/, \"\"); sum[$0] += ns } "
		"END { for (stack in sum) printf \"%%s %%d\\n\", stack, sum[stack] }' %s | "
		"LC_ALL=C sort >%s",
		path, out));
	return out;
}

/* A profile has what the folded stacks have: of several samples, which are one message. */
E2E_TEST(test_profile)
{
	const char *recording = e2e_path("recording");
	struct e2e_result r;

	require_stacks();
	e2e_load(NULL, "load_stack 1000000");
	e2e_run(&r, NULL,
		"-b -n 4 -d 0.5 --stacks load_stack -m load_stack -w %s -o pprof --output %s",
		recording, e2e_path("live"));
	check_silent_success(&r);
	e2e_run(&r, NULL, "-b -R %s -m load_stack -o folded --output %s", recording,
		e2e_path("folded"));
	check_silent_success(&r);
	sum_folded(e2e_path("folded"), e2e_path("wanted"));
	run_shell(e2e_format("python3 %s/profile.py <%s | LC_ALL=C sort >%s",
			     getenv("TESTS_SRCDIR"), e2e_path("live"), e2e_path("seen")));
	run_shell(e2e_format("grep -q 'wait_in_read (load_stack.c:' %s && diff %s %s >&2",
			     e2e_path("seen"), e2e_path("wanted"), e2e_path("seen")));
}

/* Who has slept since before is looked at where it is: named at once, to the outermost function. */
E2E_TEST(test_asleep)
{
	static const char *const loads[] = { "load_stack", "load_stack_frames" };
	const char *text;
	pid_t pid;

	require_stacks();
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		pid = e2e_load(NULL, "%s 0 %s", loads[i], e2e_path(loads[i]));
		e2e_await_sleep(pid);
		text = folded_of(e2e_format("%d", pid), "");
		must_have(text, ";main (load_stack.c:", ";idle (load_stack.c:");
		must_have(text, ";start_thread (libc.so.6)", ";answer (load_stack.c:");
		assert_false(has_parts(text, "[ends in", ""));
	}
}

/* Without what it takes there is a line that says so, and no empty output. */
E2E_TEST(test_missing)
{
	const struct e2e_how nobody = { .uid = NOBODY };
	const char *recording = e2e_path("plain");
	struct e2e_result r;

	require_stacks();
	e2e_run(&r, &nobody, "-b -n 1 -d 0.2 --stacks load_stack -o folded");
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "stalltop: no stacks: waits are not traced: "));
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 --trace -w %s -o csv -r 1", recording);
	check_silent_success(&r);
	e2e_run(&r, NULL, "-b -R %s -o pprof", recording);
	assert_int_equal(r.status, 1);
	assert_string_equal(r.err.data,
			    "stalltop: no stacks: the recording was made without --stacks\n");
}

/* The child of a process that has that name; 0: it has none. */
static pid_t child_named(pid_t parent, const char *name)
{
	FILE *children = fopen(e2e_format("/proc/%d/task/%d/children", parent, parent), "re");
	int pid, found = 0;

	assert_non_null(children);
	while (!found && fscanf(children, "%d", &pid) == 1) {
		FILE *file = fopen(e2e_format("/proc/%d/comm", pid), "re");
		char comm[32] = "";

		if (file && fgets(comm, sizeof(comm), file) && !strncmp(comm, name, strlen(name)))
			found = pid;
		if (file)
			fclose(file);
	}
	fclose(children);
	return found;
}

/* The process that reads programs may end with questions: the next one answers them. */
E2E_TEST(test_reader_killed)
{
	const char *args = "-b -n 8 -d 0.5 --stacks load_stack -m load_stack -o folded";
	struct e2e_result r;
	struct e2e_proc p;
	pid_t reader;
	double until;

	require_stacks();
	e2e_load(NULL, "load_stack 1000000");
	e2e_start_stalltop(&p, NULL, args);
	until = e2e_now() + 20;
	/* As soon as it is there: its first questions have no answers. */
	while (!(reader = child_named(p.pid, "stalltop-symbol")) && e2e_now() < until)
		e2e_sleep(0.001);
	assert_true(reader > 0);
	kill(reader, SIGKILL);
	e2e_finish(&p, 60, &r);
	check_silent_success(&r);
	must_have(r.out.data, ";main (load_stack.c:", ";wait_in_poll (load_stack.c:");
	must_have(r.out.data, ";main (load_stack.c:", ";wait_in_read (load_stack.c:");
}
