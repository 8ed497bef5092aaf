// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_names HEX...: a process for each name, which is given as hexadecimal bytes
 * ("-" is the empty one). It prints "ready" and their pids in that order; they
 * end with it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The bytes of a name; its length does not matter, the kernel cuts it. */
static void decode(const char *hex, char *name, size_t size)
{
	unsigned int byte;
	size_t n = 0;

	while (n + 1 < size && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		name[n++] = (char)byte;
	name[n] = '\0';
}

/* A process's life under that name. */
static void live(const char *hex, pid_t parent, int told)
{
	char name[64];

	decode(hex, name, sizeof(name));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || prctl(PR_SET_NAME, name))
		_exit(1);
	if (write(told, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pid_t parent = getpid(), pid, *pids;
	int told[2], i;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 2 || pipe(told)) {
		fputs("usage: load_names HEX...\n", stderr);
		return 2;
	}
	pids = calloc((size_t)argc, sizeof(*pids));
	for (i = 1; pids && i < argc; i++) {
		pid = fork();
		if (pid == 0)
			live(argv[i], parent, told[1]);
		/* not ready before the name is there */
		if (pid < 0 || read(told[0], &byte, 1) != 1)
			return 1;
		pids[i] = pid;
	}
	if (!pids)
		return 1;
	/* In one piece: who waits for the first word reads the line. */
	fputs("ready", stdout);
	for (i = 1; i < argc; i++)
		printf(" %d", (int)pids[i]);
	puts("");
	fflush(stdout);
	for (;;)
		pause();
}
