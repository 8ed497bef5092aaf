// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that a test starts: what they print, and how they end. */
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGS 64
#define UNSUPPORTED 77

static char load_line[4096];

const char *e2e_load_path(const char *name)
{
	const char *dir = getenv("TESTS_BUILDDIR");

	return e2e_format("%s/load/%s", dir ? dir : "tests", name);
}

/* Becomes another user for good. */
static int become(uid_t uid)
{
	if (!uid)
		return 0;
	return setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid);
}

/* The child's side of a start: never returns. */
static void run_child(const struct e2e_how *how, const char *const argv[], int out, int err)
{
	int in = open("/dev/null", O_RDONLY);
	char procs[PATH_MAX];

	if (how->out_path)
		out = open(how->out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	signal(SIGPIPE, how->ignore_sigpipe ? SIG_IGN : SIG_DFL);
	if (how->locale)
		setenv("LC_ALL", how->locale, 1);
	if (how->cgroup) {
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", how->cgroup);
		if (write_text(procs, "0"))
			_exit(126);
	}
	if ((how->hook && how->hook(how->hook_arg)) || become(how->uid))
		_exit(126);
	/* after the change of user, which would clear it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], (char *const *)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

void e2e_start(struct e2e_proc *p, const struct e2e_how *how, const char *const argv[])
{
	static const struct e2e_how plain;
	int out[2], err[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	/* a program that dumps many tasks is to wait for the disk, not for us */
	fcntl(out[1], F_SETPIPE_SZ, 1024 * 1024);
	memset(p, 0, sizeof(*p));
	p->out = out[0];
	p->err = err[0];
	p->started = e2e_now();
	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0)
		run_child(how ? how : &plain, argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	assert_true(p->pid > 0);
	guard_push_child(p->pid);
}

void e2e_start_stalltop(struct e2e_proc *p, const struct e2e_how *how, const char *args)
{
	const char *argv[MAX_ARGS] = { e2e_stalltop() };
	char *rest = e2e_format("%s", args);
	size_t n = 1;

	for (; rest && *rest && n < MAX_ARGS - 1; n++)
		argv[n] = strsep(&rest, " ");
	e2e_start(p, how, argv);
}

/* More of a stream; false at its end. */
static bool read_more(int *fd, struct e2e_text *t)
{
	ssize_t n;

	if (t->size - t->len < 65536 + 1) {
		t->size = 2 * t->size + 65536 + 1;
		t->data = realloc(t->data, t->size);
		assert_non_null(t->data);
	}
	n = read(*fd, t->data + t->len, 65536);
	if (n > 0)
		t->len += (size_t)n;
	t->data[t->len] = '\0';
	if (n > 0)
		return true;
	close(*fd);
	*fd = -1;
	return false;
}

/* Reads what comes next from either stream, until a point in time. */
static bool read_streams(struct e2e_proc *p, double until)
{
	struct pollfd pfd[2] = {
		{ .fd = p->out, .events = POLLIN },
		{ .fd = p->err, .events = POLLIN },
	};
	double left = until - e2e_now();

	if (left <= 0 || poll(pfd, 2, (int)(left * 1000) + 1) < 0)
		return false;
	if (pfd[0].revents)
		read_more(&p->out, &p->out_text);
	if (pfd[1].revents)
		read_more(&p->err, &p->err_text);
	return true;
}

/* The start of the next line; NULL if none comes. */
static char *next_line(struct e2e_proc *p, double timeout)
{
	double until = e2e_now() + timeout;
	struct e2e_text *t = &p->out_text;

	for (;;) {
		char *start = t->data ? t->data + t->used : NULL;
		char *end = start ? memchr(start, '\n', t->len - t->used) : NULL;

		if (end) {
			t->used += (size_t)(end - start) + 1;
			return start;
		}
		if (p->out < 0 || !read_streams(p, until))
			return NULL;
	}
}

const char *e2e_line(struct e2e_proc *p, double timeout)
{
	char *line = next_line(p, timeout);

	return line ? e2e_format("%.*s", (int)strcspn(line, "\n"), line) : NULL;
}

bool e2e_skip_line(struct e2e_proc *p, double timeout)
{
	struct e2e_text *t = &p->out_text;

	if (!next_line(p, timeout))
		return false;
	memmove(t->data, t->data + t->used, t->len - t->used + 1);
	t->len -= t->used;
	t->used = 0;
	return true;
}

/* The exit status, waited for until a point in time; -1 if it does not come. */
static int wait_status(pid_t pid, double until)
{
	int status;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			break;
		if (got < 0 || e2e_now() > until)
			return -1;
		e2e_sleep(0.002);
	}
	guard_forget_child(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Freed after the test; an empty text where there was none. */
static void keep_text(struct e2e_text *from, struct e2e_text *to)
{
	if (!from->data)
		from->data = calloc(1, 1);
	*to = *from;
	e2e_keep(from->data);
	memset(from, 0, sizeof(*from));
}

void e2e_finish(struct e2e_proc *p, double timeout, struct e2e_result *r)
{
	double until = e2e_now() + timeout;

	while ((p->out >= 0 || p->err >= 0) && read_streams(p, until))
		;
	r->status = wait_status(p->pid, until);
	r->seconds = e2e_now() - p->started;
	keep_text(&p->out_text, &r->out);
	keep_text(&p->err_text, &r->err);
	if (p->out >= 0)
		close(p->out);
	if (p->err >= 0)
		close(p->err);
	p->out = p->err = -1;
	if (r->status < 0)
		fail_msg("not done within %.0f s; standard error: %.500s", timeout, r->err.data);
}

void e2e_run(struct e2e_result *r, const struct e2e_how *how, const char *fmt, ...)
{
	struct e2e_proc p;
	char args[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	e2e_start_stalltop(&p, how, args);
	e2e_finish(&p, 60, r);
}

pid_t e2e_load(const struct e2e_how *how, const char *fmt, ...)
{
	const char *argv[MAX_ARGS] = { NULL };
	struct e2e_proc p;
	const char *line;
	char args[4096];
	char *rest = args;
	va_list ap;
	size_t n;
	int status;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	for (n = 0; rest && n < MAX_ARGS - 1; n++)
		argv[n] = strsep(&rest, " ");
	argv[0] = e2e_load_path(argv[0]);
	if (how && how->uid)
		argv[0] = e2e_reachable(argv[0]);
	e2e_start(&p, how, argv);
	/* taking all free huge pages of a big machine takes long */
	line = e2e_line(&p, 90);
	if (!line) {
		status = wait_status(p.pid, e2e_now() + 1);
		if (status != UNSUPPORTED)
			fail_msg("%s: status %d: %s", args, status,
				 p.err_text.data ? p.err_text.data : "not ready");
		return 0;
	}
	assert_int_equal(strncmp(line, "ready", 5), 0);
	snprintf(load_line, sizeof(load_line), "%s", line[5] ? line + 6 : "");
	close(p.out);
	if (p.err >= 0)
		close(p.err);
	free(p.out_text.data);
	free(p.err_text.data);
	return p.pid;
}

const char *e2e_load_line(void)
{
	return load_line;
}

void e2e_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_true(wait_status(pid, e2e_now() + 20) >= 0);
}
