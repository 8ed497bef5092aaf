/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal is taken over and given back, or it is said why not, where memory runs out. Not for
 * the sanitizers, which have an allocator of their own.
 */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/util.h"
#include "ui/term/term.h"

/* Bytes that may be in use at a time, by ncurses too; 0: as many as there are. */
static size_t limit, used;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

/* Whether that much more is too much. */
static bool is_too_much(size_t size)
{
	if (!limit || used + size <= limit)
		return false;
	errno = ENOMEM;
	return true;
}

/* Counts what was allocated. */
static void *count(void *memory)
{
	used += memory ? malloc_usable_size(memory) : 0;
	return memory;
}

void *malloc(size_t size)
{
	return is_too_much(size) ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return is_too_much(n * size) ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	size_t before = old ? malloc_usable_size(old) : 0;
	void *memory =
		size > before && is_too_much(size - before) ? NULL : __libc_realloc(old, size);

	if (memory)
		used -= before;
	return count(memory);
}

void free(void *old)
{
	used -= old ? malloc_usable_size(old) : 0;
	__libc_free(old);
}
/* How much more memory there is the next time. */
#define STEP 2000

/* What became of a child. */
enum end { END_WORKED = 0, END_REFUSED = 10, END_UNKNOWN = 11 };

/* Becomes the terminal's: standard input and output are it. */
static void enter(int slave)
{
	int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(slave, STDIN_FILENO);
	dup2(slave, STDOUT_FILENO);
	dup2(silent, STDERR_FILENO);
	setenv("TERM", "xterm-256color", 1);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	alarm(20);
}

/* Opens the terminal with so much memory, draws, and closes it. Does not return. */
static void use_terminal(size_t bytes)
{
	struct winsize size = { .ws_row = 100, .ws_col = 200 };
	static struct term term;
	int err;

	limit = used + bytes;
	err = term_open(&term, TEXT_UTF8, &(struct theme_choice){ 0 }, true);
	if (err)
		_exit(err == -ENOMEM ? END_REFUSED : END_UNKNOWN);
	term_erase(&term);
	term_puts(&term, 1, 1, "a text", STYLE_NORMAL);
	term_flush(&term);
	ioctl(STDOUT_FILENO, TIOCSWINSZ, &size);
	term_resize(&term);
	term_erase(&term);
	term_puts(&term, term.lines - 1, 1, "a text", STYLE_NORMAL);
	term_flush(&term);
	term_close(&term);
	_exit(END_WORKED);
}

/* Reads away what is written to the terminal. */
static void read_away(int master)
{
	char bytes[4096];

	while (read(master, bytes, sizeof(bytes)) > 0)
		;
}

/* Runs that in a child. Its status as of waitpid(). */
static int status_with(size_t bytes, int master, int slave)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		enter(slave);
		use_terminal(bytes);
	}
	assert_true(pid > 0);
	while (!waitpid(pid, &status, WNOHANG)) {
		read_away(master);
		usleep(200);
	}
	read_away(master);
	return status;
}

/*
 * Out of memory, wherever that is noticed: the program says so, or ends by die(); it does not
 * crash, does not take the type of the terminal for unknown, and leaves the modes as they were.
 */
TEST(test_out_of_memory)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct termios before, after;
	int master, slave, status;
	bool worked = false;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	tcgetattr(slave, &before);
	for (size_t bytes = 1; bytes < 8 * 1024 * 1024 && !worked; bytes += STEP) {
		ioctl(master, TIOCSWINSZ, &size);
		status = status_with(bytes, master, slave);
		if (!WIFEXITED(status))
			fail_msg("%zu bytes: ended by signal %d", bytes, WTERMSIG(status));
		worked = WEXITSTATUS(status) == END_WORKED;
		if (!worked && WEXITSTATUS(status) != END_REFUSED &&
		    WEXITSTATUS(status) != EXIT_FAILURE)
			fail_msg("%zu bytes: status %d", bytes, WEXITSTATUS(status));
		assert_int_equal(tcgetattr(slave, &after), 0);
		assert_int_equal(after.c_lflag, before.c_lflag);
		assert_int_equal(after.c_iflag, before.c_iflag);
	}
	assert_true(worked);
	close(master);
	close(slave);
}
