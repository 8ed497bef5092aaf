/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts times between clocks. CLOCK_MONOTONIC, which identifies tasks, stops while the machine
 * is suspended; CLOCK_BOOTTIME goes on; CLOCK_REALTIME can be set at any time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* One moment by all clocks, in ns. */
struct clock_times {
	uint64_t monotonic_ns, boot_ns, real_ns;
};

/* By how much CLOCK_BOOTTIME was ahead of CLOCK_MONOTONIC, and from which time on. */
struct clock_sleep {
	uint64_t from_ns, ahead_ns;
};

/* All readings added so far; zero-initialised: none. */
struct clocks {
	uint64_t read_ns; /* CLOCK_MONOTONIC of the last reading */
	uint64_t real_ns; /* CLOCK_REALTIME when CLOCK_BOOTTIME was 0, as the clock is set now */
	struct clock_sleep *sleeps; /* the first offset is from the first reading */
	size_t n;
};

/* Reads all clocks, as close together as possible. */
struct clock_times clocks_now(void);

/*
 * Adds a reading. A suspension between two readings is assumed to have followed the first of them
 * at once.
 */
void clocks_read(struct clocks *clocks, const struct clock_times *now);

/* Convert a CLOCK_MONOTONIC time; times before the first reading use its offset. */
uint64_t clocks_boot_ns(const struct clocks *clocks, uint64_t monotonic_ns);
uint64_t clocks_real_ns(const struct clocks *clocks, uint64_t monotonic_ns);

void clocks_free(struct clocks *clocks);

/* The machine's time zone, /etc/localtime; zero-initialised: not checked yet. */
struct zone {
	struct stat file;
	uint64_t looked_ns;
};

/*
 * Switches local times to the new zone when /etc/localtime has changed, which libc does not notice.
 * Checked every few seconds. Does nothing where TZ names the zone.
 */
void zone_refresh(struct zone *zone, uint64_t now_ns);

/* The times at which samples are due: an absolute grid, so that nothing drifts or queues. */

struct ticker {
	uint64_t due_ns; /* CLOCK_MONOTONIC of the next sample */
	uint64_t interval_ns; /* above 0 */
};

/* A grid whose first point is now. */
void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns);

/*
 * Call before each sample: skips points that have passed without a sample, except the last. Returns
 * how many; the interval that ends with this sample is longer by that many.
 */
uint64_t ticker_late(struct ticker *ticker, uint64_t now_ns);

/*
 * Call after each sample: moves to the next point. Points that have passed by now are skipped, not
 * made up for; returns how many.
 */
uint64_t ticker_advance(struct ticker *ticker, uint64_t now_ns);
