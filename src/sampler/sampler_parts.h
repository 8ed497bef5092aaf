/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a sampler, and the functions that make its frames: the parts of sampler.h. */
#pragma once

#include "cgroup/cgroup.h"
#include "frame/group.h"
#include "frame/io_bounds.h"
#include "frame/playback.h"
#include "kernel/delayacct.h"
#include "kernel/exits.h"
#include "kernel/system.h"
#include "read/blocked_scan.h"
#include "read/source.h"
#include "read/taskinfo.h"
#include "sampler/evidence.h"
#include "sampler/waiting.h"
#include "trace/tracing.h"

struct sampler_config;

#define INFOS 2

struct sampler {
	const struct sampler_config *config;
	struct source source;
	struct system *system;
	struct taskinfo *info;
	struct hierarchy hierarchy; /* without a name: not opened, or there is none */
	bool hierarchy_tried;
	struct waiting_reader *waiting; /* NULL: no waits were wanted yet */
	struct blocked_scan blocked;
	struct evidence *evidence; /* NULL: none was wanted yet */
	struct io_bounds *bounds; /* NULL: a playback has its own */
	struct cgroup_reader *groups; /* NULL: no groups were wanted yet, or there are none */
	struct groups_above above;
	struct delayacct delayacct;
	struct account_reader accounts;
	struct exits *exits; /* NULL: there is no listener */
	int exits_refused; /* -errno */
	size_t fold_at; /* the number of records above which they are folded; 0: RECORDS_MAX */
	bool resting; /* the next sample opens the listeners */
	bool lost; /* exit records were lost, so identities must be asked for anew */
	bool irq_seen; /* the state that delayacct had at the sample before */
	bool hidden; /* /proc hides tasks of others */
	bool busy; /* `auto` was to go over to a source for many tasks */
	bool left_on; /* delay accounting was left on by a stalltop that was killed */
	struct exits_stats exits_before; /* the figures at the sample before */
	size_t known_anew; /* records since then that lack nothing impossible any more */
	struct tracing *tracing; /* NULL: waits are not watched */
	struct tracing *stopped; /* what the frame handed out still shows; NULL: nothing */
	bool trace_wanted;
	bool untraced; /* `auto` has tried another source, that has the times of traced threads */
	int trace_refused; /* -errno */
	unsigned needs;
	/*
	 * Used in turn: the sample of the frame handed out (index `now`), the sample before it that
	 * its rows point at, and the sample being filled meanwhile; facts about the frame handed
	 * out, and the next. Its rows are built anew when nothing can fail any more, and after the
	 * last call of config->between(), which draws it.
	 */
	struct sample samples[SAMPLES];
	struct frame frame;
	struct frame_info infos[INFOS];
	unsigned now;
	uint64_t ticks;
	struct clocks clocks;
	struct zone zone;
	uint64_t self_ns; /* own CPU time at the last tick */
};

/* The frame being made; stages of it (sampler_tick.c) leave here what later ones need. */
struct tick {
	unsigned next; /* the index of cur */
	struct sample *prev, *cur; /* prev: NULL before the first sample */
	struct frame *frame;
	struct frame_info *info;
	uint64_t skipped; /* intervals before it that had no sample */
	size_t impossible; /* tasks that ended, with a delay that cannot be */
	size_t older; /* tasks that began before delay accounting was on */
	uint32_t unknown; /* kinds that are not known in this interval */
	struct playback_record result; /* of a recording */
};

/* Begins a tick. */
static inline struct tick tick_begin(struct sampler *sampler)
{
	unsigned next = (sampler->now + 1) % SAMPLES;

	return (struct tick){ .next = next,
			      .prev = sampler->ticks ? &sampler->samples[sampler->now] : NULL,
			      .cur = &sampler->samples[next],
			      .frame = &sampler->frame,
			      .info = &sampler->infos[sampler->ticks % INFOS] };
}

/* The limits of waits between the last reading and this one. */
static inline struct wait_limits sampler_machine(const struct tick *tick)
{
	return wait_limits(tick->prev ? &tick->prev->system : NULL, &tick->cur->system);
}

/*
 * A stage: has `auto` go over to a source for many tasks, for good, where the sample that was just
 * read says that it pays, or to one that measures waits, where they are not counted any more: the
 * next sample is its first. Tasks stay known. Returns 0.
 */
int sampler_adapt_source(struct sampler *sampler, struct tick *tick);

/* The programs that measure waits; NULL: none do. */
struct measure *sampler_measuring(const struct sampler *sampler);

/* The reader of what waits are on, opened from when it is wanted for the first time. */
struct waiting_reader *sampler_waiting(struct sampler *sampler);

/* What explains rows; opened where it was not. */
struct evidence *sampler_evidence(struct sampler *sampler);

/* Listens for exiting tasks where exit records have the same counters as the source. */
void sampler_open_exits(struct sampler *sampler);

/* Begins to watch waits; trace_refused says why not. */
void sampler_open_tracing(struct sampler *sampler);

/* Notes all that degrades the frame. */
void sampler_note(const struct sampler *sampler, const struct tick *tick);

/* Notes that the clock was set back since the sample before. */
void sampler_note_clock(const struct tick *tick);

/* Notes that a group's processes may have threads in other groups (NULL: a group is not known). */
void sampler_note_threaded(const struct sampler *sampler, const struct cgroup_sample *group,
			   struct frame_info *info);
