/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/util.h"

/* The most descriptors that are looked at. */
#define DESCRIPTORS_MAX 65536

/* Whether a descriptor is to stay open. */
static bool is_kept(int fd, const int *keep, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* Closes all descriptors but the standard ones and some. */
static void close_others(const int *keep, size_t n)
{
	struct rlimit limit;
	int end = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > DESCRIPTORS_MAX
			  ? DESCRIPTORS_MAX
			  : (int)limit.rlim_cur;

	for (int fd = STDERR_FILENO + 1; fd < end; fd++)
		if (!is_kept(fd, keep, n))
			close(fd);
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

void child_serve(const char *name, const int *keep, size_t n)
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
