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
	struct recall answers = { 0 };

	assert_null(recall_at(&answers, take_a, 1));
	recall_add(&answers, take_a, "");
	assert_null(recall_at(&answers, take_a, 1));
	recall_free(&answers);
}

/* Each kind has its own, the last is the first. */
TEST(test_kinds)
{
	struct recall answers = { 0 };

	recall_add(&answers, take_a, "one");
	recall_add(&answers, take_b, "other");
	recall_add(&answers, take_a, "two");
	assert_string_equal(recall_at(&answers, take_a, 1), "two");
	assert_string_equal(recall_at(&answers, take_a, 2), "one");
	assert_null(recall_at(&answers, take_a, 3));
	assert_null(recall_at(&answers, take_a, 0));
	assert_string_equal(recall_at(&answers, take_b, 1), "other");
	assert_null(recall_at(&answers, take_b, 2));
	recall_free(&answers);
}

/* What is answered again comes first, and is there once. */
TEST(test_again)
{
	struct recall answers = { 0 };

	recall_add(&answers, take_a, "one");
	recall_add(&answers, take_a, "two");
	recall_add(&answers, take_a, "one");
	assert_string_equal(recall_at(&answers, take_a, 1), "one");
	assert_string_equal(recall_at(&answers, take_a, 2), "two");
	assert_null(recall_at(&answers, take_a, 3));
	recall_free(&answers);
}

/* The oldest go. */
TEST(test_bounds)
{
	struct recall answers = { 0 };
	char text[16];

	for (int i = 0; i < RECALL_MAX + 10; i++) {
		snprintf(text, sizeof(text), "%d", i);
		recall_add(&answers, take_a, text);
	}
	snprintf(text, sizeof(text), "%d", RECALL_MAX + 9);
	assert_string_equal(recall_at(&answers, take_a, 1), text);
	assert_string_equal(recall_at(&answers, take_a, RECALL_MAX), "10");
	assert_null(recall_at(&answers, take_a, RECALL_MAX + 1));
	recall_free(&answers);
}
