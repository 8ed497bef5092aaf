/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records frames. What is recorded is written by a process of its own, so that nobody waits for the
 * disk here.
 */
#ifndef STALLTOP_HISTORY_RECORDER_H
#define STALLTOP_HISTORY_RECORDER_H

#include "history/segments.h"
#include "model/sampler.h"

struct recorder_config {
	const char *path; /* the file, which must not exist, or the folder */
	bool segments; /* it is a folder, which is made if need be */
	struct segment_limits limits;
	const char *program; /* the version of stalltop */
	/*
	 * With segments: what is sampled stays in memory for so long, and is written only with what
	 * comes while an incident lasts; 0: all is written.
	 */
	uint64_t before_ns;
};

struct recorder;

/*
 * Makes the first file and starts the process that writes. To be called before anything is opened
 * that this process must not keep open. 0 or -errno.
 */
int recorder_open(struct recorder **out, const struct recorder_config *config);

/*
 * Records a frame; folded: the same folded into groups, whose figures are recorded; NULL: none. A
 * frame that finds the queue full is dropped, and counted.
 */
void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded);

/* Says that an incident begins or is over (see before_ns). */
void recorder_incident(struct recorder *recorder, bool lasts);

/* When the oldest sample began that is still in memory (CLOCK_MONOTONIC); 0: there is none. */
uint64_t recorder_since_ns(const struct recorder *recorder);

/* How it stands, for the sampler; changes with recorder_add(). */
const struct record_status *recorder_status(const struct recorder *recorder);

/*
 * Ends the recording, when all that waits is written, for which it waits at most 5 s. 0, or the
 * -errno with which it ended before. NULL is allowed.
 */
int recorder_close(struct recorder *recorder);

#endif
