/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup hierarchy that is shown. A task is in one group of each hierarchy: of that of
 * version 2, and of those of version 1, of which each has controllers of its own, a name, or both.
 */
#ifndef STALLTOP_CGROUP_HIERARCHY_H
#define STALLTOP_CGROUP_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The name of the hierarchy of version 2, for who asks for it. */
#define HIERARCHY_V2 "v2"

struct hierarchy {
	unsigned version; /* 2 or 1 */
	/* "v2"; of version 1 as /proc/PID/cgroup has it: "memory", "cpu,cpuacct", "name=systemd" */
	char *name;
	char *mount; /* path of its directory, raw bytes; NULL: not mounted, groups have no files */
	char *group; /* what is mounted there: "/", or where only a part is, the path of that */
	int fd; /* the directory, -1: not mounted */
};

/*
 * Opens the hierarchy that is shown. wanted: HIERARCHY_V2, or a controller or a name
 * ("name=systemd") of version 1. NULL: that of version 2 unless it holds all tasks in its root,
 * then that of version 1 with the most groups; where there are no groups at all, version 2.
 * procfd: of /proc; stays the caller's and is not used any more afterwards. 0 or -errno: -EINVAL
 * when there is none of the name wanted, -ENOENT without any cgroups.
 */
int hierarchy_open(struct hierarchy *out, int procfd, const char *wanted);

/*
 * Finds out from the text of /proc/self/mountinfo (proc_pid_mountinfo(5)) where a hierarchy is
 * mounted. hierarchy: NULL for that of version 2, else as above. Appends that path, and which group
 * is there: "/", or where only parts are mounted, as in containers, the group of the first; raw
 * bytes. 0 or -ENOENT.
 */
int hierarchy_mount(const char *text, size_t len, const char *hierarchy, struct buf *group,
		    struct buf *path);

/*
 * Appends where a whole hierarchy is mounted, by the file below a /proc directory descriptor. 0 or
 * -errno; -ENOENT: not mounted.
 */
int hierarchy_mounted(int procfd, const char *hierarchy, struct buf *path);

/* Frees what is in it. One that was never opened must be zeroed. */
void hierarchy_close(struct hierarchy *hierarchy);

/* Appends the names of all that can be wanted, with ", " between. 0 or -errno. */
int hierarchy_names(int procfd, struct buf *out);

/*
 * Appends the name of the mounted hierarchy that is listed behind the one of that name; behind the
 * last comes the first. 0; -ENOENT when there is no other, or another -errno.
 */
int hierarchy_after(int procfd, const char *name, struct buf *out);

/*
 * Appends the path of a task's group by the text of its /proc/PID/cgroup: raw bytes, beginning
 * with a slash. Of a zombie in a group that was removed it ends in " (deleted)", as the kernel has
 * it. 0; -ENOENT when the task is in no such hierarchy, -EBADMSG for a text that is none; then
 * nothing is appended.
 */
int hierarchy_path(const struct hierarchy *hierarchy, const char *text, size_t len,
		   struct buf *out);

/*
 * Where a group's directory lies below the hierarchy's descriptor: "." for what is mounted there.
 * A part of `path`, or NULL when it is not below (out of a container's sight, "..", not mounted).
 */
const char *hierarchy_below(const struct hierarchy *hierarchy, const char *path);

/* Takes all texts of a group that are read; of a longer one (a v1 cpuset's, a stat's) the
 * beginning. */
#define CGROUP_TEXT_BYTES 8192

/*
 * Finds the line "KEY NUMBER" in a group's text. False where there is none, or it is cut or not of
 * that form; then *value stays. The first line with the key counts.
 */
bool cgroup_number(const char *text, size_t len, const char *key, uint64_t *value);

/*
 * Whether a path, without a slash in front, may be opened below a directory: no empty name, no
 * "." and no ".." in it. "" may not.
 */
bool cgroup_is_below(const char *path);

#endif
