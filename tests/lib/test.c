// SPDX-License-Identifier: GPL-2.0-or-later
/* The main function of programs whose tests list themselves. */
#include "tests/lib/test.h"

#include <locale.h>
#include <string.h>

#define MAX_TESTS 128
#define MAX_AROUND 4

static struct CMUnitTest tests[MAX_TESTS];
static int lines[MAX_TESTS];
static size_t n_tests;
static CMFixtureFunction begins[MAX_AROUND], ends[MAX_AROUND];

void tests_list(int line, const struct CMUnitTest *test)
{
	size_t at = n_tests++;

	if (at == MAX_TESTS)
		fail_msg("more tests than MAX_TESTS");
	/* Constructors need not come in the order of the source. */
	for (; at && lines[at - 1] > line; at--) {
		tests[at] = tests[at - 1];
		lines[at] = lines[at - 1];
	}
	tests[at] = *test;
	lines[at] = line;
}

/* Adds a function to those of a list, once. */
static void add_once(CMFixtureFunction *list, CMFixtureFunction function)
{
	size_t at = 0;

	while (function && list[at] && list[at] != function)
		if (++at == MAX_AROUND)
			fail_msg("more around the tests than MAX_AROUND");
	if (function)
		list[at] = function;
}

void tests_around(CMFixtureFunction begin, CMFixtureFunction end)
{
	add_once(begins, begin);
	add_once(ends, end);
}

/* Calls the functions of a list. 0, or what the first of them that failed returned. */
static int call_all(const CMFixtureFunction *list, void **state)
{
	int err = 0;

	for (size_t at = 0; at < MAX_AROUND && list[at] && !err; at++)
		err = list[at](state);
	return err;
}

static int begin_all(void **state)
{
	return call_all(begins, state);
}

static int end_all(void **state)
{
	return call_all(ends, state);
}

int test_in_utf8(void **state)
{
	(void)state;
	return setlocale(LC_ALL, "C.UTF-8") ? 0 : -1;
}

int main(int argc, char *argv[])
{
	const char *name = strrchr(argv[0], '/');

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	/* The macro of cmocka's wants an array that is as long as there are tests. */
	return _cmocka_run_group_tests(name ? name + 1 : argv[0], tests, n_tests, begin_all,
				       end_all);
}
