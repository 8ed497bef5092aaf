/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file system in user space that answers some requests and is silent to others. */
#pragma once

#include <stdint.h>

/* The longest that one is served: then whoever hangs in it gets an error. */
#define SILENT_SECONDS 100

/* How it behaves. */
struct silent {
	uint32_t init_flags; /* FUSE_... of the kernel's interface */
	uint32_t open_flags; /* FOPEN_... */
};

/*
 * Mounts one on a folder, in a mount namespace of the caller's own, so that it goes with the
 * processes. The connection, or -1 with errno. It has one file, of any name and ten blocks.
 */
int silent_mount(const char *folder);

/*
 * Looks up, describes and opens the file; reads, writes, polls and flushes of it are never
 * answered. Ends after SILENT_SECONDS.
 */
_Noreturn void silent_serve(int connection, const struct silent *how);
