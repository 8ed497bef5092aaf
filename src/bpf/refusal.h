/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel refuses programs, from libbpf's messages while it loads them. libbpf passes its
 * messages to the process without a context, so they are stored process-wide.
 */
#pragma once

#include "base/util.h"

/* Clears earlier refusals. */
void refusal_begin(void);

/* Adds a message of libbpf: one line, or a program's whole verifier log. */
void refusal_capture_log(const char *message);

/* Adds why a program was not even tried. */
void refusal_add(const char *program, const char *reason);

/*
 * The cause of the latest refusal, as -errno: -EINVAL its verifier rejects the program, -ENXIO its
 * types do not match, -ENOEXEC its JIT is off, -EOPNOTSUPP it lacks a function, a map or a
 * tracepoint; 0: none known.
 */
int refusal_cause(void);

/*
 * The kernel's messages on all refusals since refusal_begin(), each with its name, in one line of
 * raw bytes; "" without any.
 */
const char *refusal_words(void);

/* The cause in words, part of a sentence; of any -errno. Recordings store these numbers. */
const char *refusal_summary(int err);

/* Appends the cause, and the kernel's message if that explains it. */
void refusal_append(struct buf *out, int err);
