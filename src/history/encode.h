/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes moments of frames: of each sample what a reader does not know from the sample before. An
 * element is left out if nothing happened to it; see rebuild.h for what a reader makes of that.
 */
#ifndef STALLTOP_HISTORY_ENCODE_H
#define STALLTOP_HISTORY_ENCODE_H

#include "history/moment.h"

struct encoder;

/*
 * Opens one; slot: 0, or 1 for a second one of the same frames, as tasks have room for the numbers
 * of two.
 */
struct encoder *encoder_open(unsigned slot);

/* Has the next moment stand for itself: texts and tasks are numbered anew, for a new file. */
void encoder_begin_segment(struct encoder *encoder);

/*
 * Makes the moment of a frame, valid until the next call. The frame must follow on the one before,
 * unless it has no interval. folded: the same folded into groups, whose figures are taken; NULL:
 * none. What becomes of the moment is to be told: encoder_keep() or encoder_drop().
 */
const struct moment *encoder_take(struct encoder *encoder, const struct frame *frame,
				  const struct frame *folded);

/* Says that the moment made last got into the recording. */
void encoder_keep(struct encoder *encoder);

/* Says that it did not: the next stands for itself. */
void encoder_drop(struct encoder *encoder);

/*
 * Gives memory back that this moment, or larger ones before it, took; there is none to look at
 * then.
 */
void encoder_trim(struct encoder *encoder);

void encoder_close(struct encoder *encoder);

#endif
