/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of code that a process makes while it runs: compilers that do so write a file for perf
 * of Linux, /tmp/perf-PID.map, a line for each function: "START SIZE NAME" in hex.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/frame_rule.h"

/* A process's map, as it was read last. Zero-initialised: none. */
struct perf_map {
	struct buf text;
};

/*
 * Reads the map of a process, by its own pid and in its own /tmp: a regular file that belongs to
 * the process's user, or to root. Whether there is one.
 */
bool perf_map_read(struct perf_map *map, int procfd, pid_t pid);

/*
 * Appends the function at an address, and finds how its frames are left, as the compiler is known
 * to do that. False: the map has none.
 */
bool perf_map_name(const struct perf_map *map, uint64_t address, struct buf *out,
		   struct frame_rule *rule);

void perf_map_free(struct perf_map *map);
