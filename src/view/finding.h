/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: the worst problems of the machine, in words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "view/column.h"

/* The sites of a frame by process: an index made at the first request, for all callers. */

/* Empty when zero-initialised; its memory is reused. */
struct site_index {
	const struct trace_frame *trace; /* NULL: nothing was traced */
	bool made;
	size_t places; /* a power of two */
	/* By the hash of the process's id, then by site: 1 + the place of a site; 0: none. */
	uint32_t *first, *next;
	uint32_t last; /* the last one found, as in `next`; 0: none */
	size_t places_cap, next_cap;
};

/* Starts a frame; trace NULL: nothing was traced. It must exist as long as the index is used. */
void site_index_begin(struct site_index *index, const struct trace_frame *trace);

/*
 * The sites of a process in the frame's order, most time first: the one after `site`, which was one
 * of them, or the first for NULL. NULL: there are no more.
 */
const struct site *site_index_next(struct site_index *index, pid_t tgid, uint64_t start_ns,
				   const struct site *site);

void site_index_free(struct site_index *index);

/* From this age on a wait in uninterruptible sleep, or in a call, is a hang: as in the preset. */
#define FINDING_HANG_NS NSEC_PER_SEC

enum finding_severity {
	FINDING_INFO, /* was asked about, or is unknown */
	FINDING_WARNING, /* a task loses much time */
	FINDING_CRITICAL, /* a task makes no progress */
	FINDING_SEVERITIES
};

/* Their names in machine formats. */
extern const char *const finding_severities[FINDING_SEVERITIES];

/*
 * Optional parts of a text, and the turns in which they are dropped: the last one if shortening the
 * target is not enough.
 */
#define FINDING_PARTS 8
#define DROP_RANKS 4

/* Subjects of waits with remedies. */
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
	REMEDY_KEPT, /* in a call that another task must end */
	REMEDY_LOCK,
	REMEDY_PEER,
	REMEDY_CHILD,
	REMEDY_STATE, /* a state that does not end by itself */
	REMEDY_DEADLOCK,
	REMEDY_UNCOUNTED, /* the target is unknown */
	REMEDY_SUBJECTS
};

/* The cause of a wait: another task, or a limit. */
enum culprit_kind {
	CULPRIT_NONE,
	CULPRIT_FILE, /* users of the same file */
	CULPRIT_LIMIT, /* its cgroup's, of I/O */
	CULPRIT_WRITER, /* a task that writes much more than all waiters, in MB/s */
	CULPRIT_READER, /* a task that reads much more than all others at a memory limit, in MB/s */
	CULPRIT_WRITES_MOST, /* in kB/s */
	CULPRIT_BEHIND, /* the task that ran instead; the name has the pid */
	CULPRIT_RUNS_MOST,
	CULPRIT_RUNS_THERE, /* of the tasks that were read */
	CULPRIT_STARTS, /* many short-lived tasks */
	CULPRIT_RAN_MOST, /* likewise, if their parent is unknown */
	CULPRIT_ENDED, /* the waker of most of the waits */
	CULPRIT_DEBUGGER,
	CULPRIT_AWAITED, /* the task that must act; the sentence itself names it */
	CULPRITS
};

/* A finding: the delayed task, its share of time, the cause, and the text. */
struct finding {
	const char *id; /* NULL: the text says that nothing was found */
	enum finding_severity severity;
	enum remedy_subject subject; /* of its remedies (remedies.h) */
	const struct row *row; /* the task or group named in it; NULL: none */
	struct finding_culprit {
		enum culprit_kind kind;
		const char *name; /* of a task, or of those that ran most; raw bytes */
		pid_t pid; /* 0: unknown, or of several */
		double share; /* of the interval, or of the waits behind it, in percent */
		double rate; /* its write rate, or its task starts per second */
		const char *of; /* the name of the tasks it starts */
	} culprit;
	const struct site *site; /* the site where that waits, if traced; NULL: unknown */
	enum finding_place {
		PLACE_UNKNOWN,
		PLACE_OF_WAIT, /* the site, or the target, is of this wait only */
		PLACE_PART, /* a part of its waits was in the site */
		PLACE_NOW /* it is there now */
	} place;
	double place_share; /* that part, in percent */
	const char *kind; /* what it waits for: a delay kind, "dwait", or a traced state; NULL */
	double share; /* share of the interval, in percent; below 0: none */
	uint64_t ns; /* time that the wait has lasted; 0: not a single wait */
	bool at_least; /* it began before it was first seen: it has lasted longer */
	size_t n; /* number of tasks or groups in this condition */
	size_t service; /* of these, those of the row's service; 0: not searched for */
	enum finding_limit {
		LIMIT_NONE,
		LIMIT_CPU,
		LIMIT_MEMORY,
		LIMIT_DEADLINE, /* the task's own */
		LIMIT_REALTIME
	} limit; /* of the group that makes the row wait */
	bool while_idle; /* other CPUs are idle */
	const char *how; /* how it is stopped, or by which quota, in words */
	double quota_cpus; /* CPUs that the quota grants; 0: unknown */
	uint64_t limit_bytes; /* of memory, reached by its group */
	double times; /* number of times */
	size_t at, len; /* the sentence, in the text: raw bytes */
	size_t on, on_len; /* the path in the text, which may be shortened; 0: none */
	/* Optional parts of the text, dropped in this order on narrow screens. */
	struct finding_part {
		size_t at, len;
		unsigned turn; /* 1 .. DROP_RANKS */
	} parts[FINDING_PARTS];
	size_t nparts;
};

/* The columns whose figures are scanned. */
struct finding_columns {
	const struct column *kinds[WAIT_KINDS], *states[WAIT_STATES], *run, *read, *write,
		*throttled;
	const struct column *mem, *limited; /* of groups: how often at the memory limit */
};

#define FINDINGS_MAX 32

struct findings_past;

/* Zero-initialised: nothing is known. */
struct findings {
	bool known; /* the frame has an interval */
	struct finding all[FINDINGS_MAX]; /* most important first */
	size_t n;
	struct finding none; /* means that there are none */
	struct buf text;
	struct finding_columns columns; /* looked up once */
	struct findings_past *past; /* earlier findings; NULL: none yet */
	struct site_index sites; /* of the current frame */
	const struct row **ended; /* buffer for its rows of exited tasks */
	size_t ended_cap;
};

/* The most important finding, or the one for none; NULL: nothing is known yet. */
const struct finding *findings_first(const struct findings *findings);

/* The words of a finding: raw bytes with a NUL after them. */
const char *finding_text(const struct findings *findings, const struct finding *finding);

/*
 * Appends the words, escaped: in at most `width` cells, for which the target is shortened first; 0:
 * all of them. False: the target or the end is cut.
 */
bool finding_append(struct buf *out, const struct findings *findings, const struct finding *finding,
		    unsigned width, enum text_charset charset);

/* True if the words would include the task's current target, if it were known. */
bool finding_wants_target(const struct finding *finding);

void findings_free(struct findings *findings);
