// SPDX-License-Identifier: GPL-2.0-or-later
/* Cgroups on the real kernel: whose group is shown, and what the kernel says of one. */
#include "cgroup/cgroup.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new group of the v1 hierarchy of one of two controllers; skips the test without one. */
static const char *make_group(const char **name)
{
	static const char *const names[] = { "freezer", "pids" };
	const char *path = NULL;
	struct mntent *mount;
	FILE *f = setmntent("/proc/self/mounts", "re");
	static unsigned n;

	while (f && !path && (mount = getmntent(f)))
		for (unsigned i = 0; i < 2 && !path; i++)
			if (!strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, names[i])) {
				path = e2e_format("%s/stalltop-test-%d-%u", mount->mnt_dir,
						  (int)getpid(), n++);
				*name = names[i];
			}
	if (f)
		endmntent(f);
	if (!path)
		e2e_skip("no v1 hierarchy of freezer or pids");
	guard_push(UNDO_CGROUP, path, NULL);
	if (mkdir(path, 0755))
		e2e_skip("no cgroup may be made");
	return path;
}

/* What the cgroup column of a task must show; NULL: nothing. */
static void assert_group(const char *options, pid_t pid, const char *expected)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -o json -F pid,cgroup -p %d %s", (int)pid, options);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	assert_string_equal(member_text(task_must(s.v[0], pid), "cgroup"), expected);
}

/* A task's group in the hierarchy that is asked for, by every source; after a move, too. */
E2E_TEST(test_shown)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	const char *controller = NULL, *path = make_group(&controller);
	struct e2e_how how = { .cgroup = path };
	pid_t pid;

	e2e_require();
	pid = e2e_load(&how, "load_sleepers 1");
	assert_true(pid > 0);
	for (unsigned i = 0; i < 3; i++) {
		struct e2e_result r;

		e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source %s", sources[i]);
		if (r.status)
			continue;
		assert_group(
			e2e_format("--source %s --cgroup-hierarchy %s", sources[i], controller),
			pid, strrchr(path, '/'));
	}
	assert_group("--cgroup-hierarchy v2", pid, "/");
	e2e_kill(pid);
}

/* The group of a task in the next sample. */
static const char *next_group(struct e2e_proc *p, pid_t pid)
{
	const char *line = e2e_line(p, 20);

	assert_non_null(line);
	return member_text(task_must(parse_json_line(line), pid), "cgroup");
}

/* Who is moved asleep, to another group of v1, is there in the next sample of the bpf source. */
E2E_TEST(test_moved)
{
	const char *controller = NULL, *path = make_group(&controller);
	struct e2e_result r;
	struct e2e_proc p;
	pid_t pid;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source bpf");
	if (r.status)
		e2e_skip("no bpf source");
	pid = e2e_load(NULL, "load_sleepers 1");
	assert_true(pid > 0);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -n 8 -d 0.5 -o json -F pid,cgroup --source bpf "
				      "--cgroup-hierarchy %s",
				      controller));
	for (int i = 0; i < 3; i++)
		assert_string_equal(next_group(&p, pid), "/");
	assert_int_equal(
		write_text(e2e_format("%s/cgroup.procs", path), e2e_format("%d", (int)pid)), 0);
	/* One sample may be under way. */
	next_group(&p, pid);
	assert_string_equal(next_group(&p, pid), strrchr(path, '/'));
	e2e_finish(&p, 30, &r);
	e2e_kill(pid);
}

/* A child in a group, that stops itself, or spins. */
static pid_t add_child(const char *path, bool stops)
{
	const char *procs = e2e_format("%s/cgroup.procs", path);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid) {
		guard_push_child(pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write_text(procs, "0"))
		_exit(1);
	if (stops)
		raise(SIGSTOP);
	for (;;)
		;
}

/* Counts the threads of a group by their states, one by one. How many there are. */
static unsigned count_by_hand(const char *path, struct cgroup_states *states)
{
	FILE *tasks = fopen(e2e_format("%s/tasks", path), "re");
	unsigned n = 0;
	int tid;

	*states = (struct cgroup_states){ 0 };
	assert_non_null(tasks);
	while (fscanf(tasks, "%d", &tid) == 1) {
		FILE *stat = fopen(e2e_format("/proc/%d/stat", tid), "re");
		char state = '?';

		if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		if (stat)
			fclose(stat);
		n++;
		states->running += state == 'R';
		states->sleeping += state == 'S';
		states->stopped += state == 'T';
		states->uninterruptible += state == 'D';
	}
	fclose(tasks);
	return n;
}

/* Opens a v1 hierarchy and a reader of its groups. */
static struct cgroup_reader *open_reader(struct hierarchy *hierarchy, const char *name)
{
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	struct cgroup_reader *reader;

	assert_int_equal(hierarchy_open(hierarchy, procfd, name), 0);
	reader = cgroup_reader_open(procfd, hierarchy);
	close(procfd);
	return reader;
}

/* Threads of load_sleepers 4 3, and two more. */
#define SLEEPING (1 + 4 * 3)
#define ALL (SLEEPING + 2)

/* What cgroupstats says of a group is what is counted by hand, thread by thread. */
E2E_TEST(test_states)
{
	const char *controller = NULL, *path = make_group(&controller);
	const struct cgroup_sample *now = NULL, *before;
	struct e2e_how how = { .cgroup = path };
	struct cgroup_states by_hand;
	struct cgroup_reader *reader;
	struct hierarchy hierarchy;
	pid_t sleepers;
	unsigned same = 0;

	/* They sleep in pause(), for good: what waits for a time is not counted by all kernels. */
	sleepers = e2e_load(&how, "load_sleepers 4 3");
	assert_true(sleepers > 0);
	add_child(path, true);
	add_child(path, false);
	for (int i = 0; i < 500 && (count_by_hand(path, &by_hand) < ALL || !by_hand.stopped); i++)
		e2e_sleep(0.02);
	reader = open_reader(&hierarchy, controller);
	for (int i = 0; i < 50; i++) {
		e2e_sleep(0.02);
		cgroup_reader_tick(reader);
		assert_int_equal(count_by_hand(path, &by_hand), ALL);
		assert_int_equal(cgroup_read(reader, strrchr(path, '/'), CGROUP_ALL, &now, &before),
				 0);
		assert_int_equal(now->error[CGROUP_STATES], 0);
		/* Nothing changes but at the start. */
		same += !memcmp(&by_hand, &now->states, sizeof(by_hand));
	}
	print_message("# %u of 50 alike; at last %u running, %u sleeping, %u stopped\n", same,
		      (unsigned)now->states.running, (unsigned)now->states.sleeping,
		      (unsigned)now->states.stopped);
	assert_int_equal(now->states.sleeping, SLEEPING);
	assert_int_equal(now->states.running, 1);
	assert_int_equal(now->states.stopped, 1);
	assert_in_range(same, 45, 50);
	cgroup_reader_close(reader);
	hierarchy_close(&hierarchy);
	e2e_kill(sleepers);
}

/* A group that is removed while it is read is gone, also where another one takes its place. */
E2E_TEST(test_removed)
{
	const char *controller = NULL, *path = make_group(&controller);
	const struct cgroup_sample *now, *before;
	struct cgroup_reader *reader;
	struct hierarchy hierarchy;

	reader = open_reader(&hierarchy, controller);
	for (int i = 0; i < 3; i++) {
		cgroup_reader_tick(reader);
		assert_int_equal(cgroup_read(reader, strrchr(path, '/'), CGROUP_ALL, &now, &before),
				 0);
		assert_int_equal(now->have & CGROUP_BIT(CGROUP_STATES), CGROUP_BIT(CGROUP_STATES));
		assert_int_equal(before != NULL, i > 0);
	}
	assert_int_equal(rmdir(path), 0);
	cgroup_reader_tick(reader);
	assert_int_equal(cgroup_read(reader, strrchr(path, '/'), CGROUP_ALL, &now, &before),
			 -ENOENT);
	assert_int_equal(mkdir(path, 0755), 0);
	cgroup_reader_tick(reader);
	assert_int_equal(cgroup_read(reader, strrchr(path, '/'), CGROUP_ALL, &now, &before), 0);
	assert_null(before);
	/* Nobody asks between these two. */
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	cgroup_reader_tick(reader);
	assert_int_equal(cgroup_read(reader, strrchr(path, '/'), CGROUP_ALL, &now, &before), 0);
	assert_null(before);
	assert_int_equal(now->error[CGROUP_STATES], 0);
	cgroup_reader_close(reader);
	hierarchy_close(&hierarchy);
}

/* How long some of a group's tasks have stalled, in us; UINT64_MAX where that is not measured. */
static uint64_t stalled(const char *path, unsigned resource)
{
	FILE *f = fopen(e2e_format("%s/%s.pressure", path, psi_names[resource]), "re");
	uint64_t total;

	if (!f)
		return UINT64_MAX;
	assert_int_equal(fscanf(f, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNu64, &total),
			 1);
	fclose(f);
	return total;
}

/* A v2 group's pressure is what its files say. */
E2E_TEST(test_pressure)
{
	const struct cgroup_sample *now, *before;
	struct cgroup_reader *reader;
	struct hierarchy hierarchy;
	const char *path;

	reader = open_reader(&hierarchy, "v2");
	path = hierarchy.mount ? e2e_format("%s/stalltop-test-%d", hierarchy.mount, (int)getpid())
			       : NULL;
	if (path)
		guard_push(UNDO_CGROUP, path, NULL);
	if (!path || mkdir(path, 0755))
		e2e_skip("no v2 cgroup may be made");
	add_child(path, false);
	add_child(path, false);
	add_child(path, false);
	/* three that spin on fewer CPUs than that, or on more */
	for (int i = 0;
	     i < 300 && sysconf(_SC_NPROCESSORS_ONLN) < 3 && stalled(path, PSI_CPU) <= 300000; i++)
		e2e_sleep(0.02);
	for (unsigned i = 0; i < PSI_IRQ; i++) {
		uint64_t low = stalled(path, i), high;

		if (low == UINT64_MAX)
			e2e_skip("no pressure of groups");
		assert_int_equal(
			cgroup_read(reader, strrchr(path, '/'), CGROUP_BIT(i), &now, &before), 0);
		high = stalled(path, i);
		assert_int_equal(now->error[i], 0);
		assert_in_range(now->psi[i].some.total_us, low, high);
		assert_true(now->psi[i].full.valid);
		if (i == PSI_CPU)
			assert_true(sysconf(_SC_NPROCESSORS_ONLN) > 2 ||
				    now->psi[i].some.total_us > 300000);
	}
	cgroup_reader_close(reader);
	hierarchy_close(&hierarchy);
}

/* Where threads of a process may be in several groups it is said, but where each has its own. */
E2E_TEST(test_threaded)
{
	static const char *const modes[] = { "", "-H" };
	struct cgroup_reader *reader;
	struct hierarchy hierarchy;
	const char *path, *below;
	FILE *type;

	reader = open_reader(&hierarchy, "v2");
	cgroup_reader_close(reader);
	path = hierarchy.mount ? e2e_format("%s/stalltop-test-%d", hierarchy.mount, (int)getpid())
			       : NULL;
	hierarchy_close(&hierarchy);
	below = path ? e2e_format("%s/below", path) : NULL;
	if (path) {
		guard_push(UNDO_CGROUP, path, NULL);
		guard_push(UNDO_CGROUP, below, NULL);
	}
	if (!path || mkdir(path, 0755) || mkdir(below, 0755))
		e2e_skip("no v2 cgroup may be made");
	type = fopen(e2e_format("%s/cgroup.type", below), "w");
	assert_non_null(type);
	fputs("threaded", type);
	assert_int_equal(fclose(type), 0);
	for (size_t i = 0; i < 2; i++) {
		struct e2e_result r;
		struct samples s;

		e2e_run(&r, NULL, "-b -n 1 -d 0.1 -o json --cgroup-hierarchy v2 --cgroup %s %s",
			strrchr(path, '/'), modes[i]);
		check_silent_success(&r);
		parse_json(&r, &s);
		assert_int_equal(note_of(s.v[0], "group-threaded") != NULL, i == 0);
	}
}

/* A hierarchy that there is not: one line that names those that there are. */
E2E_TEST(test_unknown)
{
	static const char *const modes[] = { "-b -n 1 -d 0.1", "-b -n 1 -F pid", "-- true" };
	struct e2e_result r;

	for (unsigned i = 0; i < 3; i++) {
		e2e_run(&r, NULL, "--cgroup-hierarchy no-such %s", modes[i]);
		assert_int_equal(r.status, 2);
		assert_int_equal(r.out.len, 0);
		assert_non_null(strstr(r.err.data,
				       "--cgroup-hierarchy: no such hierarchy: 'no-such'; there "
				       "are: "));
		assert_ptr_equal(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
	}
}

/* A group of version 2 beside hierarchies that have the tasks: it is said how to have it. */
E2E_TEST(test_empty_v2)
{
	struct hierarchy hierarchy, usual;
	const char *path, *name;
	struct e2e_result r;
	bool apart;

	cgroup_reader_close(open_reader(&usual, NULL));
	apart = usual.name && strcmp(usual.name, "v2") != 0;
	hierarchy_close(&usual);
	cgroup_reader_close(open_reader(&hierarchy, "v2"));
	path = hierarchy.mount ? e2e_format("%s/stalltop-empty-%d", hierarchy.mount, (int)getpid())
			       : NULL;
	hierarchy_close(&hierarchy);
	if (path)
		guard_push(UNDO_CGROUP, path, NULL);
	if (!path || mkdir(path, 0755))
		e2e_skip("no v2 cgroup may be made");
	name = strrchr(path, '/');
	if (apart) {
		e2e_run(&r, NULL, "-b -n 1 -d 0.1 --cgroup %s", name);
		assert_int_equal(r.status, 1);
		assert_non_null(strstr(r.err.data, "--cgroup-hierarchy v2"));
	}
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --cgroup %s --cgroup-hierarchy v2", name);
	assert_int_equal(r.status, 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --cgroup %s-no", name);
	assert_null(strstr(r.err.data, "--cgroup-hierarchy v2"));
}
