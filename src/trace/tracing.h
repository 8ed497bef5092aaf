/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace by interval: the states of threads and the sites of their waits, as differences of
 * readings of src/bpf/trace, with waits in progress up to the reading.
 */
#pragma once

#include "data/wait_state.h"
#include "frame/frame.h"

struct exit_record;
struct proc;
struct trace;

struct tracing;

/* Usual number of sites. */
#define TRACING_SITES 16384

struct tracing_config {
	struct proc *proc;
	uint32_t sites; /* maximum number of sites; 0: only states are traced */
	/*
	 * Processes whose user stacks are taken, by pid or name, separated by commas, of waits that
	 * last stacks_over_ns or longer; NULL: none.
	 */
	const char *stacks;
	uint64_t stacks_over_ns;
	bool stacks_later; /* tracing_open_process() will choose one */
	bool debuginfod; /* files with symbols are fetched, as kernel/debug_files.h says */
};

/* Starts tracing. 0, or -errno as trace_open(). */
int tracing_open(struct tracing **out, const struct tracing_config *config);

/* The BPF programs, for sources: see struct source_ops. NULL: stopped. */
const struct trace *tracing_trace(const struct tracing *tracing);

/*
 * Stores tasks' time by state in exit records that lack it; threads: of single threads, else of
 * whole processes.
 */
void tracing_exits(struct tracing *tracing, struct exit_record *records, size_t n, bool threads);

/* Takes the user stacks of one more process from now on, replacing the last one; 0: none. */
void tracing_open_process(struct tracing *tracing, pid_t tgid);

/*
 * Names new user stacks, if that is due (CLOCK_MONOTONIC): a stack is completely known only after
 * some waits. UINT64_MAX: never.
 */
void tracing_learn(struct tracing *tracing);
uint64_t tracing_learn_due_ns(const struct tracing *tracing);

/* Takes a reading; call right before the sample is taken. */
int tracing_read(struct tracing *tracing);

/*
 * Makes the interval of the last two readings: NULL before the second. Adds data from sites to the
 * frame's rows, and a line of unattributed time per process and kind: the rows' waits minus their
 * sites. NULL for the frame: sites and states only. Valid until the next call, rows included.
 */
const struct trace_frame *tracing_frame(struct tracing *tracing, struct frame *frame);

/* Adds the same to the rows of another frame, of threads read beside the last one. */
void tracing_rows(struct tracing *tracing, struct frame *frame);

/*
 * Passes on the sites of a process: not an interval's, but since first seen. polled_ns: the time of
 * state poll that was I/O, according to their wakers.
 */
typedef void tracing_leave_fn(void *arg, pid_t tgid, uint64_t polled_ns, const struct site *sites,
			      size_t n);

/* Hands out processes some readings after their exit, when their exit records are there. */
void tracing_on_leave(struct tracing *tracing, tracing_leave_fn *leave, void *arg);

/* Hands out all exited processes that were not handed out yet. */
void tracing_leave(struct tracing *tracing);

/* Adds the notes of the last interval on missing data. */
void tracing_note(const struct tracing *tracing, struct frame_info *info);

/* The note that explains why waits cannot be traced, from the -errno of tracing_open(). */
struct note tracing_note_of(int error);

/* Stops tracing. What the last tracing_frame() returned stays until tracing_close(). */
void tracing_stop(struct tracing *tracing);

void tracing_close(struct tracing *tracing);
