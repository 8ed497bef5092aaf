/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs as bytes. A table names the members of a struct that are written. A row is written as its
 * difference from another row known to the reader: which members differ, and by how much. So an
 * expected row takes one byte. Bytes do not depend on the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

enum field_type { TYPE_BOOL, TYPE_UINT, TYPE_INT, TYPE_REAL, TYPE_TEXT };

/* A member, or the same member of all elements of an array. */
struct field {
	const char *name;
	uint32_t offset, stride;
	uint16_t n;
	uint8_t type, size;
	uint32_t below; /* values from this on are invalid; 0: all are valid */
};

struct field_table {
	const char *name;
	const struct field *fields;
	size_t n;
};

#define FIELD_TYPE(member) \
	_Generic((member), bool: TYPE_BOOL, char: TYPE_UINT, uint8_t: TYPE_UINT, \
		 uint16_t: TYPE_UINT, uint32_t: TYPE_UINT, uint64_t: TYPE_UINT, int32_t: TYPE_INT, \
		 int64_t: TYPE_INT, double: TYPE_REAL, char *: TYPE_TEXT, const char *: TYPE_TEXT)

/* A member of a struct; below: see above. */
#define FIELD_BELOW(of, member, most) \
	{ \
#member, offsetof(of, member), 0, 1, FIELD_TYPE(((of *)0)->member), \
			sizeof(((of *)0)->member), most \
	}
#define FIELD(of, member) FIELD_BELOW(of, member, 0)

/* A member (".ns", or nothing) of each element of an array. */
#define FIELD_EACH(of, array, member) \
	{ \
#array "[]" #member, offsetof(of, array[0] member), sizeof(((of *)0)->array[0]), \
			ARRAY_SIZE(((of *)0)->array), FIELD_TYPE(((of *)0)->array[0] member), \
			sizeof(((of *)0)->array[0] member), 0 \
	}

/* Bytes being read: from `at` to `end`. `bad`: malformed. */
struct bytes {
	const unsigned char *at, *end;
	bool bad;
};

/* Append a number with variable length: unsigned, and signed. */
void bytes_put(struct buf *out, uint64_t value);
void bytes_put_signed(struct buf *out, int64_t value);

/* Parse such a number; 0, and bad, if malformed. */
uint64_t bytes_get(struct bytes *in);
int64_t bytes_get_signed(struct bytes *in);

/* Parse a number below a limit. 0, and bad, if it is not. */
uint64_t bytes_get_below(struct bytes *in, uint64_t most);

/* Append a text, which may be NULL, and parse one: it points into the bytes. */
void bytes_put_text(struct buf *out, const char *text);
const char *bytes_get_text(struct bytes *in);

/* Appends a row as its difference from `was`. Returns whether there is any. */
bool table_put(const struct field_table *table, struct buf *out, const void *now, const void *was);

/*
 * Parses a row; `row` is the writer's `was`, and becomes the row. Texts that differ point into the
 * bytes. False, and bad: malformed.
 */
bool table_get(const struct field_table *table, struct bytes *in, void *row);
