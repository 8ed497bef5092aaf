// SPDX-License-Identifier: GPL-2.0-or-later
/* The main function of programs whose tests list themselves. */
#include "config.h"

#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_TESTS 128

static struct CMUnitTest tests[MAX_TESTS];
static int lines[MAX_TESTS];
static size_t n_tests;
static CMFixtureFunction before_all, after_all;

void test_list(int line, const struct CMUnitTest *test)
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

void test_around(CMFixtureFunction begin, CMFixtureFunction end)
{
	if (begin)
		before_all = begin;
	if (end)
		after_all = end;
}

int main(int argc, char *argv[])
{
	const char *name = strrchr(argv[0], '/');

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	/* The macro of cmocka's wants an array that is as long as there are tests. */
	return _cmocka_run_group_tests(name ? name + 1 : argv[0], tests, n_tests, before_all,
				       after_all);
}
