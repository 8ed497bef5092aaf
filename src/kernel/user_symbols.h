/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions and lines at addresses of other processes, and how to unwind their frames. Programs are
 * untrusted files: they are read in a separate process, which can open files for reading, and
 * nothing else. Nobody waits for it: questions are asked, and answers come later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/frame_rule.h"
#include "kernel/debug_files.h"

struct user_symbols;

/*
 * Starts the process with the first question. procfd: /proc, which the caller keeps open. fetch:
 * files with symbols that are not here are fetched, as kernel/debug_files.h says.
 */
struct user_symbols *user_symbols_open(int procfd, bool fetch);

/*
 * A stack of a living process: `sure` of its addresses are right; one more: it is complete. Of a
 * sleeping thread there is only the innermost one, and its registers.
 */
struct user_question {
	uint64_t id; /* caller's id for the question */
	pid_t tgid, tid; /* tid 0: the stack was already walked */
	uint32_t n, sure;
	bool again; /* rules lead no further: its memory is unreadable, as while it is paged out */
	uint64_t sp, bp;
	uint64_t addresses[USER_FRAMES];
};

#define USER_TEXT_BYTES 8192

/* Comes in two parts: the rules, then the names. */
struct user_answer {
	uint64_t id;
	bool last; /* last part of the answer */
	bool learnt; /* with the rules it will be another stack: this one is not named */
	bool named; /* the functions are known; else the process has exited, or its files have
		     * none */
	bool more; /* a file with more symbols may come: see user_symbols_came() */
	char lacks[4][BUILD_ID_CHARS]; /* build ids of programs that lack such files; "": none */
	uint64_t ruled; /* a bit for each address that has a rule */
	struct frame_rule rules[USER_FRAMES];
	/*
	 * One line per right address, ended by a newline: "commit (orders.c:212)", "read
	 * (libc.so.6)"; last "[ends in libc.so.6]" if the stack is incomplete.
	 */
	char text[USER_TEXT_BYTES];
};

/* Asks. False: too many open questions; ask again later. */
bool user_symbols_ask(struct user_symbols *symbols, const struct user_question *question);

/* Takes an answer. False: none came within the time. */
bool user_symbols_take(struct user_symbols *symbols, struct user_answer *answer, int timeout_ms);

/* True if a file with symbols came since the last call: answers will have more names. */
bool user_symbols_came(struct user_symbols *symbols);

/* True if the process has ended since the last call, leaving questions unanswered. */
bool user_symbols_lost(struct user_symbols *symbols);

void user_symbols_close(struct user_symbols *symbols);
