/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What code costs: the system calls that it makes. */
#pragma once

#include <stdint.h>

/*
 * The system calls of this thread since the first question, but for those of an allocator. Ends
 * the test as skipped where they cannot be counted (without root, or tracepoints).
 */
uint64_t calls_made(void);

/* How many of them a statement makes. */
#define CALLS_OF(statement) \
	({ \
		uint64_t calls_before = calls_made(); \
		statement; \
		calls_made() - calls_before; \
	})
