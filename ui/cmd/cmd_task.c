/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that act on the task of the view on top: signals and nice values. */
#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "base/util.h"
#include "ui/cmd/cmd.h"

#define NICE_MIN (-20)
#define NICE_MAX 19

/* The signals that can be given by name. */
static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "TERM", SIGTERM }, { "KILL", SIGKILL }, { "HUP", SIGHUP },	   { "INT", SIGINT },
	{ "QUIT", SIGQUIT }, { "STOP", SIGSTOP }, { "CONT", SIGCONT },	   { "TSTP", SIGTSTP },
	{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "ABRT", SIGABRT },	   { "ALRM", SIGALRM },
	{ "BUS", SIGBUS },   { "CHLD", SIGCHLD }, { "FPE", SIGFPE },	   { "ILL", SIGILL },
	{ "IO", SIGIO },     { "PIPE", SIGPIPE }, { "PROF", SIGPROF },	   { "PWR", SIGPWR },
	{ "SEGV", SIGSEGV }, { "SYS", SIGSYS },	  { "TRAP", SIGTRAP },	   { "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU }, { "URG", SIGURG },	  { "VTALRM", SIGVTALRM }, { "WINCH", SIGWINCH },
	{ "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
};

/* The name of a signal, or NULL. */
static const char *signal_name(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].number == number)
			return signals[i].name;
	return NULL;
}

/* The number of a signal given by number or name, with or without SIG; 0: unknown. */
static int signal_number(const char *text)
{
	const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	const char *end = text + strlen(text);
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!strcasecmp(signals[i].name, name))
			return signals[i].number;
	if (!parse_uint(&text, end, &number) || text != end || number > (uint64_t)SIGRTMAX)
		return 0;
	return (int)number;
}

/* Sets the task of the top view as the target. Returns false, with a message, without one. */
static bool take_target(struct ui *ui)
{
	struct ui_target *target = &ui->target;
	struct page *page = ui_page(ui);
	struct target_seen seen;
	int err;

	if (!page->ops->target || !page->ops->target(ui, page->state, &target->task))
		return false;
	seen = (struct target_seen){ .start_ns = target->task.key.start_ns, .by_ns = ui->seen_ns };
	err = target_find(&target->who, ui->sampler_config.proc, target->task.tgid,
			  target->task.thread ? target->task.key.pid : 0, &seen);
	if (!err)
		return true;
	if (err == -ESRCH)
		ui_error(ui, "%d has exited", target->task.key.pid);
	else if (err == -EXDEV)
		ui_error(ui, "/proc is of another PID namespace: %d is another task here",
			 target->task.key.pid);
	else
		ui_error(ui, "%d: %s", target->task.key.pid, strerror(-err));
	return false;
}

/* "1234 (name)" of the target, escaped; valid until ui->scratch is used again. */
static const char *target_name(struct ui *ui, pid_t pid)
{
	ui->scratch.len = 0;
	buf_printf(&ui->scratch, "%d (", pid);
	ui_escape(ui, &ui->scratch, ui->target.task.comm);
	buf_puts(&ui->scratch, ")");
	return buf_cstr(&ui->scratch);
}

/* Reports a failure to the user. */
static void say_failed(struct ui *ui, const char *what, pid_t pid, int err)
{
	const char *name = target_name(ui, pid);

	if (err == -ESRCH)
		ui_error(ui, "%s %s: it has exited", what, name);
	else if (err == -EPERM || err == -EACCES)
		ui_error(ui, "%s %s: no permission", what, name);
	else
		ui_error(ui, "%s %s: %s", what, name, strerror(-err));
}

/* Sends the confirmed signal. */
static unsigned do_signal(struct ui *ui, UNUSED const char *text, UNUSED struct buf *error)
{
	pid_t pid = ui->target.task.tgid;
	const char *name = signal_name(ui->target.value);
	char what[32];
	int err;

	if (name)
		snprintf(what, sizeof(what), "SIG%s", name);
	else
		snprintf(what, sizeof(what), "signal %d", ui->target.value);
	err = target_signal(&ui->target.who, ui->target.value);
	if (err)
		say_failed(ui, what, pid, err);
	else
		ui_say(ui, "%s sent to %s", what, target_name(ui, pid));
	return REACT_REDRAW;
}

/* Takes the signal, and asks for confirmation. */
static unsigned take_signal(struct ui *ui, const char *text, struct buf *error)
{
	int number = *text ? signal_number(text) : SIGTERM;
	struct buf label = { 0 };

	if (!number) {
		buf_printf(error, "a signal's name, or a number from 1 to %d", SIGRTMAX);
		return REACT_NONE;
	}
	ui->target.value = number;
	buf_puts(&label, "send ");
	if (signal_name(number))
		buf_printf(&label, "SIG%s", signal_name(number));
	else
		buf_printf(&label, "signal %d", number);
	buf_printf(&label, " to %s?", target_name(ui, ui->target.task.tgid));
	prompt_confirm(&ui->prompt, buf_cstr(&label), do_signal);
	buf_free(&label);
	return REACT_REDRAW;
}

COMMAND(cmd_signal)
{
	struct buf label = { 0 };

	if (!take_target(ui))
		return REACT_REDRAW;
	buf_printf(&label, "signal to %s", target_name(ui, ui->target.task.tgid));
	prompt_ask(&ui->prompt, buf_cstr(&label), "TERM", take_signal);
	buf_free(&label);
	return REACT_REDRAW;
}

/* Sets the confirmed nice value. */
static unsigned do_renice(struct ui *ui, UNUSED const char *text, UNUSED struct buf *error)
{
	pid_t pid = ui->target.task.thread ? ui->target.task.key.pid : ui->target.task.tgid;
	size_t threads;
	int err = target_renice(&ui->target.who, ui->target.value, &threads);

	if (err)
		say_failed(ui, "nice of", pid, err);
	else
		ui_say(ui, "nice of %s is now %d (%zu %s)", target_name(ui, pid), ui->target.value,
		       threads, plural(threads, "thread", "threads"));
	return REACT_REDRAW;
}

/* Takes the nice value, and asks for confirmation. */
static unsigned take_nice(struct ui *ui, const char *text, struct buf *error)
{
	pid_t pid = ui->target.task.thread ? ui->target.task.key.pid : ui->target.task.tgid;
	struct buf label = { 0 };
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < NICE_MIN || value > NICE_MAX) {
		buf_puts(error, "a number from -20 to 19");
		return REACT_NONE;
	}
	ui->target.value = (int)value;
	buf_printf(&label, "set nice of %s to %ld?", target_name(ui, pid), value);
	prompt_confirm(&ui->prompt, buf_cstr(&label), do_renice);
	buf_free(&label);
	return REACT_REDRAW;
}

unsigned cmd_renice(struct ui *ui, int by)
{
	static const struct prompt_number nice_values = {
		.least = NICE_MIN, .most = NICE_MAX, .less = KEY_F(7), .more = KEY_F(8)
	};
	struct buf label = { 0 };
	char now[16] = "";
	pid_t pid;
	int value;

	if (!take_target(ui))
		return REACT_REDRAW;
	pid = ui->target.task.thread ? ui->target.task.key.pid : ui->target.task.tgid;
	errno = 0;
	value = getpriority(PRIO_PROCESS, (id_t)pid);
	value += by;
	value = value < NICE_MIN ? NICE_MIN : value > NICE_MAX ? NICE_MAX : value;
	if (!errno)
		snprintf(now, sizeof(now), "%d", value);
	buf_printf(&label, "nice of %s", target_name(ui, pid));
	prompt_ask_number(&ui->prompt, buf_cstr(&label), now, &nice_values, take_nice);
	buf_free(&label);
	return REACT_REDRAW;
}
