// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_SCREENS 16
#define MAX_ARGS 64
#define MAX_ENV 32
#define ESCAPE_S 0.07 /* longer than the program waits behind an Esc */
#define LOOK_S 0.01
#define WHOLE_S 0.5 /* the longest that a screen may take to be written */

static struct screen *screens[MAX_SCREENS];
static size_t n_screens;

double screen_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double screen_slowness(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 4;
#else
	return 1;
#endif
}

int screen_setup(void **state)
{
	(void)state;
	scratch_begin();
	return 0;
}

/* Ends the program and forgets the screen. */
static void close_screen(struct screen *s)
{
	job_close(&s->job);
	if (s->master >= 0) {
		close(s->master);
		close(s->slave);
	}
	vterm_free(s->vt);
	free(s->log);
	free(s);
}

int screen_teardown(void **state)
{
	(void)state;
	while (n_screens)
		close_screen(screens[--n_screens]);
	scratch_end();
	return 0;
}

int screen_setup_root(void **state)
{
	if (screen_setup(state))
		return 1;
	return geteuid() ? 0 : guard_start();
}

int screen_teardown_root(void **state)
{
	int err = screen_teardown(state);

	guard_undo(0);
	return err;
}

/* libvterm's answers, keys and mouse reports: what a terminal sends. */
static void send_bytes(const char *bytes, size_t len, void *user)
{
	struct screen *s = user;

	while (s->master >= 0 && len) {
		ssize_t n = write(s->master, bytes, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			break;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

/* What the program switches. */
static int set_property(VTermProp prop, VTermValue *value, void *user)
{
	struct screen *s = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		s->alt = value->boolean;
	else if (prop == VTERM_PROP_CURSORVISIBLE)
		s->cursor = value->boolean;
	return 1;
}

/* A terminal of libvterm. */
static void make_terminal(struct screen *s)
{
	static const VTermScreenCallbacks callbacks = { .settermprop = set_property };

	s->vt = vterm_new(s->rows, s->cols);
	vterm_set_utf8(s->vt, 1);
	s->vts = vterm_obtain_screen(s->vt);
	vterm_screen_set_callbacks(s->vts, &callbacks, s);
	vterm_screen_enable_altscreen(s->vts, 1);
	s->cursor = true;
	vterm_screen_reset(s->vts, 1);
	vterm_output_set_callback(s->vt, send_bytes, s);
}

/* The program under test. */
static const char *program_under_test(void)
{
	const char *program = getenv("STALLTOP");

	return program ? program : "./stalltop";
}

/* Splits the arguments; their number with the program's name. */
static void split_args(const char *program, const char *args, const char **argv)
{
	char *rest = (char *)scratch_format("%s", scratch_ours(args ? args : ""));
	size_t n = 0;

	argv[n++] = program;
	while (rest && *rest && n < MAX_ARGS - 1) {
		argv[n] = strsep(&rest, " ");
		n += *argv[n] != '\0';
	}
	argv[n] = NULL;
}

/* The same environment wherever the tests run, and what is ordered behind it. */
static void make_environment(const struct screen_how *how, const char **env)
{
	size_t n = 0;

	env[n++] = scratch_format("TERM=%s", how->term ? how->term : "xterm-256color");
	env[n++] = scratch_format("XDG_CONFIG_HOME=%s",
				  how->config_home ? how->config_home : scratch_folder());
	env[n++] = "LC_ALL=C.UTF-8";
	/* libgpm, which ncurses loads for a console, leaks. */
	env[n++] = "NCURSES_GPM_TERMS=none";
	env[n++] = "NO_COLOR";
	env[n++] = "COLORTERM";
	env[n++] = "COLUMNS";
	env[n++] = "LINES";
	env[n++] = "ESCDELAY";
	for (size_t i = 0; how->env && how->env[i] && n < MAX_ENV - 1; i++)
		env[n++] = how->env[i];
	env[n] = NULL;
}

struct screen *screen_start(const struct screen_how *how)
{
	const char *program = how->program ? how->program : program_under_test();
	const char *argv[MAX_ARGS], *env[MAX_ENV];
	struct screen *s = calloc(1, sizeof(*s));
	struct job_how job = { .in = how->in,
			       .program = program,
			       .argv = argv,
			       .env = env,
			       .uid = how->uid,
			       .file_limit = how->file_limit };
	struct winsize size = { 0 };

	assert_non_null(s);
	assert_true(n_screens < MAX_SCREENS);
	s->rows = how->rows ? how->rows : 24;
	s->cols = how->cols ? how->cols : 80;
	size.ws_row = (unsigned short)s->rows;
	size.ws_col = (unsigned short)s->cols;
	split_args(program, how->args, argv);
	make_environment(how, env);
	assert_int_equal(openpty(&s->master, &s->slave, NULL, NULL, &size), 0);
	fcntl(s->master, F_SETFD, FD_CLOEXEC);
	fcntl(s->slave, F_SETFD, FD_CLOEXEC);
	fcntl(s->master, F_SETFL, O_NONBLOCK);
	tcgetattr(s->slave, &s->before);
	make_terminal(s);
	screens[n_screens++] = s;
	job.terminal = s->slave;
	s->started = screen_now();
	assert_int_equal(job_start(&s->job, &job), 0);
	return s;
}

pid_t screen_pid(const struct screen *s)
{
	return s->job.pid;
}

double screen_started(const struct screen *s)
{
	return s->started;
}

void screen_type(struct screen *s, const char *text)
{
	size_t len;

	text = scratch_ours(text);
	len = strlen(text);
	s->escape = len && text[len - 1] == '\x1b' ? screen_now() : 0;
	send_bytes(text, len, s);
}

size_t screen_offer(struct screen *s, const char *bytes, size_t len)
{
	ssize_t n = s->master < 0 ? -1 : write(s->master, bytes, len);

	return n > 0 ? (size_t)n : 0;
}

void screen_key(struct screen *s, VTermKey key)
{
	vterm_keyboard_key(s->vt, key, VTERM_MOD_NONE);
}

void screen_click(struct screen *s, int row, int col, int button)
{
	int code = button < 4 ? button - 1 : 60 + button;

	/* by hand: libvterm does not see a mode that is not the first of several set at once */
	screen_type(s, scratch_format("\x1b[<%d;%d;%dM", code, col + 1, row + 1));
	if (button < 4)
		screen_type(s, scratch_format("\x1b[<%d;%d;%dm", code, col + 1, row + 1));
}

void screen_resize(struct screen *s, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	screen_pump(s, 0);
	s->rows = rows;
	s->cols = cols;
	vterm_set_size(s->vt, rows, cols);
	assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
}

void screen_scribble(struct screen *s, const char *text)
{
	vterm_input_write(s->vt, text, strlen(text));
}

void screen_hang_up(struct screen *s)
{
	screen_pump(s, 0);
	close(s->slave);
	close(s->master);
	s->master = -1;
}

/* Hands a byte to the terminal, which knows nothing of repeated characters. */
static void feed_byte(struct screen *s, char byte)
{
	unsigned char c = (unsigned char)byte;

	if (s->repeat == NUMBER && byte == 'b') {
		/* a sequence without any meaning in its place */
		vterm_input_write(s->vt, "z", 1);
		for (unsigned int i = 0; i < s->count && i < 1000; i++)
			vterm_input_write(s->vt, s->last, s->last_len);
		s->repeat = PLAIN;
		return;
	}
	vterm_input_write(s->vt, &byte, 1);
	if (c == 0x1B) {
		s->repeat = ESCAPE;
	} else if (s->repeat == ESCAPE && byte == '[') {
		s->repeat = NUMBER;
		s->count = 0;
	} else if (s->repeat == NUMBER && byte >= '0' && byte <= '9') {
		s->count = s->count * 10 + (unsigned int)(byte - '0');
	} else if (s->repeat != PLAIN) {
		s->repeat = PLAIN;
	} else if (c >= 0x20) {
		if (c < 0x80 || c >= 0xC0)
			s->last_len = 0;
		if (s->last_len < sizeof(s->last))
			s->last[s->last_len++] = byte;
	}
}

/* Reads what is there; false when there is nothing. */
static bool read_some(struct screen *s)
{
	char bytes[65536];
	ssize_t n = s->master < 0 ? -1 : read(s->master, bytes, sizeof(bytes));

	if (n <= 0)
		return false;
	/* What was written can be searched as a text. */
	if (s->len + (size_t)n + 1 > s->cap) {
		s->cap = (s->len + (size_t)n) * 2 + 1;
		s->log = realloc(s->log, s->cap);
		assert_non_null(s->log);
	}
	memcpy(s->log + s->len, bytes, (size_t)n);
	s->len += (size_t)n;
	s->log[s->len] = '\0';
	for (ssize_t i = 0; i < n; i++)
		feed_byte(s, bytes[i]);
	return true;
}

/* Waits for output or news of the program until a point in time; whether there was output. */
static bool wait_for_output(struct screen *s, double until)
{
	struct pollfd pfd[2] = { { .fd = s->master, .events = POLLIN },
				 { .fd = s->job.events, .events = POLLIN } };
	double left = until - screen_now();
	bool any = false;

	/* the shell is gone only when the test closes it */
	poll(pfd, s->job.ended ? 1 : 2, left > 0 ? (int)(left * 1000) + 1 : 0);
	job_look(&s->job);
	while (read_some(s))
		any = true;
	return any;
}

void screen_pump(struct screen *s, double seconds)
{
	double until = screen_now() + seconds;

	do
		wait_for_output(s, until);
	while (screen_now() < until);
}

bool screen_wait_until(struct screen *s, double seconds, screen_predicate *holds, const void *arg)
{
	double until = screen_now() + seconds;

	wait_for_output(s, 0);
	while (!holds(s, arg)) {
		if (screen_now() >= until)
			return false;
		wait_for_output(s, until);
	}
	return true;
}

/* Whether the program can write nothing more by itself. */
static bool is_gone(const struct screen *s)
{
	return s->job.ended || s->job.stopped || s->master < 0;
}

/* Whether the program has read all that was typed and sleeps, or is no more. */
static bool is_at_rest(struct screen *s)
{
	int unread = 0;

	if (is_gone(s))
		return true;
	/* an Esc may yet be the beginning of another key */
	if (s->escape > 0 && screen_now() < s->escape + ESCAPE_S)
		return false;
	return !ioctl(s->slave, FIONREAD, &unread) && !unread && job_state(&s->job) == 'S';
}

void screen_settle(struct screen *s)
{
	double until = screen_now() + SCREEN_PATIENCE;

	/* once might be between two steps of it */
	for (int rests = 0; rests < 3 && screen_now() < until;)
		rests = wait_for_output(s, screen_now() + LOOK_S) || !is_at_rest(s) ? 0 : rests + 1;
}

/* Reads on until nothing comes for a moment: what is there then is no half of a screen. */
static void read_whole(struct screen *s)
{
	double until = screen_now() + WHOLE_S;

	while (screen_now() < until && (wait_for_output(s, screen_now() + LOOK_S) ||
					(!is_gone(s) && job_state(&s->job) != 'S')))
		;
}

void screen_await_at(struct screen *s, screen_predicate *holds, const void *arg, const char *what,
		     const char *file, int line)
{
	double until = screen_now() + SCREEN_PATIENCE * screen_slowness();

	do {
		if (!screen_wait_until(s, until - screen_now(), holds, arg))
			screen_fail(s, what, file, line);
		read_whole(s);
	} while (!holds(s, arg));
}

void screen_fail(struct screen *s, const char *what, const char *file, int line)
{
	printf("# %s:%d: not seen: %s%s\n", file, line, what,
	       s->job.ended ? "; the program has ended" : "");
	printf("# the screen, %d x %d:\n", s->cols, s->rows);
	for (int row = 0; row < s->rows; row++)
		printf("# |%s\n", screen_line(s, row));
	fflush(stdout);
	_fail(file, line);
}

bool screen_has_ended(struct screen *s, const void *arg)
{
	(void)arg;
	return s->job.ended;
}

bool screen_has_stopped(struct screen *s, const void *arg)
{
	(void)arg;
	return s->job.stopped;
}

int screen_end(struct screen *s, double seconds)
{
	if (!screen_wait_until(s, seconds * screen_slowness(), screen_has_ended, NULL))
		screen_fail(s, "the program's end", __FILE__, __LINE__);
	screen_pump(s, 0.02);
	return s->job.status;
}

bool screen_ends_unread(struct screen *s, double seconds)
{
	double until = screen_now() + seconds * screen_slowness();

	while (!s->job.ended && screen_now() < until) {
		struct pollfd pfd = { .fd = s->job.events, .events = POLLIN };

		poll(&pfd, 1, (int)((until - screen_now()) * 1000) + 1);
		job_look(&s->job);
	}
	return s->job.ended;
}

void screen_await_stop(struct screen *s)
{
	screen_await(s, screen_has_stopped, NULL);
	screen_pump(s, 0.02);
}

void screen_foreground(struct screen *s)
{
	job_foreground(&s->job);
}
