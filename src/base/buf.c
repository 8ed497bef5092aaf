// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"

/* The first size: most lines fit, so short ones take one allocation. */
#define FIRST_CAPACITY 256

/* Below this limit a double has bits to spare for its decimals. */
#define DECIMAL_MAX 1e12

/* Digits of the largest 64-bit number. */
#define UINT64_DIGITS 20

static const char digit_pairs[] = "00010203040506070809"
				  "10111213141516171819"
				  "20212223242526272829"
				  "30313233343536373839"
				  "40414243444546474849"
				  "50515253545556575859"
				  "60616263646566676869"
				  "70717273747576777879"
				  "80818283848586878889"
				  "90919293949596979899";

/* Writes a number's digits in front of `end`, returns the first. */
static char *digits_before(char *end, uint64_t value)
{
	while (value >= 100) {
		uint64_t rest = value / 100;

		end -= 2;
		memcpy(end, digit_pairs + 2 * (value - rest * 100), 2);
		value = rest;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + 2 * value, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

char *buf_grow(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : FIRST_CAPACITY;

	if (n > SIZE_MAX / 2 - b->len)
		die("out of memory");
	while (cap < b->len + n)
		cap *= 2;
	b->data = xreallocarray(b->data, cap, 1);
	b->cap = cap;
	return b->data + b->len;
}

const char *buf_cstr(struct buf *b)
{
	*buf_reserve(b, 1) = '\0';
	return b->data;
}

void buf_uint(struct buf *b, uint64_t value)
{
	char digits[UINT64_DIGITS];
	char *end = digits + sizeof(digits);
	char *first = digits_before(end, value);

	buf_add(b, first, (size_t)(end - first));
}

void buf_fixed(struct buf *b, uint64_t value, unsigned decimals)
{
	/* The point, and a leading zero when all digits are after it. */
	char text[UINT64_DIGITS + 2];
	char *end = text + sizeof(text);
	char *first = end;

	if (!decimals) {
		buf_uint(b, value);
		return;
	}
	for (unsigned i = 0; i < decimals; i++) {
		*--first = (char)('0' + value % 10);
		value /= 10;
	}
	*--first = '.';
	first = digits_before(first, value);
	buf_add(b, first, (size_t)(end - first));
}

void buf_decimal(struct buf *b, double value, unsigned decimals)
{
	static const unsigned powers[] = { 1, 10, 100, 1000 };
	uint64_t scaled, whole, rest;
	double fraction;
	int shift;

	if (!(value >= 0 && value < DECIMAL_MAX)) {
		buf_printf(b, "%.*f", (int)decimals, value);
		return;
	}
	/* The value is an integer of 53 bits times 2^-shift: all that follows is exact. */
	fraction = frexp(value, &shift);
	shift = DBL_MANT_DIG - shift;
	scaled = (uint64_t)ldexp(fraction, DBL_MANT_DIG) * powers[decimals];
	/* 63 bits shifted by more than 63 are less than a half. */
	if (shift > 63) {
		scaled = 0;
		shift = 63;
	}
	whole = scaled >> shift;
	rest = scaled - (whole << shift);
	if (rest > UINT64_C(1) << (shift - 1) || (rest == UINT64_C(1) << (shift - 1) && whole & 1))
		whole++;
	buf_fixed(b, whole, decimals);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	size_t room = 128;

	for (;;) {
		char *place = buf_reserve(b, room);
		va_list args;
		int n;

		va_start(args, format);
		n = vsnprintf(place, room, format, args);
		va_end(args);
		if (n < 0)
			die("unprintable format: %s", format);
		if ((size_t)n < room) {
			b->len += (size_t)n;
			return;
		}
		room = (size_t)n + 1;
	}
}
