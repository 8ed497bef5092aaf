/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds samples from a recording: the sample before, and what happened since. An element that is
 * not mentioned is what it was, its threads lived on, and it was read when `reads` says.
 */
#ifndef STALLTOP_HISTORY_REBUILD_H
#define STALLTOP_HISTORY_REBUILD_H

#include "history/rebuild_parts.h"

/* Reads a sample. 0 or -errno: -EBADMSG where the recording has what cannot be. */
int rebuild_read(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* Begins another file: the numbers of its tasks are others. */
void rebuild_begin_file(struct rebuild *rebuild);

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
