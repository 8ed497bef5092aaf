/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/errors.h"
#include "app/replaced.h"

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

/* Replaces the file of --output. */
static int put_file(void *arg, struct out *out)
{
	struct sink *sink = arg;
	int err = replaced_write(sink->options->output, &out->buf);

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
		options->output && options_metrics(options) && replaced_can_be(options->output);
	if (!sink->replaces) {
		sink->fd = sink_open_output(options, STDOUT_FILENO);
		return sink->fd >= 0;
	}
	sink->batch = (struct batch_sink){ put_file, sink };
	err = replaced_try(options->output);
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
