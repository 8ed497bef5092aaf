/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the programs of a trace into the kernel, and maps what they write. Within src/bpf. */
#ifndef STALLTOP_BPF_TRACE_LOAD_H
#define STALLTOP_BPF_TRACE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/trace_record.h"
#include "bpf/windows.h"

struct trace_bpf;

/* The programs and what is mapped of them. */
struct trace_program {
	struct trace_bpf *bpf;
	uint32_t threads, sites; /* room: powers of two */
	uint32_t cpus;
	struct windows thread_slots; /* struct trace_thread_slot */
	struct windows site_slots; /* struct trace_site_slot */
	struct windows links; /* struct trace_links, of the same slots */
	/* Mapped. */
	struct trace_control *control;
	struct trace_cpu *cpu;
	uint64_t *free_threads, *free_sites;
	uint64_t *changed_threads, *changed_sites; /* two lists each */
	int stats; /* descriptor that has the kernel measure all programs; -1: it does not */
};

/*
 * Loads and attaches, with room for so many threads (0: as many as this machine is likely to have)
 * and sites, and adds the threads that exist. blocked_stacks: stacks tell sites of io and dwait
 * apart. 0, or an error of trace_open().
 */
int trace_load(struct trace_program *program, uint32_t threads, uint32_t sites,
	       bool blocked_stacks);

/* How often the programs ran, and for how long while that was measured. */
struct trace_runs {
	uint64_t runs, ns;
};

/* Reads that; system calls: one for each program. */
int trace_runs(const struct trace_program *program, struct trace_runs *runs);

/* Detaches, and frees. */
void trace_unload(struct trace_program *program);

#endif
