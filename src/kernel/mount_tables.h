/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mount tables that tasks see, the texts of /proc/PID/mountinfo: one for each mount namespace,
 * read again when it changed. No namespace is held: its file systems go with its last task.
 */
#pragma once

#include <sys/types.h>

#include "base/file.h"

/* Room for the name of a mount namespace: "mnt:[4026531841]". */
#define MOUNT_SPACE_NAME 64

/* Reads the name of the mount namespace of a process or thread, "self" too. 0 or -errno. */
int mount_space_name(int procfd, const char *pid, char name[MOUNT_SPACE_NAME]);

struct mount_tables;

/* procfd: a descriptor of /proc, which stays the caller's. */
struct mount_tables *mount_tables_open(int procfd);

/*
 * To be called once a sample: has each table checked for changes when it is next asked for. Frees
 * tables that nobody asked for in the last minute.
 */
void mount_tables_renew(struct mount_tables *tables);

/*
 * The table of a task, good until the next call. What changed is seen after the next renewal;
 * where only the mounts themselves were replaced, in the same number, within 30 s; on kernels
 * before 6.12, within 5 s. 0 or -errno.
 */
int mount_tables_find(struct mount_tables *tables, pid_t tid, struct span *text);

void mount_tables_close(struct mount_tables *tables);
