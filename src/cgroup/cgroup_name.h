/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readable names of cgroups that systemd and container managers make. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/util.h"

/* The names of a container as its manager has them, plain ASCII; NULL: not known. */
struct container_name {
	const char *pod; /* NAMESPACE/POD */
	const char *container;
};

/*
 * Appends a readable name of the group with that path: /system.slice/nginx.service is
 * nginx.service, a container its manager with its name (docker:web) or 12 digits of its id
 * (docker:0123456789ab), one in a pod NAMESPACE/POD (NAME), a pod whose name is not known
 * pod:01234567; an unknown path stays as it is. name: of the container that the path first comes
 * to, and of its pod; NULL: not known. alone: only what the group adds to those above it. Raw
 * bytes, for text_escape(). For showing only: different groups may have the same name, so only the
 * path identifies a group.
 */
void cgroup_name(const char *path, const struct container_name *name, bool alone, struct buf *out);

/* The names of a group, by those of one below it: a pod has the name of its containers' pod. */
struct container_name cgroup_named(const char *path, const struct container_name *below);

enum place_kind {
	PLACE_END, /* after the last */
	PLACE_JSON, /* a file */
	PLACE_HOME, /* a file in the home of the user whose group it is */
	PLACE_LOGS, /* a folder that has POD_NAMESPACE_CONTAINER-ID.log */
	PLACE_PODS, /* a folder that has NAMESPACE_POD_UID */
};

/* A place where names are found. */
struct name_place {
	enum place_kind kind;
	const char *path; /* below the root or the home; the id in place of an asterisk */
	/* SQL that gives namespace, pod and container of JSON (?1), for the id (?2). */
	const char *query;
};

/* A group that belongs to no user. */
#define NO_OWNER ((uid_t)-1)

/* The container that a path first comes to. Texts are parts of the path. */
struct container_key {
	const char *id; /* 64 digits; NULL: only its pod is known */
	const char *uid; /* of its pod, 32 digits or 36 characters; NULL: it is in none */
	size_t uid_len;
	uid_t owner; /* the user whose group it is in, or NO_OWNER */
	const struct name_place *places; /* where its name may be found */
};

/* Finds that container, or the pod. False: there is none, or its name is nowhere. */
bool cgroup_container(const char *path, struct container_key *out);
