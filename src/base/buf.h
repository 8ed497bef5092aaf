/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer with the few appends that output needs, free of locale. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An empty buffer when zero-initialised. data is not NUL-terminated: see buf_cstr(). */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

/* Frees the memory and leaves an empty buffer. */
void buf_free(struct buf *b);

/* Makes room for n more bytes where there is none; see buf_reserve(). */
char *buf_grow(struct buf *b, size_t n);

/* Makes room for n more bytes at b->data + b->len and returns that place. */
static inline char *buf_reserve(struct buf *b, size_t n)
{
	/* Checks `data`, too: without memory yet, even 0 bytes need a place. */
	return n <= b->cap - b->len && b->data ? b->data + b->len : buf_grow(b, n);
}

/* The contents with a NUL after them; valid until the next append. */
const char *buf_cstr(struct buf *b);

/* Appends a number in decimal. */
void buf_uint(struct buf *b, uint64_t value);

/* Appends value / 10^decimals with that many decimals (0 to 9): buf_fixed(b, 1234, 2) is 12.34. */
void buf_fixed(struct buf *b, uint64_t value, unsigned decimals);

/*
 * Appends a number of at least 0 as printf("%.*f") would, ties to even, ten times as fast.
 * decimals: 0 to 3.
 */
void buf_decimal(struct buf *b, double value, unsigned decimals);

/* Appends by format. Too slow for work done once a cell: printf costs ten times the above. */
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends n bytes. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (!n)
		return;
	memcpy(buf_reserve(b, n), bytes, n);
	b->len += n;
}

/* Appends a string. */
static inline void buf_puts(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

/* Appends one byte n times. */
static inline void buf_fill(struct buf *b, char c, size_t n)
{
	memset(buf_reserve(b, n), c, n);
	b->len += n;
}

/* Appends one byte. */
static inline void buf_putc(struct buf *b, char c)
{
	*buf_reserve(b, 1) = c;
	b->len++;
}
