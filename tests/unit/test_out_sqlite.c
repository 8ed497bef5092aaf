// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of a recording: they have what its frames have, and the queries of the manual work. */
#include "tests/lib/test.h"
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "out/out.h"
#include "sampler/sampler.h"
#include "tests/lib/ask.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define SAMPLES_MADE 60

/* What frames had, added up. */
struct sums {
	uint64_t waited_ns, run_ns, sites_ns;
	unsigned frames, ended;
};

/* Adds what a frame has. */
static void add_frame(struct sums *sums, const struct frame *frame)
{
	const struct trace_frame *trace = frame->info->trace;

	sums->frames++;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		sums->waited_ns += row->deltas->waited.ns[DELAY_CPU];
		sums->run_ns += row->valid & VALID_RUN ? row->deltas->grown.run_ns : 0;
		sums->ended += row->exited;
	}
	for (size_t i = 0; trace && i < trace->n; i++)
		sums->sites_ns += trace->sites[i]->unattributed ? 0 : trace->sites[i]->ns;
}

/* Makes tables of a recording, and adds up what frames had. 0 or -errno. */
static int make_tables(const char *recording, const char *path, const char *fields,
		       struct sums *sums)
{
	const struct replay_config config = { .path = recording };
	struct view_config view = { .query.over_ms = -1, .fields = (char *)(uintptr_t)fields };
	struct out_config wanted = { .view = &view, .path = path };
	struct sampler_config sampling = { 0 };
	const struct frame *frame;
	struct playback playback;
	struct sampler *sampler;
	struct replay *replay;
	struct out out;
	char *file;
	int err;

	assert_int_equal(replay_open(&replay, &config, &file), 0);
	playback = replay_playback(replay);
	sampling.playback = &playback;
	assert_int_equal(sampler_open(&sampler, &sampling), 0);
	out_open(&out, &out_sqlite, &wanted);
	err = out_begin(&out);
	while (!err && !sampler_tick(sampler, 0, &frame)) {
		if (!frame->info->prev)
			continue;
		out_frame(&out, frame);
		add_frame(sums, frame);
		err = out.error;
	}
	out_close(&out);
	sampler_close(sampler);
	replay_close(replay);
	return err;
}

/* The sums of tables are those of frames. */
SCRATCH_TEST(test_sums)
{
	const char *recording = scratch_path("made.db"), *path = scratch_path("tables.db");
	struct sums sums = { 0 };

	assert_int_equal(play_record(recording, 3, SAMPLES_MADE), 0);
	assert_int_equal(make_tables(recording, path, "+start,pod", &sums), 0);
	assert_int_equal(ask(path, "SELECT count(*) FROM sample"), sums.frames);
	assert_int_equal(ask(path, "SELECT sum(run_ns) FROM task"), sums.run_ns);
	assert_int_equal(ask(path, "SELECT sum(cpu_waited_ns) FROM task"), sums.waited_ns);
	assert_int_equal(ask(path, "SELECT sum(waited_ns) FROM wait WHERE kind = 'cpu'"),
			 sums.waited_ns);
	assert_int_equal(ask(path, "SELECT sum(ns) FROM site WHERE max_ns IS NOT NULL"),
			 sums.sites_ns);
	/* What no site explains is no state. */
	assert_true(ask(path, "SELECT count(*) FROM site WHERE state = 'unattributed'") > 0);
	assert_int_equal(ask(path, "SELECT count(*) FROM site WHERE state != 'unattributed' AND "
				   "state != 'overlapping' AND max_ns IS NULL"),
			 0);
	assert_int_equal(ask(path, "SELECT count(*) FROM ending"), sums.ended);
	assert_true(ask(path, "SELECT count(*) FROM note WHERE id = 'late'") > 0);
	assert_true(ask(path, "SELECT count(*) FROM finding WHERE text LIKE '%wait%'") > 0);
	/* Names are escaped, and fields that were asked for are there. */
	assert_true(ask(path, "SELECT count(*) FROM task WHERE comm = 'renamed\\x1b[2J'") > 0);
	assert_true(ask(path, "SELECT count(*) FROM task WHERE pod = 'prod/checkout'") > 0);
	/* What is there already is not written to. */
	assert_int_equal(make_tables(recording, path, NULL, &sums), -EEXIST);
	assert_int_equal(make_tables(recording, recording, NULL, &sums), -EEXIST);
}

/* Undoes what the page needs for its formatter, and has the recording's times in the span. */
static void plain_query(const char *text, struct buf *out)
{
	const char *dates[][2] = { { "2026-11-21 14:00", "1990-01-01 00:00" },
				   { "2026-11-21 14:10", "2190-01-01 00:00" } };
	char *found;

	for (; *text; text++)
		if (*text != '\\')
			buf_putc(out, *text);
	for (size_t i = 0; i < 2; i++)
		if ((found = strstr((char *)(uintptr_t)buf_cstr(out), dates[i][0])))
			memcpy(found, dates[i][1], strlen(dates[i][1]));
}

/* How many rows a query has. */
static unsigned count_rows(sqlite3 *db, const char *query)
{
	sqlite3_stmt *rows;
	unsigned n = 0;

	if (sqlite3_prepare_v2(db, query, -1, &rows, NULL))
		fail_msg("%s: %s", query, sqlite3_errmsg(db));
	while (sqlite3_step(rows) == SQLITE_ROW)
		n++;
	sqlite3_finalize(rows);
	return n;
}

/* Each query of the page has rows; the one of the file's own table, too. */
SCRATCH_TEST(test_queries)
{
	const char *tests = getenv("TESTS_SRCDIR"), *recording = scratch_path("made.db");
	char *page = xstrdup(scratch_read(
		scratch_format("%s/../doc/stalltop-recording.5.in", tests ? tests : "tests")));
	struct buf query = { 0 };
	struct sums sums = { 0 };
	unsigned queries = 0;
	char *at, *end;
	sqlite3 *db;

	assert_int_equal(play_record(recording, 1, 30), 0);
	assert_int_equal(make_tables(recording, scratch_path("tables.db"), NULL, &sums), 0);
	/* A wait that lasts. */
	ask_change(scratch_path("tables.db"), "UPDATE task SET wait_ns = wait_ns + 20000000000");
	for (at = page; (at = strstr(at, ".EX\n")); at = end, queries++) {
		bool own = !strncmp(at + 4, "sqlite3", 7);

		at = own ? strchr(at, '"') + 1 : at + 4;
		end = strstr(at, own ? "\"\n.EE" : ".EE");
		assert_non_null(end);
		*end++ = '\0';
		query.len = 0;
		plain_query(at, &query);
		assert_int_equal(sqlite3_open(own ? recording : scratch_path("tables.db"), &db),
				 SQLITE_OK);
		if (!count_rows(db, buf_cstr(&query)))
			fail_msg("no rows: %s", buf_cstr(&query));
		sqlite3_close(db);
	}
	assert_int_equal(queries, 8);
	free(page);
	buf_free(&query);
}

/* Where tables cannot be made no file is left, so that the next try makes one. */
SCRATCH_TEST(test_set_up_fails)
{
	const struct rlimit little = { 8192, RLIM_INFINITY },
			    any = { RLIM_INFINITY, RLIM_INFINITY };
	const char *recording = scratch_path("made.db"), *path = scratch_path("tables.db");
	struct sums sums = { 0 };

	assert_int_equal(play_record(recording, 11, 5), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_true(make_tables(recording, path, NULL, &sums) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(scratch_path("tables.db-wal"), F_OK), -1);
	assert_int_equal(make_tables(recording, path, NULL, &sums), 0);
}
