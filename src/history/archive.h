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

/* The queries that a sample takes. */
enum archive_query {
	QUERY_SAMPLE,
	QUERY_TASK,
	QUERY_TEXT,
	QUERY_ENDED,
	QUERY_GONE,
	QUERY_STANDING,
	QUERY_TOTAL,
	QUERY_ACTIVITY,
	QUERY_WAIT, /* all of it, by task */
	QUERY_OTHER_WAIT, /* but what stands beside QUERY_ACTIVITY */
	QUERY_WAITING,
	QUERY_CHILDREN,
	QUERY_IMPOSSIBLE,
	QUERY_FIELD,
	QUERY_PRESSURE,
	QUERY_FILE_ERROR,
	QUERY_GAP,
	QUERY_NOTE,
	QUERY_ACCOUNT,
	QUERY_CLOCK,
	QUERY_CGROUP,
	QUERY_CGROUP_PRESSURE,
	QUERY_TIME,
	QUERY_NEXT,
	QUERY_BEGIN,
	QUERY_END,
	/* Since version 2: */
	QUERY_PROCESS,
	QUERY_SITE,
	QUERY_TRACE,
	QUERY_STATES,
	QUERY_STOOD_FOR,
	QUERY_SITE_WAIT,
	QUERY_SITE_WAKER,
	QUERY_UNEXPLAINED,
	/* Since version 6: */
	QUERY_EVIDENCE,
	ARCHIVE_QUERIES
};

/* An open file of a recording. */
struct archive {
	sqlite3 *db;
	bool borrowed; /* the database is somebody else's */
	sqlite3_stmt *queries[ARCHIVE_QUERIES];
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

/*
 * Starts a query for a number: of a sample, of tasks, texts, processes and sites their own. NULL,
 * which has no rows, where the file is of a version without that.
 */
sqlite3_stmt *archive_ask(struct archive *archive, enum archive_query query, int64_t number);

/* Takes the next row. 1, 0 at the end, or -errno (-EINTR: a signal is to end the program). */
int archive_row(struct archive *archive, sqlite3_stmt *rows);

/*
 * Columns of a row. A value that is not what it must be makes the row bad: *bad is set, and the
 * least value is returned. NULL is `none`.
 */
int64_t archive_int(sqlite3_stmt *row, int column, int64_t least, int64_t most, int64_t none,
		    bool *bad);

/* Any number from 0 on; NULL is `none`. */
static inline uint64_t archive_uint(sqlite3_stmt *row, int column, uint64_t none, bool *bad)
{
	return (uint64_t)archive_int(row, column, 0, INT64_MAX, (int64_t)none, bad);
}

/* Whether the value is NULL. */
static inline bool archive_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL;
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
