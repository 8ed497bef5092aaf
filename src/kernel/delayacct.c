/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/delayacct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

/* Bounds of is_unaccounted(): a small program takes 1 to 2 ms to start, and counts at least 20. */
#define ENOUGH_RUN (5 * NSEC_PER_MSEC)

/* True if the kernel command line has the word. */
static bool boot_parameter(int procfd, const char *word)
{
	char line[4096];
	int n = file_read(procfd, "cmdline", line, sizeof(line) - 1);
	char *rest = line, *token;

	if (n < 0)
		return false;
	line[n] = '\0';
	while ((token = strsep(&rest, " \n")))
		if (!strcmp(token, word))
			return true;
	return false;
}

void delayacct_open(struct delayacct *acct, int procfd, uint64_t floor_ns)
{
	*acct = (struct delayacct){ .state = DELAYACCT_UNKNOWN,
				    .since_ns = UINT64_MAX,
				    .floor_ns = floor_ns };
	acct->fd = file_open(procfd, DELAYACCT_SYSCTL, 0);
	/* Before 5.14 it was on unless booted with nodelayacct; since then only if requested. */
	if (acct->fd == -ENOENT)
		acct->state = boot_parameter(procfd, "nodelayacct") ? DELAYACCT_OFF : DELAYACCT_ON;
	if (acct->fd == -ENOENT ? acct->state == DELAYACCT_ON : boot_parameter(procfd, "delayacct"))
		acct->since_ns = 0;
	delayacct_read(acct);
	acct->toggled = false;
}

void delayacct_read(struct delayacct *acct)
{
	enum delayacct_state state = DELAYACCT_UNKNOWN;
	char text[8];

	if (acct->fd < 0)
		return;
	if (file_pread(acct->fd, text, sizeof(text)) > 0 && (text[0] == '0' || text[0] == '1'))
		state = text[0] == '1' ? DELAYACCT_ON : DELAYACCT_OFF;
	acct->toggled = state != acct->state;
	if (acct->toggled && acct->state == DELAYACCT_OFF && state == DELAYACCT_ON) {
		acct->floor_ns = clock_ns(CLOCK_MONOTONIC);
		acct->since_ns = acct->floor_ns;
	}
	acct->state = state;
}

/*
 * True if the task proves that it is accounted. Delays in a sum over a process's threads may be a
 * younger thread's, which proves nothing for the others.
 */
static bool is_accounted(const struct task_raw *raw)
{
	return raw->task->accounted ||
	       (raw->single && !raw->now.measured && counters_booked(&raw->counters));
}

/*
 * True if the task proves that it is not accounted. A process that ran for a few ms has written to
 * pages shared with its parent or its file, so wpcopy has counted by then; a kernel thread (a child
 * of kthreadd, 2) has no such pages.
 */
static bool is_unaccounted(const struct task_raw *raw)
{
	return raw->pid == raw->tgid && raw->counters.valid & DELAY_BIT(DELAY_WPCOPY) &&
	       raw->counters.run_ns > ENOUGH_RUN && raw->pid != 2 && raw->task->ppid != 2 &&
	       !counters_booked(&raw->counters);
}

/* Derives from a sample since when tasks are accounted, and whether irq is. */
static void learn(struct delayacct *acct, const struct sample *sample)
{
	size_t all = sample->n + sample->left, i;

	/* Since boot: all is known. */
	if (acct->irq_seen && !acct->since_ns)
		return;
	for (i = sample_next_changed(sample, 0); i < all; i = sample_next_changed(sample, i + 1)) {
		const struct task_raw *raw = sample->raw[i];
		uint64_t start = raw->task->key.start_ns;

		acct->irq_seen |= raw->counters.delay[DELAY_IRQ].count != 0;
		/*
		 * Accounting that is on since boot is trusted; else it may have been off in
		 * between.
		 */
		if (acct->since_ns && acct->state == DELAYACCT_ON && start >= acct->floor_ns &&
		    is_unaccounted(raw))
			acct->floor_ns = start + 1;
	}
	if (acct->since_ns && acct->since_ns < acct->floor_ns)
		acct->since_ns = UINT64_MAX;
	for (i = sample_next_changed(sample, 0); acct->since_ns && i < all;
	     i = sample_next_changed(sample, i + 1)) {
		const struct task_raw *raw = sample->raw[i];
		uint64_t start = raw->task->key.start_ns;

		if (start >= acct->floor_ns && start < acct->since_ns && is_accounted(raw))
			acct->since_ns = start;
	}
}

size_t delayacct_mask(struct delayacct *acct, struct sample *sample)
{
	size_t all = sample->n + sample->left;
	size_t older = acct->state != DELAYACCT_OFF ? sample_count_unaccounted(sample) : 0;
	uint32_t irq;

	learn(acct, sample);
	irq = acct->irq_seen ? 0 : DELAY_BIT(DELAY_IRQ);
	for (size_t i = sample_next_changed(sample, 0); i < all;
	     i = sample_next_changed(sample, i + 1)) {
		struct task_raw *raw = sample->raw[i];

		counters_mask(&raw->counters, irq);
		if (acct->state == DELAYACCT_OFF || sample_unaccounted(sample, i)) {
			counters_mask(&raw->counters, DELAYACCT_KINDS & ~raw->now.measured);
		} else if (sample_has_marks(sample, i)) {
			continue;
		} else if (raw->task->key.start_ns < acct->since_ns && !is_accounted(raw)) {
			counters_mask(&raw->counters, DELAYACCT_KINDS & ~raw->now.measured);
			older++;
		}
	}
	return older;
}

bool delayacct_counts_all(const struct delayacct *acct)
{
	return acct->state == DELAYACCT_ON && !acct->since_ns;
}

int delayacct_set(int procfd, bool on)
{
	int fd = file_open(procfd, DELAYACCT_SYSCTL, O_WRONLY), err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, on ? "1" : "0", 1) != 1)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

void delayacct_close(struct delayacct *acct)
{
	file_close(acct->fd);
	acct->fd = -1;
}

/* The file's content if accounting was off. Else the file is empty. */
#define WAS_OFF '0'

/*
 * Locks the whole file, or converts or releases the lock, atomically: F_RDLCK, F_WRLCK, F_UNLCK. 0
 * or -errno: -EAGAIN if another process holds a lock and `wait` is false.
 */
static int lock_file(int fd, short type, bool wait)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) ? -errno : 0;
}

/* True if the file says that accounting was off. */
static bool says_off(int fd)
{
	char state;

	return file_pread(fd, &state, 1) == 1 && state == WAS_OFF;
}

/* Records in the file that accounting was off, or empties it. */
static void say_off(int fd, bool off)
{
	static const char text[] = { WAS_OFF, '\n' };
	bool done = off ? pwrite(fd, text, sizeof(text), 0) == sizeof(text) : !ftruncate(fd, 0);

	/* On failure it is switched off regardless of other runs, and a later run cannot know. */
	(void)done;
}

/* The current state of the switch. */
static enum delayacct_state state_now(int procfd)
{
	struct delayacct acct;

	delayacct_open(&acct, procfd, 0);
	delayacct_close(&acct);
	return acct.state;
}

/*
 * Opens the file and locks it: exclusively (`alone`) if no other run holds a lock, else shared. The
 * descriptor, or -1 if that fails.
 */
static int open_locked(const char *path, bool *alone)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	int err = fd < 0 ? -errno : lock_file(fd, F_WRLCK, false);

	*alone = !err;
	/* Exclusive locks are held only for a moment. */
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
	/*
	 * The file is written first: if several processes switch it on at once, each that finds it
	 * on finds the file, too, and so is one of those that switch it off again.
	 */
	off = state_now(procfd) != DELAYACCT_ON;
	was_off = ours.file >= 0 && says_off(ours.file);
	if (off) {
		/* With this order a kill in between never leaves it on unnoticed. */
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

/* Switches accounting off if it is on. 0 or -errno. */
static int switch_off(int procfd)
{
	int fd = file_open(procfd, DELAYACCT_SYSCTL, O_RDWR), err = 0;
	char state;

	if (fd < 0)
		return fd;
	/* Someone else may have switched it off on purpose. */
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
	/* If two processes exit at once, the later to release its lock finds no other lock. */
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
	/* Only tests the lock: a process that exits now must not mistake ours for another run's. */
	left = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK && says_off(fd);
	if (left && state_now(procfd) != DELAYACCT_ON) {
		/*
		 * Accounting was switched off again: the next to switch it on will do so on
		 * purpose.
		 */
		left = false;
		if (!lock_file(fd, F_WRLCK, false))
			say_off(fd, false);
	}
	close(fd);
	return left;
}
