/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes rows, by the schema of their table. */
#include "config.h"

#include <math.h>

#include "base/buf.h"
#include "data/wait_state.h"
#include "history/rows.h"
#include "history/store_parts.h"

/* Prepares the statement that writes a table's rows. */
static void prepare_put(struct store *store, enum table_id id)
{
	struct buf text = { 0 };

	schema_insert(id, &text);
	store->result = sqlite3_prepare_v3(store->db, buf_cstr(&text), -1,
					   SQLITE_PREPARE_PERSISTENT, &store->puts[id], NULL);
	buf_free(&text);
}

/* Whether bytes are valid UTF-8 without a NUL: any program can read them as a text. */
static bool is_utf8(const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + len;

	while (at < end) {
		unsigned more = *at < 0x80 ? 0 : *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
		uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
		uint32_t code = more == 3 ? *at & 7 : more == 2 ? *at & 15 : *at & 31;

		if (!*at || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || end - at <= more)
			return false;
		at++;
		for (unsigned i = 0; i < more; i++, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*at & 63);
		}
		if (more && (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
			return false;
	}
	return true;
}

/* Returns the value of a member that is a whole number. */
static int64_t whole_number(const struct schema_field *field, const char *at)
{
	switch (field->type) {
	case TYPE_I32:
		return *(const int32_t *)(const void *)at;
	case TYPE_U32:
		return *(const uint32_t *)(const void *)at;
	case TYPE_BOOL:
		return *(const bool *)at;
	default:
		return *(const int64_t *)(const void *)at;
	}
}

/* Whether a number is written as it is, not as NULL. */
static bool is_written(const struct schema_field *field, const char *row, double value,
		       int64_t number)
{
	const char *other = row + field->other;

	switch (field->unknown) {
	case UNKNOWN_ZERO:
		return value != 0;
	case UNKNOWN_NEGATIVE:
		return value >= 0;
	case UNKNOWN_UNLESS:
		return *(const bool *)other;
	case UNKNOWN_UNLESS_BITS:
		return *(const uint32_t *)(const void *)other & field->bits;
	case UNKNOWN_AS:
		return number != *(const int64_t *)(const void *)other;
	default:
		return true;
	}
}

/* Binds a real number; hundredths: in hundredths, as an integer if that is exact. */
static int bind_real(sqlite3_stmt *put, int column, double value, bool hundredths)
{
	double rounded = rint(value * 100);

	if (!hundredths)
		return sqlite3_bind_double(put, column, value);
	if (fabs(rounded) < 1e15 && rounded / 100.0 == value)
		return sqlite3_bind_int64(put, column, (int64_t)rounded);
	return sqlite3_bind_double(put, column, value * 100);
}

/* Binds the histogram of wait lengths up to its last bucket that is not 0; NULL: all are 0. */
static int bind_lengths(sqlite3_stmt *put, int column, const uint64_t *lengths)
{
	unsigned n = SITE_BUCKETS;
	struct buf text = { 0 };
	int result;

	while (n && !lengths[n - 1])
		n--;
	if (!n)
		return SQLITE_OK;
	for (unsigned i = 0; i < n; i++) {
		buf_putc(&text, i ? ',' : '[');
		buf_uint(&text, lengths[i]);
	}
	buf_putc(&text, ']');
	result = sqlite3_bind_text64(put, column, text.data, text.len, SQLITE_TRANSIENT,
				     SQLITE_UTF8);
	buf_free(&text);
	return result;
}

/* Binds a member that is not a number. */
static int bind_text(const struct schema_field *field, sqlite3_stmt *put, int column,
		     const char *at)
{
	const struct about_row *about = (const void *)(at - offsetof(struct about_row, word));
	const struct row_bytes *bytes = (const void *)at;

	switch (field->type) {
	case TYPE_LETTER:
		return *at ? sqlite3_bind_text(put, column, at, 1, SQLITE_TRANSIENT) : SQLITE_OK;
	case TYPE_VALUE:
		if (!about->word)
			return sqlite3_bind_int64(put, column, about->number);
		/* fallthrough */
	case TYPE_WORD:
		return sqlite3_bind_text(put, column, *(const char *const *)(const void *)at, -1,
					 SQLITE_STATIC);
	case TYPE_LENGTHS:
		return bind_lengths(put, column, (const uint64_t *)(const void *)at);
	case TYPE_BYTES:
		if (is_utf8(bytes->data, bytes->len))
			return sqlite3_bind_text64(put, column, bytes->data, bytes->len,
						   SQLITE_STATIC, SQLITE_UTF8);
		/* fallthrough */
	default:
		return sqlite3_bind_blob64(put, column, bytes->data, bytes->len, SQLITE_STATIC);
	}
}

/*
 * Binds a member to a column; an unknown one is not bound and becomes NULL. Returns the result of
 * SQLite.
 */
static int bind_field(const struct schema_field *field, sqlite3_stmt *put, int column,
		      const char *row)
{
	const char *at = row + field->at;
	double real;
	int64_t value;

	if (field->type <= TYPE_BOOL) {
		value = whole_number(field, at);
		if (field->unknown && !is_written(field, row, (double)value, value))
			return SQLITE_OK;
		return sqlite3_bind_int64(put, column, value);
	}
	if (field->type > TYPE_HUNDREDTHS)
		return bind_text(field, put, column, at);
	real = *(const double *)(const void *)at;
	if (!is_written(field, row, real, 0))
		return SQLITE_OK;
	return bind_real(put, column, real, field->type == TYPE_HUNDREDTHS);
}

/* Writes a row whose columns are bound. */
static void write_row(struct store *store, sqlite3_stmt *put)
{
	int result = sqlite3_step(put);

	sqlite3_reset(put);
	sqlite3_clear_bindings(put);
	if (result != SQLITE_DONE)
		store->result = result;
}

/* Writes the rows of a table that wait to be packed. */
static void write_packed(struct store *store, unsigned id)
{
	write_row(store, store->puts[id]);
	store->filled[id] = 0;
	store->packed_rows[id]++;
}

void store_put_row(struct store *store, enum table_id id, const void *row)
{
	const struct schema_table *table = &schema_tables[id];
	int column = 1, step = table->packed ? PACKED_ROWS : 1;
	sqlite3_stmt *put;

	if (!store->puts[id] && !store->result)
		prepare_put(store, id);
	if (store->result)
		return;
	put = store->puts[id];
	if (table->of_sample && !store->filled[id])
		store->result = sqlite3_bind_int64(
			put, column,
			table->packed ? (store->sample << PACKED_KEY_BITS) + store->packed_rows[id]
				      : store->sample);
	/* In a packed table the columns of one name are side by side. */
	column += table->of_sample + (int)store->filled[id];
	for (unsigned i = 0; i < table->n && !store->result; i++, column += step)
		store->result = bind_field(&table->fields[i], put, column, row);
	if (store->result)
		sqlite3_clear_bindings(put);
	else if (!table->packed)
		write_row(store, put);
	else if (++store->filled[id] == PACKED_ROWS)
		write_packed(store, id);
}

void store_begin_packed(struct store *store)
{
	for (unsigned id = 0; id < TABLES; id++) {
		if (store->filled[id])
			sqlite3_clear_bindings(store->puts[id]);
		store->filled[id] = store->packed_rows[id] = 0;
	}
}

void store_end_packed(struct store *store)
{
	for (unsigned id = 0; id < TABLES && !store->result; id++)
		if (store->filled[id])
			write_packed(store, id);
}
