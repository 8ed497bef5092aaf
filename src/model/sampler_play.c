/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a recording. */
#include "config.h"

#include "model/group.h"
#include "model/notes.h"
#include "model/playback.h"
#include "model/sampler.h"
#include "model/sampler_parts.h"

/* Copies what was recorded of a frame besides its samples. */
static void copy_recorded(struct sampler *sampler, const struct playback_moment *moment,
			  const struct turn *turn)
{
	struct frame_info *info = turn->info;

	info->head = moment->head;
	info->bare = moment->bare;
	if (moment->bare)
		info->tasks = moment->tasks;
	info->clocks = moment->clocks;
	info->threads = sampler->config->playback->threads;
	info->system = &sampler->systems[turn->next];
	info->system_before = info->prev ? &sampler->systems[sampler->now] : NULL;
	info->some = sampler->config->pids;
	notes_sort(info);
}

/* Has rows looked at that were kept waiting: evidence_read() did. */
static void rouse_kept(struct frame *frame)
{
	uint64_t ns;

	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].still && row_hang(frame, &frame->rows[i], &ns))
			frame_rouse(frame, &frame->rows[i]);
}

int sampler_play(struct sampler *sampler, const struct frame **out)
{
	const struct playback *playback = sampler->config->playback;
	struct turn turn = sampler_turn(sampler);
	struct playback_moment moment = { 0 };
	struct frame_options options = { .since_start = sampler->config->since_start };
	int err = playback->next(playback->state, turn.prev, turn.cur, &moment);

	groups_above_tick(&sampler->above);
	if (err)
		return err;
	sampler->systems[turn.next] = moment.system;
	options.unknown = moment.head.unknown;
	options.machine = sampler_machine(sampler, &turn);
	frame_build(turn.frame, turn.info, moment.baseline ? NULL : turn.prev, turn.cur, &options);
	turn.frame->group_by = group_table[playback->threads ? GROUP_THREAD : GROUP_PROCESS].id;
	rouse_kept(turn.frame);
	playback_trace(&moment, turn.frame, turn.info);
	copy_recorded(sampler, &moment, &turn);
	sampler_note_clock(&turn);
	*out = sampler_turned(sampler, &turn);
	return 0;
}

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
