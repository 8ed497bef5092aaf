/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of a large array that programs in the kernel write, of which only the parts that were
 * looked at lately are mapped: all that is mapped counts as ours.
 */
#ifndef STALLTOP_BPF_WINDOWS_H
#define STALLTOP_BPF_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: nothing to see. */
struct windows {
	int map; /* descriptor, not owned */
	char *base; /* of the addresses that are set aside for all of it */
	size_t bytes, size; /* of the array, and of a value */
	size_t window, n; /* bytes of a window, and how many windows there are */
	uint8_t *rest; /* by window: readings for which it stays mapped; 0: it is not */
};

/* Opens a view of a map, by its descriptor, of so many values. 0 or -errno. */
int windows_open(struct windows *windows, int map, size_t room, size_t size);

/* Maps the windows that a value lies in. For windows_at(). */
void windows_map(struct windows *windows, size_t first, size_t last);

/* The readings after which a window that nobody looked at is unmapped. */
#define WINDOW_READINGS 3

/* Returns a value, valid until windows_trim(). */
static inline void *windows_at(struct windows *windows, size_t at)
{
	size_t first = at * windows->size / windows->window;
	size_t last = (at * windows->size + windows->size - 1) / windows->window;

	if (!windows->rest[first] || !windows->rest[last])
		windows_map(windows, first, last);
	windows->rest[first] = windows->rest[last] = WINDOW_READINGS;
	return windows->base + at * windows->size;
}

/* Ends a reading: unmaps what was not looked at for some. */
void windows_trim(struct windows *windows);

/* Unmaps all of it. */
void windows_close(struct windows *windows);

#endif
