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
#include "history/packed.h"

/*
 * The statements that write: one row a table, in the order of its columns, of which a packed table
 * has several times as many behind its key.
 */
#define PUT_TABLE(X) \
	X(TEXT, "text", 2, 1) \
	X(TASK, "task", 14, 1) \
	X(SAMPLE, "sample", 40, 1) \
	X(FILE_ERROR, "file_error", 3, 1) \
	X(GAP, "gap", 2, 1) \
	X(NOTE, "note", 5, 1) \
	X(ACCOUNT, "account", 10, 1) \
	X(CLOCK, "clock", 5, 1) \
	X(PRESSURE, "pressure", 7, 1) \
	X(ACTIVITY, "packed_activity", 9, PACKED_ROWS) \
	X(OTHER_WAIT, "packed_other_wait", 5, PACKED_ROWS) \
	X(WAITING, "waiting", 6, 1) \
	X(STANDING, "packed_standing", 10, PACKED_ROWS) \
	X(TOTAL, "packed_total", 4, PACKED_ROWS) \
	X(ENDED, "ended", 11, 1) \
	X(GONE, "gone", 2, 1) \
	X(CHILDREN, "packed_children", 3, PACKED_ROWS) \
	X(IMPOSSIBLE, "impossible", 5, 1) \
	X(FIELD, "field", 4, 1) \
	X(CGROUP, "cgroup", 17, 1) \
	X(CGROUP_PRESSURE, "cgroup_pressure", 9, 1) \
	X(WAIT_STATE, "wait_state", 2, 1) \
	X(PROCESS, "process", 3, 1) \
	X(WAIT_CLASS, "wait_class", 2, 1) \
	X(EVIDENCE, "evidence", 20, 1) \
	X(SITE, "site", 12, 1) \
	X(TRACE, "trace", 5, 1) \
	X(STATES, "states", 5 + WAIT_STATES, 1) \
	X(STOOD_FOR, "stood_for", 4, 1) \
	X(SITE_WAIT, "site_wait", 10, 1) \
	X(SITE_WAKER, "site_waker", 7, 1) \
	X(UNEXPLAINED, "unexplained", 5, 1) \
	X(ABOUT, "recording", 2, 1) \
	X(KIND, "kind", 2, 1) \
	X(RESOURCE, "resource", 2, 1) \
	X(FIELD_NAME, "field_name", 2, 1)

#define PUT_ENUM(NAME, table, columns, rows) PUT_##NAME,
enum put { PUT_TABLE(PUT_ENUM) PUTS };
#undef PUT_ENUM

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
	sqlite3_stmt *puts[PUTS];
	int64_t sample; /* the number of the last */
	int result; /* of the first call of SQLite that failed since it was cleared */
	/* The row that is being filled. */
	sqlite3_stmt *row;
	enum put put;
	int column, step; /* the next column, and how far the one behind it is */
	/* Of packed tables: rows that wait for more to stand beside them, and those of the sample.
	 */
	unsigned filled[PUTS], packed_rows[PUTS];
};

/* store_row.c: a row is begun, its columns are filled from the first on, and it is ended */

void store_begin(struct store *store, enum put put);

/* Begins a row of a task in the present sample. */
void store_begin_task(struct store *store, enum put put, uint32_t task);

/* Puts an integer into the next column. */
void store_int(struct store *store, int64_t value);

/* Leaves the next column NULL. */
void store_null(struct store *store);

/* Puts an integer, or NULL where it is not known. */
void store_known(struct store *store, bool known, uint64_t value);

/* Puts an id of a text, NULL for none. */
void store_id(struct store *store, uint32_t id);

/* Puts a real number. */
void store_real(struct store *store, bool known, double value);

/* Puts a real number in hundredths, as an integer where that says it exactly. */
void store_hundredths(struct store *store, bool known, double value);

/* Puts a word of the program's, which stays. */
void store_word(struct store *store, const char *word);

/* Puts a letter, NULL for none. */
void store_letter(struct store *store, char letter);

/* Puts bytes, which stay until the row is ended, as a text or as a blob. */
void store_chars(struct store *store, const char *bytes, size_t len, bool blob);

/* Writes the row; that of a packed table when there are enough of them, or no more. */
void store_end(struct store *store);

/* Begins a sample: nothing is packed that was left of one that failed. */
void store_begin_packed(struct store *store);

/* Writes what is left to be packed. */
void store_end_packed(struct store *store);

/* store_tasks.c: tasks, their texts, and what happened to them */

void store_put_texts(struct store *store, const struct moment *moment);
void store_put_tasks(struct store *store, const struct moment *moment);
void store_put_changes(struct store *store, const struct moment *moment);

/* store_frame.c: what belongs to the sample as a whole */

/* Writes the sample's own row. */
void store_put_head(struct store *store, const struct moment *moment);
void store_put_file_errors(struct store *store, const struct moment *moment);
void store_put_pressures(struct store *store, const struct moment *moment);
void store_put_notes(struct store *store, const struct moment *moment);
void store_put_account(struct store *store, const struct account *account);
void store_put_clocks(struct store *store, const struct moment *moment);
void store_put_groups(struct store *store, const struct moment *moment);

/* store_trace.c: what was traced */

void store_put_trace(struct store *store, const struct moment *moment);

/* Writes what explains tasks. */
void store_put_evidence(struct store *store, const struct moment *moment);

#endif
