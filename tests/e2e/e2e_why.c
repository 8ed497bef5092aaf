// SPDX-License-Identifier: GPL-2.0-or-later
/* The answer that --why gives of a process that waits for another one: on whom, and what to do. */
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "tests/lib/box.h"

#define PARTS 3

/* The most loads at once. */
#define ANSWERS 16

/* How the culprit is kept from acting. */
enum held { SLEEPS, STOPPED, DEBUGGED, FROZEN };

/* What is said of a victim; %d: the culprit. */
struct answer {
	const char *way; /* of load_peer */
	enum held held;
	int status;
	const char *parts[PARTS];
};

/* A load that was started. */
struct staged {
	pid_t load, victim, culprit;
};

/* Moves a task into a cgroup of its own, of the v1 freezer, and freezes it. */
static void freeze(pid_t pid)
{
	char path[300];

	e2e_need(box_group("freezer", e2e_group_name("why"), path, sizeof(path)),
		 "no v1 hierarchy of freezer");
	assert_int_equal(
		write_text(e2e_format("%s/cgroup.procs", path), e2e_format("%d", (int)pid)), 0);
	guard_push(UNDO_WRITE, e2e_format("%s/freezer.state", path), "THAWED");
	assert_int_equal(write_text(e2e_format("%s/freezer.state", path), "FROZEN"), 0);
}

/* Starts a load in a folder of its own, and holds its culprit. */
static struct staged stage(const struct answer *answer)
{
	char *folder = e2e_format("%s", e2e_path("way-XXXXXX"));
	struct staged staged;
	int status;

	assert_non_null(mkdtemp(folder));
	staged.load = e2e_load(NULL, "load_peer %s %s", answer->way, folder);
	if (!staged.load || sscanf(e2e_load_line(), "%d %d", &staged.victim, &staged.culprit) != 2)
		fail_msg("%s: cannot be staged", answer->way);
	/* The other way round a debugger could not hold who is stopped already. */
	if (answer->held == DEBUGGED) {
		assert_int_equal(ptrace(PTRACE_ATTACH, staged.culprit, 0, 0), 0);
		assert_int_equal(waitpid(staged.culprit, &status, __WALL), staged.culprit);
	}
	if (answer->held == STOPPED)
		assert_int_equal(kill(staged.culprit, SIGSTOP), 0);
	if (answer->held == FROZEN)
		freeze(staged.culprit);
	return staged;
}

/* Ends it. */
static void end(const struct answer *answer, const struct staged *staged)
{
	if (answer->held == DEBUGGED)
		ptrace(PTRACE_DETACH, staged->culprit, 0, 0);
	e2e_kill(staged->load);
}

/* Checks a text for the parts, which may be broken into lines. */
static void check_parts(const struct answer *answer, pid_t culprit, const char *text,
			const struct e2e_result *r)
{
	for (unsigned i = 0; i < PARTS && answer->parts[i]; i++) {
		const char *at = strstr(answer->parts[i], "%d");
		char *part = at ? e2e_format("%.*s%d%s", (int)(at - answer->parts[i]),
					     answer->parts[i], (int)culprit, at + 2)
				: e2e_format("%s", answer->parts[i]);

		if (!strstr(text, part))
			fail_msg("%s: no '%s' in: %.4000s%s", answer->way, part, r->out.data,
				 r->err.data);
	}
}

/* The answer in one line, with one space between words. */
static char *unwrap(const char *text)
{
	char *line = e2e_keep(xcalloc(strlen(text) + 1, 1)), *at = line;

	for (; *text; text++) {
		bool space = *text == ' ' || *text == '\n';

		if (!space)
			*at++ = *text;
		else if (at > line && at[-1] != ' ')
			*at++ = ' ';
	}
	return line;
}

/* The victims are where they wait within this time, and wait for long then. */
#define STAGED_SECONDS 1.2

/* Stages all, and asks about each victim alone. */
static void check(const struct answer *answers, size_t n)
{
	struct staged staged[ANSWERS];
	struct e2e_result r;

	assert_in_range(n, 1, ANSWERS);
	for (size_t i = 0; i < n; i++)
		staged[i] = stage(&answers[i]);
	e2e_sleep(STAGED_SECONDS);
	for (size_t i = 0; i < n; i++) {
		e2e_run(&r, NULL, "--why -d 1.1 -p %d", (int)staged[i].victim);
		check_parts(&answers[i], staged[i].culprit, unwrap(r.out.data), &r);
		if (r.status != answers[i].status)
			fail_msg("%s: status %d: %s", answers[i].way, r.status, r.out.data);
	}
	for (size_t i = 0; i < n; i++)
		end(&answers[i], &staged[i]);
}

/* Whoever waits for a process that sleeps is told for which, and in what that sleeps. */
E2E_TEST(test_peers)
{
	static const char sleeps[] = "sleep of peer_culprit %d: clock_nanosleep";
	static const struct answer answers[] = {
		{ "tcp", SLEEPS, 0, { "of %d peer_culprit", sleeps } },
		{ "unix", SLEEPS, 0, { "of %d peer_culprit", sleeps } },
		{ "seqpacket", SLEEPS, 0, { "of %d peer_culprit", sleeps } },
		{ "backlog", SLEEPS, 0, { "of %d peer_culprit", sleeps } },
		{ "log", SLEEPS, 0, { "of %d peer_culprit", sleeps } },
		{ "pty", SLEEPS, 0, { "/dev/pts/", "(of %d peer_culprit)", sleeps } },
		{ "pipe", SLEEPS, 0, { "pipe of %d peer_culprit", sleeps } },
		{ "fifo", SLEEPS, 0, { "/peer (of %d peer_culprit)", sleeps } },
		{ "empty", SLEEPS, 0, { "pipe of %d peer_culprit", sleeps } },
		{ "script", SLEEPS, 0, { "peer_client", sleeps } },
		{ "lock",
		  SLEEPS,
		  3,
		  { "held by %d peer_culprit", "try: the program: shorten its critical" } },
		{ "queue", SLEEPS, 0, { "waits 100 %", "msgsnd" } },
	};

	e2e_require_bpf();
	check(answers, ARRAY_SIZE(answers));
}

/* For one that is stopped or frozen: that, and what lets it go on. */
E2E_TEST(test_stopped)
{
	static const char stopped[] = "for peer_culprit %d, which is stopped";
	static const char frozen[] = "for peer_culprit %d, which is frozen by its cgroup";
	static const char go_on[] = "try: kill -CONT %d";
	static const struct answer answers[] = {
		{ "tcp", STOPPED, 3, { stopped, "peer_culprit %d is stopped", go_on } },
		{ "unix", STOPPED, 3, { stopped, go_on } },
		{ "backlog", STOPPED, 3, { stopped, go_on } },
		{ "log", STOPPED, 3, { stopped, go_on } },
		{ "pty", STOPPED, 3, { stopped, go_on } },
		{ "fifo", STOPPED, 3, { stopped, go_on } },
		{ "empty", STOPPED, 3, { "peer_culprit %d is stopped", go_on } },
		{ "script", STOPPED, 3, { "peer_culprit %d is stopped", go_on } },
		{ "lock", STOPPED, 3, { stopped, go_on } },
		{ "tcp", DEBUGGED, 3, { "which is stopped", "by debugger", "try: debugger" } },
		{ "unix",
		  FROZEN,
		  3,
		  { frozen, "peer_culprit %d is frozen", "try: cgroup.freeze" } },
	};

	e2e_require_bpf();
	check(answers, ARRAY_SIZE(answers));
}

/* Stages a load, which is to be told of among all tasks, without a trace. */
static void check_found(const struct answer *answer, const char *source)
{
	struct staged staged = stage(answer);
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n 6 -d 0.5 -o json --source %s", source);
	check_parts(answer, staged.culprit, r.out.data, &r);
	end(answer, &staged);
}

E2E_TEST(test_found)
{
	static const char *const ways[] = { "tcp", "unix", "backlog", "log", "pty", "lock" };

	e2e_require_bpf();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		check_found(
			&(struct answer){
				ways[i], STOPPED, 0, { "for peer_culprit %d, which is stopped" } },
			i % 2 ? "taskstats" : "bpf");
}

/* The reader of a pipe may have other writers than the one that is stopped. */
E2E_TEST(test_not_found)
{
	static const struct answer answer = { "empty", STOPPED, 0, { NULL } };
	static const char *const options[] = { "", "--trace" };
	struct staged staged;
	struct e2e_result r;

	e2e_require_bpf();
	staged = stage(&answer);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		e2e_run(&r, NULL, "-b -n 5 -d 0.5 -o json -p %d,%d %s", (int)staged.victim,
			(int)staged.culprit, options[i]);
		assert_non_null(strstr(r.out.data, e2e_format("\"pid\":%d", (int)staged.victim)));
		assert_null(strstr(r.out.data, "stopped-peer"));
	}
}

/* A task that sends what nobody takes is found, too. */
E2E_TEST(test_kept)
{
	/* Only this source leaves the program the right to read stacks. */
	static const char *const ways[] = { "pty", "log", "queue" };
	static const char *const sources[] = { "bpf", "taskstats", "procfs" };

	e2e_require_bpf();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		check_found(&(struct answer){ ways[i], SLEEPS, 0, { "blocked: peer_victim " } },
			    sources[i]);
}

/* Who waits for nobody is told of, too: "nothing suffers" is no answer to who asks for it. */
E2E_TEST(test_others)
{
	static const struct answer answers[] = {
		{ "idle", SLEEPS, 0, { "is idle", "epoll", "(listening)" } },
		{ "timer", SLEEPS, 0, { "its own timer", "clock_nanosleep" } },
		{ "run", SLEEPS, 0, { " runs " } },
	};

	e2e_require_bpf();
	check(answers, ARRAY_SIZE(answers));
}

/* Without a trace there are the kernel's files, as far as they may be read. */
E2E_TEST(test_untraced)
{
	static const struct answer answer = { "tcp", SLEEPS, 0, { NULL } };
	const struct e2e_how how = { .uid = NOBODY };
	struct staged staged;
	struct e2e_result r;

	e2e_require();
	staged = stage(&answer);
	e2e_sleep(STAGED_SECONDS);
	e2e_run(&r, &how, "--why -d 0.5 -p %d", (int)staged.victim);
	assert_int_equal(r.status, 0);
	if (!strstr(r.out.data, "peer_victim") || !strstr(r.out.data, "unknown: "))
		fail_msg("%s%s", r.out.data, r.err.data);
}
