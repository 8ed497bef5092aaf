/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/samples_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/batch.h"
#include "app/errors.h"
#include "app/modes.h"
#include "app/options.h"
#include "app/server.h"
#include "base/file.h"
#include "base/process.h"
#include "base/util.h"
#include "kernel/proc.h"
#include "out/out.h"
#include "sampler/run.h"
#include "sampler/sampler.h"

/* Where the samples of batch mode go: a descriptor, a file replaced whole, clients over HTTP. */

struct sink {
	const struct options *options;
	int fd; /* -1: not to a descriptor */
	struct server *server; /* NULL: not over HTTP */
	bool replaces; /* the file of --output is replaced at each sample */
	struct batch_sink batch; /* for batch mode, where fd is -1 */
};

/* Opens a file to be appended to, also after somebody has emptied it. The descriptor or -1. */
static int open_to_append(const char *path, int flags)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0666);
}

/*
 * Opens the file of --output, or takes the standard descriptor. The descriptor, or -1 with a line
 * printed.
 */
static int sink_open_output(const struct options *options, int standard)
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

/* Whether a file is replaced: a device, a pipe or a socket is written to instead. */
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

/* The format has put the sample into its file. */
static int put_nothing(UNUSED void *arg, struct out *out)
{
	return out->error;
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

/*
 * Opens what the options ask for, for samples. False, with a line printed, on failure. The sink
 * must stay where it is.
 */
static bool sink_open(struct sink *sink, const struct options *options)
{
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
	sink->replaces =
		options->output && options_metrics(options) && is_replaceable(options->output);
	if (!sink->replaces) {
		sink->fd = sink_open_output(options, STDOUT_FILENO);
		return sink->fd >= 0;
	}
	sink->batch = (struct batch_sink){ replace_output, sink };
	err = file_replace(options->output, NULL, false);
	if (err)
		print_file_error("write to", options->output, err);
	return !err;
}

static void sink_close(struct sink *sink)
{
	if (sink->fd >= 0)
		close(sink->fd);
	server_close(sink->server);
}

/* Set by the handler below; read wherever the program waits. */
static volatile sig_atomic_t caught;

/* Set by SIGUSR1, where that asks for a recording. */
static volatile sig_atomic_t asked;

/* Set by SIGHUP where --output names a file, which is reopened then. */
static volatile sig_atomic_t rotated;

/* Remembers that the file may be another one by now. */
static void catch_rotation(UNUSED int number)
{
	rotated = 1;
}

/*
 * Reopens the file of --output after SIGHUP: logrotate may have moved it away. A new file starts
 * with a head, as the first did. 0 or -errno.
 */
static int renew_output(void *arg, struct out *out)
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

/* Remembers that a signal came. */
static void catch_signal(int number)
{
	caught = number;
}

/* Remembers that what is kept in memory is to be recorded. */
static void catch_request(UNUSED int number)
{
	asked = 1;
}

/*
 * Catches the signals that end the program, and the one that asks for a recording, and blocks them,
 * so that they arrive only while it waits. `waiting` becomes the mask for waiting. appends: SIGHUP
 * is about a file that is appended to. Where it was ignored (nohup) it stays so otherwise.
 */
static void set_up_signals(sigset_t *waiting, bool asked_for, bool appends)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = catch_signal };
	struct sigaction asks = { .sa_handler = catch_request };
	struct sigaction rotates = { .sa_handler = catch_rotation }, was;
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		bool hangs_up = ends[i] == SIGHUP;

		sigaction(ends[i], hangs_up && appends ? &rotates : &action, &was);
		if (hangs_up && !appends && was.sa_handler == SIG_IGN)
			sigaction(ends[i], &was, NULL);
		sigaddset(&blocked, ends[i]);
	}
	if (asked_for) {
		sigaction(SIGUSR1, &asks, NULL);
		sigaddset(&blocked, SIGUSR1);
	}
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	sigdelset(waiting, SIGUSR1);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigdelset(waiting, ends[i]);
}

/* The columns of the terminal behind a descriptor; 0 when it is no terminal. */
static unsigned width_of(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* See struct out_config. */
static void fill_rows(void *sampler, const struct row *const *rows, size_t n, unsigned needs)
{
	sampler_fill(sampler, rows, n, needs);
}

/* Says which of the things that the options name failed. */
static void print_failure(const struct options *options, enum batch_failure failure, int err)
{
	switch (failure) {
	case BATCH_SOURCE:
		print_source_error(options->sampler.source, err);
		break;
	case BATCH_RECORD:
		print_record_error(options->record.path, err);
		break;
	case BATCH_SAMPLE:
		if (options->replay.path)
			print_replay_error(options->replay.path, err);
		else
			fprintf(stderr, "stalltop: cannot take a sample: %s\n", strerror(-err));
		break;
	case BATCH_WRITE:
		if (options->listen)
			print_listen_error(options->listen,
					   err == -EPERM
						   ? "the HTTP process was killed by its seccomp "
						     "filter"
						   : "the HTTP process has exited");
		else
			print_file_error("write to",
					 options->output ? options->output : "standard output",
					 err);
		break;
	case BATCH_TRIGGERS:
		fprintf(stderr, "stalltop: nothing is left to wait for: the cgroups named by "
				"--when no longer exist\n");
		break;
	}
}

/* Runs batch mode with an open sampler. Returns the exit status. */
static int run_samples(const struct options *options, struct sampler *sampler,
		       struct recorder *recorder, struct trigger_set *triggers,
		       const struct sink *sink, enum text_charset charset)
{
	struct out_config config = { .view = &options->view,
				     .charset = charset,
				     .width = width_of(sink->fd),
				     .fill = fill_rows,
				     .fill_arg = sampler,
				     .path = options->output,
				     .triggers = triggers,
				     .as_json = options->why_json,
				     .max_series = options->max_series };
	struct trigger_watch watch = { .recorder = recorder,
				       .triggers = triggers,
				       .before_ns = options->record.before_ns,
				       .linger_ns = options->watch.linger_ns,
				       .procfd = options->sampler.proc->fd,
				       .asked = &asked };
	struct out out;
	sigset_t waiting;
	struct batch batch = { .sampler = sampler,
			       .out = sink->fd >= 0 || sink->batch.put ? &out : NULL,
			       .fd = sink->fd,
			       .sink = sink->batch.put ? &sink->batch : NULL,
			       .recorder = recorder,
			       .trigger_watch = options->record.before_ns ? &watch : NULL,
			       .replay = options->replay.path,
			       .view = &options->view,
			       .triggers = triggers,
			       .watch = &options->watch,
			       .caught = &caught,
			       .waiting = &waiting };
	/* Opening a pipe would wait for its reader. */
	bool appends = sink->fd >= 0 && options->output && is_replaceable(options->output);
	enum batch_failure failure;
	int err;

	batch.renew = appends ? renew_output : NULL;
	batch.renew_arg = (void *)(uintptr_t)sink;
	set_up_signals(&waiting, batch.trigger_watch, appends);
	out_open(&out, options_format(options), &config);
	err = out_begin(&out);
	failure = BATCH_WRITE;
	if (!err)
		err = batch_run(&batch, &failure);
	out_close(&out);
	/* So many samples were asked for, and there is not one: nothing is known. With --when there
	 * was no pressure. */
	if (!err && caught && batch.out && !triggers && options->view.iterations && !out.frames) {
		fprintf(stderr,
			"stalltop: ended by %s before there was an answer: nothing is known\n",
			caught == SIGINT   ? "SIGINT"
			: caught == SIGHUP ? "SIGHUP"
					   : "SIGTERM");
		return 128 + caught;
	}
	if (!err)
		return out.problem ? EXIT_PROBLEM : EXIT_SUCCESS;
	print_failure(options, failure, err);
	return EXIT_FAILURE;
}

int samples_run(struct options *options, struct recorder *recorder, struct trigger_set *triggers,
		enum text_charset charset)
{
	struct sampler_config *config = &options->sampler;
	int status = EXIT_FAILURE, err;
	struct sampler *sampler;
	struct sink sink;

	if (!sink_open(&sink, options)) {
		sink_close(&sink);
		return EXIT_FAILURE;
	}
	config->threads = options->view.group_by == GROUP_THREAD;
	config->brief = options->view.iterations == 1;
	if (!uses_keep(config->privileges)) {
		sink_close(&sink);
		return EXIT_FAILURE;
	}
	err = sampler_open(&sampler, config);
	if (!err) {
		status = run_samples(options, sampler, recorder, triggers, &sink, charset);
		sampler_close(sampler);
	} else if (options->replay.path) {
		print_replay_error(options->replay.path, err);
	} else {
		print_source_error(config->source, err);
	}
	sink_close(&sink);
	return status;
}

/* Writes the result of a command. Returns the command's exit status, or that of a failure. */
static int put_result(const struct options *options, const struct run_result *result,
		      enum text_charset charset, int fd)
{
	static const volatile sig_atomic_t none;
	struct out_config config = { .view = &options->view, .charset = charset };
	struct out out;
	int err;

	out_open(&out, options->format, &config);
	options->format->run(&out, result);
	err = out_flush(&out, fd, &none);
	out_close(&out);
	if (err && err != -EPIPE) {
		fprintf(stderr, "stalltop: cannot write the report: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	return WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status)
					   : WEXITSTATUS(result->status);
}

int command_run(const struct options *options, enum text_charset charset)
{
	struct run_result result;
	enum run_failure failure;
	int fd = sink_open_output(options, STDERR_FILENO), err, status;

	if (fd < 0)
		return EXIT_FAILURE;
	privileges_resume();
	err = run_command(options->command, &options->sampler, &result, &failure);
	if (!err) {
		status = put_result(options, &result, charset, fd);
	} else {
		fprintf(stderr, "stalltop: cannot %s %s: %s\n",
			failure == RUN_START ? "run" : "wait for", options->command[0],
			strerror(-err));
		status = failure == RUN_WAIT ? EXIT_FAILURE : err == -ENOENT ? 127 : 126;
	}
	run_result_free(&result);
	close(fd);
	return status;
}
