// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/box.h"
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"
#include "tests/lib/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void **kept;
static json_t **kept_json;
static size_t n_kept, n_kept_json;
static unsigned int group_mark;
static int group_error;
static char folder[PATH_MAX];
static char program[PATH_MAX + 16];

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

/* Copies a program to where another user may start it, too. */
static int copy_program(const char *from, const char *to)
{
	char buf[65536];
	ssize_t n = 0;
	int in, out;

	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0755);
	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (in < 0 || out < 0 || n || fchmod(out, 0755)) {
		fprintf(stderr, "e2e: cannot copy %s: %s\n", from, strerror(errno));
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
	if (copy_program(getenv("STALLTOP") ? getenv("STALLTOP") : "./stalltop", program))
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

char *e2e_path(const char *name)
{
	return e2e_format("%s/%s", folder, name);
}

const char *e2e_stalltop(void)
{
	return program;
}

const char *e2e_reachable(const char *path)
{
	const char *copy = e2e_path(strrchr(path, '/') + 1);

	if (access(copy, F_OK)) {
		guard_push(UNDO_UNLINK, copy, NULL);
		assert_int_equal(copy_program(path, copy), 0);
	}
	return copy;
}

void e2e_require_bpf_test(const char *test)
{
	static bool is_there; /* what once was stays */
	struct e2e_result r;

	e2e_require_test(test);
	if (is_there)
		return;
	e2e_run(&r, NULL, "--version");
	if (strstr(r.out.data, "\nbpf: unavailable ("))
		e2e_skip_test(test, "no bpf source");
	is_there = true;
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

/* Waits until a process has a signal in one of the masks of its status. */
static void await_mask(pid_t pid, const char *mask, int number)
{
	for (double end = e2e_now() + 20; e2e_now() < end; e2e_sleep(0.02)) {
		char text[4096] = "";
		const char *line;
		int fd = open(e2e_format("/proc/%d/status", (int)pid), O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		line = n > 0 ? strstr(text, mask) : NULL;
		if (line && strtoull(line + strlen(mask), NULL, 16) & 1ull << (number - 1))
			return;
	}
	fail_msg("process %d has no signal %d in %s", (int)pid, number, mask + 1);
}

void e2e_await_caught(pid_t pid, int number)
{
	await_mask(pid, "\nSigCgt:", number);
}

void e2e_await_blocked(pid_t pid, int number)
{
	await_mask(pid, "\nSigBlk:", number);
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
