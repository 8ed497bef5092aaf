// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits that the pressure of a task's own group rules out, where the machine's does not. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "frame/io_bounds.h"
#include "tests/lib/calls.h"
#include "tests/lib/scene.h"
#include "tests/lib/tree.h"

/* A machine of two CPUs, of all of whose time a task of some group waits for I/O. */
struct machine {
	struct tree *tree;
	struct io_bounds *bounds;
	struct scene scene;
	struct task_raw *last; /* of the first task, at the last sample */
	unsigned samples;
	uint64_t calls; /* of the last sample */
	bool known; /* the groups of tasks are known with the sample */
};

/* Puts a group's total of pressure. */
static void put_pressure(const struct machine *machine, const char *group, uint64_t ns)
{
	struct buf path = { 0 }, text = { 0 };

	buf_printf(&path, "v2/%s/io.pressure", group);
	buf_printf(&text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
		   (unsigned long long)(ns / NSEC_PER_USEC));
	put(machine->tree, buf_cstr(&path), text.data, text.len);
	buf_free(&path);
	buf_free(&text);
}

static int set_up(void **state)
{
	struct machine *machine = xcalloc(1, sizeof(*machine));
	struct buf lines = { 0 };

	assert_int_equal(make_tree((void **)&machine->tree), 0);
	buf_printf(&lines, "1 2 0:3 / %s/v2 rw - cgroup2 x rw\n", machine->tree->path);
	put(machine->tree, "self/mountinfo", lines.data, lines.len);
	buf_free(&lines);
	put_text(machine->tree, "self/cgroup", "0::/\n");
	put_text(machine->tree, "v2/a/cgroup.type", "domain\n");
	put_text(machine->tree, "v2/b/cgroup.type", "domain\n");
	put_text(machine->tree, "5/cgroup", "0::/a\n");
	put_pressure(machine, "a", 0);
	put_pressure(machine, "b", 0);
	machine->bounds = io_bounds_open(machine->tree->proc);
	scene_open(&machine->scene);
	*state = machine;
	return 0;
}

static int tear_down(void **state)
{
	struct machine *machine = *state;
	void *tree = machine->tree;

	io_bounds_close(machine->bounds);
	scene_close(&machine->scene);
	free(machine);
	return remove_tree(&tree);
}

/* Begins the next sample, which has process 5, and it was booked so much more. */
static struct task_raw *begin_sample(struct machine *machine, uint64_t booked_ns)
{
	unsigned at = machine->samples % 3;
	struct sample *cur = &machine->scene.samples[at];

	sample_reset(cur);
	cur->begin_ns = clock_ns(CLOCK_MONOTONIC);
	machine->last = machine->samples ? scene_again(cur, machine->last)
					 : scene_add(cur, 5, 5, cur->begin_ns - SEC(1000));
	machine->last->single = true;
	machine->last->now = (struct task_now){ .state = 'S', .exact = true };
	machine->last->counters.run_ns += MS(1);
	machine->last->counters.life_ns = cur->begin_ns - machine->last->task->key.start_ns;
	machine->last->counters.delay[DELAY_BLKIO].ns += booked_ns;
	machine->last->counters.delay[DELAY_BLKIO].count += booked_ns ? 9 : 0;
	return machine->last;
}

/* Makes the frame of it: the machine is all pressure. */
static const struct row *end_sample(struct machine *machine)
{
	struct scene *scene = &machine->scene;
	struct sample *cur = &scene->samples[machine->samples % 3];
	struct sample *prev = machine->samples ? &scene->samples[(machine->samples + 2) % 3] : NULL;
	struct frame_options options = { .machine.cpus = 2 };

	if (prev)
		options.machine.io =
			(struct io_pressure){ cur->begin_ns - prev->begin_ns,
					      cur->begin_ns - prev->begin_ns, cur->begin_ns };
	frame_build(&scene->frame, &scene->info, prev, cur, &options);
	machine->calls = CALLS_OF(
		io_bounds_take(machine->bounds, &scene->frame, &scene->info, machine->known));
	machine->samples++;
	return &scene->frame.rows[0];
}

static const struct timespec pause_time = { .tv_nsec = 200 * 1000 * 1000 };

/* A sample after a while, in which process 5 was booked so many percent of the time. */
static const struct row *sample_booked(struct machine *machine, unsigned percent)
{
	nanosleep(&pause_time, NULL);
	begin_sample(machine, MS(2) * percent);
	return end_sample(machine);
}

/* Whether its group limits what the last sample's row waited for I/O. */
static bool is_bounded(const struct machine *machine)
{
	return row_io_bound(&machine->scene.info, &machine->scene.frame.rows[0]);
}

/* Whether what the row waited for I/O is known and was not bounded. */
static bool is_whole(const struct row *row)
{
	return row->valid & DELAY_BIT(DELAY_BLKIO) &&
	       row->deltas->waited.ns[DELAY_BLKIO] == row->deltas->grown.delay[DELAY_BLKIO].ns;
}

/* A group that was read twice, and in which nobody waited, rules out what was booked. */
TEST_WITH(test_ruled_out, set_up, tear_down)
{
	struct machine *machine = *state;
	const struct row *row;

	sample_booked(machine, 0);
	/* It is seen with some waits, and then read for the first time. */
	assert_true(is_whole(sample_booked(machine, 1)));
	assert_int_equal(machine->scene.info.stale, 0);
	row = sample_booked(machine, 90);
	assert_false(row->valid & DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], 0);
	assert_int_equal(machine->scene.info.stale, 1);
	assert_true(is_bounded(machine));
	/* What is not much is left as it is. */
	assert_true(is_whole(sample_booked(machine, 4)));
	assert_int_equal(machine->scene.info.stale, 0);
	assert_false(is_bounded(machine));
}

/* Its own pressure allows it: it did wait. */
TEST_WITH(test_allowed, set_up, tear_down)
{
	struct machine *machine = *state;

	sample_booked(machine, 0);
	sample_booked(machine, 90);
	put_pressure(machine, "a", MS(250));
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_true(is_bounded(machine));
	assert_int_equal(machine->scene.info.stale, 0);
}

/* Whoever comes into a group is not bounded by what passed there before, nor in the one it left. */
TEST_WITH(test_moved, set_up, tear_down)
{
	struct machine *machine = *state;

	sample_booked(machine, 0);
	sample_booked(machine, 90);
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	assert_true(is_whole(sample_booked(machine, 90)));
	put_text(machine->tree, "5/cgroup", "0::/a\n");
	assert_true(is_whole(sample_booked(machine, 90)));
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_false(is_whole(sample_booked(machine, 90)));
	/* What its group is cannot be read any more. */
	put_text(machine->tree, "5/cgroup", "");
	assert_true(is_whole(sample_booked(machine, 90)));
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_false(is_whole(sample_booked(machine, 90)));
}

/* A group of the same path that is another one is read anew. */
TEST_WITH(test_other_group, set_up, tear_down)
{
	struct machine *machine = *state;

	sample_booked(machine, 0);
	sample_booked(machine, 90);
	assert_int_equal(renameat(machine->tree->fd, "v2/a", machine->tree->fd, "gone"), 0);
	put_text(machine->tree, "v2/a/cgroup.type", "domain\n");
	put_pressure(machine, "a", 0);
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_false(is_whole(sample_booked(machine, 90)));
	/* It has no pressure (cgroup.pressure 0), or none that grows. */
	put_pressure(machine, "b", SEC(1));
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	sample_booked(machine, 90);
	put_pressure(machine, "b", 0);
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_false(is_whole(sample_booked(machine, 90)));
	put_text(machine->tree, "v2/b/io.pressure", "");
	assert_true(is_whole(sample_booked(machine, 90)));
}

/* A sample of process 5 with so many threads, of which much was booked. */
static void sample_threads(struct machine *machine, unsigned threads)
{
	struct task_raw *raw;

	nanosleep(&pause_time, NULL);
	raw = begin_sample(machine, MS(180));
	raw->single = false;
	raw->now.threads = threads;
	end_sample(machine);
}

/* Threads of a process in a threaded group may be in others; a single thread is where it is. */
TEST_WITH(test_threaded, set_up, tear_down)
{
	struct machine *machine = *state;

	put_text(machine->tree, "v2/a/cgroup.type", "threaded\n");
	sample_threads(machine, 3);
	sample_threads(machine, 3);
	sample_threads(machine, 3);
	assert_false(is_bounded(machine));
	sample_threads(machine, 1);
	assert_true(is_bounded(machine));
	sample_threads(machine, 2);
	assert_false(is_bounded(machine));
	put_text(machine->tree, "v2/a/cgroup.type", "domain threaded\n");
	sample_threads(machine, 2);
	assert_true(is_bounded(machine));
}

/* What is measured is not booked; what ended may have moved before. */
TEST_WITH(test_left_alone, set_up, tear_down)
{
	struct machine *machine = *state;

	sample_booked(machine, 0);
	sample_booked(machine, 90);
	nanosleep(&pause_time, NULL);
	begin_sample(machine, MS(90))->now.measured = DELAY_BIT(DELAY_BLKIO);
	assert_true(is_whole(end_sample(machine)));
	machine->last->now.measured = 0;
	assert_false(is_whole(sample_booked(machine, 90)));
	nanosleep(&pause_time, NULL);
	begin_sample(machine, MS(180))->exited = true;
	assert_true(is_whole(end_sample(machine)));
	assert_false(is_bounded(machine));
	machine->last->exited = false;
	nanosleep(&pause_time, NULL);
	begin_sample(machine, MS(180))->was = 77;
	end_sample(machine);
	assert_false(is_bounded(machine));
}

/* Where nobody was booked anything nothing is read, and a group not for long after. */
TEST_WITH(test_nothing_read, set_up, tear_down)
{
	struct machine *machine = *state;

	for (unsigned i = 0; i < 4; i++)
		sample_booked(machine, 0);
	assert_int_equal(machine->calls, 0);
	/* Where it is is looked for now and then; much is booked only of the last. */
	for (unsigned i = 0; i < 12; i++) {
		sample_booked(machine, 1);
		assert_in_range(machine->calls, 2, i ? 6 : 30);
		assert_int_equal(machine->calls > 2, i % 4 == 0);
	}
	sample_booked(machine, 90);
	assert_int_equal(machine->calls, 5);
	/* Its directory is looked at, and its file read. */
	for (unsigned i = 0; i < 8; i++) {
		sample_booked(machine, 0);
		assert_int_equal(machine->calls, 2);
	}
	sample_booked(machine, 0);
	assert_int_equal(machine->calls, 0);
}

/* A source that does not see moves has groups that are seconds old: they are read. */
TEST_WITH(test_old_group, set_up, tear_down)
{
	struct machine *machine = *state;

	machine->known = true;
	task_set_cgroup(begin_sample(machine, 0)->task, shared_text("/a"));
	end_sample(machine);
	sample_booked(machine, 90);
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	/* It is in another group now, whatever its text says. */
	assert_true(is_whole(sample_booked(machine, 90)));
}

/* Groups that are known are not read again; the root's pressure is the machine's. */
TEST_WITH(test_known, set_up, tear_down)
{
	struct machine *machine = *state;
	struct task_raw *raw;

	machine->known = true;
	put_text(machine->tree, "5/cgroup", "0::/b\n");
	raw = begin_sample(machine, 0);
	task_set_cgroup(raw->task, shared_text("/a"));
	raw->task->groups = 7;
	end_sample(machine);
	sample_booked(machine, 90);
	put_pressure(machine, "b", SEC(1));
	assert_false(is_whole(sample_booked(machine, 90)));
	put_text(machine->tree, "v2/io.pressure",
		 "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	strcpy(machine->last->task->cgroup, "/");
	sample_booked(machine, 90);
	assert_true(is_whole(sample_booked(machine, 90)));
	assert_int_equal(machine->calls, 2);
}

/* Of more groups than are read those with the most booked are. */
TEST_WITH(test_many, set_up, tear_down)
{
	struct machine *machine = *state;
	uint64_t calls = 0;

	for (unsigned i = 0; i < 4; i++) {
		struct sample *cur = &machine->scene.samples[machine->samples % 3];
		const struct sample *prev = &machine->scene.samples[(machine->samples + 2) % 3];
		unsigned bounded = 0;

		nanosleep(&pause_time, NULL);
		begin_sample(machine, 0);
		for (int p = 0; p < 100; p++) {
			struct task_raw *raw =
				i ? scene_again(cur, prev->raw[1 + p])
				  : scene_add(cur, 100 + p, 100 + p, cur->begin_ns - SEC(99));
			char name[32];

			raw->single = true;
			raw->now = (struct task_now){ .state = 'S', .exact = true };
			raw->counters.run_ns += MS(1);
			raw->counters.life_ns = cur->begin_ns - raw->task->key.start_ns;
			raw->counters.delay[DELAY_BLKIO].ns += MS(150) + MS((unsigned)p) / 10;
			raw->counters.delay[DELAY_BLKIO].count += 7;
			snprintf(name, sizeof(name), "/many/%d", p / 2);
			if (!i)
				task_set_cgroup(raw->task, shared_text(name));
			raw->task->groups = 1 + (uint64_t)p / 2;
			if (!i)
				put_pressure(machine, name + 1, 0);
		}
		machine->last = cur->raw[0];
		machine->known = true;
		end_sample(machine);
		for (size_t r = 0; r < machine->scene.frame.n; r++)
			bounded += row_io_bound(&machine->scene.info,
						&machine->scene.frame.rows[r]) != NULL;
		assert_int_equal(bounded, i < 2 ? 0 : 32);
		assert_true(i < 2 ||
			    !(machine->scene.frame.rows[100].valid & DELAY_BIT(DELAY_BLKIO)));
		calls = machine->calls;
	}
	assert_in_range(calls, 16, 40);
}
