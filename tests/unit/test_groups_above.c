// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups above a group: which they are, and that each is read once a sample. */
#include "tests/lib/test.h"

#include <string.h>

#include "frame/group.h"

/* What is read: one figure for all; how often, and of which group last. */
struct reads {
	struct cgroup_sample sample;
	unsigned n;
	char last[64];
};

static void read_fake(void *arg, const char *path, struct group_figures *figures)
{
	struct reads *reads = arg;

	reads->n++;
	strncpy(reads->last, path, sizeof(reads->last) - 1);
	figures->now = &reads->sample;
}

/* Asserts which groups are above a path, the next one first. */
static void check(struct groups_above *above, struct reads *reads, const char *path,
		  const char *const *names)
{
	const struct group_above *group = groups_above_read(above, path, read_fake, reads);

	for (; *names; names++, group = group->figures.above) {
		assert_non_null(group);
		assert_string_equal(group->path, *names);
		assert_ptr_equal(group->figures.now, &reads->sample);
	}
	assert_null(group);
}

TEST(test_chain)
{
	struct groups_above above = { 0 };
	struct reads reads = { .n = 0 };

	check(&above, &reads, "/", (const char *const[]){ NULL });
	check(&above, &reads, "/a", (const char *const[]){ NULL });
	check(&above, &reads, "", (const char *const[]){ NULL });
	assert_int_equal(reads.n, 0);
	check(&above, &reads, "/a/b/c", (const char *const[]){ "/a/b", "/a", NULL });
	assert_int_equal(reads.n, 2);
	/* Those that were read are not read again, nor is "/ab" taken for below "/a". */
	check(&above, &reads, "/a/x", (const char *const[]){ "/a", NULL });
	check(&above, &reads, "/a/b/d/e", (const char *const[]){ "/a/b/d", "/a/b", "/a", NULL });
	check(&above, &reads, "/ab/c", (const char *const[]){ "/ab", NULL });
	assert_int_equal(reads.n, 4);
	assert_string_equal(reads.last, "/ab");
	groups_above_free(&above);
}

/* Each sample reads them anew; what is not wanted for long is forgotten. */
TEST(test_ticks)
{
	struct groups_above above = { 0 };
	struct reads reads = { .n = 0 };

	for (unsigned tick = 0; tick < 100; tick++) {
		check(&above, &reads, "/a/b", (const char *const[]){ "/a", NULL });
		assert_int_equal(reads.n, tick + 1);
		groups_above_tick(&above);
	}
	for (unsigned tick = 0; tick < 100; tick++)
		groups_above_tick(&above);
	assert_null(above.first);
	assert_null(above.tree);
	check(&above, &reads, "/a/b", (const char *const[]){ "/a", NULL });
	groups_above_free(&above);
	assert_null(above.tree);
}
