// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/job.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORDER_FOREGROUND 'f'
#define ORDER_END 'e'

/* What the shell tells. */
struct event {
	pid_t pid;
	int status; /* as of waitpid(); -1: it was started */
};

/* Signals as a program expects to find them. */
static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	/* a limit on files is to be an error, not an end */
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Environment as ordered. */
static void set_environment(const char *const *env)
{
	for (; env && *env; env++) {
		if (strchr(*env, '='))
			putenv((char *)*env);
		else
			unsetenv(*env);
	}
}

/* The child's side: becomes the program. */
static void run_program(const struct job_how *how, int program)
{
	struct rlimit limit = { how->file_limit, how->file_limit };

	signal(SIGTTOU, SIG_IGN);
	setpgid(0, 0);
	tcsetpgrp(how->terminal, getpid());
	reset_signals();
	set_environment(how->env);
	if (dup2(how->in ? how->in : how->terminal, 0) < 0 || dup2(how->terminal, 1) < 0 ||
	    dup2(how->terminal, 2) < 0)
		_exit(126);
	if (how->file_limit && setrlimit(RLIMIT_FSIZE, &limit))
		_exit(126);
	if (how->uid && (setgroups(0, NULL) || setresgid(how->uid, how->uid, how->uid) ||
			 setresuid(how->uid, how->uid, how->uid)))
		_exit(126);
	/* after the change of user, which would clear it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* by descriptor: the way to it may be closed to the other user */
	fexecve(program, (char *const *)how->argv, environ);
	_exit(127);
}

/* Tells the test; its end is seen at the orders. */
static void tell(int events, pid_t pid, int status)
{
	struct event event = { pid, status };

	if (write(events, &event, sizeof(event)) != (ssize_t)sizeof(event))
		_exit(1);
}

/* Takes the terminal from a stopped or ended program, as a shell does. */
static void look_at_program(const struct job_how *how, pid_t pid, int events)
{
	int status;

	while (waitpid(pid, &status, WNOHANG | WUNTRACED) == pid) {
		tcsetpgrp(how->terminal, getpgrp());
		tell(events, pid, status);
	}
}

/* The shell's life. */
static void run_shell(const struct job_how *how, int program, int events, int orders)
{
	struct pollfd pfd[2] = { { .fd = orders, .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	sigset_t mask;
	char order;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	ioctl(how->terminal, TIOCSCTTY, 0);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* Keys may send these while the program is stopped. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	pfd[1].fd = signalfd(-1, &mask, SFD_CLOEXEC);
	pid = fork();
	if (pid == 0)
		run_program(how, program);
	setpgid(pid, pid);
	tell(events, pid, -1);
	for (;;) {
		poll(pfd, 2, -1);
		if (pfd[1].revents & POLLIN && read(pfd[1].fd, &info, sizeof(info)) > 0)
			look_at_program(how, pid, events);
		if (pfd[0].revents && (read(orders, &order, 1) <= 0 || order == ORDER_END))
			break;
		if (pfd[0].revents && order == ORDER_FOREGROUND) {
			tcsetpgrp(how->terminal, pid);
			kill(-pid, SIGCONT);
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	_exit(0);
}

/* The shell holds nothing else open: a terminal is gone when the test has closed it. */
static void close_others(const struct job_how *how, int program, int events, int orders)
{
	for (int fd = 3; fd < 1024; fd++)
		if (fd != how->terminal && fd != how->in && fd != program && fd != events &&
		    fd != orders)
			close(fd);
}

/* Waits for the first word of the shell: the program's pid. */
static int await_start(struct job *job)
{
	struct pollfd pfd = { .fd = job->events, .events = POLLIN };

	for (int i = 0; i < 100 && !job->pid; i++) {
		poll(&pfd, 1, 100);
		job_look(job);
	}
	return job->pid > 0 ? 0 : -ETIMEDOUT;
}

int job_start(struct job *job, const struct job_how *how)
{
	int program = open(how->program, O_RDONLY | O_CLOEXEC);
	int events[2], orders[2];

	memset(job, 0, sizeof(*job));
	if (program < 0 || pipe2(events, O_CLOEXEC) || pipe2(orders, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	job->shell = fork();
	if (job->shell == 0) {
		close_others(how, program, events[1], orders[0]);
		run_shell(how, program, events[1], orders[0]);
	}
	close(program);
	close(events[1]);
	close(orders[0]);
	job->events = events[0];
	job->orders = orders[1];
	fcntl(job->events, F_SETFL, O_NONBLOCK);
	return job->shell < 0 ? -EAGAIN : await_start(job);
}

void job_look(struct job *job)
{
	struct event event;

	while (read(job->events, &event, sizeof(event)) == (ssize_t)sizeof(event)) {
		job->pid = event.pid;
		if (event.status == -1)
			continue;
		job->stopped = WIFSTOPPED(event.status);
		job->ended = !job->stopped;
		if (job->ended)
			job->status = WIFEXITED(event.status) ? WEXITSTATUS(event.status)
							      : 128 + WTERMSIG(event.status);
	}
}

char job_state(const struct job *job)
{
	char text[512] = "", path[64], *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)job->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		*text = '\0';
	if (fd >= 0)
		close(fd);
	/* it follows the name, which may hold anything */
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

/* Gives the shell an order. False: it has ended, which must not end the test. */
static bool give_order(const struct job *job, char order)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t closed, before;
	bool given;

	sigemptyset(&closed);
	sigaddset(&closed, SIGPIPE);
	sigprocmask(SIG_BLOCK, &closed, &before);
	given = write(job->orders, &order, 1) == 1;
	if (!given)
		sigtimedwait(&closed, NULL, &at_once);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return given;
}

void job_foreground(struct job *job)
{
	job->stopped = false;
	/* It may have ended with the program meanwhile. */
	if (!give_order(job, ORDER_FOREGROUND))
		job->ended = true;
}

void job_close(struct job *job)
{
	/* That there is nobody to give orders is not seen while children of the test live. */
	give_order(job, ORDER_END);
	close(job->orders);
	for (int i = 0; job->shell > 0 && i < 500; i++) {
		if (waitpid(job->shell, NULL, WNOHANG)) {
			job->shell = 0;
			break;
		}
		usleep(10000);
	}
	if (job->shell > 0) {
		kill(job->shell, SIGKILL);
		waitpid(job->shell, NULL, 0);
	}
	close(job->events);
}
