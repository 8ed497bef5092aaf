/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about tasks besides their counters, cached by identity: user names, and (only when needed)
 * command lines, cgroups, children's times, storage bytes.
 */
#pragma once

#include "base/util.h"
#include "data/sample.h"

struct proc;

struct hierarchy;
struct taskinfo;

/* Opens the cache. threads: samples have one row per thread, so files are read per thread. */
struct taskinfo *taskinfo_open(struct proc *proc, bool threads);

/* Sets the hierarchy of tasks' cgroups; NULL (at first): none. The caller keeps it. */
void taskinfo_set_hierarchy(struct taskinfo *info, const struct hierarchy *hierarchy);

/*
 * Updates the tasks of a sample: the user's name of each fresh task, and the facts in `needs` of
 * all tasks, or (NEED_ACTIVE) of active ones. They are read again after exec, a changed name or a
 * move that the source saw. Of a task that ran since they are read again some seconds later, or at
 * once with NEED_LATEST, as programs may overwrite their command lines. `between` (may be NULL) is
 * called from time to time while files are read.
 */
void taskinfo_update(struct taskinfo *info, struct sample *sample, unsigned needs,
		     void (*between)(void *arg), void *arg);

/* Fills in the missing facts of `needs` for one element. */
void taskinfo_fill(struct taskinfo *info, struct sample *sample, size_t i, unsigned needs);

void taskinfo_close(struct taskinfo *info);
