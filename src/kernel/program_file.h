/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program or a library: functions and lines by address, and how to unwind its frames. The file is
 * untrusted, and the library that reads it (libdw) large: use it in a confined process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "data/frame_rule.h"

struct debug_files;
struct program_file;

/*
 * Takes ownership of an open regular file. path: files with its symbols are searched for beside it,
 * then among `fetched`, which the caller keeps; NULL: none. NULL: not a program, or built without
 * the library.
 */
struct program_file *program_file_open(int fd, const char *path, const struct debug_files *fetched);

/*
 * Appends the function at an offset in the file, and with `line` its line if known: "commit
 * (orders.c:212)". False: unknown.
 */
bool program_file_name(struct program_file *file, uint64_t offset, bool line, struct buf *out);

/* The build id of a file whose symbols or lines were looked for in vain, else NULL. */
const char *program_file_lacks(const struct program_file *file);

/* Finds how to unwind the frame of a function at an offset. False: the file has no rule. */
bool program_file_rule(struct program_file *file, uint64_t offset, struct frame_rule *rule);

void program_file_close(struct program_file *file);
