/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler: owns the source, the samples and related state; makes frames. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"
#include "frame/playback.h"
#include "sampler/threads.h"
#include "sampler/triggers.h"

struct delayacct;
struct proc;

/* The state of a recording being written. */
struct record_status {
	int error; /* -errno: it has ended; 0: no error, or no recording */
	uint64_t dropped; /* samples missing in it since the previous frame */
};

/* When waits are measured: auto, if the kernel does not account the delays of all tasks. */
enum measure_when { MEASURE_AUTO, MEASURE_YES, MEASURE_NO };

struct sampler_config {
	unsigned privileges; /* PRIVILEGE_ bits: what capabilities are needed for */
	struct proc *proc; /* of /proc; the caller keeps it */
	const char *source; /* a source's name, NULL for auto */
	bool threads; /* one row per thread */
	bool brief; /* only one interval is taken: prefer a source that opens fast */
	bool since_start; /* cumulative figures */
	bool exits; /* listen for exiting tasks */
	size_t exit_buffer; /* size of a listener's buffer in bytes; 0: the default */
	uint64_t accounted_ns; /* when delay accounting was switched on, 0: unknown */
	const char *delayacct_file; /* see delayacct_left_on(); NULL: not checked */
	const char *cgroup; /* the group whose pressure replaces the machine's; NULL: none */
	const char *hierarchy; /* see hierarchy_open(); NULL: choose */
	pid_t *pids; /* only these processes, ascending; NULL for all */
	size_t npids;
	enum measure_when measure;
	bool trace; /* trace waits from the first sample on */
	uint32_t trace_sites; /* maximum number of sites; 0: only states are traced */
	const char *stacks; /* as in struct tracing_config, */
	uint64_t stacks_over_ns; /* likewise */
	bool stacks_later, debuginfod;
	const struct trigger_set *triggers; /* frames note the expired ones; NULL: none */
	const struct playback *playback; /* source of the samples; NULL: the machine */
	const struct record_status *record; /* frames note its faults; NULL: none */
	/*
	 * Called between packs of requests, so that keys are answered during a long sample; may be
	 * NULL. The frame handed out last is still valid then.
	 */
	void (*between)(void *arg);
	void *arg;
};

struct sampler;

/* True if waits are to be measured, by the configuration and by what the kernel accounts. */
bool sampler_measures(const struct sampler_config *config, const struct delayacct *delayacct);

/*
 * Opens the source. 0, or -errno: of the source requested by name, or of the last that auto tried;
 * -EOPNOTSUPP: the recording has no such rows. The configuration must outlive the sampler.
 */
int sampler_open(struct sampler **out, const struct sampler_config *config);

/* Sets the data read of every task from the next sample on: NEED_ bits. */
void sampler_want(struct sampler *sampler, unsigned needs);

/*
 * Takes a sample and makes the next frame, valid until the next tick. skipped: grid points skipped
 * before it, for the note. 0, or -errno if there is no frame (-ENODATA: the playing recording has
 * ended).
 */
int sampler_tick(struct sampler *sampler, uint64_t skipped, const struct frame **out);

/*
 * Drops all samples and stops listening for exiting tasks, for a pause of any length: the next
 * sample is a baseline again. 0, or -errno as sampler_open(); then the sampler can only be closed.
 */
int sampler_suspend(struct sampler *sampler);

/* Takes user stacks of that process from now on: see tracing_open_process(). */
void sampler_open_process(struct sampler *sampler, pid_t tgid);

/* Reads exit records between samples, before a buffer can overflow, and names user stacks. */
void sampler_drain(struct sampler *sampler);

/* When the next sampler_drain() is due (CLOCK_MONOTONIC); UINT64_MAX: never. */
uint64_t sampler_drain_due_ns(const struct sampler *sampler);

/*
 * Reads the data in `needs` for some rows of the frame handed out last (a screen's visible ones):
 * rows of tasks, and of cgroups that it was folded into. Other groups have no data to read.
 */
void sampler_fill(struct sampler *sampler, const struct row *const *rows, size_t n, unsigned needs);

/*
 * Reads the wanted threads of some processes, beside the sample of the last frame; see
 * threads_read().
 */
int sampler_read_threads(struct sampler *sampler, struct threads *threads, unsigned needs);

/* Reads the data in `needs` for some rows of the threads' frame, as sampler_fill() does. */
void sampler_fill_threads(struct sampler *sampler, const struct threads *threads,
			  const struct row *const *rows, size_t n, unsigned needs);

/* Switches delay accounting. 0, or -errno (-ENOENT: no such switch; -EACCES, -EPERM). */
int sampler_switch_delayacct(const struct sampler *sampler, bool on);

/*
 * Starts tracing all waits with the next sample, or stops (then frames already handed out stay
 * unchanged). 0, also if nothing changes, or -errno as tracing_open(): a note in each frame says
 * why, until it is switched off.
 */
int sampler_trace(struct sampler *sampler, bool on);

void sampler_close(struct sampler *sampler);
