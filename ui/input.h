/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes from the keyboard, handed to ncurses one whole key after the other: it waits within
 * a key that has come half, for ever within half a report of the mouse. Here nothing waits, and no
 * more is read at a time than can be dealt with soon.
 */
#ifndef STALLTOP_UI_INPUT_H
#define STALLTOP_UI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Most bytes that are read at a time. */
#define INPUT_BYTES 512

struct input {
	int fd; /* the keyboard, read from without blocking */
	bool blocks; /* that could not be had: it is read only when it has something */
	bool ended; /* it gives nothing any more */
	bool utf8;
	int to; /* ncurses reads the other end */
	FILE *stream; /* that end */
	char bytes[INPUT_BYTES]; /* read, and not handed on yet */
	size_t len;
	uint64_t since_ns; /* when the last of them came, CLOCK_MONOTONIC */
};

enum input_state {
	INPUT_WHOLE,
	INPUT_UNFINISHED, /* more of it may come */
	INPUT_BROKEN /* a report of the mouse that is none: nobody typed it */
};

/* The key that some bytes begin with. */
struct input_key {
	enum input_state state;
	size_t len;
	bool mouse; /* it is a report of the mouse */
};

/* Finds the first key in bytes that there are: len > 0. */
struct input_key input_first_key(const char *bytes, size_t len, bool utf8);

/* Opens the keyboard that a descriptor leads to, which stays the caller's. 0 or -errno. */
int input_open(struct input *input, int fd, bool utf8);
void input_close(struct input *input);

/*
 * Reads what the keyboard has, at most INPUT_BYTES, and hands on the keys that are whole by now.
 * False when there are none. Does not wait; the end of the input sets `ended`.
 */
bool input_feed(struct input *input, uint64_t now_ns);

/* When to feed again though nothing came: an unfinished key counts for what it is then. */
uint64_t input_due_ns(const struct input *input);

#endif
