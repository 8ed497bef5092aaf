/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/util.h"

/* The most descriptors that are looked at. */
#define DESCRIPTORS_MAX 65536

/* Whether the variable is to be dropped. */
static bool is_unsafe(const char *variable)
{
	static const char *const names[] = {
		"TERMINFO=",
		"TERMINFO_DIRS=",
		"TERMCAP=",
		"TERMPATH=", /* ncurses */
		"NLCB=",
		"NLDBG=",
		"NLSYSCONFDIR=", /* libnl */
		"LIBBPF_LOG_LEVEL=", /* libbpf */
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

void start_drop_environment(char **environment)
{
	char **to = environment;

	for (char **from = environment; *from; from++)
		if (!is_unsafe(*from))
			*to++ = *from;
	*to = NULL;
}

void start_take_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Closes descriptors from `first` on, before `end`. */
static void close_range_of(int first, int end)
{
#ifdef SYS_close_range
	if (first >= end || !syscall(SYS_close_range, first, end - 1, 0))
		return;
#endif
	/* Before Linux 5.9. */
	for (int fd = first; fd < end && fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

/* The first descriptor to keep that is not before `first`; INT_MAX: there is none. */
static int next_kept(int first, const int *keep, size_t n)
{
	int next = INT_MAX;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && keep[i] < next)
			next = keep[i];
	return next;
}

/* Closes all descriptors but the standard ones and some. */
static void close_others(const int *keep, size_t n)
{
	int first = STDERR_FILENO + 1, kept;

	do {
		kept = next_kept(first, keep, n);
		close_range_of(first, kept);
		first = kept < INT_MAX ? kept + 1 : kept;
	} while (kept < INT_MAX);
}

/* Points the standard descriptors at nothing. */
static void leave_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

void start_serving(const char *name, const int *keep, size_t n)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,
				       SIGTSTP, SIGPIPE, SIGXFSZ, SIGUSR1 };

	prctl(PR_SET_NAME, name);
	/* Whatever is to be put back, the other process puts back. */
	crash_set_hook(CRASH_SYSCTL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	close_others(keep, n);
	leave_output();
}

/* Whether the kernel would let this process lock any amount. */
static bool is_unlimited(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct rlimit limit;

	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return true;
	return !syscall(SYS_capget, &head, caps) &&
	       caps[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

int start_lock_memory(void)
{
	if (!is_unlimited())
		return -EPERM;
	/* On fault: room that is only reserved stays so. */
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? -errno : 0;
}
