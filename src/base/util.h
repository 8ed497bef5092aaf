/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that cannot fail, the growing buffer, the way out for fatal errors, the debug log.
 *
 * The die hook and the debug log are the process-wide state of the program: both must work at any
 * call depth, also when nothing else works any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing byte buffer with the few appends that output needs, independent of locale. */

/* An empty buffer when zero-initialised. data is not NUL-terminated: see buf_cstr(). */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

/* Frees the memory and leaves an empty buffer. */
void buf_free(struct buf *b);

/* Makes room for n more bytes if needed; see buf_reserve(). */
char *buf_grow(struct buf *b, size_t n);

/* Makes room for n more bytes at b->data + b->len and returns that place. */
static inline char *buf_reserve(struct buf *b, size_t n)
{
	/* Checks `data`, too: even 0 bytes need a place. */
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

/* Appends by format. Too slow per cell: printf costs ten times the above. */
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

/* Marks a parameter that a function of this type need not use. */
#define UNUSED __attribute__((unused))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

/* Zeroed memory of n elements; never NULL: out of memory, the program ends by die(). */
void *xcalloc(size_t n, size_t size);

/* Resizes to n elements; never NULL. The new part is not zeroed. */
void *xreallocarray(void *old, size_t n, size_t size);

/* Makes room for n elements, and some more; *cap becomes their number. Never NULL. */
void *grow_array(void *old, size_t *cap, size_t n, size_t size);

/* Makes room for n elements in an array with capacity `cap`, a size_t. */
#define RESERVE(array, n, cap) \
	((n) <= (cap) ? (void)0 \
		      : (void)((array) = grow_array((array), &(cap), (n), sizeof(*(array)))))

/* Makes room for one element more than n. */
#define GROW(array, n, cap) RESERVE(array, (n) + 1, cap)

/*
 * Binary search: the first of n places for which `before`, an expression of `at`, is false; it must
 * be true for all places before that and for none after. `at`, a size_t, becomes that place; n:
 * none.
 */
#define LOWER_BOUND(at, n, before) \
	do { \
		size_t low_ = 0, high_ = (n); \
		while (low_ < high_) { \
			(at) = low_ + (high_ - low_) / 2; \
			if (before) \
				low_ = (at) + 1; \
			else \
				high_ = (at); \
		} \
		(at) = low_; \
	} while (0)

/* A copy that the caller frees; NULL of NULL. */
char *xstrdup(const char *text);

/* A copy of a text with a reference count: freed with the last reference. NULL is allowed. */
char *shared_text(const char *text);
char *shared_ref(char *text);
void shared_unref(char *text);

/* Writes all bytes, however many calls that takes. 0 or -errno. */
int write_all(int fd, const void *bytes, size_t len);

/*
 * Ends the program with status 1 and one line on standard error. The hook (the
 * screen sets one that restores the terminal) runs first.
 */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets the hook of die(), NULL for none. */
void die_set_hook(void (*hook)(void *arg), void *arg);

/* Opens the debug log for appending. 0 or -errno; without it debug_log() does nothing. */
int debug_log_open(const char *path);

/* Writes one line with a monotonic time stamp to the debug log, if there is one. */
void debug_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Takes a decimal number at *at (digits only, not past end) and moves *at past it. False, with
 * nothing moved, when there is none or it does not fit.
 */
bool parse_uint(const char **at, const char *end, uint64_t *value);

/* Parses a finite number, perhaps with a fraction, that is the whole text. False if it is not. */
bool parse_number(const char *text, double *number);

/* Parses seconds from min to max, as ns. False if the text is not such a number. */
bool parse_seconds(const char *text, double min, double max, uint64_t *ns);

/* Chooses the word for a number of things: 1 task, 2 tasks. */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* The clock (CLOCK_MONOTONIC, CLOCK_REALTIME ...) in ns. */
uint64_t clock_ns(int clock);
