/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times of a process that its sites tell: the lost time (neither running nor waits of class
 * parked), and I/O that its threads polled for.
 */
#ifndef STALLTOP_MODEL_TRACED_LOST_H
#define STALLTOP_MODEL_TRACED_LOST_H

#include "model/traced_sites.h"

/*
 * Sets traced->lost_ns and lost_known by the classes of the sites in the interval of the reading
 * `epoch`. Time in a state that no site has gets the usual class of that state. alone: all sites
 * are the task's own; else its share of a state with waits of several classes is not known.
 */
void traced_lose(const struct traced_process *process, uint64_t epoch, bool alone,
		 struct traced *traced);

/* Whether a site's waits are for completions of a disk: time of I/O, though its threads polled. */
bool traced_is_of_disk(const struct traced_site *site);

/* Makes polling time of I/O. */
void traced_move_polling(struct wait_states *states, uint64_t ns);

/*
 * Makes the time of the interval of the reading `epoch` in which a process waited for completions
 * of a disk, by its sites, time of I/O.
 */
void traced_move_completions(const struct traced_process *process, uint64_t epoch,
			     struct wait_states *states);

#endif
