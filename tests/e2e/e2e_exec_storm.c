// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that take their leader's place, all the time: every task is in a sample once. */
#include "tests/lib/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any pid: include/linux/threads.h, PID_MAX_LIMIT. */
#define PID_LIMIT (4 * 1024 * 1024)

/* A cell of a line of CSV, which goes on behind it. No names with commas are there. */
static const char *cell_of(const char *line, unsigned column)
{
	while (column--) {
		line = strchr(line, ',');
		assert_non_null(line++);
	}
	return line;
}

/* Fails where a sample of the CSV file has a living task twice. How many samples there are. */
static size_t check_unique(const char *path)
{
	enum { TIME, PID = 2, EXITED = 9 };
	FILE *file = fopen(path, "re");
	uint64_t *last = e2e_keep(calloc(PID_LIMIT, sizeof(*last))); /* sample that had the pid */
	char *line = NULL, time[32] = "";
	size_t size = 0, samples = 0;

	assert_non_null(file);
	assert_true(getline(&line, &size, file) > 0);
	while (getline(&line, &size, file) > 0) {
		size_t n = strcspn(line, ",");
		long pid = strtol(cell_of(line, PID), NULL, 10);

		assert_true(n < sizeof(time));
		samples += strlen(time) != n || memcmp(time, line, n) != 0;
		memcpy(time, line, n);
		time[n] = '\0';
		assert_in_range(pid, 1, PID_LIMIT - 1);
		if (*cell_of(line, EXITED) == '1')
			continue;
		if (last[pid] == samples)
			fail_msg("%ld is in sample %zu twice", pid, samples);
		last[pid] = samples;
	}
	free(line);
	fclose(file);
	return samples;
}

/*
 * A thread that is not the leader calls exec while the tasks are walked over or listed, and takes
 * the id and the start of a leader that was met before: it is in the sample once.
 */
static void check_exec_storm(const char *source, unsigned samples)
{
	const char *path = e2e_path("samples");
	struct e2e_how how = { .out_path = path };
	struct e2e_result r;
	struct e2e_proc p;
	pid_t load;

	load = e2e_load(NULL, "load_churn exec-storm 12");
	assert_true(load > 0);
	e2e_start_stalltop(&p, &how,
			   e2e_format("-b -H -d 0.05 -n %u -o csv --source %s", samples, source));
	e2e_finish(&p, 120, &r);
	if (r.status)
		fail_msg("%s: ended with %d: %s", source, r.status, r.err.data);
	e2e_kill(load);
	assert_int_equal(check_unique(path), samples);
}

/* With each source. The one that was seen to write beyond its sample takes the longest. */
E2E_TEST(test_exec_storm)
{
	struct e2e_result version;

	e2e_require();
	e2e_run(&version, NULL, "--version");
	if (strstr(version.out.data, "bpf"))
		check_exec_storm("bpf", 300);
	check_exec_storm("taskstats", 60);
	check_exec_storm("procfs", 60);
}
