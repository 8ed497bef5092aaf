// SPDX-License-Identifier: GPL-2.0-or-later
/* Which command lines and cgroups of tasks are read, and when again: from a made-up /proc. */
#include "tests/lib/test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup/hierarchy.h"
#include "read/taskinfo.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"
#include "tests/lib/walks.h"

#define MS(n) ((uint64_t)(n)*NSEC_PER_MSEC)
#define TEXTS (NEED_COMMAND | NEED_CGROUP)

/* The system calls of reading a file. */
#define A_FILE 3

/* Samples of the bpf source, with their facts. */
struct facts {
	const struct tree *tree;
	struct turn turn;
	struct taskinfo *info;
	struct sample *cur;
};

static const struct hierarchy v2 = { .version = 2, .name = (char *)"v2", .fd = -1 };

/* Puts what /proc has of a task. */
static void put_texts(const struct tree *tree, pid_t pid, const char *command, const char *cgroup)
{
	char path[32], line[64];

	snprintf(path, sizeof(path), "%d/cmdline", (int)pid);
	put(tree, path, command, strlen(command) + (*command != 0));
	snprintf(path, sizeof(path), "%d/cgroup", (int)pid);
	snprintf(line, sizeof(line), "0::%s\n", cgroup);
	put_text(tree, path, line);
}

/* Five processes, of which 10 is a thread of the kernel, in two groups. */
static int open_facts(void **state)
{
	struct facts *facts = xcalloc(1, sizeof(*facts));
	void *tree;

	if (make_tree(&tree))
		return -1;
	facts->tree = tree;
	turn_open(&facts->turn, false);
	for (pid_t pid = 10; pid < 15; pid++) {
		struct walk_task *task = walk_add(pid, pid, MS(pid));

		task->parts[0].groups = pid < 13 ? 1 : 2;
		task->parts[0].exec = 1;
		put_texts(facts->tree, pid, pid > 10 ? "prog" : "", pid < 13 ? "/a" : "/b");
	}
	walk_find(10)->parts[0].ppid = 2;
	facts->info = taskinfo_open(facts->tree->proc, false);
	taskinfo_set_hierarchy(facts->info, &v2);
	*state = facts;
	return 0;
}

static int close_facts(void **state)
{
	struct facts *facts = *state;
	void *tree = (void *)(uintptr_t)facts->tree;

	taskinfo_close(facts->info);
	turn_close(&facts->turn);
	free(facts);
	return remove_tree(&tree);
}

/* A test whose state is a struct facts. */
#define FACTS_TEST(name) TEST_WITH(name, open_facts, close_facts)

/* Takes a sample a second later, and what is needed of all. Returns how many files were read. */
static unsigned tick(struct facts *facts, unsigned needs)
{
	uint64_t before;

	facts->cur = turn_must(&facts->turn, needs);
	before = calls_made();
	taskinfo_update(facts->info, facts->cur, needs, NULL, NULL);
	return (unsigned)(calls_made() - before) / A_FILE;
}

/* Reads what is needed of one. Returns how many files were read. */
static unsigned fill(struct facts *facts, pid_t pid, unsigned needs)
{
	uint64_t before = calls_made();

	taskinfo_fill(facts->info, facts->cur, sample_place(facts->cur, pid, pid), needs);
	return (unsigned)(calls_made() - before) / A_FILE;
}

static const struct task *task_of(const struct facts *facts, pid_t pid)
{
	return turn_element(facts->cur, pid)->task;
}

/* Has a process run. */
static void run(pid_t pid)
{
	walk_run(walk_find(pid), 0, MS(1));
}

/* So many samples in each of which 12 runs and is looked at: what the last look read. */
static unsigned pass(struct facts *facts, unsigned samples)
{
	unsigned read = 0;

	while (samples--) {
		run(12);
		tick(facts, 0);
		read = fill(facts, 12, NEED_COMMAND);
	}
	return read;
}

/* A command line is read again when its task may have written it anew, but ever more seldom. */
FACTS_TEST(test_backs_off)
{
	unsigned reads = 0;
	struct facts *facts = *state;
	siginfo_t info;

	/* The system is asked for users' names, and answers. */
	tick(facts, 0);
	for (unsigned i = 0; i < 500 && !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
	     i++) {
		usleep(10000);
		tick(facts, 0);
	}
	assert_int_equal(fill(facts, 12, NEED_COMMAND), 1);
	assert_string_equal(task_of(facts, 12)->command, "prog");
	for (int i = 0; i < 30; i++) {
		/* It sleeps. */
		assert_int_equal(tick(facts, 0), 0);
		assert_int_equal(fill(facts, 12, NEED_COMMAND), 0);
	}
	assert_int_equal(pass(facts, 1), 1);
	for (int i = 0; i < 40; i++) {
		run(12);
		tick(facts, 0);
		reads += fill(facts, 12, NEED_COMMAND);
	}
	assert_in_range(reads, 6, 8);
}

/* A title that is rewritten is true within seconds, and at once as long as that goes on. */
FACTS_TEST(test_title)
{
	struct facts *facts = *state;
	int seconds = 0;

	tick(facts, 0);
	fill(facts, 12, NEED_COMMAND);
	pass(facts, 30);
	put_texts(facts->tree, 12, "prog: select", "/a");
	do {
		pass(facts, 1);
		seconds++;
	} while (strcmp(task_of(facts, 12)->command, "prog: select") != 0 && seconds < 10);
	assert_in_range(seconds, 1, 5);
	put_texts(facts->tree, 12, "prog: idle", "/a");
	pass(facts, 1);
	assert_string_equal(task_of(facts, 12)->command, "prog: idle");
}

/* Who is looked at alone is read as it is now, once a sample, where it ran. */
FACTS_TEST(test_latest)
{
	struct facts *facts = *state;

	tick(facts, 0);
	pass(facts, 30);
	put_texts(facts->tree, 12, "prog: select", "/a");
	run(12);
	tick(facts, 0);
	assert_int_equal(fill(facts, 12, NEED_COMMAND | NEED_LATEST), 1);
	assert_string_equal(task_of(facts, 12)->command, "prog: select");
	assert_int_equal(fill(facts, 12, NEED_COMMAND | NEED_LATEST), 0);
}

/* After exec the command line is another one at once, also where the name is the same. */
FACTS_TEST(test_exec)
{
	struct facts *facts = *state;

	tick(facts, 0);
	pass(facts, 20);
	put_texts(facts->tree, 12, "other", "/a");
	walk_find(12)->parts[0].exec++;
	assert_int_equal(pass(facts, 1), 1);
	assert_string_equal(task_of(facts, 12)->command, "other");
	put_texts(facts->tree, 12, "third", "/a");
	memcpy(walk_find(12)->parts[0].comm, "third", 6);
	assert_int_equal(pass(facts, 1), 1);
	assert_string_equal(task_of(facts, 12)->command, "third");
}

/* A thread of the kernel has no command line: it is read once. */
FACTS_TEST(test_kernel)
{
	struct facts *facts = *state;

	tick(facts, 0);
	assert_int_equal(fill(facts, 10, NEED_COMMAND), 1);
	for (int i = 0; i < 20; i++) {
		run(10);
		tick(facts, 0);
		assert_int_equal(fill(facts, 10, NEED_COMMAND | NEED_LATEST), 0);
	}
}

/* One file is read for all tasks in one cgroup, which have one text; who runs is in the same, who
 * moved is not. */
FACTS_TEST(test_groups)
{
	struct facts *facts = *state;

	tick(facts, 0);
	assert_int_equal(tick(facts, NEED_CGROUP), 2);
	for (pid_t pid = 10; pid < 15; pid++)
		assert_string_equal(task_of(facts, pid)->cgroup, pid < 13 ? "/a" : "/b");
	assert_ptr_equal(task_of(facts, 10)->cgroup, task_of(facts, 12)->cgroup);
	run(11);
	run(14);
	assert_int_equal(tick(facts, NEED_CGROUP), 0);
	/* It sleeps meanwhile. */
	put_texts(facts->tree, 12, "prog", "/b");
	walk_find(12)->parts[0].groups = 2;
	walk_find(12)->changed = true;
	assert_int_equal(tick(facts, NEED_CGROUP), 1);
	assert_string_equal(task_of(facts, 12)->cgroup, "/b");
	assert_int_equal(tick(facts, NEED_CGROUP), 0);
}

/* Where the one whose file was read had just moved, the path was not that of the others. */
FACTS_TEST(test_moved_between)
{
	struct facts *facts = *state;
	unsigned renamed;

	tick(facts, 0);
	put_texts(facts->tree, 10, "", "/b");
	tick(facts, NEED_CGROUP);
	assert_string_equal(task_of(facts, 12)->cgroup, "/b");
	renamed = task_of(facts, 12)->renamed;
	walk_find(10)->parts[0].groups = 2;
	walk_find(10)->changed = true;
	tick(facts, NEED_CGROUP);
	assert_string_equal(task_of(facts, 10)->cgroup, "/b");
	assert_string_equal(task_of(facts, 11)->cgroup, "/a");
	assert_string_equal(task_of(facts, 12)->cgroup, "/a");
	/* By that a recording has it, though it did nothing. */
	assert_int_equal(task_of(facts, 12)->renamed, renamed + 1);
}

/* For what is kept only those are read that do something, and those that are new. */
FACTS_TEST(test_doers)
{
	struct facts *facts = *state;

	tick(facts, 0);
	tick(facts, 0);
	assert_int_equal(tick(facts, NEED_ACTIVE), 0);
	run(12);
	walk_add(20, 20, MS(5000));
	put_texts(facts->tree, 20, "new", "/a");
	assert_int_equal(tick(facts, NEED_ACTIVE), 2);
	assert_string_equal(task_of(facts, 12)->command, "prog");
	assert_string_equal(task_of(facts, 20)->command, "new");
	assert_null(task_of(facts, 13)->command);
	assert_int_equal(tick(facts, NEED_ACTIVE), 0);
}

/* Where the groups are not known, who ran may have moved. */
FACTS_TEST(test_groups_unknown)
{
	struct facts *facts = *state;

	for (pid_t pid = 10; pid < 15; pid++)
		walk_find(pid)->parts[0].groups = 0;
	tick(facts, 0);
	assert_int_equal(tick(facts, NEED_CGROUP), 5);
	put_texts(facts->tree, 12, "prog", "/b");
	run(12);
	assert_int_equal(tick(facts, NEED_CGROUP), 1);
	assert_string_equal(task_of(facts, 12)->cgroup, "/b");
}

/* Nobody is called where nothing is read. */
static void count_call(void *arg)
{
	++*(unsigned *)arg;
}

FACTS_TEST(test_between)
{
	unsigned calls = 0;
	struct facts *facts = *state;

	for (pid_t pid = 100; pid < 700; pid++)
		walk_add(pid, pid, MS(pid));
	tick(facts, NEED_CGROUP);
	taskinfo_update(facts->info, facts->cur, NEED_CGROUP, count_call, &calls);
	assert_int_equal(calls, 0);
	taskinfo_update(facts->info, facts->cur, TEXTS, count_call, &calls);
	assert_in_range(calls, 1, 4);
}
