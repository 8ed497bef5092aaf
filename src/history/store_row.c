/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/store_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *table;
	int columns;
} put_table[PUTS] = {
#define PUT_ROW(NAME, table, columns) [PUT_##NAME] = { table, columns },
	PUT_TABLE(PUT_ROW)
#undef PUT_ROW
};

/* Begins a row. */
void store_begin(struct store *store, enum put put)
{
	char text[160] = "";
	size_t len;

	store->column = 0;
	store->row = store->puts[put];
	if (store->row || store->result)
		return;
	snprintf(text, sizeof(text), "INSERT INTO \"%s\" VALUES(?", put_table[put].table);
	len = strlen(text);
	for (int i = 1; i < put_table[put].columns && len + 3 < sizeof(text); i++, len += 2)
		memcpy(text + len, ",?", 3);
	snprintf(text + len, sizeof(text) - len, ")");
	store->result = sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
					   &store->puts[put], NULL);
	store->row = store->puts[put];
}

/* Puts an integer into the next column. */
void store_int(struct store *store, int64_t value)
{
	if (!store->result)
		store->result = sqlite3_bind_int64(store->row, ++store->column, value);
}

/* Leaves the next column NULL. */
void store_null(struct store *store)
{
	if (!store->result)
		store->result = sqlite3_bind_null(store->row, ++store->column);
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
		store->result = sqlite3_bind_double(store->row, ++store->column, value);
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
			sqlite3_bind_text(store->row, ++store->column, word, -1, SQLITE_STATIC);
}

/* Puts bytes: as a text if they are one, else as a blob. */
void store_chars(struct store *store, const char *bytes, size_t len, bool blob)
{
	if (store->result)
		return;
	store->result =
		blob ? sqlite3_bind_blob64(store->row, ++store->column, bytes, len, SQLITE_STATIC)
		     : sqlite3_bind_text64(store->row, ++store->column, bytes, len, SQLITE_STATIC,
					   SQLITE_UTF8);
}

/* Writes the row. */
void store_end(struct store *store)
{
	int result;

	if (store->result)
		return;
	result = sqlite3_step(store->row);
	sqlite3_reset(store->row);
	if (result != SQLITE_DONE)
		store->result = result;
}
