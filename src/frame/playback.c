/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/playback.h"

void playback_trace(const struct playback_record *moment, struct frame *frame,
		    struct frame_info *info)
{
	info->trace = moment->trace;
	for (size_t i = 0; moment->trace && i < frame->n; i++) {
		struct row *row = &frame->rows[i];

		row->traced = moment->traced[i];
		if (row->traced)
			frame_resolve(frame, row);
	}
}
