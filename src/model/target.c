/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/target.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
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
	int err = proctask_stat(target->procfd, target->tgid, target->tid, &stat);

	if (!err)
		*start = stat.start;
	return err == -ENOENT ? -ESRCH : err;
}

/* Whether a start in ticks can be the one that the sample has for the task. */
static bool is_same_start(uint64_t start_ns, uint64_t seen_ns, uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), since_boot = ticks * NSEC_PER_SEC / hz;
	/* That clock also runs while the machine sleeps; how much of it lay before is not known. */
	uint64_t slept = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);

	return start_ns <= since_boot + NSEC_PER_SEC &&
	       start_ns + slept + NSEC_PER_SEC >= since_boot && since_boot <= seen_ns;
}

int target_find(struct target *target, int procfd, pid_t tgid, pid_t tid, uint64_t start_ns,
		uint64_t seen_ns)
{
	int err;

	*target = (struct target){ .procfd = procfd, .tgid = tgid, .tid = tid };
	err = read_start(target, &target->start);
	return !err && !is_same_start(start_ns, seen_ns, target->start) ? -ESRCH : err;
}

/* Whether the pid is still the target's. 0 or -ESRCH and the like. */
static int check_target(const struct target *target)
{
	uint64_t start;
	int err = read_start(target, &start);

	return !err && start != target->start ? -ESRCH : err;
}

/*
 * The descriptor is of whoever has the pid when it is opened, and the check behind that says who
 * it is.
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

/*
 * Every thread has a nice value of its own. There is no call that takes more than a pid; the check
 * comes right before.
 */
int target_renice(const struct target *target, int value, size_t *threads)
{
	struct pidlist list = { 0 };
	int err = check_target(target);

	*threads = 0;
	if (!err && target->tid) {
		*threads = 1;
		return setpriority(PRIO_PROCESS, (id_t)target->tid, value) ? -errno : 0;
	}
	if (!err)
		err = pidlist_read_threads(&list, target->procfd, target->tgid);
	for (size_t i = 0; !err && i < list.n; i++) {
		if (!setpriority(PRIO_PROCESS, (id_t)list.pids[i], value))
			++*threads;
		else if (errno != ESRCH)
			err = -errno;
	}
	pidlist_free(&list);
	return err || *threads ? err : -ESRCH;
}
