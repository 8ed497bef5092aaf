/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/past/history_view.h"

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

/* Cells of a line's name before its graph, and of its peak after it. */
#define NAME_CELLS 9
#define PEAK_CELLS 14

/* Maximum samples per cell: beyond, the line shows the part around the cursor. */
#define CELL_MOMENTS 16

/* The lines: in percent of the interval; the severity of the worst finding. */
enum { LINE_PRESSURE, LINE_WAITED, LINE_FOUND, LINES };

/* The samples for the available cells. */
struct samples {
	int cells;
	size_t per; /* samples in a cell */
	struct position *positions;
	size_t n, at; /* at: the one in the middle */
};

/* The values drawn: the highest of each cell's samples. */
struct timeline {
	int used, cursor;
	int left; /* where the present was left; -1: not here */
	double *values[LINES];
	double peak[LINES];
};

bool timeline_wanted(const struct ui *ui)
{
	return ui->history.past && (ui->history.back || ui->history.timeline);
}

/* A sample's value; NAN: unknown. */
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

/* Adds a sample to its cell. */
static void add_to_cell(struct timeline *timeline, const struct position *position, int cell)
{
	for (int line = 0; line < LINES; line++) {
		double *at = &timeline->values[line][cell], value = value_of(position, line);

		if (isnan(*at) || value > *at)
			*at = value;
		if (isnan(timeline->peak[line]) || value > timeline->peak[line])
			timeline->peak[line] = value;
	}
}

/* The index of the last sample up to that time, if later ones are there; n: it is not. */
static size_t index_up_to(struct cursor *past, const struct position *positions, size_t n,
			  uint64_t real_ns)
{
	struct position last = positions[n - 1];

	for (size_t i = n; i-- > 0;)
		if (position_entry(&positions[i])->real_ns <= real_ns)
			return i + 1 < n || !cursor_next(past, &last) ? i : n;
	return n;
}

/* Finds the samples around the shown one, or the last, for all cells. False: none. */
static bool find_samples(struct cursor *past, int width, struct samples *found)
{
	size_t samples = cursor_records(past), cells;
	struct position position;

	*found = (struct samples){ .cells = width - NAME_CELLS - PEAK_CELLS };
	if (found->cells < 1 || (!cursor_shown(past, &position) && !cursor_last(past, &position)))
		return false;
	cells = (size_t)found->cells;
	found->per = (samples + cells - 1) / cells;
	if (!found->per)
		found->per = 1;
	if (found->per > CELL_MOMENTS)
		found->per = CELL_MOMENTS;
	found->positions = xcalloc(cells * found->per, sizeof(*found->positions));
	found->n = cursor_around(past, &position, found->positions, cells * found->per, &found->at);
	return true;
}

/* Fills the cells; left_ns: when the present was left, 0: it was not. */
static void fill_cells(struct timeline *timeline, struct cursor *past, const struct samples *found,
		       uint64_t left_ns)
{
	size_t left = left_ns ? index_up_to(past, found->positions, found->n, left_ns) : found->n;

	for (size_t i = 0; i < found->n; i++)
		add_to_cell(timeline, &found->positions[i], (int)(i / found->per));
	timeline->used = (int)((found->n + found->per - 1) / found->per);
	timeline->cursor = (int)(found->at / found->per);
	timeline->left = left < found->n ? (int)(left / found->per) : -1;
}

/* Draws one line. */
static void draw_graph(struct ui *ui, const struct timeline *timeline, int number, int line)
{
	static const char *const names[] = { "pressure", "waited" };
	/* The waits of all tasks have no upper limit. */
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

/* Marks the samples that had a finding, except findings that only describe a task. */
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
	struct cursor *past = ui->history.past;
	struct timeline timeline;
	struct samples found;

	if (!find_samples(past, ui->term.columns, &found)) {
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
		   ui->history.back && !ui->history.replay ? ui->history.left_ns : 0);
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

/* Maximum wait of a playback for its next sample. */
#define PLAY_MOST_NS (10 * NSEC_PER_SEC)

/* Every so many samples one is written to the debug log. */
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

void history_show(struct ui *ui, const struct frame *frame)
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

void history_present(struct ui *ui)
{
	struct history_view *history = &ui->history;

	if (!history->back || history->replay)
		return;
	history->back = history->playing = false;
	history->jumps++;
	ui->sampler = history->live;
	cursor_leave(history->past);
	history_show(ui, history->live_frame);
	cursor_forget_shown(history->past);
}

/* Shows a sample. False if it cannot be read. */
static bool show_position(struct ui *ui, const struct position *position)
{
	struct history_view *history = &ui->history;
	const struct frame *frame;
	int err = cursor_show(history->past, position, &frame);

	if (err) {
		ui_error(ui, "cannot read this sample: %s", strerror(-err));
		history->playing = false;
		return false;
	}
	if (!history->back && !history->replay) {
		history->live = ui->sampler;
		history->live_frame = ui->frame;
		history->left_ns = ui->frame->info->real_ns;
	}
	history->back = true;
	ui->sampler = cursor_sampler(history->past);
	history_show(ui, frame);
	cursor_forget_shown(history->past);
	return true;
}

/* Finds the sample from which to continue. False, with a message: none. */
static bool here(struct ui *ui, struct position *position)
{
	struct history_view *history = &ui->history;

	if (!history->past) {
		ui_error(ui, "no history: --history 0");
		return false;
	}
	if (history->back && cursor_shown(history->past, position))
		return true;
	cursor_configure(history->past, &ui->sampler_config);
	cursor_want_threads(history->past, ui->sampler_config.threads);
	if (cursor_last(history->past, position))
		return true;
	ui_error(ui, "no history yet");
	return false;
}

/* Reports that there is nothing later. */
static void say_end(struct ui *ui)
{
	if (ui->history.replay)
		ui_error(ui, "the recording ends here");
	else if (ui->history.back)
		history_present(ui);
	else
		ui_say(ui, "this is the present");
}

/* Reports that there is nothing earlier. */
static void say_begin(struct ui *ui)
{
	ui_error(ui, ui->history.replay ? "the recording begins here"
					: "no earlier history (--history)");
}

/* True if a sample is the one that the screen shows of the present. */
static bool is_shown_now(const struct ui *ui, const struct position *position)
{
	return !ui->history.back && ui->frame &&
	       position_entry(position)->real_ns == ui->frame->info->real_ns;
}

void history_step(struct ui *ui, int by)
{
	struct position position, next;
	bool moved = false;

	if (by > 0 && !ui->history.back) {
		say_end(ui);
		return;
	}
	if (!here(ui, &position))
		return;
	/* The present is one step after the last sample, unless that sample is the present. */
	if (!ui->history.back && !is_shown_now(ui, &position)) {
		moved = true;
		by++;
	}
	for (; by; by += by < 0 ? 1 : -1) {
		next = position;
		if (by < 0 ? !cursor_before(ui->history.past, &next)
			   : !cursor_next(ui->history.past, &next))
			break;
		position = next;
		moved = true;
	}
	if (by > 0)
		say_end(ui);
	else if (by < 0)
		say_begin(ui);
	if (!moved || (by > 0 && !ui->history.replay))
		return;
	ui->history.jumps++;
	show_position(ui, &position);
}

/* Goes to the last sample up to a time. */
static void go_to(struct ui *ui, uint64_t real_ns)
{
	struct position position, last;
	bool again;

	if (!here(ui, &position) || !cursor_last(ui->history.past, &last) ||
	    !cursor_find(ui->history.past, real_ns, &position, &again))
		return;
	if (!ui->history.replay && real_ns > cursor_latest(ui->history.past)) {
		history_present(ui);
		return;
	}
	if (position_entry(&position)->real_ns > real_ns)
		say_begin(ui);
	else if (again)
		ui_error(ui, "the clock was set back: that time occurs twice");
	ui->history.jumps++;
	show_position(ui, &position);
}

void history_by_ns(struct ui *ui, int64_t ns)
{
	struct position position, there;
	uint64_t time;
	bool again;

	if (ns > 0 && !ui->history.back) {
		say_end(ui);
		return;
	}
	if (!here(ui, &position))
		return;
	time = (ui->history.back ? position_entry(&position)->real_ns : ui->frame->info->real_ns) +
	       (uint64_t)ns;
	/* The jump is one step if samples are farther apart. */
	if (!cursor_find(ui->history.past, time, &there, &again))
		return;
	if (there.segment == position.segment && there.at == position.at)
		history_step(ui, ns < 0 ? -1 : 1);
	else
		go_to(ui, time);
}

bool history_to(struct ui *ui, const char *text)
{
	uint64_t end_ns = clock_ns(CLOCK_REALTIME), time;
	struct position last;

	if (!here(ui, &last))
		return true;
	if (ui->history.replay && cursor_last(ui->history.past, &last))
		end_ns = position_entry(&last)->real_ns;
	/* A time of day may be later than the end, if the clock was set back. */
	if (*text != '-' && cursor_latest(ui->history.past) > end_ns)
		end_ns = cursor_latest(ui->history.past);
	if (!replay_time(text, end_ns, true, &time))
		return false;
	/* A time without a part of a second means that second. */
	go_to(ui, *text == '-' ? time : time + NSEC_PER_SEC - 1);
	return true;
}

int history_begin(struct ui *ui)
{
	struct history_view *history = &ui->history;
	const struct frame *frame;
	struct position position;
	int err;

	if (!cursor_first(history->past, &position))
		return -ENODATA;
	err = cursor_show(history->past, &position, &frame);
	if (err)
		return err;
	history->back = true;
	ui->sampler = cursor_sampler(history->past);
	history_show(ui, frame);
	history_play(ui, true);
	return 0;
}

/* Sets when the next sample is due: as long after this one as it was, divided by the speed. */
static void schedule(struct ui *ui)
{
	struct history_view *history = &ui->history;
	struct position position, next;
	uint64_t wait_ns = 0;

	if (cursor_shown(history->past, &position)) {
		next = position;
		if (cursor_next(history->past, &next) &&
		    position_entry(&next)->real_ns > position_entry(&position)->real_ns)
			wait_ns =
				position_entry(&next)->real_ns - position_entry(&position)->real_ns;
	}
	wait_ns = history->speed < 0 ? wait_ns << -history->speed : wait_ns >> history->speed;
	if (wait_ns > PLAY_MOST_NS)
		wait_ns = PLAY_MOST_NS;
	history->play_due_ns = clock_ns(CLOCK_MONOTONIC) + wait_ns;
}

void history_play(struct ui *ui, bool on)
{
	ui->history.playing = on && ui->history.back;
	if (ui->history.playing)
		schedule(ui);
}

uint64_t history_due_ns(const struct ui *ui)
{
	return ui->history.playing ? ui->history.play_due_ns : UINT64_MAX;
}

void history_play_on(struct ui *ui)
{
	struct history_view *history = &ui->history;
	struct position position;
	bool more = cursor_shown(history->past, &position) && cursor_next(history->past, &position);

	if (!more) {
		history->playing = false;
		say_end(ui);
		return;
	}
	if (show_position(ui, &position) && ui->frame->info->prev &&
	    ++ui->samples == ui->settings->iterations && history->replay)
		ui->quit = true;
	if (history->playing)
		schedule(ui);
}

/* Reports the size of the history. */
static void log_size(const struct ring *ring, uint64_t took_ns)
{
	size_t samples = ring_records(ring);

	if (samples % KEEP_LOGGED == 1)
		debug_log("history: %zu moments, %llu kB, the last took %llu us", samples,
			  (unsigned long long)(ring_bytes(ring) >> 10),
			  (unsigned long long)(took_ns / 1000));
}

/* Continues the trends of the shown frame with the next one, without reading them again. */
static void add_trend(struct history_view *history, const struct frame *frame)
{
	history->trends_follow = !history->back && history->trends_ns == frame->info->real_ns &&
				 !frame->info->since_start;
	if (history->trends_follow)
		trends_add(&history->trends, frame);
}

/* The groups shown of a frame, with their readings; NULL: none are. */
static const struct frame *shown_groups(const struct ui *ui, const struct frame *frame)
{
	return frame == ui->frame && ui_rows_frame(ui) != frame ? ui_rows_frame(ui) : NULL;
}

/* The severity of a frame's worst finding, as its entry has it. */
static unsigned worst_in(struct ui *ui, const struct frame *frame)
{
	struct findings *live = &ui->history.live_findings;
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

void history_add(struct ui *ui)
{
	struct history_view *history = &ui->history;
	const struct frame *frame = history->untaken, *folded;
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	bool keeps = history->ring && !history->ring_ended;
	unsigned worst;
	int err;

	history->untaken = NULL;
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
	add_trend(history, frame);
	err = ring_add(history->ring, frame, folded, worst);
	if (!err) {
		log_size(history->ring, clock_ns(CLOCK_MONOTONIC) - began);
		return;
	}
	debug_log("history: %s", strerror(-err));
	ui_error(ui, "history stopped: %s",
		 err == -ENOSPC ? "--history too small for all tasks" : strerror(-err));
	/* Stored samples can still be viewed; the error is reported once. */
	history->ring_ended = true;
}

/* Appends the distance between two times. */
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

void history_append(const struct ui *ui, struct buf *out)
{
	const struct history_view *history = &ui->history;

	/* Measured from when the present was left (left_ns), as the present moves on. */
	if (history->replay)
		buf_puts(out, "replay");
	else
		append_distance(out, ui->frame->info->real_ns, history->left_ns);
	if (!history->playing)
		buf_puts(out, history->replay ? ", stopped" : "");
	else if (history->speed < 0)
		buf_printf(out, ", playing 1/%dx", 1 << -history->speed);
	else
		buf_printf(out, ", playing %dx", 1 << history->speed);
}

void history_append_time(const struct ui *ui, struct buf *out)
{
	time_t seconds = (time_t)(ui->frame->info->real_ns / NSEC_PER_SEC);
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		buf_printf(out, "%02d:%02d:%02d  ", tm.tm_hour, tm.tm_min, tm.tm_sec);
	history_append(ui, out);
}
