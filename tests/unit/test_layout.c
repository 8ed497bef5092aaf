// SPDX-License-Identifier: GPL-2.0-or-later
/* Which columns are shown: the defaults by width, lists, and changes to the default. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "view/layout.h"

/* Resolves a list and asserts the ids, with spaces between. */
static void check_frame(const char *spec, const struct layout_frame *frame, const char *ids)
{
	struct layout layout;
	struct buf out = { 0 };

	layout_resolve(&layout, spec, frame);
	for (size_t i = 0; i < layout.n; i++)
		buf_printf(&out, "%s%s", i ? " " : "", layout.columns[i]->id);
	assert_string_equal(buf_cstr(&out), ids);
	buf_free(&out);
}

/* The same of rows of tasks. */
static void check(const char *spec, unsigned width, uint32_t kinds, const char *ids)
{
	struct layout_frame frame = { .width = width, .kinds = kinds };

	check_frame(spec, &frame, ids);
}

#define NO_IRQ (DELAY_ALL & ~DELAY_BIT(DELAY_IRQ))

/* The default view of the manual. */
TEST(test_default)
{
	static const char narrow[] = "pid user state run total cpu blkio mem comm";

	check(NULL, 80, DELAY_ALL, narrow);
	check(NULL, 109, NO_IRQ, narrow);
	check(NULL, 110, NO_IRQ,
	      "pid user state run total cpu blkio swapin reclaim thrash compact wpcopy dwait comm");
	check(NULL, 0, DELAY_ALL,
	      "pid user state run total cpu blkio swapin reclaim thrash compact wpcopy irq dwait "
	      "comm");
	check(NULL, 40, 0, "pid user state run total cpu blkio mem comm");
}

/* Kinds of memory without a figure are one column; a wait in state D has its own on any width. */
TEST(test_folded)
{
	struct layout_frame frame = { .width = 110, .kinds = NO_IRQ, .folded = DELAY_MEM_KINDS };

	check_frame(NULL, &frame, "pid user state run total cpu blkio dwait mem comm");
	frame.folded &= ~DELAY_BIT(DELAY_THRASH);
	check_frame(NULL, &frame, "pid user state run total cpu blkio thrash dwait mem comm");
	frame.width = 80;
	frame.spoken = VALID_DWAIT;
	check_frame(NULL, &frame, "pid user state run total cpu blkio dwait mem comm");
	/* Columns that are asked for are there. */
	check_frame("pid,swapin,comm", &frame, "pid swapin comm");
}

/* Among one process's threads there is nothing that is the same for all. */
TEST(test_threads)
{
	struct layout_frame frame = { .width = 80, .of_process = true };

	check_frame(NULL, &frame, "pid state run total cpu blkio mem comm");
	check_frame("+user", &frame, "pid state run total cpu blkio mem user comm");
}

/* What names rows. */
TEST(test_names)
{
	for (enum group_by by = 0; by < GROUP_BYS; by++)
		assert_string_equal(layout_name(by)->id, group_folds(by) ? "group" : "comm");
}

/* Asserts the ids of a grouped view. */
static void check_groups(const char *spec, unsigned width, enum group_by by, bool pressure,
			 const char *ids)
{
	struct layout_frame frame = { .width = width,
				      .kinds = NO_IRQ,
				      .group_by = by,
				      .reads = pressure ? NEED_GROUP_PARTS : 0 };

	check_frame(spec, &frame, ids);
}

/* Groups have no columns of one task, and their name at the end. */
TEST(test_groups)
{
	check_groups(NULL, 80, GROUP_USER, false, "members run total cpu blkio mem worst group");
	check_groups(NULL, 80, GROUP_CGROUP, false, "members run total cpu blkio mem worst group");
	check_groups(NULL, 80, GROUP_CGROUP, true,
		     "members run total cpu blkio mem psi-cpu psi-mem psi-io throttled worst "
		     "group");
	check_groups(NULL, 0, GROUP_COMMAND, false,
		     "members run total cpu blkio swapin reclaim thrash compact wpcopy dwait worst "
		     "group");
	check_groups("pid,comm,total", 80, GROUP_USER, false, "pid total group");
	check_groups("group,total,command", 80, GROUP_USER, false, "total group");
	check_groups("+wait", 80, GROUP_USER, false,
		     "members run total cpu blkio mem worst wait group");
	check_groups("-group,-worst", 80, GROUP_USER, false,
		     "members run total cpu blkio mem group");
	check_groups(NULL, 80, GROUP_THREAD, false, "pid user state run total cpu blkio mem comm");
}

/* A list stands in place of the default; each column once, the names last. */
TEST(test_list)
{
	check("irq", 80, 0, "irq");
	check("comm,pid,total", 80, 0, "pid total comm");
	check("command,comm,nvcsw,comm", 80, 0, "nvcsw command comm");
	check(" pid, pid ,uid,,", 80, 0, "pid uid");
}

/* Changes to the default, which they follow. */
TEST(test_relative)
{
	check("+nvcsw", 80, 0, "pid user state run total cpu blkio mem nvcsw comm");
	check("-user,-comm,+command", 80, 0, "pid state run total cpu blkio mem command");
	check("-irq,+pid", 80, 0, "pid user state run total cpu blkio mem comm");
	check("-cpu,+cpu", 80, 0, "pid user state run total blkio mem cpu comm");
	/* A name without a sign goes on as the one before it. */
	check("+nvcsw,elap", 80, 0, "pid user state run total cpu blkio mem nvcsw elap comm");
	check("-user,run,+elap,nvcsw,-comm,cpu", 80, 0, "pid state total blkio mem elap nvcsw");
}

/* Asserts that a list is refused for that reason. */
static void check_bad(const char *spec, const char *reason)
{
	struct buf bad = { 0 };

	assert_int_equal(layout_check(spec, &bad), -EINVAL);
	assert_string_equal(buf_cstr(&bad), reason);
	buf_free(&bad);
}

/* Lists that are none say which id is wrong. */
TEST(test_bad)
{
	check_bad("", "");
	check_bad(",,", "");
	check_bad("pid,nothing,uid", "nothing");
	check_bad("pid,PID", "PID");
	check_bad("pid,+uid", "+uid");
	check_bad("-pid,nothing", "nothing");
	check_bad("+pid,uid,-nothing", "-nothing");
	check_bad("uid,pid,-total", "-total");
	check_bad("+", "+");
	check_bad("pi", "pi");
	check_bad("pid\x1b", "pid\x1b");
}

/* Every field at once is a list as any other. */
TEST(test_all)
{
	struct layout_frame frame = { .width = 80 };
	struct buf list = { 0 }, more = { 0 }, bad = { 0 };
	struct layout layout;

	for (size_t i = 0; i < columns_n; i++) {
		buf_printf(&list, "%s,", columns[i].id);
		buf_printf(&more, "+%s,", columns[i].id);
	}
	buf_puts(&list, "pid,pid,pid");
	assert_int_equal(layout_check(buf_cstr(&list), &bad), 0);
	assert_int_equal(layout_check(buf_cstr(&more), &bad), 0);
	layout_resolve(&layout, buf_cstr(&list), &frame);
	assert_int_equal(layout.n, columns_n);
	for (size_t i = 0; i < columns_n; i++)
		assert_true(layout_has(&layout, &columns[i]));
	layout_resolve(&layout, buf_cstr(&more), &frame);
	assert_int_equal(layout.n, columns_n);
	buf_free(&list);
	buf_free(&more);
	buf_free(&bad);
}

/* What a list names, and what must be read for it. */
TEST(test_needs)
{
	struct layout layout;

	layout_named(&layout, NULL);
	assert_int_equal(layout.n, 0);
	layout_named(&layout, "-pid,uid,+cuser,cpu");
	assert_int_equal(layout.n, 2);
	assert_int_equal(layout_needs(&layout, UNIT_PERCENT), NEED_STAT);
	assert_int_equal(layout_needs(&layout, UNIT_MAX), NEED_STAT | NEED_RANGE);
	layout_named(&layout, "command,read,cgroup,ac_nice,pid");
	assert_int_equal(layout_needs(&layout, UNIT_PERCENT),
			 NEED_COMMAND | NEED_IO | NEED_CGROUP | NEED_RECORD);
	layout_named(&layout, "pid,user,run,total,comm,elap");
	assert_int_equal(layout_needs(&layout, UNIT_MS), 0);
}

/* What default columns of cgroups read: pressure where v2 has it, limits where some were seen. */
TEST(test_reads)
{
	struct frame_info info = { .head.hierarchy_version = 2 };
	struct frame frame = { .info = &info };
	unsigned throttle = NEED_GROUP(CGROUP_THROTTLE);

	assert_int_equal(layout_reads(GROUP_CGROUP, NULL, 0), 0);
	assert_int_equal(layout_reads(GROUP_CGROUP, &frame, 0), NEED_GROUP_PRESSURE);
	assert_int_equal(layout_reads(GROUP_CGROUP, &frame, throttle),
			 NEED_GROUP_PRESSURE | throttle);
	info.head.hierarchy_version = 1;
	assert_int_equal(layout_reads(GROUP_CGROUP, &frame, 0), 0);
	assert_int_equal(layout_reads(GROUP_CGROUP, &frame, throttle), throttle);
	assert_int_equal(layout_reads(GROUP_USER, &frame, throttle), 0);
	assert_int_equal(NEED_GROUP_PRESSURE, CGROUP_PRESSURE << NEED_GROUP_SHIFT);
	assert_int_equal(NEED_GROUP_PARTS, CGROUP_ALL << NEED_GROUP_SHIFT);
}

/* What adds up is needed of all members, the rest of who is shown. */
TEST(test_sum_needs)
{
	struct layout layout;

	layout_named(&layout, "state,read,command,ac_nice,total");
	assert_int_equal(layout_sum_needs(&layout, UNIT_PERCENT), NEED_IO);
	assert_int_equal(layout_sum_needs(&layout, UNIT_MAX), NEED_IO | NEED_RANGE);
}

/* The same for a table that shows tasks or groups. */
static void check_table(const char *spec, enum group_by by, const char *ids)
{
	struct layout_frame frame = { .width = 80, .kinds = NO_IRQ, .group_by = by };
	struct layout layout;
	struct buf out = { 0 };

	layout_resolve_table(&layout, spec, &frame);
	for (size_t i = 0; i < layout.n; i++)
		buf_printf(&out, "%s%s", i ? " " : "", layout.columns[i]->id);
	assert_string_equal(buf_cstr(&out), ids);
	buf_free(&out);
}

/* One list for tables of tasks and of groups: each shows what its rows have. */
TEST(test_table)
{
	check_table(NULL, GROUP_USER, "members run total cpu blkio mem worst group");
	check_table(NULL, GROUP_PROCESS, "pid user state run total cpu blkio mem comm");
	/* Chosen for tasks: groups have their own in the default way. */
	check_table("pid,comm,nvcsw,run", GROUP_PROCESS, "pid nvcsw run comm");
	check_table("pid,comm,nvcsw,run", GROUP_USER, "members nvcsw run worst group");
	/* And the other way round, also where the name alone says so. */
	check_table("members,run,nvcsw,group", GROUP_USER, "members run nvcsw group");
	check_table("members,run,nvcsw,group", GROUP_THREAD, "pid user state run nvcsw comm");
	check_table("run,nvcsw,group", GROUP_USER, "run nvcsw group");
	check_table("run,nvcsw,group", GROUP_PROCESS, "pid user state run nvcsw comm");
	check_table("psi-cpu", GROUP_PROCESS, "pid user state comm");
	/* Chosen for both; or for neither: then nothing is added. */
	check_table("ppid,members,run,worst,command,group", GROUP_USER, "members run worst group");
	check_table("ppid,members,run,worst,command,group", GROUP_PROCESS, "ppid run command");
	check_table("run,mem", GROUP_PROCESS, "run mem");
	check_table("run,mem", GROUP_USER, "run mem group");
	/* Changes to the default are to both. */
	check_table("+nvcsw,-mem", GROUP_PROCESS, "pid user state run total cpu blkio nvcsw comm");
	check_table("+nvcsw,-mem", GROUP_USER, "members run total cpu blkio worst nvcsw group");
	check_table("+ppid,+psi-cpu", GROUP_USER,
		    "members run total cpu blkio mem worst psi-cpu group");
}
