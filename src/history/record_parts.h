/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of record.h: the rows of a record, and what its writer and its reader know of
 * the previous records. Both know the same, and both predict the same for the next record: the
 * functions at the end are called by both.
 */
#pragma once

#include "base/clocks.h"
#include "data/sample.h"
#include "data/wait_state.h"
#include "frame/frame.h"
#include "frame/playback.h"
#include "history/fields.h"

/* A sample as a whole, and the data of its frame as a whole. */
struct record_head {
	uint64_t real_ns, begin_ns, took_ns, interval_ns;
	bool interval_known; /* there is an interval */
	bool marked; /* the source marks unchanged elements */
	bool threads; /* rows are threads */
	bool hangs_read, traced;
	uint64_t n, left, steady; /* elements: living ones, others; those at unchanged places */
	uint32_t have;
	uint64_t dropped; /* samples right before it that were not recorded */
	struct frame_head frame; /* without notes */
	struct system_sample system;
	uint64_t clock_real_ns;
	struct trace_frame trace; /* without arrays */
};

/* The identity of a task, and its names. */
struct record_names {
	uint64_t start_ns, latest_ns, lo_ns, hi_ns;
	pid_t ppid;
	uid_t uid;
	uint64_t info; /* whether the command line was needed */
	const char *user, *comm, *command, *cgroup, *pod, *container;
};

/* How a task exited. */
struct record_end {
	uint32_t status;
	pid_t reaper;
	bool mixed;
	const char *ended;
};

/* An element's data besides its counters. */
struct record_extra {
	struct task_hang hang;
	pid_t tid; /* 0: its wait is unknown */
	uint32_t state, class;
	const char *syscall, *on, *where;
	bool has_held, has_evidence; /* they were read */
	struct task_stop held; /* without the name: */
	const char *tracer_comm;
	struct task_evidence evidence;
	struct io_pressure io;
};

/* How a task spent the interval. */
struct record_traced {
	struct wait_states states;
	uint64_t lost_ns;
	bool lost_known;
	const char *waker;
	pid_t tgid;
	uint64_t start_ns;
	uint32_t more; /* further processes that it includes */
};

struct record_process {
	pid_t tgid;
	uint64_t start_ns;
};

/* A site, with its stack: one function per line. */
struct record_site {
	struct site site;
	const char *stack;
};

/* The rest of a kind without a site. */
struct record_rest {
	pid_t tgid;
	uint64_t start_ns;
	const char *comm;
	uint32_t kind;
	int64_t ns;
	bool unknown;
};

/* A user stack of a site: one function per line. */
struct record_user_stack {
	uint64_t site; /* its id */
	const char *stack;
	uint64_t ns, count;
	pid_t waker;
};

/* The tables of these rows, and of structs recorded directly. */
extern const struct field_table record_head_table, record_note_table, record_sleep_table,
	record_names_table, record_raw_table, record_end_table, record_dropped_table,
	record_fields_table, record_proc_table, record_extra_table, record_traced_table,
	record_process_table, record_site_table, record_user_stack_table, record_link_table,
	record_rest_table, record_group_table;

/* What happened to elements: the lowest bits of a number, above them the number of elements. */
enum record_step {
	STEP_KEEP, /* unchanged, but for the marks */
	STEP_GONE, /* no longer in the sample */
	STEP_CHANGED, /* one is changed */
	STEP_NEW, /* one is new, before the next existing one */
	STEPS
};
#define STEP_BITS 2

/* The parts of an element's row. */
#define PART_NAMES 0x1u /* its identity and names */
/* Its reading time in the previous sample, unknown then; in a key record of all. */
#define PART_BEFORE 0x2u
#define PART_MARK 0x4u /* its marks */
#define PART_END 0x8u /* how it exited */
#define PART_TASK 0x10u /* the element of the previous sample with its task, if any */
#define PART_CPU 0x20u /* the last CPU that it ran on */
#define PARTS 0x40u

/*
 * How the threads of a task spent an interval, if each was in one state: the prediction for the
 * next one.
 */
struct steady_states {
	uint32_t in[WAIT_STATES];
	uint32_t lost;
	bool lost_known;
	pid_t tgid;
	uint64_t start_ns;
};

/* The reader's data of an element, for its samples. */
struct decoder_state {
	uint64_t before_ns; /* reading time in the previous sample; 0: as in that sample */
	/* Since a sample was made: */
	uint64_t dwait_ns; /* in samples before the last one */
	bool exited; /* in one of those */
	struct io_pressure io;
	/* Impossible delays, excluded in the frames of those records; NULL: none. */
	struct counters *impossible;
	bool traced; /* `sum` has data */
	struct traced sum;
	struct record_process *more;
	size_t nmore;
};

/* Rare data of an element: few have it, unless they are traced. */
struct recorded_rare {
	struct steady_states standing;
	bool stands; /* its threads are expected to stay in their states */
	struct task_record *record; /* NULL: never read */
	struct task_proc *proc; /* likewise */
	struct decoder_state *played; /* a reader's; NULL: none */
};

/* An element of the last record. There are two per task: they are small. */
struct recorded_element {
	struct task_raw *raw; /* a reference */
	uint64_t names; /* a hash of its names as written */
	struct recorded_rare *more; /* NULL: none */
	pid_t ppid; /* its parent as written */
	uint32_t cpu; /* as written */
	uint16_t renamed; /* how often its texts had been replaced when they were written */
	uint8_t mark;
	bool moved; /* it is unchanged in the next record */
};

/* The reader's data of an element; NULL: none. */
static inline struct decoder_state *record_decoder_state(const struct recorded_element *known)
{
	return known->more ? known->more->played : NULL;
}

/* How its threads are expected to spend the next interval; NULL: not as before. */
static inline const struct steady_states *record_steady_states(const struct recorded_element *known)
{
	return known->more && known->more->stands ? &known->more->standing : NULL;
}

/* A site of the last records. */
struct recorded_site {
	struct record_site row; /* its texts are kept ones */
	bool there; /* it is in the last record */
	size_t trace_stack; /* a writer's: its stack's index in the trace */
	uint64_t seen; /* the number of the last record with it */
};

/* A cgroup of the last records. */
struct recorded_group {
	char *path;
	struct cgroup_sample sample;
	bool there; /* it is in the last record, */
	bool follows; /* and was the same group in the previous sample */
	uint64_t seen; /* the number of the last record with it */
};

/* Impossible delays of a task: the frame of the record in which they were found also finds them. */
struct deferred_excess {
	struct task *task; /* a reference */
	struct counters dropped;
};

struct rebuilt_trace;
struct rebuilt_group;

/* A text of the last records. */
struct kept_text {
	uint64_t keys; /* number of key records when it was last used */
	char *text; /* shared */
	/* A stack's: its functions, and its index in the trace of the sample of that number. */
	const char **functions;
	size_t nfunctions, index;
	uint64_t sample;
};

/* What a reader makes its samples of. */
struct rebuilt {
	struct sample extras; /* includes the last record's elements */
	struct deferred_excess *fixes; /* subtracted from totals from the next record on */
	size_t nfixes, fixes_cap;
	struct playback_record result; /* of all records since a sample was made */
	uint64_t passed; /* their number */
	uint64_t rebuilt_ns; /* and the time that they span */
	struct rebuilt_trace *given;
	struct rebuilt_group **readings; /* of groups, by path */
	size_t nreadings, readings_cap;
	struct recorded_element
		*gone; /* elements that left in records before the last one, since then */
	size_t ngone, gone_cap;
	uint64_t gave[2]; /* key records when samples were made: the last, and the previous one */
};

/* What a writer and a reader know of the records so far. */
struct record_state {
	bool begun; /* there is a record */
	uint64_t number; /* of the last record, counted from the key record */
	bool standing; /* some element may have a standing */
	uint64_t dropped; /* samples before the next record that are not recorded */
	struct record_head head;
	struct recorded_element *known,
		*left; /* elements: living ones in their order; those that left */
	size_t n, cap, nleft, left_cap;
	/* The elements of the record being written or read, and those in it that left. */
	struct recorded_element *next, *next_left;
	size_t next_cap, next_left_cap;
	struct recorded_site *sites; /* by id */
	size_t nsites, sites_cap;
	struct recorded_group *groups; /* by path */
	size_t ngroups, groups_cap;
	struct clocks clocks;
	struct rebuilt rebuilt; /* a reader's */
	struct kept_text **texts; /* in order */
	size_t ntexts, texts_cap;
	uint64_t keys; /* key records so far */
};

/* An element of the last record by its number from 1 on: living ones, then those that left. */
struct recorded_element *record_numbered(const struct record_state *state, size_t number);

/*
 * A shared text that is valid until the next key record of a writer; of a reader, as long as the
 * last sample with it is shown, and as the previous one. NULL is allowed.
 */
char *record_keep(struct record_state *state, const char *text);

/* A kept text; *at: its position, or where it would be. NULL: not kept. */
struct kept_text *record_kept(const struct record_state *state, const char *text, size_t *at);

/* Drops the texts that were not used since so many key records. */
void record_forget_texts(struct record_state *state, uint64_t keys);

/* The additional data of an element, created if there is none. */
struct recorded_rare *record_rare(struct recorded_element *known);

/* Frees the additional data of an element. */
void record_forget(struct recorded_element *known);

/* Replaces the raw element of an existing element, which `now` is a copy of. */
void record_change(struct recorded_element *was, struct recorded_element *now,
		   struct task_raw *raw);

/* Makes the elements of the next record, and those that left in it, the current ones. */
void record_turn(struct record_state *state, size_t n, size_t nleft);

/* Frees everything but kept texts. */
void record_clear(struct record_state *state);

/* Drops what a key record does not depend on; elements stay, as their tasks may continue. */
void record_begin_key(struct record_state *state);

/* Frees all. */
void record_state_free(struct record_state *state);

/*
 * Predicts an element of the next record, before_ns after the last but one: its threads live on,
 * and nothing else happens. before_ns: its reading time for the last record.
 */
struct task_raw record_predict(const struct task_raw *was, uint64_t before_ns, uint64_t passed_ns);

/* The predicted marks of an element; same: it is unchanged. */
uint8_t record_predict_mark(const struct record_state *state, uint8_t was, bool same);

/* Predicts how a task spends an interval; NULL for the data of a new one. */
struct record_traced record_predict_traced(const struct steady_states *standing,
					   uint64_t interval_ns);

/* Stores how a task spent an interval; traced NULL: unknown. */
void record_note_traced(struct recorded_element *known, const struct record_traced *traced,
			uint64_t interval_ns);

/* Predicts for all sites that current waiters keep waiting; *there: the record has a trace. */
void record_predict_sites(struct record_state *state, bool traced, uint64_t interval_ns);

/* Removes all waiters from a site: the record does not have it. */
void record_leave_site(struct recorded_site *known);

/* The index of the site of that id, or where it would be inserted; of the group of that path. */
size_t record_site_index(const struct record_state *state, uint64_t id);
size_t record_group_index(const struct record_state *state, const char *path);

/* Insert one there, without contents. */
struct recorded_site *record_add_site(struct record_state *state, size_t at);
struct recorded_group *record_add_group(struct record_state *state, size_t at, const char *path);

/* Predicts the head of the next record: later by an interval. */
void record_predict_head(struct record_state *state);

/* Begins a record: no groups are there. Ends it: drops sites and groups of long ago. */
void record_begin(struct record_state *state);
void record_end_of(struct record_state *state);

/*
 * A reader makes samples of what it read: one from the records since the last sample. Times and
 * counts of their intervals are added up; all else is as in the last record.
 */

/* Begins a record, not yet read; bare: no data of tasks is read. */
void rebuilt_begin(struct record_state *state, bool bare);

/* Keeps elements that left in the previous record, if no sample was made since. */
void rebuilt_keep_left(struct record_state *state);

/* Ends the record: its head is read. */
void rebuilt_end(struct record_state *state);

/*
 * Add data read of an element: impossible delays of its life, now and before (NULL: none), a bound
 * of its I/O, its traced times, merged processes.
 */
void rebuilt_impossible(struct decoder_state *played, const struct counters *now,
			const struct counters *before);
void rebuilt_bound(struct decoder_state *played, const struct io_pressure *io, uint64_t begin_ns);
void rebuilt_traced(struct decoder_state *played, const struct record_traced *traced);
void rebuilt_more(struct decoder_state *played, const struct record_process *more);

/*
 * Add traced data: totals, a site or a rest, a link, a user stack; the index of a kept text's
 * stack.
 */
void rebuilt_totals(struct rebuilt_trace *trace, const struct trace_frame *totals);
void rebuilt_site(struct rebuilt_trace *trace, const struct site *site);
void rebuilt_link(struct rebuilt_trace *trace, const struct site_link *link);
void rebuilt_user_stack(struct rebuilt_trace *trace, uint64_t site,
			const struct site_user_stack *part);
size_t rebuilt_stack(struct record_state *state, const char *text);

/* Sets the data read of a group. */
void rebuilt_group(struct record_state *state, const struct recorded_group *group);
