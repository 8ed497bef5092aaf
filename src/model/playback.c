/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/playback.h"

void playback_trace(const struct playback_moment *moment, struct frame *frame,
		    struct frame_info *info)
{
	info->trace = moment->trace;
	for (size_t i = 0; moment->trace && i < frame->n; i++) {
		struct row *row = &frame->rows[i];

		row->traced = moment->traced[i];
		/* Does as trace_book_rows(). */
		if (row->traced && !info->since_start)
			frame_take_traced(frame, row);
	}
}
