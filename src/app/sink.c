/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/errors.h"
#include "app/options.h"
#include "app/server.h"
#include "base/file.h"
#include "base/util.h"
#include "out/out.h"

/* Opens a file for appending, valid even after somebody has truncated it. The descriptor or -1. */
static int open_to_append(const char *path, int flags)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0666);
}

int sink_open_output(const struct options *options, int standard)
{
	const char *path = options->output;
	int fd = path ? open_to_append(path, O_TRUNC) : fcntl(standard, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 && path)
		print_file_error("open", path, -errno);
	else if (fd < 0)
		fprintf(stderr, "stalltop: cannot open standard %s: %s\n",
			standard == STDOUT_FILENO ? "output" : "error", strerror(errno));
	return fd;
}

/* True if a file is replaced: a device, a pipe or a socket is written to instead. */
static bool is_replaceable(const char *path)
{
	struct stat info;

	return stat(path, &info) || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

/* Replaces the file of --output. */
static int replace_output(void *arg, struct out *out)
{
	struct sink *sink = arg;
	int err = file_replace(sink->options->output, &out->buf, false);

	out->buf.len = 0;
	return err;
}

/* The format has written the sample into its file. */
static int put_nothing(UNUSED void *arg, struct out *out)
{
	return out->error;
}

/* Passes a sample on to clients. */
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
	bool there = server_open(&sink->server, sink->options->listen, sink->options->listen_names,
				 &why);

	if (!there)
		print_listen_error(sink->options->listen, buf_cstr(&why));
	else if (server_is_open(sink->server))
		print_listen_open(sink->options->listen);
	buf_free(&why);
	sink->batch = (struct batch_sink){ put_server, sink };
	return there;
}

/* Set by SIGHUP if --output names a file, which is then reopened. */
static volatile sig_atomic_t rotated;

void sink_catch_rotation(UNUSED int number)
{
	rotated = 1;
}

int sink_renew(void *arg, struct out *out)
{
	const struct sink *sink = arg;
	struct stat info;
	int fd;

	if (!rotated)
		return 0;
	rotated = 0;
	fd = open_to_append(sink->options->output, 0);
	if (fd < 0 || dup3(fd, sink->fd, O_CLOEXEC) < 0)
		return -errno;
	close(fd);
	if (!fstat(sink->fd, &info) && !info.st_size)
		out->frames = 0;
	return 0;
}

bool sink_open(struct sink *sink, const struct options *options)
{
	bool replaceable;
	int err;

	*sink = (struct sink){ .options = options, .fd = -1 };
	if (options->listen)
		return open_server(sink);
	if (!options->batch)
		return true;
	if (options->format->open) {
		sink->batch = (struct batch_sink){ put_nothing, sink };
		return true;
	}
	/* Opening a pipe would wait for its reader. */
	replaceable = options->output && is_replaceable(options->output);
	if (!replaceable || !options_metrics(options)) {
		sink->fd = sink_open_output(options, STDOUT_FILENO);
		sink->appends = sink->fd >= 0 && replaceable;
		return sink->fd >= 0;
	}
	sink->batch = (struct batch_sink){ replace_output, sink };
	err = file_replace(options->output, NULL, false);
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
