/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/cgroupstats.h"

/* Maximum number of files kept open; further ones are opened per reading. */
#define FILES_MAX 256

/* After this many ticks without a request a group is dropped. */
#define IDLE_TICKS 8

/* For how many readings a missing file is skipped before it is tried again. */
#define RETRY_READINGS 64

/* Number of a group's processes whose group in the hierarchy of cpu is read. */
#define ASKED_MEMBERS 16

/* One file of a group; for the states its directory. */
struct file {
	int fd; /* -1: not open */
	int error; /* why it is missing, while waiting */
	unsigned waiting; /* readings until the next try */
};

struct open_group {
	char *path; /* as in /proc/PID/cgroup */
	const char *below; /* part of path; see hierarchy_below() */
	ino_t inode; /* of the directory: a new group at the path has another inode. 0: none */
	uint64_t tick; /* of the reading in `now` */
	bool before; /* the previous tick has a reading */
	bool threaded; /* by the type found at the last check */
	unsigned looked; /* times since the inode was found */
	unsigned now; /* index of the current sample */
	unsigned tried; /* bits of parts that were read, or are missing, in this tick */
	char *cpu_path; /* its tasks' group in the hierarchy of cpu; NULL: none */
	struct cgroup_sample samples[2];
	struct file files[CGROUP_PARTS];
};

struct cgroup_reader {
	const struct hierarchy *hierarchy;
	int procfd;
	struct hierarchy cpu_hierarchy; /* v1's with the controller cpu; closed: none */
	struct cgroup_reader *cpu; /* of that; NULL: the groups' own files have it */
	struct cgroupstats_conn *states; /* NULL: not opened yet, or refused */
	int states_error; /* why it was refused */
	void *tree; /* the groups by path, of tsearch() */
	struct open_group **groups;
	size_t n, cap;
	unsigned nfiles; /* open */
	uint64_t tick;
};

/* The file with a part's text, and its parser. */
struct file_part {
	const char *file;
	bool (*parse)(struct cgroup_sample *sample, unsigned part, const char *text, size_t len);
};

/* Parses a pressure file. */
static bool parse_group_pressure(struct cgroup_sample *sample, unsigned part, const char *text,
				 size_t len)
{
	return !psi_parse(text, len, &sample->psi[part]);
}

bool cgroup_throttled(const char *text, size_t len, uint64_t *ns, uint64_t *times)
{
	uint64_t usec;

	if (!cgroup_number(text, len, "nr_throttled", times))
		return false;
	/* v2 has microseconds, v1 nanoseconds. */
	if (cgroup_number(text, len, "throttled_usec", &usec))
		return !__builtin_mul_overflow(usec, NSEC_PER_USEC, ns);
	return cgroup_number(text, len, "throttled_time", ns);
}

/* Parses cpu.stat. */
static bool parse_throttle(struct cgroup_sample *sample, UNUSED unsigned part, const char *text,
			   size_t len)
{
	return cgroup_throttled(text, len, &sample->throttled_ns, &sample->throttled);
}

/* Parses memory.events, which has fewer lines in older kernels. */
static bool parse_events(struct cgroup_sample *sample, UNUSED unsigned part, const char *text,
			 size_t len)
{
	for (unsigned i = 0; i < CGROUP_EVENT_KINDS; i++)
		if (cgroup_number(text, len, cgroup_event_names[i], &sample->events[i]))
			sample->event_valid |= 1u << i;
	return sample->event_valid != 0;
}

static const struct file_part parts[CGROUP_PARTS] = {
	[PSI_CPU] = { "cpu.pressure", parse_group_pressure },
	[PSI_MEMORY] = { "memory.pressure", parse_group_pressure },
	[PSI_IO] = { "io.pressure", parse_group_pressure },
	[PSI_IRQ] = { "irq.pressure", parse_group_pressure },
	[CGROUP_THROTTLE] = { "cpu.stat", parse_throttle },
	[CGROUP_EVENTS] = { "memory.events", parse_events },
	[CGROUP_STATES] = { NULL, NULL },
};

/* Creates a reader of the groups' own files. */
static struct cgroup_reader *make_reader(int procfd, const struct hierarchy *hierarchy)
{
	struct cgroup_reader *reader = xcalloc(1, sizeof(*reader));

	reader->procfd = procfd;
	reader->hierarchy = hierarchy;
	reader->tick = 1;
	return reader;
}

struct cgroup_reader *cgroup_reader_open(int procfd, const struct hierarchy *hierarchy)
{
	struct cgroup_reader *reader = make_reader(procfd, hierarchy);

	if (hierarchy_open(&reader->cpu_hierarchy, procfd, "cpu"))
		debug_log("no v1 hierarchy of cpu: how long groups are throttled is that of v2");
	else if (strcmp(reader->cpu_hierarchy.name, hierarchy->name) != 0)
		reader->cpu = make_reader(procfd, &reader->cpu_hierarchy);
	return reader;
}

/* Orders groups by path. */
static int compare_groups(const void *a, const void *b)
{
	const struct open_group *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Closes a file. */
static void close_group_file(struct cgroup_reader *reader, struct file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	reader->nfiles--;
}

/* Closes all files of a group, and resets which are missing. */
static void close_files(struct cgroup_reader *reader, struct open_group *group)
{
	for (unsigned i = 0; i < CGROUP_PARTS; i++) {
		close_group_file(reader, &group->files[i]);
		group->files[i] = (struct file){ .fd = -1 };
	}
}

/* Frees a group. */
static void free_group(struct cgroup_reader *reader, struct open_group *group)
{
	tdelete(group, &reader->tree, compare_groups);
	close_files(reader, group);
	free(group->path);
	free(group->cpu_path);
	free(group);
}

/* Finds the group of a path; creates it at its first request. */
static struct open_group *find_open_group(struct cgroup_reader *reader, const char *path)
{
	struct open_group key = { .path = (char *)path }, *group, **found;

	found = tfind(&key, &reader->tree, compare_groups);
	if (found)
		return *found;
	group = xcalloc(1, sizeof(*group));
	group->path = xstrdup(path);
	group->below = hierarchy_below(reader->hierarchy, group->path);
	for (unsigned i = 0; i < CGROUP_PARTS; i++)
		group->files[i].fd = -1;
	if (!tsearch(group, &reader->tree, compare_groups))
		die("out of memory");
	GROW(reader->groups, reader->n, reader->cap);
	reader->groups[reader->n++] = group;
	return group;
}

void cgroup_reader_tick(struct cgroup_reader *reader)
{
	size_t kept = 0;

	if (reader->cpu)
		cgroup_reader_tick(reader->cpu);
	reader->tick++;
	for (size_t i = 0; i < reader->n; i++) {
		struct open_group *group = reader->groups[i];

		if (group->tick + IDLE_TICKS < reader->tick)
			free_group(reader, group);
		else
			reader->groups[kept++] = group;
	}
	reader->n = kept;
}

/* Makes the current sample the previous one, and starts an empty one. */
static void turn_over(const struct cgroup_reader *reader, struct open_group *group)
{
	if (group->tick == reader->tick)
		return;
	group->before = group->tick + 1 == reader->tick;
	group->tick = reader->tick;
	group->now = !group->now;
	group->samples[group->now] = (struct cgroup_sample){ 0 };
	group->tried = 0;
}

/* Drops the readings of a group that no longer exists. */
static void forget_readings(struct cgroup_reader *reader, struct open_group *group)
{
	close_files(reader, group);
	group->before = false;
	group->samples[group->now] = (struct cgroup_sample){ 0 };
	group->tried = 0;
}

/* Checks whether the group exists and is still the same. 0 or -errno. */
static int check_group(struct cgroup_reader *reader, struct open_group *group)
{
	struct stat info;
	int err = 0;

	if (fstatat(reader->hierarchy->fd, group->below, &info, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	else if (!S_ISDIR(info.st_mode))
		err = -ENOENT;
	if (err || info.st_ino != group->inode) {
		forget_readings(reader, group);
		group->inode = err ? 0 : info.st_ino;
		group->looked = 0;
	}
	if (!err && reader->hierarchy->version == 2 && !(group->looked++ % RETRY_READINGS))
		group->threaded =
			hierarchy_type(reader->hierarchy, group->below) > HIERARCHY_DOMAIN;
	return err == -ENOTDIR ? -ENOENT : err;
}

/* Opens a part's file: `below` is its group's path below dirfd. The descriptor or -errno. */
static int open_part(struct cgroup_reader *reader, int dirfd, const char *below, unsigned part)
{
	struct buf path = { 0 };
	int fd;

	buf_puts(&path, below);
	if (parts[part].file)
		buf_printf(&path, "/%s", parts[part].file);
	fd = file_open(dirfd, buf_cstr(&path), O_NOFOLLOW | (parts[part].file ? 0 : O_DIRECTORY));
	reader->nfiles += fd >= 0;
	buf_free(&path);
	return fd;
}

/* Reads the task states of the group with that directory. 0 or -errno. */
static int ask_states(struct cgroup_reader *reader, int dirfd, struct cgroup_sample *sample)
{
	if (!reader->states && !reader->states_error)
		reader->states_error = cgroupstats_open(&reader->states);
	if (!reader->states)
		return reader->states_error;
	return cgroupstats_ask(reader->states, dirfd, &sample->states);
}

/* Reads a part from an open file. 0 or -errno. */
static int read_open(struct cgroup_reader *reader, int fd, unsigned part,
		     struct cgroup_sample *sample)
{
	char text[CGROUP_TEXT_BYTES];
	int len;

	if (!parts[part].file)
		return ask_states(reader, fd, sample);
	len = file_pread(fd, text, sizeof(text));
	if (len < 0)
		return len;
	return parts[part].parse(sample, part, text, (size_t)len) ? 0 : -EBADMSG;
}

/*
 * Opens and reads a part below a directory, and keeps the file open if not too many are. 0 or
 * -errno.
 */
static int read_below(struct cgroup_reader *reader, struct open_group *group, unsigned part,
		      int dirfd, const char *below)
{
	struct file *file = &group->files[part];
	int fd = open_part(reader, dirfd, below, part);
	int err;

	if (fd < 0)
		return fd;
	file->fd = fd;
	err = read_open(reader, fd, part, &group->samples[group->now]);
	if (err || reader->nfiles > FILES_MAX)
		close_group_file(reader, file);
	return err;
}

/* True if the hierarchy's version lacks a part. */
static bool is_absent(const struct cgroup_reader *reader, unsigned part)
{
	if (part == CGROUP_THROTTLE)
		return false;
	return reader->hierarchy->version == (part == CGROUP_STATES ? 2 : 1);
}

/* Reads a part from its open file, or opens it. 0 or -errno. */
static int read_own(struct cgroup_reader *reader, struct open_group *group, unsigned part)
{
	struct file *file = &group->files[part];
	int err;

	if (file->fd >= 0) {
		err = read_open(reader, file->fd, part, &group->samples[group->now]);
		if (!err)
			return 0;
		close_group_file(reader, file);
		if (err != -ENODEV && err != -ENOENT)
			return err;
		/* The open file's group was removed: another one may have replaced it. */
		group->samples[!group->now].have &= ~CGROUP_BIT(part);
	}
	return read_below(reader, group, part, reader->hierarchy->fd, group->below);
}

/* Reads the ids of a group's processes, or of its threads if it has only those. 0 or -errno. */
static int read_members(const struct cgroup_reader *reader, const struct open_group *group,
			char text[CGROUP_TEXT_BYTES], struct span *ids)
{
	struct buf path = { 0 };
	int len;

	buf_printf(&path, "%s/cgroup.procs", group->below);
	len = file_read(reader->hierarchy->fd, buf_cstr(&path), text, CGROUP_TEXT_BYTES);
	if (len == -EOPNOTSUPP) {
		path.len = 0;
		buf_printf(&path, "%s/cgroup.threads", group->below);
		len = file_read(reader->hierarchy->fd, buf_cstr(&path), text, CGROUP_TEXT_BYTES);
	}
	buf_free(&path);
	/* The last id of a text that was cut may be cut, too. */
	if (len == CGROUP_TEXT_BYTES)
		while (len && text[len - 1] != '\n')
			len--;
	*ids = (struct span){ text, text + (len > 0 ? len : 0) };
	return len < 0 ? len : 0;
}

/* Appends the path of a task's group in the hierarchy of cpu. 0 or -errno. */
static int add_cpu_path(const struct cgroup_reader *reader, uint64_t id, struct buf *path)
{
	struct buf lines = { 0 };
	char file[64];
	int err;

	snprintf(file, sizeof(file), "%" PRIu64 "/cgroup", id);
	err = file_read_all(reader->procfd, file, &lines, CGROUP_TEXT_BYTES);
	if (!err)
		err = hierarchy_path(&reader->cpu_hierarchy, lines.data, lines.len, path);
	buf_free(&lines);
	return err;
}

/*
 * Finds the group in the hierarchy of cpu that a group's processes are in: 0 or -errno; -ESRCH: it
 * has none, -EXDEV: they are in several.
 */
static int find_cpu_path(const struct cgroup_reader *reader, const struct open_group *group,
			 struct buf *path)
{
	char text[CGROUP_TEXT_BYTES];
	struct buf other = { 0 };
	struct span ids, line;
	int err = read_members(reader, group, text, &ids);
	uint64_t id;

	for (unsigned asked = 0; !err && asked < ASKED_MEMBERS && take_line(&ids, &line);) {
		other.len = 0;
		/* 0: a process outside this pid namespace. An exited one is in no group. */
		if (!take_uint(&line, &id) || !id || add_cpu_path(reader, id, &other))
			continue;
		if (asked++ && strcmp(buf_cstr(path), buf_cstr(&other)) != 0)
			err = -EXDEV;
		else if (!path->len)
			buf_add(path, other.data, other.len);
	}
	buf_free(&other);
	return err || path->len ? err : -ESRCH;
}

/* Records the group in the hierarchy of cpu of a group's processes; NULL: unknown. */
static void set_cpu_path(struct open_group *group, const char *path)
{
	if (path && group->cpu_path && !strcmp(path, group->cpu_path))
		return;
	free(group->cpu_path);
	group->cpu_path = path ? xstrdup(path) : NULL;
	/* Another group's figure cannot be its start. */
	group->samples[!group->now].have &= ~CGROUP_BIT(CGROUP_THROTTLE);
}

/* The most throttled of a group and those above it. */
struct throttling {
	bool known, grown; /* whether there is a figure, and one of the previous reading */
	uint64_t ns, times; /* the longest time */
	uint64_t more_ns, more_times; /* since the previous reading, the longest time */
};

/* Adds the figures of one group. */
static void take_throttling(struct throttling *all, const struct cgroup_sample *now,
			    const struct cgroup_sample *before)
{
	const unsigned bit = CGROUP_BIT(CGROUP_THROTTLE);

	if (!(now->have & bit))
		return;
	if (!all->known || now->throttled_ns > all->ns) {
		all->ns = now->throttled_ns;
		all->times = now->throttled;
	}
	all->known = true;
	if (!before || !(before->have & bit) || now->throttled_ns < before->throttled_ns ||
	    now->throttled < before->throttled)
		return;
	if (!all->grown || now->throttled_ns - before->throttled_ns > all->more_ns) {
		all->more_ns = now->throttled_ns - before->throttled_ns;
		all->more_times = now->throttled - before->throttled;
	}
	all->grown = true;
}

/* Reads a group of the hierarchy of cpu and those above it, except the root: it has no quota. */
static void read_chain(struct cgroup_reader *reader, const char *from, struct throttling *all)
{
	char *path = xstrdup(from), *slash = path + strlen(path);
	const struct cgroup_sample *now, *before;

	for (; path[1] && slash && slash != path; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (!cgroup_read(reader->cpu, path, CGROUP_BIT(CGROUP_THROTTLE), &now, &before))
			take_throttling(all, now, before);
	}
	free(path);
}

/* Reads the time that a group was throttled from the hierarchy of cpu. 0 or -errno. */
static int read_cpu(struct cgroup_reader *reader, struct open_group *group)
{
	struct cgroup_sample *sample = &group->samples[group->now];
	struct cgroup_sample *before = &group->samples[!group->now];
	struct throttling all = { .known = false };
	struct buf path = { 0 };
	int err = find_cpu_path(reader, group, &path);

	sample->cpu_elsewhere = true;
	set_cpu_path(group, err ? NULL : buf_cstr(&path));
	if (!err)
		read_chain(reader, group->cpu_path, &all);
	buf_free(&path);
	if (!all.known)
		return err ? err : -ESRCH;
	if (!all.grown)
		before->have &= ~CGROUP_BIT(CGROUP_THROTTLE);
	/* A sum, as the most throttled group of the chain may change between intervals. */
	if (before->have & CGROUP_BIT(CGROUP_THROTTLE)) {
		all.ns = before->throttled_ns + all.more_ns;
		all.times = before->throttled + all.more_times;
	}
	sample->throttled_ns = all.ns;
	sample->throttled = all.times;
	return 0;
}

/*
 * Removes the `full` line of the root's cpu file: it is constant zeros, as the system's, means
 * nothing, and must not look like a measured 0. Only the root has no cgroup.events.
 */
static void drop_full(struct cgroup_reader *reader, const struct open_group *group,
		      struct cgroup_sample *sample)
{
	if (strcmp(group->below, ".") != 0 || !(sample->have & CGROUP_BIT(PSI_CPU)))
		return;
	if (faccessat(reader->hierarchy->fd, "cgroup.events", F_OK, 0))
		sample->psi[PSI_CPU].full = (struct psi_line){ 0 };
}

/* Reads one part of a group, unless it was missing a short time ago. */
static void read_part(struct cgroup_reader *reader, struct open_group *group, unsigned part)
{
	struct cgroup_sample *sample = &group->samples[group->now];
	struct cgroup_sample *before = &group->samples[!group->now];
	struct file *file = &group->files[part];
	bool elsewhere = part == CGROUP_THROTTLE && reader->cpu;
	int err;

	group->tried |= CGROUP_BIT(part);
	if (file->waiting) {
		file->waiting--;
		sample->error[part] = file->error;
		return;
	}
	if (is_absent(reader, part))
		err = -EOPNOTSUPP;
	else
		err = elsewhere ? read_cpu(reader, group) : read_own(reader, group, part);
	if (!err) {
		sample->have |= CGROUP_BIT(part);
		sample->read_ns[part] = clock_ns(CLOCK_MONOTONIC);
	}
	sample->error[part] = err;
	/* EOPNOTSUPP: booted with psi=0; EBADMSG: cpu.stat without the controller cpu. */
	if (!elsewhere && (err == -ENOENT || err == -EOPNOTSUPP || err == -EBADMSG)) {
		file->error = err;
		file->waiting = RETRY_READINGS - 1;
	}
	if (part == PSI_CPU)
		drop_full(reader, group, sample);
	/* Another group may have the path now. */
	if (part == CGROUP_THROTTLE && sample->throttled_ns < before->throttled_ns)
		before->have &= ~CGROUP_BIT(part);
}

int cgroup_read(struct cgroup_reader *reader, const char *path, unsigned what,
		const struct cgroup_sample **now, const struct cgroup_sample **before)
{
	struct open_group *group = find_open_group(reader, path);
	int err = 0;

	*now = *before = NULL;
	if (!group->below) {
		group->tick = reader->tick;
		return -EINVAL;
	}
	turn_over(reader, group);
	if (what & ~group->tried || !group->inode)
		err = check_group(reader, group);
	if (err)
		return err;
	for (unsigned part = 0; part < CGROUP_PARTS; part++)
		if (what & ~group->tried & CGROUP_BIT(part))
			read_part(reader, group, part);
	group->samples[group->now].threaded = group->threaded;
	*now = &group->samples[group->now];
	if (group->before)
		*before = &group->samples[!group->now];
	return 0;
}

void cgroup_reader_close(struct cgroup_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->n; i++)
		free_group(reader, reader->groups[i]);
	free(reader->groups);
	cgroupstats_close(reader->states);
	cgroup_reader_close(reader->cpu);
	hierarchy_close(&reader->cpu_hierarchy);
	free(reader);
}
