// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Triggers on pressure: telling the kernel (played by files, pipes and a made-up tree), its
 * reports, groups that go, and whether pressure lasts.
 */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "sampler/triggers.h"
#include "tests/lib/tree.h"

#define SEC NSEC_PER_SEC

/* What is asked for. */
static struct trigger_spec good(const char *text)
{
	struct trigger_spec spec;

	if (trigger_parse(text, &spec))
		fail_msg("refused: %s", text);
	return spec;
}

/* What the kernel is told, to the byte. */
TEST(test_arm)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{ "memory some 300ms/2s", "some 300000 2000000" },
		{ "cgroup:a irq full 10s/10s", "full 10000000 10000000" },
	};
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trigger_spec spec = good(cases[i].text);
		char told[64] = "";
		ssize_t len;

		assert_int_equal(trigger_arm(fds[1], &spec), 0);
		len = read(fds[0], told, sizeof(told));
		/* With its NUL, over which the kernel puts one of its own; 31 bytes fit. */
		assert_int_equal(len, strlen(cases[i].told) + 1);
		assert_true(len <= 31);
		assert_memory_equal(told, cases[i].told, (size_t)len);
		trigger_spec_free(&spec);
	}
	close(fds[0]);
	close(fds[1]);
}

/* What a descriptor says when it does not take it. */
TEST(test_arm_errors)
{
	struct trigger_spec spec = good("memory some 2s/2s");
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int fds[2], fd;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(trigger_arm(fds[0], &spec), -EBADF);
	close(fds[0]);
	assert_int_equal(trigger_arm(fds[1], &spec), -EPIPE);
	close(fds[1]);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(trigger_arm(fd, &spec), -ENOSPC);
	close(fd);
	/* Takes a number only, so this is refused as the kernel refuses a window. */
	fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	assert_int_equal(trigger_arm(fd, &spec), -EINVAL);
	close(fd);
	/* The real one takes one trigger a descriptor. */
	fd = open("/proc/pressure/memory", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		if (!trigger_arm(fd, &spec))
			assert_int_equal(trigger_arm(fd, &spec), -EBUSY);
		close(fd);
	}
	signal(SIGPIPE, before);
	trigger_spec_free(&spec);
}

/* Adds a trigger that cannot be had, and asserts where and why that is. */
static void assert_refused(const struct tree *tree, const char *text, enum trigger_step step,
			   int err)
{
	struct trigger_spec spec = good(text);
	struct trigger_set set = { .n = 0 };
	struct trigger_error why;

	assert_int_equal(triggers_add(&set, &spec, tree->fd, &why), err);
	assert_int_equal(why.err, err);
	assert_int_equal(why.step, step);
	assert_int_equal(set.n, 0);
	trigger_spec_free(&spec);
}

/* Adds a trigger that can be had, and asserts in which file it ends up. */
static void assert_added(const struct tree *tree, const char *text, const char *file,
			 const char *told)
{
	struct trigger_spec spec = good(text);
	struct trigger_set set = { .n = 0 };
	struct trigger_error why;
	char read_back[64] = "";
	int fd;

	assert_int_equal(triggers_add(&set, &spec, tree->fd, &why), 0);
	assert_int_equal(set.n, 1);
	assert_ptr_equal(set.all[0].spec, &spec);
	assert_true(fcntl(set.all[0].fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(set.all[0].fd, F_GETFD) & FD_CLOEXEC);
	assert_true(trigger_until_ns(&set.all[0], 0) == 0);
	fd = openat(tree->fd, file, O_RDONLY);
	assert_int_equal(read(fd, read_back, sizeof(read_back)), strlen(told) + 1);
	assert_string_equal(read_back, told);
	close(fd);
	fd = set.all[0].fd;
	triggers_close(&set);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	trigger_spec_free(&spec);
}

/* The system's files. */
TREE_TEST(test_system_files)
{
	const struct tree *tree = *state;

	assert_refused(tree, "memory some 1s/2s", TRIGGER_AT_FILE, -ENOENT);
	put_text(tree, "pressure/memory", "");
	assert_added(tree, "memory some 1s/2s", "pressure/memory", "some 1000000 2000000");
	assert_refused(tree, "irq full 1s/2s", TRIGGER_AT_FILE, -ENOENT);
	put_dir(tree, "pressure/io");
	assert_refused(tree, "io full 1s/2s", TRIGGER_AT_FILE, -EISDIR);
	assert_int_equal(symlinkat("/proc/self/oom_score_adj", tree->fd, "pressure/cpu"), 0);
	assert_refused(tree, "cpu some 1s/1s", TRIGGER_AT_WRITE, -EINVAL);
}

/* Groups' files, below where cgroup v2 is mounted. */
TREE_TEST(test_group_files)
{
	const struct tree *tree = *state;
	char line[256];

	assert_refused(tree, "cgroup:a memory some 1s/2s", TRIGGER_AT_MOUNT, -ENOENT);
	snprintf(line, sizeof(line), "1 2 0:3 / %s/cg\\040x rw - cgroup2 c rw\n", tree->path);
	put_text(tree, "self/mountinfo", line);
	assert_refused(tree, "cgroup:a memory some 1s/2s", TRIGGER_AT_GROUP, -ENOENT);
	put_text(tree, "cg x/memory.pressure", "");
	put_text(tree, "cg x/a/b c/cpu.pressure", "");
	assert_refused(tree, "cgroup:b memory some 1s/2s", TRIGGER_AT_GROUP, -ENOENT);
	assert_refused(tree, "cgroup:a memory some 1s/2s", TRIGGER_AT_FILE, -ENOENT);
	assert_refused(tree, "cgroup:memory.pressure memory some 1s/2s", TRIGGER_AT_GROUP,
		       -ENOTDIR);
	assert_added(tree, "cgroup:/a/b c cpu full 1s/4s", "cg x/a/b c/cpu.pressure",
		     "full 1000000 4000000");
	assert_added(tree, "cgroup:/ memory full 1s/4s", "cg x/memory.pressure",
		     "full 1000000 4000000");
}

/* A set of three, of descriptors that may be closed. */
static void make_set(struct trigger_set *set, struct trigger_spec *specs)
{
	*set = (struct trigger_set){ .n = 3 };
	specs[0] = good("memory some 1s/2s");
	specs[1] = good("cgroup:a cpu full 1s/10s");
	specs[2] = good("io some 1us/500ms");
	for (size_t i = 0; i < set->n; i++)
		set->all[i] = (struct trigger){ .spec = &specs[i],
						.fd = open("/dev/null", O_RDWR | O_CLOEXEC) };
}

/* Reports, and groups that go, several at a time. */
TEST(test_events)
{
	struct trigger_spec specs[3];
	struct trigger_set set;
	struct pollfd fds[3];
	int fd;

	make_set(&set, specs);
	fd = set.all[1].fd;
	triggers_fill(&set, fds);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(fds[i].fd, set.all[i].fd);
		assert_int_equal(fds[i].events, POLLPRI);
		assert_int_equal(fds[i].revents, 0);
	}
	assert_int_equal(triggers_take(&set, fds, 5 * SEC), 0);
	assert_true(triggers_until_ns(&set, 10 * SEC) == 0);
	fds[0].revents = fds[2].revents = POLLPRI;
	assert_int_equal(triggers_take(&set, fds, 5 * SEC), 2);
	assert_true(set.all[0].fired && !set.all[1].fired && set.all[2].fired);
	assert_true(set.all[0].last_ns == 5 * SEC && set.all[1].last_ns == 0);
	triggers_forget(&set);
	assert_false(set.all[0].fired || set.all[2].fired);
	assert_true(set.all[0].last_ns == 5 * SEC);
	/* A group that goes says both. */
	fds[0].revents = fds[2].revents = 0;
	fds[1].revents = POLLPRI | POLLERR;
	assert_int_equal(triggers_take(&set, fds, 6 * SEC), 0);
	assert_true(set.all[1].gone && !set.all[1].fired && !set.all[0].gone);
	assert_int_equal(triggers_gone(&set), 1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	triggers_fill(&set, fds);
	assert_int_equal(fds[1].fd, -1);
	/* What is not polled for any more is not taken either. */
	fds[1].revents = POLLPRI | POLLERR;
	assert_int_equal(triggers_take(&set, fds, 7 * SEC), 0);
	assert_int_equal(triggers_gone(&set), 1);
	triggers_close(&set);
	for (size_t i = 0; i < 3; i++)
		trigger_spec_free(&specs[i]);
}

/* The first report is believed only when there was as much since the kernel was told. */
TREE_TEST(test_first_report)
{
	static const char *const lines[] = {
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=70000000\n",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=70999999\n",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=71000000\n",
	};
	const struct tree *tree = *state;
	struct trigger_spec spec = good("io some 1s/2s");

	for (size_t i = 1; i < 3; i++) {
		struct trigger_set set = { .n = 1 };
		struct pollfd fd = { .revents = POLLPRI };
		int file;

		put_text(tree, "pressure/io", lines[i]);
		file = openat(tree->fd, "pressure/io", O_RDWR | O_CLOEXEC);
		set.all[0] = (struct trigger){
			.spec = &spec, .fd = file, .unproven = true, .begin_us = 70000000
		};
		assert_int_equal(triggers_take(&set, &fd, 5 * SEC), i == 2);
		assert_int_equal(set.all[0].fired, i == 2);
		/* What has been true once is believed, what was not is looked at again. */
		assert_int_equal(triggers_take(&set, &fd, 7 * SEC), i == 2);
		put_text(tree, "pressure/io", lines[2]);
		assert_int_equal(triggers_take(&set, &fd, 9 * SEC), i == 2);
		put_text(tree, "pressure/io",
			 "some avg10=0.00 avg60=0.00 avg300=0.00 total=72000000\n");
		assert_int_equal(triggers_take(&set, &fd, 11 * SEC), 1);
		triggers_close(&set);
	}
	trigger_spec_free(&spec);
}

/* Until when pressure lasts: the linger, or as long as the kernel may be silent. */
TEST(test_until)
{
	struct trigger_spec specs[3];
	struct trigger_set set;

	make_set(&set, specs);
	set.all[0].last_ns = 100 * SEC;
	assert_true(trigger_until_ns(&set.all[0], 10 * SEC) == 110 * SEC);
	assert_true(trigger_until_ns(&set.all[0], 0) == 104 * SEC + SEC / 2);
	assert_true(triggers_until_ns(&set, 10 * SEC) == 110 * SEC);
	assert_true(triggers_until_ns(&set, 0) == 102 * SEC);
	set.all[1].last_ns = 99 * SEC;
	assert_true(triggers_until_ns(&set, 1 * SEC) == 109 * SEC);
	assert_true(triggers_until_ns(&set, 20 * SEC) == 120 * SEC);
	set.all[2].last_ns = 110 * SEC;
	assert_true(triggers_until_ns(&set, 0) == 110 * SEC + SEC / 2);
	assert_true(trigger_until_ns(&set.all[2], 1 * SEC) == 113 * SEC);
	/* What was measured is not good for a window beyond. */
	set.all[1].lasts_ns = 112 * SEC;
	assert_true(triggers_until_ns(&set, 0) == 112 * SEC);
	assert_true(triggers_until_ns(&set, 3 * SEC) == 115 * SEC);
	triggers_close(&set);
	for (size_t i = 0; i < 3; i++)
		trigger_spec_free(&specs[i]);
}

/* Measures a trigger of 1 s in 2 s, every so many ms, at a rate; whether it lasted at the end. */
static bool measure(struct trigger *trigger, uint64_t *now_ns, uint64_t *total_us, unsigned ms,
		    unsigned times, double rate)
{
	for (unsigned i = 0; i < times; i++) {
		*now_ns += ms * NSEC_PER_MSEC;
		*total_us += (uint64_t)(ms * 1000 * rate);
		trigger_measure(trigger, *now_ns, *total_us);
		assert_true(trigger->npoints <= TRIGGER_POINTS);
	}
	return trigger->lasts_ns == *now_ns;
}

/* Whether pressure lasts, by the file, however often that is read. */
TEST(test_measure)
{
	static const unsigned steps[] = { 1, 50, 249, 250, 251, 500, 2000 };
	struct trigger_spec spec = good("memory some 1s/2s");

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct trigger trigger = { .spec = &spec };
		uint64_t now = 100 * SEC, total = 5000000;
		unsigned ms = steps[i], window = 2000 / ms;

		/* One reading says nothing. */
		trigger_measure(&trigger, now, total);
		assert_true(trigger.lasts_ns == 0);
		assert_false(measure(&trigger, &now, &total, ms, 3 * window + 3, 0.45));
		assert_true(trigger.lasts_ns == 0);
		assert_true(measure(&trigger, &now, &total, ms, 2 * window + 2, 0.6));
		/* It is over within a window. */
		assert_false(measure(&trigger, &now, &total, ms, window + 2, 0));
		assert_true(now - trigger.lasts_ns >= ms * NSEC_PER_MSEC);
		assert_false(measure(&trigger, &now, &total, ms, 4 * window, 0.45));
	}
	trigger_spec_free(&spec);
}

/* Readings further apart than the window give the average; a total that fell gives nothing. */
TEST(test_measure_far)
{
	struct trigger_spec spec = good("memory some 1s/2s");
	struct trigger trigger = { .spec = &spec };
	uint64_t now = 100 * SEC, total = 5000000;

	trigger_measure(&trigger, now, total);
	assert_true(measure(&trigger, &now, &total, 60000, 1, 0.51));
	assert_false(measure(&trigger, &now, &total, 60000, 1, 0.49));
	trigger_measure(&trigger, now + 60 * SEC, 1);
	assert_false(trigger.lasts_ns == now + 60 * SEC);
	/* So much within less than a window is enough. */
	trigger = (struct trigger){ .spec = &spec };
	trigger_measure(&trigger, 1 * SEC, 0);
	trigger_measure(&trigger, 2 * SEC, 999999);
	assert_true(trigger.lasts_ns == 0);
	trigger_measure(&trigger, 2 * SEC, 1000000);
	assert_true(trigger.lasts_ns == 2 * SEC);
	trigger_spec_free(&spec);
}

/* The line that counts is read of the file, at any time anew. */
TREE_TEST(test_look)
{
	static const char first[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n"
				    "full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n";
	static const char then[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=1999999\n";
	static const char leaps[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7294967\n"
				    "full avg10=0.00 avg60=0.00 avg300=0.00 total=6294966\n";
	const struct tree *tree = *state;
	struct trigger_spec specs[2] = { good("io some 1s/2s"), good("io full 1s/2s") };
	struct trigger_set set = { .n = 0 };
	struct trigger_error why;

	put_text(tree, "pressure/io", "");
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(triggers_add(&set, &specs[i], tree->fd, &why), 0);
	put_text(tree, "pressure/io", first);
	triggers_look(&set, 1 * SEC);
	put_text(tree, "pressure/io", then);
	triggers_look(&set, 3 * SEC);
	assert_true(set.all[0].lasts_ns == 3 * SEC);
	assert_true(set.all[1].lasts_ns == 0);
	put_text(tree, "pressure/io", "");
	triggers_look(&set, 4 * SEC);
	assert_true(triggers_until_ns(&set, SEC) == 4 * SEC);
	/* A total that grows by more than passed, or falls, is no pressure. */
	put_text(tree, "pressure/io", leaps);
	triggers_look(&set, 5 * SEC);
	put_text(tree, "pressure/io", first);
	triggers_look(&set, 6 * SEC);
	assert_true(set.all[0].lasts_ns == 3 * SEC && set.all[1].lasts_ns == 0);
	triggers_close(&set);
	for (size_t i = 0; i < 2; i++)
		trigger_spec_free(&specs[i]);
}
