// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings: a replay is what was shown while it was recorded, byte for byte; whoever ends when,
 * what was written can be read; and nothing that is in a file does harm.
 */
#include "config.h"

#include "tests/lib/parse.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/scratch.h"

/* A path in the test's folder. */
static const char *path_of(const char *name)
{
	return e2e_format("%s/%s", e2e_folder(), name);
}

/* Segments that there are already. */
#define OLD 5

/* Loads of all sorts: tasks that come and go, threads, exec, waits for a disk. */
static void start_loads(void)
{
	e2e_load(NULL, "load_churn forks");
	e2e_load(NULL, "load_churn threads");
	e2e_load(NULL, "load_churn thread-exec 400");
	e2e_load(NULL, "load_kind cpu");
	e2e_load(NULL, "load_churn stuck");
}

/* Fails where a replay is not what was shown. */
static void compare(const struct e2e_result *live, const struct e2e_result *replay,
		    const char *what)
{
	size_t at = 0;

	if (replay->status || replay->err.len)
		fail_msg("-R, %s: status %d: %s", what, replay->status, replay->err.data);
	if (live->out.len == replay->out.len &&
	    !memcmp(live->out.data, replay->out.data, live->out.len))
		return;
	while (live->out.data[at] && live->out.data[at] == replay->out.data[at])
		at++;
	at = at > 300 ? at - 300 : 0;
	fail_msg("%s: the replay differs\n live: %.600s\nagain: %.600s", what, live->out.data + at,
		 replay->out.data + at);
}

/* Records with those options, and shows the recording with those of them that are of the view. */
static void check_same(const char *recorded, const char *shown)
{
	static unsigned number;
	const char *path = path_of(e2e_format("same-%u.db", number++));
	struct e2e_result live, replay;

	e2e_run(&live, NULL, "-b -n 4 -d 0.15 -w %s %s %s", path, recorded, shown);
	if (live.status || live.err.len)
		fail_msg("%s %s: status %d: %s", recorded, shown, live.status, live.err.data);
	e2e_run(&replay, NULL, "-b -R %s %s", path, shown);
	compare(&live, &replay, e2e_format("%s %s", recorded, shown));
}

/* All formats and sources. */
E2E_TEST(test_same)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	static const char *const formats[] = { "json", "csv", "text" };

	e2e_require();
	start_loads();
	for (size_t s = 0; s < 3; s++)
		for (size_t f = 0; f < 3; f++) {
			if (!strcmp(sources[s], "bpf"))
				e2e_require_bpf();
			check_same(e2e_format("--source %s", sources[s]),
				   e2e_format("-o %s", formats[f]));
		}
}

/* What is read on demand, threads, groups, figures since the start. */
E2E_TEST(test_same_options)
{
	e2e_require();
	start_loads();
	check_same("--source auto", "-H -o json");
	check_same("--source auto", "-o json -F nvcsw,read,cuser,command,cgroup");
	check_same("--source auto", "-o text -U max -s write -F +write,+ac_majflt");
	check_same("--source auto", "-g cgroup -o text");
	check_same("--source auto", "-g cgroup -o json -F psi-cpu,throttled");
	check_same("--source auto", "-g user -o csv");
	check_same("--source auto", "-r 0 -o json");
	check_same("--source auto", "-r 0 -o text");
	check_same("--source auto", "-r 0 -o json -g cgroup --trace");
	check_same("--source auto", "-o json -F trend -s trend");
	check_same("-x", "-o json");
	check_same("--source auto", "--since-start -o json");
}

/* What is traced: states, sites with their stacks, wakers; with and without room for all sites. */
E2E_TEST(test_same_traced)
{
	static const char *const formats[] = { "json", "csv -F states,waker,s-poll", "text" };
	static const char *const sources[] = { "taskstats", "bpf", "procfs" };

	e2e_require_bpf();
	start_loads();
	e2e_load(NULL, "load_io %s", e2e_folder());
	for (size_t s = 0; s < 3; s++)
		for (size_t f = 0; f < 3; f++)
			check_same(e2e_format("--source %s", sources[s]),
				   e2e_format("--trace -o %s", formats[f]));
	check_same("--trace-sites 256", "--trace -o json");
	check_same("--source auto", "--trace -H -o json");
	check_same("-x", "--trace -o json");
	check_same("--source auto", "--trace -g command -o json -F states,waker");
	check_same("--source auto", "--trace --since-start -o json");
}

/* What was read of who waits on what is recorded, and not read of whoever has its pid now. */
E2E_TEST(test_past)
{
	const char *path = path_of("past.db");
	struct e2e_result live, replay;

	e2e_run(&live, NULL, "-b -n 1 -d 0.1 -o json -F pid,syscall,where -p %d -w %s",
		(int)getpid(), path);
	assert_int_equal(live.status, 0);
	assert_non_null(strstr(live.out.data, "\"syscall\":\""));
	e2e_run(&replay, NULL, "-b -o json -F pid,syscall,where -p %d -R %s", (int)getpid(), path);
	assert_int_equal(replay.status, 0);
	assert_string_equal(replay.out.data, live.out.data);
}

/* What the rows of a JSON sample waited for the CPU and ran, added up; the interval, too. */
static void add_up(const struct samples *s, size_t from, size_t n, double *interval, double *run)
{
	*interval = *run = 0;
	for (size_t i = from; i < from + n; i++) {
		const json_t *tasks = json_object_get(s->v[i], "tasks"), *task;
		size_t at;

		*interval += json_number_value(json_object_get(s->v[i], "interval"));
		json_array_foreach(tasks, at, task) *run +=
			json_number_value(json_object_get(task, "run_ns"));
	}
}

/* Coarser intervals are the sums of the finer ones; a number of samples, a start and an end. */
E2E_TEST(test_coarser)
{
	const char *path = path_of("coarse.db");
	struct e2e_result fine, coarse, few;
	double interval, run, all, ran;
	struct samples a, b, c;

	e2e_require();
	e2e_load(NULL, "load_kind cpu");
	e2e_run(&fine, NULL, "-b -o json -n 6 -d 0.3 -w %s", path);
	e2e_run(&coarse, NULL, "-b -o json -R %s -d 0.9", path);
	e2e_run(&few, NULL, "-b -o json -R %s -n 2 --from -0s", path);
	assert_int_equal(fine.status + coarse.status + few.status, 0);
	parse_json(&fine, &a);
	parse_json(&coarse, &b);
	assert_int_equal(a.n, 6);
	assert_int_equal(b.n, 2);
	for (size_t i = 0; i < 2; i++) {
		add_up(&a, 3 * i, 3, &interval, &run);
		add_up(&b, i, 1, &all, &ran);
		assert_true(all > interval - 1e-5 && all < interval + 1e-5);
		/* A task that came and went has one row in both. */
		assert_true(ran > run * 0.99 && ran < run * 1.01);
	}
	parse_json(&few, &c);
	assert_true(c.n <= 1);
	e2e_run(&few, NULL, "-b -o json -R %s -n 2", path);
	parse_json(&few, &c);
	assert_int_equal(c.n, 2);
}

/* Asks a database for a number; -1 where it cannot be asked. */
static int64_t ask(const char *path, const char *query)
{
	sqlite3_stmt *statement = NULL;
	int64_t number = -1;
	sqlite3 *db = NULL;

	if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
	    !sqlite3_busy_timeout(db, 2000) &&
	    !sqlite3_prepare_v2(db, query, -1, &statement, NULL) &&
	    sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return number;
}

/* Waits until a recording has so many samples. */
static void await_samples(const char *path, int64_t n)
{
	for (double end = e2e_now() + 20; ask(path, "SELECT count(*) FROM sample") < n;) {
		if (e2e_now() > end)
			fail_msg("%s has no %d samples", path, (int)n);
		e2e_sleep(0.02);
	}
}

/* The process that writes for another. */
static pid_t writer_of(pid_t parent)
{
	struct e2e_proc p;
	struct e2e_result r;
	const char *argv[] = {
		"/bin/sh", "-c",
		e2e_format("cat /proc/%d/task/%d/children", (int)parent, (int)parent), NULL
	};

	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 10, &r);
	return (pid_t)atoi(r.out.data);
}

/* The recording can be shown, and has at least so many intervals. */
static void check_readable(const char *path, size_t n)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "-b -o json -R %s", path);
	if (r.status)
		fail_msg("-R %s: %s", path, r.err.data);
	parse_json(&r, &s);
	if (s.n < n)
		fail_msg("-R %s: %zu intervals, not %zu", path, s.n, n);
}

/* Whoever is killed, what was written can be read, while it is written, too. */
E2E_TEST(test_killed)
{
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	for (unsigned i = 0; i < 6; i++) {
		const char *path = path_of(e2e_format("killed-%u.db", i));

		e2e_start_stalltop(&p, NULL, e2e_format("-b -d 0.05 -w %s", path));
		await_samples(path, 3 + i);
		check_readable(path, 2);
		if (i % 2) {
			kill(p.pid, SIGKILL);
			e2e_finish(&p, 20, &r);
			e2e_sleep(0.3);
		} else {
			kill(writer_of(p.pid), SIGKILL);
			e2e_sleep(0.3);
			kill(p.pid, SIGTERM);
			e2e_finish(&p, 20, &r);
			/* It went on, and says at the end what became of the recording. */
			assert_int_equal(r.status, 1);
			assert_non_null(strstr(r.err.data, "was killed"));
			assert_non_null(strstr(r.out.data, "recording has ended"));
		}
		check_readable(path, 2 + i / 2);
	}
}

/* A disk that stalls: samples keep their times; what finds no room is told, live and later. */
E2E_TEST(test_stalled)
{
	const char *path = path_of("stalled.db");
	bool told = false, told_later = false;
	struct e2e_result r;
	struct e2e_proc p;
	pid_t writer;

	e2e_require();
	e2e_start_stalltop(&p, NULL, e2e_format("-b -o json -r 1 -d 0.05 -w %s", path));
	await_samples(path, 3);
	writer = writer_of(p.pid);
	kill(writer, SIGSTOP);
	for (double end = e2e_now() + 30; !told && e2e_now() < end;) {
		const char *line = e2e_line(&p, 5);

		assert_non_null(line);
		told = strstr(line, "\"record-dropped\"");
	}
	kill(writer, SIGCONT);
	for (unsigned i = 0; i < 10; i++)
		assert_true(e2e_skip_line(&p, 5));
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_true(told);
	assert_int_equal(r.status, 0);
	assert_true(ask(path, "SELECT sum(dropped) FROM gap") > 0);
	e2e_run(&r, NULL, "-b -o json -R %s", path);
	told_later = strstr(r.out.data, "\"record-dropped\"");
	assert_true(told_later);
}

/* A disk that is full, or a file that is removed: sampling goes on, the rest can be read. */
E2E_TEST(test_no_room)
{
	const char *disk = path_of("disk"), *path = e2e_format("%s/full.db", disk);
	struct e2e_result r;
	struct e2e_proc p;
	bool full;

	e2e_require();
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=1m"))
		e2e_skip("no tmpfs can be mounted");
	e2e_start_stalltop(&p, NULL, e2e_format("-b -o json -H -F nvcsw -d 0.05 -w %s", path));
	full = false;
	for (double end = e2e_now() + 40; !full && e2e_now() < end;) {
		const char *line = e2e_line(&p, 10);

		full = line && strstr(line, "\"record-ended\"");
	}
	for (unsigned i = 0; i < 3; i++)
		full &= e2e_skip_line(&p, 10);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	if (full)
		e2e_run(&r, NULL, "-b -o json -H -n 1 -R %s", path);
	umount2(disk, MNT_DETACH);
	assert_true(full);
	assert_int_equal(r.status, 0);
	assert_true(r.out.len > 1000);

	path = path_of("removed.db");
	e2e_start_stalltop(&p, NULL, e2e_format("-d 0.05 -w %s", path));
	await_samples(path, 2);
	unlink(path);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "removed"));
}

/* Nobody else reads it, it follows no link and replaces nothing. */
E2E_TEST(test_made_safely)
{
	const char *path = path_of("safe.db"), *link = path_of("link.db");
	struct stat stat_of;
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 0);
	assert_int_equal(stat(path, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 07137, 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "exists"));
	assert_int_equal(symlink(path_of("elsewhere.db"), link), 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", link);
	assert_int_equal(r.status, 1);
	assert_int_equal(access(path_of("elsewhere.db"), F_OK), -1);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path_of("none/x.db"));
	assert_int_equal(r.status, 1);
}

/* Shown by nobody, on a machine without privileges and taskstats. */
E2E_TEST(test_elsewhere)
{
	const char *path = path_of("mine.db"), *copy = "/tmp/stalltop-e2e-copy.db";
	struct e2e_how how = { .uid = NOBODY, .hook = e2e_no_netlink, .hook_arg = "bpf" };
	struct e2e_result live, replay, r;
	struct e2e_proc p;

	e2e_require();
	e2e_run(&live, NULL, "-b -o json -n 2 -d 0.2 -w %s", path);
	e2e_start(&p, NULL, (const char *[]){ "/bin/cp", path, copy, NULL });
	e2e_finish(&p, 10, &r);
	chmod(copy, 0644);
	e2e_run(&replay, &how, "-b -o json -R %s", copy);
	unlink(copy);
	assert_int_equal(replay.status, 0);
	assert_string_equal(live.out.data, replay.out.data);
}

/* A folder of segments is one recording; old ones go. */
E2E_TEST(test_segments)
{
	const char *folder = path_of("segments");
	struct e2e_result live, r;
	glob_t found, again;

	e2e_require();
	start_loads();
	e2e_run(&live, NULL, "-b -o json -n 30 -d 0.2 --keep 16s,100M -w %s", folder);
	assert_int_equal(live.status, 0);
	assert_int_equal(glob(e2e_format("%s/stalltop-*.db*", folder), 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	e2e_run(&r, NULL, "-b -o json -R %s", folder);
	compare(&live, &r, "segments");
	e2e_sleep(5.1);
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 4s,100M -w %s", folder);
	assert_int_equal(glob(e2e_format("%s/stalltop-*.db*", folder), 0, NULL, &again), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		assert_int_equal(access(found.gl_pathv[i], F_OK), -1);
	globfree(&found);
	globfree(&again);
}

/* Changes a recording by SQL. */
static void change(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Where there is no room for a beginning nothing is left; for no more than that, it is told. */
E2E_TEST(test_tiny)
{
	const char *disk = path_of("tiny"), *path = e2e_format("%s/x.db", disk);
	struct e2e_result r;
	glob_t found;
	int left;

	e2e_require();
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=100k"))
		e2e_skip("no tmpfs can be mounted");
	e2e_run(&r, NULL, "-b -n 2 -d 0.1 -w %s", path);
	left = glob(e2e_format("%s/*", disk), 0, NULL, &found);
	globfree(&found);
	umount2(disk, MNT_DETACH);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "too little free space"));
	assert_int_equal(left, GLOB_NOMATCH);
	path = path_of("short.db");
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 0);
	change(path, "DELETE FROM sample WHERE id > 1");
	e2e_run(&r, NULL, "-b -R %s", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "ended before a second sample"));
	change(path, "DELETE FROM sample");
	e2e_run(&r, NULL, "-b -R %s", path);
	assert_non_null(strstr(r.err.data, "it has no samples"));
}

/* How many of the segments put there by put_old() are left. */
static unsigned count_old(const char *folder)
{
	unsigned n = 0;

	for (unsigned i = 0; i < OLD; i++)
		n += !access(e2e_format("%s/stalltop-20260101T%02u0000Z-000.db", folder, i), F_OK);
	return n;
}

/* Puts segments there, as if they had been recorded. */
static void put_old(const char *folder)
{
	const char *bytes = e2e_keep(calloc(1, 64 << 10));

	for (unsigned i = 0; i < OLD; i++) {
		FILE *file =
			fopen(e2e_format("%s/stalltop-20260101T%02u0000Z-000.db", folder, i), "we");

		assert_non_null(file);
		assert_int_equal(fwrite(bytes, 64 << 10, 1, file), 1);
		fclose(file);
	}
}

/* Takes all room that there is. */
static void fill(const char *path)
{
	const char *bytes = e2e_keep(calloc(1, 64 << 10));
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	while (fwrite(bytes, 1, 64 << 10, file) == 64 << 10)
		;
	fclose(file);
}

/* When somebody else fills the disk, what was recorded stays, and it says that it has ended. */
E2E_TEST(test_filled)
{
	const char *disk = path_of("filled"), *folder = e2e_format("%s/kept", disk);
	unsigned left[2] = { 0, 0 };
	bool ended = false;
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=24m"))
		e2e_skip("no tmpfs can be mounted");
	mkdir(folder, 0700);
	put_old(folder);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -o json -r 1 -d 0.1 --keep 9999d,20M -w %s", folder));
	assert_true(e2e_skip_line(&p, 10));
	left[0] = count_old(folder);
	fill(e2e_format("%s/filler", disk));
	for (double end = e2e_now() + 40; !ended && e2e_now() < end;) {
		const char *line = e2e_line(&p, 10);

		ended = line && strstr(line, "\"record-ended\"");
	}
	left[1] = count_old(folder);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	umount2(disk, MNT_DETACH);
	assert_int_equal(left[0], OLD);
	assert_int_equal(left[1], OLD);
	assert_true(ended);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "too little free space"));
}

/* A folder has one recorder at a time; one that was killed leaves it to the next. */
E2E_TEST(test_one_recorder)
{
	const char *folder = path_of("taken");
	struct e2e_result r;
	struct e2e_proc p;

	e2e_start_stalltop(&p, NULL, e2e_format("-b -d 0.1 --keep 1h,10M -w %s", folder));
	assert_non_null(e2e_line(&p, 20));
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 1h,10M -w %s", folder);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "another stalltop records to that folder"));
	kill(p.pid, SIGKILL);
	e2e_finish(&p, 5, &r);
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 1h,10M -w %s", folder);
	assert_int_equal(r.status, 0);
}

/* What is no recording: one line, status 1. */
E2E_TEST(test_refused)
{
	const char *path = path_of("good.db"), *bad = path_of("bad.db");
	struct e2e_result r;
	FILE *file;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	file = fopen(bad, "w");
	fputs("no database at all", file);
	fclose(file);
	e2e_run(&r, NULL, "-b -R %s", bad);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "no recording"));
	e2e_run(&r, NULL, "-b -R %s", path_of("absent.db"));
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "No such file"));
	/* Before there is a terminal to be missed. */
	e2e_run(&r, NULL, "-R %s", path_of("absent.db"));
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "No such file"));
	assert_int_equal(mkdir(path_of("none"), 0700), 0);
	e2e_run(&r, NULL, "-b -R %s", path_of("none"));
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "there is no recording in that folder"));
	e2e_run(&r, NULL, "-b -H -R %s", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "-H"));
	e2e_run(&r, NULL, "-b -R %s --from 2099-01-01", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "--from"));
	e2e_run(&r, NULL, "-b -R %s -d 1000", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "-d"));
	e2e_run(&r, NULL, "-b -R %s --from noon", path);
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --enable-delayacct -R %s", path);
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --from 14:02");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --keep 7x -w %s", path);
	assert_int_equal(r.status, 2);
}

/* Makes a recording one of a later version, with a view that takes seconds to have no row. */
#define SLOW \
	"UPDATE recording SET value = 9 WHERE name = 'version'; DROP VIEW children;" \
	"CREATE VIEW children AS SELECT a.id AS sample, b.id AS task, 1 AS user_ns," \
	" 1 AS system_ns FROM sample a, task b, task c, task d, task e, task f" \
	" WHERE b.id + c.id + d.id + e.id + f.id < 0"

/* In the middle of a file that takes long to read the program ends when it is told to. */
E2E_TEST(test_told)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	const char *path = path_of("slow.db");
	struct e2e_result r;
	struct e2e_proc p;
	double told;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 3 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 0);
	change(path, SLOW);
	for (size_t i = 0; i < 3; i++) {
		e2e_start_stalltop(&p, NULL, e2e_format("-b -R %s", path));
		e2e_sleep(0.3);
		told = e2e_now();
		kill(p.pid, signals[i]);
		e2e_finish(&p, 20, &r);
		assert_true(e2e_now() - told < 1);
		if (r.status || r.err.len)
			fail_msg("status %d: %s", r.status, r.err.data);
	}
}
