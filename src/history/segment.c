/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "history/record.h"
#include "history/record_file.h"
#include "history/segments.h"

/* Maximum size of a file without a commit. */
#define BLANK_MOST 8192

struct segment *segments_add(struct segment_list *segments)
{
	struct segment *segment = xcalloc(1, sizeof(*segment));

	segments->list = xreallocarray(segments->list, segments->n + 1, sizeof(struct segment *));
	segments->list[segments->n++] = segment;
	segment->id = ++segments->made;
	return segment;
}

/* True if a folder's entry is a segment. */
static int choose_segment(const struct dirent *entry)
{
	return segment_is_name(entry->d_name);
}

/* Orders by name, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * True if a file is empty: a power failure interrupted its creation, or it is being created now.
 * The other segments of its folder can still be read.
 */
static bool is_empty_file(const char *path)
{
	struct record_file *file;
	struct stat stat_of;
	int err;

	if (stat(path, &stat_of) || stat_of.st_size > BLANK_MOST)
		return false;
	err = record_file_open(&file, path);
	if (!err)
		record_file_close(file);
	return err == -EBADMSG;
}

int segments_list(struct segment_list *segments, const char *path)
{
	struct dirent **entries;
	struct stat stat_of;
	int n;

	if (stat(path, &stat_of))
		return -errno;
	if (!S_ISDIR(stat_of.st_mode)) {
		segments_add(segments)->path = xstrdup(path);
		return 0;
	}
	n = scandir(path, &entries, choose_segment, by_name);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		struct buf name = { 0 };

		buf_printf(&name, "%s/%s", path, entries[i]->d_name);
		if (!is_empty_file(buf_cstr(&name)))
			segments_add(segments)->path = xstrdup(buf_cstr(&name));
		buf_free(&name);
		free(entries[i]);
	}
	free(entries);
	return segments->n ? 0 : n ? -ENODATA : -ENOENT;
}

bool segments_before(const struct segment_list *segments, size_t at, uint64_t real_ns)
{
	const char *next = at + 1 < segments->n ? segments->list[at + 1]->path : NULL;
	uint64_t named_ns = next ? segment_time(next) : 0;

	return named_ns && named_ns + NSEC_PER_SEC <= real_ns;
}

void segments_remove(struct segment_list *segments, size_t at)
{
	struct segment *segment = segments->list[at];

	segment_shut(segment);
	for (size_t i = 0; i < segment->nblocks; i++)
		buf_free(&segment->blocks[i].bytes);
	free(segment->blocks);
	free(segment->entries);
	free(segment->path);
	free(segment);
	segments->n--;
	memmove(segments->list + at, segments->list + at + 1,
		(segments->n - at) * sizeof(struct segment *));
}

void segments_free(struct segment_list *segments)
{
	while (segments->n)
		segments_remove(segments, segments->n - 1);
	free(segments->list);
	*segments = (struct segment_list){ 0 };
}

/* Adds an entry. */
static void add_record_entry(void *arg, const struct record_entry *entry)
{
	struct segment *segment = arg;

	segment->threads = entry->threads;
	GROW(segment->entries, segment->n, segment->cap);
	segment->entries[segment->n++] = *entry;
}

/* The growing block; NULL: there is none. */
static struct record_block *open_block(struct segment *segment)
{
	struct record_block *last =
		segment->nblocks ? &segment->blocks[segment->nblocks - 1] : NULL;

	return last && !last->size ? last : NULL;
}

void segment_end(struct segment *segment, struct packer *packer)
{
	struct record_block *block = open_block(segment);
	struct buf packed = { 0 };

	if (!block || !block->bytes.len)
		return;
	packer_pack(packer, block->bytes.data, block->bytes.len, false, &packed);
	segment->bytes -= block->bytes.cap;
	block->size = block->bytes.len;
	buf_free(&block->bytes);
	/* No room is left after them: they stay for long. */
	buf_add(&block->bytes, packed.data, packed.len);
	buf_free(&packed);
	segment->bytes += block->bytes.cap;
}

void segment_add(struct segment *segment, struct packer *packer, const struct record_entry *entry,
		 const void *bytes, size_t len)
{
	struct record_block *block = open_block(segment);
	size_t before;

	if (!block) {
		GROW(segment->blocks, segment->nblocks, segment->blocks_cap);
		block = &segment->blocks[segment->nblocks++];
		*block = (struct record_block){ .first = segment->n };
		segment->bytes += sizeof(*block);
	}
	before = block->bytes.cap;
	block_add(&block->bytes, bytes, len);
	segment->bytes += block->bytes.cap - before;
	add_record_entry(segment, entry);
	if (segment->n - block->first == BLOCK_RECORDS || block->bytes.len >= BLOCK_BYTES)
		segment_end(segment, packer);
}

/* Opens the file of a segment, if it has one. 0 or -errno. */
static int open_segment_file(struct segment *segment)
{
	return segment->file || !segment->path ? 0
					       : record_file_open(&segment->file, segment->path);
}

int segment_list(struct segment *segment)
{
	int err = open_segment_file(segment);

	if (err || !segment->file)
		return err;
	segment->listed = true;
	return record_file_list(segment->file, segment->n + 1, add_record_entry, segment);
}

void segment_shut(struct segment *segment)
{
	record_file_close(segment->file);
	segment->file = NULL;
}

void segment_forget(struct segment *segment)
{
	segment_shut(segment);
	free(segment->entries);
	segment->entries = NULL;
	segment->n = segment->cap = 0;
	segment->listed = false;
}

/* Unpacks the block with a record of a segment in memory. 0 or -errno. */
static int unpack(struct segment_reader *reader, const struct segment *segment, size_t at)
{
	const struct record_block *block;
	size_t i;

	LOWER_BOUND(i, segment->nblocks, segment->blocks[i].first <= at);
	block = &segment->blocks[i - 1];
	reader->first = block->first;
	reader->records.len = 0;
	if (!block->size)
		buf_add(&reader->records, block->bytes.data, block->bytes.len);
	else if (!packer_unpack(&reader->packer, block->bytes.data, block->bytes.len, block->size,
				&reader->records))
		die("the memory of samples is damaged");
	return 0;
}

/* True if the last unpacked block contains a record. */
static bool block_has_record(const struct segment_reader *reader, const struct segment *segment,
			     size_t at, const void **bytes, size_t *len)
{
	return reader->of == segment->id && at >= reader->first &&
	       at - reader->first < BLOCK_RECORDS &&
	       block_find(reader->records.data, reader->records.len, (unsigned)(at - reader->first),
			  bytes, len);
}

int segment_bytes(struct segment_reader *reader, struct segment *segment, size_t at,
		  const void **bytes, size_t *len)
{
	uint64_t first = 0;
	int err = 0;

	if (block_has_record(reader, segment, at, bytes, len))
		return 0;
	reader->of = 0;
	if (!segment->path) {
		err = unpack(reader, segment, at);
	} else {
		err = open_segment_file(segment);
		if (!err)
			err = record_file_read(segment->file, at + 1, &reader->packer,
					       &reader->records, &first);
		reader->first = (size_t)first - 1;
	}
	if (err)
		return err;
	reader->of = segment->id;
	return block_has_record(reader, segment, at, bytes, len) ? 0 : -EBADMSG;
}

int segment_read(struct segment_reader *reader, struct segment *segment, size_t at)
{
	const void *bytes;
	size_t len;
	int err = segment_bytes(reader, segment, at, &bytes, &len);

	if (!reader->state)
		reader->state = record_open();
	if (!err && !record_is_key(bytes, len) &&
	    (reader->segment != segment->id || reader->next != at))
		err = -EBADMSG;
	if (!err)
		err = record_decode(reader->state, bytes, len, reader->bare);
	if (!err)
		record_after_gap(reader->state, !segment->entries[at].interval_ns,
				 segment->entries[at].dropped);
	reader->segment = err ? 0 : segment->id;
	reader->next = at + 1;
	return err;
}

int segment_go(struct segment_reader *reader, struct segment *segment, size_t at)
{
	size_t from = at;
	int err = 0;

	while (from && !segment->entries[from].key)
		from--;
	/* The last record read may lead there, too. */
	if (reader->segment == segment->id && reader->next > from && reader->next <= at)
		from = reader->next;
	for (; from <= at && !err; from++) {
		if (reader->state)
			record_pass(reader->state);
		err = segment_read(reader, segment, from);
	}
	return err;
}

void segment_reader_reset(struct segment_reader *reader)
{
	record_close(reader->state);
	reader->state = NULL;
	reader->segment = 0;
}

void segment_reader_free(struct segment_reader *reader)
{
	segment_reader_reset(reader);
	packer_free(&reader->packer);
	buf_free(&reader->records);
	reader->of = 0;
}
