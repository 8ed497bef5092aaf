/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database that is in memory as the bytes of its file, and is read there. */
#ifndef STALLTOP_HISTORY_IMAGE_H
#define STALLTOP_HISTORY_IMAGE_H

#include <sqlite3.h>
#include <stddef.h>

struct image;

/*
 * Opens a database whose file was mapped into memory, to be unmapped with the image, also after an
 * error. *db is to be closed before the image, and is no more than open: whether a database is in
 * there shows when it is read. 0 or -errno.
 */
int image_open(struct image **out, sqlite3 **db, void *bytes, size_t len);

/* NULL is allowed. */
void image_close(struct image *image);

#endif
