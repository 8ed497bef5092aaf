/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/term.h"

#include <errno.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/util.h"

/* What of a terminal is used; a screen of more would take more memory than is good. */
#define LINES_MAX 1000
#define COLUMNS_MAX 2000

/* What ncurses allocates beside its windows, and some more. */
#define CURSES_BYTES (256 * 1024)

/* Appends what the terminal's description has of that name, without the delays in it. */
static void append_capability(struct buf *out, const char *name)
{
	const char *text = tigetstr(name);

	/* -1 is "no string", NULL "not in this terminal". */
	if (!text || text == (const char *)-1)
		return;
	while (*text) {
		size_t plain = strcspn(text, "$");

		buf_add(out, text, plain);
		text += plain;
		if (!strncmp(text, "$<", 2) && strchr(text, '>'))
			text = strchr(text, '>') + 1;
		else if (*text)
			buf_putc(out, *text++);
	}
}

/* Makes what a sudden end sends: no colours, no mouse, the usual screen, cursor and keys. */
static void prepare_farewell(struct term *term)
{
	static const char *const names[] = { "sgr0", "op", "rmkx", "cnorm" };
	const char *leave = tigetstr("rmcup");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		append_capability(&term->farewell, names[i]);
	if (has_mouse())
		buf_puts(&term->farewell, "\033[?1006;1000l");
	if (leave && leave != (const char *)-1)
		append_capability(&term->farewell, "rmcup");
	else
		buf_puts(&term->farewell, "\r\n");
}

bool term_is_ours(void)
{
	pid_t owner = tcgetpgrp(STDOUT_FILENO);

	return owner < 0 || owner == getpgrp();
}

/*
 * Sets the terminal's modes at once. Not of a terminal that is another job's now: that would
 * stop the program, for good where it was to end.
 */
static void set_modes(const struct termios *modes)
{
	if (term_is_ours())
		tcsetattr(STDOUT_FILENO, TCSANOW, modes);
}

/*
 * Has a terminal that was stopped (Ctrl-S) go on, which it does when Ctrl-S loses its meaning:
 * else it would keep the screen that nobody draws any more.
 */
static void restart_output(const struct term *term)
{
	struct termios modes = term->modes;

	modes.c_iflag &= ~(tcflag_t)IXON;
	set_modes(&modes);
}

/*
 * The hook for signals that end the program, and for die(): no more than system calls, so what
 * ncurses would do is sent as it was prepared. A terminal that takes nothing gets its modes back at
 * least.
 */
static void close_at_once(void *arg)
{
	const struct term *term = arg;

	restart_output(term);
	tty_send_last(&term->tty, &term->farewell);
	set_modes(&term->saved);
}

/* The arrows as they come from a terminal that ignores the key pad's mode. */
static void define_arrows(void)
{
	static const struct {
		const char *text;
		int key;
	} arrows[] = { { "\033[A", KEY_UP },   { "\033[B", KEY_DOWN }, { "\033[C", KEY_RIGHT },
		       { "\033[D", KEY_LEFT }, { "\033[H", KEY_HOME }, { "\033[F", KEY_END } };

	for (size_t i = 0; i < ARRAY_SIZE(arrows); i++)
		if (!key_defined(arrows[i].text))
			define_key(arrows[i].text, arrows[i].key);
}

/* Takes over the size that ncurses has. */
static void take_size(struct term *term)
{
	getmaxyx(stdscr, term->lines, term->columns);
	lines_resize(&term->drawn, term->lines);
	term->cells = xreallocarray(term->cells, (size_t)term->columns, sizeof(chtype));
}

/*
 * Makes what keys are read by: by way of a window on the screen ncurses draws that first, with
 * every key. 0 or -errno.
 */
static int make_pad(struct term *term)
{
	WINDOW *pad = newpad(1, 1);

	if (!pad)
		return -ENOMEM;
	term->pad = pad;
	keypad(pad, TRUE);
	meta(pad, TRUE);
	nodelay(pad, TRUE);
	return 0;
}

/* Sets ncurses' modes of input and output. */
static void set_up_modes(struct term *term)
{
	noecho();
	nonl();
	define_arrows();
	/* Keys come to it whole. */
	set_escdelay(0);
	curs_set(0);
	/* Every few lines it would look for keys, to break off; in memory it is done soon. */
	typeahead(-1);
	mouseinterval(0);
	/* Presses alone: asked for clicks ncurses loses some when press and release come as one. */
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	term->backgrounds = style_set_up(term->attributes);
	take_size(term);
}

/*
 * Until it has ended once ncurses 6.4 writes out every movement of the cursor by itself
 * (lib_mvcur.c). The terminal hears nothing of this end and new start.
 */
static void settle_modes(struct term *term)
{
	tty_collect(&term->tty);
	endwin();
	refresh();
	tty_discard(&term->tty);
}

/* The terminal's modes while it is taken over: each key at once, as it is, and not shown. */
static void make_modes(struct term *term)
{
	struct termios *modes = &term->modes;

	*modes = term->saved;
	modes->c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
	modes->c_lflag |= ISIG;
	modes->c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
	modes->c_oflag &= ~(tcflag_t)ONLCR;
	modes->c_cc[VMIN] = 1;
	modes->c_cc[VTIME] = 0;
}

/* Whether the terminal's description has that. */
static bool has_capability(const char *name)
{
	const char *text = tigetstr(name);

	return text && text != (const char *)-1;
}

/*
 * Whether there is memory for ncurses to start with or to change its size, which it does not
 * always look for itself: it crashes.
 */
static bool has_memory(size_t lines, size_t columns)
{
	/* Three windows, and the terminal's description with all that goes with it. */
	void *memory = malloc(3 * lines * columns * sizeof(cchar_t) + CURSES_BYTES);

	free(memory);
	return memory;
}

/* Starts ncurses, which draws into memory from then on. 0 or -errno. */
static int start_curses(struct term *term)
{
	struct winsize size = { 0 };
	int err;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (!has_memory(size.ws_row, size.ws_col))
		return -ENOMEM;
	errno = 0;
	term->screen = newterm(NULL, term->tty.stream, term->input.stream);
	if (!term->screen)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	err = tty_divert(&term->tty);
	if (err)
		return err;
	if (!has_capability("cup") || !has_capability("clear"))
		return -ENOTTY;
	return make_pad(term);
}

/* Frees all there is. */
static void free_all(struct term *term)
{
	if (term->pad)
		delwin(term->pad);
	if (term->screen)
		delscreen(term->screen);
	input_close(&term->input);
	tty_close(&term->tty);
	buf_free(&term->scratch);
	buf_free(&term->name);
	buf_free(&term->farewell);
	lines_free(&term->drawn);
	free(term->cells);
	*term = (struct term){ .open = false };
}

/* Opens all that the terminal is used by. 0 or -errno. */
static int open_all(struct term *term, enum text_charset charset)
{
	int err = tty_open(&term->tty);

	if (err)
		return err;
	err = input_open(&term->input, STDIN_FILENO, charset == TEXT_UTF8);
	return err ? err : start_curses(term);
}

/* Sets the terminal's modes; from then on there is something to put back. */
static void take_over(struct term *term)
{
	die_set_hook(close_at_once, term);
	crash_set_hook(CRASH_TERMINAL, close_at_once, term);
	set_modes(&term->modes);
}

int term_open(struct term *term, enum text_charset charset)
{
	int err;

	*term = (struct term){ .charset = charset };
	if (tcgetattr(STDOUT_FILENO, &term->saved))
		return -errno;
	err = open_all(term, charset);
	if (err) {
		free_all(term);
		return err;
	}
	set_up_modes(term);
	settle_modes(term);
	prepare_farewell(term);
	make_modes(term);
	/* Only now the terminal is touched. */
	take_over(term);
	term->open = true;
	return 0;
}

/*
 * Leaves ncurses' modes. Where the terminal does not take in time all that waits for it, it gets
 * what makes of it a usual one. From then on a signal has nothing to put back.
 */
static void leave(struct term *term)
{
	restart_output(term);
	/* Terminals without a second screen keep what stands there. */
	move(term->lines - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	lines_forget(&term->drawn);
	tty_collect(&term->tty);
	if (!tty_send_last(&term->tty, &term->tty.pending))
		tty_send_last(&term->tty, &term->farewell);
	term->tty.pending.len = 0;
	set_modes(&term->saved);
	die_set_hook(NULL, NULL);
	crash_set_hook(CRASH_TERMINAL, NULL, NULL);
}

void term_close(struct term *term)
{
	if (!term->open)
		return;
	if (!term->suspended)
		leave(term);
	free_all(term);
}

void term_suspend(struct term *term)
{
	leave(term);
	term->suspended = true;
}

void term_resume(struct term *term)
{
	term->suspended = false;
	take_over(term);
	/* ncurses has the keys' mode set with the next key only, which needs it already. */
	keypad(term->pad, TRUE);
	term_resize(term);
	term_redraw(term);
}

void term_resize(struct term *term)
{
	struct winsize size;
	int lines, columns;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	lines = size.ws_row < LINES_MAX ? size.ws_row : LINES_MAX;
	columns = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
	if (!has_memory((size_t)lines, (size_t)columns))
		return;
	resizeterm(lines, columns);
	take_size(term);
}

void term_redraw(struct term *term)
{
	(void)term;
	clearok(curscr, TRUE);
}

/* Fills in where the mouse was, and what it did. */
static bool get_mouse(struct term_key *key)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return false;
	key->line = event.y;
	key->column = event.x;
	key->mouse = event.bstate & BUTTON4_PRESSED   ? MOUSE_UP
		     : event.bstate & BUTTON5_PRESSED ? MOUSE_DOWN
		     : event.bstate & BUTTON1_PRESSED ? MOUSE_CLICK
						      : MOUSE_NONE;
	return key->mouse != MOUSE_NONE;
}

bool term_get(struct term *term, struct term_key *key)
{
	bool fed = false;

	for (;;) {
		int got;

		*key = (struct term_key){ 0 };
		got = wget_wch(term->pad, &key->code);
		if (got == ERR) {
			/* Once: what gives no keys shall not keep us here either. */
			if (fed || !input_feed(&term->input, clock_ns(CLOCK_MONOTONIC)))
				return false;
			fed = true;
			continue;
		}
		key->function = got == KEY_CODE_YES;
		/* ncurses' own: sizes come by a signal here. */
		if (key->function && key->code == KEY_RESIZE)
			continue;
		if (key->function && key->code == KEY_MOUSE && !get_mouse(key))
			continue;
		return true;
	}
}

uint64_t term_due_ns(const struct term *term)
{
	return input_due_ns(&term->input);
}
