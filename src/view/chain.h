/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wait chains: the wakers of a task, their activities meanwhile, their wakers, and so on down to a
 * root: a disk, a timer, a peer, a quota, or a running task.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "data/wait_state.h"

/* ROW(NAME, id, meaning) */
#define CHAIN_ROOT_TABLE(ROW) \
	ROW(RUN, "run", "a waited-for task was on CPU") \
	ROW(QUEUE, "queue", "a waited-for task was runnable") \
	ROW(QUOTA, "quota", "a waited-for task was throttled by its cgroup's quota") \
	ROW(STOPPED, "stopped", "a waited-for task was stopped or frozen") \
	ROW(DISK, "disk", "a disk") \
	ROW(PEER, "peer", "a peer on another machine, or one that is unknown") \
	ROW(TIMER, "timer", "the waiter's own timer") \
	ROW(INTERRUPT, "interrupt", "another interrupt") \
	ROW(CIRCLE, "circle", "tasks that waited for each other") \
	ROW(DEADLOCK, "deadlock", "tasks that each hold what another one waits for") \
	ROW(GOES_ON, "goes on", "a wait in progress, or with an unknown waker") \
	ROW(UNEXPLAINED, "unexplained", "unknown")

#define CHAIN_ROOT_ID(NAME, ...) CHAIN_##NAME,
enum chain_root_kind { CHAIN_ROOT_TABLE(CHAIN_ROOT_ID) CHAIN_ROOTS };
#undef CHAIN_ROOT_ID

/* Their ids in machine formats. */
extern const char *const chain_root_ids[CHAIN_ROOTS];

/* A waker's activity while it was waited for. */
struct chain_part {
	enum wait_state state;
	const struct site *site; /* the site where it waited; NULL: none, or unknown */
	double share; /* of its step, 0 to 1 */
};

/* A waker (or lock holder) one level up the chain. */
struct chain_step {
	unsigned depth; /* 1: of the chain's own waits; a step's own wakers follow it */
	const struct site *of; /* the waits that it ended */
	struct site_waker waker; /* count 0: it holds the target of waits in progress */
	double share; /* of the chain, 0 to 1 */
	size_t first, n; /* its parts, most time first */
	bool in_part; /* a tenth or more of it is unknown, as it was too long ago */
};

struct chain_root {
	enum chain_root_kind kind;
	const char *name; /* of a task or an interrupt; for a queue, of the task that ran instead;
			   * NULL: none */
	pid_t tgid; /* of the task; 0: none */
	const struct site *site; /* the last site waited in; NULL: none */
	double share; /* of the chain, 0 to 1 */
	const char *at; /* the program's function in which that wait began; for CHAIN_RUN, in which
			 * the task then woke the waiter; NULL: unknown */
};

/* The sites of a frame, for look-ups. Zero-initialised: not made. */
struct chain_index {
	const struct trace_frame *trace;
	const struct site **sites; /* by id */
	size_t n, cap;
};

/*
 * A chain, which points into the frame. The shares of the roots add up to 1. Its memory is reused;
 * empty when zero-initialised.
 */
struct chain {
	uint64_t ns; /* the waits that it explains */
	struct chain_step *steps;
	struct chain_part *parts;
	struct chain_root *roots; /* largest share first */
	size_t nsteps, steps_cap, nparts, parts_cap, nroots, roots_cap;
};

/* Makes the index of a frame, which must exist as long as chains of it do. Its memory is reused. */
void chain_index_make(struct chain_index *index, const struct trace_frame *trace);

/*
 * True if a chain explains the waits of a site of the index: lost time, or waits for another task.
 * An idle task waits for no one.
 */
bool chain_explains(const struct chain_index *index, const struct site *site);

/* True if tasks ended waits of a site: they can be followed, though no time may have been lost. */
bool chain_follows(const struct site *site);

/* The site of that id in the index; NULL: not in it. */
const struct site *chain_site(const struct chain_index *index, uint64_t id);

/* The link to the task that must act to end a site's waits in progress; NULL: unknown. */
const struct site_link *chain_holder(const struct chain_index *index, const struct site *site);

/* Makes the chain of some sites' waits. */
void chain_build(struct chain *chain, const struct chain_index *index,
		 const struct site *const *sites, size_t n);

void chain_index_free(struct chain_index *index);
void chain_free(struct chain *chain);

/* Wait chains in words. */

/* Append words, with names and targets escaped for that charset. */

/* The target of a site: its system call and target, else its state. */
void chain_put_site(struct buf *out, const struct site *site, enum text_charset charset);

/* A waker's activity. */
void chain_put_part(struct buf *out, const struct chain_part *part, enum text_charset charset);

/* The wakers, and their number. */
void chain_put_waker(struct buf *out, const struct chain_step *step, enum text_charset charset);

void chain_put_root(struct buf *out, const struct chain_root *root, enum text_charset charset);
