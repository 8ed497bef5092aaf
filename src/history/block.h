/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks: consecutive records, packed together by zstd, and what is known of each record without
 * unpacking it. A block is the unit kept in memory and a row of a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/system.h"
#include "frame/frame.h"

/* A block is full with so many records, or bytes. */
#define BLOCK_RECORDS 64
#define BLOCK_BYTES (UINT64_C(256) << 10)

/* Maximum size of an unpacked block; one that claims more is damaged, or malicious. */
#define BLOCK_MOST (UINT64_C(256) << 20)

/* Data of a record that is available without decoding it. */
struct record_entry {
	bool key; /* it is a key record */
	bool threads; /* its rows are threads */
	uint64_t real_ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC, as tasks' starts */
	uint64_t interval_ns; /* 0: there is no interval */
	uint64_t tasks; /* living ones */
	uint64_t waited_ns; /* time waited by all tasks */
	uint64_t dropped; /* samples right before it, lost for want of memory */
	uint64_t found; /* the severity of its worst finding, from 1 on; 0: it has none */
	double stalls[PSI_RESOURCES]; /* shares of stall time ("some") in percent; below 0:
				       * unknown */
};

/* The highest share of stall time; below 0: none is known. */
double record_entry_pressure(const struct record_entry *entry);

/* Computes each resource's share of stall time in an interval, in percent; below 0: unknown. */
void record_stalls(const struct frame_info *info, double stalls[PSI_RESOURCES]);

/* The entry of a frame's record; key: whether it is a key record. found: see record_entry. */
struct record_entry record_entry_of(const struct frame *frame, bool key, unsigned found);

/* Append entries to bytes, and parse n of them; entries must have room. False: malformed. */
void record_entries_put(struct buf *out, const struct record_entry *entries, size_t n);
bool record_entries_get(const void *bytes, size_t len, struct record_entry *entries, size_t n);

/* Appends a record to an unpacked block. */
void block_add(struct buf *records, const void *bytes, size_t len);

/* Finds the i-th record of an unpacked block. False: malformed. */
bool block_find(const void *records, size_t size, unsigned i, const void **bytes, size_t *len);

/* Packs and unpacks; zero-initialised. */
struct packer {
	void *packing, *unpacking; /* contexts of zstd, made when first needed */
};

/* Packs bytes and appends them to `out`; tight: smaller, but slower. */
void packer_pack(struct packer *packer, const void *bytes, size_t len, bool tight, struct buf *out);

/* Unpacks bytes that were `size` into `out`, replacing its contents. False: they are damaged. */
bool packer_unpack(struct packer *packer, const void *bytes, size_t len, size_t size,
		   struct buf *out);

void packer_free(struct packer *packer);
