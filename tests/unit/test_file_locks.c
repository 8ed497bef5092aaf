// SPDX-License-Identifier: GPL-2.0-or-later
/* Who holds the lock of a file, in a made-up /proc/locks and in the kernel's. */
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

#include "kernel/file_owner.h"
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

/* A child that shares a descriptor with a lock, or takes one with fcntl() and keeps it. */
static pid_t start_sharer(int fd, const char *path, bool ofd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "sharer");
		if (ofd) {
			fd = open(path, O_RDWR | O_CLOEXEC);
			if (fcntl(fd, F_OFD_SETLKW, &lock))
				_exit(1);
		} else if (fork() == 0) {
			_exit(flock(fd, LOCK_EX) != 0);
		}
		wait(NULL);
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(fd);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* A child that waits for such a lock, with a descriptor that it says. */
static pid_t start_lock(const char *path, bool ofd, int *fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*fd = open(path, O_RDWR | O_CLOEXEC);
		if (write(ready[1], fd, sizeof(*fd)) != sizeof(*fd))
			_exit(1);
		_exit((ofd ? fcntl(*fd, F_OFD_SETLKW, &lock) : flock(*fd, LOCK_EX)) != 0);
	}
	assert_int_equal(read(ready[0], fd, sizeof(*fd)), sizeof(*fd));
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* A lock that belongs to a descriptor: whoever has it, though the one that took it has ended. */
TEST(test_descriptor)
{
	struct proc proc = { .fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct wait_targets *targets = wait_targets_open(&proc);
	struct buf out = { 0 };
	char text[256];

	for (unsigned ofd = 0; ofd < 2; ofd++) {
		char path[] = "/tmp/stalltop-locks-XXXXXX";
		int fd = mkstemp(path), waiting;
		pid_t sharer, waiter;

		assert_true(fd >= 0);
		sharer = start_sharer(fd, path, ofd);
		close(fd);
		waiter = start_lock(path, ofd, &waiting);
		snprintf(text, sizeof(text), "%s held by %d sharer (1 wait)", path, (int)sharer);
		for (unsigned i = 0; i < 100; i++) {
			nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
			out.len = 0;
			wait_targets_renew(targets);
			wait_target_lock(targets, waiter, waiting,
					 ofd ? FILE_LOCK_OFD : FILE_LOCK_FLOCK, &out);
			if (!strcmp(buf_cstr(&out), text))
				break;
		}
		assert_string_equal(buf_cstr(&out), text);
		kill(sharer, SIGKILL);
		waitpid(sharer, NULL, 0);
		kill(waiter, SIGKILL);
		waitpid(waiter, NULL, 0);
		unlink(path);
	}
	buf_free(&out);
	wait_targets_close(targets);
	close(proc.fd);
}
