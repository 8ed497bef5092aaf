/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that fire triggers without a report by the kernel: hangs, and processes that it kills. */
#ifndef STALLTOP_MODEL_INCIDENTS_H
#define STALLTOP_MODEL_INCIDENTS_H

#include "model/frame.h"
#include "model/triggers.h"

/* The incidents seen so far; zero-initialised: none. */
struct incidents {
	bool counted;
	uint64_t killed; /* processes that were killed for want of memory, since boot */
};

/*
 * Looks at the kernel's count of kills and at a frame, for those triggers of the set. A hang fires
 * once: when a wait gets older than asked for.
 */
void incidents_look(struct incidents *incidents, struct trigger_set *set, int procfd,
		    const struct frame *frame, uint64_t now_ns);

/*
 * Reads how many processes were killed from the text of /proc/vmstat. False where it does not say
 * so (before 4.13).
 */
bool incidents_parse_kills(const char *text, size_t len, uint64_t *killed);

#endif
