/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the clocks stand to each other. CLOCK_MONOTONIC, by which tasks are known, stops while the
 * machine is suspended; CLOCK_BOOTTIME goes on; CLOCK_REALTIME can be set at any time.
 */
#ifndef STALLTOP_BASE_CLOCKS_H
#define STALLTOP_BASE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* One time by all clocks, in ns. */
struct clock_times {
	uint64_t monotonic_ns, boot_ns, real_ns;
};

/* That much CLOCK_BOOTTIME was ahead of CLOCK_MONOTONIC from that time on. */
struct clock_sleep {
	uint64_t from_ns, ahead_ns;
};

/* Zero-initialised nothing is known yet. */
struct clocks {
	uint64_t read_ns; /* CLOCK_MONOTONIC of the last reading */
	uint64_t real_ns; /* CLOCK_REALTIME when CLOCK_BOOTTIME was 0, as the clock is set now */
	struct clock_sleep *sleeps; /* the first is that of the first reading */
	size_t n;
};

/* Reads all clocks, as near to one time as can be had. */
struct clock_times clocks_now(void);

/*
 * Takes a reading in. A suspension lies somewhere between two readings, and is taken to have come
 * right after the first of them.
 */
void clocks_read(struct clocks *clocks, const struct clock_times *now);

/* A time of CLOCK_MONOTONIC by the other clocks; of before the first reading as far as is known. */
uint64_t clocks_boot_ns(const struct clocks *clocks, uint64_t monotonic_ns);
uint64_t clocks_real_ns(const struct clocks *clocks, uint64_t monotonic_ns);

void clocks_free(struct clocks *clocks);

#endif
