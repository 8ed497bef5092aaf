/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: ncurses' life from start to end and keys (term.c), and what is put on the
 * screen (term_write.c). Nothing else writes to the terminal while it is open.
 */
#ifndef STALLTOP_UI_TERM_H
#define STALLTOP_UI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/text.h"
#include "ui/input.h"
#include "ui/lines.h"
#include "ui/style.h"
#include "ui/tty.h"

struct term {
	bool open;
	bool suspended; /* given back for a while */
	void *screen; /* ncurses' SCREEN */
	void *pad; /* ncurses' WINDOW that keys are read by */
	struct tty tty;
	struct input input;
	struct termios saved, modes; /* the terminal's modes before, and while it is taken over */
	enum text_charset charset;
	int attributes[STYLES];
	unsigned backgrounds; /* bits of the colour pairs that have a background */
	int lines, columns;
	struct lines drawn; /* what is put, and what ncurses has of it */
	void *cells; /* of one line, as ncurses has them: chtype */
	bool bell; /* rings with what is drawn next */
	bool cursor, cursor_shown; /* it is to be shown with what is drawn next; it is now */
	int cursor_line, cursor_column;
	struct buf scratch, name;
	struct buf farewell; /* what makes of it a usual terminal again, for a sudden end */
};

/* A key as it comes in. Keys below KEY_MIN of ncurses are characters. */
struct term_key {
	bool function; /* code is a KEY_ of ncurses */
	wint_t code;
	/* With KEY_MOUSE: where, and what. */
	int line, column;
	enum { MOUSE_NONE, MOUSE_CLICK, MOUSE_UP, MOUSE_DOWN } mouse;
};

/*
 * Takes the terminal over, standard input and output. 0, or -errno: -ENOENT when the type of
 * terminal is not known, -ENOTTY when such a terminal cannot show a screen. From then on die()
 * restores it.
 */
int term_open(struct term *term, enum text_charset charset);

/* Gives the terminal back as it was. Harmless when it is not open. */
void term_close(struct term *term);

/* Gives the terminal back for a while (the program is to be stopped), and takes it again. */
void term_suspend(struct term *term);
void term_resume(struct term *term);

/* Whether the terminal is this job's; one that is not the session's is. */
bool term_is_ours(void);

/* Takes the terminal's size after it has changed. */
void term_resize(struct term *term);

/* Has everything drawn anew, for when something else wrote on the screen. */
void term_redraw(struct term *term);

/* The next key, if one has come. Takes in a portion of what the keyboard has, and never waits. */
bool term_get(struct term *term, struct term_key *key);

/* When to call term_get() though the keyboard has nothing (CLOCK_MONOTONIC). */
uint64_t term_due_ns(const struct term *term);

/* Rings the bell, with what is sent next. */
void term_bell(struct term *term);

/* Starts drawing anew: all lines are empty. */
void term_erase(struct term *term);

/*
 * Puts escaped text (text_escape) in exactly `cells` cells, cut or padded at the right; what
 * lies outside of the screen is left out. Returns the column behind it.
 */
int term_put(struct term *term, int line, int column, int cells, const char *text, size_t len,
	     enum style style);

/* Puts a NUL-terminated escaped text in as many cells as it takes. Column behind it. */
int term_puts(struct term *term, int line, int column, const char *text, enum style style);

/* Puts a raw name: escaped, in exactly `cells` cells. Column behind it. */
int term_name(struct term *term, int line, int column, int cells, const char *name,
	      enum style style);

/* Shows the cursor there, as a prompt needs it; a line below 0 hides it. */
void term_cursor(struct term *term, int line, int column);

/*
 * Draws what was put, and sends what the terminal takes at once. 0, or -errno: -EAGAIN when the
 * rest waits for it. To be called when nothing waits.
 */
int term_flush(struct term *term);

/* Sends what waits for the terminal. As term_flush(). */
int term_send(struct term *term);

/* The descriptor that becomes writable when term_send() is to be called; -1: nothing waits. */
int term_waits_for(const struct term *term);

#endif
