/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/errors.h"

void print_batch_failure(const struct options *options, enum batch_failure failure, int err)
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
						   ? "the process that answers there was ended for "
						     "a system call that it never needs"
						   : "the process that answers there has ended");
		else
			print_file_error("write to",
					 options->output ? options->output : "standard output",
					 err);
		break;
	case BATCH_TRIGGERS:
		fprintf(stderr, "stalltop: nothing is left to wait for: the control groups that "
				"--when names no longer exist\n");
		break;
	}
}
