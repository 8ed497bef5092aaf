/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits what SQLite may do with a file that somebody else has made: read tables, within bounds of
 * time, memory and length, and stop when the program is told to end.
 */
#ifndef STALLTOP_HISTORY_ARCHIVE_GUARD_H
#define STALLTOP_HISTORY_ARCHIVE_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* The guard of a database; zero-initialised: the database is our own, without limits. */
struct archive_guard {
	bool views; /* views may be read: the file has a later version */
	bool spent; /* a statement exceeded its limits: nothing more is read */
	bool ending; /* a signal is to end the program */
	unsigned steps; /* those of the current statement so far */
	uint64_t began_ns; /* CPU time of this thread at the first look; 0: none yet */
};

/*
 * Asks whether the file has a table that computes something: a virtual one, or one with computed
 * columns (SQLite asks nobody about these). It must be asked before archive_guard_reads().
 */
#define ARCHIVE_GUARD_TABLES \
	"SELECT EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'table'" \
	" AND (m.sql NOT LIKE 'CREATE TABLE %' OR EXISTS(SELECT 1" \
	" FROM pragma_table_xinfo(m.name) c WHERE c.hidden <> 0)))"

/* Sets the limits of an open database, before anything is read. The guard must not move. */
void archive_guard_set(struct archive_guard *guard, sqlite3 *db);

/* Lets statements from now on read tables, and nothing else. */
void archive_guard_reads(struct archive_guard *guard, sqlite3 *db);

/* Lets statements read views, too, within narrower limits. */
void archive_guard_views(struct archive_guard *guard, sqlite3 *db);

/* Begins a statement, or begins it again: what it has taken so far counts as 0. */
void archive_guard_begin(struct archive_guard *guard);

/* The error of a result: that of store_errno(), or -EINTR if a signal is to end the program. */
int archive_guard_errno(const struct archive_guard *guard, int result, int system_error);

#endif
