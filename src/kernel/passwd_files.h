/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the number of a user means the same name to a task as to this program: a container has an
 * /etc/passwd of its own. Looked at once a minute for each mount namespace and user.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct proc;

struct passwd_files;

/* proc stays the caller's and must outlive it. */
struct passwd_files *passwd_files_open(struct proc *proc);

/*
 * Whether the user, who has that name here, has another or none in a process's own file. Where that
 * may not be read, whether the process is in a pid namespace below that of /proc, unless it is of
 * the user who asks. False where it has no such file, or is gone.
 */
bool passwd_files_differ(struct passwd_files *files, pid_t tgid, uid_t uid, const char *name);

/* NULL is allowed. */
void passwd_files_close(struct passwd_files *files);
