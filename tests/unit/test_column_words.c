/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns' words: complete, in the table's order, and of a length that help has room for. */
#include "tests/lib/test.h"

#include <string.h>

#include "base/util.h"
#include "data/delay.h"
#include "view/column_words.h"

/* Cells that help has for a name at the left. */
#define MEANS_CELLS 14

/* Whether a column is a field of the kernel's record, under the kernel's name. */
static bool is_of_record(const struct column *column)
{
	for (unsigned f = 0; f < RECORD_FIELDS; f++)
		if (!strcmp(record_table[f].id, column->id))
			return true;
	return false;
}

/* Each column has its words, in the same order, and no words are of no column. */
TEST(test_complete)
{
	size_t at = 0;

	for (size_t i = 0; i < columns_n; i++) {
		const struct column *column = &columns[i];

		if (is_of_record(column)) {
			assert_null(column_words(column));
			assert_string_equal(column_name(column), column->id);
			continue;
		}
		if (at == column_words_n || strcmp(column_words_table[at].id, column->id) != 0)
			fail_msg("column %s has no words where they should be", column->id);
		assert_ptr_equal(column_words(column), &column_words_table[at++]);
		assert_true(strlen(column_name(column)) > 3);
	}
	assert_int_equal(at, column_words_n);
}

/* Who waits, or is made to, can do something about it. */
TEST(test_remedies)
{
	for (size_t i = 0; i < columns_n; i++) {
		const struct column_words *words = column_words(&columns[i]);

		if (column_is_delay(&columns[i]) || columns[i].stalls)
			assert_true(words && words->subject);
		if (column_is_delay(&columns[i]))
			assert_non_null(words->more ? words->more
						    : remedies_of(words->subject)->means);
		if (!words || !words->subject)
			continue;
		assert_non_null(remedies_of(words->subject)->means);
		for (const struct remedy *r = remedies_of(words->subject); r->means; r++) {
			assert_true(strlen(r->means) <= MEANS_CELLS);
			assert_true(strlen(r->how) > 20);
			/* a sentence's end comes with what is around it */
			assert_true(r->how[strlen(r->how) - 1] != '.');
		}
	}
}

/* Asserts that one of a column's means is there. */
static void check_means(const char *id, const char *means)
{
	const struct remedy *remedy =
		remedies_of(column_words(column_by_id(id, strlen(id)))->subject);

	while (remedy->means && strcmp(remedy->means, means) != 0)
		remedy++;
	assert_non_null(remedy->means);
}

/* What the kernel's documents name for each resource. */
TEST(test_means)
{
	check_means("cpu", "nice");
	check_means("cpu", "cpu.max");
	check_means("throttled", "cpu.max");
	check_means("blkio", "ionice");
	check_means("reclaim", "memory.high");
	check_means("swapin", "memory.high");
	check_means("thrash", "memory.high");
	check_means("mem-high", "memory.high");
}

/* Asserts what a column costs. */
static void check_cost(const char *id, const char *brief, const char *words)
{
	struct column_cost cost = column_cost(column_by_id(id, strlen(id)));

	assert_string_equal(cost.brief, brief);
	assert_non_null(strstr(cost.words, words));
}

/* Costs follow from what is read for a column: who needs something costs something. */
TEST(test_costs)
{
	const unsigned free_needs = NEED_LIFE;

	check_cost("pid", "-", "none");
	check_cost("reclaim", "-", "none");
	check_cost("read", "1 read", "/io");
	check_cost("cuser", "1 read", "/stat");
	check_cost("cgroup", "1 read", "/cgroup");
	check_cost("command", "1 read", "/cmdline");
	check_cost("on", "some reads", "/proc");
	check_cost("hiwater_rss", "record", "request");
	check_cost("psi-io", "1 read", "cgroup");
	check_cost("s-lock", "trace", "switch");
	check_cost("trend", "-", "history");
	for (size_t i = 0; i < columns_n; i++) {
		bool is_free = !strcmp(column_cost(&columns[i]).brief, "-");

		assert_int_equal(is_free, !(columns[i].needs & ~free_needs) && !columns[i].traced);
	}
}

/* The line spells the head out. */
TEST(test_line)
{
	struct buf text = { 0 };

	column_append_words(column_by_id("reclaim", 7), &text);
	assert_string_equal(buf_cstr(&text), "memory reclaim: direct reclaim during an allocation");
	text.len = 0;
	column_append_words(column_by_id("hiwater_rss", 11), &text);
	assert_string_equal(buf_cstr(&text), "hiwater_rss: peak resident memory");
	text.len = 0;
	/* nothing is said twice */
	column_append_words(column_by_id("pid", 3), &text);
	assert_string_equal(buf_cstr(&text), "process id; in rows of threads the thread's id");
	buf_free(&text);
}
