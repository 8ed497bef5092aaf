/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record encoding. A record holds what cannot be predicted from the previous records; a key record
 * is complete. Unwritten: threads keep their states and sites.
 */
#pragma once

#include "base/util.h"
#include "frame/frame.h"
#include "frame/playback.h"

/* The state of a writer, or of a reader. */
struct record_state;

/* Identifies the format: changes with the members of records. */
uint64_t record_format(void);

/* Creates a state without records. */
struct record_state *record_open(void);

/* Makes the next record a key record; dropped: so many samples before it are not recorded. */
void record_restart(struct record_state *state, uint64_t dropped);

/* True if the next record is a key record. */
bool record_is_due(const struct record_state *state);

/*
 * Appends the record of a frame, which must follow the previous one, unless it has no interval.
 * folded: the same frame folded into groups, whose figures are recorded, too; NULL: none.
 */
void record_encode(struct record_state *state, const struct frame *frame,
		   const struct frame *folded, struct buf *out);

/*
 * Reads a record; bare: only the data of the sample as a whole, as for all records then. 0, or
 * -EBADMSG: malformed, or not the successor of the previous one. Then the next must be a key
 * record.
 */
int record_decode(struct record_state *state, const void *bytes, size_t len, bool bare);

/* True if a record is a key record. */
bool record_is_key(const void *bytes, size_t len);

/*
 * Combines all records read since the last call into one sample; prev: the sample of that call,
 * NULL: none. pids: only these processes (ascending; npids 0: all).
 */
void record_rebuild_sample(struct record_state *state, struct sample *prev, struct sample *cur,
			   const pid_t *pids, size_t npids, struct playback_record *result);

/* Marks the last read record as having no interval; so many before it are missing. */
void record_after_gap(struct record_state *state, bool baseline, uint64_t dropped);

/* The group whose pressure is shown, according to the last read record; NULL: the machine's is. */
const char *record_shown_group(const struct record_state *state);

/* When the sample of the last read record began (CLOCK_MONOTONIC). */
uint64_t record_begin_ns(const struct record_state *state);

/* Drops the records read since: the next sample includes none of them. */
void record_pass(struct record_state *state);

/* See struct playback. */
void record_group(const struct record_state *state, const char *path,
		  const struct cgroup_sample **now, const struct cgroup_sample **before);

/* NULL is allowed. */
void record_close(struct record_state *state);
