// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings as files: whoever ends when, and whatever room there is, what was written can be read;
 * and nothing that is in a file does harm.
 */
#include "tests/lib/ask.h"
#include "tests/lib/parse.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Segments that there are already. */
#define OLD 5

/* Waits until a recording has so many samples. */
static void await_samples(const char *path, int64_t n)
{
	for (double end = e2e_now() + 20;
	     ask(path, "SELECT ifnull(sum(records), 0) FROM block") < n;) {
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

/* Waits until a program that writes lines has written one with the text. */
static void await_text(struct e2e_proc *p, const char *text)
{
	const char *line;

	do {
		line = e2e_line(p, 10);
		if (!line)
			fail_msg("it does not say \"%s\": %.300s", text, p->err_text.data);
	} while (!strstr(line, text));
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
		const char *path = e2e_path(e2e_format("killed-%u.db", i));

		e2e_start_stalltop(&p, NULL, e2e_format("-b -d 0.05 -w %s", path));
		await_samples(path, 3 + i);
		check_readable(path, 2);
		if (i % 2) {
			kill(p.pid, SIGKILL);
			e2e_finish(&p, 20, &r);
			e2e_sleep(0.3);
		} else {
			kill(writer_of(p.pid), SIGKILL);
			await_text(&p, "recording has ended");
			kill(p.pid, SIGTERM);
			e2e_finish(&p, 20, &r);
			/* It went on, and says at the end what became of the recording. */
			assert_int_equal(r.status, 1);
			assert_non_null(strstr(r.err.data, "was killed"));
		}
		check_readable(path, 2 + i / 2);
	}
}

/* A disk that stalls: samples keep their times; what finds no room is told, live and later. */
E2E_TEST(test_stalled)
{
	const char *path = e2e_path("stalled.db");
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
	e2e_run(&r, NULL, "-b -o json -R %s", path);
	told_later = strstr(r.out.data, "\"record-dropped\"");
	assert_true(told_later);
}

/* A disk that is full, or a file that is removed: sampling goes on, the rest can be read. */
E2E_TEST(test_no_room)
{
	const char *disk = e2e_path("disk"), *path = e2e_format("%s/full.db", disk);
	struct e2e_result r;
	struct e2e_proc p;
	bool full;

	e2e_require();
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=300k"))
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
	if (r.status)
		fail_msg("status %d: %.300s", r.status, r.err.data);
	assert_true(r.out.len > 1000);

	path = e2e_path("removed.db");
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
	const char *path = e2e_path("safe.db"), *link = e2e_path("link.db");
	struct stat stat_of;
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 0);
	assert_int_equal(stat(path, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 07137, 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "exists"));
	assert_int_equal(symlink(e2e_path("elsewhere.db"), link), 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", link);
	assert_int_equal(r.status, 1);
	assert_int_equal(access(e2e_path("elsewhere.db"), F_OK), -1);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", e2e_path("none/x.db"));
	assert_int_equal(r.status, 1);
}

/* Where there is no room for a beginning nothing is left; for no more than that, it is told. */
E2E_TEST(test_tiny)
{
	const char *disk = e2e_path("tiny"), *path = e2e_format("%s/x.db", disk);
	struct e2e_result r;
	struct e2e_proc p;
	glob_t found;
	int left;

	e2e_require();
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=32k"))
		e2e_skip("no tmpfs can be mounted");
	e2e_run(&r, NULL, "-b -n 2 -d 0.1 -w %s", path);
	left = glob(e2e_format("%s/*", disk), 0, NULL, &found);
	globfree(&found);
	umount2(disk, MNT_DETACH);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "too little free space"));
	assert_int_equal(left, GLOB_NOMATCH);
	path = e2e_path("short.db");
	e2e_start_stalltop(&p, NULL, e2e_format("-b -d 100 -w %s", path));
	await_samples(path, 1);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	e2e_run(&r, NULL, "-b -R %s", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "fewer than two samples"));
	ask_change(path, "DELETE FROM block");
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
	const char *disk = e2e_path("filled"), *folder = e2e_format("%s/kept", disk);
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
	const char *folder = e2e_path("taken");
	struct e2e_result r;
	struct e2e_proc p;

	e2e_start_stalltop(&p, NULL, e2e_format("-b -d 0.1 --keep 1h,10M -w %s", folder));
	assert_non_null(e2e_line(&p, 20));
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 1h,10M -w %s", folder);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "another stalltop is recording to that directory"));
	kill(p.pid, SIGKILL);
	e2e_finish(&p, 5, &r);
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 1h,10M -w %s", folder);
	assert_int_equal(r.status, 0);
}

/* What is no recording, or not for that: one line, and the status. */
E2E_TEST(test_refused)
{
	static const struct {
		const char *before, *name, *after;
		int status;
		const char *text;
	} cases[] = {
		{ "-b -R", "bad.db", "", 1, "not a stalltop recording" },
		{ "-b -R", "absent.db", "", 1, "No such file" },
		/* Before there is a terminal to be missed. */
		{ "-R", "absent.db", "", 1, "No such file" },
		{ "-b -R", "none", "", 1, "no recording in that directory" },
		{ "-b -H -R", "good.db", "", 1, "-H" },
		{ "-b -R", "good.db", " --from 2099-01-01", 1, "--from" },
		{ "-b -R", "good.db", " -d 1000", 1, "-d" },
		{ "-b -R", "good.db", " --from noon", 2, "" },
		{ "-b --enable-delayacct -R", "good.db", "", 2, "" },
		{ "-b --keep 7x -w", "good.db", "", 2, "" },
	};
	struct e2e_result r;
	FILE *file;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -w %s", e2e_path("good.db"));
	file = fopen(e2e_path("bad.db"), "w");
	fputs("no database at all", file);
	fclose(file);
	assert_int_equal(mkdir(e2e_path("none"), 0700), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_run(&r, NULL, "%s %s%s", cases[i].before, e2e_path(cases[i].name),
			cases[i].after);
		if (r.status != cases[i].status || !strstr(r.err.data, cases[i].text))
			fail_msg("%s %s%s: status %d: %s", cases[i].before, cases[i].name,
				 cases[i].after, r.status, r.err.data);
	}
	e2e_run(&r, NULL, "-b --from 14:02");
	assert_int_equal(r.status, 2);
}
