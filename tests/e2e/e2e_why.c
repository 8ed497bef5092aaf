// SPDX-License-Identifier: GPL-2.0-or-later
/* The answer that --why gives of a process that waits for another one: on whom, and what to do. */
#include "tests/lib/e2e.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define PARTS 3

/* How the culprit is kept from acting. */
enum held { SLEEPS, STOPPED, DEBUGGED };

/* What is said of a victim; %d: the culprit. */
struct answer {
	const char *way; /* of load_peer */
	enum held held;
	int status;
	const char *parts[PARTS];
};

/* Starts a load, and holds its culprit. Returns who ends both. */
static pid_t stage(const struct answer *answer, pid_t *victim, pid_t *culprit)
{
	pid_t load = e2e_load(NULL, "load_peer %s %s", answer->way, e2e_folder());
	int status;

	if (!load || sscanf(e2e_load_line(), "%d %d", victim, culprit) != 2)
		fail_msg("%s: cannot be staged", answer->way);
	/* The other way round a debugger could not hold who is stopped already. */
	if (answer->held == DEBUGGED) {
		assert_int_equal(ptrace(PTRACE_ATTACH, *culprit, 0, 0), 0);
		assert_int_equal(waitpid(*culprit, &status, __WALL), *culprit);
	}
	if (answer->held == STOPPED)
		assert_int_equal(kill(*culprit, SIGSTOP), 0);
	/* The victim does what it waits in within this time, which is long. */
	e2e_sleep(0.6);
	return load;
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

/* Asks about the victim alone, and of some about all tasks. */
static void check(const struct answer *answer)
{
	pid_t load, victim, culprit;
	struct e2e_result r;

	load = stage(answer, &victim, &culprit);
	e2e_run(&r, NULL, "--why -d 1.5 -p %d", (int)victim);
	check_parts(answer, culprit, unwrap(r.out.data), &r);
	if (r.status != answer->status)
		fail_msg("%s: status %d: %s", answer->way, r.status, r.out.data);
	if (answer->held == DEBUGGED)
		ptrace(PTRACE_DETACH, culprit, 0, 0);
	e2e_kill(load);
	remove(e2e_path("peer"));
}

/* Whoever waits for a process that sleeps is told for which, and in what that sleeps. */
E2E_TEST(test_peers)
{
	static const char sleeps[] = "timer of peer_culprit %d: clock_nanosleep";
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
		{ "lock", SLEEPS, 3, { "held by %d peer_culprit", "do: hold it for less time" } },
		{ "queue", SLEEPS, 0, { "waits 100 %", "msgsnd" } },
	};

	e2e_require_bpf();
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		check(&answers[i]);
}

/* For one that is stopped, by a signal or a debugger: that, and what lets it go on. */
E2E_TEST(test_stopped)
{
	static const char stopped[] = "for peer_culprit %d, which is stopped";
	static const char go_on[] = "do: kill -CONT %d";
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
		{ "tcp", DEBUGGED, 3, { "which is stopped", "by debugger", "do: debugger" } },
	};

	e2e_require_bpf();
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		check(&answers[i]);
}

/* It is found without a trace, among all tasks. */
E2E_TEST(test_found)
{
	static const char *const ways[] = { "tcp", "unix", "backlog", "log", "pty", "lock" };
	static const char stopped[] = "for peer_culprit %d, which is stopped";

	e2e_require();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct answer answer = { ways[i], STOPPED, 0, { stopped } };
		pid_t victim, culprit, load = stage(&answer, &victim, &culprit);
		struct e2e_result r;

		e2e_run(&r, NULL, "-b -n 5 -d 1 -o json %s", i % 2 ? "--source taskstats" : "");
		check_parts(&answer, culprit, r.out.data, &r);
		e2e_kill(load);
		remove(e2e_path("peer"));
	}
}

/* The reader of a pipe may have other writers than the one that is stopped. */
E2E_TEST(test_not_found)
{
	static const struct answer answer = { "empty", STOPPED, 0, { NULL } };
	static const char *const options[] = { "", "--trace" };
	pid_t victim, culprit;
	struct e2e_result r;

	e2e_require_bpf();
	stage(&answer, &victim, &culprit);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		e2e_run(&r, NULL, "-b -n 4 -d 1 -o json -p %d,%d %s", (int)victim, (int)culprit,
			options[i]);
		assert_non_null(strstr(r.out.data, e2e_format("\"pid\":%d", (int)victim)));
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
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct answer answer = { ways[i], SLEEPS, 0, { NULL } };
		pid_t victim, culprit, load = stage(&answer, &victim, &culprit);
		const struct answer found = {
			ways[i], SLEEPS, 0, { e2e_format("waiting: peer_victim %d", (int)victim) }
		};
		struct e2e_result r;

		e2e_run(&r, NULL, "-b -n 5 -d 1 -o json --source %s", sources[i]);
		check_parts(&found, culprit, r.out.data, &r);
		e2e_kill(load);
		remove(e2e_path("peer"));
	}
}

/* Who waits for nobody is told of, too: "nothing suffers" is no answer to who asks for it. */
E2E_TEST(test_others)
{
	static const struct answer answers[] = {
		{ "idle", SLEEPS, 0, { "as idle tasks do", "epoll", "(listening)" } },
		{ "timer", SLEEPS, 0, { "sleeps as it asked to", "clock_nanosleep" } },
		{ "run", SLEEPS, 0, { " runs " } },
	};

	e2e_require_bpf();
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		check(&answers[i]);
}

/* Without a trace there are the kernel's files, as far as they may be read. */
E2E_TEST(test_untraced)
{
	static const struct answer answer = { "tcp", SLEEPS, 0, { NULL } };
	const struct e2e_how how = { .uid = NOBODY };
	pid_t victim, culprit;
	struct e2e_result r;

	e2e_require();
	stage(&answer, &victim, &culprit);
	e2e_run(&r, &how, "--why -d 0.5 -p %d", (int)victim);
	assert_int_equal(r.status, 0);
	if (!strstr(r.out.data, "peer_victim") || !strstr(r.out.data, "not known: "))
		fail_msg("%s%s", r.out.data, r.err.data);
}
