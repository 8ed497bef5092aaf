/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that descend from this one, by parent links. As this process is the subreaper
 * of its descendants (prctl(2), PR_SET_CHILD_SUBREAPER), an orphan becomes its child, so that a
 * double fork hides no descendant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/exits.h"

struct proc;

struct ancestry;

/* Prepares the search for descendants of the process `root`. The caller keeps proc open. */
struct ancestry *ancestry_new(struct proc *proc, pid_t root);

/*
 * Partitions drained records: descendants, then undecided ones (their parent just exited). Returns
 * both counts. old: undecided since the previous drain.
 */
void ancestry_sort(struct ancestry *ancestry, struct exit_record *records, size_t n, size_t old,
		   size_t *ours, size_t *open);

/* True if a living process is a descendant. Results are cached until the next drain. */
bool ancestry_has(struct ancestry *ancestry, pid_t pid);

void ancestry_free(struct ancestry *ancestry);
