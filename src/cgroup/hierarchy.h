/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup hierarchy that is shown. A task is in one group of each hierarchy: that of version 2,
 * and those of version 1, each of which has its own controllers, a name, or both.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* The name of version 2's hierarchy, for `wanted` of hierarchy_open(). */
#define HIERARCHY_V2 "v2"

struct hierarchy {
	unsigned version; /* 2 or 1 */
	/* "v2"; for version 1 as in /proc/PID/cgroup: "memory", "cpu,cpuacct", "name=systemd" */
	char *name;
	char *mount; /* path of its directory, raw bytes; NULL: not mounted, groups have no files */
	char *group; /* the group mounted there: "/", or its path if only a part is mounted */
	int fd; /* the directory, -1: not mounted */
};

/*
 * Opens the hierarchy that is shown. wanted: HIERARCHY_V2, or a controller or a name
 * ("name=systemd") of version 1. NULL chooses version 2 unless all tasks are in its root, then the
 * hierarchy of version 1 with the most groups; without any groups, version 2. procfd: of /proc; the
 * caller keeps it, and it is not used after the call. 0 or -errno: -EINVAL if no hierarchy has the
 * wanted name, -ENOENT without any cgroups.
 */
int hierarchy_open(struct hierarchy *out, int procfd, const char *wanted);

/*
 * Finds from the text of /proc/self/mountinfo (proc_pid_mountinfo(5)) where a hierarchy is mounted.
 * hierarchy: NULL for that of version 2, else as above. Appends that path, and the group mounted
 * there: "/", or if only parts are mounted, as in containers, the first part's group; raw bytes. 0
 * or -ENOENT.
 */
int hierarchy_mount(const char *text, size_t len, const char *hierarchy, struct buf *group,
		    struct buf *path);

/*
 * Appends the path where a whole hierarchy is mounted, read from mountinfo below a /proc directory
 * descriptor. 0 or -errno; -ENOENT: not mounted.
 */
int hierarchy_mounted(int procfd, const char *hierarchy, struct buf *path);

/* Closes a hierarchy and frees its contents. A hierarchy that was never opened must be zeroed. */
void hierarchy_close(struct hierarchy *hierarchy);

/* Appends the names of all hierarchies to choose from, separated by ", ". 0 or -errno. */
int hierarchy_names(int procfd, struct buf *out);

/*
 * Appends the name of the mounted hierarchy listed after the named one; the first follows the last.
 * 0; -ENOENT if there is no other, or another -errno.
 */
int hierarchy_after(int procfd, const char *name, struct buf *out);

/*
 * Appends the path of a task's group from the text of its /proc/PID/cgroup: raw bytes, beginning
 * with a slash. For a zombie in a removed group it ends in " (deleted)", as the kernel writes it.
 * 0; -ENOENT if the task is in no such hierarchy, -EBADMSG for a malformed text; then nothing is
 * appended.
 */
int hierarchy_path(const struct hierarchy *hierarchy, const char *text, size_t len,
		   struct buf *out);

/*
 * The path of a group's directory below the hierarchy's descriptor: "." for the mounted group
 * itself. A part of `path`, or NULL if it is not below (outside a container, "..", not mounted).
 */
const char *hierarchy_below(const struct hierarchy *hierarchy, const char *path);

/* Where the threads of a group's processes may be: its cgroup.type (version 2, Linux 4.14). */
enum hierarchy_type {
	HIERARCHY_DOMAIN, /* in it */
	HIERARCHY_DOMAIN_THREADED, /* in it and below it */
	HIERARCHY_THREADED, /* anywhere in the nearest domain above */
};

/*
 * Reads the type of the group at a path below the hierarchy's descriptor. An enum hierarchy_type;
 * -ENOENT if it has none, like the root, or another -errno.
 */
int hierarchy_type(const struct hierarchy *hierarchy, const char *below);

/* Room for any text read of a group; longer ones (a v1 cpuset's, a stat's) are cut. */
#define CGROUP_TEXT_BYTES 8192

/*
 * Finds the line "KEY NUMBER" in a group's text. False, with *value unchanged, if the line is
 * missing, cut or of another form. The first line with the key counts.
 */
bool cgroup_number(const char *text, size_t len, const char *key, uint64_t *value);

/*
 * True if a path, without a leading slash, may be opened below a directory: it has no empty name,
 * no "." and no "..". "" may not be opened.
 */
bool cgroup_is_below(const char *path);
