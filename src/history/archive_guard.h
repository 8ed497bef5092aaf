/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What SQLite may do with a file that somebody else has made: read tables, within bounds of time,
 * memory and length, and end when the program is told to.
 */
#ifndef STALLTOP_HISTORY_ARCHIVE_GUARD_H
#define STALLTOP_HISTORY_ARCHIVE_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: of a database that is our own, which nothing bounds. */
struct archive_guard {
	bool views; /* they are read, too: the file is of a later version */
	bool spent; /* a statement took too much: nothing more is read */
	bool told; /* a signal is to end the program */
	unsigned steps; /* what the statement has taken so far */
	uint64_t began_ns; /* time of this thread when it was first looked at; 0: not yet */
};

/*
 * Whether the file has a table that is more than what was put into it: a virtual one, or one with
 * columns that are computed (for which SQLite asks nobody). To be asked before
 * archive_guard_reads().
 */
#define ARCHIVE_GUARD_TABLES \
	"SELECT EXISTS(SELECT 1 FROM sqlite_master m WHERE m.type = 'table'" \
	" AND (m.sql NOT LIKE 'CREATE TABLE %' OR EXISTS(SELECT 1" \
	" FROM pragma_table_xinfo(m.name) c WHERE c.hidden <> 0)))"

/* Sets the bounds for an open database, before anything is read. The guard must stay in place. */
void archive_guard_set(struct archive_guard *guard, sqlite3 *db);

/* From now on statements read tables, and do nothing else. */
void archive_guard_reads(struct archive_guard *guard, sqlite3 *db);

/* Lets views be read, in narrower bounds. */
void archive_guard_views(struct archive_guard *guard, sqlite3 *db);

/* Begins a statement, or has one begin again. */
void archive_guard_begin(struct archive_guard *guard);

/* store_errno() of a result, and -EINTR where a signal is to end the program. */
int archive_guard_errno(const struct archive_guard *guard, int result, int system_error);

#endif
