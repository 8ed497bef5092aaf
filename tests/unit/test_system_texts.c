/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system-wide texts of /proc, as kernels write them and as they must not be taken. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "kernel/system.h"

#define STAT \
	"cpu  1 2 3 4 5 6 7 8 9 10\n" \
	"cpu0 1 1 1 1 1 1 1 1 1 1\n" \
	"cpu5 0 1 2 3 4 5 6 7 8 9\n" \
	"intr 12345 1 2 3 0 0\n" \
	"ctxt 99\nbtime 1763700000\nprocesses 424242\n" \
	"procs_running 1\nprocs_blocked 0\nsoftirq 5 1 2 3\n"

#define MEMORY \
	"MemTotal:       24684096 kB\n" \
	"MemFree:        20000000 kB\n" \
	"MemAvailable:   21684096 kB\n" \
	"Buffers:           10000 kB\n" \
	"SwapCached:            7 kB\n" \
	"SwapTotal:       1000000 kB\n" \
	"SwapFree:         999000 kB\n" \
	"Dirty:                 8 kB\n"

/* Parses a literal. */
#define PARSE(what, text, out) system_parse_##what(text, strlen(text), out)
#define PARSE_STAT(text, out) system_parse_stat(text, strlen(text), 1, out)

/* The states in their order, CPUs by their lines, forks from behind the interrupts. */
TEST(test_stat)
{
	struct system_sample stat;

	memset(&stat, 0xA5, sizeof(stat));
	assert_int_equal(PARSE_STAT(STAT, &stat), 0);
	for (unsigned i = 0; i < CPU_STATES; i++)
		assert_int_equal(stat.cpu_ns[i], i + 1);
	assert_true(stat.cpu_valid);
	assert_int_equal(stat.cpus, 2);
	assert_int_equal(stat.forks, 424242);
	assert_int_equal(PARSE_STAT("cpu  1 2 3 4 5 6 7 8\ncpu0 1\nctxt 5\n", &stat), 0);
	assert_int_equal(stat.cpus, 1);
	assert_int_equal(stat.forks, 0);
}

/* What is no such text leaves the result alone, wherever it breaks off. */
TEST(test_stat_broken)
{
	static const char *const texts[] = {
		"",
		"cpu",
		"cpu ",
		"nothing\n",
		"cpu0 1 2 3 4 5 6 7 8\n",
		"cpu  1 2 3 4 5 6 7\ncpu0 1\n",
		"cpu  1 2 3 -4 5 6 7 8\ncpu0 1\n",
		"cpu  1 2 3 4 5 6 7 8\n",
		"cpu  1 2 3 4 5 6 7 99999999999999999999\ncpu0 1\n",
		"cpu  1 2 3 4 5 6 7 8\ncpu0 1\nprocesses x\n",
		"cpu  1 2 3 4 5 6 7 8\ncpu0 1\nprocesses 12",
	};
	struct system_sample stat = { .cpus = 77 };

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(PARSE_STAT(texts[i], &stat), -EBADMSG);
	assert_int_equal(stat.cpus, 77);
	assert_false(stat.cpu_valid);
	for (size_t len = 0; len < strlen(STAT); len++) {
		int err = system_parse_stat(STAT, len, 1, &stat);

		/* A number that was cut is not taken for a smaller one. */
		if (!err)
			assert_true(stat.forks == 0 || stat.forks == 424242);
		else
			assert_int_equal(err, -EBADMSG);
	}
}

/* Used is what is not available. */
TEST(test_memory)
{
	struct system_sample memory;

	memset(&memory, 0xA5, sizeof(memory));
	assert_int_equal(PARSE(memory, MEMORY, &memory), 0);
	assert_true(memory.memory_valid);
	assert_int_equal(memory.memory_total, 24684096);
	assert_int_equal(memory.memory_used, 3000000);
	assert_int_equal(memory.swap_total, 1000000);
	assert_int_equal(memory.swap_used, 1000);
}

/* Kernels without swap, and containers whose figures do not fit together. */
TEST(test_memory_odd)
{
	struct system_sample memory;

	assert_int_equal(PARSE(memory, "MemTotal: 100 kB\nMemFree: 30 kB\n", &memory), 0);
	assert_int_equal(memory.memory_used, 70);
	assert_int_equal(memory.swap_total, 0);
	assert_int_equal(memory.swap_used, 0);
	assert_int_equal(PARSE(memory,
			       "MemTotal: 100 kB\nMemFree: 30 kB\nMemAvailable: 200 kB\n"
			       "SwapTotal: 5 kB\nSwapFree: 9 kB\n",
			       &memory),
			 0);
	assert_int_equal(memory.memory_used, 70);
	assert_int_equal(memory.swap_used, 0);
	assert_int_equal(PARSE(memory, "MemTotal: 100 kB\nMemFree: 300 kB\n", &memory), 0);
	assert_int_equal(memory.memory_used, 0);
	assert_int_equal(PARSE(memory, "", &memory), -EBADMSG);
	assert_int_equal(PARSE(memory, "MemTotal: 100", &memory), -EBADMSG);
	assert_int_equal(PARSE(memory, "MemTotal: much kB\n", &memory), -EBADMSG);
	assert_int_equal(PARSE(memory, "MemFree: 100 kB\n", &memory), -EBADMSG);
}

/* The three averages, as near as doubles are. */
TEST(test_load)
{
	static const char *const broken[] = { "",
					      "1.00 2.00",
					      "1.00 2.00 3.00",
					      "1.0 2.00 3.00 1",
					      "1.000 2.00 3.00 1",
					      "-1.00 2.00 3.00 1",
					      "1 2 3 4",
					      "nan 2.00 3.00 1" };
	struct system_sample sample = { .load = { 7, 7, 7 } };
	const double *load = sample.load;

	for (unsigned i = 0; i < ARRAY_SIZE(broken); i++)
		assert_int_equal(PARSE(load, broken[i], &sample), -EBADMSG);
	assert_false(sample.load_valid);
	assert_true(load[0] == 7 && load[1] == 7 && load[2] == 7);
	assert_int_equal(PARSE(load, "0.07 10.29 4321.99 1/85 7533\n", &sample), 0);
	assert_true(sample.load_valid);
	assert_true(load[0] == 0.07 && load[1] == 10.29 && load[2] == 4321.99);
}
