/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known while samples are rebuilt, and what reads it: the parts of rebuild.h. */
#ifndef STALLTOP_HISTORY_REBUILD_PARTS_H
#define STALLTOP_HISTORY_REBUILD_PARTS_H

#include "history/archive.h"
#include "history/texts.h"
#include "model/playback.h"

/* An element, and what it did since a sample was given out. */
struct element {
	struct task_raw raw;
	int64_t version; /* the number of its task as it is now */
	struct task_record *record; /* NULL: none */
	struct task_proc *proc;
	bool fresh; /* something happened to it */
	bool met, gone; /* while a sample is read */
	bool whole; /* this sample has its counters as they are */
	bool corrected; /* its reading before got the time before_ns only now */
	uint64_t read_ns, before_ns;
	/* Since a sample was given out: */
	uint64_t block_ns;
	bool exited; /* in a sample that was passed over */
};

struct group_reading {
	char *path;
	bool now_valid, before_valid;
	uint64_t turn; /* the last sample that had it */
	struct cgroup_sample now, before;
};

struct delay_fix; /* what is to be left out of a task's delays, from the next sample on */

/* Zero-initialised: nothing yet. */
struct rebuild {
	struct element *elements, *left; /* living tasks, sorted; those that left */
	size_t n, cap, nleft, left_cap;
	/* Those that had left when a sample was given out: a zombie may come back. */
	struct element *older;
	size_t nolder, older_cap;
	void *versions; /* of tsearch(): the elements' numbers and order */
	size_t nversions;
	struct texts texts; /* users and other texts that are pointed at */
	struct playback_moment moment; /* what was added up since a sample was given out */
	struct clocks clocks;
	struct account account;
	struct group_reading *groups;
	size_t ngroups;
	struct delay_fix *fixes;
	size_t nfixes;
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

/* Forgets the numbers of tasks. */
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

/* The readings of the group with that path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path);

/* Reads the rest of what belongs to the sample as a whole. 0 or -errno. */
int rebuild_read_frame(struct rebuild *rebuild, struct archive *archive, int64_t number);

#endif
