// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing two recordings: sums by command and kind, their order, formats, spans. */
#include "tests/lib/test.h"
#include <jansson.h>
#include <string.h>

#include "app/diff.h"
#include "base/util.h"
#include "out/diff_report.h"
#include "out/out.h"

/* Adds a frame of two seconds in which a command waited for a kind. */
static void add(struct diff *diff, enum diff_side side, const char *name, unsigned kind,
		uint64_t ms)
{
	struct frame_info info = { .interval_ns = 2 * NSEC_PER_SEC };
	struct deltas deltas = { 0 };
	struct group group = { .name = name };
	struct row row = { .deltas = &deltas, .group = &group };
	struct frame frame = { .info = &info, .rows = &row, .n = 1 };

	deltas.waited.ns[kind] = ms * NSEC_PER_MSEC;
	diff_add(diff, side, &frame);
}

/* Two sides of which the second has twice the samples. */
static void fill(struct diff *diff)
{
	*diff = (struct diff){ .what = { "a\x1b", "b" } };
	add(diff, DIFF_BEFORE, "db", DELAY_BLKIO, 200);
	add(diff, DIFF_BEFORE, "web", DELAY_CPU, 1000);
	for (unsigned i = 0; i < 2; i++) {
		add(diff, DIFF_AFTER, "db", DELAY_BLKIO, 1600);
		add(diff, DIFF_AFTER, "web", DELAY_CPU, 500);
	}
	add(diff, DIFF_AFTER, "say \"x\"\n", WAIT_DWAIT, 100);
	add(diff, DIFF_AFTER, NULL, DELAY_CPU, 0);
}

/* Shares of the time of each side; what grew most is first, what did not change is left out. */
TEST(test_text)
{
	struct buf out = { 0 };
	struct diff diff;

	fill(&diff);
	diff_report(&diff, &out_text, TEXT_ASCII, 0, &out);
	assert_string_equal(buf_cstr(&out), "before: a\\x1b, 4.0 s in 2 samples\n"
					    "after: b, 12.0 s in 6 samples\n"
					    "\n"
					    "  CHANGE  BEFORE   AFTER KIND    COMMAND\n"
					    "     (%)     (%)     (%) (str)   (str)\n"
					    "   +21.7     5.0    26.7 blkio   db\n"
					    "    +0.8     0.0     0.8 dwait   say \"x\"\\x0a\n"
					    "   -16.7    25.0     8.3 cpu     web\n");
	out.len = 0;
	diff_report(&diff, &out_text, TEXT_ASCII, 1, &out);
	assert_non_null(strstr(buf_cstr(&out), "blkio"));
	assert_null(strstr(buf_cstr(&out), "dwait"));
	buf_free(&out);
	diff_free(&diff);
}

/* Recordings that are the same: a line says so. */
TEST(test_same)
{
	struct diff diff = { .what = { "a", "a" } };
	struct buf out = { 0 };

	add(&diff, DIFF_BEFORE, "db", DELAY_CPU, 5);
	add(&diff, DIFF_AFTER, "db", DELAY_CPU, 5);
	diff_report(&diff, &out_text, TEXT_ASCII, 0, &out);
	assert_non_null(strstr(buf_cstr(&out), "nothing waits more or less"));
	buf_free(&out);
	diff_free(&diff);
}

/* CSV as RFC 4180 has it, with all that there is. */
TEST(test_csv)
{
	struct buf out = { 0 };
	struct diff diff;

	fill(&diff);
	diff_report(&diff, &out_csv, TEXT_ASCII, 1, &out);
	assert_string_equal(buf_cstr(&out),
			    "command,kind,before_ns,before_interval,after_ns,after_interval\r\n"
			    "\"db\",blkio,200000000,4.000000000,3200000000,12.000000000\r\n"
			    "\"say \"\"x\"\"\\x0a\",dwait,0,4.000000000,100000000,12.000000000\r\n"
			    "\"web\",cpu,1000000000,4.000000000,1000000000,12.000000000\r\n");
	buf_free(&out);
	diff_free(&diff);
}

TEST(test_json)
{
	struct buf out = { 0 };
	const json_t *changes, *first;
	struct diff diff;
	json_t *all;

	fill(&diff);
	diff_report(&diff, &out_json, TEXT_ASCII, 1, &out);
	all = json_loads(buf_cstr(&out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(all);
	changes = json_object_get(all, "changes");
	assert_int_equal(json_array_size(changes), 3);
	first = json_array_get(changes, 0);
	assert_string_equal(json_string_value(json_object_get(first, "command")), "db");
	assert_string_equal(json_string_value(json_object_get(first, "kind")), "blkio");
	assert_int_equal(json_integer_value(json_object_get(first, "after_ns")), 3200000000);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(all, "after"), "samples")), 6);
	json_decref(all);
	buf_free(&out);
	diff_free(&diff);
}

/* A path with a span, and what is none. */
TEST(test_span)
{
	char both[] = "/none/x@14:02..14:03", open[] = "/none/x@-3m..", path[] = "/none/x";
	char bad[] = "/none/x@14:02", worse[] = "/none/x@noon..14:00";
	const char *from = "a", *to = "b";

	assert_true(diff_take_span(path, &from, &to));
	assert_string_equal(from, "a");
	assert_true(diff_take_span(both, &from, &to));
	assert_string_equal(both, "/none/x");
	assert_string_equal(from, "14:02");
	assert_string_equal(to, "14:03");
	assert_true(diff_take_span(open, &from, &to));
	assert_string_equal(from, "-3m");
	assert_null(to);
	assert_false(diff_take_span(bad, &from, &to));
	assert_false(diff_take_span(worse, &from, &to));
}
