/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments: consecutive records, the first a key record, in memory or in a file. And their reader,
 * which makes samples.
 */
#pragma once

#include "frame/playback.h"
#include "history/block.h"

struct record_file;
struct record_state;

/* A block in memory. */
struct record_block {
	uint64_t first; /* the index of its first record */
	size_t size; /* size of its unpacked records; 0: they are not packed */
	struct buf bytes;
};

struct segment {
	uint64_t id; /* unique among all segments of its list */
	bool left_out; /* its file is unreadable */
	bool early; /* it was recorded before the selected part, */
	size_t early_to; /* or this number of its records were */
	char *path; /* the file; NULL: the records are in memory */
	struct record_file *file; /* while it is open */
	struct record_block *blocks; /* in memory; the last one is unpacked while it grows */
	size_t nblocks, blocks_cap;
	size_t bytes; /* of the blocks */
	bool listed; /* the entries were read */
	bool threads; /* rows are threads */
	bool torn; /* its preceding records were removed */
	unsigned pins; /* number of users; it is kept while there are any */
	struct record_entry *entries; /* of its records */
	size_t n, cap;
};

/* Segments in the order of time. Zero-initialised: empty. */
struct segment_list {
	struct segment **list;
	size_t n;
	uint64_t made; /* number of segments ever added */
};

/* Adds an empty segment at the end. */
struct segment *segments_add(struct segment_list *segments);

/*
 * Lists a file, or the non-empty files of a folder. 0 or -errno (-ENOENT also for an empty folder,
 * -ENODATA: all its files are empty).
 */
int segments_list(struct segment_list *segments, const char *path);

/*
 * True if a segment ended before a time (CLOCK_REALTIME), by the name of the next file: that is of
 * the second in which that file begins, or later. False for other names.
 */
bool segments_before(const struct segment_list *segments, size_t at, uint64_t real_ns);

/* Removes and frees a segment, or all. */
void segments_remove(struct segment_list *segments, size_t at);
void segments_free(struct segment_list *segments);

/* Adds a record to a segment in memory, whose blocks a packer packs. */
void segment_add(struct segment *segment, struct packer *packer, const struct record_entry *entry,
		 const void *bytes, size_t len);

/* Packs the last block: no more records follow. */
void segment_end(struct segment *segment, struct packer *packer);

/* Reads the entries of a file, and those added since. 0 or -errno. */
int segment_list(struct segment *segment);

/* Closes the file; the entries stay, or are dropped, too. */
void segment_shut(struct segment *segment);
void segment_forget(struct segment *segment);

/* Reads consecutive records of segments of one list. Zero-initialised. */
struct segment_reader {
	bool bare; /* only data of samples as a whole is read */
	struct record_state *state; /* the last one read; NULL: none */
	uint64_t segment; /* its id; 0: reading cannot continue from there */
	size_t next; /* the index of the record after that one */
	/* The last unpacked block. */
	struct packer packer;
	struct buf records;
	uint64_t of; /* its segment's id; 0: there is none */
	size_t first;
};

/* Finds the bytes of a record, valid until the next call. 0 or -errno. */
int segment_bytes(struct segment_reader *reader, struct segment *segment, size_t at,
		  const void **bytes, size_t *len);

/* Reads the record at a position, a key record, or the successor of the last one. 0 or -errno. */
int segment_read(struct segment_reader *reader, struct segment *segment, size_t at);

/*
 * Reads up to the record at a position, from the last key record that it depends on; earlier
 * records are not returned. 0 or -errno.
 */
int segment_go(struct segment_reader *reader, struct segment *segment, size_t at);

/* Resets the reader: the next record is read as the first. */
void segment_reader_reset(struct segment_reader *reader);

void segment_reader_free(struct segment_reader *reader);
