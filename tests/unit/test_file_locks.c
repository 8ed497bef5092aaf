// SPDX-License-Identifier: GPL-2.0-or-later
/* Who holds the lock of a file, in a made-up /proc/locks and in the kernel's. */
#include "config.h"

#include "tests/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/file_locks.h"
#include "kernel/wait_target.h"
#include "tests/lib/tree.h"

/* What is found; the holder in the hundreds, those that wait below. */
static int found(struct file_locks *locks, pid_t tgid, enum file_lock sort, uint64_t ino)
{
	struct file_lock_wait wait = file_locks_find(locks, tgid, sort, ino);

	return (int)wait.holder * 100 + (int)wait.waiters;
}

/* A wait is found by its process, sort and file; whoever has the lock itself holds it. */
TREE_TEST(test_find)
{
	const struct tree *tree = *state;
	struct file_locks *locks = file_locks_open(tree->fd);

	put_text(tree, "11/x", "");
	put_text(tree, "12/x", "");
	put_text(tree, "locks",
		 "1: FLOCK  ADVISORY  WRITE 11 fe:00:77 0 EOF\n"
		 "1: -> FLOCK  ADVISORY  WRITE 21 fe:00:77 0 EOF\n"
		 "1:  -> FLOCK  ADVISORY  READ  22 fe:00:77 0 EOF\n"
		 "2: POSIX  ADVISORY  WRITE 12 fe:00:78 0 9\n"
		 "2: -> POSIX  ADVISORY  WRITE 21 fe:00:78 3 4\n"
		 "2: -> OFDLCK ADVISORY  WRITE -1 fe:00:78 3 4\n"
		 "3: LEASE  ACTIVE    READ  12 fe:00:79 0 EOF\n"
		 "4: OFDLCK ADVISORY  WRITE -1 fe:00:80 0 EOF\n"
		 "4: -> POSIX  ADVISORY  WRITE 23 fe:00:80 0 EOF\n"
		 "5: FLOCK  ADVISORY  WRITE 13 fe:00:81 0 EOF\n"
		 "5: -> FLOCK  ADVISORY  WRITE 24 fe:00:81 0 EOF\n"
		 "6: POSIX  ADVISORY  WRITE 12 <none>:0 0 EOF\n"
		 "nonsense\n6: -> \n");
	assert_int_equal(found(locks, 21, FILE_LOCK_FLOCK, 77), 1102);
	assert_int_equal(found(locks, 22, FILE_LOCK_FLOCK, 0), 1102);
	assert_int_equal(found(locks, 21, FILE_LOCK_POSIX, 78), 1202);
	assert_int_equal(found(locks, 21, FILE_LOCK_POSIX, 77), 0);
	assert_int_equal(found(locks, 99, FILE_LOCK_OFD, 78), 1202);
	assert_int_equal(found(locks, 99, FILE_LOCK_OFD, 0), 0);
	assert_int_equal(found(locks, 11, FILE_LOCK_FLOCK, 77), 0);
	/* Whose it is nobody knows; it took the lock and ended. */
	assert_int_equal(found(locks, 23, FILE_LOCK_POSIX, 80), 1);
	assert_int_equal(found(locks, 24, FILE_LOCK_FLOCK, 81), 1);
	/* It is read once. */
	put_text(tree, "locks", "");
	assert_int_equal(found(locks, 21, FILE_LOCK_FLOCK, 77), 1102);
	file_locks_renew(locks);
	assert_int_equal(found(locks, 21, FILE_LOCK_FLOCK, 77), 0);
	file_locks_close(locks);
}

/* Only calls that wait for a lock do. */
TEST(test_calls)
{
	struct procwait_syscall call = { .number = SYS_flock, .args = { 3, LOCK_EX } };

	assert_int_equal(file_lock_of(&call), FILE_LOCK_FLOCK);
	call.number = SYS_fcntl;
	assert_int_equal(file_lock_of(&call), FILE_LOCK_NONE);
	call.args[1] = F_SETLKW;
	assert_int_equal(file_lock_of(&call), FILE_LOCK_POSIX);
	call.args[1] = F_OFD_SETLKW;
	assert_int_equal(file_lock_of(&call), FILE_LOCK_OFD);
	call.args[1] = F_GETLK;
	assert_int_equal(file_lock_of(&call), FILE_LOCK_NONE);
	call.number = SYS_read;
	assert_int_equal(file_lock_of(&call), FILE_LOCK_NONE);
}

/* A child that waits to lock what we hold. */
static pid_t start_waiter(const char *path)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		flock(fd, LOCK_EX);
		_exit(0);
	}
	return pid;
}

/* The kernel's own table, by the descriptor of who waits. */
TEST(test_real)
{
	char path[] = "/tmp/stalltop-locks-XXXXXX", text[256];
	struct proc proc = { .fd = open("/proc", O_PATH | O_CLOEXEC) };
	int fd = mkstemp(path), waiting;
	struct wait_targets *targets = wait_targets_open(&proc);
	struct buf out = { 0 };
	pid_t pids[2];

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	/* In the place that the lowest free descriptor of a child will have. */
	waiting = dup(fd);
	close(waiting);
	for (unsigned i = 0; i < 2; i++)
		pids[i] = start_waiter(path);
	nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
	assert_int_equal(wait_target_lock(targets, pids[1], waiting, FILE_LOCK_FLOCK, &out), 0);
	snprintf(text, sizeof(text), "%s held by %d test_file_locks (2 wait)", path, (int)getpid());
	assert_string_equal(buf_cstr(&out), text);
	for (unsigned i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	unlink(path);
	buf_free(&out);
	wait_targets_close(targets);
	close(proc.fd);
	close(fd);
}
