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
#include "base/util.h"
#include "ui/cmd.h"
#include "ui/command.h"
#include "ui/table_state.h"
#include "ui/view_table.h"
#include "ui/watch.h"

/* What was measured in less says nothing: keys that ask for a sample wait for so long. */
#define LEAST_INTERVAL_NS (100 * NSEC_PER_MSEC)

/* How long the table stays where it is when the notes above it have gone. */
#define NOTE_ROOM_NS (30 * NSEC_PER_SEC)

/* How long keys are dealt with in one turn, and in the middle of a sample. */
#define KEYS_NS (50 * NSEC_PER_MSEC)
#define KEYS_BETWEEN_NS (2 * NSEC_PER_MSEC)

/* Lines that a turn of the wheel scrolls. */
#define WHEEL_LINES 3

/* Reactions that need the sampler, which must not be called in the middle of a sample. */
#define REACT_LATER (REACT_RESAMPLE | REACT_REOPEN)

/* Signals that end the screen. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

struct loop {
	struct ui ui;
	int signals; /* signalfd */
	uint64_t last_ns; /* when the last sample began */
	uint64_t skipped; /* grid points passed over since */
	bool asked; /* a sample is due as soon as it says something */
	bool dirty; /* something is to be drawn */
	bool more; /* keys may wait that were left for the next turn */
	bool paused; /* as ui.paused was when the grid was looked at last */
	unsigned wanted; /* what the last sample was asked for */
};

/* Takes note of what became of sending: a terminal that takes no more is not there any more. */
static void note_sent(struct loop *loop, int err)
{
	if (err && err != -EAGAIN)
		loop->ui.quit = true;
}

/* Draws all, once the terminal has taken what was drawn before. */
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

/* What the views on the stack need to be read (NEED_ bits). */
static unsigned needs(struct ui *ui)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->needs)
			wanted |= ui->pages[i].ops->needs(ui, ui->pages[i].state);
	return wanted;
}

/* Does what handlers ask for; what cannot be done within a sample is put off. */
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

/* What is missing for the views comes with a sample that is taken for it. */
static void ask_for_needs(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	if (ui->frame && needs(ui) & (NEED_RECORD | NEED_RANGE | NEED_CGROUP) & ~loop->wanted)
		ui->pending |= REACT_RESAMPLE;
}

/* The mouse. */
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

/* One key. */
static unsigned handle_key(struct ui *ui, const struct term_key *key)
{
	const struct command *command;

	/*
	 * Before the first frame, and while the source is opened anew, there is nothing to act on:
	 * no answer is taken, and no key does anything but the way out.
	 */
	if (ui->prompt.open)
		return key->mouse || (!ui->frame && prompt_answers(&ui->prompt, key))
			       ? REACT_NONE
			       : prompt_key(&ui->prompt, ui, key);
	ui->message_until_ns = 0;
	if (key->mouse)
		return ui->frame ? mouse(ui, key) | REACT_REDRAW : REACT_NONE;
	command = command_by_key(key, ui_page(ui)->ops->where);
	if (!command || (!ui->frame && command->run != cmd_quit))
		return REACT_REDRAW;
	return command->run(ui, command->arg) | REACT_REDRAW;
}

/*
 * The keys that have come, for some time at most: what is pasted may take longer than a sample and
 * a signal can wait.
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
	/* Nothing is to be read, or will be. */
	if (!loop->more && ui->term.input.ended)
		ui->quit = true;
	ask_for_needs(loop);
}

/* Whether a signal waits that is to end the program. */
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
 * Stops the program as its user asked, and goes on when told to: in the foreground, or to end,
 * which needs no terminal.
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
		/* Here the program stops. */
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		sigprocmask(SIG_BLOCK, &set, NULL);
	} while (!is_to_end() && !term_is_ours());
	sigaction(SIGTSTP, &old, NULL);
	sigtimedwait(&go_on, NULL, &now);
	if (!is_to_end())
		term_resume(&loop->ui.term);
	react(loop, REACT_RELAYOUT);
}

/* Continued, after a signal stopped it that cannot be caught: somebody wrote here since. */
static void go_on(struct loop *loop)
{
	if (!term_is_ours()) {
		stop(loop);
		return;
	}
	term_resume(&loop->ui.term);
	react(loop, REACT_RELAYOUT);
}

/* One signal. */
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
 * The signals that have come, those that end it first (signalfd(2) gives the lowest number first):
 * from then on the terminal is touched no more.
 */
static void handle_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == sizeof(info))
		if (!loop->ui.quit)
			handle_signal(loop, info.ssi_signo);
}

/*
 * Waits for keys, signals and the terminal, for some time at most, and deals with them; with keys
 * for `keys_ns` at most. 0 or -errno.
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

/* Between the packs of a sample: keys are answered from the frame that is there. */
static void between(void *arg)
{
	struct loop *loop = arg;

	if (loop->ui.quit || wait_for(loop, 0, KEYS_BETWEEN_NS))
		return;
	if (loop->dirty && !loop->ui.quit && loop->ui.frame)
		draw(loop);
}

/* Keeps the room that notes took for a while when they have gone. */
static void keep_note_room(struct ui *ui, uint64_t now)
{
	if (ui->frame->info->nnotes < ui->note_room && now < ui->note_room_until_ns)
		return;
	ui->note_room = ui->frame->info->nnotes;
	ui->note_room_until_ns = now + NOTE_ROOM_NS;
}

/* Takes a sample and shows it. */
static void sample(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct frame *frame;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	unsigned wanted = needs(ui);
	int err;

	loop->asked = false;
	loop->last_ns = now;
	loop->wanted = wanted;
	sampler_want(ui->sampler, wanted);
	ui->in_tick = true;
	err = sampler_tick(ui->sampler, loop->skipped, &frame);
	ui->in_tick = false;
	loop->dirty = true;
	if (err) {
		ui_error(ui, "cannot take a sample: %s", strerror(-err));
		return;
	}
	loop->skipped = 0;
	ui->frame = frame;
	ui->seen_ns = clock_ns(CLOCK_BOOTTIME);
	ui->note++;
	keep_note_room(ui, now);
	if (rows_tick(&ui->table->rows, ui, wanted))
		ui_error(ui, "the threads cannot be read");
	table_layout(ui);
	table_sort(ui);
	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].ops->frame)
			ui->pages[i].ops->frame(ui, ui->pages[i].state);
	if ((frame->info->prev || frame->info->since_start) &&
	    ++ui->samples == ui->settings->iterations)
		ui->quit = true;
}

/* Samples at a point of the grid, and moves on to the next. */
static void sample_on_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool first = !ui->frame;
	uint64_t interval_ns = ui->settings->interval_ns;

	sample(loop);
	if (first && ui->frame)
		ticker_start(&ui->ticker,
			     loop->last_ns + (interval_ns < FIRST_INTERVAL_NS ? interval_ns
									      : FIRST_INTERVAL_NS),
			     interval_ns);
	else
		loop->skipped += ticker_advance(&ui->ticker, clock_ns(CLOCK_MONOTONIC));
}

/* Opens the source, closing the one before. 0 or -errno. */
static int open_sampler(struct ui *ui)
{
	struct sampler *sampler;
	int err;

	ui->sampler_config.threads = ui->settings->group_by == GROUP_THREAD;
	err = sampler_open(&sampler, &ui->sampler_config);
	if (err)
		return err;
	rows_reset(&ui->table->rows);
	ui->table->seen = 0;
	sampler_close(ui->sampler);
	ui->sampler = sampler;
	ui->frame = NULL;
	return 0;
}

/* Whether a key has chosen another hierarchy of cgroups than is open. */
static bool is_other_hierarchy(const struct ui *ui)
{
	const char *open = ui->frame ? ui->frame->info->hierarchy : NULL;

	return open && ui->hierarchy && strcmp(open, ui->hierarchy) != 0;
}

/* Changes between processes and threads, and between hierarchies. */
static void reopen(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	bool before = ui->sampler_config.threads;
	int err;

	if (before == (ui->settings->group_by == GROUP_THREAD) && !is_other_hierarchy(ui))
		return;
	err = open_sampler(ui);
	if (err) {
		ui->settings->group_by = before ? GROUP_THREAD : GROUP_PROCESS;
		ui->sampler_config.threads = before;
		ui_error(ui, "cannot open the source: %s", strerror(-err));
		return;
	}
	sample_on_grid(loop);
}

/* Brings the grid in line with interval and pause: points that nobody wanted are not late. */
static void move_grid(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), interval_ns = ui->settings->interval_ns;
	uint64_t due = loop->last_ns + interval_ns;

	if (ui->ticker.interval_ns != interval_ns) {
		/* Before the second reading only what comes behind it changes. */
		if (!ui->frame || !ui->frame->info->prev)
			ui->ticker.interval_ns = interval_ns;
		else
			ticker_start(&ui->ticker, due > now ? due : now, interval_ns);
	}
	if (loop->paused && !ui->paused)
		ticker_start(&ui->ticker, now, interval_ns);
	loop->paused = ui->paused;
}

/* Does what was put off. */
static void catch_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	unsigned pending = ui->pending;

	ui->pending = 0;
	if (pending & REACT_REOPEN)
		reopen(loop);
	if (pending & REACT_RESAMPLE)
		loop->asked = true;
	move_grid(loop);
}

/* When something is due next, if nothing comes before. */
static uint64_t next_sample_due(const struct loop *loop)
{
	const struct ui *ui = &loop->ui;
	uint64_t due = ui->paused ? UINT64_MAX : ui->ticker.due_ns;

	if (loop->asked && loop->last_ns + LEAST_INTERVAL_NS < due)
		due = loop->last_ns + LEAST_INTERVAL_NS;
	return due;
}

/* Takes away a message whose time has passed. When to look again. */
static uint64_t expire_message(struct loop *loop, uint64_t now)
{
	struct ui *ui = &loop->ui;

	if (ui->message_until_ns && ui->message_until_ns <= now) {
		ui->message_until_ns = 0;
		loop->dirty = true;
	}
	return ui->message_until_ns ? ui->message_until_ns : UINT64_MAX;
}

/* Takes records of exiting tasks where that is due. When to look again. */
static uint64_t drain_exits(struct ui *ui, uint64_t now)
{
	if (sampler_drain_due_ns(ui->sampler) <= now)
		sampler_drain(ui->sampler);
	return sampler_drain_due_ns(ui->sampler);
}

/* Until it is to end. 0 or -errno. */
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
		now = clock_ns(CLOCK_MONOTONIC);
		until = expire_message(loop, now);
		/* The last sample is drawn too. */
		if (loop->dirty)
			draw(loop);
		due = next_sample_due(loop);
		if (until < due)
			due = until;
		until = drain_exits(ui, now);
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
 * Blocks the signals that come by a descriptor, and opens that. 0 or -errno. They stay blocked
 * until the program has ended, so that a second one does not end it on its way out.
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

/* Takes the configuration over. */
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

/* Frees all that the screen had. */
static void clean_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	while (ui->depth > 1)
		ui_pop(ui);
	view_table.close(ui, ui->table);
	sampler_close(ui->sampler);
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
	*failure = UI_WAIT;
	err = run(loop);
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
		err = open_sampler(&loop->ui);
		if (!err)
			err = run_on_terminal(loop, failure);
		clean_up(loop);
		close(loop->signals);
	}
	free(loop);
	return err;
}
