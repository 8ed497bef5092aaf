// SPDX-License-Identifier: GPL-2.0-or-later
/* Sites as lines: whose, added up by what, in which order; percentiles from their histograms. */
#include "tests/lib/test.h"

#include <string.h>

#include "base/util.h"
#include "tests/lib/sites.h"
#include "view/site_lines.h"

#define MS(n) (UINT64_C(1000000) * (n))
#define SEC(n) (UINT64_C(1000000000) * (n))

/* What sites of a process, and of what it reads, have in common. */
#define DB .tgid = 10, .start_ns = SEC(5), .comm = "db"
#define WEB .tgid = 20, .start_ns = SEC(6), .comm = "web"
#define READING .state = STATE_IO, .kind = DELAY_BLKIO, .syscall = "pread64", .where = "io_schedule"

/* Two processes that read two files, wait for a lock, poll, and reclaim memory meanwhile. */
static const struct site scene[] = {
	{ .id = 1,
	  DB,
	  READING,
	  .on = "/data/a",
	  .stack = 3,
	  .count = 10,
	  .ns = MS(400),
	  .kind_ns = MS(390),
	  .max_ns = MS(60),
	  .log2_us = { [16] = 10 },
	  .wakers = { { 0, "nvme0q1", MS(300), 9 }, { 77, "sh", MS(100), 1 } } },
	{ .id = 2,
	  DB,
	  READING,
	  .on = "/data/b",
	  .count = 2,
	  .ns = MS(500),
	  .kind_ns = MS(500),
	  .max_ns = MS(300),
	  .log2_us = { [18] = 2 },
	  .wakers = { { 0, "nvme0q1", MS(150), 1 } } },
	{ .id = 3,
	  WEB,
	  .state = STATE_LOCK,
	  .kind = -1,
	  .syscall = "futex",
	  .on = "futex 7f00",
	  .where = "futex_wait",
	  .count = 0,
	  .ns = SEC(2),
	  .max_ns = SEC(40),
	  .waiting_ns = SEC(40),
	  .waiting = 1,
	  .at_least = true },
	{ .id = 4,
	  WEB,
	  .state = STATE_POLL,
	  .kind = -1,
	  .syscall = "poll",
	  .where = "do_sys_poll",
	  .count = 1,
	  .ns = SEC(1),
	  .max_ns = SEC(1) },
	{ .id = 5,
	  DB,
	  .state = STATE_IO,
	  .kind = DELAY_RECLAIM,
	  .overlaps = true,
	  .where = "shrink_node",
	  .count = 4,
	  .ns = MS(70),
	  .max_ns = MS(30) },
	{ .id = 6,
	  DB,
	  .kind = DELAY_BLKIO,
	  .unattributed = true,
	  .ns = MS(8),
	  .unattributed_ns = MS(8) },
	{ .id = 7,
	  WEB,
	  .kind = DELAY_BLKIO,
	  .unattributed = true,
	  .ns = MS(3),
	  .unattributed_ns = MS(3) },
};

static const struct site *const scene_sites[] = { &scene[0], &scene[1], &scene[2], &scene[3],
						  &scene[4], &scene[5], &scene[6] };
static const struct trace_frame trace = { .sites = scene_sites,
					  .n = ARRAY_SIZE(scene),
					  .interval_ns = SEC(2) };

/* Builds the lines of everybody. */
static void build(struct site_lines *sites, enum sites_by by)
{
	struct site_owners owners = { .all = true };

	site_lines_build(sites, &trace, &(struct site_lines_query){ .owners = &owners, .by = by });
	site_owners_free(&owners);
}

/* Asserts a line's state and time. */
static void check_line(const struct site_lines *sites, size_t i, const char *state, int64_t ms)
{
	assert_true(i < sites->n);
	assert_int_equal(site_line_ns(&sites->lines[i]), ms * 1000000);
	if (state)
		assert_string_equal(site_line_state(&sites->lines[i]), state);
	else
		assert_null(site_line_state(&sites->lines[i]));
}

/* By themselves: the most time first; the rest of a kind is one line for all. */
TEST(test_by_site)
{
	struct site_lines sites = { 0 };

	build(&sites, SITES_BY_SITE);
	assert_int_equal(sites.n, 6);
	check_line(&sites, 0, "lock", 2000);
	check_line(&sites, 1, "poll", 1000);
	check_line(&sites, 2, "io", 500);
	check_line(&sites, 3, "io", 400);
	check_line(&sites, 4, "reclaim", 70);
	check_line(&sites, 5, "blkio", 11);
	assert_true(sites.several);
	/* what lies within others, and what is only a rest, is in no sum */
	assert_int_equal(sites.all.sum.ns, MS(3900));
	assert_int_equal(sites.lines[0].id, 3);
	assert_ptr_equal(site_lines_find(&sites, 3), &sites.lines[0]);
	assert_null(site_lines_find(&sites, 99));
	site_lines_free(&sites);
}

/* Tidied up: what is not explained comes last, who ran instead for a moment is one line. */
TEST(test_tidy)
{
	const struct site sites[] = {
		{ .id = 1, DB, .state = STATE_CPU, .kind = DELAY_CPU, .on = "7 a", .ns = MS(19) },
		{ .id = 2, DB, .state = STATE_CPU, .kind = DELAY_CPU, .on = "8 b", .ns = MS(12) },
		{ .id = 3, DB, .state = STATE_CPU, .kind = DELAY_CPU, .on = "9 c", .ns = MS(20) },
		{ .id = 4, DB, READING, .on = "/data/a", .ns = MS(2) },
		{ .id = 5,
		  DB,
		  .kind = DELAY_BLKIO,
		  .unattributed = true,
		  .unattributed_ns = MS(500) },
	};
	struct trace_frame frame = { .sites = SITES_OF(sites, ARRAY_SIZE(sites)),
				     .n = ARRAY_SIZE(sites),
				     .interval_ns = SEC(2) };
	struct site_owners owners = { .all = true };
	struct site_lines_query query = { .owners = &owners, .by = SITES_BY_SITE, .tidy = true };
	struct site_lines lines = { 0 };

	site_lines_build(&lines, &frame, &query);
	assert_int_equal(lines.n, 4);
	check_line(&lines, 0, "cpu", 31);
	assert_true(lines.lines[0].others);
	assert_null(lines.lines[0].sum.on);
	check_line(&lines, 1, "cpu", 20);
	assert_string_equal(lines.lines[1].sum.on, "9 c");
	check_line(&lines, 2, "io", 2);
	check_line(&lines, 3, "blkio", 500);
	/* One alone is itself. */
	frame.sites = SITES_OF(&sites[1], 2);
	frame.n = 2;
	site_lines_build(&lines, &frame, &query);
	assert_int_equal(lines.n, 2);
	assert_false(lines.lines[1].others);
	assert_string_equal(lines.lines[1].sum.on, "8 b");
	/* Nothing is left out of what is added up by target, or of what is not tidied up. */
	query.by = SITES_BY_ON;
	site_lines_build(&lines, &frame, &query);
	assert_int_equal(lines.n, 2);
	query = (struct site_lines_query){ .owners = &owners, .by = SITES_BY_SITE };
	frame = (struct trace_frame){ SITES_OF(sites, ARRAY_SIZE(sites)), .n = ARRAY_SIZE(sites),
				      .interval_ns = SEC(2) };
	site_lines_build(&lines, &frame, &query);
	assert_int_equal(lines.n, 5);
	check_line(&lines, 0, "blkio", 500);
	site_lines_free(&lines);
}

/* A rest that is not known is in no sum; of nothing else, neither is the sum. */
TEST(test_unknown)
{
	struct site rests[] = { scene[5], scene[6] };
	const struct trace_frame frame = { .sites = SITES_OF(rests, ARRAY_SIZE(rests)),
					   .n = ARRAY_SIZE(rests),
					   .interval_ns = SEC(2) };
	struct site_owners owners = { .all = true };
	const struct site_lines_query query = { .owners = &owners, .by = SITES_BY_SITE };
	struct site_lines sites = { 0 };

	rests[1].unknown = true;
	rests[1].unattributed_ns = 0;
	site_lines_build(&sites, &frame, &query);
	assert_int_equal(sites.n, 1);
	check_line(&sites, 0, "blkio", 8);
	assert_false(sites.lines[0].sum.unknown);
	rests[0].unknown = true;
	rests[0].unattributed_ns = 0;
	site_lines_build(&sites, &frame, &query);
	assert_true(sites.lines[0].sum.unknown);
	site_lines_free(&sites);
	site_owners_free(&owners);
}

/* The states add up all but what overlaps, which has a line of its own. */
TEST(test_by_state)
{
	struct site_lines sites = { 0 };
	const struct site *io;

	build(&sites, SITES_BY_STATE);
	assert_int_equal(sites.n, 5);
	check_line(&sites, 2, "io", 900);
	check_line(&sites, 3, "reclaim", 70);
	check_line(&sites, 4, "blkio", 11);
	io = &sites.lines[2].sum;
	assert_int_equal(sites.lines[2].n, 2);
	assert_int_equal(sites.lines[2].sites[0]->id, 2);
	assert_int_equal(io->count, 12);
	assert_int_equal(io->kind_ns, MS(890));
	assert_int_equal(io->max_ns, MS(300));
	assert_int_equal(io->log2_us[16], 10);
	assert_int_equal(io->log2_us[18], 2);
	assert_int_equal(io->stack, 3);
	/* texts that differ are gone, the others stay */
	assert_string_equal(io->syscall, "pread64");
	assert_null(io->on);
	assert_string_equal(io->comm, "db");
	assert_int_equal(io->kind, DELAY_BLKIO);
	site_lines_free(&sites);
}

/* Wakers of all sites of a line are added up, the most time first. */
TEST(test_wakers)
{
	struct site_lines sites = { 0 };
	const struct site_waker *all;
	const struct site_line *io;

	build(&sites, SITES_BY_STATE);
	io = &sites.lines[2];
	assert_string_equal(io->sum.wakers[0].name, "nvme0q1");
	assert_int_equal(io->sum.wakers[0].ns, MS(450));
	assert_int_equal(io->sum.wakers[0].count, 10);
	assert_int_equal(io->sum.wakers[1].tgid, 77);
	assert_null(io->sum.wakers[2].name);
	assert_int_equal(site_lines_wakers(&sites, io, &all), 2);
	assert_int_equal(all[0].ns, MS(450));
	/* nobody has ended the wait for the lock yet */
	assert_int_equal(site_lines_wakers(&sites, &sites.lines[0], &all), 0);
	site_lines_free(&sites);
}

/* Each of the other groupings, by what its lines have in common. */
TEST(test_groupings)
{
	struct site_lines sites = { 0 };

	build(&sites, SITES_BY_SYSCALL);
	assert_int_equal(sites.n, 5);
	assert_string_equal(sites.lines[2].sum.syscall, "pread64");
	check_line(&sites, 2, "io", 900);
	build(&sites, SITES_BY_ON);
	assert_int_equal(sites.n, 6);
	build(&sites, SITES_BY_WHERE);
	assert_int_equal(sites.n, 5);
	build(&sites, SITES_BY_PROCESS);
	assert_int_equal(sites.n, 4);
	check_line(&sites, 0, NULL, 3000);
	assert_int_equal(sites.lines[0].sum.tgid, 20);
	assert_false(sites.lines[0].one_state);
	check_line(&sites, 1, "io", 900);
	site_lines_free(&sites);
}

/* Lines keep their ids from frame to frame, and have those of no other grouping. */
TEST(test_ids)
{
	struct site_lines a = { 0 }, b = { 0 };

	for (enum sites_by by = 0; by < SITES_BYS; by++) {
		build(&a, by);
		build(&b, by);
		assert_int_equal(a.n, b.n);
		for (size_t i = 0; i < a.n; i++) {
			assert_int_equal(a.lines[i].id, b.lines[i].id);
			assert_int_not_equal(a.lines[i].id, 0);
		}
		for (size_t i = 1; i < a.n; i++)
			assert_true(site_line_ns(&a.lines[i - 1]) >= site_line_ns(&a.lines[i]));
	}
	site_lines_free(&a);
	site_lines_free(&b);
}

/* A process is told by id and start; a start by another source may differ a little. */
TEST(test_owners)
{
	struct site_owners owners = { 0 };
	const struct site_lines_query query = { .owners = &owners };
	struct site_lines sites = { 0 };

	site_lines_build(&sites, &trace, &query);
	assert_int_equal(sites.n, 0);
	site_owners_add(&owners, (struct task_key){ 30, 0 });
	site_owners_add(&owners, (struct task_key){ 20, SEC(6) + MS(9) });
	site_lines_build(&sites, &trace, &query);
	assert_int_equal(sites.n, 3);
	assert_false(sites.several);
	check_line(&sites, 2, "blkio", 3);
	/* another process that had the pid before */
	site_owners_clear(&owners);
	site_owners_add(&owners, (struct task_key){ 20, SEC(1) });
	site_lines_build(&sites, &trace, &query);
	assert_int_equal(sites.n, 0);
	/* both have been seen, or the start is not known */
	site_owners_add(&owners, (struct task_key){ 20, SEC(6) });
	site_lines_build(&sites, &trace, &query);
	assert_int_equal(sites.n, 3);
	site_owners_clear(&owners);
	site_owners_add(&owners, (struct task_key){ 10, 0 });
	site_lines_build(&sites, &trace, &query);
	assert_int_equal(sites.n, 4);
	site_lines_build(&sites, NULL, &query);
	assert_int_equal(sites.n, 0);
	site_owners_free(&owners);
	site_lines_free(&sites);
}

/* Asserts how many sites a row's processes have. */
static void check_row(const struct row *row, size_t n)
{
	struct site_owners owners = { 0 };
	struct site_lines sites = { 0 };

	site_owners_add_row(&owners, row);
	site_lines_build(&sites, &trace, &(struct site_lines_query){ .owners = &owners });
	assert_int_equal(sites.n, n);
	site_owners_free(&owners);
	site_lines_free(&sites);
}

/* Rows of tasks have their process as it was traced; rows of many that ended, and groups, all. */
TEST(test_rows)
{
	struct task task = { .key = { 10, SEC(1) }, .tgid = 10 };
	struct traced more = { .tgid = 20, .start_ns = SEC(6) };
	struct traced traced = { .tgid = 10, .start_ns = SEC(5) };
	struct row row = { .task = &task }, other = { .task = &task, .traced = &more };
	const struct row *members[] = { &other, &row };
	struct group group = { .members = members, .n = 2, .own = 1 };

	/* a leader's start tells that it is another; that of a thread does not */
	check_row(&row, 0);
	task.key.pid = 11;
	check_row(&row, 4);
	row.traced = &traced;
	check_row(&row, 4);
	traced.start_ns = SEC(1);
	check_row(&row, 0);
	traced.more = &more;
	check_row(&row, 3);
	/* those below a group are no members of it */
	traced.more = NULL;
	traced.start_ns = SEC(5);
	check_row(&(struct row){ .group = &group }, 3);
	group.own = 2;
	check_row(&(struct row){ .group = &group }, 6);
}

/* Time lost is that of a disk, a lock, a CPU or a kind; not of who waits for work. */
TEST(test_stalls)
{
	static const bool stalls[] = { true, false, true, true, true, true };
	struct site_lines sites = { 0 };

	build(&sites, SITES_BY_SITE);
	for (size_t i = 0; i < sites.n; i++)
		assert_int_equal(site_line_stalls(&sites.lines[i]), stalls[i]);
	build(&sites, SITES_BY_PROCESS);
	assert_false(site_line_stalls(&sites.lines[0]));
	site_lines_free(&sites);
}

/* Asserts a figure that may be off by so much. */
static void check_near(double is, double should, double off)
{
	assert_true(is >= should - off && is <= should + off);
}

/* Without those that wait for something to do, in lines and in their sum. */
TEST(test_no_idle)
{
	struct site_owners owners = { .all = true };
	struct site_lines sites = { 0 };

	site_lines_build(&sites, &trace,
			 &(struct site_lines_query){ .owners = &owners, .no_idle = true });
	assert_int_equal(sites.n, 5);
	check_line(&sites, 0, "lock", 2000);
	check_line(&sites, 1, "io", 500);
	assert_int_equal(sites.all.sum.ns, MS(2900));
	site_lines_free(&sites);
}

/* Linear within a bucket, which ends with the longest wait. */
TEST(test_percentiles)
{
	struct site site = { .max_ns = SEC(100), .log2_us = { [0] = 0 } };

	assert_true(site_percentile(&site, 0.5) < 0);
	site.log2_us[11] = 100; /* 1024 to 2048 us */
	check_near(site_percentile(&site, 0.5), 1536, 0.01);
	check_near(site_percentile(&site, 0.99), 1024 + 1024 * 0.99, 0.01);
	check_near(site_percentile(&site, 1), 2048, 0.01);
	site.log2_us[3] = 300; /* 4 to 8 us */
	check_near(site_percentile(&site, 0.5), 4 + 4.0 * 200 / 300, 0.01);
	check_near(site_percentile(&site, 0.75), 8, 0.01);
	check_near(site_percentile(&site, 0.99), 1024 + 1024 * 0.96, 0.01);
	/* no wait was longer than the longest */
	site.max_ns = 1500 * NSEC_PER_USEC;
	check_near(site_percentile(&site, 1), 1500, 0.01);
	memset(site.log2_us, 0, sizeof(site.log2_us));
	site.log2_us[0] = 1;
	site.max_ns = 400;
	check_near(site_percentile(&site, 1), 0.4, 0.001);
	/* the last bucket has waits of any length */
	memset(site.log2_us, 0, sizeof(site.log2_us));
	site.log2_us[SITE_BUCKETS - 1] = 2;
	site.max_ns = SEC(86400);
	check_near(site_percentile(&site, 1), 86400e6, 1);
}

/* The bounds of buckets meet. */
TEST(test_buckets)
{
	struct site site = { .max_ns = 0 };

	check_near(site_bucket_from(0), 0, 0);
	for (unsigned i = 1; i < SITE_BUCKETS; i++)
		check_near(site_bucket_to(&site, i - 1), site_bucket_from(i), 0);
}
