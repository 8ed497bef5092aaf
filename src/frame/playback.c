/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/playback.h"

void playback_trace(const struct playback_record *result, struct frame *frame,
		    struct frame_info *info)
{
	info->trace = result->trace;
	for (size_t i = 0; result->trace && i < frame->n; i++) {
		struct row *row = &frame->rows[i];

		row->traced = result->traced[i];
		if (row->traced)
			frame_resolve(frame, row);
	}
}
