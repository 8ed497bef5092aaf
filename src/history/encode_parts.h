/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an encoder knows of what it has recorded, and what fills the parts of a moment. */
#ifndef STALLTOP_HISTORY_ENCODE_PARTS_H
#define STALLTOP_HISTORY_ENCODE_PARTS_H

#include "base/buf.h"
#include "history/moment.h"
#include "history/texts.h"

/* The texts of a task. */
enum task_text { TEXT_USER, TEXT_COMM, TEXT_COMMAND, TEXT_CGROUP, TASK_TEXTS };

/* How a reader takes a task to have spent an interval: as long as it has the states that it has. */
struct known_states {
	bool unsure; /* it is not known */
	bool traced; /* it was traced in the sample before */
	bool standing; /* and spent that wholly in states: so many threads in each */
	pid_t tgid; /* the process's identity */
	uint64_t start_ns;
	uint32_t in[WAIT_STATES];
	int64_t lost; /* and so many of them lost it; below 0: not known */
};

/* A task of the recording, at the index that is its task's `recorded`, of the encoder's slot. */
struct known_task {
	struct task *task; /* a reference; NULL: the place is free */
	uint64_t met; /* the last moment that had it */
	struct moment_task written; /* its latest version */
	const char *texts[TASK_TEXTS]; /* that version's, kept by the numbers for texts */
	struct known_states states;
};

struct numbered;

/* Numbers by key, see encode_trace.c. Zero-initialised: none. */
struct numbered_set {
	void *tree; /* of tsearch() */
	struct numbered *all; /* a list */
};

struct encoder {
	unsigned slot; /* which of the `recorded` of a task is its own */
	struct texts texts;
	struct known_task *known; /* from 1 on */
	size_t nknown, cap;
	size_t free; /* the first place that may be free */
	uint32_t ntasks; /* task numbers given out */
	struct numbered_set processes, sites; /* of the trace */
	uint32_t nprocesses, nsites;
	uint64_t moments;
	uint64_t whole_at; /* the last moment that stands for itself */
	bool begun; /* there is a sample before */
	bool segment; /* the next moment begins a segment */
	uint64_t dropped;
	/* Of the sample before: the times of reading that were recorded, and the system. */
	uint64_t *reads;
	size_t nreads, reads_cap;
	struct system_sample system;
	struct psi_reading pressure; /* that was shown */
	size_t nsleeps; /* what was written of the clocks */
	uint64_t clock_real_ns;
	/* Parts that are being filled; texts, tasks and groups may be left of a dropped moment. */
	struct buf parts[MOMENT_PARTS];
	struct buf moment;
};

/* The task as it was recorded; it must have been. */
static inline struct known_task *encode_known(const struct encoder *encoder,
					      const struct task *task)
{
	return &encoder->known[task->recorded[encoder->slot]];
}

/* encode_names.c: texts and tasks get numbers */

/* The number of a text, which the moment gets if it is new; 0 for NULL. */
uint32_t encode_text(struct encoder *encoder, const char *text);

/*
 * The same of a text that most often is what it was: *kept, of the number `was`. *kept becomes a
 * copy that stays.
 */
uint32_t encode_text_again(struct encoder *encoder, const char **kept, const char *text,
			   uint32_t was);

/* The number of an element's task, of its present version; another: of one of its own. */
uint32_t encode_task(struct encoder *encoder, const struct task_raw *raw, bool another);

/* Whether a task's names may be others than were recorded. Its texts are compared as pointers. */
bool encode_may_be_renamed(const struct encoder *encoder, const struct task_raw *raw, bool still);

/* Whether the moment has an element of that task already. */
bool encode_is_met(const struct encoder *encoder, const struct task *task);

/* Forgets tasks that were not met for a while; all: all of them. */
void encode_sweep(struct encoder *encoder, bool all);

/* encode_rows.c: what happened to tasks */

/* Adds all elements that a reader must be told of. */
void encode_changes(struct encoder *encoder, const struct frame *frame, bool whole);

/* Adds the tasks that the sample does not have any more. */
void encode_gone(struct encoder *encoder, const struct sample *prev, const struct sample *cur);

/* encode_reads.c: when elements were read */

/* Adds the times of reading. */
void encode_reads(struct encoder *encoder, const struct frame *frame, bool whole);

/* Keeps the times of reading for the next moment. */
void encode_keep_reads(struct encoder *encoder, const struct sample *cur);

/* encode_trace.c: what was traced, and what explains tasks */

void encode_evidence(struct encoder *encoder, const struct frame *frame);

/* Adds how a row's task spent the interval; told: its counters are written as they are. */
void encode_states(struct encoder *encoder, const struct frame_info *info, const struct row *row,
		   bool told);

/* Adds the sites, NULL: waits are not traced. */
void encode_trace(struct encoder *encoder, struct moment *moment, const struct trace_frame *trace,
		  bool whole);

/* Forgets processes and sites that were not met for a while; all: all of them. */
void encode_sweep_trace(struct encoder *encoder, bool all);

#endif
