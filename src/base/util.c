// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many elements an array has room for at first. */
#define GROW_FIRST 64

/* The longest line of the debug log and of die(); longer ones are cut. */
#define LINE_MAX_BYTES 1024

/*
 * Process-wide on purpose: a program that is out of memory ten calls deep must
 * still be able to restore the terminal and to say why it ends.
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

/* Formats after the first `at` bytes of a line, ends it by a newline and writes it. */
static __attribute__((format(printf, 4, 0))) void write_line(int fd, char *line, size_t at,
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
	/* calloc(0) may give NULL, which the callers would have to tell from a failure. */
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

void die(const char *format, ...)
{
	void (*hook)(void *arg) = process.die_hook;
	char line[LINE_MAX_BYTES] = "stalltop: ";
	va_list args;

	/* Removed first: a hook that calls die() itself must not run again and again. */
	process.die_hook = NULL;
	if (hook)
		hook(process.die_arg);
	va_start(args, format);
	write_line(STDERR_FILENO, line, strlen(line), format, args);
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
	write_line(process.log_fd - 1, line, n > 0 ? (size_t)n : 0, format, args);
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
