/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/block.h"

#include <zstd.h>

#include "base/util.h"
#include "history/fields.h"

/* Compression level of zstd: while a screen waits, a block in memory is packed once a minute. */
#define LEVEL_FAST 1
#define LEVEL_TIGHT 9

#define ENTRY(member) FIELD(struct record_entry, member)

static const struct field entry_fields[] = {
	ENTRY(real_ns),	  ENTRY(begin_ns),
	ENTRY(waited_ns), ENTRY(interval_ns),
	ENTRY(tasks),	  ENTRY(key),
	ENTRY(threads),	  ENTRY(dropped),
	ENTRY(found),	  FIELD_EACH(struct record_entry, stalls, ),
};

static const struct field_table entry_table = { "entry", entry_fields, ARRAY_SIZE(entry_fields) };

double record_entry_pressure(const struct record_entry *entry)
{
	double most = -1;

	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		if (entry->stalls[r] > most)
			most = entry->stalls[r];
	return most;
}

void record_stalls(const struct frame_info *info, double stalls[PSI_RESOURCES])
{
	const struct psi_reading *before = frame_pressure_before(info);

	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		uint64_t us;

		stalls[r] = -1;
		if (psi_grown(before ? &before->psi[r].some : NULL,
			      &frame_pressure(info)->psi[r].some, info->interval_ns, &us))
			stalls[r] = (double)us * 1e5 / (double)info->interval_ns;
	}
}

/* Adds up the time waited in the interval, even if the frame has figures since start. */
static uint64_t waited_in(const struct frame *frame)
{
	struct deltas deltas;
	uint64_t sum = 0;

	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (row->unchanged)
			continue;
		sum += frame->info->since_start
			       ? row_of_interval(frame, row, &deltas).deltas->waited.total
			       : row->deltas->waited.total;
	}
	return sum;
}

struct record_entry record_entry_of(const struct frame *frame, bool key, unsigned found)
{
	const struct frame_info *info = frame->info;
	struct record_entry entry = { .key = key,
				      .found = found,
				      .threads = info->threads,
				      .real_ns = info->real_ns,
				      .begin_ns = info->cur->begin_ns,
				      .interval_ns = info->prev ? info->interval_ns : 0,
				      .tasks = info->cur->n,
				      .waited_ns = info->prev ? waited_in(frame) : 0 };

	record_stalls(info, entry.stalls);
	return entry;
}

void record_entries_put(struct buf *out, const struct record_entry *entries, size_t n)
{
	struct record_entry was = { 0 };

	for (size_t i = 0; i < n; i++) {
		table_put(&entry_table, out, &entries[i], &was);
		was = entries[i];
	}
}

bool record_entries_get(const void *bytes, size_t len, struct record_entry *entries, size_t n)
{
	struct bytes in = { .at = bytes };
	struct record_entry entry = { 0 };

	in.end = in.at + len;
	for (size_t i = 0; i < n; i++) {
		if (!table_get(&entry_table, &in, &entry))
			return false;
		entries[i] = entry;
	}
	return in.at == in.end;
}

void block_add(struct buf *records, const void *bytes, size_t len)
{
	bytes_put(records, len);
	buf_add(records, bytes, len);
}

bool block_find(const void *records, size_t size, unsigned i, const void **bytes, size_t *len)
{
	struct bytes in = { .at = records };

	in.end = in.at + size;
	for (;; i--) {
		uint64_t n = bytes_get(&in);

		if (in.bad || n > (uint64_t)(in.end - in.at))
			return false;
		*bytes = in.at;
		*len = n;
		if (!i)
			return true;
		in.at += n;
	}
}

void packer_pack(struct packer *packer, const void *bytes, size_t len, bool tight, struct buf *out)
{
	size_t bound = ZSTD_compressBound(len), packed;

	if (!packer->packing)
		packer->packing = ZSTD_createCCtx();
	if (!packer->packing)
		die("out of memory");
	ZSTD_CCtx_setParameter(packer->packing, ZSTD_c_compressionLevel,
			       tight ? LEVEL_TIGHT : LEVEL_FAST);
	ZSTD_CCtx_setParameter(packer->packing, ZSTD_c_checksumFlag, 1);
	packed = ZSTD_compress2(packer->packing, buf_reserve(out, bound), bound, bytes, len);
	if (ZSTD_isError(packed))
		die("out of memory");
	out->len += packed;
}

bool packer_unpack(struct packer *packer, const void *bytes, size_t len, size_t size,
		   struct buf *out)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(bytes, len);

	out->len = 0;
	if (claimed != size || size > BLOCK_MOST)
		return false;
	if (!packer->unpacking)
		packer->unpacking = ZSTD_createDCtx();
	if (!packer->unpacking || ZSTD_decompressDCtx(packer->unpacking, buf_reserve(out, size),
						      size, bytes, len) != size)
		return false;
	out->len = size;
	return true;
}

void packer_free(struct packer *packer)
{
	ZSTD_freeCCtx(packer->packing);
	ZSTD_freeDCtx(packer->unpacking);
	*packer = (struct packer){ 0 };
}
