// SPDX-License-Identifier: GPL-2.0-or-later
/* The system's figures: files of a made-up tree, and those of this kernel. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/system.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"

#define LINES(total) \
	"some avg10=1.00 avg60=2.00 avg300=3.00 total=" total "\n" \
	"full avg10=0.50 avg60=0.60 avg300=0.70 total=5\n"

#define IRQ_LINE "full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"

/* All four files, as a kernel with everything has them. */
static void put_pressure(const struct tree *tree)
{
	put_text(tree, "pressure/cpu", LINES("10"));
	put_text(tree, "pressure/memory", LINES("20"));
	put_text(tree, "pressure/io", LINES("30"));
	put_text(tree, "pressure/irq", IRQ_LINE);
}

/* Each file into its place, and the system's cpu `full` away, which says nothing. */
TREE_TEST(test_pressure)
{
	const struct tree *tree = *state;
	struct system_sample sample;
	struct system *system;
	uint64_t before;

	put_pressure(tree);
	system = system_open(tree->fd);
	before = clock_ns(CLOCK_MONOTONIC);
	memset(&sample, 0xA5, sizeof(sample));
	system_read(system, &sample);
	assert_in_range(sample.pressure.read_ns, before, clock_ns(CLOCK_MONOTONIC));
	for (int i = 0; i < PSI_RESOURCES; i++) {
		assert_int_equal(sample.pressure.error[i], 0);
		assert_int_equal(sample.pressure.psi[i].some.valid, i != PSI_IRQ);
		assert_int_equal(sample.pressure.psi[i].full.valid, i != PSI_CPU);
	}
	assert_int_equal(sample.pressure.psi[PSI_CPU].some.total_us, 10);
	assert_int_equal(sample.pressure.psi[PSI_CPU].full.total_us, 0);
	assert_int_equal(sample.pressure.psi[PSI_MEMORY].some.total_us, 20);
	assert_int_equal(sample.pressure.psi[PSI_MEMORY].some.avg60, 200);
	assert_int_equal(sample.pressure.psi[PSI_MEMORY].full.total_us, 5);
	assert_int_equal(sample.pressure.psi[PSI_IO].some.total_us, 30);
	assert_int_equal(sample.pressure.psi[PSI_IRQ].full.total_us, 77);
	system_close(system);
}

/* Files stay open: one call a file and reading, and each shows what is there now. */
TREE_TEST(test_pressure_again)
{
	const struct tree *tree = *state;
	struct system_sample sample;
	struct system *system;
	char text[256];

	put_pressure(tree);
	system = system_open(tree->fd);
	/* stat, meminfo and loadavg are not there. */
	assert_int_equal(CALLS_OF(system_read(system, &sample)), 2 * PSI_RESOURCES);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "some avg10=0.00 avg60=0.00 avg300=0.00 total=%u\n",
			 i);
		put_text(tree, "pressure/io", text);
		assert_int_equal(CALLS_OF(system_read(system, &sample)), PSI_RESOURCES);
		assert_int_equal(sample.pressure.psi[PSI_IO].some.total_us, i);
		assert_false(sample.pressure.psi[PSI_IO].full.valid);
	}
	system_close(system);
}

/* A missing file costs a call every 64 readings, and is found when it comes. */
TREE_TEST(test_pressure_missing)
{
	const struct tree *tree = *state;
	struct system_sample sample;
	struct system *system = system_open(tree->fd);
	uint64_t calls = calls_made();

	for (unsigned i = 0; i < 64; i++) {
		system_read(system, &sample);
		for (int r = 0; r < PSI_RESOURCES; r++) {
			assert_int_equal(sample.pressure.error[r], -ENOENT);
			assert_false(sample.pressure.psi[r].some.valid ||
				     sample.pressure.psi[r].full.valid);
		}
	}
	assert_int_equal(calls_made() - calls, PSI_RESOURCES);
	put_pressure(tree);
	assert_int_equal(CALLS_OF(system_read(system, &sample)), 2 * PSI_RESOURCES);
	for (int r = 0; r < PSI_RESOURCES; r++)
		assert_int_equal(sample.pressure.error[r], 0);
	assert_int_equal(sample.pressure.psi[PSI_MEMORY].some.total_us, 20);
	system_close(system);
}

/* One file missing, one with nothing of use, one that cannot be read: no harm to the rest. */
TREE_TEST(test_pressure_broken)
{
	const struct tree *tree = *state;
	struct system_sample sample;
	struct system *system;
	char large[600];
	uint64_t calls;

	put_text(tree, "pressure/cpu", "nothing\n");
	put_dir(tree, "pressure/memory");
	put_text(tree, "pressure/io", LINES("30"));
	system = system_open(tree->fd);
	system_read(system, &sample);
	assert_int_equal(sample.pressure.error[PSI_CPU], -EBADMSG);
	assert_int_equal(sample.pressure.error[PSI_MEMORY], -EISDIR);
	assert_int_equal(sample.pressure.error[PSI_IO], 0);
	assert_int_equal(sample.pressure.error[PSI_IRQ], -ENOENT);
	assert_int_equal(sample.pressure.psi[PSI_IO].some.total_us, 30);
	/* What cannot be read is left alone as well: cpu and io are read, no more. */
	calls = calls_made();
	system_read(system, &sample);
	assert_int_equal(calls_made() - calls, 2);
	assert_int_equal(sample.pressure.error[PSI_MEMORY], -EISDIR);
	/* Longer than any text of the kernel: a total may be cut in it. */
	memset(large, '\n', sizeof(large));
	memcpy(large, IRQ_LINE, strlen(IRQ_LINE));
	put(tree, "pressure/cpu", large, sizeof(large));
	system_read(system, &sample);
	assert_int_equal(sample.pressure.error[PSI_CPU], -EBADMSG);
	system_close(system);
}

/* Without a /proc to look in nothing is known, but the uptime by a library that takes its path. */
TEST(test_no_procfd)
{
	struct system *system = system_open(-1);
	struct system_sample sample;

	system_read(system, &sample);
	for (int i = 0; i < PSI_RESOURCES; i++)
		assert_int_equal(sample.pressure.error[i], -EBADF);
	assert_false(sample.cpu_valid || sample.memory_valid || sample.load_valid);
	assert_int_equal(sample.uptime_valid, PROCPS_LIBRARY[0] && !access("/proc/uptime", R_OK));
	system_close(system);
	system_close(NULL);
}

/* Begins a stat text: two CPUs, and a line of interrupts of that many bytes behind it. */
static void put_stat(const struct tree *tree, size_t interrupts, unsigned forks)
{
	struct buf text = { 0 };

	buf_puts(&text, "cpu  10 20 30 40 50 60 70 80 90 0\n"
			"cpu0 1 1 1 1 1 1 1 1 1 0\ncpu1 9 19 29 39 49 59 69 79 89 0\nintr 7");
	for (size_t i = 0; i < interrupts; i += 2)
		buf_puts(&text, " 0");
	buf_printf(&text, "\nctxt 5\nbtime 6\nprocesses %u\nprocs_running 1\n", forks);
	put(tree, "stat", text.data, text.len);
	buf_free(&text);
}

/* Files are read to their end however long they are, stay open, and are one call each. */
TREE_TEST(test_files)
{
	static const size_t sizes[] = { 0, 3900, 4000, 4096, 8100, 8192, 300000, 10 };
	const struct tree *tree = *state;
	uint64_t tick = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK), calls;
	struct system_sample sample;
	struct system *system;

	put_stat(tree, 0, 1);
	put_text(tree, "meminfo",
		 "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\n"
		 "SwapTotal: 50 kB\nSwapFree: 20 kB\n");
	put_text(tree, "loadavg", "0.05 1.87 123.93 1/85 7533\n");
	put_pressure(tree);
	system = system_open(tree->fd);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		put_stat(tree, sizes[i], i + 1);
		system_read(system, &sample);
		assert_true(sample.cpu_valid && sample.memory_valid && sample.load_valid);
		assert_int_equal(sample.forks, i + 1);
		assert_int_equal(sample.cpus, 2);
		for (unsigned s = 0; s < CPU_STATES; s++)
			assert_int_equal(sample.cpu_ns[s], 10 * (s + 1) * tick);
	}
	assert_int_equal(sample.memory_total, 1000);
	assert_int_equal(sample.memory_used, 400);
	assert_int_equal(sample.swap_total, 50);
	assert_int_equal(sample.swap_used, 30);
	assert_true(sample.load[0] == 0.05 && sample.load[1] == 1.87 && sample.load[2] == 123.93);
	calls = calls_made();
	system_read(system, &sample);
	assert_int_equal(calls_made() - calls, 3 + PSI_RESOURCES);
	/* A text that says nothing is invalid, and no other one with it. */
	put_text(tree, "stat", "nothing\n");
	put_text(tree, "loadavg", "");
	system_read(system, &sample);
	assert_false(sample.cpu_valid || sample.load_valid || sample.cpus || sample.forks);
	assert_true(sample.memory_valid);
	system_close(system);
}

/* What cannot be opened, and not for being missing, is tried again, and has its reason. */
TREE_TEST(test_files_again)
{
	const struct tree *tree = *state;
	struct system_sample sample;
	struct system *system;
	uint64_t calls;

	put_stat(tree, 0, 1);
	put_text(tree, "loadavg", "nothing\n");
	assert_int_equal(symlinkat("meminfo", tree->fd, "meminfo"), 0);
	system = system_open(tree->fd);
	calls = calls_made();
	system_read(system, &sample);
	assert_int_equal(sample.file_error[SYSTEM_STAT], 0);
	assert_int_equal(sample.file_error[SYSTEM_MEMINFO], -ELOOP);
	assert_int_equal(sample.file_error[SYSTEM_LOADAVG], -EBADMSG);
	assert_int_equal(calls_made() - calls, 3 + PSI_RESOURCES);
	assert_int_equal(unlinkat(tree->fd, "meminfo", 0), 0);
	put_text(tree, "meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\n");
	system_read(system, &sample);
	assert_int_equal(sample.file_error[SYSTEM_MEMINFO], 0);
	assert_true(sample.memory_valid);
	system_close(system);
	assert_int_equal(unlinkat(tree->fd, "meminfo", 0), 0);
	system = system_open(tree->fd);
	system_read(system, &sample);
	assert_int_equal(sample.file_error[SYSTEM_MEMINFO], -ENOENT);
	calls = calls_made();
	system_read(system, &sample);
	assert_int_equal(calls_made() - calls, 2);
	system_close(system);
}

/* Opens the real /proc, and steps out of a test where there is none. */
static int open_proc(const char *test)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || faccessat(fd, "stat", R_OK, 0) < 0) {
		printf("# skip: %s: no /proc\n", test);
		skip();
	}
	return fd;
}

/* The first line of /proc/stat, in ns. */
static void read_stat_line(uint64_t ns[CPU_STATES])
{
	unsigned long long ticks[CPU_STATES];
	FILE *file = fopen("/proc/stat", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0],
				&ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
				&ticks[7]),
			 8);
	fclose(file);
	for (int i = 0; i < CPU_STATES; i++)
		ns[i] = ticks[i] * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* CPU states lie between two readings of the kernel's own text. */
TEST(test_cpu)
{
	int procfd = open_proc("test_cpu");
	struct system *system = system_open(procfd);
	uint64_t before[CPU_STATES], after[CPU_STATES];
	struct system_sample sample;

	read_stat_line(before);
	system_read(system, &sample);
	read_stat_line(after);
	assert_true(sample.cpu_valid);
	assert_int_equal(sample.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 0; i < CPU_STATES; i++) {
		/* The kernel's iowait, and with it idle, may fall (proc_stat(5)): 1 s of play. */
		uint64_t play = i == CPU_IOWAIT || i == CPU_IDLE ? NSEC_PER_SEC : 0;

		assert_in_range(sample.cpu_ns[i] + play, before[i], after[i] + 2 * play);
	}
	system_close(system);
	close(procfd);
}

/* Each reading is a new one, not the first again: burnt time shows at once. */
TEST(test_cpu_fresh)
{
	int procfd = open_proc("test_cpu_fresh");
	struct system *system = system_open(procfd);
	struct system_sample first, second;
	uint64_t busy = 0;

	system_read(system, &first);
	for (uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 100 * NSEC_PER_MSEC;
	     clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end;)
		continue;
	system_read(system, &second);
	for (int i = 0; i < CPU_STATES; i++) {
		if (i != CPU_IDLE && i != CPU_IOWAIT)
			busy += second.cpu_ns[i] - first.cpu_ns[i];
	}
	assert_in_range(busy, 60 * NSEC_PER_MSEC, UINT64_MAX / 2);
	assert_true(second.pressure.read_ns - first.pressure.read_ns >= 100 * NSEC_PER_MSEC);
	system_close(system);
	close(procfd);
}

/* A line of /proc/meminfo, in kB. */
static uint64_t read_meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long value = 0;
	char line[128], format[64];
	int found = 0;

	assert_non_null(file);
	snprintf(format, sizeof(format), "%s: %%llu kB", name);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, format, &value) == 1;
	fclose(file);
	assert_true(found);
	return value;
}

/* Memory, swap and load against sysinfo(2) and the kernel's own text. */
TEST(test_memory_load)
{
	int procfd = open_proc("test_memory_load");
	struct system *system = system_open(procfd);
	struct system_sample sample;
	struct sysinfo info;
	uint64_t used;

	system_read(system, &sample);
	used = read_meminfo("MemTotal") - read_meminfo("MemAvailable");
	assert_int_equal(sysinfo(&info), 0);
	assert_true(sample.memory_valid);
	assert_int_equal(sample.memory_total, (uint64_t)info.totalram * info.mem_unit / 1024);
	assert_in_range(sample.memory_used, 1, sample.memory_total);
	/* Other programs come and go between the two readings. */
	assert_in_range(sample.memory_used + sample.memory_total / 20, used,
			used + sample.memory_total / 10);
	assert_int_equal(sample.swap_total, (uint64_t)info.totalswap * info.mem_unit / 1024);
	assert_true(sample.swap_used <= sample.swap_total);
	assert_true(sample.load_valid);
	for (int i = 0; i < 3; i++) {
		double load = (double)info.loads[i] / (1 << SI_LOAD_SHIFT);

		/* Five seconds later the next figure may come between the two readings. */
		assert_true(fabs(sample.load[i] - load) < 0.1 * load + 1.0);
	}
	system_close(system);
	close(procfd);
}

/* The uptime runs on, by the clock, from what /proc/uptime said. */
TEST(test_uptime)
{
	int procfd = open_proc("test_uptime");
	struct system *system = system_open(procfd);
	const struct timespec nap = { .tv_nsec = 50 * 1000 * 1000 };
	struct system_sample first, second;
	double file_uptime = 0;
	FILE *file;

	system_read(system, &first);
	nanosleep(&nap, NULL);
	system_read(system, &second);
	file = fopen("/proc/uptime", "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lf", &file_uptime), 1);
	fclose(file);
	assert_true(first.uptime_valid && second.uptime_valid);
	assert_true(second.uptime - first.uptime >= 0.05);
	/* /proc/uptime has hundredths. */
	assert_true(file_uptime > second.uptime - 0.03 && file_uptime < second.uptime + 5);
	system_close(system);
	close(procfd);
}

/* Without a library the uptime is that of the tree's file, and with one never another one. */
TREE_TEST(test_uptime_file)
{
	static const struct {
		const char *text;
		int result;
		double seconds;
	} rows[] = {
		{ "1000.50 2000.25\n", 0, 1000.5 },
		{ "0.00 0.00\n", 0, 0 },
		{ "4294967296.07 1.00\n", 0, 4294967296.07 },
		{ "1000.5 2000.25\n", -EBADMSG, 0 },
		{ "1000 2000\n", -EBADMSG, 0 },
		{ "1000.50", -EBADMSG, 0 },
		{ "-1.00 2.00\n", -EBADMSG, 0 },
		{ "nothing\n", -EBADMSG, 0 },
		{ "", -EBADMSG, 0 },
	};
	const struct tree *tree = *state;
	double seconds = -1, again;

	assert_int_equal(uptime_read(tree->fd, &seconds),
			 PROCPS_LIBRARY[0] && !access("/proc/uptime", R_OK) ? 0 : -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put_text(tree, "uptime", rows[i].text);
		if (PROCPS_LIBRARY[0]) {
			assert_int_equal(uptime_read(tree->fd, &again), 0);
			assert_true(again >= seconds && again < seconds + 5);
			continue;
		}
		again = -1;
		assert_int_equal(uptime_read(tree->fd, &again), rows[i].result);
		assert_true(again == (rows[i].result ? -1 : rows[i].seconds));
	}
}

/* This kernel's pressure files: each readable, or with its reason. */
TEST(test_pressure_live)
{
	int procfd = open_proc("test_pressure_live");
	struct system *system = system_open(procfd);
	struct system_sample sample;

	system_read(system, &sample);
	for (int i = 0; i < PSI_RESOURCES; i++) {
		char path[32];
		int err;

		snprintf(path, sizeof(path), "pressure/%s", psi_names[i]);
		err = faccessat(procfd, path, F_OK, 0) < 0 ? -errno : 0;
		if (err) {
			assert_int_equal(sample.pressure.error[i], err);
			continue;
		}
		assert_true(sample.pressure.error[i] == 0 ||
			    sample.pressure.error[i] == -EOPNOTSUPP);
		assert_int_equal(sample.pressure.psi[i].some.valid,
				 !sample.pressure.error[i] && i != PSI_IRQ);
		assert_true(i != PSI_CPU || !sample.pressure.psi[i].full.valid);
	}
	system_close(system);
	close(procfd);
}

/* The names of the states are part of the machine formats. */
TEST(test_names)
{
	static const char *const names[CPU_STATES] = {
		"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
	};

	for (int i = 0; i < CPU_STATES; i++)
		assert_string_equal(cpu_state_names[i], names[i]);
}

/* Two readings of /proc/stat, two CPUs and a second apart, of which one CPU idled. */
static void make_pair(struct system_sample *before, struct system_sample *now)
{
	*before = (struct system_sample){ .cpu_valid = true, .cpus = 2, .pressure.read_ns = 10 };
	for (unsigned s = 0; s < CPU_STATES; s++)
		before->cpu_ns[s] = 1000 * NSEC_PER_SEC;
	*now = *before;
	now->pressure.read_ns += NSEC_PER_SEC;
	now->cpu_ns[CPU_USER] += NSEC_PER_SEC;
	now->cpu_ns[CPU_IDLE] += NSEC_PER_SEC;
}

/* What fell, or grew by more than passed, is not known; a little is the kernel's way. */
TEST(test_cpu_leaps)
{
	static const struct {
		enum cpu_state state;
		int64_t by_ms;
		bool known;
	} rows[] = {
		{ CPU_IDLE, 0, true },	      { CPU_IDLE, -1100, true },
		{ CPU_IDLE, -30000, false },  { CPU_IOWAIT, -300, true },
		{ CPU_IOWAIT, -3000, false }, { CPU_USER, -1010, false },
		{ CPU_USER, 30800, false },   { CPU_SYSTEM, 200, true },
		{ CPU_STEAL, 2000, false },
	};
	struct system_sample before, now;
	uint64_t ns[CPU_STATES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make_pair(&before, &now);
		now.cpu_ns[rows[i].state] += (uint64_t)(rows[i].by_ms * (int64_t)NSEC_PER_MSEC);
		if (system_cpu_grown(&before, &now, ns) != rows[i].known)
			fail_msg("row %zu", i);
		assert_true((system_cpu_share(&before, &now, 1u << CPU_USER) >= 0) ==
			    rows[i].known);
	}
	assert_false(system_cpu_grown(NULL, &now, ns));
	/* A number that no machine has run for. */
	assert_int_equal(system_parse_stat("cpu 1 2 3 8317131874320235395 5 6 7 8 9 10\n"
					   "cpu0 1 2 3 4 5 6 7 8 9 10\nprocesses 5\n",
					   88, 10 * NSEC_PER_MSEC, &now),
			 -EBADMSG);
}

/* Pressure that leaps by 2^32 ns, or falls. */
TEST(test_psi_leaps)
{
	const struct psi_line before = { .valid = true, .total_us = 5000000 };
	struct psi_line now = before;
	uint64_t us;

	now.total_us += 1000000;
	assert_true(psi_grown(&before, &now, NSEC_PER_SEC, &us) && us == 1000000);
	now.total_us = before.total_us + 4294967;
	assert_false(psi_grown(&before, &now, NSEC_PER_SEC, &us));
	assert_true(psi_grown(&before, &now, 5 * NSEC_PER_SEC, &us));
	now.total_us = UINT64_MAX;
	assert_false(psi_grown(&before, &now, NSEC_PER_SEC, &us));
	now.total_us = 1;
	assert_false(psi_grown(&before, &now, NSEC_PER_SEC, &us));
	assert_false(psi_grown(NULL, &now, NSEC_PER_SEC, &us));
	assert_false(psi_grown(&before, &before, 0, &us));
}
