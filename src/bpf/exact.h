/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the kernel measure waits in uninterruptible sleep, by small programs at its switches and
 * wake-ups (exact.bpf.c). What they found the walk over all tasks reads: see snapshot_open().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/exact_record.h"

struct exact;

/* Loads and attaches the programs. 0, or -errno as refusal_summary() has it in words. */
int exact_open(struct exact **out);

/* The descriptor of the map that has what was measured, while this is open. */
int exact_map(const struct exact *exact);

/* Whether a thread without an entry there has not waited since; else nothing is known of it. */
bool exact_is_late(const struct exact *exact);

/*
 * The ends of threads since the call before, in their order: up to EXACT_ENDED. Valid until the
 * next call. Where more ended than were kept the first are missing.
 */
const struct exact_ended *exact_take_ended(struct exact *exact, size_t *n);

/* Detaches, and frees. NULL is allowed. */
void exact_close(struct exact *exact);
