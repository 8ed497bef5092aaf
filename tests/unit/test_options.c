// SPDX-License-Identifier: GPL-2.0-or-later
/* Every option, well and badly given. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options.h"
#include "app/topics.h"
#include "base/pattern.h"
#include "base/util.h"
#include "view/site_lines.h"

#define WORDS_MAX 16

/* What a command line gave: of the one that was parsed last. */
static struct options options;

static int forget(void **state)
{
	(void)state;
	options_free(&options);
	memset(&options, 0, sizeof(options));
	return 0;
}

#define OPTIONS_TEST(name) TEST_WITH(name, NULL, forget)

/* Parses a command line, given with spaces between its words; a lone ~ is an empty word. */
static int parse(const char *line, struct buf *why)
{
	char *copy = xstrdup(line), *rest = copy, *word;
	char *argv[WORDS_MAX] = { "stalltop" };
	int argc = 1, err;

	while ((word = strsep(&rest, " "))) {
		if (*word && argc < WORDS_MAX - 1)
			argv[argc++] = strcmp(word, "~") ? word : word + 1;
	}
	forget(NULL);
	err = options_parse(&options, argc, argv, why);
	/* Strings are those of argv: here they must not outlive it. */
	options.pattern = options.pattern ? "pattern" : NULL;
	options.sampler.source = options.sampler.source ? "source" : NULL;
	options.debug_log = options.debug_log ? "file" : NULL;
	for (unsigned i = 0; i < 2; i++)
		options.diff[i] = options.diff[i] ? "recording" : NULL;
	options.sampler.hierarchy = options.sampler.hierarchy ? "hierarchy" : NULL;
	free(copy);
	return err;
}

/* Parses what must be right. */
static void good(const char *line)
{
	struct buf why = { 0 };

	if (parse(line, &why))
		fail_msg("%s: %s", line, buf_cstr(&why));
	assert_int_equal(why.len, 0);
}

/* Asserts that a command line is refused with that line. */
static void bad(const char *line, const char *expected)
{
	struct buf why = { 0 };

	assert_int_equal(parse(line, &why), -EINVAL);
	assert_string_equal(buf_cstr(&why), expected);
	buf_free(&why);
}

/* Asserts that a command line is refused with a line that begins and ends so. */
static void bad_like(const char *line, const char *begin, const char *end)
{
	struct buf why = { 0 };
	const char *text;

	assert_int_equal(parse(line, &why), -EINVAL);
	text = buf_cstr(&why);
	assert_true(strlen(text) >= strlen(begin) + strlen(end));
	assert_true(!strncmp(text, begin, strlen(begin)));
	assert_string_equal(text + strlen(text) - strlen(end), end);
	assert_null(strchr(text, '\n'));
	buf_free(&why);
}

/* What holds when nothing is said. */
OPTIONS_TEST(test_defaults)
{
	good("");
	assert_false(options.batch || options.view.group_by || options.view.query.active ||
		     !options.sampler.exits || options.sampler.since_start ||
		     options.enable_delayacct || options.help || options.version ||
		     options.list_fields || options.watch.bell);
	assert_true(options.view.iterations == 0 && options.view.interval_ns == 2000000000);
	assert_string_equal(options.view.query.sort->id, "total");
	assert_true(options.view.query.descending);
	assert_int_equal(options.view.unit, UNIT_PERCENT);
	assert_true(options.view.query.over_ms < 0 && options.view.query.rows == 0);
	assert_true(options.watch.nspecs == 0 && options.watch.linger_ns == 10 * NSEC_PER_SEC);
	assert_null(options.view.fields);
	assert_null(options.sampler.source);
	assert_null(options.match);
	assert_null(options.sampler.pids);
	assert_null(options.view.query.users);
}

/* Options without an argument, by letter and by name. */
OPTIONS_TEST(test_flags)
{
	static const struct {
		const char *line;
		size_t place;
	} flags[] = {
		{ "-b", offsetof(struct options, batch) },
		{ "--batch", offsetof(struct options, batch) },
		{ "-i", offsetof(struct options, view.query.active) },
		{ "--active", offsetof(struct options, view.query.active) },
		{ "--since-start", offsetof(struct options, sampler.since_start) },
		{ "--enable-delayacct", offsetof(struct options, enable_delayacct) },
		{ "-h", offsetof(struct options, help) },
		{ "--help", offsetof(struct options, help) },
		{ "-V", offsetof(struct options, version) },
		{ "--version", offsetof(struct options, version) },
		{ "-F list", offsetof(struct options, list_fields) },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(flags); i++) {
		bool set;

		good(flags[i].line);
		memcpy(&set, (char *)&options + flags[i].place, sizeof(set));
		assert_true(set);
	}
	for (unsigned i = 0; i < 2; i++) {
		good(i ? "--no-exits" : "-x");
		assert_false(options.sampler.exits);
	}
}

/* Numbers at both ends of what is allowed. */
OPTIONS_TEST(test_numbers)
{
	good("-b -n 3 -d 0.05 --over 0 -r 18");
	assert_true(options.view.iterations == 3 && options.view.interval_ns == 50000000);
	assert_true(options.view.query.over_ms >= 0 && options.view.query.over_ms <= 0);
	assert_int_equal(options.view.query.rows, 18);
	good("-n18446744073709551615 --delay=86400 --over=2.5");
	assert_true(options.view.iterations == UINT64_MAX);
	assert_true(options.view.interval_ns == UINT64_C(86400000000000));
	assert_true(options.view.query.over_ms > 2.49 && options.view.query.over_ms < 2.51);
}

/* Sort fields with and without a sign. */
OPTIONS_TEST(test_sort)
{
	static const struct {
		const char *line, *id;
		bool descending;
	} cases[] = {
		{ "-s cpu", "cpu", true },	{ "-s comm", "comm", false },
		{ "-s +cpu", "cpu", false },	{ "-s -comm", "comm", true },
		{ "-s -total", "total", true }, { "--sort=user", "user", false },
		{ "-s nvcsw", "nvcsw", true },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		good(cases[i].line);
		assert_string_equal(options.view.query.sort->id, cases[i].id);
		assert_int_equal(options.view.query.descending, cases[i].descending);
	}
}

/* Lists of processes and users; named more than once they add up. */
OPTIONS_TEST(test_lists)
{
	good("-p 30,1,2147483647 -p 7 -u root,4294967294");
	assert_int_equal(options.sampler.npids, 4);
	assert_int_equal(options.view.query.nusers, 2);
	assert_int_equal(options.view.query.users[0], 0);
	assert_int_equal(options.view.query.users[1], 4294967294);
	for (unsigned wanted = 0; wanted < 4; wanted++) {
		static const pid_t pids[] = { 30, 1, INT32_MAX, 7 };
		bool found = false;

		for (size_t i = 0; i < options.sampler.npids; i++)
			found |= options.sampler.pids[i] == pids[wanted];
		assert_true(found);
	}
}

/* Units, formats, sources, patterns, files. */
OPTIONS_TEST(test_words)
{
	for (int unit = 0; unit < UNITS; unit++) {
		struct buf line = { 0 };

		buf_printf(&line, "-U %s", unit_table[unit].id);
		good(buf_cstr(&line));
		assert_int_equal(options.view.unit, unit);
		buf_free(&line);
	}
	good("-o json --source procfs --debug-log /x -F pid,comm "
	     "--cgroup-hierarchy name=systemd");
	assert_ptr_equal(options.format, &out_json);
	assert_non_null(options.sampler.source);
	assert_non_null(options.debug_log);
	assert_non_null(options.sampler.hierarchy);
	assert_non_null(options.view.fields);
	good("--source auto -o csv -g process");
	assert_null(options.sampler.source);
	assert_int_equal(options.view.group_by, GROUP_PROCESS);
	for (int by = 0; by < GROUP_BYS; by++) {
		char line[32];

		snprintf(line, sizeof(line), "-g %s", group_table[by].id);
		good(line);
		assert_int_equal(options.view.group_by, by);
	}
	good("-g user -H");
	assert_int_equal(options.view.group_by, GROUP_THREAD);
	good("--cgroup /a/b --threads -g command");
	assert_non_null(options.sampler.cgroup);
	assert_ptr_equal(options.view.query.below, options.sampler.cgroup);
	assert_int_equal(options.view.group_by, GROUP_COMMAND);
	good("-m one -m ^(two|three)$");
	assert_true(pattern_matches(options.match, "two"));
	assert_false(pattern_matches(options.match, "one"));
	assert_ptr_equal(options.view.query.match, options.match);
}

/* No rows at all are another thing than all of them. */
OPTIONS_TEST(test_no_rows)
{
	good("-b -r 0");
	assert_true(options.view.query.no_rows);
	good("-b -r 0 -r 5");
	assert_false(options.view.query.no_rows);
	assert_int_equal(options.view.query.rows, 5);
}

/* Numbers that are none, or too small or large. */
OPTIONS_TEST(test_bad_numbers)
{
	static const char *const delays[] = { "0",   "0.049", "86400.1", "-1",	"x",   "1x",
					      "nan", "inf",   "~",	 "1,5", "1e99" };
	static const char *const counts[] = { "-1", "x", "1.5", "~", "5x", "18446744073709551616",
					      "+5" };

	for (unsigned i = 0; i < ARRAY_SIZE(delays); i++) {
		struct buf line = { 0 };

		buf_printf(&line, "-d %s", delays[i]);
		bad_like(buf_cstr(&line), "--delay does not take '",
			 "'; allowed: seconds from 0.05 to 86400");
		buf_free(&line);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
		struct buf line = { 0 };

		buf_printf(&line, "-n %s", counts[i]);
		bad_like(buf_cstr(&line), "--iterations does not take '",
			 "'; allowed: a whole number above 0");
		line.len = 0;
		buf_printf(&line, "-r %s", counts[i]);
		bad_like(buf_cstr(&line), "--rows does not take '", "'; allowed: a whole number");
		buf_free(&line);
	}
	bad("-n 0", "--iterations does not take '0'; allowed: a whole number above 0");
	bad("--over -1", "--over does not take '-1'; allowed: milliseconds, 0 or more");
	bad("--over nan", "--over does not take 'nan'; allowed: milliseconds, 0 or more");
}

/* Everything else that an option does not take: what is wrong, and what is allowed. */
OPTIONS_TEST(test_bad_words)
{
	bad("-U hours",
	    "--unit does not take 'hours'; allowed: percent, ms, count, avg, max, total");
	bad("-o jsno",
	    "--format does not take 'jsno'; allowed: text, csv, json, sqlite, folded, pprof, "
	    "openmetrics, why; did you "
	    "mean json?");
	bad("--recrod x", "unknown option --recrod (see --help); did you mean --record?");
	bad("--theads=1", "unknown option --theads=1 (see --help); did you mean --threads?");
	bad_like("-s blkoi", "--sort does not take 'blkoi'; allowed: a field",
		 "; did you mean blkio?");
	bad_like("-F pid,+comand", "--fields does not take",
		 "; not: +comand; did you mean command?");
	bad_like("-F +comand", "--fields does not take", "; not: +comand; did you mean command?");
	bad("--theme solarized",
	    "--theme does not take 'solarized'; allowed: auto, dark, light, any, mono");
	bad("-o xml",
	    "--format does not take 'xml'; allowed: text, csv, json, sqlite, folded, pprof, "
	    "openmetrics, why");
	bad_like("--source x", "--source does not take 'x'; allowed: auto, taskstats", "procfs");
	bad_like("-s nothing", "--sort does not take 'nothing'; allowed: a field", "it");
	bad_like("-s +", "--sort does not take '+'; allowed: a field", "it");
	bad_like("-s ~", "--sort does not take ''; allowed: a field", "it");
	bad_like("-F pid,nothing,x",
		 "--fields does not take 'pid,nothing,x'; allowed: ", "; not: nothing");
	bad_like("-F ~", "--fields does not take ''; allowed: field ids", "(see -F list)");
	bad_like("-g planet", "--group-by does not take 'planet'; allowed: process, thread, ",
		 "user, command, cgroup");
	bad_like("--cgroup a/b", "--cgroup does not take 'a/b'; allowed: a path from the root", "");
	bad("-p 1,x", "--pid does not take '1,x'; allowed: process ids separated by commas");
	bad("-p 1,", "--pid does not take '1,'; allowed: process ids separated by commas");
	bad("-p 0", "--pid does not take '0'; allowed: process ids separated by commas");
	bad("-p 2147483648",
	    "--pid does not take '2147483648'; allowed: process ids separated by commas");
	bad("-p ~", "--pid does not take ''; allowed: process ids separated by commas");
	bad_like("-u no-such-user-here",
		 "--user does not take 'no-such-user-here'; allowed: ", "separated by commas");
	bad_like("-u 4294967295",
		 "--user does not take '4294967295'; allowed: ", "separated by commas");
	bad_like("-u root,,0", "--user does not take 'root,,0'; allowed: ", "separated by commas");
	bad_like("-m a(", "--match does not take 'a('; allowed: a POSIX extended regular ", ")");
	/* What a few bytes would make gigabytes of is refused, and what only looks like it is not.
	 */
	bad_like("-m (((a{255}){255}){255})", "--match does not take '(((a", ")");
	good("-m ((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+");
	good("-m ((((((((((((a*)+)+)+)+)+)+)+)+)+)+)+)+");
	good("-m ((a|b*)*c*){200}");
	good("-m ^(a+b*)+c{1,100}[+]\\+$");
	bad_like("-m ok -m [", "--match does not take '['; allowed: a POSIX ", ")");
	bad("--debug-log ~", "--debug-log does not take ''; allowed: the name of a file");
	bad("--output ~", "--output does not take ''; allowed: the name of a file");
	bad("--cgroup-hierarchy ~", "--cgroup-hierarchy does not take ''; allowed: v2, or a "
				    "controller or name=NAME of a v1 hierarchy");
	bad("-o \x1b[2J",
	    "--format does not take '\\x1b[2J'; allowed: text, csv, json, sqlite, folded, pprof, "
	    "openmetrics, why");
}

/* Options that are none, or lack their value, and words that are no options. */
OPTIONS_TEST(test_unknown)
{
	bad("-Z", "unknown option -Z (see --help)");
	bad("-bZ", "unknown option -Z (see --help)");
	bad("--batch -Zb", "unknown option -Z (see --help)");
	bad("--nothing", "unknown option --nothing (see --help)");
	bad("--s", "unknown option --s (see --help)");
	bad("-d", "option -d needs a value");
	bad("--batch -bd", "option -d needs a value");
	bad("--delay", "option --delay needs a value");
	bad("--batch=1", "unknown option --batch=1 (see --help)");
	bad("-\x1b", "unknown option -? (see --help)");
	bad("-b file", "unexpected argument 'file' (see --help)");
	bad("file -- command", "unexpected argument 'file' (see --help)");
	bad("-m -- file", "unexpected argument 'file' (see --help)");
	bad("--exit-buffer 0", "--exit-buffer does not take '0'; allowed: a whole number of kB "
			       "from 1 to 1048576");
	bad("--trace-sites -1", "--trace-sites does not take '-1'; allowed: a whole number from "
				"0 to 1048576");
	bad("--trace-sites 1e6", "--trace-sites does not take '1e6'; allowed: a whole number from "
				 "0 to 1048576");
	bad("-b --", "a command is missing after --");
	bad("--\x1b[2J", "unknown option --\\x1b[2J (see --help)");
}

/* What stands behind -- is a command, whatever it looks like. */
OPTIONS_TEST(test_command)
{
	char *argv[] = { "stalltop", "-o", "json", "--output", "--", "--", "-b", "--", "-n", NULL };
	struct buf why = { 0 };

	assert_int_equal(options_parse(&options, 9, argv, &why), 0);
	assert_true(options.command == &argv[6]);
	assert_string_equal(options.output, "--");
	assert_false(options.batch);
	good("-b --exit-buffer 64");
	assert_null(options.command);
	assert_int_equal(options.sampler.exit_buffer, 65536);
	assert_false(options.sampler.trace);
	assert_int_equal(options.sampler.trace_sites, 16384);
	good("--trace --trace-sites 1048576 -b");
	assert_true(options.sampler.trace);
	assert_int_equal(options.sampler.trace_sites, 1048576);
}

/* Two recordings to compare, with options between them and behind. */
OPTIONS_TEST(test_diff)
{
	good("--diff a b");
	assert_non_null(options.diff[0]);
	assert_non_null(options.diff[1]);
	good("-o csv --diff a b -r 3");
	assert_non_null(options.diff[1]);
	assert_int_equal(options.view.query.rows, 3);
	good("--diff a -o json b");
	assert_non_null(options.diff[1]);
	assert_ptr_equal(options.format, &out_json);
	good("--diff a");
	assert_null(options.diff[1]);
	good("--before 2m -w d");
	assert_int_equal(options.record.before_ns, 120 * NSEC_PER_SEC);
	assert_false(options.lingers);
}

/* Pressure that is waited for: several, and what a second command line makes of them. */
OPTIONS_TEST(test_when)
{
	char *argv[] = { "stalltop", "--when", "memory some 300ms/2s",
			 "--bell",   "--when", "cgroup:/a b io full 1s/4s",
			 "--linger", "0.5",    NULL };
	char *over[] = { "stalltop", "--when", "cpu some 1s/2s", NULL };
	char *wrong[] = { "stalltop", "--when", "memory some 3s/2\x1bs", NULL };
	struct buf why = { 0 };

	assert_int_equal(options_parse(&options, 8, argv, &why), 0);
	assert_int_equal(options.watch.nspecs, 2);
	assert_string_equal(options.watch.specs[1].group, "a b");
	assert_int_equal(options.watch.specs[1].window_us, 4000000);
	assert_true(options.watch.linger_ns == 500000000 && options.watch.bell);
	assert_int_equal(options_override(&options, 1, argv, &why), 0);
	assert_int_equal(options.watch.nspecs, 2);
	assert_int_equal(options_override(&options, 3, over, &why), 0);
	assert_int_equal(options.watch.nspecs, 1);
	assert_string_equal(options.watch.specs[0].text, "cpu some 1s/2s");
	assert_int_equal(options_override(&options, 3, wrong, &why), -EINVAL);
	assert_string_equal(buf_cstr(&why),
			    "--when does not take 'memory some 3s/2\\x1bs'; allowed: "
			    "THRESHOLD/WINDOW, each a whole number of us, written in us, ms "
			    "or s, such as 300ms/2s");
	buf_free(&why);
	good("--linger 86400");
	assert_true(options.watch.linger_ns == 86400 * NSEC_PER_SEC);
	good("--linger 0");
	assert_true(options.watch.linger_ns == 0 && !options.watch.nspecs && !options.watch.bell);
	bad("--linger -1", "--linger does not take '-1'; allowed: seconds from 0 to 86400");
	bad("--linger 86401", "--linger does not take '86401'; allowed: seconds from 0 to 86400");
	bad("--linger nan", "--linger does not take 'nan'; allowed: seconds from 0 to 86400");
	bad("--when", "option --when needs a value");
}

/* Makes a command line of n times --when with that pressure. The number of its words. */
static int make_when(char **argv, int n, char *pressure)
{
	int argc = 0;

	argv[argc++] = (char *)"stalltop";
	while (n--) {
		argv[argc++] = (char *)"--when";
		argv[argc++] = pressure;
	}
	argv[argc] = NULL;
	return argc;
}

/* So many pressures can be named at most; what is refused takes nothing from the list. */
OPTIONS_TEST(test_when_full)
{
	char *argv[2 * TRIGGERS_MAX + 4], cpu[] = "cpu some 1s/2s", io[] = "io some 1s/2s";
	char irq[] = "irq some 1s/2s";
	struct buf why = { 0 };

	assert_int_equal(options_parse(&options, make_when(argv, TRIGGERS_MAX + 1, io), argv, &why),
			 -EINVAL);
	assert_string_equal(buf_cstr(&why), "--when does not take 'io some 1s/2s'; allowed: "
					    "at most 32 of them");
	assert_int_equal(options.watch.nspecs, TRIGGERS_MAX);
	options_free(&options);
	why.len = 0;
	assert_int_equal(options_parse(&options, make_when(argv, 2, cpu), argv, &why), 0);
	assert_int_equal(
		options_override(&options, make_when(argv, TRIGGERS_MAX - 2, io), argv, &why), 0);
	assert_int_equal(options.watch.nspecs, TRIGGERS_MAX - 2);
	assert_string_equal(options.watch.specs[0].text, io);
	assert_int_equal(options_override(&options, make_when(argv, 0, io), argv, &why), 0);
	assert_int_equal(options.watch.nspecs, TRIGGERS_MAX - 2);
	assert_int_equal(options_override(&options, make_when(argv, 1, irq), argv, &why), -EINVAL);
	assert_string_equal(buf_cstr(&why), "--when does not take 'irq some 1s/2s'; allowed: "
					    "full after irq, which has no some");
	assert_int_equal(options.watch.nspecs, TRIGGERS_MAX - 2);
	buf_free(&why);
}

/* Long names may be cut where they stay clear. */
OPTIONS_TEST(test_short_names)
{
	good("--iter 4 --thr");
	assert_true(options.view.iterations == 4 && options.view.group_by == GROUP_THREAD);
}

/* Asserts that every line is whole and fits a terminal of 80 columns. */
static void check_lines(struct buf *text)
{
	const char *line = buf_cstr(text);

	assert_true(*line);
	while (*line) {
		size_t len = strcspn(line, "\n");

		if (len > 80 || line[len] != '\n' || (len && line[len - 1] == ' '))
			fail_msg("%zu cells: %.*s", len, (int)len, line);
		line += len + 1;
	}
}

/* Asserts that a text has those words in this order, whatever blanks are between them. */
static void check_words(struct buf *text, const char *words)
{
	struct buf flat = { 0 };
	bool blank = false;

	for (size_t i = 0; i < text->len; i++) {
		bool was = blank;

		blank = text->data[i] == ' ' || text->data[i] == '\n';
		if (!blank || !was)
			buf_putc(&flat, blank ? ' ' : text->data[i]);
	}
	if (!strstr(buf_cstr(&flat), words))
		fail_msg("missing: %s", words);
	buf_free(&flat);
}

/* The option of that name. */
static const struct option_row *option_of(const char *name)
{
	for (size_t i = 0; i < option_table_n; i++)
		if (!strcmp(option_table[i].name, name))
			return &option_table[i];
	fail_msg("no option %s", name);
	return NULL;
}

/* Rows are whole: each is for a mode, has what its type wants, and names options that there are. */
TEST(test_rows)
{
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];

		assert_true(row->modes && row->modes < MODE_BIT(MODES));
		assert_int_equal(row->type == OPTION_OTHER, row->set != NULL);
		assert_int_equal(row->type == OPTION_FLAG, row->arg == NULL);
		assert_true(row->type != OPTION_WORD || words_table[row->words].word);
		assert_true(row->min <= row->max);
		if (row->needs)
			assert_ptr_not_equal(option_of(row->needs), row);
		if (row->excludes)
			assert_ptr_not_equal(option_of(row->excludes), row);
	}
	for (size_t i = 0; i < setting_table_n; i++)
		assert_false(setting_table[i].modes || setting_table[i].barred);
}

/* Fields and order of sites, which have columns of their own. */
OPTIONS_TEST(test_sites)
{
	struct buf fields = { 0 };

	good("-s comm --site-sort on --site-fields state,waker");
	assert_ptr_equal(options.view.sites.sort, column_in(&site_columns, "on", 2));
	assert_false(options.view.sites.descending);
	assert_string_equal(options.view.sites.fields, "state,waker");
	assert_ptr_equal(options.view.query.sort, column_by_id("comm", 4));
	assert_null(options.view.fields);
	good("--site-sort=-waker --site-fields=+class");
	assert_true(options.view.sites.descending);
	good("--site-fields list");
	assert_true(options.list_site_fields && !options.list_fields);
	bad_like("--site-fields blkio", "--site-fields does not take", "fields list); not: blkio");
	bad_like("--site-fields state,+on", "--site-fields does not take", "not: +on");
	bad_like("--site-sort wakr", "--site-sort does not take", "did you mean waker?");
	options_fields(&site_columns, &fields);
	check_lines(&fields);
	for (size_t i = 0; i < site_columns.n; i++)
		check_words(&fields, site_columns.columns[i].help);
	buf_free(&fields);
}

/* How many lines a text has, none of them wider than 80 cells. */
static unsigned count_lines(const struct buf *text)
{
	unsigned n = 0;

	for (const char *line = text->data; line < text->data + text->len; n++) {
		size_t len = strcspn(line, "\n");

		assert_true(len <= 80);
		line += len + 1;
	}
	return n;
}

/* The short help fits a screen, and has a line of each option that is not for few. */
TEST(test_short_help)
{
	struct buf help = { 0 };
	unsigned n = 0;

	options_help(&help, false);
	assert_true(count_lines(&help) <= 45);
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];
		char line[96];

		if (!row->brief)
			continue;
		snprintf(line, sizeof(line), "  %s\n", row->brief);
		assert_non_null(strstr(buf_cstr(&help), line));
		n++;
	}
	assert_true(n > 25);
	buf_free(&help);
}

/* A topic of `help`, as text; NULL: there is none. */
static const char *topic(struct buf *text, const char *name)
{
	text->len = 0;
	return topic_append(text, name) ? buf_cstr(text) : NULL;
}

/* Columns, findings, notes and options by their names; what else there is by any word. */
TEST(test_topics)
{
	struct buf text = { 0 };

	good("help");
	assert_non_null(options.topic);
	good("help tour");
	assert_non_null(options.topic);
	good("help load average");
	assert_string_equal(options.topic, "load average");
	assert_non_null(topic(&text, "tour"));
	assert_int_equal(count_lines(&text), 10);
	assert_non_null(strstr(topic(&text, ""), "tour"));
	count_lines(&text);
	for (size_t i = 0; i < columns_n; i++)
		assert_non_null(topic(&text, columns[i].id));
	assert_true(strstr(topic(&text, "blkio"), "What to do:") && strstr(text.data, "ionice"));
	assert_true(strstr(topic(&text, "--trace"), "option trace\n") &&
		    !strstr(text.data, "trace-sites"));
	assert_non_null(strstr(topic(&text, "throttled-idle"), "finding throttled-idle"));
	/* A word that names nothing. */
	assert_non_null(strstr(topic(&text, "ionice"), "column blkio"));
	count_lines(&text);
	/* What only the manual has: by a section, by a name of its glossary, by any word. */
	assert_int_equal(strncmp(topic(&text, "overhead"), "stalltop(1), OVERHEAD\n", 22), 0);
	assert_non_null(
		strstr(topic(&text, "podman"), "stalltop(1), GLOSSARY\n    docker, podman,"));
	assert_non_null(strstr(topic(&text, "-"), "\n    -: an unknown figure"));
	assert_non_null(strstr(topic(&text, "scroll with the arrow"), "READING THE SCREEN\n"));
	assert_null(topic(&text, "nothing has this"));
	assert_string_equal(topic_page("figures"), "stalltop-figures");
	assert_null(topic_page("blkio"));
	buf_free(&text);
}

/* Every option is in the help, every field in the list, and each letter stands for one. */
TEST(test_texts)
{
	struct buf help = { 0 }, fields = { 0 };

	options_help(&help, true);
	options_fields(&task_columns, &fields);
	check_lines(&help);
	check_lines(&fields);
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];
		char name[64] = "--";

		strcat(name, row->name);
		assert_non_null(strstr(buf_cstr(&help), name));
		check_words(&help, row->help);
		for (size_t j = 0; j < i; j++) {
			assert_true(!row->letter || row->letter != option_table[j].letter);
			assert_string_not_equal(row->name, option_table[j].name);
		}
		for (size_t j = 0; j < setting_table_n; j++)
			assert_string_not_equal(row->name, setting_table[j].name);
	}
	for (size_t i = 0; i < columns_n; i++)
		check_words(&fields, columns[i].help);
	buf_free(&help);
	buf_free(&fields);
}
