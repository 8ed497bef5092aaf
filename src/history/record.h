/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record encoding. A record holds what cannot be predicted from the previous records; a key record
 * is complete. Unwritten: threads keep their states and sites.
 */
#pragma once

#include "base/util.h"
#include "frame/frame.h"
#include "frame/playback.h"

/* What is written, or was read, so far. */
struct record_state;

/* A number that is another one if records have other members. */
uint64_t record_format(void);

/* Opens a state without records. */
struct record_state *record_open(void);

/* Has the next record be a key record; dropped: so many samples before it are not recorded. */
void record_restart(struct record_state *state, uint64_t dropped);

/* Whether the next record is a key record. */
bool record_is_due(const struct record_state *state);

/*
 * Appends the record of a frame, which must follow the one before, unless it has no interval.
 * folded: the same frame folded into groups, whose figures are recorded, too; NULL: none.
 */
void record_encode(struct record_state *state, const struct frame *frame,
		   const struct frame *folded, struct buf *out);

/*
 * Reads a record; bare: only what belongs to the sample as a whole, as all records must be then. 0,
 * or -EBADMSG: it is none, or does not follow the one before. Then the next must be a key record.
 */
int record_decode(struct record_state *state, const void *bytes, size_t len, bool bare);

/* Whether a record is a key record. */
bool record_is_key(const void *bytes, size_t len);

/*
 * Makes one sample of all records that were read since the last call; prev: the sample of that
 * call, NULL: none. pids: only these processes (ascending; npids 0: all).
 */
void record_rebuild_sample(struct record_state *state, struct sample *prev, struct sample *cur,
			   const pid_t *pids, size_t npids, struct playback_record *result);

/* Says of the record that was read last: it has no interval; so many before it are missing. */
void record_after_gap(struct record_state *state, bool baseline, uint64_t dropped);

/* The group whose pressure is shown, as of the record that was read last; NULL: the machine's is.
 */
const char *record_shown_group(const struct record_state *state);

/* When the sample of the record that was read last began (CLOCK_MONOTONIC). */
uint64_t record_begin_ns(const struct record_state *state);

/* Forgets the records that were read since: the next sample has none of them. */
void record_pass(struct record_state *state);

/* See struct playback. */
void record_group(const struct record_state *state, const char *path,
		  const struct cgroup_sample **now, const struct cgroup_sample **before);

/* NULL is allowed. */
void record_close(struct record_state *state);
