/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compresses files, and blocks in memory, by zstd. If that is not built in, files stay as they are
 * and cannot be unpacked, and blocks are kept unpacked.
 */
#ifndef STALLTOP_HISTORY_PACK_H
#define STALLTOP_HISTORY_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The ending of a packed file's name. */
#define PACK_SUFFIX ".zst"

/* The most bytes that a file may unpack to: one that claims more is damaged, or a trap. */
#define PACK_FILE_MAX (UINT64_C(1) << 30)

/*
 * The most bytes that a small file may unpack to: this, plus a multiple of its size. Recordings
 * unpack to ten times their packed size; a trap, to a thousand times.
 */
#define PACK_FILE_LEAST (UINT64_C(8) << 20)
#define PACK_FILE_RATIO 256

/* Whether zstd is built in. */
bool pack_is_built(void);

/* Whether a file begins as a packed one does. */
bool pack_is_packed(int fd);

/*
 * Packs the file `from` into `to`, both names in the folder. `to` is created, accessible to its
 * owner alone, and is on the disk on return. tight: `to` gets a tenth smaller, with half of the
 * memory, but it takes ten times as long. 0 or -errno: -EOPNOTSUPP without zstd, -EFBIG if it would
 * be too large to unpack. After a failure there is no `to`.
 */
int pack_file(int folder, const char *from, const char *to, bool tight);

/*
 * Unpacks a file into memory that the caller unmaps. 0 or -errno (-EBADMSG: it is damaged, or
 * empty; -EOPNOTSUPP: without zstd).
 */
int pack_map(int fd, void **bytes, size_t *len);

/* Packs and unpacks blocks of memory; zero-initialised. */
struct packer {
	void *packing, *unpacking; /* contexts of zstd, made when first needed */
};

/* Packs a block and appends it to `out`. */
void packer_pack(struct packer *packer, const void *bytes, size_t len, struct buf *out);

/* Unpacks a block that had `len` bytes into `bytes`. False: it is damaged. */
bool packer_unpack(struct packer *packer, const void *packed, size_t packed_len, void *bytes,
		   size_t len);

void packer_free(struct packer *packer);

#endif
