/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proctask.h"

/* Reads when the task with that pid was started, in ticks. 0 or -errno; -ESRCH: there is none. */
static int read_start(const struct target *target, uint64_t *start)
{
	struct proctask_stat stat;
	int err = proctask_stat(target->proc, target->tgid, target->tid, &stat);

	if (!err)
		*start = stat.start;
	return err == -ENOENT ? -ESRCH : err;
}

/* True if a start in ticks can be that of the task shown. */
static bool is_same_start(const struct target_seen *seen, uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), since_boot = ticks * NSEC_PER_SEC / hz;
	/* That clock includes the machine's sleep; how much of it was before is unknown. */
	uint64_t slept = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);

	return since_boot <= seen->by_ns && seen->start_ns <= since_boot + NSEC_PER_SEC &&
	       seen->start_ns + slept + NSEC_PER_SEC >= since_boot;
}

int target_find(struct target *target, struct proc *proc, pid_t tgid, pid_t tid,
		const struct target_seen *seen)
{
	int err;

	*target = (struct target){ .proc = proc, .tgid = tgid, .tid = tid };
	err = proc_is_ours(proc) ? read_start(target, &target->start) : -EXDEV;
	return !err && !is_same_start(seen, target->start) ? -ESRCH : err;
}

/* Checks that the pid is still the target's. 0, or -errno as -ESRCH. */
static int check_target(const struct target *target)
{
	uint64_t start;
	int err = read_start(target, &start);

	return !err && start != target->start ? -ESRCH : err;
}

/*
 * Opens a descriptor of the process with that pid at that time; the check afterwards verifies that
 * it is the target.
 */
int target_signal(const struct target *target, int number)
{
	int fd = (int)syscall(SYS_pidfd_open, target->tgid, 0), err;

	if (fd < 0 && errno != ENOSYS)
		return -errno;
	err = check_target(target);
	if (!err && fd >= 0)
		err = syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) ? -errno : 0;
	else if (!err)
		err = kill(target->tgid, number) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Opens the directory of the target's threads, which never becomes that of another process. */
static int open_threads(const struct target *target)
{
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "%d/task", target->tgid);
	fd = openat(target->proc->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = check_target(target);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Sets the nice value of a thread that is still in the directory `threads`. 0 or -errno. */
static int renice_thread(int threads, pid_t tid, int value)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", tid);
	if (faccessat(threads, name, F_OK, 0))
		return -ESRCH;
	return setpriority(PRIO_PROCESS, (id_t)tid, value) ? -errno : 0;
}

/*
 * Sets nice values thread by thread, as each has its own. System calls take only a pid, so each
 * thread is checked right before.
 */
int target_renice(const struct target *target, int value, size_t *threads)
{
	struct pidlist list = { 0 };
	int fd = open_threads(target), err = fd < 0 ? fd : 0;

	*threads = 0;
	if (!err && target->tid) {
		err = renice_thread(fd, target->tid, value);
		*threads = !err;
	} else if (!err) {
		err = pidlist_read(&list, fd);
	}
	for (size_t i = 0; !err && i < list.n; i++) {
		int failed = renice_thread(fd, list.pids[i], value);

		*threads += !failed;
		err = failed == -ESRCH ? 0 : failed;
	}
	pidlist_free(&list);
	if (fd >= 0)
		close(fd);
	return err || *threads ? err : -ESRCH;
}
