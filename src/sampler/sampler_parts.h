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
	struct exits *exits; /* NULL: no listener */
	int exits_refused; /* -errno */
	size_t fold_at; /* the number of records above which they are folded; 0: RECORDS_MAX */
	bool resting; /* the next sample opens the listeners */
	bool lost; /* exit records were lost, so identities must be queried again */
	bool irq_seen; /* the state of delayacct at the previous sample */
	bool hidden; /* /proc hides tasks of others */
	bool busy; /* `auto` was to switch to a source for many tasks */
	bool left_on; /* delay accounting was left on by a stalltop that was killed */
	struct exits_stats exits_before; /* the figures at the previous sample */
	size_t known_anew; /* records since then with a corrected impossible delay */
	struct tracing *tracing; /* NULL: waits are not traced */
	struct tracing *stopped; /* still shown by the frame handed out; NULL: none */
	bool trace_wanted;
	bool untraced; /* `auto` has tried another source, which has the times of traced threads */
	int trace_refused; /* -errno */
	unsigned needs;
	/*
	 * Used in turn: the sample of the frame handed out (index `now`), the previous sample that
	 * its rows refer to, and the sample being filled meanwhile; facts about the frame handed
	 * out, and the next. Its rows are rebuilt when nothing can fail any more, and after the
	 * last call of config->between(), which draws it.
	 */
	struct sample samples[SAMPLES];
	struct frame frame;
	struct frame_info infos[INFOS];
	unsigned now;
	uint64_t ticks;
	struct clocks clocks;
	struct zone zone;
	uint64_t self_ns; /* own CPU time at the previous tick */
};

/* The frame being made; stages of it (sampler_tick.c) store their results here for later ones. */
struct tick {
	unsigned next; /* the index of cur */
	struct sample *prev, *cur; /* prev: NULL before the first sample */
	struct frame *frame;
	struct frame_info *info;
	uint64_t skipped; /* intervals without a sample before it */
	size_t impossible; /* exited tasks with an impossible delay */
	size_t older; /* tasks started before delay accounting was on */
	uint32_t unknown; /* kinds unknown in this interval */
	struct playback_record result; /* of a recording */
};

/* Starts a tick. */
static inline struct tick tick_begin(struct sampler *sampler)
{
	unsigned next = (sampler->now + 1) % SAMPLES;

	return (struct tick){ .next = next,
			      .prev = sampler->ticks ? &sampler->samples[sampler->now] : NULL,
			      .cur = &sampler->samples[next],
			      .frame = &sampler->frame,
			      .info = &sampler->infos[sampler->ticks % INFOS] };
}

/* The limits of waits between the previous reading and this one. */
static inline struct wait_limits sampler_machine(const struct tick *tick)
{
	return wait_limits(tick->prev ? &tick->prev->system : NULL, &tick->cur->system);
}

/*
 * A stage: switches `auto` permanently to a source for many tasks, if the latest sample shows that
 * it pays, or to one that measures waits, if they are not accounted any more: the next sample is
 * its first. Tasks stay known. Returns 0.
 */
int sampler_adapt_source(struct sampler *sampler, struct tick *tick);

/* The programs that measure waits; NULL: none. */
struct measure *sampler_measuring(const struct sampler *sampler);

/* The reader of wait targets, opened when first wanted. */
struct waiting_reader *sampler_waiting(struct sampler *sampler);

/* The collector of evidence, opened on first use. */
struct evidence *sampler_evidence(struct sampler *sampler);

/* Listens for exiting tasks if exit records have the same counters as the source. */
void sampler_open_exits(struct sampler *sampler);

/* Starts tracing waits; trace_refused has the error. */
void sampler_open_tracing(struct sampler *sampler);

/* Notes all conditions that degrade the frame. */
void sampler_note(const struct sampler *sampler, const struct tick *tick);

/* Notes that the clock was set back since the previous sample. */
void sampler_note_clock(const struct tick *tick);

/* Notes that a group's processes may have threads in other groups (NULL: a group is unknown). */
void sampler_note_threaded(const struct sampler *sampler, const struct cgroup_sample *group,
			   struct frame_info *info);
