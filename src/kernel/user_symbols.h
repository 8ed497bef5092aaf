/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions and lines at addresses of other processes, and how their frames are left. Programs
 * are strangers' files: they are read in a process of their own, which can open files to read them,
 * and nothing else. Nobody waits for it: questions are asked, and answers are there later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/frame_rule.h"

struct user_symbols;

/* Starts the process with the first question. procfd: /proc, which stays the caller's. */
struct user_symbols *user_symbols_open(int procfd);

/*
 * A stack of a process that is there: `sure` of its addresses are right; one more: it is whole. Of
 * a thread that sleeps there is only the innermost one, and the registers there.
 */
struct user_question {
	uint64_t id; /* the caller's */
	pid_t tgid, tid; /* tid 0: the stack was walked */
	uint32_t n, sure;
	bool again; /* rules do not lead further: its memory cannot be read, as while it is paged
		       out */
	uint64_t sp, bp;
	uint64_t addresses[USER_FRAMES];
};

#define USER_TEXT_BYTES 8192

/* Comes in two parts: the rules, and the names. */
struct user_answer {
	uint64_t id;
	bool last; /* the question has no other */
	bool learnt; /* with the rules it will be another stack: this one is not named */
	bool named; /* the functions are known; else the process has ended, or its files say nothing
		     */
	uint64_t ruled; /* a bit for each address that has a rule */
	struct frame_rule rules[USER_FRAMES];
	/*
	 * A line for each address that is right, ended by a newline: "commit (orders.c:212)",
	 * "read (libc.so.6)"; last "[ends in libc.so.6]" where the stack is not whole.
	 */
	char text[USER_TEXT_BYTES];
};

/* Asks. False: there are many questions already; it is to be asked again later. */
bool user_symbols_ask(struct user_symbols *symbols, const struct user_question *question);

/* Takes an answer. False: none is there within the time. */
bool user_symbols_take(struct user_symbols *symbols, struct user_answer *answer, int timeout_ms);

/* Whether the process has ended since the last call, with questions that get no answer. */
bool user_symbols_lost(struct user_symbols *symbols);

void user_symbols_close(struct user_symbols *symbols);
