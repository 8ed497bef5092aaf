/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps of a program before any library reads its environment or any file is opened. */
#ifndef STALLTOP_BASE_START_H
#define STALLTOP_BASE_START_H

/*
 * Removes variables that make libraries read files chosen by the user, or print what the user must
 * not see: for a program that has more privileges than the user who starts it.
 */
void start_drop_environment(char **environment);

/*
 * Opens descriptors 0 to 2 where they are closed: else the next file that is opened becomes
 * standard output. Reading and writing fail on them as on closed ones.
 */
void start_take_descriptors(void);

#endif
