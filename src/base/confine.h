/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of this process, for good, in case an attacker takes it over. */
#pragma once

/*
 * Leaves the system calls that answering on open descriptors takes, and memory that is not run.
 * Calls that open or ask for more fail with EPERM; those that no program makes by accident
 * (starting programs, reaching other processes, sockets of its own) end the process by SIGSYS. 0,
 * also where this is not to be had, or -errno.
 */
int confine_calls(void);

/*
 * Leaves only the folder, with what is below, to be written to, also to make and remove files
 * there. Descriptors that are open stay as they are. 0, also where this is not to
 * be had, or -errno.
 */
int confine_writes(const char *folder);
