/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments: consecutive records, the first a key record, in memory or in a file. And the reader
 * that makes samples of them.
 */
#pragma once

#include "frame/playback.h"
#include "history/block.h"

struct record_file;
struct record_state;

/* A block in memory. */
struct record_block {
	uint64_t first; /* the index of its first record */
	size_t size; /* of its records unpacked; 0: they are not packed */
	struct buf bytes;
};

struct segment {
	uint64_t id; /* no other segment of its list has, or ever had it */
	bool left_out; /* its file cannot be read */
	bool early; /* it was recorded before the part that is to be shown, */
	size_t early_to; /* or so many of its records were */
	char *path; /* the file; NULL: the records are in memory */
	struct record_file *file; /* while it is open */
	struct record_block *blocks; /* in memory; the last one is not packed while it grows */
	size_t nblocks, blocks_cap;
	size_t bytes; /* that the blocks take */
	bool listed; /* the entries were read */
	bool threads; /* rows are threads */
	bool torn; /* the records right before it were removed */
	unsigned pins; /* how many users look at it; it stays while there are any */
	struct record_entry *entries; /* of its records */
	size_t n, cap;
};

/* Segments in the order of time. Zero-initialised: empty. */
struct segment_list {
	struct segment **list;
	size_t n;
	uint64_t made; /* so many were ever in it */
};

/* Adds an empty segment at the end. */
struct segment *segments_add(struct segment_list *segments);

/* Lists a file, or the files of a folder that are not empty. 0 or -errno (-ENOENT also for an empty
 * folder, -ENODATA: all its files are empty). */
int segments_list(struct segment_list *segments, const char *path);

/*
 * Whether a segment ended before a time (CLOCK_REALTIME), by the name of the file after it: that is
 * of the second in which that file begins, or a later one. False where it has no name of ours.
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

/* Reads the entries of a file, and those that came since they were read. 0 or -errno. */
int segment_list(struct segment *segment);

/* Closes the file; the entries stay, or are forgotten, too. */
void segment_shut(struct segment *segment);
void segment_forget(struct segment *segment);

/* Reads records of segments of one list, one after the other. Zero-initialised. */
struct segment_reader {
	bool bare; /* only what belongs to samples as a whole is read */
	struct record_state *state; /* of what was read last; NULL: nothing */
	uint64_t segment; /* its id; 0: it cannot be read on from there */
	size_t next; /* the index of the record after that one */
	/* The block that was unpacked last. */
	struct packer packer;
	struct buf records;
	uint64_t of; /* its segment's id; 0: there is none */
	size_t first;
};

/* Finds the bytes of a record, valid until the next call. 0 or -errno. */
int segment_bytes(struct segment_reader *reader, struct segment *segment, size_t at,
		  const void **bytes, size_t *len);

/* Reads the record at a place, which is a key record, or follows the one read last. 0 or -errno. */
int segment_read(struct segment_reader *reader, struct segment *segment, size_t at);

/*
 * Reads up to the record at a place, from the last key record on that it builds on; nothing of the
 * records before it is given out. 0 or -errno.
 */
int segment_go(struct segment_reader *reader, struct segment *segment, size_t at);

/* Forgets what was read: the next record is read as if it were the first. */
void segment_reader_reset(struct segment_reader *reader);

void segment_reader_free(struct segment_reader *reader);
