/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the programs of a trace into the kernel, and maps their output. Used within src/bpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/end_ring.h"
#include "bpf/trace_record.h"

/*
 * A view of a large array written by BPF programs, of which only recently used parts are mapped:
 * all mapped memory counts as ours.
 */

/* Zero-initialised: empty. */
struct windows {
	int map; /* descriptor, not owned */
	char *base; /* of the addresses reserved for all of it */
	size_t bytes, size; /* of the array, and of a value */
	size_t window, n; /* bytes of a window, and how many windows there are */
	uint8_t *rest; /* per window: readings for which it stays mapped; 0: unmapped */
};

/* Opens a view of a map with so many values, by its descriptor. 0 or -errno. */
int windows_open(struct windows *windows, int map, size_t room, size_t size);

/* Maps the windows that contain a value. For windows_at(). */
void windows_map(struct windows *windows, size_t first, size_t last);

/* Readings after which an unused window is unmapped. */
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

/* Ends a reading: unmaps windows unused for some readings. */
void windows_trim(struct windows *windows);

/* Unmaps all of it. */
void windows_close(struct windows *windows);

struct bpf_link;
struct trace_bpf;

/* The programs and what is mapped of them. */
struct trace_program {
	struct trace_bpf *bpf;
	uint32_t sites; /* room: a power of two */
	uint32_t user_stacks; /* room; 0: none are taken */
	uint32_t cpus;
	struct windows site_slots; /* struct trace_site_slot */
	struct windows links; /* struct trace_links, of the same slots */
	/* Mapped. */
	struct trace_control *control;
	struct end_ring ends;
	struct trace_cpu *cpu;
	uint64_t *free_sites;
	uint64_t *changed_sites; /* two lists */
	struct bpf_link *waiters; /* of each_waiter(), an iterator over all threads */
	int stats; /* descriptor by which the kernel measures all programs; -1: it does not */
};

/*
 * Loads and attaches, with room for so many sites (0: states only) and user stacks (0: none are
 * taken), and registers the existing threads. blocked_stacks: kernel stacks distinguish sites of io
 * and dwait. 0, or an error of trace_open().
 */
int trace_load(struct trace_program *program, uint32_t sites, uint32_t user_stacks,
	       bool blocked_stacks);

/* Number of runs of the programs, and their time while measured. */
struct trace_runs {
	uint64_t runs, ns;
};

/* Reads that; one system call per program. */
int trace_runs(const struct trace_program *program, struct trace_runs *runs);

/* Detaches, and frees. */
void trace_unload(struct trace_program *program);
