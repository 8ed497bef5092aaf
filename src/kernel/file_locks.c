/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/file_locks.h"

#include <fcntl.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/util.h"

/* The most that is read: some 60 bytes a lock. */
#define LOCKS_BYTES (4 * 1024 * 1024)

/* A 32-bit program's, which 64-bit machines have no name for (include/uapi/asm-generic/fcntl.h). */
#define SETLKW64 14

struct file_locks {
	int procfd;
	bool loaded;
	struct buf text;
};

/* A line of /proc/locks. */
struct lock_line {
	uint64_t id; /* the same for a lock and for its waiters */
	bool waits;
	enum file_lock sort;
	pid_t pid; /* -1: it belongs to a descriptor; 0: to a process out of sight */
	uint64_t ino;
};

enum file_lock file_lock_of(const struct procwait_syscall *call)
{
	if (call->number == SCMP_SYS(flock))
		return FILE_LOCK_FLOCK;
	if (call->number != SCMP_SYS(fcntl))
		return FILE_LOCK_NONE;
	switch ((int)call->args[1]) {
	case F_SETLKW:
	case SETLKW64:
		return FILE_LOCK_POSIX;
	case F_OFD_SETLKW:
		return FILE_LOCK_OFD;
	default:
		return FILE_LOCK_NONE;
	}
}

struct file_locks *file_locks_open(int procfd)
{
	struct file_locks *locks = xcalloc(1, sizeof(*locks));

	locks->procfd = procfd;
	return locks;
}

void file_locks_renew(struct file_locks *locks)
{
	locks->loaded = false;
}

/* Takes the next word, after blanks. */
static bool take_lock_word(struct span *line, struct span *word)
{
	while (take_word(line, " "))
		continue;
	return take_part(line, ' ', word) && word->at < word->end;
}

/* Takes a sort of lock; others, as leases, are FILE_LOCK_NONE. */
static enum file_lock sort_of(const struct span *word)
{
	if (is_text(word, "FLOCK"))
		return FILE_LOCK_FLOCK;
	if (is_text(word, "POSIX"))
		return FILE_LOCK_POSIX;
	return is_text(word, "OFDLCK") ? FILE_LOCK_OFD : FILE_LOCK_NONE;
}

/* Takes a line "12: -> FLOCK  ADVISORY  WRITE 4711 fe:00:123 0 EOF". False: another line. */
static bool read_lock_line(struct span line, struct lock_line *lock)
{
	struct span word, part;

	if (!take_uint(&line, &lock->id) || !take_word(&line, ":") || !take_lock_word(&line, &word))
		return false;
	lock->waits = is_text(&word, "->");
	if (lock->waits && !take_lock_word(&line, &word))
		return false;
	lock->sort = sort_of(&word);
	if (!take_lock_word(&line, &word) || !take_lock_word(&line, &word) ||
	    !take_lock_word(&line, &word))
		return false;
	lock->pid = (pid_t)strtol(word.at, NULL, 10);
	/* A lock whose file is gone has "<none>:0". */
	if (!take_lock_word(&line, &word) || !take_part(&word, ':', &part) ||
	    !take_part(&word, ':', &part))
		return false;
	return take_uint(&word, &lock->ino);
}

/* Reads all locks, unless they were. */
static void load(struct file_locks *locks)
{
	if (locks->loaded)
		return;
	locks->loaded = true;
	locks->text.len = 0;
	if (file_read_all(locks->procfd, "locks", &locks->text, LOCKS_BYTES))
		locks->text.len = 0;
}

/* Whether a line tells of the process's wait. */
static bool is_wait_of(const struct lock_line *lock, pid_t tgid, enum file_lock sort, uint64_t ino)
{
	if (!lock->waits || lock->sort != sort || (ino && lock->ino != ino))
		return false;
	return sort == FILE_LOCK_OFD ? ino != 0 : lock->pid == tgid;
}

/* Whether there is such a process. */
static bool has_process(struct file_locks *locks, pid_t pid)
{
	char path[16];

	snprintf(path, sizeof(path), "%d", (int)pid);
	return !faccessat(locks->procfd, path, F_OK, 0);
}

struct file_lock_wait file_locks_find(struct file_locks *locks, pid_t tgid, enum file_lock sort,
				      uint64_t ino)
{
	struct file_lock_wait found = { 0, 0 }, at = { 0, 0 };
	struct span text, line;
	struct lock_line lock;
	bool ours = false;

	load(locks);
	text = (struct span){ locks->text.data, locks->text.data + locks->text.len };
	/* Those that wait for a lock follow it. */
	for (bool more = true; more;) {
		more = locks->text.len && take_line(&text, &line);
		if (more && !read_lock_line(line, &lock))
			continue;
		if (!more || !lock.waits) {
			if (ours)
				found = at;
			ours = false;
			at = (struct file_lock_wait){ more && lock.pid > 0 ? lock.pid : 0, 0 };
			continue;
		}
		at.waiters++;
		ours |= is_wait_of(&lock, tgid, sort, ino);
	}
	if (found.holder && (found.holder == tgid || !has_process(locks, found.holder)))
		found.holder = 0;
	return found;
}

void file_locks_close(struct file_locks *locks)
{
	buf_free(&locks->text);
	free(locks);
}
