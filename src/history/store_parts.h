/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of store.h: an open recording, and the functions that write rows into its tables. */
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
 * Opens an existing file for reading and writing, unless it is a link. Returns the result of
 * SQLite. As with sqlite3_open_v2(), *db mostly must be closed also after an error.
 */
int store_open_file(sqlite3 **db, const char *path);

struct store {
	sqlite3 *db;
	char *path;
	ino_t inode; /* 0: it is in memory */
	dev_t device;
	sqlite3_stmt *puts[TABLES];
	int64_t sample; /* the number of the last sample */
	int result; /* of the first failed call of SQLite since it was cleared */
	/*
	 * Of packed tables: rows that wait to be packed together, and packed rows of the sample so
	 * far.
	 */
	unsigned filled[TABLES], packed_rows[TABLES];
};

/* store_row.c */

/*
 * Writes a table's row from its struct. Rows of a packed table wait until they fill a packed row,
 * or the sample ends.
 */
void store_put_row(struct store *store, enum table_id id, const void *row);

/* Begins a sample: forgets waiting rows of one that failed. */
void store_begin_packed(struct store *store);

/* Writes the rows that still wait to be packed. */
void store_end_packed(struct store *store);

/* store_moment.c */

/* Writes all that a moment has. */
void store_put_moment(struct store *store, const struct moment *moment);

#endif
