/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/*
 * A file system of its own on a loop device, which can be frozen: who writes to it then hangs. The
 * guard, which must run, thaws and unmounts it.
 */

/* Makes and mounts it in the folder, whose file "image" it uses. 0 or -errno; -EOPNOTSUPP: no such
 * thing. */
int frozen_mount(const char *folder, char *mount_point, size_t size);

/* Mounts another image of such a file system in a folder, which is made if need be. 0 or -errno. */
int frozen_mount_image(const char *path, const char *mount_point);

/* Freezes it, until it is thawed or the test ends. 0 or -errno. */
int frozen_freeze(const char *mount_point);

/* 0 or -errno. */
int frozen_thaw(const char *mount_point);
