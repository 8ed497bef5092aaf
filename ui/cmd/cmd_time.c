/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that go back and forth in time. */
#include "config.h"

#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/past/rewind.h"

#define MINUTE_NS ((int64_t)(60 * NSEC_PER_SEC))

unsigned cmd_step(struct ui *ui, int by)
{
	/* Stepping shows each moment. */
	rewind_play(ui, false);
	rewind_step(ui, by);
	return REACT_REDRAW;
}

unsigned cmd_minute(struct ui *ui, int by)
{
	rewind_by_ns(ui, by * MINUTE_NS);
	return REACT_REDRAW;
}

/* Takes the time to go to. */
static unsigned take_moment_time(struct ui *ui, const char *text, struct buf *error)
{
	if (rewind_to(ui, text))
		return REACT_REDRAW;
	buf_puts(error, "14:02, 14:02:30, 2026-11-21 14:02, or -3m");
	return REACT_NONE;
}

COMMAND(cmd_go_to)
{
	prompt_ask(&ui->prompt, "go to a time (14:02, 14:02:30, -3m)", "", take_moment_time);
	return REACT_REDRAW;
}

unsigned cmd_speed(struct ui *ui, int by)
{
	struct rewind *rewind = &ui->rewind;

	if (!rewind->back) {
		ui_say(ui, "only the past can be played: [ goes back");
		return REACT_REDRAW;
	}
	rewind->speed += by;
	if (rewind->speed > REWIND_FASTEST)
		rewind->speed = REWIND_FASTEST;
	if (rewind->speed < REWIND_SLOWEST)
		rewind->speed = REWIND_SLOWEST;
	rewind_play(ui, true);
	return REACT_REDRAW;
}

COMMAND(cmd_timeline)
{
	ui->rewind.timeline = !ui->rewind.timeline;
	if (!ui->rewind.past)
		ui_error(ui, "nothing is kept to look back at: --history 0");
	else
		ui_say(ui, ui->rewind.timeline ? "the timeline is shown"
					       : "the timeline is shown while looking back only");
	return REACT_REDRAW;
}
