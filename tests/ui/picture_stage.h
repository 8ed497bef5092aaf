/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * The loads that the pictures are taken of: a small site of services in control groups of their
 * own, of which each suffers from something else. What the machine lacks for a
 * load is said, and the rest goes on. Ends with the program.
 */

/* The group that all of them are in, as --cgroup takes it. */
#define STAGE_GROUP "/demo"

/* Begins with mounts that nobody else sees, the guard, and delay accounting on. 0 or -errno. */
int stage_open(void);

/* Starts the loads, in folders of the test. */
void stage_start(void);

/* Its processes, as -p takes them, allocated. NULL: they cannot be told. */
char *stage_processes(void);

/* Freezes the disk that the backup writes to, or thaws it. */
void stage_freeze(bool freeze);

/* Rations the CPU time of the shop, as from the start, or grants it all. */
void stage_ration(bool ration);
