// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "system.h"

#include <errno.h>
#include <libproc2/misc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "procsystem.h"
#include "util.h"

/* A pressure file that is not there is looked for again after that many readings. */
#define RETRY_READINGS 64

/* Two lines of at most 110 bytes each; a text that fills this is none we know. */
#define PRESSURE_BYTES 512

/* One pressure file. */
struct pressure {
	int fd;		  /* below 0: not open */
	int error;	  /* why not */
	unsigned waiting; /* readings until the next try */
};

struct system {
	int procfd;
	int stat, meminfo, loadavg; /* descriptors; below 0: could not be opened */
	struct buf text;	    /* of the file being read */
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

/* Opens what is read with every sample. The descriptor or -errno. */
static int open_file(struct system *system, const char *name)
{
	system->syscalls++;
	return file_open(system->procfd, name, 0);
}

/* Reads a file as a whole into the scratch text. False where it cannot be read. */
static bool read_text(struct system *system, int fd)
{
	return fd >= 0 && !file_reread(fd, &system->text, &system->syscalls);
}

/* Reads the CPU states, and how many tasks were created. */
static void read_stat(struct system *system, struct system_sample *out)
{
	struct procsystem_stat stat;

	if (!read_text(system, system->stat) ||
	    procsystem_stat_parse(system->text.data, system->text.len, &stat))
		return;
	out->cpus = stat.cpus;
	for (int i = 0; i < CPU_STATES; i++)
		out->cpu_ns[i] = stat.ticks[i] * system->tick_ns;
	out->forks = stat.forks;
	out->cpu_valid = true;
}

/* Reads memory and swap. */
static void read_memory(struct system *system, struct system_sample *out)
{
	struct procsystem_memory memory;

	if (!read_text(system, system->meminfo) ||
	    procsystem_memory_parse(system->text.data, system->text.len, &memory))
		return;
	out->memory_total = memory.total;
	out->memory_used = memory.used;
	out->swap_total = memory.swap_total;
	out->swap_used = memory.swap_used;
	out->memory_valid = true;
}

/* Reads the load. */
static void read_load(struct system *system, struct system_sample *out)
{
	out->load_valid = read_text(system, system->loadavg) &&
			  !procsystem_load_parse(system->text.data, system->text.len, out->load);
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
	file->fd = open_file(system, path);
	if (file->fd < 0) {
		file->error = file->fd;
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
	int got;

	*out = (struct psi){0};
	if (file->fd < 0)
		open_pressure(system, resource);
	if (file->fd < 0)
		return file->error;
	got = file_pread(file->fd, text, sizeof(text));
	system->syscalls++;
	if (got < 0) {
		/* EOPNOTSUPP: booted with psi=0; older kernels have the files all the same. */
		give_up_pressure(system, file, got);
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
	/*
	 * Not by libproc2: it reads stat twice, to its end, and opens loadavg anew each time.
	 * Parsing what is kept open takes a third of the time.
	 */
	system->stat = open_file(system, "stat");
	system->meminfo = open_file(system, "meminfo");
	system->loadavg = open_file(system, "loadavg");
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
	read_stat(system, out);
	read_memory(system, out);
	read_load(system, out);
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
	for (int i = 0; i < PSI_RESOURCES; i++)
		file_close(system->pressure[i].fd);
	file_close(system->stat);
	file_close(system->meminfo);
	file_close(system->loadavg);
	buf_free(&system->text);
	free(system);
}
