/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where keys begin and end in what the keyboard sends, and what is handed on when. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "ui/term/input.h"

/* Bytes that come as one, and the first key of them. */
struct first_key {
	const char *bytes;
	enum input_state state;
	size_t len;
	bool mouse;
};

static void check_first_keys(const struct first_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct input_key key = input_first_key(keys[i].bytes, strlen(keys[i].bytes), true);

		if (key.state != keys[i].state || key.len != keys[i].len ||
		    key.mouse != keys[i].mouse)
			fail_msg("row %zu: state %d, %zu bytes, mouse %d", i, key.state, key.len,
				 key.mouse);
	}
}

/* Characters, in UTF-8 and without. */
TEST(test_first_characters)
{
	static const struct first_key keys[] = {
		{ "a", INPUT_WHOLE, 1, false },
		{ "ab", INPUT_WHOLE, 1, false },
		{ "\xc3\xa4q", INPUT_WHOLE, 2, false },
		{ "\xe4\xb8\xadq", INPUT_WHOLE, 3, false },
		{ "\xf0\x9f\x98\x80q", INPUT_WHOLE, 4, false },
		{ "\xc3", INPUT_UNFINISHED, 1, false },
		{ "\xf0\x9f\x98", INPUT_UNFINISHED, 3, false },
		{ "\xc3q", INPUT_WHOLE, 1, false },
		{ "\xff", INPUT_WHOLE, 1, false },
		{ "\x84", INPUT_WHOLE, 1, false },
		{ "\xf5\x80\x80\x80", INPUT_WHOLE, 1, false },
	};

	check_first_keys(keys, ARRAY_SIZE(keys));
	assert_int_equal(input_first_key("\xc3\xa4", 2, false).len, 1);
}

/* Esc, and keys that begin with it. */
TEST(test_first_escapes)
{
	static const struct first_key keys[] = {
		{ "\033", INPUT_UNFINISHED, 1, false },
		{ "\033q", INPUT_WHOLE, 1, false },
		{ "\033\033", INPUT_WHOLE, 1, false },
		{ "\033[", INPUT_UNFINISHED, 2, false },
		{ "\033[A", INPUT_WHOLE, 3, false },
		{ "\033[1;5", INPUT_UNFINISHED, 5, false },
		{ "\033[1;5Cq", INPUT_WHOLE, 6, false },
		{ "\033[3$~q", INPUT_WHOLE, 5, false },
		{ "\033[1\033", INPUT_WHOLE, 3, false },
		{ "\033[1\xc3\xa4", INPUT_WHOLE, 3, false },
		{ "\033[[", INPUT_UNFINISHED, 3, false },
		{ "\033[[Aq", INPUT_WHOLE, 4, false },
		{ "\033O", INPUT_UNFINISHED, 2, false },
		{ "\033OAq", INPUT_WHOLE, 3, false },
		{ "\033O5Pq", INPUT_WHOLE, 4, false },
	};

	check_first_keys(keys, ARRAY_SIZE(keys));
}

/* What the mouse does. */
TEST(test_first_of_mouse)
{
	static const struct first_key keys[] = {
		{ "\033[<", INPUT_UNFINISHED, 3, true },
		{ "\033[<0;12", INPUT_UNFINISHED, 7, true },
		{ "\033[<0;12;5Mq", INPUT_WHOLE, 10, true },
		{ "\033[<0;12;5mq", INPUT_WHOLE, 10, true },
		{ "\033[<0;1q", INPUT_BROKEN, 6, true },
		{ "\033[<0;1\033[<0;1;1M", INPUT_BROKEN, 6, true },
		{ "\033[M", INPUT_UNFINISHED, 3, false },
		{ "\033[M !", INPUT_UNFINISHED, 5, true },
		{ "\033[M !\xffq", INPUT_WHOLE, 6, true },
	};

	check_first_keys(keys, ARRAY_SIZE(keys));
}

/* What the terminal answers, and what is no answer. */
TEST(test_first_answers)
{
	static const struct first_key keys[] = {
		{ "\033]11;rgb:0/0/0\aq", INPUT_WHOLE, 15, false },
		{ "\033]11;rgb:0/0/0\033\\q", INPUT_WHOLE, 16, false },
		{ "\033]11;rgb:0/0/0\033", INPUT_UNFINISHED, 15, false },
		{ "\033]11;rgb", INPUT_UNFINISHED, 8, false },
		{ "\033]1", INPUT_UNFINISHED, 3, false },
		{ "\033]", INPUT_UNFINISHED, 2, false },
		{ "\033]11;a\033[A", INPUT_BROKEN, 6, false },
		{ "\033]11;a\nq", INPUT_BROKEN, 6, false },
		{ "\033]q", INPUT_WHOLE, 1, false },
		{ "\033]10;rgb", INPUT_UNFINISHED, 8, false },
		{ "\033]52;c;YQ==\aq", INPUT_WHOLE, 12, false },
		{ "\033P>|x(1)\033\\q", INPUT_WHOLE, 10, false },
		{ "\033P1$r0m", INPUT_UNFINISHED, 7, false },
		{ "\033P", INPUT_UNFINISHED, 2, false },
		{ "\033Pq", INPUT_WHOLE, 1, false },
	};

	check_first_keys(keys, ARRAY_SIZE(keys));
}

/* Whatever comes, a key is found that is no longer than what came and than keys are. */
TEST(test_any_bytes)
{
	static const char likely[] = "\033\033\033[[[<<MmO0195;;; ~$?]11;\a\\\xc3\xa4\xf0\x9f\x01q";

	srand(1);
	for (int round = 0; round < 20000; round++) {
		char bytes[200];
		size_t len = 1 + (size_t)rand() % sizeof(bytes), at = 0;

		for (size_t i = 0; i < len; i++)
			bytes[i] = rand() % 20 ? likely[(size_t)rand() % (sizeof(likely) - 1)]
					       : (char)rand();
		while (at < len) {
			struct input_key key = input_first_key(bytes + at, len - at, round % 2);

			assert_in_range(key.len, 1, len - at);
			assert_in_range(key.len, 1, 202);
			if (key.state == INPUT_UNFINISHED)
				assert_int_equal(at + key.len, len);
			at += key.len;
		}
	}
}

/* A keyboard that is a pipe: its other end. */
static int open_keyboard(struct input *input)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(input_open(input, ends[0], true), 0);
	close(ends[0]);
	return ends[1];
}

/* Types, feeds at that time, and expects what ncurses is handed. */
static void expect(struct input *input, int keyboard, const char *typed, uint64_t ms,
		   const char *handed)
{
	char bytes[INPUT_BYTES + 1];
	ssize_t n;

	assert_int_equal(write(keyboard, typed, strlen(typed)), strlen(typed));
	assert_int_equal(input_feed(input, ms * NSEC_PER_MSEC), *handed != '\0');
	n = read(fileno(input->stream), bytes, sizeof(bytes) - 1);
	bytes[n > 0 ? n : 0] = '\0';
	assert_string_equal(bytes, handed);
}

/* Knows two keys. */
static bool knows(const char *sequence)
{
	return !strcmp(sequence, "\033[A") || !strcmp(sequence, "\033[M");
}

/* What has come half waits for its rest, and what it is without that comes after a while. */
TEST(test_halves)
{
	struct input input;
	int keyboard = open_keyboard(&input);

	input.knows = knows;
	assert_true(input_due_ns(&input) == UINT64_MAX);
	expect(&input, keyboard, "a\xc3", 1000, "a");
	expect(&input, keyboard, "\xa4\033", 1020, "\xc3\xa4");
	assert_true(input_due_ns(&input) == 1070 * NSEC_PER_MSEC);
	expect(&input, keyboard, "", 1069, "");
	expect(&input, keyboard, "[A", 1069, "\033[A");
	assert_true(input_due_ns(&input) == UINT64_MAX);
	expect(&input, keyboard, "\033", 2000, "");
	expect(&input, keyboard, "", 2050, "\033");
	expect(&input, keyboard, "\033[1", 3000, "");
	expect(&input, keyboard, "", 3050, "");
	expect(&input, keyboard, "\033[", 4000, "");
	expect(&input, keyboard, "", 4050, "\033[");
	input_close(&input);
	close(keyboard);
}

/* What is no key of the terminal is not taken for others, as long as it has come so. */
TEST(test_unknown)
{
	static const char *const unknown[] = { "\033[I",	 "\033[O",	  "\033[200~",
					       "\033[97;5u",	 "\033[27;5;57~", "\033[?1;2c",
					       "\033[1;5A",	 "\033[[A",	  "\033O5P",
					       "\033]52;c;kk\a", "\033P>|k\033\\" };
	struct input input;
	int keyboard = open_keyboard(&input);
	uint64_t ms = 1000;

	input.knows = knows;
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		expect(&input, keyboard, unknown[i], ms += 1000, "");
		expect(&input, keyboard, "q", ms += 600, "q");
	}
	expect(&input, keyboard, "\033[200~pasted\033[201~x", ms += 1000, "pastedx");
	expect(&input, keyboard, "\033[A\033[I\033[A", ms += 1000, "\033[A\033[A");
	/* A key of few terminals, with which a report could begin. */
	expect(&input, keyboard, "\033[M", ms += 1000, "");
	expect(&input, keyboard, "", ms += 50, "\033[M");
	/* What was cut off, and what was typed. */
	expect(&input, keyboard, "\033[1;", ms += 1000, "");
	expect(&input, keyboard, "", ms += 50, "");
	expect(&input, keyboard, "\033[9\033q", ms += 1000, "\033q");
	expect(&input, keyboard, "\033P", ms += 1000, "");
	expect(&input, keyboard, "", ms += 50, "\033P");
	expect(&input, keyboard, "\033O", ms += 1000, "");
	expect(&input, keyboard, "", ms += 50, "\033O");
	input_close(&input);
	close(keyboard);
}

/* A report of the mouse is handed on whole, late as it may come, or not at all. */
TEST(test_half_reports)
{
	struct input input;
	int keyboard = open_keyboard(&input);

	expect(&input, keyboard, "\033[<0;1", 1000, "");
	expect(&input, keyboard, "", 1400, "");
	expect(&input, keyboard, "2;5M", 1400, "\033[<0;12;5M");
	/* the rest never comes */
	expect(&input, keyboard, "\033[<0;1", 2000, "");
	assert_true(input_due_ns(&input) == 2500 * NSEC_PER_MSEC);
	expect(&input, keyboard, "", 2500, "");
	assert_true(input_due_ns(&input) == UINT64_MAX);
	/* a key in its place */
	expect(&input, keyboard, "\033[<0;1", 3000, "");
	expect(&input, keyboard, "q", 3010, "q");
	input_close(&input);
	close(keyboard);
}

/* No more than a portion at a time, and all of it in the end; then the end of the input. */
TEST(test_portions)
{
	char bytes[3 * INPUT_BYTES], got[INPUT_BYTES + 1];
	struct input input;
	int keyboard = open_keyboard(&input);
	size_t total = 0;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(write(keyboard, bytes, sizeof(bytes)), sizeof(bytes));
	close(keyboard);
	for (int i = 0; i < 3; i++) {
		assert_true(input_feed(&input, 1));
		assert_false(input.ended);
		total += (size_t)read(fileno(input.stream), got, sizeof(got));
	}
	assert_int_equal(total, sizeof(bytes));
	assert_false(input_feed(&input, 1));
	assert_true(input.ended);
	input_close(&input);
}

/* Of an answer nothing is handed on, whenever it comes and whatever it says. */
TEST(test_answers)
{
	struct input input;
	int keyboard = open_keyboard(&input);

	assert_false(input.answered);
	expect(&input, keyboard, "a\033]11;rgb:ffff/f", 1000, "a");
	expect(&input, keyboard, "fff/0000\033", 1300, "");
	assert_false(input.answered);
	expect(&input, keyboard, "\\b", 1400, "b");
	assert_true(input.answered);
	assert_int_equal(input.background, 0xffff00);
	/* Garbage, and one that does not end, are dropped. */
	expect(&input, keyboard, "\033]11;q\aq", 2000, "q");
	assert_int_equal(input.background, -1);
	expect(&input, keyboard, "\033]11;rgb:0/0", 3000, "");
	expect(&input, keyboard, "", 3600, "");
	expect(&input, keyboard, "x", 3610, "x");
	/* Esc and a bracket are two keys. */
	expect(&input, keyboard, "\033]", 4000, "");
	expect(&input, keyboard, "", 4060, "\033]");
	input_close(&input);
	close(keyboard);
}
