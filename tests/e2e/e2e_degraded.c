// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What cannot be known has a reason, costs only the columns that it must, and is
 * never shown as zero.
 */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIND_CPU 0
#define KIND_BLKIO 1

/* All kinds from one on are unset, in both figures. */
static void check_unset(json_t *task, size_t from)
{
	size_t i;

	for (i = from; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];

		if (!kind_unset(task, "delta", kind, "ns") ||
		    !kind_unset(task, "delta", kind, "count") ||
		    !kind_unset(task, "cumulative", kind, "ns") ||
		    !kind_unset(task, "cumulative", kind, "count"))
			fail_msg("%s of %s (%ju) is set", kind, member_text(task, "comm"),
				 member_u64(task, "pid"));
	}
}

/* One sample of half a second, in whatever surroundings. */
static json_t *sample_of(const struct e2e_how *how, const char *args)
{
	return parse_sample(how, e2e_format("-d 0.5 %s", args));
}

/* A note that is there and says something. */
static const char *check_note(json_t *sample, const char *id)
{
	const char *text = note_of(sample, id);

	if (!text || strlen(text) < 10)
		fail_msg("no note \"%s\": %s", id,
			 (char *)e2e_keep(json_dumps(json_object_get(sample, "notes"), 0)));
	return text;
}

/* Where all is well there is nothing to say but of tasks from before. */
E2E_TEST(test_nothing_missing)
{
	static const char *const ids[] = {
		"delayacct-off", "no-cap", "no-taskstats", "no-psi", "psi-missing", "late",
	};
	json_t *sample;
	size_t i;

	e2e_require();
	if (access("/proc/pressure/memory", R_OK))
		e2e_skip("no pressure files");
	sample = sample_of(NULL, "");
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (note_of(sample, ids[i]))
			fail_msg("a note: %s", note_of(sample, ids[i]));
}

/* Delay accounting off: cpu is counted all the same, the rest is unknown. */
E2E_TEST(test_delayacct_off)
{
	struct reader_record before, after;
	struct e2e_result r;
	struct text text;
	struct csv csv;
	json_t *sample, *task;
	pid_t pid;
	size_t i;

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	pid = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());
	assert_int_equal(reader_tgid(pid, &before), 0);
	sample = sample_of(NULL, "--measure no");
	assert_int_equal(reader_tgid(pid, &after), 0);
	assert_true(json_is_false(json_object_get(sample, "delayacct")));
	check_note(sample, "delayacct-off");
	task = task_must(sample, pid);
	check_unset(task, KIND_BLKIO);
	assert_in_range(kind_value(task, "cumulative", "cpu", "ns"), before.kind[KIND_CPU].ns,
			after.kind[KIND_CPU].ns);
	assert_true(kind_value(task, "delta", "cpu", "ns") > 500000000);
	e2e_run(&r, NULL,
		"--measure no -b -n 1 -d 0.3 -F pid,total,mem,cpu,blkio,swapin,reclaim,thrash,"
		"compact,wpcopy,irq,comm");
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (i = 0; i < text.v[0].rows; i++) {
		const struct text_row *row = &text.v[0].row[i];
		size_t k;

		for (k = text_column(&text.v[0], "2BLKIO"); k + 1 < row->n; k++)
			assert_string_equal(row->cell[k], "-");
		assert_string_equal(row->cell[text_column(&text.v[0], "9MEM")], "-");
	}
	assert_string_not_equal(text_cell(&text.v[0], pid, "1CPU"), "-");
	assert_non_null(strstr(r.out.data, "delays not counted"));
	assert_non_null(strstr(r.out.data, "delay accounting is off"));
	e2e_run(&r, NULL, "--measure no -b -n 1 -d 0.3 -o csv");
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	for (i = 1; i < csv.rows; i++) {
		assert_string_equal(csv_cell(&csv, i, "blkio_ns"), "");
		assert_string_equal(csv_cell(&csv, i, "wpcopy_count"), "");
	}
	assert_string_not_equal(csv_cell(&csv, csv_row(&csv, pid), "cpu_ns"), "");
}

/* On, but later than the task: its waits are unknown, those of the next are not. */
E2E_TEST(test_delayacct_older)
{
	json_t *sample;
	const char *text;
	pid_t older, newer;
	bool number;

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	older = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());
	assert_int_equal(box_delayacct(true), 0);
	newer = e2e_load(NULL, "load_kind wpcopy");
	sample = sample_of(NULL, "--measure no");
	assert_true(json_is_true(json_object_get(sample, "delayacct")));
	text = check_note(sample, "delayacct-older");
	number = strpbrk(text, "0123456789") != NULL;
	assert_true(number);
	check_unset(task_must(sample, older), KIND_BLKIO);
	assert_true(kind_value(task_must(sample, older), "delta", "cpu", "ns") > 0);
	assert_true(kind_value(task_must(sample, newer), "delta", "wpcopy", "ns") > 0);
}

/* What is shown of block I/O is no less than was read before, or unknown where it cannot be. */
static void check_blkio(json_t *task, pid_t pid, const struct reader_record *before)
{
	struct reader_record after;

	assert_int_equal(reader_tgid(pid, &after), 0);
	if (kind_unset(task, "cumulative", "blkio", "ns"))
		assert_true(e2e_booked_wrongly(after.kind[KIND_BLKIO].ns));
	else
		assert_in_range(kind_value(task, "cumulative", "blkio", "ns"),
				before->kind[KIND_BLKIO].ns, after.kind[KIND_BLKIO].ns);
}

/* A task that is known to be accounted, seen without any other to learn from. */
E2E_TEST(test_alone)
{
	struct reader_record rec;
	json_t *sample;
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());
	e2e_await_waits(pid, 1U << KIND_BLKIO, &rec);
	sample = sample_of(NULL, e2e_format("--measure no -p %d", (int)pid));
	check_blkio(task_must(sample, pid), pid, &rec);
	assert_null(note_of(sample, "delayacct-older"));
}

/* A process with threads, started after one that was not accounted: nobody is in between. */
E2E_TEST(test_alone_after_gap)
{
	struct reader_record rec;
	json_t *sample;
	pid_t pid;

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	e2e_load(NULL, "load_kind cpu");
	e2e_sleep(0.2);
	assert_int_equal(box_delayacct(true), 0);
	pid = e2e_load(NULL, "load_kind -d %s -w 4 blkio", e2e_folder());
	e2e_await_waits(pid, 1U << KIND_BLKIO, &rec);
	sample = sample_of(NULL, e2e_format("--measure no -p %d", (int)pid));
	check_blkio(task_must(sample, pid), pid, &rec);
	assert_null(note_of(sample, "delayacct-older"));
}

/* The procfs source's numbers of a stopped process are those of its threads' files. */
static void check_procfs(const struct e2e_how *how, const char *args, pid_t pid)
{
	uint64_t run, wait, slices, ticks, ns;
	json_t *sample, *task;

	assert_int_equal(reader_schedstat(pid, &run, &wait, &slices), 0);
	assert_int_equal(reader_blkio_ticks(pid, &ticks), 0);
	assert_true(ticks > 0);
	sample = sample_of(how, e2e_format("--since-start -p %d %s", (int)pid, args));
	assert_string_equal(member_text(sample, "source"), "procfs");
	task = task_must(sample, pid);
	assert_int_equal(member_u64(task, "run_ns"), run);
	assert_int_equal(kind_value(task, "cumulative", "cpu", "ns"), wait);
	assert_int_equal(kind_value(task, "cumulative", "cpu", "count"), slices);
	ns = ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	if (kind_unset(task, "cumulative", "blkio", "ns"))
		assert_true(e2e_booked_wrongly(ns));
	else
		assert_int_equal(kind_value(task, "cumulative", "blkio", "ns"), ns);
	/* the file has no count */
	assert_true(kind_unset(task, "cumulative", "blkio", "count"));
	check_unset(task, 2);
	assert_string_equal(member_text(task, "comm"), "load_kind");
}

/* Four threads that read from the disk, then stand still. */
static pid_t stopped_readers(void)
{
	pid_t pid = e2e_load(NULL, "load_kind -d %s -w 4 blkio", e2e_folder());
	double until = e2e_now() + 20;
	uint64_t ticks = 0;

	while (!ticks && e2e_now() < until) {
		e2e_sleep(0.02);
		assert_int_equal(reader_blkio_ticks(pid, &ticks), 0);
	}
	e2e_stop(pid);
	return pid;
}

/* Asked for by name, with all privileges. */
E2E_TEST(test_source_procfs)
{
	json_t *sample = NULL, *task;
	pid_t pid;

	e2e_require();
	pid = stopped_readers();
	check_procfs(NULL, "--source procfs", pid);
	kill(pid, SIGCONT);
	/* most intervals have no wait that cannot be */
	for (unsigned i = 0; i < 20; i++) {
		sample = sample_of(NULL, "--source procfs -s blkio");
		if (!kind_unset(task_must(sample, pid), "delta", "blkio", "ns"))
			break;
		check_note(sample, "stale-stamp");
	}
	task = json_array_get(json_object_get(sample, "tasks"), 0);
	/* the leader sleeps: only a sum over the threads leads */
	assert_int_equal(member_u64(task, "pid"), pid);
	assert_true(kind_value(task, "delta", "blkio", "ns") > 0);
}

/* What procfs shows without delay accounting is unknown as well. */
E2E_TEST(test_procfs_delayacct_off)
{
	json_t *sample, *task;
	pid_t pid;

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	pid = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());
	sample = sample_of(NULL, "--source procfs");
	check_note(sample, "delayacct-off");
	task = task_must(sample, pid);
	check_unset(task, KIND_BLKIO);
	assert_true(kind_value(task, "delta", "cpu", "ns") > 0);
}

/* An ordinary user. */
E2E_TEST(test_unprivileged)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	json_t *sample;
	pid_t pid;

	e2e_require();
	pid = stopped_readers();
	check_procfs(&how, "", pid);
	sample = sample_of(&how, "");
	check_note(sample, "no-cap");
	assert_true(json_array_size(json_object_get(sample, "tasks")) > 5);
	e2e_run(&r, &how, "-b -n 1 -d 0.2");
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "CAP_NET_ADMIN"));
	/* nothing else was asked for, so nothing else will do */
	e2e_run(&r, &how, "-b -n 1 -d 0.2 --source taskstats");
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
	assert_true(r.err.len > 10);
}

/* Root of a user and a PID namespace of its own, which taskstats does not trust. */
E2E_TEST(test_namespaces)
{
	const char *argv[] = { "/usr/bin/unshare",
			       "-Urpf",
			       "--mount-proc",
			       e2e_stalltop(),
			       "-b",
			       "-n",
			       "1",
			       "-d",
			       "0.3",
			       "-o",
			       "json",
			       NULL };
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	struct samples s;
	struct e2e_proc p;
	json_t *task;
	size_t i;

	e2e_require();
	e2e_start(&p, &how, argv);
	e2e_finish(&p, 30, &r);
	if (r.status == 127 || (r.status == 1 && strstr(r.err.data, "unshare")))
		e2e_skip("no user namespaces");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	assert_string_equal(member_text(s.v[0], "source"), "procfs");
	check_note(s.v[0], "no-cap");
	task = task_must(s.v[0], 1);
	assert_string_equal(member_text(task, "comm"), "stalltop");
	json_array_foreach(json_object_get(s.v[0], "tasks"), i, task) check_unset(task, 2);
}

/* A mount namespace; it is /proc that is made private, as in a chroot "/" is no mount. */
static bool own_mounts(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/proc", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* In the child: without pressure files. */
static int hide_pressure(const char *arg)
{
	(void)arg;
	return !own_mounts() || mount("none", "/proc/pressure", "tmpfs", 0, NULL);
}

/* In the child: with the files of cpu and memory alone. */
static int hide_io_pressure(const char *arg)
{
	static const char *const paths[] = { "/proc/pressure/cpu", "/proc/pressure/memory" };
	int files[2], fd;
	char from[64];
	size_t i;

	(void)arg;
	if (!own_mounts())
		return -1;
	for (i = 0; i < 2; i++)
		files[i] = open(paths[i], O_PATH | O_CLOEXEC);
	if (mount("none", "/proc/pressure", "tmpfs", 0, NULL))
		return -1;
	for (i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", files[i]);
		fd = open(paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd) || mount(from, paths[i], NULL, MS_BIND, NULL))
			return -1;
	}
	return 0;
}

/* Booted with psi=0, or a container that hides them. */
E2E_TEST(test_no_psi)
{
	struct e2e_how how = { .hook = hide_pressure };
	struct e2e_result r;
	json_t *sample, *psi, *value;
	struct text text;
	const char *name;
	size_t i;

	e2e_require();
	if (access("/proc/pressure/memory", R_OK))
		e2e_skip("no pressure files");
	sample = sample_of(&how, "");
	check_note(sample, "no-psi");
	psi = json_object_get(sample, "psi");
	assert_non_null(psi);
	json_object_foreach(psi, name, value) assert_true(json_is_null(value));
	e2e_run(&r, &how, "-b -n 1 -d 0.2");
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (i = 0; i < text.v[0].header_lines; i++)
		assert_int_not_equal(strncmp(text.v[0].header[i], "memory ", 7), 0);
}

/* One file is missing: it takes no row, the others stay. */
E2E_TEST(test_psi_missing)
{
	struct e2e_how how = { .hook = hide_io_pressure };
	struct e2e_result r;
	struct text text;
	json_t *sample, *psi;
	bool memory = false;
	size_t i;

	e2e_require();
	if (access("/proc/pressure/memory", R_OK))
		e2e_skip("no pressure files");
	sample = sample_of(&how, "");
	assert_non_null(strstr(check_note(sample, "psi-missing"), "io"));
	psi = json_object_get(sample, "psi");
	assert_true(json_is_null(json_object_get(psi, "io")));
	member_u64(json_object_get(json_object_get(psi, "cpu"), "some"), "total_us");
	member_u64(json_object_get(json_object_get(psi, "memory"), "full"), "total_us");
	e2e_run(&r, &how, "-b -n 1 -d 0.2");
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (i = 0; i < text.v[0].header_lines; i++) {
		memory |= !strncmp(text.v[0].header[i], "memory ", 7);
		assert_int_not_equal(strncmp(text.v[0].header[i], "io ", 3), 0);
	}
	assert_true(memory);
}

/* The next place in an open mount table where the v2 hierarchy is, or NULL. */
static const char *next_v2(FILE *mounts)
{
	struct mntent *m;

	while ((m = getmntent(mounts)) && strcmp(m->mnt_type, "cgroup2") != 0)
		;
	return m ? m->mnt_dir : NULL;
}

/* In the child: wherever the v2 hierarchy is mounted, cpu's pressure file of its root is empty. */
static int empty_cpu_pressure(const char *arg)
{
	FILE *mounts = own_mounts() ? setmntent("/proc/self/mounts", "re") : NULL;
	const char *dir;
	bool good = mounts;

	(void)arg;
	while (good && (dir = next_v2(mounts)))
		good = !mount("none", dir, NULL, MS_PRIVATE, NULL) &&
		       !mount("/dev/null", e2e_format("%s/cpu.pressure", dir), NULL, MS_BIND, NULL);
	if (mounts)
		endmntent(mounts);
	return !good;
}

/* A group of which one file cannot be read: the stalls of the others are known all the same. */
E2E_TEST(test_group_psi_missing)
{
	struct e2e_how how = { .hook = empty_cpu_pressure };
	struct e2e_result r;
	FILE *mounts;
	bool found;
	struct samples s;
	json_t *psi;

	e2e_require();
	if (access("/proc/pressure/memory", R_OK))
		e2e_skip("no pressure files");
	mounts = setmntent("/proc/self/mounts", "re");
	assert_non_null(mounts);
	found = next_v2(mounts);
	endmntent(mounts);
	if (!found)
		e2e_skip("no cgroup v2");
	e2e_run(&r, &how, "-b -n 2 -d 0.2 -o json --cgroup-hierarchy v2 --cgroup /");
	check_silent_success(&r);
	parse_json(&r, &s);
	psi = json_object_get(s.v[1], "psi");
	assert_true(json_is_null(json_object_get(psi, "cpu")));
	member_u64(json_object_get(json_object_get(psi, "io"), "some"), "delta_us");
	member_u64(json_object_get(json_object_get(psi, "memory"), "full"), "delta_us");
}

/* Where taskstats cannot be reached the reason is another one than without the privilege. */
E2E_TEST(test_no_taskstats)
{
	struct e2e_how how = { .hook = e2e_no_netlink, .hook_arg = "nor bpf" };
	json_t *sample, *task;
	size_t i;

	e2e_require();
	sample = sample_of(&how, "");
	assert_string_equal(member_text(sample, "source"), "procfs");
	assert_null(note_of(sample, "no-cap"));
	assert_null(note_of(sample, "taskstats-version"));
	if (!note_of(sample, "no-taskstats"))
		check_note(sample, "taskstats-error");
	json_array_foreach(json_object_get(sample, "tasks"), i, task) check_unset(task, 2);
}

/* In the child: with so many descriptors at most. */
static int limit_files(const char *number)
{
	rlim_t limit = (rlim_t)atoi(number);

	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ limit, limit });
}

/* With few descriptors it says what it cannot read and why, or that it cannot run: no row less. */
E2E_TEST(test_few_files)
{
	size_t whole = 0, without = 0;

	e2e_require();
	for (int limit = 5; limit <= 24; limit++) {
		struct e2e_how how = { .hook = limit_files, .hook_arg = e2e_format("%d", limit) };
		struct e2e_result r;
		struct samples s;

		e2e_run(&r, &how, "-b -n 1 -d 0.1 -o json --source procfs");
		if (r.status) {
			assert_int_equal(r.out.len, 0);
			assert_true(r.err.len > 10);
			continue;
		}
		parse_json(&r, &s);
		assert_null(note_of(s.v[0], "no-psi"));
		if (task_of(s.v[0], 1)) {
			whole++;
			continue;
		}
		without++;
		assert_non_null(strstr(check_note(s.v[0], "unread"), "Too many open files"));
	}
	assert_true(whole && without);
}

/* The address sanitizer does not work without /proc either. */
#ifndef __SANITIZE_ADDRESS__
/* In the child: without /proc. */
static int hide_proc(const char *arg)
{
	(void)arg;
	return !own_mounts() || mount("none", "/proc", "tmpfs", 0, NULL);
}

/* Without /proc there would seem to be no tasks: it says so. What needs none is there. */
E2E_TEST(test_no_proc)
{
	static const char *const need[] = { "-b -n 1 -d 0.1", "-b -n 1 --source procfs",
					    "-w /nowhere", "-- true" };
	struct e2e_how how = { .hook = hide_proc };
	struct e2e_result r;

	e2e_require();
	for (size_t i = 0; i < sizeof(need) / sizeof(need[0]); i++) {
		e2e_run(&r, &how, "%s", need[i]);
		assert_int_equal(r.status, 1);
		assert_int_equal(r.out.len, 0);
		assert_string_equal(r.err.data,
				    "stalltop: no proc file system is mounted at /proc\n");
	}
	e2e_run(&r, &how, "--help");
	check_silent_success(&r);
	e2e_run(&r, &how, "--version");
	check_silent_success(&r);
	e2e_run(&r, &how, "-b -R /nowhere");
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "'/nowhere': No such file"));
}
#endif

/* Whether the doctor says that a subject is shown. */
static bool is_shown(json_t *page, const char *id)
{
	json_t *check;
	size_t i;

	json_array_foreach(json_object_get(page, "checks"), i, check)
	{
		if (!strcmp(json_string_value(json_object_get(check, "id")), id))
			return json_is_true(json_object_get(check, "shown"));
	}
	fail_msg("no check %s", id);
	return false;
}

/* The doctor's page, which must say by its status whether all is shown. */
static json_t *ask_doctor(const struct e2e_how *how)
{
	struct e2e_result r;
	json_t *page, *check;
	bool all = true;
	size_t i;

	e2e_run(&r, how, "--doctor -o json");
	assert_int_equal(r.err.len, 0);
	page = e2e_keep_json(json_loads(r.out.data, 0, NULL));
	assert_non_null(page);
	json_array_foreach(json_object_get(page, "checks"), i, check)
	{
		all &= json_is_true(json_object_get(check, "shown"));
	}
	assert_int_equal(r.status, !all);
	e2e_run(&r, how, "--doctor");
	assert_int_equal(r.status, !all);
	assert_non_null(strstr(r.out.data, "Available:"));
	return page;
}

/* In the child: a pid namespace of its own, as a container has; the program is its first process.
 */
static int be_contained(const char *arg)
{
	pid_t pid;

	if (!own_mounts() || unshare(CLONE_NEWPID))
		return -1;
	pid = fork();
	if (pid > 0) {
		int status;

		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	}
	return pid < 0 || mount("proc", "/proc", "proc", 0, arg);
}

/* What the doctor says as root, as nobody, and in a container. */
E2E_TEST(test_doctor)
{
	const struct e2e_how nobody = { .uid = NOBODY }, guest = { .hook = be_contained };
	json_t *page;

	e2e_require();
	page = ask_doctor(NULL);
	assert_true(is_shown(page, "sample") && is_shown(page, "taskstats"));
	assert_true(is_shown(page, "exits") && is_shown(page, "users"));
	page = ask_doctor(&nobody);
	assert_true(is_shown(page, "sample"));
	assert_false(is_shown(page, "taskstats") || is_shown(page, "trace"));
	assert_false(is_shown(page, "waiting") || is_shown(page, "exits"));
	page = ask_doctor(&guest);
	assert_true(is_shown(page, "sample"));
	assert_false(is_shown(page, "namespaces") || is_shown(page, "exits"));
}

/* In the child: /proc as it hides others' tasks. */
static int hide_others(const char *options)
{
	return !own_mounts() || mount("proc", "/proc", "proc", 0, options) ||
	       setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);
}

/* Tasks that are listed and may not be looked into are counted; that others are not is told. */
E2E_TEST(test_hidden_tasks)
{
	struct e2e_how how = { .hook = hide_others, .hook_arg = "hidepid=1" };
	json_t *sample;

	e2e_require();
	sample = sample_of(&how, "");
	assert_null(task_of(sample, 1));
	assert_non_null(strstr(check_note(sample, "unread"), "Operation not permitted"));
	assert_null(note_of(sample, "hidden"));
	how.hook_arg = "hidepid=2";
	check_note(sample_of(&how, ""), "hidden");
}

/* In the child: a /proc of tasks alone. */
static int have_tasks_alone(const char *arg)
{
	(void)arg;
	return !own_mounts() || mount("proc", "/proc", "proc", 0, "subset=pid");
}

/* Such a /proc is told as what it is: neither is the kernel without pressure, nor are files lost.
 */
E2E_TEST(test_subset)
{
	struct e2e_how how = { .hook = have_tasks_alone };
	json_t *sample;

	e2e_require();
	sample = sample_of(&how, "");
	check_note(sample, "proc-subset");
	assert_null(note_of(sample, "no-psi"));
	assert_null(note_of(sample, "system-missing"));
}

/* In the child: a file in place of /proc/stat. */
static int keep_stat(const char *copy)
{
	return !own_mounts() || mount(copy, "/proc/stat", NULL, MS_BIND, NULL);
}

/* A machine's CPU time that stands far ahead, and then falls back: unknown, and said so. */
E2E_TEST(test_stat_falls)
{
	const char *path = e2e_path("stat");
	struct e2e_how how = { .hook = keep_stat, .hook_arg = path };
	char text[65536], *idle;
	struct e2e_result r;
	struct samples s;
	struct e2e_proc p;
	FILE *file;
	size_t len;

	e2e_require();
	file = fopen("/proc/stat", "re");
	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	assert_true((file = fopen(path, "we")) && fwrite(text, 1, len, file) == len);
	fclose(file);
	e2e_start_stalltop(&p, &how, "-b -n 6 -d 0.5 -o json");
	assert_true(e2e_skip_line(&p, 20));
	/* Idle is the fourth number: a digit more is a leap, and then a fall. */
	idle = strchr(strchr(strchr(strchr(text, ' ') + 2, ' ') + 1, ' ') + 1, ' ') + 1;
	file = fopen(path, "we");
	assert_true(file && fprintf(file, "%.*s9%s", (int)(idle - text), text, idle) > 0);
	fclose(file);
	e2e_finish(&p, 30, &r);
	parse_json(&r, &s);
	len = 0;
	for (size_t i = 0; i < s.n; i++) {
		json_t *cpu = json_object_get(json_object_get(s.v[i], "system"), "cpu_ns");

		if (!note_of(s.v[i], "leapt"))
			continue;
		assert_true(json_is_null(cpu));
		len++;
	}
	assert_int_equal(len, 1);
}

/* Has an empty file stand for the kernel's table of functions, as where they are hidden. */
static int hide_functions(const char *path)
{
	return !own_mounts() || mount(path, "/proc/kallsyms", NULL, MS_BIND, NULL);
}

/* Where the kernel hides the names of its functions, that is said, and no address takes their
 * place. */
E2E_TEST(test_hidden_functions)
{
	const char *path = e2e_path("kallsyms");
	const struct e2e_how how = { .hook = hide_functions, .hook_arg = path };
	struct e2e_result r;
	struct samples s;
	FILE *file;

	e2e_require_bpf();
	file = fopen(path, "we");
	assert_non_null(file);
	fclose(file);
	assert_true(e2e_load(NULL, "load_kind -w 2 cpu") > 0);
	e2e_run(&r, &how, "-b -n 1 -d 0.5 --trace -o json");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_non_null(note_of(s.v[0], "trace-symbols"));
	assert_null(strstr(r.out.data, "\"0xffff"));
	e2e_run(&r, &how, "--doctor");
	assert_non_null(strstr(r.out.data, "kptr_restrict"));
	e2e_run(&r, NULL, "-b -n 1 -d 0.5 --trace -o json");
	parse_json(&r, &s);
	assert_null(note_of(s.v[0], "trace-symbols"));
	remove(path);
}
