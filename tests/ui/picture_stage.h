/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_PICTURE_STAGE_H
#define TESTS_PICTURE_STAGE_H

/*
 * The loads that the pictures are taken of: a small site of services in control groups of their
 * own, of which each suffers from something else. The guard must run; what the machine lacks for a
 * load is said, and the rest goes on. Ends with the program.
 */

/* The group that all of them are in, as --cgroup takes it. */
#define STAGE_GROUP "/demo"

/* Mounts of our own, which nobody else sees. Before the guard is started. 0 or -errno. */
int stage_hide(void);

/* Starts the loads, in folders of the test. */
void stage_start(void);

#endif
