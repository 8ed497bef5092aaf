// SPDX-License-Identifier: GPL-2.0-or-later
/* Segments of a recording: limits as text, names, which are to go; times of a replay; the queue. */
#include "tests/lib/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "base/util.h"
#include "history/queue.h"
#include "history/replay.h"
#include "history/segments.h"
#include "tests/lib/scratch.h"

#define HOUR (3600 * NSEC_PER_SEC)

TEST(test_limits)
{
	struct segment_limits limits = SEGMENT_LIMITS_DEFAULT;
	static const char *const bad[] = { "",	   ",",	    "7",     "7x",  "0d",
					   "7d,",  "1G,1G", "7d,1d", "-1d", "99999999999999999999d",
					   "7d 1G" };

	assert_true(segment_parse_limits("2h", &limits));
	assert_int_equal(limits.age_ns, 2 * HOUR);
	assert_int_equal(limits.bytes, 1 << 30);
	assert_true(segment_parse_limits("5M,90s", &limits));
	assert_int_equal(limits.age_ns, 90 * NSEC_PER_SEC);
	assert_int_equal(limits.bytes, 5 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (segment_parse_limits(bad[i], &limits))
			fail_msg("'%s' is taken", bad[i]);
}

TEST(test_full)
{
	struct segment_limits limits = { .age_ns = 100 * HOUR, .bytes = 80 << 20 };

	assert_false(segment_is_full(&limits, 9 << 20, HOUR, HOUR + HOUR / 2));
	assert_true(segment_is_full(&limits, 10 << 20, HOUR, HOUR));
	assert_true(segment_is_full(&limits, 0, HOUR, 2 * HOUR));
	assert_true(segment_is_full(&limits, 0, HOUR, HOUR - 1));
}

/* Makes a segment with that time and size. */
static void make_segment(const char *folder, const char *name, time_t time, size_t bytes)
{
	const char *path = scratch_format("%s/%s", folder, name);
	struct utimbuf times = { time, time };
	FILE *file = fopen(path, "w");

	for (size_t i = 0; i < bytes; i++)
		putc('x', file);
	fclose(file);
	utime(path, &times);
}

static bool is_there(const char *folder, const char *name)
{
	return !access(scratch_format("%s/%s", folder, name), F_OK);
}

/* A segment's name, with minutes and seconds: of 1970. */
#define OURS(mmss) "stalltop-19700101T00" #mmss "Z-000.db"

/* 2026-11-21, at an hour. */
#define SOME_DAY 1795269600

/* Removes old ones at that second. */
static unsigned prune(const char *folder, const char *but, const struct segment_limits *limits,
		      uint64_t second)
{
	return segments_prune(folder, but, limits, second * NSEC_PER_SEC);
}

SCRATCH_TEST(test_prune)
{
	struct segment_limits limits = { .age_ns = 10 * NSEC_PER_SEC, .bytes = 300 << 10 };
	const char *folder = scratch_folder();

	make_segment(folder, OURS(1600), 1000, 100);
	make_segment(folder, OURS(1600) "-wal", 1000, 100);
	make_segment(folder, OURS(1815), 1095, 200 << 10);
	make_segment(folder, OURS(1816), 1096, 200 << 10);
	make_segment(folder, "other.db", 1, 100);
	assert_int_equal(prune(folder, OURS(1816), &limits, 1100), 2);
	assert_false(is_there(folder, OURS(1600)));
	assert_false(is_there(folder, OURS(1600) "-wal"));
	assert_false(is_there(folder, OURS(1815)));
	assert_true(is_there(folder, OURS(1816)));
	assert_true(is_there(folder, "other.db"));
	assert_int_equal(prune(folder, OURS(1816), &limits, 1150), 0);
	assert_int_equal(prune(folder, "", &limits, 1150), 1);
}

/* What the segment that is being written may grow to counts, with its journal. */
SCRATCH_TEST(test_growing)
{
	struct segment_limits limits = { .age_ns = 1000 * HOUR, .bytes = 1 << 20 };
	const char *folder = scratch_folder();

	make_segment(folder, OURS(1600), 1000, 300 << 10);
	make_segment(folder, OURS(1815), 1095, 300 << 10);
	make_segment(folder, OURS(1816), 1096, 4 << 10);
	/* 600 kB, and up to 256 + 384. */
	assert_int_equal(prune(folder, OURS(1816), &limits, 1100), 1);
	make_segment(folder, OURS(1816) "-wal", 1096, 700 << 10);
	assert_int_equal(prune(folder, OURS(1816), &limits, 1100), 0);
	make_segment(folder, OURS(1816) "-wal", 1096, 800 << 10);
	assert_int_equal(prune(folder, OURS(1816), &limits, 1100), 1);
	assert_true(is_there(folder, OURS(1816)));
}

/* What others put there, or put aside, stays: a name of their own, a file that has two names. */
SCRATCH_TEST(test_others)
{
	static const char *const others[] = { "stalltop-incident-4711.db", "stalltop-backup.db",
					      "stalltop-19700101T001640Z-000.db.keep.db",
					      "stalltop-19700101T001640Z-000-copy.db",
					      "stalltop-19700101T001640Z-000.db.zst" };
	struct segment_limits limits = { .age_ns = 10 * NSEC_PER_SEC, .bytes = 1 << 10 };
	const char *folder = scratch_folder();

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		make_segment(folder, others[i], 1000, 8 << 10);
	make_segment(folder, OURS(1600), 1000, 8 << 10);
	make_segment(folder, OURS(1640), 1000, 8 << 10);
	assert_int_equal(
		link(scratch_format("%s/" OURS(1600), folder), scratch_format("%s/kept", folder)),
		0);
	assert_int_equal(prune(folder, "", &limits, 1050), 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_true(is_there(folder, others[i]));
	assert_true(is_there(folder, OURS(1600)));
	assert_false(is_there(folder, OURS(1640)));
	/* It goes when that is its only name again. */
	assert_int_equal(unlink(scratch_format("%s/kept", folder)), 0);
	assert_int_equal(prune(folder, "", &limits, 1050), 1);
	assert_false(is_there(folder, OURS(1600)));
}

/* The name of the segment of that hour, from one in 2026 on. */
static const char *hour_name(unsigned hour)
{
	static struct buf name;

	name.len = 0;
	segment_name(&name, (SOME_DAY + hour * UINT64_C(3600)) * NSEC_PER_SEC, 0);
	return buf_cstr(&name);
}

/* Makes those of hours, each up to the next. */
static void make_hours(const char *folder, unsigned from, unsigned to)
{
	for (unsigned hour = from; hour < to; hour++)
		make_segment(folder, hour_name(hour), SOME_DAY + (hour + 1) * 3600, 10);
}

/* Removes old ones, so many times, at that hour and second. */
static unsigned prune_at(const char *folder, const char *but, unsigned hour, unsigned second,
			 unsigned times)
{
	struct segment_limits limits = { .age_ns = 24 * HOUR, .bytes = 1 << 30 };
	unsigned removed = 0;

	while (times--)
		removed += segments_prune(folder, but, &limits,
					  (SOME_DAY + hour * UINT64_C(3600) + second++) *
						  NSEC_PER_SEC);
	return removed;
}

/* A clock that is ahead for some time makes nothing old; one that stays there does. */
SCRATCH_TEST(test_clock_ahead)
{
	const char *folder = scratch_folder();
	const unsigned far = 10 * 365 * 24;

	make_hours(folder, 0, 20);
	assert_int_equal(prune_at(folder, "", 20, 5, 3), 0);
	/* It jumps between two segments, or in the middle of one, which ends at that. */
	assert_int_equal(prune_at(folder, "", far, 0, 3), 0);
	make_segment(folder, hour_name(20), SOME_DAY + far * 3600UL, 10);
	assert_int_equal(prune_at(folder, "", far, 0, 3), 0);
	make_segment(folder, hour_name(far), SOME_DAY + far * 3600UL + 60, 10);
	assert_int_equal(prune_at(folder, hour_name(far), far, 60, 3), 0);
	/* Back where it was, and where it had been recorded all the time. */
	make_segment(folder, hour_name(far + 1), SOME_DAY + 22 * 3600, 10);
	assert_int_equal(prune_at(folder, "", 22, 5, 3), 0);
	assert_int_equal(prune_at(folder, "", 26, 5, 3), 2);
	/* It stays there: then it is right. */
	make_segment(folder, hour_name(far), SOME_DAY + far * 3600UL + 1200, 10);
	unlink(scratch_format("%s/%s", folder, hour_name(far + 1)));
	assert_true(prune_at(folder, "", far, 1200, 1) >= 17);
	assert_true(is_there(folder, hour_name(far)));
}

/* The name of the segment that a folder gets at that time, in seconds. */
static const char *next_name(const char *folder, uint64_t real_s)
{
	static struct buf name;
	uint64_t real_ns = real_s * NSEC_PER_SEC + 5;
	unsigned number = 0;

	name.len = 0;
	segments_go_on(folder, &real_ns, &number);
	segment_name(&name, real_ns, number);
	return buf_cstr(&name);
}

/* After the clock was set back new segments come behind those that there are, and outlive them. */
SCRATCH_TEST(test_clock_set_back)
{
	struct segment_limits limits = { .age_ns = HOUR, .bytes = 150 << 10 };
	const uint64_t day = 1795269750;
	const char *folder = scratch_folder();

	assert_string_equal(next_name(folder, day), "stalltop-20261121T140230Z-000.db");
	make_segment(folder, "stalltop-20261121T140230Z-000.db", (time_t)day, 100 << 10);
	assert_string_equal(next_name(folder, day), "stalltop-20261121T140230Z-001.db");
	assert_string_equal(next_name(folder, day + 1), "stalltop-20261121T140231Z-000.db");
	/* An hour back. */
	assert_string_equal(next_name(folder, day - 3600), "stalltop-20261121T140230Z-001.db");
	make_segment(folder, "stalltop-20261121T140230Z-001.db", (time_t)day - 3600, 100 << 10);
	assert_int_equal(prune(folder, "", &limits, day - 3599), 1);
	assert_false(is_there(folder, "stalltop-20261121T140230Z-000.db"));
	assert_true(is_there(folder, "stalltop-20261121T140230Z-001.db"));
	/* Numbers run out. */
	make_segment(folder, "stalltop-20261121T140230Z-999.db", (time_t)day - 3600, 1);
	assert_string_equal(next_name(folder, day - 3600), "stalltop-20261121T140231Z-000.db");
	/* What others put there does not count. */
	make_segment(folder, "stalltop-99991231T235959Z.db", (time_t)day, 1);
	make_segment(folder, "stalltop-99991331T235959Z-000.db", (time_t)day, 1);
	make_segment(folder, "stalltop-99991231T235959Z-0x0.db", (time_t)day, 1);
	make_segment(folder, "stalltop-99991231T235959Z-+01.db", (time_t)day, 1);
	make_segment(folder, "other-99991231T235959Z-000.db", (time_t)day, 1);
	assert_string_equal(next_name(folder, day), "stalltop-20261121T140231Z-000.db");
}

TEST(test_times)
{
	uint64_t end, ns;
	static const char *const bad[] = { "",
					   "-",
					   "-3",
					   "-m",
					   "-3y",
					   "25:00",
					   "14",
					   "14:02x",
					   "2026-11-21 14:",
					   "noon",
					   "2026-11-31 10:00",
					   "2025-02-29" };

	setenv("TZ", "UTC", 1);
	tzset();
	assert_true(replay_time("2026-11-21 14:02:30", 0, false, &end));
	assert_int_equal(end, UINT64_C(1795269750) * NSEC_PER_SEC);
	assert_true(replay_time("-3m", end, false, &ns));
	assert_int_equal(end - ns, 180 * NSEC_PER_SEC);
	assert_true(replay_time("14:02", end, false, &ns));
	assert_int_equal(end - ns, 30 * NSEC_PER_SEC);
	/* Later than the end: the day before. */
	assert_true(replay_time("14:03", end, false, &ns));
	assert_int_equal(end - ns, (86400 - 30) * NSEC_PER_SEC);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (replay_time(bad[i], end, false, &ns))
			fail_msg("'%s' is taken", bad[i]);
}

/* Times as programs print them, and those that a clock shows twice. */
TEST(test_times_of_programs)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "@1795269750", UINT64_C(1795269750000000000) },
		{ "1795269750.250500", UINT64_C(1795269750250500000) },
		{ "2026-11-21T14:02:30Z", UINT64_C(1795269750000000000) },
		{ "2026-11-21 14:02:30.5Z", UINT64_C(1795269750500000000) },
		{ "2026-11-21T16:02:30+02:00", UINT64_C(1795269750000000000) },
		{ "2026-11-21T08:32-0530", UINT64_C(1795269720000000000) },
	};
	static const char *const bad[] = { "@",
					   "@x",
					   "17952697",
					   "1795269750.",
					   "1795269750x",
					   "2026-11-21T14:02:30+2",
					   "2026-11-21T14:02:30Zx",
					   "14:02Z",
					   "@99999999999" };
	uint64_t early, late;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (!replay_time(good[i].text, 0, false, &early))
			fail_msg("'%s' is not taken", good[i].text);
		assert_int_equal(early, good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (replay_time(bad[i], UINT64_C(1795269750000000000), false, &early))
			fail_msg("'%s' is taken", bad[i]);
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_true(replay_time("2026-10-25 02:30", 0, false, &early));
	assert_true(replay_time("2026-10-25 02:30", 0, true, &late));
	assert_int_equal(late - early, 3600 * NSEC_PER_SEC);
	assert_true(replay_time("2026-10-25 04:30", 0, false, &early));
	assert_true(replay_time("2026-10-25 04:30", 0, true, &late));
	assert_int_equal(late, early);
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Sends a message of that size and first byte. */
static int send_filled(struct queue *queue, char byte, uint64_t size)
{
	static char message[8 << 20];

	memset(message, byte, size);
	return queue_send(queue, message, size);
}

/* A queue that is full takes no more until messages are given back; they come in order. */
TEST(test_queue)
{
	struct queue *queue;
	const char *message;
	bool ended;

	assert_int_equal(queue_open(&queue), 0);
	for (int i = 0; i < QUEUE_MESSAGES; i++)
		assert_int_equal(send_filled(queue, (char)i, 100), 0);
	assert_int_equal(send_filled(queue, 0, 100), -ENOBUFS);
	for (int round = 0, next = 0, sent = QUEUE_MESSAGES; round < 1000; round++) {
		message = queue_receive(queue, 0, &ended);
		assert_int_equal(*message, (char)next++);
		queue_done(queue);
		assert_int_equal(send_filled(queue, (char)sent++, 100 + (uint64_t)round), 0);
	}
	while (queue_receive(queue, 0, &ended))
		queue_done(queue);
	assert_false(ended);
	/* One that is large finds room if the queue is empty, and no other then. */
	assert_int_equal(send_filled(queue, 1, 8 << 20), 0);
	assert_int_equal(send_filled(queue, 2, 8 << 20), 0);
	assert_int_equal(send_filled(queue, 3, 8 << 20), -ENOBUFS);
	message = queue_receive(queue, 0, &ended);
	assert_int_equal(message[(8 << 20) - 1], 1);
	queue_done(queue);
	assert_int_equal(send_filled(queue, 3, 8 << 20), 0);
	queue_hang_up(queue);
	for (char i = 2; i < 4; i++) {
		message = queue_receive(queue, 0, &ended);
		assert_int_equal(message[(8 << 20) - 1], i);
		queue_done(queue);
	}
	assert_null(queue_receive(queue, -1, &ended));
	assert_true(ended);
	queue_close(queue);
}
