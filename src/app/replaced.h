/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is replaced whole, so that its readers never see a part of a text. */
#ifndef STALLTOP_APP_REPLACED_H
#define STALLTOP_APP_REPLACED_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Replaces the file by one with that text, readable as umask allows: a new one, of a name that
 * begins with a dot, is written beside it and renamed. 0 or -errno.
 */
int replaced_write(const char *path, const struct buf *text);

/* Whether a file is, or can be, such a one: a device, a pipe or a socket is written to instead. */
bool replaced_can_be(const char *path);

/* Whether that is possible, without replacing it yet. 0 or -errno. */
int replaced_try(const char *path);

#endif
