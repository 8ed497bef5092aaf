/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/delayacct_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/delayacct.h"

/* What the file says: it was off. Else it is empty. */
#define WAS_OFF '0'

/*
 * Locks the whole file, or changes or lifts the lock, at one go: F_RDLCK, F_WRLCK, F_UNLCK. 0 or
 * -errno: -EAGAIN where another holds one and it is not to wait.
 */
static int lock_file(int fd, short type, bool wait)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) ? -errno : 0;
}

/* Whether the file says that accounting was off. */
static bool says_off(int fd)
{
	char state;

	return file_pread(fd, &state, 1) == 1 && state == WAS_OFF;
}

/* Has the file say that accounting was off, or nothing. */
static void say_off(int fd, bool off)
{
	static const char text[] = { WAS_OFF, '\n' };
	bool done = off ? pwrite(fd, text, sizeof(text), 0) == sizeof(text) : !ftruncate(fd, 0);

	/* Then it is put back without knowing of others, and the next one cannot tell. */
	(void)done;
}

/* The state of the switch now. */
static enum delayacct_state state_now(int procfd)
{
	struct delayacct acct;

	delayacct_open(&acct, procfd, 0);
	delayacct_close(&acct);
	return acct.state;
}

/*
 * Opens the file and locks it: for us alone (`alone`) where nobody runs with it, else with the
 * others. The descriptor, or -1 where it cannot be had.
 */
static int open_locked(const char *path, bool *alone)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	int err = fd < 0 ? -errno : lock_file(fd, F_WRLCK, false);

	*alone = !err;
	/* Who locks it for himself alone does so for a moment. */
	if (err == -EAGAIN || err == -EACCES)
		err = fd < 0 ? err : lock_file(fd, F_RDLCK, true);
	if (!err)
		return fd;
	debug_log("%s: error %d, others that switch delay accounting are not known", path, err);
	file_close(fd);
	return -1;
}

int delayacct_enable(struct delayacct_switch *switched, int procfd, const char *path)
{
	struct delayacct_switch ours = { .procfd = procfd };
	bool alone, off, was_off;
	int err = 0;

	ours.file = open_locked(path, &alone);
	was_off = ours.file >= 0 && says_off(ours.file);
	off = state_now(procfd) != DELAYACCT_ON;
	if (off) {
		/* In this order a kill in between leaves nothing on that nobody knows of. */
		if (ours.file >= 0)
			say_off(ours.file, true);
		err = delayacct_set(procfd, true);
		ours.at_ns = clock_ns(CLOCK_MONOTONIC);
		if (err && alone)
			say_off(ours.file, false);
	}
	if (err || (!off && !was_off)) {
		file_close(ours.file);
		return err;
	}
	if (alone)
		lock_file(ours.file, F_RDLCK, false);
	*switched = ours;
	return 0;
}

/* Switches accounting off where it is on. 0 or -errno. */
static int switch_off(int procfd)
{
	int fd = file_open(procfd, DELAYACCT_SYSCTL, O_RDWR), err = 0;
	char state;

	if (fd < 0)
		return fd;
	/* Somebody else may have switched it off, and on purpose. */
	if (file_pread(fd, &state, 1) == 1 && state == '1' && pwrite(fd, "0", 1, 0) != 1)
		err = -errno;
	close(fd);
	return err;
}

int delayacct_put_back(struct delayacct_switch *switched)
{
	int err = 0, file = switched->file;
	bool last = true;

	if (switched->procfd < 0)
		return 0;
	/* Of two that end at a time the one that lifts its lock later finds nobody any more. */
	if (file >= 0) {
		lock_file(file, F_UNLCK, false);
		last = !lock_file(file, F_WRLCK, false);
	}
	if (last)
		err = switch_off(switched->procfd);
	if (last && !err && file >= 0)
		say_off(file, false);
	switched->procfd = -1;
	switched->file = -1;
	file_close(file);
	return err;
}

bool delayacct_left_on(int procfd, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	bool left;

	if (fd < 0)
		return false;
	/* Only looked at: one who ends now must not take us for another who runs with it. */
	left = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK && says_off(fd);
	if (left && state_now(procfd) != DELAYACCT_ON) {
		/* Somebody has put it back: whoever switches it on next means it. */
		left = false;
		if (!lock_file(fd, F_WRLCK, false))
			say_off(fd, false);
	}
	close(fd);
	return left;
}
