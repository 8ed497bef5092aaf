/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples, and the frames made from them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "frame/group.h"
#include "frame/notes.h"
#include "frame/playback.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "read/blocked_scan.h"
#include "read/exit_merge.h"
#include "sampler/sampler.h"
#include "sampler/sampler_parts.h"

/* Records of exiting tasks: where a sampler takes them, and how many it keeps. */

/* Numbers of exit records kept one by one until the next sample, and kept by name after that. */
#define RECORDS_MAX 65536
#define NAMES_MAX (RECORDS_MAX / 2)

/* Drops records of processes that are not selected. Returns how many remain, in front. */
static size_t keep_asked(const struct sampler_config *config, struct exit_record *records, size_t n)
{
	size_t kept = 0;

	if (!config->pids)
		return n;
	for (size_t i = 0; i < n; i++)
		/* Before version 12 a record lacks its thread group. */
		if (pidlist_has(config->pids, config->npids,
				records[i].tgid ? records[i].tgid : records[i].pid))
			records[kept++] = records[i];
	return kept;
}

/* Stores measured figures in new records. */
static void correct_records(struct sampler *sampler, struct exit_batch *batch)
{
	const struct source *source = &sampler->source;

	if (source->ops->correct_exits)
		sampler->known_anew +=
			source->ops->correct_exits(source->state, batch->records, batch->n);
	if (sampler->tracing)
		tracing_exits(sampler->tracing, batch->records, batch->n, batch->threads);
}

/* True if nothing of the task is left: not even a zombie. */
static bool has_gone(void *arg, pid_t pid)
{
	const struct sampler *sampler = arg;
	char path[16];

	snprintf(path, sizeof(path), "%d", (int)pid);
	return faccessat(sampler->config->proc->fd, path, F_OK, 0) != 0;
}

/* Merges tasks that exited since the previous sample into this one. */
static int join_exits(struct sampler *sampler, struct tick *tick)
{
	struct frame_info *info = tick->info;
	const struct exits_stats *stats;
	size_t kept, known;
	struct exit_batch batch = { .threads = sampler->config->threads,
				    .io = sampler->needs & (NEED_IO | NEED_ENDED_IO),
				    .gone = has_gone,
				    .arg = sampler };

	info->head.exits = info->head.lost = -1;
	info->head.others = 0;
	if (!sampler->exits)
		return 0;
	exits_drain(sampler->exits);
	batch.records = exits_records(sampler->exits, &batch.n);
	correct_records(sampler, &batch);
	batch.n = keep_asked(sampler->config, batch.records, batch.n);
	batch.fields = exits_fields(sampler->exits);
	info->head.others = exit_fold_others(&batch);
	kept = exit_merge(&batch, tick->prev, tick->cur);
	if (kept)
		exits_keep(sampler->exits, kept);
	else
		exits_clear(sampler->exits);
	sampler->fold_at = 0;
	exits_want_fields(sampler->exits,
			  sampler->needs & (NEED_RECORD | NEED_RANGE | NEED_IO | NEED_ENDED_IO));
	stats = exits_stats(sampler->exits);
	known = sampler->known_anew;
	if (tick->prev) {
		info->head.exits = (int64_t)(stats->received - sampler->exits_before.received);
		info->head.lost = (int64_t)(stats->lost - sampler->exits_before.lost);
		tick->impossible = stats->impossible - sampler->exits_before.impossible;
		tick->impossible -= known < tick->impossible ? known : tick->impossible;
	}
	sampler->lost = info->head.lost > 0;
	sampler->known_anew = 0;
	sampler->exits_before = *stats;
	return 0;
}

void sampler_drain(struct sampler *sampler)
{
	struct exit_batch batch = { .threads = sampler->config->threads,
				    .gone = has_gone,
				    .arg = sampler };

	if (sampler->tracing)
		tracing_learn(sampler->tracing);
	if (!sampler->exits)
		return;
	exits_drain(sampler->exits);
	batch.records = exits_records(sampler->exits, &batch.n);
	batch.fields = exits_fields(sampler->exits);
	correct_records(sampler, &batch);
	/* The number of tasks in a long interval has no bound. */
	if (batch.n <= (sampler->fold_at ? sampler->fold_at : RECORDS_MAX) || !sampler->ticks)
		return;
	batch.n = exit_fold_kept(&batch, &sampler->samples[sampler->now], NAMES_MAX);
	exits_keep(sampler->exits, batch.n);
	/* The next folding waits for twice as many, whatever cannot be folded. */
	sampler->fold_at = batch.n > NAMES_MAX ? 2 * batch.n : RECORDS_MAX;
}

uint64_t sampler_drain_due_ns(const struct sampler *sampler)
{
	uint64_t exits_ns = sampler->exits ? exits_due_ns(sampler->exits) : UINT64_MAX;
	uint64_t learn_ns = sampler->tracing ? tracing_learn_due_ns(sampler->tracing) : UINT64_MAX;

	return learn_ns < exits_ns ? learn_ns : exits_ns;
}

/* Stages of a frame from the machine. Each returns 0 or -errno. */

/*
 * Starts the sample. Exit records are drained before tasks are listed, so a later record may be of
 * a task started after the listing; see exit_merge.c.
 */
static int begin_sample(struct sampler *sampler, struct tick *tick)
{
	struct clock_times now;

	if (sampler->resting)
		sampler_open_exits(sampler);
	if (sampler->resting && sampler->trace_wanted)
		sampler_open_tracing(sampler);
	sampler->resting = false;
	delayacct_read(&sampler->delayacct);
	if (sampler->exits)
		exits_drain(sampler->exits);
	now = clocks_now();
	clocks_read(&sampler->clocks, &now);
	zone_refresh(&sampler->zone, now.monotonic_ns);
	tick->cur->begin_ns = clock_ns(CLOCK_MONOTONIC);
	tick->cur->real_ns = clock_ns(CLOCK_REALTIME);
	system_read(sampler->system, &tick->cur->system);
	return 0;
}

/* True if data that a source copies from the previous sample may be outdated. */
static bool is_unsettled(struct sampler *sampler)
{
	bool irq_new = sampler->delayacct.irq_seen != sampler->irq_seen;

	sampler->irq_seen = sampler->delayacct.irq_seen;
	return sampler->lost || irq_new || sampler->delayacct.toggled;
}

/* Reads the trace, and the counters of all tasks: the walk comes first in its source. */
static int read_tasks(struct sampler *sampler, struct tick *tick)
{
	const struct source *source = &sampler->source;
	struct sample none = { 0 }, *cur = tick->cur;
	unsigned needs = sampler->needs | (is_unsettled(sampler) ? NEED_IDENTITY : 0);
	int err;

	/* Data not taken now, as there is no sample, is part of the next reading. */
	if (sampler->tracing)
		tracing_read(sampler->tracing);
	err = source->ops->sample(source->state, tick->prev ? tick->prev : &none, cur, needs);
	cur->end_ns = clock_ns(CLOCK_MONOTONIC);
	if (err)
		sample_reset(cur);
	return err;
}

/* Finds the recovered time, if all processes are read and it is wanted. */
static int account_reaped(struct sampler *sampler, struct tick *tick)
{
	const struct sampler_config *config = sampler->config;
	struct account *account = &tick->info->head.account;
	enum account_seen seen = !sampler->exits ? ACCOUNT_SEEN_SOME
				 : sampler->lost ? ACCOUNT_SEEN_LOST
						 : ACCOUNT_SEEN_ALL;

	*account = (struct account){ 0 };
	if (!(sampler->needs & NEED_ACCOUNT) || config->pids || config->threads)
		sampler->accounts.primed = false;
	else
		account_reap(&sampler->accounts, tick->prev, tick->cur, seen, account);
	return 0;
}

/* Excludes delays that delay accounting does not know for tasks, or in this interval. */
static int mask_unknown(struct sampler *sampler, struct tick *tick)
{
	tick->older = delayacct_mask(&sampler->delayacct, tick->cur);
	/* The first interval after a switch may account one delay from a stale start stamp. */
	if (sampler->delayacct.toggled)
		tick->unknown = DELAYACCT_KINDS;
	return 0;
}

/* Reads names and other facts of tasks, and the waits of hung ones. */
static int read_facts(struct sampler *sampler, struct tick *tick)
{
	const struct sampler_config *config = sampler->config;

	taskinfo_update(sampler->info, tick->cur, sampler->needs, config->between, config->arg);
	/* Selected tasks always show what blocks them. */
	if (sampler->needs & NEED_HANGS || (config->pids && sampler->needs & NEED_EVIDENCE))
		blocked_scan_read(&sampler->blocked, tick->cur, config->threads);
	if (config->pids)
		stop_read(&sampler->blocked, tick->cur);
	return 0;
}

/* Matches the two samples, and computes time waited: frame_build(). */
static int match_samples(struct sampler *sampler, struct tick *tick)
{
	const struct frame_options options = { .since_start = sampler->config->since_start,
					       .unknown = tick->unknown,
					       .machine = sampler_machine(tick) };
	bool threads = sampler->config->playback ? sampler->config->playback->threads
						 : sampler->config->threads;

	frame_build(tick->frame, tick->info, tick->result.baseline ? NULL : tick->prev, tick->cur,
		    &options);
	tick->info->stale += tick->impossible;
	tick->info->threads = threads;
	tick->info->selected_only = sampler->config->pids;
	tick->info->system = &tick->cur->system;
	tick->info->system_before = tick->info->prev ? &tick->info->prev->system : NULL;
	tick->frame->group_by = group_table[threads ? GROUP_THREAD : GROUP_PROCESS].id;
	return 0;
}

/* Adds traced data to the rows; the previous frame is no longer shown. */
static int add_trace(struct sampler *sampler, struct tick *tick)
{
	tracing_close(sampler->stopped);
	sampler->stopped = NULL;
	if (sampler->tracing)
		tick->info->trace = tracing_frame(sampler->tracing, tick->frame);
	return 0;
}

/* Bounds accounted I/O waits by the pressure of groups. */
static int bound_rows(struct sampler *sampler, struct tick *tick)
{
	bool known = sampler->needs & NEED_CGROUP && sampler->hierarchy.name &&
		     sampler->hierarchy.version == 2;

	io_bounds_take(sampler->bounds, tick->frame, tick->info, known);
	return 0;
}

/* Tells the on-demand readers that a frame has begun. */
static int begin_frame(struct sampler *sampler, UNUSED struct tick *tick)
{
	if (sampler->groups)
		cgroup_reader_tick(sampler->groups);
	groups_above_tick(&sampler->above);
	if (sampler->waiting)
		waiting_renew(sampler->waiting);
	return 0;
}

/* Reads the pressure of the selected group. */
static int read_shown_group(struct sampler *sampler, struct tick *tick)
{
	struct psi_reading *pressure = &tick->cur->system.of_group;
	const struct cgroup_sample *now = NULL, *before;
	struct frame_info *info = tick->info;
	int err = -ENOENT;

	info->head.cgroup = sampler->config->cgroup;
	if (!info->head.cgroup)
		return 0;
	if (sampler->groups)
		err = cgroup_read(sampler->groups, info->head.cgroup, CGROUP_PRESSURE, &now,
				  &before);
	if (err)
		frame_note(info, NOTE_GROUP_GONE, 0);
	else if (now->error[PSI_CPU] && now->error[PSI_MEMORY] && now->error[PSI_IO])
		frame_note(info, NOTE_GROUP_PSI, (uint64_t)-now->error[PSI_CPU]);
	sampler_note_threaded(sampler, now, info);
	pressure->read_ns = tick->cur->system.pressure.read_ns;
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		bool there = !err && now->have & CGROUP_BIT(r);

		/* All are read together: the time of any holds for all. */
		if (there)
			pressure->read_ns = now->read_ns[r];

		pressure->psi[r] = there ? now->psi[r] : (struct psi){ 0 };
		pressure->error[r] = there ? 0 : -ENOENT;
	}
	return 0;
}

/* Fills in data not derived from the two samples, and completes the account. */
static int describe(struct sampler *sampler, struct tick *tick)
{
	const struct source_ops *ops = sampler->source.ops;
	struct frame_info *info = tick->info;
	uint64_t self_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + proc_cpu_ns(sampler->config->proc);

	info->clocks = &sampler->clocks;
	info->head.source = ops->name;
	info->head.hierarchy_version = sampler->hierarchy.name ? sampler->hierarchy.version : 0;
	info->head.hierarchy = sampler->hierarchy.name;
	info->head.taskstats_version = ops->version ? ops->version(sampler->source.state) : 0;
	info->head.delayacct = sampler->delayacct.state;
	info->head.measured = sampler_measuring(sampler) != NULL;
	info->head.self = info->interval_ns ? 100.0 * (double)(self_ns - sampler->self_ns) /
						      (double)info->interval_ns
					    : -1;
	sampler->self_ns = self_ns;
	info->head.account.run_ns = info->run_ns;
	if (!sampler->config->pids && !info->since_start)
		account_system(&info->head.account, info->system_before, info->system,
			       info->interval_ns, sampler->delayacct.irq_seen);
	return 0;
}

/* See evidence_read(). */
static void read_cpu_of(void *arg, const struct row *row)
{
	struct sampler *sampler = arg;
	struct sample *cur = &sampler->samples[(sampler->now + 1) % SAMPLES];

	taskinfo_fill(sampler->info, cur, row->place, NEED_CPU);
}

/* Reads what explains the most delayed rows. */
static int read_evidence(struct sampler *sampler, struct tick *tick)
{
	if (!(sampler->needs & NEED_EVIDENCE) || !tick->prev)
		return 0;
	evidence_read(sampler_evidence(sampler), sampler_waiting(sampler), tick->frame,
		      sampler->needs & NEED_HANGS || sampler->config->pids, read_cpu_of, sampler);
	return 0;
}

/* Notes all conditions that degrade the frame. */
static int note_all(struct sampler *sampler, struct tick *tick)
{
	sampler_note_clock(tick);
	sampler_note(sampler, tick);
	return 0;
}

/* Stages of a frame from a recording. */

/* Reads a sample from the recording. */
static int play_sample(struct sampler *sampler, struct tick *tick)
{
	const struct playback *playback = sampler->config->playback;
	int err = playback->next(playback->state, tick->prev, tick->cur, &tick->result);

	groups_above_tick(&sampler->above);
	if (err)
		return err;
	tick->cur->system = tick->result.system;
	tick->unknown = tick->result.head.unknown;
	return 0;
}

/* Marks rows of blocked tasks as changed, as evidence_read() does. */
static int mark_blocked_changed(UNUSED struct sampler *sampler, struct tick *tick)
{
	struct frame *frame = tick->frame;
	uint64_t ns;

	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].unchanged && row_hang(frame, &frame->rows[i], &ns))
			frame_mark_changed(frame, &frame->rows[i]);
	return 0;
}

/* Adds the frame's recorded data besides its samples. */
static int copy_recorded(UNUSED struct sampler *sampler, struct tick *tick)
{
	const struct playback_record *result = &tick->result;
	struct frame_info *info = tick->info;

	playback_trace(result, tick->frame, info);
	info->head = result->head;
	info->bare = result->bare;
	if (result->bare)
		info->tasks = result->tasks;
	info->clocks = result->clocks;
	notes_sort(info);
	sampler_note_clock(tick);
	return 0;
}

typedef int stage_fn(struct sampler *sampler, struct tick *tick);

/* The stages of a frame, in order: each uses the results of the earlier ones. */
static stage_fn *const live_stages[] = {
	begin_sample, /* the machine's figures */
	read_tasks, /* counters of all tasks, by the source */
	join_exits, /* tasks that exited since the previous sample */
	account_reaped, mask_unknown, /* delays unknown to delay accounting */
	read_facts, /* names; waits of hung tasks */
	match_samples, /* matches the samples, computes time waited */
	add_trace, /* recomputes traced rows */
	bound_rows, /* recomputes rows by the pressure of their groups */
	begin_frame,	read_shown_group,     describe,
	read_evidence, /* of the most delayed rows */
	note_all,	sampler_adapt_source, NULL,
};
static stage_fn *const recorded_stages[] = {
	play_sample, match_samples, mark_blocked_changed, copy_recorded, NULL,
};

int sampler_tick(struct sampler *sampler, uint64_t skipped, const struct frame **out)
{
	stage_fn *const *stage = sampler->config->playback ? recorded_stages : live_stages;
	struct tick tick = tick_begin(sampler);
	int err = 0;

	tick.skipped = skipped;
	for (; *stage && !err; stage++)
		err = (*stage)(sampler, &tick);
	if (err)
		return err;
	sampler->now = tick.next;
	sampler->ticks++;
	*out = tick.frame;
	debug_log("%s %llu: %zu rows, %llu us", sampler->config->playback ? "replay" : "tick",
		  (unsigned long long)sampler->ticks, tick.frame->n,
		  (unsigned long long)((tick.cur->end_ns - tick.cur->begin_ns) / NSEC_PER_USEC));
	return 0;
}
