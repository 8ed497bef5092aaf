/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known while samples are rebuilt, and what reads it: the parts of rebuild.h. */
#ifndef STALLTOP_HISTORY_REBUILD_PARTS_H
#define STALLTOP_HISTORY_REBUILD_PARTS_H

#include "history/archive.h"
#include "history/moment.h"
#include "history/texts.h"
#include "model/playback.h"

/* What was traced of an element. */
struct element_trace {
	bool standing; /* it spent the last sample wholly in states: so many threads in each */
	uint64_t in[WAIT_STATES];
	uint64_t lost; /* and so many of them lost it, where `loses` says that this is known */
	bool loses;
	uint64_t seen_in; /* the last sample that had a row of it */
	/* Since a sample was given out: */
	bool traced;
	bool summed; /* something is in the sum */
	struct traced sum;
	struct task_key *more; /* further processes that it stands for */
	size_t nmore;
};

struct known_site;

/* What was traced. */
struct rebuild_trace {
	uint64_t nsamples; /* of samples read */
	bool now; /* the sample that was read last has a trace, of an interval of now_ns */
	uint64_t now_ns;
	void *tree; /* of tsearch(): known sites by number */
	struct known_site *known; /* a list of them */
	size_t nknown;
	struct site_stack *stacks; /* [0] is empty */
	const char **stack_texts; /* as kept */
	size_t nstacks;
	/* Since a sample was given out: */
	bool there;
	struct trace_frame frame; /* without its arrays */
	struct site *sums;
	size_t nsums, sums_cap;
	/* What was given out. */
	struct trace_frame given_frame;
	struct site *given_sites;
	struct site_stack *given_stacks;
	struct traced *given;
	const struct traced **rows;
};

/* An element, and what it did since a sample was given out. */
struct element {
	struct task_raw raw;
	int64_t version; /* the number of its task as it is now */
	struct task_record *record; /* NULL: none */
	struct task_proc *proc;
	struct element_trace *trace; /* NULL: nothing was traced of it */
	bool fresh; /* something happened to it */
	bool met, gone; /* while a sample is read */
	bool whole; /* this sample has its counters as they are */
	bool alike; /* and they are what they were before */
	bool drifted; /* and how much more it lived since the sample before is known: */
	int64_t drift_ns;
	bool corrected; /* its reading before got the time before_ns only now */
	uint64_t read_ns, before_ns;
	/* Since a sample was given out: */
	uint64_t dwait_ns;
	bool exited; /* in a sample that was passed over */
};

struct group_reading {
	char *path;
	bool now_valid, before_valid;
	uint64_t seen_in; /* the last sample that had it */
	struct cgroup_sample now, before;
	struct group_reading *next;
};

struct delay_fix; /* what is to be left out of a task's delays, from the next sample on */

/* Zero-initialised: nothing yet. */
struct rebuild {
	struct archive *archive; /* while a sample is read */
	bool bare; /* only what belongs to samples as a whole is read */
	struct element *elements, *left; /* living tasks, sorted; those that left */
	size_t n, cap, nleft, left_cap;
	/* Those that had left when a sample was given out: a zombie may come back. */
	struct element *older;
	size_t nolder, older_cap;
	void *versions; /* of tsearch(): the elements' numbers and order */
	size_t nversions;
	struct version **by_number; /* those of low numbers; NULL: not read yet */
	size_t nby_number;
	void *ended; /* of tsearch(): the tasks of `left` and `older` */
	struct texts texts; /* users and other texts that are pointed at */
	struct playback_moment moment; /* what was added up since a sample was given out */
	struct clocks clocks;
	struct account account;
	void *group_tree; /* of tsearch(): groups by path */
	struct group_reading *groups; /* a list of them */
	struct delay_fix *fixes;
	size_t nfixes;
	struct rebuild_trace trace;
	/* Texts that were read before, by their number in the file; NULL: not yet. */
	const char **kept_texts;
	size_t nkept_texts;
	uint64_t begin_ns, before_ns, end_ns, real_ns, interval_ns;
	unsigned have;
	bool marked, whole;
	size_t steady, passed; /* samples since one was given out */
	uint64_t nsamples;
};

/* A recording that claims more tasks is not believed. */
#define ELEMENTS_MAX (1 << 22)

/* A task of the recording by its number, and where its element is. */
struct version {
	int64_t id;
	pid_t tgid, pid;
	struct task *task; /* a reference */
	bool left; /* its element has left: at `at` of those */
	size_t at;
};

/*
 * Whoever reads what there is not, or what cannot be, has the sample be bad: rebuild->archive->bad.
 */

/* An element, of the living ones and, behind them, of those that left. */
static inline const struct element *rebuild_nth(const struct rebuild *rebuild, size_t i)
{
	return i < rebuild->n ? &rebuild->elements[i] : &rebuild->left[i - rebuild->n];
}

/* rebuild_tasks.c: elements, the numbers of tasks, and texts */

/* Whether a process is one of those asked for, which are ascending; n 0: all are. */
bool rebuild_is_wanted(const pid_t *pids, size_t npids, pid_t tgid);

/* Frees what an element has, and what was traced of it. */
void rebuild_drop(struct element *element);
void rebuild_drop_trace(struct element *element);

/* What was traced of an element; made where there is nothing. */
struct element_trace *rebuild_trace_of(struct element *element);

/* Takes over what an element that left did while it lived, since a sample was given out. */
void rebuild_leave_trace(struct element *left, const struct element *living);

/* The living element of a thread, or NULL. */
struct element *rebuild_living(const struct rebuild *rebuild, pid_t tgid, pid_t pid);

/* Reads a text of the recording. NULL where there is none, or no such. */
char *rebuild_text(struct rebuild *rebuild, uint32_t id);

/* Reads a text that stays while the rebuild is open. */
const char *rebuild_keep_text(struct rebuild *rebuild, uint32_t id);

/* Replaces a text of a task. */
void rebuild_set_text(char **text, char *by);

/* The version of that number. */
struct version *rebuild_version(struct rebuild *rebuild, int64_t id);

/* Adds an empty element that left. */
struct element *rebuild_add_leaver(struct rebuild *rebuild, struct version *version);

/* Makes a place for a living element, or empties the one that has its place. */
struct element *rebuild_place(struct rebuild *rebuild, const struct version *version);

/* The element of a task in the sample that is read; NULL, and bad, where there is none. */
struct element *rebuild_element(struct rebuild *rebuild, uint32_t task);

/* Removes elements that have gone; of those that are not met, too. */
void rebuild_remove_gone(struct rebuild *rebuild, bool unmet);

/* Drops those that had left in samples before the last that was given out. */
void rebuild_drop_older(struct rebuild *rebuild);

/* Puts those aside that left in samples that were given out. */
void rebuild_put_aside(struct rebuild *rebuild);

/* The numbers of those that left may come back as living ones. */
void rebuild_free_numbers(struct rebuild *rebuild);

/* Forgets the numbers of tasks and texts. */
void rebuild_forget_versions(struct rebuild *rebuild);

/*
 * What reads a sample, in this order: its own row; elements and what happened to them; the rest.
 * 0 or -errno.
 */

/* rebuild_rows.c: what happened to tasks */

/* Makes noted impossible delays count. */
void rebuild_apply_fixes(struct rebuild *rebuild);

/* Reads who left and who has gone; then the counters that are as they are. */
int rebuild_read_ends(struct rebuild *rebuild, int64_t number);
int rebuild_read_standing(struct rebuild *rebuild, int64_t number);

/* Reads what happened to tasks, when all elements are there. */
int rebuild_read_rows(struct rebuild *rebuild, int64_t number);

/* rebuild_frame.c: what belongs to the sample as a whole */

/* Takes a sample's own row, but for `reads`. */
void rebuild_set_head(struct rebuild *rebuild, const struct moment_sample *row);

/* Adds two intervals' accounts: what is not known of one is not known of both. */
void rebuild_add_accounts(struct account *sum, const struct account *more, bool first);

/* Begins what is given out next: what was read is what was before. */
void rebuild_begin_groups(struct rebuild *rebuild);

void rebuild_free_groups(struct rebuild *rebuild);

/* The readings of the group with that path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path);

/* Reads the rest of what belongs to the sample as a whole, and figures of groups. */
int rebuild_read_frame(struct rebuild *rebuild, int64_t number);

/* rebuild_evidence.c: what explains tasks */

int rebuild_read_evidence(struct rebuild *rebuild, int64_t number);

/* rebuild_sites.c: what was waited at sites */

/* A process's identity; 0: nobody's. False, and bad, where there is no process of that number. */
bool rebuild_identify(struct rebuild *rebuild, uint32_t id, pid_t *tgid, uint64_t *start_ns);

/* Begins what is given out next. */
void rebuild_begin_sites(struct rebuild_trace *trace);

/* Reads all sites of a sample: those that have a row, and those where somebody waited on. */
int rebuild_read_sites(struct rebuild *rebuild, int64_t number);

/*
 * Copies the sites, and where their stacks are: it stays until a sample is given out again.
 * Several: samples are added up.
 */
void rebuild_give_sites(struct rebuild_trace *trace, bool several);

/* Forgets sites; busy: those, too, where somebody waits. */
void rebuild_forget_sites(struct rebuild_trace *trace, bool busy);

void rebuild_free_sites(struct rebuild_trace *trace);

/* rebuild_trace.c: what was traced */

/* Begins a sample: what was given out is no part of it. */
void rebuild_begin_trace(struct rebuild *rebuild);

/* Reads what was traced, when all elements are there. */
int rebuild_read_trace(struct rebuild *rebuild, int64_t number);

/* Gives out what was traced since the last time, of rows in the order of the sample. */
void rebuild_give_trace(struct rebuild *rebuild, const pid_t *pids, size_t npids,
			struct playback_moment *moment);

/* Forgets sites by their numbers. */
void rebuild_forget_all_sites(struct rebuild *rebuild);

void rebuild_free_trace(struct rebuild *rebuild);

#endif
