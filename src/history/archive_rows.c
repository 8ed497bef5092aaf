/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows, by the schema of their table. */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "history/archive.h"
#include "history/rows.h"

/* The structs of tables with several rows a sample are no larger than this. */
#define ROW_MAX 2048

/* Appends a query's text; nothing if the file's version does not have the table yet. */
static void append_query(const struct archive *archive, unsigned query, struct buf *text)
{
	switch (query) {
	case QUERY_WAITS:
		schema_select_waits(archive->version, text);
		break;
	case QUERY_TIME:
		buf_puts(text, "SELECT time_ns FROM sample WHERE id = ?");
		break;
	case QUERY_NEXT:
		buf_puts(text, "SELECT id FROM sample WHERE id > ? ORDER BY id LIMIT 1");
		break;
	case QUERY_WITHIN:
		buf_puts(text, "SELECT id FROM sample WHERE id > ?1 AND time_ns BETWEEN ?2 AND ?3"
			       " ORDER BY id LIMIT 1");
		break;
	case QUERY_BEGIN:
		buf_puts(text, "BEGIN");
		break;
	case QUERY_END:
		buf_puts(text, "COMMIT");
		break;
	default:
		if (archive->version >= schema_tables[query].since)
			schema_select((enum table_id)query, archive->version, text);
	}
}

int archive_prepare(struct archive *archive)
{
	struct buf text = { 0 };
	int result = SQLITE_OK;

	for (unsigned query = 0; query < ARCHIVE_QUERIES && !result; query++) {
		text.len = 0;
		append_query(archive, query, &text);
		archive_guard_begin(&archive->guard);
		if (text.len)
			result = sqlite3_prepare_v3(archive->db, buf_cstr(&text), -1,
						    SQLITE_PREPARE_PERSISTENT,
						    &archive->queries[query], NULL);
	}
	buf_free(&text);
	if (!result)
		return 0;
	return archive_guard_errno(&archive->guard, result, 0) == -EINTR ? -EINTR : -EBADMSG;
}

sqlite3_stmt *archive_ask(struct archive *archive, unsigned query, int64_t number)
{
	sqlite3_stmt *rows = archive->queries[query];

	if (!rows)
		return NULL;
	archive_guard_begin(&archive->guard);
	sqlite3_reset(rows);
	sqlite3_bind_int64(rows, 1, number);
	return rows;
}

int archive_row(struct archive *archive, sqlite3_stmt *rows)
{
	int result;

	if (!rows)
		return 0;
	result = sqlite3_step(rows);
	if (result == SQLITE_ROW)
		return 1;
	sqlite3_reset(rows);
	if (result == SQLITE_DONE)
		return 0;
	return archive_guard_errno(&archive->guard, result, sqlite3_system_errno(archive->db));
}

int64_t archive_int(sqlite3_stmt *row, int column, int64_t least, int64_t most, int64_t none,
		    bool *bad)
{
	int64_t value;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_NULL:
		return none;
	case SQLITE_INTEGER:
		value = sqlite3_column_int64(row, column);
		if (value >= least && value <= most)
			return value;
		break;
	}
	*bad = true;
	return least;
}

/* The number that a NULL column is read as. */
static int64_t none_of(const struct schema_field *field, const char *row)
{
	switch (field->unknown) {
	case UNKNOWN_NEGATIVE:
		return -1;
	case UNKNOWN_AS:
		return *(const int64_t *)(const void *)(row + field->other);
	case UNKNOWN_NAMED:
		return UINT32_MAX;
	default:
		return 0;
	}
}

/* Reads a number into a member. */
static void read_integer(const struct schema_field *field, sqlite3_stmt *from, int column,
			 char *row, bool *bad)
{
	static const int64_t ranges[][2] = {
		[TYPE_I32] = { 0, INT32_MAX },
		[TYPE_U32] = { 0, UINT32_MAX },
		[TYPE_I64] = { INT64_MIN, INT64_MAX },
		[TYPE_U64] = { 0, INT64_MAX },
		[TYPE_BOOL] = { 0, 1 },
	};
	bool given = field->least || field->most;
	int64_t least = given ? field->least : ranges[field->type][0];
	int64_t most = given ? field->most : ranges[field->type][1];
	int64_t value = archive_int(from, column, least, most, none_of(field, row), bad);
	void *at = row + field->at;

	switch (field->type) {
	case TYPE_I32:
		*(int32_t *)at = (int32_t)value;
		break;
	case TYPE_U32:
		*(uint32_t *)at = (uint32_t)value;
		break;
	case TYPE_BOOL:
		*(bool *)at = value;
		break;
	default:
		*(int64_t *)at = value;
	}
}

/* Reads the histogram of wait lengths: numbers in brackets. */
static void read_lengths(const char *text, uint64_t lengths[SITE_BUCKETS])
{
	const char *end = text ? text + strlen(text) : NULL;

	for (unsigned i = 0; text && i < SITE_BUCKETS && (*text == '[' || *text == ','); i++) {
		text++;
		if (!parse_uint(&text, end, &lengths[i]))
			return;
	}
}

/* Reads a column into its member of a zeroed row. */
static void read_column(struct archive *archive, const struct schema_field *field,
			sqlite3_stmt *from, int column, char *row)
{
	bool known = sqlite3_column_type(from, column) != SQLITE_NULL;
	void *at = row + field->at;
	const char *text;

	if (field->unknown == UNKNOWN_UNLESS && archive->version >= field->since)
		*(bool *)(void *)(row + field->other) = known;
	switch (field->type) {
	case TYPE_REAL:
		*(double *)at =
			known ? sqlite3_column_double(from, column) : (double)none_of(field, row);
		break;
	case TYPE_HUNDREDTHS:
		*(double *)at = sqlite3_column_double(from, column) / 100.0;
		break;
	case TYPE_LETTER:
		text = known ? (const char *)sqlite3_column_text(from, column) : NULL;
		*(char *)at = text ? *text : '\0';
		break;
	case TYPE_WORD:
		*(const char **)at = (const char *)sqlite3_column_text(from, column);
		break;
	case TYPE_BYTES:
	case TYPE_BLOB:
		((struct row_bytes *)at)->data = sqlite3_column_blob(from, column);
		((struct row_bytes *)at)->len = (size_t)sqlite3_column_bytes(from, column);
		break;
	case TYPE_LENGTHS:
		read_lengths(known ? (const char *)sqlite3_column_text(from, column) : NULL, at);
		break;
	default:
		read_integer(field, from, column, row, &archive->bad);
	}
}

/* Reads all columns of a row into its struct. */
static void read_columns(struct archive *archive, const struct schema_table *table,
			 sqlite3_stmt *from, void *row)
{
	int column = 0;

	memset(row, 0, table->size);
	for (unsigned i = 0; i < table->n; i++)
		if (!table->fields[i].unread)
			read_column(archive, &table->fields[i], from, column++, row);
}

int archive_each(struct archive *archive, unsigned query, int64_t sample, archive_row_fn *take,
		 void *arg)
{
	unsigned id = query == QUERY_WAITS ? TABLE_OTHER_WAIT : query;
	_Alignas(max_align_t) char row[ROW_MAX];
	sqlite3_stmt *rows = archive_ask(archive, query, sample);
	int got;

	/* Rows of these tables always fit; see ROW_MAX. */
	archive->bad = schema_tables[id].size > sizeof(row);
	while ((got = archive_row(archive, rows)) == 1 && !archive->bad) {
		read_columns(archive, &schema_tables[id], rows, row);
		take(arg, row);
	}
	sqlite3_reset(rows);
	return archive->bad ? -EBADMSG : got < 0 ? got : 0;
}

int archive_each_of(struct archive *archive, const struct archive_reader *readers, size_t n,
		    int64_t sample, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = archive_each(archive, readers[i].table, sample, readers[i].take, arg);
	return err;
}

int archive_get(struct archive *archive, enum table_id table, int64_t number, void *row)
{
	sqlite3_stmt *from = archive_ask(archive, table, number);
	int got = archive_row(archive, from);

	if (got == 1)
		read_columns(archive, &schema_tables[table], from, row);
	return got;
}

void archive_done(struct archive *archive, enum table_id table)
{
	sqlite3_reset(archive->queries[table]);
}
