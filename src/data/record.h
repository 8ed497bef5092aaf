/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of struct taskstats that are no delays: one row a field, under the kernel's own name.
 * The decoder, the columns, the detail view and the manual use it. Offsets as in delay.h; meanings
 * from Documentation/accounting/taskstats-struct.rst and kernel/tsacct.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/delay.h"

enum record_type { RECORD_U8, RECORD_S8, RECORD_U32, RECORD_U64 };

/* A counter grows through the task's life and is differenced; a gauge is shown as it is. */
enum record_nature { RECORD_GAUGE, RECORD_COUNTER };

/* How the values of a process's threads become the process's. */
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
	  "most resident memory so far") \
	X(hiwater_vm, "HIVM", U64, 208, 256, 3, GAUGE, MAX, "extended", "kB", \
	  "most virtual memory so far") \
	X(read_char, "RCHAR", U64, 216, 264, 3, COUNTER, SUM, "extended", "B", \
	  "bytes read by system calls, in steps of 1024") \
	X(write_char, "WCHAR", U64, 224, 272, 3, COUNTER, SUM, "extended", "B", \
	  "bytes written by system calls, in steps of 1024") \
	X(read_syscalls, "RSYSC", U64, 232, 280, 3, COUNTER, SUM, "extended", "#", \
	  "read system calls, in steps of 1024") \
	X(write_syscalls, "WSYSC", U64, 240, 288, 3, COUNTER, SUM, "extended", "#", \
	  "write system calls, in steps of 1024") \
	X(read_bytes, "RBYTES", U64, 248, 296, 4, COUNTER, SUM, "storage", "B", \
	  "bytes read from storage, in steps of 1024") \
	X(write_bytes, "WBYTES", U64, 256, 304, 4, COUNTER, SUM, "storage", "B", \
	  "bytes written to storage, in steps of 1024") \
	X(cancelled_write_bytes, "CBYTES", U64, 264, 312, 4, COUNTER, SUM, "storage", "B", \
	  "bytes written that were truncated before they reached storage") \
	X(nvcsw, "NVCSW", U64, 272, 320, 5, COUNTER, SUM, "switches", "#", \
	  "voluntary context switches") \
	X(nivcsw, "NIVCSW", U64, 280, 328, 5, COUNTER, SUM, "switches", "#", \
	  "involuntary context switches") \
	X(ac_utimescaled, "UTIMES", U64, 288, 336, 6, COUNTER, SUM, "scaled", "us", \
	  "user time scaled by CPU frequency, where the machine can") \
	X(ac_stimescaled, "STIMES", U64, 296, 344, 6, COUNTER, SUM, "scaled", "us", \
	  "system time scaled by CPU frequency, where the machine can") \
	X(cpu_scaled_run_real_total, "SREAL", U64, 304, 352, 6, COUNTER, SUM, "scaled", "ns", \
	  "time on a CPU scaled by its frequency, where the machine can") \
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
 * All of a record that is not in every sample: the fields above (a signed one sign-extended), and
 * per delay kind the longest and shortest wait since the task's start in ns and the time of the
 * longest in ns since 1970.
 */
struct task_record {
	uint64_t fields_valid; /* RECORD_BIT()s */
	uint64_t field[RECORD_FIELDS];
	uint32_t range_valid; /* DELAY_BIT()s of max and min */
	uint32_t stamp_valid; /* DELAY_BIT()s of stamp */
	uint64_t max[DELAY_KINDS], min[DELAY_KINDS], stamp[DELAY_KINDS];
};

/*
 * Folds a thread's record into its process's: counters add up, high marks take the larger value,
 * the rest stays the leader's. `into` must start as the leader's record.
 */
void record_fold(struct task_record *into, const struct task_record *thread);

/* The longest and the shortest wait of some kinds (DELAY_BIT()s); shortest 0: there was none. */
void record_range(const struct task_record *record, uint32_t kinds, uint64_t *max, uint64_t *min);
