/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/util.h"
#include "cgroup/cgroup.h"
#include "cgroup/hierarchy.h"
#include "kernel/proctask.h"

/* From this number on there is no limit: version 1 writes the largest multiple of a page. */
#define NO_LIMIT (UINT64_C(1) << 62)

struct limits_reader {
	struct proc *proc;
	struct hierarchy cpu, memory, io; /* without a name: none */
};

/* A group on the path from the task's to the root. */
struct level {
	const struct hierarchy *hierarchy;
	const char *below; /* its directory; see hierarchy_below() */
	const struct buf *path;
};

/* Opens the hierarchy of a controller: version 2 if version 1 has none. */
static void open_controller(struct hierarchy *hierarchy, struct proc *proc, const char *controller)
{
	if (hierarchy_open(hierarchy, proc->fd, controller))
		hierarchy_open(hierarchy, proc->fd, HIERARCHY_V2);
}

struct limits_reader *limits_open(struct proc *proc)
{
	struct limits_reader *reader = xcalloc(1, sizeof(*reader));

	reader->proc = proc;
	open_controller(&reader->cpu, proc, "cpu");
	open_controller(&reader->memory, proc, "memory");
	open_controller(&reader->io, proc, "blkio");
	return reader;
}

/* Reads a group's file. False if it has none. */
static bool read_file(const struct level *level, const char *name, char text[CGROUP_TEXT_BYTES],
		      struct span *span)
{
	struct buf path = { 0 };
	int len;

	buf_printf(&path, "%s/%s", level->below, name);
	len = file_read(level->hierarchy->fd, buf_cstr(&path), text, CGROUP_TEXT_BYTES);
	buf_free(&path);
	*span = (struct span){ text, text + (len > 0 ? len : 0) };
	return len > 0;
}

/* Reads a file with a number. False if it has none: "max", "-1". */
static bool read_number(const struct level *level, const char *name, uint64_t *value)
{
	char text[CGROUP_TEXT_BYTES];
	struct span span;

	return read_file(level, name, text, &span) && take_uint(&span, value);
}

/* Reads the quota of a group. False if it has none. */
static bool read_quota(const struct level *level, uint64_t *quota_us, uint64_t *period_us)
{
	char text[CGROUP_TEXT_BYTES];
	struct span span;

	if (level->hierarchy->version == 1)
		return read_number(level, "cpu.cfs_quota_us", quota_us) &&
		       read_number(level, "cpu.cfs_period_us", period_us) && *period_us;
	return read_file(level, "cpu.max", text, &span) && take_uint(&span, quota_us) &&
	       take_word(&span, " ") && take_uint(&span, period_us) && *period_us;
}

/* Replaces a group's path. */
static void set_path(struct buf *group, const struct level *level)
{
	group->len = 0;
	buf_add(group, level->path->data, level->path->len);
}

/* Takes a group's quota, if it leaves less than those below. */
static void look_at_cpu(const struct level *level, struct limits *limits)
{
	struct cpu_limit *cpu = &limits->cpu;
	char text[CGROUP_TEXT_BYTES];
	uint64_t quota_us, period_us, times;
	struct span span;

	if (!read_quota(level, &quota_us, &period_us))
		return;
	if (cpu->period_us &&
	    (double)quota_us / (double)period_us >= (double)cpu->quota_us / (double)cpu->period_us)
		return;
	cpu->quota_us = quota_us;
	cpu->period_us = period_us;
	cpu->read_ns = clock_ns(CLOCK_MONOTONIC);
	cpu->throttled_valid =
		read_file(level, "cpu.stat", text, &span) &&
		cgroup_throttled(span.at, (size_t)(span.end - span.at), &cpu->throttled_ns, &times);
	cpu->version = level->hierarchy->version;
	set_path(&cpu->group, level);
}

/* Takes a group's real-time budget, if it leaves less than those below. */
static void look_at_realtime(const struct level *level, struct limits *limits)
{
	struct realtime_limit *realtime = &limits->realtime;
	uint64_t runtime_us, period_us;

	/* The root's is kernel.sched_rt_runtime_us. */
	if (level->hierarchy->version != 1 || !strcmp(level->below, ".") ||
	    !read_number(level, "cpu.rt_runtime_us", &runtime_us) ||
	    !read_number(level, "cpu.rt_period_us", &period_us) || !period_us)
		return;
	if (realtime->period_us &&
	    (double)runtime_us / (double)period_us >=
		    (double)realtime->runtime_us / (double)realtime->period_us)
		return;
	realtime->runtime_us = runtime_us;
	realtime->period_us = period_us;
	set_path(&realtime->group, level);
}

/* Takes a group's limits of CPU time. */
static void look_at_cpus(const struct level *level, struct limits *limits)
{
	look_at_cpu(level, limits);
	look_at_realtime(level, limits);
}

/* Memory left below a limit. */
static uint64_t room_of(const struct memory_limit *memory)
{
	return memory->limit > memory->usage ? memory->limit - memory->usage : 0;
}

/* Takes a group's memory limit, if it leaves less than those below. */
static void look_at_memory(const struct level *level, struct limits *limits)
{
	struct memory_limit *memory = &limits->memory;
	bool first = level->hierarchy->version == 1;
	struct memory_limit found = { 0 };

	if (!read_number(level, first ? "memory.limit_in_bytes" : "memory.max", &found.limit) ||
	    !read_number(level, first ? "memory.usage_in_bytes" : "memory.current", &found.usage) ||
	    !found.limit || found.limit >= NO_LIMIT)
		return;
	if (memory->limit && room_of(memory) <= room_of(&found))
		return;
	memory->limit = found.limit;
	memory->usage = found.usage;
	memory->version = level->hierarchy->version;
	set_path(&memory->group, level);
}

/* Appends a device's limit, after others of the same device or not. */
static void add_io_limit(struct buf *text, const struct span *device, const char *name,
			 const struct span *value, bool same)
{
	if (!same) {
		buf_puts(text, text->len ? ", " : "");
		buf_add(text, device->at, (size_t)(device->end - device->at));
	}
	buf_putc(text, ' ');
	buf_puts(text, name);
	buf_add(text, value->at, (size_t)(value->end - value->at));
}

/* Parses the limits of io.max: "8:0 rbps=1048576 wbps=max riops=max wiops=max" per device. */
static void parse_io_max(struct span all, struct buf *text)
{
	struct span line, device, limit;

	while (take_line(&all, &line)) {
		bool same = false;

		if (!take_part(&line, ' ', &device))
			continue;
		while (take_part(&line, ' ', &limit)) {
			size_t len = (size_t)(limit.end - limit.at);

			if (len < 4 || !memcmp(limit.end - 4, "=max", 4))
				continue;
			add_io_limit(text, &device, "", &limit, same);
			same = true;
		}
	}
}

/* Reads the limits of version 1, one file each: "8:0 1048576" per device. */
static void read_io_throttle(const struct level *level, struct buf *to)
{
	static const char *const files[][2] = {
		{ "blkio.throttle.read_bps_device", "rbps=" },
		{ "blkio.throttle.write_bps_device", "wbps=" },
		{ "blkio.throttle.read_iops_device", "riops=" },
		{ "blkio.throttle.write_iops_device", "wiops=" },
	};
	char text[CGROUP_TEXT_BYTES];
	struct span all, line, device;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!read_file(level, files[i][0], text, &all))
			continue;
		while (take_line(&all, &line))
			if (take_part(&line, ' ', &device) && line.at < line.end)
				add_io_limit(to, &device, files[i][1], &line, false);
	}
}

/* Takes a group's I/O limits, if no group below has any. */
static void look_at_io(const struct level *level, struct limits *limits)
{
	struct io_limit *io = &limits->io;
	char text[CGROUP_TEXT_BYTES];
	struct span all;

	if (io->text.len)
		return;
	if (level->hierarchy->version == 1)
		read_io_throttle(level, &io->text);
	else if (read_file(level, "io.max", text, &all))
		parse_io_max(all, &io->text);
	if (io->text.len) {
		set_path(&io->group, level);
		io->version = level->hierarchy->version;
	}
}

/* Reads the task's group in a hierarchy and all groups above it, as far as they are mounted. */
static void climb(const struct hierarchy *hierarchy, const struct buf *lines,
		  void (*look)(const struct level *level, struct limits *limits),
		  struct limits *limits)
{
	struct buf path = { 0 };
	struct level level = { .hierarchy = hierarchy, .path = &path };

	if (!hierarchy->name || hierarchy_path(hierarchy, lines->data, lines->len, &path))
		return;
	while ((level.below = hierarchy_below(hierarchy, buf_cstr(&path)))) {
		look(&level, limits);
		if (!strcmp(level.below, "."))
			break;
		while (path.len > 1 && path.data[--path.len] != '/')
			;
	}
	buf_free(&path);
}

void limits_read(const struct limits_reader *reader, pid_t tgid, pid_t tid, struct limits *limits)
{
	struct buf lines = { 0 };

	limits->cpu.period_us = 0;
	limits->cpu.throttled_valid = false;
	limits->realtime.period_us = 0;
	limits->memory.limit = 0;
	limits->io.text.len = 0;
	if (!proctask_cgroup(reader->proc, tgid, tid, &lines)) {
		climb(&reader->cpu, &lines, look_at_cpus, limits);
		climb(&reader->memory, &lines, look_at_memory, limits);
		climb(&reader->io, &lines, look_at_io, limits);
	}
	buf_free(&lines);
}

unsigned limits_weighed(const struct limits_reader *reader, pid_t tgid, struct buf *group)
{
	const struct hierarchy *cpu = &reader->cpu;
	struct level level = { .hierarchy = cpu, .path = group };
	struct buf lines = { 0 };
	char text[CGROUP_TEXT_BYTES];
	struct span span;
	bool known;

	known = cpu->name && !proctask_cgroup(reader->proc, tgid, 0, &lines) &&
		!hierarchy_path(cpu, lines.data, lines.len, group);
	buf_free(&lines);
	while (known && (level.below = hierarchy_below(cpu, buf_cstr(group))) &&
	       strcmp(level.below, ".") != 0 &&
	       !read_file(&level, cpu->version == 1 ? "cpu.shares" : "cpu.weight", text, &span))
		while (group->len > 1 && group->data[--group->len] != '/')
			;
	return known && level.below ? cpu->version : 0;
}

void limits_free(struct limits *limits)
{
	buf_free(&limits->cpu.group);
	buf_free(&limits->realtime.group);
	buf_free(&limits->memory.group);
	buf_free(&limits->io.text);
	buf_free(&limits->io.group);
	*limits = (struct limits){ 0 };
}

void limits_close(struct limits_reader *reader)
{
	if (!reader)
		return;
	hierarchy_close(&reader->cpu);
	hierarchy_close(&reader->memory);
	hierarchy_close(&reader->io);
	free(reader);
}
