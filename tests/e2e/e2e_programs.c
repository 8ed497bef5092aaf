// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs as they run on machines, all at once, with nothing to do: nothing is said of any.
 * PROGRAMS_SECONDS is for how long each way to look at them does (5).
 */
#include "tests/lib/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/parse.h"

#define PROGRAMS_MAX 64
/* For how long they are left alone before they are looked at, and one is looked at by itself. */
#define SETTLE_S 3
#define ALONE_S 3
/* How many are looked at by themselves at the same time. */
#define AT_ONCE 4

/* The ways to look at them. */
static const struct {
	const char *args;
	bool asked; /* about them and no others */
} ways[] = { { "", false }, { "", true }, { "--trace", false }, { "--trace", true } };

static struct stage stages[PROGRAMS_MAX];
/* What is said of all of them, way by way; NULL: they were not started. */
static json_t *seen[ARRAY_SIZE(ways)];
/* How much is said of each that is not so. */
static size_t said[PROGRAMS_MAX];

/* Begins to look in one way at the pids, for so many seconds. */
static void begin_way(struct e2e_proc *p, size_t way, const char *pids, int seconds)
{
	e2e_start_stalltop(p, NULL,
			   e2e_format("-b -o json -d 1 -n %d%s%s%s%s", seconds,
				      *ways[way].args ? " " : "", ways[way].args,
				      ways[way].asked ? " -p " : "", ways[way].asked ? pids : ""));
}

/* What was found. */
static json_t *end_way(struct e2e_proc *p, int seconds)
{
	json_t *all = e2e_keep_json(json_array()), *finding;
	struct e2e_result r;
	struct samples s;
	size_t n;

	e2e_finish(p, seconds + 60, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++)
		json_array_foreach(json_object_get(s.v[i], "findings"), n, finding)
			json_array_append(all, finding);
	return all;
}

/* The pids of all that run; all_pids(true): of those of whom nothing may be said if asked about. */
static const char *all_pids(bool quiet)
{
	const char *pids = "";

	for (size_t i = 0; i < program_table_n; i++)
		if (!stages[i].why && !(quiet && program_table[i].asked))
			pids = e2e_format("%s%s%s", pids, *pids ? "," : "", stage_pids(&stages[i]));
	return pids;
}

/* Whether that may be said of a program. */
static bool is_fine(const struct stage *stage, size_t way, json_t *finding)
{
	const char *asked = stage->program->asked;

	return ways[way].asked && asked && program_matches(finding_line(finding), asked);
}

/* How much is said of a program that is not so; prints it, once for a way and pattern. */
static size_t count_false(const struct stage *stage, size_t way, json_t *findings)
{
	const char *last = "";
	json_t *finding;
	size_t i, n = 0;

	json_array_foreach(findings, i, finding)
	{
		const char *id = text_or_none(finding, "id");

		if (!finding_names(stage, finding) || is_fine(stage, way, finding))
			continue;
		if (strcmp(id, last) != 0)
			fprintf(stderr, "# said: %s | %s%s | %s\n", stage->program->name,
				ways[way].args, ways[way].asked ? " -p" : "",
				finding_line(finding));
		last = id;
		n++;
	}
	return n;
}

/* Whether something was said of those of whom nothing may be said. */
static bool is_any_said(void)
{
	size_t n = 0;

	for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
		n += ways[way].asked ? json_array_size(seen[way]) : 0;
	return n;
}

/* Looks at some that are asked about, at all of them at once, and counts what is said of each. */
static void look_at_some(const size_t *some, size_t n)
{
	struct e2e_proc p[AT_ONCE][ARRAY_SIZE(ways)];

	for (size_t i = 0; i < n; i++)
		for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
			if (ways[way].asked)
				begin_way(&p[i][way], way, stage_pids(&stages[some[i]]), ALONE_S);
	for (size_t i = 0; i < n; i++)
		for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
			if (ways[way].asked)
				said[some[i]] += count_false(&stages[some[i]], way,
							     end_way(&p[i][way], ALONE_S));
}

/* Counts what is said of each, also by itself: of several that wait a finding names but one. */
static void count_said(void)
{
	size_t some[AT_ONCE], n = 0;

	for (size_t i = 0; i < program_table_n; i++) {
		if (stages[i].why)
			continue;
		for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
			said[i] += count_false(&stages[i], way, seen[way]);
		if (!program_table[i].asked && (said[i] || !is_any_said()))
			continue;
		some[n++] = i;
		if (n == AT_ONCE) {
			look_at_some(some, n);
			n = 0;
		}
	}
	look_at_some(some, n);
}

/* Starts all of them, and looks at them. */
static void test_start(void **state)
{
	const char *text = getenv("PROGRAMS_SECONDS");
	int seconds = text ? atoi(text) : 5;
	struct e2e_proc p[2];

	(void)state;
	e2e_require_bpf();
	assert_true(program_table_n <= PROGRAMS_MAX);
	for (size_t i = 0; i < program_table_n; i++) {
		stage_make(&stages[i], &program_table[i], program_table[i].box);
		if (!stages[i].why)
			stage_start(&stages[i], program_table[i].start);
	}
	for (size_t i = 0; i < program_table_n; i++)
		if (!stages[i].why && !stage_await(&stages[i], program_table[i].ready))
			stage_print_log(&stages[i]);
	e2e_sleep(SETTLE_S);
	/* Two at a time: more would wait for us to read what they write. */
	for (size_t i = 0; i < ARRAY_SIZE(ways); i += 2) {
		begin_way(&p[0], i, all_pids(true), seconds);
		begin_way(&p[1], i + 1, all_pids(true), seconds);
		seen[i] = end_way(&p[0], seconds);
		seen[i + 1] = end_way(&p[1], seconds);
	}
	count_said();
}

static void test_idle(void **state)
{
	struct stage *stage = *state;
	size_t n = said[stage - stages];

	if (!seen[0])
		e2e_skip_test(stage->program->name, "no bpf source");
	if (stage->why && strstr(stage->why, "come up"))
		fail_msg("%s %s", stage->program->name, stage->why);
	if (stage->why)
		e2e_skip_test(stage->program->name, stage->why);
	if (n)
		fail_msg("%s: %zu findings, and it is idle", stage->program->name, n);
}

/* What the tests share lasts until the last of them. */
static int teardown(void **state)
{
	e2e_teardown(state);
	return e2e_group_teardown(state);
}

int main(void)
{
	struct CMUnitTest tests[1 + PROGRAMS_MAX] = { cmocka_unit_test(test_start) };

	for (size_t i = 0; i < program_table_n && i < PROGRAMS_MAX; i++) {
		stages[i].program = &program_table[i];
		tests[1 + i] = (struct CMUnitTest){ .name = program_table[i].name,
						    .test_func = test_idle,
						    .initial_state = &stages[i] };
	}
	return _cmocka_run_group_tests("programs", tests, 1 + program_table_n, e2e_group_setup,
				       teardown);
}
