/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that take as many bytes as they need: 7 bits a byte, the lowest first; all but the last
 * byte have their highest bit set. A signed number is folded first: 0, -1, 1, -2 ... become 0, 1,
 * 2, 3.
 */
#ifndef STALLTOP_HISTORY_VARINT_H
#define STALLTOP_HISTORY_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends a number. */
static inline void varint_append(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

/*
 * Takes a number off the front of bytes: *at is then behind it. False: no number ends before `end`.
 */
static inline bool varint_take(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	unsigned shift = 0;

	*value = 0;
	while (*at < end && shift < 64) {
		unsigned char byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
		shift += 7;
	}
	return false;
}

static inline uint64_t varint_fold(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t varint_unfold(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
