/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clocks.h"

#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/util.h"

/* Clocks are read one after the other; a reading that was interrupted in between is repeated. */
#define TRIES 8
#define NEAR_NS (20 * NSEC_PER_USEC)

/* Smaller differences are the time between two readings, not a step of a clock. */
#define STEP_NS (10 * NSEC_PER_MSEC)

/* Interval between checks of the time zone file. */
#define ZONE_NS (5 * NSEC_PER_SEC)

struct clock_times clocks_now(void)
{
	struct clock_times best = { 0 };
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < TRIES && least_ns > NEAR_NS; i++) {
		struct clock_times now = { .monotonic_ns = clock_ns(CLOCK_MONOTONIC),
					   .boot_ns = clock_ns(CLOCK_BOOTTIME),
					   .real_ns = clock_ns(CLOCK_REALTIME) };
		uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - now.monotonic_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		best = now;
	}
	return best;
}

/* True if the difference of two clocks changed by more than the time between their readings. */
static bool has_stepped(uint64_t before_ns, uint64_t now_ns)
{
	uint64_t step_ns = now_ns - before_ns;

	return step_ns > STEP_NS && -step_ns > STEP_NS;
}

/* Records by how much CLOCK_BOOTTIME is ahead from the time from_ns on. */
static void add_sleep(struct clocks *clocks, uint64_t from_ns, uint64_t ahead_ns)
{
	clocks->sleeps = xreallocarray(clocks->sleeps, clocks->n + 1, sizeof(*clocks->sleeps));
	clocks->sleeps[clocks->n++] = (struct clock_sleep){ from_ns, ahead_ns };
}

void clocks_read(struct clocks *clocks, const struct clock_times *now)
{
	uint64_t ahead_ns = now->boot_ns - now->monotonic_ns;
	uint64_t real_ns = now->real_ns - now->boot_ns;

	if (!clocks->n) {
		clocks->real_ns = real_ns;
		add_sleep(clocks, 0, ahead_ns);
	}
	if (has_stepped(clocks->sleeps[clocks->n - 1].ahead_ns, ahead_ns))
		add_sleep(clocks, clocks->read_ns, ahead_ns);
	if (has_stepped(clocks->real_ns, real_ns))
		clocks->real_ns = real_ns;
	clocks->read_ns = now->monotonic_ns;
}

uint64_t clocks_boot_ns(const struct clocks *clocks, uint64_t monotonic_ns)
{
	size_t i = clocks->n;

	while (i > 1 && clocks->sleeps[i - 1].from_ns > monotonic_ns)
		i--;
	return monotonic_ns + (i ? clocks->sleeps[i - 1].ahead_ns : 0);
}

uint64_t clocks_real_ns(const struct clocks *clocks, uint64_t monotonic_ns)
{
	return clocks->real_ns + clocks_boot_ns(clocks, monotonic_ns);
}

void zone_refresh(struct zone *zone, uint64_t now_ns)
{
	bool first = !zone->looked_ns;
	struct stat now = { 0 };

	if ((!first && now_ns - zone->looked_ns < ZONE_NS) || getenv("TZ"))
		return;
	zone->looked_ns = now_ns;
	stat("/etc/localtime", &now);
	if (!first && !file_same(&now, &zone->file)) {
		/* glibc rereads the file only after TZ has changed. */
		setenv("TZ", "UTC", 1);
		tzset();
		unsetenv("TZ");
		tzset();
	}
	zone->file = now;
}

void clocks_free(struct clocks *clocks)
{
	free(clocks->sleeps);
	*clocks = (struct clocks){ 0 };
}

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
