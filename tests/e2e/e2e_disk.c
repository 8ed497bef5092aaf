// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings and the disk: the power goes at any moment, and all but the last two seconds can be
 * read; a disk that stalls delays no sample; a day's worth of segments takes no more than they may.
 *   DISK_MOMENTS=200   moments at which the power goes (10)
 *   DISK_STALL=30      seconds of the stall (5)
 *   DISK_SEGMENTS=40   seconds of recording short segments (6)
 */
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* What may be lost: of what was sampled two seconds before the power went, nothing. */
#define LOST_MOST 2.0

/* A number of the environment, or a standard. */
static unsigned number_of(const char *name, unsigned standard)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : standard;
}

/* A file system of its own in memory, so that the machine's disk does not matter; where it is. */
static const char *make_disk(char *mount_point, size_t size)
{
	const char *memory = e2e_path("memory");

	mkdir(memory, 0700);
	if (mount("none", memory, "tmpfs", 0, "size=64m"))
		e2e_skip("no tmpfs can be mounted");
	guard_push(UNDO_UMOUNT, memory, NULL);
	e2e_need(frozen_mount(memory, mount_point, size), "no loop device");
	return memory;
}

/* Reads a whole file. */
static void read_whole(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, size, 0), size);
	close(fd);
}

/*
 * Copies an image as it is at one moment, while it is written to: one that is read twice, and is
 * the same, was that in between. When that moment was; or later.
 */
static double copy_image(const char *from, const char *to)
{
	static char bytes[16 << 20], again[16 << 20];
	double when = 0;
	int fd;

	for (unsigned tries = 0;; tries++) {
		read_whole(from, bytes, sizeof(bytes));
		when = e2e_wall();
		read_whole(from, again, sizeof(again));
		if (!memcmp(bytes, again, sizeof(bytes)))
			break;
		assert_true(tries < 1000);
	}
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	return when;
}

/* The time of a folder's last sample, as a replay tells it; everything before it was shown. */
static double last_time(const char *folder, const char *what)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	if (r.status)
		fail_msg("%s: -R %s: %s", what, folder, r.err.data);
	parse_json(&r, &s);
	return s.n ? json_number_value(json_object_get(s.v[s.n - 1], "time")) : 0;
}

/* The databases of a folder are sound. */
static void check_sound(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		sqlite3_stmt *row = NULL;
		sqlite3 *db = NULL;

		if (len < 3 || strcmp(entry->d_name + len - 3, ".db") != 0)
			continue;
		assert_int_equal(sqlite3_open_v2(e2e_format("%s/%s", folder, entry->d_name), &db,
						 SQLITE_OPEN_READWRITE, NULL),
				 SQLITE_OK);
		sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &row, NULL);
		if (sqlite3_step(row) != SQLITE_ROW ||
		    strcmp((const char *)sqlite3_column_text(row, 0), "ok") != 0)
			fail_msg("%s: %s", entry->d_name, sqlite3_errmsg(db));
		sqlite3_finalize(row);
		sqlite3_close(db);
	}
	closedir(dir);
}

/* How many entries a folder has; 0: it is not there. */
static unsigned count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* At random moments the power goes: what the disk has then is looked at. */
E2E_TEST(test_power_cut)
{
	const char *memory, *folder, *copy, *copied;
	unsigned moments = number_of("DISK_MOMENTS", 10);
	char mount_point[300];
	struct e2e_result r;
	struct e2e_proc p;
	double worst = 0;

	e2e_require();
	memory = make_disk(mount_point, sizeof(mount_point));
	folder = e2e_format("%s/recording", mount_point);
	copy = e2e_format("%s/copy", memory);
	copied = e2e_format("%s/copied", memory);
	srand48(1);
	/* Segments of five seconds: their ends are among the moments. */
	e2e_start_stalltop(&p, NULL, e2e_format("-p 1 -d 0.2 --keep 40s,4M -w %s", folder));
	e2e_sleep(4);
	for (unsigned i = 0; i < moments; i++) {
		unsigned mark = guard_mark();
		double when, lost;

		e2e_sleep(0.05 + 0.4 * drand48());
		when = copy_image(e2e_format("%s/image", memory), copy);
		e2e_need(frozen_mount_image(copy, copied), "no loop device");
		lost = when -
		       last_time(e2e_format("%s/recording", copied), e2e_format("moment %u", i));
		check_sound(e2e_format("%s/recording", copied));
		if (lost > LOST_MOST)
			fail_msg("moment %u: the last %.2f s are lost", i, lost);
		worst = lost > worst ? lost : worst;
		guard_undo(mark);
	}
	print_message("# of %u moments the worst lacks %.2f s\n", moments, worst);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	if (r.status)
		fail_msg("%s", r.err.data);
}

/* A disk that stalls: samples come at their times; what found no room is told. */
E2E_TEST(test_stall)
{
	double interval = 0.05, stall = number_of("DISK_STALL", 5), begun, last = 0, late = 0;
	char mount_point[300];
	const char *folder;
	bool told = false;
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	make_disk(mount_point, sizeof(mount_point));
	folder = e2e_format("%s/recording", mount_point);
	e2e_start_stalltop(
		&p, NULL, e2e_format("-b -o json -p 1 -d %g --keep 1h,8M -w %s", interval, folder));
	for (unsigned i = 0; i < 20; i++)
		assert_true(e2e_skip_line(&p, 10));
	assert_int_equal(frozen_freeze(mount_point), 0);
	begun = e2e_now();
	/* What finds no room is told: that takes as many samples as may wait. */
	while (e2e_now() < begun + stall || (!told && e2e_now() < begun + 60)) {
		const char *line = e2e_line(&p, 10);
		double now = e2e_now();

		assert_non_null(line);
		told |= strstr(line, "\"record-dropped\"") != NULL;
		late = last > 0 && now - last > late ? now - last : late;
		last = now;
	}
	assert_int_equal(frozen_thaw(mount_point), 0);
	print_message("# stalled for %.1f s: the longest time between two samples was %.2f s\n",
		      e2e_now() - begun, late);
	assert_true(told);
	/* Whoever waited for the disk would have waited for all of it. */
	assert_true(late < stall / 2);
	for (unsigned i = 0; i < 40; i++)
		assert_true(e2e_skip_line(&p, 10));
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	if (r.status)
		fail_msg("status %d: %s", r.status, r.err.data);
	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out.data, "\"record-dropped\""));
}

/* A disk that stalls when the recording begins: that is told, and nobody waits for ever. */
E2E_TEST(test_stall_at_start)
{
	char mount_point[300];
	struct e2e_result r;
	const char *path;

	e2e_require();
	make_disk(mount_point, sizeof(mount_point));
	path = e2e_format("%s/file", mount_point);
	assert_int_equal(frozen_freeze(mount_point), 0);
	e2e_run(&r, NULL, "-b -p 1 -n 1 -w %s", path);
	assert_int_equal(frozen_thaw(mount_point), 0);
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
	assert_string_equal(
		r.err.data,
		e2e_format("stalltop: cannot record to '%s': the disk does not answer\n", path));
}

/* The kB of a process's own memory, and its descriptors. */
static unsigned long memory_of(pid_t pid)
{
	FILE *file = fopen(e2e_format("/proc/%d/status", (int)pid), "r");
	unsigned long kb = 0;
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "RssAnon:", 8))
			kb = strtoul(line + 8, NULL, 10);
	fclose(file);
	assert_true(kb > 0);
	return kb;
}

/* Those that stay open: the fewest of several looks, between which samples are taken. */
static unsigned descriptors_of(pid_t pid)
{
	const char *folder = e2e_format("/proc/%d/fd", (int)pid);
	unsigned least = count_entries(folder), n;

	for (unsigned i = 0; i < 20; i++, e2e_sleep(0.013)) {
		n = count_entries(folder);
		least = n < least ? n : least;
	}
	return least;
}

/* The process that writes. */
static pid_t writer_of(pid_t parent)
{
	char text[64] = "";

	read_text(e2e_format("/proc/%d/task/%d/children", (int)parent, (int)parent), text,
		  sizeof(text));
	return (pid_t)atoi(text);
}

/* Many segments, of which old ones go: files, memory and descriptors stay as many as they were. */
E2E_TEST(test_retention)
{
	unsigned seconds = number_of("DISK_SEGMENTS", 6), files = 0, fds[2];
	unsigned long kb[2], grown;
	const char *folder = e2e_path("retained");
	struct e2e_result r;
	struct e2e_proc p;
	pid_t pids[2];

	e2e_require();
	/* A segment every quarter of a second: a day has 24. */
	e2e_start_stalltop(&p, NULL, e2e_format("-p 1 -d 0.05 --keep 2s,100M -w %s", folder));
	e2e_sleep(4);
	pids[0] = p.pid;
	pids[1] = writer_of(p.pid);
	assert_true(pids[1] > 0);
	for (unsigned i = 0; i < 2; i++) {
		kb[i] = memory_of(pids[i]);
		fds[i] = descriptors_of(pids[i]);
	}
	for (double end = e2e_now() + seconds; e2e_now() < end; e2e_sleep(0.1)) {
		unsigned n = count_entries(folder);

		files = n > files ? n : files;
	}
	for (unsigned i = 0; i < 2; i++) {
		grown = memory_of(pids[i]) > kb[i] ? memory_of(pids[i]) - kb[i] : 0;
		if (grown > 2048)
			fail_msg("process %u: %lu kB more than %lu", i, grown, kb[i]);
		print_message("# process %u: %lu kB, then %lu kB\n", i, kb[i], memory_of(pids[i]));
	}
	/* Folders of groups are opened once it waits, as beside others. */
	assert_in_range(descriptors_of(pids[0]), fds[0], fds[0] + 4);
	/* The writer has one for a segment open at times, and its journal's. */
	assert_in_range(descriptors_of(pids[1]), fds[1] > 4 ? fds[1] - 4 : 0, fds[1] + 4);
	/* Eight of an age, the one that is written, its journal; more where a turn takes long. */
	if (files > 40)
		fail_msg("%u files", files);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 0);
	assert_true(last_time(folder, "retained") > e2e_wall() - 20);
}

/* Two recorders that follow each other in a folder, the first killed: one recording. */
E2E_TEST(test_again)
{
	const char *folder = e2e_path("again");
	struct e2e_result r;
	struct e2e_proc p;
	struct samples s;
	size_t first;

	e2e_require();
	e2e_start_stalltop(&p, NULL, e2e_format("-p 1 -d 0.1 --keep 1h,8M -w %s", folder));
	e2e_sleep(2);
	kill(writer_of(p.pid), SIGKILL);
	kill(p.pid, SIGKILL);
	e2e_finish(&p, 20, &r);
	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	parse_json(&r, &s);
	first = s.n;
	assert_true(first > 3);
	e2e_run(&r, NULL, "-b -p 1 -n 3 -d 0.1 --keep 1h,8M -w %s", folder);
	assert_int_equal(r.status, 0);
	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	parse_json(&r, &s);
	assert_int_equal(s.n, first + 3);
	/* What was killed is closed and packed, too: two files, besides "." and "..". */
	assert_int_equal(count_entries(folder), 4);
}
