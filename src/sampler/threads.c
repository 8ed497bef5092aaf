/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "frame/group.h"
#include "kernel/delayacct.h"
#include "read/taskinfo.h"
#include "sampler/waiting.h"
#include "trace/tracing.h"

struct threads_reader {
	struct source source;
	struct taskinfo *info;
	struct sample samples[2]; /* in turn: the frame's (index `now`), the previous one */
	unsigned now;
	struct frame frame;
	struct frame_info frame_info;
};

bool threads_want(struct threads *threads, const pid_t *pids, size_t n, bool since_start)
{
	if (n == threads->n && since_start == threads->since_start &&
	    (!n || !memcmp(pids, threads->pids, n * sizeof(*pids))))
		return false;
	threads_close(threads);
	threads->since_start = since_start;
	if (n) {
		threads->pids = xreallocarray(NULL, n, sizeof(*pids));
		memcpy(threads->pids, pids, n * sizeof(*pids));
		threads->n = n;
	}
	return true;
}

/*
 * Opens a source like the sampler's; if that is one for many tasks, without measuring, the best for
 * few. 0 or -errno.
 */
static int open_thread_source(struct threads *threads, const struct threads_env *env)
{
	struct source_env few = {
		.proc = env->proc,
		.threads = true,
		.pids = threads->pids,
		.npids = threads->n,
		.measuring = env->measuring,
		.trace = env->tracing ? tracing_trace(env->tracing) : NULL,
	};
	struct threads_reader *reader = xcalloc(1, sizeof(*reader));
	bool other = env->source->many && !env->measuring && !env->tracing;
	int err = source_open(&reader->source, other ? NULL : env->source->name, &few);

	if (err) {
		free(reader);
		return err;
	}
	reader->info = taskinfo_open(env->proc, true);
	threads->reader = reader;
	return 0;
}

/* Takes a sample. 0 or -errno. */
static int take_sample(struct threads_reader *reader, struct sample *prev, struct sample *cur,
		       unsigned needs)
{
	int err;

	cur->begin_ns = clock_ns(CLOCK_MONOTONIC);
	cur->real_ns = clock_ns(CLOCK_REALTIME);
	/* The tasks are few, so no possibly outdated data is copied from before. */
	err = reader->source.ops->sample(reader->source.state, prev, cur, needs | NEED_IDENTITY);
	cur->end_ns = clock_ns(CLOCK_MONOTONIC);
	return err;
}

/* Makes the frame of the last two samples; prev NULL: there is only one. */
static void build_frame(struct threads *threads, const struct threads_env *env,
			const struct sample *prev, struct sample *cur)
{
	struct threads_reader *reader = threads->reader;
	struct frame_options options = { .since_start = threads->since_start,
					 .machine = { .idle = env->idle } };
	/* A copy: these tasks prove nothing about those in the sampler's sample. */
	struct delayacct delayacct = *env->delayacct;

	delayacct_mask(&delayacct, cur);
	if (delayacct.toggled)
		options.unknown = DELAYACCT_KINDS;
	frame_build(&reader->frame, &reader->frame_info, prev, cur, &options);
	reader->frame_info.threads = true;
	reader->frame.group_by = group_table[GROUP_THREAD].id;
	if (env->tracing && env->trace) {
		reader->frame_info.trace = env->trace;
		tracing_rows(env->tracing, &reader->frame);
	}
	threads->frame = &reader->frame;
}

int threads_read(struct threads *threads, const struct threads_env *env, unsigned needs)
{
	struct sample none = { 0 }, *prev, *cur;
	struct threads_reader *reader;
	int err;

	if (!threads->n)
		return 0;
	err = threads->reader ? 0 : open_thread_source(threads, env);
	if (!err) {
		reader = threads->reader;
		if (reader->source.ops->trace)
			reader->source.ops->trace(reader->source.state,
						  env->tracing ? tracing_trace(env->tracing)
							       : NULL);
		prev = threads->frame ? &reader->samples[reader->now] : NULL;
		cur = &reader->samples[!reader->now];
		err = take_sample(reader, prev ? prev : &none, cur, needs);
	}
	if (err) {
		threads_close(threads);
		return err;
	}
	taskinfo_set_hierarchy(reader->info, env->hierarchy);
	taskinfo_update(reader->info, cur, needs, NULL, NULL);
	build_frame(threads, env, prev, cur);
	reader->now = !reader->now;
	debug_log("threads of %zu processes: %zu rows, %llu us", threads->n, threads->frame->n,
		  (unsigned long long)((cur->end_ns - cur->begin_ns) / NSEC_PER_USEC));
	return 0;
}

void threads_fill(const struct threads *threads, const struct threads_env *env,
		  const struct row *const *rows, size_t n, unsigned needs)
{
	struct threads_reader *reader = threads->reader;
	struct sample *cur = &reader->samples[reader->now];

	taskinfo_set_hierarchy(reader->info, env->hierarchy);
	for (size_t i = 0; i < n; i++)
		taskinfo_fill(reader->info, cur, rows[i]->place, needs);
	if (env->waiting)
		waiting_fill(env->waiting, &reader->frame_info, rows, n, true, needs);
}

/* Frees the reader. */
static void close_reader(struct threads_reader *reader)
{
	source_close(&reader->source);
	taskinfo_close(reader->info);
	sample_free(&reader->samples[0]);
	sample_free(&reader->samples[1]);
	frame_free(&reader->frame);
	free(reader);
}

void threads_close(struct threads *threads)
{
	if (threads->reader)
		close_reader(threads->reader);
	free(threads->pids);
	*threads = (struct threads){ 0 };
}
