/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/past/rewind.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "frame/notes.h"
#include "history/cursor.h"
#include "history/recorder.h"
#include "ui/table/table_state.h"
#include "ui/term/spark.h"

/* The cells of a line's name before its graph, and of its peak after it. */
#define NAME_CELLS 9
#define PEAK_CELLS 14

/* The most moments in a cell: beyond, the line shows what is around the cursor. */
#define CELL_MOMENTS 16

/* The lines: in percent of the interval; the severity of the worst finding. */
enum { LINE_PRESSURE, LINE_WAITED, LINE_FOUND, LINES };

/* The moments that there are cells for. */
struct moments {
	int cells;
	size_t per; /* moments in a cell */
	struct position *positions;
	size_t n, at; /* at: the one in the middle */
};

/* The drawn values: the highest of the moments of each cell. */
struct timeline {
	int used, cursor;
	int left; /* where the present was left; -1: not here */
	double *values[LINES];
	double peak[LINES];
};

bool timeline_wanted(const struct ui *ui)
{
	return ui->rewind.past && (ui->rewind.back || ui->rewind.timeline);
}

/* A moment's value; NAN: not known. */
static double value_of(const struct position *position, int line)
{
	const struct record_entry *entry = position_entry(position);
	double pressure = record_entry_pressure(entry);

	if (line == LINE_PRESSURE)
		return pressure < 0 ? (double)NAN : pressure;
	if (line == LINE_FOUND)
		return (double)entry->found;
	if (!entry->interval_ns)
		return (double)NAN;
	return (double)entry->waited_ns * 100.0 / (double)entry->interval_ns;
}

/* Takes a moment into its cell. */
static void take_moment(struct timeline *timeline, const struct position *position, int cell)
{
	for (int line = 0; line < LINES; line++) {
		double *at = &timeline->values[line][cell], value = value_of(position, line);

		if (isnan(*at) || value > *at)
			*at = value;
		if (isnan(timeline->peak[line]) || value > timeline->peak[line])
			timeline->peak[line] = value;
	}
}

/* The index of the last moment up to that time, if what comes after it is there; n: it is not. */
static size_t index_up_to(struct cursor *past, const struct position *positions, size_t n,
			  uint64_t real_ns)
{
	struct position last = positions[n - 1];

	for (size_t i = n; i-- > 0;)
		if (position_entry(&positions[i])->real_ns <= real_ns)
			return i + 1 < n || !cursor_next(past, &last) ? i : n;
	return n;
}

/* Finds the moments around the one that is shown, or the last, for as many cells. False: none. */
static bool find_moments(struct cursor *past, int width, struct moments *found)
{
	size_t moments = cursor_records(past), cells;
	struct position position;

	*found = (struct moments){ .cells = width - NAME_CELLS - PEAK_CELLS };
	if (found->cells < 1 || (!cursor_shown(past, &position) && !cursor_last(past, &position)))
		return false;
	cells = (size_t)found->cells;
	found->per = (moments + cells - 1) / cells;
	if (!found->per)
		found->per = 1;
	if (found->per > CELL_MOMENTS)
		found->per = CELL_MOMENTS;
	found->positions = xcalloc(cells * found->per, sizeof(*found->positions));
	found->n = cursor_around(past, &position, found->positions, cells * found->per, &found->at);
	return true;
}

/* Fills the cells; left_ns: when the present was left, 0: it is not. */
static void fill_cells(struct timeline *timeline, struct cursor *past, const struct moments *found,
		       uint64_t left_ns)
{
	size_t left = left_ns ? index_up_to(past, found->positions, found->n, left_ns) : found->n;

	for (size_t i = 0; i < found->n; i++)
		take_moment(timeline, &found->positions[i], (int)(i / found->per));
	timeline->used = (int)((found->n + found->per - 1) / found->per);
	timeline->cursor = (int)(found->at / found->per);
	timeline->left = left < found->n ? (int)(left / found->per) : -1;
}

/* Draws one line. */
static void draw_graph(struct ui *ui, const struct timeline *timeline, int number, int line)
{
	static const char *const names[] = { "pressure", "waited" };
	/* What all tasks waited has no end. */
	double scale = number == LINE_PRESSURE ? 100 : timeline->peak[number];
	struct term *term = &ui->term;
	struct buf cell = { 0 };
	char peak[32];

	term_puts(term, line, 0, names[number], STYLE_LABEL);
	for (int i = 0; i < timeline->used; i++) {
		double value = timeline->values[number][i];
		bool cursor = i == timeline->cursor;

		if (number == LINE_PRESSURE && i == timeline->left && !cursor) {
			term_puts(term, line, NAME_CELLS + i, "|", STYLE_LABEL);
			continue;
		}
		cell.len = 0;
		spark_append_one(value, scale, term->charset, &cell);
		term_put(term, line, NAME_CELLS + i, 1, cell.data, cell.len,
			 cursor ? STYLE_SELECTED_HOT
				: style_of_graph(&term->styles, isnan(value) ? 0 : value));
	}
	buf_free(&cell);
	if (isnan(timeline->peak[number]))
		return;
	snprintf(peak, sizeof(peak), " max %.1f %%", timeline->peak[number]);
	term_puts(term, line, NAME_CELLS + timeline->used, peak, STYLE_DIM);
}

/* Marks the moments that had a finding, but for those that only tell about a task. */
static void draw_marks(struct ui *ui, const struct timeline *timeline, int line)
{
	term_puts(&ui->term, line, 0, "findings", STYLE_LABEL);
	for (int i = 0; i < timeline->used; i++) {
		double found = timeline->values[LINE_FOUND][i];

		if (found > FINDING_WARNING)
			term_puts(&ui->term, line, NAME_CELLS + i, "!",
				  found > FINDING_CRITICAL ? STYLE_HOT : STYLE_BOLD);
	}
}

void timeline_draw(struct ui *ui, int line)
{
	struct cursor *past = ui->rewind.past;
	struct timeline timeline;
	struct moments found;

	if (!find_moments(past, ui->term.columns, &found)) {
		if (found.cells > 0)
			term_puts(&ui->term, line, 0, "no history yet", STYLE_DIM);
		return;
	}
	for (int i = 0; i < LINES; i++) {
		timeline.peak[i] = (double)NAN;
		timeline.values[i] = xcalloc((size_t)found.cells, sizeof(double));
		for (int cell = 0; cell < found.cells; cell++)
			timeline.values[i][cell] = (double)NAN;
	}
	fill_cells(&timeline, past, &found,
		   ui->rewind.back && !ui->rewind.replay ? ui->rewind.left_ns : 0);
	free(found.positions);
	for (int i = 0; i < LINES; i++) {
		if (i == LINE_FOUND)
			draw_marks(ui, &timeline, line + i);
		else
			draw_graph(ui, &timeline, i, line + i);
		free(timeline.values[i]);
	}
}

/* How long the table keeps its place after the notes above it have gone. */
#define NOTE_ROOM_NS (30 * NSEC_PER_SEC)

/* The longest that a playback waits for its next moment. */
#define PLAY_MOST_NS (10 * NSEC_PER_SEC)

/* One of so many moments is written to the debug log. */
#define KEEP_LOGGED 16

/* Keeps the room of notes for a while after the notes have gone. */
static void keep_note_room(struct ui *ui)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t notes = notes_default_count(ui->frame->info);

	if (notes < ui->note_room && now < ui->note_room_until_ns)
		return;
	ui->note_room = notes;
	ui->note_room_until_ns = now + NOTE_ROOM_NS;
}

/* The NEED_ bits of the views on the stack. */
static unsigned needs_of_views(struct ui *ui)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->needs)
			wanted |= ui->pages[i].ops->needs(ui, ui->pages[i].state);
	return wanted;
}

void rewind_show(struct ui *ui, const struct frame *frame)
{
	ui->frame = frame;
	ui->seen_ns = clock_ns(CLOCK_BOOTTIME);
	keep_note_room(ui);
	if (rows_tick(&ui->table->rows, ui, needs_of_views(ui)))
		ui_error(ui, "the threads cannot be read");
	table_layout(ui);
	table_sort(ui);
	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->frame)
			ui->pages[i].ops->frame(ui, ui->pages[i].state);
}

void rewind_present(struct ui *ui)
{
	struct rewind *rewind = &ui->rewind;

	if (!rewind->back || rewind->replay)
		return;
	rewind->back = rewind->playing = false;
	rewind->jumps++;
	ui->sampler = rewind->live;
	cursor_leave(rewind->past);
	rewind_show(ui, rewind->live_frame);
	cursor_forget_shown(rewind->past);
}

/* Shows a moment. False where it cannot be read. */
static bool show_position(struct ui *ui, const struct position *position)
{
	struct rewind *rewind = &ui->rewind;
	const struct frame *frame;
	int err = cursor_show(rewind->past, position, &frame);

	if (err) {
		ui_error(ui, "cannot read this sample: %s", strerror(-err));
		rewind->playing = false;
		return false;
	}
	if (!rewind->back && !rewind->replay) {
		rewind->live = ui->sampler;
		rewind->live_frame = ui->frame;
		rewind->left_ns = ui->frame->info->real_ns;
	}
	rewind->back = true;
	ui->sampler = cursor_sampler(rewind->past);
	rewind_show(ui, frame);
	cursor_forget_shown(rewind->past);
	return true;
}

/* Finds the moment from which to go on. False, with a message: none. */
static bool here(struct ui *ui, struct position *position)
{
	struct rewind *rewind = &ui->rewind;

	if (!rewind->past) {
		ui_error(ui, "no history: --history 0");
		return false;
	}
	if (rewind->back && cursor_shown(rewind->past, position))
		return true;
	cursor_configure(rewind->past, &ui->sampler_config);
	cursor_want_threads(rewind->past, ui->sampler_config.threads);
	if (cursor_last(rewind->past, position))
		return true;
	ui_error(ui, "no history yet");
	return false;
}

/* Says that there is nothing later. */
static void say_end(struct ui *ui)
{
	if (ui->rewind.replay)
		ui_error(ui, "the recording ends here");
	else if (ui->rewind.back)
		rewind_present(ui);
	else
		ui_say(ui, "this is the present");
}

/* Says that there is nothing earlier. */
static void say_begin(struct ui *ui)
{
	ui_error(ui, ui->rewind.replay ? "the recording begins here"
				       : "no earlier history (--history)");
}

/* Whether a moment is what the screen shows of the present. */
static bool is_shown_now(const struct ui *ui, const struct position *position)
{
	return !ui->rewind.back && ui->frame &&
	       position_entry(position)->real_ns == ui->frame->info->real_ns;
}

void rewind_step(struct ui *ui, int by)
{
	struct position position, next;
	bool moved = false;

	if (by > 0 && !ui->rewind.back) {
		say_end(ui);
		return;
	}
	if (!here(ui, &position))
		return;
	/* The present is one step after the last moment, unless that moment is the present. */
	if (!ui->rewind.back && !is_shown_now(ui, &position)) {
		moved = true;
		by++;
	}
	for (; by; by += by < 0 ? 1 : -1) {
		next = position;
		if (by < 0 ? !cursor_before(ui->rewind.past, &next)
			   : !cursor_next(ui->rewind.past, &next))
			break;
		position = next;
		moved = true;
	}
	if (by > 0)
		say_end(ui);
	else if (by < 0)
		say_begin(ui);
	if (!moved || (by > 0 && !ui->rewind.replay))
		return;
	ui->rewind.jumps++;
	show_position(ui, &position);
}

/* Goes to the last moment up to a time. */
static void go_to(struct ui *ui, uint64_t real_ns)
{
	struct position position, last;
	bool again;

	if (!here(ui, &position) || !cursor_last(ui->rewind.past, &last) ||
	    !cursor_find(ui->rewind.past, real_ns, &position, &again))
		return;
	if (!ui->rewind.replay && real_ns > cursor_latest(ui->rewind.past)) {
		rewind_present(ui);
		return;
	}
	if (position_entry(&position)->real_ns > real_ns)
		say_begin(ui);
	else if (again)
		ui_error(ui, "the clock was set back: that time occurs twice");
	ui->rewind.jumps++;
	show_position(ui, &position);
}

void rewind_by_ns(struct ui *ui, int64_t ns)
{
	struct position position, there;
	uint64_t time;
	bool again;

	if (ns > 0 && !ui->rewind.back) {
		say_end(ui);
		return;
	}
	if (!here(ui, &position))
		return;
	time = (ui->rewind.back ? position_entry(&position)->real_ns : ui->frame->info->real_ns) +
	       (uint64_t)ns;
	/* The jump is one step where moments are farther apart. */
	if (!cursor_find(ui->rewind.past, time, &there, &again))
		return;
	if (there.segment == position.segment && there.at == position.at)
		rewind_step(ui, ns < 0 ? -1 : 1);
	else
		go_to(ui, time);
}

bool rewind_to(struct ui *ui, const char *text)
{
	uint64_t end_ns = clock_ns(CLOCK_REALTIME), time;
	struct position last;

	if (!here(ui, &last))
		return true;
	if (ui->rewind.replay && cursor_last(ui->rewind.past, &last))
		end_ns = position_entry(&last)->real_ns;
	/* A time of day may be one that is later than the end, where the clock was set back. */
	if (*text != '-' && cursor_latest(ui->rewind.past) > end_ns)
		end_ns = cursor_latest(ui->rewind.past);
	if (!replay_time(text, end_ns, true, &time))
		return false;
	/* A time without a part of a second means that second. */
	go_to(ui, *text == '-' ? time : time + NSEC_PER_SEC - 1);
	return true;
}

int rewind_begin(struct ui *ui)
{
	struct rewind *rewind = &ui->rewind;
	const struct frame *frame;
	struct position position;
	int err;

	if (!cursor_first(rewind->past, &position))
		return -ENODATA;
	err = cursor_show(rewind->past, &position, &frame);
	if (err)
		return err;
	rewind->back = true;
	ui->sampler = cursor_sampler(rewind->past);
	rewind_show(ui, frame);
	rewind_play(ui, true);
	return 0;
}

/* Sets when the next moment is to be shown: as long after this one as it was, by the speed. */
static void schedule(struct ui *ui)
{
	struct rewind *rewind = &ui->rewind;
	struct position position, next;
	uint64_t wait_ns = 0;

	if (cursor_shown(rewind->past, &position)) {
		next = position;
		if (cursor_next(rewind->past, &next) &&
		    position_entry(&next)->real_ns > position_entry(&position)->real_ns)
			wait_ns =
				position_entry(&next)->real_ns - position_entry(&position)->real_ns;
	}
	wait_ns = rewind->speed < 0 ? wait_ns << -rewind->speed : wait_ns >> rewind->speed;
	if (wait_ns > PLAY_MOST_NS)
		wait_ns = PLAY_MOST_NS;
	rewind->play_due_ns = clock_ns(CLOCK_MONOTONIC) + wait_ns;
}

void rewind_play(struct ui *ui, bool on)
{
	ui->rewind.playing = on && ui->rewind.back;
	if (ui->rewind.playing)
		schedule(ui);
}

uint64_t rewind_due_ns(const struct ui *ui)
{
	return ui->rewind.playing ? ui->rewind.play_due_ns : UINT64_MAX;
}

void rewind_play_on(struct ui *ui)
{
	struct rewind *rewind = &ui->rewind;
	struct position position;
	bool more = cursor_shown(rewind->past, &position) && cursor_next(rewind->past, &position);

	if (!more) {
		rewind->playing = false;
		say_end(ui);
		return;
	}
	if (show_position(ui, &position) && ui->frame->info->prev &&
	    ++ui->samples == ui->settings->iterations && rewind->replay)
		ui->quit = true;
	if (rewind->playing)
		schedule(ui);
}

/* Says what the past takes. */
static void log_size(const struct ring *ring, uint64_t took_ns)
{
	size_t moments = ring_records(ring);

	if (moments % KEEP_LOGGED == 1)
		debug_log("history: %zu moments, %llu kB, the last took %llu us", moments,
			  (unsigned long long)(ring_bytes(ring) >> 10),
			  (unsigned long long)(took_ns / 1000));
}

/* Has the trends of the frame that is shown go on to the next one, without being read again. */
static void add_trend(struct rewind *rewind, const struct frame *frame)
{
	rewind->trends_follow = !rewind->back && rewind->trends_ns == frame->info->real_ns &&
				!frame->info->since_start;
	if (rewind->trends_follow)
		trends_add(&rewind->trends, frame);
}

/* The groups that are shown of a frame, with their readings; NULL: none are. */
static const struct frame *shown_groups(const struct ui *ui, const struct frame *frame)
{
	return frame == ui->frame && ui_rows_frame(ui) != frame ? ui_rows_frame(ui) : NULL;
}

/* The severity of a frame's worst finding, as its entry has it. */
static unsigned worst_in(struct ui *ui, const struct frame *frame)
{
	struct findings *live = &ui->rewind.live_findings;
	const struct view view = { .frame = frame };

	if (frame == ui->frame && !ui->findings_due)
		return findings_worst(&ui->findings);
	findings_take(live, &view, frame, NULL);
	return findings_worst(live);
}

/* The time from which the size of an hour's recording is extrapolated. */
#define RECORDED_NS (60 * NSEC_PER_SEC)

/* Reports once the recording's path, and its size per hour as extrapolated from the first minute.
 */
static void say_recorded(struct ui *ui)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), bytes = recorder_bytes(ui->config->recorder);
	double hour;

	if (!bytes || ui->recorded_said)
		return;
	if (!ui->recorded_ns) {
		ui->recorded_ns = now;
		ui->recorded_bytes = bytes;
	}
	if (now - ui->recorded_ns < RECORDED_NS)
		return;
	hour = (double)(bytes - ui->recorded_bytes) * 3600 * NSEC_PER_SEC /
	       (double)(now - ui->recorded_ns);
	ui->scratch.len = 0;
	ui_escape(ui, &ui->scratch, recorder_path(ui->config->recorder));
	ui_say(ui, "recording to %s: about %.1f MB an hour", buf_cstr(&ui->scratch), hour / 1e6);
	ui->recorded_said = true;
}

void rewind_keep(struct ui *ui)
{
	struct rewind *rewind = &ui->rewind;
	const struct frame *frame = rewind->untaken, *folded;
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	bool keeps = rewind->ring && !rewind->ring_ended;
	unsigned worst;
	int err;

	rewind->untaken = NULL;
	if (!frame || !(keeps || ui->config->recorder))
		return;
	folded = shown_groups(ui, frame);
	worst = worst_in(ui, frame);
	if (ui->config->recorder) {
		recorder_add(ui->config->recorder, frame, folded, worst);
		say_recorded(ui);
	}
	if (!keeps)
		return;
	add_trend(rewind, frame);
	err = ring_add(rewind->ring, frame, folded, worst);
	if (!err) {
		log_size(rewind->ring, clock_ns(CLOCK_MONOTONIC) - began);
		return;
	}
	debug_log("history: %s", strerror(-err));
	ui_error(ui, "history stopped: %s",
		 err == -ENOSPC ? "--history too small for all tasks" : strerror(-err));
	/* Kept moments can still be looked at; the error is reported once. */
	rewind->ring_ended = true;
}

/* Appends the distance of a time from another. */
static void append_distance(struct buf *out, uint64_t real_ns, uint64_t from_ns)
{
	uint64_t ns = real_ns > from_ns ? real_ns - from_ns : from_ns - real_ns;
	uint64_t seconds = (ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;

	buf_putc(out, real_ns > from_ns ? '+' : '-');
	if (ns < 10 * NSEC_PER_SEC)
		buf_printf(out, "%.1f s", (double)ns / (double)NSEC_PER_SEC);
	else if (seconds < 120)
		buf_printf(out, "%llu s", (unsigned long long)seconds);
	else if (seconds < 7200)
		buf_printf(out, "%llu min %02llu s", (unsigned long long)(seconds / 60),
			   (unsigned long long)(seconds % 60));
	else
		buf_printf(out, "%llu h %02llu min", (unsigned long long)(seconds / 3600),
			   (unsigned long long)(seconds / 60 % 60));
}

void rewind_append(const struct ui *ui, struct buf *out)
{
	const struct rewind *rewind = &ui->rewind;

	/* Measured from when the present was left (left_ns), as the present moves on. */
	if (rewind->replay)
		buf_puts(out, "replay");
	else
		append_distance(out, ui->frame->info->real_ns, rewind->left_ns);
	if (!rewind->playing)
		buf_puts(out, rewind->replay ? ", stopped" : "");
	else if (rewind->speed < 0)
		buf_printf(out, ", playing 1/%dx", 1 << -rewind->speed);
	else
		buf_printf(out, ", playing %dx", 1 << rewind->speed);
}

void rewind_append_time(const struct ui *ui, struct buf *out)
{
	time_t seconds = (time_t)(ui->frame->info->real_ns / NSEC_PER_SEC);
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		buf_printf(out, "%02d:%02d:%02d  ", tm.tm_hour, tm.tm_min, tm.tm_sec);
	rewind_append(ui, out);
}
