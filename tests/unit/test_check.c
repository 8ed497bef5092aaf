// SPDX-License-Identifier: GPL-2.0-or-later
/* Options that cannot go together: refused before anything is done. */
#include "tests/lib/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/modes.h"
#include "app/server.h"
#include "base/process.h"
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
	{ "--format folded --stacks orders", "x..xxxxxxx" },
	{ "--format folded", "xx.xxx..xx" },
	{ "--output o", "x..xxx...x" },
	{ "--listen :1", ".xx..xxxxx" },
	{ "--listen-names a", "xxx.xxxxxx" },
	{ "--max-series 3", "xx..xxx.xx" },
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
	{ "--no-mouse", ".........." },
	{ "--diff c d", ".xxxxxxxxx" },
	{ "--since-start", "..xx...x.x" },
	{ "--when cpu~some~1s/2s", "..xx.xxxxx" },
	{ "--when hang~30s", "xxxx.xxxxx" },
	{ "--linger 3", ".........." },
	{ "--bell", ".........." },
	{ "--source procfs", ".........." },
	{ "--exact-io", ".........." },
	{ "--measure no", ".........." },
	{ "--enable-delayacct", ".....xxx.x" },
	{ "--trace", ".........." },
	{ "--trace-sites 256", ".........." },
	{ "--stacks orders", ".....xxxxx" },
	{ "--stacks orders --stacks-over 5", ".....xxxxx" },
	{ "--stacks-over 5", "xxxxxxxxxx" },
	{ "--debuginfod", ".....xxxxx" },
	{ "--stacks orders --trace-sites 0", "xxxxxxxxxx" },
	{ "--site-fields on", ".........." },
	{ "--site-sort on", ".........." },
	{ "--cgroup-hierarchy v2", ".........." },
	{ "--readonly", ".........." },
	{ "--debug-log l", ".........." },
	{ "--schema", ".........." },
	{ "--help", ".........." },
	{ "--help-all", ".........." },
	{ "--version", ".........." },
	{ "--doctor", ".........." },
	{ "--why", "...x....xx" },
};

/*
 * Whether a line is refused for what it asks for, and not because nothing here can do that: there
 * is no terminal, no /proc is open, it is not built in.
 */
static bool is_refused(const char *line)
{
	static const char *const others[] = { "no terminal", "not built in", "hierarchy",
					      "DEBUGINFOD_URLS" };
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
TEST(test_modes)
{
	size_t covered = 0;

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
	  "--format openmetrics cannot be used with --diff, which compares all "
	  "that was recorded, by command; use text, csv or json" },
	{ "--diff a b --output c",
	  "--output cannot be used with --diff, which compares all that was "
	  "recorded, by command; only with --batch and a command" },
	{ "--diff a b@noon..",
	  "--diff takes two recordings, each as PATH or PATH@FROM..TO, with times as of --from" },
	{ "--diff a@14:02 b",
	  "--diff takes two recordings, each as PATH or PATH@FROM..TO, with times as of --from" },
	{ "--diff a b -b",
	  "--batch cannot be used with --diff, which compares all that was recorded, by command" },
	{ "--diff a b -R c",
	  "--replay cannot be used with --diff, which compares all that was recorded, by command" },
	{ "--diff a b -w c",
	  "--record cannot be used with --diff, which compares all that was recorded, "
	  "by command; only with the screen, --batch and --listen" },
	{ "--diff a b --listen :1",
	  "--listen cannot be used with --diff, which compares all that was recorded, by command" },
	{ "--diff a b -n 2", "--iterations cannot be used with --diff, which compares all that was "
			     "recorded, by command; only "
			     "with the screen, --batch, --listen and --replay" },
	{ "--diff a b -- c",
	  "--diff cannot be used with a command, which is measured alone, until it exits" },
	{ "--diff a b --keep 1d", "--keep cannot be used with --diff, which compares all that was "
				  "recorded, by command; only with the screen, --batch and "
				  "--listen" },
	{ "--diff a b --before 1m", "--before cannot be used with --diff, which compares all that "
				    "was recorded, by command; only "
				    "with the screen, --batch and --listen" },
	{ "--diff a b --enable-delayacct",
	  "--enable-delayacct cannot be used with --diff, which compares all that was recorded, by "
	  "command; only with the screen, --batch, --listen and a command" },
	{ "--diff a b --max-series 2", "--max-series cannot be used with --diff, which compares "
				       "all that was recorded, by command; only "
				       "with metrics (--batch --format openmetrics) and --listen" },
	{ "--diff a b --when cpu~some~1s/2s", "--when cannot be used with --diff, which compares "
					      "all that was recorded, by command; only with "
					      "the screen and --batch" },
	{ "--diff a b -g cgroup", "--group-by cannot be used with --diff, which compares all that "
				  "was recorded, by command; only "
				  "with the screen, --batch, --listen and --replay" },
	{ "--diff a b -H",
	  "--threads cannot be used with --diff, which compares all that was recorded, by "
	  "command; only with the screen, --batch, --listen and --replay" },
	{ "--diff a b -p 1",
	  "--pid cannot be used with --diff, which compares all that was recorded, by "
	  "command; only with the screen, --batch, --listen and --replay" },
	{ "--diff a b -u root", "--user cannot be used with --diff, which compares all that was "
				"recorded, by command; only with "
				"the screen, --batch, --listen and --replay" },
	{ "--diff a b -m c",
	  "--match cannot be used with --diff, which compares all that was recorded, by "
	  "command; only with the screen, --batch, --listen and --replay" },
	{ "--diff a b --cgroup /c", "--cgroup cannot be used with --diff, which compares all that "
				    "was recorded, by command; only "
				    "with the screen, --batch, --listen and --replay" },
	{ "--diff a b --over 1",
	  "--over cannot be used with --diff, which compares all that was recorded, "
	  "by command; only with the screen, --batch and --replay" },
	{ "--diff a b -i",
	  "--active cannot be used with --diff, which compares all that was recorded, by "
	  "command; only with the screen, --batch and --replay" },
	{ "--diff a b -F pid",
	  "--fields cannot be used with --diff, which compares all that was recorded, "
	  "by command; only with the screen, --batch and --replay" },
	{ "--diff a b --since-start", "--since-start cannot be used with --diff, which compares "
				      "all that was recorded, by command; "
				      "only with the screen, --batch and --replay" },
	{ "--readonly --enable-delayacct -b",
	  "--enable-delayacct is not allowed with --readonly (perhaps set by the "
	  "administrator's configuration)" },
	{ "-o csv -- true",
	  "--format csv cannot be used with a command, which is measured alone, until it "
	  "exits; use text or json" },
	{ "-o openmetrics -- true",
	  "--format openmetrics cannot be used with a command, which is measured "
	  "alone, until it exits; use text or json" },
	{ "--when cpu~some~1s/2s -- true", "--when cannot be used with a command, which is "
					   "measured alone, until it exits; only with the "
					   "screen and --batch" },
	{ "-b -- true",
	  "--batch cannot be used with a command, which is measured alone, until it exits" },
	{ "-n 2 -- true",
	  "--iterations cannot be used with a command, which is measured alone, until it "
	  "exits; only with the screen, --batch, --listen and --replay" },
	{ "-p 1 -- true",
	  "--pid cannot be used with a command, which is measured alone, until it exits; "
	  "only with the screen, --batch, --listen and --replay" },
	{ "-w a -- true",
	  "--record cannot be used with a command, which is measured alone, until it "
	  "exits; only with the screen, --batch and --listen" },
	{ "-R a -- true",
	  "--replay cannot be used with a command, which is measured alone, until it exits" },
	{ "--listen :1 -- true",
	  "--listen cannot be used with a command, which is measured alone, until it exits" },
	{ "--max-series 3 -- true", "--max-series cannot be used with a command, which is measured "
				    "alone, until it exits; only with "
				    "metrics (--batch --format openmetrics) and --listen" },
	{ "--output o -w d",
	  "--output cannot be used with the screen; only with --batch and a command" },
	{ "-R a -w b",
	  "--record cannot be used with --replay, which does not sample this machine; only "
	  "with the screen, --batch and --listen" },
	{ "-R a --when cpu~some~1s/2s",
	  "--when cannot be used with --replay, which does not sample this "
	  "machine; only with the screen and --batch" },
	{ "-R a -b --when cpu~some~1s/2s",
	  "--when cannot be used with --replay, which does not sample "
	  "this machine; only with the screen and --batch" },
	{ "-R a --enable-delayacct", "--enable-delayacct cannot be used with --replay, which does "
				     "not sample this machine; only with "
				     "the screen, --batch, --listen and a command" },
	{ "--keep 1d -b", "--keep needs --record" },
	{ "--keep 1d -R a",
	  "--keep cannot be used with --replay, which does not sample this machine; only "
	  "with the screen, --batch and --listen" },
	{ "--before 1m -b", "--before needs --record" },
	{ "--when hang~30s -b", "--when hang and --when oom need --before" },
	{ "--when oom -w d -b", "--when hang and --when oom need --before" },
	{ "--rows 0", "--rows 0 needs --batch" },
	{ "--rows 0 -R a", "--rows 0 needs --batch" },
	{ "--rows 0 -- true", "--rows 0 needs --batch" },
	{ "--from 14:02 -b", "--from cannot be used with --batch; only with --replay and --diff" },
	{ "--to 14:02", "--to cannot be used with the screen; only with --replay and --diff" },
	{ "--output a",
	  "--output cannot be used with the screen; only with --batch and a command" },
	{ "--output a -R b",
	  "--output cannot be used with --replay; only with --batch and a command" },
	{ "-o json",
	  "--format json cannot be used with the screen; only with --batch, a command and --diff" },
	{ "-o csv -R a",
	  "--format csv cannot be used with --replay; only with --batch and --diff" },
	{ "-o openmetrics -w a",
	  "--format openmetrics cannot be used with the screen; only with metrics "
	  "(--batch --format openmetrics) and --listen" },
	{ "-b --max-series 3",
	  "--max-series cannot be used with --batch; only with metrics (--batch "
	  "--format openmetrics) and --listen" },
	{ "--max-series 3 -R a -b",
	  "--max-series cannot be used with --replay; only with metrics (--batch "
	  "--format openmetrics) and --listen" },
	{ "--listen :1 -b",
	  "--batch cannot be used with --listen, which serves metrics of all groups, and "
	  "writes nothing" },
	{ "--listen :1 -R a",
	  "--replay cannot be used with --listen, which serves metrics of all groups, "
	  "and writes nothing" },
	{ "--listen :1 --output o", "--output cannot be used with --listen, which serves metrics "
				    "of all groups, and writes nothing; "
				    "only with --batch and a command" },
	{ "--listen :1 -o csv",
	  "--format csv cannot be used with --listen, which serves metrics of all "
	  "groups, and writes nothing; use openmetrics" },
	{ "--listen :1 -o json",
	  "--format json cannot be used with --listen, which serves metrics of all "
	  "groups, and writes nothing; use openmetrics" },
	{ "-b -o openmetrics -g process", "metrics are per group: use -g cgroup, user or command" },
	{ "--listen :1 -H", "metrics are per group: use -g cgroup, user or command" },
	{ "-b -o openmetrics --over 1", "--over cannot be used with metrics (--batch --format "
					"openmetrics), which always cover all "
					"groups; only with the screen, --batch and --replay" },
	{ "-b -o openmetrics -i", "--active cannot be used with metrics (--batch --format "
				  "openmetrics), which always cover all "
				  "groups; only with the screen, --batch and --replay" },
	{ "-b -o openmetrics -r 3", "--rows cannot be used with metrics (--batch --format "
				    "openmetrics), which always cover all "
				    "groups; only with the screen, --batch, --replay and --diff" },
	{ "-b -o openmetrics -F pid", "--fields cannot be used with metrics (--batch --format "
				      "openmetrics), which always cover all "
				      "groups; only with the screen, --batch and --replay" },
	{ "-R a -b -o openmetrics -F pid",
	  "--fields cannot be used with metrics of a recording; only with "
	  "the screen, --batch and --replay" },
	{ "--listen :1 --rows 3", "--rows cannot be used with --listen, which serves metrics of "
				  "all groups, and writes nothing; "
				  "only with the screen, --batch, --replay and --diff" },
	{ "-b -o openmetrics --since-start",
	  "--since-start cannot be used with metrics (--batch --format openmetrics), which always "
	  "cover "
	  "all groups; only with the screen, --batch and --replay" },
	{ "-b -o openmetrics --when cpu~some~1s/2s",
	  "--when cannot be used with metrics (--batch --format openmetrics), which always cover "
	  "all "
	  "groups; only with the screen and --batch" },
	{ "--listen :1 --when cpu~some~1s/2s", "--when cannot be used with --listen, which serves "
					       "metrics of all groups, and writes nothing; "
					       "only with the screen and --batch" },
	{ "--before 1m", "--before needs --record" },
	{ "-R a --before 1m",
	  "--before cannot be used with --replay, which does not sample this machine; "
	  "only with the screen, --batch and --listen" },
};

/* What clashes is refused with one line, which says what is allowed. */
TEST(test_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		char expected[LINE_MAX_BYTES], text[LINE_MAX_BYTES];
		int status = check(refused[i].line, text, sizeof(text));

		snprintf(expected, sizeof(expected), "stalltop: %s\n", refused[i].text);
		if (status != EXIT_USAGE || strcmp(text, expected) != 0)
			fail_msg("%s: %d, %s", refused[i].line, status, text);
	}
}

/* What goes together is let pass. */
TEST(test_good)
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

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char text[LINE_MAX_BYTES];
		int status = check(lines[i], text, sizeof(text));

		if (status || *text)
			fail_msg("%s: %d, %s", lines[i], status, text);
	}
	assert_int_equal(is_refused("--listen :1 -o openmetrics -n 3 -w d"), false);
}

/* The capabilities for programs in the kernel are kept where a source, or a trace, loads some. */
TEST(test_uses)
{
	static const struct {
		const char *line;
		bool programs;
	} cases[] = {
		{ "-b", true },
		{ "-b --source auto", true },
		{ "-b --source bpf", true },
		{ "-b --source taskstats", false },
		{ "-b --source procfs", false },
		{ "-b --source procfs --trace", true },
		{ "-R a -b", false },
		{ "--diff a b", false },
		{ "-- true", false },
		{ "--trace -- true", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *copy = xstrdup(cases[i].line), *argv[WORDS_MAX];
		struct options options;
		struct buf why = { 0 };

		assert_int_equal(options_parse(&options, split(copy, argv), argv, &why), 0);
		if (!(uses_of(&options) & PRIVILEGE_PROGRAMS) == cases[i].programs)
			fail_msg("%s", cases[i].line);
		options_free(&options);
		free(copy);
	}
}
