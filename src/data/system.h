/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings that are not per task: pressure, the machine as a whole, cgroups. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/delay.h"

/* The resources with files in /proc/pressure, in the order in which they are shown. */
enum psi_resource { PSI_CPU, PSI_MEMORY, PSI_IO, PSI_IRQ, PSI_RESOURCES };

/* File names below /proc/pressure, and the names shown. */
extern const char *const psi_names[PSI_RESOURCES];

/* One line: averages in hundredths of a percent, the stall time since boot in us. */
struct psi_line {
	bool valid;
	uint32_t avg10, avg60, avg300;
	uint64_t total_us;
};

struct psi {
	struct psi_line some, full;
};

/* A reading of pressure: the machine's, or a group's. */
struct psi_reading {
	uint64_t read_ns; /* CLOCK_MONOTONIC, when the files were read */
	struct psi psi[PSI_RESOURCES];
	int error[PSI_RESOURCES]; /* 0 or -errno of the file (-ENOENT, -EOPNOTSUPP ...) */
};

/*
 * Parses the text of a pressure file. A missing or malformed line is left invalid without harm to
 * the other (irq has no `some`, old kernels no cpu `full`). 0, or -EBADMSG if no line is valid.
 */
int psi_parse(const char *text, size_t len, struct psi *out);

/*
 * Growth of a total between two readings so far apart, in us. False: unknown, as a line is missing
 * (before may be NULL), or as the total fell or grew by more than passed, as seen on some kernels
 * (by 2^32 ns).
 */
bool psi_grown(const struct psi_line *before, const struct psi_line *now, uint64_t passed_ns,
	       uint64_t *us);

/* State of the kernel's delay accounting. */
enum delayacct_state { DELAYACCT_UNKNOWN = -1, DELAYACCT_OFF, DELAYACCT_ON };

/* The kinds that depend on delay accounting. */
#define DELAYACCT_KINDS (DELAY_ALL & ~DELAY_BIT(DELAY_CPU))

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

/* Files read besides pressure. */
enum system_file { SYSTEM_STAT, SYSTEM_MEMINFO, SYSTEM_LOADAVG, SYSTEM_FILES };

/* Their names below /proc. */
extern const char *const system_file_names[SYSTEM_FILES];

/* The names of the states in machine formats: user, nice, system ... */
extern const char *const cpu_state_names[CPU_STATES];

/* One reading. Values that could not be read are invalid, never 0. */
struct system_sample {
	bool cpu_valid, load_valid, uptime_valid, memory_valid;
	unsigned cpus; /* online */
	uint64_t cpu_ns[CPU_STATES]; /* since boot, all CPUs */
	uint64_t forks; /* tasks created since boot; 0: unknown */
	double load[3];
	double uptime; /* s */
	uint64_t memory_total, memory_used; /* kB; used = total - available */
	uint64_t swap_total, swap_used; /* kB */
	int file_error[SYSTEM_FILES]; /* 0 or -errno; -EBADMSG: not what the kernel documents */
	struct psi_reading pressure; /* the machine's */
	struct psi_reading of_group; /* that of the selected group, if any */
};

/* The pressure shown: that of the selected group, else the machine's. */
static inline const struct psi_reading *system_pressure(const struct system_sample *system,
							const char *cgroup)
{
	return cgroup ? &system->of_group : &system->pressure;
}

/*
 * Growth of the CPU time in each state between two readings (before may be NULL). False: unknown;
 * also where a state fell, or grew by more than passed, as when a CPU goes offline or a container's
 * /proc/stat changes. pressure.read_ns of both gives the time passed.
 */
bool system_cpu_grown(const struct system_sample *before, const struct system_sample *now,
		      uint64_t ns[CPU_STATES]);

/*
 * Percentage of the CPU time between two readings that was spent in states (bits); negative:
 * unknown. before may be NULL.
 */
double system_cpu_share(const struct system_sample *before, const struct system_sample *now,
			unsigned states);

/*
 * Threads of the group itself, not of groups below it, and not all of them
 * (kernel/cgroup/cgroup-v1.c:cgroupstats_build()): the kernel compares whole state masks, so a
 * sleeping task that is killable or freezable counts in none of the first four. Since 6.1 these are
 * all tasks that sleep for a time or poll (seen on 6.18: sleep(1) is not counted, a task in pause()
 * is). Among the others, io_wait counts tasks waiting for storage; uninterruptible ones among them
 * count as uninterruptible.
 */
struct cgroup_states {
	uint64_t sleeping, running, stopped, uninterruptible, io_wait;
};

/* Parts of a group, each read from its own file; the pressures as in enum psi_resource. */
enum cgroup_part { CGROUP_THROTTLE = PSI_RESOURCES, CGROUP_EVENTS, CGROUP_STATES, CGROUP_PARTS };

/* Bits of the parts to be read, or that were read. CGROUP_BIT(PSI_CPU): the pressure of cpu. */
#define CGROUP_BIT(part) (1u << (part))
#define CGROUP_PRESSURE (CGROUP_BIT(PSI_RESOURCES) - 1)
#define CGROUP_ALL (CGROUP_BIT(CGROUP_PARTS) - 1)

/* The lines of memory.events that are shown. */
enum cgroup_event {
	CGROUP_EVENT_HIGH, /* throttled and reclaimed above memory.high */
	CGROUP_EVENT_MAX, /* about to exceed memory.max */
	CGROUP_EVENT_OOM, /* at the limit, an allocation was about to fail */
	CGROUP_EVENT_OOM_KILL, /* tasks killed */
	CGROUP_EVENT_KINDS
};

/* Their names in the file: high, max, oom, oom_kill. */
extern const char *const cgroup_event_names[CGROUP_EVENT_KINDS];

/* One reading of a group. Parts not in `have` are unknown. */
struct cgroup_sample {
	unsigned have; /* CGROUP_BIT()s */
	int error[CGROUP_PARTS]; /* -errno of parts that could not be read */
	uint64_t read_ns[CGROUP_PARTS]; /* CLOCK_MONOTONIC; for parts in `have` */
	struct psi psi[PSI_RESOURCES];
	uint64_t throttled_ns, throttled; /* total time and number of times, since the group was
					   * made */
	unsigned event_valid; /* bits by enum cgroup_event */
	uint64_t events[CGROUP_EVENT_KINDS]; /* of the group and all below, since it was made */
	struct cgroup_states states; /* of the group alone */
	bool threaded; /* processes may have threads in it and in others */
	/* The time throttled is from another hierarchy, and includes the groups above. */
	bool cpu_elsewhere;
};
