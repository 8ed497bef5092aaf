// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that come, go and change:
 *   load_churn forks            processes that live for some ms, some with threads
 *   load_churn threads          one process whose threads live for some ms
 *   load_churn setuid MS        a process that becomes nobody after so many ms
 *   load_churn orphan MS        prints a child's pid, leaves it alone after that
 *   load_churn thread-exec MS   a thread that is not the leader runs /bin/sleep
 *   load_churn exec-storm N     N processes, in each of which a thread that is not the leader
 *                               runs the same again, for ever; and a crowd that comes and goes
 *   load_churn leaderless       the leader ends, another thread spins
 *   load_churn stuck            sleeps uninterruptibly
 *   load_churn stuck-thread     a thread that is not the leader does
 *   load_churn work N MS        N children (0: for ever), one by one, that compute for MS ms;
 *                               prints "done" and their CPU time in us
 * Each prints "ready" when it has begun.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IN_FLIGHT 8
#define CROWD 600

/* Sleeps for so many us. */
static void nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* Spins for so many us. */
static void spin(long us)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += us * 1000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* A thread's short life. */
static void *short_thread(void *arg)
{
	(void)arg;
	spin(1000);
	nap(5000);
	return NULL;
}

/* A process's short life; every third has a thread. */
static void short_process(unsigned int n)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (n % 3 == 0 && !pthread_create(&thread, NULL, short_thread, NULL))
		pthread_join(thread, NULL);
	spin(500);
	nap((long)(n % 50) * 1000);
	_exit(0);
}

/* Always so many at a time, each of another age. */
static int churn_forks(void)
{
	unsigned int n = 0, alive = 0;

	for (;; n++) {
		pid_t pid = fork();

		if (pid == 0)
			short_process(n);
		alive += pid > 0;
		while (alive >= IN_FLIGHT && wait(NULL) > 0)
			alive--;
		nap(1000);
	}
	return 0;
}

/* The same of threads. */
static int churn_threads(void)
{
	pthread_t thread[IN_FLIGHT];
	unsigned int n;

	for (n = 0;; n++) {
		if (n >= IN_FLIGHT)
			pthread_join(thread[n % IN_FLIGHT], NULL);
		if (pthread_create(&thread[n % IN_FLIGHT], NULL, short_thread, NULL))
			return 1;
		nap(500);
	}
	return 0;
}

/* Becomes another user in mid-life, having used some time so that it shows. */
static int change_user(long ms)
{
	nap(ms * 1000);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	/* the change of user cleared it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		nap(10000);
	return 0;
}

/* Leaves a child behind. */
static int leave_orphan(long ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* whoever gets it ends it; if nobody does, it ends */
		prctl(PR_SET_PDEATHSIG, 0);
		alarm(60);
		for (;;)
			nap(10000);
	}
	printf("ready %d\n", (int)pid);
	fflush(stdout);
	nap(ms * 1000);
	return 0;
}

/* The thread takes the leader's place, its pid and its start. */
static void *exec_sleep(void *arg)
{
	spin(20000);
	nap(*(long *)arg * 1000);
	execl("/bin/sleep", "sleep", "60", (char *)NULL);
	_exit(1);
	return NULL;
}

/* Runs this program again, as one that goes on so. */
static void *exec_again(void *arg)
{
	execl("/proc/self/exe", "load_churn", "exec-again", (char *)NULL);
	_exit(1);
	return arg;
}

/* Takes the leader's place by a thread, for as long as there is a parent. */
static int go_on_by_thread(void)
{
	pthread_t thread;

	if (getppid() == 1 || pthread_create(&thread, NULL, exec_again, NULL))
		return 1;
	for (;;)
		nap(1000000);
	return 0;
}

/* A crowd comes, and goes again. */
static void churn_crowd(void)
{
	pid_t crowd[CROWD];
	int n = 0;

	while (n < CROWD) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				nap(10000000);
		}
		if (pid < 0)
			break;
		crowd[n++] = pid;
	}
	nap(150000);
	for (int i = 0; i < n; i++)
		kill(crowd[i], SIGKILL);
	for (int i = 0; i < n; i++)
		waitpid(crowd[i], NULL, 0);
	nap(50000);
}

/* So many processes go on by threads, beside the crowd. */
static int storm_execs(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(go_on_by_thread());
		if (pid < 0)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		churn_crowd();
	return 0;
}

/* Spins for ever. */
static void *spin_on(void *arg)
{
	(void)arg;
	for (;;)
		spin(100000);
	return NULL;
}

/* Starts a thread and says that it is there. */
static int with_thread(void *(*start)(void *), long ms, int leave)
{
	static long arg;
	pthread_t thread;

	arg = ms;
	if (pthread_create(&thread, NULL, start, &arg))
		return 1;
	puts("ready");
	fflush(stdout);
	if (leave)
		pthread_exit(NULL);
	for (;;)
		nap(1000000);
	return 0;
}

/* Computes; to look at a clock would have the kernel bring its own books up to date. */
static void compute(long rounds)
{
	volatile long x = 0;
	long i;

	for (i = 0; i < rounds; i++)
		x += i;
}

/* CPU time in ns. */
static long long cpu_time(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* How many rounds a child computes in a ms. */
static long rounds_a_ms(void)
{
	long long begin = cpu_time(CLOCK_PROCESS_CPUTIME_ID), took;

	compute(20000000);
	took = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - begin;
	return (long)(20000000LL * 1000000 / (took > 0 ? took : 1));
}

/* One child after the other, each of so many ms; 0 of them: for ever. Says what they took. */
static int work_off(long n, long ms)
{
	long rounds = rounds_a_ms() * ms, i;
	struct rusage usage;

	puts("ready");
	fflush(stdout);
	for (i = 0; !n || i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			compute(rounds);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0)
			;
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("done %lld\n", 1000000LL * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	fflush(stdout);
	for (;;)
		pause();
	return 0;
}

/* Uninterruptible: a parent waits so for the child that borrows its memory. */
static int stay_stuck(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 1;
}

/* The same for a thread. */
static void *thread_stuck(void *arg)
{
	stay_stuck();
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long ms = argc > 2 ? atol(argv[2]) : 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* longer than the longest soak */
	alarm(4000);
	if (!strcmp(what, "orphan"))
		return leave_orphan(ms);
	if (!strcmp(what, "thread-exec"))
		return with_thread(exec_sleep, ms, 0);
	if (!strcmp(what, "exec-storm"))
		return storm_execs(ms);
	if (!strcmp(what, "exec-again"))
		return go_on_by_thread();
	if (!strcmp(what, "leaderless"))
		return with_thread(spin_on, 0, 1);
	if (!strcmp(what, "work"))
		return work_off(ms, argc > 3 ? atol(argv[3]) : 5);
	if (!strcmp(what, "stuck-thread"))
		return with_thread(thread_stuck, 0, 0);
	puts("ready");
	fflush(stdout);
	if (!strcmp(what, "stuck"))
		return stay_stuck();
	if (!strcmp(what, "forks"))
		return churn_forks();
	if (!strcmp(what, "threads"))
		return churn_threads();
	if (!strcmp(what, "setuid"))
		return change_user(ms);
	fputs("usage: load_churn forks|threads|setuid|orphan|thread-exec|exec-storm|leaderless|"
	      "stuck|stuck-thread|work [MS]\n",
	      stderr);
	return 2;
}
