/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system's uptime: by either of procps' libraries, or without one. */
#pragma once

/*
 * Reads the uptime once, in seconds, as /proc/uptime shows it (proc_uptime(5)): containers may
 * replace that file. procfd: /proc; the libraries take it by its path. 0 or -errno.
 */
int uptime_read(int procfd, double *seconds);
