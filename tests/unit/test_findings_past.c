// SPDX-License-Identifier: GPL-2.0-or-later
/* What is so all the time is no news; what gets worse is. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "tests/lib/scene.h"
#include "view/findings.h"

/* A row of an interval of 2 s. */
static const struct row two_seconds = { .interval_ns = 2 * NSEC_PER_SEC };

/* Has a finding of such a share hold in a sample, or not (below 0). */
static enum finding_news sample(struct findings_past *past, unsigned second, double share)
{
	const struct finding finding = { .id = "io", .row = &two_seconds, .share = share };
	bool learn = findings_past_begin(past, SEC(1000) + SEC(second));

	return share < 0 ? FINDING_NEW : findings_past_judge(past, &finding, learn);
}

/* It takes five minutes until something is as before, and more than its share to be worse. */
TEST(test_usual)
{
	struct findings_past past = { 0 };
	unsigned second;

	for (second = 2; second < 300; second += 2)
		assert_int_equal(sample(&past, second, 40), FINDING_NEW);
	for (; second < 600; second += 2)
		sample(&past, second, 40 + second % 7);
	assert_int_equal(sample(&past, 600, 45), FINDING_AS_BEFORE);
	assert_int_equal(sample(&past, 602, 90), FINDING_WORSE);
	/* The same moment again, and an earlier one, teach nothing. */
	assert_false(findings_past_begin(&past, SEC(1602)));
	assert_false(findings_past_begin(&past, SEC(1500)));
}

/* What is so now and then is news each time, and what was over is news again. */
TEST(test_rare)
{
	struct findings_past past = { 0 };
	unsigned second;

	for (second = 2; second < 1200; second += 2)
		assert_int_equal(sample(&past, second, second % 60 < 20 ? 40 : -1), FINDING_NEW);
	for (; second < 2400; second += 2)
		sample(&past, second, 40);
	assert_int_equal(sample(&past, second, 40), FINDING_AS_BEFORE);
	for (; second < 4800; second += 2)
		sample(&past, second, -1);
	assert_int_equal(sample(&past, second, 40), FINDING_NEW);
}

/* More findings than are kept put out the rarest. */
TEST(test_room)
{
	struct findings_past past = { 0 };
	char id[8];

	for (unsigned i = 0; i < 3 * PAST_FINDINGS; i++) {
		const struct finding finding = { .id = id, .row = &two_seconds, .share = 30 };

		snprintf(id, sizeof(id), "f%u", i);
		findings_past_begin(&past, SEC(1000) + SEC(2 * i));
		assert_int_equal(findings_past_judge(&past, &finding, true), FINDING_NEW);
	}
	assert_true(findings_past_key(&(struct finding){ .id = "io" }) !=
		    findings_past_key(&(struct finding){ .id = "cpu" }));
}
