/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"

/* How long the way out waits for a terminal that takes nothing, in ms. */
#define CLOSE_WAIT 300

/* More than a screen can take to draw. */
#define MEMORY_MAX (16 * 1024 * 1024)

/* What is used of that until it is written from the start again. */
#define MEMORY_USUAL (64 * 1024)

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
		int fd = paths[i] ? open(paths[i], O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
				  : -1;

		if (fd < 0)
			continue;
		if (!ioctl(STDOUT_FILENO, TIOCGDEV, &wanted) && !ioctl(fd, TIOCGDEV, &found) &&
		    wanted == found)
			return fd;
		close(fd);
	}
	return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
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

int tty_open(struct tty *tty, int signals)
{
	int err;

	*tty = (struct tty){ .signals = signals };
	tty->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	tty->memory = open_memory();
	tty->fd = open_tty();
	if (tty->out >= 0)
		tty->stream = fdopen(tty->out, "w");
	if (tty->stream && tty->fd >= 0)
		return 0;
	err = -errno;
	if (!tty->stream && tty->out >= 0)
		close(tty->out);
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
	buf_free(&tty->pending);
	*tty = (struct tty){ .out = -1, .fd = -1, .memory = -1 };
}

bool tty_divert(struct tty *tty)
{
	return tty->memory >= 0 && dup3(tty->memory, tty->out, O_CLOEXEC) >= 0;
}

/* Has what is written go to the start of the memory again. */
static void rewind_memory(struct tty *tty)
{
	lseek(tty->memory, 0, SEEK_SET);
	tty->taken = 0;
}

void tty_discard(struct tty *tty)
{
	dup3(STDOUT_FILENO, tty->out, O_CLOEXEC);
	rewind_memory(tty);
}

void tty_collect(struct tty *tty)
{
	struct buf *pending = &tty->pending;
	off_t end, size;

	dup3(STDOUT_FILENO, tty->out, O_CLOEXEC);
	end = lseek(tty->memory, 0, SEEK_CUR);
	size = end - tty->taken;
	if (size > 0) {
		ssize_t n = pread(tty->memory, buf_reserve(pending, (size_t)size), (size_t)size,
				  tty->taken);

		pending->len += n > 0 ? (size_t)n : 0;
		debug_log("screen: %lld bytes", (long long)size);
		tty->taken = end;
	}
	/* It keeps its pages for the next time; of what they hold nothing is read again. */
	if (end > MEMORY_USUAL)
		rewind_memory(tty);
}

bool tty_is_writable(const struct tty *tty)
{
	struct pollfd fd = { .fd = tty->fd, .events = POLLOUT };

	return poll(&fd, 1, CLOSE_WAIT) == 1 && fd.revents & POLLOUT;
}

void tty_send_last(const struct tty *tty, const struct buf *text)
{
	size_t sent = 0;

	while (sent < text->len && tty_is_writable(tty)) {
		ssize_t n = write(tty->fd, text->data + sent, text->len - sent);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		sent += n > 0 ? (size_t)n : 0;
	}
}

/* Waits until the terminal takes more. False when a signal comes before that. */
static bool wait_writable(const struct tty *tty)
{
	struct pollfd fds[] = { { .fd = tty->fd, .events = POLLOUT },
				{ .fd = tty->signals, .events = POLLIN } };

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR;
	return !fds[1].revents;
}

int tty_flush(struct tty *tty)
{
	struct buf *pending = &tty->pending;
	size_t sent = 0;
	int err = 0;

	if (!pending->len)
		return 0;
	while (!err && sent < pending->len) {
		ssize_t n = write(tty->fd, pending->data + sent, pending->len - sent);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			err = wait_writable(tty) ? 0 : -EINTR;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	}
	memmove(pending->data, pending->data + sent, pending->len - sent);
	pending->len -= sent;
	return err;
}
