/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who descends from this process, by parent links. With this process as the subreaper of its
 * descendants (prctl(2), PR_SET_CHILD_SUBREAPER) an orphan becomes its child, so that no double
 * fork hides one.
 */
#ifndef STALLTOP_KERNEL_ANCESTRY_H
#define STALLTOP_KERNEL_ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/exits.h"

struct ancestry;

/* Looks for descendants of the process `root`. procfd stays the caller's. */
struct ancestry *ancestry_new(int procfd, pid_t root);

/*
 * Sorts out the records of a drain: moves those of descendants to the front, behind them those
 * that the next drain will tell of (their parent ended a moment ago), and returns how many
 * there are of each. `old`: as many of the first records were left over by the last call; now
 * they are decided.
 */
void ancestry_sort(struct ancestry *ancestry, struct exit_record *records, size_t n, size_t old,
		   size_t *ours, size_t *open);

/* Whether a living process is a descendant. What was looked up is known until the next drain. */
bool ancestry_has(struct ancestry *ancestry, pid_t pid);

void ancestry_free(struct ancestry *ancestry);

#endif
