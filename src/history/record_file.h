/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of records: an SQLite database with one table of blocks. Each record is committed as a row
 * of its own; when there are enough for a block, the block replaces their rows. Files may come from
 * anywhere and contain anything: those with another schema are refused.
 */
#pragma once

#include "history/block.h"

/* "STAL", in the head of the file (pragma application_id). */
#define RECORD_FILE_ID 0x5354414c

struct record_file;

/*
 * Creates a file, which must not exist, readable by its owner only; program: the version of
 * stalltop. 0 or -errno. After an error there is no file.
 */
int record_file_create(struct record_file **out, const char *path, const char *program);

/* Adds a record. 0 or -errno: then the file is unchanged. */
int record_file_put(struct record_file *file, const struct record_entry *entry, const void *bytes,
		    size_t len);

/* The size of the file, without its journal. */
uint64_t record_file_bytes(const struct record_file *file);

/* True if the file still exists under its name. */
bool record_file_is_there(const struct record_file *file);

/*
 * Opens a file for reading. 0 or -errno (-EBADMSG: no recording, or a damaged one; -EPROTO: a
 * version with other fields; -EINTR: a signal will end the program).
 */
int record_file_open(struct record_file **out, const char *path);

/*
 * Adds the entries from a record on, which is n + 1 if n were read before. Stops at the first row
 * that is missing or malformed. 0 or -errno.
 */
int record_file_list(struct record_file *file, uint64_t from,
		     void (*add)(void *arg, const struct record_entry *entry), void *arg);

/*
 * Reads the block that contains a record, unpacked; *first: its first record. 0 or -errno
 * (-ENODATA: no such record).
 */
int record_file_read(struct record_file *file, uint64_t number, struct packer *packer,
		     struct buf *records, uint64_t *first);

/* Removes the journal of a killed writer's file, unless the file is open elsewhere. */
void record_file_tidy(const char *path);

/* Removes a file of a folder, or by its path (AT_FDCWD), with its journal. */
void record_file_remove(int folder, const char *path);

/* Closes a file; a created one loses its journal. NULL is allowed. */
void record_file_close(struct record_file *file);
