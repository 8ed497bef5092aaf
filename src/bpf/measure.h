/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures waits for I/O and memory and in state D, by small programs at the kernel's switches and
 * wake-ups (measure.bpf.c). The walk over all tasks reads what they found: see snapshot_open().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/end_ring.h"
#include "bpf/measure_record.h"

struct measure;

/* Loads and attaches the programs. 0, or -errno as refusal_summary() has it in words. */
int measure_open(struct measure **out);

/* The descriptor of the map that has what was measured, while this is open. */
int measure_map(const struct measure *measure);

/*
 * The kinds that are measured, as DELAY_BIT()s and VALID_DWAIT. Waits for pages that had been
 * evicted (thrash) are known where the kernel keeps pressure.
 */
uint32_t measure_kinds(const struct measure *measure);

/* Whether a thread without an entry there has not waited since; else nothing is known of it. */
bool measure_is_late(const struct measure *measure);

/* The ends of threads that waited, or were booked waits: struct measured_end. */
struct end_ring *measure_ends(struct measure *measure);

/* Detaches, and frees. NULL is allowed. */
void measure_close(struct measure *measure);
