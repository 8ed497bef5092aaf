/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing to the terminal in a way that cannot hang the program. ncurses draws into memory,
 * from where it is sent without blocking, and a signal ends the wait for a terminal that
 * takes nothing.
 */
#ifndef STALLTOP_UI_TTY_H
#define STALLTOP_UI_TTY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"

struct tty {
	FILE *stream; /* what ncurses writes to, a descriptor of its own */
	int out; /* that descriptor: the terminal, or the memory while ncurses draws */
	int fd; /* the terminal, written to without blocking where that can be had */
	int memory; /* where ncurses draws to; from there it is sent. -1: none */
	off_t taken; /* how far what it drew has been taken from there */
	int signals; /* becomes readable when a signal ends a wait for the terminal; -1 */
	struct buf pending; /* drawn, and not sent yet */
};

/* Opens standard output's terminal for that. 0 or -errno. */
int tty_open(struct tty *tty, int signals);

/* Closes what was opened, and forgets what was not sent. */
void tty_close(struct tty *tty);

/* Turns what ncurses writes away from the terminal, into memory. False where it cannot. */
bool tty_divert(struct tty *tty);

/* Turns it back, and takes what has been written; or forgets that. Both after tty_divert(). */
void tty_collect(struct tty *tty);
void tty_discard(struct tty *tty);

/* Sends what was taken. 0, or -errno: -EINTR when a signal came, and the rest is kept. */
int tty_flush(struct tty *tty);

/* Whether the terminal takes something within a moment: for the way out. */
bool tty_is_writable(const struct tty *tty);

/* Sends a text for as long as the terminal takes it, by system calls alone: for the way out. */
void tty_send_last(const struct tty *tty, const struct buf *text);

#endif
