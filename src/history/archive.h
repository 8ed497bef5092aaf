/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording, a file or a folder of segments. Files may come from anywhere and hold
 * anything: SQLite is told to run nothing that is in them, and each value is checked.
 */
#ifndef STALLTOP_HISTORY_ARCHIVE_H
#define STALLTOP_HISTORY_ARCHIVE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/archive_guard.h"
#include "history/schema.h"

/* What is asked of a recording: rows of a table (enum table_id), or one of these. */
enum archive_query {
	QUERY_WAITS = TABLES, /* all waits in a sample, as rows of TABLE_OTHER_WAIT, by task */
	QUERY_TIME,
	QUERY_NEXT,
	QUERY_BEGIN,
	QUERY_END,
	ARCHIVE_QUERIES
};

/* An open file of a recording. */
struct archive {
	sqlite3 *db;
	bool borrowed; /* the database is somebody else's */
	sqlite3_stmt *queries[ARCHIVE_QUERIES];
	bool bad; /* a row that was read has what cannot be, or names what there is not */
	bool threads; /* it has rows of threads */
	int64_t version; /* of its tables */
	struct archive_guard guard; /* what SQLite may do with it */
	int64_t first, last; /* the numbers of its samples; last below first: none */
	struct image *image; /* of a packed file, its bytes; NULL: it is none */
};

/*
 * 0 or -errno (-EBADMSG: no recording, or a damaged one; -EPROTO: of a later kind; -ENOPKG: it is
 * packed, and zstd is not built in; -EINTR: a signal is to end the program). A segment that was
 * packed meanwhile is found under its new name.
 */
int archive_open(struct archive *archive, const char *path);

/* Reads what a store has in memory, while that stays open. 0 or -errno. */
int archive_borrow(struct archive *archive, sqlite3 *db);

/* Prepares the queries that there are tables for, by the file's version. 0 or -errno. */
int archive_prepare(struct archive *archive);

/* Closes the file. */
void archive_close(struct archive *archive);

/* Takes a row that was read: the struct of its table. */
typedef void archive_row_fn(void *arg, const void *row);

/*
 * Reads the rows of a table, or of QUERY_WAITS, for a sample, up to the first that is bad. None
 * where the file is of a version without that table. 0 or -errno (-EINTR: a signal is to end the
 * program).
 */
int archive_each(struct archive *archive, unsigned query, int64_t sample, archive_row_fn *take,
		 void *arg);

/* What is to be read for a sample, and who takes it. */
struct archive_reader {
	enum table_id table;
	archive_row_fn *take;
};

/* Reads the rows of several tables, one after the other. 0 or -errno. */
int archive_each_of(struct archive *archive, const struct archive_reader *readers, size_t n,
		    int64_t sample, void *arg);

/*
 * Reads the row of that number: of a sample, of tasks, texts, processes and sites their own. 1, 0
 * where there is none, or -errno. Bytes of it stay until archive_done().
 */
int archive_get(struct archive *archive, enum table_id table, int64_t number, void *row);

void archive_done(struct archive *archive, enum table_id table);

/* Starts a query for a number. NULL, which has no rows, where there is no such query. */
sqlite3_stmt *archive_ask(struct archive *archive, unsigned query, int64_t number);

/* The next row of a statement. 1, 0 at the end, or -errno (-EINTR: a signal is to end the program).
 */
int archive_row(struct archive *archive, sqlite3_stmt *rows);

/*
 * A column of a row. A value that is not what it must be makes the row bad: *bad is set, and the
 * least value is returned. NULL is `none`.
 */
int64_t archive_int(sqlite3_stmt *row, int column, int64_t least, int64_t most, int64_t none,
		    bool *bad);

/* Any number from 0 on; NULL is `none`. */
static inline uint64_t archive_uint(sqlite3_stmt *row, int column, uint64_t none, bool *bad)
{
	return (uint64_t)archive_int(row, column, 0, INT64_MAX, (int64_t)none, bad);
}

/*
 * Has all queries up to the end read the same state of the file, and lock it once. To be ended
 * soon: the file may be written meanwhile. Whether that began just now, and is the caller's to end.
 */
bool archive_begin(struct archive *archive);
void archive_end(struct archive *archive);

/* The first sample that was taken at that time (CLOCK_REALTIME) or later; above last: none. */
int64_t archive_find(struct archive *archive, uint64_t time_ns);

/* The last number, up to the given one, of a sample that stands for itself; 0: there is none. */
int64_t archive_whole(struct archive *archive, int64_t number);

/* When a sample was taken (CLOCK_REALTIME); 0: there is none of that number. */
uint64_t archive_time(struct archive *archive, int64_t number);

/* The next number of a sample after the given one; 0: there is none; or -errno. */
int64_t archive_next(struct archive *archive, int64_t number);

/* The files of a recording, in the order of their names, which is that of time. */
struct archive_files {
	char **paths;
	size_t n;
};

/*
 * Lists the file, or those of the folder in which something is. 0 or -errno (-ENOENT also for an
 * empty folder, -ENODATA: nothing is in any).
 */
int archive_list(struct archive_files *files, const char *path);

void archive_files_free(struct archive_files *files);

#endif
