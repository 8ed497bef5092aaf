/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plays a recording, sample by sample, replacing the machine. */
#pragma once

#include <sys/types.h>

#include "frame/playback.h"
#include "history/segment.h"

struct replay_config {
	const char *path; /* a file or a folder of segments */
	const char *from, *to; /* times, see replay_time(); NULL: no limit */
	uint64_t interval_ns; /* minimum time between samples; 0: as recorded */
	const pid_t *pids; /* only these processes, ascending */
	size_t npids;
	bool whole; /* the last interval may be shorter: it ends with the recording, or at `to` */
	bool bare; /* tasks, and their data, are not read */
	/* Called for each unreadable file of a folder, which is skipped; NULL: not wanted. */
	void (*left_out)(const char *path, int err);
};

/* A recording being read: from one sample to the next, or by cursor.h. */
struct replay {
	struct replay_config config;
	struct segment_list files;
	uint64_t from_ns, to_ns;
	uint64_t latest_ns; /* the latest time in it: later than its end if the clock was set
			     * back */
	bool threads; /* rows are threads */
	char *group; /* the cgroup selected at the end; NULL: all tasks */
	struct segment_reader reader;
	size_t file, at; /* the next record to read */
	bool apart; /* records before that one were skipped */
	bool baseline; /* the last read sample has no interval: others before it had one */
	bool given;
	uint64_t given_ns, before_ns; /* when the last sample returned began, and the last two
				       * read */
};

/*
 * Opens a recording. 0 or -errno: -ENODATA: it has no sample, -EBADMSG: it is no recording, or
 * damaged. Data that the configuration points to must outlive the replay. *file: the file that
 * failed, to be freed.
 */
int replay_open(struct replay **out, const struct replay_config *config, char **file);

/* Opens the file in which a recording ends; the same errors, of replay_file(). */
int replay_begin(struct replay *replay, const struct replay_config *config);

/* Returns the playback for the sampler. */
struct playback replay_playback(struct replay *replay);

/* The cgroup selected when it was recorded, whose tasks and pressure it has; NULL: all. */
static inline const char *replay_group(const struct replay *replay)
{
	return replay->group;
}

/* Returns the current file, for messages. */
const char *replay_file(const struct replay *replay);

void replay_close(struct replay *replay);

/*
 * Parses a time: "14:02", "14:02:30" of the recording's last day (or the day before, if it had
 * ended by then), "2026-11-21 14:02" or with seconds, in the local time zone or followed by "Z" or
 * an offset; "@1795269750", or as in JSON, since 1970; or "-3m" (s, m, h, d) before end_ns, its
 * end. last: of a time that occurred twice, as the clock was set back, the later one. False: none
 * of these. *ns: CLOCK_REALTIME.
 */
bool replay_time(const char *text, uint64_t end_ns, bool last, uint64_t *ns);
