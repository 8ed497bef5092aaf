/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a user's number means the same name to a task as to this program: a container has its own
 * /etc/passwd. Checked once a minute per mount namespace and user.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct proc;

struct passwd_files;

/* The caller keeps proc open while it is in use. */
struct passwd_files *passwd_files_open(struct proc *proc);

/*
 * True if the user with that name here has another or none in a process's own file. If that may not
 * be read: true if the process is in a pid namespace below that of /proc, unless it is the calling
 * user's. False if it has no such file, or has exited.
 */
bool passwd_files_differ(struct passwd_files *files, pid_t tgid, uid_t uid, const char *name);

/* NULL is allowed. */
void passwd_files_close(struct passwd_files *files);
