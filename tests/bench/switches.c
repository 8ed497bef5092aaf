/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs at the kernel's switches cost who runs: time of a context switch (two processes on
 * one CPU that send each other a byte), of a start of a process with its end, of a wait in state D
 * (of a parent in vfork()), with and without them. Both are measured in turn, in slices that are so
 * short that what else the machine does weighs on both.
 *
 *     switches PAIRS                          those that measure waits (--measure)
 *     switches PAIRS OBJECT.bpf.o PROGRAM...  any
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

#include "bpf/measure.h"

#define PAIRS_MAX 1000
#define LINKS_MAX 8

/* A load: does it so often, and returns the CPU time of all who took part, in ns. */
struct load {
	const char *name;
	unsigned times;
	double (*run)(unsigned times);
};

_Noreturn static void fail(const char *what)
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

	for (volatile unsigned i = 0; i < times; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return cpu_ns(CLOCK_MONOTONIC) - ns;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* The same, with a wait in state D for each. */
static double vforks(unsigned times)
{
	double ns = cpu_ns(CLOCK_MONOTONIC);

	for (volatile unsigned i = 0; i < times; i++) {
		pid_t child = vfork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return cpu_ns(CLOCK_MONOTONIC) - ns;
}
#pragma GCC diagnostic pop

static const struct load loads[] = {
	{ "switch", 8000, ping_pong },
	{ "fork and exit", 300, forks },
	{ "vfork and exit", 600, vforks },
};

/* Who runs the loads: apart from who loads programs, which leaves much memory to copy. */
struct worker {
	int told, tells;
};

static void work(int told, int tells)
{
	unsigned char which;

	while (read(told, &which, 1) == 1) {
		double ns = loads[which].run(loads[which].times) / loads[which].times;

		if (write(tells, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

static void start(struct worker *worker)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		fail("pipe");
	if (!fork()) {
		close(to[1]);
		work(to[0], from[1]);
	}
	close(to[0]);
	*worker = (struct worker){ .told = to[1], .tells = from[0] };
}

/* Has the load run once. */
static double run(const struct worker *worker, unsigned char which)
{
	double ns;

	if (write(worker->told, &which, 1) != 1 ||
	    read(worker->tells, &ns, sizeof(ns)) != sizeof(ns))
		fail("the worker");
	return ns;
}

/* What is measured: programs of an object, or, without one, those of measure.bpf.c. */
struct subject {
	struct bpf_object *object;
	char **names;
	int n;
	struct bpf_link *links[LINKS_MAX];
	struct measure *measure;
};

/* Attaches or detaches the programs. */
static void attach(struct subject *subject, bool on)
{
	int err;

	if (!subject->object && on) {
		err = measure_open(&subject->measure);
		errno = -err;
		if (err)
			fail("measure_open");
	} else if (!subject->object) {
		measure_close(subject->measure);
	}
	for (int i = 0; i < subject->n; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(subject->object, subject->names[i]);

		if (!program)
			fail(subject->names[i]);
		if (!on) {
			bpf_link__destroy(subject->links[i]);
			continue;
		}
		subject->links[i] = bpf_program__attach(program);
		if (libbpf_get_error(subject->links[i]))
			fail(subject->names[i]);
	}
}

/* Loads the programs of an object that are wanted. */
static void load_object(struct subject *subject, const char *path)
{
	struct bpf_program *program;

	subject->object = bpf_object__open(path);
	if (libbpf_get_error(subject->object))
		fail(path);
	bpf_object__for_each_program(program, subject->object)
	{
		bool wanted = false;

		for (int i = 0; i < subject->n; i++)
			wanted |= !strcmp(bpf_program__name(program), subject->names[i]);
		bpf_program__set_autoload(program, wanted);
	}
	if (bpf_object__load(subject->object))
		fail("load");
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

static void measure(const struct worker *worker, unsigned char which, unsigned pairs,
		    struct subject *subject)
{
	static double ns[2][PAIRS_MAX], ratio[PAIRS_MAX], more[PAIRS_MAX];

	run(worker, which);
	for (unsigned i = 0; i < pairs; i++) {
		/* Each comes first as often as the other. */
		for (unsigned k = 0; k < 2; k++) {
			bool on = k ^ (i & 1);

			if (on)
				attach(subject, true);
			ns[on][i] = run(worker, which);
			if (on)
				attach(subject, false);
		}
		ratio[i] = ns[1][i] / ns[0][i];
		more[i] = ns[1][i] - ns[0][i];
	}
	printf("%s: without %.0f ns, with %.0f ns, ratio %.3f, more %.0f ns (%u pairs)\n",
	       loads[which].name, median(ns[0], pairs), median(ns[1], pairs), median(ratio, pairs),
	       median(more, pairs), pairs);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	struct subject subject = { .names = argv + 3, .n = argc > 3 ? argc - 3 : 0 };
	struct worker worker;
	cpu_set_t one;

	if (!pairs || pairs > PAIRS_MAX || argc == 3 || subject.n > LINKS_MAX) {
		fprintf(stderr, "usage: switches PAIRS [OBJECT.bpf.o PROGRAM...]\n");
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("sched_setaffinity");
	start(&worker);
	if (subject.n)
		load_object(&subject, argv[2]);
	for (unsigned char i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		measure(&worker, i, pairs, &subject);
	bpf_object__close(subject.object);
	return 0;
}
