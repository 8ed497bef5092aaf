// SPDX-License-Identifier: GPL-2.0-or-later
/* What it takes to start a trace: the kernel checks the programs each time that one is opened. */
#include "tests/lib/traced_children.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "tests/lib/e2e.h"

#define ROUNDS 5

static const struct trace_options plain = { .sites = 16384, .stacks = TRACE_STACKS_BLOCKED };

/* The instructions that the verifier walked for the program of a descriptor; 0: it is none. */
static unsigned long verified_of(const char *fd)
{
	FILE *info = fopen(e2e_format("/proc/self/fdinfo/%s", fd), "re");
	unsigned long n = 0;
	char line[256];

	if (!info)
		return 0;
	while (fgets(line, sizeof(line), info))
		sscanf(line, "verified_insns: %lu", &n);
	fclose(info);
	return n;
}

/* The same of all programs that this process has loaded. */
static unsigned long verified(unsigned *programs)
{
	DIR *folder = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	unsigned long sum = 0;

	assert_non_null(folder);
	*programs = 0;
	while ((entry = readdir(folder))) {
		unsigned long n = verified_of(entry->d_name);

		sum += n;
		*programs += n > 0;
	}
	closedir(folder);
	return sum;
}

/* A path more in one place of a program may double what there is to check. */
E2E_TEST(has_few_paths)
{
	struct traced_children book;
	unsigned programs;
	unsigned long n;

	e2e_require_bpf();
	traced_children_open(&book, &plain);
	/* Kernels tell since 5.16. */
	n = verified(&programs);
	traced_children_close(&book);
	print_message("%lu instructions of %u programs were checked\n", n, programs);
	assert_in_range(programs, 8, 64);
	assert_in_range(n, 1000, 160000);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A person waits for it who has pressed a key. */
E2E_TEST(starts_soon)
{
	uint64_t ns[ROUNDS];

	e2e_require_bpf();
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		struct trace *trace;

		assert_int_equal(trace_open(&trace, &plain), 0);
		ns[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
		trace_close(trace);
	}
	qsort(ns, ROUNDS, sizeof(ns[0]), by_value);
	print_message("opened in %.3f to %.3f s of CPU\n", (double)ns[0] / 1e9,
		      (double)ns[ROUNDS - 1] / 1e9);
	assert_in_range(ns[ROUNDS / 2], 1, 400 * NSEC_PER_MSEC);
}
