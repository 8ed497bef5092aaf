// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc2/meminfo.h>
#include <libproc2/misc.h>
#include <libproc2/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

/* A pressure file that is not there is looked for again after that many readings. */
#define RETRY_READINGS 64

/* Two lines of at most 110 bytes each; a text that fills this is none we know. */
#define PRESSURE_BYTES 512

/* One pressure file. */
struct pressure {
	int fd;		  /* -1: not open */
	int error;	  /* why not */
	unsigned waiting; /* readings until the next try */
};

struct system {
	int procfd;
	struct stat_info *stat;	      /* NULL: libproc2 could not */
	struct meminfo_info *meminfo; /* NULL: libproc2 could not */
	uint64_t tick_ns;
	bool uptime_valid;
	double boot_offset; /* uptime less CLOCK_BOOTTIME */
	struct pressure pressure[PSI_RESOURCES];
	uint64_t syscalls;
};

const char *const cpu_state_names[CPU_STATES] = {
	[CPU_USER] = "user",
	[CPU_NICE] = "nice",
	[CPU_SYSTEM] = "system",
	[CPU_IDLE] = "idle",
	[CPU_IOWAIT] = "iowait",
	[CPU_IRQ] = "irq",
	[CPU_SOFTIRQ] = "softirq",
	[CPU_STEAL] = "steal",
};

/* Reads the CPU states. */
static void read_cpu(struct system *system, struct system_sample *out)
{
	/* In the order of enum cpu_state; guest time is in user and nice already. */
	static enum stat_item items[] = {
		STAT_TIC_USER, STAT_TIC_NICE,	 STAT_TIC_SYSTEM, STAT_TIC_IDLE,
		STAT_TIC_IOWAIT, STAT_TIC_IRQ, STAT_TIC_SOFTIRQ, STAT_TIC_STOLEN,
		STAT_TIC_NUM_CONTRIBUTORS, STAT_SYS_PROC_CREATED,
	};
	struct stat_stack *stack;
	int cpus;

	/* Not procps_stat_get(): 4.0.2 reads anew only once a second. */
	stack = system->stat ? procps_stat_select(system->stat, items, ARRAY_SIZE(items)) : NULL;
	if (!stack)
		return;
	cpus = stack->head[CPU_STATES].result.s_int;
	if (cpus <= 0)
		return;
	out->cpus = (unsigned)cpus;
	for (int i = 0; i < CPU_STATES; i++)
		out->cpu_ns[i] = stack->head[i].result.ull_int * system->tick_ns;
	out->forks = stack->head[CPU_STATES + 1].result.ul_int;
	out->cpu_valid = true;
}

/* Reads memory and swap. */
static void read_memory(struct system *system, struct system_sample *out)
{
	static enum meminfo_item items[] = {
		MEMINFO_MEM_TOTAL, MEMINFO_MEM_USED, MEMINFO_SWAP_TOTAL, MEMINFO_SWAP_USED,
	};
	struct meminfo_stack *stack = NULL;

	if (system->meminfo)
		stack = procps_meminfo_select(system->meminfo, items, ARRAY_SIZE(items));
	if (!stack || !stack->head[0].result.ul_int)
		return;
	out->memory_total = stack->head[0].result.ul_int;
	out->memory_used = stack->head[1].result.ul_int;
	out->swap_total = stack->head[2].result.ul_int;
	out->swap_used = stack->head[3].result.ul_int;
	out->memory_valid = true;
}

/* CLOCK_BOOTTIME in seconds: what /proc/uptime shows, without a system call. */
static double boottime(void)
{
	return (double)clock_ns(CLOCK_BOOTTIME) / (double)NSEC_PER_SEC;
}

/* Opens a pressure file, unless that failed a short while ago. */
static void open_pressure(struct system *system, enum psi_resource resource)
{
	struct pressure *file = &system->pressure[resource];
	char path[32];

	if (file->waiting) {
		file->waiting--;
		return;
	}
	snprintf(path, sizeof(path), "pressure/%s", psi_names[resource]);
	file->fd = openat(system->procfd, path, O_RDONLY | O_CLOEXEC);
	system->syscalls++;
	if (file->fd < 0) {
		file->error = -errno;
		file->waiting = RETRY_READINGS - 1;
	}
}

/* Closes a pressure file that gives nothing, for the next try to come late. */
static void give_up_pressure(struct system *system, struct pressure *file, int error)
{
	close(file->fd);
	system->syscalls++;
	*file = (struct pressure){.fd = -1, .error = error, .waiting = RETRY_READINGS - 1};
}

/* Reads a pressure file. 0 or -errno, then *out has no valid line. */
static int read_pressure(struct system *system, enum psi_resource resource, struct psi *out)
{
	struct pressure *file = &system->pressure[resource];
	char text[PRESSURE_BYTES];
	ssize_t got;

	*out = (struct psi){0};
	if (file->fd < 0)
		open_pressure(system, resource);
	if (file->fd < 0)
		return file->error;
	do {
		got = pread(file->fd, text, sizeof(text), 0);
		system->syscalls++;
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		/* EOPNOTSUPP: booted with psi=0; older kernels have the files all the same. */
		give_up_pressure(system, file, -errno);
		return file->error;
	}
	if ((size_t)got == sizeof(text))
		return -EBADMSG;
	return psi_parse(text, (size_t)got, out);
}

struct system *system_open(int procfd)
{
	struct system *system = xcalloc(1, sizeof(*system));
	double uptime;
	long hertz = procps_hertz_get();

	system->procfd = procfd;
	if (procps_stat_new(&system->stat) < 0)
		system->stat = NULL;
	if (procps_meminfo_new(&system->meminfo) < 0)
		system->meminfo = NULL;
	system->tick_ns = NSEC_PER_SEC / (uint64_t)(hertz > 0 ? hertz : 100);
	/*
	 * The library's figure once, for where somebody has put another /proc/uptime in
	 * the kernel's place (containers); the clock has what passes after it.
	 */
	if (procps_uptime(&uptime, NULL) >= 0) {
		system->uptime_valid = true;
		system->boot_offset = uptime - boottime();
	}
	for (int i = 0; i < PSI_RESOURCES; i++)
		system->pressure[i].fd = -1;
	return system;
}

void system_read(struct system *system, struct system_sample *out)
{
	*out = (struct system_sample){0};
	read_cpu(system, out);
	read_memory(system, out);
	out->load_valid = procps_loadavg(&out->load[0], &out->load[1], &out->load[2]) >= 0;
	out->uptime_valid = system->uptime_valid;
	if (out->uptime_valid)
		out->uptime = boottime() + system->boot_offset;
	out->read_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < PSI_RESOURCES; i++)
		out->psi_error[i] = read_pressure(system, (enum psi_resource)i, &out->psi[i]);
	/*
	 * The system's cpu file has a `full` line since 5.13, of constant zeros: all tasks
	 * of a machine cannot be kept from its CPUs at once. It says nothing, and must not
	 * look like a measured 0. In a cgroup's file the line does mean something.
	 */
	out->psi[PSI_CPU].full = (struct psi_line){0};
}

uint64_t system_syscalls(const struct system *system)
{
	return system->syscalls;
}

void system_close(struct system *system)
{
	if (!system)
		return;
	for (int i = 0; i < PSI_RESOURCES; i++) {
		if (system->pressure[i].fd >= 0)
			close(system->pressure[i].fd);
	}
	if (system->stat)
		procps_stat_unref(&system->stat);
	if (system->meminfo)
		procps_meminfo_unref(&system->meminfo);
	free(system);
}
