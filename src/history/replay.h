/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plays a recording, sample by sample, in place of the machine. */
#pragma once

#include <sys/types.h>

#include "frame/playback.h"
#include "history/segment.h"

struct replay_config {
	const char *path; /* a file or a folder of segments */
	const char *from, *to; /* times, see replay_time(); NULL: no limit */
	uint64_t interval_ns; /* the least time between samples; 0: as recorded */
	const pid_t *pids; /* only these processes, ascending */
	size_t npids;
	bool whole; /* the last interval may be shorter: it ends with the recording, or at `to` */
	bool bare; /* tasks, and what belongs to them, are not read */
	/* Told of each file of a folder that cannot be read, which is left out; NULL: nobody. */
	void (*left_out)(const char *path, int err);
};

/* A recording that is read: from one sample to the next, or as past.h goes about it. */
struct replay {
	struct replay_config config;
	struct segment_list files;
	uint64_t from_ns, to_ns;
	uint64_t latest_ns; /* the latest time in it: not its end's where the clock was set back */
	bool threads; /* rows are threads */
	char *group; /* the control group that was recorded at the end; NULL: all tasks */
	struct segment_reader reader;
	size_t file, at; /* the next record to read */
	bool apart; /* records before that one were passed over */
	bool baseline; /* the sample that was read last has no interval: others before it were */
	bool given;
	uint64_t given_ns, before_ns; /* when the last sample given began, and the last two read */
};

/*
 * Opens a recording. 0 or -errno: -ENODATA: it has no sample, -EBADMSG: it is no recording, or
 * damaged. What the configuration points to must outlive the replay. *file: the file that failed,
 * to be freed.
 */
int replay_open(struct replay **out, const struct replay_config *config, char **file);

/* Opens the file in which a recording ends; the same errors, of replay_file(). */
int replay_begin(struct replay *replay, const struct replay_config *config);

/* Returns what the sampler plays. */
struct playback replay_playback(struct replay *replay);

/* The control group whose tasks and pressure were asked for when it was made; NULL: all. */
static inline const char *replay_group(const struct replay *replay)
{
	return replay->group;
}

/* Returns the file that is being read, for messages. */
const char *replay_file(const struct replay *replay);

void replay_close(struct replay *replay);

/*
 * Parses a time: "14:02", "14:02:30" of the recording's last day (or the day before, if it had
 * ended by then), "2026-11-21 14:02" or with seconds, in the local time zone or with "Z" or an
 * offset behind it; "@1795269750", or as JSON has it, since 1970; or "-3m" (s, m, h, d) before
 * end_ns, its end. last: of a time that came twice, as the clock was set back, the later one.
 * False: it is none of these. *ns: CLOCK_REALTIME.
 */
bool replay_time(const char *text, uint64_t end_ns, bool last, uint64_t *ns);
