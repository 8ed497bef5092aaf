/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks: consecutive records, packed together by zstd, and what is known of each record without
 * unpacking it. A block is what memory keeps and what is a row of a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/system.h"
#include "frame/frame.h"

/* A block is full when it has so many records, or bytes. */
#define BLOCK_RECORDS 64
#define BLOCK_BYTES (UINT64_C(256) << 10)

/* The most bytes that a block unpacks to; one that claims more is damaged, or a trap. */
#define BLOCK_MOST (UINT64_C(256) << 20)

/* What is known of a record without reading it. */
struct record_entry {
	bool key; /* it is a key record */
	bool threads; /* its rows are threads */
	uint64_t real_ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC, as tasks' starts */
	uint64_t interval_ns; /* 0: there is no interval */
	uint64_t tasks; /* that live */
	uint64_t waited_ns; /* what all tasks waited */
	uint64_t dropped; /* samples right before it that were lost for want of memory */
	uint64_t found; /* the severity of its worst finding, from 1 on; 0: it has none */
	double stalls[PSI_RESOURCES]; /* shares of stalls ("some") in percent; below 0: not known */
};

/* The highest of the shares of stalls; below 0: none is known. */
double record_entry_pressure(const struct record_entry *entry);

/* Computes each resource's share of stalls in an interval, in percent; below 0: not known. */
void record_stalls(const struct frame_info *info, double stalls[PSI_RESOURCES]);

/* The entry of a frame's record, which is a key record or not. found: see record_entry. */
struct record_entry record_entry_of(const struct frame *frame, bool key, unsigned found);

/* Append entries to bytes, and take n of them; entries must have room. False: they are bad. */
void record_entries_put(struct buf *out, const struct record_entry *entries, size_t n);
bool record_entries_get(const void *bytes, size_t len, struct record_entry *entries, size_t n);

/* Appends a record to those of a block that is not packed. */
void block_add(struct buf *records, const void *bytes, size_t len);

/* Finds the i-th record of a block that is not packed. False: the bytes are bad. */
bool block_find(const void *records, size_t size, unsigned i, const void **bytes, size_t *len);

/* Packs and unpacks; zero-initialised. */
struct packer {
	void *packing, *unpacking; /* contexts of zstd, made when first needed */
};

/* Packs bytes and appends them to `out`; tight: they get smaller, and it takes longer. */
void packer_pack(struct packer *packer, const void *bytes, size_t len, bool tight, struct buf *out);

/* Unpacks bytes that were `size` into `out`, in place of what it has. False: they are damaged. */
bool packer_unpack(struct packer *packer, const void *bytes, size_t len, size_t size,
		   struct buf *out);

void packer_free(struct packer *packer);
