/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* Asks a recording for a number; -1 where it cannot be asked. */
int64_t ask(const char *path, const char *query);

/* Changes a recording. */
void ask_change(const char *path, const char *sql);
