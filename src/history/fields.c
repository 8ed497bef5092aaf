/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/fields.h"

#include <string.h>

/* Members per mask: a bit is set if one differs. */
#define GROUP 63

void bytes_put(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

void bytes_put_signed(struct buf *out, int64_t value)
{
	bytes_put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

uint64_t bytes_get(struct bytes *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		unsigned char byte = *in->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->bad = true;
	return 0;
}

int64_t bytes_get_signed(struct bytes *in)
{
	uint64_t value = bytes_get(in);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

uint64_t bytes_get_below(struct bytes *in, uint64_t most)
{
	uint64_t value = bytes_get(in);

	if (value < most)
		return value;
	in->bad = true;
	return 0;
}

void bytes_put_text(struct buf *out, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	bytes_put(out, size);
	buf_add(out, text, size);
}

const char *bytes_get_text(struct bytes *in)
{
	uint64_t size = bytes_get(in);
	const char *text = (const char *)in->at;

	if (!size)
		return NULL;
	if (size > (uint64_t)(in->end - in->at) || strnlen(text, size) + 1 != size) {
		in->bad = true;
		return NULL;
	}
	in->at += size;
	return text;
}

/* Reads a member that is a number. */
static inline uint64_t read_number_member(const struct field *field, const char *at)
{
	uint8_t byte;
	uint16_t two;
	uint32_t four;
	int32_t sign;
	uint64_t eight;

	switch (field->size) {
	case 1:
		memcpy(&byte, at, 1);
		return byte;
	case 2:
		memcpy(&two, at, 2);
		return two;
	case 4:
		memcpy(&four, at, 4);
		memcpy(&sign, at, 4);
		return field->type == TYPE_INT ? (uint64_t)(int64_t)sign : four;
	default:
		memcpy(&eight, at, 8);
		return eight;
	}
}

/* Sets a number member. False: not a valid value. */
static bool set_number(const struct field *field, char *at, uint64_t value)
{
	uint8_t byte = (uint8_t)value;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;
	const void *from = field->size == 1   ? (const void *)&byte
			   : field->size == 2 ? (const void *)&two
			   : field->size == 4 ? (const void *)&four
					      : (const void *)&value;

	if ((field->below && value >= field->below) || (field->type == TYPE_BOOL && value > 1))
		return false;
	memcpy(at, from, field->size);
	return read_number_member(field, at) == value;
}

/* Reads a text member. */
static inline const char *text_of(const char *at)
{
	const char *text;

	memcpy(&text, at, sizeof(text));
	return text;
}

/* True if a member differs. */
static inline bool differs(const struct field *field, const char *now, const char *was)
{
	const char *a, *b;

	if (field->type != TYPE_TEXT)
		return read_number_member(field, now) != read_number_member(field, was);
	a = text_of(now);
	b = text_of(was);
	return a != b && (!a || !b || strcmp(a, b) != 0);
}

/* A position in a table: an element of a field. */
struct field_place {
	size_t field;
	unsigned i;
};

/* Moves to the next position. */
static inline void next_field(const struct field_table *table, struct field_place *place)
{
	if (++place->i < table->fields[place->field].n)
		return;
	place->i = 0;
	place->field++;
}

/* Finds which of the next members differ. *place moves past them. */
static uint64_t mask_of(const struct field_table *table, struct field_place *place, const char *now,
			const char *was)
{
	uint64_t mask = 0;

	for (unsigned bit = 0; bit < GROUP && place->field < table->n;) {
		const struct field *field = &table->fields[place->field];
		size_t at = field->offset + (size_t)place->i * field->stride;

		for (; place->i < field->n && bit < GROUP; place->i++, bit++, at += field->stride)
			mask |= (uint64_t)differs(field, now + at, was + at) << bit;
		if (place->i == field->n) {
			place->i = 0;
			place->field++;
		}
	}
	return mask;
}

/* Appends a member. */
static void put_member(const struct field *field, struct buf *out, const char *now, const char *was)
{
	uint64_t value;

	if (field->type == TYPE_TEXT) {
		bytes_put_text(out, text_of(now));
		return;
	}
	value = read_number_member(field, now);
	if (field->type != TYPE_REAL) {
		bytes_put_signed(out, (int64_t)(value - read_number_member(field, was)));
		return;
	}
	for (unsigned i = 0; i < sizeof(value); i++)
		buf_putc(out, (char)(value >> 8 * i));
}

bool table_put(const struct field_table *table, struct buf *out, const void *now, const void *was)
{
	struct field_place place = { 0 };
	bool any = false;

	while (place.field < table->n) {
		struct field_place at = place;
		uint64_t mask = mask_of(table, &place, now, was);

		any |= mask != 0;
		bytes_put(out, mask);
		for (; mask; mask >>= 1, next_field(table, &at)) {
			const struct field *field = &table->fields[at.field];
			size_t offset = field->offset + (size_t)at.i * field->stride;

			if (mask & 1)
				put_member(field, out, (const char *)now + offset,
					   (const char *)was + offset);
		}
	}
	return any;
}

/* Parses a member. False: malformed. */
static bool get_member(const struct field *field, struct bytes *in, char *at)
{
	uint64_t value = 0;
	const char *text;

	if (field->type == TYPE_TEXT) {
		text = bytes_get_text(in);
		memcpy(at, &text, sizeof(text));
		return !in->bad;
	}
	if (field->type != TYPE_REAL) {
		value = read_number_member(field, at) + (uint64_t)bytes_get_signed(in);
		return !in->bad && set_number(field, at, value);
	}
	if (in->end - in->at < (ptrdiff_t)sizeof(value))
		return false;
	for (unsigned i = 0; i < sizeof(value); i++)
		value |= (uint64_t)*in->at++ << 8 * i;
	return set_number(field, at, value);
}

bool table_get(const struct field_table *table, struct bytes *in, void *row)
{
	struct field_place place = { 0 };

	while (place.field < table->n && !in->bad) {
		uint64_t mask = bytes_get(in);

		for (unsigned bit = 0; bit < GROUP && place.field < table->n; bit++, mask >>= 1) {
			const struct field *field = &table->fields[place.field];

			if (mask & 1 && !get_member(field, in,
						    (char *)row + field->offset +
							    (size_t)place.i * field->stride))
				in->bad = true;
			next_field(table, &place);
		}
		in->bad |= mask != 0;
	}
	return !in->bad;
}
