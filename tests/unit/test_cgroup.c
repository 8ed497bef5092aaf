// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of cgroups, from trees of files that are like those of both versions, and worse. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "cgroup/cgroup.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"

#define PRESSURE(some, full) \
	"some avg10=1.50 avg60=0.25 avg300=0.00 total=" #some "\n" \
	"full avg10=0.50 avg60=0.00 avg300=0.00 total=" #full "\n"

/* A machine with hierarchies in directories of the tree, and a reader of one of them. */
struct machine {
	const struct tree *tree;
	struct hierarchy hierarchy;
	struct cgroup_reader *reader;
};

/* Mounts what these lines say in directories of their names, and reads the one of that name. */
static void open_mounted(struct machine *machine, void **state, const char *name,
			 const struct buf *mounts, const char *groups)
{
	const struct tree *tree = *state;

	machine->tree = tree;
	put_dir(tree, "v2");
	put_dir(tree, "memory");
	put_dir(tree, "cpu");
	put(tree, "self/mountinfo", mounts->data, mounts->len);
	put_text(tree, "self/cgroup", groups);
	assert_int_equal(hierarchy_open(&machine->hierarchy, tree->fd, name), 0);
	machine->reader = cgroup_reader_open(tree->fd, &machine->hierarchy);
}

/* Version 2 alone. */
static void open_machine(struct machine *machine, void **state)
{
	const char *path = ((const struct tree *)*state)->path;
	struct buf lines = { 0 };

	buf_printf(&lines, "1 2 0:3 / %s/v2 rw - cgroup2 x rw\n", path);
	open_mounted(machine, state, "v2", &lines, "0::/\n");
	buf_free(&lines);
}

/* Version 2, and of version 1 memory and cpu. */
static void open_mixed(struct machine *machine, void **state, const char *name)
{
	const char *path = ((const struct tree *)*state)->path;
	struct buf lines = { 0 };

	buf_printf(&lines, "1 2 0:3 / %s/v2 rw - cgroup2 x rw\n", path);
	buf_printf(&lines, "1 2 0:4 / %s/memory rw - cgroup x rw,memory\n", path);
	buf_printf(&lines, "1 2 0:5 / %s/cpu rw - cgroup x rw,cpu,cpuacct\n", path);
	open_mounted(machine, state, name, &lines, "2:memory:/\n1:cpu,cpuacct:/\n0::/\n");
	buf_free(&lines);
}

/* Closes it. */
static void close_machine(struct machine *machine)
{
	cgroup_reader_close(machine->reader);
	hierarchy_close(&machine->hierarchy);
}

/* Reads what must be there. */
static const struct cgroup_sample *look_at(const struct machine *machine, const char *path,
					   unsigned what, const struct cgroup_sample **before)
{
	const struct cgroup_sample *now = NULL, *ignored;
	int err = cgroup_read(machine->reader, path, what, &now, before ? before : &ignored);

	if (err)
		fail_msg("%s: %s", path, strerror(-err));
	assert_non_null(now);
	return now;
}

/* Reads what must fail. */
static void assert_error(const struct machine *machine, const char *path, int err)
{
	static const struct cgroup_sample untouched;
	const struct cgroup_sample *now = &untouched, *before = &untouched;

	assert_int_equal(cgroup_read(machine->reader, path, CGROUP_ALL, &now, &before), err);
	assert_null(now);
	assert_null(before);
}

/* All that a v2 group has, and no more than that. */
TREE_TEST(test_v2)
{
	struct machine machine;
	const struct cgroup_sample *now, *before;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	open_machine(&machine, state);
	put_text(machine.tree, "v2/a/b/cpu.pressure", PRESSURE(1000, 900));
	put_text(machine.tree, "v2/a/b/memory.pressure", PRESSURE(2000, 1900));
	put_text(machine.tree, "v2/a/b/io.pressure", PRESSURE(3000, 2900));
	put_text(machine.tree, "v2/a/b/irq.pressure",
		 "full avg10=0.00 avg60=0.00 avg300=0.07 total=7\n");
	put_text(machine.tree, "v2/a/b/cpu.stat",
		 "usage_usec 5\nnr_periods 4\nnr_throttled 3\nthrottled_usec 2000\n");
	put_text(machine.tree, "v2/a/b/memory.events",
		 "low 9\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n");
	now = look_at(&machine, "/a/b", CGROUP_ALL, &before);
	assert_null(before);
	assert_int_equal(now->have, CGROUP_ALL & ~CGROUP_BIT(CGROUP_STATES));
	assert_int_equal(now->error[CGROUP_STATES], -EOPNOTSUPP);
	assert_int_equal(now->psi[PSI_CPU].some.total_us, 1000);
	assert_int_equal(now->psi[PSI_CPU].some.avg10, 150);
	assert_true(now->psi[PSI_CPU].full.valid);
	assert_int_equal(now->psi[PSI_CPU].full.total_us, 900);
	assert_int_equal(now->psi[PSI_MEMORY].full.total_us, 1900);
	assert_int_equal(now->psi[PSI_IO].some.total_us, 3000);
	assert_false(now->psi[PSI_IRQ].some.valid);
	assert_int_equal(now->psi[PSI_IRQ].full.avg300, 7);
	assert_int_equal(now->throttled_ns, 2000000);
	assert_int_equal(now->throttled, 3);
	assert_int_equal(now->event_valid, 0xf);
	for (unsigned i = 0; i < CGROUP_EVENT_KINDS; i++)
		assert_int_equal(now->events[i], i + 1);
	for (unsigned i = 0; i < CGROUP_STATES; i++) {
		assert_int_equal(now->error[i], 0);
		assert_in_range(now->read_ns[i], begin, clock_ns(CLOCK_MONOTONIC));
	}
	close_machine(&machine);
}

/* Whether processes of a group may have threads in others, by its type. */
TREE_TEST(test_threaded)
{
	static const struct {
		const char *type;
		bool threaded;
	} cases[] = { { NULL, false },
		      { "domain\n", false },
		      { "domain threaded\n", true },
		      { "threaded\n", true },
		      { "domain invalid\n", true } };
	struct machine machine;

	open_machine(&machine, state);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[16], file[40];

		snprintf(path, sizeof(path), "/g%zu", i);
		snprintf(file, sizeof(file), "v2%s/cpu.stat", path);
		put_text(machine.tree, file, "nr_throttled 1\n");
		snprintf(file, sizeof(file), "v2%s/cgroup.type", path);
		if (cases[i].type)
			put_text(machine.tree, file, cases[i].type);
		assert_int_equal(look_at(&machine, path, 0, NULL)->threaded, cases[i].threaded);
	}
	close_machine(&machine);
}

/* What a tick brings: the reading before stays beside the new one, if there was one. */
TREE_TEST(test_ticks)
{
	static const unsigned what = CGROUP_BIT(PSI_MEMORY) | CGROUP_BIT(CGROUP_THROTTLE);
	struct machine machine;
	const struct cgroup_sample *now, *before;

	open_machine(&machine, state);
	put_text(machine.tree, "v2/a/memory.pressure", PRESSURE(1, 1));
	put_text(machine.tree, "v2/a/cpu.stat", "nr_throttled 1\nthrottled_usec 1\n");
	look_at(&machine, "/a", what, NULL);
	cgroup_reader_tick(machine.reader);
	put_text(machine.tree, "v2/a/memory.pressure", PRESSURE(20, 10));
	put_text(machine.tree, "v2/a/cpu.stat", "nr_throttled 2\nthrottled_usec 5\n");
	now = look_at(&machine, "/a", what, &before);
	assert_int_equal(now->psi[PSI_MEMORY].some.total_us, 20);
	assert_int_equal(now->throttled_ns, 5000);
	assert_int_equal(before->psi[PSI_MEMORY].some.total_us, 1);
	assert_int_equal(before->throttled_ns, 1000);
	assert_int_equal(before->have, what);
	assert_true(before->read_ns[PSI_MEMORY] <= now->read_ns[PSI_MEMORY]);
	/* Within a tick nothing is read twice, and what comes in addition has no before. */
	put_text(machine.tree, "v2/a/memory.pressure", PRESSURE(30, 30));
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(3, 3));
	now = look_at(&machine, "/a", what | CGROUP_BIT(PSI_IO), &before);
	assert_int_equal(now->psi[PSI_MEMORY].some.total_us, 20);
	assert_int_equal(now->psi[PSI_IO].some.total_us, 3);
	assert_false(before->have & CGROUP_BIT(PSI_IO));
	/* A tick in which nobody asked. */
	cgroup_reader_tick(machine.reader);
	cgroup_reader_tick(machine.reader);
	now = look_at(&machine, "/a", what, &before);
	assert_int_equal(now->psi[PSI_MEMORY].some.total_us, 30);
	assert_int_equal(now->have, what);
	assert_null(before);
	cgroup_reader_tick(machine.reader);
	now = look_at(&machine, "/a", 0, &before);
	assert_int_equal(now->have, 0);
	assert_int_equal(before->have, what);
	close_machine(&machine);
}

/* Only what is asked for is read, and files stay open. */
TREE_TEST(test_calls)
{
	struct machine machine;
	uint64_t calls;

	open_machine(&machine, state);
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(1, 1));
	put_text(machine.tree, "v2/a/cpu.pressure", PRESSURE(1, 1));
	calls = calls_made();
	/* Whether the group is there, its type, opening, reading. */
	look_at(&machine, "/a", CGROUP_BIT(PSI_IO), NULL);
	assert_int_equal(calls_made(), calls + 4);
	look_at(&machine, "/a", CGROUP_BIT(PSI_IO), NULL);
	assert_int_equal(calls_made(), calls + 4);
	for (unsigned i = 1; i < 10; i++) {
		cgroup_reader_tick(machine.reader);
		look_at(&machine, "/a", CGROUP_BIT(PSI_IO), NULL);
		assert_int_equal(calls_made(), calls + 4 + 2 * i);
	}
	close_machine(&machine);
}

/* The root's cpu line `full` is no figure; that of a namespace's root is. */
TREE_TEST(test_root)
{
	struct machine machine;
	const struct cgroup_sample *now;

	open_machine(&machine, state);
	put_text(machine.tree, "v2/cpu.pressure", PRESSURE(10, 0));
	put_text(machine.tree, "v2/memory.pressure", PRESSURE(10, 5));
	now = look_at(&machine, "/", CGROUP_PRESSURE, NULL);
	assert_true(now->psi[PSI_CPU].some.valid);
	assert_false(now->psi[PSI_CPU].full.valid);
	assert_true(now->psi[PSI_MEMORY].full.valid);
	put_text(machine.tree, "v2/cgroup.events", "populated 1\n");
	cgroup_reader_tick(machine.reader);
	now = look_at(&machine, "/", CGROUP_PRESSURE, NULL);
	assert_true(now->psi[PSI_CPU].full.valid);
	close_machine(&machine);
}

/* What is not there is an error of its own, looked for again after a while. */
TREE_TEST(test_missing)
{
	struct machine machine;
	const struct cgroup_sample *now;
	unsigned readings = 0;

	open_machine(&machine, state);
	put_text(machine.tree, "v2/a/cpu.pressure", PRESSURE(1, 1));
	now = look_at(&machine, "/a", CGROUP_ALL, NULL);
	assert_int_equal(now->have, CGROUP_BIT(PSI_CPU));
	assert_int_equal(now->error[PSI_CPU], 0);
	assert_int_equal(now->error[PSI_IRQ], -ENOENT);
	assert_int_equal(now->error[CGROUP_EVENTS], -ENOENT);
	assert_int_equal(now->error[CGROUP_THROTTLE], -ENOENT);
	put_text(machine.tree, "v2/a/memory.events", "oom 1\nmax 2\n");
	do {
		cgroup_reader_tick(machine.reader);
		now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_EVENTS), NULL);
		assert_int_equal(now->error[CGROUP_EVENTS], now->have ? 0 : -ENOENT);
	} while (!now->have && readings++ < 1000);
	assert_in_range(readings, 10, 100);
	/* Older kernels have fewer lines. */
	assert_int_equal(now->event_valid, 1u << CGROUP_EVENT_MAX | 1u << CGROUP_EVENT_OOM);
	assert_int_equal(now->events[CGROUP_EVENT_MAX], 2);
	close_machine(&machine);
}

/* Texts that are none, and files that are no files. */
TREE_TEST(test_malformed)
{
	static const char *const stats[] = {
		"",
		"nr_throttled 1\n",
		"throttled_usec 1\n",
		"nr_throttled 1\nthrottled_usec 1",
		"nr_throttled 1\nthrottled_usec 18446744073709552\n",
		"nr_throttled -1\nthrottled_usec 1\n",
		"usage_usec 1\nuser_usec 1\nsystem_usec 0\n",
	};
	struct machine machine;
	const struct cgroup_sample *now;
	char path[64], group[64];

	open_machine(&machine, state);
	for (unsigned i = 0; i < ARRAY_SIZE(stats); i++) {
		snprintf(group, sizeof(group), "/%u", i);
		snprintf(path, sizeof(path), "v2/%u/cpu.stat", i);
		put_text(machine.tree, path, stats[i]);
		snprintf(path, sizeof(path), "v2/%u/memory.events", i);
		put_text(machine.tree, path, "low 1\nhigh\nmax x\noom 1 2\n");
		snprintf(path, sizeof(path), "v2/%u/io.pressure", i);
		put_text(machine.tree, path, "\xff\n");
		now = look_at(&machine, group, CGROUP_ALL, NULL);
		assert_int_equal(now->have, 0);
		assert_int_equal(now->error[CGROUP_THROTTLE], -EBADMSG);
		assert_int_equal(now->error[CGROUP_EVENTS], -EBADMSG);
		assert_int_equal(now->error[PSI_IO], -EBADMSG);
	}
	put_dir(machine.tree, "v2/b");
	put_dir(machine.tree, "v2/b/io.pressure");
	assert_int_equal(symlinkat("../0/cpu.stat", machine.tree->fd, "v2/b/cpu.stat"), 0);
	assert_int_equal(mkfifoat(machine.tree->fd, "v2/b/memory.events", 0600), 0);
	now = look_at(&machine, "/b", CGROUP_ALL, NULL);
	assert_int_equal(now->have, 0);
	assert_int_equal(now->error[PSI_IO], -EISDIR);
	assert_int_equal(now->error[CGROUP_THROTTLE], -ELOOP);
	assert_true(now->error[CGROUP_EVENTS] < 0);
	close_machine(&machine);
}

/* A process is in these groups of v2, memory and cpu. */
static void put_member(const struct machine *machine, unsigned pid, const char *v2,
		       const char *memory, const char *cpu)
{
	const struct tree *tree = machine->tree;
	struct buf text = { 0 }, file = { 0 };

	buf_printf(&text, "2:memory:%s\n1:cpu,cpuacct:%s\n0::%s\n", memory, cpu, v2);
	buf_printf(&file, "%u/cgroup", pid);
	put(tree, buf_cstr(&file), text.data, text.len);
	buf_free(&text);
	buf_free(&file);
}

/* Groups of v1 have no pressure; throttling is that of the members' group in cpu's hierarchy. */
TREE_TEST(test_v1)
{
	static const char stat[] = "nr_periods 9\nnr_throttled 3\nthrottled_time 2000\n";
	struct machine machine;
	const struct cgroup_sample *now, *before;

	open_mixed(&machine, state, "memory");
	put_text(machine.tree, "memory/a/cpu.pressure", PRESSURE(1, 1));
	put_text(machine.tree, "memory/a/memory.events", "max 1\n");
	put_text(machine.tree, "memory/b/x", "");
	put_text(machine.tree, "memory/a/cgroup.procs", "7\n0\n9\n");
	put_text(machine.tree, "memory/cgroup.procs", "8\n");
	put_text(machine.tree, "cpu/q/cpu.stat", stat);
	put_text(machine.tree, "cpu/b/cpu.stat", stat);
	put_text(machine.tree, "cpu/cpu.stat", stat);
	put_member(&machine, 7, "/", "/a", "/q");
	put_member(&machine, 8, "/", "/", "/");
	now = look_at(&machine, "/a", CGROUP_ALL, NULL);
	assert_int_equal(now->have, CGROUP_BIT(CGROUP_THROTTLE));
	assert_int_equal(now->throttled_ns, 2000);
	assert_int_equal(now->throttled, 3);
	assert_int_equal(now->error[PSI_CPU], -EOPNOTSUPP);
	assert_int_equal(now->error[CGROUP_EVENTS], -EOPNOTSUPP);
	/* The directory is no cgroup, as the kernel says (or there is no kernel to ask). */
	assert_true(now->error[CGROUP_STATES] < 0);
	/* A group of the same path, which has none of its tasks, tells nothing of it. */
	now = look_at(&machine, "/b", CGROUP_BIT(CGROUP_THROTTLE), NULL);
	assert_true(now->error[CGROUP_THROTTLE] < 0);
	now = look_at(&machine, "/", CGROUP_BIT(CGROUP_THROTTLE), NULL);
	assert_int_equal(now->error[CGROUP_THROTTLE], -ESRCH);
	/* Less than before is another group's. */
	cgroup_reader_tick(machine.reader);
	put_text(machine.tree, "cpu/q/cpu.stat", "nr_throttled 1\nthrottled_time 1999\n");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_int_equal(now->throttled_ns, 1999);
	assert_false(before->have & CGROUP_BIT(CGROUP_THROTTLE));
	/* The tasks go to another group: its figure is no continuation. */
	cgroup_reader_tick(machine.reader);
	put_member(&machine, 7, "/", "/a", "/b");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_int_equal(now->throttled_ns, 2000);
	assert_false(before->have & CGROUP_BIT(CGROUP_THROTTLE));
	/* In several groups they have no figure in common. */
	cgroup_reader_tick(machine.reader);
	put_member(&machine, 9, "/", "/a", "/q");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_false(now->have & CGROUP_BIT(CGROUP_THROTTLE));
	assert_int_equal(now->error[CGROUP_THROTTLE], -EXDEV);
	/* And have it again once they are together. */
	cgroup_reader_tick(machine.reader);
	put_member(&machine, 7, "/", "/a", "/q");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_true(now->have & CGROUP_BIT(CGROUP_THROTTLE));
	/* The quota may be that of a group above: what passed is that of the one throttled most. */
	put_text(machine.tree, "cpu/q/in/cpu.stat", "nr_throttled 1\nthrottled_time 5\n");
	put_member(&machine, 7, "/", "/a", "/q/in");
	put_member(&machine, 9, "/", "/a", "/q/in");
	cgroup_reader_tick(machine.reader);
	look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), NULL);
	cgroup_reader_tick(machine.reader);
	put_text(machine.tree, "cpu/q/in/cpu.stat", "nr_throttled 2\nthrottled_time 305\n");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_true(before->have & CGROUP_BIT(CGROUP_THROTTLE));
	assert_int_equal(now->throttled_ns - before->throttled_ns, 300);
	cgroup_reader_tick(machine.reader);
	put_text(machine.tree, "cpu/q/cpu.stat", "nr_throttled 9\nthrottled_time 2699\n");
	put_text(machine.tree, "cpu/q/in/cpu.stat", "nr_throttled 3\nthrottled_time 405\n");
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), &before);
	assert_int_equal(now->throttled_ns - before->throttled_ns, 700);
	close_machine(&machine);
}

/* A v2 group without the controller, beside a v1 hierarchy that has it; and cpu's own groups. */
TREE_TEST(test_mixed)
{
	struct machine machine;
	const struct cgroup_sample *now;

	open_mixed(&machine, state, "v2");
	put_text(machine.tree, "v2/a/cpu.stat", "usage_usec 1\n");
	put_text(machine.tree, "v2/a/cgroup.procs", "7\n");
	put_member(&machine, 7, "/a", "/", "/a");
	put_text(machine.tree, "cpu/a/cpu.stat", "nr_throttled 3\nthrottled_time 2000\n");
	put_text(machine.tree, "cpu/a/io.pressure", PRESSURE(1, 1));
	now = look_at(&machine, "/a", CGROUP_ALL, NULL);
	assert_int_equal(now->have, CGROUP_BIT(CGROUP_THROTTLE));
	assert_int_equal(now->throttled_ns, 2000);
	cgroup_reader_close(machine.reader);
	hierarchy_close(&machine.hierarchy);
	assert_int_equal(hierarchy_open(&machine.hierarchy, machine.tree->fd, "cpuacct"), 0);
	machine.reader = cgroup_reader_open(machine.tree->fd, &machine.hierarchy);
	now = look_at(&machine, "/a", CGROUP_BIT(CGROUP_THROTTLE), NULL);
	assert_int_equal(now->throttled_ns, 2000);
	close_machine(&machine);
}

/* Renames a directory of the tree. */
static void move(const struct tree *tree, const char *from, const char *to)
{
	assert_int_equal(renameat(tree->fd, from, tree->fd, to), 0);
}

/* A group that goes is gone at once; another one of its path has nothing before. */
TREE_TEST(test_gone)
{
	struct machine machine;
	const struct cgroup_sample *now, *before;

	open_machine(&machine, state);
	assert_error(&machine, "/a", -ENOENT);
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(50, 40));
	look_at(&machine, "/a", CGROUP_BIT(PSI_IO), &before);
	assert_null(before);
	cgroup_reader_tick(machine.reader);
	move(machine.tree, "v2/a", "v2/old");
	assert_error(&machine, "/a", -ENOENT);
	assert_error(&machine, "/a", -ENOENT);
	cgroup_reader_tick(machine.reader);
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(5, 4));
	now = look_at(&machine, "/a", CGROUP_BIT(PSI_IO), &before);
	assert_int_equal(now->psi[PSI_IO].some.total_us, 5);
	assert_null(before);
	/* Between two ticks. */
	cgroup_reader_tick(machine.reader);
	move(machine.tree, "v2/a", "v2/older");
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(7, 6));
	now = look_at(&machine, "/a", CGROUP_BIT(PSI_IO), &before);
	assert_int_equal(now->psi[PSI_IO].some.total_us, 7);
	assert_null(before);
	/* Within one: nothing of the old one is among what is of the new. */
	move(machine.tree, "v2/a", "v2/oldest");
	put_text(machine.tree, "v2/a/cpu.pressure", PRESSURE(9, 9));
	now = look_at(&machine, "/a", CGROUP_BIT(PSI_CPU), &before);
	assert_int_equal(now->have, CGROUP_BIT(PSI_CPU));
	assert_null(before);
	close_machine(&machine);
}

/* Paths out of the hierarchy, and directories that are none. */
TREE_TEST(test_paths)
{
	static const char *const outside[] = { "",	  "a",	 "/..",	      "/../v2",
					       "/a/../a", "//a", "/../../etc" };
	struct machine machine;

	open_machine(&machine, state);
	put_text(machine.tree, "v2/a/io.pressure", PRESSURE(1, 1));
	put_text(machine.tree, "v2/file", "");
	assert_int_equal(symlinkat("a", machine.tree->fd, "v2/link"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(outside); i++)
		assert_error(&machine, outside[i], -EINVAL);
	assert_error(&machine, "/link", -ENOENT);
	assert_error(&machine, "/file", -ENOENT);
	assert_error(&machine, "/file/a", -ENOENT);
	assert_error(&machine, "/a (deleted)", -ENOENT);
	close_machine(&machine);
	machine.hierarchy = (struct hierarchy){ .version = 2, .name = (char *)"v2", .fd = -1 };
	machine.reader = cgroup_reader_open(machine.tree->fd, &machine.hierarchy);
	assert_error(&machine, "/a", -EINVAL);
	cgroup_reader_close(machine.reader);
	cgroup_reader_close(NULL);
}

/* How many descriptors this process has. */
static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* More groups than files may be open: all are read, again and again; unused ones are let go. */
TREE_TEST(test_many)
{
	struct machine machine;
	unsigned fds;
	char path[64];

	open_machine(&machine, state);
	fds = count_fds();
	for (unsigned i = 0; i < 600; i++) {
		snprintf(path, sizeof(path), "v2/%u/io.pressure", i);
		put_text(machine.tree, path, PRESSURE(3, 2));
	}
	for (unsigned tick = 0; tick < 3; tick++) {
		for (unsigned i = 0; i < 600; i++) {
			const struct cgroup_sample *now, *before;

			snprintf(path, sizeof(path), "/%u", i);
			now = look_at(&machine, path, CGROUP_BIT(PSI_IO), &before);
			assert_int_equal(now->psi[PSI_IO].some.total_us, 3);
			assert_int_equal(before != NULL, tick > 0);
		}
		assert_in_range(count_fds(), fds + 100, fds + 300);
		cgroup_reader_tick(machine.reader);
	}
	for (unsigned tick = 0; tick < 20; tick++) {
		look_at(&machine, "/7", CGROUP_BIT(PSI_IO), NULL);
		cgroup_reader_tick(machine.reader);
	}
	assert_int_equal(count_fds(), fds + 1);
	close_machine(&machine);
	assert_int_equal(count_fds(), fds - 1);
}
