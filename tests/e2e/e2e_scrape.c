// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many scrapes of many groups: eight clients with three a second each, at 5,000 tasks in 600
 * groups, by name and of real control groups. Answers come at once, samples keep their grid, and
 * memory stays what it is.
 *   SCRAPE_SECONDS=600  how long clients scrape (5)
 */
#include "tests/lib/box.h"
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"
#include "tests/lib/scrape.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 8
#define PERIOD (1.0 / 3) /* of a client, in seconds */
#define INTERVAL 1.0
#define TASKS 5000
#define GROUPS 600

/* Another program may take the CPUs for a while: the best of so many. */
#define TRIES 4

/* A scrape, as a client tells it: how long it took, and of when the sample was. */
struct scrape {
	double took, stamp;
};

/* What all clients together saw. */
struct answers {
	double median, took; /* of a hundred scrapes the 50th and the 99th, in seconds */
	double gap; /* the longest interval between samples */
	size_t samples, late; /* intervals, and those that were too long */
};

/* How long clients scrape. */
static double seconds_of_test(void)
{
	const char *text = getenv("SCRAPE_SECONDS");
	double seconds = text ? strtod(text, NULL) : 5;

	assert_true(seconds >= 1 && seconds <= 86400);
	return seconds;
}

/* The whole of a client's life: scrapes, into shared memory. */
_Noreturn static void be_client(unsigned port, unsigned number, struct scrape *scrapes, size_t n)
{
	double next = e2e_now() + number * PERIOD / CLIENTS;

	for (size_t i = 0; i < n; i++, next += PERIOD) {
		double begun = e2e_now(), wait = next - begun;
		const char *text, *stamp;

		if (wait > 0)
			e2e_sleep(wait);
		begun = e2e_now();
		text = scrape_ask(port, NULL, SCRAPE_GET);
		scrapes[i].took = e2e_now() - begun;
		stamp = text ? strstr(text, "\nstalltop_sample_timestamp_seconds ") : NULL;
		if (!stamp || !strstr(stamp, "# EOF\n"))
			_exit(1);
		scrapes[i].stamp = strtod(strchr(stamp, ' '), NULL);
	}
	_exit(0);
}

static int compare_took(const void *a, const void *b)
{
	const struct scrape *x = a, *y = b;

	return (x->took > y->took) - (x->took < y->took);
}

static int compare_stamps(const void *a, const void *b)
{
	const struct scrape *x = a, *y = b;

	return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

/* Has all clients scrape for some time. */
static struct answers scrape_all(unsigned port, double seconds)
{
	size_t each = (size_t)(seconds / PERIOD + 0.5), n = CLIENTS * each;
	struct answers answers = { .gap = 0 };
	struct scrape *scrapes = mmap(NULL, n * sizeof(*scrapes), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t clients[CLIENTS];
	int status;

	assert_true(scrapes != MAP_FAILED);
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		assert_true(clients[i] >= 0);
		if (!clients[i])
			be_client(port, i, scrapes + i * each, each);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
		assert_int_equal(status, 0);
	}
	qsort(scrapes, n, sizeof(*scrapes), compare_took);
	answers.median = scrapes[n / 2].took;
	answers.took = scrapes[n - 1 - n / 100].took;
	qsort(scrapes, n, sizeof(*scrapes), compare_stamps);
	for (size_t i = 1; i < n; i++) {
		double gap = scrapes[i].stamp - scrapes[i - 1].stamp;

		answers.samples += gap > 0;
		answers.late += gap > 1.1 * INTERVAL;
		if (gap > answers.gap)
			answers.gap = gap;
	}
	munmap(scrapes, n * sizeof(*scrapes));
	return answers;
}

/* The CPU time of a process and of those that it started, in seconds. */
static double cpu_of(pid_t pid)
{
	char command[256], text[64] = "";
	FILE *pipe_of;

	snprintf(command, sizeof(command),
		 "cat /proc/%d/stat $(sed 's|[0-9][0-9]*|/proc/&/stat|g' "
		 "/proc/%d/task/%d/children) | "
		 "sed 's/.*) //' | awk '{ n += $12 + $13 } END { print n }'",
		 pid, pid, pid);
	pipe_of = popen(command, "r");
	assert_non_null(pipe_of);
	assert_non_null(fgets(text, sizeof(text), pipe_of));
	pclose(pipe_of);
	return strtod(text, NULL) / (double)sysconf(_SC_CLK_TCK);
}

/* The memory of a process and of what it started, in kB, without what they share. */
static unsigned long memory_of(pid_t pid)
{
	char command[256], text[64] = "";
	FILE *pipe_of;

	snprintf(command, sizeof(command),
		 "cat /proc/%d/smaps_rollup $(sed 's|[0-9][0-9]*|/proc/&/smaps_rollup|g' "
		 "/proc/%d/task/%d/children) | awk '/^Pss:/ { n += $2 } END { print n }'",
		 pid, pid, pid);
	pipe_of = popen(command, "r");
	assert_non_null(pipe_of);
	assert_non_null(fgets(text, sizeof(text), pipe_of));
	pclose(pipe_of);
	return strtoul(text, NULL, 10);
}

/* How many groups have series. */
static size_t count_groups(const char *text)
{
	static const char sample[] = "\nstalltop_run_seconds_total{";
	size_t n = 0;

	for (text = strstr(text, sample); text; text = strstr(text + 1, sample))
		n++;
	return n;
}

/* Runs the program, has it scraped, and looks at how long that took and what it cost. */
static void scrape(const char *options)
{
	struct answers answers = { .gap = 0 };
	unsigned port = scrape_port(), i;
	unsigned long before, after;
	struct e2e_result r;
	struct e2e_proc p;

	e2e_start_stalltop(&p, NULL,
			   e2e_format("--listen :%u -d %g --max-series %d %s", port, INTERVAL,
				      GROUPS + 100, options));
	scrape_await(port, NULL);
	/* Before memory is looked at all groups have series. */
	scrape_all(port, 1);
	assert_true(count_groups(scrape_ask(port, NULL, SCRAPE_GET)) >= GROUPS);
	before = memory_of(p.pid);
	for (i = 0; i < TRIES; i++) {
		double begun = e2e_now(), cpu = cpu_of(p.pid);

		answers = scrape_all(port, seconds_of_test());
		printf("# half of the scrapes within %.1f ms, 99 of 100 within %.1f ms; of %zu "
		       "samples %zu late, %.3f s apart at most; %.1f %% of a CPU\n",
		       answers.median * 1000, answers.took * 1000, answers.samples, answers.late,
		       answers.gap, (cpu_of(p.pid) - cpu) / (e2e_now() - begun) * 100);
		fflush(stdout);
		/* Of many samples one may find the CPUs taken. */
		if (answers.took < 0.050 && answers.late * 100 <= answers.samples)
			break;
	}
	after = memory_of(p.pid);
	printf("# %lu kB, then %lu kB\n", before, after);
	assert_true(i < TRIES);
	assert_true(after < before + 8192);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.err.len, 0);
}

E2E_TEST(test_names)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_sleepers %d 1 %d", TASKS, GROUPS) > 0);
	scrape("-g command");
}

/* Puts the children of a process by turns into new groups below one. */
static void spread(pid_t parent, const char *top)
{
	const char *path = e2e_format("/proc/%d/task/%d/children", (int)parent, (int)parent);
	char group[600], text[32];
	FILE *children;
	unsigned n = 0;
	int pid;

	for (unsigned i = 0; i < GROUPS; i++) {
		snprintf(group, sizeof(group), "%s/g%u", top, i);
		guard_push(UNDO_CGROUP, group, NULL);
		assert_int_equal(mkdir(group, 0755), 0);
	}
	children = fopen(path, "re");
	assert_non_null(children);
	for (; fscanf(children, "%d", &pid) == 1; n++) {
		snprintf(group, sizeof(group), "%s/g%u/cgroup.procs", top, n % GROUPS);
		snprintf(text, sizeof(text), "%d", pid);
		assert_int_equal(write_text(group, text), 0);
	}
	fclose(children);
	assert_int_equal(n, TASKS);
}

/* Control groups, of which a file each is read in each sample. */
E2E_TEST(test_cgroups)
{
	const char *hierarchy = "cpu";
	char top[512];
	pid_t load;
	int err;

	e2e_require();
	err = box_group(hierarchy, e2e_group_name("scrape"), top, sizeof(top));
	if (err == -EOPNOTSUPP) {
		hierarchy = "v2";
		err = box_group(hierarchy, e2e_group_name("scrape"), top, sizeof(top));
	}
	e2e_need(err, "no cgroups");
	load = e2e_load(NULL, "load_sleepers %d", TASKS);
	assert_true(load > 0);
	spread(load, top);
	scrape(e2e_format("-g cgroup --cgroup-hierarchy %s", hierarchy));
	/* Groups are removed at once when they are empty. */
	e2e_kill(load);
}
