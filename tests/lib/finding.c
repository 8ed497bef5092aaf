// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/finding.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/parse.h"

/* For how long it is looked for, in seconds. */
#define PATIENCE 60

/* So many samples in a row have nothing to find. */
#define SAMPLES_OF_NOTHING 3

void finding_print(json_t *sample)
{
	json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(sample, "findings"), i, finding)
	{
		fprintf(stderr, "# %s: %s\n", text_or_none(finding, "id"),
			text_or_none(finding, "text"));
	}
}

/* Takes so many samples, of as many seconds each. */
static void take(const char *args, unsigned int n, double seconds, struct samples *samples)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n %u -d %.1f -o json %s", n, seconds, args);
	check_silent_success(&r);
	parse_json(&r, samples);
	assert_int_equal(samples->n, n);
}

/* Whether an id is the one, or one of those that begin like it. */
static bool is_id(const char *id, const char *meant)
{
	size_t len = strlen(meant);

	return !strncmp(id, meant, len) && (!id[len] || id[len] == '-');
}

/* Whether it is what was meant: of the process, or of a group. */
static bool is_meant(json_t *finding, const struct finding_meant *meant)
{
	json_t *pid = json_object_get(finding, "pid");

	if (!is_id(text_or_none(finding, "id"), meant->id) ||
	    (json_is_integer(pid) && json_integer_value(pid) != meant->pid))
		return false;
	for (size_t i = 0; i < FINDING_PARTS && meant->parts[i]; i++)
		if (!strstr(text_or_none(finding, "text"), meant->parts[i]))
			return false;
	return true;
}

/* Whether a sample has it. */
static bool has_meant(json_t *sample, const struct finding_meant *meant)
{
	json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(sample, "findings"), i, finding)
	{
		if (is_meant(finding, meant))
			return true;
	}
	return false;
}

void finding_await(const char *args, const struct finding_meant *meant)
{
	double until = e2e_now() + PATIENCE;
	struct samples samples;

	/* What is there mostly is in the first sample: the longer ones are for what is not. */
	for (double seconds = 0.5; e2e_now() < until; seconds = 1) {
		take(e2e_format("-p %d %s", (int)meant->pid, args), 1, seconds, &samples);
		if (has_meant(samples.v[0], meant))
			return;
	}
	finding_print(samples.v[0]);
	fail_msg("%s: no %s of %d with %s", args, meant->id, (int)meant->pid, meant->parts[0]);
}

void finding_await_none(const char *args)
{
	double until = e2e_now() + PATIENCE;
	struct samples samples;
	size_t found;

	do {
		found = 0;
		take(args, SAMPLES_OF_NOTHING, 1, &samples);
		for (size_t i = 0; i < samples.n; i++)
			found += json_array_size(json_object_get(samples.v[i], "findings"));
		if (!found)
			return;
	} while (e2e_now() < until);
	for (size_t i = 0; i < samples.n; i++)
		finding_print(samples.v[i]);
	fail_msg("%s: there is something to find again and again", args);
}
