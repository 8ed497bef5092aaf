/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes moments into a recording: an SQLite file, or one in memory. */
#ifndef STALLTOP_HISTORY_STORE_H
#define STALLTOP_HISTORY_STORE_H

#include <stdint.h>

#include "history/moment.h"

struct store;

/* Facts about a recording as a whole. */
struct store_about {
	const char *program; /* the version of stalltop */
};

/*
 * Makes a file, which must not exist, with its tables; ":memory:" makes one in memory. 0 or -errno.
 */
int store_create(struct store **out, const char *path, const struct store_about *about);

/*
 * Writes a moment, which can be read afterwards. 0 or -errno; after an error nothing of it is
 * written.
 */
int store_put(struct store *store, const struct moment *moment);

/* Returns the bytes that the recording takes now. */
uint64_t store_bytes(const struct store *store);

/* Returns the database for reading: see archive_borrow(). */
struct sqlite3 *store_database(const struct store *store);

/* Whether the file still exists under its name. */
bool store_is_there(const struct store *store);

/*
 * Removes the journal of the file, and closes it. pack: also removes unused room, which takes a
 * moment for each MB. NULL is allowed.
 */
void store_close(struct store *store, bool pack);

/* Returns the -errno for a result of SQLite. */
int store_errno(int result, int system_error);

#endif
