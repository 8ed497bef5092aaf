// SPDX-License-Identifier: GPL-2.0-or-later
/* Storms of tasks that end: no exit record is missed, or it is known how many were. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/watch.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORM 10000

#define CPU_SWITCH "/sys/devices/system/cpu/cpu1/online"

/* Zombies, and tasks between their record and their removal, at either end of a watch. */
#define SLACK 64

/* The interval of samples among tasks that compute, and the least of them. */
#define GRID 0.5
#define GRID_SAMPLES 24

/* So many of the first and of the last are compared, and must come that close: in s. */
#define GRID_ENDS 6
#define GRID_CLOSE 0.05

/* How many compute: several for each CPU. */
#define SPINNERS 8

/* A load that ends tasks, looked at. */
struct storm {
	struct load load;
	struct watch watch;
	uint64_t others; /* tasks of others that ended meanwhile */
	uint64_t seen, lost; /* by the program */
	uint64_t ours, rows; /* of the rows that ended: the load's tasks, and all */
};

/* Tasks that have ended since boot: those that were started, but for those that are there. */
static uint64_t all_ends(void)
{
	FILE *stat = fopen("/proc/stat", "re"), *load = fopen("/proc/loadavg", "re");
	uint64_t started = 0, there = 0;
	char line[4096];

	assert_true(stat && load);
	while (fgets(line, sizeof(line), stat))
		if (!strncmp(line, "processes ", 10))
			started = strtoull(line + 10, NULL, 10);
	/* 0.10 0.20 0.30 running/all last */
	if (fgets(line, sizeof(line), load) && strchr(line, '/'))
		there = strtoull(strchr(line, '/') + 1, NULL, 10);
	fclose(stat);
	fclose(load);
	assert_true(there > 0 && started > there);
	return started - there;
}

/* One task ends on each CPU that we may use. */
static void end_on_each_cpu(void)
{
	cpu_set_t all, one;
	size_t cpu;
	int status;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (cpu = 0; cpu < (size_t)CPU_SETSIZE; cpu++) {
		pid_t pid;

		if (!CPU_ISSET(cpu, &all))
			continue;
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			_exit(sched_setaffinity(0, sizeof(one), &one) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* Adds up what all samples but the first say. */
static void storm_add_up(struct storm *storm)
{
	const struct watch *watch = &storm->watch;
	uint64_t load = (uint64_t)storm->load.p.pid;
	json_t *task;
	size_t i, k;

	for (i = 1; i < watch->n; i++) {
		storm->seen += member_u64(watch->v[i], "exits_seen");
		storm->lost += member_u64(watch->v[i], "exits_lost");
		json_array_foreach(json_object_get(watch->v[i], "tasks"), k, task)
		{
			if (!flag(task, "exited"))
				continue;
			storm->rows += member_u64(task, "members");
			if (member_u64(task, "ppid") == load ||
			    !strcmp(member_text(task, "comm"), "storm-thread"))
				storm->ours += member_u64(task, "members");
		}
	}
}

/* A storm from its start to what the samples say of it. Meanwhile something else may be done. */
static void run_storm(struct storm *storm, const struct e2e_how *how, const char *kind,
		      unsigned int n, const char *options, void (*meanwhile)(struct watch *watch))
{
	uint64_t before = all_ends();

	memset(storm, 0, sizeof(*storm));
	assert_non_null(load_start(&storm->load, kind, n, 0));
	watch_start(&storm->watch, how, options);
	load_begin(&storm->load);
	if (meanwhile)
		meanwhile(&storm->watch);
	load_await(&storm->load, &storm->watch);
	assert_int_equal(storm->load.ends, n * (strcmp(kind, "exec") ? 1U : 2U));
	/* the buffers are emptied, so that nothing of what follows is lost */
	e2e_sleep(0.3);
	end_on_each_cpu();
	watch_past(&storm->watch);
	watch_some(&storm->watch, 1);
	storm->others = all_ends() - before - storm->load.ends;
	watch_end(&storm->watch);
	storm_add_up(storm);
	load_end(&storm->load);
	print_message("%s %s: %ju ends, %ju by others; seen %ju, lost %ju; rows %ju, ours %ju\n",
		      kind, options, storm->load.ends, storm->others, storm->seen, storm->lost,
		      storm->rows, storm->ours);
	/* nothing that was not there */
	assert_true(storm->seen + storm->lost <= storm->load.ends + storm->others + SLACK);
}

/* With buffers as they are nothing is lost, whatever it is that ends. */
static void check_lossless(const char *kind, unsigned int n, const char *options,
			   void (*meanwhile)(struct watch *watch))
{
	struct storm storm;
	size_t i;

	run_storm(&storm, NULL, kind, n, options, meanwhile);
	assert_true(storm.seen >= storm.load.ends);
	assert_int_equal(storm.lost, 0);
	for (i = 0; i < storm.watch.n; i++) {
		assert_null(note_of(storm.watch.v[i], "exits-lost"));
		assert_null(note_of(storm.watch.v[i], "exits-inexact"));
	}
	/* with a row a thread each has its row; with a row a process threads' ends have none */
	if (!strstr(options, "-H")) {
		assert_true(storm.rows <= storm.seen);
		assert_int_equal(storm.ours, n);
	} else {
		assert_int_equal(storm.rows, storm.seen);
		assert_int_equal(storm.ours, storm.load.ends);
	}
}

/* Processes. */
E2E_TEST(test_storm_fork)
{
	e2e_require();
	check_lossless("fork", STORM, "-d 2 --source taskstats", NULL);
	check_lossless("fork", STORM / 4, "-d 0.5 -H --source taskstats", NULL);
}

/* Processes as shells start them, so that one is hardly ever alive when it is looked for. */
E2E_TEST(test_storm_vfork)
{
	e2e_require();
	check_lossless("vfork", STORM, "-d 2", NULL);
}

/* Where so many are born a program in the kernel takes over, and nothing is lost meanwhile. */
E2E_TEST(test_goes_over)
{
	struct storm storm;

	e2e_require_bpf();
	run_storm(&storm, NULL, "fork", STORM, "-d 0.3", NULL);
	assert_string_equal(member_text(storm.watch.v[0], "source"), "taskstats");
	assert_string_equal(member_text(storm.watch.v[storm.watch.n - 1], "source"), "bpf");
	assert_true(storm.seen >= storm.load.ends);
	assert_int_equal(storm.lost, 0);
	assert_int_equal(storm.ours, STORM);
}

/* Threads of a process that lives on. */
E2E_TEST(test_storm_threads)
{
	e2e_require();
	check_lossless("threads", STORM, "-d 2 -H", NULL);
}

/* Leaders whose place is taken by a thread. */
E2E_TEST(test_storm_exec)
{
	e2e_require();
	check_lossless("exec", STORM / 2, "-d 2", NULL);
	check_lossless("exec", STORM / 20, "-d 0.5 -H", NULL);
}

/* Buffers that are too small: what was lost is counted, and said; all are accounted for. */
static void check_lossy(const char *kind, unsigned int n, const char *options)
{
	struct storm storm;
	size_t i;

	run_storm(&storm, NULL, kind, n, options, NULL);
	assert_true(storm.lost > 0);
	assert_true(storm.rows <= storm.seen);
	assert_true(storm.seen + storm.lost >= storm.load.ends);
	assert_true(storm.ours + storm.lost >= storm.load.ends);
	for (i = 1; i < storm.watch.n; i++) {
		json_t *sample = storm.watch.v[i];

		assert_int_equal(note_of(sample, "exits-lost") != NULL,
				 member_u64(sample, "exits_lost") > 0);
		assert_null(note_of(sample, "exits-inexact"));
	}
}

/* Of processes and threads. */
E2E_TEST(test_lost)
{
	e2e_require();
	check_lossy("fork", STORM, "-d 0.3 --exit-buffer 8");
	check_lossy("vfork", STORM, "-d 0.3 --exit-buffer 8");
	check_lossy("threads", STORM, "-d 0.3 --exit-buffer 64 -H");
}

/* Where the kernel does not count what it drops, that there was a loss is known, and said. */
E2E_TEST(test_inexact)
{
	struct e2e_how how = { .hook = e2e_no_meminfo };
	struct storm storm;
	size_t i;

	e2e_require();
	run_storm(&storm, &how, "fork", STORM, "-d 0.3 --exit-buffer 8", NULL);
	assert_true(storm.lost > 0);
	assert_true(storm.seen < storm.load.ends);
	for (i = 0; i < storm.watch.n; i++) {
		const char *text = note_of(storm.watch.v[i], "exits-inexact");

		assert_non_null(text);
		assert_non_null(strstr(text, "more may be lost than shown"));
		assert_non_null(strstr(text, "needs Linux 4.12"));
	}
}

/* Takes the CPU down or up. 0 or -errno. */
static int switch_cpu(bool up)
{
	return write_text(CPU_SWITCH, up ? "1\n" : "0\n");
}

/* Takes samples for so long. */
static void watch_for(struct watch *watch, double seconds)
{
	double until = e2e_now() + seconds;

	while (e2e_now() < until)
		watch_next(watch, 0.05);
}

/* Takes the CPU down and up, several times. */
static void flap(struct watch *watch)
{
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(switch_cpu(false), 0);
		watch_for(watch, 0.2);
		assert_int_equal(switch_cpu(true), 0);
		watch_for(watch, 0.1);
	}
}

/* Takes it up after a while. */
static void bring_up(struct watch *watch)
{
	watch_for(watch, 0.2);
	assert_int_equal(switch_cpu(true), 0);
}

/* A CPU that comes and goes, and one that was not there when the program began to listen. */
E2E_TEST(test_hotplug)
{
	int err;

	e2e_require();
	if (access(CPU_SWITCH, W_OK))
		e2e_skip("CPU 1 cannot be taken down: no such switch");
	guard_push(UNDO_WRITE, CPU_SWITCH, "1\n");
	err = switch_cpu(false);
	if (err)
		e2e_skip(e2e_format("CPU 1 cannot be taken down: %s", strerror(-err)));
	check_lossless("fork", STORM / 2, "-d 0.5", bring_up);
	check_lossless("fork", STORM, "-d 0.5", flap);
	check_lossless("vfork", STORM, "-d 0.5 -H", flap);
}

/* Has CPUs contended for. */
static void start_spinners(void)
{
	for (size_t i = 0; i < SPINNERS; i++) {
		pid_t pid;

		fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				__asm__ volatile("");
		}
		guard_push_child(pid);
	}
}

/* How far apart two samples are at least, by a grid: one of the first ones and one of the last. */
static double off_grid(const struct watch *watch)
{
	double least = GRID;

	for (size_t i = 0; i < GRID_ENDS; i++)
		for (size_t k = watch->n - GRID_ENDS; k < watch->n; k++) {
			double apart =
				member_real(watch->v[k], "time") - member_real(watch->v[i], "time");

			least = fmin(least, fabs(remainder(apart, GRID)));
		}
	return least;
}

/* Takes samples while tasks end. */
static void watch_grid(struct watch *watch)
{
	watch_some(watch, GRID_SAMPLES);
}

/*
 * Beside tasks that compute, samples stay on their grid, however late single ones are, and all that
 * ends is seen: the buffers hold more than the storm.
 */
E2E_TEST(test_contended)
{
	struct storm storm;
	double off;

	e2e_require();
	start_spinners();
	run_storm(&storm, NULL, "vfork", STORM, e2e_format("-d %.1f", GRID), watch_grid);
	assert_true(storm.seen >= storm.load.ends);
	assert_int_equal(storm.lost, 0);
	off = off_grid(&storm.watch);
	print_message("%zu samples, %.3f s off the grid\n", storm.watch.n, off);
	assert_true(off < GRID_CLOSE);
}
