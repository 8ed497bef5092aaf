// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/guard.h"

/* Before linux/fs.h: with glibc before 2.36 its macros break the enum of this one. */
#include <sys/mount.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOCK_FILE "/run/stalltop-e2e.lock"
#define LOCK_WAIT_S 420
#define MAX_UNDO 1024

struct entry {
	enum undo what;
	pid_t pid;
	char path[256];
	char text[64];
};

/* Shared with the guard, which does not see what is pushed after it was forked else. */
struct undo_list {
	unsigned int n;
	struct entry entry[MAX_UNDO];
};

static struct undo_list *list;
static int lock_fd = -1;
static bool beside; /* others may change the machine now, too */

int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Sleeps for so many ms. */
static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Kills all that is in a cgroup; the number of tasks that were there. */
static unsigned int kill_members(const char *path)
{
	char procs[300];
	unsigned int n = 0;
	FILE *f;
	int pid;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	f = fopen(procs, "re");
	while (f && fscanf(f, "%d", &pid) == 1) {
		kill(pid, SIGKILL);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* A cgroup can be removed when the last of its tasks is gone: that takes a moment. */
static void remove_cgroup(const char *path)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (!kill_members(path) && (!rmdir(path) || errno == ENOENT))
			return;
		nap(10);
	}
	fprintf(stderr, "guard: cannot remove %s\n", path);
}

/* Some changes are refused for a moment after the last user is gone. */
static void write_patiently(const char *path, const char *text)
{
	int i, err = 0;

	for (i = 0; i < 100; i++) {
		err = write_text(path, text);
		if (err != -EBUSY)
			break;
		nap(20);
	}
	if (err)
		fprintf(stderr, "guard: %s: %s\n", path, strerror(-err));
}

/* Kills a child and waits for it, or else its zombie would be in every sample. */
static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* As it was before the first of us changed it, by the last who goes: that is in the lock's file. */
static void undo_shared(const char *path)
{
	char text[64] = "";

	if (flock(lock_fd, LOCK_EX | LOCK_NB) || pread(lock_fd, text, sizeof(text) - 1, 0) <= 0)
		return;
	write_patiently(path, text);
	if (ftruncate(lock_fd, 0))
		fprintf(stderr, "guard: %s: %s\n", LOCK_FILE, strerror(errno));
}

/* A frozen file system would hold its writers for ever. */
static void thaw(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ioctl(fd, FITHAW, 0);
	close(fd);
}

/* Removes a folder with what is in it, on that file system. */
static void remove_tree(const char *path)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -rf --one-file-system '%s'", path);
	if (system(command))
		fprintf(stderr, "guard: cannot remove %s\n", path);
}

/* Does one undoing. */
static void undo_one(const struct entry *e)
{
	switch (e->what) {
	case UNDO_WRITE:
		write_patiently(e->path, e->text);
		break;
	case UNDO_SHARED:
		undo_shared(e->path);
		break;
	case UNDO_UNLINK:
		if (unlink(e->path) && errno == EISDIR)
			rmdir(e->path);
		break;
	case UNDO_TREE:
		remove_tree(e->path);
		break;
	case UNDO_CGROUP:
		remove_cgroup(e->path);
		break;
	case UNDO_SWAPOFF:
		if (swapoff(e->path) && errno != EINVAL)
			fprintf(stderr, "guard: swapoff %s: %s\n", e->path, strerror(errno));
		break;
	case UNDO_THAW:
		thaw(e->path);
		break;
	case UNDO_UMOUNT:
		if (umount2(e->path, MNT_DETACH) && errno != EINVAL && errno != ENOENT)
			fprintf(stderr, "guard: umount %s: %s\n", e->path, strerror(errno));
		break;
	case UNDO_KILL:
		if (e->pid)
			end_child(e->pid);
		break;
	}
}

unsigned int guard_mark(void)
{
	return list ? list->n : 0;
}

/* The next free entry; more than the list holds is an error of the test. */
static struct entry *new_entry(void)
{
	if (!list || list->n == MAX_UNDO) {
		fprintf(stderr, "guard: %s\n", list ? "too much to undo" : "not started");
		abort();
	}
	memset(&list->entry[list->n], 0, sizeof(list->entry[0]));
	return &list->entry[list->n];
}

void guard_push(enum undo what, const char *path, const char *text)
{
	struct entry *e = new_entry();

	e->what = what;
	snprintf(e->path, sizeof(e->path), "%s", path);
	snprintf(e->text, sizeof(e->text), "%s", text ? text : "");
	/* counted when it is whole: the guard may have to do it at any moment */
	__atomic_fetch_add(&list->n, 1, __ATOMIC_RELEASE);
}

void guard_push_child(pid_t pid)
{
	struct entry *e = new_entry();

	e->what = UNDO_KILL;
	e->pid = pid;
	__atomic_fetch_add(&list->n, 1, __ATOMIC_RELEASE);
}

void guard_forget_child(pid_t pid)
{
	unsigned int i;

	for (i = 0; i < guard_mark(); i++)
		if (list->entry[i].what == UNDO_KILL && list->entry[i].pid == pid)
			list->entry[i].pid = 0;
}

void guard_undo(unsigned int mark)
{
	while (guard_mark() > mark) {
		undo_one(&list->entry[list->n - 1]);
		list->n--;
	}
}

/* Waits for the test's end and does what it left. */
static void guard(int test)
{
	struct pollfd pfd = { .fd = test, .events = POLLIN };
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	while (poll(&pfd, 1, -1) <= 0)
		;
	while (list->n) {
		list->n--;
		if (list->entry[list->n].what != UNDO_KILL)
			undo_one(&list->entry[list->n]);
	}
	_exit(0);
}

/* The lock is held by the guard too, and so until all is put back. */
static int take_lock(void)
{
	int i;

	beside = getenv("TEST_BESIDE") != NULL;
	lock_fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock_fd < 0)
		return -errno;
	for (i = 0; i < LOCK_WAIT_S * 10; i++) {
		if (!flock(lock_fd, (beside ? LOCK_SH : LOCK_EX) | LOCK_NB))
			return 0;
		nap(100);
	}
	return -ETIMEDOUT;
}

int guard_switch(const char *path, const char *text)
{
	char old[32];
	int err = read_text(path, old, sizeof(old));

	if (err)
		return err;
	if (!beside) {
		guard_push(UNDO_WRITE, path, old);
		return write_text(path, text);
	}
	guard_push(UNDO_SHARED, path, NULL);
	/* Who finds it switched leaves it to who switched it, or to whoever goes last. */
	if (!strcmp(old, text))
		return 0;
	if (pwrite(lock_fd, old, strlen(old), 0) < 0)
		return -errno;
	return write_text(path, text);
}

int guard_start(void)
{
	int err, self;
	pid_t pid;

	if (list)
		return 0;
	err = take_lock();
	if (err)
		return err;
	list = mmap(NULL, sizeof(*list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (list == MAP_FAILED || self < 0) {
		err = -errno;
		list = NULL;
		return err;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		guard(self);
	err = pid < 0 ? -errno : 0;
	close(self);
	return err;
}
