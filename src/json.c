/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "json.h"

#include <string.h>

#include "notes.h"
#include "text.h"
#include "util.h"

/* Enough digits for a time in us, and no more: few figures grow a tail of noise by them. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(16))

/* Appends what jansson writes. */
static int append_dump(const char *bytes, size_t len, void *arg)
{
	buf_add(arg, bytes, len);
	return 0;
}

void json_set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new_nocheck(object, name, value ? value : json_null()))
		die("out of memory");
}

json_t *json_counter(bool valid, uint64_t value)
{
	return valid ? json_integer((json_int_t)value) : json_null();
}

json_t *json_seconds(uint64_t ns)
{
	return json_real((double)(ns / NSEC_PER_USEC) / 1e6);
}

json_t *json_name(struct buf *scratch, const char *bytes)
{
	if (!bytes)
		return json_null();
	scratch->len = 0;
	text_escape(scratch, bytes, strlen(bytes), TEXT_UTF8);
	return json_stringn_nocheck(scratch->data ? scratch->data : "", scratch->len);
}

json_t *json_notes(struct buf *scratch, const struct note *notes, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *object = json_object();

		scratch->len = 0;
		note_append(scratch, &notes[i], true);
		json_set(object, "id", json_string(note_table[notes[i].id].id));
		json_set(object, "text", json_stringn(scratch->data, scratch->len));
		json_array_append_new(array, object);
	}
	return array;
}

void json_append(struct buf *out, json_t *value)
{
	if (!value || json_dump_callback(value, append_dump, out, DUMP_FLAGS | JSON_ENCODE_ANY))
		die("out of memory");
	json_decref(value);
}
