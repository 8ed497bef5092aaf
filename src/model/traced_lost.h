/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the traced time of tasks was lost: neither running nor waits of class parked. */
#ifndef STALLTOP_MODEL_TRACED_LOST_H
#define STALLTOP_MODEL_TRACED_LOST_H

#include "model/lives.h"

/*
 * Sets traced->lost_ns and lost_known by the classes of the sites in the interval of the reading
 * `epoch`. What no site has in a state is as that state mostly is. alone: all sites are the task's
 * own, else it is not known which were its in a state with waits of several classes.
 */
void traced_lose(const struct traced_process *process, uint64_t epoch, bool alone,
		 struct traced *traced);

#endif
