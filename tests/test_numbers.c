// SPDX-License-Identifier: GPL-2.0-or-later
/* What is missing in the numbers of exit records, with tasks that move while they exit. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "numbers.h"
#include "util.h"

/* The listeners of most tests. */
enum { A, B, C, LISTENERS };

/* Where the series of the three begin. */
#define A_FIRST 100U
#define B_FIRST 5000U
#define C_FIRST 3000000000U

/* Set-up: three listeners that have seen the first number of their CPUs. */
static int setup(void **state)
{
	struct numbers *numbers = numbers_new(LISTENERS);

	numbers_take(numbers, A, A_FIRST - 1);
	numbers_take(numbers, B, B_FIRST - 1);
	numbers_take(numbers, C, C_FIRST - 1);
	*state = numbers;
	return 0;
}

/* Tear-down. */
static int teardown(void **state)
{
	numbers_free(*state);
	return 0;
}

/* Takes n numbers in a row. */
static void take_row(struct numbers *numbers, size_t listener, uint32_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		numbers_take(numbers, listener, first + i);
}

/* Nothing taken, one taken, many taken: nothing missing. */
static void test_none(void **state)
{
	struct numbers *numbers = *state, *fresh = numbers_new(2);

	assert_int_equal(numbers_missing(fresh), 0);
	numbers_take(fresh, 1, 77);
	assert_int_equal(numbers_missing(fresh), 0);
	numbers_free(fresh);
	numbers_free(NULL);
	for (unsigned i = 0; i < 5000; i++) {
		numbers_take(numbers, A, A_FIRST + i);
		numbers_take(numbers, B, B_FIRST + 2 * i);
		numbers_take(numbers, B, B_FIRST + 2 * i + 1);
		numbers_take(numbers, C, C_FIRST + i);
	}
	assert_int_equal(numbers_missing(numbers), 0);
}

/* Gaps of one and of many, and several. */
static void test_gap(void **state)
{
	struct numbers *numbers = *state;

	numbers_take(numbers, A, A_FIRST);
	numbers_take(numbers, A, A_FIRST + 2);
	assert_int_equal(numbers_missing(numbers), 1);
	numbers_take(numbers, A, A_FIRST + 3);
	assert_int_equal(numbers_missing(numbers), 1);
	numbers_take(numbers, B, B_FIRST + 1000);
	take_row(numbers, B, B_FIRST + 1001, 100);
	assert_int_equal(numbers_missing(numbers), 1001);
	numbers_take(numbers, C, C_FIRST + 7);
	assert_int_equal(numbers_missing(numbers), 1008);
	/* The first number is anything: what came before is not known. */
	take_row(numbers, A, A_FIRST + 4, 100);
	assert_int_equal(numbers_missing(numbers), 1008);
}

/* The numbers have 32 bits and go around. */
static void test_wrap(void **state)
{
	struct numbers *numbers = numbers_new(2);

	(void)state;
	take_row(numbers, 0, UINT32_MAX - 5, 12);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_free(numbers);

	numbers = numbers_new(2);
	numbers_take(numbers, 0, UINT32_MAX - 5);
	numbers_take(numbers, 0, 5); /* - 4 ... 4 */
	assert_int_equal(numbers_missing(numbers), 10);
	numbers_take(numbers, 1, 1000);
	numbers_take(numbers, 1, 0);
	assert_int_equal(numbers_missing(numbers), 9);
	numbers_take(numbers, 1, UINT32_MAX);
	assert_int_equal(numbers_missing(numbers), 8);
	take_row(numbers, 0, 6, 10);
	take_row(numbers, 1, 1001, 10);
	assert_int_equal(numbers_missing(numbers), 8);
	numbers_free(numbers);

	/* Overtaking at the wrap. */
	numbers = numbers_new(1);
	numbers_take(numbers, 0, UINT32_MAX - 1);
	numbers_take(numbers, 0, 0);
	assert_int_equal(numbers_missing(numbers), 1);
	numbers_take(numbers, 0, UINT32_MAX);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, 0, 1, 3);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_free(numbers);
}

/* What is missing here turns up there, later: from the ends and the middle of a gap. */
static void test_filled(void **state)
{
	static const unsigned order[] = { 4, 0, 9, 5, 1, 8, 3, 2, 7, 6 };
	struct numbers *numbers = *state;

	numbers_take(numbers, A, A_FIRST + 10);
	take_row(numbers, A, A_FIRST + 11, 5);
	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		assert_int_equal(numbers_missing(numbers), 10 - i);
		numbers_take(numbers, i % 2 ? B : C, A_FIRST + order[i]);
	}
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, A, A_FIRST + 16, 5);
	take_row(numbers, B, B_FIRST, 5);
	take_row(numbers, C, C_FIRST, 5);
	assert_int_equal(numbers_missing(numbers), 0);
}

/* One of B's numbers on A, before its neighbours are taken from B, then after. */
static void test_moved(void **state)
{
	struct numbers *numbers = *state;

	/* Before: A is drained first. */
	take_row(numbers, A, A_FIRST, 10);
	numbers_take(numbers, A, B_FIRST + 20);
	take_row(numbers, A, A_FIRST + 10, 10);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, B, B_FIRST, 20);
	take_row(numbers, B, B_FIRST + 21, 20);
	assert_int_equal(numbers_missing(numbers), 0);
	/* After: B has been drained, and has a gap for a while. */
	take_row(numbers, B, B_FIRST + 41, 9);
	take_row(numbers, B, B_FIRST + 51, 9);
	assert_int_equal(numbers_missing(numbers), 1);
	take_row(numbers, A, A_FIRST + 20, 10);
	numbers_take(numbers, A, B_FIRST + 50);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, A, A_FIRST + 30, 10);
	/* As the next: nothing shows at any time. */
	numbers_take(numbers, A, B_FIRST + 60);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, B, B_FIRST + 61, 10);
	/* One that lies behind: A's on B. */
	numbers_take(numbers, B, A_FIRST + 41);
	take_row(numbers, B, B_FIRST + 71, 10);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_take(numbers, A, A_FIRST + 40);
	take_row(numbers, A, A_FIRST + 42, 10);
	assert_int_equal(numbers_missing(numbers), 0);
}

/* The one that moved is the last of a drain: it shows as missing until A goes on. */
static void test_moved_last(void **state)
{
	struct numbers *numbers = *state;

	numbers_take(numbers, A, B_FIRST + 1);
	assert_int_not_equal(numbers_missing(numbers), 0);
	numbers_take(numbers, B, B_FIRST);
	numbers_take(numbers, B, B_FIRST + 2);
	numbers_take(numbers, A, A_FIRST);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, A, A_FIRST + 1, 10);
	take_row(numbers, B, B_FIRST + 3, 10);
	assert_int_equal(numbers_missing(numbers), 0);
}

/* Several of B's in one drain of A's: in a row, and one after the other. */
static void test_moved_several(void **state)
{
	struct numbers *numbers = *state;

	take_row(numbers, A, B_FIRST + 10, 3);
	take_row(numbers, A, A_FIRST, 10);
	assert_int_equal(numbers_missing(numbers), 0);
	/* The second falls behind what the first left; the third before it. */
	numbers_take(numbers, A, B_FIRST + 20);
	take_row(numbers, A, A_FIRST + 10, 10);
	numbers_take(numbers, A, B_FIRST + 40);
	take_row(numbers, A, A_FIRST + 20, 10);
	numbers_take(numbers, A, B_FIRST + 30);
	numbers_take(numbers, A, B_FIRST + 50);
	take_row(numbers, A, A_FIRST + 30, 10);
	assert_int_equal(numbers_missing(numbers), 0);
	for (unsigned i = 0; i < 60; i++)
		if (i < 10 || (i > 12 && i % 10))
			numbers_take(numbers, B, B_FIRST + i);
	assert_int_equal(numbers_missing(numbers), 0);
	take_row(numbers, A, A_FIRST + 40, 10);
	take_row(numbers, B, B_FIRST + 60, 10);
	assert_int_equal(numbers_missing(numbers), 0);
}

/* A task that was held up between its number and its send. */
static void test_overtaking(void **state)
{
	static const unsigned orders[][6] = {
		{ 1, 0, 2, 3, 4, 5 }, { 2, 0, 1, 3, 4, 5 }, { 1, 2, 3, 0, 4, 5 },
		{ 2, 1, 0, 5, 4, 3 }, { 5, 4, 3, 2, 1, 0 }, { 3, 0, 4, 1, 5, 2 },
	};
	struct numbers *numbers = *state;

	numbers_take(numbers, A, A_FIRST + 1);
	assert_int_equal(numbers_missing(numbers), 1);
	numbers_take(numbers, A, A_FIRST);
	assert_int_equal(numbers_missing(numbers), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
		uint32_t first = A_FIRST + 2 + i * 8;

		for (unsigned k = 0; k < 6; k++)
			numbers_take(numbers, A, first + orders[i][k]);
		take_row(numbers, A, first + 6, 2);
		assert_int_equal(numbers_missing(numbers), 0);
	}
	/* Behind a loss, too. */
	numbers_take(numbers, A, A_FIRST + 101);
	numbers_take(numbers, A, A_FIRST + 100);
	take_row(numbers, A, A_FIRST + 102, 5);
	assert_int_equal(numbers_missing(numbers), 50);
}

/* Behind a loss A goes on just where B would: B's own number tells. */
static void test_coincidence(void **state)
{
	struct numbers *numbers = *state;

	numbers_take(numbers, A, B_FIRST);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_take(numbers, B, B_FIRST);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST);
	take_row(numbers, A, B_FIRST + 1, 10);
	take_row(numbers, B, B_FIRST + 1, 10);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST);
}

/* The same, but A goes on before B does; and into a gap of B's. */
static void test_coincidence_longer(void **state)
{
	struct numbers *numbers = *state;

	take_row(numbers, A, B_FIRST, 200);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST);
	take_row(numbers, B, B_FIRST, 300);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST);
	/* B loses 300 ... 999, A 200 ... 499. */
	take_row(numbers, B, B_FIRST + 1000, 10);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST + 700);
	take_row(numbers, A, B_FIRST + 500, 1000);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST + 700 + 300);
	take_row(numbers, B, B_FIRST + 1010, 1000);
	assert_int_equal(numbers_missing(numbers), B_FIRST - A_FIRST + 700 + 300);
}

/* More gaps than are kept: what fell out stays missing, the others can be filled. */
static void test_many_gaps(void **state)
{
	static const unsigned gaps = 400;
	struct numbers *numbers = *state;

	/* Every second number is lost. */
	for (unsigned i = 0; i < gaps; i++)
		numbers_take(numbers, A, A_FIRST + 2 * i + 1);
	assert_int_equal(numbers_missing(numbers), gaps);
	/* The latest 200 turn up elsewhere. */
	for (unsigned i = gaps - 200; i < gaps; i++)
		numbers_take(numbers, C, A_FIRST + 2 * i);
	assert_int_equal(numbers_missing(numbers), gaps - 200);
	/* The oldest one is no news any more, and does no harm. */
	numbers_take(numbers, B, A_FIRST);
	assert_int_equal(numbers_missing(numbers), gaps - 200);
	take_row(numbers, C, C_FIRST, 10);
	take_row(numbers, A, A_FIRST + 2 * gaps, 10);
	assert_int_equal(numbers_missing(numbers), gaps - 200);
}

/* Numbers that are nobody's wait, at most so many, and never count. */
static void test_strays(void **state)
{
	struct numbers *numbers = *state;

	/* Before all series: behind A by less than half of all numbers. */
	for (unsigned i = 0; i < 1000; i++)
		numbers_take(numbers, A, UINT32_MAX - 2 * i);
	assert_int_equal(numbers_missing(numbers), 0);
	/* 60 of B's come early by A. */
	for (unsigned i = 0; i < 60; i++) {
		numbers_take(numbers, A, B_FIRST + 2 * i + 1);
		numbers_take(numbers, A, A_FIRST + i);
	}
	assert_int_equal(numbers_missing(numbers), 0);
	for (unsigned i = 0; i < 60; i++)
		numbers_take(numbers, B, B_FIRST + 2 * i);
	numbers_take(numbers, B, B_FIRST + 120);
	assert_int_equal(numbers_missing(numbers), 0);
}

/* A listener that has not begun is begun by its first number, whatever came elsewhere. */
static void test_late_start(void **state)
{
	struct numbers *numbers = numbers_new(2);

	(void)state;
	take_row(numbers, 0, A_FIRST, 5);
	/* One of the other CPU's, whose own first comes later. */
	numbers_take(numbers, 0, B_FIRST + 1);
	take_row(numbers, 0, A_FIRST + 5, 5);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_take(numbers, 1, B_FIRST);
	numbers_take(numbers, 1, B_FIRST + 2);
	take_row(numbers, 1, B_FIRST + 3, 10);
	assert_int_equal(numbers_missing(numbers), 0);
	numbers_free(numbers);
}

/* Pseudo-random numbers, the same in every run. */
static uint64_t roll(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#define CPUS_MAX 8
#define DRAIN 1500

/* CPUs that number records, and what lies in their listeners' buffers. */
struct machine {
	unsigned cpus;
	uint64_t seed;
	uint32_t next[CPUS_MAX];
	uint32_t queue[CPUS_MAX][DRAIN];
	size_t n[CPUS_MAX];
	unsigned losing[CPUS_MAX]; /* so many more records are dropped */
	uint64_t lost;
};

/* A task exits: its number may go to another listener, be dropped, or be overtaken. */
static void exit_one(struct machine *machine, unsigned odds, unsigned burst)
{
	size_t cpu = roll(&machine->seed) % machine->cpus, at = cpu;
	uint32_t number = machine->next[cpu]++, *queue;

	if (roll(&machine->seed) % odds == 0)
		at = roll(&machine->seed) % machine->cpus;
	if (burst && !machine->losing[at] && roll(&machine->seed) % odds == 0)
		machine->losing[at] = 1 + (unsigned)(roll(&machine->seed) % burst);
	if (machine->losing[at]) {
		machine->losing[at]--;
		machine->lost++;
		return;
	}
	queue = machine->queue[at];
	queue[machine->n[at]++] = number;
	if (machine->n[at] > 1 && roll(&machine->seed) % odds == 0) {
		queue[machine->n[at] - 1] = queue[machine->n[at] - 2];
		queue[machine->n[at] - 2] = number;
	}
}

/* Takes what lies in the buffers, one listener after the other. */
static void drain(struct machine *machine, struct numbers *numbers)
{
	for (size_t i = 0; i < machine->cpus; i++) {
		for (size_t k = 0; k < machine->n[i]; k++)
			numbers_take(numbers, i, machine->queue[i][k]);
		machine->n[i] = 0;
	}
}

/* Lets each CPU have a few exits of which nothing is to be told. */
static void be_calm(struct machine *machine, struct numbers *numbers)
{
	for (unsigned i = 0; i < 4 * machine->cpus; i++) {
		size_t cpu = i % machine->cpus;

		numbers_take(numbers, cpu, machine->next[cpu]++);
	}
}

/* Many drains of a machine, with one task in so many that does something unusual. */
static void run_machine(uint64_t seed, unsigned cpus, bool near, unsigned odds, unsigned burst)
{
	struct machine *machine = xcalloc(1, sizeof(*machine));
	struct numbers *numbers = numbers_new(cpus);

	machine->cpus = cpus;
	machine->seed = seed;
	for (size_t i = 0; i < cpus; i++)
		machine->next[i] = (uint32_t)roll(&machine->seed);
	/* Since boot all have counted as much. */
	for (size_t i = 0; near && i < cpus; i++)
		machine->next[i] %= 50;
	be_calm(machine, numbers);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < DRAIN; i++)
			exit_one(machine, odds, burst);
		drain(machine, numbers);
	}
	be_calm(machine, numbers);
	assert_int_equal(numbers_missing(numbers), machine->lost);
	numbers_free(numbers);
	free(machine);
}

/* In the end as many are missing as were dropped, wherever the others turned up. */
static void test_property(void **state)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	(void)state;
	for (unsigned run = 0; run < 20; run++) {
		run_machine(roll(&seed), 1, false, 300, 100);
		run_machine(roll(&seed), 2, false, 300, 0);
		run_machine(roll(&seed), 2, false, 300, 300);
		run_machine(roll(&seed), 4, false, 1000, 0);
		run_machine(roll(&seed), 4, false, 1000, 1000);
		run_machine(roll(&seed), 8, false, 1000, 100);
	}
}

/* The same where the numbers of all CPUs are much alike. */
static void test_property_near(void **state)
{
	uint64_t seed = UINT64_C(0xd1b54a32d192ed03);

	(void)state;
	for (unsigned run = 0; run < 20; run++) {
		run_machine(roll(&seed), 2, true, 1000, 0);
		run_machine(roll(&seed), 2, true, 1000, 300);
		run_machine(roll(&seed), 4, true, 5000, 500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gap, setup, teardown),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test_setup_teardown(test_filled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_last, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_several, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overtaking, setup, teardown),
		cmocka_unit_test_setup_teardown(test_coincidence, setup, teardown),
		cmocka_unit_test_setup_teardown(test_coincidence_longer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_gaps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strays, setup, teardown),
		cmocka_unit_test(test_late_start),
		cmocka_unit_test(test_property),
		cmocka_unit_test(test_property_near),
	};

	return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
