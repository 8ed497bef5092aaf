// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "tests/lib/box.h"
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"
#include "tests/lib/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 64
#define UNSUPPORTED 77

static void **kept;
static json_t **kept_json;
static size_t n_kept, n_kept_json;
static unsigned int group_mark;
static int group_error;
static char folder[PATH_MAX];
static char program[PATH_MAX + 16];
static char load_line[4096];

double e2e_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double e2e_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void e2e_sleep(double seconds)
{
	struct timespec ts = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void *e2e_keep(void *p)
{
	assert_non_null(p);
	kept = reallocarray(kept, n_kept + 1, sizeof(*kept));
	assert_non_null(kept);
	kept[n_kept++] = p;
	return p;
}

json_t *e2e_keep_json(json_t *json)
{
	assert_non_null(json);
	kept_json = reallocarray(kept_json, n_kept_json + 1, sizeof(*kept_json));
	assert_non_null(kept_json);
	kept_json[n_kept_json++] = json;
	return json;
}

char *e2e_format(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	assert_true(n >= 0);
	return e2e_keep(text);
}

void e2e_skip_test(const char *test, const char *reason)
{
	printf("# skip: %s: %s\n", test, reason);
	fflush(stdout);
	skip();
}

void e2e_require_test(const char *test)
{
	if (geteuid())
		e2e_skip_test(test, "needs root");
	if (group_error == -ETIMEDOUT)
		fail_msg("other tests hold the machine for too long");
	e2e_need_test(test, group_error, "no delay accounting");
	e2e_need_test(test, reader_open() == -ENOENT ? -EOPNOTSUPP : 0, "no taskstats");
}

void e2e_need_test(const char *test, int err, const char *reason)
{
	if (err == -EOPNOTSUPP)
		e2e_skip_test(test, reason);
	if (err)
		fail_msg("%s: %s", reason, strerror(-err));
}

const char *e2e_group_name(const char *suffix)
{
	return e2e_format("stalltop-test-%d-%s", (int)getpid(), suffix);
}

const char *e2e_quiet_group(const char *test, const char *name, const char **hierarchy)
{
	static const char *const names[] = { "freezer", "pids" };
	char path[300];
	int err = -EOPNOTSUPP;

	for (unsigned i = 0; i < 2 && err == -EOPNOTSUPP; i++) {
		*hierarchy = names[i];
		err = box_group(names[i], name, path, sizeof(path));
	}
	e2e_need_test(test, err, "no v1 hierarchy of freezer or pids");
	return e2e_format("%s", path);
}

/* Copies the program to where another user may start it, too. */
static int copy_program(void)
{
	const char *from = getenv("STALLTOP");
	char buf[65536];
	ssize_t n = 0;
	int in, out;

	in = open(from ? from : "./stalltop", O_RDONLY | O_CLOEXEC);
	out = open(program, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0755);
	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (in < 0 || out < 0 || n || fchmod(out, 0755)) {
		fprintf(stderr, "e2e: cannot copy %s: %s\n", from ? from : "./stalltop",
			strerror(errno));
		n = 1;
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return n ? -1 : 0;
}

int e2e_group_setup(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	group_error = guard_start();
	if (group_error)
		return 0;
	/* on a disk, not in memory: some loads wait for it */
	snprintf(folder, sizeof(folder), "/var/tmp/stalltop-test-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return -1;
	guard_push(UNDO_UNLINK, folder, NULL);
	snprintf(program, sizeof(program), "%s/stalltop", folder);
	guard_push(UNDO_UNLINK, program, NULL);
	if (copy_program())
		return -1;
	group_error = box_delayacct(true);
	group_mark = guard_mark();
	return 0;
}

int e2e_group_teardown(void **state)
{
	(void)state;
	reader_close();
	guard_undo(0);
	return 0;
}

int e2e_setup(void **state)
{
	(void)state;
	if (!geteuid() && !group_error)
		return box_delayacct(true);
	return 0;
}

int e2e_teardown(void **state)
{
	(void)state;
	guard_undo(group_mark);
	while (n_kept_json)
		json_decref(kept_json[--n_kept_json]);
	while (n_kept)
		free(kept[--n_kept]);
	free(kept_json);
	free(kept);
	kept_json = NULL;
	kept = NULL;
	return 0;
}

const char *e2e_folder(void)
{
	return folder;
}

const char *e2e_stalltop(void)
{
	return program;
}

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

void e2e_require_bpf_test(const char *test)
{
	struct e2e_result r;

	e2e_require_test(test);
	e2e_run(&r, NULL, "--version");
	if (strstr(r.out.data, "\nbpf: unavailable ("))
		e2e_skip_test(test, "no bpf source");
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

size_t e2e_threads(pid_t pid, pid_t *tids, size_t max)
{
	char path[64];
	struct dirent *d;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && n < max && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			tids[n++] = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return n;
}

void e2e_await_waits(pid_t pid, uint32_t kinds, struct reader_record *rec)
{
	double until = e2e_now() + 20;
	uint32_t missing;

	do {
		missing = 0;
		assert_int_equal(reader_tgid(pid, rec), 0);
		for (unsigned k = 0; k < READER_KINDS; k++)
			if (kinds & 1U << k && !rec->kind[k].ns)
				missing |= 1U << k;
		if (e2e_now() > until)
			fail_msg("process %d does not wait: kinds %#x", (int)pid, missing);
		e2e_sleep(0.02);
	} while (missing);
}

bool e2e_booked_wrongly(uint64_t ns)
{
	return (double)ns / 1e9 > e2e_now() / 2;
}

/* The state letter of a thread: it follows the name, which may hold anything. */
static char thread_state(pid_t pid, pid_t tid)
{
	char path[96], text[512];
	size_t n = 0;
	char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	p = strrchr(text, ')');
	return p && p[1] ? p[2] : '?';
}

void e2e_await_sleep(pid_t pid)
{
	double until = e2e_now() + 20;

	/* once might be between two steps of it */
	for (int looks = 0; looks < 10; looks++) {
		if (e2e_now() > until)
			fail_msg("process %d does not sleep", (int)pid);
		e2e_sleep(0.01);
		if (thread_state(pid, pid) != 'S')
			looks = 0;
	}
}

/* Whether a thread of the process is in uninterruptible sleep. */
static bool is_hanging(pid_t pid)
{
	pid_t tids[256];
	size_t n = e2e_threads(pid, tids, sizeof(tids) / sizeof(tids[0]));

	while (n && thread_state(pid, tids[n - 1]) != 'D')
		n--;
	return n;
}

void e2e_await_hang(pid_t pid)
{
	double until = e2e_now() + 20;

	/* once might be over a page of it */
	for (int looks = 0; looks < 10; looks = is_hanging(pid) ? looks + 1 : 0) {
		if (e2e_now() > until)
			fail_msg("process %d does not hang", (int)pid);
		e2e_sleep(0.01);
	}
}

void e2e_stop(pid_t pid)
{
	double until = e2e_now() + 20;
	pid_t tids[64];
	size_t n, i;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	do {
		if (e2e_now() > until)
			fail_msg("process %d does not stop", (int)pid);
		e2e_sleep(0.02);
		n = e2e_threads(pid, tids, 64);
		for (i = 0; i < n && thread_state(pid, tids[i]) == 'T';)
			i++;
	} while (!n || i < n);
}

/* Puts this process, and what it starts, under a filter of system calls. */
static int filter_calls(struct sock_filter *filter, unsigned short n)
{
	struct sock_fprog prog = { n, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int e2e_no_netlink(const char *arg)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arg ? SYS_bpf : UINT32_MAX, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(filter[0]));
}

int e2e_no_meminfo(const char *arg)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsockopt, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SO_MEMINFO, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOPROTOOPT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	(void)arg;
	return filter_calls(filter, sizeof(filter) / sizeof(filter[0]));
}
