// SPDX-License-Identifier: GPL-2.0-or-later
/* What to do against what was found, by its place in the kernel, its root, or its group. */
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

/* Where a task waits tells it. */
TEST(test_place)
{
	static const struct {
		struct site site;
		const char *means, *how;
	} cases[] = {
		{ { .on = "/mnt/x", .where = "percpu_rwsem_wait" }, "fsfreeze -u", "of /mnt/x" },
		{ { .on = "child 7 sleep", .where = "kernel_clone" },
		  "child 7 sleep",
		  "its parent" },
		{ { .on = "/mnt/x (fuse.sshfs me@nas: of 9 sshfs)",
		    .where = "request_wait_answer" },
		  "umount -f",
		  "the server (fuse.sshfs me@nas: of 9 sshfs)" },
		/* Where nothing more is known: what may help in general. */
		{ { .where = "percpu_rwsem_wait" }, "the function", "says what blocks it" },
	};
	struct lone lone = { 0 };

	assert_int_equal(lone_make(&lone), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct finding finding = { .subject = REMEDY_BLOCKED,
						 .severity = FINDING_WARNING,
						 .row = &lone.row,
						 .site = &cases[i].site,
						 .kind = "dwait" };

		assert_remedy(&lone, &finding, NULL, cases[i].means, cases[i].how);
	}
	assert_remedy(&lone, &(struct finding){ .row = &lone.row }, NULL, "", NULL);
	assert_int_equal(lone_remove(&lone), 0);
}

/* A stopped task that others wait for is continued; one that is itself stopped is no cause. */
TEST(test_stopped)
{
	struct site site = { .on = "/mnt/x (fuse.x)", .where = "request_wait_answer" };
	struct site stopped = { .state = STATE_STOP };
	struct chain_root root = { CHAIN_STOPPED, "server", 9, &stopped, 0.5, NULL };
	const struct chain chain = { .roots = &root, .nroots = 1 };
	struct lone lone = { 0 };
	struct finding finding = { .subject = REMEDY_KEPT, .site = &site, .kind = "other" };

	assert_int_equal(lone_make(&lone), 0);
	finding.row = &lone.row;
	assert_remedy(&lone, &finding, &chain, "kill -CONT 9",
		      "server is stopped and blocks others");
	root.tgid = 7;
	assert_remedy(&lone, &finding, &chain, "umount -f", NULL);
	root.tgid = 9;
	root.share = 0.1;
	assert_remedy(&lone, &finding, &chain, "umount -f", NULL);
	/* A row of a group has no task. */
	root.share = 0.5;
	lone.row.task = NULL;
	assert_remedy(&lone, &finding, &chain, "kill -CONT 9", NULL);
	assert_int_equal(lone_remove(&lone), 0);
}

/* Of a lock the program itself is to take care. */
TEST(test_lock)
{
	const struct site site = { .class = CLASS_CONTENDED, .state = STATE_PARK };
	struct lone lone = { 0 };
	struct finding finding = {
		.subject = REMEDY_LOCK, .severity = FINDING_WARNING, .site = &site, .kind = "park"
	};
	struct chain_root root = { CHAIN_DEADLOCK, "bank", 7, &site, 1, NULL };
	const struct chain chain = { .roots = &root, .nroots = 1 };

	assert_int_equal(lone_make(&lone), 0);
	finding.row = &lone.row;
	assert_remedy(&lone, &finding, NULL, "the program", "critical section");
	/* No time helps where nobody will let go of it. */
	assert_remedy(&lone, &finding, &chain, "kill 7", "a deadlock");
	assert_int_equal(lone_remove(&lone), 0);
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

/* What another task takes is had back by what they share it by. */
TEST(test_rival)
{
	static const struct {
		enum cpu_sharing sharing;
		const char *means, *how;
	} cases[] = {
		{ SHARING_NICE, "renice 10 7", "make way for it" },
		{ SHARING_SESSION, "echo 10 > /proc/7/autogroup", "sessions share CPUs first" },
		{ SHARING_GROUP, "cpu.weight of /web", "groups share CPUs first" },
		{ SHARING_UNKNOWN, "nice", "gives it more of a contended CPU" },
	};
	struct lone lone = { 0 };
	struct finding finding = { .subject = REMEDY_CPU,
				   .severity = FINDING_WARNING,
				   .kind = "cpu" };
	struct system_sample system = { .cpus = 4 };
	struct task_evidence *evidence;

	assert_int_equal(lone_make(&lone), 0);
	lone.info.system = &system;
	finding.row = lone.frame.rows = &lone.row;
	lone.frame.n = 1;
	evidence = sample_add_extra(&lone.sample, 0)->evidence = xcalloc(1, sizeof(*evidence));
	evidence->weighed_group = (struct limiting_group){ xstrdup("/web"), 2 };
	evidence->rival = 7;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		evidence->sharing = cases[i].sharing;
		assert_remedy(&lone, &finding, NULL, cases[i].means, cases[i].how);
	}
	/* CPUs that are idle are of use to who may run there. */
	finding.while_idle = true;
	assert_remedy(&lone, &finding, NULL, "", NULL);
	evidence->pinned = true;
	assert_remedy(&lone, &finding, NULL, "taskset -cp 0-3 7", "may not run on all CPUs");
	assert_int_equal(lone_remove(&lone), 0);
}

/* A disk is not what somebody waits for whose group has a limit; else who writes most makes way. */
TEST(test_disk)
{
	struct lone lone = { 0 };
	const struct site site = { .syscall = "fdatasync" };
	struct finding finding = { .subject = REMEDY_IO,
				   .severity = FINDING_WARNING,
				   .kind = "blkio" };
	struct task_evidence *evidence;

	assert_int_equal(lone_make(&lone), 0);
	finding.row = &lone.row;
	assert_remedy(&lone, &finding, NULL, "other groups", "saturates the disk");
	finding.site = &site;
	assert_remedy(&lone, &finding, NULL, "fdatasync", "less often");
	finding.culprit = (struct finding_culprit){ .kind = CULPRIT_WRITER,
						    .name = lone.row.task->comm,
						    .pid = lone.row.task->key.pid };
	assert_remedy(&lone, &finding, NULL, "io.max (v1: blkio.throttle.write_bps_device)",
		      "limit the cgroup of 7");
	evidence = sample_add_extra(&lone.sample, 0)->evidence = xcalloc(1, sizeof(*evidence));
	evidence->io_limits = xstrdup("8:0 wbps=1048576");
	evidence->io_group = (struct limiting_group){ xstrdup("/db"), 1 };
	assert_remedy(&lone, &finding, NULL, "blkio.throttle.*_device of /db",
		      "raise or remove the limit");
	assert_int_equal(lone_remove(&lone), 0);
}
