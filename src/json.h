/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON straight into a buffer. The writer sets commas, colons and brackets itself; what is
 * outermost ends its line. A call out of turn (a member without a name, a name in an array,
 * a level beyond JSON_DEPTH) is a mistake of the program, which ends.
 */
#ifndef STALLTOP_JSON_H
#define STALLTOP_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "frame.h"

/* So many objects and arrays may be open, one within the other. */
#define JSON_DEPTH 64

/* Begins as { .out = buf }. */
struct json {
	struct buf *out;
	uint64_t objects; /* a bit a level, the innermost the lowest: it is an object */
	unsigned depth;
};

/*
 * Each appends one value: as a member, or without a name (NULL) in an array and outermost.
 * Names are the program's own and have nothing to escape.
 */

/* Opens an object, or an array. */
void json_open_object(struct json *json, const char *name);
void json_open_array(struct json *json, const char *name);

/* Closes what was opened last. */
void json_close(struct json *json);

void json_put_null(struct json *json, const char *name);
void json_put_bool(struct json *json, const char *name, bool value);
void json_put_uint(struct json *json, const char *name, uint64_t value);
void json_put_int(struct json *json, const char *name, int64_t value);

/* A number of 16 digits, null where it is none that JSON has. */
void json_put_real(struct json *json, const char *name, double value);

/* value / 10^decimals (1 to 9), exactly, with no more decimals than it needs. */
void json_put_fixed(struct json *json, const char *name, uint64_t value, unsigned decimals);

/* An untrusted text, escaped by text_escape() as in every format; NULL is null. */
void json_put_text(struct json *json, const char *name, const char *bytes);

/* A counter, null where it is not valid. */
void json_put_counter(struct json *json, const char *name, bool valid, uint64_t value);

/* Seconds, from ns, to the us; null where they are not valid. */
void json_put_seconds(struct json *json, const char *name, bool valid, uint64_t ns);

/* Two members, exit_code and signal, of a status as wait(2) gives it: one of them is null. */
void json_put_exit(struct json *json, int status);

/*
 * Delays by kind, an object with count and ns each, null where a kind is not valid. With a
 * record also max_ns and min_ns, of which it need not know any.
 */
void json_put_delays(struct json *json, const char *name, const struct delay_sum *delays,
		     uint32_t valid, const struct task_record *record);

/* Notes as objects with id and text, with their remedies. */
void json_put_notes(struct json *json, const char *name, const struct note *notes, size_t n);

#endif
