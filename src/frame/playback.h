/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded samples, which stand in for the machine where the sampler plays a recording. */
#pragma once

#include "frame/frame.h"

/* The parts of a frame besides its samples; pointers stay valid while the playback is open. */
struct playback_record {
	struct frame_head head;
	bool baseline; /* there is no interval before it */
	bool bare; /* what has rows is left out */
	size_t tasks; /* that live */
	struct system_sample system;
	const struct clocks *clocks;
	/* The trace, NULL: none; and the part of each element of the sample, NULL: not traced. */
	const struct trace_frame *trace;
	const struct traced *const *traced;
};

struct playback {
	void *state;
	bool threads; /* rows are threads */
	/*
	 * Fills the next sample, in place of what it holds; prev: the one filled before, in which
	 * times of reading may be corrected, NULL: none. 0, -ENODATA at the end, or -errno.
	 */
	int (*next)(void *state, struct sample *prev, struct sample *cur,
		    struct playback_record *result);
	/* The readings of a group for the last sample and the one filled before it, or NULL. */
	void (*group)(void *state, const char *path, const struct cgroup_sample **now,
		      const struct cgroup_sample **before);
};

/* Puts what was traced into a frame that was built of the sample. */
void playback_trace(const struct playback_record *result, struct frame *frame,
		    struct frame_info *info);
