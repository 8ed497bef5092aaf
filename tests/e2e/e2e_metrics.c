// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics: they grow by what batch mode prints, to the nanosecond; and readers of the file see
 * whole texts. What is given over HTTP is in e2e_metrics_http.
 */
#include "tests/lib/parse.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/delay.h"

/* --- What batch mode prints --------------------------------------------------- */

/* The texts of a run, one a sample. */
struct texts {
	char *v[32];
	size_t n;
};

/* Cuts what was printed into texts, each with its end mark. */
static void cut(char *out, struct texts *texts)
{
	static const char end[] = "# EOF\n";

	texts->n = 0;
	while (*out && texts->n < 32) {
		char *at = strstr(out, end);

		assert_non_null(at);
		texts->v[texts->n++] = out;
		*at = '\0';
		out = at + strlen(end);
	}
	assert_int_equal(*out, 0);
}

/* Takes a number of at most nine decimals, in units of the last of nine, or a whole one. */
static uint64_t take_value(const char *at)
{
	char *end;
	uint64_t value = strtoull(at, &end, 10);

	if (*end != '.')
		return value;
	assert_int_equal(strspn(end + 1, "0123456789"), 9);
	return value * UINT64_C(1000000000) + strtoull(end + 1, NULL, 10);
}

/* The value of a sample: seconds in ns. 0 where there is none, as usual a group's first. */
static uint64_t value_of(const char *text, const char *sample)
{
	size_t len = strlen(sample);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, sample, len) && line[len] == ' ')
			return take_value(line + len + 1);
	}
	return 0;
}

/* The sum of all samples whose lines begin so. */
static uint64_t sum_of(const char *text, const char *begin)
{
	uint64_t sum = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		/* The value stands behind the last blank of the line. */
		if (!strncmp(line, begin, strlen(begin))) {
			const char *at = strchr(line, '\n');

			while (at[-1] != ' ')
				at--;
			sum += take_value(at);
		}
	}
	return sum;
}

/* A group's name, escaped once more as a label is; "(none)": not known. */
static const char *label_of(const char *name)
{
	char *label = e2e_keep(calloc(2, strlen(name) + 1)), *at = label;

	if (!strcmp(name, "(none)"))
		return "-";
	for (; *name; name++) {
		if (*name == '\\' || *name == '"')
			*at++ = '\\';
		*at++ = *name;
	}
	return label;
}

/* What a group's row has of a kind; 0 where it is not known. */
static uint64_t row_value(json_t *row, const char *member, const char *kind, const char *of)
{
	json_t *value = json_object_get(row, member);

	if (kind)
		value = json_object_get(value, kind);
	if (of)
		value = json_object_get(value, of);
	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
}

/* A counter, where its figure is in a row of JSON, and how its samples begin. */
struct counter {
	const char *begin, *member, *kind, *of;
};

/* Checks that a counter grew by what the rows of a sample have, by group and in all. */
static void check_growth(const char *before, const char *now, json_t *sample,
			 const struct counter *counter)
{
	json_t *rows = json_object_get(sample, "tasks"), *row;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *name = text_or_none(row, "group");
		const char *line = e2e_format("%sgroup=\"%s\"}", counter->begin, label_of(name));
		uint64_t value = row_value(row, counter->member, counter->kind, counter->of);
		uint64_t grown = value_of(now, line) - value_of(before, line);

		if (grown != value)
			fail_msg("%s: +%llu, but batch mode printed %llu", line,
				 (unsigned long long)grown, (unsigned long long)value);
		sum += value;
	}
	assert_int_equal(sum_of(now, counter->begin) - sum_of(before, counter->begin), sum);
}

/* Checks all counters of a sample. Returns what was waited in it. */
static uint64_t check_sample(const char *before, const char *now, json_t *sample)
{
	const struct counter run = { "stalltop_run_seconds_total{", "run_ns", NULL, NULL };
	uint64_t waited = 0;

	check_growth(before, now, sample, &run);
	for (unsigned kind = 0; kind <= DELAY_KINDS; kind++) {
		const char *id = kind < DELAY_KINDS ? delay_table[kind].id : "dwait";
		const struct counter delay = {
			e2e_format("stalltop_delay_seconds_total{kind=\"%s\",", id), "waited", id,
			NULL
		};
		const struct counter waits = { e2e_format("stalltop_waits_total{kind=\"%s\",", id),
					       "delta", id, "count" };

		check_growth(before, now, sample, &delay);
		if (kind < DELAY_KINDS)
			check_growth(before, now, sample, &waits);
		waited += sum_of(now, delay.begin) - sum_of(before, delay.begin);
	}
	return waited;
}

/* Compares metrics with what a replay of the same samples prints, in metrics and in JSON. */
static void check_exact(const char *by)
{
	const char *path = e2e_format("%s/exact-%s.db", e2e_folder(), by);
	struct e2e_result live, again, json;
	struct samples samples;
	struct texts texts;
	uint64_t waited = 0;

	e2e_run(&live, NULL, "-b -o openmetrics -n 8 -d 0.25 -g %s -w %s", by, path);
	e2e_run(&again, NULL, "-b -o openmetrics -g %s -R %s", by, path);
	e2e_run(&json, NULL, "-b -o json -g %s -R %s", by, path);
	if (live.status || again.status || live.err.len)
		fail_msg("status %d and %d: %s%s", live.status, again.status, live.err.data,
			 again.err.data);
	assert_string_equal(live.out.data, again.out.data);
	parse_json(&json, &samples);
	cut(live.out.data, &texts);
	assert_int_equal(texts.n, 8);
	assert_int_equal(samples.n, 8);
	for (size_t i = 0; i < 8; i++)
		waited += check_sample(i ? texts.v[i - 1] : "", texts.v[i], samples.v[i]);
	/* The one that hangs alone did so all the time. */
	assert_true(waited > 7 * UINT64_C(250000000));
}

/* Over any span a counter grows by the sum of what batch mode prints. */
E2E_TEST(test_exact)
{
	e2e_require();
	e2e_load(NULL, "load_churn forks");
	e2e_load(NULL, "load_churn threads");
	e2e_load(NULL, "load_churn thread-exec 400");
	e2e_load(NULL, "load_kind cpu");
	e2e_load(NULL, "load_hang hold");
	check_exact("command");
	check_exact("user");
	check_exact("cgroup");
}

/* --- The file ------------------------------------------------------------------- */

/* Reads a file whole. NULL: there is none yet. */
static const char *read_file_of(const char *path, ino_t *inode)
{
	static char text[1 << 22];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &info), 0);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd);
	*inode = info.st_ino;
	return text;
}

/* Whoever reads at any time sees a whole text; nothing else is left in the folder. */
E2E_TEST(test_file)
{
	const char *path = e2e_path("metrics.prom");
	unsigned changes = 0;
	struct e2e_result r;
	struct e2e_proc p;
	double until;
	ino_t inode = 0;

	e2e_require();
	e2e_start_stalltop(&p, NULL, e2e_format("-b -o openmetrics -d 0.05 --output %s", path));
	for (until = e2e_now() + 60; changes < 20 && e2e_now() < until;) {
		ino_t now = inode;
		const char *text = read_file_of(path, &now);

		if (!text)
			continue;
		assert_true(strlen(text) > 6);
		assert_string_equal(text + strlen(text) - 6, "# EOF\n");
		changes += now != inode;
		inode = now;
	}
	assert_true(changes >= 20);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.out.len + r.err.len, 0);
	assert_int_equal(access(e2e_path(".metrics.prom.new"), F_OK), -1);

	e2e_run(&r, NULL, "-b -o openmetrics -n 1 --output %s", e2e_folder());
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "cannot write to"));
}

/* What is no file is written to, and stays what it is. */
E2E_TEST(test_device)
{
	const char *path = e2e_path("fifo");
	const char *link = e2e_path("link");
	struct e2e_result r;
	struct stat info;
	char text[64];
	ssize_t len;
	int fd;

	e2e_require();
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(symlink(path, link), 0);
	/* Both ends, so that nobody waits for the other; it has room for a sample. */
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_SETPIPE_SZ, 1 << 20) > 0);
	e2e_run(&r, NULL, "-b -o openmetrics -n 1 -d 0.1 --output %s", link);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.out.len + r.err.len, 0);
	assert_int_equal(lstat(link, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISFIFO(info.st_mode));
	len = read(fd, text, sizeof(text));
	close(fd);
	assert_true(len > 6);
	assert_memory_equal(text, "# TYPE", 6);
}

/* Asserts that options are refused, with that in the line. */
static void check_refused(const char *args, const char *part)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "%s", args);
	if (r.status != 2 || r.out.len || !strstr(r.err.data, part))
		fail_msg("%s: status %d: %s", args, r.status, r.err.data);
}

/* What makes no sense with metrics. */
E2E_TEST(test_refused)
{
	struct e2e_result r;

	check_refused("--listen 9779", "[ADDRESS]:PORT");
	check_refused("--listen :99999", "[ADDRESS]:PORT");
	check_refused("--listen ::1:9779", "[ADDRESS]:PORT");
	check_refused("--listen :9779 -b", "--batch cannot be used with --listen");
	check_refused("--listen :9779 -R x", "--replay cannot be used with --listen");
	check_refused("-b -o openmetrics -H", "metrics are per group");
	check_refused("-b -o openmetrics -i", "always cover all groups");
	check_refused("-b -o openmetrics -r 3", "always cover all groups");
	check_refused("-b -o openmetrics --since-start",
		      "--since-start cannot be used with metrics");
	check_refused("-b -o csv --max-series 3", "; only with metrics");
	check_refused("-b -o openmetrics --max-series 0", "1 to 10000");
	check_refused("-o openmetrics -- true",
		      "--format openmetrics cannot be used with a command");
	e2e_run(&r, NULL, "--listen 192.0.2.1:9779 -n 1");
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "cannot listen at 192.0.2.1:9779: "));
}
