/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds samples from a recording: the sample before, and what happened since. An element that is
 * not mentioned is what it was, its threads lived on, and it was read when `reads` says.
 */
#ifndef STALLTOP_HISTORY_REBUILD_H
#define STALLTOP_HISTORY_REBUILD_H

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

/* Reads a sample. 0 or -errno: -EBADMSG where the recording has what cannot be. */
int rebuild_take(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* Begins another file: the numbers of its tasks are others. */
void rebuild_turn(struct rebuild *rebuild);

/*
 * Gives out what was read since the last time as one sample; prev: the one given out then. Only
 * processes of the list (ascending; n 0: all).
 */
void rebuild_give(struct rebuild *rebuild, struct sample *prev, struct sample *cur,
		  const pid_t *pids, size_t npids, struct playback_moment *moment);

/* The group's readings: see struct playback. */
void rebuild_group(const struct rebuild *rebuild, const char *path,
		   const struct cgroup_sample **now, const struct cgroup_sample **before);

void rebuild_free(struct rebuild *rebuild);

#endif
