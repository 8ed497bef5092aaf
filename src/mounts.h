/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the cgroup hierarchies are mounted, by /proc/self/mountinfo (proc_pid_mountinfo(5)). */
#ifndef STALLTOP_MOUNTS_H
#define STALLTOP_MOUNTS_H

#include <stddef.h>

#include "buf.h"

/*
 * Pure parser: appends the place where a hierarchy is mounted, raw bytes. hierarchy: NULL for
 * that of cgroup v2, else one of v1 as /proc/PID/cgroup names it ("memory", "cpu,cpuacct",
 * "name=systemd"). The first mount that shows the hierarchy from its root counts. 0 or -ENOENT.
 */
int mounts_parse(const char *text, size_t len, const char *hierarchy, struct buf *path);

/* The same from the file below a /proc directory descriptor. 0 or -errno; -ENOENT: not mounted. */
int mounts_cgroup1(int procfd, const char *hierarchy, struct buf *path);
int mounts_cgroup2(int procfd, struct buf *path);

#endif
