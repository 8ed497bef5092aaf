/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all JSON of the program is made with, over jansson. Without memory the program ends. */
#ifndef STALLTOP_JSON_H
#define STALLTOP_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "frame.h"

/* Sets a member; the object takes the value over. NULL is null. */
void json_set(json_t *object, const char *name, json_t *value);

/* A counter, or null. Counters beyond 2^63 do not occur in 290 years of ns. */
json_t *json_counter(bool valid, uint64_t value);

/* Seconds, from ns, to the us. */
json_t *json_seconds(uint64_t ns);

/* An untrusted text, escaped as in every format; NULL is null. scratch is emptied first. */
json_t *json_name(struct buf *scratch, const char *bytes);

/* Notes as objects with id and text, with their remedies. */
json_t *json_notes(struct buf *scratch, const struct note *notes, size_t n);

/* Appends a value and frees it. */
void json_append(struct buf *out, json_t *value);

#endif
