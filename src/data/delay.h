/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay kinds by number, sets of them and their sums; counters; all other record fields. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "data/delay_table.h"

/* The most that can be accounted in a time: readings are up to 2 ms apart, 1 % is rounding. */
static inline uint64_t delay_most(uint64_t passed_ns)
{
	return passed_ns + passed_ns / 100 + 2 * NSEC_PER_MSEC;
}

/* Byte offsets in struct taskstats; 0: no such field. */
struct delay_place {
	uint16_t count, total, max, min, stamp;
};

struct delay_row {
	const char *id;
	const char *heading;
	char digit; /* the key that sorts by this kind, 0 for none */
	uint8_t since;
	struct delay_place place, place15;
	const char *help;
};

extern const struct delay_row delay_table[DELAY_KINDS];

/* Sets of kinds with a known time, and of kinds with a known number of waits. */
#define DELAY_BIT(kind) (UINT32_C(1) << (kind))
#define DELAY_ALL (DELAY_BIT(DELAY_KINDS) - 1)
#define DELAY_COUNT_BIT(kind) (DELAY_BIT(kind) << DELAY_KINDS)
/* Both bits of each kind in a set of DELAY_BIT()s. */
#define DELAY_BOTH(kinds) ((kinds) | (kinds) << DELAY_KINDS)

/*
 * Kinds of waits: the kernel's delay kinds, and uninterruptible sleep without I/O wait (kernel
 * locks, journals, frozen or remote file systems), which the kernel does not account.
 */
enum { WAIT_DWAIT = DELAY_KINDS, WAIT_KINDS };

/* The name of a wait kind in options, columns and formats. */
const char *wait_kind_id(unsigned kind);

/* Number of waits, and their sum in ns. */
struct delay_sum {
	uint64_t count, ns;
};

/* The verdict on an accounted delay: what it proves about the time waited. */
enum delay_verdict {
	DELAY_FITS,
	DELAY_CUT, /* a little too much: the whole possible time was waited */
	DELAY_WRONG, /* nothing */
};

/*
 * Judges an accounted delay of which only `possible` can be true. Kernels since 6.12 account a
 * little too much for many waits; a single wait that is too long began with a stale time stamp,
 * whenever it did. counted: the number of waits is known; else the time may be in ticks.
 */
enum delay_verdict delay_judge(const struct delay_sum *booked, bool counted, uint64_t possible_ns);

/*
 * The sum of all waits but thrash, whose waits are accounted as blkio or swapin already. Kinds
 * outside `valid` are left out.
 */
struct delay_sum delay_total(const struct delay_sum *delays, uint32_t valid);

/*
 * Waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash
 * (a working-set page swapped in is booked under both). Kinds outside `valid` are
 * left out.
 */
struct delay_sum delay_mem(const struct delay_sum *delays, uint32_t valid);

/* The kinds summed by delay_total() and delay_mem(). */
#define DELAY_TOTAL_KINDS (DELAY_ALL & ~DELAY_BIT(DELAY_THRASH))
#define DELAY_MEM_KINDS \
	(DELAY_BIT(DELAY_SWAPIN) | DELAY_BIT(DELAY_RECLAIM) | DELAY_BIT(DELAY_THRASH) | \
	 DELAY_BIT(DELAY_COMPACT) | DELAY_BIT(DELAY_WPCOPY))

/* True if time waited of a kind, or of WAIT_DWAIT, is part of the sum of all waits. */
static inline bool wait_in_total(unsigned kind)
{
	return kind == WAIT_DWAIT || (kind < DELAY_KINDS && DELAY_TOTAL_KINDS & DELAY_BIT(kind));
}

/*
 * The fields of struct taskstats that are not delays: one row per field, under the kernel's own
 * name, for the decoder, the columns, the detail view and the manual. Offsets as in delay.h;
 * meanings from Documentation/accounting/taskstats-struct.rst and kernel/tsacct.c.
 */

enum record_type { RECORD_U8, RECORD_S8, RECORD_U32, RECORD_U64 };

/* A counter grows through the task's life and is shown as a difference; a gauge as it is. */
enum record_nature { RECORD_GAUGE, RECORD_COUNTER };

/* How the threads' values are combined into the process's. */
enum record_fold { FOLD_LEADER, FOLD_SUM, FOLD_MAX };

/* X(name, heading, type, offset, offset in v15, since, nature, fold, group, unit, help) */
#define RECORD_TABLE(X) \
	X(ac_exitcode, "EXIT", U32, 4, 4, 1, GAUGE, LEADER, "basic", "#", \
	  "exit code, as wait(2) gives it") \
	X(ac_flag, "FLAG", U8, 8, 8, 1, GAUGE, LEADER, "basic", "bits", \
	  "flags of linux/acct.h: 1 fork without exec, 2 privileges, 8 core, 16 signal, " \
	  "32 last of its group") \
	X(ac_nice, "NI", S8, 9, 9, 1, GAUGE, LEADER, "basic", "#", "nice value") \
	X(ac_sched, "SCHED", U8, 112, 160, 1, GAUGE, LEADER, "basic", "#", \
	  "scheduling policy: 0 other, 1 fifo, 2 rr, 3 batch, 5 idle, 6 deadline") \
	X(ac_uid, "ACUID", U32, 120, 168, 1, GAUGE, LEADER, "basic", "#", "real user id") \
	X(ac_gid, "ACGID", U32, 124, 172, 1, GAUGE, LEADER, "basic", "#", "real group id") \
	X(ac_pid, "ACPID", U32, 128, 176, 1, GAUGE, LEADER, "basic", "#", "task id") \
	X(ac_ppid, "ACPPID", U32, 132, 180, 1, GAUGE, LEADER, "basic", "#", "parent's id") \
	X(ac_btime, "BTIME", U32, 136, 184, 1, GAUGE, LEADER, "basic", "s", \
	  "start, seconds since 1970") \
	X(ac_etime, "ETIME", U64, 144, 192, 1, GAUGE, LEADER, "basic", "us", \
	  "time since the start") \
	X(ac_utime, "UTIME", U64, 152, 200, 1, COUNTER, SUM, "basic", "us", \
	  "user CPU time, counted in ticks") \
	X(ac_stime, "STIME", U64, 160, 208, 1, COUNTER, SUM, "basic", "us", \
	  "system CPU time, counted in ticks") \
	X(ac_minflt, "MINFLT", U64, 168, 216, 1, COUNTER, SUM, "basic", "#", "minor page faults") \
	X(ac_majflt, "MAJFLT", U64, 176, 224, 1, COUNTER, SUM, "basic", "#", "major page faults") \
	X(cpu_run_real_total, "REAL", U64, 64, 112, 1, COUNTER, SUM, "run", "ns", \
	  "time on a CPU, counted in ticks") \
	X(cpu_run_virtual_total, "VIRTUAL", U64, 72, 120, 1, COUNTER, SUM, "run", "ns", \
	  "time on a CPU, exact") \
	X(coremem, "COREMEM", U64, 184, 232, 3, COUNTER, SUM, "extended", "MBus", \
	  "resident memory times system time") \
	X(virtmem, "VIRTMEM", U64, 192, 240, 3, COUNTER, SUM, "extended", "MBus", \
	  "virtual memory times system time") \
	X(hiwater_rss, "HIRSS", U64, 200, 248, 3, GAUGE, MAX, "extended", "kB", \
	  "peak resident memory") \
	X(hiwater_vm, "HIVM", U64, 208, 256, 3, GAUGE, MAX, "extended", "kB", \
	  "peak virtual memory") \
	X(read_char, "RCHAR", U64, 216, 264, 3, COUNTER, SUM, "extended", "B", \
	  "bytes read by system calls, in units of 1024") \
	X(write_char, "WCHAR", U64, 224, 272, 3, COUNTER, SUM, "extended", "B", \
	  "bytes written by system calls, in units of 1024") \
	X(read_syscalls, "RSYSC", U64, 232, 280, 3, COUNTER, SUM, "extended", "#", \
	  "read system calls, in units of 1024") \
	X(write_syscalls, "WSYSC", U64, 240, 288, 3, COUNTER, SUM, "extended", "#", \
	  "write system calls, in units of 1024") \
	X(read_bytes, "RBYTES", U64, 248, 296, 4, COUNTER, SUM, "storage", "B", \
	  "bytes read from storage, in units of 1024") \
	X(write_bytes, "WBYTES", U64, 256, 304, 4, COUNTER, SUM, "storage", "B", \
	  "bytes written to storage, in units of 1024") \
	X(cancelled_write_bytes, "CBYTES", U64, 264, 312, 4, COUNTER, SUM, "storage", "B", \
	  "bytes written that were truncated before they reached storage") \
	X(nvcsw, "NVCSW", U64, 272, 320, 5, COUNTER, SUM, "switches", "#", \
	  "voluntary context switches") \
	X(nivcsw, "NIVCSW", U64, 280, 328, 5, COUNTER, SUM, "switches", "#", \
	  "involuntary context switches") \
	X(ac_utimescaled, "UTIMES", U64, 288, 336, 6, COUNTER, SUM, "scaled", "us", \
	  "user time scaled by CPU frequency, if supported") \
	X(ac_stimescaled, "STIMES", U64, 296, 344, 6, COUNTER, SUM, "scaled", "us", \
	  "system time scaled by CPU frequency, if supported") \
	X(cpu_scaled_run_real_total, "SREAL", U64, 304, 352, 6, COUNTER, SUM, "scaled", "ns", \
	  "time on a CPU scaled by its frequency, if supported") \
	X(ac_btime64, "BTIME64", U64, 344, 424, 10, GAUGE, LEADER, "basic", "s", \
	  "start, seconds since 1970, past 2106 too") \
	X(ac_tgid, "ACTGID", U32, 368, 464, 12, GAUGE, LEADER, "group", "#", "thread group id") \
	X(ac_tgetime, "TGETIME", U64, 376, 472, 12, GAUGE, LEADER, "group", "us", \
	  "time since the start of the thread group") \
	X(ac_exe_dev, "EXEDEV", U64, 384, 480, 12, GAUGE, LEADER, "group", "#", \
	  "device of the executable") \
	X(ac_exe_inode, "EXEINO", U64, 392, 488, 12, GAUGE, LEADER, "group", "#", \
	  "inode of the executable")

#define RECORD_ENUM(name, ...) RECORD_##name,
enum record_field { RECORD_TABLE(RECORD_ENUM) RECORD_FIELDS };
#undef RECORD_ENUM

struct record_row {
	const char *id;
	const char *heading;
	enum record_type type;
	uint16_t offset, offset15;
	uint8_t since;
	enum record_nature nature;
	enum record_fold fold;
	const char *group;
	const char *unit;
	const char *help;
};

extern const struct record_row record_table[RECORD_FIELDS];

#define RECORD_BIT(field) (UINT64_C(1) << (field))

/*
 * The parts of a record that are not in every sample: the fields above (a signed one
 * sign-extended), and per delay kind the longest and shortest wait since the task's start in ns and
 * the time of the longest in ns since 1970.
 */
struct task_record {
	uint64_t fields_valid; /* RECORD_BIT()s */
	uint64_t field[RECORD_FIELDS];
	uint32_t range_valid; /* DELAY_BIT()s of max and min */
	uint32_t stamp_valid; /* DELAY_BIT()s of stamp */
	uint64_t max[DELAY_KINDS], min[DELAY_KINDS], stamp[DELAY_KINDS];
};

/*
 * Merges a thread's record into its process's: counters are added, high marks take the larger
 * value, all else stays the leader's. `into` must start as the leader's record.
 */
void record_fold(struct task_record *into, const struct task_record *thread);

/* Longest and shortest wait of the given kinds (DELAY_BIT()s); shortest 0: there was none. */
void record_range(const struct task_record *record, uint32_t kinds, uint64_t *max, uint64_t *min);

/*
 * Counters of a task, or of several tasks added up, and their arithmetic. Unknown counters are not
 * in `valid`, and their values are meaningless.
 */

/* Bits of counters.valid, above the delays' bits of time and of count. */
#define VALID_RUN (UINT32_C(1) << (2 * DELAY_KINDS)) /* run_ns */
#define VALID_TICK (UINT32_C(1) << (2 * DELAY_KINDS + 1)) /* user_ns and system_ns */
/* children's times, in an element of a sample */
#define VALID_CHILDREN (UINT32_C(1) << (2 * DELAY_KINDS + 2))
/* dwait_ns in counters; in a row the time waited as WAIT_DWAIT */
#define VALID_DWAIT (UINT32_C(1) << (2 * DELAY_KINDS + 3))
_Static_assert(2 * DELAY_KINDS + 4 <= 32, "too many kinds for the valid masks");

/* Counters since a task's start, or their growth. */
struct counters {
	uint32_t valid; /* DELAY_BIT()s, DELAY_COUNT_BIT()s and VALID_... */
	unsigned members; /* tasks added up here, 1 for a single task */
	uint64_t run_ns;
	uint64_t user_ns, system_ns; /* counted in ticks: only their ratio is meaningful */
	uint64_t life_ns; /* elapsed since the start, summed over all threads; 0: unknown */
	uint64_t dwait_ns; /* in state D without I/O wait; only where that is measured */
	struct delay_sum delay[DELAY_KINDS];
};

/* Adds all of `more`. A counter of the sum is known only if both are known. */
void counters_add(struct counters *sum, const struct counters *more);

/*
 * Adds the counters in `known` (bits as in valid) to a sum that started zeroed. A counter of the
 * sum is known if any task's is: unknown values add nothing.
 */
void counters_add_known(struct counters *sum, const struct counters *more, uint32_t known);

/*
 * Makes a reading comparable with the previous one: a counter that fell is raised to its earlier
 * value, so that the larger reading stays the baseline. Counts have 32 bits in the kernel; they are
 * compared modulo 2^32 and continued in 64 bits. Returns the bits of comparable counters: those
 * known in both, except totals that overflowed (the kernel sets such a total to 0, while its count
 * continues: kernel/delayacct.c:delayacct_add_tsk).
 */
uint32_t counters_lift(struct counters *now, const struct counters *before);

/* Computes the growth of the counters in `known`; all else of `grown` becomes 0. */
void counters_diff(struct counters *grown, const struct counters *now,
		   const struct counters *before, uint32_t known);

/* Subtracts the waits of `kinds` (DELAY_BIT()s) from a sum that includes them, never below 0. */
void counters_take_off(struct counters *sum, const struct counters *part, uint32_t kinds);

/* Replaces the waits of `kinds` (DELAY_BIT()s and VALID_DWAIT), with their valid bits. */
void counters_put(struct counters *counters, const struct counters *from, uint32_t kinds);

/* Sets the waits of `kinds` (DELAY_BIT()s) to 0. */
void counters_clear(struct counters *counters, uint32_t kinds);

/* Marks the times and counts of kinds, a set of DELAY_BIT()s, as unknown. */
static inline void counters_mask(struct counters *counters, uint32_t kinds)
{
	counters->valid &= ~DELAY_BOTH(kinds);
}

/* Adds the excess of an accounted delay that delay_judge() rejected. Nothing if it fits. */
void counters_add_excess(struct counters *excess, unsigned kind, enum delay_verdict verdict,
			 const struct delay_sum *booked, uint64_t possible_ns);

/*
 * Finds delays longer than the life of a thread. `excess`, zeroed, receives the surplus by kind,
 * and its kinds as `valid`. Returns the kinds that become unknown: DELAY_BIT()s.
 */
uint32_t counters_excess(const struct counters *counters, uint64_t life_ns,
			 struct counters *excess);

/* True if the run time or any kind's number of waits is below that of `other`. */
bool counters_below(const struct counters *counters, const struct counters *other);

/* True if any delay but cpu was ever accounted (procfs has no counts). */
bool counters_booked(const struct counters *counters);

/* True if any of the figures is not 0. */
bool counters_any(const struct counters *counters);
