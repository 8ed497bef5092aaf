/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

/*
 * Makes the new file. Its name is always the same, so that one left behind by a sudden end goes
 * with the next. The descriptor or -errno.
 */
static int make_new(const char *path, struct buf *name)
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
	fd = open(buf_cstr(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

int replaced_write(const char *path, const struct buf *text)
{
	struct buf name = { 0 };
	int fd = make_new(path, &name), err = fd < 0 ? fd : write_all(fd, text->data, text->len);

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(buf_cstr(&name), path))
		err = -errno;
	if (err && fd >= 0)
		unlink(buf_cstr(&name));
	buf_free(&name);
	return err;
}

bool replaced_can_be(const char *path)
{
	struct stat info;

	return stat(path, &info) || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

int replaced_try(const char *path)
{
	struct buf name = { 0 };
	int fd = make_new(path, &name);

	if (fd >= 0) {
		close(fd);
		unlink(buf_cstr(&name));
	}
	buf_free(&name);
	return fd < 0 ? fd : 0;
}
