/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages for errors of the command line, the system and the output. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"
#include "sampler/triggers.h"

/* Appends why a source could not be opened just now, and the remedy; name NULL: none could. */
void error_of_source(struct buf *out, const char *name, int err);

/* The valid form of an expression of --when, by its error. */
const char *error_of_expression(enum trigger_fault fault);

/* Appends why a trigger could not be opened and the remedy, as part of one line. */
void error_of_trigger(struct buf *out, const struct trigger_spec *spec,
		      const struct trigger_error *error);

/* Writes to standard error why the source could not be opened; name: NULL for auto. */
void print_source_error(const char *name, int err);

/* Writes to standard error what failed on a file; what: such as "open". */
void print_file_error(const char *what, const char *path, int err);

/* Writes to standard error why nothing more, or nothing at all, is recorded. */
void print_record_error(const char *path, int err);

/* Writes to standard error why a recording cannot be shown. */
void print_replay_error(const char *path, int err);

/* Writes to standard error why a file of a recording is skipped. */
void print_left_out(const char *path, int err);

/* Writes to standard error why metrics cannot be served there. */
void print_listen_error(const char *address, const char *why);

/* Writes to standard error that other machines can request metrics, too. */
void print_listen_open(const char *address);

/* Writes to standard error that no named process exists. */
void print_pids_error(const pid_t *pids, size_t n);

/*
 * Writes to standard error that the hierarchy of that name has no such group; in_v2: that of
 * version 2 has it.
 */
void print_cgroup_error(const char *path, const char *hierarchy, bool in_v2);

/* Writes to standard error why the kernel rejects a trigger. */
void print_trigger_error(const struct trigger_spec *spec, const struct trigger_error *error,
			 enum text_charset charset);

/* Writes to standard error why there is no such cgroup hierarchy. */
void print_hierarchy_error(const char *name, int procfd, int err);

/* Writes a text to standard output, and frees it. Returns the exit status. */
int print_output(struct buf *text);
