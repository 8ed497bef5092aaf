/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON directly into a buffer. The writer sets commas, colons and brackets itself; an
 * outermost value ends its line. A call out of order (a member without a name, a name in an array,
 * a level beyond JSON_DEPTH) is a bug, and ends the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"
#include "frame/frame.h"

/* Maximum number of nested open objects and arrays. */
#define JSON_DEPTH 64

/* A writer; starts as { .out = buf }, and owns no memory. */
struct json {
	struct buf *out;
	uint64_t objects; /* a bit per level, the lowest for the innermost: set for an object */
	unsigned depth;
};

/* Ends the program: a value came out of order. */
_Noreturn void json_out_of_turn(void);

/* Writes a number's digits to `at`, which has room for them; returns the place after them. */
char *json_digits(struct json *json, char *at, uint64_t value);

/*
 * Functions called some fifty times per task are inline: if the compiler knows a name it knows its
 * length, too, and most numbers are 0 or unknown.
 */

/* Room for the largest number with its sign, and the comma after it. */
#define JSON_SHORT 24

/* Begins a value with its name; returns the place after it, with room for JSON_SHORT bytes. */
static inline char *json_begin(struct json *json, const char *name)
{
	size_t len = name ? strlen(name) : 0;
	char *at = buf_reserve(json->out, len + 3 + JSON_SHORT);

	if ((json->objects & 1) != (name != NULL))
		json_out_of_turn();
	if (!name)
		return at;
	*at++ = '"';
	memcpy(at, name, len);
	memcpy(at + len, "\":", 2);
	return at + len + 2;
}

/* Ends a value before `at`, with a comma that json_close() removes after the last value. */
static inline void json_end(struct json *json, char *at)
{
	*at++ = json->depth ? ',' : '\n';
	json->out->len = (size_t)(at - json->out->data);
}

/*
 * Each function below appends one value: as a member, or without a name (NULL) in an array and
 * outermost. Names are the program's own and need no escaping.
 */

/* Opens an object, or an array. */
void json_open_object(struct json *json, const char *name);
void json_open_array(struct json *json, const char *name);

/* Closes the innermost object or array. */
void json_close(struct json *json);

/* A counter, null if invalid. */
static inline void json_put_counter(struct json *json, const char *name, bool valid, uint64_t value)
{
	char *at = json_begin(json, name);

	if (!valid) {
		memcpy(at, "null", 4);
		at += 4;
	} else if (value < 10) {
		*at++ = (char)('0' + value);
	} else {
		at = json_digits(json, at, value);
	}
	json_end(json, at);
}

/* An unsigned integer. */
static inline void json_put_uint(struct json *json, const char *name, uint64_t value)
{
	json_put_counter(json, name, true, value);
}

/* A null. */
static inline void json_put_null(struct json *json, const char *name)
{
	json_put_counter(json, name, false, 0);
}

/* A signed integer; true or false. */
void json_put_int(struct json *json, const char *name, int64_t value);
void json_put_bool(struct json *json, const char *name, bool value);

/* A number of 16 digits, null where JSON cannot represent it. */
void json_put_real(struct json *json, const char *name, double value);

/* value / 10^decimals (1 to 9), exactly, without unnecessary decimals. */
void json_put_fixed(struct json *json, const char *name, uint64_t value, unsigned decimals);

/* An untrusted text, escaped by text_escape() as in every format; null for NULL. */
void json_put_text(struct json *json, const char *name, const char *bytes);

/* Seconds, from ns, to the us; null if invalid. */
void json_put_seconds(struct json *json, const char *name, bool valid, uint64_t ns);

/* Two members, exit_code and signal, from a status as returned by wait(2): one of them is null. */
void json_put_exit(struct json *json, int status);

/*
 * Delays by kind, an object with count and ns each, null if a kind is invalid. A record adds max_ns
 * and min_ns, null if unknown.
 */
void json_put_delays(struct json *json, const char *name, const struct delay_sum *delays,
		     uint32_t valid, const struct task_record *record);

/* Notes as objects with id and text, with their remedies. */
void json_put_notes(struct json *json, const char *name, const struct note *notes, size_t n);
