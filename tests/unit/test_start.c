/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left of an environment, and descriptors that were closed. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

/* What libraries would read goes, all else stays in its order. */
TEST(test_environment)
{
	char *environment[] = { "NLCB=debug",
				"TERM=xterm",
				"TERMINFO=/x",
				"TERMINFO_DIRS=/x:/y",
				"NLCB_NOT=1",
				"NLDBG=9",
				"NLDBG=8",
				"HOME=/home/me",
				"TERMCAP=xterm:x",
				"TERMPATH",
				"LANG=C",
				"NLDBG=",
				NULL };
	static const char *const left[] = { "TERM=xterm", "NLCB_NOT=1", "HOME=/home/me", "TERMPATH",
					    "LANG=C" };
	char *nothing[] = { NULL };

	start_drop_environment(environment);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(environment[i], left[i]);
	assert_null(environment[5]);
	start_drop_environment(nothing);
	assert_null(nothing[0]);
}

/* Whether descriptors that are closed are taken, and of no use; the exit status of a child. */
static int check_descriptors(void)
{
	char byte = 0;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	start_take_descriptors();
	if (read(0, &byte, 1) >= 0 || errno != EBADF)
		return 1;
	for (int fd = 1; fd < 3; fd++)
		if (write(fd, &byte, 1) >= 0 || errno != EBADF)
			return 2;
	return open("/dev/null", O_WRONLY | O_CLOEXEC) > 2 ? 0 : 3;
}

/* Closed ones are taken, open ones are left alone. */
TEST(test_descriptors)
{
	int before = fcntl(1, F_GETFL), status;
	pid_t pid = fork();

	if (!pid)
		_exit(check_descriptors());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	start_take_descriptors();
	assert_int_equal(fcntl(1, F_GETFL), before);
}
