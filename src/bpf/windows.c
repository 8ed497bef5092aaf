/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "bpf/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "bpf/loading.h"

/* Bytes of a window, where pages are not larger. */
#define WINDOW_BYTES (UINT64_C(64) << 10)

int windows_open(struct windows *windows, int map, size_t room, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = mapped_bytes(room, size);
	void *base =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	*windows = (struct windows){ .map = map,
				     .base = base,
				     .bytes = bytes,
				     .size = size,
				     .window = page > WINDOW_BYTES ? page : WINDOW_BYTES };
	windows->n = (bytes + windows->window - 1) / windows->window;
	windows->rest = xcalloc(windows->n, sizeof(*windows->rest));
	return 0;
}

/* Bytes of one window: the last may be shorter. */
static size_t bytes_of(const struct windows *windows, size_t at)
{
	size_t left = windows->bytes - at * windows->window;

	return left < windows->window ? left : windows->window;
}

/* Puts the array into a window, or takes it out of there. */
static void set_window(struct windows *windows, size_t at, bool shown)
{
	int protection = shown ? PROT_READ | PROT_WRITE : PROT_NONE;
	int flags = MAP_FIXED | (shown ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	size_t from = at * windows->window;

	if (mmap(windows->base + from, bytes_of(windows, at), protection, flags,
		 shown ? windows->map : -1, shown ? (off_t)from : 0) == MAP_FAILED)
		die("cannot map what is traced: %s", strerror(errno));
	windows->rest[at] = shown ? WINDOW_READINGS : 0;
}

void windows_map(struct windows *windows, size_t first, size_t last)
{
	for (size_t at = first; at <= last; at++)
		if (!windows->rest[at])
			set_window(windows, at, true);
}

void windows_trim(struct windows *windows)
{
	for (size_t at = 0; at < windows->n; at++)
		if (windows->rest[at] && !--windows->rest[at])
			set_window(windows, at, false);
}

void windows_close(struct windows *windows)
{
	if (windows->base)
		munmap(windows->base, windows->bytes);
	free(windows->rest);
	*windows = (struct windows){ 0 };
}
