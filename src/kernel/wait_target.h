/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of a wait, as a person would call it: a path, "tcp 10.0.0.1:5432", "unix /run/x",
 * "pipe of 4711 less", "child 4712". All texts are raw bytes. Only files of /proc are opened or
 * looked at: a hang must not spread to the program that looks.
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

/* Forgets what may have changed; to be called once a sample. */
void wait_targets_renew(struct wait_targets *targets);

/*
 * Appends what a task's descriptor is, of a file with its server. dev (major << 20 | minor, as the
 * kernel has it in s_dev) and ino: it must be that file, 0 and 0 for any (ino needs a kernel
 * of 5.14 or later, else -ENODATA; dev is only compared where the file lies on a mount that the
 * task sees). 0, or -errno: -ENOENT, -ESRCH where it is gone, -ESTALE where it is another file now,
 * -EACCES.
 */
int wait_target_fd(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino,
		   struct buf *out);

/* Appends a process at the other end of a pipe with a path: " (of 4711 less)". */
void wait_target_fifo(struct wait_targets *targets, pid_t tid, int fd, struct buf *out);

/*
 * Appends what others may wait for by a process's descriptors: its pipes, sockets and terminals, as
 * texts with a NUL behind each.
 */
void wait_target_links(struct wait_targets *targets, pid_t pid, struct buf *out);

/*
 * Whether a task's descriptor is one end of what wait_target_links() gave for another process, or,
 * of a connection that was not accepted yet, leads to it.
 */
bool wait_target_reaches(struct wait_targets *targets, pid_t tid, int fd, const struct buf *links);

/* Sorts of descriptors. */
enum wait_fd {
	WAIT_FD_FILE, /* of a file system, also a directory or a pipe with a name */
	WAIT_FD_PIPE,
	WAIT_FD_STREAM, /* a connection: of TCP, or a stream of Unix sockets */
	WAIT_FD_SOCKET, /* another socket, or an unknown one */
	WAIT_FD_OTHER, /* a device, a terminal, a file of /proc or /sys, events; one that is gone */
	WAIT_FDS
};

/* The sort of a task's descriptor. */
enum wait_fd wait_target_kind(struct wait_targets *targets, pid_t tid, int fd);

/* The state of a thread that sleeps interruptibly for a task's descriptor. */
enum wait_state wait_target_state(struct wait_targets *targets, pid_t tid, int fd);

/* The subject of a thread's wait for a task's descriptor; not told for a pipe. */
enum wait_purpose wait_target_about(struct wait_targets *targets, pid_t tid, int fd);

/*
 * Appends a path within a mount of that device, seen by the task: with the mount's point before.
 * 0, or -errno: -ENOENT where the task sees no such mount.
 */
int wait_target_path(struct wait_targets *targets, pid_t tid, uint32_t dev, const char *path,
		     struct buf *out);

/*
 * Appends the server of the file system of the path that was appended at `at`, if it has one:
 * " (nfs nas1:/export)", of FUSE with its process where the kernel tells: " (fuse.sshfs me@nas: of
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
 * Appends a futex's word, the thread that holds it (0: none, or not known), and how many threads of
 * the process wait on it (0: not known).
 */
void wait_target_futex(struct wait_targets *targets, uint64_t address, pid_t owner,
		       unsigned waiters, struct buf *out);

/*
 * Appends the file that a task waits to lock by a descriptor of it: the process that holds the lock
 * and how many wait for it, where that is known. As wait_target_fd().
 */
int wait_target_lock(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
		     struct buf *out);

/* Appends that holder and how many wait, alone: " held by 4711 less (2 wait)". */
void wait_target_holder(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
			struct buf *out);

/*
 * Appends a child that is waited for, and its name; -1 and 0: any, below: any of that process
 * group.
 */
void wait_target_child(struct wait_targets *targets, pid_t pid, struct buf *out);

/*
 * Appends the latest child of a thread and its name, as that is who vfork() waits for; nothing
 * where it is not known (a kernel without CONFIG_PROC_CHILDREN).
 */
void wait_target_vforked(struct wait_targets *targets, pid_t tid, struct buf *out);

/* Appends the debugger that has a task stopped: "debugger 4711 gdb"; nothing for 0. */
void wait_target_debugger(struct wait_targets *targets, pid_t tracer, struct buf *out);

/*
 * Appends the child that waitid() waits for, by its first two arguments; pidfd is looked up with
 * the task. 0 or -errno.
 */
int wait_target_waitid(struct wait_targets *targets, pid_t tid, uint64_t idtype, uint64_t id,
		       struct buf *out);

/*
 * The process (of a futex: the thread) that targets named since the last call, and that must act
 * for the wait to end: the other end of a pipe or a connection, who holds a lock, a child, a
 * server. 0: none, or not known.
 */
pid_t wait_targets_take_other(struct wait_targets *targets);

/*
 * How many targets so far lack whose they are as that could not be looked for: it will be when they
 * are asked for after the next renewal.
 */
uint64_t wait_targets_put_off(const struct wait_targets *targets);

void wait_targets_close(struct wait_targets *targets);
