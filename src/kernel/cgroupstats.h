/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's cgroupstats: the number of tasks of a v1 cgroup per state, requested over generic
 * netlink (kernel/taskstats.c:cgroupstats_user_cmd()). Needs no privilege.
 */
#pragma once

#include <stdint.h>

#include "data/system.h"

struct cgroupstats_conn;

/* Opens a connection. 0, or -errno: -ENOENT if the kernel has no taskstats. */
int cgroupstats_open(struct cgroupstats_conn **out);

/*
 * Creates a connection over a descriptor that keeps message boundaries, and takes ownership of it.
 * Waits at most timeout_ms for an answer.
 */
int cgroupstats_open_fd(struct cgroupstats_conn **out, int fd, uint16_t family, int timeout_ms);

/*
 * Requests the states in the group with the directory dirfd (not opened with O_PATH). 0 with *out
 * filled; on errors it is unchanged: -EINVAL if dirfd is no directory of a v1 hierarchy, -EBADF if
 * it is no descriptor, -ENOENT if the group has been removed, -EBADMSG for a malformed answer.
 * -ETIMEDOUT without an answer; for a minute after that, -ETIMEDOUT at once without a request.
 */
int cgroupstats_ask(struct cgroupstats_conn *conn, int dirfd, struct cgroup_states *out);

void cgroupstats_close(struct cgroupstats_conn *conn);
