// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bpf source as who runs the program sees it: that it shows what taskstats shows, and what
 * only it can: waits that go on.
 */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SLEEPERS 200

#define CHUNK (96U * 1024) /* read at once by a throttled task */
#define PER_SECOND (32U * 1024)

/* Without taskstats it knows all kinds, and nobody says otherwise. */
E2E_TEST(test_no_taskstats)
{
	static const char *const ids[] = { "no-cap", "no-taskstats", "taskstats-version",
					   "taskstats-error" };
	struct e2e_how how = { .hook = e2e_no_netlink };
	struct e2e_result r;
	struct samples s;
	size_t i;
	pid_t pid;

	e2e_require_bpf();
	pid = e2e_load(NULL, "load_sleepers 1");
	e2e_run(&r, &how, "-b -n 1 -d 0.3 -o json");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_string_equal(member_text(s.v[0], "source"), "bpf");
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (note_of(s.v[0], ids[i]))
			fail_msg("%s", note_of(s.v[0], ids[i]));
	assert_false(kind_unset(task_must(s.v[0], pid), "cumulative", "wpcopy", "ns"));
}

/* Who a task is, and its counters: the same in two samples of different sources. */
static size_t compare_task(json_t *a, json_t *b)
{
	static const char *const members[] = { "tgid", "ppid", "uid", "user", "comm" };
	size_t i, n = 0;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++, n++)
		if (!json_equal(json_object_get(a, members[i]), json_object_get(b, members[i])))
			fail_msg("%s of %ju differs", members[i], member_u64(a, "pid"));
	/* taskstats sees the start to the length of a request, which others may hold up */
	if (member_real(a, "start") - member_real(b, "start") > 0.2 ||
	    member_real(b, "start") - member_real(a, "start") > 0.2)
		fail_msg("%ju began at %.6f and at %.6f", member_u64(a, "pid"),
			 member_real(a, "start"), member_real(b, "start"));
	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];
		bool unset = kind_unset(a, "cumulative", kind, "ns");

		/* A wait that the kernel booked too long is left out from when it is found. */
		if (!strcmp(kind, "blkio"))
			unset |= kind_unset(b, "cumulative", kind, "ns");
		else
			assert_int_equal(unset, kind_unset(b, "cumulative", kind, "ns"));
		if (unset)
			continue;
		assert_int_equal(kind_value(a, "cumulative", kind, "ns"),
				 kind_value(b, "cumulative", kind, "ns"));
		assert_int_equal(kind_value(a, "cumulative", kind, "count"),
				 kind_value(b, "cumulative", kind, "count"));
		n += 2;
	}
	return n + 1;
}

/* What stands still is the same in both. */
static void check_same(const char *options, const pid_t *parents, size_t n)
{
	json_t *ours = parse_one(e2e_format("--source bpf %s", options)), *task;
	json_t *theirs = parse_one(e2e_format("--source taskstats %s", options));
	size_t i, k, tasks = 0, fields = 0;
	struct task_index index;

	assert_string_equal(member_text(ours, "source"), "bpf");
	index_tasks(ours, &index);
	json_array_foreach(json_object_get(theirs, "tasks"), i, task)
	{
		for (k = 0; k < n; k++)
			if (member_u64(task, "tgid") == (uint64_t)parents[k] ||
			    member_u64(task, "ppid") == (uint64_t)parents[k])
				break;
		if (k == n)
			continue;
		assert_non_null(indexed_task(&index, member_u64(task, "pid")));
		fields += compare_task(indexed_task(&index, member_u64(task, "pid")), task);
		tasks++;
	}
	printf("# %zu fields of %zu tasks are the same%s\n", fields, tasks,
	       *options ? ", of threads" : "");
	assert_true(tasks > SLEEPERS && fields > 10 * tasks);
}

/* The program prints the same, whichever it asks; and says how long the walk took. */
E2E_TEST(test_same)
{
	const char *log = e2e_path("log");
	unsigned long entries, records, us;
	pid_t loads[4];
	char line[256];
	bool found = false;
	FILE *f;

	e2e_require_bpf();
	loads[0] = e2e_load(NULL, "load_sleepers %d", SLEEPERS);
	loads[1] = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());
	loads[2] = e2e_load(NULL, "load_kind -d %s wpcopy", e2e_folder());
	loads[3] = e2e_load(NULL, "load_churn threads");
	for (int i = 1; i < 4; i++)
		e2e_stop(loads[i]);
	check_same("", loads, 4);
	check_same("-H", loads, 4);
	guard_push(UNDO_UNLINK, log, NULL);
	parse_one(e2e_format("--source bpf --debug-log %s", log));
	f = fopen(log, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "snapshot: ");

		if (!at || sscanf(at, "snapshot: %lu entries, %lu records, %lu us", &entries,
				  &records, &us) != 3)
			continue;
		found = true;
		printf("# %lu entries and %lu records in %lu us\n", entries, records, us);
		assert_true(entries > SLEEPERS && us > 0);
	}
	assert_true(found);
	fclose(f);
}

/* In a pid namespace: its ids, and nobody from outside. */
E2E_TEST(test_namespace)
{
	const char *script = e2e_format("sleep 20 & exec %s --source bpf -b -n 2 -d 0.3 -x -o json",
					e2e_stalltop());
	const char *argv[] = {
		"/usr/bin/unshare", "-pf", "--mount-proc", "/bin/sh", "-c", script, NULL
	};
	struct e2e_result r;
	struct samples s;
	struct e2e_proc p;
	size_t i;
	json_t *task;

	e2e_require_bpf();
	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 20, &r);
	if (r.status == 127 || (r.status == 1 && strstr(r.err.data, "unshare")))
		e2e_skip("no pid namespaces");
	check_silent_success(&r);
	parse_json(&r, &s);
	for (i = 0; i < s.n; i++)
		/* The third reads files for it. */
		assert_int_equal(json_array_size(json_object_get(s.v[i], "tasks")), 3);
	task = task_must(s.v[1], 1);
	assert_string_equal(member_text(task, "comm"), "stalltop");
	assert_int_equal(member_u64(task, "ppid"), 0);
	task = task_must(s.v[1], 2);
	assert_string_equal(member_text(task, "comm"), "sleep");
	assert_int_equal(member_u64(task, "ppid"), 1);
}

/* A number of a CSV cell; 0 where there is none. */
static double csv_number(const struct csv *csv, size_t row, const char *name)
{
	return atof(csv_cell(csv, row, name));
}

/*
 * Checks that the task's wait grows with time while it stands in D; one that waits for a CPU
 * meanwhile has begun another wait. How many times it grew.
 */
static size_t check_growth(const struct csv *csv, pid_t pid)
{
	double before = 0;
	size_t row, grown = 0;

	for (row = 1; row < csv->rows; row++) {
		bool stuck = !strcmp(csv_cell(csv, row, "state"), "D");
		double wait = stuck ? csv_number(csv, row, "wait") : 0;
		double interval = csv_number(csv, row, "interval");

		if (csv_number(csv, row, "pid") != pid)
			continue;
		if (wait > 0 && before > 0) {
			if (wait - before < 0.9 * interval || wait - before > 1.1 * interval)
				fail_msg("waited for %.6f, then %.6f s, %.6f s later", before, wait,
					 interval);
			grown++;
		}
		before = wait;
	}
	return grown;
}

/* A run that watches one task. */
static void watch(struct csv *csv, pid_t pid, int n)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "--source bpf -b -n %d -d 0.5 -p %d -F pid,state,wait,blkio,comm -o csv",
		n, (int)pid);
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, csv);
}

/* D without I/O: the parent of vfork. */
E2E_TEST(test_stuck)
{
	struct csv csv;
	size_t row;
	pid_t pid;

	e2e_require_bpf();
	pid = e2e_load(NULL, "load_churn stuck");
	e2e_sleep(0.2);
	watch(&csv, pid, 6);
	assert_int_equal(check_growth(&csv, pid), 5);
	for (row = 1; row < csv.rows; row++)
		assert_true(csv_number(&csv, row, "blkio_ns") == 0);
}

/* The disk that a file is on, as the throttle names it. False where it is none. */
static bool disk_of(const char *path, char *name, size_t size)
{
	char link[PATH_MAX], *target, *number;
	struct stat st;
	FILE *f;

	if (stat(path, &st) || !major(st.st_dev))
		return false;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	target = realpath(link, NULL);
	if (!target)
		return false;
	snprintf(link, sizeof(link), "%s/partition", target);
	number = access(link, F_OK) ? NULL : strrchr(target, '/');
	if (number)
		*number = '\0';
	snprintf(link, sizeof(link), "%s/dev", target);
	free(target);
	f = fopen(link, "re");
	if (!f || !fgets(name, (int)size, f))
		*name = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return *name;
}

/* A cgroup whose tasks read so many bytes a second from the disk; NULL where there is none. */
static const char *make_throttle(const char *disk)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const char *path = NULL;
	struct mntent *m;

	while (f && !path && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "blkio"))
			path = e2e_format("%s/stalltop-test-%d", m->mnt_dir, (int)getpid());
	if (f)
		endmntent(f);
	if (!path || mkdir(path, 0755))
		return NULL;
	guard_push(UNDO_CGROUP, path, NULL);
	return write_text(e2e_format("%s/blkio.throttle.read_bps_device", path),
			  e2e_format("%s %u", disk, PER_SECOND))
		       ? NULL
		       : path;
}

/* Reads a chunk from the disk after a while; says how long that took, then sleeps. */
static _Noreturn void read_chunk(const char *path, const char *cgroup, int told)
{
	static char chunk[CHUNK] __attribute__((aligned(4096)));
	int fd = open(path, O_RDONLY | O_DIRECT);
	double took;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || write_text(e2e_format("%s/cgroup.procs", cgroup), "0"))
		_exit(1);
	e2e_sleep(1.2);
	took = e2e_now();
	if (pread(fd, chunk, sizeof(chunk), 0) != (ssize_t)sizeof(chunk))
		_exit(1);
	took = e2e_now() - took;
	if (write(told, &took, sizeof(took)) != sizeof(took))
		_exit(1);
	for (;;)
		pause();
}

/* A file with a chunk, on the disk and not in memory. */
static const char *make_chunk(void)
{
	const char *path = e2e_path("chunk");
	char *bytes = e2e_keep(calloc(1, CHUNK));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	guard_push(UNDO_UNLINK, path, NULL);
	memset(bytes, 'x', CHUNK);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, CHUNK), CHUNK);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	return path;
}

/* How long a reader of the chunk waited, by itself, and what was shown of it meanwhile. */
static double watch_reader(const char *path, const char *cgroup, struct csv *csv, pid_t *pid)
{
	double took = 0;
	int told[2];

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	fflush(NULL);
	*pid = fork();
	if (!*pid)
		read_chunk(path, cgroup, told[1]);
	guard_push_child(*pid);
	watch(csv, *pid, 12);
	close(told[1]);
	fcntl(told[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(read(told[0], &took, sizeof(took)), sizeof(took));
	close(told[0]);
	return took;
}

/* What was booked in all rows, in s, and in how many; negative where it is unknown in one. */
static double booked_in(const struct csv *csv, size_t *times)
{
	double booked = 0;

	*times = 0;
	for (size_t row = 1; row < csv->rows; row++) {
		if (!*csv_cell(csv, row, "blkio_ns"))
			return -1;
		booked += csv_number(csv, row, "blkio_ns") / 1e9;
		*times += csv_number(csv, row, "blkio_ns") > 1e8;
	}
	return booked;
}

/*
 * D for I/O: the wait shows while it lasts, and is booked once when it ends. On a CPU that others
 * want, kernels from 6.12 may book it from the beginning of another, which is not shown then.
 */
E2E_TEST(test_throttled)
{
	const char *path, *cgroup;
	double took = 0, booked = -1;
	struct csv csv;
	size_t times = 0, grown = 0;
	char disk[64];
	pid_t pid;

	e2e_require_bpf();
	path = make_chunk();
	cgroup = disk_of(path, disk, sizeof(disk)) ? make_throttle(disk) : NULL;
	if (!cgroup)
		e2e_skip("no throttled blkio cgroup");
	for (unsigned i = 0; i < 5 && booked < 0; i++) {
		took = watch_reader(path, cgroup, &csv, &pid);
		grown = check_growth(&csv, pid);
		booked = booked_in(&csv, &times);
		printf("# waited for %.3f s, %zu times longer than before; %.3f s booked\n", took,
		       grown, booked);
		assert_true(took > 1.5 && grown >= 2);
	}
	assert_true(booked > 0.95 * took && booked < 1.05 * took);
	assert_int_equal(times, 1);
}

/*
 * A program that runs all the time and becomes another one of the same name: its command line is
 * the new one with the next sample, though it is else read only every few seconds.
 */
E2E_TEST(test_exec)
{
	const char *argv[] = { "/bin/sh", "-c",
			       "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
			       "sleep 0.2; done; exec /bin/sh -c 'sleep 10; :' second",
			       "first", NULL };
	struct e2e_result r;
	struct e2e_proc p;
	const char *last;

	e2e_require_bpf();
	e2e_start(&p, NULL, argv);
	e2e_run(&r, NULL, "--source bpf -b -n 18 -d 0.3 -o csv -F pid,command -p %d", (int)p.pid);
	e2e_kill(p.pid);
	close(p.out);
	close(p.err);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out.data, "for i in"));
	/* What comes after the last line end but one. */
	assert_true(r.out.len > 2);
	r.out.data[r.out.len - 2] = '\0';
	last = strrchr(r.out.data, '\n');
	assert_non_null(last);
	assert_non_null(strstr(last, "second"));
	assert_null(strstr(last, "for i in"));
}
