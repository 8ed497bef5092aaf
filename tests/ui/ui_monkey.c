/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Somebody who does anything to the screen: keys, halves of keys, the mouse, pastes, new sizes,
 * signals, a terminal that takes nothing. It must stay alive, and end within END_S when told to,
 * with the terminal as it was.
 *
 * MONKEY_SECONDS says for how long (4), MONKEY_SEED what comes (1). What is done follows from the
 * seed; how far the program is by then does not.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#define END_S 4
#define ACTIONS 60 /* most of them until the program is to end */

struct monkey {
	struct screen *s;
	unsigned short dice[3];
	unsigned long seed;
	unsigned long round, actions;
};

/* A number from 0 to n - 1. */
static size_t throw_dice(struct monkey *m, size_t n)
{
	return (size_t)nrand48(m->dice) % n;
}

/*
 * Types bytes, as many as are taken. Nothing is ever answered with yes: signals, nice values and
 * switches of the real machine are asked for, but do not happen. Nor is a file asked for.
 */
static void type_bytes(struct monkey *m, char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] == 'y' || bytes[i] == 'Y' || bytes[i] == 'E')
			bytes[i] = '-';
	screen_offer(m->s, bytes, len);
}

/* Types a text, or the beginning of it. */
static void type_text(struct monkey *m, const char *text, size_t len)
{
	char bytes[64];

	memcpy(bytes, text, len);
	type_bytes(m, bytes, len);
}

/* One key that is a byte, mostly one that means something. */
static void press_key(struct monkey *m)
{
	static const char keys[] =
		"0123456789<>RPNT\r\rvUHgiecV+-*ftWA/ouL&=dsp Okrh?q\f\033\t[]{}wDx[[[()mB";
	char key = throw_dice(m, 8) ? keys[throw_dice(m, sizeof(keys) - 1)]
				    : (char)(1 + throw_dice(m, 255));

	type_bytes(m, &key, 1);
}

/* Something of several bytes, whole or half. */
static void press_sequence(struct monkey *m)
{
	static const char *const keys[] = {
		"\033[A",	 "\033[B",	     "\033OC",	      "\033OD",
		"\033[5~",	 "\033[6~",	     "\033OH",	      "\033OF",
		"\033[1;5C",	 "\033[Z",	     "\033OP",	      "\033[15~",
		"\033OQ",	 "\033[17~",	     "\033[18~",      "\033[19~",
		"\033[20~",	 "\033[<0;60;24M",   "\033[[A",	      "\033[<0;5;9M",
		"\033[<0;30;8M", "\033[<64;5;9M",    "\033[<65;5;9M", "\033[<0;9999;9999M",
		"\033[<;;M",	 "\033[M !!",	     "\033[200~",     "\xc3\xa4",
		"\xe4\xb8\xad",	 "\xf0\x9f\x98\x80", "\xff\xfe",      "\033]0;x\a",
		"\033[1;2",
	};
	const char *key = keys[throw_dice(m, sizeof(keys) / sizeof(keys[0]))];
	size_t len = strlen(key);

	type_text(m, key, throw_dice(m, 3) ? len : 1 + throw_dice(m, len));
}

/* Digits and letters, as an answer to what is asked. */
static void answer(struct monkey *m)
{
	static const char *const answers[] = { "0.05\r", "a.*\r", "[\r", "root\r",  "9\r", "\r",
					       "0.5\r",	 "(((",	  "5\r", "TERM\rn", "x\r" };
	const char *text = answers[throw_dice(m, sizeof(answers) / sizeof(answers[0]))];

	type_text(m, text, strlen(text));
}

/* Much at once, of any bytes or of one key. */
static void paste(struct monkey *m)
{
	char bytes[4000];
	size_t len = 1 + throw_dice(m, sizeof(bytes));
	bool same = throw_dice(m, 2);

	for (size_t i = 0; i < len; i++)
		bytes[i] = same && i ? bytes[0] : (char)(1 + throw_dice(m, 255));
	type_bytes(m, bytes, len);
}

/* Another size. */
static void resize(struct monkey *m)
{
	int most = throw_dice(m, 4) ? 60 : 250;

	for (size_t n = 1 + throw_dice(m, 3); n; n--)
		screen_resize(m->s, 1 + (int)throw_dice(m, (size_t)most),
			      1 + (int)throw_dice(m, 3 * (size_t)most));
}

/* The user stops the terminal, or has it go on. */
static void stop_terminal(struct monkey *m)
{
	type_text(m, throw_dice(m, 2) ? "\x13" : "\x11", 1);
}

/* The program is stopped, one way or the other, and comes back. */
static void stop_program(struct monkey *m)
{
	static const int numbers[] = { SIGTSTP, SIGSTOP };

	kill(screen_pid(m->s), numbers[throw_dice(m, 2)]);
	if (screen_wait_until(m->s, 0.3, screen_has_stopped, NULL))
		screen_foreground(m->s);
}

/* A signal that ends nothing. */
static void send_signal(struct monkey *m)
{
	static const int numbers[] = { SIGWINCH, SIGCONT, SIGPIPE, SIGCHLD };

	kill(screen_pid(m->s), numbers[throw_dice(m, 4)]);
}

/* Does something. The most usual is there several times. */
static void act(struct monkey *m)
{
	static void (*const actions[])(struct monkey * m) = {
		press_key,    press_key,      press_key,      press_key,      press_key,
		press_key,    press_sequence, press_sequence, press_sequence, answer,
		answer,	      paste,	      resize,	      resize,	      stop_terminal,
		stop_program, send_signal,
	};

	actions[throw_dice(m, sizeof(actions) / sizeof(actions[0]))](m);
	m->actions++;
	/* not always is anybody there who reads what it writes */
	if (throw_dice(m, 3))
		screen_pump(m->s, (double)throw_dice(m, 30) / 1000);
	/* a key may have been Ctrl-Z */
	if (screen_has_stopped(m->s, NULL))
		screen_foreground(m->s);
}

/* Leaves by keys: Esc leaves what is asked, q a view and at last the program. */
static void leave_by_keys(struct monkey *m)
{
	double until = screen_now() + END_S * screen_slowness();

	screen_offer(m->s, "\x11", 1);
	while (screen_now() < until && !screen_has_ended(m->s, NULL)) {
		screen_offer(m->s, "\033", 1);
		screen_pump(m->s, 0.08);
		screen_offer(m->s, "q", 1);
		screen_pump(m->s, 0.02);
		if (screen_has_stopped(m->s, NULL))
			screen_foreground(m->s);
	}
}

/* Whether it has ended; if it is stopped meanwhile it goes on. */
static bool ends_or_goes_on(struct screen *s, const void *arg)
{
	if (screen_has_stopped(s, NULL))
		screen_foreground(s);
	return screen_has_ended(s, arg);
}

/* Whether the terminal has been taken over. */
static bool is_open(struct screen *s, const void *arg)
{
	(void)arg;
	return screen_in_alt(s);
}

/* Runs the program once, as long as it likes or until it is to end. */
static void run(struct monkey *m, double until)
{
	static const char *const args[] = { "-d 0.05", "-d 1", "-d 0.05 -H", "-d 0.1 -g cgroup",
					    "-d 0.1 --history 0" };
	size_t actions = throw_dice(m, ACTIONS);

	m->s = screen_start(&(struct screen_how){ .args = args[throw_dice(m, ARRAY_SIZE(args))] });
	/* before that it is for the terminal to say what a key does */
	screen_await(m->s, throw_dice(m, 2) ? table_has_rows : is_open, NULL);
	for (size_t i = 0; i < actions && screen_now() < until; i++) {
		if (screen_has_ended(m->s, NULL))
			break;
		act(m);
	}
	if (throw_dice(m, 2))
		leave_by_keys(m);
	else if (!screen_has_ended(m->s, NULL))
		kill(screen_pid(m->s), SIGTERM);
	screen_wait_until(m->s, END_S * screen_slowness(), ends_or_goes_on, NULL);
	if (!screen_has_ended(m->s, NULL))
		screen_fail(m->s, "its end", __FILE__, __LINE__);
	assert_int_equal(screen_end(m->s, 0), 0);
	screen_check_restored(m->s);
}

/* The number that a variable of the environment has. */
static unsigned long setting(const char *name, unsigned long standard)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : standard;
}

/* As long as it is told to. */
SCREEN_TEST(survives)
{
	struct monkey m = { .seed = setting("MONKEY_SEED", 1) };
	double until = screen_now() + (double)setting("MONKEY_SECONDS", 4);

	printf("# MONKEY_SEED=%lu\n", m.seed);
	fflush(stdout);
	for (; screen_now() < until; m.round++) {
		/* each round by itself: what comes does not depend on how far the one before got */
		m.dice[0] = (unsigned short)m.seed;
		m.dice[1] = (unsigned short)(m.seed >> 16);
		m.dice[2] = (unsigned short)m.round;
		run(&m, until);
		screen_teardown(state);
		screen_setup(state);
	}
	printf("# %lu rounds, %lu actions\n", m.round, m.actions);
}
