/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of store.h: an open recording, the rows that are put into its tables, and by whom. */
#ifndef STALLTOP_HISTORY_STORE_PARTS_H
#define STALLTOP_HISTORY_STORE_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "history/moment.h"
#include "history/schema.h"

/*
 * Opens a file that exists for reading and writing; a link is none. The result of SQLite. As with
 * sqlite3_open_v2() there is mostly something to close, also where that is an error.
 */
int store_open_file(sqlite3 **db, const char *path);

struct store {
	sqlite3 *db;
	char *path;
	ino_t inode; /* 0: in memory */
	dev_t device;
	sqlite3_stmt *puts[TABLES];
	int64_t sample; /* the number of the last */
	int result; /* of the first call of SQLite that failed since it was cleared */
	/* Of packed tables: rows that wait for more to stand beside them, and those of the sample.
	 */
	unsigned filled[TABLES], packed_rows[TABLES];
};

/* store_row.c */

/* Writes a row of the table's struct; that of a packed table when there are enough, or no more. */
void store_put_row(struct store *store, enum table_id id, const void *row);

/* Begins a sample: nothing is written that was left of one that failed. */
void store_begin_packed(struct store *store);

/* Writes what is left to be packed. */
void store_end_packed(struct store *store);

/* store_moment.c */

/* Writes all that a moment has. */
void store_put_moment(struct store *store, const struct moment *moment);

#endif
