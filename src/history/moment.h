/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A moment: what one sample adds to a recording, as one block of memory that goes from the sampling
 * process to the one that writes. Both are the same program, so the block holds structs as they
 * are: a head, then arrays at the offsets that the head tells.
 */
#ifndef STALLTOP_HISTORY_MOMENT_H
#define STALLTOP_HISTORY_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clocks.h"
#include "data/sample.h"
#include "data/system.h"
#include "data/wait_state.h"
#include "history/rows.h"
#include "model/frame.h"

/* The arrays of a moment. */
enum moment_part {
	PART_TEXTS, /* struct moment_text, each followed by its bytes, padded to 8 */
	PART_TASKS, /* struct moment_task */
	PART_PROCESSES, /* struct moment_process */
	PART_SITES, /* struct moment_site */
	/* Up to here: what is numbered. Of a dropped moment it stays for the next. */
	PART_GONE, /* struct moment_gone */
	PART_CHANGES, /* struct moment_change */
	PART_FIELDS, /* struct moment_field */
	PART_READS, /* bytes: see encode_reads() */
	PART_SLEEPS, /* struct clock_sleep: all of them, where any is new */
	PART_GROUPS, /* struct moment_group */
	PART_STATES, /* struct moment_states */
	PART_MORE, /* struct moment_more */
	PART_SITE_WAITS, /* struct moment_site_wait */
	PART_WAKERS, /* struct moment_waker */
	PART_RESTS, /* struct moment_rest */
	PART_EVIDENCE, /* struct moment_evidence */
	PART_BOUNDS, /* struct moment_bound */
	MOMENT_PARTS
};

/* A text that later parts name by its id. */
struct moment_text {
	uint32_t id, len;
};

/*
 * A task, or what it has become: a task whose names change gets a further one, whose `first` is the
 * id of the first. Texts by id, 0: not known.
 */
struct moment_task {
	uint32_t id, first;
	pid_t tgid, pid, ppid;
	uid_t uid;
	uint32_t user, comm, command, cgroup;
	uint64_t start_ns, latest_ns, lo_ns, hi_ns;
};

/* With a time of reading: */
#define READ_SEVERAL 1u /* it is that of several elements; their number follows */
#define READ_NEXT 2u /* there follows the next time, and no number of those that keep theirs */

#define CHANGE_WHOLE 0x1u /* its counters are written as they are, not as growth */
#define CHANGE_LEFT 0x2u /* it has left the sample: see struct sample */
#define CHANGE_ROW 0x4u /* something happened to it in the interval */
#define CHANGE_WAITS 0x8u /* its waits in progress are others than before */
#define CHANGE_CHILDREN 0x10u /* its children's times are others than before */
#define CHANGE_DROPPED 0x20u /* `dropped` is to be written */

/* What happened to a task. */
struct moment_change {
	uint32_t task, flags;
	uint32_t known; /* as row.valid: what of the interval is known */
	int64_t drift_ns; /* growth of the life beyond the time between readings, of all threads */
	struct counters grown; /* since the sample before; for a new task as of its birth */
	struct waited waited;
	struct task_raw raw; /* as it is now; raw.task means nothing */
	struct counters dropped;
	uint32_t place; /* of CHANGE_LEFT: among those that left */
	uint32_t status, ended; /* of an exited task; ended: the id of a text */
	pid_t reaper;
	bool mixed;
};

/* What a field is of: the tables of its name have a value for each. */
enum moment_field_of {
	FIELD_RECORD, /* number: enum record_field */
	FIELD_MAX, /* number: enum delay_kind */
	FIELD_MIN,
	FIELD_STAMP,
	FIELD_READ, /* storage bytes */
	FIELD_WRITTEN,
	FIELD_CANCELLED,
	FIELD_WHOLE, /* 1: the bytes are also those of ended threads and children */
	FIELD_CHILDREN_USER, /* times of children, in ns */
	FIELD_CHILDREN_SYSTEM,
	FIELD_KINDS
};

/* A task that the sample does not have any more. */
struct moment_gone {
	uint32_t task;
};

/* A value that was read on demand and is another than before. */
struct moment_field {
	uint32_t task, field; /* SCHEMA_FIELD_OF() */
	bool known;
	int64_t value;
};

/* What was read of a control group's files. */
struct moment_group {
	uint32_t path; /* the id of a text */
	bool fresh; /* it was not read in the sample before, or was another group */
	struct cgroup_sample sample;
};

/* A process as the trace tells it from others. */
struct moment_process {
	uint32_t id;
	pid_t tgid;
	uint64_t start_ns;
};

/* A site, as far as it does not change. Texts by id, 0: not known. */
struct moment_site {
	uint32_t id, process;
	uint64_t order; /* its id in the trace: of sites of the same time the lower comes first */
	int32_t state, kind;
	uint32_t overlaps;
	int32_t class; /* -1: not known */
	uint32_t comm, syscall, on, where, stack; /* stack: a function a line */
};

/* How a task spent the interval, where that is not what a reader takes it to be. */
struct moment_states {
	uint32_t task;
	uint32_t process, waker;
	bool known; /* it was traced */
	bool lost_known;
	uint64_t lost_ns;
	struct wait_states states;
};

/* A further process that a task's row stands for. */
struct moment_more {
	uint32_t task, number, process;
};

/* What was waited at a site. Its texts and wakers mean nothing. */
struct moment_site_wait {
	uint32_t site;
	bool of_kind; /* some of it counts for a kind */
	struct site wait;
};

/* Who ended waits at a site. */
struct moment_waker {
	uint32_t site, number, name;
	pid_t tgid;
	uint64_t ns, count;
};

/* What no site explains of a kind. */
struct moment_rest {
	uint32_t process, comm;
	uint32_t kind;
	bool known; /* how much it is */
	int64_t ns;
};

/* What explains a task: what it waits on, and its evidence. Texts by id, 0: not known. */
struct moment_evidence {
	uint32_t task;
	pid_t tid; /* the thread that waits; 0: none, or not known */
	uint64_t since_ns; /* it is kept waiting since then (CLOCK_MONOTONIC); 0: it is not */
	int32_t state, class; /* -1: not known */
	uint32_t syscall, on, where;
	bool known, io_limited; /* what follows was looked at */
	double throttled, quota, writes; /* as in struct task_evidence */
	bool limited; /* its group has a limit of memory: */
	uint64_t memory_limit, memory_used;
	pid_t rival;
	bool held; /* it was asked about, and so looked at whether it is held: */
	bool frozen;
	pid_t tracer;
	uint32_t tracer_name;
};

/* What limits for how long a task waited for I/O, beside the machine's pressure. */
struct moment_bound {
	uint32_t task;
	struct io_pressure io; /* of its group; until_ns since the sample's begin */
};

#define MOMENT_WHOLE 0x1u /* has all tasks, as they are: nothing before it is needed */
#define MOMENT_SLEEPS 0x8u /* has the clocks */
#define MOMENT_SEGMENT 0x10u /* texts and tasks begin anew, for a file of its own */
#define MOMENT_TRACED 0x20u /* waits were traced: trace has the figures of that */
#define MOMENT_CLOSE 0x40u /* has no sample: the file is to be closed */

/* A sample as a whole, and what belongs to its frame. */
struct moment_sample {
	int64_t number; /* in the recording; only where it is written */
	uint64_t real_ns, interval_ns, begin_ns, took_ns;
	bool interval_known; /* there is one */
	bool whole; /* see MOMENT_WHOLE */
	bool marked; /* the source tells which elements are unchanged */
	uint64_t n, steady;
	unsigned have;
	uint32_t source, cgroup, hierarchy; /* ids of texts */
	struct frame_head head;
	struct system_sample system;
	int64_t cpu_ns[CPU_STATES]; /* growth */
	int64_t pressure_ns; /* from its begin until the pressure that was shown was read */
	/* The machine's total of PSI_IO, where a group's pressure was shown; from its begin until
	 * then. */
	bool machine_known;
	uint64_t machine_us;
	int64_t machine_ns;
	struct row_bytes reads; /* see encode_reads(); only where it is written or read */
};

/* The head. */
struct moment {
	uint64_t size; /* of all */
	size_t at[MOMENT_PARTS], bytes[MOMENT_PARTS];
	unsigned flags;
	uint64_t dropped; /* samples right before it that are not in the recording */
	struct moment_sample sample;
	uint64_t clock_real_ns;
	bool threads;
	uint32_t psi_new; /* bits of 2 * resource, + 1 for full: other than before */
	struct trace_frame trace; /* without its arrays */
};

/* The pressure that was shown. */
static inline const struct psi_reading *moment_pressure(const struct moment *moment)
{
	const struct moment_sample *sample = &moment->sample;

	return sample->cgroup ? &sample->system.of_group : &sample->system.pressure;
}

/* The start of a part. */
static inline const void *moment_part(const struct moment *moment, enum moment_part part)
{
	return (const char *)moment + moment->at[part];
}

/* How far the life of a task without news is taken to have grown, by the time between readings. */
static inline uint64_t life_growth(const struct task_raw *before, uint64_t read_ns)
{
	uint64_t threads = before->now.threads ? before->now.threads : 1;

	if (!before->counters.life_ns || read_ns <= before->read_ns)
		return 0;
	return threads * (read_ns - before->read_ns);
}

#endif
