// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/system.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

// SPDX-License-Identifier: GPL-2.0-or-later

#if defined(PROCPS_LIBPROC2)
#include <libproc2/misc.h>
#elif defined(PROCPS_LIBPROCPS)
#include <proc/sysinfo.h>
#include <unistd.h>
#else
#endif

#if defined(PROCPS_LIBPROC2)

int uptime_read(UNUSED int procfd, double *seconds)
{
	int result = procps_uptime(seconds, NULL);

	return result < 0 ? result : 0;
}

#elif defined(PROCPS_LIBPROCPS)

int uptime_read(UNUSED int procfd, double *seconds)
{
	/* uptime() ends the program if it can't open the file. */
	if (access("/proc/uptime", R_OK))
		return -errno;
	return uptime(seconds, NULL) ? 0 : -EBADMSG;
}

#else

int uptime_read(int procfd, double *seconds)
{
	char text[64];
	int len = file_read(procfd, "uptime", text, sizeof(text));
	struct span rest = { text, text + len };
	uint64_t hundredths;

	if (len < 0)
		return len;
	if (!take_hundredths(&rest, &hundredths) || !take_word(&rest, " "))
		return -EBADMSG;
	/* One division gives the nearest double, as strtod() would. */
	*seconds = (double)hundredths / 100.0;
	return 0;
}

#endif

/* For how many readings a missing pressure file is skipped before it is tried again. */
#define RETRY_READINGS 64

/* Room for two lines of at most 110 bytes each; a text that fills it has an unknown format. */
#define PRESSURE_BYTES 512

/* One pressure file. */
struct pressure {
	int fd; /* below 0: not open */
	int error; /* why it is not open */
	unsigned waiting; /* readings until the next try */
};

struct system {
	int procfd;
	int files[SYSTEM_FILES]; /* descriptors, or the -errno for which one could not be opened */
	struct buf text; /* of the file being read */
	uint64_t tick_ns;
	bool uptime_valid;
	double boot_offset; /* uptime less CLOCK_BOOTTIME */
	struct pressure pressure[PSI_RESOURCES];
};

/* Parses a number after blanks. At the very end of the text it may have been cut. */
static bool take_number(struct span *text, uint64_t *value)
{
	while (take_word(text, " "))
		;
	return take_uint(text, value) && text->at < text->end;
}

int system_parse_stat(const char *text, size_t len, uint64_t tick_ns, struct system_sample *out)
{
	struct span rest = { text, text + len }, line;
	uint64_t ticks[CPU_STATES], forks = 0;
	unsigned cpus = 0;

	if (!take_word(&rest, "cpu "))
		return -EBADMSG;
	for (unsigned i = 0; i < CPU_STATES; i++)
		if (!take_number(&rest, &ticks[i]) || ticks[i] > UINT64_MAX / tick_ns)
			return -EBADMSG;
	for (take_line(&rest, &line); take_word(&rest, "cpu"); take_line(&rest, &line))
		cpus++;
	/* It follows the line of interrupts, which may be long. */
	while (rest.at < rest.end && !take_word(&rest, "processes "))
		take_line(&rest, &line);
	if (!cpus || (rest.at < rest.end && !take_number(&rest, &forks)))
		return -EBADMSG;
	out->cpus = cpus;
	for (unsigned i = 0; i < CPU_STATES; i++)
		out->cpu_ns[i] = ticks[i] * tick_ns;
	out->forks = forks;
	out->cpu_valid = true;
	return 0;
}

int system_parse_memory(const char *text, size_t len, struct system_sample *out)
{
	enum { TOTAL, FREE, AVAILABLE, SWAP_TOTAL, SWAP_FREE, FIELDS };
	/* The order of the kernel's lines. */
	static const char *const names[FIELDS] = { "MemTotal:", "MemFree:", "MemAvailable:",
						   "SwapTotal:", "SwapFree:" };
	struct span rest = { text, text + len }, line;
	uint64_t kb[FIELDS] = { 0 };

	for (unsigned next = 0; rest.at < rest.end && next < FIELDS; take_line(&rest, &line)) {
		for (unsigned i = next; i < FIELDS; i++) {
			if (!take_word(&rest, names[i]))
				continue;
			if (!take_number(&rest, &kb[i]))
				return -EBADMSG;
			next = i + 1;
			break;
		}
	}
	if (!kb[TOTAL])
		return -EBADMSG;
	/* One value may be a container's and the other the machine's. */
	if (!kb[AVAILABLE] || kb[AVAILABLE] > kb[TOTAL])
		kb[AVAILABLE] = kb[FREE] < kb[TOTAL] ? kb[FREE] : kb[TOTAL];
	if (kb[SWAP_FREE] > kb[SWAP_TOTAL])
		kb[SWAP_FREE] = kb[SWAP_TOTAL];
	out->memory_total = kb[TOTAL];
	out->memory_used = kb[TOTAL] - kb[AVAILABLE];
	out->swap_total = kb[SWAP_TOTAL];
	out->swap_used = kb[SWAP_TOTAL] - kb[SWAP_FREE];
	out->memory_valid = true;
	return 0;
}

int system_parse_load(const char *text, size_t len, struct system_sample *out)
{
	struct span rest = { text, text + len };
	uint64_t load[ARRAY_SIZE(out->load)];

	for (unsigned i = 0; i < ARRAY_SIZE(load); i++)
		if (!take_hundredths(&rest, &load[i]) || !take_word(&rest, " "))
			return -EBADMSG;
	/* One division gives the nearest double, as strtod() would. */
	for (unsigned i = 0; i < ARRAY_SIZE(load); i++)
		out->load[i] = (double)load[i] / 100.0;
	out->load_valid = true;
	return 0;
}

/* Opens a file that is read per sample. The descriptor or -errno. */
static int open_sampled_file(struct system *system, const char *name)
{
	return file_open(system->procfd, name, 0);
}

/*
 * Reads a file as a whole into the scratch text. 0 or -errno. A file that could not be opened is
 * tried again, unless the kernel lacks it.
 */
static int read_text(struct system *system, enum system_file file)
{
	int *fd = &system->files[file];

	if (*fd < 0 && *fd != -ENOENT)
		*fd = open_sampled_file(system, system_file_names[file]);
	return *fd < 0 ? *fd : file_reread(*fd, &system->text);
}

/* CLOCK_BOOTTIME in seconds: the value of /proc/uptime, without a system call. */
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
	file->fd = open_sampled_file(system, path);
	if (file->fd < 0) {
		file->error = file->fd;
		file->waiting = RETRY_READINGS - 1;
	}
}

/* Reads a pressure file. 0 or -errno, then *out has no valid line. */
static int read_pressure(struct system *system, enum psi_resource resource, struct psi *out)
{
	struct pressure *file = &system->pressure[resource];
	char text[PRESSURE_BYTES];
	int got;

	*out = (struct psi){ 0 };
	if (file->fd < 0)
		open_pressure(system, resource);
	if (file->fd < 0)
		return file->error;
	got = file_pread(file->fd, text, sizeof(text));
	if (got < 0) {
		/* EOPNOTSUPP: booted with psi=0; older kernels have the files nevertheless. */
		close(file->fd);
		*file = (struct pressure){ .fd = -1, .error = got, .waiting = RETRY_READINGS - 1 };
		return got;
	}
	if ((size_t)got == sizeof(text))
		return -EBADMSG;
	return psi_parse(text, (size_t)got, out);
}

struct system *system_open(int procfd)
{
	struct system *system = xcalloc(1, sizeof(*system));
	double uptime;

	system->procfd = procfd;
	/*
	 * procps' library is not used for these: it opens /proc by its path, so that no other tree
	 * can be used; it rewinds each file, reads stat again to find its end, and opens loadavg
	 * each time: three times the system calls, twice the time (libproc2).
	 */
	for (int f = 0; f < SYSTEM_FILES; f++)
		system->files[f] = open_sampled_file(system, system_file_names[f]);
	system->tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	/* The clock measures the time that passes after this one reading. */
	if (!uptime_read(procfd, &uptime)) {
		system->uptime_valid = true;
		system->boot_offset = uptime - boottime();
	}
	for (int i = 0; i < PSI_RESOURCES; i++)
		system->pressure[i].fd = -1;
	return system;
}

/* Reads the files besides pressure. */
static void read_files(struct system *system, struct system_sample *out)
{
	int *error = out->file_error;
	const struct buf *text = &system->text;

	error[SYSTEM_STAT] = read_text(system, SYSTEM_STAT);
	if (!error[SYSTEM_STAT])
		error[SYSTEM_STAT] = system_parse_stat(text->data, text->len, system->tick_ns, out);
	error[SYSTEM_MEMINFO] = read_text(system, SYSTEM_MEMINFO);
	if (!error[SYSTEM_MEMINFO])
		error[SYSTEM_MEMINFO] = system_parse_memory(text->data, text->len, out);
	error[SYSTEM_LOADAVG] = read_text(system, SYSTEM_LOADAVG);
	if (!error[SYSTEM_LOADAVG])
		error[SYSTEM_LOADAVG] = system_parse_load(text->data, text->len, out);
}

void system_read(struct system *system, struct system_sample *out)
{
	*out = (struct system_sample){ 0 };
	read_files(system, out);
	out->uptime_valid = system->uptime_valid;
	if (out->uptime_valid)
		out->uptime = boottime() + system->boot_offset;
	out->pressure.read_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < PSI_RESOURCES; i++)
		out->pressure.error[i] =
			read_pressure(system, (enum psi_resource)i, &out->pressure.psi[i]);
	/*
	 * The system's cpu file has a `full` line of constant zeros since 5.13: all tasks of a
	 * machine cannot wait for its CPUs at once. The line is meaningless, and must not look like
	 * a measured 0. A cgroup's `full` line does mean something.
	 */
	out->pressure.psi[PSI_CPU].full = (struct psi_line){ 0 };
}

void system_close(struct system *system)
{
	if (!system)
		return;
	for (int i = 0; i < PSI_RESOURCES; i++)
		file_close(system->pressure[i].fd);
	for (int f = 0; f < SYSTEM_FILES; f++)
		file_close(system->files[f]);
	buf_free(&system->text);
	free(system);
}
