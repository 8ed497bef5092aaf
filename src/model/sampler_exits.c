/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of exiting tasks: where a sampler takes them, and how many it keeps. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/proctask.h"
#include "model/exit_merge.h"
#include "model/sampler.h"
#include "model/sampler_parts.h"

/*
 * The numbers of exit records kept one by one until the next sample, and kept by name after that.
 */
#define RECORDS_MAX 65536
#define NAMES_MAX (RECORDS_MAX / 2)

void sampler_open_exits(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;

	if (config->exits && sampler->source.ops->exits)
		sampler->exits_refused =
			exits_open(&sampler->exits, config->threads, config->exit_buffer);
}

/* Leaves out records of processes that were not asked for. Returns how many remain, in front. */
static size_t keep_asked(const struct sampler_config *config, struct exit_record *records, size_t n)
{
	size_t kept = 0;

	if (!config->pids)
		return n;
	for (size_t i = 0; i < n; i++)
		/* Before version 12 a record does not say its thread group. */
		if (pidlist_has(config->pids, config->npids,
				records[i].tgid ? records[i].tgid : records[i].pid))
			records[kept++] = records[i];
	return kept;
}

/* Puts what the source measured into records that came since. */
static void correct_records(struct sampler *sampler, struct exit_batch *batch)
{
	const struct source *source = &sampler->source;

	if (source->ops->correct_exits)
		sampler->known_anew +=
			source->ops->correct_exits(source->state, batch->records, batch->n);
}

/* Whether nothing of the task is left: not even a zombie. */
static bool has_gone(void *arg, pid_t pid)
{
	const struct sampler *sampler = arg;
	char path[16];

	snprintf(path, sizeof(path), "%d", (int)pid);
	return faccessat(sampler->config->proc->fd, path, F_OK, 0) != 0;
}

size_t sampler_take_exits(struct sampler *sampler, const struct turn *turn)
{
	struct frame_info *info = turn->info;
	size_t impossible, kept;
	const struct exits_stats *stats;
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
	kept = exit_merge(&batch, turn->prev, turn->cur);
	if (kept)
		exits_keep(sampler->exits, kept);
	else
		exits_clear(sampler->exits);
	sampler->fold_at = 0;
	exits_want_fields(sampler->exits,
			  sampler->needs & (NEED_RECORD | NEED_RANGE | NEED_IO | NEED_ENDED_IO));
	stats = exits_stats(sampler->exits);
	if (turn->prev) {
		info->head.exits = (int64_t)(stats->received - sampler->exits_before.received);
		info->head.lost = (int64_t)(stats->lost - sampler->exits_before.lost);
	}
	sampler->lost = info->head.lost > 0;
	impossible =
		turn->prev ? (size_t)(stats->impossible - sampler->exits_before.impossible) : 0;
	impossible -= sampler->known_anew < impossible ? sampler->known_anew : impossible;
	sampler->known_anew = 0;
	sampler->exits_before = *stats;
	return impossible;
}

void sampler_drain(struct sampler *sampler)
{
	struct exit_batch batch = { .threads = sampler->config->threads,
				    .gone = has_gone,
				    .arg = sampler };

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
	return sampler->exits ? exits_due_ns(sampler->exits) : UINT64_MAX;
}
