// SPDX-License-Identifier: GPL-2.0-or-later
/* Delay accounting for a run: however it ends and whoever else has it on, it is put back. */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <signal.h>
#include <string.h>

#define DELAYACCT "/proc/sys/kernel/task_delayacct"
#define NOTE "delayacct-left"

/* Whether it is on. */
static bool is_on(void)
{
	char text[8];

	assert_int_equal(read_text(DELAYACCT, text, sizeof(text)), 0);
	return !strcmp(text, "1");
}

/* Starts one that has it on, and waits until it takes samples. */
static void start(struct e2e_proc *run)
{
	e2e_start_stalltop(run, NULL, "-b -d 0.1 -o csv -r 1 --enable-delayacct");
	assert_true(e2e_skip_line(run, 20));
	assert_true(is_on());
}

/* Ends it by a signal. The exit status. */
static int end(struct e2e_proc *run, int number)
{
	struct e2e_result result;

	assert_int_equal(kill(run->pid, number), 0);
	e2e_finish(run, 20, &result);
	return result.status;
}

/* All signals that can be caught, with and without a name. */
E2E_TEST(test_signals)
{
	const int numbers[] = { SIGQUIT, SIGUSR1, SIGUSR2,	SIGSEGV,   SIGABRT,
				SIGTERM, SIGINT,  SIGRTMIN + 3, SIGVTALRM, SIGRTMAX };

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct e2e_proc run;
		bool clean = numbers[i] == SIGTERM || numbers[i] == SIGINT;

		start(&run);
		assert_int_equal(end(&run, numbers[i]) == 0, clean);
		if (is_on())
			fail_msg("still on after signal %d", numbers[i]);
	}
}

/* Of two the first to end leaves it on for the other, whichever that is. */
E2E_TEST(test_two)
{
	struct e2e_proc runs[2];

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	for (unsigned first = 0; first < 2; first++) {
		start(&runs[0]);
		start(&runs[1]);
		assert_int_equal(end(&runs[first], SIGTERM), 0);
		assert_true(is_on());
		assert_true(e2e_skip_line(&runs[!first], 20));
		assert_int_not_equal(end(&runs[!first], SIGQUIT), 0);
		assert_false(is_on());
	}
}

/* The notes of a short run. */
static bool notes_left(const char *args)
{
	struct e2e_result result;
	struct samples samples;

	e2e_run(&result, NULL, "-b -n 1 -d 0.1 -o json -p 1 %s", args);
	check_silent_success(&result);
	parse_json(&result, &samples);
	return note_of(samples.v[0], NOTE) != NULL;
}

/* A kill leaves it on: the next one says so, and one that has it on puts it back. */
E2E_TEST(test_killed)
{
	struct e2e_result result;
	struct e2e_proc run;

	e2e_require();
	assert_int_equal(box_delayacct(false), 0);
	assert_false(notes_left(""));
	start(&run);
	assert_false(notes_left(""));
	assert_int_equal(end(&run, SIGKILL), 128 + SIGKILL);
	assert_true(is_on());
	assert_true(notes_left(""));
	e2e_run(&result, NULL, "-b -n 1 -d 0.1 -p 1");
	check_silent_success(&result);
	assert_non_null(strstr(result.out.data, "sysctl kernel.task_delayacct=0"));
	assert_false(notes_left("--enable-delayacct"));
	assert_false(is_on());
	assert_false(notes_left(""));
}
