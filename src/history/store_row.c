/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/store_parts.h"

#include <math.h>

#include "base/buf.h"

static const struct {
	const char *table;
	int columns, rows;
} put_table[PUTS] = {
#define PUT_ROW(NAME, table, columns, rows) [PUT_##NAME] = { table, columns, rows },
	PUT_TABLE(PUT_ROW)
#undef PUT_ROW
};

/* Whether several rows stand in one of the table. */
static bool is_packed(enum put put)
{
	return put_table[put].rows > 1;
}

/* Prepares the statement of a table. */
static void prepare_put(struct store *store, enum put put)
{
	int columns = put_table[put].columns * put_table[put].rows + is_packed(put);
	struct buf text = { 0 };

	buf_printf(&text, "INSERT INTO \"%s\" VALUES(?", put_table[put].table);
	for (int i = 1; i < columns; i++)
		buf_puts(&text, ",?");
	buf_putc(&text, ')');
	store->result = sqlite3_prepare_v3(store->db, buf_cstr(&text), -1,
					   SQLITE_PREPARE_PERSISTENT, &store->puts[put], NULL);
	buf_free(&text);
}

/* The next column to be filled, the first is 1. */
static int next_column(struct store *store)
{
	int column = store->column;

	store->column += store->step;
	return column;
}

/* Begins a row. */
void store_begin(struct store *store, enum put put)
{
	if (!store->puts[put] && !store->result)
		prepare_put(store, put);
	store->put = put;
	store->row = store->puts[put];
	store->column = 1;
	store->step = 1;
	if (!is_packed(put))
		return;
	if (!store->filled[put])
		store_int(store, (store->sample << PACKED_KEY_BITS) + store->packed_rows[put]);
	/* Columns of one name stand beside each other. */
	store->column = 2 + (int)store->filled[put];
	store->step = PACKED_ROWS;
}

/* Begins a row of a task in the present sample. */
void store_begin_task(struct store *store, enum put put, uint32_t task)
{
	store_begin(store, put);
	if (!is_packed(put))
		store_int(store, store->sample);
	store_int(store, task);
}

/* Puts an integer into the next column. */
void store_int(struct store *store, int64_t value)
{
	if (!store->result)
		store->result = sqlite3_bind_int64(store->row, next_column(store), value);
}

/* Leaves the next column NULL. */
void store_null(struct store *store)
{
	if (!store->result)
		store->result = sqlite3_bind_null(store->row, next_column(store));
}

/* Puts an integer, or NULL where it is not known. */
void store_known(struct store *store, bool known, uint64_t value)
{
	if (known)
		store_int(store, (int64_t)value);
	else
		store_null(store);
}

/* Puts an id of a text, NULL for none. */
void store_id(struct store *store, uint32_t id)
{
	store_known(store, id, id);
}

/* Puts a real number. */
void store_real(struct store *store, bool known, double value)
{
	if (!known)
		store_null(store);
	else if (!store->result)
		store->result = sqlite3_bind_double(store->row, next_column(store), value);
}

/* Puts a real number in hundredths, as an integer where that says it exactly. */
void store_hundredths(struct store *store, bool known, double value)
{
	double hundredths = rint(value * 100);

	if (!known)
		store_null(store);
	else if (fabs(hundredths) < 1e15 && hundredths / 100.0 == value)
		store_int(store, (int64_t)hundredths);
	else
		store_real(store, true, value * 100);
}

/* Puts a word of the program's. */
void store_word(struct store *store, const char *word)
{
	if (!store->result)
		store->result =
			sqlite3_bind_text(store->row, next_column(store), word, -1, SQLITE_STATIC);
}

/* Puts a letter, or NULL for none. */
void store_letter(struct store *store, char letter)
{
	if (!letter)
		store_null(store);
	else if (!store->result)
		store->result = sqlite3_bind_text(store->row, next_column(store), &letter, 1,
						  SQLITE_TRANSIENT);
}

/* Puts bytes: as a text if they are one, else as a blob. */
void store_chars(struct store *store, const char *bytes, size_t len, bool blob)
{
	if (store->result)
		return;
	store->result = blob ? sqlite3_bind_blob64(store->row, next_column(store), bytes, len,
						   SQLITE_STATIC)
			     : sqlite3_bind_text64(store->row, next_column(store), bytes, len,
						   SQLITE_STATIC, SQLITE_UTF8);
}

/* Writes a row of which all columns are filled. */
static void write_row(struct store *store, sqlite3_stmt *row)
{
	int result = sqlite3_step(row);

	sqlite3_reset(row);
	if (result != SQLITE_DONE)
		store->result = result;
}

/* Writes the rows that are packed. */
static void write_packed(struct store *store, enum put put)
{
	write_row(store, store->puts[put]);
	sqlite3_clear_bindings(store->puts[put]);
	store->filled[put] = 0;
	store->packed_rows[put]++;
}

void store_end(struct store *store)
{
	if (store->result)
		return;
	if (!is_packed(store->put))
		write_row(store, store->row);
	else if (++store->filled[store->put] == PACKED_ROWS)
		write_packed(store, store->put);
}

void store_begin_packed(struct store *store)
{
	for (unsigned put = 0; put < PUTS; put++) {
		if (store->filled[put])
			sqlite3_clear_bindings(store->puts[put]);
		store->filled[put] = store->packed_rows[put] = 0;
	}
}

void store_end_packed(struct store *store)
{
	for (unsigned put = 0; put < PUTS && !store->result; put++)
		if (store->filled[put])
			write_packed(store, put);
}
