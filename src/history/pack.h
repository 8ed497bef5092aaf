/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compression by zstd: of files, and of blocks in memory. Where that is not built in, files stay as
 * they are and cannot be unpacked, and blocks are kept as they are.
 */
#ifndef STALLTOP_HISTORY_PACK_H
#define STALLTOP_HISTORY_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a packed file ends in. */
#define PACK_SUFFIX ".zst"

/* The most bytes that a packed file may become: what claims more is damaged, or a trap. */
#define PACK_FILE_MAX (UINT64_C(1) << 30)

/*
 * And the most of a small one: so much, and so many times what it has. Recordings become ten times
 * what they are packed; a trap, thousands.
 */
#define PACK_FILE_LEAST (UINT64_C(8) << 20)
#define PACK_FILE_RATIO 256

/* Whether zstd is built in. */
bool pack_is_built(void);

/* Whether the file's first bytes are those of a packed one. */
bool pack_is_packed(int fd);

/*
 * Packs the file `from` into `to`, both names in the folder; `to` is made anew, ours alone, and on
 * the disk when this returns. Tight: it becomes a tenth smaller, with half of the memory, and takes
 * ten times as long. 0 or -errno: -EOPNOTSUPP without zstd, -EFBIG where it is too large to be
 * unpacked again. After a failure there is no `to`.
 */
int pack_file(int folder, const char *from, const char *to, bool tight);

/*
 * Unpacks a file into memory, to be unmapped. 0 or -errno (-EBADMSG: damaged, or nothing in it;
 * -EOPNOTSUPP: without zstd).
 */
int pack_map(int fd, void **bytes, size_t *len);

/* Packs blocks of memory, one after the other; zero-initialised. */
struct packer {
	void *packing, *unpacking; /* of zstd, made when first needed */
};

/* Appends the block to `out`, packed. */
void packer_pack(struct packer *packer, const void *bytes, size_t len, struct buf *out);

/* Unpacks a block that had `len` bytes, all of which go to `bytes`. False: it is damaged. */
bool packer_unpack(struct packer *packer, const void *packed, size_t packed_len, void *bytes,
		   size_t len);

void packer_free(struct packer *packer);

#endif
