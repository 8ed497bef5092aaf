/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "frame/group.h"
#include "history/cursor.h"
#include "ui/loop_parts.h"
#include "ui/past/history_view.h"
#include "ui/table/table_state.h"

/* Minimum useful interval: a sample requested by a key waits until it has passed. */
#define LEAST_INTERVAL_NS (100 * NSEC_PER_MSEC)

/* The needs if a history is kept: groups of cgroups need all tasks. */
#define KEPT_NEEDS (NEED_ACTIVE | NEED_CGROUP)

unsigned loop_needs(struct ui *ui)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->needs)
			wanted |= ui->pages[i].ops->needs(ui, ui->pages[i].state);
	return wanted;
}

/* The process of the topmost view that is about one; 0: none is. */
static pid_t opened_process(const struct ui *ui)
{
	pid_t tgid = 0;

	for (unsigned i = ui->depth; i-- && !tgid;)
		if (ui->pages[i].ops->process)
			tgid = ui->pages[i].ops->process(ui->pages[i].state);
	return tgid;
}

/* True if a view shows traced data, or tracing is requested anyway. */
static bool wants_trace(struct ui *ui)
{
	for (unsigned i = 0; i < ui->depth; i++) {
		const struct page *page = &ui->pages[i];

		if (page->ops->traces && page->ops->traces(ui, page->state))
			return true;
	}
	return ui->sampler_config.trace;
}

/*
 * Stops tracing waits, once no view shows them. Takes effect with the next sample: the shown frame
 * has its waits, and a view that needs them meanwhile continues the trace.
 */
static void end_tracing(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	if (!ui->tracing || ui->history.back || wants_trace(ui))
		return;
	ui->tracing = false;
	ui->trace_error = sampler_trace(loop->live, false);
}

void loop_sample(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct frame *frame;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	/*
	 * Needs of the history from the first sample on: else all tasks would be stored again, as
	 * changed.
	 */
	unsigned kept = ui->history.ring || ui->config->recorder ? KEPT_NEEDS : 0;
	unsigned wanted = loop_needs(ui) | kept | NEED_EVIDENCE;
	int err;

	loop->asked = false;
	loop->last_ns = now;
	loop->wanted = wanted;
	history_add(ui);
	end_tracing(loop);
	sampler_want(loop->live, wanted);
	sampler_open_process(loop->live, opened_process(ui));
	err = sampler_tick(loop->live, loop->skipped, &frame);
	loop->dirty = true;
	if (err) {
		ui_error(ui, "cannot take a sample: %s", strerror(-err));
		return;
	}
	loop->skipped = 0;
	/* Until it is drawn, which reads figures of groups, and makes findings. */
	ui->history.untaken = frame;
	ui->history.live_frame = frame;
	if (!ui->history.back)
		history_show(ui, frame);
	if ((frame->info->prev || frame->info->since_start) &&
	    ++ui->samples == ui->settings->iterations)
		ui->quit = true;
}

void loop_sample_on_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool first = !ui->history.live_frame;
	uint64_t interval_ns = ui->settings->interval_ns;

	loop->skipped += ticker_late(&ui->ticker, clock_ns(CLOCK_MONOTONIC));
	loop_sample(loop);
	if (first && ui->history.live_frame)
		ticker_start(&ui->ticker,
			     loop->last_ns + (interval_ns < FIRST_INTERVAL_NS ? interval_ns
									      : FIRST_INTERVAL_NS),
			     interval_ns);
	else
		loop->skipped += ticker_advance(&ui->ticker, clock_ns(CLOCK_MONOTONIC));
}

/* Opens the source, after closing the old one. Returns 0 or -errno. */
static int open_sampler(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	struct sampler *sampler;
	int err;

	ui->sampler_config.threads = ui->settings->group_by == GROUP_THREAD;
	err = sampler_open(&sampler, &ui->sampler_config);
	if (err)
		return err;
	history_present(ui);
	history_add(ui);
	rows_reset(&ui->table->rows);
	ui->table->seen = 0;
	sampler_close(loop->live);
	ui->sampler = loop->live = sampler;
	ui->tracing = ui->sampler_config.trace;
	/* The sampler has tried that already: gets its result. */
	ui->trace_error = ui->tracing ? sampler_trace(sampler, true) : 0;
	ui->frame = ui->history.live_frame = NULL;
	return 0;
}

int loop_open(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct ring_limits *limits = ui->config->history;
	int err;

	ui->history.past = ui->config->past;
	ui->history.replay = ui->config->past;
	if (ui->config->past) {
		ui->sampler_config.threads = ui->settings->group_by == GROUP_THREAD;
		if (ui->sampler_config.threads != cursor_threads(ui->config->past))
			return -EOPNOTSUPP;
		cursor_configure(ui->config->past, &ui->sampler_config);
		return 0;
	}
	err = open_sampler(loop);
	if (!err && limits && limits->bytes) {
		ui->history.ring = ring_open(limits);
		ui->history.past = cursor_open(ui->history.ring, &ui->sampler_config);
	}
	return err;
}

/* True if a key has chosen another cgroup hierarchy than the open one. */
static bool is_other_hierarchy(const struct ui *ui)
{
	const struct frame *frame = ui->history.live_frame;
	const char *open = frame ? frame->info->head.hierarchy : NULL;

	return open && ui->hierarchy && strcmp(open, ui->hierarchy) != 0;
}

/* Switches between processes and threads, and between hierarchies. */
static void reopen(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool before = ui->sampler_config.threads;
	int err;

	if (!loop->live)
		return;
	if (before == (ui->settings->group_by == GROUP_THREAD) && !is_other_hierarchy(ui))
		return;
	err = open_sampler(loop);
	if (err) {
		ui->settings->group_by = before ? GROUP_THREAD : GROUP_PROCESS;
		ui->sampler_config.threads = before;
		ui_error(ui, "cannot open the source: %s", strerror(-err));
		return;
	}
	loop_sample_on_grid(loop);
}

/* Adapts the grid to interval and pause: unwanted points are not late. */
static void move_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), interval_ns = ui->settings->interval_ns;
	uint64_t due = loop->last_ns + interval_ns;

	if (ui->ticker.interval_ns != interval_ns) {
		/* Before the second reading only the points after it change. */
		if (!ui->history.live_frame || !ui->history.live_frame->info->prev)
			ui->ticker.interval_ns = interval_ns;
		else
			ticker_start(&ui->ticker, due > now ? due : now, interval_ns);
	}
	if (loop->paused && !ui->paused)
		ticker_start(&ui->ticker, now, interval_ns);
	loop->paused = ui->paused;
}

/* Takes a first reading of newly wanted data at once, and the first interval soon after. */
static void hurry(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	uint64_t first = clock_ns(CLOCK_MONOTONIC), interval_ns = ui->settings->interval_ns;

	loop->asked = true;
	if (first < loop->last_ns + LEAST_INTERVAL_NS)
		first = loop->last_ns + LEAST_INTERVAL_NS;
	ticker_start(&ui->ticker,
		     first + (interval_ns < FIRST_INTERVAL_NS ? interval_ns : FIRST_INTERVAL_NS),
		     interval_ns);
}

/* Hangs are known from the second sample that reads them: both come soon. */
static void look_for_hangs(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	if (loop->live && ui->frame && !loop->asked && !ui->paused && !ui->history.back &&
	    loop_needs(ui) & NEED_HANGS & ~loop->wanted)
		hurry(loop);
}

/* Starts tracing waits once a view shows them: after it was drawn, as loading takes a while. */
static void ask_for_trace(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	/* A view of the past has the data traced then. */
	if (ui->tracing || ui->history.back || !wants_trace(ui))
		return;
	ui->tracing = true;
	loop->trace_due = loop->dirty = true;
}

bool loop_load_trace(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool due = loop->trace_due && ui->tracing;

	loop->trace_due = false;
	if (!due)
		return false;
	ui->trace_error = sampler_trace(loop->live, true);
	sampler_open_process(loop->live, opened_process(ui));
	if (!ui->trace_error && ui->frame && !ui->paused)
		hurry(loop);
	return true;
}

void loop_catch_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	unsigned pending = ui->pending;

	ui->pending = 0;
	if (pending & REACT_REOPEN)
		reopen(loop);
	if (pending & REACT_RESAMPLE && loop->live)
		loop->asked = true;
	/* Not while more keys wait, which may leave the view again. */
	if (!loop->more && !ui->quit) {
		ask_for_trace(loop);
		if (ui->paused)
			end_tracing(loop);
		look_for_hangs(loop);
	}
	move_grid(loop);
}

uint64_t loop_sample_due(const struct loop *loop)
{
	const struct ui *ui = &loop->ui;
	uint64_t due = ui->paused ? UINT64_MAX : ui->ticker.due_ns;

	if (!loop->live)
		return UINT64_MAX;
	if (loop->asked && loop->last_ns + LEAST_INTERVAL_NS < due)
		due = loop->last_ns + LEAST_INTERVAL_NS;
	return due;
}

uint64_t loop_drain_exits(const struct loop *loop, uint64_t now)
{
	if (!loop->live)
		return UINT64_MAX;
	if (sampler_drain_due_ns(loop->live) <= now)
		sampler_drain(loop->live);
	return sampler_drain_due_ns(loop->live);
}
