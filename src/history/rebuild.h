/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds samples from a recording: a sample is the one before and what happened since. An element
 * without a row stays as it was, its threads lived on, and `reads` says when it was read.
 */
#ifndef STALLTOP_HISTORY_REBUILD_H
#define STALLTOP_HISTORY_REBUILD_H

#include "history/rebuild_parts.h"

/* Reads a sample. 0 or -errno (-EBADMSG: the recording has impossible values). */
int rebuild_read(struct rebuild *rebuild, struct archive *archive, int64_t number);

/* Begins another file, where numbers stand for other tasks. */
void rebuild_begin_file(struct rebuild *rebuild);

/*
 * Makes one sample of all that was read since the last call; prev: the sample of that call. pids:
 * only processes of this list (ascending; npids 0: all).
 */
void rebuild_give(struct rebuild *rebuild, struct sample *prev, struct sample *cur,
		  const pid_t *pids, size_t npids, struct playback_moment *moment);

/* Finds a group's readings: see struct playback. */
void rebuild_group(const struct rebuild *rebuild, const char *path,
		   const struct cgroup_sample **now, const struct cgroup_sample **before);

void rebuild_free(struct rebuild *rebuild);

#endif
