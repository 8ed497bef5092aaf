/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of record.h: the rows that a record has, and what its writer and its reader know of the
 * records before it. Both know the same, and both expect the same of the next record: the functions
 * at the end are called by both.
 */
#pragma once

#include "base/clocks.h"
#include "data/sample.h"
#include "data/wait_state.h"
#include "frame/frame.h"
#include "frame/playback.h"
#include "history/fields.h"

/* A sample as a whole, and what belongs to its frame as a whole. */
struct record_head {
	uint64_t real_ns, begin_ns, took_ns, interval_ns;
	bool interval_known; /* there is an interval */
	bool marked; /* the source tells which elements are unchanged */
	bool threads; /* rows are threads */
	bool hangs_read, traced;
	uint64_t n, left, steady; /* elements: living ones, others; those that kept their places */
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
	uint64_t info; /* whether the command line was asked for */
	const char *user, *comm, *command, *cgroup, *pod, *container;
};

/* How a task ended. */
struct record_end {
	uint32_t status;
	pid_t reaper;
	bool mixed;
	const char *ended;
};

/* What was read of an element besides its counters. */
struct record_extra {
	struct task_hang hang;
	pid_t tid; /* 0: what it waits on is not known */
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
	uint32_t more; /* further processes that it stands for */
};

struct record_process {
	pid_t tgid;
	uint64_t start_ns;
};

/* A site, with its stack: one function a line. */
struct record_site {
	struct site site;
	const char *stack;
};

/* The rest of a kind that no site explains. */
struct record_rest {
	pid_t tgid;
	uint64_t start_ns;
	const char *comm;
	uint32_t kind;
	int64_t ns;
	bool unknown;
};

/* A user stack of a site: one function a line. */
struct record_user_stack {
	uint64_t site; /* its id */
	const char *stack;
	uint64_t ns, count;
};

/* The tables of these rows, and of others that are structs as they are. */
extern const struct field_table record_head_table, record_note_table, record_sleep_table,
	record_names_table, record_raw_table, record_end_table, record_dropped_table,
	record_fields_table, record_proc_table, record_extra_table, record_traced_table,
	record_process_table, record_site_table, record_user_stack_table, record_link_table,
	record_rest_table, record_group_table;

/* What happened to elements: the lowest bits of a number, above them how many it happened to. */
enum record_step {
	STEP_KEEP, /* they are as they were, but for the marks */
	STEP_GONE, /* the sample does not have them any more */
	STEP_CHANGED, /* one is otherwise */
	STEP_NEW, /* one is new, before the next of those that were there */
	STEPS
};
#define STEP_BITS 2

/* The parts that an element's row has. */
#define PART_NAMES 0x1u /* its identity and names */
/* When it was read in the sample before, which was not known then; in a key record of all. */
#define PART_BEFORE 0x2u
#define PART_MARK 0x4u /* its marks */
#define PART_END 0x8u /* how it ended */
#define PART_TASK 0x10u /* the element of the sample before that has its task, or had it */
#define PART_CPU 0x20u /* the CPU that it ran on last */
#define PARTS 0x40u

/*
 * How the threads of a task spent an interval, if each was in one state: so they are expected to
 * spend the next one.
 */
struct steady_states {
	uint32_t in[WAIT_STATES];
	uint32_t lost;
	bool lost_known;
	pid_t tgid;
	uint64_t start_ns;
};

/* What a reader keeps of an element, for what it gives out. */
struct decoder_state {
	uint64_t before_ns; /* when it was read in the sample before; 0: as that sample has it */
	/* Since a sample was given: */
	uint64_t dwait_ns; /* in samples before the last one */
	bool exited; /* in one of those */
	struct io_pressure io;
	/* Impossible delays, which the frames of those records left out; NULL: none. */
	struct counters *impossible;
	bool traced; /* `sum` has something */
	struct traced sum;
	struct record_process *more;
	size_t nmore;
};

/* Rare data of an element: few have it, unless they are traced. */
struct recorded_rare {
	struct steady_states standing;
	bool stands; /* its threads are expected to stay in their states */
	struct task_record *record; /* NULL: never read */
	struct task_proc *proc; /* the same */
	struct decoder_state *played; /* a reader's; NULL: nothing */
};

/* An element of the last record. There are two for each task: they are small. */
struct recorded_element {
	struct task_raw *raw; /* a reference */
	uint64_t names; /* a hash of its names as they were written */
	struct recorded_rare *more; /* NULL: nothing */
	pid_t ppid; /* its parent as it was written */
	uint32_t cpu; /* as it was written */
	uint16_t renamed; /* how often its texts had been replaced, when they were written */
	uint8_t mark;
	bool moved; /* it is in the next record as it is */
};

/* What a reader keeps of an element; NULL: nothing. */
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
	bool there; /* the last record has it */
	size_t trace_stack; /* a writer's: its stack's index in the trace */
	uint64_t seen; /* the number of the last record that had it */
};

/* A control group of the last records. */
struct recorded_group {
	char *path;
	struct cgroup_sample sample;
	bool there; /* the last record has it, */
	bool follows; /* and the sample before had the same group */
	uint64_t seen; /* the number of the last record that had it */
};

/* Impossible delays of a task: the frame of the record in which they were found finds them, too. */
struct deferred_excess {
	struct task *task; /* a reference */
	struct counters dropped;
};

struct rebuilt_trace;
struct rebuilt_group;

/* A text of the last records. */
struct kept_text {
	uint64_t keys; /* key records, when it was kept last */
	char *text; /* shared */
	/* A stack's: its functions, and its index in the trace of a sample, of that number. */
	const char **functions;
	size_t nfunctions, index;
	uint64_t sample;
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
	/* The elements of the record that is written or read, and those in it that left. */
	struct recorded_element *next, *next_left;
	size_t next_cap, next_left_cap;
	struct recorded_site *sites; /* by id */
	size_t nsites, sites_cap;
	struct recorded_group *groups; /* by path */
	size_t ngroups, groups_cap;
	struct clocks clocks;
	/* A reader's: what it gives out. */
	struct sample extras; /* has those of the last record's elements */
	struct deferred_excess *fixes; /* subtracted from totals from the next record on */
	size_t nfixes, fixes_cap;
	struct playback_record result; /* of all records since a sample was given */
	uint64_t passed; /* how many these are */
	uint64_t rebuilt_ns; /* and the time that they span */
	struct rebuilt_trace *given;
	struct rebuilt_group **readings; /* of groups, by path */
	size_t nreadings, readings_cap;
	struct recorded_element
		*gone; /* elements that left in records before the last one, since then */
	size_t ngone, gone_cap;
	struct kept_text **texts; /* in their order */
	size_t ntexts, texts_cap;
	uint64_t keys; /* key records so far */
	uint64_t gave[2]; /* keys when samples were given: the last one, and the one before */
};

/* An element of the last record by its number from 1 on: living ones, then those that left. */
struct recorded_element *record_numbered(const struct record_state *state, size_t number);

/*
 * A shared text that is valid until the next key record of a writer; of a reader, as long as the
 * last sample given that has it is shown, and as the one before it. NULL is allowed.
 */
char *record_keep(struct record_state *state, const char *text);

/* A kept text; *at: where it is, or belongs. NULL: it is not kept. */
struct kept_text *record_kept(const struct record_state *state, const char *text, size_t *at);

/* Forgets the texts that were not kept since so many key records. */
void record_forget_texts(struct record_state *state, uint64_t keys);

/* What is known of an element besides, which there is from then on. */
struct recorded_rare *record_rare(struct recorded_element *known);

/* Frees what is known of an element. */
void record_forget(struct recorded_element *known);

/* Has another raw element in place of that of an element there was, which `now` is a copy of. */
void record_change(struct recorded_element *was, struct recorded_element *now,
		   struct task_raw *raw);

/* Makes the elements of the next record, and those that left in it, the present ones. */
void record_turn(struct record_state *state, size_t n, size_t nleft);

/* Frees everything but kept texts. */
void record_clear(struct record_state *state);

/* Forgets what a key record does not build on; elements stay, as their tasks may go on. */
void record_begin_key(struct record_state *state);

/* Frees all. */
void record_state_free(struct record_state *state);

/*
 * What is expected of an element in the next record, before_ns after the last but one: that its
 * threads live on, and nothing else. before_ns: when it was read for the last record.
 */
struct task_raw record_predict(const struct task_raw *was, uint64_t before_ns, uint64_t passed_ns);

/* The marks that are expected of an element; same: it is as it was. */
uint8_t record_predict_mark(const struct record_state *state, uint8_t was, bool same);

/* How a task is expected to spend an interval; NULL is what is known of one that is new. */
struct record_traced record_predict_traced(const struct steady_states *standing,
					   uint64_t interval_ns);

/* Remembers how a task spent an interval; traced NULL: that is not known. */
void record_note_traced(struct recorded_element *known, const struct record_traced *traced,
			uint64_t interval_ns);

/* Predicts for all sites that current waiters keep waiting; *there: the record has a trace. */
void record_predict_sites(struct record_state *state, bool traced, uint64_t interval_ns);

/* Has nobody wait at a site: the record does not have it. */
void record_leave_site(struct recorded_site *known);

/* The index of the site of that id, or of where it belongs; of the group of that path. */
size_t record_site_index(const struct record_state *state, uint64_t id);
size_t record_group_index(const struct record_state *state, const char *path);

/* Add one there, without contents. */
struct recorded_site *record_add_site(struct record_state *state, size_t at);
struct recorded_group *record_add_group(struct record_state *state, size_t at, const char *path);

/* Expects of the head that time goes on. */
void record_predict_head(struct record_state *state);

/* Begins a record: the groups are not there. Ends it: forgets sites and groups of long ago. */
void record_begin(struct record_state *state);
void record_end_of(struct record_state *state);

/*
 * A reader makes samples of what it read: one of the records since the last one was given. Times
 * and counts of their intervals are added up; all else is as in the last record.
 */

/* Begins a record, which was not read yet; bare: nothing of tasks is read. */
void rebuilt_begin(struct record_state *state, bool bare);

/* Keeps what left in the record before, if no sample was given since. */
void rebuilt_keep_left(struct record_state *state);

/* Ends the record: its head is read. */
void rebuilt_end(struct record_state *state);

/*
 * Add what was read of an element: impossible delays of its life, now and before (NULL: none), a
 * bound of its I/O, how it was traced, what else it stands for.
 */
void rebuilt_impossible(struct decoder_state *played, const struct counters *now,
			const struct counters *before);
void rebuilt_bound(struct decoder_state *played, const struct io_pressure *io, uint64_t begin_ns);
void rebuilt_traced(struct decoder_state *played, const struct record_traced *traced);
void rebuilt_more(struct decoder_state *played, const struct record_process *more);

/* Add to what was traced: totals, a site or a rest, a link, a user stack; the index of a kept
 * text's stack. */
void rebuilt_totals(struct rebuilt_trace *trace, const struct trace_frame *totals);
void rebuilt_site(struct rebuilt_trace *trace, const struct site *site);
void rebuilt_link(struct rebuilt_trace *trace, const struct site_link *link);
void rebuilt_user_stack(struct rebuilt_trace *trace, uint64_t site,
			const struct site_user_stack *part);
size_t rebuilt_stack(struct record_state *state, const char *text);

/* Sets what was read of a group. */
void rebuilt_group(struct record_state *state, const struct recorded_group *group);
