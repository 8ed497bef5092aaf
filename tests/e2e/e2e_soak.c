// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A long run while tasks come and go: memory and descriptors stay what they were.
 * SOAK_SAMPLES and SOAK_BASE say how many samples, and after how many the memory
 * is what it may be: 600 and 200 unless they say more (the ways that are not the
 * default take half of it).
 */
#include "tests/lib/parse.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_S 0.05
/* The sanitizers keep freed memory for a while. */
#ifdef __SANITIZE_ADDRESS__
#define ALLOWED_KIB (64 * 1024L)
#else
#define ALLOWED_KIB 1024L
#endif

/* Files of the groups whose tasks were booked waits for storage lately, and their folder. */
#define GROUP_FILES 17

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

/* A run in one way, or a part of it. */
struct soak {
	const char *options;
	unsigned long part;
	unsigned long samples, base;
	struct e2e_proc p;
	long memory, files;
};

/* Begins it. */
static void begin(struct soak *soak)
{
	soak->samples = setting("SOAK_SAMPLES", 600) / soak->part;
	soak->base = setting("SOAK_BASE", 200) / soak->part;
	assert_true(soak->samples > soak->base);
	e2e_start_stalltop(&soak->p, NULL,
			   e2e_format("-b -d %.2f -r 1 -o csv%s", INTERVAL_S, soak->options));
}

/* Notes what it has by now. */
static void note_base(struct soak *soak)
{
	/* the head row comes first */
	pass_samples(&soak->p, soak->base + 1);
	soak->memory = resident(soak->p.pid);
	soak->files = descriptors(soak->p.pid);
	assert_true(soak->memory > 0 && soak->files > 2);
}

/* At the end it has no more, but for files of groups. Until it was looked at it goes on, whoever of
 * them is the faster. */
static void check_end(struct soak *soak)
{
	struct e2e_result r;
	long memory, files;

	pass_samples(&soak->p, soak->samples - soak->base);
	memory = resident(soak->p.pid);
	files = descriptors(soak->p.pid);
	printf("# %lu samples%s: %ld KiB after %lu, %ld at the end; %ld and %ld descriptors\n",
	       soak->samples, soak->options, soak->memory, soak->base, memory, soak->files, files);
	kill(soak->p.pid, SIGTERM);
	e2e_finish(&soak->p, 60, &r);
	check_silent_success(&r);
	assert_true(memory > 0 && memory <= soak->memory + ALLOWED_KIB);
	assert_in_range(files, 3, soak->files + GROUP_FILES);
}

/* Thread rows, which come and go faster; without privileges; process rows: all beside each other.
 */
E2E_TEST(test_soak)
{
	struct soak soaks[] = {
		{ .options = " -H", .part = 2 },
		{ .options = " --source procfs", .part = 2 },
		{ .options = "", .part = 1 },
	};

	e2e_require();
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	assert_true(e2e_load(NULL, "load_churn threads") > 0);
	for (size_t i = 0; i < sizeof(soaks) / sizeof(soaks[0]); i++)
		begin(&soaks[i]);
	/* in the order in which they come to it */
	for (size_t i = 0; i < sizeof(soaks) / sizeof(soaks[0]); i++)
		note_base(&soaks[i]);
	for (size_t i = 0; i < sizeof(soaks) / sizeof(soaks[0]); i++)
		check_end(&soaks[i]);
}
