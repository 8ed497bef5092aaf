// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * meter [-ta] [-k KEYS] [-q N] [-l SECONDS] COMMAND [ARGUMENT...]: runs a command and prints one
 * line, with tabs between: CPU time (user and system, its reaped children's too) in us, the largest
 * resident set of any of them in kB, wall time in ms, refreshes of the screen; then of its samples:
 * CPU time in us and wall time in ms of one, and how many they were, or "-".
 *
 * A monitor works and rests in turn. The samples are what lies between its second rest and
 * its last: neither start-up nor end are in it, however much they take, and so neither is
 * their spread, which among many tasks is larger than a sample. There is no figure of what
 * never rests, or not in time.
 *
 * The command's output goes to /dev/null: formatting and writing it are in the figure, what
 * a reader does to the writer (full pipes, wake-ups) is not the command's. With -t it runs
 * on a terminal of 120x40, which the meter reads; what it reads is at once forgotten, and
 * its own time is not in the figure. -k types keys after the first refresh. -q presses q after
 * the Nth, for programs that have no count of them. -l ends what takes longer than that. -a has
 * no figure of samples: they are the command's own, and its children may work for it.
 *
 * Exit status: 0; 1 when the command failed, with what it had to say on standard error;
 * 3 when it took too long; 2 for wrong usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#define ROWS 40
#define COLUMNS 120
/* Output after so long a silence is another refresh; a slow one may pause for less. */
#define SILENCE_MS 300
#define SAID_MAX 400
/* Between asking to end and ending. */
#define PATIENCE_S 2
/* A rest: so many looks in a row that found less than that used since the one before. */
#define LOOK_MS 50
#define QUIET_US 100
#define QUIET_LOOKS 4
#define MAX_RESTS 64
/* The part by which no span from rest to rest differs from their mean. */
#define UNEVEN 0.3

/* The beginning of a rest. */
struct rest {
	double at_ms, cpu_us;
};

struct run {
	bool on_terminal, with_children;
	const char *keys; /* NULL: none, or they have been typed */
	unsigned long quit_after, limit_s;
	char **command;
	pid_t pid;
	int master; /* of the terminal, -1: none (any more) */
	unsigned long refreshes;
	double started, last_output;
	clockid_t clock; /* CPU time of the command, but not its children's */
	double next_look, cpu_us;
	int quiet; /* looks */
	struct rest rests[MAX_RESTS];
	int n_rests;
	char said[SAID_MAX]; /* the last output on the terminal, for errors */
	size_t n_said;
	struct rusage usage;
	int status;
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void fail(const char *what)
{
	fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * In the child: nothing on standard input, no output, and no life without the meter. (What
 * changes the machine, as atop does, puts it back on SIGTERM.)
 */
static void become(const struct run *run, int slave)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (run->on_terminal) {
		if (login_tty(slave) < 0)
			_exit(127);
		setenv("TERM", "xterm-256color", 1);
	} else {
		int null = open("/dev/null", O_RDWR);

		setsid();
		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
			_exit(127);
	}
	execvp(run->command[0], run->command);
	fprintf(stderr, "%s: %s\n", run->command[0], strerror(errno));
	_exit(127);
}

static void start(struct run *run)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	int slave = -1;

	run->master = -1;
	if (run->on_terminal && openpty(&run->master, &slave, NULL, NULL, &size) < 0)
		fail("openpty");
	if (run->on_terminal)
		fcntl(run->master, F_SETFD, FD_CLOEXEC);
	run->started = now_ms();
	run->last_output = -SILENCE_MS;
	run->pid = fork();
	if (run->pid < 0)
		fail("fork");
	if (run->pid == 0)
		become(run, slave);
	if (slave >= 0)
		close(slave);
	if (clock_getcpuclockid(run->pid, &run->clock))
		fail("clock_getcpuclockid");
}

/* Keeps the end of what was said. */
static void keep(struct run *run, const char *text, size_t n)
{
	if (n > SAID_MAX) {
		text += n - SAID_MAX;
		n = SAID_MAX;
	}
	if (run->n_said + n > SAID_MAX) {
		size_t drop = run->n_said + n - SAID_MAX;

		memmove(run->said, run->said + drop, run->n_said - drop);
		run->n_said -= drop;
	}
	memcpy(run->said + run->n_said, text, n);
	run->n_said += n;
}

/* Takes what is on the terminal. */
static void take_output(struct run *run)
{
	char buffer[1 << 16];
	ssize_t got = read(run->master, buffer, sizeof(buffer));
	double now = now_ms();

	if (got <= 0) {
		if (got < 0 && errno == EINTR)
			return;
		close(run->master); /* EIO: the command has closed it */
		run->master = -1;
		return;
	}
	if (now - run->last_output >= SILENCE_MS)
		run->refreshes++;
	run->last_output = now;
	keep(run, buffer, (size_t)got);
}

/* Does the command rest? */
static void look(struct run *run, double now)
{
	struct timespec ts;
	double cpu;

	if (clock_gettime(run->clock, &ts))
		return; /* it has ended */
	cpu = (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
	run->quiet = cpu - run->cpu_us < QUIET_US ? run->quiet + 1 : 0;
	run->cpu_us = cpu;
	if (run->quiet == QUIET_LOOKS && run->n_rests < MAX_RESTS)
		run->rests[run->n_rests++] = (struct rest){ now, cpu };
}

/* What a person does. */
static void type(const struct run *run, const char *keys)
{
	if (write(run->master, keys, strlen(keys)) < 0)
		fail("write");
}

/* Waits for output, the command's end or the time to look again. */
static void wait_a_while(struct run *run)
{
	struct pollfd fd = { .fd = run->master, .events = POLLIN };
	struct timespec time = { 0 };
	double now = now_ms();
	sigset_t none;

	if (now >= run->next_look) {
		if (!run->with_children)
			look(run, now);
		run->next_look = now + LOOK_MS;
	}
	time.tv_nsec = (long)((run->next_look - now) * 1e6);
	sigemptyset(&none);
	if (ppoll(&fd, 1, &time, &none) > 0)
		take_output(run);
	if (run->master < 0 || now_ms() - run->last_output < SILENCE_MS)
		return;
	if (run->keys && run->refreshes) {
		type(run, run->keys);
		run->keys = NULL;
		/* What they begin, as a load of programs, is start-up. */
		run->n_rests = run->quiet = 0;
	}
	if (run->quit_after && run->refreshes >= run->quit_after) {
		type(run, "q");
		run->quit_after = 0;
	}
}

/* Until the command has ended; false when it took too long and was ended. */
static bool watch(struct run *run)
{
	bool in_time = true;
	pid_t got;

	while (!(got = wait4(run->pid, &run->status, WNOHANG, &run->usage))) {
		wait_a_while(run);
		if (run->limit_s && now_ms() - run->started > (double)run->limit_s * 1e3) {
			kill(-run->pid, in_time ? SIGTERM : SIGKILL);
			in_time = false;
			run->limit_s += PATIENCE_S;
		}
	}
	if (got < 0)
		fail("wait4");
	return in_time;
}

static double ms_of(struct timeval tv)
{
	return (double)tv.tv_sec * 1e3 + (double)tv.tv_usec / 1e3;
}

/* Is it one sample from each rest to the next? */
static bool even(const struct rest *rests, int n, double mean_ms)
{
	int i;

	for (i = 1; i < n; i++) {
		double span = rests[i].at_ms - rests[i - 1].at_ms;

		if (span < mean_ms * (1 - UNEVEN) || span > mean_ms * (1 + UNEVEN))
			return false;
	}
	return true;
}

static void report_samples(const struct run *run)
{
	const struct rest *first = run->rests + 1, *last = run->rests + run->n_rests - 1;
	double n = run->n_rests - 2, mean_ms;

	if (n >= 1) {
		mean_ms = (last->at_ms - first->at_ms) / n;
		if (even(first, run->n_rests - 1, mean_ms)) {
			printf("%.0f\t%.0f\t%.0f\n", (last->cpu_us - first->cpu_us) / n, mean_ms,
			       n);
			return;
		}
	}
	puts("-\t-\t-");
}

static void report(const struct run *run, double wall)
{
	double cpu = ms_of(run->usage.ru_utime) + ms_of(run->usage.ru_stime);

	/* The resident set before exec() was the meter's own: next to nothing. */
	printf("%.0f\t%ld\t%.0f\t%lu\t", cpu * 1e3, run->usage.ru_maxrss, wall, run->refreshes);
	report_samples(run);
}

/* As it was said, but for what a terminal would act on. */
static void report_failure(const struct run *run)
{
	size_t i;

	for (i = 0; i < run->n_said; i++)
		if (run->said[i] == '\n' || (unsigned char)run->said[i] >= ' ')
			fputc(run->said[i], stderr);
	if (WIFSIGNALED(run->status))
		fprintf(stderr, "meter: %s: ended by signal %d\n", run->command[0],
			WTERMSIG(run->status));
	else
		fprintf(stderr, "meter: %s: exit status %d\n", run->command[0],
			WEXITSTATUS(run->status));
}

static void on_child(int sig)
{
	(void)sig;
}

/* The end of the command wakes up ppoll(), and comes at no other time. */
static void block_child(void)
{
	struct sigaction child = { .sa_handler = on_child };
	sigset_t set;

	sigaction(SIGCHLD, &child, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool parse(struct run *run, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+tak:q:l:")) != -1) {
		switch (option) {
		case 't':
			run->on_terminal = true;
			break;
		case 'a':
			run->with_children = true;
			break;
		case 'k':
			run->keys = optarg;
			break;
		case 'q':
			run->quit_after = strtoul(optarg, NULL, 10);
			break;
		case 'l':
			run->limit_s = strtoul(optarg, NULL, 10);
			break;
		default:
			return false;
		}
	}
	run->command = argv + optind;
	return *run->command && (run->on_terminal || (!run->quit_after && !run->keys));
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	bool in_time;
	double wall;

	if (!parse(&run, argc, argv)) {
		fputs("usage: meter [-ta] [-k KEYS] [-q N] [-l SECONDS] COMMAND [ARGUMENT...]\n",
		      stderr);
		return 2;
	}
	block_child();
	start(&run);
	in_time = watch(&run);
	wall = now_ms() - run.started;
	if (!in_time)
		return 3;
	if (!WIFEXITED(run.status) || WEXITSTATUS(run.status)) {
		report_failure(&run);
		return 1;
	}
	report(&run, wall);
	return 0;
}
