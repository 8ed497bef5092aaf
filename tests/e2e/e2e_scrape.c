// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many scrapes of many groups: eight clients with three a second each, at 5,000 tasks in 600
 * groups. Answers come at once, samples keep their grid, and memory stays what it is.
 */
#include "config.h"

#include "tests/lib/e2e.h"
#include "tests/lib/scrape.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 8
#define SCRAPES 15 /* of each client */
#define PERIOD (1.0 / 3) /* of a client, in seconds */
#define INTERVAL 1.0

/* Another program may take the CPUs for a while: the best of so many. */
#define TRIES 4

/* A scrape, as a client tells it: how long it took, and of when the sample was. */
struct scrape {
	double took, stamp;
};

/* The end of a client: all its scrapes, into a pipe. */
_Noreturn static void be_client(unsigned port, unsigned number, int to)
{
	double next = e2e_now() + number * PERIOD / CLIENTS;
	struct scrape scrapes[SCRAPES];

	for (unsigned i = 0; i < SCRAPES; i++, next += PERIOD) {
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
	_exit(write(to, scrapes, sizeof(scrapes)) != sizeof(scrapes));
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

/* Has all clients scrape. Sets what the 99th of a hundred took, and the longest interval. */
static void scrape_all(unsigned port, double *took, double *gap)
{
	struct scrape scrapes[CLIENTS * SCRAPES];
	pid_t clients[CLIENTS];
	int fds[2], status;
	size_t n = CLIENTS * SCRAPES;

	assert_int_equal(pipe(fds), 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		assert_true(clients[i] >= 0);
		if (!clients[i])
			be_client(port, i, fds[1]);
	}
	close(fds[1]);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_int_equal(read(fds[0], &scrapes[i * SCRAPES], sizeof(*scrapes) * SCRAPES),
				 sizeof(*scrapes) * SCRAPES);
	close(fds[0]);
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
		assert_int_equal(status, 0);
	}
	qsort(scrapes, n, sizeof(*scrapes), compare_took);
	*took = scrapes[n - 1 - n / 100].took;
	qsort(scrapes, n, sizeof(*scrapes), compare_stamps);
	*gap = 0;
	for (size_t i = 1; i < n; i++)
		if (scrapes[i].stamp - scrapes[i - 1].stamp > *gap)
			*gap = scrapes[i].stamp - scrapes[i - 1].stamp;
	assert_true(*gap > 0);
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

static void test_scrapes(void **state)
{
	double took = 0, gap = 0;
	unsigned long before, after;
	struct e2e_result r;
	struct e2e_proc p;
	unsigned port, i;

	(void)state;
	e2e_require();
	assert_true(e2e_load(NULL, "load_sleepers 5000 1 600") > 0);
	port = scrape_port();
	e2e_start_stalltop(
		&p, NULL,
		e2e_format("--listen :%u -d %g -g command --max-series 700", port, INTERVAL));
	scrape_await(port, NULL);
	scrape_all(port, &took, &gap);
	before = memory_of(p.pid);
	for (i = 0; i < TRIES; i++) {
		scrape_all(port, &took, &gap);
		printf("# 99 of 100 scrapes within %.1f ms, samples %.3f s apart at most\n",
		       took * 1000, gap);
		if (took < 0.050 && gap < 1.1 * INTERVAL)
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

int main(void)
{
	const struct CMUnitTest tests[] = { e2e_test(test_scrapes) };

	return cmocka_run_group_tests(tests, e2e_group_setup, e2e_group_teardown);
}
