/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Syncs commits of a recording to the disk within a second. SQLite leaves that, for a journal, to
 * the kernel, which may take half a minute.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Syncs one file; zero-initialised: nothing is open. */
struct file_sync {
	bool open, dirty;
	int fd; /* the journal */
	uint64_t synced_ns; /* time of the last sync (CLOCK_MONOTONIC) */
};

/* Opens the journal of a new database, by the database's path. */
void file_sync_open(struct file_sync *sync, const char *path);

/* Reports a commit. */
void file_sync_written(struct file_sync *sync);

/* Syncs commits, if that is due. */
void file_sync_look(struct file_sync *sync);

/* Returns in how many ms a sync is due; -1: none is. */
int file_sync_due_ms(const struct file_sync *sync);

void file_sync_close(struct file_sync *sync);
