/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_ASK_H
#define TESTS_ASK_H

#include <stdint.h>

/* Asks a recording for a number; -1 where it cannot be asked. */
int64_t ask(const char *path, const char *query);

/* Changes a recording. */
void ask_change(const char *path, const char *sql);

#endif
