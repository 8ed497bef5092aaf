/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/ticker.h"

void grid_start(struct grid *grid, uint64_t now_ns, uint64_t interval_ns)
{
	grid->due_ns = now_ns;
	grid->interval_ns = interval_ns;
}

uint64_t grid_advance(struct grid *grid, uint64_t now_ns)
{
	uint64_t skipped = 0;

	grid->due_ns += grid->interval_ns;
	if (grid->due_ns <= now_ns) {
		skipped = (now_ns - grid->due_ns) / grid->interval_ns + 1;
		grid->due_ns += skipped * grid->interval_ns;
	}
	return skipped;
}
