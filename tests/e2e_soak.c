// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A long run while tasks come and go: memory and descriptors stay what they were.
 * SOAK_SAMPLES and SOAK_BASE say how many samples, and after how many the memory
 * is what it may be: 600 and 200 unless they say more (the ways that are not the
 * default take half of it).
 */
#include "config.h"

#include "parse.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_S	0.05
/* The sanitizers keep freed memory for a while. */
#ifdef __SANITIZE_ADDRESS__
#define ALLOWED_KIB	(64 * 1024L)
#else
#define ALLOWED_KIB	1024L
#endif

/* A number from the environment. */
static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n ? n : otherwise;
}

/* Resident memory in KiB. */
static long resident(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* Open descriptors. */
static long descriptors(pid_t pid)
{
	char path[64];
	struct dirent *d;
	long n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		n += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* Waits for so many more samples: with -r 1 each is a line. */
static void pass_samples(struct e2e_proc *p, unsigned long n)
{
	for (; n; n--)
		if (!e2e_skip_line(p, 30))
			fail_msg("no sample within 30 s");
}

/* The run in one way, or a part of it. */
static void soak(const char *options, unsigned long part)
{
	unsigned long samples = setting("SOAK_SAMPLES", 600) / part;
	unsigned long base = setting("SOAK_BASE", 200) / part;
	long memory, files, memory_end, files_end;
	struct e2e_result r;
	struct e2e_proc p;

	assert_true(samples > base);
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	assert_true(e2e_load(NULL, "load_churn threads") > 0);
	e2e_start_stalltop(&p, NULL, e2e_format("-b -d %.2f -n %lu -r 1 -o csv%s", INTERVAL_S,
						samples + 20, options));
	/* the head row comes first */
	pass_samples(&p, base + 1);
	memory = resident(p.pid);
	files = descriptors(p.pid);
	assert_true(memory > 0 && files > 2);
	pass_samples(&p, samples - base);
	memory_end = resident(p.pid);
	files_end = descriptors(p.pid);
	printf("# %lu samples%s: %ld KiB after %lu, %ld at the end; %ld and %ld descriptors\n",
	       samples, options, memory, base, memory_end, files, files_end);
	e2e_finish(&p, 60, &r);
	check_silent_success(&r);
	assert_true(memory_end <= memory + ALLOWED_KIB);
	assert_true(files_end <= files);
}

/* Process rows. */
static void test_soak(void **state)
{
	(void)state;
	e2e_require();
	soak("", 1);
}

/* Thread rows, which come and go faster. */
static void test_soak_threads(void **state)
{
	(void)state;
	e2e_require();
	soak(" -H", 2);
}

/* Without privileges. */
static void test_soak_procfs(void **state)
{
	(void)state;
	e2e_require();
	soak(" --source procfs", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(test_soak),
		e2e_test(test_soak_threads),
		e2e_test(test_soak_procfs),
	};

	return cmocka_run_group_tests(tests, e2e_group_setup, e2e_group_teardown);
}
