// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that were frozen on purpose, as a paused container's are: that is no hang. */
#include "tests/lib/finding.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/lib/box.h"

#define N_SOURCES 3
/* Longer than what hangs from then on. */
#define OPTIONS "-b -n 2 -d 1.5 -o json -F +syscall,where -p"

/* Writes what freezes, and waits until that has happened. What undoes it is done at the end. */
static void freeze(const char *group, const char *file, const char *on, const char *off)
{
	const char *path = e2e_format("%s/%s", group, file);
	char text[512];

	guard_push(UNDO_WRITE, path, off);
	assert_int_equal(write_text(path, on), 0);
	if (!strcmp(file, "cgroup.freeze"))
		path = e2e_format("%s/cgroup.events", group);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(file_read(AT_FDCWD, path, text, sizeof(text)) > 0);
		if (!strncmp(text, on, strlen(on)) || strstr(text, "frozen 1"))
			return;
		e2e_sleep(0.05);
	}
	fail_msg("%s does not freeze: %s", group, text);
}

/* A task that sleeps, in a group. */
static pid_t start_in(const char *group)
{
	pid_t pid = e2e_load(&(struct e2e_how){ .cgroup = group }, "load_wait poll");

	assert_true(pid > 0);
	return pid;
}

/* Begins to look at the task. */
static void begin_look(struct e2e_proc *p, const char *options, pid_t pid)
{
	e2e_start_stalltop(p, NULL, e2e_format(OPTIONS " %d%s", (int)pid, options));
}

/* The last sample of the task, in which nothing is found but that it is held, in these words. */
static json_t *held_sample(struct e2e_proc *p, const char *name, pid_t pid, const char *words)
{
	json_t *findings;
	struct e2e_result r;
	struct samples s;

	e2e_finish(p, 60, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 2);
	finding_print(s.v[1]);
	findings = json_object_get(s.v[1], "findings");
	assert_int_equal(json_array_size(findings), 1);
	assert_string_equal(member_text(json_array_get(findings, 0), "id"), "held");
	assert_string_equal(member_text(json_array_get(findings, 0), "severity"), "info");
	assert_string_equal(member_text(json_array_get(findings, 0), "text"),
			    e2e_format("%s %d %s", name, (int)pid, words));
	return s.v[1];
}

/* Who is frozen by cgroup v1 is held, by what all sources read of it; their samples' rows of it. */
static void check_frozen(const char *name, pid_t pid, json_t *tasks[N_SOURCES])
{
	static const char *const sources[N_SOURCES] = { " --source taskstats", " --source procfs",
							" --source bpf" };
	struct e2e_proc p[N_SOURCES];

	for (size_t i = 0; i < N_SOURCES; i++)
		begin_look(&p[i], sources[i], pid);
	for (size_t i = 0; i < N_SOURCES; i++) {
		tasks[i] = task_must(held_sample(&p[i], name, pid, "is frozen by its cgroup"), pid);
		assert_string_equal(member_text(json_object_get(tasks[i], "waiting"), "state"),
				    "stop");
		assert_int_equal(member_u64(json_object_get(tasks[i], "waited"), "dwait"), 0);
	}
}

/* By a signal, and by a debugger: that is told of who was asked about. */
E2E_TEST(test_stopped)
{
	pid_t pid = e2e_load(NULL, "load_wait poll"), tracer;
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	assert_true(pid > 0);
	e2e_stop(pid);
	begin_look(&p, "", pid);
	held_sample(&p, "load_wait", pid, "is stopped");
	/* Nobody wants to know of all others. */
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -o json");
	check_silent_success(&r);
	assert_null(strstr(r.out.data, "\"held\""));
	kill(pid, SIGCONT);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
			_exit(1);
		for (;;)
			pause();
	}
	scratch_child(tracer);
	e2e_sleep(0.3);
	begin_look(&p, "", pid);
	held_sample(&p, "load_wait", pid,
		    e2e_format("is stopped by debugger e2e_frozen %d", (int)tracer));
	kill(tracer, SIGKILL);
}

/* By cgroup v1, which has them sleep uninterruptibly. */
E2E_TEST(test_v1)
{
	json_t *tasks[N_SOURCES];
	char path[300];
	pid_t pid;

	e2e_require_bpf();
	e2e_need(box_group("freezer", e2e_group_name("frozen"), path, sizeof(path)),
		 "no v1 hierarchy of freezer");
	pid = start_in(path);
	freeze(path, "freezer.state", "FROZEN", "THAWED");
	check_frozen("load_wait", pid, tasks);
	for (size_t i = 0; i < N_SOURCES; i++)
		assert_string_equal(member_text(tasks[i], "state"), "D");
}

/* A sleep for a time, which is frozen where it is: neither the hang of a finding nor of a trigger.
 */
E2E_TEST(test_v1_in_place)
{
	json_t *tasks[N_SOURCES];
	char path[300];
	pid_t pid;

	e2e_require_bpf();
	e2e_need(box_group("freezer", e2e_group_name("sleeps"), path, sizeof(path)),
		 "no v1 hierarchy of freezer");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "load_wait", "600", NULL);
		_exit(127);
	}
	scratch_child(pid);
	e2e_sleep(0.2);
	assert_int_equal(
		write_text(e2e_format("%s/cgroup.procs", path), e2e_format("%d", (int)pid)), 0);
	freeze(path, "freezer.state", "FROZEN", "THAWED");
	check_frozen("sleep", pid, tasks);
}

/* In whatever call it sleeps: that is neither the hang of a finding, which looks at all tasks. */
E2E_TEST(test_v1_anywhere)
{
	json_t *tasks[N_SOURCES];
	struct e2e_result r;
	char path[300], byte;
	int pair[2];
	pid_t pid;

	e2e_require_bpf();
	e2e_need(box_group("freezer", e2e_group_name("anywhere"), path, sizeof(path)),
		 "no v1 hierarchy of freezer");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "receiver");
		_exit(recv(pair[0], &byte, 1, 0) != 1);
	}
	scratch_child(pid);
	e2e_sleep(0.2);
	assert_int_equal(
		write_text(e2e_format("%s/cgroup.procs", path), e2e_format("%d", (int)pid)), 0);
	freeze(path, "freezer.state", "FROZEN", "THAWED");
	check_frozen("receiver", pid, tasks);
	e2e_sleep(1);
	e2e_run(&r, NULL, "-b -n 2 -d 0.6 -o json --source taskstats");
	check_silent_success(&r);
	assert_null(strstr(r.out.data, e2e_format("receiver %d", (int)pid)));
	close(pair[0]);
	close(pair[1]);
}

/* By cgroup v2, as seen while waits are traced. */
E2E_TEST(test_v2)
{
	char path[300];
	const char *name;
	json_t *task, *states;
	struct e2e_proc p;
	pid_t pid;

	e2e_require_bpf();
	e2e_need(box_unified_group(path, sizeof(path), &name), "no cgroup v2");
	pid = start_in(path);
	freeze(path, "cgroup.freeze", "1", "0");
	begin_look(&p, " --trace", pid);
	task = task_must(held_sample(&p, "load_wait", pid, "is frozen by its cgroup"), pid);
	states = json_object_get(task, "states");
	assert_int_equal(member_u64(states, "stop_ns"), member_u64(task, "alive_ns"));
	assert_string_equal(member_text(json_object_get(task, "waiting"), "state"), "stop");
}

/* Who waits for a child of vfork() has the kernel's bit of cgroup v2, but is not frozen. */
E2E_TEST(test_vfork)
{
	struct e2e_result r;
	struct samples s;
	json_t *task;
	pid_t pid;

	e2e_require_bpf();
	pid = e2e_load(NULL, "load_hang hold");
	assert_true(pid > 0);
	e2e_run(&r, NULL, "-b -n 1 -d 1 -o json --trace -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	task = task_must(s.v[0], pid);
	assert_int_equal(member_u64(json_object_get(task, "states"), "dwait_ns"),
			 member_u64(task, "alive_ns"));
}
