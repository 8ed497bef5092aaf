/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Records and messages as the kernel makes them, from layouts of their own: an
 * error in the program's tables cannot hide here.
 */

#define RECORD_OLDEST 8
#define RECORD_NEWEST 17
#define RECORD_KINDS 8
#define RECORD_MAX 1024

/* Every scalar of the record that is no delay, under the kernel's name: X(type, name). */
/* clang-format off */
#define RECORD_SCALARS(X) \
	X(uint32_t, ac_exitcode) X(uint8_t, ac_flag) X(uint8_t, ac_nice) \
	X(uint64_t, cpu_run_real_total) X(uint64_t, cpu_run_virtual_total) \
	X(uint8_t, ac_sched) X(uint32_t, ac_uid) X(uint32_t, ac_gid) X(uint32_t, ac_pid) \
	X(uint32_t, ac_ppid) X(uint32_t, ac_btime) X(uint64_t, ac_etime) X(uint64_t, ac_utime) \
	X(uint64_t, ac_stime) X(uint64_t, ac_minflt) X(uint64_t, ac_majflt) X(uint64_t, coremem) \
	X(uint64_t, virtmem) X(uint64_t, hiwater_rss) X(uint64_t, hiwater_vm) \
	X(uint64_t, read_char) X(uint64_t, write_char) X(uint64_t, read_syscalls) \
	X(uint64_t, write_syscalls) X(uint64_t, read_bytes) X(uint64_t, write_bytes) \
	X(uint64_t, cancelled_write_bytes) X(uint64_t, nvcsw) X(uint64_t, nivcsw) \
	X(uint64_t, ac_utimescaled) X(uint64_t, ac_stimescaled) \
	X(uint64_t, cpu_scaled_run_real_total) X(uint64_t, ac_btime64) X(uint32_t, ac_tgid) \
	X(uint64_t, ac_tgetime) X(uint64_t, ac_exe_dev) X(uint64_t, ac_exe_inode)
/* clang-format on */

struct record_delay {
	uint64_t count, total, max, min;
	int64_t stamp_sec, stamp_nsec;
};

/* What goes into a record; kinds in the order of the manual: cpu blkio swapin reclaim ... */
struct record_values {
#define RECORD_MEMBER(type, name) type name;
	RECORD_SCALARS(RECORD_MEMBER)
#undef RECORD_MEMBER
	char ac_comm[32];
	struct record_delay delay[RECORD_KINDS];
};

/* Where a member of a record lies. */
struct record_place {
	size_t offset, size;
};

/* Values that differ from field to field and have every byte set. */
void record_fill(struct record_values *values, uint64_t seed);

/* Size of a whole record of that version; of versions to come, the newest's. */
size_t record_size(unsigned version);

/* Writes a record of that version, and returns its size. At most RECORD_MAX bytes. */
size_t record_make(uint8_t *to, unsigned version, const struct record_values *values);

/* A scalar by its name: its value, and where it lies. False for a name that is none. */
bool record_scalar(const struct record_values *values, unsigned version, const char *name,
		   uint64_t *value, struct record_place *place);

/* Where the members of a kind lie; size 0 where the version has none. */
struct record_kind_places {
	struct record_place count, total, max, min, stamp;
};
struct record_kind_places record_kind(unsigned version, unsigned kind);

struct record_place record_comm(unsigned version);

/* A reply to a GET, or an exit record's message. */
struct record_message {
	uint16_t type; /* the family's number */
	uint8_t cmd;
	uint32_t seq, port;
	bool tgid;
	uint32_t id;
	bool pad; /* an empty TASKSTATS_TYPE_NULL before the stats */
	bool unknown; /* attributes of unknown types around and within */
	const void *record;
	size_t len;
};

/* Appends an attribute at to; returns its length with padding. */
size_t record_attribute(uint8_t *to, unsigned type, const void *data, size_t len);

/* Writes the attributes of a message alone; returns their length. */
size_t record_attributes(uint8_t *to, const struct record_message *message);

/* Writes a whole message; returns its length. */
size_t record_message(uint8_t *to, const struct record_message *message);

/* Writes an NLMSG_ERROR (or, with error 0, an acknowledgement). */
size_t record_error(uint8_t *to, uint32_t seq, int error);
