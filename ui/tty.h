/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing to the terminal in a way that cannot hang the program. All that ncurses writes goes
 * into memory, from where it is sent as the terminal takes it.
 */
#ifndef STALLTOP_UI_TTY_H
#define STALLTOP_UI_TTY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"

struct tty {
	FILE *stream; /* what ncurses writes to, a descriptor of its own; see tty_divert() */
	int fd; /* the terminal, written to without blocking */
	bool blocks; /* that could not be had: it is written to a byte at a time */
	int memory; /* where ncurses draws to; from there it is sent */
	int pipe; /* where that is a pipe, the end to read; -1 */
	off_t taken; /* how far what it drew has been taken from there */
	struct buf pending; /* drawn, and not sent yet */
};

/*
 * Opens the terminal that a descriptor leads to once more, so that it can be used without blocking
 * and nobody else who has it open is troubled. Where that cannot be had it is the same one, and
 * `blocks` says so. The descriptor, or -1 with errno.
 */
int tty_reopen(int fd, int flags, bool *blocks);

/*
 * Opens standard output's terminal for that. Until tty_divert() ncurses writes to a terminal of
 * nobody's, as it needs one to start. 0 or -errno.
 */
int tty_open(struct tty *tty);

/* Closes what was opened, and forgets what was not sent. */
void tty_close(struct tty *tty);

/* Turns what ncurses writes into memory, for good. 0 or -errno. */
int tty_divert(struct tty *tty);

/* Takes what ncurses has written since, to be sent; or forgets it. */
void tty_collect(struct tty *tty);
void tty_discard(struct tty *tty);

/*
 * Sends what was taken, as much as the terminal takes at once. 0, or -errno: -EAGAIN when the
 * rest is to be sent once it takes more.
 */
int tty_flush(struct tty *tty);

/*
 * Sends a text for as long as the terminal takes it, and a moment at most, by system calls alone:
 * for the way out. False when it did not take all.
 */
bool tty_send_last(const struct tty *tty, const struct buf *text);

#endif
