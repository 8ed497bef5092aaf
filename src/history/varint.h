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
void varint_append(struct buf *out, uint64_t value);

/*
 * Takes a number off the front of bytes: *at is then behind it. False: no number ends before `end`.
 */
bool varint_take(const unsigned char **at, const unsigned char *end, uint64_t *value);

static inline uint64_t varint_fold(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t varint_unfold(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
