// SPDX-License-Identifier: GPL-2.0-or-later
/* A task that hangs is on the first screen, with nothing pressed. */
#include "tests/lib/crowd.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the task's row says that it hung for the whole interval. */
static bool shows_hang(struct screen *s, const void *arg)
{
	struct table t;
	int line;

	if (!table_read(s, &t))
		return false;
	line = table_find_pid(s, &t, *(const pid_t *)arg);
	return line >= 0 && table_head(&t, "S") && *table_cell(s, &t, line, "S") == 'D' &&
	       atof(table_cell(s, &t, line, "TOTAL")) >= 97;
}

/* Whether the header counts it. */
static bool counts_hang(struct screen *s, const void *arg)
{
	const char *at = strstr(screen_line(s, 1), " running, ");

	(void)arg;
	return at && strstr(at, " blocked") && atoi(at + strlen(" running, ")) >= 1;
}

/* By all sources, among others. */
SCREEN_TEST(shows_at_once)
{
	static const char *const args[] = { "-d 1 --source taskstats", "-d 1 --source procfs",
					    "-d 1 --source bpf", "-d 1 -i" };
	pid_t pid;

	pid = crowd_hung("crowd-hung");
	for (unsigned i = 0; i < 4; i++) {
		struct screen *s = screen_start(&(struct screen_how){ .args = args[i] });

		screen_await(s, shows_hang, &pid);
		screen_await(s, counts_hang, NULL);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}
