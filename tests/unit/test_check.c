// SPDX-License-Identifier: GPL-2.0-or-later
/* Options that cannot go together: refused before anything is done. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/check.h"
#include "app/server.h"
#include "base/util.h"

#define WORDS_MAX 16

/* What is wrong with a command line: the line that is printed; its status. */
static int check(const char *line, char *text, size_t size)
{
	char *copy = xstrdup(line), *rest = copy, *argv[WORDS_MAX] = { "stalltop" };
	int argc = 1, status, standard = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	struct options options;
	struct buf why = { 0 };

	while (rest && argc < WORDS_MAX - 1)
		argv[argc++] = strsep(&rest, " ");
	if (options_parse(&options, argc, argv, &why))
		fail_msg("%s: %s", line, buf_cstr(&why));
	assert_non_null(file);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	status = check_options(&options, -1);
	assert_true(dup2(standard, STDERR_FILENO) >= 0);
	close(standard);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	options_free(&options);
	buf_free(&why);
	free(copy);
	return status;
}

/* Asserts that it is refused, with one line that has these words. */
static void bad(const char *line, const char *words)
{
	char text[512];
	int status = check(line, text, sizeof(text));

	if (status != EXIT_USAGE || !strstr(text, words) ||
	    strchr(text, '\n') != text + strlen(text) - 1)
		fail_msg("%s: %d, %s", line, status, text);
}

/* Asserts that it is not. */
static void good(const char *line)
{
	char text[512];
	int status = check(line, text, sizeof(text));

	if (status || *text)
		fail_msg("%s: %d, %s", line, status, text);
}

/* Two recordings are compared as they are, and nothing is done besides. */
static void test_diff(void **state)
{
	static const char *const others[] = {
		"-b",	"-R c",	     "-w c",	    "--listen :1",	  "-n 2",
		"-- c", "--keep 1d", "--before 1m", "--enable-delayacct", "--max-series 2"
	};
	static const char *const figures[] = { "-g cgroup", "-H",	    "-p 1",	"-u root",
					       "-m c",	    "--cgroup /c",  "--over 1", "-i",
					       "-F pid",    "--since-start" };
	char line[128];

	(void)state;
	good("--diff a b");
	good("--diff a@09:00..10:00 b@..11:00 -o json");
	good("--diff a b -o csv -r 3 --from 14:02");
	bad("--diff a", "two recordings");
	bad("--diff a b -o openmetrics", "text, csv or json");
	bad("--diff a b --output c", "--output");
	bad("--diff a b@noon..", "PATH@FROM..TO");
	bad("--diff a@14:02 b", "PATH@FROM..TO");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(line, sizeof(line), "--diff a b %s", others[i]);
		bad(line, "nothing else");
	}
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		snprintf(line, sizeof(line), "--diff a b %s", figures[i]);
		bad(line, "by command");
	}
}

/* What metrics cannot have. */
static void test_metrics(void **state)
{
	(void)state;
	if (server_is_built()) {
		good("--listen :1");
		good("--listen :1 -o openmetrics");
	}
	bad("--listen :1 -o csv", "another --format");
	bad("--listen :1 -b", "writes nothing");
	bad("-b -o openmetrics -r 3", "all groups");
	bad("-b -o openmetrics -g process", "by group");
	bad("-b --max-series 3", "for metrics");
}

/* A command, a recording: what is asked for of them and cannot be. */
static void test_others(void **state)
{
	(void)state;
	good("-b");
	good("-o json -- true");
	bad("-o csv -- true", "text or json");
	bad("-o openmetrics -- true", "text or json");
	bad("-w a -- true", "--record or --replay");
	bad("-R a -w b", "--replay");
	bad("--from 14:02 -b", "--diff");
	bad("--keep 1d -b", "--record");
	bad("--output a", "--output needs");
	bad("-o json", "needs --batch");
	bad("--readonly --enable-delayacct -b", "--readonly");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
