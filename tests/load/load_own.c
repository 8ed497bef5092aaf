// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_own [-n COUNT] [-l LOG] [-c US] [-r MS] [-g PROCS] MODE [ARGUMENT]: waits that it measures
 * itself, by clocks of its own, until it is killed or has waited COUNT times: spin computes all the
 * time, and waits while others have its CPU read PATH       reads blocks of a disk or file past the
 * page cache, one after the other hang MS         sleeps uninterruptibly without I/O for so long,
 * as a parent in vfork() does, and as long in the usual way in between It prints "ready" before,
 * and "done", the number of waits and how long it has waited in all, in us, at its end. A wait for
 * a CPU within one for a disk does not count as one for the disk. With -c, read computes for so
 * long before each; with -r it first sleeps for so long. With -g it joins a cgroup once it has all
 * that it needs, so that nothing but what it measures is slowed down there. LOG gets lines "TIME
 * WAITED", the real time and what it has waited so far, both in us: one when a wait begins and one
 * when it ends (spin: one in 20 ms), so that what it waited between any two times can be told.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096U
#define STEP_US 20000U /* of spin: how often it looks */

static int log_fd = -1, delay_fd = -1;
static uint64_t waited_us, compute_us;
static struct timespec rest; /* of read: before each */

/* Ends it with a word where something that must work does not. */
_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t clock_us(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		give_up("clock");
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* How long it has waited for a CPU since its start: what is no wait of another kind. */
static uint64_t cpu_delay_us(void)
{
	unsigned long long run, delay;
	char text[96];
	ssize_t n = pread(delay_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		give_up("schedstat");
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &run, &delay) != 2)
		give_up("schedstat");
	return delay / 1000;
}

/* Notes down what was waited up to now. */
static void note_down(void)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n", clock_us(CLOCK_REALTIME),
			 waited_us);

	if (log_fd >= 0 && write(log_fd, line, (size_t)n) != n)
		give_up("log");
}

/* All that passes and is no running is waiting for its CPU. */
static void spin(const char *unused)
{
	static uint64_t began, ran;
	uint64_t now = clock_us(CLOCK_MONOTONIC), end = now + STEP_US, used;

	(void)unused;
	if (!began) {
		began = now;
		ran = clock_us(CLOCK_THREAD_CPUTIME_ID);
	}
	while (now < end)
		now = clock_us(CLOCK_MONOTONIC);
	used = clock_us(CLOCK_THREAD_CPUTIME_ID) - ran;
	if (now - began > used + waited_us)
		waited_us = now - began - used;
	note_down();
}

/* Computes for as much CPU time as is asked for. */
static void compute(void)
{
	uint64_t until = compute_us ? clock_us(CLOCK_THREAD_CPUTIME_ID) + compute_us : 0;

	while (until && clock_us(CLOCK_THREAD_CPUTIME_ID) < until)
		continue;
}

/* Reads one block anywhere in the first 16 MiB. */
static void read_block(const char *path)
{
	static uint64_t at = 88172645463325252U;
	static void *block;
	static int fd = -1;
	uint64_t began, ran, delayed, passed;

	if (fd < 0)
		fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || (!block && posix_memalign(&block, BLOCK, BLOCK)))
		give_up(path);
	at ^= at << 13;
	at ^= at >> 7;
	at ^= at << 17;
	if (rest.tv_sec || rest.tv_nsec)
		nanosleep(&rest, NULL);
	compute();
	note_down();
	delayed = cpu_delay_us();
	ran = clock_us(CLOCK_THREAD_CPUTIME_ID);
	began = clock_us(CLOCK_MONOTONIC);
	if (pread(fd, block, BLOCK, (off_t)(at % 4096 * BLOCK)) != BLOCK)
		give_up(path);
	passed = clock_us(CLOCK_MONOTONIC) - began;
	ran = clock_us(CLOCK_THREAD_CPUTIME_ID) - ran;
	delayed = cpu_delay_us() - delayed;
	waited_us += passed > ran + delayed ? passed - ran - delayed : 0;
	note_down();
}

static struct timespec span_of_ms(long ms)
{
	return (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
}

/* Sleeps as the child of vfork(), which must end with its parent, and ends. */
_Noreturn static void child_sleeps(const struct timespec *span)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nanosleep(span, NULL);
	_exit(0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void hang(const char *ms)
{
	struct timespec half = span_of_ms(strtol(ms, NULL, 10));
	uint64_t began;
	pid_t pid;

	note_down();
	began = clock_us(CLOCK_MONOTONIC);
	pid = vfork();
	if (!pid)
		child_sleeps(&half);
	if (pid < 0)
		give_up("vfork");
	waited_us += clock_us(CLOCK_MONOTONIC) - began;
	note_down();
	waitpid(pid, NULL, 0);
	nanosleep(&half, NULL);
}
#pragma GCC diagnostic pop

/* Joins a cgroup, after its own pages and its log have been read and made. */
static void join(const char *procs)
{
	int fd = open(procs, O_WRONLY | O_CLOEXEC);

	note_down();
	if (mlockall(MCL_CURRENT))
		give_up("mlockall");
	if (fd < 0 || write(fd, "0", 1) != 1)
		give_up(procs);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(const char *argument);
		int arguments;
	} modes[] = { { "spin", spin, 0 }, { "read", read_block, 1 }, { "hang", hang, 1 } };
	unsigned long count = 0, n = 0;
	const char *path = NULL, *procs = NULL;
	int c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((c = getopt(argc, argv, "n:l:c:r:g:")) != -1) {
		if (c == 'n')
			count = strtoul(optarg, NULL, 10);
		else if (c == 'l')
			path = optarg;
		else if (c == 'c')
			compute_us = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			rest = span_of_ms(strtol(optarg, NULL, 10));
		else if (c == 'g')
			procs = optarg;
		else
			return 2;
	}
	delay_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	if (delay_fd < 0)
		give_up("/proc/self/schedstat");
	if (path)
		log_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (path && log_fd < 0)
		give_up(path);
	if (procs)
		join(procs);
	for (size_t i = 0; optind < argc && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[optind], modes[i].name) || argc - optind != 1 + modes[i].arguments)
			continue;
		puts("ready");
		fflush(stdout);
		do
			modes[i].wait(argv[optind + 1]);
		while (++n != count);
		printf("done %lu %" PRIu64 "\n", n, waited_us);
		return 0;
	}
	return 2;
}
