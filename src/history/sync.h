/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has what is committed to a recording reach the disk within a second: SQLite leaves that, of the
 * journal of a file, to the kernel, which may take half a minute.
 */
#ifndef STALLTOP_HISTORY_SYNC_H
#define STALLTOP_HISTORY_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: nothing is open. */
struct file_sync {
	bool open, dirty;
	int fd; /* of the journal */
	uint64_t synced_ns; /* CLOCK_MONOTONIC */
};

/* Begins for a database of that path, which is new and has its journal. */
void file_sync_open(struct file_sync *sync, const char *path);

/* Says that something was committed. */
void file_sync_written(struct file_sync *sync);

/* Brings what is committed to the disk, if that is due. */
void file_sync_look(struct file_sync *sync);

/* In how many ms that is; -1: never. */
int file_sync_due_ms(const struct file_sync *sync);

void file_sync_close(struct file_sync *sync);

#endif
