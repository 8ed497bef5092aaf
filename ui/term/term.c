/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/term.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"

/* Precedes a piece's bytes. */
struct head {
	size_t len;
	int column;
	unsigned style;
};

void lines_resize(struct lines *lines, int n)
{
	lines_free(lines);
	lines->line = xcalloc((size_t)n, sizeof(*lines->line));
	lines->n = n;
}

void lines_forget(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++)
		lines->line[i].known = false;
}

void lines_erase(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++) {
		lines->line[i].now.len = 0;
		lines->line[i].key = 0;
	}
}

void lines_put(struct lines *lines, int line, const struct text_run *piece)
{
	const struct head head = { .len = piece->len,
				   .column = piece->column,
				   .style = piece->style };
	struct buf *now = &lines->line[line].now;

	buf_add(now, &head, sizeof(head));
	buf_add(now, piece->text, piece->len);
}

bool lines_keep(struct lines *lines, int line, uint64_t key)
{
	struct line *l = &lines->line[line];

	l->key = key;
	return l->known && l->drawn_key == key;
}

bool lines_take(struct lines *lines, int line)
{
	struct line *l = &lines->line[line];
	struct buf drawn = l->drawn;

	if (l->known && l->key && l->key == l->drawn_key)
		return false;
	l->drawn_key = l->key;
	if (l->known && l->now.len == drawn.len &&
	    (!drawn.len || !memcmp(l->now.data, drawn.data, drawn.len)))
		return false;
	l->drawn = l->now;
	l->now = drawn;
	l->now.len = 0;
	l->known = true;
	return true;
}

/* The next piece of a line's contents. */
static bool next_piece(const struct buf *of, size_t *at, struct text_run *piece)
{
	struct head head;

	if (*at >= of->len)
		return false;
	memcpy(&head, of->data + *at, sizeof(head));
	*piece = (struct text_run){ .column = head.column,
				    .style = head.style,
				    .text = of->data + *at + sizeof(head),
				    .len = head.len };
	*at += sizeof(head) + head.len;
	return true;
}

bool lines_next(const struct lines *lines, int line, size_t *at, struct text_run *piece)
{
	return next_piece(&lines->line[line].drawn, at, piece);
}

bool lines_next_put(const struct lines *lines, int line, size_t *at, struct text_run *piece)
{
	const struct line *l = &lines->line[line];
	bool kept = l->known && l->key && l->key == l->drawn_key;

	return next_piece(kept ? &l->drawn : &l->now, at, piece);
}

void lines_free(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++) {
		buf_free(&lines->line[i].now);
		buf_free(&lines->line[i].drawn);
	}
	free(lines->line);
	*lines = (struct lines){ 0 };
}

/* Maximum part of a terminal that is used; a larger screen would take too much memory. */
#define LINES_MAX 1000
#define COLUMNS_MAX 2000

/* How long an answer of the terminal is accepted, and how long the program's end waits for it. */
#define ANSWER_WAIT_NS (2 * NSEC_PER_SEC)
#define LAST_WAIT_NS (200 * NSEC_PER_MSEC)

/* The memory that ncurses allocates besides its windows, and some more. */
#define CURSES_BYTES (256 * 1024)

/* Appends the terminal's capability of that name, without its delays. */
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

/*
 * Prepares the text that a sudden end sends: no colours or mouse, the normal screen, cursor and
 * keys.
 */
static void prepare_farewell(struct term *term)
{
	static const char *const names[] = { "sgr0", "op", "rmkx" };
	size_t before;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		append_capability(&term->farewell, names[i]);
	if (has_mouse())
		buf_puts(&term->farewell, "\033[?1006;1000l");
	before = term->farewell.len;
	append_capability(&term->farewell, "rmcup");
	if (term->farewell.len == before)
		buf_puts(&term->farewell, "\r\n");
	/* Last: terminals of libvterm hide it with the screen, as it was saved (DECSC). */
	append_capability(&term->farewell, "cnorm");
}

bool term_is_ours(void)
{
	pid_t owner = tcgetpgrp(STDOUT_FILENO);

	return owner < 0 || owner == getpgrp();
}

void term_await_ours(void)
{
	struct termios modes;

	/* Changes nothing, for which the kernel stops it repeatedly (drivers/tty/tty_jobctrl.c). */
	if (!tcgetattr(STDOUT_FILENO, &modes))
		tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
}

/*
 * Sets the terminal's modes at once, but not if the terminal now belongs to another job: that would
 * stop the program, forever if it was about to end.
 */
static void set_modes(const struct termios *modes)
{
	if (term_is_ours())
		tcsetattr(STDOUT_FILENO, TCSANOW, modes);
}

/*
 * Restarts the output of a terminal stopped by Ctrl-S, by disabling Ctrl-S: otherwise it would keep
 * a screen that is no longer updated.
 */
static void restart_output(const struct term *term)
{
	struct termios modes = term->modes;

	modes.c_iflag &= ~(tcflag_t)IXON;
	set_modes(&modes);
}

/*
 * The hook for signals that end the program, and for die(). It uses only system calls, so it sends
 * a prepared text instead of calling ncurses. A terminal that accepts no output at least gets its
 * modes back.
 */
static void close_at_once(void *arg)
{
	const struct term *term = arg;

	restart_output(term);
	tty_send_last(&term->tty, &term->farewell);
	set_modes(&term->saved);
}

/* Defines the arrows for terminals that ignore the key pad's mode. */
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

/* Takes the screen's size from ncurses. */
static void take_size(struct term *term)
{
	getmaxyx(stdscr, term->lines, term->columns);
	lines_resize(&term->drawn, term->lines);
	term->cells = xreallocarray(term->cells, (size_t)term->columns, sizeof(chtype));
}

/*
 * Creates the pad for reading keys: with a window on the screen ncurses would draw that window
 * first, at every key. Returns 0 or -errno.
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
	/* ncurses gets complete keys only. */
	set_escdelay(0);
	curs_set(0);
	/*
	 * ncurses would look for keys every few lines, to stop drawing; drawing into memory is
	 * quick.
	 */
	typeahead(-1);
	mouseinterval(0);
	/* Presses only: with clicks ncurses loses some when press and release arrive together. */
	if (term->mouse)
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	take_size(term);
}

/*
 * Ends ncurses once: before, ncurses 6.4 writes every movement of the cursor separately
 * (lib_mvcur.c). The terminal gets nothing of this end and new start.
 */
static void settle_modes(struct term *term)
{
	tty_collect(&term->tty);
	endwin();
	refresh();
	tty_discard(&term->tty);
}

/* Makes the terminal's modes for the screen: each key at once, unchanged, and without echo. */
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

/* True if the terminal's description has that capability. */
static bool has_capability(const char *name)
{
	const char *text = tigetstr(name);

	return text && text != (const char *)-1;
}

/*
 * True if there is memory for ncurses to start or to change its size: ncurses does not always
 * check, and crashes.
 */
static bool has_memory(size_t lines, size_t columns)
{
	/* Three windows, and the terminal's description with its related data. */
	void *memory = malloc(3 * lines * columns * sizeof(cchar_t) + CURSES_BYTES);

	free(memory);
	return memory;
}

/* True if the terminal has a key that sends this. */
static bool sends_key(const char *sequence)
{
	return key_defined(sequence) > 0;
}

/* Starts ncurses, which draws into memory from then on. Returns 0 or -errno. */
static int start_curses(struct term *term)
{
	const char *type = getenv("TERM");
	struct winsize size = { 0 };
	int err;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (!has_memory(size.ws_row, size.ws_col))
		return -ENOMEM;
	errno = 0;
	/* Some terminals bring a description of their own, which another machine does not have. */
	if (type && !strncmp(type, "xterm-", 6) && !term_is_known(type))
		type = "xterm-256color";
	term->screen = newterm(type, term->tty.stream, term->input.stream);
	if (!term->screen)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	err = tty_divert(&term->tty);
	if (err)
		return err;
	if (!has_capability("cup") || !has_capability("clear"))
		return -ENOTTY;
	return make_pad(term);
}

/* Frees all memory and descriptors. */
static void free_all(struct term *term)
{
	if (term->pad)
		delwin(term->pad);
	if (term->screen)
		delscreen(term->screen);
	input_close(&term->input);
	tty_close(&term->tty);
	buf_free(&term->scratch);
	buf_free(&term->farewell);
	lines_free(&term->drawn);
	free(term->cells);
	*term = (struct term){ .open = false };
}

/* Opens everything that the terminal needs. Returns 0 or -errno. */
static int open_all(struct term *term, enum text_charset charset)
{
	int err = tty_open(&term->tty);

	if (err)
		return err;
	err = input_open(&term->input, STDIN_FILENO, charset == TEXT_UTF8);
	term->input.knows = sends_key;
	return err ? err : start_curses(term);
}

/* Sets the terminal's modes; from then on they must be restored at the end. */
static void take_over(struct term *term)
{
	die_set_hook(close_at_once, term);
	crash_set_hook(CRASH_TERMINAL, close_at_once, term);
	set_modes(&term->modes);
}

/* Asks the terminal for its background. The answer comes among the keys, or not at all. */
static void ask_background(struct term *term)
{
	buf_puts(&term->tty.pending, THEME_QUESTION);
	term->asked_ns = clock_ns(CLOCK_MONOTONIC);
	/* Bytes that it does not accept now are sent with the first drawing. */
	tty_flush(&term->tty);
}

bool term_learn(struct term *term)
{
	int background = term->input.background;

	if (!term->asked_ns || !term->input.answered)
		return false;
	/* Looks of texts do not change long after they were first seen. */
	if (clock_ns(CLOCK_MONOTONIC) >= term->asked_ns + ANSWER_WAIT_NS)
		background = -1;
	term->asked_ns = 0;
	if (background < 0)
		return false;
	style_set_up(&term->styles, term->theme, background);
	lines_forget(&term->drawn);
	return true;
}

/*
 * An answer that comes after the program has ended would be read as typed input by the next
 * program.
 */
static void await_answer(struct term *term)
{
	struct pollfd fd = { .fd = term->input.fd, .events = POLLIN };

	while (term->asked_ns && !term->input.answered && !term->input.ended) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), until = term->asked_ns + LAST_WAIT_NS;

		if (now >= until || poll(&fd, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) <= 0)
			return;
		input_feed(&term->input, clock_ns(CLOCK_MONOTONIC));
	}
}

int term_open(struct term *term, enum text_charset charset, const struct theme_choice *theme,
	      bool mouse)
{
	bool asks;
	int err;

	*term = (struct term){ .charset = charset, .theme = theme, .mouse = mouse };
	if (tcgetattr(STDOUT_FILENO, &term->saved))
		return -errno;
	err = open_all(term, charset);
	if (err) {
		free_all(term);
		return err;
	}
	asks = style_set_up(&term->styles, theme, -1);
	set_up_modes(term);
	settle_modes(term);
	prepare_farewell(term);
	make_modes(term);
	/* The terminal stays unchanged until here. */
	take_over(term);
	term->open = true;
	if (asks)
		ask_background(term);
	return 0;
}

/*
 * Leaves ncurses' modes. If the terminal does not accept all pending output in time, it gets the
 * text that restores it. From then on a signal has nothing to restore.
 */
static void leave(struct term *term)
{
	await_answer(term);
	restart_output(term);
	/* Clears the last line: terminals without a second screen keep showing this one. */
	move(term->lines - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	lines_forget(&term->drawn);
	tty_collect(&term->tty);
	append_capability(&term->tty.pending, "cnorm");
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
	/* ncurses sets the keys' mode only with the next key, which already needs it. */
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

void term_redraw(UNUSED struct term *term)
{
	clearok(curscr, TRUE);
}

/* Fills in the place of the mouse, and its action. */
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
			/* Feeds once: input without complete keys must not block it here. */
			if (fed || !input_feed(&term->input, clock_ns(CLOCK_MONOTONIC)))
				return false;
			fed = true;
			continue;
		}
		key->function = got == KEY_CODE_YES;
		/* From ncurses itself: here a change of size comes as a signal. */
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

/* The terminal can move its cursor: else ncurses considers it unsuitable. */
bool term_is_known(const char *type)
{
	char place[64], *at = place, move[] = "cm";

	return tgetent(NULL, type) == 1 && tgetstr(move, &at);
}
