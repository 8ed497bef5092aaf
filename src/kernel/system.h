/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system as a whole: CPU states, load, uptime, memory and pressure. */
#ifndef STALLTOP_KERNEL_SYSTEM_H
#define STALLTOP_KERNEL_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/psi.h"

enum cpu_state {
	CPU_USER,
	CPU_NICE,
	CPU_SYSTEM,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STEAL,
	CPU_STATES
};

/* The names of the states in machine formats: user, nice, system ... */
extern const char *const cpu_state_names[CPU_STATES];

/* One reading. What could not be read is invalid, never zero in its place. */
struct system_sample {
	uint64_t read_ns; /* CLOCK_MONOTONIC, when the pressure files were read */
	bool cpu_valid, load_valid, uptime_valid, memory_valid;
	unsigned cpus; /* online */
	uint64_t cpu_ns[CPU_STATES]; /* since boot, all CPUs */
	uint64_t forks; /* tasks created since boot; 0: not known */
	double load[3];
	double uptime; /* s */
	uint64_t memory_total, memory_used; /* kB; used = total - available */
	uint64_t swap_total, swap_used; /* kB */
	struct psi psi[PSI_RESOURCES];
	int psi_error[PSI_RESOURCES]; /* 0 or -errno of the file (-ENOENT, -EOPNOTSUPP ...) */
};

struct system;

/* Opens what stays open. Only what is there: a missing file is an error of each reading. */
struct system *system_open(int procfd);

/* Takes a reading; keeps no state of earlier ones. */
void system_read(struct system *system, struct system_sample *out);

/* System calls made so far, but for the one reading of the uptime. */
uint64_t system_syscalls(const struct system *system);

void system_close(struct system *system);

/*
 * Pure parsers of /proc/stat (proc_stat(5); tick_ns: ns in a clock tick), /proc/meminfo and
 * /proc/loadavg: fill their part of the sample and make it valid. Each 0, or -EBADMSG for a text
 * that is not what the kernel documents; then nothing is changed.
 */
int system_parse_stat(const char *text, size_t len, uint64_t tick_ns, struct system_sample *out);
int system_parse_memory(const char *text, size_t len, struct system_sample *out);
int system_parse_load(const char *text, size_t len, struct system_sample *out);

#endif
