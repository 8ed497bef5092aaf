/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the screen looks back, and at what: the state of rewind.c. */
#ifndef STALLTOP_UI_REWIND_STATE_H
#define STALLTOP_UI_REWIND_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "history/trends.h"

struct frame;
struct sampler;

/* The speeds of a playback are powers of two. */
#define REWIND_SLOWEST (-3)
#define REWIND_FASTEST 6

struct rewind {
	struct lookback *lookback; /* NULL: nothing is kept */
	bool lookback_ended; /* nothing more is kept after an error */
	struct past *past; /* NULL: there is nothing to look back at */
	bool replay; /* all frames are recorded ones, without a present */
	bool back; /* the screen shows a moment of the past */
	uint64_t left_ns; /* the time of the present when it was left (CLOCK_REALTIME) */
	bool timeline; /* also while it shows the present */
	bool playing;
	int speed; /* the power of two */
	uint64_t play_due_ns; /* CLOCK_MONOTONIC; while playing: when the next moment is due */
	struct trends trends; /* of the frame that is shown */
	uint64_t trends_ns; /* the time of that frame; 0: not taken */
	bool trends_follow; /* they belong to the next frame */
	unsigned jumps; /* counts all moves but those to the next moment */
	/* The present, while the past is shown: */
	struct sampler *live;
	const struct frame *live_frame;
	const struct frame
		*unrecorded; /* a frame of groups, until it is recorded with their figures */
	const struct frame *untaken; /* the last frame, until it is kept; NULL: it is */
};

#endif
