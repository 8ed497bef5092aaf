/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/sync.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

/* Minimum time between two syncs. */
#define SYNC_NS (900 * NSEC_PER_MSEC)

/* Syncs the entries of a file's folder to the disk. */
static void sync_folder(const char *path)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');
	int fd;

	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

void file_sync_open(struct file_sync *sync, const char *path)
{
	struct buf journal = { 0 };

	/*
	 * SQLite locks the database and the journal's index, never the journal, so closing this
	 * drops no lock.
	 */
	buf_printf(&journal, "%s-wal", path);
	sync->fd = open(buf_cstr(&journal), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	sync->open = sync->fd >= 0;
	buf_free(&journal);
	file_sync_written(sync);
	if (sync->open)
		sync_folder(path);
}

void file_sync_written(struct file_sync *sync)
{
	sync->dirty = sync->open;
	file_sync_look(sync);
}

void file_sync_look(struct file_sync *sync)
{
	if (file_sync_due_ms(sync) != 0)
		return;
	/* A disk fault is not lost: SQLite encounters it, too, and reports it. */
	(void)!fdatasync(sync->fd);
	sync->dirty = false;
	sync->synced_ns = clock_ns(CLOCK_MONOTONIC);
}

int file_sync_due_ms(const struct file_sync *sync)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - sync->synced_ns;

	if (!sync->dirty)
		return -1;
	return since_ns >= SYNC_NS ? 0 : (int)((SYNC_NS - since_ns) / NSEC_PER_MSEC) + 1;
}

void file_sync_close(struct file_sync *sync)
{
	if (sync->open)
		close(sync->fd);
	*sync = (struct file_sync){ 0 };
}
