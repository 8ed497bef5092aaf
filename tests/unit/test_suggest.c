// SPDX-License-Identifier: GPL-2.0-or-later
/* The word that was meant: a letter or two away, and none where it is anything else. */
#include "tests/lib/test.h"
#include <string.h>

#include "base/text.h"
#include "base/util.h"

TEST(test_near)
{
	static const struct {
		const char *word, *list, *asked;
	} rows[] = {
		{ "blkoi", "cpu, blkio, reclaim", "; did you mean blkio?" },
		{ "reclam", "cpu, blkio, reclaim", "; did you mean reclaim?" },
		{ "comand", "user, command, cgroup", "; did you mean command?" },
		{ "cgruop", "user, command, cgroup", "; did you mean cgroup?" },
		{ "pud", "pid, cpu", "; did you mean pid?" },
		{ "tesxt", "text, csv, json", "; did you mean text?" },
		{ "csv", "csw, csv, json", "" },
		/* nothing near, too short for a change, too long, no list */
		{ "nonsense", "cpu, blkio, reclaim", "" },
		{ "io", "ip, no", "" },
		{ "", "a, b", "" },
		{ "fielt", "a field (see -F list)", "" },
		{ "texxt", "text, csv,", "" },
		{ "texxt", "", "" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct suggestion near = suggest_for(rows[i].word, strlen(rows[i].word));
		struct buf out = { 0 };

		suggest_try_list(&near, rows[i].list, strlen(rows[i].list));
		suggest_append(&near, "", &out);
		assert_string_equal(buf_cstr(&out), rows[i].asked);
		buf_free(&out);
	}
}

/* The nearest of all, the first of those. */
TEST(test_nearest)
{
	struct suggestion near = suggest_for("recrod", 6);
	struct buf out = { 0 };

	suggest_try(&near, "recor", 5);
	suggest_try(&near, "record", 6);
	suggest_try(&near, "record2", 7);
	suggest_append(&near, "--", &out);
	assert_string_equal(buf_cstr(&out), "; did you mean --record?");
	buf_free(&out);
}
