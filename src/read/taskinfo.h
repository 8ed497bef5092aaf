/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about tasks beside their counters, cached by identity: user names, and (only when wanted)
 * command lines, cgroups, children's times, storage bytes.
 */
#pragma once

#include "base/util.h"
#include "data/sample.h"

struct proc;

struct hierarchy;
struct taskinfo;

/* Opens the cache. threads: samples have a row for each thread, so files are read per thread. */
struct taskinfo *taskinfo_open(struct proc *proc, bool threads);

/* Sets the hierarchy of tasks' cgroups; NULL (at first): none. It stays the caller's. */
void taskinfo_set_hierarchy(struct taskinfo *info, const struct hierarchy *hierarchy);

/*
 * Brings the tasks of a sample up to date: the user's name of each fresh task, and what `needs`
 * asks for of all tasks, or (NEED_ACTIVE) of those that did something. What was read is read again
 * after exec, another name or a move that the source saw. Of a task that ran since it is read again
 * some seconds later, or as soon with NEED_LATEST, as programs may overwrite their command lines.
 * `between` (may be NULL) is called every now and then
 * where files are read.
 */
void taskinfo_update(struct taskinfo *info, struct sample *sample, unsigned needs,
		     void (*between)(void *arg), void *arg);

/* Fills in what `needs` asks for of one element, where it is missing. */
void taskinfo_fill(struct taskinfo *info, struct sample *sample, size_t i, unsigned needs);

void taskinfo_close(struct taskinfo *info);
