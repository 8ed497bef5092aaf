/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/errors.h"
#include "base/util.h"
#include "kernel/proc.h"
#include "out/diff_report.h"

/* True if it is a time of a recording, or empty. */
static bool is_time(const char *text)
{
	uint64_t ns;

	return !*text || replay_time(text, clock_ns(CLOCK_REALTIME), false, &ns);
}

bool diff_take_span(char *text, const char **from, const char **to)
{
	char *at = strrchr(text, '@'), *dots;

	/* A name may have one, too. */
	if (!at || !access(text, F_OK))
		return true;
	dots = strstr(at, "..");
	if (!dots)
		return false;
	*at++ = '\0';
	*dots = '\0';
	dots += 2;
	if (!is_time(at) || !is_time(dots))
		return false;
	*from = *at ? at : NULL;
	*to = *dots ? dots : NULL;
	return true;
}

/* Plays an open recording, and adds it up. 0 or -errno. */
static int add_all(struct diff *diff, enum diff_side side, struct replay *replay)
{
	const struct grouping_options by_command = { .by = GROUP_COMMAND };
	struct playback playback = replay_playback(replay);
	struct proc none = { .fd = -1 };
	struct sampler_config config = { .proc = &none,
					 .playback = &playback,
					 .threads = playback.threads };
	struct grouping grouping = { 0 };
	const struct frame *frame;
	struct sampler *sampler;
	int err = sampler_open(&sampler, &config);

	if (err)
		return err;
	while (!(err = sampler_tick(sampler, 0, &frame)))
		if (frame->info->prev)
			diff_add(diff, side, group_fold(&grouping, frame, &by_command));
	grouping_free(&grouping);
	sampler_close(sampler);
	return err == -ENODATA ? 0 : err;
}

/* Adds up one side. Returns the exit status. */
static int add_side(struct diff *diff, enum diff_side side, const struct options *options)
{
	struct replay_config config = { .from = options->replay.from, .to = options->replay.to };
	char *path = xstrdup(diff->what[side]), *file = NULL;
	struct replay *replay;
	int err;

	/* The files may have changed since diff_fault(). */
	err = diff_take_span(path, &config.from, &config.to) ? 0 : -EINVAL;
	config.path = path;
	if (!err)
		err = replay_open(&replay, &config, &file);
	if (!err) {
		err = add_all(diff, side, replay);
		file = xstrdup(replay_file(replay));
		replay_close(replay);
	}
	if (!err && !diff->samples[side])
		err = -ENODATA;
	if (err)
		print_replay_error(file ? file : path, err);
	free(file);
	free(path);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* True if it is a recording, or a span of one. */
static bool is_span(const char *text)
{
	char *copy = xstrdup(text);
	const char *from, *to;
	bool valid = diff_take_span(copy, &from, &to);

	free(copy);
	return valid;
}

const char *diff_fault(const struct options *options)
{
	if (!options->diff[1])
		return "--diff needs two recordings";
	if (!is_span(options->diff[0]) || !is_span(options->diff[1]))
		return "--diff takes two recordings, each as PATH or PATH@FROM..TO, with times as "
		       "of --from";
	return NULL;
}

int diff_run(const struct options *options, enum text_charset charset)
{
	struct buf out = { 0 };
	struct diff diff = { .what = { options->diff[0], options->diff[1] } };
	int status = add_side(&diff, DIFF_BEFORE, options);

	if (!status)
		status = add_side(&diff, DIFF_AFTER, options);
	if (!status)
		diff_report(&diff, options->format, charset, options->view.query.rows, &out);
	diff_free(&diff);
	return status ? status : print_output(&out);
}
