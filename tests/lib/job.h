/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * One program as the foreground job of a shell that does nothing else: it has a
 * session with the terminal, tells when the program stops and ends, and continues
 * it. It dies with the test, and the program with it.
 */
struct job {
	pid_t shell;
	pid_t pid;
	int events; /* the shell tells */
	int orders; /* the shell is told */
	bool stopped;
	bool ended;
	int status; /* when ended: exit status, or 128 + signal */
};

struct job_how {
	int terminal; /* the pseudo-terminal's slave */
	int in; /* standard input; 0: the terminal */
	const char *program; /* a path */
	const char *const *argv;
	const char *const *env; /* NAME=VALUE, or NAME to unset it; then NULL */
	uid_t uid; /* 0: stays what it is */
	rlim_t file_limit; /* how long files may get; 0: as they like */
};

/* 0, or -errno. */
int job_start(struct job *job, const struct job_how *how);

/* Takes note of what the shell has told meanwhile. */
void job_look(struct job *job);

/* The letter of the program's state, as of /proc; '?' when it is gone. */
char job_state(const struct job *job);

/* Makes it the foreground job again and continues it. */
void job_foreground(struct job *job);

/* Kills what is left. */
void job_close(struct job *job);
