/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "value.h"

#include <math.h>
#include <string.h>

/* Longest text of a number, before it is put into its cell. */
#define DIGITS_MAX 32

int value_compare(const struct value *a, const struct value *b)
{
	if (a->type == VALUE_UNSET || b->type == VALUE_UNSET)
		return (a->type == VALUE_UNSET) - (b->type == VALUE_UNSET);
	if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
		return strcmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

/* Writes a number backwards from `end`; returns where it begins. */
static char *digits(char *end, uint64_t value, unsigned decimals)
{
	char *at = end;

	for (unsigned i = 0; i < decimals; i++, value /= 10)
		*--at = (char)('0' + value % 10);
	if (decimals)
		*--at = '.';
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return at;
}

/* Puts a text at the right of a cell of that width. */
static void put_right(struct buf *out, const char *text, size_t len, unsigned width)
{
	size_t pad = width > len ? width - len : 0;
	char *to = buf_reserve(out, pad + len);

	/* Byte by byte: for a few bytes a call costs more than it saves. */
	for (size_t i = 0; i < pad; i++)
		*to++ = ' ';
	for (size_t i = 0; i < len; i++)
		*to++ = text[i];
	out->len += pad + len;
}

/* The number in the largest unit of 1000 that lets it fit, such as 12345k or >999k. */
static size_t scaled(char *end, double number, unsigned width)
{
	static const char units[] = "kMGTPE";
	double value = number;

	for (const char *unit = units; *unit; unit++) {
		char *at = end;

		value /= 1000;
		*--at = *unit;
		if (value < 1e15)
			at = digits(at, (uint64_t)(value + 0.5), 0);
		if (value < 1e15 && (size_t)(end - at) <= width)
			return (size_t)(end - at);
	}
	memcpy(end - 3, ">1E", 3);
	return 3;
}

/* A delay cell: 84.9, 12345, 999k, >999k. */
static size_t share(char *end, double number)
{
	char *at = end;

	if (number < 9999.95)
		return (size_t)(end - digits(end, (uint64_t)(number * 10 + 0.5), 1));
	if (number < 99999.5)
		return (size_t)(end - digits(end, (uint64_t)(number + 0.5), 0));
	if (number < 999500) {
		*--at = 'k';
		return (size_t)(end - digits(at, (uint64_t)(number / 1000 + 0.5), 0));
	}
	memcpy(end - 5, ">999k", 5);
	return 5;
}

/* Seconds as h:mm, or in days where that is too wide. */
static size_t duration(char *end, double seconds, unsigned width)
{
	uint64_t minutes = (uint64_t)(seconds / 60);
	char *at = end;

	*--at = (char)('0' + minutes % 10);
	*--at = (char)('0' + minutes / 10 % 6);
	*--at = ':';
	at = digits(at, minutes / 60, 0);
	if ((size_t)(end - at) <= width)
		return (size_t)(end - at);
	at = end;
	*--at = 'd';
	return (size_t)(end - digits(at, minutes / 60 / 24, 0));
}

/* A whole number, perhaps negative. */
static size_t count(char *end, double number, unsigned width)
{
	double size = fabs(number);
	char *at = end;
	size_t len;

	if (size >= 1e15)
		return scaled(end, size, width);
	at = digits(at, (uint64_t)(size + 0.5), 0);
	if (number <= -0.5)
		*--at = '-';
	len = (size_t)(end - at);
	return len <= width ? len : scaled(end, size, width);
}

void value_append(struct buf *out, const struct value *value, enum value_format format,
		  unsigned width)
{
	char text[DIGITS_MAX];
	char *end = text + sizeof(text);
	double number = value->number;
	size_t len;

	if (value->type != VALUE_NUMBER || isnan(number)) {
		put_right(out, "-", 1, width);
		return;
	}
	if (number < 0 && format != FORMAT_COUNT)
		number = 0;
	if (format == FORMAT_COUNT)
		len = count(end, number, width);
	else if (format == FORMAT_DURATION)
		len = duration(end, number, width);
	else
		len = share(end, number);
	put_right(out, end - len, len, width);
}
