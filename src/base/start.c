/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/start.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

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
