/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/loop.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/pattern.h"
#include "base/privileges.h"
#include "base/util.h"
#include "history/past.h"
#include "history/recorder.h"
#include "ui/cmd.h"
#include "ui/command.h"
#include "ui/rewind.h"
#include "ui/table_state.h"
#include "ui/view_table.h"
#include "ui/watch.h"

/* The shortest useful interval: a sample asked for by a key waits until it has passed. */
#define LEAST_INTERVAL_NS (100 * NSEC_PER_MSEC)

/* The time for keys in one turn, and in the middle of a sample. */
#define KEYS_NS (50 * NSEC_PER_MSEC)
#define KEYS_BETWEEN_NS (2 * NSEC_PER_MSEC)

/* Lines that a turn of the wheel scrolls. */
#define WHEEL_LINES 3

/* Reactions that need the sampler, which must not be called in the middle of a sample. */
#define REACT_LATER (REACT_RESAMPLE | REACT_REOPEN)

/* What is read of each task that ran where the past is kept. */
#define KEPT_NEEDS (NEED_COMMAND | NEED_CGROUP)

/* Signals that end the screen. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

struct loop {
	struct ui ui;
	struct sampler *live; /* of the machine; NULL: a recording is shown */
	int signals; /* signalfd */
	uint64_t last_ns; /* when the last sample began */
	uint64_t skipped; /* grid points passed over since then */
	bool asked; /* a sample is due as soon as the interval is long enough */
	bool dirty; /* something needs drawing */
	bool more; /* keys may be waiting that were left for the next turn */
	bool paused; /* ui.paused when the grid was last checked */
	unsigned wanted; /* the NEED_ bits of the last sample */
};

/* Notes the result of sending: a terminal with an error is gone. */
static void note_sent(struct loop *loop, int err)
{
	if (err && err != -EAGAIN)
		loop->ui.quit = true;
}

/* Says over the bar of a view that it shows the past; the table's title does that itself. */
static void draw_past(struct ui *ui)
{
	struct buf text = { 0 };
	int cells;

	buf_puts(&text, "  ");
	rewind_append_time(ui, &text);
	buf_puts(&text, "  ");
	cells = (int)text_width(text.data, text.len, ui->term.charset);
	if (cells < ui->term.columns)
		term_put(&ui->term, 0, ui->term.columns - cells, cells, text.data, text.len,
			 STYLE_SELECTED_HOT);
	buf_free(&text);
}

/* Draws everything once the terminal has taken the previous output. */
static void draw(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	struct page *page = ui_page(ui);
	int last = ui->term.lines - 1;

	if (term_waits_for(&ui->term) >= 0)
		return;
	term_erase(&ui->term);
	if (ui->frame)
		page->ops->draw(ui, page->state, &page->list, last);
	if (ui->frame && ui->rewind.back && ui->depth > 1)
		draw_past(ui);
	if (ui->prompt.open)
		prompt_draw(&ui->prompt, &ui->term, last);
	else if (ui->message_until_ns)
		term_put(&ui->term, last, 0, ui->term.columns, ui->message.data, ui->message.len,
			 ui->message_style);
	else
		command_footer(ui, page->ops->where, last);
	loop->dirty = false;
	note_sent(loop, term_flush(&ui->term));
}

/* The NEED_ bits of the views on the stack. */
static unsigned needs(struct ui *ui)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->needs)
			wanted |= ui->pages[i].ops->needs(ui, ui->pages[i].state);
	return wanted;
}

/* Carries out reactions; those that are impossible during a sample are postponed. */
static void react(struct loop *loop, unsigned reactions)
{
	struct ui *ui = &loop->ui;

	if (reactions & REACT_QUIT)
		ui->quit = true;
	ui->pending |= reactions & REACT_LATER;
	if (reactions & REACT_RELEASE)
		rows_release(&ui->table->rows);
	if (reactions & REACT_RELAYOUT)
		table_layout(ui);
	if (reactions & (REACT_RESORT | REACT_RELAYOUT) && ui->frame)
		table_sort(ui);
	if (reactions)
		loop->dirty = true;
}

/* Asks for a sample if the last one lacks what the views need. */
static void ask_for_needs(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	if (ui->frame && needs(ui) & (NEED_RECORD | NEED_RANGE | NEED_CGROUP) & ~loop->wanted)
		ui->pending |= REACT_RESAMPLE;
}

/* Handles the mouse. */
static unsigned mouse(struct ui *ui, const struct term_key *key)
{
	struct page *page = ui_page(ui);

	if (key->mouse == MOUSE_CLICK)
		return page->ops->click ? page->ops->click(ui, page->state, &page->list, key->line,
							   key->column)
					: REACT_NONE;
	list_scroll(&page->list, key->mouse == MOUSE_UP ? -WHEEL_LINES : WHEEL_LINES);
	if (ui->depth == 1)
		table_pin(ui);
	return REACT_REDRAW;
}

/* Hands a key to the prompt. What is done with the answer is done as our caller may. */
static unsigned answer_prompt(struct ui *ui, const struct term_key *key)
{
	unsigned reactions;

	privileges_rest();
	reactions = prompt_key(&ui->prompt, ui, key);
	privileges_wake();
	return reactions;
}

/* Runs the command of a key. What acts does so as our caller may. */
static unsigned run_key(struct ui *ui, const struct command *command)
{
	bool acts = command_acts(command);
	unsigned reactions;

	if (acts)
		privileges_rest();
	reactions = command->run(ui, command->arg);
	if (acts)
		privileges_wake();
	return reactions;
}

/* Handles one key. */
static unsigned handle_key(struct ui *ui, const struct term_key *key)
{
	const struct command *command;

	/*
	 * Before the first frame, and while the source is opened anew, there is nothing to act on:
	 * answers are not taken, and only the key that quits works.
	 */
	if (ui->prompt.open)
		return key->mouse || (!ui->frame && prompt_answers(&ui->prompt, key))
			       ? REACT_NONE
			       : answer_prompt(ui, key);
	ui->message_until_ns = 0;
	if (key->mouse)
		return ui->frame ? mouse(ui, key) | REACT_REDRAW : REACT_NONE;
	command = command_by_key(key, ui_page(ui)->ops->where);
	if (!command || (!ui->frame && command->run != cmd_quit))
		return REACT_REDRAW;
	if (command->where & WHERE_PRESENT && ui->rewind.back) {
		ui_error(ui, ui->rewind.replay ? "this is a recording: nothing can be done to it"
					       : "this is the past: Esc goes to the present");
		return REACT_REDRAW;
	}
	if (!command_is_allowed(ui, command)) {
		ui_error(ui, "not allowed on this screen: %s (--readonly)", command->name);
		return REACT_REDRAW;
	}
	return run_key(ui, command) | REACT_REDRAW;
}

/*
 * Handles the keys that have come, for a limited time: pasted text may take longer than a sample
 * and a signal can wait.
 */
static void handle_keys(struct loop *loop, uint64_t time_ns)
{
	struct ui *ui = &loop->ui;
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + time_ns;
	struct term_key key;

	do {
		loop->more = term_get(&ui->term, &key);
		if (loop->more)
			react(loop, handle_key(ui, &key));
	} while (loop->more && !ui->quit && clock_ns(CLOCK_MONOTONIC) < until);
	/* Nothing is to be read now or later. */
	if (!loop->more && ui->term.input.ended)
		ui->quit = true;
	ask_for_needs(loop);
}

/* Whether a signal that ends the program is waiting. */
static bool is_to_end(void)
{
	sigset_t pending;
	bool found = false;

	sigpending(&pending);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		found |= sigismember(&pending, ends[i]) == 1;
	return found;
}

/*
 * Stops the program at its user's request, and goes on when continued: in the foreground, or to
 * end, which needs no terminal.
 */
static void stop(struct loop *loop)
{
	struct sigaction old, standard = { .sa_handler = SIG_DFL };
	const struct timespec now = { 0 };
	sigset_t set, go_on;

	term_suspend(&loop->ui.term);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigemptyset(&go_on);
	sigaddset(&go_on, SIGCONT);
	sigaction(SIGTSTP, &standard, &old);
	do {
		raise(SIGTSTP);
		/* The program stops here. */
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		sigprocmask(SIG_BLOCK, &set, NULL);
	} while (!is_to_end() && !term_is_ours());
	sigaction(SIGTSTP, &old, NULL);
	sigtimedwait(&go_on, NULL, &now);
	if (!is_to_end())
		term_resume(&loop->ui.term);
	react(loop, REACT_RELAYOUT);
}

/* Goes on after a signal that cannot be caught: another process may have written to the screen. */
static void go_on(struct loop *loop)
{
	if (!term_is_ours()) {
		stop(loop);
		return;
	}
	term_resume(&loop->ui.term);
	react(loop, REACT_RELAYOUT);
}

/* Handles one signal. */
static void handle_signal(struct loop *loop, unsigned number)
{
	switch (number) {
	case SIGWINCH:
		term_resize(&loop->ui.term);
		react(loop, REACT_RELAYOUT);
		break;
	case SIGTSTP:
		stop(loop);
		break;
	case SIGCONT:
		go_on(loop);
		break;
	default:
		loop->ui.quit = true;
	}
}

/*
 * Handles the signals that have come, those that end the program first (signalfd(2) gives the
 * lowest number first): after that the terminal is no longer touched.
 */
static void handle_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == sizeof(info))
		if (!loop->ui.quit)
			handle_signal(loop, info.ssi_signo);
}

/*
 * Waits for keys, signals and the terminal, for a limited time, and handles them; keys for at most
 * `keys_ns`. Returns 0 or -errno.
 */
static int wait_for(struct loop *loop, uint64_t timeout_ns, uint64_t keys_ns)
{
	struct term *term = &loop->ui.term;
	struct pollfd fds[3 + TRIGGERS_MAX] = {
		{ .fd = term->input.fd, .events = POLLIN },
		{ .fd = loop->signals, .events = POLLIN },
		{ .fd = term_waits_for(term), .events = POLLOUT },
	};
	nfds_t n = 3 + watch_fill(&loop->ui, fds + 3);
	struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / NSEC_PER_SEC),
				    .tv_nsec = (long)(timeout_ns % NSEC_PER_SEC) };

	if (ppoll(fds, n, &timeout, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	loop->dirty |= watch_take(&loop->ui, fds + 3);
	if (fds[1].revents)
		handle_signals(loop);
	if (loop->ui.quit)
		return 0;
	if (fds[2].revents)
		note_sent(loop, term_send(term));
	if (fds[0].revents || loop->more || term_due_ns(term) <= clock_ns(CLOCK_MONOTONIC))
		handle_keys(loop, keys_ns);
	return 0;
}

/* Runs between the packs of a sample: keys are answered from the present frame. */
static void between(void *arg)
{
	struct loop *loop = arg;

	if (loop->ui.quit || wait_for(loop, 0, KEYS_BETWEEN_NS))
		return;
	if (loop->dirty && !loop->ui.quit && loop->ui.frame)
		draw(loop);
}

/* What is read beside, so that what is kept can be shown in all views. */
static unsigned kept_needs(const struct ui *ui)
{
	/* The first two samples are wanted soon. */
	return ui->rewind.lookback && ui->samples ? KEPT_NEEDS : 0;
}

/* Takes a sample, and shows it unless the past is shown. */
static void sample(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct frame *frame;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	unsigned wanted = needs(ui) | kept_needs(ui);
	int err;

	loop->asked = false;
	loop->last_ns = now;
	loop->wanted = wanted;
	rewind_keep(ui);
	sampler_want(loop->live, wanted);
	ui->in_tick = true;
	err = sampler_tick(loop->live, loop->skipped, &frame);
	ui->in_tick = false;
	loop->dirty = true;
	if (err) {
		ui_error(ui, "cannot take a sample: %s", strerror(-err));
		return;
	}
	if (ui->config->recorder)
		recorder_take(ui->config->recorder, frame, NULL);
	loop->skipped = 0;
	ui->rewind.untaken = frame;
	ui->rewind.live_frame = frame;
	if (!ui->rewind.back)
		rewind_show(ui, frame);
	if ((frame->info->prev || frame->info->since_start) &&
	    ++ui->samples == ui->settings->iterations)
		ui->quit = true;
}

/* Takes a sample at a point of the grid, and moves on to the next point. */
static void sample_on_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool first = !ui->rewind.live_frame;
	uint64_t interval_ns = ui->settings->interval_ns;

	sample(loop);
	if (first && ui->rewind.live_frame)
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
	rewind_present(ui);
	rewind_keep(ui);
	rows_reset(&ui->table->rows);
	ui->table->seen = 0;
	sampler_close(loop->live);
	ui->sampler = loop->live = sampler;
	ui->tracing = ui->sampler_config.trace;
	/* The sampler has tried that already: asks how it went. */
	ui->trace_error = ui->tracing ? sampler_trace(sampler, true) : 0;
	ui->frame = ui->rewind.live_frame = NULL;
	return 0;
}

/* Opens what is to be shown: the machine, or a recording. Returns 0 or -errno. */
static int open_shown(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct lookback_limits *limits = ui->config->history;
	int err;

	ui->rewind.past = ui->config->past;
	ui->rewind.replay = ui->config->past;
	if (ui->config->past) {
		ui->sampler_config.threads = ui->settings->group_by == GROUP_THREAD;
		if (ui->sampler_config.threads != past_threads(ui->config->past))
			return -EOPNOTSUPP;
		past_configure(ui->config->past, &ui->sampler_config);
		return 0;
	}
	err = open_sampler(loop);
	if (!err && limits && limits->bytes) {
		ui->rewind.lookback = lookback_open(limits);
		ui->rewind.past = past_open(ui->rewind.lookback, &ui->sampler_config);
	}
	return err;
}

/* Whether a key has chosen a hierarchy of cgroups other than the open one. */
static bool is_other_hierarchy(const struct ui *ui)
{
	const struct frame *frame = ui->rewind.live_frame;
	const char *open = frame ? frame->info->hierarchy : NULL;

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
	sample_on_grid(loop);
}

/* Adapts the grid to interval and pause: points that were not wanted are not late. */
static void move_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), interval_ns = ui->settings->interval_ns;
	uint64_t due = loop->last_ns + interval_ns;

	if (ui->ticker.interval_ns != interval_ns) {
		/* Before the second reading only the points after it change. */
		if (!ui->rewind.live_frame || !ui->rewind.live_frame->info->prev)
			ui->ticker.interval_ns = interval_ns;
		else
			ticker_start(&ui->ticker, due > now ? due : now, interval_ns);
	}
	if (loop->paused && !ui->paused)
		ticker_start(&ui->ticker, now, interval_ns);
	loop->paused = ui->paused;
}

/* Whether a view shows what is traced, or it is asked for anyway. */
static bool wants_trace(struct ui *ui)
{
	for (unsigned i = 0; i < ui->depth; i++) {
		const struct page *page = &ui->pages[i];

		if (page->ops->traces && page->ops->traces(ui, page->state))
			return true;
	}
	return ui->sampler_config.trace;
}

/* Takes the first reading of what is traced at once, and the first interval soon after. */
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

/* Has waits traced while a view shows that. */
static void switch_tracing(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool wanted = wants_trace(ui);

	/* A view of the past has what was traced then. */
	if (wanted == ui->tracing || ui->rewind.back)
		return;
	ui->tracing = wanted;
	/* Loading takes a while: the view that asks for it is seen before. */
	if (wanted)
		draw(loop);
	ui->trace_error = sampler_trace(loop->live, wanted);
	if (wanted && !ui->trace_error && ui->frame && !ui->paused)
		hurry(loop);
	loop->dirty = true;
}

/* Carries out what was postponed. */
static void catch_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	unsigned pending = ui->pending;

	ui->pending = 0;
	if (pending & REACT_REOPEN)
		reopen(loop);
	if (pending & REACT_RESAMPLE && loop->live)
		loop->asked = true;
	/* Loading takes up to a second: not while more keys wait, which may leave the view again.
	 */
	if (!loop->more && !ui->quit)
		switch_tracing(loop);
	move_grid(loop);
}

/* When the next sample is due, unless an event comes first. */
static uint64_t next_sample_due(const struct loop *loop)
{
	const struct ui *ui = &loop->ui;
	uint64_t due = ui->paused ? UINT64_MAX : ui->ticker.due_ns;

	if (!loop->live)
		return UINT64_MAX;
	if (loop->asked && loop->last_ns + LEAST_INTERVAL_NS < due)
		due = loop->last_ns + LEAST_INTERVAL_NS;
	return due;
}

/* Removes a message whose time is over. Returns when to check again. */
static uint64_t expire_message(struct loop *loop, uint64_t now)
{
	struct ui *ui = &loop->ui;

	if (ui->message_until_ns && ui->message_until_ns <= now) {
		ui->message_until_ns = 0;
		loop->dirty = true;
	}
	return ui->message_until_ns ? ui->message_until_ns : UINT64_MAX;
}

/* Takes records of exiting tasks when due. Returns when to check again. */
static uint64_t drain_exits(const struct loop *loop, uint64_t now)
{
	if (!loop->live)
		return UINT64_MAX;
	if (sampler_drain_due_ns(loop->live) <= now)
		sampler_drain(loop->live);
	return sampler_drain_due_ns(loop->live);
}

/* Shows the next moment of what is played, when that is due. */
static void play_on(struct loop *loop)
{
	if (rewind_due_ns(&loop->ui) > clock_ns(CLOCK_MONOTONIC))
		return;
	rewind_play_on(&loop->ui);
	loop->dirty = true;
}

/* Runs until the end. Returns 0 or -errno. */
static int run(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	int err = 0;

	while (!err && !ui->quit) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), due = next_sample_due(loop), until;

		if (now >= due && loop->asked && (ui->paused || now < ui->ticker.due_ns))
			sample(loop);
		else if (now >= due)
			sample_on_grid(loop);
		catch_up(loop);
		play_on(loop);
		now = clock_ns(CLOCK_MONOTONIC);
		until = expire_message(loop, now);
		/* The last sample is drawn too. */
		if (loop->dirty)
			draw(loop);
		rewind_keep(ui);
		due = next_sample_due(loop);
		if (until < due)
			due = until;
		until = rewind_due_ns(ui);
		if (until < due)
			due = until;
		until = drain_exits(loop, now);
		if (until < due)
			due = until;
		until = loop->more ? 0 : term_due_ns(&ui->term);
		if (until < due)
			due = until;
		if (!ui->quit)
			err = wait_for(loop, due > now ? due - now : 0, KEYS_NS);
	}
	return err;
}

/*
 * Blocks the signals that come through a descriptor, and opens it. Returns 0 or -errno. They stay
 * blocked until the program has ended, so that a second signal does not cut its clean-up short.
 */
static int open_screen_signals(struct loop *loop)
{
	static const int taken[] = { SIGTSTP, SIGCONT, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&set, ends[i]);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	loop->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return loop->signals >= 0 ? 0 : -errno;
}

/* Takes the configuration. */
static void take_config(struct loop *loop, const struct ui_config *config)
{
	struct ui *ui = &loop->ui;

	ui->config = config;
	ui->settings = config->view;
	ui->sampler_config = *config->sampler;
	ui->sampler_config.between = between;
	ui->sampler_config.arg = loop;
	if (config->pattern) {
		ui->match = pattern_compile(config->pattern, &ui->scratch);
		ui->pattern = xstrdup(config->pattern);
	}
	ui->table = table_new();
	ui_push(ui, &view_table, ui->table);
}

/* Frees the screen's memory. */
static void clean_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	while (ui->depth > 1)
		ui_pop(ui);
	view_table.close(ui, ui->table);
	if (!ui->config->past)
		past_close(ui->rewind.past);
	else if (ui->rewind.past)
		past_leave(ui->rewind.past);
	trends_free(&ui->rewind.trends);
	lookback_close(ui->rewind.lookback);
	sampler_close(loop->live);
	free(ui->hierarchy);
	prompt_free(&ui->prompt);
	buf_free(&ui->message);
	buf_free(&ui->scratch);
	pattern_free(ui->match);
	pattern_free(ui->find);
	free(ui->pattern);
	free(ui->wanted);
	buf_free(&ui->group.name);
}

/* Opens the terminal and runs on it. */
static int run_on_terminal(struct loop *loop, enum ui_failure *failure)
{
	struct ui *ui = &loop->ui;
	int err;

	*failure = UI_TERMINAL;
	err = term_open(&ui->term, ui->config->charset);
	if (err)
		return err;
	if (ui->config->message)
		ui_error(ui, "%s", ui->config->message);
	table_layout(ui);
	ticker_start(&ui->ticker, clock_ns(CLOCK_MONOTONIC), ui->settings->interval_ns);
	*failure = UI_SOURCE;
	err = ui->rewind.replay ? rewind_begin(ui) : 0;
	if (!err) {
		*failure = UI_WAIT;
		err = run(loop);
	}
	term_close(&ui->term);
	return err;
}

int ui_run(const struct ui_config *config, enum ui_failure *failure)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	int err;

	*failure = UI_WAIT;
	err = open_screen_signals(loop);
	if (!err) {
		take_config(loop, config);
		*failure = UI_SOURCE;
		err = open_shown(loop);
		if (!err)
			err = run_on_terminal(loop, failure);
		clean_up(loop);
		close(loop->signals);
	}
	free(loop);
	return err;
}
