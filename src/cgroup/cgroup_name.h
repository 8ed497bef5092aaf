/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readable names of cgroups created by systemd and container managers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/util.h"

/* A container's names from its manager, plain ASCII; NULL: unknown. */
struct container_name {
	const char *pod; /* NAMESPACE/POD */
	const char *container;
};

/*
 * Appends a readable name of the group with that path: /system.slice/nginx.service is
 * nginx.service, a container its manager with its name (docker:web) or 12 digits of its id
 * (docker:0123456789ab), one in a pod NAMESPACE/POD (NAME), a pod without a known name
 * pod:01234567; an unknown path is unchanged. name: of the first container in the path, and of its
 * pod; NULL: unknown. alone: only what the group adds to those above it. Raw bytes, for
 * text_escape(). For display only: different groups may have the same name, so only the path
 * identifies a group.
 */
void cgroup_name(const char *path, const struct container_name *name, bool alone, struct buf *out);

/* The names of a group, from those of one below it: a pod has the pod name of its containers. */
struct container_name cgroup_named(const char *path, const struct container_name *below);

enum place_kind {
	PLACE_END, /* after the last */
	PLACE_JSON, /* a file */
	PLACE_HOME, /* a file in the home of the group's user */
	PLACE_LOGS, /* a folder that contains POD_NAMESPACE_CONTAINER-ID.log */
	PLACE_PODS, /* a folder that contains NAMESPACE_POD_UID */
};

/* A place to look up names. */
struct name_place {
	enum place_kind kind;
	const char *path; /* below the root or the home; an asterisk is replaced by the id */
	/* SQL that selects namespace, pod and container from JSON (?1), for the id (?2). */
	const char *query;
};

/* A group that belongs to no user. */
#define NO_OWNER ((uid_t)-1)

/* The first container of a path. Texts are parts of the path. */
struct container_key {
	const char *id; /* 64 digits; NULL: only its pod is known */
	const char *uid; /* of its pod, 32 digits or 36 characters; NULL: it is in none */
	size_t uid_len;
	uid_t owner; /* the user whose group it is in, or NO_OWNER */
	const struct name_place *places; /* where to look up its name */
};

/* Finds that container, or the pod. False: there is none, or no place for its name. */
bool cgroup_container(const char *path, struct container_key *out);
