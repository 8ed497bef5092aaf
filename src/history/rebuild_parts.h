/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of rebuild.h: what is known while samples are rebuilt, and the functions that read it.
 */
#ifndef STALLTOP_HISTORY_REBUILD_PARTS_H
#define STALLTOP_HISTORY_REBUILD_PARTS_H

#include "history/archive.h"
#include "history/moment.h"
#include "history/texts.h"
#include "model/playback.h"

/* What was traced of an element. */
struct element_trace {
	bool standing; /* each thread was in one state in the last sample; `in` counts them */
	uint64_t in[WAIT_STATES];
	uint64_t lost; /* how many threads lost that time; `loses`: this is known */
	bool loses;
	uint64_t seen_in; /* the last sample that had a row of it */
	/* Since a sample was made: */
	bool traced;
	bool summed; /* `sum` has something */
	struct traced sum;
	struct task_key *more; /* other processes that it stands for */
	size_t nmore;
};

struct known_site;

/* What was traced. */
struct rebuild_trace {
	uint64_t nsamples; /* samples read so far */
	bool now; /* the last sample read has a trace, of an interval of now_ns */
	uint64_t now_ns;
	void *tree; /* of tsearch(): known sites by number */
	struct known_site *known; /* a list */
	size_t nknown;
	struct site_stack *stacks; /* [0] is empty */
	const char **stack_texts; /* their texts, as kept */
	size_t nstacks;
	/* Since a sample was made: */
	bool there;
	struct trace_frame frame; /* without its arrays */
	struct site *sums;
	size_t nsums, sums_cap;
	struct site_link *links;
	size_t nlinks, links_cap;
	/* What was made for the last sample. */
	struct trace_frame given_frame;
	struct site *given_sites;
	struct site_link *given_links;
	struct site_stack *given_stacks;
	struct traced *given;
	const struct traced **rows;
};

/* An element, and what it did since a sample was made. */
struct element {
	struct task_raw raw;
	int64_t version; /* the number of its task's latest version */
	struct task_record *record; /* NULL: none */
	struct task_proc *proc;
	struct element_trace *trace; /* NULL: nothing was traced of it */
	bool fresh; /* something happened to it */
	bool met, gone; /* while a sample is read: it has the element; it does not any more */
	bool whole; /* this sample has its counters in full */
	bool alike; /* and they are what they were before */
	bool drifted; /* drift_ns is known: how much longer it lived since the sample before */
	int64_t drift_ns;
	bool corrected; /* its reading before was at before_ns, which is known only now */
	uint64_t read_ns, before_ns;
	/* Since a sample was made: */
	uint64_t dwait_ns;
	struct io_pressure io; /* that limits what it waited; passed_ns 0: none does */
	bool exited; /* it exited in a sample that was passed over */
};

struct group_reading {
	char *path;
	bool now_valid, before_valid;
	uint64_t seen_in; /* the last sample that had it */
	struct cgroup_sample now, before;
	struct group_reading *next;
};

struct delay_fix; /* impossible delays of a task, left out from the next sample on */

/* What is known of a recording while it is read; zero-initialised. */
struct rebuild {
	struct archive *archive; /* while a sample is read */
	bool bare; /* only what belongs to samples as a whole is read */
	struct element *elements, *left; /* living tasks, sorted; those that left */
	struct sample explained; /* extras of the elements, by index, in the last sample read */
	size_t n, cap, nleft, left_cap;
	/* Those that had left in the last sample made: a zombie may come back. */
	struct element *older;
	size_t nolder, older_cap;
	void *versions; /* of tsearch(): versions by number */
	size_t nversions;
	struct version **by_number; /* those with low numbers; NULL: not read yet */
	size_t nby_number;
	void *ended; /* of tsearch(): the tasks of `left` and `older` */
	struct texts texts; /* users and other texts that are pointed to */
	struct playback_moment moment; /* sums since a sample was made */
	struct clocks clocks;
	struct account account;
	struct psi_reading machine; /* of what of it was recorded beside a group's */
	void *group_tree; /* of tsearch(): groups by path */
	struct group_reading *groups; /* a list */
	struct delay_fix *fixes;
	size_t nfixes;
	struct rebuild_trace trace;
	/* Texts read so far, by their number in the file; NULL: not read yet. */
	const char **kept_texts;
	size_t nkept_texts;
	uint64_t begin_ns, before_ns, end_ns, real_ns, interval_ns;
	unsigned have;
	bool marked, whole;
	size_t steady, passed; /* passed: samples read since one was made */
	uint64_t nsamples;
};

/* The most tasks; a recording that claims more is bad. */
#define ELEMENTS_MAX (1 << 22)

/* A version of a task, by its number, and where its element is. */
struct version {
	int64_t id;
	pid_t tgid, pid;
	struct task *task; /* a reference */
	bool left; /* its element has left and is left[at] */
	size_t at;
};

/* All readers set rebuild->archive->bad if something is missing or impossible. */

/* Returns an element by index: the living ones, then those that left. */
static inline const struct element *rebuild_nth(const struct rebuild *rebuild, size_t i)
{
	return i < rebuild->n ? &rebuild->elements[i] : &rebuild->left[i - rebuild->n];
}

/* rebuild_tasks.c: elements, numbers of tasks, and texts */

/* Whether a process is in the list of those asked for, which is ascending; npids 0: all are. */
bool rebuild_is_wanted(const pid_t *pids, size_t npids, pid_t tgid);

/* Free an element's contents, or only its traced part. */
void rebuild_drop(struct element *element);

/* Returns what was traced of an element; made if there is nothing yet. */
struct element_trace *rebuild_trace_of(struct element *element);

/* Copies to an element that left what was traced of it while it lived, since a sample was made. */
void rebuild_leave_trace(struct element *left, const struct element *living);

/* Finds the living element of a thread, or NULL. */
struct element *rebuild_living(const struct rebuild *rebuild, pid_t tgid, pid_t pid);

/* Reads a text of the recording, to be freed. NULL: id is 0, or the text is missing. */
char *rebuild_text(struct rebuild *rebuild, uint32_t id);

/* Reads a text that stays valid while the rebuild is open. */
const char *rebuild_keep_text(struct rebuild *rebuild, uint32_t id);

/* Replaces a text of a task; it then owns `by`. */
void rebuild_set_text(char **text, char *by);

/* Finds or reads the version with a number. NULL, and bad: there is none. */
struct version *rebuild_version(struct rebuild *rebuild, int64_t id);

/* Adds an empty element to those that left. */
struct element *rebuild_add_leaver(struct rebuild *rebuild, struct version *version);

/* Inserts an empty living element, or empties the one of the same thread. */
struct element *rebuild_place(struct rebuild *rebuild, const struct version *version);

/* Finds the element of a task in the sample that is read. NULL, and bad: there is none. */
struct element *rebuild_element(struct rebuild *rebuild, uint32_t task);

/* Removes elements that have gone; unmet: also those that the sample did not have. */
void rebuild_remove_gone(struct rebuild *rebuild, bool unmet);

/* Frees the elements that left before the last sample made. */
void rebuild_drop_older(struct rebuild *rebuild);

/* Makes the elements that left in the last sample made the older ones. */
void rebuild_put_aside(struct rebuild *rebuild);

/* Forgets where elements that left are: their tasks may live again. */
void rebuild_free_numbers(struct rebuild *rebuild);

/* Forgets the numbers of tasks and texts. */
void rebuild_forget_versions(struct rebuild *rebuild);

/*
 * A sample is read in this order: its own row; elements and what happened to them; the rest. These
 * functions return 0 or -errno.
 */

/* rebuild_rows.c: what happened to tasks */

/* Applies the impossible delays that were noted. */
void rebuild_apply_fixes(struct rebuild *rebuild);

/* Read the tasks that left and those that have gone; then the counters written in full. */
int rebuild_read_ends(struct rebuild *rebuild, int64_t number);
int rebuild_read_standing(struct rebuild *rebuild, int64_t number);

/* Reads what happened to tasks; all elements must exist. */
int rebuild_read_rows(struct rebuild *rebuild, int64_t number);

/* rebuild_frame.c: what belongs to the sample as a whole */

/* Sets the head from a sample's own row, except `reads`. */
void rebuild_set_head(struct rebuild *rebuild, const struct moment_sample *row);

/* Adds the account of another interval; what one of the two does not know is unknown in the sum. */
void rebuild_add_accounts(struct account *sum, const struct account *more, bool first);

/* Begins the next sample to make: groups' readings become those before. */
void rebuild_begin_groups(struct rebuild *rebuild);

void rebuild_free_groups(struct rebuild *rebuild);

/* Finds the readings of the group with a path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path);

/* Reads the rest of what belongs to a sample as a whole, and figures of groups. */
int rebuild_read_frame(struct rebuild *rebuild, int64_t number);

/* rebuild_evidence.c: what explains tasks' waits */

int rebuild_read_evidence(struct rebuild *rebuild, int64_t number);

/* rebuild_sites.c: what was waited at sites */

/* Reads a process's identity; id 0: all zeros. False, and bad: there is no such process. */
bool rebuild_identify(struct rebuild *rebuild, uint32_t id, pid_t *tgid, uint64_t *start_ns);

/* Begins the sums of the next sample to make. */
void rebuild_begin_sites(struct rebuild_trace *trace);

/* Reads all sites of a sample: those with a row, and those where threads waited on. */
int rebuild_read_sites(struct rebuild *rebuild, int64_t number);

/*
 * Copies sites and stacks for the sample that is made; they stay valid until the next one. several:
 * it has the sums of several samples.
 */
void rebuild_give_sites(struct rebuild_trace *trace, bool several);

/* Forgets sites; busy: also those where somebody waits. */
void rebuild_forget_sites(struct rebuild_trace *trace, bool busy);

void rebuild_free_sites(struct rebuild_trace *trace);

/* rebuild_trace.c: what was traced */

/* Begins a sample; if one was just made, its sums are cleared. */
void rebuild_begin_trace(struct rebuild *rebuild);

/* Reads what was traced; all elements must exist. */
int rebuild_read_trace(struct rebuild *rebuild, int64_t number);

/* Adds to a moment what was traced since the last one, rows in the order of the sample. */
void rebuild_give_trace(struct rebuild *rebuild, const pid_t *pids, size_t npids,
			struct playback_moment *moment);

/* Forgets all sites: their numbers are those of another file. */
void rebuild_forget_all_sites(struct rebuild *rebuild);

void rebuild_free_trace(struct rebuild *rebuild);

#endif
