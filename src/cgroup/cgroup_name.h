/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readable names of cgroups that systemd and container managers make. */
#ifndef STALLTOP_CGROUP_CGROUP_NAME_H
#define STALLTOP_CGROUP_CGROUP_NAME_H

#include "base/buf.h"

/*
 * Appends a readable name of the group with that path: /system.slice/nginx.service is
 * nginx.service, a container its manager with 12 digits of its id (docker:0123456789ab), a pod
 * pod:01234567; an unknown path stays as it is. Raw bytes, for text_escape(). For showing only:
 * different groups may have the same name, so only the path identifies a group.
 */
void cgroup_name(const char *path, struct buf *out);

#endif
