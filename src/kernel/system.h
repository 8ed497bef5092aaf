/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the system as a whole: CPU states, load, uptime, memory and pressure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/system.h"

/* The system's uptime: by either of procps' libraries, or without one. */

/*
 * Reads the uptime once, in seconds, as /proc/uptime shows it (proc_uptime(5)): containers may
 * replace that file. procfd: /proc; the libraries take it by its path. 0 or -errno.
 */

int uptime_read(int procfd, double *seconds);

struct system;

/* Opens the files that stay open. A missing file is no error here but one of each reading. */
struct system *system_open(int procfd);

/* Takes a reading; keeps no state of earlier ones. */
void system_read(struct system *system, struct system_sample *out);

void system_close(struct system *system);

/*
 * Pure parsers of /proc/stat (proc_stat(5); tick_ns: ns in a clock tick), /proc/meminfo and
 * /proc/loadavg: fill their part of the sample and make it valid. Each 0, or -EBADMSG for a text
 * that is not what the kernel documents; then nothing is changed.
 */
int system_parse_stat(const char *text, size_t len, uint64_t tick_ns, struct system_sample *out);
int system_parse_memory(const char *text, size_t len, struct system_sample *out);
int system_parse_load(const char *text, size_t len, struct system_sample *out);
