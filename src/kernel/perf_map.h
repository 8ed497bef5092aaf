/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of code that a process generates at run time: JIT compilers write a file for perf,
 * /tmp/perf-PID.map, one line per function: "START SIZE NAME" in hex.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/frame_rule.h"

/* A process's map, as last read. Zero-initialised: none. */
struct perf_map {
	struct buf text;
};

/*
 * Reads the map of a process, by its own pid and in its own /tmp: a regular file that belongs to
 * the process's user, or to root. Returns whether there is one.
 */
bool perf_map_read(struct perf_map *map, int procfd, pid_t pid);

/*
 * Appends the function at an address, and finds how to unwind its frames, as known for its
 * compiler. False: not in the map.
 */
bool perf_map_name(const struct perf_map *map, uint64_t address, struct buf *out,
		   struct frame_rule *rule);

void perf_map_free(struct perf_map *map);
