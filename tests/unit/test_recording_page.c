// SPDX-License-Identifier: GPL-2.0-or-later
/* The manual page of recordings: it has all tables and columns, and its queries work. */
#include "config.h"

#include "tests/lib/test.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "history/schema.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

/* The page of the source tree. */
static char *read_page(void)
{
	const char *tests = getenv("TESTS_SRCDIR");
	const char *text = scratch_read(
		scratch_format("%s/../doc/stalltop-recording.5", tests ? tests : "tests"));

	assert_non_null(text);
	return xstrdup(text);
}

/* Opens a recording of a made-up machine. */
static sqlite3 *open_recording(void)
{
	const char *path = scratch_path("page.db");
	sqlite3 *db;

	assert_int_equal(play_record(path, 1, 30), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

/* Appends a line for each row of a query, its columns joined by blanks. */
static void append_rows(sqlite3 *db, const char *query, struct buf *out)
{
	sqlite3_stmt *rows;

	if (sqlite3_prepare_v2(db, query, -1, &rows, NULL))
		fail_msg("%s: %s", query, sqlite3_errmsg(db));
	while (sqlite3_step(rows) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(rows); i++)
			buf_printf(out, "%s%s", i ? " " : "",
				   (const char *)sqlite3_column_text(rows, i));
		buf_putc(out, '\n');
	}
	sqlite3_finalize(rows);
}

/* The tables and views with their columns, in the order of the page. */
TEST(test_columns)
{
	struct buf has = { 0 }, told = { 0 };
	char *page, *line, *rest, name[64] = "";
	sqlite3 *db;

	scratch_begin();
	page = read_page();
	rest = strstr(page, ".SH TABLES");
	assert_non_null(rest);
	while ((line = strsep(&rest, "\n")) && strcmp(line, ".SH PACKED TABLES") != 0) {
		sscanf(line, ".SS %63s", name);
		if (!strncmp(line, ".B ", 3))
			buf_printf(&told, "%s %s\n", name, line + 3);
	}
	db = open_recording();
	append_rows(db,
		    "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
		    "WHERE m.type IN ('table', 'view') AND m.name NOT GLOB 'packed_*' "
		    "ORDER BY m.rowid, c.cid",
		    &has);
	assert_string_equal(buf_cstr(&told), buf_cstr(&has));
	sqlite3_close(db);
	free(page);
	buf_free(&told);
	buf_free(&has);
	scratch_end();
}

/* The schema says of each column what it is, where it lies, and since when it is there. */
TEST(test_schema_is_whole)
{
	for (unsigned id = 0; id < TABLES; id++) {
		const struct schema_table *table = &schema_tables[id];

		assert_non_null(table->text);
		assert_in_range(table->n, 1, UINT16_MAX);
		assert_in_range(table->key, 0, table->n);
		assert_in_range(table->since, 0, SCHEMA_VERSION);
		for (unsigned i = 0; i < table->n; i++) {
			const struct schema_field *field = &table->fields[i];

			if (!field->text || field->at >= table->size ||
			    field->other >= table->size || field->since > SCHEMA_VERSION ||
			    field->least > field->most)
				fail_msg("%s.%s", table->name, field->name);
		}
	}
}

/* What makes the tables: files of this version have it to the byte. */
TEST(test_schema_text)
{
	const char *tests = getenv("TESTS_SRCDIR"), *text;
	struct buf has = { 0 };
	sqlite3 *db;

	scratch_begin();
	text = scratch_read(
		scratch_format("%s/unit/recording_schema.sql", tests ? tests : "tests"));
	assert_non_null(text);
	db = open_recording();
	append_rows(db, "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
		    &has);
	assert_string_equal(buf_cstr(&has), text);
	sqlite3_close(db);
	buf_free(&has);
	scratch_end();
}

/* Packed tables have the columns of their views, as the page tells in words. */
TEST(test_packed)
{
	struct buf has = { 0 }, told = { 0 };
	sqlite3 *db;

	scratch_begin();
	db = open_recording();
	append_rows(db,
		    "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
		    "WHERE m.name GLOB 'packed_*' ORDER BY m.rowid, c.cid",
		    &has);
	append_rows(db,
		    "WITH RECURSIVE place(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM place "
		    "WHERE n < 8), view(name, at) AS (SELECT name, rowid FROM sqlite_schema WHERE "
		    "name IN ('activity', 'other_wait', 'standing', 'total', 'children')), "
		    "names(name, at, n, cid, column) AS (SELECT name, at, 0, -1, 'key' FROM view "
		    "UNION ALL SELECT v.name, v.at, n, c.cid, c.name || n FROM view v, place, "
		    "pragma_table_info(v.name) c WHERE c.name <> 'sample') "
		    "SELECT 'packed_' || name, column FROM names ORDER BY at, cid, n",
		    &told);
	assert_string_equal(buf_cstr(&told), buf_cstr(&has));
	sqlite3_close(db);
	buf_free(&told);
	buf_free(&has);
	scratch_end();
}

/* What the views of packed tables say of samples they find by their numbers. */
TEST(test_views_are_fast)
{
	struct buf plan = { 0 };
	sqlite3 *db;

	scratch_begin();
	db = open_recording();
	append_rows(db,
		    "EXPLAIN QUERY PLAN SELECT * FROM sample JOIN activity ON sample.id = sample "
		    "WHERE sample.id BETWEEN 3 AND 5",
		    &plan);
	assert_non_null(strstr(buf_cstr(&plan), "p USING INTEGER PRIMARY KEY"));
	assert_null(strstr(buf_cstr(&plan), "SCAN s"));
	assert_null(strstr(buf_cstr(&plan), "SCAN p"));
	/* As SQLite says it before 3.36. */
	assert_null(strstr(buf_cstr(&plan), "SCAN TABLE sample"));
	assert_null(strstr(buf_cstr(&plan), "SCAN TABLE packed_activity"));
	sqlite3_close(db);
	buf_free(&plan);
	scratch_end();
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

/* Each query has rows. */
TEST(test_queries)
{
	struct buf query = { 0 }, rows = { 0 };
	char *page, *at, *end;
	unsigned queries = 0;
	sqlite3 *db;

	scratch_begin();
	page = read_page();
	db = open_recording();
	/* A wait that hangs. */
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE waiting SET longest_ns = longest_ns - 20000000000",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	for (at = page; (at = strstr(at, ".EX\n")); at = end, queries++) {
		at += 4;
		end = strstr(at, ".EE");
		assert_non_null(end);
		*end++ = '\0';
		query.len = rows.len = 0;
		plain_query(at, &query);
		append_rows(db, buf_cstr(&query), &rows);
		if (!rows.len)
			fail_msg("no rows: %s", buf_cstr(&query));
	}
	assert_int_equal(queries, 6);
	sqlite3_close(db);
	free(page);
	buf_free(&query);
	buf_free(&rows);
	scratch_end();
}
