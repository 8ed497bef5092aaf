/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/ticker.h"

void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns)
{
	ticker->due_ns = now_ns;
	ticker->interval_ns = interval_ns;
}

uint64_t ticker_late(struct ticker *ticker, uint64_t now_ns)
{
	uint64_t skipped =
		now_ns > ticker->due_ns ? (now_ns - ticker->due_ns) / ticker->interval_ns : 0;

	ticker->due_ns += skipped * ticker->interval_ns;
	return skipped;
}

uint64_t ticker_advance(struct ticker *ticker, uint64_t now_ns)
{
	uint64_t skipped = 0;

	ticker->due_ns += ticker->interval_ns;
	if (ticker->due_ns <= now_ns) {
		skipped = (now_ns - ticker->due_ns) / ticker->interval_ns + 1;
		ticker->due_ns += skipped * ticker->interval_ns;
	}
	return skipped;
}
