/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an unprivileged user tries with a program that has capabilities by its file: each test is an
 * attempt, and SECURITY.md says what it is to come to. The file is given all that could serve.
 */
#include "tests/lib/parse.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SECRET "what only root may read"

/* As many capabilities as a program can have here. */
static uint64_t all_capabilities(void)
{
	uint64_t all = 0;

	for (int i = 0; i < 64; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			all |= UINT64_C(1) << i;
	return all;
}

/* Gives them to the copy of the program that the tests have. */
static void give_capabilities(void)
{
	uint64_t all = all_capabilities();
	const struct vfs_cap_data caps = {
		.magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
		.data = { { .permitted = htole32((uint32_t)all) },
			  { .permitted = htole32((uint32_t)(all >> 32)) } },
	};

	e2e_require();
	assert_int_equal(setxattr(e2e_stalltop(), "security.capability", &caps, XATTR_CAPS_SZ_2, 0),
			 0);
}

/* Takes them back, whatever came of the test. */
static int teardown(void **state)
{
	removexattr(e2e_stalltop(), "security.capability");
	return e2e_teardown(state);
}

#define ATTEMPT_TEST(name) E2E_TEST_WITH(name, e2e_setup, teardown)

/* Runs the program as nobody, with the capabilities of its file. */
static void run_as_nobody(struct e2e_result *r, const char *args)
{
	struct e2e_how how = { .uid = NOBODY };

	give_capabilities();
	e2e_run(r, &how, "%s", args);
}

/* Runs a script as nobody, who calls the program $0. */
static void run_script(struct e2e_result *r, const char *script)
{
	struct e2e_how how = { .uid = NOBODY };
	const char *const argv[] = { "/bin/sh", "-c", script, e2e_stalltop(), NULL };
	struct e2e_proc p;

	give_capabilities();
	e2e_start(&p, &how, argv);
	e2e_finish(&p, 60, r);
}

/* A file that root alone may read and write. */
static const char *secret_file(void)
{
	const char *path = e2e_path("secret");
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(SECRET "\n", file);
	assert_int_equal(fchmod(fileno(file), 0600), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(e2e_folder(), 0755), 0);
	return path;
}

/* The file is as it was, and the run showed nothing of it. */
static void check_untouched(const char *path, const struct e2e_result *r)
{
	char text[64] = "";
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, SECRET "\n");
	assert_null(strstr(r->out.data ? r->out.data : "", "only root"));
	assert_null(strstr(r->err.data ? r->err.data : "", "only root"));
}

/* A folder of everybody's, where no name is taken yet. */
static const char *public_folder(void)
{
	static unsigned made;
	const char *path = e2e_format("%s/public-%u", e2e_folder(), made++);

	assert_int_equal(chmod(e2e_folder(), 0755), 0);
	assert_int_equal(mkdir(path, 0), 0);
	assert_int_equal(chmod(path, 01777), 0);
	return path;
}

/* A line of /proc/PID/status as a number. */
static uint64_t status_of(pid_t pid, const char *name)
{
	FILE *file = fopen(e2e_format("/proc/%d/status", (int)pid), "re");
	char line[256];
	uint64_t value = UINT64_MAX;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtoull(line + strlen(name) + 1, NULL, 16);
	fclose(file);
	assert_true(value != UINT64_MAX);
	return value;
}

/* 1: reads a file as a recording. */
ATTEMPT_TEST(reads_recording)
{
	const char *path = secret_file();
	struct e2e_result r;

	run_as_nobody(&r, e2e_format("-b -R %s", path));
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "denied"));
	check_untouched(path, &r);
}

/* 2: has a file overwritten by samples. */
ATTEMPT_TEST(writes_output)
{
	const char *path = secret_file();
	struct e2e_result r;

	run_as_nobody(&r, e2e_format("-b -n 1 -d 0.1 --output %s", path));
	assert_int_equal(r.status, 1);
	check_untouched(path, &r);
}

/* 3: has the debug log appended to a file. */
ATTEMPT_TEST(writes_log)
{
	const char *path = secret_file();
	struct e2e_result r;

	run_as_nobody(&r, e2e_format("-b -n 1 -d 0.1 --debug-log %s", path));
	assert_int_equal(r.status, 1);
	check_untouched(path, &r);
}

/* 4: has a recording made where it may not write. */
ATTEMPT_TEST(records)
{
	const char *folder = e2e_folder();
	struct e2e_result r;

	assert_int_equal(chmod(folder, 0755), 0);
	run_as_nobody(&r, e2e_format("-b -n 1 -d 0.1 -w %s/recording", folder));
	assert_int_equal(r.status, 1);
	assert_int_not_equal(access(e2e_format("%s/recording", folder), F_OK), 0);
}

/* 5: has the recordings in a folder that is not its own removed for want of room. */
ATTEMPT_TEST(prunes)
{
	const char *folder = e2e_path("kept");
	const char *old = e2e_format("%s/stalltop-20200101T000000Z-000.db", folder);
	struct e2e_result r;
	FILE *file;

	assert_int_equal(chmod(e2e_folder(), 0755), 0);
	assert_int_equal(mkdir(folder, 0755), 0);
	file = fopen(old, "we");
	assert_non_null(file);
	fclose(file);
	run_as_nobody(&r, e2e_format("-b -n 1 -d 0.1 -w %s --keep 1s,1K", folder));
	assert_int_equal(r.status, 1);
	assert_int_equal(access(old, F_OK), 0);
}

/* 6: what it does write belongs to the caller, with the caller's mask. */
ATTEMPT_TEST(owns_output)
{
	const char *path = e2e_format("%s/mine", public_folder());
	struct e2e_result r;
	struct stat st;

	run_script(&r, e2e_format("umask 077; exec $0 -b -n 1 -d 0.1 --output %s", path));
	assert_int_equal(r.status, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* 7: reads another's file by way of a descriptor that a process of his has open. */
ATTEMPT_TEST(reads_descriptor)
{
	const char *path = secret_file();
	struct e2e_result r;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	run_as_nobody(&r, e2e_format("-b -R /proc/%d/fd/%d", (int)getpid(), fd));
	close(fd);
	assert_int_equal(r.status, 1);
	check_untouched(path, &r);
}

/* 8: the same, to a public file behind a folder that is closed to it. */
ATTEMPT_TEST(reads_around)
{
	const char *folder = e2e_path("closed"), *path;
	struct e2e_result r;
	int fd;

	assert_int_equal(mkdir(folder, 0700), 0);
	path = e2e_format("%s/recording", folder);
	e2e_require();
	e2e_run(&r, NULL, "-b -n 2 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 0);
	assert_int_equal(chmod(path, 0644), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	run_as_nobody(&r, e2e_format("-b -R /proc/%d/fd/%d", (int)getpid(), fd));
	close(fd);
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
}

/* 9: a command has no capability of the file, in no set. */
ATTEMPT_TEST(command_capabilities)
{
	struct e2e_result r;

	run_script(&r, "exec $0 -- /bin/grep -E '^Cap(Prm|Eff|Amb)' /proc/self/status");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out.data, "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
					"CapAmb:\t0000000000000000\n");
}

/* 10: nor any of our descriptors: it has those that it would have without us. */
ATTEMPT_TEST(command_descriptors)
{
	struct e2e_result r, plain;

	run_script(&plain, "exec /bin/ls /proc/self/fd");
	run_script(&r, "exec $0 --trace -- /bin/ls /proc/self/fd");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out.data, plain.out.data);
}

/* 11: a command is not looked for, nor run, where its caller may not. */
ATTEMPT_TEST(command_path)
{
	const char *folder = e2e_path("closed-path");
	struct e2e_result r;

	assert_int_equal(chmod(e2e_folder(), 0755), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(system(e2e_format("cp /bin/true %s/closed-true", folder)), 0);
	run_script(&r, e2e_format("PATH=%s:$PATH exec $0 -- closed-true", folder));
	assert_int_equal(r.status, 126);
	run_script(&r, e2e_format("exec $0 -- %s/closed-true", folder));
	assert_int_equal(r.status, 126);
}

/* Whom a finding is about may be another user's: what it writes and waits on root goes on reading.
 */
E2E_TEST(test_root_reads_others)
{
	struct e2e_proc p;

	e2e_require();
	e2e_start_stalltop(&p, NULL, "-b -d 0.1");
	assert_non_null(e2e_line(&p, 30));
	assert_true(status_of(p.pid, "CapEff") & UINT64_C(1) << CAP_DAC_READ_SEARCH);
	kill(p.pid, SIGKILL);
}

/* 12: delay accounting is not switched. */
ATTEMPT_TEST(switches)
{
	struct e2e_result r;

	e2e_require();
	give_capabilities();
	assert_int_equal(system("sysctl -q kernel.task_delayacct=0"), 0);
	run_as_nobody(&r, "-b -n 1 -d 0.1 --enable-delayacct");
	assert_int_equal(system("test $(sysctl -n kernel.task_delayacct) = 0 && "
				"sysctl -q kernel.task_delayacct=1"),
			 0);
	assert_int_equal(r.status, 1);
}

/* 13: only what reads is kept of all that the file has, and nothing for a replay. */
ATTEMPT_TEST(keeps_few)
{
	const uint64_t reading = UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_SYS_PTRACE |
				 UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_SYS_RESOURCE |
				 UINT64_C(1) << CAP_SYSLOG | UINT64_C(1) << CAP_PERFMON |
				 UINT64_C(1) << CAP_BPF;
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	struct e2e_proc p;

	give_capabilities();
	e2e_start_stalltop(&p, &how, "-b -d 0.1 -x --source taskstats");
	assert_non_null(e2e_line(&p, 30));
	assert_int_equal(status_of(p.pid, "CapPrm") & ~reading, 0);
	assert_int_equal(status_of(p.pid, "CapEff"),
			 UINT64_C(1) << CAP_NET_ADMIN |
				 (all_capabilities() & UINT64_C(1) << CAP_SYS_PTRACE));
	assert_int_equal(status_of(p.pid, "NoNewPrivs"), 1);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 0);
}

/* 14: what writes a recording has none at all. */
ATTEMPT_TEST(writer_has_none)
{
	const char *path = e2e_format("%s/recording", public_folder());
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	struct e2e_proc p;
	FILE *children;
	int child = 0;

	give_capabilities();
	e2e_start_stalltop(&p, &how, e2e_format("-b -d 0.1 -w %s", path));
	assert_non_null(e2e_line(&p, 30));
	children = fopen(e2e_format("/proc/%d/task/%d/children", (int)p.pid, (int)p.pid), "re");
	assert_non_null(children);
	assert_int_equal(fscanf(children, "%d", &child), 1);
	fclose(children);
	assert_int_equal(status_of(child, "CapPrm"), 0);
	assert_int_equal(status_of(child, "CapEff"), 0);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 0);
}

/* 15: a caller cannot have it traced, or take over its memory: it is not dumpable. */
ATTEMPT_TEST(traced)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	struct e2e_proc p;

	give_capabilities();
	e2e_start_stalltop(&p, &how, "-b -d 0.1");
	assert_non_null(e2e_line(&p, 30));
	run_script(&r, e2e_format("cat /proc/%d/environ /proc/%d/maps; : >/proc/%d/mem", (int)p.pid,
				  (int)p.pid, (int)p.pid));
	assert_int_not_equal(r.status, 0);
	assert_int_equal(r.out.len, 0);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
}

/* 16: code of the caller's is not loaded, and nothing is traced, by the environment. */
ATTEMPT_TEST(environment)
{
	const char *trace = e2e_format("%s/trace", public_folder());
	struct e2e_result r;

	run_script(&r, e2e_format("export LD_PRELOAD=/tmp/none.so LD_LIBRARY_PATH=/tmp NLCB=debug "
				  "NLDBG=5 MALLOC_TRACE=%s LIBBPF_LOG_LEVEL=debug LOCPATH=/tmp "
				  "GCONV_PATH=/tmp TZDIR=/tmp; exec $0 -b -n 1 -d 0.1",
				  trace));
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err.data, "");
	assert_int_not_equal(access(trace, F_OK), 0);
}

/* 17: a time zone's name is not a way to open a file: what is there is not UTC. */
ATTEMPT_TEST(time_zone)
{
	const char *folder = public_folder(), *zone = e2e_format("%s/there", folder);
	struct e2e_result r, plain;
	int there, hour;

	assert_int_equal(system(e2e_format("printf 'Zone there 9 - THR\n' | "
					   "/usr/sbin/zic -d %s -",
					   folder)),
			 0);
	e2e_require();
	assert_int_equal(setenv("TZ", e2e_format(":%s", zone), 1), 0);
	e2e_run(&plain, NULL, "-b -n 1 -d 0.1 -r 1");
	run_as_nobody(&r, "-b -n 1 -d 0.1 -r 1");
	unsetenv("TZ");
	assert_int_equal(r.status, 0);
	assert_int_equal(sscanf(plain.out.data, "stalltop %d:", &there), 1);
	assert_int_equal(sscanf(r.out.data, "stalltop %d:", &hour), 1);
	/* It is nine hours ahead there, but for an hour that ended in between. */
	assert_in_range((there - hour + 24) % 24, 8, 9);
}

/* 18: as setuid to root it does not run at all. */
ATTEMPT_TEST(setuid_root)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;

	e2e_require();
	assert_int_equal(chmod(e2e_stalltop(), 04755), 0);
	e2e_run(&r, &how, "-b -n 1 -d 0.1");
	assert_int_equal(chmod(e2e_stalltop(), 0755), 0);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "refuses to run setuid"));
	assert_int_equal(r.out.len, 0);
}

/* 19: a larger buffer of the kernel's memory is not to be had. */
ATTEMPT_TEST(kernel_memory)
{
	struct e2e_result r;

	run_as_nobody(&r, "-b -n 1 -d 0.1 --exit-buffer 1048576 -o json");
	assert_int_equal(r.status, 0);
	assert_true(strlen(r.out.data) > 0);
}

/* 20: paths of groups lead out of the hierarchy for nobody. */
ATTEMPT_TEST(group_paths)
{
	struct e2e_result r;

	run_as_nobody(&r, "-b -n 1 -d 0.1 --cgroup /../../../etc -o json");
	assert_true(!r.status || r.status == 1);
	assert_null(strstr(r.out.data, "passwd"));
	run_script(&r, "exec $0 -b -n 1 -d 0.1 --when 'cgroup:/../../../proc/1 cpu some 1s/2s'");
	assert_int_equal(r.status, 2);
}
