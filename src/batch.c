/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "batch.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "grid.h"
#include "util.h"

/* When to wake up: for the sample, or to take exit records in time. */
static uint64_t next_due(const struct batch *batch, uint64_t due_ns)
{
	uint64_t drain_ns = sampler_drain_due_ns(batch->sampler);

	return drain_ns < due_ns ? drain_ns : due_ns;
}

/* Waits until the grid's point or a signal. False when a signal has been caught. */
static bool wait_until(const struct batch *batch, uint64_t due_ns)
{
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		uint64_t wake_ns = next_due(batch, due_ns);
		uint64_t left = wake_ns > now ? wake_ns - now : 0;
		struct timespec timeout = { .tv_sec = (time_t)(left / NSEC_PER_SEC),
					    .tv_nsec = (long)(left % NSEC_PER_SEC) };

		if (*batch->caught)
			return false;
		if (now >= due_ns)
			return true;
		if (!left) {
			sampler_drain(batch->sampler);
			continue;
		}
		/* Whatever ppoll says: the clock and the flag decide. */
		ppoll(NULL, 0, &timeout, batch->waiting);
	}
}

/* Puts a frame out. The signals may interrupt the writing, so that no reader can hold us. */
static int put_out(const struct batch *batch, const struct frame *frame)
{
	sigset_t blocked;
	int err;

	out_frame(batch->out, frame);
	sigprocmask(SIG_SETMASK, batch->waiting, &blocked);
	err = out_flush(batch->out, batch->fd, batch->caught);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return err;
}

int batch_run(const struct batch *batch, enum batch_failure *failure)
{
	const struct frame *frame;
	struct grid grid;
	uint64_t skipped = 0, put = 0;
	int err;

	grid_start(&grid, clock_ns(CLOCK_MONOTONIC), batch->interval_ns);
	sampler_want(batch->sampler, out_needs(batch->out));
	while (wait_until(batch, grid.due_ns)) {
		*failure = BATCH_SAMPLE;
		err = sampler_tick(batch->sampler, skipped, &frame);
		if (err)
			return err;
		if (frame->prev || batch->since_start) {
			*failure = BATCH_WRITE;
			err = put_out(batch, frame);
			/* -EINTR: told to end while the reader did not read. */
			if (err)
				return err == -EPIPE || err == -EINTR ? 0 : err;
			if (++put == batch->iterations)
				break;
		} else {
			out_prime(batch->out, frame);
		}
		skipped = grid_advance(&grid, clock_ns(CLOCK_MONOTONIC));
	}
	return 0;
}
