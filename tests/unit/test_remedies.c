// SPDX-License-Identifier: GPL-2.0-or-later
/* What to do against a limit: tests/scripts/why.txt has all other remedies. */
#include "tests/lib/test.h"

#include "base/util.h"
#include "tests/lib/lone.h"
#include "view/remedies.h"

/* What the remedy must be. */
static void assert_remedy(const struct lone *lone, const struct finding *finding,
			  const struct chain *chain, const char *means, const char *how)
{
	struct buf said = { 0 }, said_how = { 0 };

	remedies_put(&said, &said_how, &lone->frame, finding, chain);
	assert_string_equal(buf_cstr(&said), means);
	if (how)
		assert_non_null(strstr(buf_cstr(&said_how), how));
	buf_free(&said);
	buf_free(&said_how);
}

/* A limit is named with its group, as it is called in the hierarchy that this is in. */
TEST(test_limit)
{
	struct lone lone = { 0 };
	struct finding finding = { .subject = REMEDY_QUOTA, .kind = "cpu", .limit = LIMIT_CPU };
	struct group group = { .name = "/web" };
	struct task_evidence *evidence;

	assert_int_equal(lone_make(&lone), 0);
	finding.row = &lone.row;
	evidence = sample_add_extra(&lone.sample, 0)->evidence = xcalloc(1, sizeof(*evidence));
	evidence->cpu_group.name = xstrdup("/shop");
	evidence->cpu_group.version = 1;
	assert_remedy(&lone, &finding, NULL, "cpu.cfs_quota_us of /shop", "raise the quota");
	evidence->cpu_group.version = 2;
	assert_remedy(&lone, &finding, NULL, "cpu.max of /shop", "raise the quota");
	/* Of a recording that is not known; a group is itself the one. */
	evidence->cpu_group.version = 0;
	assert_remedy(&lone, &finding, NULL, "cpu.max (v1: cpu.cfs_quota_us) of /shop", NULL);
	lone.row.group = &group;
	assert_remedy(&lone, &finding, NULL, "cpu.max (v1: cpu.cfs_quota_us) of /web", NULL);
	finding.subject = REMEDY_MEMORY;
	finding.limit = LIMIT_MEMORY;
	assert_remedy(&lone, &finding, NULL, "memory.max (v1: memory.limit_in_bytes) of /web",
		      NULL);
	lone.row.group = NULL;
	evidence->memory_group = (struct limiting_group){ xstrdup("/db"), 1 };
	assert_remedy(&lone, &finding, NULL, "memory.limit_in_bytes of /db", "raise the limit");
	assert_int_equal(lone_remove(&lone), 0);
}
