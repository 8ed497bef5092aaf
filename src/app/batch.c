/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/batch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/clocks.h"
#include "base/util.h"

/* Attempts per sample at temporary failures, and the pause between them. */
#define TRIES 30
#define RETRY_NS (100 * NSEC_PER_MSEC)

/*
 * The needs of a plain recording: data that a replay may need and that costs something only for
 * active tasks.
 */
#define RECORD_NEEDS (NEED_ACCOUNT | NEED_COMMAND | NEED_CGROUP | NEED_EVIDENCE)

/* The state of a run. */
struct progress {
	const struct batch *batch;
	enum batch_failure *failure;
	struct ticker ticker;
	uint64_t put; /* number of samples written */
	bool done;
	struct findings findings; /* of a recording, if the output makes none */
};

/* True if samples are taken only while there is pressure. */
static bool is_gated(const struct batch *batch)
{
	return batch->triggers && !batch->trigger_watch;
}

/* When to wake up: for the next sample, or earlier to read exit records in time. */
static uint64_t next_due(const struct batch *batch, uint64_t due_ns)
{
	uint64_t drain_ns = sampler_drain_due_ns(batch->sampler);

	return drain_ns < due_ns ? drain_ns : due_ns;
}

/*
 * Waits for a signal, for pressure or, if there is a time-out, for its end. The result of ppoll is
 * ignored: callers check the clock and the flags. Returns how many triggers fired.
 */
static size_t wait_once(const struct batch *batch, const struct timespec *timeout)
{
	struct trigger_set *set = batch->triggers;
	struct pollfd fds[TRIGGERS_MAX];

	if (set)
		triggers_fill(set, fds);
	if (ppoll(fds, set ? set->n : 0, timeout, batch->waiting) <= 0 || !set)
		return 0;
	return triggers_take(set, fds, clock_ns(CLOCK_MONOTONIC));
}

/* Waits until the grid's point or a signal. Returns false when a signal has been caught. */
static bool wait_until(const struct batch *batch, uint64_t due_ns)
{
	const struct timespec at_once = { 0 };

	/* Nothing else waits in a replay, and signals come while something does. */
	if (batch->replay)
		wait_once(batch, &at_once);
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		uint64_t wake_ns = next_due(batch, due_ns);
		uint64_t left = wake_ns > now ? wake_ns - now : 0;
		struct timespec timeout = { .tv_sec = (time_t)(left / NSEC_PER_SEC),
					    .tv_nsec = (long)(left % NSEC_PER_SEC) };

		if (*batch->caught)
			return false;
		if (now >= due_ns || batch->replay)
			return true;
		if (left)
			wait_once(batch, &timeout);
		else
			sampler_drain(batch->sampler);
	}
}

/* Waits for pressure, with the sampler paused. Returns 0, also after a signal, or -errno. */
static int await_pressure(struct progress *run)
{
	const struct batch *batch = run->batch;
	int err;

	*run->failure = BATCH_SOURCE;
	err = sampler_suspend(batch->sampler);
	if (err)
		return err;
	*run->failure = BATCH_TRIGGERS;
	triggers_forget(batch->triggers);
	while (!*batch->caught) {
		if (triggers_gone(batch->triggers) == batch->triggers->n)
			return -ENODEV;
		if (wait_once(batch, NULL))
			break;
	}
	triggers_look(batch->triggers, clock_ns(CLOCK_MONOTONIC));
	return 0;
}

/* Writes a frame. Signals may interrupt it, so that a slow reader cannot block the program. */
static int put_out(const struct batch *batch, const struct frame *frame)
{
	sigset_t blocked;
	int err = batch->renew ? batch->renew(batch->renew_arg, batch->out) : 0;

	if (err)
		return err;
	out_frame(batch->out, frame);
	if (batch->sink)
		return batch->sink->put(batch->sink->arg, batch->out);
	sigprocmask(SIG_SETMASK, batch->waiting, &blocked);
	err = out_flush(batch->out, batch->fd, batch->caught);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (batch->triggers)
		triggers_forget(batch->triggers);
	return err;
}

/* Processes a frame without an interval. 0 or -errno. */
static int put_first_frame(const struct batch *batch, const struct frame *frame)
{
	if (!batch->out)
		return 0;
	out_prime(batch->out, frame);
	if (batch->sink && batch->out->buf.len)
		return batch->sink->put(batch->sink->arg, batch->out);
	batch->out->buf.len = 0;
	return 0;
}

/* True if pressure has been absent long enough to pause the samples. */
static bool is_over(const struct batch *batch)
{
	const struct timespec now = { 0 };
	uint64_t now_ns;

	if (!is_gated(batch))
		return false;
	/* Processes the events reported while the sample was taken and written. */
	wait_once(batch, &now);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	triggers_look(batch->triggers, now_ns);
	/* Lasting pressure is not over, whatever linger_ns is. */
	return triggers_until_ns(batch->triggers, batch->watch->linger_ns) < now_ns;
}

/*
 * Moves on from a sample. After the baseline of a stretch the first interval is a short one.
 * Returns how many points of the grid were skipped.
 */
static uint64_t move_on(struct progress *run, bool baseline)
{
	uint64_t interval_ns = run->batch->view->interval_ns;

	if (!baseline || !is_gated(run->batch) || interval_ns <= FIRST_INTERVAL_NS)
		return ticker_advance(&run->ticker, clock_ns(CLOCK_MONOTONIC));
	ticker_start(&run->ticker, run->ticker.due_ns + FIRST_INTERVAL_NS, interval_ns);
	return 0;
}

/* True if a failure may be temporary: lack of memory or room, or an interrupted call. */
static bool is_passing(int err)
{
	return err == -ENOMEM || err == -EAGAIN || err == -ENOBUFS || err == -EINTR;
}

/* Takes a sample, trying again on failure. 0 or -errno; the caller checks for a signal. */
static int try_sample(const struct batch *batch, uint64_t skipped, const struct frame **frame)
{
	int err = sampler_tick(batch->sampler, skipped, frame);

	for (unsigned tries = 1; is_passing(err) && tries < TRIES; tries++) {
		debug_log("sample: %s, tried again", strerror(-err));
		if (!wait_until(batch, clock_ns(CLOCK_MONOTONIC) + RETRY_NS))
			break;
		err = sampler_tick(batch->sampler, skipped, frame);
	}
	return err;
}

/* Checks whether something has happened by now. */
static void watch(const struct batch *batch, const struct frame *frame)
{
	const struct timespec now = { 0 };

	wait_once(batch, &now);
	trigger_watch_look(batch->trigger_watch, frame);
	/* The output shows which triggers fired since the previous sample. */
	if (batch->triggers && !batch->out)
		triggers_forget(batch->triggers);
}

/* Records a frame. 0, or -errno if nothing else is done and the recording has ended. */
static int record(struct progress *run, const struct frame *frame)
{
	const struct batch *batch = run->batch;
	const struct view view = { .frame = frame };
	const struct findings *findings;

	if (!batch->recorder)
		return 0;
	findings = batch->out ? out_findings(batch->out) : NULL;
	/* Those of the output are of an interval. */
	if (!findings || !frame->info->prev) {
		findings_take(&run->findings, &view, frame, NULL);
		findings = &run->findings;
	}
	recorder_add(batch->recorder, frame, batch->out ? out_grouped(batch->out) : NULL,
		     findings_worst(findings));
	return batch->out ? 0 : recorder_status(batch->recorder)->error;
}

/* Takes samples at the grid's points until the run or the pressure ends. Returns 0 or -errno. */
static int take_samples(struct progress *run)
{
	const struct batch *batch = run->batch;
	const struct frame *frame;
	uint64_t skipped = 0;
	int err;

	ticker_start(&run->ticker, clock_ns(CLOCK_MONOTONIC), batch->view->interval_ns);
	while (wait_until(batch, run->ticker.due_ns)) {
		*run->failure = BATCH_SAMPLE;
		skipped += ticker_late(&run->ticker, clock_ns(CLOCK_MONOTONIC));
		err = try_sample(batch, skipped, &frame);
		run->done = err == -ENODATA && batch->replay;
		if (run->done)
			return run->put ? 0 : -ERANGE;
		if (err)
			return *batch->caught ? 0 : err;
		/* Before it is written: then the fired triggers are cleared. */
		if (batch->trigger_watch)
			watch(batch, frame);
		if (frame->info->prev || frame->info->since_start) {
			*run->failure = BATCH_WRITE;
			err = batch->out ? put_out(batch, frame) : 0;
			if (!err && (err = record(run, frame)))
				*run->failure = BATCH_RECORD;
			run->done = err || ++run->put == batch->view->iterations;
			/* -EINTR: a signal ended the run while the reader did not read. */
			if (run->done || is_over(batch))
				return err == -EPIPE || err == -EINTR ? 0 : err;
		} else {
			*run->failure = BATCH_WRITE;
			err = put_first_frame(batch, frame);
			if (err)
				return err;
			record(run, frame);
		}
		skipped = move_on(run, !frame->info->prev);
	}
	return 0;
}

int batch_run(const struct batch *batch, enum batch_failure *failure)
{
	struct progress run = { .batch = batch, .failure = failure };
	int err = 0;

	sampler_want(batch->sampler, batch->out ? out_needs(batch->out) : RECORD_NEEDS);
	while (!err && !run.done && !*batch->caught) {
		if (is_gated(batch))
			err = await_pressure(&run);
		if (!err && !*batch->caught)
			err = take_samples(&run);
	}
	findings_free(&run.findings);
	return err;
}
