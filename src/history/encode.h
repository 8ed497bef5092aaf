/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes moments of frames: what a reader of a sample does not know from the sample before. An
 * element is left out if nothing happened to it; rebuild.h says what a reader makes of that.
 */
#ifndef STALLTOP_HISTORY_ENCODE_H
#define STALLTOP_HISTORY_ENCODE_H

#include "history/moment.h"

struct encoder;

/*
 * Opens an encoder; slot: 0, or 1 for a second encoder of the same frames. A task has room for the
 * numbers of two encoders.
 */
struct encoder *encoder_open(unsigned slot);

/* Makes the next moment a whole one that numbers texts and tasks anew, for a new file. */
void encoder_begin_segment(struct encoder *encoder);

/*
 * Makes the moment of a frame, valid until the next call. The frame must follow the one before,
 * unless it has no interval. folded: the same frame folded into groups, whose figures are encoded,
 * too; NULL: none. The caller must then say what became of the moment: encoder_keep() or
 * encoder_drop().
 */
const struct moment *encoder_encode(struct encoder *encoder, const struct frame *frame,
				    const struct frame *folded);

/* Says that the last moment is in the recording. */
void encoder_keep(struct encoder *encoder);

/* Says that the last moment is not in the recording: the next is a whole one. */
void encoder_drop(struct encoder *encoder);

/*
 * Gives back the memory that this moment, or larger ones before it, took; the last moment is not
 * valid any more.
 */
void encoder_trim(struct encoder *encoder);

void encoder_close(struct encoder *encoder);

#endif
