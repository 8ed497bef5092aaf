// SPDX-License-Identifier: GPL-2.0-or-later
/* 32-bit programs: the calls that they sleep in have other numbers and other registers. */
#include "tests/lib/e2e.h"
#include "tests/lib/parse.h"
#include "tests/lib/traced_children.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/trace_record.h"
#include "data/wait_state.h"

static const struct {
	const char *what;
	enum wait_state state;
	const char *call, *on;
} rows[] = {
	{ "read", STATE_PIPE, "read", "pipe" },
	{ "poll", STATE_POLL, "poll", "pipe" },
	{ "select", STATE_POLL, "select", "pipe" },
	{ "sleep", STATE_TIMER, "clock_nanosleep", "(none)" },
	{ "futex", STATE_LOCK, "futex", "futex" },
	{ "recv", STATE_NET, "recvfrom", "unix" },
	{ "wait", STATE_CHILD, "wait4", "any child" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void start_all(pid_t *pids)
{
	for (size_t i = 0; i < ROWS; i++)
		pids[i] = e2e_load(NULL, "load_calls32 %s", rows[i].what);
	for (size_t i = 0; i < ROWS; i++)
		e2e_await_sleep(pids[i]);
}

/* Whether the kernel runs them: CONFIG_IA32_EMULATION, and not ia32_emulation=0 (6.7). */
static bool runs_32bit(void)
{
	const char *path = e2e_load_path("load_calls32");
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		close(STDOUT_FILENO);
		execl(path, path, "none", (char *)NULL);
		_exit(errno == ENOEXEC ? 77 : 78);
	}
	e2e_sleep(0.2);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 77;
}

#define require_32bit() \
	do { \
		if (!runs_32bit()) \
			e2e_skip("this kernel runs no 32-bit programs"); \
	} while (0)

/* Each is in its state, in a site of the call that 64-bit programs would do it by. */
static void check_book(const struct traced_children *book, const pid_t *pids)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct trace_thread *thread = traced_children_thread(book, pids[i]);
		const struct trace_site *site = traced_children_site(book, pids[i], rows[i].state);
		const char *name = site ? traced_children_call(book, site) : NULL;

		if (thread->state != rows[i].state || !name || strcmp(name, rows[i].call) != 0)
			fail_msg("%s: state %u, %s", rows[i].what, thread->state,
				 name ? name : "no site");
	}
}

/* Traced, both those that sleep already and those that fall asleep. */
E2E_TEST(test_traced)
{
	const struct trace_options options = { .sites = 4096 };
	pid_t before[ROWS], after[ROWS];
	struct traced_children book;

	e2e_require_bpf();
	require_32bit();
	start_all(before);
	traced_children_open(&book, &options);
	start_all(after);
	traced_children_read(&book);
	check_book(&book, before);
	check_book(&book, after);
	/* The descriptor of a socketcall() lies in the memory of who calls. */
	assert_int_equal(traced_children_site(&book, after[5], STATE_NET)->key.target,
			 TRACE_SOCKET);
	traced_children_close(&book);
}

/* Not traced: by /proc. */
E2E_TEST(test_read)
{
	struct e2e_result r;
	struct samples s;
	pid_t pids[ROWS];

	e2e_require();
	require_32bit();
	start_all(pids);
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -o json -F pid,syscall,on");
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < ROWS; i++) {
		json_t *wait = json_object_get(task_must(s.v[0], pids[i]), "waiting");
		const char *on = text_or_none(wait, "on");

		assert_string_equal(member_text(wait, "syscall"), rows[i].call);
		if (strncmp(on, rows[i].on, strlen(rows[i].on)) != 0)
			fail_msg("%s: on %s", rows[i].what, on);
	}
}
