/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs at tracepoints cost who runs: CPU time of a context switch (two processes on one
 * CPU that send each other a byte), of a fork with its exit, and of a read that waits for a disk,
 * with and without them. Both are measured in turn, in slices that are so short that what else the
 * machine does weighs on both; CPU time, as others may take the CPU away.
 *
 *     switches PAIRS OBJECT.bpf.o PROGRAM...
 *
 * prints of each load the medians without and with, the median of the pairs' ratios, and the median
 * of their differences in ns.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 1000
#define LINKS_MAX 8

/* A load: does it so often, and returns the CPU time of all who took part, in ns. */
struct load {
	const char *name;
	unsigned times;
	double (*run)(unsigned times);
};

static void fail(const char *what)
{
	fprintf(stderr, "switches: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double cpu_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Sends a byte back for each that comes. */
static void echo(int from, int to, unsigned times, int result)
{
	double ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	char byte;

	for (unsigned i = 0; i < times; i++)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			_exit(1);
	ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - ns;
	_exit(write(result, &ns, sizeof(ns)) != sizeof(ns));
}

/* So many times there and back: two switches each. */
static double ping_pong(unsigned times)
{
	int there[2], back[2], result[2];
	double ns, theirs;
	char byte = 0;

	if (pipe(there) || pipe(back) || pipe(result))
		fail("pipe");
	if (!fork())
		echo(there[0], back[1], times, result[1]);
	ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < times; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("pipe");
	ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - ns;
	if (read(result[0], &theirs, sizeof(theirs)) != sizeof(theirs))
		fail("the other end");
	wait(NULL);
	for (unsigned i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
		close(result[i]);
	}
	return (ns + theirs) / 2;
}

/* Children that end at once. Wall clock: what a CPU does for none of them counts, too. */
static double forks(unsigned times)
{
	double ns = cpu_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < times; i++) {
		pid_t child = vfork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return cpu_ns(CLOCK_MONOTONIC) - ns;
}

static const struct load loads[] = {
	{ "switch", 8000, ping_pong },
	{ "fork", 300, forks },
};

/* Attaches or detaches the programs. */
static void attach(struct bpf_object *object, char **names, int n, struct bpf_link **links, bool on)
{
	for (int i = 0; i < n; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, names[i]);

		if (!program)
			fail(names[i]);
		if (!on) {
			bpf_link__destroy(links[i]);
			continue;
		}
		links[i] = bpf_program__attach(program);
		if (libbpf_get_error(links[i]))
			fail(names[i]);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void measure(const struct load *load, unsigned pairs, struct bpf_object *object,
		    char **names, int n)
{
	static double ns[2][PAIRS_MAX], ratio[PAIRS_MAX], more[PAIRS_MAX];
	struct bpf_link *links[LINKS_MAX];

	load->run(load->times);
	for (unsigned i = 0; i < pairs; i++) {
		/* Each comes first as often as the other. */
		for (unsigned k = 0; k < 2; k++) {
			bool on = k ^ (i & 1);

			if (on)
				attach(object, names, n, links, true);
			ns[on][i] = load->run(load->times) / load->times;
			if (on)
				attach(object, names, n, links, false);
		}
		ratio[i] = ns[1][i] / ns[0][i];
		more[i] = ns[1][i] - ns[0][i];
	}
	printf("%s: without %.0f ns, with %.0f ns, ratio %.3f, more %.0f ns (%u pairs)\n",
	       load->name, median(ns[0], pairs), median(ns[1], pairs), median(ratio, pairs),
	       median(more, pairs), pairs);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	struct bpf_object *object;
	struct bpf_program *program;
	cpu_set_t one;

	if (argc < 4 || !pairs || pairs > PAIRS_MAX || argc - 3 > LINKS_MAX) {
		fprintf(stderr, "usage: switches PAIRS OBJECT.bpf.o PROGRAM...\n");
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("sched_setaffinity");
	object = bpf_object__open(argv[2]);
	if (libbpf_get_error(object))
		fail(argv[2]);
	bpf_object__for_each_program(program, object)
	{
		bool wanted = false;

		for (int i = 3; i < argc; i++)
			wanted |= !strcmp(bpf_program__name(program), argv[i]);
		bpf_program__set_autoload(program, wanted);
	}
	if (bpf_object__load(object))
		fail("load");
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		measure(&loads[i], pairs, object, argv + 3, argc - 3);
	bpf_object__close(object);
	return 0;
}
