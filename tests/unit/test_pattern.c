// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns: that they mean what they mean to the C library, and that none takes long. */
#include "tests/lib/test.h"

#include <locale.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pattern.h"
#include "base/util.h"

/* Compiles what must be taken. */
static struct pattern *compile(const char *text)
{
	struct buf why = { 0 };
	struct pattern *pattern = pattern_compile(text, &why);

	if (!pattern)
		fail_msg("%s is refused: %s", text, buf_cstr(&why));
	assert_int_equal(why.len, 0);
	return pattern;
}

/* Checks that a pattern is refused, with these words among others. */
static void refuse(const char *text, const char *words)
{
	struct buf why = { 0 };
	struct pattern *pattern = pattern_compile(text, &why);

	if (pattern)
		fail_msg("%s is taken", text);
	if (!strstr(buf_cstr(&why), words))
		fail_msg("%s: %s", text, why.data);
	buf_free(&why);
}

/* Whether the pattern matches the text, by our way alone. */
static void check_ours(const char *pattern, const char *text, bool expected)
{
	struct pattern *ours = compile(pattern);

	if (pattern_matches(ours, text) != expected)
		fail_msg("%s: %s %s", pattern, text, expected ? "does not match" : "matches");
	pattern_free(ours);
}

/* Whether the pattern matches the text, by our way and by the C library's own. */
static void check(const char *pattern, const char *text, bool expected)
{
	regex_t own;

	check_ours(pattern, text, expected);
	assert_int_equal(regcomp(&own, pattern, REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(!regexec(&own, text, 0, NULL, 0), expected);
	regfree(&own);
}

/* Repetitions of repetitions are what they are in the C library. */
TEST(test_repetitions)
{
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
	check("^a++a$", "aaa", true);
	check("^a{2}{3}$", "aaaaaa", true);
	check("^a{2}{3}$", "aaaa", false);
	check("^(ab{2})?{2}c$", "abbabbc", true);
	check("^[ab]+{2}$", "a", false);
	check("^a{,2}$", "aa", true);
	check("^a{,2}$", "aaa", false);
	check("^a{2,}+?$", "", true);
	check("^()+$", "", true);
}

/* What looks like one and is none. */
TEST(test_literals)
{
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
	check("^[[=a=][.-.]z]+$", "-az", true);
	check("^[[=a=][.-.]z]+$", "b", false);
	check("^[\\w]+$", "\\w", true);
	check("^[\\w]+$", "a", false);
	check("^[a-c-]+$", "b-", true);
	check("^[[a]+$", "[a", true);
	check("^[^[:space:][]$", "[", false);
	check("^a)b$", "a)b", true);
	check("^}]$", "}]", true);
	/* A brace that begins no bound: the C library refuses it. */
	check_ours("^a{1$", "a{1", true);
	check_ours("^{x}{2}$", "{x}}", true);
}

/* What Perl has, and POSIX has not. */
TEST(test_not_perl)
{
	check("^\\d\\n\\Q\\E\\x41$", "dnQEx41", true);
	check("^\\d$", "1", false);
	check("^a#b c$", "a#b c", true);
	check("^a$", "a\n", false);
	check("a.b", "a\nb", true);
	check("^(a)\\10$", "aa0", true);
	check("^(a|b)\\1$", "ab", false);
	check("\\`ab\\'", "ab", true);
	check("\\`ab\\'", "xab", false);
	check("\\<ab\\>", "x ab.", true);
	check("\\<ab\\>", "xab", false);
	check("\\<ab\\>", "abx", false);
	check("a\\b.\\Bb\\w\\W\\s\\S", "a bb, x", false);
	check("^\\w\\W\\s\\S\\b.\\B.$", "a, xyz", false);
	check("^\\w\\W\\s\\S\\By\\b", "a, xy", true);
	refuse("(?i)a", "repeatable");
	refuse("(*UTF)a", "repeatable");
	refuse("(*LIMIT_MATCH=1)", "repeatable");
}

/* What the C library refuses, too. */
TEST(test_broken)
{
	static const struct {
		const char *pattern, *words;
	} broken[] = {
		{ "**", "repeatable" },
		{ "(+*a)", "repeatable" },
		{ "a|*?b", "repeatable" },
		{ "a(", "parenthesis" },
		{ "((a)", "parenthesis" },
		{ "[a", "]" },
		{ "[", "]" },
		{ "*", "repeatable" },
		{ "[[:x:]]", "class" },
		{ "a\\", "\\ at end" },
		{ "{2}", "repeatable" },
		{ "(a|?)", "repeatable" },
		{ "a\\1", "reference" },
		{ "[[.xy.]]", "collating" },
		{ "[b-a]", "range" },
		{ "a{2,1}", "{}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		regex_t own;

		refuse(broken[i].pattern, broken[i].words);
		assert_int_not_equal(regcomp(&own, broken[i].pattern, REG_EXTENDED | REG_NOSUB), 0);
	}
}

/* What is too long, too deep or too large. */
TEST(test_limits)
{
	char text[6000];

	memset(text, 'a', sizeof(text));
	text[4096] = '\0';
	check_ours(text, "a", false);
	text[4096] = 'a';
	text[4097] = '\0';
	refuse(text, "longer");
	memset(text, '(', 65);
	memset(text + 65, ')', 65);
	text[130] = '\0';
	refuse(text, "nested");
	text[129] = '\0';
	check_ours(text + 1, "", true);
	refuse("(((a{255}){255}){255})", "too large");
	refuse("(abcdefgh){1900}", "too large");
	check_ours("^(abcdefgh){255}$", "abcdefgh", false);
}

/* Characters are the locale's, and bytes that are none do no harm. */
TEST(test_characters)
{
	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	check("^.$", "é", true);
	check("^..$", "é", false);
	check_ours("^[é-ü]{2}$", "éö", true);
	check("^[[:alpha:]]+$", "éΩ漢", true);
	check("^[[:upper:]][[:lower:]]$", "Éé", true);
	check("^\\w+\\>", "é", true);
	check("^é{2}{2}$", "éééé", true);
	check("^\\é[é]$", "éé", true);
	/* Passed over by the search that PCRE2 10.46 compiles. */
	check("a?b\\w{2}", "bé1", true);
	check("[]a]?b\\w{2}", "xbéa", true);
	check("b$",
	      "a\xff\xfe"
	      "b",
	      true);
	check("^a.*b$",
	      "a\xff"
	      "b",
	      false);
	/* Bytes that are looked for. */
	check_ours("a\xff",
		   "xa\xff"
		   "b",
		   true);
	assert_non_null(setlocale(LC_ALL, "C"));
	check("^..$", "é", true);
	check("^a.*b$",
	      "a\xff"
	      "b",
	      true);
}

/* A word made of the parts, by the pseudo-random numbers of one seed. */
static void make_word(char *word, const char *const *parts, unsigned nparts, unsigned *seed)
{
	unsigned n = (unsigned)rand_r(seed) % 6;

	*word = '\0';
	while (n--)
		strcat(word, parts[(unsigned)rand_r(seed) % nparts]);
}

/* Patterns of all sorts: what the C library takes we take, and it matches the same. */
TEST(test_as_the_c_library)
{
	static const char *const parts[] = {
		"a",   "b",    "(",    ")",   "(a",  "b)",  "|",     "*",    "+",    "?",
		"{2}", "{,2}", "{1,}", "^",   "$",   ".",   "[ab]",  "[^a]", "[]a]", "[[:alpha:]-]",
		"\\<", "\\>",  "\\b",  "\\B", "\\w", "\\W", "\\s",   "\\S",  "\\`",  "\\'",
		"\\.", "\\d",  " ",    "]",   "}",   "é",   "[é\\]",
	};
	static const char *const letters[] = { "a", "b", ".", " ", "d", "]", "}", "é", "\\", ")" };
	unsigned seed = 1, taken = 0, matching = 0;

	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	for (unsigned i = 0; i < 20000; i++) {
		char text[64], word[64];
		struct pattern *ours;
		regex_t own;

		make_word(text, parts, ARRAY_SIZE(parts), &seed);
		if (regcomp(&own, text, REG_EXTENDED | REG_NOSUB))
			continue;
		ours = compile(text);
		for (unsigned j = 0; j < 10; j++) {
			bool expected;

			make_word(word, letters, ARRAY_SIZE(letters), &seed);
			expected = !regexec(&own, word, 0, NULL, 0);
			if (pattern_matches(ours, word) != expected)
				fail_msg("%s: '%s' %s", text, word,
					 expected ? "does not match" : "matches");
			matching += expected;
		}
		taken++;
		regfree(&own);
		pattern_free(ours);
	}
	assert_true(taken > 5000 && matching > taken);
	assert_non_null(setlocale(LC_ALL, "C"));
}

/* What is large or has anchors, and is in order. */
TEST(test_in_order)
{
	/* Gigabytes, as the C library takes it. */
	check_ours("^a+++++++++++++++++++++++++++++++++++++$", "aaaa", true);
	check_ours("^a+++++++++++++++++++++++++++++++++++++$", "", false);
	check("^[[:digit:]]{1,100}$", "123", true);
	check("(^|/)a+($|/)?", "/aa/", true);
	check("(^a)?b$", "xb", true);
	check("\\<a+\\>", "b aa", true);
	check("([$^])+", "$", true);
	check("(\\$)+a", "$$a", true);
	check("^.{0,200}x", "abcx", true);
	check_ours("(^a|b\\>)*c", "abc", true);
}

/* Seconds of the CPU. */
static double cpu_s(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / (double)NSEC_PER_SEC;
}

/* What would take the C library gigabytes or minutes, or Perl ages: refused, or matched in time. */
TEST(test_size)
{
	static const char *const hostile[] = {
		"($(()+)+)+",
		"((($(()+)+)++)+)+)+)+",
		"(^a)*",
		"(a\\b)+",
		"(a\\<|b){2}",
		"a$+",
		"((((((((((()+)+)+)+)+)+)+)+)+)+)+)+",
		"((((((((((((a*)+)+)+)+)+)+)+)+)+)+)+)+",
		"((a|b*)*c*){200}",
		"(((a{255}){255}){255})",
		"a{100}{100}{100}",
		"(((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)"
		"+)+)+)+)+)+)+)+)+)+",
		"(a+)+$",
		"^(a|a)*$",
		"^(a|aa)+$",
		"(a*)*b",
		"(.*)(.*)(.*)(.*)(.*)[^a]$",
		"(a?){60}a{60}$",
		"^(.|a)*(.|a)*\\1x",
		"(\\w+\\s*)+:",
		"(((a|b)*)*)*[x]",
		"a{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}",
	};
	char *name = xcalloc(1, 131072);
	struct pattern *slow = compile("(a+)+$");
	double begin = cpu_s();

	memset(name, 'a', 131070);
	name[131070] = '!';
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct buf why = { 0 };
		struct pattern *pattern = pattern_compile(hostile[i], &why);

		assert_true(pattern || why.len);
		for (int j = 0; pattern && j < 100; j++) {
			pattern_matches(pattern, name);
			pattern_matches(pattern, name + 131071 - 16);
			pattern_matches(pattern, name + 131071 - 4000);
		}
		pattern_free(pattern);
		buf_free(&why);
	}
	/* Without limits each of several takes more. */
	if (cpu_s() - begin > 20)
		fail_msg("%.1f s for hostile patterns", cpu_s() - begin);
	/* What takes too long is no match, and takes less of what comes next. */
	for (int i = 0; i < 10; i++)
		assert_false(pattern_matches(slow, name));
	begin = cpu_s();
	for (int i = 0; i < 10000; i++)
		assert_false(pattern_matches(slow, name + 131071 - 100));
	if (cpu_s() - begin > 1)
		fail_msg("%.1f s for a slow pattern", cpu_s() - begin);
	pattern_free(slow);
	free(name);
}
