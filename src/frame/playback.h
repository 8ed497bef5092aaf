/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded samples, which replace the machine when the sampler plays a recording. */
#pragma once

#include "frame/frame.h"

/* The parts of a frame besides its samples; pointers stay valid while the playback is open. */
struct playback_record {
	struct frame_head head;
	bool baseline; /* there is no interval before it */
	bool bare; /* everything made from rows is left out */
	size_t tasks; /* living ones */
	struct system_sample system;
	const struct clocks *clocks;
	/* The trace, NULL: none; and per element of the sample its part, NULL: not traced. */
	const struct trace_frame *trace;
	const struct traced *const *traced;
};

struct playback {
	void *state;
	bool threads; /* rows are threads */
	/*
	 * Fills the next sample, replacing its contents; prev: the previous one, in which times of
	 * reading may be corrected, NULL: none. 0, -ENODATA at the end, or -errno.
	 */
	int (*next)(void *state, struct sample *prev, struct sample *cur,
		    struct playback_record *result);
	/* The readings of a group for the last sample and the one before it, or NULL. */
	void (*group)(void *state, const char *path, const struct cgroup_sample **now,
		      const struct cgroup_sample **before);
};

/* Adds traced data to a frame built from the sample. */
void playback_trace(const struct playback_record *result, struct frame *frame,
		    struct frame_info *info);
