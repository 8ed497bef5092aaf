/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/segment_close.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "history/pack.h"
#include "history/segments.h"
#include "history/store_parts.h"

/* The ending of a packed file's name until it is complete. */
#define UNFINISHED ".new"

/* The nice value for packing at leisure. */
#define PACK_NICE 19

/* Opens the folder. The descriptor or -errno. */
static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Gives the packed file the times of the segment: its age counts from the segment's end. */
static void keep_time(int fd, const char *from, const char *to)
{
	struct timespec times[2];
	struct stat stat;

	if (fstatat(fd, from, &stat, AT_SYMLINK_NOFOLLOW))
		return;
	times[0] = stat.st_atim;
	times[1] = stat.st_mtim;
	utimensat(fd, to, times, AT_SYMLINK_NOFOLLOW);
}

/*
 * Reserves a segment among all processes that pack. Returns the descriptor that holds it, or -errno
 * (-EBUSY: another process has it).
 */
static int reserve_segment(int fd, const char *name)
{
	int source = openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat stat;
	int err = 0;

	if (source < 0)
		return -errno;
	/* A file system without such locks does not stop us. */
	if (flock(source, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EBUSY;
	/* Another process has just packed it. */
	else if (!fstat(source, &stat) && !stat.st_nlink)
		err = -ENOENT;
	if (!err)
		return source;
	close(source);
	return err;
}

/* Packs a reserved segment of an open folder. 0 or -errno. */
static int pack_in(int fd, const char *name, bool tight)
{
	struct buf packed = { 0 }, unfinished = { 0 };
	int err;

	buf_printf(&packed, "%s" PACK_SUFFIX, name);
	buf_printf(&unfinished, "%s" PACK_SUFFIX UNFINISHED, name);
	err = pack_file(fd, name, buf_cstr(&unfinished), tight);
	if (!err)
		keep_time(fd, name, buf_cstr(&unfinished));
	if (!err && renameat(fd, buf_cstr(&unfinished), fd, buf_cstr(&packed))) {
		err = -errno;
		unlinkat(fd, buf_cstr(&unfinished), 0);
	}
	/* The new name must be on the disk before the old one is removed. */
	if (!err && !fsync(fd) && unlinkat(fd, name, 0))
		err = -errno;
	buf_free(&packed);
	buf_free(&unfinished);
	return err;
}

int segment_pack(const char *folder, const char *name, bool tight)
{
	int fd = open_folder(folder), reserved, err;

	if (fd < 0)
		return fd;
	err = reserved = reserve_segment(fd, name);
	if (reserved >= 0) {
		err = pack_in(fd, name, tight);
		close(reserved);
	}
	close(fd);
	return err;
}

pid_t segment_pack_beside(const char *folder, const char *name)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpriority(PRIO_PROCESS, 0, PACK_NICE);
	_exit(segment_pack(folder, name, true) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Whether a folder's entry is a segment that is not packed. */
static int choose_unpacked(const struct dirent *entry)
{
	return segment_is_our_name(entry->d_name) && !segment_is_packed(entry->d_name);
}

/* Whether a folder's entry is a packed file that is not complete. */
static int choose_unfinished(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), ending = strlen(UNFINISHED);
	char name[256];

	if (len <= ending || len >= sizeof(name) ||
	    strcmp(entry->d_name + len - ending, UNFINISHED) != 0)
		return 0;
	memcpy(name, entry->d_name, len - ending);
	name[len - ending] = '\0';
	return segment_is_our_name(name);
}

/* Tries to remove a database's journal. False: it stays, as somebody has the database open. */
static bool remove_journal(sqlite3 *db)
{
	sqlite3_stmt *row = NULL;
	const char *mode = NULL;
	bool lost;

	if (!sqlite3_prepare_v2(db, "PRAGMA journal_mode=DELETE", -1, &row, NULL) &&
	    sqlite3_step(row) == SQLITE_ROW)
		mode = (const char *)sqlite3_column_text(row, 0);
	lost = mode && !strcmp(mode, "delete");
	sqlite3_finalize(row);
	return lost;
}

/* Removes a database's journal and unused room. False: they stay. */
static bool close_journal(const char *folder, const char *name)
{
	struct buf path = { 0 };
	sqlite3 *db = NULL;
	bool closed;

	buf_printf(&path, "%s/%s", folder, name);
	closed = !store_open_file(&db, buf_cstr(&path)) && remove_journal(db) &&
		 /* Temporary data stays in memory: only this folder may be written to. */
		 !sqlite3_exec(db, "PRAGMA temp_store=MEMORY; VACUUM", NULL, NULL, NULL);
	sqlite3_close(db);
	buf_free(&path);
	return closed;
}

/* Whether a file with a further ending is beside a file. */
static bool has_beside(int fd, const char *name, const char *ending)
{
	struct buf path = { 0 };
	struct stat stat;
	bool has;

	buf_printf(&path, "%s%s", name, ending);
	has = !fstatat(fd, buf_cstr(&path), &stat, AT_SYMLINK_NOFOLLOW);
	buf_free(&path);
	return has;
}

/* Closes and packs an unpacked segment, unless somebody has it open. */
static void tidy_one(int fd, const char *folder, const char *name)
{
	int reserved;

	if (!segment_is_ours(fd, name))
		return;
	reserved = reserve_segment(fd, name);
	if (reserved < 0)
		return;
	if (close_journal(folder, name) && !has_beside(fd, name, "-wal") &&
	    !has_beside(fd, name, "-journal"))
		pack_in(fd, name, false);
	close(reserved);
}

/* Removes a packed file that is not complete, unless it is being made right now. */
static void remove_unfinished(int fd, const char *unfinished)
{
	struct buf name = { 0 };
	int reserved;

	buf_add(&name, unfinished, strlen(unfinished) - strlen(PACK_SUFFIX UNFINISHED));
	reserved = reserve_segment(fd, buf_cstr(&name));
	if (reserved != -EBUSY)
		unlinkat(fd, unfinished, 0);
	if (reserved >= 0)
		close(reserved);
	buf_free(&name);
}

void segments_tidy(const char *folder, const char *but)
{
	int fd = open_folder(folder), n;
	struct dirent **entries;

	if (fd < 0)
		return;
	n = scandirat(fd, ".", &entries, choose_unfinished, alphasort);
	for (int i = 0; i < n; i++) {
		remove_unfinished(fd, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	n = scandirat(fd, ".", &entries, choose_unpacked, alphasort);
	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i]->d_name, but) != 0)
			tidy_one(fd, folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	close(fd);
}
