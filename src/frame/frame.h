/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame: what happened between two samples, as deltas of their counters. It is not
 * changed once it is handed on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clocks.h"
#include "data/sample.h"
#include "data/system.h"
#include "data/wait_state.h"
#include "frame/account.h"
#include "frame/resolve.h"
#include "frame/row.h"

/* Conditions that degrade a frame. Their words are in notes.c. */
enum note_id {
	NOTE_DELAYACCT_OFF,
	NOTE_DELAYACCT_OLDER, /* value: tasks */
	NOTE_DELAYACCT_UNSURE, /* value: tasks */
	NOTE_DELAYACCT_TOGGLED,
	NOTE_DELAYACCT_LEFT,
	NOTE_NO_CAP,
	NOTE_NO_TASKSTATS,
	NOTE_TASKSTATS_VERSION,
	NOTE_TASKSTATS_ERROR, /* value: errno */
	NOTE_NO_BPF, /* value: errno */
	NOTE_UNMEASURED, /* error: why */
	NOTE_NO_PSI,
	NOTE_GROUP_GONE,
	NOTE_GROUP_PSI, /* value: errno */
	NOTE_GROUP_THREADED,
	NOTE_GROUP_UNKNOWN, /* value: tasks */
	NOTE_PSI_MISSING, /* value: enum psi_resource; error */
	NOTE_SYSTEM_MISSING, /* value: enum system_file; error */
	NOTE_STALE_STAMP, /* value: tasks */
	NOTE_UNREAD, /* value: tasks; error: of one of them */
	NOTE_HIDDEN,
	NOTE_EXITS_REFUSED, /* value: errno */
	NOTE_EXITS_LOST, /* value: records */
	NOTE_EXITS_FOLDED, /* value: tasks */
	NOTE_EXITS_INEXACT,
	NOTE_RUN_REAPED, /* value: processes */
	NOTE_LATE, /* value: grid points skipped */
	NOTE_TRIGGER_GONE, /* value: triggers */
	NOTE_TRACE_CAP,
	NOTE_TRACE_BTF,
	NOTE_TRACE_ABSENT,
	NOTE_TRACE_KERNEL,
	NOTE_TRACE_ERROR, /* value: errno */
	NOTE_TRACE_UNRECORDED,
	NOTE_TRACE_LOST, /* value: waits */
	NOTE_TRACE_CALLS,
	NOTE_TRACE_STATES,
	NOTE_STACKS_LOST, /* value: stacks and waits */
	NOTE_STACKS_MACHINE,
	NOTE_STACKS_LIBRARY,
	NOTE_WAITING_HIDDEN,
	NOTE_RECORD_DROPPED, /* value: samples */
	NOTE_RECORD_ENDED, /* value: errno */
	NOTE_READS_HANG, /* value: reads */
	NOTE_CLOCK_BACK,
	NOTE_LEAPT, /* value: enum psi_resource, or PSI_RESOURCES: of stat */
	NOTE_PROC_SUBSET,
	NOTE_TRACE_SYMBOLS,
	NOTE_TRACE_SOURCE,
	NOTE_IDS
};

struct note {
	enum note_id id;
	uint64_t value;
	int error; /* -errno: why it could not be done; 0: not known */
};

#define NOTES_MAX 16

/* The deltas of a row that did nothing, or of an unknown one. */
extern const struct deltas no_deltas;

#define NO_GROUP SIZE_MAX

struct group_above;

/* The readings of a group's own files for this frame and the one before; NULL: none. */
struct group_figures {
	const struct cgroup_sample *now, *before;
	const struct group_above *above; /* the next group above whose throttling was read */
};

/* A group above others. */
struct group_above {
	const char *path; /* raw bytes */
	struct group_figures figures;
};

/* The group of a row that is one (see group.h). */
struct group {
	const char *name; /* raw bytes; NULL: the group of tasks whose group is not known */
	const char *label; /* the name; readable where asked for, then in a tree its last part */
	/* Of a container: NAMESPACE/POD, and its name, as people know them; NULL: not known. */
	const char *pod, *container;
	uint64_t id; /* made from the name: the same from frame to frame; never 0 */
	const struct row *const *members; /* rows of tasks: its own, then those of groups below */
	size_t n, own; /* the number of all members, and of its own */
	const struct row *worst; /* the member that waited most; NULL: none has waited */
	struct row sum; /* the sum of its own members alone, for sums over groups */
	struct group_figures *figures; /* filled by the sampler: see sampler_fill() */
	size_t parent; /* in a tree: the index of the row above; NO_GROUP: there is none */
	const struct row *head; /* in a branch of tasks (see tree.h): it has its names and ids */
};

/* Per-frame data that recordings store and replay verbatim. */
struct frame_head {
	/* Texts; in a moment of a recording NULL: it has their ids. */
	const char *source;
	const char *cgroup; /* the group whose pressure is shown; NULL: the machine's is */
	const char *hierarchy; /* its name: "v2", or for version 1 as in /proc/PID/cgroup */
	/* The version of the cgroup hierarchy: 2 or 1; 0: none was looked for or found. */
	unsigned hierarchy_version;
	int taskstats_version; /* 0: none */
	enum delayacct_state delayacct;
	bool measured; /* delays are measured, whether the kernel counts them or not */
	uint32_t unknown; /* see struct frame_options */
	int64_t exits, lost; /* exit records in the interval; -1: not listened for */
	uint64_t others; /* ended tasks that were too many to be kept by name */
	double self; /* stalltop's own CPU time in percent of the interval; negative: not known */
	struct account account;
	struct note notes[NOTES_MAX];
	size_t nnotes;
};

/* Data of the interval, whatever its rows are: a frame folded from another shares it. */
struct frame_info {
	struct frame_head head;
	struct sample *cur; /* extras are added to it until the next one is taken */
	const struct sample *prev; /* NULL: there is no interval yet */
	size_t tasks; /* the number of rows of tasks, also where they are folded */
	bool bare; /* there are no rows, nor what is made of them; `tasks` are those that live */
	uint64_t real_ns; /* CLOCK_REALTIME of the sample */
	const struct clocks *clocks; /* as they stood when the sample was taken, or later */
	uint64_t interval_ns; /* between the samples' begins; 0: none */
	bool threads, since_start;
	bool selected_only; /* only processes that were asked for are read */
	size_t born, gone; /* tasks that came and went between the samples */
	size_t ended; /* tasks in rows that exited; known from exit records, so 0 without those */
	uint64_t run_ns; /* run time of all rows */
	size_t stale; /* rows with an impossible delay: see frame_build() */
	bool io_booked; /* some row was booked waits for I/O */
	struct wait_limits machine; /* see struct frame_options */
	bool states_known;
	size_t blocked, running; /* rows with a thread in state D; in R, or waiting for a CPU */
	uint32_t kinds; /* delay kinds that any row has: a view shows these by default */
	const struct system_sample *system, *system_before; /* before: NULL without interval */
	const struct trace_frame *trace; /* where tasks waited; NULL: waits are not traced */
};

/* The pressure that is shown, now and in the sample before (NULL: there is no interval). */
static inline const struct psi_reading *frame_pressure(const struct frame_info *info)
{
	return system_pressure(info->system, info->head.cgroup);
}

static inline const struct psi_reading *frame_pressure_before(const struct frame_info *info)
{
	return info->system_before ? system_pressure(info->system_before, info->head.cgroup) : NULL;
}

/* The table of rows, and the interval that it describes. */
struct frame {
	const struct frame_info *info; /* not owned */
	const char *group_by; /* what a row stands for: an id of group_table */
	struct row *rows; /* in the sample's order: living tasks, then those that left */
	size_t n, cap;
	size_t unchanged; /* rows to which nothing happened */
	struct deltas *deltas; /* of the rows to which something happened */
	size_t ndeltas, used; /* and the most that were used since it was made */
	struct traced *traced; /* of the rows that were, each at the row's index; NULL: of none */
};

/* How a frame is to be built. */
struct frame_options {
	bool since_start; /* deltas are the counters themselves, the interval is the task's life */
	uint32_t unknown; /* unknown in this interval (the switch moved): DELAY_BIT()s */
	struct wait_limits machine; /* in the interval; all 0: nothing is known of it */
};

/*
 * Builds the rows of a frame from two samples, `prev` NULL for the first, in place of those of
 * `prev`, if it has any, and sets the parts of `info` that follow from the samples and the rows.
 * Counters of `cur` that fell are lifted to their former value: a TGID total falls a little when a
 * thread exits (the kernel adds the thread to the group before it stops counting it as live), and
 * the record of a zombie reads 0. So every delta is the difference of two counters of two frames.
 *
 * A delay that cannot have been waited is unknown, or cut to what can: see resolve_booked(). A
 * 6.18 kernel was seen to book waits of minutes, up to its own uptime, for tasks of milliseconds
 * with direct I/O on busy CPUs.
 */
void frame_build(struct frame *frame, struct frame_info *info, const struct sample *prev,
		 struct sample *cur, const struct frame_options *options);

/*
 * Computes again what a row waited, with what is known of it by now: see resolve_row(). For rows
 * that were traced, and for rows with deltas of their own whose group's pressure is known. Whether
 * it has become one of those that info->stale counts.
 */
bool frame_resolve(struct frame *frame, struct row *row);

/* Clears `unchanged` of a row whose task is blocked in a call. */
void frame_mark_changed(struct frame *frame, struct row *row);

/* Adds a note, once for each id and value; drops notes beyond NOTES_MAX. */
void frame_note(struct frame_info *info, enum note_id id, uint64_t value);

/* Adds a note as frame_note() does, with the reason as -errno. */
void frame_note_error(struct frame_info *info, enum note_id id, uint64_t value, int error);

/* Adds what happened to `row` to a sum and to the sum's deltas; both must start zeroed. */
void row_add(struct row *sum, struct deltas *deltas, const struct row *row);

/*
 * The row with what happened to it in the interval, also where the frame's deltas are those since
 * the start (of a sum that is not known then); and with what was booked of its whole life. The
 * deltas are put into `deltas`.
 */
struct row row_of_interval(const struct frame *frame, const struct row *row, struct deltas *deltas);
struct row row_since_start(const struct frame *frame, const struct row *row, struct deltas *deltas);

/* The row's counters since its start, less impossible delays: see waited_life(). */
struct counters row_totals(const struct row *row);

/* Adds a row's counters since its start to a sum. */
void row_add_totals(struct counters *sum, const struct row *row);

/* The age of the row's task when its counters were last true; 0: it began after that. */
uint64_t row_age_ns(const struct frame *frame, const struct row *row);

/* Parts of a row that are there only when needed; NULL where they are not. */
const struct task_record *row_record(const struct frame *frame, const struct row *row);
const struct task_record *row_record_before(const struct frame *frame, const struct row *row);
const struct task_proc *row_proc(const struct frame *frame, const struct row *row);
const struct task_proc *row_proc_before(const struct frame *frame, const struct row *row);

/* The state of the row's task as in /proc/PID/stat; 0: it could not be read. */
char row_state(const struct row *row);

/*
 * User or system time of the task's reaped children, now and in the sample before. False where it
 * is not known (NEED_STAT).
 */
bool row_children(const struct frame *frame, const struct row *row, bool system, uint64_t *ns);
bool row_children_before(const struct frame *frame, const struct row *row, bool system,
			 uint64_t *ns);

/*
 * The time that the row lost in the interval: if traced, all but running and waits of class parked,
 * else the counted waits. False where it is not known.
 */
bool row_lost(const struct row *row, uint64_t *ns);

/*
 * How long the task's longest-waiting thread has waited by now: for a CPU, where the source tells
 * that, or in uninterruptible sleep. False where no thread waits, or that is not known.
 */
bool row_wait(const struct frame *frame, const struct row *row, uint64_t *ns);

/*
 * How long a thread of the task has been blocked in a system call: see struct task_hang. False
 * where none is, or that was not wanted (NEED_HANGS), or the task is known to be frozen there.
 */
bool row_hang(const struct frame *frame, const struct row *row, uint64_t *ns);

/* The process that the row's task waits for there, if that is stopped or frozen; 0: none is known.
 */
pid_t row_hang_on(const struct frame *frame, const struct row *row);

/* How many threads of the row's task wait for locks, where that is contended; 0: not known. */
uint32_t row_locked(const struct frame *frame, const struct row *row);

/*
 * The state that the row's threads wait in: STATE_DWAIT, else STATE_IO (both in D), else STATE_CPU.
 * WAIT_STATES: none waits, or not so that the sample shows it.
 */
enum wait_state row_wait_state(const struct row *row);

/*
 * A hash of all that is known of a task's row to which nothing happened, and which is in no wait
 * that was looked at; 0: it is none. While it is the same, so is all that is shown of the row, but
 * for how long the interval was, and what is read anew in each sample.
 */
uint64_t row_still(const struct frame *frame, const struct row *row);

/* The pressure of its group that limits what a row waited for I/O; NULL: not known. */
const struct io_pressure *row_io_bound(const struct frame_info *info, const struct row *row);

/* What was read of the row's living task besides its counters; NULL: nothing. */
const struct task_extra *row_extra(const struct frame_info *info, const struct row *row);

/* How the row's task was stopped on purpose; NULL: that was not looked for in this sample. */
const struct task_stop *row_stop(const struct frame *frame, const struct row *row);

/* The evidence for how the row's task waits; NULL: not looked for in this sample. */
const struct task_evidence *row_evidence(const struct frame *frame, const struct row *row);

/* The row of the task that has that pid and lives; NULL: there is none. */
const struct row *frame_of_pid(const struct frame *frame, pid_t pid);

/* The current wait of the row's task, where it was read for this frame and waits; else NULL. */
const struct task_waiting *row_waiting(const struct frame *frame, const struct row *row);

/* The row of that thread (where its pid is the tgid: of that process), or NULL. */
const struct row *frame_find(const struct frame *frame, const struct task_key *key);

/* The number of rows of living tasks, which come first, in their sample's order. */
size_t frame_living(const struct frame *frame);

/* The first living row whose task_order() is not before that; frame_living(): none. */
size_t frame_from(const struct frame *frame, uint64_t order);

/* The row of a living task that started then; NULL: there is none. */
const struct row *frame_find_living(const struct frame *frame, pid_t tgid, pid_t pid,
				    uint64_t start_ns);

/* Frees the rows and their deltas. */
void frame_free(struct frame *frame);
