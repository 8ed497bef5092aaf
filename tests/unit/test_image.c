// SPDX-License-Identifier: GPL-2.0-or-later
/* Databases in memory: read as files are, never written, and cut ones do no harm. */
#include "config.h"

#include "tests/lib/test.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/util.h"
#include "history/image.h"
#include "tests/lib/scratch.h"

#define ROWS 3000

/* The sum of the first column. */
#define SUM (ROWS * (ROWS + 1) / 2)

/* Makes a database, and reads the file: b has the numbers below ROWS in another order. */
static void make_bytes(struct buf *bytes)
{
	const char *make = scratch_format(
		"CREATE TABLE t (a INTEGER, b TEXT); "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"INSERT INTO t SELECT i, printf('%%0500d', i * 7919 %% %d) FROM n",
		ROWS, ROWS);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(scratch_path("db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, make, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(file_read_all(AT_FDCWD, scratch_path("db"), bytes, 1 << 30), 0);
}

/* A mapping with the first bytes, behind which nothing is mapped. */
static void *map_bytes(const struct buf *bytes, size_t len)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	memcpy(map, bytes->data, len);
	return map;
}

/* Asks for a number. The result of SQLite. */
static int ask(sqlite3 *db, const char *text, int64_t *number)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);

	if (result)
		return result;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		*number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return result;
}

/* All rows are there, in any order that is asked for, and none can be added. */
SCRATCH_TEST(test_read)
{
	struct buf bytes = { 0 };
	struct image *image;
	int64_t number = 0;
	sqlite3 *db;

	make_bytes(&bytes);
	assert_int_equal(image_open(&image, &db, map_bytes(&bytes, bytes.len), bytes.len), 0);
	assert_int_equal(ask(db, "SELECT sum(a) FROM t", &number), SQLITE_ROW);
	assert_int_equal(number, SUM);
	/* A sort that does not fit goes to a temporary file. */
	assert_int_equal(sqlite3_exec(db, "PRAGMA temp_store = FILE; PRAGMA cache_size = 10", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(ask(db,
			     "SELECT count(*) FROM (SELECT b, row_number() OVER (ORDER BY b) r "
			     "FROM t) WHERE r = CAST(b AS INTEGER) + 1",
			     &number),
			 SQLITE_ROW);
	assert_int_equal(number, ROWS);
	assert_int_equal(ask(db, "INSERT INTO t VALUES (1, 'x')", &number), SQLITE_READONLY);
	assert_int_equal(ask(db, "DROP TABLE t", &number), SQLITE_READONLY);
	assert_int_equal(ask(db, "SELECT sum(a) FROM t", &number), SQLITE_ROW);
	assert_int_equal(number, SUM);
	sqlite3_close(db);
	image_close(image);
	image_close(NULL);
	buf_free(&bytes);
}

/* Several at a time, closed in any order, and what is no database: none knows of another. */
SCRATCH_TEST(test_several)
{
	struct buf bytes = { 0 };
	struct image *images[3];
	sqlite3 *dbs[3];
	int64_t number = 0;

	make_bytes(&bytes);
	for (unsigned i = 0; i < ARRAY_SIZE(images); i++) {
		size_t len = i == 1 ? 5000 : bytes.len;
		char *map = map_bytes(&bytes, len);

		if (i == 1)
			memset(map, 'x', len);
		assert_int_equal(image_open(&images[i], &dbs[i], map, len), 0);
	}
	assert_int_equal(ask(dbs[1], "SELECT sum(a) FROM t", &number), SQLITE_NOTADB);
	sqlite3_close(dbs[0]);
	image_close(images[0]);
	assert_int_equal(ask(dbs[2], "SELECT sum(a) FROM t", &number), SQLITE_ROW);
	assert_int_equal(number, SUM);
	for (unsigned i = 1; i < ARRAY_SIZE(images); i++) {
		sqlite3_close(dbs[i]);
		image_close(images[i]);
	}
	buf_free(&bytes);
}

/* A file that was cut off anywhere is an error, and is read no further than it goes. */
SCRATCH_TEST(test_cut)
{
	struct buf bytes = { 0 };
	unsigned cuts = 0;

	make_bytes(&bytes);
	for (size_t len = 1; len < bytes.len; len += len < 200 ? 33 : bytes.len / 53, cuts++) {
		struct image *image;
		int64_t number = 0;
		sqlite3 *db;

		if (!image_open(&image, &db, map_bytes(&bytes, len), len))
			assert_true(ask(db, "SELECT sum(a) FROM t", &number) != SQLITE_ROW);
		sqlite3_close(db);
		image_close(image);
	}
	assert_true(cuts > 50);
	buf_free(&bytes);
}
