/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Brings what is committed to a recording to the disk within a second. SQLite leaves that, for a
 * journal, to the kernel, which may take half a minute.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Syncs one file; zero-initialised: nothing is open. */
struct file_sync {
	bool open, dirty;
	int fd; /* the journal */
	uint64_t synced_ns; /* when it was synced last (CLOCK_MONOTONIC) */
};

/* Opens the journal of a new database, by the database's path. */
void file_sync_open(struct file_sync *sync, const char *path);

/* Says that something was committed. */
void file_sync_written(struct file_sync *sync);

/* Syncs what was committed, if that is due. */
void file_sync_look(struct file_sync *sync);

/* Returns in how many ms a sync is due; -1: nothing is to be synced. */
int file_sync_due_ms(const struct file_sync *sync);

void file_sync_close(struct file_sync *sync);
