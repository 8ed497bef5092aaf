/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame: the interval between two samples, as deltas of their counters. It is read-only once it
 * is handed on.
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
	int error; /* -errno: the cause; 0: unknown */
};

#define NOTES_MAX 16

/* The deltas of a row that did nothing, or of an unknown one. */
extern const struct deltas no_deltas;

#define NO_GROUP SIZE_MAX

struct group_above;

/* The readings of a group's own files for this frame and the previous one; NULL: none. */
struct group_figures {
	const struct cgroup_sample *now, *before;
	const struct group_above *above; /* the nearest group above whose throttling was read */
};

/* A group above others. */
struct group_above {
	const char *path; /* raw bytes */
	struct group_figures figures;
};

/* The group of a row that sums up a group (see group.h). */
struct group {
	const char *name; /* raw bytes; NULL: the group of tasks without a known group */
	const char *label; /* the name; if requested the readable one, then in a tree its last
			    * component */
	/* Of a container: NAMESPACE/POD, and its name, as users know them; NULL: unknown. */
	const char *pod, *container;
	uint64_t id; /* hash of the name: the same from frame to frame; never 0 */
	const struct row *const *members; /* rows of tasks: its own, then those of groups below */
	size_t n, own; /* the number of all members, and of its own */
	const struct row *worst; /* the most delayed member; NULL: none has waited */
	struct row sum; /* the sum of its own members only, for sums over groups */
	struct group_figures *figures; /* filled by the sampler: see sampler_fill() */
	size_t parent; /* in a tree: the index of the row above; NO_GROUP: there is none */
	const struct row *head; /* in a branch of tasks (see tree.h): it has its names and ids */
};

/* Per-frame data that recordings store and replay verbatim. */
struct frame_head {
	/* Texts; NULL in a recorded frame, which has their ids. */
	const char *source;
	const char *cgroup; /* the group whose pressure is shown; NULL: the machine's is */
	const char *hierarchy; /* its name: "v2", or for version 1 as in /proc/PID/cgroup */
	/* The version of the cgroup hierarchy: 2 or 1; 0: none wanted or found. */
	unsigned hierarchy_version;
	int taskstats_version; /* 0: none */
	enum delayacct_state delayacct;
	bool measured; /* delays are measured, whether the kernel accounts them or not */
	uint32_t unknown; /* see struct frame_options */
	int64_t exits, lost; /* exit records in the interval; -1: not listening */
	uint64_t others; /* exited tasks that were too many to be kept by name */
	double self; /* stalltop's own CPU time in percent of the interval; negative: unknown */
	struct account account;
	struct note notes[NOTES_MAX];
	size_t nnotes;
};

/* Data of the interval, independent of its kind of rows: a frame folded from another shares it. */
struct frame_info {
	struct frame_head head;
	struct sample *cur; /* extras are added to it until the next one is taken */
	const struct sample *prev; /* NULL: there is no interval yet */
	size_t tasks; /* the number of rows of tasks, even if they are folded */
	bool bare; /* there are no rows, nor data made from them; `tasks` are the living ones */
	uint64_t real_ns; /* CLOCK_REALTIME of the sample */
	const struct clocks *clocks; /* as they were when the sample was taken, or later */
	uint64_t interval_ns; /* between the samples' starts; 0: none */
	bool threads, since_start;
	bool selected_only; /* only selected processes are read */
	size_t born, gone; /* tasks that came and went between the samples */
	size_t ended; /* tasks in rows that exited; known from exit records, 0 without them */
	uint64_t run_ns; /* run time of all rows */
	size_t stale; /* rows with an impossible delay: see frame_build() */
	bool io_booked; /* I/O waits were accounted to some row */
	struct wait_limits machine; /* see struct frame_options */
	bool states_known;
	size_t blocked, running; /* rows with a thread in state D; in R, or waiting for a CPU */
	uint32_t kinds; /* delay kinds that any row has: a view shows these by default */
	const struct system_sample *system, *system_before; /* before: NULL without interval */
	const struct trace_frame *trace; /* where tasks waited; NULL: waits are not traced */
};

/* The pressure shown, now and in the previous sample (NULL: there is no interval). */
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
	const char *group_by; /* row type: an id of group_table */
	struct row *rows; /* in the sample's order: living tasks, then exited ones */
	size_t n, cap;
	size_t unchanged; /* rows to which nothing happened */
	struct deltas *deltas; /* of the changed rows */
	size_t ndeltas, used; /* maximum used since it was allocated */
	struct traced *traced; /* of traced rows, each at the row's index; NULL: of none */
};

/* How a frame is to be built. */
struct frame_options {
	bool since_start; /* deltas are the counters themselves, the interval is the task's life */
	uint32_t unknown; /* unknown in this interval (the switch moved): DELAY_BIT()s */
	struct wait_limits machine; /* in the interval; all 0: unknown */
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
 * Recomputes a row's waited times from newer data: see resolve_row(). For rows that were traced,
 * and for rows with deltas of their own whose group's pressure is known. Returns whether it newly
 * counts in info->stale.
 */
bool frame_resolve(struct frame *frame, struct row *row);

/* Clears `unchanged` of a row whose task is blocked in a call. */
void frame_mark_changed(struct frame *frame, struct row *row);

/* Adds a note, once for each id and value; drops notes beyond NOTES_MAX. */
void frame_note(struct frame_info *info, enum note_id id, uint64_t value);

/* Adds a note as frame_note() does, with the reason as -errno. */
void frame_note_error(struct frame_info *info, enum note_id id, uint64_t value, int error);

/* Adds `row` to a sum and to the sum's deltas; both must start zeroed. */
void row_add(struct row *sum, struct deltas *deltas, const struct row *row);

/*
 * The row for the interval, even if the frame's deltas are those since start (for a sum it is
 * unknown then); with the accounted delays of its whole life. The deltas are stored in `deltas`.
 */
struct row row_of_interval(const struct frame *frame, const struct row *row, struct deltas *deltas);
struct row row_since_start(const struct frame *frame, const struct row *row, struct deltas *deltas);

/* The row's counters since its start, without impossible delays: see waited_life(). */
struct counters row_totals(const struct row *row);

/* Adds a row's counters since its start to a sum. */
void row_add_totals(struct counters *sum, const struct row *row);

/* The age of the row's task when its counters were last true; 0: it started after that. */
uint64_t row_age_ns(const struct frame *frame, const struct row *row);

/* Optional parts of a row; NULL if absent. */
const struct task_record *row_record(const struct frame *frame, const struct row *row);
const struct task_record *row_record_before(const struct frame *frame, const struct row *row);
const struct task_proc *row_proc(const struct frame *frame, const struct row *row);
const struct task_proc *row_proc_before(const struct frame *frame, const struct row *row);

/* The state of the row's task as in /proc/PID/stat; 0: unreadable. */
char row_state(const struct row *row);

/*
 * User or system time of the task's reaped children, now and in the previous sample. False if
 * unknown (NEED_STAT).
 */
bool row_children(const struct frame *frame, const struct row *row, bool system, uint64_t *ns);
bool row_children_before(const struct frame *frame, const struct row *row, bool system,
			 uint64_t *ns);

/*
 * The time that the row lost in the interval: if traced, all but running and waits of class parked,
 * else the counted waits. False if unknown.
 */
bool row_lost(const struct row *row, uint64_t *ns);

/*
 * Time that the task's longest-waiting thread has waited by now: for a CPU, if the source shows
 * that, or in uninterruptible sleep. False if no thread waits, or it is unknown.
 */
bool row_wait(const struct frame *frame, const struct row *row, uint64_t *ns);

/*
 * Time that a thread of the task has been blocked in a system call: see struct task_hang. False if
 * none is, or that was not wanted (NEED_HANGS), or the task is known to be frozen there.
 */
bool row_hang(const struct frame *frame, const struct row *row, uint64_t *ns);

/* The process that the row's task waits for there, if that is stopped or frozen; 0: unknown. */
pid_t row_hang_on(const struct frame *frame, const struct row *row);

/* Number of threads of the row's task that wait for contended locks; 0: unknown. */
uint32_t row_locked(const struct frame *frame, const struct row *row);

/*
 * The state in which the row's threads wait: STATE_DWAIT, else STATE_IO (both in D), else
 * STATE_CPU. WAIT_STATES: none waits, or not visibly in the sample.
 */
enum wait_state row_wait_state(const struct row *row);

/*
 * Hash of everything displayed of an unchanged row in no wait in progress, except the interval's
 * length and fields read per sample; 0: not cacheable. Equal hash: equal display.
 */
uint64_t row_still(const struct frame *frame, const struct row *row);

/* The pressure of its group that limits the row's I/O waits; NULL: unknown. */
const struct io_pressure *row_io_bound(const struct frame_info *info, const struct row *row);

/* Data read of the row's living task besides its counters; NULL: none. */
const struct task_extra *row_extra(const struct frame_info *info, const struct row *row);

/* How the row's task was stopped on purpose; NULL: not read for this sample. */
const struct task_stop *row_stop(const struct frame *frame, const struct row *row);

/* The evidence for how the row's task waits; NULL: not collected for this sample. */
const struct task_evidence *row_evidence(const struct frame *frame, const struct row *row);

/* The row of the living task with that pid; NULL: there is none. */
const struct row *frame_of_pid(const struct frame *frame, pid_t pid);

/* The current wait of the row's task, if it was read for this frame and waits; else NULL. */
const struct task_waiting *row_waiting(const struct frame *frame, const struct row *row);

/* The row of that thread (if its pid is the tgid: of that process), or NULL. */
const struct row *frame_find(const struct frame *frame, const struct task_key *key);

/* The number of rows of living tasks, which come first, in their sample's order. */
size_t frame_living(const struct frame *frame);

/* The first living row not before that in task_order(); frame_living(): none. */
size_t frame_from(const struct frame *frame, uint64_t order);

/* The row of a living task with that start; NULL: there is none. */
const struct row *frame_find_living(const struct frame *frame, pid_t tgid, pid_t pid,
				    uint64_t start_ns);

/* Frees the rows and their deltas. */
void frame_free(struct frame *frame);
