/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording: each column with its member of a struct. All that makes a table,
 * writes a row of it or reads one goes by this, and so does the manual, doc/stalltop-recording.5.
 * Keys are small numbers, and 0 or NULL takes one byte: an active task costs about 20 bytes. Most
 * tasks that ran waited for a CPU only, and all of that was booked within the interval: such waits
 * are columns of `activity`, which takes a third of the room of a row of their own.
 *
 * Some tables have a row for each task in each sample. SQLite spends on a row (its length, key and
 * place in the page) as much as the row itself takes. So several rows of a sample are side by side
 * in one row of a packed table, and a view shows them one by one.
 */
#ifndef STALLTOP_HISTORY_SCHEMA_H
#define STALLTOP_HISTORY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * The version of the tables. A reader of a version reads all files of it and of earlier versions.
 * It reads a file of a later version if the file says that it may (reads_from): such a file has
 * more, but what the reader knows is there and means the same, for tasks in views with the former
 * names.
 */
#define SCHEMA_VERSION 8
#define SCHEMA_READS_FROM 4

/* "STAL", in the head of the file (pragma application_id). */
#define SCHEMA_APPLICATION_ID 0x5354414c

/* The number of rows that are packed into one. */
#define PACKED_ROWS 8

/* The bits of a packed row's key that number the rows of a sample; above them is the sample. */
#define PACKED_KEY_BITS 24

/* The tables, in the order in which they are made. */
enum table_id {
	TABLE_RECORDING,
	TABLE_TEXT,
	TABLE_KIND,
	TABLE_RESOURCE,
	TABLE_FIELD_NAME,
	TABLE_TASK,
	TABLE_SAMPLE,
	TABLE_FILE_ERROR,
	TABLE_GAP,
	TABLE_NOTE,
	TABLE_ACCOUNT,
	TABLE_CLOCK,
	TABLE_PRESSURE,
	TABLE_ACTIVITY,
	TABLE_OTHER_WAIT,
	TABLE_STANDING,
	TABLE_TOTAL,
	TABLE_CHILDREN,
	TABLE_WAITING,
	TABLE_ENDED,
	TABLE_GONE,
	TABLE_IMPOSSIBLE,
	TABLE_FIELD,
	TABLE_CGROUP,
	TABLE_CGROUP_PRESSURE,
	TABLE_WAIT_STATE,
	TABLE_PROCESS,
	TABLE_SITE,
	TABLE_TRACE,
	TABLE_STATES,
	TABLE_STOOD_FOR,
	TABLE_SITE_WAIT,
	TABLE_SITE_WAKER,
	TABLE_UNEXPLAINED,
	TABLE_WAIT_CLASS,
	TABLE_EVIDENCE,
	TABLE_IO_BOUND,
	TABLES
};

/* The type of a member, and of its column. */
enum field_type {
	TYPE_I32, /* 0 to INT32_MAX, unless `least` and `most` say otherwise */
	TYPE_U32,
	TYPE_I64,
	TYPE_U64, /* 0 to INT64_MAX */
	TYPE_BOOL,
	TYPE_REAL,
	TYPE_HUNDREDTHS, /* a real number in hundredths, an integer if that is exact */
	TYPE_LETTER, /* a char; '\0': NULL */
	TYPE_WORD, /* a constant text; when read, it is valid until the next row */
	TYPE_VALUE, /* the value of struct about_row */
	TYPE_BYTES, /* struct row_bytes: a text if it is UTF-8, else a blob */
	TYPE_BLOB, /* struct row_bytes */
	TYPE_LENGTHS /* uint64_t[SITE_BUCKETS] as text: numbers in brackets; NULL: all are 0 */
};

/* When a column is NULL, and the value of the member when NULL is read. */
enum field_unknown {
	UNKNOWN_NEVER, /* never NULL; NULL is read as 0 */
	UNKNOWN_ZERO,
	UNKNOWN_NEGATIVE, /* if it is negative; read as -1 */
	UNKNOWN_UNLESS, /* if the bool `other` is not set; reading sets or clears that */
	UNKNOWN_UNLESS_BITS, /* if none of `bits` is set in the 32 bits of `other` */
	UNKNOWN_AS, /* if it equals the 64 bits of `other`; read as these */
	UNKNOWN_NAMED /* never NULL; read as UINT32_MAX: a later version may have more values */
};

struct schema_field {
	const char *name, *text; /* text: its description in the manual */
	uint16_t at, other; /* offsets of the members */
	uint8_t type, unknown;
	uint8_t since; /* the first version that has it */
	bool unread; /* not read: it is only for queries, or known before */
	uint32_t bits;
	int64_t least, most; /* its range; both 0: that of the type */
};

struct schema_table {
	const char *name; /* of a packed table: the view's; its own has "packed_" before */
	const char *text; /* its description in the manual */
	const char *order; /* the columns by which rows are ordered; NULL: any order */
	const struct schema_field *fields; /* without the first column, the sample */
	uint16_t n;
	uint16_t size; /* bytes of the struct */
	uint8_t key; /* how many fields are its key, after the sample */
	bool of_sample, packed;
	uint8_t since; /* the first version that has it */
};

extern const struct schema_table schema_tables[TABLES];

/* The number of a field: what it is of, and the record's field or the kind. */
#define SCHEMA_FIELD_OF(of, number) ((unsigned)(of)*64 + (unsigned)(number))

/* Appends the SQL that makes all tables and views. */
void schema_create(struct buf *sql);

/*
 * Appends the SQL that writes a row of a table; of a packed table, as many as are packed into one.
 */
void schema_insert(enum table_id id, struct buf *sql);

/*
 * Appends the query for the rows of a table: those of the sample ?1, or the row with the number ?1.
 * It has the fields that are read, as a file of a version has them.
 */
void schema_select(enum table_id id, int64_t version, struct buf *sql);

/*
 * Appends the query for all waits in the sample ?1, as rows of TABLE_OTHER_WAIT, ordered by task.
 */
void schema_select_waits(int64_t version, struct buf *sql);

#endif
