/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: ncurses from start to end and keys (term.c), and writing to the screen
 * (term_write.c). No other code writes to the terminal while it is open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>
#include <wchar.h>

#include "base/text.h"
#include "base/util.h"
#include "ui/term/input.h"
#include "ui/term/style.h"
#include "ui/term/tty.h"

/*
 * The screen's lines as they are written, piece by piece, and as they were last time: most lines of
 * most refreshes have not changed, and need not be drawn.
 */

struct line {
	struct buf now, drawn;
	bool known; /* the screen shows what `drawn` holds */
	uint64_t key, drawn_key; /* represent all contents; 0: nothing does */
};

struct lines {
	struct line *line;
	int n;
};

/* A text in one style. */
struct text_run {
	int column;
	unsigned style;
	const char *text;
	size_t len;
};

/* Sets the number of lines, and forgets what the screen shows. */
void lines_resize(struct lines *lines, int n);

/* Forgets what the screen shows: all lines count as changed. */
void lines_forget(struct lines *lines);

/* Empties all lines. */
void lines_erase(struct lines *lines);

/* Puts a text into an existing line. Text put earlier stays beneath it. */
void lines_put(struct lines *lines, int line, const struct text_run *piece);

/*
 * Sets a key (not 0) that represents all contents of an empty line. True if it is already drawn:
 * then nothing need be put.
 */
bool lines_keep(struct lines *lines, int line, uint64_t key);

/* True if a line is to be drawn. Afterwards it counts as drawn. */
bool lines_take(struct lines *lines, int line);

/* The next piece of a line that was taken, starting with *at = 0; false after the last one. */
bool lines_next(const struct lines *lines, int line, size_t *at, struct text_run *piece);

/* The same for a line that is not taken yet: its present contents, or the kept ones. */
bool lines_next_put(const struct lines *lines, int line, size_t *at, struct text_run *piece);

void lines_free(struct lines *lines);

struct term {
	bool open;
	bool suspended; /* released temporarily */
	void *screen; /* ncurses' SCREEN */
	void *pad; /* ncurses' WINDOW for reading keys */
	struct tty tty;
	struct input input;
	struct termios saved, modes; /* the terminal's modes before, and while it is taken over */
	enum text_charset charset;
	struct styles styles;
	bool mouse; /* it is taken */
	const struct theme_choice *theme;
	uint64_t
		asked_ns; /* when it was asked for its background, CLOCK_MONOTONIC; 0: it was not */
	int lines, columns;
	struct lines drawn; /* the texts put, and which of them ncurses has */
	void *cells; /* of one line, in ncurses' form: chtype */
	bool bell; /* rings with the next drawing */
	bool cursor, cursor_shown; /* shown after the next drawing; shown now */
	int cursor_line, cursor_column;
	struct buf scratch;
	struct buf farewell; /* restores the usual terminal at a sudden end */
};

/* An incoming key. Keys below KEY_MIN of ncurses are characters. */
struct term_key {
	bool function; /* code is a KEY_ of ncurses */
	wint_t code;
	/* With KEY_MOUSE: the place and the action. */
	int line, column;
	enum { MOUSE_NONE, MOUSE_CLICK, MOUSE_UP, MOUSE_DOWN } mouse;
};

/*
 * Takes over the terminal, standard input and output, in that theme, which must outlive it; with or
 * without the mouse, which the terminal otherwise handles itself. An unknown type that begins with
 * "xterm-" is taken for xterm-256color. Returns 0, or -errno: -ENOENT if the type of terminal is
 * unknown, -ENOTTY if such a terminal cannot show a screen. From then on die() restores the
 * terminal.
 */
int term_open(struct term *term, enum text_charset charset, const struct theme_choice *theme,
	      bool mouse);

/* True if a type of terminals is known, and has the capabilities that a screen needs. */
bool term_is_known(const char *type);

/* Restores the terminal. Harmless if it is not open. */
void term_close(struct term *term);

/* Releases the terminal temporarily (to stop the program), and takes it again. */
void term_suspend(struct term *term);
void term_resume(struct term *term);

/*
 * Stops the program, like any that writes to a terminal of another job, until the terminal is this
 * job's. Signals that end the program must be enabled: that may never come.
 */
void term_await_ours(void);

/* True if the terminal is this job's; a terminal that is not the session's counts as its own. */
bool term_is_ours(void);

/* Reads the terminal's size after it has changed. */
void term_resize(struct term *term);

/* Redraws everything, after other output on the screen. */
void term_redraw(struct term *term);

/* The next key, if there is one. Reads a portion of the keyboard's input, and never waits. */
bool term_get(struct term *term, struct term_key *key);

/*
 * Processes the terminal's answer about itself, after term_get(). Returns whether texts look
 * different now.
 */
bool term_learn(struct term *term);

/* When to call term_get() even without new input (CLOCK_MONOTONIC). */
uint64_t term_due_ns(const struct term *term);

/* Rings the bell with the next output. */
void term_bell(struct term *term);

/* Starts a new drawing: all lines are empty. */
void term_erase(struct term *term);

/*
 * Sets a key (not 0) that represents all contents of an empty line. True if the screen shows that
 * already: then nothing need be put.
 */
bool term_keep(struct term *term, int line, uint64_t key);

/*
 * Puts escaped text (text_escape) in exactly `cells` cells, cut or padded at the right; parts
 * outside the screen are left out. Returns the column after it.
 */
int term_put(struct term *term, int line, int column, int cells, const char *text, size_t len,
	     enum style style);

/* Puts a NUL-terminated escaped text in its own width. Returns the column after it. */
int term_puts(struct term *term, int line, int column, const char *text, enum style style);

/* Appends the text of a line, with blanks between separate parts. */
void term_read_line(const struct term *term, int line, struct buf *out);

/* Shows the cursor there, for a prompt; a line below 0 hides it. */
void term_cursor(struct term *term, int line, int column);

/*
 * Draws the lines, and sends as much as the terminal accepts at once. Returns 0, or -errno: -EAGAIN
 * if the rest is pending. Must be called only when nothing is pending.
 */
int term_flush(struct term *term);

/* Sends the pending output. Returns as term_flush(). */
int term_send(struct term *term);

/* The descriptor to poll for writing before term_send(); -1: no output is pending. */
int term_waits_for(const struct term *term);
