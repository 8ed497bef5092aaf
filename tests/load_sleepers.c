// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_sleepers N: N processes that wait for nothing, for measuring what it costs
 * to look at them. It prints "ready" when all are there; they end with it.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

/* Wakes pause() up. */
static void on_end(int sig)
{
	(void)sig;
	ended = 1;
}

/* A sleeper's life; it must not outlive its parent, however that ends. */
static void sleeper(pid_t parent)
{
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, i;
	pid_t parent = getpid(), *pids = calloc(n + 1, sizeof(*pids));

	if (!n || !pids) {
		fputs("usage: load_sleepers N\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_end);
	signal(SIGINT, on_end);
	for (i = 0; i < n && !ended; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			sleeper(parent);
		if (pids[i] < 0) {
			fprintf(stderr, "load_sleepers: process %lu: %s\n", i + 1,
				strerror(errno));
			ended = 1;
			break;
		}
	}
	if (!ended) {
		puts("ready");
		fflush(stdout);
	}
	while (!ended)
		pause();
	while (i)
		kill(pids[--i], SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	free(pids);
	return 0;
}
