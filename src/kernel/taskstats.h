/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pure decoder of taskstats messages: bytes in, counters out. It depends on the record's
 * version and the attribute's length, never on a struct of this build.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/counters.h"
#include "data/record.h"

/* The oldest version whose layout is known. Later ones only add at the end. */
#define TASKSTATS_OLDEST 8

/* One record of a message: that of the task or of the thread group with that id. */
struct taskstats_part {
	bool tgid;
	uint32_t id;
	const uint8_t *record; /* within the message */
	size_t len;
};

/* The identity of a task as in a PID record. */
struct taskstats_identity {
	pid_t pid, ppid;
	uid_t uid;
	uint64_t elapsed_ns; /* rounded down to whole us */
	const char *comm; /* raw bytes within the record, perhaps without a NUL */
	size_t comm_len;
};

/*
 * Finds the records in the attributes of a message (a reply has one; an exit record
 * may have a task's and its group's). Unknown attributes are skipped. Returns the
 * number found, at most `max`; -EBADMSG when an attribute runs over its end or an id
 * or a record is not where it must be.
 */
int taskstats_parts(const void *attributes, size_t len, struct taskstats_part *parts, int max);

/* The version of a record; -EBADMSG when it is too short to say, -EPROTONOSUPPORT when too old. */
int taskstats_version(const uint8_t *record, size_t len);

/*
 * Takes counters and their valid mask from a record; members and life_ns are left alone.
 * Fields beyond `len` or the version are invalid. Errors as taskstats_version().
 */
int taskstats_counters(const uint8_t *record, size_t len, struct counters *counters);

/*
 * Takes the identity from a PID record (a TGID record has none,
 * kernel/taskstats.c:fill_stats_for_tgid).
 */
int taskstats_identity(const uint8_t *record, size_t len, struct taskstats_identity *out);

/* The elapsed time of a record in ns: of the task, or the sum over a group's threads. */
int taskstats_elapsed(const uint8_t *record, size_t len, uint64_t *elapsed_ns);

/*
 * Takes some fields from a PID record: RECORD_BIT()s. Only fields_valid, and those that it has, are
 * set in `out`. Errors as taskstats_version().
 */
int taskstats_fields(const uint8_t *record, size_t len, uint64_t wanted, struct task_record *out);

/* Takes all other fields from a PID record. */
int taskstats_record(const uint8_t *record, size_t len, struct task_record *out);
