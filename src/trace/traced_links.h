/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wake-up links per traced site and interval: what wakers did while they were waited for, as deltas
 * of the BPF program's totals.
 */
#pragma once

#include "trace/traced_sites.h"

/* Links of an interval. Zero-initialised: none. */
struct traced_links {
	struct traced_link *grown; /* growth of each link */
	size_t ngrown, grown_cap;
	struct site_link *all; /* made from those by traced_links_settle() */
	size_t n, cap;
};

/* Starts an interval without links. */
void traced_links_begin(struct traced_links *links);

/* Adds the growth of the links of a slot, after all sites were read. Copies them. */
void traced_links_update(struct traced_links *links, const struct traced_sites *sites,
			 uint32_t slot, const struct trace_links *record);

/*
 * Makes the links of the interval, in order, between sites that are in it; waiters: of the same
 * reading, including threads that hold what others wait for.
 */
void traced_links_settle(struct traced_links *links, const struct traced_sites *sites,
			 const struct trace_waiter *waiters, size_t n);

void traced_links_free(struct traced_links *links);

/*
 * Times of a process derived from its sites: the lost time (neither running nor waits of class
 * parked), and I/O that its threads polled for.
 */

/*
 * Sets traced->lost_ns and lost_known by the classes of the sites in the interval of the reading
 * `epoch`. Time in a state without a site gets the usual class of that state. alone: all sites are
 * the task's own (process NULL: there are none); else its share of a state with waits of several
 * classes is unknown.
 */
void traced_lose(const struct traced_process *process, uint64_t epoch, bool alone,
		 struct traced *traced);

/* True if a site's waits are for completions of a disk: time of I/O, though its threads polled. */
bool traced_is_of_disk(const struct traced_site *site);

/* Counts polling time as I/O. */
void traced_move_polling(struct wait_states *states, uint64_t ns);

/*
 * Counts the time of the interval of the reading `epoch` in which a process waited for completions
 * of a disk, by its sites, as I/O. Returns whether there was any.
 */
bool traced_move_completions(const struct traced_process *process, uint64_t epoch,
			     struct wait_states *states);
