/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/command_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/sink.h"
#include "base/privileges.h"
#include "out/out.h"
#include "out/run_report.h"

/* Writes the result of a command. Returns the command's exit status, or that of a failure. */
static int put_result(const struct options *options, const struct run_result *result,
		      enum text_charset charset, int fd)
{
	static const volatile sig_atomic_t none;
	struct out out = { 0 };
	int err;

	if (!strcmp(options->format, "json"))
		run_json(&out.buf, result);
	else
		run_text(&out.buf, result, &options->view.sites, charset);
	err = out_flush(&out, fd, &none);
	buf_free(&out.buf);
	if (err && err != -EPIPE) {
		fprintf(stderr, "stalltop: cannot write what the command waited for: %s\n",
			strerror(-err));
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
	privileges_wake();
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
