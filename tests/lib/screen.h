/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/test.h"
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <vterm.h>

/*
 * A program on a pseudo-terminal, and what a person in front of it would see:
 * its output goes through libvterm, keys are typed, every wait has its limit.
 * The program is the foreground job of a small shell of its own, so that it can
 * be stopped and continued, and the terminal be looked at when it has ended.
 */
struct screen;

/* How a program is started; all zero is the program under test on 80x24. */
struct screen_how {
	int rows, cols;
	const char *term; /* TERM; NULL: xterm-256color */
	const char *program; /* NULL: the program under test */
	const char *args; /* parted by single spaces */
	const char *const *env; /* further NAME=VALUE, with a NULL behind them */
	const char *config_home; /* NULL: an empty one of the test */
	uid_t uid; /* 0: stays what it is */
	int in; /* standard input; 0: the terminal */
	rlim_t file_limit; /* how long files may get; 0: as they like */
};

/* How a character is shown. Colours: -1 is the terminal's own, 256 one of no number. */
struct screen_look {
	bool bold, reverse, underline, italic;
	int fg, bg;
	int fg_rgb, bg_rgb; /* 0xRRGGBB, or -1 */
};

/* cmocka's fixture: ends what a test has started, also when it failed. */
int screen_setup(void **state);
int screen_teardown(void **state);
#define SCREEN_TEST(name) TEST_WITH(name, screen_setup, screen_teardown)

/* The same for tests that change the machine where they are root, which is undone. */
int screen_setup_root(void **state);
int screen_teardown_root(void **state);
#define SCREEN_ROOT_TEST(name) TEST_WITH(name, screen_setup_root, screen_teardown_root)

/* Monotonic seconds, and how many times longer things take than in a plain build. */
double screen_now(void);
double screen_slowness(void);

struct screen *screen_start(const struct screen_how *how);
pid_t screen_pid(const struct screen *s);
double screen_started(const struct screen *s);

/* --- the keyboard, the mouse, the terminal's size ------------------------- */
void screen_type(struct screen *s, const char *text);
/* The same with bytes, as many as the terminal takes at once: how many. */
size_t screen_offer(struct screen *s, const char *bytes, size_t len);
void screen_key(struct screen *s, VTermKey key);
/* A press and release; button 1 is the left one, 4 and 5 are the wheel. */
void screen_click(struct screen *s, int row, int col, int button);
bool screen_has_mouse(const struct screen *s);
void screen_resize(struct screen *s, int rows, int cols);
/* Another program writes on the screen. */
void screen_scribble(struct screen *s, const char *text);
/* The terminal is taken away. */
void screen_hang_up(struct screen *s);

/* --- what is to be seen --------------------------------------------------- */
int screen_rows(const struct screen *s);
int screen_cols(const struct screen *s);
/* A line without the spaces at its end; good until the test's end. */
const char *screen_line(struct screen *s, int row);
/* The character of a cell: 0 for an empty one, UINT32_MAX behind a wide one. */
uint32_t screen_char(struct screen *s, int row, int col);
struct screen_look screen_look(struct screen *s, int row, int col);
/* The first line with the text from row `from` on, or -1. */
int screen_find(struct screen *s, const char *text, int from);
bool screen_shows(struct screen *s, const char *text);
/* The line whose first word it is, or -1. */
int screen_word_line(struct screen *s, const char *word);
/* The same, of those after a line. */
int screen_word_line_after(struct screen *s, const char *word, int after);
bool screen_in_alt(const struct screen *s);
bool screen_cursor_visible(const struct screen *s);
/* The line that it is on, also while it is invisible. */
int screen_cursor_line(const struct screen *s);

/* All that was ever written to the terminal, with a NUL behind it. */
const char *screen_output(const struct screen *s, size_t *len);

/* --- waiting -------------------------------------------------------------- */
#define SCREEN_PATIENCE 20.0

typedef bool screen_predicate(struct screen *s, const void *arg);

/* Reads what the program writes, for so long. */
void screen_pump(struct screen *s, double seconds);
/* Until the predicate holds; false when it does not within the time. */
bool screen_wait_until(struct screen *s, double seconds, screen_predicate *holds, const void *arg);
/* The program has ended: screen_end() tells how. It has been stopped. */
screen_predicate screen_has_ended, screen_has_stopped;
/* Waits for the program alone, and reads nothing of what it writes: whether it has ended. */
bool screen_ends_unread(struct screen *s, double seconds);
/* Until the program has done all that was typed: it sleeps, and writes nothing. */
void screen_settle(struct screen *s);

/* The same with SCREEN_PATIENCE, and the test fails when it does not come to be. */
#define screen_await(s, holds, arg) screen_await_at(s, holds, arg, #holds, __FILE__, __LINE__)
void screen_await_at(struct screen *s, screen_predicate *holds, const void *arg, const char *what,
		     const char *file, int line);
/* Until a text is shown, or no more. */
#define screen_await_text(s, text) screen_await_at(s, screen_has, text, text, __FILE__, __LINE__)
#define screen_await_no_text(s, text) \
	screen_await_at(s, screen_lacks, text, "no more: " text, __FILE__, __LINE__)
screen_predicate screen_has, screen_lacks;

/* Fails the test with a picture of the screen. */
#define screen_check(s, cond) \
	do { \
		if (!(cond)) \
			screen_fail(s, #cond, __FILE__, __LINE__); \
	} while (0)
void screen_fail(struct screen *s, const char *what, const char *file, int line);

/* --- the program's life --------------------------------------------------- */
/* Waits for its end: the exit status, or 128 + signal; the test fails when it lives on. */
int screen_end(struct screen *s, double seconds);
/* Waits until it is stopped; continues it in the foreground. */
void screen_await_stop(struct screen *s);
void screen_foreground(struct screen *s);
/* Fails unless the terminal is as it was before the program. */
void screen_check_restored(struct screen *s);
