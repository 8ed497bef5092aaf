/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/errors.h"
#include "base/util.h"

int sink_open_output(const struct options *options, int standard)
{
	const char *path = options->output;
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666)
		      : fcntl(standard, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 && path)
		print_file_error("open", path, -errno);
	else if (fd < 0)
		fprintf(stderr, "stalltop: cannot open standard %s: %s\n",
			standard == STDOUT_FILENO ? "output" : "error", strerror(errno));
	return fd;
}

/*
 * Makes the new file. Its name is always the same, so that one left behind by a sudden end goes
 * with the next. The descriptor or -errno.
 */
static int make_beside(const char *path, struct buf *name)
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

/*
 * Replaces the file by one with that text, readable as umask allows, so that its readers never see
 * a part of a text: a new one, of a name that begins with a dot, is written beside it and renamed.
 * 0 or -errno.
 */
static int replace_output(const char *path, const struct buf *text)
{
	struct buf name = { 0 };
	int fd = make_beside(path, &name), err = fd < 0 ? fd : write_all(fd, text->data, text->len);

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(buf_cstr(&name), path))
		err = -errno;
	if (err && fd >= 0)
		unlink(buf_cstr(&name));
	buf_free(&name);
	return err;
}

/* Whether a file is replaced: a device, a pipe or a socket is written to instead. */
static bool is_replaceable(const char *path)
{
	struct stat info;

	return stat(path, &info) || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

/* Whether the file can be replaced, without doing it yet. 0 or -errno. */
static int try_to_replace(const char *path)
{
	struct buf name = { 0 };
	int fd = make_beside(path, &name);

	if (fd >= 0) {
		close(fd);
		unlink(buf_cstr(&name));
	}
	buf_free(&name);
	return fd < 0 ? fd : 0;
}

/* Replaces the file of --output. */
static int put_file(void *arg, struct out *out)
{
	struct sink *sink = arg;
	int err = replace_output(sink->options->output, &out->buf);

	out->buf.len = 0;
	return err;
}

/* Hands a sample on to clients. */
static int put_server(void *arg, struct out *out)
{
	struct sink *sink = arg;

	out->buf.len = 0;
	return server_send(sink->server, out);
}

/* Opens the address of --listen. */
static bool open_server(struct sink *sink)
{
	struct buf why = { 0 };
	bool there = server_open(&sink->server, sink->options->listen, &why);

	if (!there)
		print_listen_error(sink->options->listen, buf_cstr(&why));
	else if (server_is_open(sink->server))
		print_listen_open(sink->options->listen);
	buf_free(&why);
	sink->batch = (struct batch_sink){ put_server, sink };
	return there;
}

bool sink_open(struct sink *sink, const struct options *options)
{
	int err;

	*sink = (struct sink){ .options = options, .fd = -1 };
	if (options->listen)
		return open_server(sink);
	if (!options->batch)
		return true;
	sink->replaces =
		options->output && options_metrics(options) && is_replaceable(options->output);
	if (!sink->replaces) {
		sink->fd = sink_open_output(options, STDOUT_FILENO);
		return sink->fd >= 0;
	}
	sink->batch = (struct batch_sink){ put_file, sink };
	err = try_to_replace(options->output);
	if (err)
		print_file_error("write to", options->output, err);
	return !err;
}

void sink_close(struct sink *sink)
{
	if (sink->fd >= 0)
		close(sink->fd);
	server_close(sink->server);
}
