/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of containers and pods, from their managers' files. Files are read when a container is
 * first seen, and a few times more if its name was not there yet.
 */
#pragma once

#include <stdint.h>

#include "cgroup/cgroup_name.h"

struct container_names;
struct users;

/* Opens an empty cache. root: the directory that paths are relative to; the caller keeps it. */
struct container_names *container_names_open(int root, struct users *users);

/*
 * Finds the names for a group's path. NULL if it is no container's and no pod's, or none is found;
 * valid until the next call. now_ms: of any clock, for when to try again.
 */
const struct container_name *container_names_find(struct container_names *names, const char *path,
						  uint64_t now_ms);

void container_names_close(struct container_names *names);
