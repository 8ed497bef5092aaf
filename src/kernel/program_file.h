/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program or a library: the functions and lines of its addresses, and how its frames are left.
 * The file is a stranger's, and the library that reads it (libdw) large: to be used in a confined
 * process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "data/frame_rule.h"

struct program_file;

/*
 * Takes a regular file that is open, and closes it. path: where files with its symbols are looked
 * for beside it. NULL: it is no such file, or the library is not built in.
 */
struct program_file *program_file_open(int fd, const char *path);

/*
 * Appends the function at an offset in the file, and with `line` its line where that is known:
 * "commit (orders.c:212)". False: none is known there.
 */
bool program_file_name(struct program_file *file, uint64_t offset, bool line, struct buf *out);

/* Finds how the frame of a function is left at an offset. False: the file does not say. */
bool program_file_rule(struct program_file *file, uint64_t offset, struct frame_rule *rule);

void program_file_close(struct program_file *file);
