// SPDX-License-Identifier: GPL-2.0-or-later
/* Delay accounting switched on for a run, by one or by several, and put back by the last. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/delayacct.h"
#include "tests/lib/tree.h"

/* The file of a tree's runs. */
static const char *file_of(const struct tree *tree)
{
	static char path[sizeof(tree->path) + 16];

	snprintf(path, sizeof(path), "%s/switched", tree->path);
	return path;
}

/* Switches it by hand. */
static void set(const struct tree *tree, bool on)
{
	put_text(tree, DELAYACCT_SYSCTL, on ? "1\n" : "0\n");
}

/* Whether it is on. */
static bool is_on(const struct tree *tree)
{
	struct delayacct acct;

	delayacct_open(&acct, tree->fd, 0);
	delayacct_close(&acct);
	return acct.state == DELAYACCT_ON;
}

/* Begins a run. */
static struct delayacct_switch begin(const struct tree *tree)
{
	struct delayacct_switch run = DELAYACCT_UNTOUCHED;

	assert_int_equal(delayacct_enable(&run, tree->fd, file_of(tree)), 0);
	assert_true(is_on(tree));
	return run;
}

/* Ends it as it should. */
static void end(struct delayacct_switch *run)
{
	assert_int_equal(delayacct_put_back(run), 0);
	/* Once is enough. */
	assert_int_equal(delayacct_put_back(run), 0);
}

/* Ends it as a kill does: all that is left is what the kernel lets go. */
static void end_killed(struct delayacct_switch *run)
{
	close(run->file);
}

/* Nothing is left of any run. */
static void check_forgotten(const struct tree *tree, bool on)
{
	assert_int_equal(is_on(tree), on);
	set(tree, true);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
}

/* What was switched on is put back; what was on already stays. */
TREE_TEST(test_one)
{
	const struct tree *tree = *state;
	struct delayacct_switch run;

	set(tree, true);
	run = begin(tree);
	assert_true(run.procfd < 0 && !run.at_ns);
	end(&run);
	check_forgotten(tree, true);
	set(tree, false);
	run = begin(tree);
	assert_true(run.at_ns && run.at_ns <= clock_ns(CLOCK_MONOTONIC));
	end(&run);
	check_forgotten(tree, false);
}

/* What somebody else has switched in between is left alone. */
TREE_TEST(test_others)
{
	const struct tree *tree = *state;
	struct delayacct_switch run;

	set(tree, false);
	run = begin(tree);
	set(tree, false);
	end(&run);
	check_forgotten(tree, false);
}

/* Of several the last puts it back, whoever that is. */
TREE_TEST(test_several)
{
	const struct tree *tree = *state;

	for (unsigned order = 0; order < 3; order++) {
		struct delayacct_switch runs[3];

		set(tree, false);
		for (unsigned i = 0; i < 3; i++)
			runs[i] = begin(tree);
		/* Only the first knows since when. */
		assert_true(runs[0].at_ns && !runs[1].at_ns && !runs[2].at_ns);
		for (unsigned i = 0; i < 3; i++) {
			assert_true(is_on(tree));
			assert_false(delayacct_left_on(tree->fd, file_of(tree)));
			end(&runs[(order + i) % 3]);
		}
		check_forgotten(tree, false);
	}
}

/* One of several is killed: the others go on, and the last puts it back. */
TREE_TEST(test_killed_among)
{
	const struct tree *tree = *state;
	struct delayacct_switch first, second;

	for (unsigned last = 0; last < 2; last++) {
		set(tree, false);
		first = begin(tree);
		second = begin(tree);
		end_killed(last ? &second : &first);
		assert_true(is_on(tree));
		assert_false(delayacct_left_on(tree->fd, file_of(tree)));
		end(last ? &first : &second);
		check_forgotten(tree, false);
	}
}

/* The only one is killed: that is seen, and the next run takes it over. */
TREE_TEST(test_killed)
{
	const struct tree *tree = *state;
	struct delayacct_switch run;

	set(tree, false);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
	run = begin(tree);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
	end_killed(&run);
	for (unsigned i = 0; i < 2; i++)
		assert_true(delayacct_left_on(tree->fd, file_of(tree)));
	run = begin(tree);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
	end(&run);
	check_forgotten(tree, false);
}

/* Left on, and put back by hand: whoever switches it on next means it. */
TREE_TEST(test_killed_then_by_hand)
{
	const struct tree *tree = *state;
	struct delayacct_switch run;

	set(tree, false);
	run = begin(tree);
	end_killed(&run);
	set(tree, false);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
	set(tree, true);
	assert_false(delayacct_left_on(tree->fd, file_of(tree)));
	run = begin(tree);
	end(&run);
	check_forgotten(tree, true);
}

/* Where there is no such file to be had, each goes by itself. */
TREE_TEST(test_no_file)
{
	const struct tree *tree = *state;
	struct delayacct_switch run = DELAYACCT_UNTOUCHED;

	set(tree, false);
	assert_int_equal(delayacct_enable(&run, tree->fd, "/nowhere/switched"), 0);
	assert_true(is_on(tree));
	assert_false(delayacct_left_on(tree->fd, "/nowhere/switched"));
	end(&run);
	assert_false(is_on(tree));
	/* Nor is a link followed. */
	assert_int_equal(symlink("elsewhere", file_of(tree)), 0);
	run = begin(tree);
	end(&run);
	assert_false(is_on(tree));
	assert_int_equal(faccessat(tree->fd, "elsewhere", F_OK, 0), -1);
}

/* A kernel without the switch: nothing is ours, nothing is left behind. */
TREE_TEST(test_no_switch)
{
	const struct tree *tree = *state;
	struct delayacct_switch run = DELAYACCT_UNTOUCHED;

	put_text(tree, "cmdline", "nodelayacct\n");
	assert_int_equal(delayacct_enable(&run, tree->fd, file_of(tree)), -ENOENT);
	assert_true(run.procfd < 0);
	check_forgotten(tree, false);
}

/* In a child: many short runs, each of which has it on. The exit status. */
static int run_often(const struct tree *tree)
{
	for (unsigned i = 0; i < 1500; i++) {
		struct delayacct_switch run = DELAYACCT_UNTOUCHED;

		if (delayacct_enable(&run, tree->fd, file_of(tree)) || !is_on(tree) ||
		    delayacct_put_back(&run))
			return 1;
	}
	return 0;
}

/* Runs that begin and end at the same time: nobody is without it, nobody leaves it on. */
TREE_TEST(test_at_a_time)
{
	const struct tree *tree = *state;
	int status;

	set(tree, false);
	for (unsigned i = 0; i < 4; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(run_often(tree));
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	check_forgotten(tree, false);
}
