/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

/* Minimum room for the next read of a long text. */
#define ROOM_LEAST 16384

int file_open(int dirfd, const char *path, int flags)
{
	int fd = openat(dirfd, path, O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);

	return fd < 0 ? -errno : fd;
}

void file_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Reads once, from an offset of the file. Returns the number of bytes or -errno. */
static ssize_t read_at(int fd, void *text, size_t size, size_t at)
{
	ssize_t got;

	do {
		got = pread(fd, text, size, (off_t)at);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int file_pread(int fd, void *text, size_t size)
{
	return (int)read_at(fd, text, size, 0);
}

int file_read(int dirfd, const char *path, void *text, size_t size)
{
	int fd = file_open(dirfd, path, O_NOFOLLOW);
	int got = fd;

	if (fd >= 0) {
		got = file_pread(fd, text, size);
		close(fd);
	}
	return got;
}

int file_reread(int fd, struct buf *text)
{
	size_t room;
	ssize_t got;

	text->len = 0;
	do {
		buf_reserve(text, ROOM_LEAST);
		room = text->cap - text->len;
		got = read_at(fd, text->data + text->len, room, text->len);
		if (got < 0)
			return (int)got;
		text->len += (size_t)got;
	} while ((size_t)got == room);
	return 0;
}

int file_read_all(int dirfd, const char *path, struct buf *text, size_t limit)
{
	int fd = file_open(dirfd, path, 0);
	size_t before = text->len;
	ssize_t got = 1;
	int err = 0;

	if (fd < 0)
		return fd;
	while (got && !err) {
		got = read(fd, buf_reserve(text, ROOM_LEAST), ROOM_LEAST);
		if (got >= 0)
			text->len += (size_t)got;
		else if (errno != EINTR)
			err = -errno;
		if (text->len - before > limit)
			err = -EFBIG;
	}
	close(fd);
	if (err)
		text->len = before;
	return err;
}

/*
 * Creates the new file. Its name is always the same, so that a file left behind by a crash is
 * overwritten next time. Returns the descriptor or -errno.
 */
static int make_beside(const char *path, bool keep, struct buf *name)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	struct stat info;
	int fd;

	if (!stat(path, &info) && S_ISDIR(info.st_mode))
		return -EISDIR;
	buf_add(name, path, (size_t)(file - path));
	buf_printf(name, ".%s.new", file);
	unlink(buf_cstr(name));
	fd = open(buf_cstr(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  keep ? 0600 : 0666);
	return fd < 0 ? -errno : fd;
}

/* Opens the directory of a file; a descriptor, or below 0. */
static int open_directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *copy = xstrdup(slash ? path : ".");
	int fd;

	if (slash)
		copy[slash - path + 1] = '\0';
	fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	return fd;
}

/* Gives the new file the owner and mode of the old one, or the owner of the directory. */
static void keep_owner(int fd, const char *path, int directory)
{
	struct stat old;

	if (stat(path, &old) || !S_ISREG(old.st_mode)) {
		if (fstat(directory, &old))
			return;
		old.st_mode = S_IRUSR | S_IWUSR;
	}
	/* Only root can change the owner; other users own the file already. */
	if (fchown(fd, old.st_uid, old.st_gid))
		debug_log("%s: fchown: %s", path, strerror(errno));
	if (fchmod(fd, old.st_mode & 0777))
		debug_log("%s: fchmod: %s", path, strerror(errno));
}

int file_replace(const char *path, const struct buf *text, bool keep)
{
	int directory = keep ? open_directory_of(path) : -1, err;
	struct buf name = { 0 };
	int fd = make_beside(path, keep, &name);

	err = fd < 0 ? fd : 0;
	if (!err && keep)
		keep_owner(fd, path, directory);
	if (!err && text)
		err = write_all(fd, text->data, text->len);
	if (!err && keep && fsync(fd))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && text && rename(buf_cstr(&name), path))
		err = -errno;
	if (fd >= 0 && (err || !text))
		unlink(buf_cstr(&name));
	else if (directory >= 0)
		fsync(directory); /* makes the new name durable */
	if (directory >= 0)
		close(directory);
	buf_free(&name);
	return err;
}

bool file_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool take_part(struct span *text, char until, struct span *part)
{
	const char *found;

	if (text->at >= text->end)
		return false;
	found = memchr(text->at, until, (size_t)(text->end - text->at));
	*part = (struct span){ text->at, found ? found : text->end };
	text->at = found ? found + 1 : text->end;
	return true;
}

bool find_line(struct span text, const char *key, struct span *rest)
{
	while (take_line(&text, rest))
		if (rest->end < text.end && take_word(rest, key) && rest->at < rest->end &&
		    (*rest->at == ' ' || *rest->at == '\t')) {
			rest->at++;
			return true;
		}
	return false;
}

bool take_word(struct span *text, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
		return false;
	text->at += len;
	return true;
}

bool take_uint(struct span *text, uint64_t *value)
{
	return parse_uint(&text->at, text->end, value);
}

bool take_hundredths(struct span *text, uint64_t *value)
{
	uint64_t whole, part;
	const char *decimals;

	if (!take_uint(text, &whole) || !take_word(text, "."))
		return false;
	decimals = text->at;
	if (!take_uint(text, &part) || text->at - decimals != 2 ||
	    whole > (UINT64_MAX - part) / 100)
		return false;
	*value = whole * 100 + part;
	return true;
}

bool is_text(const struct span *part, const char *text)
{
	size_t len = (size_t)(part->end - part->at);

	return len == strlen(text) && !memcmp(part->at, text, len);
}
