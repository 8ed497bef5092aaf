/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plays a recording, sample by sample, in place of the machine. */
#ifndef STALLTOP_HISTORY_REPLAY_H
#define STALLTOP_HISTORY_REPLAY_H

#include <sys/types.h>

#include "model/playback.h"

struct replay_config {
	const char *path; /* a file or a folder of segments */
	const char *from, *to; /* times, see replay_time(); NULL: no limit */
	uint64_t interval_ns; /* the least time between samples; 0: as recorded */
	const pid_t *pids; /* only these processes, ascending */
	size_t npids;
	bool bare; /* tasks, and what belongs to them, are not read */
};

struct replay;

/*
 * Opens a recording. 0 or -errno: -ENODATA: it has no sample, -EBADMSG: it is no recording, or
 * damaged. The configuration must outlive the replay. *file: the file that failed, to be freed.
 */
int replay_open(struct replay **out, const struct replay_config *config, char **file);

/* Whether rows are threads. */
bool replay_threads(const struct replay *replay);

/* Returns what the sampler plays. */
struct playback replay_playback(struct replay *replay);

/* Returns the file that is being read, for messages. */
const char *replay_file(const struct replay *replay);

void replay_close(struct replay *replay);

/*
 * Parses a time in the local time zone: "14:02", "14:02:30" of the recording's last day (or the day
 * before, if it had ended by then), "2026-11-21 14:02" or with seconds, or "-3m" (s, m, h, d)
 * before end_ns, its end. False: it is none of these. *ns: CLOCK_REALTIME.
 */
bool replay_time(const char *text, uint64_t end_ns, uint64_t *ns);

#endif
