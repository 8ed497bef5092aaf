/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes to the terminal without ever hanging the program. All output of ncurses goes into memory
 * first, and is sent as the terminal accepts it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/util.h"

struct tty {
	FILE *stream; /* ncurses' output, with a descriptor of its own; see tty_divert() */
	int fd; /* the terminal, written to without blocking */
	bool blocks; /* non-blocking mode was not available: writes one byte at a time */
	int memory; /* ncurses draws into it, and output is sent from it */
	int pipe; /* the reading end if the memory is a pipe; -1: it is not */
	off_t taken; /* number of bytes of the drawing taken */
	struct buf pending; /* drawn, but not sent yet */
};

/*
 * Opens the terminal of a descriptor a second time, so that it can be used without blocking and
 * without affecting other users of the descriptor. If that fails, returns the same descriptor and
 * sets `blocks`. Returns the descriptor, or -1 with errno.
 */
int tty_reopen(int fd, int flags, bool *blocks);

/*
 * Opens standard output's terminal for writing. Until tty_divert() ncurses writes to an unused
 * terminal, as it needs one to start. Returns 0 or -errno.
 */
int tty_open(struct tty *tty);

/* Closes everything that was opened, and drops unsent output. */
void tty_close(struct tty *tty);

/* Redirects ncurses' output into memory, permanently. Returns 0 or -errno. */
int tty_divert(struct tty *tty);

/* Takes new output of ncurses for sending (tty_collect), or drops it. */
void tty_collect(struct tty *tty);
void tty_discard(struct tty *tty);

/*
 * Sends as much of the taken output as the terminal accepts at once. Returns 0, or -errno: -EAGAIN
 * if the rest must wait until the terminal accepts more.
 */
int tty_flush(struct tty *tty);

/*
 * Sends a text at the end of the program for as long as the terminal accepts it, but only for a
 * moment, and only by system calls. Returns false if the terminal did not accept all of it.
 */
bool tty_send_last(const struct tty *tty, const struct buf *text);
