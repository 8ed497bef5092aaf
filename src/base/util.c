// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// SPDX-License-Identifier: GPL-2.0-or-later

/* The first size: most lines fit, so they take one allocation. */
#define FIRST_CAPACITY 256

/* Below this limit a double has spare bits for its decimals. */
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

/* Writes a number's digits before `end`, returns the first. */
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

/* Elements that an array has room for at first. */
#define GROW_FIRST 64

/* The longest line of the debug log and of die(); longer ones are cut. */
#define LINE_MAX_BYTES 1024

/*
 * Process-wide on purpose: at out of memory any function must still be able to restore the terminal
 * and say why the program ends.
 */
static struct {
	void (*die_hook)(void *arg);
	void *die_arg;
	int log_fd; /* descriptor + 1, so that 0 is "no log" */
} process;

int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Formats after the first `at` bytes of a line, appends a newline and writes it. */
static __attribute__((format(printf, 4, 0))) void write_log_line(int fd, char *line, size_t at,
								 const char *format, va_list args)
{
	int n = vsnprintf(line + at, LINE_MAX_BYTES - at, format, args);

	if (n > 0)
		at += (size_t)n;
	if (at > LINE_MAX_BYTES - 1)
		at = LINE_MAX_BYTES - 1;
	line[at++] = '\n';
	/* An error could not be reported anywhere. */
	(void)write_all(fd, line, at);
}

void *xcalloc(size_t n, size_t size)
{
	/* calloc(0) may return NULL, which callers would have to tell from a failure. */
	void *p = n && size ? calloc(n, size) : calloc(1, 1);

	if (!p)
		die("out of memory");
	return p;
}

void *xreallocarray(void *old, size_t n, size_t size)
{
	/* A size of 0 would free the memory. */
	void *p = n && size ? reallocarray(old, n, size) : realloc(old, 1);

	if (!p)
		die("out of memory");
	return p;
}

void *grow_array(void *old, size_t *cap, size_t n, size_t size)
{
	*cap = n > GROW_FIRST ? n + n / 2 : GROW_FIRST;
	return xreallocarray(old, *cap, size);
}

char *xstrdup(const char *text)
{
	char *p = text ? strdup(text) : NULL;

	if (text && !p)
		die("out of memory");
	return p;
}

/* A shared text and its number of references. */
struct counted_text {
	unsigned refs;
	char text[];
};

/* The object that contains such a text. */
static struct counted_text *counted_of(char *text)
{
	return (struct counted_text *)(void *)(text - offsetof(struct counted_text, text));
}

char *shared_text(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	struct counted_text *shared;

	if (!text)
		return NULL;
	shared = xcalloc(1, sizeof(*shared) + size);
	shared->refs = 1;
	return memcpy(shared->text, text, size);
}

char *shared_ref(char *text)
{
	if (text)
		counted_of(text)->refs++;
	return text;
}

void shared_unref(char *text)
{
	if (text && !--counted_of(text)->refs)
		free(counted_of(text));
}

void die(const char *format, ...)
{
	void (*hook)(void *arg) = process.die_hook;
	char line[LINE_MAX_BYTES] = "stalltop: ";
	va_list args;

	/* Removed first: a hook that calls die() itself must not recurse. */
	process.die_hook = NULL;
	if (hook)
		hook(process.die_arg);
	va_start(args, format);
	write_log_line(STDERR_FILENO, line, strlen(line), format, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

void die_set_hook(void (*hook)(void *arg), void *arg)
{
	process.die_hook = hook;
	process.die_arg = arg;
}

int debug_log_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	if (process.log_fd)
		close(process.log_fd - 1);
	process.log_fd = fd + 1;
	return 0;
}

void debug_log(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	int saved = errno;
	uint64_t now;
	va_list args;
	int n;

	if (!process.log_fd)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	n = snprintf(line, sizeof(line), "%llu.%06llu ", (unsigned long long)(now / NSEC_PER_SEC),
		     (unsigned long long)(now % NSEC_PER_SEC / NSEC_PER_USEC));
	va_start(args, format);
	write_log_line(process.log_fd - 1, line, n > 0 ? (size_t)n : 0, format, args);
	va_end(args);
	errno = saved;
}

bool parse_uint(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;
	uint64_t sum = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(sum, UINT64_C(10), &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*p - '0'), &sum))
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*value = sum;
	return true;
}

bool parse_number(const char *text, double *number)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	return end != text && !*end && !errno && isfinite(*number);
}

bool parse_seconds(const char *text, double min, double max, uint64_t *ns)
{
	double seconds;

	if (!parse_number(text, &seconds) || seconds < min || seconds > max)
		return false;
	*ns = (uint64_t)(seconds * (double)NSEC_PER_SEC + 0.5);
	return true;
}

uint64_t clock_ns(int clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		die("clock %d: %s", clock, strerror(errno));
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
