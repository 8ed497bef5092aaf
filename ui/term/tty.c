/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

/* Maximum wait at the end for the terminal to accept any of the output. */
#define CLOSE_WAIT_NS (700 * NSEC_PER_MSEC)
/* Maximum wait for one that accepts a little at a time. */
#define CLOSE_MOST_NS (5 * NSEC_PER_SEC)

/* More than the largest screen needs to draw. */
#define MEMORY_MAX (16 * 1024 * 1024)

/* The size from which the memory is reused from its start. */
#define MEMORY_USUAL (64 * 1024)

/* The pipe's capacity: the maximum for every user. */
#define PIPE_BYTES (1024 * 1024)

int tty_reopen(int fd, int flags, bool *blocks)
{
	const char *name = ttyname(fd);
	const char *const paths[] = { name, "/dev/tty" };
	unsigned wanted, found;

	*blocks = false;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int opened =
			paths[i] ? open(paths[i], flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

		if (opened < 0)
			continue;
		if (!ioctl(fd, TIOCGDEV, &wanted) && !ioctl(opened, TIOCGDEV, &found) &&
		    wanted == found)
			return opened;
		close(opened);
	}
	*blocks = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/*
 * Opens the memory that ncurses draws into. The limit on the length of files limits the memory,
 * too: then it is a pipe, with room for the drawing of a screen. Returns 0 or -errno.
 */
static int open_memory(struct tty *tty)
{
	struct rlimit limit;
	int ends[2];

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= MEMORY_MAX) {
		tty->memory = memfd_create("screen", MFD_CLOEXEC);
		if (tty->memory >= 0)
			return 0;
	}
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	tty->pipe = ends[0];
	tty->memory = ends[1];
	fcntl(tty->memory, F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

/*
 * Opens the terminal that ncurses starts with: an unused one with the same modes and size. ncurses
 * waits until a terminal has written everything before it sets modes, which never happens on a
 * stopped terminal. Returns the terminal itself if there is no unused one.
 */
static int open_double(void)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios modes;
	struct winsize size;

	if (fd < 0)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (!tcgetattr(STDOUT_FILENO, &modes))
		tcsetattr(fd, TCSANOW, &modes);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		ioctl(fd, TIOCSWINSZ, &size);
	return fd;
}

int tty_open(struct tty *tty)
{
	int out, err;

	*tty = (struct tty){ .fd = -1, .memory = -1, .pipe = -1 };
	err = open_memory(tty);
	if (!err) {
		tty->fd = tty_reopen(STDOUT_FILENO, O_WRONLY, &tty->blocks);
		err = tty->fd < 0 ? -errno : 0;
	}
	if (!err) {
		out = open_double();
		tty->stream = out < 0 ? NULL : fdopen(out, "w");
		err = tty->stream ? 0 : -errno;
		if (err && out >= 0)
			close(out);
	}
	if (err)
		tty_close(tty);
	return err;
}

void tty_close(struct tty *tty)
{
	if (tty->stream)
		fclose(tty->stream);
	if (tty->fd >= 0)
		close(tty->fd);
	if (tty->memory >= 0)
		close(tty->memory);
	if (tty->pipe >= 0)
		close(tty->pipe);
	buf_free(&tty->pending);
	*tty = (struct tty){ .fd = -1, .memory = -1, .pipe = -1 };
}

int tty_divert(struct tty *tty)
{
	return dup3(tty->memory, fileno(tty->stream), O_CLOEXEC) < 0 ? -errno : 0;
}

/* The number of bytes from ncurses that have not been taken yet. */
static size_t untaken(const struct tty *tty)
{
	int waiting = 0;

	if (tty->pipe >= 0)
		return ioctl(tty->pipe, FIONREAD, &waiting) ? 0 : (size_t)waiting;
	return (size_t)(lseek(tty->memory, 0, SEEK_CUR) - tty->taken);
}

void tty_collect(struct tty *tty)
{
	struct buf *pending = &tty->pending;
	size_t size = untaken(tty);
	ssize_t n;

	if (!size)
		return;
	if (tty->pipe >= 0)
		n = read(tty->pipe, buf_reserve(pending, size), size);
	else
		n = pread(tty->memory, buf_reserve(pending, size), size, tty->taken);
	pending->len += n > 0 ? (size_t)n : 0;
	debug_log("screen: %zu bytes", size);
	tty->taken += (off_t)size;
	/* The memory keeps its pages for the next time; their contents are not read again. */
	if (tty->pipe < 0 && tty->taken > MEMORY_USUAL) {
		lseek(tty->memory, 0, SEEK_SET);
		tty->taken = 0;
	}
}

void tty_discard(struct tty *tty)
{
	size_t before = tty->pending.len;

	tty_collect(tty);
	tty->pending.len = before;
}

/* True if the terminal accepts output within some ms. */
static bool is_writable(const struct tty *tty, int timeout)
{
	struct pollfd fd = { .fd = tty->fd, .events = POLLOUT };

	return poll(&fd, 1, timeout) == 1 && fd.revents & POLLOUT;
}

/* Writes as much as the terminal accepts at once. Returns as write(2), with EAGAIN for nothing. */
static ssize_t write_some(const struct tty *tty, const char *bytes, size_t len)
{
	if (!tty->blocks)
		return write(tty->fd, bytes, len);
	/* A writable terminal accepts one byte; more bytes might block. */
	if (is_writable(tty, 0))
		return write(tty->fd, bytes, 1);
	errno = EAGAIN;
	return -1;
}

bool tty_send_last(const struct tty *tty, const struct buf *text)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), until = begun + CLOSE_WAIT_NS;
	size_t sent = 0;

	while (sent < text->len) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		ssize_t n;

		if (now >= until || !is_writable(tty, (int)((until - now) / NSEC_PER_MSEC)))
			return false;
		n = write_some(tty, text->data + sent, text->len - sent);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		/* One that is slow, and not stopped, gets all of it. */
		if (n > 0 && now - begun < CLOSE_MOST_NS)
			until = now + CLOSE_WAIT_NS;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

int tty_flush(struct tty *tty)
{
	struct buf *pending = &tty->pending;
	size_t sent = 0;
	int err = 0;

	while (!err && sent < pending->len) {
		ssize_t n = write_some(tty, pending->data + sent, pending->len - sent);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	}
	if (sent) {
		memmove(pending->data, pending->data + sent, pending->len - sent);
		pending->len -= sent;
	}
	return err;
}
