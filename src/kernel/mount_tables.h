/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mount tables that tasks see, the texts of /proc/PID/mountinfo: one per mount namespace, read
 * again after changes. No namespace is pinned: its file systems go with its last task.
 */
#pragma once

#include <sys/types.h>

#include "base/file.h"

/* Room for the name of a mount namespace: "mnt:[4026531841]". */
#define MOUNT_SPACE_NAME 64

/* Reads the name of the mount namespace of a process or thread, "self" too. 0 or -errno. */
int mount_space_name(int procfd, const char *pid, char name[MOUNT_SPACE_NAME]);

struct mount_tables;

/* procfd: a descriptor of /proc, which the caller keeps open. */
struct mount_tables *mount_tables_open(int procfd);

/*
 * Call once per sample: each table is checked for changes at its next request. Frees tables without
 * a request in the last minute.
 */
void mount_tables_renew(struct mount_tables *tables);

/*
 * The table of a task, valid until the next call. Changes are seen after the next renewal; if only
 * the mounts themselves were replaced, in equal number, within 30 s; on kernels before 6.12, within
 * 5 s. 0 or -errno.
 */
int mount_tables_find(struct mount_tables *tables, pid_t tid, struct span *text);

void mount_tables_close(struct mount_tables *tables);
