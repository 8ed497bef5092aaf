/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Earlier answers of prompts: by kind, each once, the last first, in bounds. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "base/util.h"
#include "ui/state/prompt.h"

/* Two kinds of prompts. */
static unsigned take_a(struct ui *ui, const char *answer, struct buf *error)
{
	(void)ui;
	(void)answer;
	(void)error;
	return 1;
}

static unsigned take_b(struct ui *ui, const char *answer, struct buf *error)
{
	(void)ui;
	(void)answer;
	(void)error;
	return 2;
}

/* Nothing was answered. */
TEST(test_none)
{
	struct prompt_history answers = { 0 };

	assert_null(prompt_history_at(&answers, take_a, 1));
	prompt_history_add(&answers, take_a, "");
	assert_null(prompt_history_at(&answers, take_a, 1));
	prompt_history_free(&answers);
}

/* Each kind has its own, the last is the first. */
TEST(test_kinds)
{
	struct prompt_history answers = { 0 };

	prompt_history_add(&answers, take_a, "one");
	prompt_history_add(&answers, take_b, "other");
	prompt_history_add(&answers, take_a, "two");
	assert_string_equal(prompt_history_at(&answers, take_a, 1), "two");
	assert_string_equal(prompt_history_at(&answers, take_a, 2), "one");
	assert_null(prompt_history_at(&answers, take_a, 3));
	assert_null(prompt_history_at(&answers, take_a, 0));
	assert_string_equal(prompt_history_at(&answers, take_b, 1), "other");
	assert_null(prompt_history_at(&answers, take_b, 2));
	prompt_history_free(&answers);
}

/* What is answered again comes first, and is there once. */
TEST(test_again)
{
	struct prompt_history answers = { 0 };

	prompt_history_add(&answers, take_a, "one");
	prompt_history_add(&answers, take_a, "two");
	prompt_history_add(&answers, take_a, "one");
	assert_string_equal(prompt_history_at(&answers, take_a, 1), "one");
	assert_string_equal(prompt_history_at(&answers, take_a, 2), "two");
	assert_null(prompt_history_at(&answers, take_a, 3));
	prompt_history_free(&answers);
}

/* The oldest go. */
TEST(test_bounds)
{
	struct prompt_history answers = { 0 };
	char text[16];

	for (int i = 0; i < RECALL_MAX + 10; i++) {
		snprintf(text, sizeof(text), "%d", i);
		prompt_history_add(&answers, take_a, text);
	}
	snprintf(text, sizeof(text), "%d", RECALL_MAX + 9);
	assert_string_equal(prompt_history_at(&answers, take_a, 1), text);
	assert_string_equal(prompt_history_at(&answers, take_a, RECALL_MAX), "10");
	assert_null(prompt_history_at(&answers, take_a, RECALL_MAX + 1));
	prompt_history_free(&answers);
}
