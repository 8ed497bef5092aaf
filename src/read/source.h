/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources of counters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"
#include "data/sample.h"

struct measure;
struct proc;
struct trace;

/*
 * All sources, in the order that `auto` tries them: one line here, and a file with the source_ops
 * of that name. bpf opens with -ENOSYS if it is not built in.
 */
#define SOURCES(X) \
	X(taskstats) \
	X(bpf) \
	X(procfs)

/* The environment of a source; it stays valid while the source is open. */
struct source_env {
	struct proc *proc; /* of /proc, or of a similar tree */
	bool threads; /* one row per thread, else per process */
	const pid_t *pids; /* only these processes, ascending; NULL for all */
	size_t npids;
	bool measure; /* measure waits, if the source can; `auto` then prefers one that can */
	/* Waits are measured already: for source_ops.open() of the same source; NULL: they are not.
	 */
	struct measure *measuring;
	const struct trace *trace; /* as for source_ops.trace() */
	bool many; /* there are so many tasks that the cost of opening a source matters little */
	void (*between)(void *arg); /* called between packs of requests; may be NULL */
	void *arg;
};

struct exit_record;

struct source_ops {
	const char *name;
	uint32_t kinds; /* DELAY_BIT()s it supports */
	bool programs; /* it loads programs into the kernel */
	bool exits; /* exit records have the final values of its counters */
	bool many; /* for many tasks: slow to open, but a sample costs next to nothing */
	/* Opens it. 0, or -errno: -EPERM without privilege, -ENOENT if the kernel lacks it. */
	int (*open)(const struct source_env *env, void **state);
	/*
	 * Fills a sample with all tasks, each with a reference to its struct task, replacing its
	 * contents; known tasks are found in `prev`, the previous sample. needs: NEED_RECORD,
	 * NEED_RANGE, NEED_IDENTITY. 0, or -errno if there is no sample.
	 */
	int (*sample)(void *state, struct sample *prev, struct sample *cur, unsigned needs);
	/* The version of the records seen, 0 for none; NULL: it has no records. */
	int (*version)(const void *state);
	/* Appends a description of it on this kernel, for people; NULL: none. */
	void (*describe)(const void *state, struct buf *out);
	/*
	 * With source_env.measure: 0, or the -errno why waits are not measured; NULL: the source
	 * can't.
	 */
	int (*unmeasured)(const void *state);
	/* The programs that measure waits, for another source_env; NULL, or the result is: none. */
	struct measure *(*measuring)(const void *state);
	/*
	 * From the next sample on, includes the threads' traced time by state, until the next call;
	 * NULL for no trace. NULL: the source can't.
	 */
	void (*trace)(void *state, const struct trace *trace);
	/*
	 * Stores measured figures in n exit records. Returns in how many an impossible delay is no
	 * longer removed. NULL: nothing is measured.
	 */
	size_t (*correct_exits)(void *state, struct exit_record *records, size_t n);
	void (*close)(void *state);
};

/* An open source. */
struct source {
	const struct source_ops *ops;
	void *state;
	/* With `auto`: the -errno of the first that did not open, and of the one for many tasks. */
	int refused, refused_many;
	int unmeasured; /* -errno: waits should be measured, but are not; 0: they are, or need not
			 * be */
};

/* The sources; ends with NULL. */
extern const struct source_ops *const source_registry[];

/* The source of that name, or NULL. */
const struct source_ops *source_by_name(const char *name);

/*
 * Opens the source of that name, or with NULL (`auto`) the first that opens: if waits are to be
 * measured, or there are many tasks, a source suited for that is tried first. 0, or the -errno of
 * the last one tried.
 */
int source_open(struct source *source, const char *name, const struct source_env *env);

void source_close(struct source *source);

#define SOURCE_DECLARE(source) extern const struct source_ops source_##source;
SOURCES(SOURCE_DECLARE)
