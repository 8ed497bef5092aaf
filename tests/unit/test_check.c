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
#define LINE_MAX_BYTES 256

/* Splits a line at its spaces; "~" stands for one within a word. The number of words. */
static int split(char *line, char **argv)
{
	int argc = 1;

	argv[0] = (char *)"stalltop";
	for (char *word; (word = strsep(&line, " "));) {
		if (!*word || argc == WORDS_MAX - 1)
			continue;
		for (char *c = word; (c = strchr(c, '~'));)
			*c = ' ';
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

/* What is wrong with a command line: the line that is printed; its status. */
static int check(const char *line, char *text, size_t size)
{
	char *copy = xstrdup(line), *argv[WORDS_MAX];
	int argc = split(copy, argv), status, standard = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	struct options options;
	struct buf why = { 0 };

	assert_non_null(file);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	if (options_parse(&options, argc, argv, &why)) {
		fprintf(stderr, "stalltop: %s\n", buf_cstr(&why));
		status = EXIT_USAGE;
	} else {
		status = check_options(&options, -1);
	}
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

/* What the program can be asked for, each by a command line that is right. */
static const char *const modes[] = {
	"", /* the screen */
	"-b",	   "-b -o openmetrics",	     "--listen :1", "--before 1m -w d", "-R a",
	"-R a -b", "-R a -b -o openmetrics", "-- true",	    "--diff a b",
};

/* Each option beside each of the modes, in their order: x where it is refused. */
static const struct {
	const char *option, *refused;
} options_by_mode[] = {
	{ "--batch", "...x....xx" },
	{ "--iterations 2", "........xx" },
	{ "--delay 2", ".........." },
	{ "--sort cpu", ".........." },
	{ "--fields pid", "..xx...x.x" },
	{ "--unit ms", ".........." },
	{ "--booked", ".........." },
	{ "--threads", "..xx...x.x" },
	{ "--group-by cgroup", ".........x" },
	{ "--group-by process", "..xx...x.x" },
	{ "--cgroup /", ".........x" },
	{ "--pid 1", "........xx" },
	{ "--user root", ".........x" },
	{ "--match a", ".........x" },
	{ "--over 1", "..xx...x.x" },
	{ "--active", "..xx...x.x" },
	{ "--rows 3", "..xx...x.." },
	{ "--rows 0", "x.xxxx.xx." },
	{ "--no-exits", ".........." },
	{ "--exit-buffer 64", ".........." },
	{ "--format text", ".........." },
	{ "--format csv", "x..xxx..x." },
	{ "--format json", "x..xxx...." },
	{ "--format openmetrics", "x...xx..xx" },
	{ "--output o", "x..xxx...x" },
	{ "--listen :1", ".xx..xxxxx" },
	{ "--max-series 3", ".x..x.x.xx" },
	{ "--record a", ".....xxxxx" },
	{ "--keep 1d", "xxxx.xxxxx" },
	{ "--before 1m", "xxxx.xxxxx" },
	{ "--keep 1d -w k", ".....xxxxx" },
	{ "--before 1m -w k", ".....xxxxx" },
	{ "--replay a", "...xx...xx" },
	{ "--from 14:02", "xxxxx...x." },
	{ "--to 14:02", "xxxxx...x." },
	{ "--history 5m", ".........." },
	{ "--theme mono", ".........." },
	{ "--diff c d", ".xxxxxxxxx" },
	{ "--since-start", "..xx...x.x" },
	{ "--when cpu~some~1s/2s", "..xx.xxxxx" },
	{ "--when hang~30s", "xxxx.xxxxx" },
	{ "--linger 3", ".........." },
	{ "--bell", ".........." },
	{ "--source procfs", ".........." },
	{ "--exact-io", ".........." },
	{ "--enable-delayacct", ".....xxx.x" },
	{ "--trace", ".........." },
	{ "--trace-sites 256", ".........." },
	{ "--cgroup-hierarchy v2", ".........." },
	{ "--readonly", ".........." },
	{ "--debug-log l", ".........." },
	{ "--help", ".........." },
	{ "--version", ".........." },
};

/*
 * Whether a line is refused for what it asks for, and not because nothing here can do that: there
 * is no terminal, no /proc is open, it is not built in.
 */
static bool is_refused(const char *line)
{
	static const char *const others[] = { "no terminal", "not built in", "hierarchy" };
	char text[LINE_MAX_BYTES];
	int status = check(line, text, sizeof(text));

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strstr(text, others[i]))
			return false;
	if (status == EXIT_USAGE)
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	return status == EXIT_USAGE;
}

/* Of every option it is known with what it goes. */
static void test_modes(void **state)
{
	size_t covered = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(options_by_mode); i++) {
		const char *option = options_by_mode[i].option;
		char seen[ARRAY_SIZE(modes) + 1] = "", line[LINE_MAX_BYTES];

		for (size_t mode = 0; mode < ARRAY_SIZE(modes); mode++) {
			snprintf(line, sizeof(line), "%s %s", option, modes[mode]);
			seen[mode] = is_refused(line) ? 'x' : '.';
		}
		if (strcmp(seen, options_by_mode[i].refused) != 0)
			fail_msg("%s: %s", option, seen);
	}
	for (size_t i = 0; i < option_table_n; i++) {
		char name[64];
		size_t len = (size_t)snprintf(name, sizeof(name), "--%s", option_table[i].name);

		for (size_t j = 0; j < ARRAY_SIZE(options_by_mode); j++) {
			const char *option = options_by_mode[j].option;

			if (!strncmp(option, name, len) && strchr(" ", option[len])) {
				covered++;
				break;
			}
		}
	}
	assert_int_equal(covered, option_table_n);
}

/* Command lines that are refused, and the line that says so. */
static const struct {
	const char *line, *text;
} refused[] = {
	{ "--diff a", "--diff needs two recordings" },
	{ "--diff a b -o openmetrics",
	  "--diff is written as text, csv or json: use one of them as --format" },
	{ "--diff a b --output c", "--diff writes to standard output: it cannot have --output" },
	{ "--diff a b@noon..",
	  "--diff takes two recordings, each as PATH or PATH@FROM..TO, with times as of --from" },
	{ "--diff a@14:02 b",
	  "--diff takes two recordings, each as PATH or PATH@FROM..TO, with times as of --from" },
	{ "--diff a b -b", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b -R c", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b -w c", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --listen :1", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b -n 2", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b -- c", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --keep 1d", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --before 1m", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --enable-delayacct",
	  "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --max-series 2", "--diff compares two recordings, and does nothing else" },
	{ "--diff a b --when cpu~some~1s/2s",
	  "--diff compares two recordings, and does nothing else" },
	{ "--diff a b -g cgroup", "--diff is of all that was recorded, by command: it cannot have "
				  "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -H", "--diff is of all that was recorded, by command: it cannot have "
			   "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -p 1", "--diff is of all that was recorded, by command: it cannot have "
			     "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -u root", "--diff is of all that was recorded, by command: it cannot have "
				"--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -m c", "--diff is of all that was recorded, by command: it cannot have "
			     "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b --cgroup /c",
	  "--diff is of all that was recorded, by command: it cannot have --group-by, --threads, "
	  "--fields, --since-start or filters" },
	{ "--diff a b --over 1", "--diff is of all that was recorded, by command: it cannot have "
				 "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -i", "--diff is of all that was recorded, by command: it cannot have "
			   "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b -F pid", "--diff is of all that was recorded, by command: it cannot have "
			       "--group-by, --threads, --fields, --since-start or filters" },
	{ "--diff a b --since-start",
	  "--diff is of all that was recorded, by command: it cannot have --group-by, --threads, "
	  "--fields, --since-start or filters" },
	{ "--readonly --enable-delayacct -b",
	  "--enable-delayacct is not allowed with --readonly, which the administrator's "
	  "configuration may say too" },
	{ "-o csv -- true", "a command has no --format csv: use text or json" },
	{ "-o openmetrics -- true", "a command has no --format openmetrics: use text or json" },
	{ "--when cpu~some~1s/2s -- true",
	  "a command cannot have --when: it is for -b and for the screen" },
	{ "-b -- true", "a command is followed to its end, with its tasks alone: it cannot have "
			"--batch, --iterations or --pid" },
	{ "-n 2 -- true", "a command is followed to its end, with its tasks alone: it cannot have "
			  "--batch, --iterations or --pid" },
	{ "-p 1 -- true", "a command is followed to its end, with its tasks alone: it cannot have "
			  "--batch, --iterations or --pid" },
	{ "-w a -- true", "a command cannot have --record or --replay" },
	{ "-R a -- true", "a command cannot have --record or --replay" },
	{ "--listen :1 -- true",
	  "--listen writes nothing: it cannot have --batch, --output, --replay or a command" },
	{ "--max-series 3 -- true",
	  "--max-series is for metrics: it needs --listen, or --batch with --format openmetrics" },
	{ "--output o -w d", "--output needs --batch or a command" },
	{ "-R a -w b",
	  "--replay looks at no machine: it cannot have --record, --when or --enable-delayacct" },
	{ "-R a --when cpu~some~1s/2s",
	  "--replay looks at no machine: it cannot have --record, --when or --enable-delayacct" },
	{ "-R a -b --when cpu~some~1s/2s",
	  "--replay looks at no machine: it cannot have --record, --when or --enable-delayacct" },
	{ "-R a --enable-delayacct",
	  "--replay looks at no machine: it cannot have --record, --when or --enable-delayacct" },
	{ "--keep 1d -b", "--keep needs --record" },
	{ "--keep 1d -R a", "--keep needs --record" },
	{ "--before 1m -b", "--before needs --record" },
	{ "--when hang~30s -b", "--when hang and --when oom need --before" },
	{ "--when oom -w d -b", "--when hang and --when oom need --before" },
	{ "--rows 0", "--rows 0 needs --batch" },
	{ "--rows 0 -R a", "--rows 0 needs --batch" },
	{ "--rows 0 -- true", "--rows 0 needs --batch" },
	{ "--from 14:02 -b", "--from and --to need --replay or --diff" },
	{ "--to 14:02", "--from and --to need --replay or --diff" },
	{ "--output a", "--output needs --batch or a command" },
	{ "--output a -R b", "--output needs --batch or a command" },
	{ "-o json", "--format json needs --batch" },
	{ "-o csv -R a", "--format csv needs --batch" },
	{ "-o openmetrics -w a", "--format openmetrics needs --batch" },
	{ "-b --max-series 3",
	  "--max-series is for metrics: it needs --listen, or --batch with --format openmetrics" },
	{ "--max-series 3 -R a -b",
	  "--max-series is for metrics: it needs --listen, or --batch with --format openmetrics" },
	{ "--listen :1 -b",
	  "--listen writes nothing: it cannot have --batch, --output, --replay or a command" },
	{ "--listen :1 -R a",
	  "--listen writes nothing: it cannot have --batch, --output, --replay or a command" },
	{ "--listen :1 --output o",
	  "--listen writes nothing: it cannot have --batch, --output, --replay or a command" },
	{ "--listen :1 -o csv", "--listen answers with metrics: it cannot have another --format" },
	{ "--listen :1 -o json", "--listen answers with metrics: it cannot have another --format" },
	{ "-b -o openmetrics -g process", "metrics are by group: use -g cgroup, user or command" },
	{ "--listen :1 -H", "metrics are by group: use -g cgroup, user or command" },
	{ "-b -o openmetrics --over 1", "metrics are of all groups at all times: they cannot have "
					"--over, --active, --rows or --fields" },
	{ "-b -o openmetrics -i", "metrics are of all groups at all times: they cannot have "
				  "--over, --active, --rows or --fields" },
	{ "-b -o openmetrics -r 3", "metrics are of all groups at all times: they cannot have "
				    "--over, --active, --rows or --fields" },
	{ "-b -o openmetrics -F pid", "metrics are of all groups at all times: they cannot have "
				      "--over, --active, --rows or --fields" },
	{ "-R a -b -o openmetrics -F pid", "metrics are of all groups at all times: they cannot "
					   "have --over, --active, --rows or --fields" },
	{ "--listen :1 --rows 3", "metrics are of all groups at all times: they cannot have "
				  "--over, --active, --rows or --fields" },
	{ "-b -o openmetrics --since-start",
	  "metrics go on from sample to sample: they cannot have --since-start or --when" },
	{ "-b -o openmetrics --when cpu~some~1s/2s",
	  "metrics go on from sample to sample: they cannot have --since-start or --when" },
	{ "--listen :1 --when cpu~some~1s/2s",
	  "metrics go on from sample to sample: they cannot have --since-start or --when" },
	{ "--before 1m", "--before needs --record" },
	{ "-R a --before 1m", "--before needs --record" },
};

/* What clashes is refused with one line, which says what is allowed. */
static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		char expected[LINE_MAX_BYTES], text[LINE_MAX_BYTES];
		int status = check(refused[i].line, text, sizeof(text));

		snprintf(expected, sizeof(expected), "stalltop: %s\n", refused[i].text);
		if (status != EXIT_USAGE || strcmp(text, expected) != 0)
			fail_msg("%s: %d, %s", refused[i].line, status, text);
	}
}

/* What goes together is let pass. */
static void test_good(void **state)
{
	static const char *const lines[] = {
		"-b",
		"-o json -- true",
		"-o text -- true",
		"--trace --output o -- true",
		"--diff a b",
		"--diff a@09:00..10:00 b@..11:00 -o json",
		"--diff a b -o csv -r 3 --from 14:02",
		"-b -r 0",
		"-b -o openmetrics -g user --max-series 3 --output o",
		"-w d --keep 1d -b",
		"-w d --before 1m --when hang~30s --linger 3",
		"-R a -b -o json --output o --from 14:02",
		"--when cpu~some~1s/2s -b",
		"--enable-delayacct -b",
		"--readonly -b",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char text[LINE_MAX_BYTES];
		int status = check(lines[i], text, sizeof(text));

		if (status || *text)
			fail_msg("%s: %d, %s", lines[i], status, text);
	}
	assert_int_equal(is_refused("--listen :1 -o openmetrics -n 3 -w d"), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
