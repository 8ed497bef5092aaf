// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traced waits: a thread's time is partitioned, a process's waits are its sites and the rest,
 * files are named, and of a command all descendants count.
 */
#include "tests/lib/parse.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/scratch.h"

#define FILES 4
#define SLEEPERS 8
#define BLOCK 4096
#define BLOCKS 2048

static const char *const kinds[] = { "cpu",	"blkio",  "swapin", "reclaim", "thrash",
				     "compact", "wpcopy", "irq",    "dwait" };

/* The samples of a run that must do well. */
static void traced_samples(struct samples *s, const char *args)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "-b --trace -o json %s", args);
	check_silent_success(&r);
	parse_json(&r, s);
}

/* What a sample's sites have of a kind for a process, as `time`; on: on that target, NULL: all. */
static double sited(json_t *sample, pid_t pid, const char *kind, const char *time, const char *on)
{
	json_t *site;
	double ns = 0;
	size_t i;

	json_array_foreach(json_object_get(sample, "sites"), i, site)
	{
		if (strcmp(text_or_none(site, "kind"), kind) != 0 ||
		    !json_is_integer(json_object_get(site, "pid")) ||
		    json_integer_value(json_object_get(site, "pid")) != pid)
			continue;
		if (on && strcmp(text_or_none(site, "on"), on) != 0)
			continue;
		ns += (double)json_integer_value(json_object_get(site, time));
	}
	return ns;
}

/* What no site of a process explains of a kind; NULL: there is no such line. */
static json_t *rest_of(json_t *sample, pid_t pid, const char *kind)
{
	json_t *site;
	size_t i;

	json_array_foreach(json_object_get(sample, "sites"), i, site)
	{
		const char *state = text_or_none(site, "state");

		if ((!strcmp(state, "unattributed") || !strcmp(state, "overlapping")) &&
		    !strcmp(text_or_none(site, "kind"), kind) &&
		    json_integer_value(json_object_get(site, "pid")) == pid)
			return site;
	}
	return NULL;
}

/* Reads blocks of a file at random, past the page cache, for ever. */
static void read_for_ever(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	void *block = NULL;
	unsigned seed = 1;

	if (fd < 0 || posix_memalign(&block, BLOCK, BLOCK))
		_exit(1);
	while (pread(fd, block, BLOCK, (off_t)(rand_r(&seed) % BLOCKS) * BLOCK) > 0)
		;
	_exit(2);
}

/* Starts a child that reads a file of its own; the path goes to `path`. */
static pid_t start_reader(unsigned i, const char **path)
{
	static char block[BLOCK];
	int fd, n = 0;
	pid_t pid;

	*path = e2e_format("%s/file %u", e2e_folder(), i);
	fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (n < BLOCKS && write(fd, block, BLOCK) == BLOCK)
		n++;
	assert_int_equal(fsync(fd), 0);
	close(fd);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		read_for_ever(*path);
	}
	return scratch_child(pid);
}

/* Reads pages of a mapped file at random that are not in memory, for ever. */
static void fault_for_ever(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	volatile char *pages = mmap(NULL, BLOCKS * BLOCK, PROT_READ, MAP_SHARED, fd, 0);
	unsigned seed = 1;

	if (fd < 0 || pages == MAP_FAILED)
		_exit(1);
	signal(SIGBUS, SIG_DFL);
	madvise((void *)pages, BLOCKS * BLOCK, MADV_RANDOM);
	for (;;) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (unsigned i = 0; i < 100; i++)
			(void)pages[(size_t)rand_r(&seed) % BLOCKS * BLOCK];
		madvise((void *)pages, BLOCKS * BLOCK, MADV_DONTNEED);
	}
}

/* Whether the kernel tells which file a fault is on: 6.10 and later. */
static bool tells_faults(void)
{
	struct utsname kernel;
	unsigned major = 0, minor = 0;

	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &major, &minor);
	return major > 6 || (major == 6 && minor >= 10);
}

/* A wait for a page of a mapped file is a page fault, on that file. */
E2E_TEST(test_fault)
{
	struct samples s;
	const char *path;
	json_t *site;
	double ns = 0;
	size_t i;
	pid_t pid;

	e2e_require_bpf();
	kill(start_reader(0, &path), SIGKILL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fault_for_ever(path);
	}
	scratch_child(pid);
	e2e_sleep(0.2);
	traced_samples(&s, e2e_format("-n 1 -d 1 -p %d", (int)pid));
	json_array_foreach(json_object_get(s.v[0], "sites"), i, site)
	{
		if (strcmp(text_or_none(site, "state"), "io") != 0 ||
		    strcmp(text_or_none(site, "syscall"), "page fault") != 0)
			continue;
		ns += (double)member_u64(site, "ns");
		/* Kernels before 6.10 do not tell. */
		if (!json_is_null(json_object_get(site, "on")) || tells_faults())
			assert_string_equal(text_or_none(site, "on"), path);
	}
	print_message("%.3f s in page faults\n", ns / 1e9);
	kill(pid, SIGKILL);
	assert_true(ns > 0);
}

/*
 * Who was there when tracing began was traced all the time, or it is not known how it spent its
 * time: where the kernel hides a process, now and then a switch of it is seen all the same.
 */
E2E_TEST(test_old_threads)
{
	struct samples s;
	json_t *task;
	size_t i;

	e2e_require_bpf();
	traced_samples(&s, "-H -d 0.6 -n 4");
	for (size_t at = 0; at < s.n; at++) {
		json_t *trace = json_object_get(s.v[at], "trace");
		double interval = 1e9 * json_real_value(json_object_get(trace, "interval"));

		json_array_foreach(json_object_get(s.v[at], "tasks"), i, task)
		{
			if (json_is_null(json_object_get(task, "states")) ||
			    json_is_true(json_object_get(task, "new")) ||
			    json_is_true(json_object_get(task, "exited")) ||
			    !strcmp(text_or_none(task, "state"), "Z"))
				continue;
			if ((double)member_u64(task, "alive_ns") < 0.9 * interval)
				fail_msg("%s in sample %zu", json_dumps(task, 0), at);
		}
	}
}

/*
 * Each reader's waits are on its own file. That is compared with the time in state io: on busy CPUs
 * the kernel books more blkio for direct I/O than the clock allows.
 */
E2E_TEST(test_files)
{
	const char *paths[FILES];
	pid_t pids[FILES];
	struct samples s;

	e2e_require_bpf();
	for (unsigned i = 0; i < FILES; i++)
		pids[i] = start_reader(i, &paths[i]);
	e2e_sleep(0.2);
	traced_samples(&s, e2e_format("-n 1 -d 1 -p %d,%d,%d,%d", (int)pids[0], (int)pids[1],
				      (int)pids[2], (int)pids[3]));
	for (unsigned i = 0; i < FILES; i++) {
		json_t *task = task_must(s.v[0], pids[i]);
		double all = (double)member_u64(json_object_get(task, "states"), "io_ns");

		if (!(all > 0))
			e2e_skip("no disk below the temporary folder");
		for (unsigned f = 0; f < FILES; f++) {
			double part = sited(s.v[0], pids[i], "blkio", "ns", paths[f]) / all;

			print_message("reader %u: %.2f %% on file %u\n", i, 100 * part, f);
			if (f == i)
				assert_true(part >= 0.98 && part <= 1.02);
			else
				assert_true(part == 0);
		}
	}
}

/*
 * What was waited for I/O and in state D is what was traced: in states, and in sites, which are
 * read a moment later. No site leaves any of it unexplained.
 */
static void check_measured(json_t *sample, pid_t pid, json_t *task, const char *kind,
			   const char *state)
{
	json_t *states = json_object_get(task, "states");
	double waited, inside;

	if (!json_is_object(states))
		return;
	/* Of who is older than delay accounting, and has switches hidden, nothing is known. */
	if (!json_is_integer(json_object_get(json_object_get(task, "waited"), kind)) &&
	    strcmp(member_text(task, "comm"), "load_io") != 0)
		return;
	waited = (double)member_u64(json_object_get(task, "waited"), kind);
	inside = (double)member_u64(states, state);
	/* What the trace, read later, saw may be more than the row's interval had time for. */
	if (waited > inside || waited < inside * 0.99 - 2e6 ||
	    fabs(sited(sample, pid, kind, "ns", NULL) - inside) > inside * 0.01 + 2e6)
		fail_msg("%d %s: %s %.0f, in states %.0f, at sites %.0f", (int)pid,
			 member_text(task, "comm"), kind, waited, inside,
			 sited(sample, pid, kind, "ns", NULL));
	if (rest_of(sample, pid, kind))
		fail_msg("%d: %s unattributed", (int)pid, kind);
}

/*
 * Sites and what they leave unexplained are what was waited, of each kind and process; of none they
 * leave less than nothing.
 */
E2E_TEST(test_exact)
{
	struct samples s;
	unsigned checked = 0;

	e2e_require_bpf();
	assert_true(e2e_load(NULL, "load_io %s", e2e_folder()) > 0);
	traced_samples(&s, "-n 3 -d 0.7");
	assert_int_equal(s.n, 3);
	for (size_t n = 0; n < s.n; n++) {
		json_t *task;
		size_t i;

		json_array_foreach(json_object_get(s.v[n], "tasks"), i, task)
		{
			pid_t pid = (pid_t)member_u64(task, "pid");
			json_t *waited = json_object_get(task, "waited");

			/* A pid that was used again has two rows, a row of many has none. */
			if (json_is_true(json_object_get(task, "exited")) ||
			    json_is_true(json_object_get(task, "new")))
				continue;
			for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
				json_t *ns = json_object_get(waited, kinds[k]);
				json_t *rest = rest_of(s.v[n], pid, kinds[k]);
				double sum = sited(s.v[n], pid, kinds[k], "kind_ns", NULL);
				double all = (double)json_integer_value(ns);

				/* The kernel may hide switches of some processes. */
				if (json_is_null(ns) ||
				    (rest && json_is_null(json_object_get(rest, "ns"))))
					continue;
				if (rest) {
					assert_true(member_u64(rest, "ns") > 0);
					assert_true(sum == all);
				} else if (strcmp(kinds[k], "blkio") && strcmp(kinds[k], "dwait")) {
					assert_true(sum >= all);
				}
				checked += json_integer_value(ns) > 0;
			}
			check_measured(s.v[n], pid, task, "blkio", "io_ns");
			check_measured(s.v[n], pid, task, "dwait", "dwait_ns");
		}
	}
	assert_true(checked > 10);
}

/* The states of a row add up to its time alive. Returns that time in ns. */
static uint64_t alive_ns(json_t *task)
{
	json_t *states = json_object_get(task, "states"), *ns;
	uint64_t sum = 0;
	const char *id;

	assert_true(json_is_object(states));
	json_object_foreach(states, id, ns) sum += (uint64_t)json_integer_value(ns);
	assert_true(sum == member_u64(task, "alive_ns"));
	return sum;
}

/* Checks that the loads' threads that lived the whole interval spent all of it, and no more. */
static void check_alive(const char *args)
{
	unsigned checked = 0, wrong = 0;
	uint64_t io_ns = 0;
	struct samples s;

	traced_samples(&s, e2e_format("-H -n 2 -d 1 -m ^load_(sleepers|io)$ %s", args));
	for (size_t n = 0; n < s.n; n++) {
		json_t *task;
		size_t i;

		json_array_foreach(json_object_get(s.v[n], "tasks"), i, task)
		{
			double share;

			if (json_is_true(json_object_get(task, "exited")) ||
			    json_is_true(json_object_get(task, "new")) ||
			    json_is_null(json_object_get(task, "interval")))
				continue;
			if (json_is_null(json_object_get(task, "states"))) {
				print_message("not traced: %d %s\n", (int)member_u64(task, "pid"),
					      member_text(task, "comm"));
				wrong++;
				continue;
			}
			share = (double)alive_ns(task) / (member_real(task, "interval") * 1e9);
			io_ns += member_u64(json_object_get(task, "states"), "io_ns");
			checked++;
			if (share >= 0.995 && share <= 1.005)
				continue;
			print_message("%d %s: alive for %.3f %%\n", (int)member_u64(task, "pid"),
				      member_text(task, "comm"), share * 100);
			wrong++;
		}
	}
	assert_true(checked > 400);
	assert_int_equal(wrong, 0);
	assert_true(io_ns > 0);
}

/* The same with sites and without. */
E2E_TEST(test_alive)
{
	e2e_require_bpf();
	assert_true(e2e_load(NULL, "load_sleepers 1 200") > 0);
	assert_true(e2e_load(NULL, "load_io %s", e2e_folder()) > 0);
	check_alive("");
	check_alive("--trace-sites 0");
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		sleep(60);
	return arg;
}

/* Starts a child of several threads that sleep. */
static pid_t start_sleepers(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 1; i < SLEEPERS; i++)
			if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
				_exit(1);
		sleep_for_ever(NULL);
	}
	scratch_child(pid);
	e2e_sleep(0.2);
	return pid;
}

/* Groups have their members' states, and columns are in CSV. */
E2E_TEST(test_groups_and_csv)
{
	pid_t pid = start_sleepers();
	struct e2e_result r;
	struct samples s;
	struct csv csv;
	double interval;
	json_t *group;

	e2e_require_bpf();
	traced_samples(&s, e2e_format("-n 1 -d 0.5 -g command -p %d", (int)pid));
	group = json_array_get(json_object_get(s.v[0], "tasks"), 0);
	interval = member_real(group, "interval") * 1e9;
	assert_in_range(alive_ns(group), (uint64_t)(0.995 * SLEEPERS * interval),
			(uint64_t)(1.005 * SLEEPERS * interval));
	assert_true((double)member_u64(json_object_get(group, "states"), "timer_ns") >=
		    0.99 * SLEEPERS * interval);
	e2e_run(&r, NULL, "-b --trace -n 1 -d 0.5 -o csv -p %d -F +states,s-run", (int)pid);
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_int_equal(csv.rows, 2);
	assert_string_equal(csv.cell[1][csv_column(&csv, "states")], "tttttttttt");
	assert_true(atof(csv.cell[1][csv_column(&csv, "s-run")]) < 5);
}

/* Starts a child that has, one after the other, children which take a name and then compute. */
static void start_renamed(const char *name)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!pid) {
		if (!fork()) {
			/* A wait under the name that it had, and none under the one that it takes.
			 */
			usleep(1000);
			prctl(PR_SET_NAME, name);
			for (uint64_t until = (uint64_t)clock() + 1500; (uint64_t)clock() < until;)
				;
			_exit(0);
		}
		wait(NULL);
	}
	scratch_child(pid);
}

/* Starts a child on a CPU that answers each byte of one pipe on another. */
static pid_t start_answering(unsigned cpu, int from, int to)
{
	pid_t pid = fork();
	cpu_set_t cpus;
	char byte;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			_exit(1);
		while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
			;
		_exit(1);
	}
	return scratch_child(pid);
}

/*
 * Two threads that wake each other on two idle CPUs wait for each other: the time in which a CPU
 * leaves its sleep is not one of waiting for a CPU, as the kernel has it.
 */
E2E_TEST(test_idle_cpus)
{
	struct samples s;
	int there[2], back[2];
	pid_t pids[2];
	unsigned checked = 0;
	json_t *task;
	size_t i;

	e2e_require_bpf();
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		e2e_skip("one CPU");
	assert_false(pipe(there) || pipe(back));
	pids[0] = start_answering(0, there[0], back[1]);
	pids[1] = start_answering(1, back[0], there[1]);
	assert_int_equal(write(there[1], "x", 1), 1);
	traced_samples(&s, e2e_format("-n 3 -d 1 -p %d,%d", (int)pids[0], (int)pids[1]));
	for (size_t n = 0; n < s.n; n++)
		json_array_foreach(json_object_get(s.v[n], "tasks"), i, task)
		{
			json_t *states = json_object_get(task, "states");
			double interval = member_real(task, "interval") * 1e9;
			double queued = (double)member_u64(states, "cpu_ns") / interval;
			double kernel = (double)member_u64(json_object_get(task, "waited"), "cpu") /
					interval;

			assert_true(queued <= kernel + 0.05 && queued >= kernel - 0.05);
			checked++;
		}
	assert_int_equal(checked, 6);
	for (i = 0; i < 2; i++)
		close(there[i]), close(back[i]);
}

/* Starts a child that computes on the last CPU for ever; first: before all others, for 1.5 s. */
static pid_t start_spinning(bool first)
{
	const struct sched_param high = { .sched_priority = 5 };
	const struct rlimit seconds = { 5, 5 };
	pid_t pid = fork();
	cpu_set_t cpus;

	if (pid)
		return scratch_child(pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
	if (setrlimit(RLIMIT_CPU, &seconds) || sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(1);
	if (first)
		usleep(700000);
	if (first && sched_setscheduler(0, SCHED_FIFO, &high))
		_exit(1);
	for (uint64_t until = (uint64_t)clock() + 1500000; !first || (uint64_t)clock() < until;)
		;
	_exit(0);
}

/* Who gets no CPU for whole intervals waits for one in each of them, by every source. */
E2E_TEST(test_starved)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };

	e2e_require_bpf();
	for (size_t i = 0; i < 3; i++) {
		pid_t pid = start_spinning(false), rival = start_spinning(true);
		unsigned whole = 0;
		double sum = 0;
		struct e2e_result r;
		struct samples s;

		e2e_run(&r, NULL, "-b -n 12 -d 0.2 -o json --source %s -p %d", sources[i],
			(int)pid);
		check_silent_success(&r);
		parse_json(&r, &s);
		for (size_t n = 0; n < s.n; n++) {
			json_t *task = task_must(s.v[n], pid);
			double ns = (double)member_u64(json_object_get(task, "waited"), "cpu");

			sum += ns;
			whole += ns >= 0.18e9;
		}
		/* A twentieth of the time is left to it. */
		if (sum < 0.9e9 || whole < 4)
			fail_msg("%s: %.3f s, %u whole intervals", sources[i], sum / 1e9, whole);
		scratch_kill(pid);
		scratch_kill(rival);
	}
}

/* What ended tasks of one name ran is among their traced states, whenever they took that name. */
E2E_TEST(test_renamed)
{
	const char *name = scratch_ours("crowd-r");
	struct samples s;
	json_t *task;
	unsigned n = 0;
	size_t i;

	e2e_require_bpf();
	start_renamed(name);
	traced_samples(&s, "-n 3 -d 1");
	for (size_t at = 0; at < s.n; at++)
		json_array_foreach(json_object_get(s.v[at], "tasks"), i, task)
		{
			json_t *states = json_object_get(task, "states");
			double run;

			if (strcmp(member_text(task, "comm"), name) != 0 ||
			    json_integer_value(json_object_get(task, "members")) < 8 ||
			    !json_is_object(states))
				continue;
			run = (double)member_u64(task, "run_ns");
			assert_true((double)member_u64(states, "run_ns") >= 0.93 * run);
			n++;
		}
	assert_true(n > 0);
}

#define NAP_MS 50

static void *sleep_once(void *arg)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * 1000000 };

	nanosleep(&nap, NULL);
	return arg;
}

/* Starts a child that has one thread after the other, which sleep and end. */
static pid_t start_nappers(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			if (pthread_create(&thread, NULL, sleep_once, NULL) ||
			    pthread_join(thread, NULL))
				_exit(1);
	}
	scratch_child(pid);
	e2e_sleep(0.2);
	return pid;
}

/* Asserts that a time is so many ns, to within a part of them. */
static void assert_about(uint64_t ns, double expected, double part)
{
	if ((double)ns < (1 - part) * expected || (double)ns > (1 + part) * expected)
		fail_msg("%.3f ms, not %.3f", (double)ns / 1e6, expected / 1e6);
}

/* What threads spent that have ended stays their process's, once, and is in their own rows. */
E2E_TEST(test_ended_threads)
{
	pid_t pid = start_nappers();
	struct samples s;
	unsigned ended = 0;
	json_t *task, *states;
	size_t i;

	e2e_require_bpf();
	traced_samples(&s, e2e_format("-n 4 -d 0.5 -p %d", (int)pid));
	for (size_t n = 0; n < s.n; n++) {
		double interval;

		task = task_must(s.v[n], pid);
		states = json_object_get(task, "states");
		interval = member_real(task, "interval") * 1e9;
		assert_about(member_u64(states, "timer_ns"), interval, 0.1);
		assert_about(alive_ns(task), 2 * interval, 0.05);
	}
	traced_samples(&s, e2e_format("-H -n 2 -d 0.5 -p %d", (int)pid));
	for (size_t n = 0; n < s.n; n++)
		json_array_foreach(json_object_get(s.v[n], "tasks"), i, task)
		{
			/* Of one that was there before only a part is in the interval. */
			if (!json_is_true(json_object_get(task, "exited")) ||
			    !json_is_true(json_object_get(task, "new")))
				continue;
			states = json_object_get(task, "states");
			assert_about(member_u64(states, "timer_ns") /
					     (uint64_t)json_integer_value(
						     json_object_get(task, "members")
							     ? json_object_get(task, "members")
							     : json_integer(1)),
				     NAP_MS * 1e6, 0.2);
			ended++;
		}
	assert_true(ended > 0);
	scratch_kill(pid);
}

/* The sum of a command's sites of that process name and state, in ns. */
static double of_command(json_t *report, const char *comm, const char *wait_state)
{
	json_t *site;
	double ns = 0;
	size_t i;

	json_array_foreach(json_object_get(report, "sites"), i,
			   site) if (!strcmp(text_or_none(site, "comm"), comm) &&
				     !strcmp(member_text(site, "state"), wait_state)) ns +=
		(double)member_u64(site, "ns");
	return ns;
}

/* Without sites how a task spends its time is known all the same; also in a recording. */
E2E_TEST(test_states_alone)
{
	static const char *const columns = "-o csv -F pid,s-run,s-timer,s-io,waker,blkio";
	const char *path = e2e_path("states.db");
	struct e2e_result live, replay;
	struct samples s;
	pid_t pid = start_sleepers();

	e2e_require_bpf();
	traced_samples(&s, e2e_format("--trace-sites 0 -n 2 -d 0.3 -p %d", (int)pid));
	for (size_t i = 0; i < s.n; i++) {
		json_t *trace = json_object_get(s.v[i], "trace");
		json_t *task = json_array_get(json_object_get(s.v[i], "tasks"), 0);
		json_t *states = json_object_get(task, "states");

		assert_int_equal(json_array_size(json_object_get(s.v[i], "sites")), 0);
		assert_true(member_u64(trace, "switches") > 0);
		assert_int_equal(member_u64(trace, "lost"), 0);
		assert_true((double)member_u64(states, "timer_ns") >=
			    0.99 * SLEEPERS * member_real(task, "interval") * 1e9);
	}
	e2e_run(&live, NULL, "-b --trace --trace-sites 0 -n 3 -d 0.3 -w %s %s", path, columns);
	check_silent_success(&live);
	e2e_run(&replay, NULL, "-b -R %s %s", path, columns);
	assert_string_equal(live.out.data, replay.out.data);
}

/* A command's report: states of all descendants, and the sites of processes of one name as one. */
E2E_TEST(test_command)
{
	static const char *const sh[] = { "--trace",
					  "-o",
					  "json",
					  "--",
					  "sh",
					  "-c",
					  "sleep 0.2; sleep 0.2 & sleep 0.1; wait; exit 3",
					  NULL };
	const char *argv[10] = { e2e_stalltop() };
	struct e2e_result r;
	struct e2e_proc p;
	json_t *report;

	e2e_require_bpf();
	for (unsigned i = 0; sh[i]; i++)
		argv[i + 1] = sh[i];
	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 3);
	report = parse_json_line(r.err.data);
	assert_true((double)alive_ns(report) >= 0.89e9);
	assert_true(of_command(report, "sleep", "timer") >= 0.5e9);
	assert_true(of_command(report, "sleep", "timer") <= 0.6e9);
	assert_true(of_command(report, "sh", "child") >= 0.29e9);
	argv[2] = "-o";
	argv[3] = "text";
	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 3);
	assert_non_null(strstr(r.err.data, "\nchild  "));
	assert_non_null(strstr(r.err.data, "\nsites\n"));
	assert_non_null(strstr(r.err.data, " clock_nanosleep "));
	assert_non_null(strstr(r.err.data, " sleep\n"));
}

/* Whoever may not trace is told so once, and has all else. */
E2E_TEST(test_refused)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_result r;
	struct samples s;

	e2e_require();
	e2e_run(&r, &how, "-b -n 2 -d 0.2 --trace -o json -p %d", (int)getpid());
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 2);
	for (size_t n = 0; n < s.n; n++) {
		json_t *task = task_must(s.v[n], getpid());

		assert_non_null(note_of(s.v[n], "trace-cap"));
		assert_true(json_is_null(json_object_get(s.v[n], "trace")));
		assert_true(json_is_null(json_object_get(s.v[n], "sites")));
		assert_true(json_is_null(json_object_get(task, "states")));
		assert_true(json_is_object(json_object_get(task, "waited")));
	}
	e2e_run(&r, &how, "--trace -- true");
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.err.data, "note: waits are not traced: "));
	assert_null(strstr(r.err.data, "\nsites\n"));
	/* A tick without tracing has none of it. */
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -o json -p %d", (int)getpid());
	parse_json(&r, &s);
	assert_true(json_is_null(json_object_get(s.v[0], "trace")));
}
