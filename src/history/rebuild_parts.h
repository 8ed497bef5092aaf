/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known while samples are rebuilt, and what reads it: the parts of rebuild.h. */
#ifndef STALLTOP_HISTORY_REBUILD_PARTS_H
#define STALLTOP_HISTORY_REBUILD_PARTS_H

#include "history/archive.h"
#include "history/texts.h"
#include "model/playback.h"

/* What was traced of an element. */
struct element_trace {
	bool standing; /* it spent the last sample wholly in states: so many threads in each */
	uint64_t in[WAIT_STATES];
	uint64_t lost; /* and so many of them lost it, where `loses` says that this is known */
	bool loses;
	uint64_t turn; /* the last sample that had a row of it */
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
	uint64_t turn; /* of samples read */
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
	uint64_t turn; /* the last sample that had it */
	struct cgroup_sample now, before;
	struct group_reading *next;
};

struct delay_fix; /* what is to be left out of a task's delays, from the next sample on */

/* Zero-initialised: nothing yet. */
struct rebuild {
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
	bool marked;
	size_t steady, passed; /* samples since one was given out */
	uint64_t turn;
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

/* Takes a row of a table. *bad is set where it has what cannot be. */
typedef void rebuild_row_taker(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			       bool *bad);

/* rebuild.c */

/* Reads all rows of a table for a sample. 0 or -errno. */
int rebuild_each_row(struct rebuild *rebuild, struct archive *archive, enum archive_query query,
		     int64_t number, rebuild_row_taker *take);

/* Whether a process is one of those asked for, which are ascending; n 0: all are. */
bool rebuild_is_wanted(const pid_t *pids, size_t npids, pid_t tgid);

/* An element, of the living ones and, behind them, of those that left. */
static inline const struct element *rebuild_nth(const struct rebuild *rebuild, size_t i)
{
	return i < rebuild->n ? &rebuild->elements[i] : &rebuild->left[i - rebuild->n];
}

/* rebuild_tasks.c: elements, and the numbers of tasks */

/* Frees what an element has. */
void rebuild_drop(struct element *element);

/* The living element of a thread, or NULL. */
struct element *rebuild_living(const struct rebuild *rebuild, pid_t tgid, pid_t pid);

/* Reads a text of the recording. NULL where there is none, or no such. */
char *rebuild_text(struct archive *archive, int64_t id, bool *bad);

/* Reads a text that stays while the rebuild is open. */
const char *rebuild_keep_text(struct rebuild *rebuild, struct archive *archive, int64_t id,
			      bool *bad);

/* Replaces a text of a task. */
void set_task_text(char **text, char *by);

/* The version of that number. */
struct version *rebuild_version(struct rebuild *rebuild, struct archive *archive, int64_t id,
				bool *bad);

/* Adds an empty element that left. */
struct element *rebuild_add_leaver(struct rebuild *rebuild, struct version *version);

/* Makes a place for a living element, or empties the one that has its place. */
struct element *rebuild_place(struct rebuild *rebuild, const struct version *version);

/* The element that the first column of a row names. */
struct element *rebuild_element(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
				bool *bad);

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

/* rebuild_rows.c: what happened to tasks */

/* Reads who left and who has gone. */
int rebuild_read_ends(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* Reads counters that are as they are. */
void rebuild_stand(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad);

/* Makes noted impossible delays count. */
void rebuild_apply_fixes(struct rebuild *rebuild);

/* Forgets waits of those whose waits are others now: their rows say what they are. */
void rebuild_clear_waiting(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			   bool *bad);

/* Reads what happened to tasks, when all elements are there. 0 or -errno. */
int rebuild_read_rows(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* rebuild_frame.c: what belongs to the sample as a whole */

/* Reads a sample's own row, up to the blob, which comes when all elements are there. */
void rebuild_read_head(struct rebuild *rebuild, sqlite3_stmt *row, bool *whole, bool *bad);

/* Takes the texts that a row names; the row is not used afterwards. */
void rebuild_read_texts(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			bool *bad);

/* Adds two intervals' accounts: what is not known of one is not known of both. */
void rebuild_add_accounts(struct account *sum, const struct account *more, bool first);

/* Reads the clocks where they changed. */
int rebuild_read_clocks(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* Begins what is given out next: what was read is what was before. */
void rebuild_begin_groups(struct rebuild *rebuild);

void rebuild_free_groups(struct rebuild *rebuild);

/* The readings of the group with that path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path);

/* Reads the rest of what belongs to the sample as a whole, and figures of groups. 0 or -errno. */
int rebuild_read_frame(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* rebuild_sites.c: what was waited at sites */

/* A process's identity. False, and bad, where there is none of that number; 0: one of nobody. */
bool rebuild_identify(struct archive *archive, int64_t id, pid_t *tgid, uint64_t *start_ns,
		      bool *bad);

/* Take what was waited at a site, who ended waits there, and what no site explains of a kind. */
rebuild_row_taker rebuild_take_site_wait, rebuild_take_waker, rebuild_take_rest;

/* Begins what is given out next. */
void rebuild_begin_sites(struct rebuild_trace *trace);

/* Takes all sites of a sample: those that have a row, and those where somebody waited on. */
void rebuild_read_sites(struct rebuild *rebuild, bool whole);

/*
 * Copies the sites, and where their stacks are: it stays until a sample is given out again.
 * Several: samples are added up.
 */
void rebuild_give_sites(struct rebuild_trace *trace, bool several);

/* Forgets sites; busy: those, too, where somebody waits. */
void rebuild_forget_sites(struct rebuild_trace *trace, bool busy);

void rebuild_free_sites(struct rebuild_trace *trace);

/* rebuild_evidence.c: what explains tasks */

/* Reads it, when all elements are there. 0 or -errno. */
int rebuild_read_evidence(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* rebuild_trace.c: what was traced */

/* Begins a sample: what was given out is no part of it. */
void rebuild_begin_trace(struct rebuild *rebuild);

/* Reads what was traced, when all elements are there. 0 or -errno. */
int rebuild_read_trace(struct rebuild *rebuild, struct archive *archive, int64_t number,
		       bool whole);

/* Gives out what was traced since the last time, of rows in the order of the sample. */
void rebuild_give_trace(struct rebuild *rebuild, const pid_t *pids, size_t npids,
			struct playback_moment *moment);

/* Forgets sites by their numbers. */
void rebuild_turn_trace(struct rebuild *rebuild);

/* Takes over what an element that left did while it lived, since a sample was given out. */
void rebuild_leave_trace(struct element *left, const struct element *living);

/* Frees what was traced of an element, or of all. */
void rebuild_drop_trace(struct element *element);
void rebuild_free_trace(struct rebuild *rebuild);

#endif
