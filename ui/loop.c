/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "base/process.h"
#include "base/util.h"
#include "history/cursor.h"
#include "ui/cmd/command.h"
#include "ui/loop_parts.h"
#include "ui/past/history_view.h"
#include "ui/sites/view_process.h"
#include "ui/state/ui.h"
#include "ui/table/table_state.h"
#include "ui/view_table.h"

/* Reports pressure when it begins: the triggers of --when, on the screen. */

/* Appends a trigger's name, separated by commas from names before it. */
static void append_trigger_name(struct ui *ui, const struct trigger *trigger)
{
	if (ui->scratch.len)
		buf_puts(&ui->scratch, ", ");
	ui_escape(ui, &ui->scratch, trigger->spec->text);
}

/* Fills in further descriptors to poll: up to TRIGGERS_MAX elements. Returns their number. */
static nfds_t watch_fill(const struct ui *ui, struct pollfd *fds)
{
	if (!ui->config->triggers)
		return 0;
	triggers_fill(ui->config->triggers, fds);
	return ui->config->triggers->n;
}

/* Names the triggers whose group was removed since the last check. */
static void name_gone(struct ui *ui, const struct trigger_set *set, const bool *were_gone)
{
	ui->scratch.len = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i].gone && !were_gone[i])
			append_trigger_name(ui, &set->all[i]);
}

/* Names the triggers that fired after their pressure was over. */
static void name_begun(struct ui *ui, const struct trigger_set *set, const bool *were_over)
{
	ui->scratch.len = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i].fired && were_over[i])
			append_trigger_name(ui, &set->all[i]);
}

/*
 * Processes poll()'s results for those: shows a message, and rings the bell if wanted, when
 * pressure begins, not while it continues. Returns whether to draw.
 */
static bool watch_take(struct ui *ui, const struct pollfd *fds)
{
	struct trigger_set *set = ui->config->triggers;
	bool gone[TRIGGERS_MAX], over[TRIGGERS_MAX], told;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!set)
		return false;
	for (size_t i = 0; i < set->n; i++) {
		gone[i] = set->all[i].gone;
		over[i] = trigger_until_ns(&set->all[i], ui->config->watch->linger_ns) <= now;
	}
	triggers_forget(set);
	triggers_take(set, fds, now);
	name_gone(ui, set, gone);
	told = ui->scratch.len;
	if (told)
		ui_error(ui, "no longer exists, so not watched any more: %s",
			 buf_cstr(&ui->scratch));
	name_begun(ui, set, over);
	if (ui->scratch.len) {
		ui_say(ui, "pressure: %s", buf_cstr(&ui->scratch));
		if (ui->config->watch->bell)
			term_bell(&ui->term);
		told = true;
	}
	return told;
}

/* Time for keys per turn, and in the middle of a sample. */
#define KEYS_NS (50 * NSEC_PER_MSEC)
#define KEYS_BETWEEN_NS (2 * NSEC_PER_MSEC)

/* Reactions that need the sampler, which must not be called in the middle of a sample. */
#define REACT_LATER (REACT_RESAMPLE | REACT_REOPEN)

/* Signals that end the screen. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Records the result of sending: a terminal with an error is gone. */
static void note_sent(struct loop *loop, int err)
{
	if (err && err != -EAGAIN)
		loop->ui.quit = true;
}

/* Shows above a view's bar that it is the past; the table's title does so itself. */
static void draw_past(struct ui *ui)
{
	struct buf *text = &ui->scratch;
	int cells;

	text->len = 0;
	buf_puts(text, "  ");
	history_append_time(ui, text);
	buf_puts(text, "  ");
	cells = (int)text_width(text->data, text->len, ui->term.charset);
	if (cells < ui->term.columns)
		term_put(&ui->term, 0, ui->term.columns - cells, cells, text->data, text->len,
			 STYLE_SELECTED_HOT);
}

/* Opens the page of the only selected process (-p), once, as soon as it exists. */
static void open_process(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	const struct sampler_config *config = &ui->sampler_config;

	if (loop->opened || config->npids != 1 || !ui->frame ||
	    ui->settings->group_by != GROUP_PROCESS)
		return;
	for (size_t i = 0; i < ui->frame->n; i++) {
		const struct row *row = &ui->frame->rows[i];
		struct ui_task task = { .key = row->task->key, .tgid = row->task->tgid };

		if (row->exited || task.key.pid != config->pids[0])
			continue;
		memcpy(task.comm, row->task->comm, sizeof(task.comm));
		loop->opened = true;
		view_process_open(ui, &task);
		return;
	}
}

/* Draws everything once the terminal has taken the previous output. */
static void loop_draw(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	struct page *page;
	int last = ui->term.lines - 1;

	if (term_waits_for(&ui->term) >= 0)
		return;
	open_process(loop);
	page = ui_page(ui);
	term_erase(&ui->term);
	if (ui->frame)
		page->ops->draw(ui, page->state, &page->list, last);
	if (ui->frame && ui->history.back && ui->depth > 1)
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

/* Carries out reactions; those impossible during a sample are postponed. */
static void loop_react(struct loop *loop, unsigned reactions)
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

	if (ui->frame && loop_needs(ui) & (NEED_RECORD | NEED_RANGE | NEED_CGROUP) & ~loop->wanted)
		ui->pending |= REACT_RESAMPLE;
}

/*
 * Handles pending keys, for a limited time: pasted text may take longer than a sample and a signal
 * can wait.
 */
static void handle_keys(struct loop *loop, uint64_t time_ns)
{
	struct ui *ui = &loop->ui;
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + time_ns;
	struct term_key key;

	do {
		loop->more = term_get(&ui->term, &key);
		if (loop->more)
			loop_react(loop, key_press(ui, &key));
		loop->dirty |= term_learn(&ui->term);
	} while (loop->more && !ui->quit && clock_ns(CLOCK_MONOTONIC) < until);
	/* Nothing is to be read now or later. */
	if (!loop->more && ui->term.input.ended)
		ui->quit = true;
	ask_for_needs(loop);
}

/* True if a signal that ends the program is pending. */
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
 * Stops the program at its user's request, and resumes when continued: in the foreground, or to
 * exit, which needs no terminal.
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
	loop_react(loop, REACT_RELAYOUT);
}

/* Resumes after a signal that cannot be caught: another process may have written to the screen. */
static void continue_screen(struct loop *loop)
{
	if (!term_is_ours()) {
		stop(loop);
		return;
	}
	term_resume(&loop->ui.term);
	loop_react(loop, REACT_RELAYOUT);
}

/* Handles one signal. */
static void handle_signal(struct loop *loop, unsigned number)
{
	switch (number) {
	case SIGWINCH:
		term_resize(&loop->ui.term);
		loop_react(loop, REACT_RELAYOUT);
		break;
	case SIGTSTP:
		stop(loop);
		break;
	case SIGCONT:
		continue_screen(loop);
		break;
	default:
		loop->ui.quit = true;
	}
}

/*
 * Handles pending signals, those that end the program first (signalfd(2) returns the lowest number
 * first): after that the terminal is not touched any more.
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
		loop_draw(loop);
}

/* Removes a message after its time. Returns when to check again. */
static uint64_t expire_message(struct loop *loop, uint64_t now)
{
	struct ui *ui = &loop->ui;

	if (ui->message_until_ns && ui->message_until_ns <= now) {
		ui->message_until_ns = 0;
		loop->dirty = true;
	}
	return ui->message_until_ns ? ui->message_until_ns : UINT64_MAX;
}

/* Shows the next sample of a playback, when it is due. */
static void play_on(struct loop *loop)
{
	if (history_due_ns(&loop->ui) > clock_ns(CLOCK_MONOTONIC))
		return;
	history_play_on(&loop->ui);
	loop->dirty = true;
}

/* Runs until the end. Returns 0 or -errno. */
static int run(struct loop *loop)
{
	struct ui *ui = &loop->ui;
	int err = 0;

	while (!err && !ui->quit) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), due = loop_sample_due(loop), until;

		if (now >= due && loop->asked && (ui->paused || now < ui->ticker.due_ns))
			loop_sample(loop);
		else if (now >= due)
			loop_sample_on_grid(loop);
		loop_catch_up(loop);
		play_on(loop);
		now = clock_ns(CLOCK_MONOTONIC);
		until = expire_message(loop, now);
		/* The last sample is drawn too. */
		if (loop->dirty)
			loop_draw(loop);
		if (loop_load_trace(loop))
			loop_draw(loop);
		history_add(ui);
		due = loop_sample_due(loop);
		if (until < due)
			due = until;
		until = history_due_ns(ui);
		if (until < due)
			due = until;
		until = loop_drain_exits(loop, now);
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

/* Applies the configuration. */
static void take_config(struct loop *loop, const struct ui_config *config)
{
	struct ui *ui = &loop->ui;

	ui->config = config;
	ui->settings = config->view;
	ui->sampler_config = *config->sampler;
	ui->sampler_config.between = between;
	ui->sampler_config.arg = loop;
	ui->sampler_config.stacks_later = !privileges_foreign();
	if (config->pattern) {
		ui->match = pattern_compile(config->pattern, &ui->scratch);
		ui->asked = pattern_compile(config->pattern, &ui->scratch);
		ui->pattern = xstrdup(config->pattern);
	}
	ui->asked_nusers = config->view->query.nusers;
	ui->asked_users = xcalloc(ui->asked_nusers + 1, sizeof(*ui->asked_users));
	for (size_t i = 0; i < ui->asked_nusers; i++)
		ui->asked_users[i] = config->view->query.users[i];
	ui->table = table_new();
	ui_push(ui, &view_table, ui->table);
}

/* Frees the screen's memory. */
static void clean_up(struct loop *loop)
{
	struct ui *ui = &loop->ui;

	history_add(ui);
	while (ui->depth > 1)
		ui_pop(ui);
	view_table.close(ui, ui->table);
	if (!ui->config->past)
		cursor_close(ui->history.past);
	else if (ui->history.past)
		cursor_leave(ui->history.past);
	trends_free(&ui->history.trends);
	ring_close(ui->history.ring);
	sampler_close(loop->live);
	free(ui->hierarchy);
	prompt_free(&ui->prompt);
	findings_free(&ui->findings);
	findings_free(&ui->history.live_findings);
	buf_free(&ui->message);
	buf_free(&ui->scratch);
	pattern_free(ui->match);
	pattern_free(ui->asked);
	free(ui->asked_users);
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
	err = term_open(&ui->term, ui->config->charset, &ui->settings->theme,
			!ui->settings->no_mouse);
	if (err)
		return err;
	if (ui->config->message)
		ui_error(ui, "%s", ui->config->message);
	table_layout(ui);
	ticker_start(&ui->ticker, clock_ns(CLOCK_MONOTONIC), ui->settings->interval_ns);
	*failure = UI_RECORDING;
	err = ui->history.replay ? history_begin(ui) : 0;
	loop->dirty = ui->history.replay;
	if (!err) {
		*failure = UI_WAIT;
		err = run(loop);
	}
	term_close(&ui->term);
	/* A signal that came while a recording was shown ends the program as usual. */
	return err == -EINTR ? 0 : err;
}

int ui_run(const struct ui_config *config, enum ui_failure *failure)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	int err;

	term_await_ours();
	*failure = UI_WAIT;
	err = open_screen_signals(loop);
	if (!err) {
		take_config(loop, config);
		*failure = UI_SOURCE;
		err = loop_open(loop);
		if (!err)
			err = run_on_terminal(loop, failure);
		clean_up(loop);
		close(loop->signals);
	}
	free(loop);
	return err;
}

bool ui_knows_terminal(const char *type)
{
	return term_is_known(type);
}
