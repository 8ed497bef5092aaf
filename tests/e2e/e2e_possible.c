// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No figure that cannot be: while kernels book waits from stale stamps, nothing is shown that is
 * longer than the interval for each thread, and what can be is not lost.
 */
#include "config.h"

#include "tests/lib/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads of load_io's processes: the one that stays, and the short ones. */
#define STAYS 9
#define SHORT 3

static const char *const kinds[] = { "cpu",    "blkio",	  "swapin", "reclaim",
				     "thrash", "compact", "wpcopy", "irq" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What was met. */
struct met {
	unsigned rows, known;
	bool noted;
	uint64_t waited;
};

/* So many threads the row stands for; 0: not one of the load's. */
static double threads_of(json_t *task)
{
	const char *comm = member_text(task, "comm");
	json_t *members = json_object_get(task, "members");
	double tasks = members ? (double)json_integer_value(members) : 1;

	if (!strcmp(comm, "load_io"))
		return STAYS * tasks;
	return strcmp(comm, "load_short") ? 0 : SHORT * tasks;
}

/* Asserts that a figure is unknown or can be. */
static void check_ns(json_t *value, double most, const char *what, json_t *task)
{
	if (json_is_integer(value) && (double)json_integer_value(value) > most * 1.01 + 2e6)
		fail_msg("%s %s: %.0f ms where %.0f have passed", member_text(task, "comm"), what,
			 (double)json_integer_value(value) / 1e6, most / 1e6);
}

/* One row: in the interval, booked and waited, and in its life. */
static void check_task(json_t *sample, json_t *task, struct met *met)
{
	double threads = threads_of(task), interval = member_real(sample, "interval") * 1e9;
	double age = (member_real(sample, "time") - member_real(task, "start")) * 1e9 + interval;

	if (threads <= 0)
		return;
	for (unsigned k = 0; k < KINDS; k++) {
		json_t *delta = json_object_get(json_object_get(task, "delta"), kinds[k]);
		json_t *life = json_object_get(json_object_get(task, "cumulative"), kinds[k]);

		check_ns(json_object_get(delta, "ns"), interval * threads, kinds[k], task);
		check_ns(json_object_get(json_object_get(task, "waited"), kinds[k]),
			 interval * threads, kinds[k], task);
		check_ns(json_object_get(life, "ns"), age * threads, kinds[k], task);
		check_ns(json_object_get(life, "max_ns"), age, kinds[k], task);
	}
	if (strcmp(member_text(task, "comm"), "load_io") != 0)
		return;
	met->rows++;
	if (kind_unset(task, "delta", "blkio", "ns"))
		return;
	met->known++;
	met->waited += kind_value(task, "delta", "blkio", "ns");
}

/* The sum row of a text sample, against all that can be. */
static void check_text(const char *source)
{
	struct e2e_result r;
	struct text text;

	e2e_run(&r, NULL, "-b -n 3 -d 0.5 -U ms --source %s -m ^load_io$ -F pid,total,blkio,comm",
		source);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (size_t i = 0; i < text.n; i++) {
		const char *cell = text.v[i].sum.cell[2];

		assert_true(!strcmp(cell, "-") ||
			    (!strpbrk(cell, "k>") && atof(cell) <= 600.0 * STAYS));
	}
}

/* By all sources, processes and threads; the kernel is known to get some wrong. */
static void test_possible(void **state)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf", "bpf -H" };
	struct met met = { 0 };

	(void)state;
	e2e_require();
	assert_true(e2e_load(NULL, "load_io %s", e2e_folder()) > 0);
	for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct e2e_result r;
		struct samples s;

		e2e_run(&r, NULL, "-b -n 6 -d 0.5 -o json -m ^load_ --source %s", sources[i]);
		if (r.status)
			continue;
		check_silent_success(&r);
		parse_json(&r, &s);
		assert_int_equal(s.n, 6);
		for (size_t n = 0; n < s.n; n++) {
			size_t at;
			json_t *task;

			met.noted |= note_of(s.v[n], "stale-stamp") != NULL;
			json_array_foreach(json_object_get(s.v[n], "tasks"), at, task)
				check_task(s.v[n], task, &met);
		}
		if (!strchr(sources[i], ' '))
			check_text(sources[i]);
	}
	/* Bookings that cannot be are few: the kind is not lost for good. */
	assert_true(met.rows > 0 && met.known * 4 >= met.rows * 3 && met.waited);
	printf("# %u of %u rows known, bookings left out: %s\n", met.known, met.rows,
	       met.noted ? "yes" : "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = { e2e_test(test_possible) };

	return cmocka_run_group_tests(tests, e2e_group_setup, e2e_group_teardown);
}
