/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records frames. A separate process writes them, so that the caller does not wait for the disk. */
#pragma once

#include "history/segments.h"
#include "sampler/sampler.h"

struct recorder_config {
	const char *path; /* the file, which must not exist, or the folder */
	bool segments; /* path is a folder, created if it does not exist */
	struct segment_limits limits;
	const char *program; /* the version of stalltop */
	/*
	 * With segments: samples stay in memory for this long, and are written only if an incident
	 * happens, with those during it; 0: all are written.
	 */
	uint64_t before_ns;
};

struct recorder;

/*
 * Creates the first file and starts the writing process. The caller must not yet have opened what
 * that process must not keep open. 0 or -errno.
 */
int recorder_open(struct recorder **out, const struct recorder_config *config);

/*
 * Records a frame; folded: the same frame folded into groups, whose figures are recorded, too;
 * NULL: none. found: see record_entry. A frame that finds the queue full is dropped and counted.
 */
void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded,
		  unsigned found);

/* Reports that an incident begins or is over (see before_ns). */
void recorder_incident(struct recorder *recorder, bool lasts);

/* Returns when the oldest sample in memory began (CLOCK_MONOTONIC); 0: there is none. */
uint64_t recorder_since_ns(const struct recorder *recorder);

/* The path of its file or directory. */
const char *recorder_path(const struct recorder *recorder);

/* Returns the bytes written so far: 0 if only incidents are, and there was none. */
uint64_t recorder_bytes(const struct recorder *recorder);

/* Returns the status for the sampler; recorder_add() updates it. */
const struct record_status *recorder_status(const struct recorder *recorder);

/*
 * Ends the recording after all waiting records are written; waits at most 5 s for that. 0, or the
 * -errno of a failed recording. NULL is allowed.
 */
int recorder_close(struct recorder *recorder);
