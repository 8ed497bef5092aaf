/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system-wide texts of /proc: pure parsers of stat, meminfo and loadavg. */
#ifndef STALLTOP_PROCSYSTEM_H
#define STALLTOP_PROCSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* CPU states in the order of the file: from user to steal; guest time is in user and nice. */
#define PROCSYSTEM_STATES 8

/* /proc/stat (proc_stat(5)). */
struct procsystem_stat {
	uint64_t ticks[PROCSYSTEM_STATES]; /* since boot, all CPUs */
	unsigned cpus;			   /* that have a line of their own: online */
	uint64_t forks;			   /* 0: not there */
};

/* /proc/meminfo, in kB. */
struct procsystem_memory {
	uint64_t total, used; /* used = total - available */
	uint64_t swap_total, swap_used;
};

/* Each 0, or -EBADMSG for a text that is not what the kernel documents. */
int procsystem_stat_parse(const char *text, size_t len, struct procsystem_stat *out);
int procsystem_memory_parse(const char *text, size_t len, struct procsystem_memory *out);
int procsystem_load_parse(const char *text, size_t len, double out[3]);

#endif
