/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that name wait targets. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/wait_state.h"

struct wait_targets;

/* fdinfo has some 100 bytes, of epoll or inotify one line per file; needed ones come first. */
#define FDINFO_BYTES 2048

struct wait_targets {
	struct proc *proc;
	int diag; /* a socket for requests of Unix sockets, or -errno */
	struct sockets *sockets;
	struct file_owners *owners;
	struct file_locks *locks;
	struct mount_tables *mounts;
	bool within_polled; /* the target is a file of an epoll descriptor */
	pid_t other; /* the process that was named last; 0: none */
};

/* The link of a descriptor, with a NUL after it. */
struct fd_link {
	char text[PATH_MAX + 1];
	size_t len;
};

/* Reads a descriptor's link without following it. 0 or -errno. */
int wait_target_link(struct wait_targets *targets, pid_t tid, int fd, struct fd_link *link);

/* Reads /proc/TID/fdinfo/FD, FDINFO_BYTES at most, with a NUL after. The bytes or -errno. */
int wait_target_fdinfo(struct wait_targets *targets, pid_t tid, int fd, char *text);

/* Maximum descriptors of a set that are read. */
#define WAIT_SET_MAX 16

/* Descriptors of a call, of which those beyond the first are only counted. */
struct polled_set {
	struct {
		int fd; /* below 0: unknown */
		uint64_t ino; /* of its file; 0: unknown */
	} all[WAIT_SET_MAX];
	size_t n;
};

static inline void polled_set_add(struct polled_set *set, int fd, uint64_t ino)
{
	if (set->n < WAIT_SET_MAX) {
		set->all[set->n].fd = fd;
		set->all[set->n].ino = ino;
	}
	set->n++;
}

/*
 * The subject of a wait for any of some descriptors. Only the first 16 are examined: with more of
 * them it is WAIT_FOR_REQUESTS or unknown.
 */
enum wait_purpose wait_target_about_any(struct wait_targets *targets, pid_t tid,
					const struct polled_set *set);

/*
 * Checks that a descriptor is that file, as wait_target_fd(). Reads fdinfo, as stat() would ask the
 * file's server, and returns another device than the kernel's on btrfs.
 */
int wait_target_check(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino);

/* Reads the files of an epoll descriptor, as far as they fit. Returns whether all did. */
bool wait_target_epolled(struct wait_targets *targets, pid_t tid, int fd, struct polled_set *set);
