/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of a wait, as a person would name it: a path, "tcp 10.0.0.1:5432", "unix /run/x",
 * "pipe of 4711 less", "child 4712". All texts are raw bytes. Only files of /proc are opened or
 * examined: a hang must not spread to the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "data/wait_state_table.h"
#include "kernel/file_owner.h"

struct proc;

/* Caches data that several targets need: sockets, mounts, owners of pipes. */
struct wait_targets;

struct wait_targets *wait_targets_open(struct proc *proc);

/* Drops cached data that may have changed; call once per sample. */
void wait_targets_renew(struct wait_targets *targets);

/*
 * Appends a task's descriptor, a file with its server. dev (major << 20 | minor, as the kernel has
 * it in s_dev) and ino: it must be that file, 0 and 0 for any (ino needs a kernel of 5.14 or later,
 * else -ENODATA; dev is only compared if the file is on a mount visible to the task). 0, or -errno:
 * -ENOENT, -ESRCH if it is gone, -ESTALE if it is another file now, -EACCES.
 */
int wait_target_fd(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino,
		   struct buf *out);

/* Appends a process at the other end of a pipe with a path: " (of 4711 less)". */
void wait_target_fifo(struct wait_targets *targets, pid_t tid, int fd, struct buf *out);

/*
 * Appends what others may wait for through a process's descriptors: its pipes, sockets and
 * terminals, as texts with a NUL behind each.
 */
void wait_target_links(struct wait_targets *targets, pid_t pid, struct buf *out);

/*
 * True if a task's descriptor is one end of something that wait_target_links() returned for another
 * process, or, for a connection not accepted yet, leads to it.
 */
bool wait_target_reaches(struct wait_targets *targets, pid_t tid, int fd, const struct buf *links);

/* Kinds of descriptors. */
enum wait_fd {
	WAIT_FD_FILE, /* of a file system, including directories and named pipes */
	WAIT_FD_PIPE,
	WAIT_FD_STREAM, /* a connection: of TCP, or a stream of Unix sockets */
	WAIT_FD_SOCKET, /* another socket, or an unknown one */
	WAIT_FD_OTHER, /* a device, a terminal, a file of /proc or /sys, events; a closed one */
	WAIT_FDS
};

/* The kind of a task's descriptor. */
enum wait_fd wait_target_kind(struct wait_targets *targets, pid_t tid, int fd);

/* The state of a thread that sleeps interruptibly for a task's descriptor. */
enum wait_state wait_target_state(struct wait_targets *targets, pid_t tid, int fd);

/* The subject of a thread's wait for a task's descriptor; unknown for a pipe. */
enum wait_purpose wait_target_about(struct wait_targets *targets, pid_t tid, int fd);

/*
 * Appends a path within a mount of that device, seen by the task: preceded by the mount point. 0,
 * or -errno: -ENOENT if the task sees no such mount.
 */
int wait_target_path(struct wait_targets *targets, pid_t tid, uint32_t dev, const char *path,
		     struct buf *out);

/*
 * Appends the server of the file system of the path that was appended at `at`, if it has one: "
 * (nfs nas1:/export)", of FUSE with its process if the kernel shows it: " (fuse.sshfs me@nas: of
 * 4711 sshfs)".
 */
void wait_target_server(struct wait_targets *targets, pid_t tid, size_t at, struct buf *out);

/*
 * Appends a socket by its addresses as the kernel has them: family AF_INET, AF_INET6 (then mapped
 * IPv4 addresses are shown as such); protocol IPPROTO_; ports in host order. "tcp 10.0.0.1:5432"
 * (the peer); "tcp *:80", "tcp 10.0.0.2:80 (listening)" where peer_port is 0.
 */
void wait_target_inet(int family, int protocol, const uint8_t *address, uint16_t port,
		      const uint8_t *peer, uint16_t peer_port, struct buf *out);

/*
 * Appends a futex's address, the thread that holds it (0: none, or unknown), and the number of
 * threads of the process waiting for it (0: unknown).
 */
void wait_target_futex(struct wait_targets *targets, uint64_t address, pid_t owner,
		       unsigned waiters, struct buf *out);

/*
 * Appends the file that a task waits to lock through a descriptor: the process that holds the lock
 * and the number of waiters, if known. As wait_target_fd().
 */
int wait_target_lock(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
		     struct buf *out);

/* Appends that holder and the number of waiters only: " held by 4711 less (2 wait)". */
void wait_target_holder(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
			struct buf *out);

/*
 * Appends the child that is waited for, and its name; -1 and 0: any, below: any of that process
 * group.
 */
void wait_target_child(struct wait_targets *targets, pid_t pid, struct buf *out);

/*
 * Appends the latest child of a thread and its name, as vfork() waits for that; nothing if unknown
 * (a kernel without CONFIG_PROC_CHILDREN).
 */
void wait_target_vforked(struct wait_targets *targets, pid_t tid, struct buf *out);

/* Appends the debugger that stopped a task: "debugger 4711 gdb"; nothing for 0. */
void wait_target_debugger(struct wait_targets *targets, pid_t tracer, struct buf *out);

/*
 * Appends the child that waitid() waits for, by its first two arguments; pidfd is looked up with
 * the task. 0 or -errno.
 */
int wait_target_waitid(struct wait_targets *targets, pid_t tid, uint64_t idtype, uint64_t id,
		       struct buf *out);

/*
 * The process (of a futex: the thread) that targets named since the last call, and that must act to
 * end the wait: the other end of a pipe or a connection, a lock holder, a child, a server. 0: none,
 * or unknown.
 */
pid_t wait_targets_take_other(struct wait_targets *targets);

/*
 * Number of targets so far without an owner because the search for it was postponed: it is made if
 * requested after the next renewal.
 */
uint64_t wait_targets_put_off(const struct wait_targets *targets);

void wait_targets_close(struct wait_targets *targets);
