/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small files of a cgroup: one read each, and the texts that have a key and a number a line. */
#ifndef STALLTOP_CGROUP_FILE_H
#define STALLTOP_CGROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Takes all texts that are read here; of a longer one (a v1 cpuset's, a stat's) the beginning. */
#define CGROUP_FILE_BYTES 8192

/*
 * Reads a text by one pread() from the beginning, as the kernel writes it as a whole. The number
 * of bytes, or -errno: -ENODEV when the group has been removed.
 */
int cgroup_file_pread(int fd, char *text, size_t size);

/* The same with opening, below a directory descriptor; never through a symbolic link. */
int cgroup_file_read(int dirfd, const char *path, char *text, size_t size);

/*
 * Finds the line "KEY NUMBER". False where there is none, or it is cut or not of that form; then
 * *value stays. The first line with the key counts.
 */
bool cgroup_file_number(const char *text, size_t len, const char *key, uint64_t *value);

/*
 * Whether a path, without a slash in front, may be opened below a directory: no empty name, no
 * "." and no ".." in it. "" may not.
 */
bool cgroup_file_below(const char *path);

#endif
