// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that end, as fast as they can be made, when SIGUSR1 comes:
 *   load_storm fork N           N processes that do nothing
 *   load_storm vfork N          the same, each before its parent goes on
 *   load_storm threads N        N threads of this process
 *   load_storm exec N           N processes, in each of which a thread that is not the leader
 *                               runs /bin/true: two ends each, the leader's and the other's
 *   load_storm busy N MS        N processes one after the other, each computes for about MS ms
 *   load_storm reuse MS1 MS2    a child that computes for MS1 ms and ends; then another with
 *                               its pid, that computes for MS2 ms and stays
 * Each prints "ready" (reuse: and the pid), and after the storm "done", the number of ends and
 * the CPU time of the children that were waited for in us. It stays until it is killed.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IN_FLIGHT 64
#define UNSUPPORTED 77

static sigset_t go;

/* Says that all is there, and waits until it is told to begin. */
static void await_go(pid_t pid)
{
	int sig;

	if (pid)
		printf("ready %d\n", (int)pid);
	else
		puts("ready");
	fflush(stdout);
	sigwait(&go, &sig);
}

/* A clock in ns. */
static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Computes for so many ms of CPU time. */
static void compute(unsigned long ms)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* Computes without any look at a clock: that would have the kernel book the time. */
static void compute_rounds(uint64_t rounds)
{
	volatile uint64_t x = 0;

	while (rounds--)
		x += rounds;
}

/* How many rounds take a ms. */
static uint64_t rounds_per_ms(void)
{
	const uint64_t rounds = 5000000;
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);

	compute_rounds(rounds);
	return rounds * 1000000 / (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin + 1);
}

/* Starts so many children, at most so many at a time. How many there were. */
static unsigned long make_children(unsigned long n, unsigned int in_flight, uint64_t arg,
				   void (*life)(uint64_t arg))
{
	unsigned long made = 0, alive = 0;

	while (made < n) {
		pid_t pid = fork();

		if (pid == 0)
			life(arg);
		if (pid < 0 && !alive)
			break;
		made += pid > 0;
		alive += pid > 0;
		/* where there is no room for more now, the end of one makes some */
		while (alive && (pid < 0 || alive >= in_flight)) {
			alive -= wait(NULL) > 0;
			pid = 0;
		}
	}
	while (alive && wait(NULL) > 0)
		alive--;
	return made;
}

/* Ends at once. */
static void end_life(uint64_t arg)
{
	(void)arg;
	_exit(0);
}

/* Computes and ends. */
static void busy_life(uint64_t rounds)
{
	compute_rounds(rounds);
	_exit(0);
}

/* Takes the leader's place. */
static void *exec_true(void *arg)
{
	execl("/bin/true", "true", (char *)NULL);
	_exit(127);
	return arg;
}

/* A leader that waits for its end. */
static void exec_life(uint64_t arg)
{
	pthread_t thread;

	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, exec_true, NULL))
		_exit(127);
	for (;;)
		pause();
}

/* A child that shares our memory until it ends. */
static __attribute__((noinline)) pid_t start_sharing(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

/* Such children, one after the other. */
static unsigned long storm_vfork(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		pid_t pid = start_sharing();

		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			break;
	}
	return i;
}

/* Has a name that its record is known by. */
static void *thread_life(void *arg)
{
	prctl(PR_SET_NAME, "storm-thread");
	return arg;
}

/* Threads, some at a time. */
static unsigned long storm_threads(unsigned long n)
{
	pthread_t thread[IN_FLIGHT];
	unsigned long i, joined = 0;

	for (i = 0; i < n; i++) {
		if (i - joined == IN_FLIGHT)
			pthread_join(thread[joined++ % IN_FLIGHT], NULL);
		if (pthread_create(&thread[i % IN_FLIGHT], NULL, thread_life, NULL))
			break;
	}
	while (joined < i)
		pthread_join(thread[joined++ % IN_FLIGHT], NULL);
	return i;
}

/* A child with a pid of our choice; 0 lets the kernel choose. */
static pid_t clone_with_pid(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	args.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0;
	args.set_tid_size = pid != 0;
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* The first one: waits, computes, ends. */
static void first_life(unsigned long ms)
{
	int sig;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "storm-first");
	sigwait(&go, &sig);
	compute(ms);
	_exit(3);
}

/* The second one: computes, says so, stays. */
static void second_life(unsigned long ms)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "storm-second");
	compute(ms);
	kill(getppid(), SIGUSR1);
	for (;;)
		pause();
}

/* One pid, two processes. */
static unsigned long storm_reuse(unsigned long first_ms, unsigned long second_ms)
{
	pid_t pid = clone_with_pid(0), second;
	int sig;

	if (pid < 0)
		exit(UNSUPPORTED);
	if (pid == 0)
		first_life(first_ms);
	await_go(pid);
	kill(pid, SIGUSR1);
	if (waitpid(pid, NULL, 0) != pid)
		return 0;
	second = clone_with_pid(pid);
	if (second == 0)
		second_life(second_ms);
	if (second != pid)
		return 0;
	sigwait(&go, &sig);
	return 1;
}

/* Makes the ends when told so. How many there were. */
static unsigned long make_storm(const char *kind, unsigned long n, unsigned long ms)
{
	uint64_t rounds = ms ? ms * rounds_per_ms() : 0;

	if (!strcmp(kind, "reuse"))
		return storm_reuse(n, ms);
	await_go(0);
	if (!strcmp(kind, "fork"))
		return make_children(n, IN_FLIGHT, 0, end_life);
	if (!strcmp(kind, "vfork"))
		return storm_vfork(n);
	if (!strcmp(kind, "threads"))
		return storm_threads(n);
	if (!strcmp(kind, "exec"))
		return 2 * make_children(n, 8, 0, exec_life);
	return make_children(n, 1, rounds, busy_life);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "fork", "vfork", "threads", "exec", "busy", "reuse" };
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long ms = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	struct rusage usage;
	size_t kind = 0;

	while (argc > 2 && kind < 6 && strcmp(argv[1], kinds[kind]) != 0)
		kind++;
	if (argc < 3 || kind == 6) {
		fputs("usage: load_storm fork|vfork|threads|exec|busy|reuse N [MS]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(600);
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	n = make_storm(kinds[kind], n, ms);
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("done %lu %ju\n", n,
	       (uintmax_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		       (uintmax_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
	fflush(stdout);
	for (;;)
		pause();
}
