/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the program's memory from being swapped out. */
#ifndef STALLTOP_BASE_MEMORY_H
#define STALLTOP_BASE_MEMORY_H

/*
 * Locks what the process has in memory, and what it gets later, where it may lock as much as it
 * likes: else memory could be refused to it. 0 or -errno. Not inherited by children.
 */
int memory_lock(void);

#endif
