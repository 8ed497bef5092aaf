// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns: what is refused, and that what is taken means what it says. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "pattern.h"
#include "util.h"

/* Whether the pattern matches the text, by our way and by the C library's own. */
static void check(const char *pattern, const char *text, bool expected)
{
	regex_t ours, own;

	if (pattern_compile(&ours, pattern))
		fail_msg("%s is refused", pattern);
	assert_int_equal(regcomp(&own, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (!regexec(&ours, text, 0, NULL, 0) != expected)
		fail_msg("%s: %s %s", pattern, text, expected ? "does not match" : "matches");
	assert_int_equal(!regexec(&own, text, 0, NULL, 0), expected);
	regfree(&ours);
	regfree(&own);
}

/* Repetitions of repetitions are what they are in the C library. */
static void test_repetitions(void **state)
{
	(void)state;
	check("^a++$", "aaa", true);
	check("^a++$", "", false);
	check("^a??$", "", true);
	check("^a??$", "aa", false);
	check("^a+?$", "", true);
	check("^a+?$", "aaa", true);
	check("^a*?$", "aaa", true);
	check("^a?+$", "aaa", true);
	check("^a?+$", "", true);
	check("^a+*b$", "b", true);
	check("^(ab)+?$", "abab", true);
}

/* What looks like one and is none. */
static void test_literals(void **state)
{
	(void)state;
	check("^a\\++$", "a++", true);
	check("^a\\++$", "a", false);
	check("^[+*?]+$", "+*?", true);
	check("^[++]$", "+", true);
	check("^[]++]+$", "]+", true);
	check("^[^]++]$", "x", true);
	check("^[^]++]$", "]", false);
	check("^[[:alpha:]++]+$", "a+b", true);
	check("^[[.+.]?]+$", "+?", true);
	check("^\\\\+$", "\\\\\\", true);
	check("^x{2}+$", "xxxx", true);
	check("^[a*?]{2,3}?$", "a*", true);
}

/* What would take gigabytes or minutes, and what does not. */
static void test_size(void **state)
{
	static const char *const refused[] = {
		"($(()+)+)+", "((($(()+)+)++)+)+)+)+", "(^a)*", "(a\\b)+", "(a\\<|b){2}", "a$+",
		"((((((((((()+)+)+)+)+)+)+)+)+)+)+)+", "((((((((((((a*)+)+)+)+)+)+)+)+)+)+)+)+", "((a|b*)*c*){200}",
		"(((a{255}){255}){255})", "a{100}{100}{100}", "(((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)"
		"+)+)+)+)+)+)+)+)+)+",
	};
	static const char *const broken[] = { "**", "(+*a)", "a|*?b", "a(", "[a", "a{1",
					      "*", "[[:x:]]", "a\\" };
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(pattern_compile(&regex, refused[i]), REG_ESPACE);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		regex_t own;
		int err = regcomp(&own, broken[i], REG_EXTENDED | REG_NOSUB);

		assert_int_equal(pattern_compile(&regex, broken[i]), err);
		if (!err) {
			regfree(&own);
			regfree(&regex);
		}
	}
	/* Gigabytes, as the C library takes it. */
	assert_int_equal(pattern_compile(&regex, "^a+++++++++++++++++++++++++++++++++++++$"), 0);
	assert_int_equal(regexec(&regex, "aaaa", 0, NULL, 0), 0);
	assert_int_equal(regexec(&regex, "", 0, NULL, 0), REG_NOMATCH);
	regfree(&regex);
	check("^[[:digit:]]{1,100}$", "123", true);
	/* Anchors that do not repeat. */
	check("(^|/)a+($|/)?", "/aa/", true);
	check("(^a)?b$", "xb", true);
	check("\\<a+\\>", "b aa", true);
	check("([$^])+", "$", true);
	check("(\\$)+a", "$$a", true);
	check("^.{0,200}x", "abcx", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repetitions),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
