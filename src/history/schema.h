/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording, as doc/stalltop-recording.5 tells them to those who query: each column
 * with the member of a struct that it has. What makes a table, writes a row of it and reads one
 * goes by that. Keys are small numbers, and what is 0 or NULL takes one byte: an active task costs
 * about 20 bytes. Waits for a CPU are most often all that a task that ran has, and all booked
 * within the interval: they stand beside what it did, in a third of the room that a row of their
 * own takes.
 *
 * Some tables have a row for each task in each sample. What SQLite spends on a row, its length, key
 * and place in the page, is as much as what such a row tells: so several of a sample stand in one
 * row of a packed table, beside each other, and a view has them one by one.
 */
#ifndef STALLTOP_HISTORY_SCHEMA_H
#define STALLTOP_HISTORY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * The version of the tables. A reader of a version reads all files of it and of earlier ones; and
 * of later ones those that say that a reader of its version may (reads_from): they have more, but
 * what it knows is there and means the same, of tasks in the views of those names.
 */
#define SCHEMA_VERSION 7
#define SCHEMA_READS_FROM 4

/* "STAL", in the head of the file (pragma application_id). */
#define SCHEMA_APPLICATION_ID 0x5354414c

/* So many rows stand in one of a packed table. */
#define PACKED_ROWS 8

/* The key of such a row: the sample, and which of its rows it is in the lowest bits. */
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

/* What a member is, and what it is as a column. */
enum field_type {
	TYPE_I32, /* 0 to INT32_MAX, where nothing else is said */
	TYPE_U32,
	TYPE_I64,
	TYPE_U64, /* 0 to INT64_MAX */
	TYPE_BOOL,
	TYPE_REAL,
	TYPE_HUNDREDTHS, /* a real number, as an integer where that says it exactly */
	TYPE_LETTER, /* '\0': NULL */
	TYPE_WORD, /* a name of the program's; where it is read it stays until the next row */
	TYPE_VALUE, /* of struct about_row */
	TYPE_BYTES, /* struct row_bytes: a text where they are UTF-8, else a blob */
	TYPE_BLOB, /* struct row_bytes */
	TYPE_LENGTHS /* uint64_t[SITE_BUCKETS], as text: numbers in brackets; NULL: all are 0 */
};

/* When a column is NULL, and what the member is where it is read as that. */
enum field_unknown {
	UNKNOWN_NEVER, /* 0 */
	UNKNOWN_ZERO,
	UNKNOWN_NEGATIVE, /* -1 */
	UNKNOWN_UNLESS, /* where the bool `other` is not set, which reading it sets or clears */
	UNKNOWN_UNLESS_BITS, /* where none of `bits` is set in the 32 bits of `other` */
	UNKNOWN_AS, /* where it is the same as the 64 bits of `other` */
	UNKNOWN_NAMED /* never: a number of which a later version may have more; UINT32_MAX */
};

struct schema_field {
	const char *name, *text; /* text: what it is, for the manual */
	uint16_t at, other; /* offsets of members */
	uint8_t type, unknown;
	uint8_t since; /* the version from which on it is there */
	bool unread; /* it is for who queries, or known beforehand */
	uint32_t bits;
	int64_t least, most; /* both 0: what the type has */
};

struct schema_table {
	const char *name; /* of a packed table: its view's, behind "packed_" its own */
	const char *text; /* what it has, for the manual */
	const char *order; /* by which rows are read; NULL: any */
	const struct schema_field *fields; /* the first column, the sample, is none of those */
	uint16_t n;
	uint16_t size; /* of the struct */
	uint8_t key; /* so many fields are its key, behind the sample */
	bool of_sample, packed;
	uint8_t since; /* the version from which on it is there */
};

extern const struct schema_table schema_tables[TABLES];

/* Numbers of fields: those of the record, then the longest, shortest ... of each kind. */
#define SCHEMA_FIELD_OF(of, number) ((unsigned)(of)*64 + (unsigned)(number))

/* Appends what makes all tables and views. */
void schema_create(struct buf *sql);

/* Appends what writes a row of a table; of a packed one, as many as stand in one. */
void schema_insert(enum table_id id, struct buf *sql);

/*
 * Appends the query for the rows of the table: those of a sample, ?1, or the one of that number. It
 * has the fields that are read, as a file of that version has them.
 */
void schema_select(enum table_id id, int64_t version, struct buf *sql);

/* Appends the query for all waits in a sample, ?1, as rows of TABLE_OTHER_WAIT, by task. */
void schema_select_waits(int64_t version, struct buf *sql);

#endif
