/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <ncurses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crash.h"
#include "util.h"

/* How long a key like an arrow may take to come in whole before it counts as Esc, in ms. */
#define ESCAPE_DELAY 50

/* How long the way out waits for a terminal that takes nothing, in ms. */
#define CLOSE_WAIT 300

/* More than a screen can take to draw. */
#define MEMORY_MAX (16 * 1024 * 1024)

/* What is used of that until it is written from the start again. */
#define MEMORY_USUAL (64 * 1024)

/*
 * How a style looks. The colours of 256 are told apart on dark and on light backgrounds;
 * of the 16, yellow, white and cyan are not. -1 is the terminal's own colour.
 */
struct look {
	attr_t weight; /* beside a colour of 256 */
	short fg256, bg256;
	attr_t weight16;
	short fg16, bg16;
	attr_t mono; /* without colours */
};

static const struct look looks[STYLES] = {
	[STYLE_NORMAL] = { 0, -1, -1, 0, -1, -1, 0 },
	[STYLE_DIM] = { 0, 245, -1, A_DIM, -1, -1, A_DIM },
	[STYLE_BOLD] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_LABEL] = { 0, 31, -1, 0, -1, -1, 0 },
	[STYLE_WARM] = { 0, 130, -1, 0, COLOR_MAGENTA, -1, A_BOLD },
	[STYLE_HOT] = { A_BOLD, 160, -1, A_BOLD, COLOR_RED, -1, A_BOLD | A_UNDERLINE },
	[STYLE_HEAD] = { 0, 231, 24, 0, COLOR_WHITE, COLOR_BLUE, A_REVERSE },
	[STYLE_HEAD_SORT] = { A_BOLD, 231, 130, A_BOLD, COLOR_WHITE, COLOR_MAGENTA,
			      A_BOLD | A_UNDERLINE },
	[STYLE_SELECTED] = { A_REVERSE, -1, -1, A_REVERSE, -1, -1, A_REVERSE },
	[STYLE_SELECTED_HOT] = { A_REVERSE | A_BOLD, -1, -1, A_REVERSE | A_BOLD, -1, -1,
				 A_REVERSE | A_BOLD },
	[STYLE_SUM] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_NOTE] = { 0, 130, -1, 0, COLOR_MAGENTA, -1, A_BOLD },
	[STYLE_MESSAGE] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_ERROR] = { A_BOLD, 231, 160, A_BOLD, COLOR_WHITE, COLOR_RED, A_REVERSE },
	[STYLE_KEY] = { A_BOLD, 31, -1, A_BOLD, -1, -1, A_BOLD },
};

/* Makes the styles of what the terminal can, and NO_COLOR (no-color.org) allows. */
static void set_up_styles(struct term *term)
{
	const char *no_color = getenv("NO_COLOR");
	bool colour = has_colors() && !(no_color && *no_color) && start_color() != ERR &&
		      use_default_colors() != ERR && COLOR_PAIRS > STYLES;

	for (unsigned style = 0; style < STYLES; style++) {
		const struct look *look = &looks[style];
		bool many = COLORS >= 256;
		short fg = many ? look->fg256 : look->fg16, bg = many ? look->bg256 : look->bg16;
		attr_t attributes = many ? look->weight : look->weight16;

		if (!colour)
			attributes = look->mono;
		else if ((fg >= 0 || bg >= 0) && init_pair((short)(style + 1), fg, bg) != ERR)
			attributes |= (attr_t)COLOR_PAIR(style + 1);
		if (colour && bg >= 0)
			term->backgrounds |= 1U << (style + 1);
		term->attributes[style] = (int)attributes;
	}
}

/*
 * Opens the terminal once more, so that it can be written to without blocking, and nobody
 * else who has it open is troubled. The plain descriptor where that cannot be had.
 */
static int open_tty(void)
{
	const char *name = ttyname(STDOUT_FILENO);
	const char *const paths[] = { name, "/dev/tty" };
	unsigned wanted, found;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int fd = paths[i] ? open(paths[i], O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) :
				    -1;

		if (fd < 0)
			continue;
		if (!ioctl(STDOUT_FILENO, TIOCGDEV, &wanted) && !ioctl(fd, TIOCGDEV, &found) &&
		    wanted == found)
			return fd;
		close(fd);
	}
	return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

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
	struct pollfd fd = { .fd = term->tty, .events = POLLOUT };
	size_t sent = 0;

	while (sent < term->farewell.len && poll(&fd, 1, CLOSE_WAIT) == 1) {
		ssize_t n = write(term->tty, term->farewell.data + sent, term->farewell.len - sent);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		sent += n > 0 ? (size_t)n : 0;
	}
	tcsetattr(STDOUT_FILENO, TCSANOW, &term->saved);
}

/* The arrows as they come from a terminal that ignores the key pad's mode. */
static void define_arrows(void)
{
	static const struct {
		const char *text;
		int key;
	} arrows[] = { { "\033[A", KEY_UP }, { "\033[B", KEY_DOWN }, { "\033[C", KEY_RIGHT },
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
	if (term->memory >= 0)
		typeahead(-1);
	mouseinterval(0);
	/* Presses alone: asked for clicks ncurses loses some when press and release come as one. */
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	set_up_styles(term);
	take_size(term);
}

/* Closes the descriptors. */
static void close_files(struct term *term)
{
	if (term->stream)
		fclose(term->stream);
	if (term->tty >= 0)
		close(term->tty);
	if (term->memory >= 0)
		close(term->memory);
	term->stream = NULL;
	term->tty = term->memory = term->out = -1;
}

/*
 * Opens the memory that ncurses draws to, -1 where that cannot be had: then it draws to the
 * terminal, and waits for it. What limits the length of files limits this, too.
 */
static int open_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < MEMORY_MAX)
		return -1;
	return memfd_create("screen", MFD_CLOEXEC);
}

/* Opens them. 0 or -errno. */
static int open_files(struct term *term)
{
	int err;

	term->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	term->memory = open_memory();
	term->tty = open_tty();
	if (term->out >= 0)
		term->stream = fdopen(term->out, "w");
	if (term->stream && term->tty >= 0)
		return 0;
	err = -errno;
	if (!term->stream && term->out >= 0)
		close(term->out);
	close_files(term);
	return err;
}

/* Has what is written go to the start of the memory again. */
static void rewind_memory(struct term *term)
{
	lseek(term->memory, 0, SEEK_SET);
	term->taken = 0;
}

/* Turns what ncurses writes away from the terminal, into memory. False where it cannot. */
static bool divert(struct term *term)
{
	return term->memory >= 0 && dup3(term->memory, term->out, O_CLOEXEC) >= 0;
}

/*
 * Until it has ended once ncurses 6.4 writes out every movement of the cursor by itself
 * (lib_mvcur.c). The terminal hears nothing of this end and new start.
 */
static void settle(struct term *term)
{
	if (!divert(term))
		return;
	endwin();
	refresh();
	dup3(STDOUT_FILENO, term->out, O_CLOEXEC);
	rewind_memory(term);
}

int term_open(struct term *term, enum text_charset charset, int signals)
{
	int err;

	*term = (struct term){ .charset = charset, .signals = signals, .out = -1, .tty = -1,
			       .memory = -1 };
	if (tcgetattr(STDOUT_FILENO, &term->saved))
		return -errno;
	err = open_files(term);
	if (err)
		return err;
	term->screen = newterm(NULL, term->stream, stdin);
	if (!term->screen) {
		close_files(term);
		return -ENOENT;
	}
	term->open = true;
	die_set_hook(close_at_death, term);
	set_up_modes(term);
	settle(term);
	prepare_farewell(term);
	crash_set_hook(CRASH_TERMINAL, close_at_crash, term);
	return 0;
}

/* Turns it back, and takes what has been written. */
static void take_diverted(struct term *term)
{
	struct buf *pending = &term->pending;
	off_t end, size;

	dup3(STDOUT_FILENO, term->out, O_CLOEXEC);
	end = lseek(term->memory, 0, SEEK_CUR);
	size = end - term->taken;
	if (size > 0) {
		ssize_t n = pread(term->memory, buf_reserve(pending, (size_t)size), (size_t)size,
				  term->taken);

		pending->len += n > 0 ? (size_t)n : 0;
		debug_log("screen: %lld bytes", (long long)size);
		term->taken = end;
	}
	/* It keeps its pages for the next time; of what they hold nothing is read again. */
	if (end > MEMORY_USUAL)
		rewind_memory(term);
}

/* Whether the terminal takes something within some time. */
static bool is_writable(const struct term *term, int timeout_ms)
{
	struct pollfd fd = { .fd = term->tty, .events = POLLOUT };

	return poll(&fd, 1, timeout_ms) == 1 && fd.revents & POLLOUT;
}

/* Sends what is left, for as long as the terminal takes some in time. */
static void send_last(struct term *term)
{
	struct buf *pending = &term->pending;
	size_t sent = 0;

	while (sent < pending->len && is_writable(term, CLOSE_WAIT)) {
		ssize_t n = write(term->tty, pending->data + sent, pending->len - sent);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		sent += n > 0 ? (size_t)n : 0;
	}
	pending->len = 0;
}

/*
 * Leaves ncurses' modes. By way of memory: writing to a terminal that takes no more would
 * never return. Where it takes nothing, at least its own modes are restored.
 */
static void leave(struct term *term)
{
	bool diverted = divert(term);

	if (diverted || is_writable(term, CLOSE_WAIT)) {
		/* Terminals without a second screen keep what stands there. */
		move(term->lines - 1, 0);
		clrtoeol();
		refresh();
		endwin();
		lines_forget(&term->drawn);
	}
	if (diverted)
		take_diverted(term);
	send_last(term);
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
	close_files(term);
	buf_free(&term->scratch);
	buf_free(&term->name);
	buf_free(&term->pending);
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
	term->pending.len = 0;
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
	key->mouse = event.bstate & BUTTON4_PRESSED ? MOUSE_UP :
		     event.bstate & BUTTON5_PRESSED ? MOUSE_DOWN :
		     event.bstate & BUTTON1_PRESSED ? MOUSE_CLICK :
						       MOUSE_NONE;
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

void term_erase(struct term *term)
{
	lines_erase(&term->drawn);
	/* Where curs_set() does nothing the cursor is to stand still at least. */
	term_cursor(term, -1, 0);
}

int term_put(struct term *term, int line, int column, int cells, const char *text, size_t len,
	     enum style style)
{
	struct piece piece = { .column = column, .style = style };
	int end = column + cells;

	if (line < 0 || line >= term->lines || column < 0 || column >= term->columns || cells <= 0)
		return end;
	if (end > term->columns)
		cells = term->columns - column;
	term->scratch.len = 0;
	text_fit(&term->scratch, text, len, (unsigned)cells, false, term->charset);
	piece.text = term->scratch.data;
	piece.len = term->scratch.len;
	lines_put(&term->drawn, line, &piece);
	return end;
}

int term_puts(struct term *term, int line, int column, const char *text, enum style style)
{
	size_t len = strlen(text);

	return term_put(term, line, column, (int)text_width(text, len, term->charset), text, len,
			style);
}

int term_name(struct term *term, int line, int column, int cells, const char *name,
	      enum style style)
{
	term->name.len = 0;
	text_escape(&term->name, name, strlen(name), term->charset);
	return term_put(term, line, column, cells, term->name.data, term->name.len, style);
}

void term_cursor(struct term *term, int line, int column)
{
	bool shown = line >= 0;

	if (shown != term->cursor)
		curs_set(shown);
	term->cursor = shown;
	if (!shown)
		line = term->lines - 1, column = 0;
	term->cursor_line = line;
	term->cursor_column = column < term->columns ? column : term->columns - 1;
}

/* Whether a text is of printable ASCII alone. */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/*
 * Blanks between texts take the style of the text before where that is not to be seen: from
 * one dim figure to the next nothing has to be sent.
 */
static void join_styles(const struct term *term, chtype *cells)
{
	int last = term->columns - 1;

	/* The rest of a line is cleared as a whole. */
	while (last > 0 && cells[last] == ' ')
		last--;
	for (int i = 1; i < last; i++) {
		chtype look = cells[i - 1] & A_ATTRIBUTES;

		if (cells[i] == ' ' && !(look & (A_REVERSE | A_UNDERLINE)) &&
		    !(term->backgrounds >> PAIR_NUMBER(look) & 1))
			cells[i] |= look;
	}
}

/* Hands a line of printable ASCII to ncurses, as cells that it need not look into. */
static void draw_plain(struct term *term, int line)
{
	chtype *cells = term->cells;
	struct piece piece;

	for (int i = 0; i < term->columns; i++)
		cells[i] = ' ';
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);)
		for (size_t i = 0; i < piece.len && piece.column + (int)i < term->columns; i++)
			cells[piece.column + (int)i] =
				(chtype)piece.text[i] | (chtype)term->attributes[piece.style];
	join_styles(term, cells);
	mvaddchnstr(line, 0, cells, term->columns);
}

/* Hands a line to ncurses. */
static void draw_line(struct term *term, int line)
{
	struct piece piece;
	bool plain = true;

	/* Where a text lies over half of a wide character, that is for ncurses to clear. */
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);)
		plain = plain && is_plain(piece.text, piece.len);
	if (plain) {
		draw_plain(term, line);
		return;
	}
	move(line, 0);
	clrtoeol();
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);) {
		attrset(term->attributes[piece.style]);
		mvaddnstr(line, piece.column, piece.text, (int)piece.len);
	}
}

/* Hands the lines that changed to ncurses, has it draw into memory, and takes that. */
static void collect(struct term *term)
{
	for (int line = 0; line < term->lines; line++)
		if (lines_take(&term->drawn, line))
			draw_line(term, line);
	move(term->cursor_line, term->cursor_column);
	wnoutrefresh(stdscr);
	if (!divert(term)) {
		if (term->memory < 0)
			doupdate();
		return;
	}
	doupdate();
	take_diverted(term);
}

/* Waits until the terminal takes more. False when a signal comes before that. */
static bool wait_writable(const struct term *term)
{
	struct pollfd fds[] = { { .fd = term->tty, .events = POLLOUT },
				{ .fd = term->signals, .events = POLLIN } };

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR;
	return !fds[1].revents;
}

/* Sends what was drawn. What a signal leaves over is sent before all else the next time. */
static int pump(struct term *term)
{
	struct buf *pending = &term->pending;
	size_t sent = 0;
	int err = 0;

	while (!err && sent < pending->len) {
		ssize_t n = write(term->tty, pending->data + sent, pending->len - sent);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			err = wait_writable(term) ? 0 : -EINTR;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	}
	memmove(pending->data, pending->data + sent, pending->len - sent);
	pending->len -= sent;
	return err;
}

void term_bell(struct term *term)
{
	buf_putc(&term->pending, '\a');
}

int term_flush(struct term *term)
{
	int err = term->pending.len ? pump(term) : 0;

	if (err)
		return err;
	collect(term);
	return term->pending.len ? pump(term) : 0;
}
