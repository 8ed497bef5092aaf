/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program must do before anybody else reads its environment or opens a file. */
#ifndef STALLTOP_BASE_START_H
#define STALLTOP_BASE_START_H

/*
 * Takes out of an environment what has libraries read files of its author's, or write what is
 * nobody's business: for a program that has more privileges than who starts it.
 */
void start_drop_environment(char **environment);

/*
 * Has descriptors 0 to 2 taken where they are closed: else the next file that is opened becomes
 * standard output. Reading and writing fail on them as on closed ones.
 */
void start_take_descriptors(void);

#endif
