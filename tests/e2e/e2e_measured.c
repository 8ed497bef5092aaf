// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits as they are measured, beside clocks of who waits and beside what the kernel books: also
 * where it books wrongly, as it does since 6.12 on a CPU that others want, and where it counts
 * nothing.
 */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define FILE_SIZE (16U << 20)
#define BLOCK 4096U
#define READS_A_SECOND 100U
#define SAMPLES_TAKEN 7
#define HANG_US 120000U
#define HANGS 4U

/* A hook: runs on the last CPU alone, as all that do. */
static int on_one_cpu(const char *unused)
{
	cpu_set_t one;

	(void)unused;
	CPU_ZERO(&one);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* A file on a disk, to be read past the page cache. */
static const char *make_file(void)
{
	const char *path = e2e_path("blocks");
	char *bytes = e2e_keep(calloc(1, FILE_SIZE));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	guard_push(UNDO_UNLINK, path, NULL);
	memset(bytes, 'x', FILE_SIZE);
	assert_int_equal(write(fd, bytes, FILE_SIZE), FILE_SIZE);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	return path;
}

/* A group that reads so many blocks a second from the file's disk; skips the test without. */
static const char *slow_group(const char *test, const char *file)
{
	static char path[256];
	struct stat st;

	e2e_need_test(test, box_group("blkio", e2e_group_name("slow"), path, sizeof(path)),
		      "no v1 hierarchy of blkio");
	assert_int_equal(stat(file, &st), 0);
	if (write_text(e2e_format("%s/blkio.throttle.read_iops_device", path),
		       e2e_format("%u:%u %u", major(st.st_dev), minor(st.st_dev), READS_A_SECOND)))
		e2e_skip_test(test, "no disk that can be throttled");
	return path;
}

/* What a load had waited by a real time, in us, by its log of beginnings and ends. */
static double own_at(const char *path, double time_us)
{
	FILE *f = fopen(path, "re");
	double at, waited, last_at = 0, last = 0;
	char line[96];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lf %lf", &at, &waited) != 2)
			break;
		if (at > time_us) {
			double passed = time_us > last_at ? time_us - last_at : 0;

			last += passed < waited - last ? passed : waited - last;
			break;
		}
		last_at = at;
		last = waited;
	}
	fclose(f);
	return last;
}

/* A hook: comes before all others that want a CPU. */
static int first_of_all(const char *unused)
{
	(void)unused;
	return setpriority(PRIO_PROCESS, 0, -20);
}

/* What was shown of a kind, in us, in all samples but the first, with their times. */
struct shown {
	double us, from_us, until_us;
	double passed_us; /* between the readings, which come a little after these times */
};

/* Runs the program over the task, and adds up what it shows of the kind. */
static struct shown watch(pid_t pid, const char *kind, const char *options)
{
	const struct e2e_how first = { .hook = first_of_all };
	struct shown shown = { 0, 0, 0, 0 };
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, &first, "--source bpf --measure yes -b -o json -d 0.5 -n %d -p %d%s",
		SAMPLES_TAKEN, (int)pid, options);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, SAMPLES_TAKEN);
	for (size_t i = 0; i < s.n; i++) {
		json_t *task = task_must(s.v[i], pid);
		json_t *waited = json_object_get(task, "waited");

		assert_null(note_of(s.v[i], "stale-stamp"));
		assert_null(note_of(s.v[i], "unmeasured"));
		assert_true(json_is_integer(json_object_get(waited, kind)));
		if (member_u64(waited, kind))
			assert_string_equal(member_text(json_object_get(task, "reason"), kind),
					    "measured");
		shown.until_us = member_real(s.v[i], "time") * 1e6;
		if (!i) {
			shown.from_us = shown.until_us;
			continue;
		}
		shown.us += (double)member_u64(waited, kind) / 1e3;
		shown.passed_us += member_real(task, "interval") * 1e6;
	}
	return shown;
}

/*
 * Whether it is within a fiftieth of what the load waited meanwhile, but for what passed between a
 * sample's time and its reading.
 */
static bool is_close(const char *what, const struct shown *shown, const char *log)
{
	double own = own_at(log, shown->until_us) - own_at(log, shown->from_us);
	double apart = fabs(shown->passed_us - (shown->until_us - shown->from_us));

	printf("# %s: %.1f ms shown of %.1f (%.2f %%), times %.1f ms apart\n", what,
	       shown->us / 1e3, own / 1e3, 100 * shown->us / own, apart / 1e3);
	assert_true(own > 1e5);
	return fabs(shown->us - own) <= own * 0.02 + 1e3 + apart;
}

static void check(const char *what, const struct shown *shown, const char *log)
{
	assert_true(is_close(what, shown, log));
}

/* Skips a test where the kernel has none of it. */
static void require_measuring(const char *test)
{
	struct e2e_result r;

	e2e_require_bpf_test(test);
	e2e_run(&r, NULL, "--version");
	if (!strstr(r.out.data, "\nmeasure: loaded\n"))
		e2e_skip_test(test, "the kernel refuses the programs that measure waits");
}

/*
 * A reader of a slow disk that computes between its reads, beside a hog on its CPU. Whether what is
 * shown is close to its own clock.
 */
static bool reads_closely(const char *file, const char *group, unsigned compute_us,
			  const char *options)
{
	const struct e2e_how pinned = { .hook = on_one_cpu };
	const struct e2e_how slow = { .hook = on_one_cpu, .cgroup = group };
	const char *log = e2e_format("%s/log-%u", e2e_folder(), compute_us);
	pid_t hog = e2e_load(&pinned, "load_own spin"), reader;
	struct shown shown;
	bool close;

	reader = e2e_load(&slow, "load_own -l %s -c %u read %s", log, compute_us, file);
	guard_push(UNDO_UNLINK, log, NULL);
	assert_true(hog > 0 && reader > 0);
	e2e_sleep(0.3);
	shown = watch(reader, "blkio", options);
	/* A wait that goes on at the last sample is in the log when it ends. */
	e2e_sleep(0.5);
	e2e_kill(reader);
	e2e_kill(hog);
	close = is_close(e2e_format("%u us between reads%s", compute_us, options), &shown, log);
	unlink(log);
	return close;
}

/*
 * In one of three runs: the load takes its clocks one after the other, and on a loaded machine it
 * may lose its CPU between two of them.
 */
static void check_reader(const char *file, const char *group, unsigned compute_us,
			 const char *options)
{
	for (unsigned i = 0; i < 3; i++)
		if (reads_closely(file, group, compute_us, options))
			return;
	fail_msg("%u us between reads", compute_us);
}

E2E_TEST(test_reader)
{
	const char *file, *group;

	require_measuring(__func__);
	file = make_file();
	group = slow_group(__func__, file);
	check_reader(file, group, 0, "");
	check_reader(file, group, 500, "");
	check_reader(file, group, 1000, " -H");
	check_reader(file, group, 3000, "");
}

/* Samples that taskstats takes, for fields that it alone has, show the same. */
E2E_TEST(test_record)
{
	const char *file, *group;

	require_measuring(__func__);
	file = make_file();
	group = slow_group(__func__, file);
	check_reader(file, group, 500, " -F +ac_nice");
}

/* Waits in state D without I/O wait, of which no kind has anything booked. */
E2E_TEST(test_dwait)
{
	const char *log = e2e_path("log");
	struct shown shown;
	pid_t pid;

	require_measuring(__func__);
	pid = e2e_load(NULL, "load_own -l %s hang 70", log);
	assert_true(pid > 0);
	guard_push(UNDO_UNLINK, log, NULL);
	shown = watch(pid, "dwait", "");
	e2e_sleep(0.5);
	e2e_kill(pid);
	check("hangs", &shown, log);
}

/* A wait that was in progress when the programs came counts, too, once it ends. */
E2E_TEST(test_before)
{
	const char *log = e2e_path("log");
	struct shown shown;
	pid_t pid;

	require_measuring(__func__);
	pid = e2e_load(NULL, "load_own -l %s hang 1700", log);
	assert_true(pid > 0);
	guard_push(UNDO_UNLINK, log, NULL);
	e2e_sleep(0.1);
	shown = watch(pid, "dwait", "");
	e2e_sleep(2);
	e2e_kill(pid);
	check("hangs from before", &shown, log);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Hangs some times; ns: how long in all. */
static void *hang(void *ns)
{
	for (unsigned i = 0; i < HANGS; i++) {
		uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
		pid_t pid = vfork();

		if (!pid) {
			usleep(HANG_US);
			_exit(0);
		}
		*(uint64_t *)ns += clock_ns(CLOCK_MONOTONIC) - before_ns;
		waitpid(pid, NULL, 0);
	}
	return NULL;
}
#pragma GCC diagnostic pop

/* Has a thread hang and end when it is told to, and tells how long that was. */
_Noreturn static void hang_in_thread(int go, int told)
{
	pthread_t thread;
	uint64_t ns = 0;
	char byte;

	if (read(go, &byte, 1) != 1 || pthread_create(&thread, NULL, hang, &ns) ||
	    pthread_join(thread, NULL) || write(told, &ns, sizeof(ns)) != sizeof(ns))
		_exit(1);
	for (;;)
		pause();
}

/* What a thread waited stays in its process's figures when it has ended. */
E2E_TEST(test_thread)
{
	uint64_t own_ns = 0, shown_ns = 0;
	struct e2e_proc p;
	int go[2], told[2];
	pid_t pid;

	require_measuring(__func__);
	assert_int_equal(pipe2(go, O_CLOEXEC) | pipe2(told, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (!pid)
		hang_in_thread(go[0], told[1]);
	guard_push_child(pid);
	e2e_start_stalltop(
		&p, NULL,
		e2e_format("--source bpf --measure yes -b -o json -d 0.5 -n 5 -p %d", (int)pid));
	for (unsigned i = 0; i < 5; i++) {
		json_t *sample = parse_json_line(e2e_line(&p, 60));
		json_t *waited = json_object_get(task_must(sample, pid), "waited");

		if (!i)
			assert_int_equal(write(go[1], "g", 1), 1);
		shown_ns += member_u64(waited, "dwait");
	}
	assert_int_equal(read(told[0], &own_ns, sizeof(own_ns)), sizeof(own_ns));
	printf("# %.1f ms shown of %.1f\n", (double)shown_ns / 1e6, (double)own_ns / 1e6);
	assert_true(own_ns >= HANGS * UINT64_C(1000) * HANG_US);
	assert_true(shown_ns <= own_ns + own_ns / 50 && shown_ns >= own_ns - own_ns / 50);
	for (unsigned i = 0; i < 2; i++) {
		close(go[i]);
		close(told[i]);
	}
}

/* Executes a load that hangs, as the process's leader. */
static void *execute(void *log)
{
	execl(e2e_format("%s/load/load_own", getenv("TESTS_BUILDDIR")), "load_own", "-l", log,
	      "hang", "100", NULL);
	_exit(1);
}

/* Has a thread hang and end, and another one execute. */
_Noreturn static void execute_in_thread(char *log)
{
	pthread_t thread;
	uint64_t ns = 0;

	e2e_sleep(0.8);
	if (pthread_create(&thread, NULL, hang, &ns) || pthread_join(thread, NULL) ||
	    pthread_create(&thread, NULL, execute, log))
		_exit(1);
	for (;;)
		pause();
}

/*
 * A thread that executes a program becomes the leader, with its own waits and those of threads that
 * ended: what is waited after that is not taken for what was known before.
 */
E2E_TEST(test_executed)
{
	const char *log = e2e_path("log");
	double shown = 0, own;
	struct e2e_result r;
	struct samples s;
	pid_t pid;

	require_measuring(__func__);
	fflush(NULL);
	pid = fork();
	if (!pid)
		execute_in_thread(e2e_keep(strdup(log)));
	guard_push_child(pid);
	guard_push(UNDO_UNLINK, log, NULL);
	e2e_run(&r, NULL, "--measure yes -b -o json -d 0.5 -n 8 -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++)
		shown += (double)member_u64(json_object_get(task_must(s.v[i], pid), "waited"),
					    "dwait") /
			 1e3;
	e2e_sleep(0.5);
	own = HANGS * HANG_US + own_at(log, member_real(s.v[s.n - 1], "time") * 1e6);
	printf("# %.1f ms shown of %.1f\n", shown / 1e3, own / 1e3);
	assert_true(own > 1.5e6);
	assert_true(fabs(shown - own) <= own * 0.1);
}

/* Who ended has all that it waited, also if it was in no sample. */
E2E_TEST(test_ended)
{
	const struct e2e_how pinned = { .hook = on_one_cpu };
	const char *file, *log, *group;
	struct e2e_proc p;
	pid_t hog, reader;
	double shown = 0;

	require_measuring(__func__);
	file = make_file();
	group = slow_group(__func__, file);
	log = e2e_path("log");
	hog = e2e_load(&pinned, "load_own spin");
	e2e_start_stalltop(&p, NULL, "--source bpf --measure yes -b -o json -x -d 1.5 -n 3");
	assert_true(e2e_skip_line(&p, 60));
	/* All of its life is counted, but its own clock has only what it reads. */
	reader = e2e_load(&pinned, "load_own -n 40 -c 1000 -l %s -g %s/cgroup.procs read %s", log,
			  group, file);
	assert_true(hog > 0 && reader > 0);
	guard_push(UNDO_UNLINK, log, NULL);
	for (unsigned i = 0; i < 2; i++) {
		json_t *sample = parse_json_line(e2e_line(&p, 60)), *task = task_of(sample, reader);

		assert_null(note_of(sample, "stale-stamp"));
		if (task)
			shown += (double)member_u64(json_object_get(task, "waited"), "blkio");
	}
	e2e_kill(hog);
	printf("# %.1f ms shown of %.1f\n", shown / 1e6, own_at(log, 1e18) / 1e3);
	assert_true(shown / 1e3 <= own_at(log, 1e18) * 1.02 + 1e3);
	assert_true(shown / 1e3 >= own_at(log, 1e18) * 0.98 - 1e3);
}

/* A kind that is measured, of a load in a memory cgroup of its own. */
struct kind {
	const char *name;
	unsigned place; /* in struct reader_record */
	double within; /* of what the kernel books */
};

/* What is shown of a kind, in ms, in each second: of the samples with an interval. */
static double shown_rate(const struct samples *s, pid_t pid, const char *kind)
{
	double ns = 0, seconds = 0;

	for (size_t i = 1; i < s->n; i++) {
		json_t *task = task_must(s->v[i], pid);

		ns += (double)member_u64(json_object_get(task, "waited"), kind);
		seconds += member_real(task, "interval");
	}
	return ns / 1e6 / seconds;
}

/* Whether what is measured is as the kernel books it, by readings at the same times. */
static bool is_as_booked(pid_t pid, const struct kind *kind)
{
	struct reader_record before, after;
	struct e2e_proc p;
	double shown = 0, booked;

	e2e_start_stalltop(&p, NULL,
			   e2e_format("--measure yes -b -o json -d 1 -n 4 -p %d", (int)pid));
	for (unsigned i = 0; i < 4; i++) {
		json_t *task = task_must(parse_json_line(e2e_line(&p, 60)), pid);

		assert_int_equal(reader_tgid(pid, i ? &after : &before), 0);
		if (i)
			shown += (double)member_u64(json_object_get(task, "waited"), kind->name);
	}
	booked = (double)(after.kind[kind->place].ns - before.kind[kind->place].ns);
	printf("# %s: %.1f ms measured, %.1f booked\n", kind->name, shown / 1e6, booked / 1e6);
	assert_true(booked > 1e7);
	return fabs(shown - booked) <= booked * kind->within;
}

/* A load that waits for memory, in a group with so much of it. */
static pid_t memory_load(const char *test, const char *kind, unsigned mib)
{
	static char cgroup[300];
	struct e2e_how how = { .cgroup = cgroup };
	pid_t pid;

	require_measuring(test);
	e2e_need_test(test, box_cgroup(mib, cgroup, sizeof(cgroup)), "no memory cgroup");
	pid = e2e_load(&how, "load_kind -d %s %s", e2e_folder(), kind);
	if (!pid)
		e2e_skip_test(test, "the load cannot be made");
	return pid;
}

static void check_booked(const char *test, const struct kind *kind, unsigned mib)
{
	pid_t pid = memory_load(test, kind->name, mib);

	assert_int_equal(reader_open(), 0);
	for (unsigned i = 0; i < 4; i++)
		if (is_as_booked(pid, kind)) {
			reader_close();
			return;
		}
	fail_msg("%s is not as booked", kind->name);
}

/* Reclaim and compaction are measured where the kernel books them. */
E2E_TEST(test_reclaim)
{
	check_booked(__func__, &(struct kind){ "reclaim", 3, 0.1 }, 32);
}

E2E_TEST(test_compact)
{
	e2e_require();
	e2e_need(box_no_background_compaction(), "no background compaction");
	check_booked(__func__, &(struct kind){ "compact", 5, 0.1 }, 256);
}

/* What the kernel books of these waits has the wait for a CPU after the page has come. */
E2E_TEST(test_thrash)
{
	check_booked(__func__, &(struct kind){ "thrash", 4, 0.2 }, 32);
}

/*
 * On a machine as it comes, nothing is counted but waits for a CPU: the others are measured without
 * any option, also of tasks that are older, and nothing is said to be missing.
 */
E2E_TEST(test_uncounted)
{
	static const char *const unknown[] = { "swapin", "wpcopy" };
	struct e2e_result r;
	struct samples s;
	pid_t pid;

	require_measuring(__func__);
	assert_int_equal(box_delayacct(false), 0);
	pid = memory_load(__func__, "thrash", 32);
	e2e_run(&r, NULL, "-b -o json -d 1 -n 3 -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_true(shown_rate(&s, pid, "thrash") > 20);
	assert_true(shown_rate(&s, pid, "blkio") > 20);
	assert_string_equal(member_text(s.v[0], "source"), "bpf");
	for (size_t i = 0; i < s.n; i++) {
		json_t *task = task_must(s.v[i], pid);

		assert_true(json_is_true(json_object_get(s.v[i], "measured")));
		assert_null(note_of(s.v[i], "delayacct-off"));
		assert_null(note_of(s.v[i], "delayacct-older"));
		for (size_t k = 0; k < ARRAY_SIZE(unknown); k++)
			assert_true(kind_unset(task, "delta", unknown[k], "ns"));
		/* What it waited before is not known. */
		assert_true(kind_unset(task, "cumulative", "thrash", "ns"));
	}
	e2e_run(&r, NULL, "-b -d 1 -n 1 -p %d", (int)pid);
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "delays measured"));
	e2e_run(&r, NULL, "--measure no -b -d 1 -n 1 -p %d", (int)pid);
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "delays not counted"));
	assert_non_null(strstr(r.out.data, "delay accounting is off"));
}

/* What a process waited is what its threads did: of a leader that sleeps nothing. */
E2E_TEST(test_leader)
{
	struct e2e_result r;
	struct samples s;
	pid_t pid;
	double sum = 0, whole;

	require_measuring(__func__);
	assert_int_equal(box_delayacct(false), 0);
	pid = e2e_load(NULL, "load_kind -d %s -w 2 blkio", e2e_folder());
	assert_true(pid > 0);
	e2e_run(&r, NULL, "-b -o json -d 1 -n 3 -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	whole = shown_rate(&s, pid, "blkio");
	e2e_run(&r, NULL, "-H -b -o json -d 1 -n 3 -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 1; i < s.n; i++)
		sum += (double)member_u64(json_object_get(task_must(s.v[i], pid), "waited"),
					  "blkio");
	assert_int_equal((uint64_t)sum, 0);
	assert_true(whole > 100);
}

/* Sources that cannot say so; without the option nothing is loaded. */
E2E_TEST(test_sources)
{
	struct e2e_result r;
	struct samples s;

	e2e_require();
	e2e_run(&r, NULL, "--source procfs --measure yes -b -o json -n 1 -d 0.1");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_non_null(note_of(s.v[0], "unmeasured"));
	e2e_run(&r, NULL, "--source procfs -b -o json -n 1 -d 0.1");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_null(note_of(s.v[0], "unmeasured"));
	/* Where the source is to be chosen the one that measures is. */
	require_measuring(__func__);
	e2e_run(&r, NULL, "--exact-io -b -o json -n 1 -d 0.1");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_string_equal(member_text(s.v[0], "source"), "bpf");
}
