/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts, from the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "base/util.h"

/* The device of a mount: major << 20 | minor, as the kernel has it. False: no such mount. */
bool mount_device(struct span mountinfo, uint64_t id, uint32_t *dev);

/*
 * Appends the path of a file that has this path within the file system of a device: through the
 * mount that shows most of it. False if none shows it.
 */
bool mount_path(struct span mountinfo, uint32_t dev, const char *path, struct buf *out);

/*
 * The file system type at an absolute path without links, by the nearest mount above it. False:
 * none.
 */
bool mount_type(struct span mountinfo, const char *path, struct span *type);

/*
 * Appends the server of the file system at such a path, raw bytes: "nfs nas1:/export", "fuse.sshfs
 * me@nas1:". False, with nothing appended, if it has none. *fuse: the connection to a server that
 * is a process of this machine, else 0.
 */
bool mount_server(struct span mountinfo, const char *path, struct buf *out, uint32_t *fuse);

/*
 * True if the last /proc mounted at that place hides tasks that one may not look into: by hidepid=2
 * or 4 (proc(5); named invisible and ptraceable since 5.8).
 */
bool mount_hides_tasks(struct span mountinfo, const char *place);
