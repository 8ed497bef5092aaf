// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Triggers on pressure: expressions and their limits, and the words for what is wrong with them
 * and for what goes wrong.
 */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/errors.h"
#include "base/util.h"
#include "sampler/triggers.h"

/* Parses a copy without a byte to spare, so that a read past the end is seen. */
static enum trigger_fault parse(const char *text, struct trigger_spec *spec)
{
	char *copy = xstrdup(text);
	enum trigger_fault fault;

	memset(spec, 0xA5, sizeof(*spec));
	fault = trigger_parse(copy, spec);
	free(copy);
	return fault;
}

/* Parses what must be right. */
static struct trigger_spec good(const char *text)
{
	struct trigger_spec spec;

	if (parse(text, &spec))
		fail_msg("refused: %s", text);
	assert_string_equal(spec.text, text);
	return spec;
}

/* What samples tell. */
TEST(test_events)
{
	struct trigger_spec spec = good(" hang \t1.5s ");

	assert_int_equal(spec.sort, TRIGGER_HANG);
	assert_int_equal(spec.hang_ns, 1500 * NSEC_PER_MSEC);
	assert_true(trigger_needs_samples(&spec));
	trigger_spec_free(&spec);
	spec = good("oom ");
	assert_int_equal(spec.sort, TRIGGER_OOM);
	trigger_spec_free(&spec);
	spec = good("memory some 300ms/2s");
	assert_int_equal(spec.sort, TRIGGER_PRESSURE);
	assert_false(trigger_needs_samples(&spec));
	trigger_spec_free(&spec);
}

/* What is asked for, by each word. */
TEST(test_good)
{
	static const struct {
		const char *text, *group;
		enum psi_resource resource;
		bool full;
		uint32_t threshold_us, window_us;
	} cases[] = {
		{ "memory some 300ms/2s", NULL, PSI_MEMORY, false, 300000, 2000000 },
		{ "memory full 300ms/2s", NULL, PSI_MEMORY, true, 300000, 2000000 },
		{ "cpu some 0.3s/2000ms", NULL, PSI_CPU, false, 300000, 2000000 },
		{ "cpu full 1us/2000000us", NULL, PSI_CPU, true, 1, 2000000 },
		{ "io some 1.500s/2.0s", NULL, PSI_IO, false, 1500000, 2000000 },
		{ "irq full 0.000001s/500ms", NULL, PSI_IRQ, true, 1, 500000 },
		{ " \tio  full\t0.001ms/10.000000000s ", NULL, PSI_IO, true, 1, 10000000 },
		{ "io full 007ms/010s", NULL, PSI_IO, true, 7000, 10000000 },
		{ "cgroup:a memory full 1s/2s", "a", PSI_MEMORY, true, 1000000, 2000000 },
		{ "cgroup:/a/b.slice cpu some 1s/2s", "a/b.slice", PSI_CPU, false, 1000000,
		  2000000 },
		{ "cgroup:///a b\\x2d  io some 1s/2s", "a b\\x2d", PSI_IO, false, 1000000,
		  2000000 },
		{ "cgroup:/ io some 1s/2s", "", PSI_IO, false, 1000000, 2000000 },
		{ "cgroup:..a/...//b../. io some 1s/2s", "..a/...//b../.", PSI_IO, false, 1000000,
		  2000000 },
		{ "cgroup:\377\n\033 io some 1s/2s", "\377\n\033", PSI_IO, false, 1000000,
		  2000000 },
		{ "cgroup:io some io some 1s/2s", "io some", PSI_IO, false, 1000000, 2000000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trigger_spec spec = good(cases[i].text);

		if (cases[i].group)
			assert_string_equal(spec.group, cases[i].group);
		else
			assert_null(spec.group);
		assert_int_equal(spec.resource, cases[i].resource);
		assert_int_equal(spec.full, cases[i].full);
		assert_int_equal(spec.threshold_us, cases[i].threshold_us);
		assert_int_equal(spec.window_us, cases[i].window_us);
		trigger_spec_free(&spec);
		assert_null(spec.text);
	}
}

/* What is none, and why. */
static const struct {
	const char *text;
	enum trigger_fault fault;
} bad_cases[] = {
	{ "", TRIGGER_BAD_FORM },
	{ " \t", TRIGGER_BAD_FORM },
	{ "memory", TRIGGER_BAD_FORM },
	{ "memory 300ms/2s", TRIGGER_BAD_FORM },
	{ "group memory some 300ms/2s", TRIGGER_BAD_FORM },
	{ "cgroup memory some 300ms/2s", TRIGGER_BAD_FORM },
	{ "memory some 300ms / 2s", TRIGGER_BAD_FORM },
	{ "oom 3", TRIGGER_BAD_FORM },
	{ "memory oom", TRIGGER_BAD_FORM },
	{ "hang 30s memory", TRIGGER_BAD_RESOURCE },
	{ "hang", TRIGGER_BAD_HANG },
	{ "hang 30", TRIGGER_BAD_HANG },
	{ "hang 0s", TRIGGER_BAD_HANG },
	{ "hang 86401s", TRIGGER_BAD_HANG },
	{ "hang 1s/2s", TRIGGER_BAD_HANG },
	{ "cgroup: memory some 300ms/2s", TRIGGER_BAD_GROUP },
	{ "cgroup:.. memory some 300ms/2s", TRIGGER_BAD_GROUP },
	{ "cgroup:/a/../b memory some 300ms/2s", TRIGGER_BAD_GROUP },
	{ "cgroup:/a/.. memory some 300ms/2s", TRIGGER_BAD_GROUP },
	{ "cgroup:../a memory some 300ms/2s", TRIGGER_BAD_GROUP },
	{ "mem some 300ms/2s", TRIGGER_BAD_RESOURCE },
	{ "memoryx some 300ms/2s", TRIGGER_BAD_RESOURCE },
	{ "Memory some 300ms/2s", TRIGGER_BAD_RESOURCE },
	{ "memory\n some 300ms/2s", TRIGGER_BAD_RESOURCE },
	{ "cgroup:memory some 300ms/2s", TRIGGER_BAD_RESOURCE },
	{ "memory any 300ms/2s", TRIGGER_BAD_LEVEL },
	{ "memory fullx 300ms/2s", TRIGGER_BAD_LEVEL },
	{ "memory som 300ms/2s", TRIGGER_BAD_LEVEL },
	{ "irq some 300ms/2s", TRIGGER_BAD_IRQ },
	{ "memory some 300ms", TRIGGER_BAD_TIME },
	{ "memory some /", TRIGGER_BAD_TIME },
	{ "memory some /2s", TRIGGER_BAD_TIME },
	{ "memory some 300ms/", TRIGGER_BAD_TIME },
	{ "memory some 300/2s", TRIGGER_BAD_TIME },
	{ "memory some 300ms/2", TRIGGER_BAD_TIME },
	{ "memory some 300ms/2S", TRIGGER_BAD_TIME },
	{ "memory some 300ms/2min", TRIGGER_BAD_TIME },
	{ "memory some 300ms/2s/", TRIGGER_BAD_TIME },
	{ "memory some 300ms/2s/2s", TRIGGER_BAD_TIME },
	{ "memory some 1.s/2s", TRIGGER_BAD_TIME },
	{ "memory some .5s/2s", TRIGGER_BAD_TIME },
	{ "memory some 1,5s/2s", TRIGGER_BAD_TIME },
	{ "memory some 1.5.5s/2s", TRIGGER_BAD_TIME },
	{ "memory some -1s/2s", TRIGGER_BAD_TIME },
	{ "memory some +1s/2s", TRIGGER_BAD_TIME },
	{ "memory some 1e3us/2s", TRIGGER_BAD_TIME },
	{ "memory some 0x1s/2s", TRIGGER_BAD_TIME },
	{ "memory some infs/2s", TRIGGER_BAD_TIME },
	{ "memory some 0.5us/2s", TRIGGER_BAD_TIME },
	{ "memory some 0.0000001s/2s", TRIGGER_BAD_TIME },
	{ "memory some 1s/99999999999999999999s", TRIGGER_BAD_TIME },
	{ "memory some 1s/18446744073709551615s", TRIGGER_BAD_WINDOW },
	{ "memory some 18446744073709551615s/2s", TRIGGER_BAD_THRESHOLD },
	{ "memory some 4294968s/2s", TRIGGER_BAD_THRESHOLD },
	{ "memory some 1ms/0s", TRIGGER_BAD_WINDOW },
	{ "memory some 1ms/499.999ms", TRIGGER_BAD_WINDOW },
	{ "memory some 1ms/10.000001s", TRIGGER_BAD_WINDOW },
	{ "memory some 1ms/4294967297us", TRIGGER_BAD_WINDOW },
	{ "memory some 0us/2s", TRIGGER_BAD_THRESHOLD },
	{ "memory some 0.0s/2s", TRIGGER_BAD_THRESHOLD },
	{ "memory some 2000001us/2s", TRIGGER_BAD_THRESHOLD },
	{ "memory some 500.001ms/500ms", TRIGGER_BAD_THRESHOLD },
};

/* What is refused, and as what. */
TEST(test_bad)
{
	struct trigger_spec spec;

	for (size_t i = 0; i < ARRAY_SIZE(bad_cases); i++) {
		enum trigger_fault fault = parse(bad_cases[i].text, &spec);

		if (fault != bad_cases[i].fault)
			fail_msg("%s: fault %d, not %d", bad_cases[i].text, fault,
				 bad_cases[i].fault);
		assert_null(spec.text);
		assert_null(spec.group);
	}
}

/* The limits themselves are allowed. */
TEST(test_limits)
{
	static const char *const texts[] = {
		"memory some 500ms/500ms",
		"memory some 1us/500ms",
		"memory some 10s/10s",
		"memory some 1us/10s",
		"memory some 10000000us/10000000us",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct trigger_spec spec = good(texts[i]);

		trigger_spec_free(&spec);
	}
}

/* Cut anywhere, and with any byte anywhere: nothing is read that is not there. */
TEST(test_hostile)
{
	static const char text[] = "cgroup:/a/b io full 1.5s/2s";
	char changed[sizeof(text)];
	struct trigger_spec spec;

	for (size_t len = 0; len < strlen(text); len++) {
		memcpy(changed, text, len);
		changed[len] = '\0';
		assert_int_not_equal(parse(changed, &spec), TRIGGER_GOOD);
	}
	for (size_t at = 0; at < strlen(text); at++) {
		for (int byte = 1; byte < 256; byte++) {
			memcpy(changed, text, sizeof(text));
			changed[at] = (char)byte;
			if (parse(changed, &spec))
				continue;
			assert_in_range(spec.window_us, 500000, 10000000);
			assert_in_range(spec.threshold_us, 1, spec.window_us);
			trigger_spec_free(&spec);
		}
	}
}

/* There are words for all faults. */
TEST(test_words)
{
	for (unsigned fault = TRIGGER_BAD_FORM; fault <= TRIGGER_BAD_THRESHOLD; fault++)
		assert_true(strlen(error_of_expression((enum trigger_fault)fault)) > 10);
}

/* Asserts that the line has a text, or has it not. */
static void assert_says(const char *text, const struct trigger_error *error, const char *said,
			bool expected)
{
	struct trigger_spec spec = good(text);
	struct buf line = { 0 };

	error_of_trigger(&line, &spec, error);
	if (!strstr(buf_cstr(&line), said) == expected)
		fail_msg("%s, step %d, error %d: %s", text, error->step, error->err,
			 buf_cstr(&line));
	assert_true(line.len > 10);
	assert_null(strchr(buf_cstr(&line), '\n'));
	buf_free(&line);
	trigger_spec_free(&spec);
}

/* The window that goes without the capability, where that is what is missing. */
TEST(test_explain_window)
{
	static const struct {
		const char *text, *window;
	} cases[] = {
		{ "io some 1ms/500ms", "use 2s" },	 { "io some 1ms/1s", "use 2s" },
		{ "io some 1ms/1.999999s", "use 2s" },	 { "io some 1ms/2.000001s", "use 4s" },
		{ "cgroup:a io some 1ms/5s", "use 6s" }, { "io some 1ms/9.5s", "use 10s" },
	};
	struct trigger_error error = { TRIGGER_AT_WRITE, -EINVAL, false };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		error.privileged = false;
		assert_says(cases[i].text, &error, cases[i].window, true);
		assert_says(cases[i].text, &error, "CAP_SYS_RESOURCE", true);
		error.privileged = true;
		assert_says(cases[i].text, &error, "CAP_SYS_RESOURCE", false);
	}
	error.privileged = false;
	assert_says("io some 1ms/4s", &error, "CAP_SYS_RESOURCE", false);
	assert_says("io some 1ms/4s", &error, "Invalid argument", true);
}

/* Each other way to fail has words of its own. */
TEST(test_explain)
{
	static const struct {
		const char *text;
		struct trigger_error error;
		const char *said;
	} cases[] = {
		{ "io some 1s/2s", { TRIGGER_AT_WRITE, -EBUSY, false }, "already" },
		{ "io some 1s/2s", { TRIGGER_AT_WRITE, -EOPNOTSUPP, false }, "psi=1" },
		{ "io some 1s/2s", { TRIGGER_AT_WRITE, -ENOMEM, false }, "Cannot allocate" },
		{ "cgroup:a io some 1s/2s",
		  { TRIGGER_AT_WRITE, -ENODEV, false },
		  "no longer exists" },
		{ "io some 1s/2s", { TRIGGER_AT_FILE, -ENOENT, false }, "psi=1" },
		{ "io some 1s/2s", { TRIGGER_AT_FILE, -EPERM, false }, "CAP_SYS_RESOURCE" },
		{ "io some 1s/2s", { TRIGGER_AT_FILE, -EROFS, false }, "Read-only" },
		{ "irq full 1s/2s", { TRIGGER_AT_FILE, -ENOENT, true }, "IRQ_TIME_ACCOUNTING" },
		{ "cgroup:a io some 1s/2s",
		  { TRIGGER_AT_FILE, -ENOENT, false },
		  "cgroup.pressure" },
		{ "cgroup:a io some 1s/2s",
		  { TRIGGER_AT_FILE, -EACCES, false },
		  "io.pressure cannot be opened for writing (Permission denied)" },
		{ "cgroup:a io some 1s/2s", { TRIGGER_AT_GROUP, -ENOENT, false }, "no such group" },
		{ "cgroup:a io some 1s/2s",
		  { TRIGGER_AT_GROUP, -EACCES, false },
		  "Permission denied" },
		{ "cgroup:a io some 1s/2s", { TRIGGER_AT_MOUNT, -ENOENT, false }, "not mounted" },
		{ "cgroup:a io some 1s/2s",
		  { TRIGGER_AT_MOUNT, -EACCES, false },
		  "Permission denied" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_says(cases[i].text, &cases[i].error, cases[i].said, true);
}
