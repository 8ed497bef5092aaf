/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel refuses programs, taken from what libbpf says while it loads them. libbpf hands
 * its messages to the process without saying whose they are, so they are kept for the process.
 */
#pragma once

#include "base/util.h"

/* Forgets what was refused before. */
void refusal_begin(void);

/* Takes a message of libbpf: one line, or a program's whole log by the verifier. */
void refusal_capture_log(const char *message);

/* Adds why a program was not even tried. */
void refusal_add(const char *program, const char *reason);

/*
 * The cause of the last refusal, as -errno: -EINVAL its verifier rejects the program, -ENXIO its
 * types are not as the program needs them, -ENOEXEC its JIT is off, -EOPNOTSUPP it lacks a
 * function, a map or a tracepoint; 0: none was heard.
 */
int refusal_cause(void);

/*
 * The kernel's words about all refusals since refusal_begin(), each with its name, in one line
 * whose bytes are the kernel's; "" without any.
 */
const char *refusal_words(void);

/* The cause in words, part of a sentence; of any -errno. Recordings keep these numbers. */
const char *refusal_summary(int err);

/* Appends the cause, and the kernel's message where that explains it. */
void refusal_append(struct buf *out, int err);
