/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with the symbols of programs, by build id, from the servers in DEBUGINFOD_URLS. The client
 * of elfutils, debuginfod-find(1), asks these, and stores the files. Nobody waits for it.
 */
#pragma once

#include <stdbool.h>

/* Characters of a build id, hexadecimal, and a 0. */
#define BUILD_ID_CHARS 41

struct debug_files;

/* Why nothing can be fetched, for the user; NULL: it can. */
const char *debug_files_fault(void);

/* Nothing is fetched until it is asked for. */
struct debug_files *debug_files_open(void);

/* The file of a build id, valid until the next call. NULL: none came, or `files` is NULL. */
const char *debug_files_path(const struct debug_files *files, const char *id);

/* Fetches the file of a build id. Returns whether it may come: else no server has it. */
bool debug_files_fetch(struct debug_files *files, const char *id);

/* Continues. Returns whether a file came since the last call. */
bool debug_files_came(struct debug_files *files);

void debug_files_close(struct debug_files *files);
