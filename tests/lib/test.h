/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* cmocka.h wants these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Tests that list themselves. A program of them has no main() of its own: that of test.c runs all
 * in the order in which they are defined, or those that its argument, a pattern, names:
 *
 *   TEST(test_something)
 *   {
 *           assert_true(...);
 *   }
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* One with something before it, and something after it, which get `state`, too. */
#define TEST_WITH(name, set_up, tear_down) TEST_IN(name, set_up, tear_down, NULL, NULL)

/* The same where something is to come before the first and after the last test of the program. */
#define TEST_IN(name, set_up, tear_down, begin, end) \
	static void name(void **state); \
	static __attribute__((constructor)) void list_##name(void) \
	{ \
		tests_list(__LINE__, \
			   &(struct CMUnitTest){ #name, name, set_up, tear_down, NULL }); \
		tests_around(begin, end); \
	} \
	static void name(void **state __attribute__((unused)))

/* What comes before the first and after the last test of the program, too; NULL: nothing. */
#define TESTS_WITHIN(begin, end) \
	static __attribute__((constructor)) void list_what_is_around(void) \
	{ \
		tests_around(begin, end); \
	}

/* A `begin`: characters are as wide as they are in UTF-8. */
int test_in_utf8(void **state);

/* What the macros call before main(). */
void tests_list(int line, const struct CMUnitTest *test);
void tests_around(CMFixtureFunction begin, CMFixtureFunction end);
