/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the system as a whole: CPU states, load, uptime, memory and pressure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/system.h"

/* The system's uptime: by either version of procps' library, or without one. */

/*
 * Reads the uptime once, in seconds, as in /proc/uptime (proc_uptime(5)): containers may replace
 * that file. procfd: /proc; the libraries open it by its path. 0 or -errno.
 */

int uptime_read(int procfd, double *seconds);

struct system;

/* Opens the files that stay open. A missing file is an error of each reading, not of this. */
struct system *system_open(int procfd);

/* Takes a reading, independent of earlier ones. */
void system_read(struct system *system, struct system_sample *out);

void system_close(struct system *system);

/*
 * Pure parsers of /proc/stat (proc_stat(5); tick_ns: ns in a clock tick), /proc/meminfo and
 * /proc/loadavg: fill their part of the sample and set its valid bit. Each 0, or -EBADMSG for a
 * text that differs from the kernel's documentation; then nothing is changed.
 */
int system_parse_stat(const char *text, size_t len, uint64_t tick_ns, struct system_sample *out);
int system_parse_memory(const char *text, size_t len, struct system_sample *out);
int system_parse_load(const char *text, size_t len, struct system_sample *out);
