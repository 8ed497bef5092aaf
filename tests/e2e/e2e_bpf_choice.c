// SPDX-License-Identifier: GPL-2.0-or-later
/* The bpf source as who runs the program sees it: when it is taken, and why it is not. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define BTF "/sys/kernel/btf/vmlinux"
#define MANY 600

/* A run that cannot use the source: one line that says why, and the end. */
static void check_refusal(const struct e2e_how *how, const char *why)
{
	static const char begin[] = "stalltop: source bpf cannot be used: ";
	struct e2e_result r;

	e2e_run(&r, how, "--source bpf -b -n 1");
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
	if (strncmp(r.err.data, begin, strlen(begin)) != 0 || !strstr(r.err.data, why) ||
	    strchr(r.err.data, '\n') != r.err.data + r.err.len - 1)
		fail_msg("said: %s", r.err.data);
	e2e_run(&r, how, "--version");
	check_silent_success(&r);
	if (!strstr(r.out.data, "\nbpf: unavailable (") ||
	    !strstr(r.out.data, "\ntrace: unavailable (") || !strstr(r.out.data, why))
		fail_msg("said: %s", r.out.data);
}

/* As nobody. */
E2E_TEST(test_unprivileged)
{
	struct e2e_how how = { .uid = NOBODY };

	e2e_require_bpf();
	check_refusal(&how, "CAP_BPF and CAP_PERFMON");
}

/* In the child: without the kernel's types. */
static int hide_types(const char *empty)
{
	return unshare(CLONE_NEWNS) || mount("none", "/sys", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount(empty, BTF, NULL, MS_BIND, NULL);
}

/* An empty file. */
static const char *empty_file(void)
{
	const char *path = e2e_path("empty");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
	guard_push(UNDO_UNLINK, path, NULL);
	return path;
}

/* Hidden types: named when asked for, gone round and said once when not. */
E2E_TEST(test_hidden_types)
{
	struct e2e_how how = { .hook = hide_types };
	struct e2e_result r;
	struct samples s;

	e2e_require_bpf();
	how.hook_arg = empty_file();
	check_refusal(&how, "BTF");
	assert_true(e2e_load(NULL, "load_sleepers %d", MANY) > 0);
	e2e_run(&r, &how, "-b -n 3 -d 0.5 -o json");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 3);
	for (size_t i = 0; i < s.n; i++) {
		assert_string_equal(member_text(s.v[i], "source"), "taskstats");
		assert_int_equal(note_of(s.v[i], "no-bpf") != NULL, i == 0);
		assert_true(json_array_size(json_object_get(s.v[i], "tasks")) > MANY);
	}
}

/* In the child: other clocks than those by which programs in the kernel tell times. */
static int shift_clocks(const char *arg)
{
	int fd, err;

	(void)arg;
	if (unshare(CLONE_NEWTIME))
		return -1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	err = write(fd, "monotonic 1000 0\nboottime 1000 0", 32) != 32;
	close(fd);
	return err;
}

/* Such a namespace has no times that are wrong by as much. */
E2E_TEST(test_time_namespace)
{
	struct e2e_how how = { .hook = shift_clocks };

	e2e_require_bpf();
	if (access("/proc/self/timens_offsets", F_OK))
		e2e_skip("no time namespaces");
	check_refusal(&how, "this time namespace");
}

/* The source of a run. */
static const char *source_of(const char *args)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "--measure no -b -d 0.3 -o json %s", args);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_null(note_of(s.v[0], "no-bpf"));
	return member_text(s.v[0], "source");
}

/* Waits until others have so few tasks that there are not many. */
static void await_few(void)
{
	struct sysinfo machine;
	int i;

	for (i = 0; i < 300; i++) {
		assert_int_equal(sysinfo(&machine), 0);
		if (machine.procs < 480)
			return;
		e2e_sleep(0.2);
	}
	fail_msg("%d tasks that are not ours", machine.procs);
}

/* Loading a program pays with many tasks, for all of them, and more than one interval. */
E2E_TEST(test_choice)
{
	e2e_require_bpf();
	await_few();
	assert_string_equal(source_of("-n 2"), "taskstats");
	assert_true(e2e_load(NULL, "load_sleepers %d", MANY) > 0);
	assert_string_equal(source_of("-n 2"), "bpf");
	assert_string_equal(source_of("-n 1"), "taskstats");
	assert_string_equal(source_of(e2e_format("-n 2 -p %d", (int)getpid())), "taskstats");
	assert_string_equal(source_of("-n 1 --source bpf"), "bpf");
	/* So does to measure. */
	assert_string_equal(source_of("-n 1 --measure yes"), "bpf");
}
