/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef ZSTD_BUILT
#include <zstd.h>
#endif

#include "base/util.h"

/* The first bytes of a packed file (RFC 8878). */
static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

bool pack_is_packed(int fd)
{
	unsigned char head[sizeof(magic)];

	return pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	       !memcmp(head, magic, sizeof(magic));
}

#ifdef ZSTD_BUILT

/* A closed segment is packed once and read often; a block is packed at each sample. */
#define FILE_LEVEL 9
#define BLOCK_LEVEL 1

bool pack_is_built(void)
{
	return true;
}

/* Reads until the buffer is full or the file ends. Returns the bytes read, or -errno. */
static ssize_t read_some(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, bytes, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Buffers for input and output. */
struct pipes {
	char *in, *out;
	size_t in_size, out_size;
};

static struct pipes make_pipes(size_t in_size, size_t out_size)
{
	return (struct pipes){ xcalloc(in_size, 1), xcalloc(out_size, 1), in_size, out_size };
}

static void free_pipes(struct pipes *pipes)
{
	free(pipes->in);
	free(pipes->out);
}

/* Packs all of one file into another. 0 or -errno. */
static int pack_all(ZSTD_CCtx *packing, int from, int to)
{
	struct pipes pipes = make_pipes(ZSTD_CStreamInSize(), ZSTD_CStreamOutSize());
	bool ended = false;
	int err = 0;

	while (!err && !ended) {
		ssize_t n = read_some(from, pipes.in, pipes.in_size);
		ZSTD_inBuffer in = { pipes.in, n > 0 ? (size_t)n : 0, 0 };
		bool done = false;

		err = n < 0 ? (int)n : 0;
		ended = !n;
		while (!err && !done) {
			ZSTD_outBuffer out = { pipes.out, pipes.out_size, 0 };
			size_t left = ZSTD_compressStream2(packing, &out, &in,
							   ended ? ZSTD_e_end : ZSTD_e_continue);

			err = ZSTD_isError(left) ? -ENOMEM : write_all(to, pipes.out, out.pos);
			done = ended ? !left : in.pos == in.size;
		}
	}
	free_pipes(&pipes);
	return err;
}

/*
 * Sets parameters to pack a file fast, or tightly. What repeats in a recording is short and near,
 * so short matches and a deep search help; a large window would only take much memory.
 */
static void set_effort(ZSTD_CCtx *packing, bool tight)
{
	ZSTD_CCtx_setParameter(packing, ZSTD_c_compressionLevel, FILE_LEVEL);
	if (!tight)
		return;
	ZSTD_CCtx_setParameter(packing, ZSTD_c_strategy, ZSTD_btultra);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_windowLog, 20);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_chainLog, 18);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_hashLog, 18);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_searchLog, 5);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_minMatch, 3);
	ZSTD_CCtx_setParameter(packing, ZSTD_c_targetLength, 128);
}

int pack_file(int folder, const char *from, const char *to, bool tight)
{
	int source = openat(folder, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int target, err = source < 0 ? -errno : 0;
	ZSTD_CCtx *packing;
	struct stat stat;

	if (!err && fstat(source, &stat))
		err = -errno;
	if (!err && (uint64_t)stat.st_size > PACK_FILE_MAX)
		err = -EFBIG;
	if (err) {
		if (source >= 0)
			close(source);
		return err;
	}
	unlinkat(folder, to, 0);
	target = openat(folder, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	err = target < 0 ? -errno : 0;
	packing = ZSTD_createCCtx();
	if (!err && !packing)
		err = -ENOMEM;
	if (!err) {
		set_effort(packing, tight);
		ZSTD_CCtx_setParameter(packing, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setPledgedSrcSize(packing, (unsigned long long)stat.st_size);
		err = pack_all(packing, source, target);
	}
	ZSTD_freeCCtx(packing);
	if (!err && fsync(target))
		err = -errno;
	if (target >= 0)
		close(target);
	close(source);
	if (err)
		unlinkat(folder, to, 0);
	return err;
}

/*
 * Computes the most bytes that a packed recording can unpack to; only files of nearly all zeros
 * exceed it.
 */
static uint64_t most_of(int from)
{
	struct stat stat;
	uint64_t most = PACK_FILE_LEAST;

	if (!fstat(from, &stat) && stat.st_size > 0)
		most += (uint64_t)stat.st_size * PACK_FILE_RATIO;
	return most < PACK_FILE_MAX ? most : PACK_FILE_MAX;
}

/* Whether a packed file says in its first bytes that it unpacks to more than `most`. */
static bool claims_more(const void *bytes, size_t n, uint64_t most)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(bytes, n);

	return claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR &&
	       claimed > most;
}

/* Unpacks all of one file into another. 0 or -errno. */
static int unpack_all(ZSTD_DCtx *unpacking, int from, int to)
{
	struct pipes pipes = make_pipes(ZSTD_DStreamInSize(), ZSTD_DStreamOutSize());
	size_t left = 1;
	uint64_t bytes = 0, most = most_of(from);
	off_t at = 0;
	int err = 0;

	for (;;) {
		ssize_t n = pread(from, pipes.in, pipes.in_size, at);
		ZSTD_inBuffer in = { pipes.in, n > 0 ? (size_t)n : 0, 0 };

		err = n < 0 ? -errno : 0;
		if (n <= 0)
			break;
		if (!at && claims_more(pipes.in, (size_t)n, most))
			err = -EBADMSG;
		at += n;
		while (!err && in.pos < in.size) {
			ZSTD_outBuffer out = { pipes.out, pipes.out_size, 0 };

			left = ZSTD_decompressStream(unpacking, &out, &in);
			bytes += out.pos;
			if (ZSTD_isError(left) || bytes > most)
				err = -EBADMSG;
			else
				err = write_all(to, pipes.out, out.pos);
		}
		if (err)
			break;
	}
	free_pipes(&pipes);
	/* A file that ends in the middle of a frame was cut off. */
	return err ? err : left ? -EBADMSG : 0;
}

int pack_map(int fd, void **bytes, size_t *len)
{
	int memory = memfd_create("stalltop-segment", MFD_CLOEXEC);
	int err = memory < 0 ? -errno : 0;
	ZSTD_DCtx *unpacking;
	struct stat stat;
	void *map;

	if (err)
		return err;
	unpacking = ZSTD_createDCtx();
	err = unpacking ? unpack_all(unpacking, fd, memory) : -ENOMEM;
	ZSTD_freeDCtx(unpacking);
	if (!err && fstat(memory, &stat))
		err = -errno;
	if (!err && !stat.st_size)
		err = -EBADMSG;
	if (!err) {
		map = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory,
			   0);
		err = map == MAP_FAILED ? -errno : 0;
	}
	if (!err) {
		*bytes = map;
		*len = (size_t)stat.st_size;
	}
	close(memory);
	return err;
}

void packer_pack(struct packer *packer, const void *bytes, size_t len, struct buf *out)
{
	size_t bound = ZSTD_compressBound(len), packed;

	if (!packer->packing)
		packer->packing = ZSTD_createCCtx();
	if (!packer->packing)
		die("out of memory");
	packed = ZSTD_compressCCtx(packer->packing, buf_reserve(out, bound), bound, bytes, len,
				   BLOCK_LEVEL);
	if (ZSTD_isError(packed))
		die("out of memory");
	out->len += packed;
}

bool packer_unpack(struct packer *packer, const void *packed, size_t packed_len, void *bytes,
		   size_t len)
{
	if (!packer->unpacking)
		packer->unpacking = ZSTD_createDCtx();
	return packer->unpacking &&
	       ZSTD_decompressDCtx(packer->unpacking, bytes, len, packed, packed_len) == len;
}

void packer_free(struct packer *packer)
{
	ZSTD_freeCCtx(packer->packing);
	ZSTD_freeDCtx(packer->unpacking);
	*packer = (struct packer){ 0 };
}

#else

bool pack_is_built(void)
{
	return false;
}

int pack_file(UNUSED int folder, UNUSED const char *from, UNUSED const char *to, UNUSED bool tight)
{
	return -EOPNOTSUPP;
}

int pack_map(UNUSED int fd, UNUSED void **bytes, UNUSED size_t *len)
{
	return -EOPNOTSUPP;
}

void packer_pack(UNUSED struct packer *packer, const void *bytes, size_t len, struct buf *out)
{
	buf_add(out, bytes, len);
}

bool packer_unpack(UNUSED struct packer *packer, const void *packed, size_t packed_len, void *bytes,
		   size_t len)
{
	if (packed_len != len)
		return false;
	memcpy(bytes, packed, len);
	return true;
}

void packer_free(struct packer *packer)
{
	*packer = (struct packer){ 0 };
}

#endif
