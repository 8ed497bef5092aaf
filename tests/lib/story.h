/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Records a made-up machine: a mail server waits for its disk behind an export, a shop for CPUs
 * that its cgroup's quota does not grant, a search for memory. Nothing in it is of the machine that
 * runs this, and every recording is the same. 0 or -errno.
 */
int story_record(const char *path);
