/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/samples_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/batch.h"
#include "app/errors.h"
#include "app/sink.h"
#include "base/util.h"
#include "kernel/proc.h"
#include "out/out.h"
#include "sampler/sampler.h"
#include "trace/tracing.h"
#include "view/remedies.h"

/* Set by the handler below; read wherever the program waits. */
static volatile sig_atomic_t caught;

/* Set by SIGUSR1, if that requests a recording. */
static volatile sig_atomic_t asked;

/* Records that a signal came. */
static void catch_signal(int number)
{
	caught = number;
}

/* Records that the samples in memory are to be written. */
static void catch_request(UNUSED int number)
{
	asked = 1;
}

/*
 * Catches the signals that end the program, and the one that requests a recording, and blocks them,
 * so that they arrive only while it waits. `waiting` becomes the mask for waiting. appends: SIGHUP
 * is about a file that is appended to. If it was ignored (nohup) it stays so otherwise.
 */
static void set_up_signals(sigset_t *waiting, bool asked_for, bool appends)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = catch_signal };
	struct sigaction asks = { .sa_handler = catch_request };
	struct sigaction rotates = { .sa_handler = sink_catch_rotation }, was;
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

/* Prints what failed, with the names in the options. */
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

/* True if stacks can be taken if nothing else is to be written; prints why not. */
static bool can_take_stacks(const struct options *options, struct sampler *sampler)
{
	struct note why;
	struct buf text = { 0 };
	int err;

	if (!options_format(options)->stacks || options->replay.path)
		return true;
	err = sampler_trace(sampler, true);
	if (!err)
		return true;
	why = tracing_note_of(err);
	remedy_append_note(&text, &why);
	fprintf(stderr, "stalltop: no stacks: %s\n", buf_cstr(&text));
	buf_free(&text);
	return false;
}

/* The exit status if nothing failed; prints why there is no answer. wanted: one was expected. */
static int status_of(const struct options *options, const struct out *out, bool wanted)
{
	/*
	 * Several samples were requested, and there is none: nothing is known. With --when there
	 * was no pressure.
	 */
	if (caught && wanted && options->view.iterations && !out->frames) {
		fprintf(stderr,
			"stalltop: ended by %s before there was an answer: nothing is known\n",
			caught == SIGINT   ? "SIGINT"
			: caught == SIGHUP ? "SIGHUP"
					   : "SIGTERM");
		return 128 + caught;
	}
	if (out->ops->stacks && out->frames && !out->stacked) {
		fprintf(stderr, "stalltop: no stacks: the recording was made without --stacks\n");
		return EXIT_FAILURE;
	}
	return out->problem ? EXIT_PROBLEM : EXIT_SUCCESS;
}

int samples_run(const struct options *options, const struct samples_parts *parts)
{
	struct trigger_set *triggers = parts->triggers;
	struct recorder *recorder = parts->recorder;
	struct sampler *sampler = parts->sampler;
	struct sink *sink = parts->sink;
	struct out_config config = { .view = &options->view,
				     .charset = parts->charset,
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
	enum batch_failure failure;
	int err;

	if (!can_take_stacks(options, sampler))
		return EXIT_FAILURE;
	batch.renew = sink->appends ? sink_renew : NULL;
	batch.renew_arg = sink;
	set_up_signals(&waiting, batch.trigger_watch, sink->appends);
	out_open(&out, options_format(options), &config);
	err = out_begin(&out);
	failure = BATCH_WRITE;
	if (!err)
		err = batch_run(&batch, &failure);
	out_close(&out);
	if (!err)
		return status_of(options, &out, batch.out && !triggers);
	print_failure(options, failure, err);
	return EXIT_FAILURE;
}
