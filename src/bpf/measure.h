/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures waits for I/O and memory and in state D, by small BPF programs at the kernel's switches
 * and wake-ups (measure.bpf.c). The walk over all tasks reads the results: see snapshot_open().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/end_ring.h"
#include "bpf/measure_record.h"

struct measure;

/* Loads and attaches the programs. 0, or -errno as explained by refusal_summary(). */
int measure_open(struct measure **out);

/* The descriptor of the map with the measured sums, while this is open. */
int measure_map(const struct measure *measure);

/*
 * The measured kinds, as DELAY_BIT()s and VALID_DWAIT. Waits for evicted pages (thrash) are known
 * if the kernel tracks pressure.
 */
uint32_t measure_kinds(const struct measure *measure);

/* True if a thread without an entry has not waited since; else nothing is known of it. */
bool measure_is_late(const struct measure *measure);

/* The ends of threads with waits or accounted delays: struct measured_end. */
struct end_ring *measure_ends(struct measure *measure);

/* Detaches, and frees. NULL is allowed. */
void measure_close(struct measure *measure);
