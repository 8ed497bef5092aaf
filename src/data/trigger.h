/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pressure to be reported: the expressions of --when. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/system.h"

/* Without CAP_SYS_RESOURCE a window must be a multiple of this (kernel/sched/psi.c). */
#define TRIGGER_STEP_US 2000000

/* Events that can be waited for. */
enum trigger_sort {
	TRIGGER_PRESSURE, /* which the kernel reports */
	TRIGGER_HANG, /* a task that has waited for hang_ns; seen in samples */
	TRIGGER_OOM /* a process killed by the OOM killer; detected at samples */
};

/* One expression. */
struct trigger_spec {
	char *text; /* as it was written, raw bytes */
	enum trigger_sort sort;
	uint64_t hang_ns;
	/* Members for pressure: */
	char *group; /* path below the root of cgroup v2, without a leading slash; NULL: the
		      * system */
	enum psi_resource resource;
	bool full; /* else some */
	uint32_t threshold_us, window_us;
};

/* The pressures to watch, and how to report them. */
struct watch_config {
	struct trigger_spec *specs; /* freed by the list's creator */
	size_t nspecs;
	uint64_t linger_ns; /* how long to wait for the pressure's end */
	bool bell; /* rings the terminal bell when pressure is reported */
};

/* The faults of an expression. Their messages are in errors.c. */
enum trigger_fault {
	TRIGGER_GOOD,
	TRIGGER_BAD_FORM,
	TRIGGER_BAD_GROUP,
	TRIGGER_BAD_RESOURCE,
	TRIGGER_BAD_LEVEL,
	TRIGGER_BAD_IRQ, /* irq has no some */
	TRIGGER_BAD_TIME,
	TRIGGER_BAD_WINDOW,
	TRIGGER_BAD_THRESHOLD,
	TRIGGER_BAD_HANG,
};

/*
 * Parses "memory some 300ms/2s", "cgroup:PATH memory full 0.3s/2s", "hang 30s" or "oom". Returns
 * TRIGGER_GOOD, and the spec is to be freed by trigger_spec_free(); else the spec is empty.
 */
enum trigger_fault trigger_parse(const char *text, struct trigger_spec *spec);

/* True if it is detected in samples only, so that samples must be taken. */
static inline bool trigger_needs_samples(const struct trigger_spec *spec)
{
	return spec->sort != TRIGGER_PRESSURE;
}

/* Frees the texts. */
void trigger_spec_free(struct trigger_spec *spec);
