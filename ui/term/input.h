/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keyboard input, passed to ncurses one complete key at a time: ncurses waits within an unfinished
 * key, and forever within half a mouse report. This code never waits, and reads no more at a time
 * than can be handled soon.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Maximum bytes read at a time. */
#define INPUT_BYTES 512

struct input {
	int fd; /* the keyboard, read from without blocking */
	bool blocks; /* non-blocking mode was not available: reads only when there is input */
	bool ended; /* end of input */
	bool utf8;
	bool (*knows)(const char *sequence); /* whether it is a key; NULL: none is */
	int to; /* the end of a pipe whose other end ncurses reads */
	FILE *stream; /* that end */
	char bytes[INPUT_BYTES]; /* bytes read, but not passed on yet */
	size_t len;
	uint64_t since_ns; /* when the last of them came, CLOCK_MONOTONIC */
	bool answered; /* the terminal's answer about its background: */
	int background; /* 0xRRGGBB; -1: the answer is no colour */
};

enum input_state {
	INPUT_WHOLE,
	INPUT_UNFINISHED, /* the key may be incomplete */
	INPUT_BROKEN /* a malformed mouse report or answer, which was not typed */
};

/* The first key in some bytes. */
struct input_key {
	enum input_state state;
	size_t len;
	bool mouse; /* a mouse report */
	bool answer; /* the terminal's answer to a question */
	bool sequence; /* it begins like a function key, but was not typed as several */
	bool string; /* other answers of the terminal, without a request */
};

/* Finds the first key in the bytes; len > 0. */
struct input_key input_first_key(const char *bytes, size_t len, bool utf8);

/* Opens the keyboard behind a descriptor; the caller keeps it. Returns 0 or -errno. */
int input_open(struct input *input, int fd, bool utf8);
void input_close(struct input *input);

/*
 * Reads at most INPUT_BYTES from the keyboard, and passes on the complete keys, except unknown
 * sequences: modified keys, changes of the focus, the brackets of pasted text. Returns false if
 * there are none. Does not wait; the end of the input sets `ended`.
 */
bool input_feed(struct input *input, uint64_t now_ns);

/* When to feed again without new input: then an unfinished key counts as it is. */
uint64_t input_due_ns(const struct input *input);
