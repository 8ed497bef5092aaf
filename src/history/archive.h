/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording: a file or a folder of segments. Files may come from anywhere and hold
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

/* What can be asked of a recording: the rows of a table (enum table_id), or one of these. */
enum archive_query {
	QUERY_WAITS = TABLES, /* all waits in a sample as rows of TABLE_OTHER_WAIT, by task */
	QUERY_TIME,
	QUERY_NEXT,
	QUERY_WITHIN, /* the first sample after a number whose time lies between two times */
	QUERY_BEGIN,
	QUERY_END,
	ARCHIVE_QUERIES
};

/* One open file of a recording. */
struct archive {
	sqlite3 *db;
	bool borrowed; /* the database belongs to somebody else and stays open */
	sqlite3_stmt *queries[ARCHIVE_QUERIES];
	bool bad; /* a row had an impossible value, or named something that is missing */
	bool threads; /* its rows are threads */
	int64_t version; /* the version of its tables */
	struct archive_guard guard; /* what SQLite may do with it */
	int64_t first, last; /* numbers of its samples; last < first: it has none */
	struct image *image; /* the bytes of a packed file; NULL: it is not packed */
};

/*
 * Opens a file. 0 or -errno (-EBADMSG: no recording, or a damaged one; -EPROTO: its version is too
 * new; -ENOPKG: it is packed, and zstd is not built in; -EINTR: a signal is to end the program). If
 * a segment was packed in the meantime, its packed file is opened.
 */
int archive_open(struct archive *archive, const char *path);

/* Opens the database that a store has in memory; the store must stay open. 0 or -errno. */
int archive_borrow(struct archive *archive, sqlite3 *db);

/* Prepares the queries for the tables that the file's version has. 0 or -errno. */
int archive_prepare(struct archive *archive);

/* Closes the file. */
void archive_close(struct archive *archive);

/* Handles a row that was read; `row` is the struct of its table. */
typedef void archive_row_fn(void *arg, const void *row);

/*
 * Reads a sample's rows of a table, or of QUERY_WAITS, and stops at the first bad one. If the
 * file's version does not have the table yet, there are no rows. 0 or -errno (-EINTR: a signal is
 * to end the program).
 */
int archive_each(struct archive *archive, unsigned query, int64_t sample, archive_row_fn *take,
		 void *arg);

/* A table to read for a sample, and the function that handles its rows. */
struct archive_reader {
	enum table_id table;
	archive_row_fn *take;
};

/* Reads the rows of several tables, one after the other. 0 or -errno. */
int archive_each_of(struct archive *archive, const struct archive_reader *readers, size_t n,
		    int64_t sample, void *arg);

/*
 * Reads the row with a number: a sample's number, or for tasks, texts, processes and sites their
 * own. Returns 1, 0 if there is no such row, or -errno. Bytes of the row stay valid until
 * archive_done().
 */
int archive_get(struct archive *archive, enum table_id table, int64_t number, void *row);

void archive_done(struct archive *archive, enum table_id table);

/* Starts a query for a number. NULL, which counts as no rows, if the file has no such table. */
sqlite3_stmt *archive_ask(struct archive *archive, unsigned query, int64_t number);

/*
 * Steps to the next row of a statement. 1, 0 at the end, or -errno (-EINTR: a signal is to end the
 * program).
 */
int archive_row(struct archive *archive, sqlite3_stmt *rows);

/*
 * Reads a column of a row. A value of the wrong type or out of range makes the row bad: *bad is
 * set, and `least` is returned. NULL reads as `none`.
 */
int64_t archive_int(sqlite3_stmt *row, int column, int64_t least, int64_t most, int64_t none,
		    bool *bad);

/* Reads a column with a number from 0 on; NULL reads as `none`. */
static inline uint64_t archive_uint(sqlite3_stmt *row, int column, uint64_t none, bool *bad)
{
	return (uint64_t)archive_int(row, column, 0, INT64_MAX, (int64_t)none, bad);
}

/*
 * Makes all queries until archive_end() read the same state of the file, and locks the file only
 * once. The caller must end it soon: the file may be written in the meantime. Returns whether this
 * call began it; only then the caller is to end it.
 */
bool archive_begin(struct archive *archive);
void archive_end(struct archive *archive);

/*
 * Finds the first sample after a number that was taken between two times (CLOCK_REALTIME), as it
 * was recorded: times do not grow where the clock was set back. 0: there is none; or -errno.
 */
int64_t archive_find(struct archive *archive, int64_t after, uint64_t from_ns, uint64_t to_ns);

/* Finds the last sample that was taken before a time, as it was recorded. 0: there is none. */
int64_t archive_before(struct archive *archive, uint64_t time_ns);

/* The latest time (CLOCK_REALTIME, in ns) of all samples; 0: there is none. */
uint64_t archive_latest(struct archive *archive);

/* Finds the last sample up to a number that needs no earlier one; 0: there is none. */
int64_t archive_whole(struct archive *archive, int64_t number);

/* Reads when a sample was taken (CLOCK_REALTIME, in ns); 0: there is no such sample. */
uint64_t archive_time(struct archive *archive, int64_t number);

/* Finds the number of the next sample after a number; 0: there is none; or -errno. */
int64_t archive_next(struct archive *archive, int64_t number);

/* The files of a recording by name, which is also their order in time. */
struct archive_files {
	char **paths;
	size_t n;
};

/*
 * Lists the file, or the files of the folder that are not empty. 0 or -errno (-ENOENT also for an
 * empty folder, -ENODATA: all its files are empty).
 */
int archive_list(struct archive_files *files, const char *path);

void archive_files_free(struct archive_files *files);

#endif
