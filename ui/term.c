/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/term.h"

#include <errno.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/util.h"

/* How long a key like an arrow may take to come in whole before it counts as Esc, in ms. */
#define ESCAPE_DELAY 50

/* The hook of die(). */
static void close_at_death(void *arg)
{
	term_close(arg);
}

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

/*
 * The hook for signals that end the program: no more than system calls, so what ncurses would do is
 * sent as it was prepared. A terminal that takes nothing gets its modes back at least.
 */
static void close_at_crash(void *arg)
{
	const struct term *term = arg;

	tty_send_last(&term->tty, &term->farewell);
	tcsetattr(STDOUT_FILENO, TCSANOW, &term->saved);
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

/* Sets the modes of input and output. */
static void set_up_modes(struct term *term)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	define_arrows();
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY);
	curs_set(0);
	/* Every few lines it would look for keys, to break off; in memory it is done soon. */
	if (term->tty.memory >= 0)
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
	if (!tty_divert(&term->tty))
		return;
	endwin();
	refresh();
	tty_discard(&term->tty);
}

int term_open(struct term *term, enum text_charset charset, int signals)
{
	int err;

	*term = (struct term){ .charset = charset };
	if (tcgetattr(STDOUT_FILENO, &term->saved))
		return -errno;
	err = tty_open(&term->tty, signals);
	if (err)
		return err;
	term->screen = newterm(NULL, term->tty.stream, stdin);
	if (!term->screen) {
		tty_close(&term->tty);
		return -ENOENT;
	}
	term->open = true;
	die_set_hook(close_at_death, term);
	set_up_modes(term);
	settle_modes(term);
	prepare_farewell(term);
	crash_set_hook(CRASH_TERMINAL, close_at_crash, term);
	return 0;
}

/*
 * Leaves ncurses' modes. By way of memory: writing to a terminal that takes no more would
 * never return. Where it takes nothing, at least its own modes are restored.
 */
static void leave(struct term *term)
{
	bool diverted = tty_divert(&term->tty);

	if (diverted || tty_is_writable(&term->tty)) {
		/* Terminals without a second screen keep what stands there. */
		move(term->lines - 1, 0);
		clrtoeol();
		refresh();
		endwin();
		lines_forget(&term->drawn);
	}
	if (diverted)
		tty_collect(&term->tty);
	tty_send_last(&term->tty, &term->tty.pending);
	term->tty.pending.len = 0;
	tcsetattr(STDOUT_FILENO, TCSANOW, &term->saved);
}

void term_close(struct term *term)
{
	if (!term->open)
		return;
	term->open = false;
	die_set_hook(NULL, NULL);
	leave(term);
	crash_set_hook(CRASH_TERMINAL, NULL, NULL);
	delscreen(term->screen);
	term->screen = NULL;
	tty_close(&term->tty);
	buf_free(&term->scratch);
	buf_free(&term->name);
	buf_free(&term->farewell);
	lines_free(&term->drawn);
	free(term->cells);
	term->cells = NULL;
}

void term_suspend(struct term *term)
{
	leave(term);
}

void term_resume(struct term *term)
{
	term->tty.pending.len = 0;
	reset_prog_mode();
	/* ncurses has the keys' mode set with the next key only, which needs it already. */
	keypad(stdscr, TRUE);
	term_resize(term);
	term_redraw(term);
}

void term_resize(struct term *term)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
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
	(void)term;
	for (;;) {
		int got;

		*key = (struct term_key){ 0 };
		got = get_wch(&key->code);
		if (got == ERR)
			return false;
		key->function = got == KEY_CODE_YES;
		/* ncurses' own: sizes come by a signal here. */
		if (key->function && key->code == KEY_RESIZE)
			continue;
		if (key->function && key->code == KEY_MOUSE && !get_mouse(key))
			continue;
		return true;
	}
}

bool term_ended(void)
{
	int bytes = 0;

	return ioctl(STDIN_FILENO, FIONREAD, &bytes) || bytes == 0;
}
