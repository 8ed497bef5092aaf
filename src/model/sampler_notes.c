/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions that degrade a frame. */
#include "kernel/proc.h"
#include "model/notes.h"
#include "model/sampler.h"
#include "model/sampler_parts.h"

void sampler_note_clock(const struct turn *turn)
{
	if (turn->prev && turn->prev->real_ns > turn->cur->real_ns)
		frame_note(turn->info, NOTE_CLOCK_BACK, 0);
}

void sampler_note_threaded(const struct sampler *sampler, const struct cgroup_sample *group,
			   struct frame_info *info)
{
	if (group && group->threaded && !sampler->config->threads)
		frame_note(info, NOTE_GROUP_THREADED, 0);
}

/* Notes why the source is not the best one. */
static void note_source(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	/*
	 * Sampling works without it: noted only in the first frame and the first interval, and not
	 * where note_exact() says it.
	 */
	if (sampler->source.refused_many && sampler->ticks < 2 && !sampler->config->exact)
		frame_note(info, NOTE_NO_BPF, (uint64_t)-sampler->source.refused_many);
	/* The source taken instead may know everything. */
	if (sampler->source.ops->kinds == DELAY_ALL)
		return;
	if (!sampler->source.refused)
		return;
	refusal = note_of_refusal(sampler->source.refused);
	frame_note(info, refusal.id, refusal.value);
}

/* Notes why waits are not measured, where they should be. */
static void note_exact(const struct sampler *sampler, struct frame_info *info)
{
	const struct source *source = &sampler->source;
	int err;

	if (!sampler->config->exact)
		return;
	if (!source->ops->exact) {
		frame_note(info, NOTE_EXACT_SOURCE, 0);
		return;
	}
	err = source->ops->exact(source->state);
	if (err)
		frame_note(info, NOTE_EXACT_REFUSED, (uint64_t)-err);
}

/* Notes what is missing in the records of exiting tasks. */
static void note_exits(const struct sampler *sampler, struct frame_info *info)
{
	int err = sampler->exits ? exits_stats(sampler->exits)->error : sampler->exits_refused;

	if (err)
		frame_note(info, NOTE_EXITS_REFUSED, (uint64_t)-err);
	if (info->head.lost > 0)
		frame_note(info, NOTE_EXITS_LOST, (uint64_t)info->head.lost);
	if (info->head.others)
		frame_note(info, NOTE_EXITS_FOLDED, info->head.others);
	if (sampler->exits && !exits_stats(sampler->exits)->exact)
		frame_note(info, NOTE_EXITS_INEXACT, 0);
}

/*
 * Notes tasks that ended before their cgroup was read and so are not shown, where all is restricted
 * to one cgroup.
 */
static void note_unknown(const struct sampler *sampler, struct frame_info *info)
{
	uint64_t unknown = 0;

	for (size_t i = 0; info->head.cgroup && i < info->cur->left; i++) {
		const struct task_raw *raw = info->cur->raw[info->cur->n + i];

		if (!raw->task->cgroup)
			unknown += raw->counters.members;
	}
	if (unknown && sampler->needs & NEED_CGROUP)
		frame_note(info, NOTE_GROUP_UNKNOWN, unknown);
}

/* Notes why waits are not traced, or what the trace lacks. */
static void note_trace(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	if (sampler->tracing)
		tracing_note(sampler->tracing, info);
	if (!sampler->trace_refused)
		return;
	refusal = tracing_note_of(sampler->trace_refused);
	frame_note(info, refusal.id, refusal.value);
}

/* Notes what is wrong with the recording. */
static void note_record(const struct record_status *record, struct frame_info *info)
{
	if (record && record->dropped)
		frame_note(info, NOTE_RECORD_DROPPED, record->dropped);
	if (record && record->error)
		frame_note(info, NOTE_RECORD_ENDED, (uint64_t)-record->error);
}

void sampler_note(const struct sampler *sampler, struct frame_info *info, size_t older,
		  uint64_t skipped)
{
	note_record(sampler->config->record, info);
	note_source(sampler, info);
	note_exact(sampler, info);
	if (sampler->delayacct.state == DELAYACCT_OFF)
		frame_note(info, NOTE_DELAYACCT_OFF, 0);
	/* This costs little and nothing is missing, so it is noted only at the start, too. */
	if (sampler->left_on && sampler->ticks < 2)
		frame_note(info, NOTE_DELAYACCT_LEFT, 0);
	/* procfs lacks the other delays, and a blkio of 0 alone proves nothing. */
	if (older)
		frame_note(info,
			   sampler->source.ops->kinds == DELAY_ALL ? NOTE_DELAYACCT_OLDER
								   : NOTE_DELAYACCT_UNSURE,
			   older);
	if (sampler->delayacct.toggled)
		frame_note(info, NOTE_DELAYACCT_TOGGLED, 0);
	note_system(info);
	if (info->stale)
		frame_note(info, NOTE_STALE_STAMP, info->stale);
	if (info->cur->unread)
		frame_note_error(info, NOTE_UNREAD, info->cur->unread, info->cur->unread_error);
	if (sampler->hidden)
		frame_note(info, NOTE_HIDDEN, 0);
	if (proc_hangs(sampler->config->proc))
		frame_note(info, NOTE_READS_HANG, proc_hangs(sampler->config->proc));
	note_exits(sampler, info);
	note_trace(sampler, info);
	note_unknown(sampler, info);
	if (skipped)
		frame_note(info, NOTE_LATE, skipped);
	if (sampler->config->triggers && triggers_gone(sampler->config->triggers))
		frame_note(info, NOTE_TRIGGER_GONE, triggers_gone(sampler->config->triggers));
	notes_sort(info);
}
