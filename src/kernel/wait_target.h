/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a wait is on, as a person would call it: a path, "tcp 10.0.0.1:5432", "unix /run/x",
 * "pipe of 4711 less", "child 4712". All texts are raw bytes.
 */
#ifndef STALLTOP_KERNEL_WAIT_TARGET_H
#define STALLTOP_KERNEL_WAIT_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Caches what several targets need: sockets, mounts, who has a pipe. */
struct wait_targets;

struct wait_targets *wait_targets_open(int procfd);

/* Forgets what may have changed; to be called once a sample. */
void wait_targets_renew(struct wait_targets *targets);

/*
 * Appends what a task's descriptor is. dev (st_dev's major and minor as the kernel has them in
 * s_dev: major << 20 | minor) and ino: it must be that file, 0 and 0 for any. 0, or -errno:
 * -ENOENT, -ESRCH where it is gone, -ESTALE where it is another file by now, -EACCES.
 */
int wait_target_fd(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino,
		   struct buf *out);

/* Appends a path within a mount of that device, seen by the task: with the mount's point before. */
int wait_target_path(struct wait_targets *targets, pid_t tid, uint32_t dev, const char *path,
		     struct buf *out);

/*
 * Appends a socket by its addresses as the kernel has them: family AF_INET, AF_INET6; protocol
 * IPPROTO_; "tcp 10.0.0.1:5432" (the peer), "tcp *:80" (listening, peer_port 0).
 */
void wait_target_inet(int family, int protocol, const uint8_t *address, uint16_t port,
		      const uint8_t *peer, uint16_t peer_port, struct buf *out);

/* Appends a futex's word. */
void wait_target_futex(uint64_t address, struct buf *out);

/* Appends a child that is waited for; -1: any. */
void wait_target_child(int64_t pid, struct buf *out);

/* System calls made so far. */
uint64_t wait_targets_syscalls(const struct wait_targets *targets);

void wait_targets_close(struct wait_targets *targets);

#endif
