/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Things that a process forked to serve the program lets go of. */
#ifndef STALLTOP_BASE_CHILD_H
#define STALLTOP_BASE_CHILD_H

#include <stddef.h>

/*
 * Makes a new process the program's servant: gives it a name, has it ignore the signals that are
 * meant for the program (it ends with the queue that it serves), closes all descriptors but the
 * standard ones and those of `keep`, and points the standard ones at nothing: a pipe to a reader
 * must end when the program does.
 */
void child_serve(const char *name, const int *keep, size_t n);

#endif
