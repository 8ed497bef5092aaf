/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the freezer of cgroup v1 stops a task. Since 6.1 a sleeper that it froze reads as state
 * D, in whatever function it sleeps (kernel/freezer.c:__set_task_frozen()): only its group proves
 * it.
 */
#pragma once

#include <sys/types.h>

#include "cgroup/hierarchy.h"

struct proc;

/* Zero-initialised: not searched for yet. */
struct freezer {
	struct hierarchy hierarchy;
	bool looked, there;
	struct buf text, path; /* scratch buffer */
};

/* True if a thread's group, or one above it, is frozen; tid 0: a process's main thread. */
bool freezer_holds(struct freezer *freezer, struct proc *proc, pid_t tgid, pid_t tid);

void freezer_close(struct freezer *freezer);
