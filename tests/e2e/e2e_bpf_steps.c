// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From snapshot to snapshot: who did nothing is passed over, and nobody who did anything is, be it
 * only that others did it to them.
 */
#include "bpf/snapshot.h"
#include "tests/lib/e2e.h"
#include "tests/lib/figures.h"
#include "tests/lib/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEPERS 500
#define ZOMBIES 200
#define PLACES 8192 /* in the program's memory, at least: MEMORY_MIN of snapshot.c */
#define NEXT_IDS 64 /* that a test uses, and others beside it */
#define UNIFIED "/sys/fs/cgroup/unified"

/* A child that does what it is told by single letters. */
struct actor {
	pid_t pid;
	int orders, answers;
};

/* A thread that does nothing; says who it is. */
static void *idle_thread(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(*(int *)arg, &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

/* A thread that is over at once. */
static void *short_thread(void *arg)
{
	return arg;
}

/* Starts a thread; whether one is to be waited for. */
static void start_thread(void *(*start)(void *), int *answers, bool join)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, answers))
		_exit(1);
	if (join)
		pthread_join(thread, NULL);
}

/* A child that sleeps. */
static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(60);
		for (;;)
			pause();
	}
	return pid;
}

/* Gives another of the process's threads a name. */
static void name_thread(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	if (write_text(path, "by-another"))
		_exit(1);
}

/* Does what it is told; the answer is a pid where there is one. */
static _Noreturn void act(int orders, int answers)
{
	pid_t pid = 0;
	char order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(orders, &order, 1) == 1) {
		if (order == 'x')
			_exit(0);
		if (order == 'n')
			prctl(PR_SET_NAME, "renamed");
		if (order == 'u' && setresuid(NOBODY, NOBODY, NOBODY))
			_exit(1);
		if (order == 'c')
			pid = fork_sleeper();
		if (order == 'm')
			name_thread(pid);
		if (order == 'e')
			start_thread(short_thread, NULL, true);
		if (order == 't') {
			start_thread(idle_thread, &answers, false);
			if (read(orders, &pid, sizeof(pid)) != sizeof(pid))
				_exit(1);
		} else if (write(answers, &pid, sizeof(pid)) != sizeof(pid)) {
			_exit(1);
		}
	}
	_exit(0);
}

/* Notes the places in the program's memory of all tasks that are there. */
static void note_places(bool *taken)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t tids[512];

	assert_non_null(proc);
	memset(taken, 0, PLACES * sizeof(*taken));
	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		size_t n = pid > 0 ? e2e_threads(pid, tids, 512) : 0;

		for (size_t i = 0; i < n; i++)
			taken[tids[i] % PLACES] = true;
	}
	closedir(proc);
}

/*
 * Uses up ids until the next ones share their places in the program's memory with nobody: who
 * does is never passed over, and would not come to rest.
 */
static void find_places(void)
{
	static bool taken[PLACES];
	pid_t last;
	int clear;

	note_places(taken);
	do {
		last = fork();
		if (!last)
			_exit(0);
		assert_true(last > 0);
		waitpid(last, NULL, 0);
		for (clear = 1; clear <= NEXT_IDS && !taken[(last + clear) % PLACES];)
			clear++;
	} while (clear <= NEXT_IDS);
}

/* Starts one. */
static struct actor start_actor(void)
{
	struct actor actor;
	int orders[2], answers[2];

	find_places();

	assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
	assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
	fflush(NULL);
	actor.pid = fork();
	if (!actor.pid) {
		close(orders[1]);
		close(answers[0]);
		act(orders[0], answers[1]);
	}
	assert_true(actor.pid > 0);
	guard_push_child(actor.pid);
	close(orders[0]);
	close(answers[1]);
	actor.orders = orders[1];
	actor.answers = answers[0];
	return actor;
}

/* Tells it what to do, and waits until it is done. */
static pid_t tell(const struct actor *actor, char order)
{
	pid_t pid = 0;

	assert_int_equal(write(actor->orders, &order, 1), 1);
	if (order == 'x') {
		waitpid(actor->pid, NULL, 0);
		guard_forget_child(actor->pid);
		return 0;
	}
	assert_int_equal(read(actor->answers, &pid, sizeof(pid)), sizeof(pid));
	if (order == 't')
		assert_int_equal(write(actor->orders, &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

/* Closes its pipes; it ends with that. */
static void drop_actor(const struct actor *actor)
{
	close(actor->orders);
	close(actor->answers);
}

/* Takes a snapshot. */
static void take(struct snapshot *snapshot, unsigned how, struct snapshot_view *view)
{
	assert_int_equal(snapshot_take(snapshot, how, view), 0);
}

/* Opens a snapshot by the walk, or leaves the test. */
#define open_walk(threads) open_walk_of(__func__, threads)
static struct snapshot *open_walk_of(const char *test, bool threads)
{
	struct snapshot *snapshot;
	int err = snapshot_open(&snapshot, threads, SNAPSHOT_WALK, NULL, NULL);

	if (err == -ENOENT || err == -EOPNOTSUPP)
		e2e_skip_test(test, "the kernel has no such iterator");
	assert_int_equal(err, 0);
	return snapshot;
}

/* Takes snapshots until one has nothing to say of the task. */
static void settle(struct snapshot *snapshot, pid_t pid)
{
	const struct snapshot_entry *entry;
	struct snapshot_view view;

	for (int i = 0; i < 100; i++) {
		take(snapshot, 0, &view);
		entry = figures_entry(&view, pid);
		assert_non_null(entry);
		if (!entry->record)
			return;
		e2e_sleep(0.02);
	}
	fail_msg("%d does not come to rest", (int)pid);
}

/* The task's record in the next snapshot, which it must have. */
static struct snapshot_record next(struct snapshot *snapshot, pid_t pid, const char *what)
{
	const struct snapshot_entry *entry;
	struct snapshot_view view;

	take(snapshot, SNAPSHOT_CGROUPS, &view);
	entry = figures_entry(&view, pid);
	if (!entry)
		fail_msg("%s: no task %d", what, (int)pid);
	if (!entry->record)
		fail_msg("%s: passed over", what);
	return view.records[entry->record - 1];
}

/* Sleepers have a record the first time only. */
E2E_TEST(test_idle)
{
	struct snapshot *snapshot;
	struct snapshot_view view;
	pid_t keeper;

	e2e_require();
	keeper = e2e_load(NULL, "load_sleepers %d", SLEEPERS);
	snapshot = open_walk(false);
	settle(snapshot, keeper);
	for (int i = 0; i < 3; i++) {
		e2e_sleep(0.1);
		take(snapshot, 0, &view);
		printf("# %zu entries, %zu records\n", view.nentries, view.nrecords);
		assert_true(view.nentries > SLEEPERS);
		assert_true(view.nrecords < view.nentries - SLEEPERS + 20);
	}
	take(snapshot, SNAPSHOT_WHOLE, &view);
	assert_true(view.nrecords > SLEEPERS);
	snapshot_close(snapshot);
}

/* What a task does itself, and its end. */
E2E_TEST(test_own_doing)
{
	struct snapshot_record record;
	struct snapshot_view view;
	struct snapshot *snapshot;
	struct actor actor;
	pid_t child;

	e2e_require();
	snapshot = open_walk(false);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	actor = start_actor();
	record = next(snapshot, actor.pid, "birth");
	assert_int_equal(record.ppid, getpid());
	settle(snapshot, actor.pid);
	tell(&actor, 'n');
	record = next(snapshot, actor.pid, "rename");
	assert_string_equal(record.comm, "renamed");
	settle(snapshot, actor.pid);
	child = tell(&actor, 'c');
	assert_int_equal(next(snapshot, child, "child").ppid, actor.pid);
	settle(snapshot, actor.pid);
	tell(&actor, 't');
	assert_int_equal(next(snapshot, actor.pid, "thread").threads, 2);
	settle(snapshot, actor.pid);
	tell(&actor, 'u');
	assert_int_equal(next(snapshot, actor.pid, "setuid").uid, NOBODY);
	settle(snapshot, actor.pid);
	tell(&actor, 'x');
	take(snapshot, 0, &view);
	assert_null(figures_entry(&view, actor.pid));
	drop_actor(&actor);
	snapshot_close(snapshot);
	kill(child, SIGKILL);
}

/* An orphan sleeps on, and yet has another parent. */
E2E_TEST(test_orphan)
{
	struct snapshot_view view;
	struct snapshot *snapshot;

	e2e_require();
	for (int threads = 0; threads < 2; threads++) {
		struct actor actor = start_actor();
		pid_t child = tell(&actor, 'c'), parent;

		snapshot = open_walk(threads);
		take(snapshot, SNAPSHOT_WHOLE, &view);
		settle(snapshot, child);
		tell(&actor, 'x');
		parent = next(snapshot, child, "reparented").ppid;
		assert_true(parent != actor.pid && parent > 0);
		snapshot_close(snapshot);
		drop_actor(&actor);
		kill(child, SIGKILL);
	}
}

/* A thread is named by another, while it sleeps. */
E2E_TEST(test_named_by_another)
{
	struct snapshot_view view;
	struct snapshot *snapshot;
	struct actor actor;
	pid_t tid;

	e2e_require();
	actor = start_actor();
	tid = tell(&actor, 't');
	snapshot = open_walk(true);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	settle(snapshot, tid);
	tell(&actor, 'm');
	assert_string_equal(next(snapshot, tid, "named by another").comm, "by-another");
	snapshot_close(snapshot);
	drop_actor(&actor);
}

/* A task is moved to another cgroup, while it sleeps. */
E2E_TEST(test_moved)
{
	const char *folder = e2e_format(UNIFIED "/stalltop-test-%d", (int)getpid());
	struct snapshot_view view;
	struct snapshot *snapshot;
	struct actor actor;
	struct stat st;

	e2e_require();
	if (mkdir(folder, 0755))
		e2e_skip("no unified cgroups at " UNIFIED);
	guard_push(UNDO_CGROUP, folder, NULL);
	assert_int_equal(stat(folder, &st), 0);
	actor = start_actor();
	tell(&actor, '-');
	snapshot = open_walk(false);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	settle(snapshot, actor.pid);
	assert_int_equal(
		write_text(e2e_format("%s/cgroup.procs", folder), e2e_format("%d", (int)actor.pid)),
		0);
	assert_true(next(snapshot, actor.pid, "moved").cgroup == st.st_ino);
	tell(&actor, 'x');
	snapshot_close(snapshot);
	drop_actor(&actor);
}

/* The start is exact. */
E2E_TEST(test_start)
{
	struct snapshot_view view;
	struct snapshot *snapshot;
	struct timespec before, after;
	struct snapshot_record record;
	struct actor actor;
	uint64_t from, to;

	e2e_require();
	snapshot = open_walk(false);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	clock_gettime(CLOCK_MONOTONIC, &before);
	actor = start_actor();
	clock_gettime(CLOCK_MONOTONIC, &after);
	from = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
	to = (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec;
	record = next(snapshot, actor.pid, "birth");
	printf("# born within %ju us\n", (to - from) / 1000);
	assert_in_range(record.start_ns, from, to);
	assert_in_range(record.read_ns, view.begin_ns, UINT64_MAX);
	drop_actor(&actor);
	snapshot_close(snapshot);
}

/* Waits until the last test's sleepers have gone. How many tasks there are then. */
static unsigned int await_few(void)
{
	struct sysinfo machine;

	for (int i = 0; i < 300; i++) {
		assert_int_equal(sysinfo(&machine), 0);
		if (machine.procs < 1500)
			break;
		e2e_sleep(0.2);
	}
	return machine.procs;
}

/* The room that was right for few is not for many more: all are there. */
static void check_growth(enum snapshot_way way, bool threads)
{
	struct snapshot_view view;
	struct snapshot *snapshot;
	size_t few, written = 0;
	/* there is room for half as many again, and some */
	size_t more = await_few() * 3 / 2 + 2500;
	pid_t keeper;
	int err = snapshot_open(&snapshot, threads, way, NULL, NULL);

	assert_int_equal(err, 0);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	few = view.nentries;
	keeper = e2e_load(NULL, "load_sleepers %zu", more);
	assert_true(keeper > 0);
	take(snapshot, 0, &view);
	printf("# %zu, then %zu entries\n", few, view.nentries);
	assert_true(view.nentries > more);
	for (size_t i = 0; i < view.nentries; i++) {
		const struct snapshot_entry *entry = &view.entries[i];

		/* it was loaded anew, and so has all */
		assert_true(entry->record > 0 && entry->record <= view.nrecords);
		assert_int_equal(view.records[entry->record - 1].pid, entry->pid);
		written += view.records[entry->record - 1].ppid == keeper;
	}
	assert_int_equal(written, more);
	if (way == SNAPSHOT_WALK)
		settle(snapshot, keeper);
	snapshot_close(snapshot);
	e2e_kill(keeper);
}

/* The machine grows. */
E2E_TEST(test_growth)
{
	e2e_require();
	snapshot_close(open_walk(false));
	check_growth(SNAPSHOT_WALK, false);
	check_growth(SNAPSHOT_WALK, true);
	check_growth(SNAPSHOT_EACH, false);
}

/* Children that have ended, reaped one by one later. */
static void make_zombies(pid_t *pids)
{
	for (int i = 0; i < ZOMBIES; i++) {
		siginfo_t info;

		pids[i] = fork();
		if (!pids[i])
			_exit(0);
		assert_true(pids[i] > 0);
		assert_int_equal(waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT), 0);
	}
}

/* A record of ended threads says nothing but that, whoever had its place before. */
E2E_TEST(test_places_of_zombies)
{
	struct actor actors[ZOMBIES / 4];
	struct snapshot_view view;
	struct snapshot *snapshot;
	pid_t pids[ZOMBIES];
	size_t ended = 0;

	e2e_require();
	assert_int_equal(snapshot_open(&snapshot, false, SNAPSHOT_EACH, NULL, NULL), 0);
	make_zombies(pids);
	take(snapshot, SNAPSHOT_WHOLE, &view);
	for (int i = 0; i < ZOMBIES; i++)
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	for (int i = 0; i < ZOMBIES / 4; i++) {
		actors[i] = start_actor();
		tell(&actors[i], 'e');
	}
	take(snapshot, SNAPSHOT_WHOLE, &view);
	for (int i = 0; i < ZOMBIES / 4; i++) {
		const struct snapshot_entry *entry = figures_entry(&view, actors[i].pid);

		assert_non_null(entry);
		ended += snapshot_parts(&view, entry->record - 1) == 2;
		drop_actor(&actors[i]);
	}
	assert_int_equal(ended, ZOMBIES / 4);
	snapshot_close(snapshot);
}
