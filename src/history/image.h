/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a database from memory: from the bytes of its file. */
#ifndef STALLTOP_HISTORY_IMAGE_H
#define STALLTOP_HISTORY_IMAGE_H

#include <sqlite3.h>
#include <stddef.h>

struct image;

/*
 * Opens a database whose file is mapped into memory. The image unmaps the bytes, also after an
 * error. *db must be closed before the image. Whether the bytes are a database shows only when they
 * are read. 0 or -errno.
 */
int image_open(struct image **out, sqlite3 **db, void *bytes, size_t len);

/* Closes the image and unmaps its bytes. NULL is allowed. */
void image_close(struct image *image);

#endif
