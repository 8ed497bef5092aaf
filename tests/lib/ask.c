// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/ask.h"

#include "tests/lib/test.h"

#include <sqlite3.h>
#include <stddef.h>

int64_t ask(const char *path, const char *query)
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

void ask_change(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}
