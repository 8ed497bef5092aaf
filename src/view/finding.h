/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: the worst problems of the machine, in words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "view/column.h"

/* The sites of a frame by process: an index made at the first question, for all callers. */

/* Empty when zero-initialised; its memory is kept from frame to frame. */
struct site_index {
	const struct trace_frame *trace; /* NULL: nothing was traced */
	bool made;
	size_t places; /* a power of two */
	/* By a place of the process's id, then by site: 1 + the place of a site; 0: none. */
	uint32_t *first, *next;
	uint32_t last; /* what was found last, as `next` has it; 0: nothing */
	size_t places_cap, next_cap;
};

/* Begins a frame; trace NULL: nothing was traced. It must stay as long as the index is asked. */
void site_index_begin(struct site_index *index, const struct trace_frame *trace);

/*
 * The sites of a process in the frame's order, the most time first: the one after `site`, which was
 * one of them, or the first for NULL. NULL: there are no more.
 */
const struct site *site_index_next(struct site_index *index, pid_t tgid, uint64_t start_ns,
				   const struct site *site);

void site_index_free(struct site_index *index);

/* From then on a wait in uninterruptible sleep, or in a call, is a hang: as in the preset. */
#define FINDING_HANG_NS NSEC_PER_SEC

enum finding_severity {
	FINDING_INFO, /* what was asked about, or cannot be known */
	FINDING_WARNING, /* a task loses much time */
	FINDING_CRITICAL, /* a task gets nowhere */
	FINDING_SEVERITIES
};

/* Their names in machine formats. */
extern const char *const finding_severities[FINDING_SEVERITIES];

/*
 * Parts of a text that may be left out, and in how many turns: in the last one where it is not
 * enough to shorten the target.
 */
#define FINDING_PARTS 8
#define DROP_RANKS 4

/* Subjects of waiting that have remedies. */
enum remedy_subject {
	REMEDY_NONE,
	REMEDY_ALL, /* all waits together */
	REMEDY_CPU,
	REMEDY_QUOTA,
	REMEDY_RUN, /* it runs, and others wait */
	REMEDY_IO,
	REMEDY_STORAGE, /* it reads or writes, and others wait */
	REMEDY_MEMORY,
	REMEDY_RECLAIM,
	REMEDY_COMPACT,
	REMEDY_WPCOPY,
	REMEDY_IRQ,
	REMEDY_BLOCKED, /* in uninterruptible sleep, not for a disk */
	REMEDY_KEPT, /* in a call that another task is to end */
	REMEDY_LOCK,
	REMEDY_PEER,
	REMEDY_CHILD,
	REMEDY_STATE, /* a state that does not end by itself */
	REMEDY_DEADLOCK,
	REMEDY_UNCOUNTED, /* what is waited for is not known */
	REMEDY_SUBJECTS
};

/* What makes a task wait: another task, or a limit. */
enum culprit_kind {
	CULPRIT_NONE,
	CULPRIT_FILE, /* who has the same file */
	CULPRIT_LIMIT, /* its cgroup's, of I/O */
	CULPRIT_WRITER, /* who writes much more than all that wait, in MB/s */
	CULPRIT_READER, /* who reads much more than all at a limit of memory, in MB/s */
	CULPRIT_WRITES_MOST, /* in kB/s */
	CULPRIT_BEHIND, /* who ran in its place; the name has the pid */
	CULPRIT_RUNS_MOST,
	CULPRIT_RUNS_THERE, /* of the tasks that were read */
	CULPRIT_STARTS, /* many that end soon */
	CULPRIT_RAN_MOST, /* these, where it is not known who starts them */
	CULPRIT_ENDED, /* who ended most of the waits */
	CULPRIT_DEBUGGER,
	CULPRIT_AWAITED, /* the task that must act; the sentence itself names it */
	CULPRITS
};

/* A finding: the delayed task, its share of time, the cause, and the text. */
struct finding {
	const char *id; /* NULL: the words say that nothing was found */
	enum finding_severity severity;
	enum remedy_subject subject; /* of what to do about it (remedies.h) */
	const struct row *row; /* the task or group that it names; NULL: none */
	struct finding_culprit {
		enum culprit_kind kind;
		const char *name; /* of a task, or of those that ran most; raw bytes */
		pid_t pid; /* 0: not known, or of several */
		double share; /* of the interval, or of the waits behind it, in percent */
		double rate; /* what it writes, or how many it starts a second */
		const char *of; /* the name of those that it starts */
	} culprit;
	const struct site *site; /* where that waits, as far as traced; NULL: not known */
	enum finding_place {
		PLACE_UNKNOWN,
		PLACE_OF_WAIT, /* the site, or the target that was read, is of that one wait */
		PLACE_PART, /* a part of its waits were in the site */
		PLACE_NOW /* it is there right now */
	} place;
	double place_share; /* that part, in percent */
	const char *kind; /* what it waits for: a delay kind, "dwait", or a traced state; NULL */
	double share; /* share of the interval, in percent; below 0: none */
	uint64_t ns; /* how long the wait lasts by now; 0: it is not of one wait */
	bool at_least; /* it began before it was first seen: it lasts longer */
	size_t n; /* tasks or groups that it is true of */
	size_t service; /* of these, those of the row's service; 0: not looked for */
	enum finding_limit {
		LIMIT_NONE,
		LIMIT_CPU,
		LIMIT_MEMORY,
		LIMIT_DEADLINE, /* the task's own */
		LIMIT_REALTIME
	} limit; /* of a group that makes the row wait */
	bool while_idle; /* others of the CPUs are idle */
	const char *how; /* how it is held, or by which quota, in words */
	double quota_cpus; /* so many CPUs the quota grants; 0: not known */
	uint64_t limit_bytes; /* of memory, that its group reached */
	double times; /* how often */
	size_t at, len; /* its words in the text: raw bytes */
	size_t on, on_len; /* the path in the text, which may be shortened; 0: none */
	/* Optional parts of the text, dropped in this order on narrow screens. */
	struct finding_part {
		size_t at, len;
		unsigned turn; /* 1 .. DROP_RANKS */
	} parts[FINDING_PARTS];
	size_t nparts;
};

/* The columns whose figures are looked at. */
struct finding_columns {
	const struct column *kinds[WAIT_KINDS], *states[WAIT_STATES], *run, *read, *write,
		*throttled;
	const struct column *mem, *limited; /* of groups: how often at the limit of memory */
};

#define FINDINGS_MAX 32

struct findings_past;

/* Zero-initialised: nothing is known. */
struct findings {
	bool known; /* the frame has an interval */
	struct finding all[FINDINGS_MAX]; /* what matters most first */
	size_t n;
	struct finding none; /* says that there are none */
	struct buf text;
	struct finding_columns columns; /* found once */
	struct findings_past *past; /* what was found before; NULL: nothing yet */
	struct site_index sites; /* of the frame that is looked at */
	const struct row **ended; /* room for its rows of tasks that ended */
	size_t ended_cap;
};

/* The finding that matters most, or the one for none; NULL: nothing is known yet. */
const struct finding *findings_first(const struct findings *findings);

/* The words of a finding: raw bytes with a NUL after them. */
const char *finding_text(const struct findings *findings, const struct finding *finding);

/*
 * Appends the words, escaped: in at most `width` cells, for which the target is shortened first; 0:
 * all of them. False: the target or the end is cut.
 */
bool finding_append(struct buf *out, const struct findings *findings, const struct finding *finding,
		    unsigned width, enum text_charset charset);

/* Whether what the task waits on right now would be in the words, if it were known. */
bool finding_wants_target(const struct finding *finding);

void findings_free(struct findings *findings);
