/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/varint.h"

void varint_append(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

bool varint_take(const unsigned char **at, const unsigned char *end, uint64_t *value)
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
