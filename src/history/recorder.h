/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records frames. A process of its own writes them, so that the caller does not wait for the disk.
 */
#pragma once

#include "history/segments.h"
#include "sampler/sampler.h"

struct recorder_config {
	const char *path; /* the file, which must not exist, or the folder */
	bool segments; /* path is a folder, which is made if it does not exist */
	struct segment_limits limits;
	const char *program; /* the version of stalltop */
	/*
	 * With segments: samples stay in memory for this long, and are written only if an incident
	 * happens, with those that follow while it lasts; 0: all are written.
	 */
	uint64_t before_ns;
};

struct recorder;

/*
 * Makes the first file and starts the process that writes. The caller must not have opened yet what
 * that process must not keep open. 0 or -errno.
 */
int recorder_open(struct recorder **out, const struct recorder_config *config);

/*
 * Records a frame; folded: the same frame folded into groups, whose figures are recorded, too;
 * NULL: none. found: see record_entry. A frame that finds the queue full is dropped, and counted.
 */
void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded,
		  unsigned found);

/* Says that an incident begins or is over (see before_ns). */
void recorder_incident(struct recorder *recorder, bool lasts);

/* Returns when the oldest sample in memory began (CLOCK_MONOTONIC); 0: there is none. */
uint64_t recorder_since_ns(const struct recorder *recorder);

/* The path of its file or directory. */
const char *recorder_path(const struct recorder *recorder);

/* Returns how many bytes were written so far: 0 where only incidents are, and there was none. */
uint64_t recorder_bytes(const struct recorder *recorder);

/* Returns the status for the sampler; recorder_add() changes it. */
const struct record_status *recorder_status(const struct recorder *recorder);

/*
 * Ends the recording after all waiting records are written; waits at most 5 s for that. 0, or the
 * -errno with which recording had failed. NULL is allowed.
 */
int recorder_close(struct recorder *recorder);
