/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of encode.h: an encoder's memory of the recorded, and the functions that fill a moment.
 */
#ifndef STALLTOP_HISTORY_ENCODE_PARTS_H
#define STALLTOP_HISTORY_ENCODE_PARTS_H

#include "base/buf.h"
#include "history/moment.h"
#include "history/texts.h"

/* The texts of a task. */
enum task_text {
	TEXT_USER,
	TEXT_COMM,
	TEXT_COMMAND,
	TEXT_CGROUP,
	TEXT_POD,
	TEXT_CONTAINER,
	TASK_TEXTS
};

/*
 * What a reader assumes about how a task spent an interval: in the same states as the one before.
 */
struct known_states {
	bool unsure; /* what the reader assumes is not known */
	bool traced; /* it was traced in the sample before */
	bool standing; /* and each of its threads was in one state; `in` counts them */
	pid_t tgid; /* the process's identity */
	uint64_t start_ns;
	uint32_t in[WAIT_STATES];
	int64_t lost; /* how many threads lost all of the time; below 0: not known */
};

/* A task of the recording. Its index is task->recorded[], for the encoder's slot. */
struct known_task {
	struct task *task; /* a reference; NULL: this slot is free */
	uint64_t met; /* the last moment that had it */
	struct moment_task written; /* its latest version */
	const char *texts[TASK_TEXTS]; /* the texts of that version, owned by encoder.texts */
	struct known_states states;
};

struct numbered;

/* Things with their numbers, by key; see encode_trace.c. Zero-initialised: empty. */
struct numbered_set {
	void *tree; /* of tsearch() */
	struct numbered *all; /* a list */
};

struct encoder {
	unsigned slot; /* which element of task->recorded[] is this encoder's */
	struct texts texts;
	struct known_task *known; /* from index 1 on */
	size_t nknown, cap;
	size_t free; /* the first slot that may be free */
	uint32_t ntasks; /* the number of the newest task */
	struct numbered_set processes, sites; /* processes and sites of the trace */
	uint32_t nprocesses, nsites;
	uint64_t moments;
	uint64_t whole_at; /* the last whole moment */
	bool begun; /* there is a sample before */
	bool segment; /* the next moment begins a segment */
	uint64_t dropped;
	/* Of the sample before: the recorded times of reading, and the system. */
	uint64_t *reads;
	size_t nreads, reads_cap;
	struct system_sample system;
	struct psi_reading pressure; /* the one that was shown */
	size_t nsleeps; /* sleeps of the clocks that were written */
	uint64_t clock_real_ns;
	/*
	 * Parts that are being filled. Those before PART_GONE may still hold what a dropped moment
	 * had.
	 */
	struct buf parts[MOMENT_PARTS];
	struct buf moment; /* the largest part is put there at once: PART_CHANGES */
};

/* What is remembered of a task, which must have been recorded. */
static inline struct known_task *encode_known(const struct encoder *encoder,
					      const struct task *task)
{
	return &encoder->known[task->recorded[encoder->slot]];
}

/* encode_names.c: numbers of texts and tasks */

/* Finds the number of a text, 0 for NULL; a new text is added to the moment. */
uint32_t encode_text(struct encoder *encoder, const char *text);

/*
 * Finds the number of a text that most often has not changed: it was *kept, with the number `was`.
 * *kept becomes a copy that stays valid.
 */
uint32_t encode_text_again(struct encoder *encoder, const char **kept, const char *text,
			   uint32_t was);

/*
 * Finds the number of an element's task as it is now; another: the element gets a number of its
 * own.
 */
uint32_t encode_task(struct encoder *encoder, const struct task_raw *raw, bool another);

/*
 * Whether a task's names may have changed since they were recorded. Texts are compared as pointers
 * only.
 */
bool encode_may_be_renamed(const struct encoder *encoder, const struct task_raw *raw, bool still);

/* Whether the moment has an element of a task already. */
bool encode_is_met(const struct encoder *encoder, const struct task *task);

/* Forgets tasks that recent moments did not have; all: forgets all of them. */
void encode_sweep(struct encoder *encoder, bool all);

/* encode_rows.c: what happened to tasks */

/* Adds all elements that a reader would get wrong without a row. */
void encode_changes(struct encoder *encoder, const struct frame *frame, bool whole);

/* Adds the tasks of the sample before that this one does not have. */
void encode_gone(struct encoder *encoder, const struct sample *prev, const struct sample *cur);

/* encode_reads.c: when elements were read */

/* Adds the times at which elements were read. */
void encode_reads(struct encoder *encoder, const struct frame *frame, bool whole);

/* Remembers the times of reading for the next moment. */
void encode_keep_reads(struct encoder *encoder, const struct sample *cur);

/* encode_trace.c: what was traced, and what explains tasks */

void encode_evidence(struct encoder *encoder, const struct frame *frame);

/* Adds how a row's task spent the interval; told: its counters were written in full. */
void encode_states(struct encoder *encoder, const struct frame_info *info, const struct row *row,
		   bool told);

/* Adds what was traced; trace is NULL if waits are not traced. */
void encode_trace(struct encoder *encoder, struct moment *moment, const struct trace_frame *trace,
		  bool whole);

/* Forgets processes and sites that recent moments did not have; all: forgets all of them. */
void encode_sweep_trace(struct encoder *encoder, bool all);

/* Forgets the copies of sites' texts: see texts_drop(). */
void encode_drop_site_texts(struct encoder *encoder);

#endif
