/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/value.h"

#include <math.h>
#include <string.h>

#include "base/util.h"

/* Maximum length of a number's text, before it is put into its cell. */
#define DIGITS_MAX 32

/* Delay cells below this have a decimal. */
#define SHARE_TENTHS 9999.95

/* Waits in ms below this are shown to the microsecond. */
#define WAIT_SHORT 0.1

/* Counts below this have 32 bits. */
#define COUNT_SMALL 4e9

int value_compare(const struct value *a, const struct value *b)
{
	if (a->type == VALUE_UNSET || b->type == VALUE_UNSET)
		return (a->type == VALUE_UNSET) - (b->type == VALUE_UNSET);
	if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
		return strcmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

struct value value_bar(const uint64_t *parts, const char *letters, size_t n, double number)
{
	struct value value = { .type = VALUE_BAR, .number = number };
	unsigned cells[32] = { 0 }, left = VALUE_BAR_CELLS;
	double all = 0, rests[32];
	char *at = value.bar;

	for (size_t i = 0; i < n; i++)
		all += (double)parts[i];
	if (!(all > 0) || n > ARRAY_SIZE(cells))
		return value_unset();
	for (size_t i = 0; i < n; i++) {
		double exact = (double)parts[i] * VALUE_BAR_CELLS / all;

		cells[i] = (unsigned)exact;
		rests[i] = exact - cells[i];
		left -= cells[i];
	}
	for (; left; left--) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (rests[i] > rests[most])
				most = i;
		cells[most]++;
		rests[most] = -1;
	}
	for (size_t i = 0; i < n; i++)
		for (; cells[i]; cells[i]--)
			*at++ = letters[i];
	return value;
}

/* Writes a number backwards from `end`; returns its start. */
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

/*
 * Makes room for n bytes and fills them with blanks, a few more than needed: filling in constant
 * steps avoids a call for the few bytes.
 */
static char *reserve_blank(struct buf *out, size_t n)
{
	static const char blanks[] = "        ";
	char *to = buf_reserve(out, n + sizeof(blanks));

	for (size_t i = 0; i < n; i += sizeof(blanks) - 1)
		memcpy(to + i, blanks, sizeof(blanks) - 1);
	return to;
}

/* Puts a text at the right of a cell of that width. */
static void put_right(struct buf *out, const char *text, size_t len, unsigned width)
{
	size_t pad = width > len ? width - len : 0;
	char *to = reserve_blank(out, pad + len) + pad;

	/* Goes byte by byte: for a few bytes a call costs more than it saves. */
	for (size_t i = 0; i < len; i++)
		to[i] = text[i];
	out->len += pad + len;
}

/*
 * Puts the usual numbers, integers or tenths, directly into the cell. Returns false, with nothing
 * written, if the cell is too narrow.
 */
static bool put_small(struct buf *out, uint32_t value, bool tenths, unsigned width)
{
	char *cell = reserve_blank(out, width), *at = cell + width;

	if (tenths) {
		if (width < 3)
			return false;
		*--at = (char)('0' + value % 10);
		*--at = '.';
		value /= 10;
	}
	do {
		if (at == cell)
			return false;
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	out->len += width;
	return true;
}

/* The number in the smallest unit of 1000 in which it fits, such as 12345k or >999k. */
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
static size_t format_share(char *end, double number)
{
	char *at = end;

	if (number < SHARE_TENTHS)
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

/* A wait in ms, a short one as 0.012; only 0 looks like 0. */
static size_t wait_of(char *end, double number)
{
	if (number <= 0 || number >= WAIT_SHORT)
		return format_share(end, number);
	return (size_t)(end - digits(end, (uint64_t)(number * 1000 + 0.5), 3));
}

/* Seconds as h:mm, or in days where h:mm is too wide. */
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

/* A whole number, possibly negative. */
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

/* Appends a number that is a lower bound: ">=" takes two of the cells. */
static void append_bound(struct buf *out, const struct value *value, enum value_format format,
			 unsigned width)
{
	const struct value number = value_number(value->number);
	size_t begin = out->len, at;

	value_append(out, &number, format, width - 2);
	for (at = begin; out->data[at] == ' ';)
		at++;
	buf_puts(out, ">=");
	memmove(out->data + at + 2, out->data + at, out->len - 2 - at);
	memcpy(out->data + at, ">=", 2);
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
	if (value->at_least && width > 2) {
		append_bound(out, value, format, width);
		return;
	}
	if (number >= 0 && format == FORMAT_SHARE && number < SHARE_TENTHS &&
	    put_small(out, (uint32_t)(number * 10 + 0.5), true, width))
		return;
	if (number >= 0 && format == FORMAT_COUNT && number < COUNT_SMALL &&
	    put_small(out, (uint32_t)(number + 0.5), false, width))
		return;
	if (number < 0 && format != FORMAT_COUNT)
		number = 0;
	if (format == FORMAT_COUNT)
		len = count(end, number, width);
	else if (format == FORMAT_DURATION)
		len = duration(end, number, width);
	else if (format == FORMAT_WAIT)
		len = wait_of(end, number);
	else
		len = format_share(end, number);
	put_right(out, end - len, len, width);
}

unsigned value_step(double value, double peak, unsigned steps)
{
	double exact;
	unsigned step;

	if (!(value > 0) || !(peak > 0))
		return 0;
	if (value >= peak)
		return steps - 1;
	/* Rounds up: the lowest step is only for 0. */
	exact = value / peak * (steps - 1);
	step = (unsigned)exact;
	return step < exact || !step ? step + 1 : step;
}

const char *value_block(char sign)
{
	static const char *const blocks[] = { "▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const char *at = sign ? strchr(GRAPH_SIGNS, sign) : NULL;

	return at ? blocks[at - GRAPH_SIGNS] : " ";
}

struct value value_graph(const double *values, double least)
{
	struct value value = { .type = VALUE_BAR };
	double peak = least;

	for (size_t i = 0; i < VALUE_BAR_CELLS; i++)
		if (values[i] > peak)
			peak = values[i];
	for (size_t i = 0; i < VALUE_BAR_CELLS; i++) {
		bool known = !isnan(values[i]);

		value.number += known ? values[i] / VALUE_BAR_CELLS : 0;
		value.bar[i] =
			known ? GRAPH_SIGNS[value_step(values[i], peak, sizeof(GRAPH_SIGNS) - 1)]
			      : ' ';
	}
	return value;
}

void value_escape(struct buf *out, const char *text, const char *more, enum text_charset charset)
{
	text_escape(out, text, strlen(text), charset);
	if (!more)
		return;
	buf_puts(out, " (");
	text_escape(out, more, strlen(more), charset);
	buf_putc(out, ')');
}
