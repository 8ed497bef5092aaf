// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"

#include "tests/lib/test.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096U
#define COPIES (4U * 1024 * 1024)

/* A child that dies with its parent, under a name; 0 in the child. */
static pid_t fork_named(const char *name)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, scratch_ours(name));
	return 0;
}

/* Never comes back. */
static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* Waits until the child is what it is to be. */
static void await_name(pid_t pid, const char *name)
{
	char path[64], text[64];
	struct timespec ts = { 0, 1000000 };

	name = scratch_ours(name);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	for (int i = 0; pid && i < 2000; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		if (n > 1 && !strncmp(text, name, strnlen(name, 15)))
			return;
		nanosleep(&ts, NULL);
	}
}

pid_t crowd_sleeper(const char *name)
{
	pid_t pid = fork_named(name);

	if (!pid)
		sleep_for_ever();
	await_name(scratch_child(pid), name);
	return pid;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
pid_t crowd_hung(const char *name)
{
	pid_t pid = fork_named(name);

	if (!pid) {
		if (!vfork()) {
			/* Not to be taken for the one that hangs. */
			prctl(PR_SET_NAME, "hung-for");
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sleep_for_ever();
		}
		_exit(1);
	}
	await_name(scratch_child(pid), name);
	return pid;
}
#pragma GCC diagnostic pop

/* A thread that does nothing under its name. */
static void *idle_thread(void *name)
{
	prctl(PR_SET_NAME, scratch_ours(name));
	sleep_for_ever();
	return NULL;
}

pid_t crowd_threads(const char *name, const char *thread)
{
	pid_t pid = fork_named(name);
	pthread_t id;

	if (!pid) {
		if (pthread_create(&id, NULL, idle_thread, (void *)thread))
			_exit(1);
		sleep_for_ever();
	}
	await_name(scratch_child(pid), name);
	return pid;
}

pid_t crowd_command(const char *const argv[])
{
	pid_t pid = fork_named("starting");

	if (!pid) {
		const char *ours[8] = { NULL };

		for (size_t i = 0; argv[i] && i < 7; i++)
			ours[i] = scratch_ours(argv[i]);
		execv("/bin/sleep", (char *const *)ours);
		_exit(1);
	}
	await_name(scratch_child(pid), "sleep");
	return pid;
}

/* To a CPU. Tests that run side by side begin at different ones, as far as there are. */
static void pin(int cpu, pid_t test)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)((cpu + test) % (cpus > 0 ? cpus : 1)), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Never comes back, and wants a CPU all the time. */
static void spin(void)
{
	volatile unsigned int n = 0;

	for (;;)
		n++;
}

pid_t crowd_spinner(const char *name, int cpu)
{
	pid_t test = getpid(), pid = fork_named(name);

	if (!pid) {
		pin(cpu, test);
		spin();
	}
	await_name(scratch_child(pid), name);
	return pid;
}

pid_t crowd_family(const char *name, const char *child, bool spins)
{
	pid_t pid = fork_named(name);

	if (!pid) {
		if (!fork_named(child) && spins)
			spin();
		sleep_for_ever();
	}
	await_name(scratch_child(pid), name);
	return pid;
}

void crowd_await_run(pid_t pid, double seconds)
{
	struct timespec ran = { 0 }, nap = { 0, 10000000 };
	clockid_t clock;

	for (int i = 0; i < 3000 && !clock_getcpuclockid(pid, &clock); i++) {
		if (!clock_gettime(clock, &ran) &&
		    (double)ran.tv_sec + (double)ran.tv_nsec / 1e9 >= seconds)
			return;
		nanosleep(&nap, NULL);
	}
	fail_msg("%d does not run", (int)pid);
}

void crowd_stop(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
}

/* Copies pages and sleeps in turn. */
static void copy_pages(void)
{
	int fd = memfd_create("copies", MFD_CLOEXEC);
	volatile unsigned char *mem;

	if (fd < 0 || ftruncate(fd, COPIES))
		_exit(1);
	mem = mmap(NULL, COPIES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (mem == MAP_FAILED)
		_exit(1);
	for (;;) {
		/* read first, so that the file's pages stand there and are copied */
		for (unsigned int i = 0; i < COPIES; i += PAGE)
			(void)mem[i];
		for (unsigned int i = 0; i < COPIES; i += PAGE)
			mem[i] = 1;
		madvise((void *)mem, COPIES, MADV_DONTNEED);
		poll(NULL, 0, 10);
	}
}

void crowd_waiters(void)
{
	pid_t nicer, copies = fork_named("crowd-copies");

	if (!copies)
		copy_pages();
	scratch_child(copies);
	crowd_spinner("crowd-spins", 0);
	nicer = crowd_spinner("crowd-nicer", 0);
	setpriority(PRIO_PROCESS, (id_t)nicer, 5);
}

/* Set when the sleepers are to end. */
static volatile sig_atomic_t told_to_end;

/* Remembers the signal. */
static void note_end(int number)
{
	told_to_end = number;
}

/* Ends the sleepers, so that none is left to whoever inherits them. */
static void end_sleepers(const pid_t *pids, int n)
{
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
	_exit(0);
}

/* The process that has the sleepers; tells when all are there. */
static void keep_sleepers(const char *name, int n, int told)
{
	struct sigaction action = { .sa_handler = note_end };
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	sigset_t term, before;
	char ok = 1;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	sigaction(SIGTERM, &action, NULL);
	for (int i = 0; i < n; i++) {
		pids[i] = fork_named(name);
		if (!pids[i]) {
			close(told);
			sigprocmask(SIG_SETMASK, &before, NULL);
			sleep_for_ever();
		}
		if (pids[i] < 0)
			end_sleepers(pids, i);
	}
	if (write(told, &ok, 1) != 1)
		end_sleepers(pids, n);
	while (!told_to_end)
		sigsuspend(&before);
	end_sleepers(pids, n);
}

pid_t crowd_sleepers(const char *name, int n)
{
	struct pollfd pfd = { .events = POLLIN };
	bool all = false;
	int told[2];
	pid_t pid;
	char ok;

#ifdef __SANITIZE_ADDRESS__
	if (n >= 10000)
		return 0;
#endif
	if (pipe2(told, O_CLOEXEC))
		return 0;
	pid = fork_named("crowd-keeper");
	if (!pid)
		keep_sleepers(name, n, told[1]);
	scratch_child(pid);
	close(told[1]);
	pfd.fd = told[0];
	if (poll(&pfd, 1, 120000) == 1)
		all = read(told[0], &ok, 1) == 1;
	close(told[0]);
	if (all)
		return pid;
	scratch_kill(pid);
	return 0;
}
