/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes moments into a recording: an SQLite file, or one in memory. */
#ifndef STALLTOP_HISTORY_STORE_H
#define STALLTOP_HISTORY_STORE_H

#include <stdint.h>

#include "history/moment.h"

struct store;

/* What is told of a recording as a whole. */
struct store_about {
	const char *program; /* the version of stalltop */
};

/*
 * Makes the file, which must not exist, with its tables; ":memory:" for one in memory. 0 or -errno.
 */
int store_create(struct store **out, const char *path, const struct store_about *about);

/* Writes a moment, which is readable afterwards. 0 or -errno; then nothing of it is written. */
int store_put(struct store *store, const struct moment *moment);

/* The bytes that the recording takes by now. */
uint64_t store_bytes(const struct store *store);

/* The database, to be read: see archive_borrow(). */
struct sqlite3 *store_database(const struct store *store);

/* Whether the file is still there under its name. */
bool store_is_there(const struct store *store);

/*
 * Makes the file one without a journal, and closes it. pack: also without unused room, which takes
 * a moment for each MB. NULL is allowed.
 */
void store_close(struct store *store, bool pack);

/* The -errno for a result of SQLite. */
int store_errno(int result, int system_error);

#endif
