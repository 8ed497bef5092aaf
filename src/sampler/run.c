/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"
#include "bpf/measure.h"
#include "frame/notes.h"
#include "kernel/ancestry.h"
#include "kernel/delayacct.h"
#include "kernel/exits.h"
#include "kernel/proctask.h"
#include "kernel/taskstats.h"
#include "read/measured_exits.h"
#include "sampler/run_trace.h"
#include "trace/tracing.h"

/* Time for a command to exit after a signal, and to be gone after SIGKILL. */
#define END_NS (5 * NSEC_PER_SEC)
#define KILL_NS NSEC_PER_SEC

/* A running command. */
struct running {
	char *const *command;
	const struct sampler_config *config;
	struct run_result *result;
	pid_t pid;
	bool ended;
	int signals; /* signalfd */
	sigset_t before; /* the signal mask of the command */
	struct exits *exits; /* NULL: refused */
	struct ancestry *ancestry;
	size_t open; /* records of the last drain that are not assigned yet */
	int refused; /* without exit records: the -errno why taskstats is not used */
	struct measure *measure; /* NULL: waits are as accounted */
	int unmeasured; /* -errno: they should be measured */
	struct measured_exits ends;
	uint64_t stale; /* tasks with an impossible wait */
	struct delayacct delayacct;
};

/* Adds a note. */
static void add_note(struct run_result *result, struct note note)
{
	if (result->nnotes < NOTES_MAX)
		result->notes[result->nnotes++] = note;
}

/* Adds a note of that id and value. */
static void note(struct run_result *result, enum note_id id, uint64_t value)
{
	add_note(result, (struct note){ .id = id, .value = value });
}

/* Reads exit records. `last`: undecided records stay undecided. */
static void drain_records(struct running *running, bool last)
{
	struct run_result *result = running->result;
	struct exit_record *records;
	size_t n, ours, open;

	exits_drain(running->exits);
	records = exits_records(running->exits, &n);
	if (running->measure)
		measured_exits_take(&running->ends, records, n, true);
	if (result->trace)
		run_trace_exits(result->trace, records, n);
	ancestry_sort(running->ancestry, records, n, last ? n : running->open, &ours, &open);
	for (size_t i = 0; i < ours; i++) {
		struct task_record fields = exits_fields(running->exits)[records[i].field];
		uint32_t left_out = records[i].left_out |
				    run_sum_add(&result->counters, &records[i].counters, 0);

		measured_range(&records[i], &fields);
		run_sum_add_range(&result->record, &fields, left_out, !result->tasks);
		running->stale += left_out || records[i].impossible;
		if (running->result->trace)
			run_trace_ours(running->result->trace, &records[i]);
		result->tasks++;
		result->processes += records[i].last;
		result->ungrouped |= !records[i].tgid;
	}
	memmove(records, records + ours, open * sizeof(*records));
	exits_keep(running->exits, open);
	running->open = open;
}

/* Starts tracing, if requested. */
static void open_trace(struct running *running)
{
	const struct sampler_config *config = running->config;
	struct run_result *result = running->result;
	int err = run_trace_open(&result->trace, config->proc, config->trace_sites);

	if (err)
		add_note(result, tracing_note_of(err));
}

/* Reads the traced sums, after the exit records, which identify their processes. */
static void end_trace(struct running *running)
{
	struct run_result *result = running->result;

	/* Only exit records identify descendants. */
	if (!result->trace || !running->exits)
		return;
	run_trace_end(result->trace, &result->traced);
	if (result->traced.lost)
		note(result, NOTE_TRACE_LOST, result->traced.lost);
}

/* Opens the listeners for exits of tasks. */
static void open_listeners(struct running *running)
{
	int err = exits_open(&running->exits, true, true, running->config->exit_buffer);

	if (err) {
		note(running->result, NOTE_EXITS_REFUSED, (uint64_t)-err);
		return;
	}
	running->ancestry = ancestry_new(running->config->proc, getpid());
}

/* Starts measuring waits, if the kernel does not account them. */
static void open_measuring(struct running *running)
{
	if (!running->exits || !sampler_measures(running->config, &running->delayacct))
		return;
	running->unmeasured = measure_open(&running->measure);
	if (running->measure)
		measured_exits_open(&running->ends, running->measure);
}

/* The reply to a query about an exited process. */
struct zombie {
	struct running *running;
	int error;
	bool read;
};

/* Adds the counters of the reply; a group record without figures means one thread. */
static void add_zombie(void *arg, UNUSED size_t index, int error, const struct taskstats_part *part,
		       UNUSED uint64_t before_ns, UNUSED uint64_t after_ns)
{
	struct zombie *zombie = arg;
	struct run_result *result = zombie->running->result;
	struct counters counters = { 0 };
	struct taskstats_identity who = { 0 };
	struct task_record record;
	uint32_t left_out;

	zombie->error = error;
	if (error || taskstats_counters(part->record, part->len, &counters) ||
	    (part->tgid && !counters.run_ns && !counters.delay[DELAY_CPU].count))
		return;
	/* The record of a process lacks the lifetime of all its threads. */
	if (!part->tgid)
		taskstats_identity(part->record, part->len, &who);
	left_out = run_sum_add(&result->counters, &counters, who.elapsed_ns);
	zombie->running->stale += left_out != 0;
	if (!part->tgid && !taskstats_record(part->record, part->len, &record))
		run_sum_add_range(&result->record, &record, left_out, !result->record.range_valid);
	zombie->read = true;
}

/* Asks taskstats for a process while it is a zombie. 0 or -errno. */
static int ask_zombie(struct running *running, pid_t pid)
{
	struct zombie zombie = { .running = running };
	struct taskstats_client *conn;
	int err = taskstats_client_open(&conn);

	if (err)
		return err;
	taskstats_client_query(conn, true, &pid, 1, add_zombie, NULL, &zombie);
	if (!zombie.read && !zombie.error)
		taskstats_client_query(conn, false, &pid, 1, add_zombie, NULL, &zombie);
	taskstats_client_close(conn);
	return zombie.read ? 0 : zombie.error ? zombie.error : -ENODATA;
}

/* Reads the files of a process, which show its main thread, while it is a zombie. 0 or -errno. */
static int look_at_zombie(struct running *running, pid_t pid)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK), now_ns, start_ns;
	struct proc *proc = running->config->proc;
	struct counters counters = { .valid = DELAY_BIT(DELAY_BLKIO) };
	struct proctask_schedstat sched;
	struct proctask_stat stat;
	int err = proctask_stat(proc, pid, 0, &stat);

	if (err)
		return err;
	counters.delay[DELAY_BLKIO].ns = stat.blkio * tick_ns;
	if (!proctask_schedstat(proc, pid, 0, &sched)) {
		counters.valid |= DELAY_BOTH(DELAY_BIT(DELAY_CPU));
		counters.delay[DELAY_CPU] = (struct delay_sum){ sched.slices, sched.wait };
	}
	now_ns = clock_ns(CLOCK_BOOTTIME);
	start_ns = stat.start * tick_ns;
	running->stale += run_sum_add(&running->result->counters, &counters,
				      now_ns > start_ns ? now_ns - start_ns : 1) != 0;
	return 0;
}

/* Reads the counters of a process while it is a zombie. */
static void read_zombie(struct running *running, pid_t pid)
{
	int err = running->refused ? running->refused : ask_zombie(running, pid);

	if (err) {
		/* Failure to find this process does not affect the next. */
		if (err != -ESRCH)
			running->refused = err;
		err = look_at_zombie(running, pid);
	}
	if (err)
		running->result->counters.valid = 0;
	running->result->tasks += !err;
	running->result->processes += !err;
}

/* Reaps exited processes. */
static void reap(struct running *running)
{
	siginfo_t info = { 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) {
		struct rusage usage;
		int status;

		if (!running->exits)
			read_zombie(running, info.si_pid);
		if (wait4(info.si_pid, &status, 0, &usage) != info.si_pid)
			break;
		running->result->user_ns += (uint64_t)usage.ru_utime.tv_sec * NSEC_PER_SEC +
					    (uint64_t)usage.ru_utime.tv_usec * NSEC_PER_USEC;
		running->result->system_ns += (uint64_t)usage.ru_stime.tv_sec * NSEC_PER_SEC +
					      (uint64_t)usage.ru_stime.tv_usec * NSEC_PER_USEC;
		if (info.si_pid == running->pid) {
			running->result->status = status;
			running->ended = true;
		}
		info.si_pid = 0;
	}
}

/* Handles pending signals. */
static void pass_signals(struct running *running)
{
	struct signalfd_siginfo info;

	while (read(running->signals, &info, sizeof(info)) == sizeof(info)) {
		/* A signal from the terminal has reached the command, too. */
		if (info.ssi_signo == SIGCHLD)
			reap(running);
		else if (info.ssi_code != SI_KERNEL && !running->ended)
			kill(running->pid, (int)info.ssi_signo);
	}
}

/* When something is to be read before it overflows; UINT64_MAX: nothing is. */
static uint64_t read_due_ns(const struct running *running)
{
	uint64_t due_ns = running->exits ? exits_due_ns(running->exits) : UINT64_MAX;

	if (running->result->trace && run_trace_due_ns(running->result->trace) < due_ns)
		due_ns = run_trace_due_ns(running->result->trace);
	return due_ns;
}

/* Reads what is due: first exit records, which identify the owners of traced times. */
static void read_due(struct running *running, uint64_t now_ns)
{
	struct run_trace *trace = running->result->trace;
	bool traced = trace && run_trace_due_ns(trace) <= now_ns;

	if (running->exits && (traced || exits_due_ns(running->exits) <= now_ns))
		drain_records(running, false);
	if (traced)
		run_trace_read(trace);
}

/* Waits for the command's exit. 0 or -errno. */
static int wait_for_end(struct running *running)
{
	struct pollfd pollfd = { .fd = running->signals, .events = POLLIN };

	while (!running->ended) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), due, left;
		struct timespec timeout;

		read_due(running, now);
		due = read_due_ns(running);
		left = due > now ? due - now : 0;
		timeout = (struct timespec){ .tv_sec = (time_t)(left / NSEC_PER_SEC),
					     .tv_nsec = (long)(left % NSEC_PER_SEC) };
		if (ppoll(&pollfd, 1, due == UINT64_MAX ? NULL : &timeout, NULL) < 0 &&
		    errno != EINTR)
			return -errno;
		pass_signals(running);
	}
	return 0;
}

/* Becomes the command, in the child, or writes the reason for the failure. */
static _Noreturn void become(const struct running *running, int report)
{
	int err;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &running->before, NULL);
	/* Before the path is searched. */
	err = -privileges_leave();
	if (!err) {
		execvp(running->command[0], running->command);
		err = errno;
	}
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Starts the command. 0, or -errno on failure. */
static int start_command(struct running *running)
{
	int pipe[2], err = 0;

	if (pipe2(pipe, O_CLOEXEC))
		return -errno;
	running->pid = fork();
	if (!running->pid)
		become(running, pipe[1]);
	if (running->pid < 0)
		err = errno;
	close(pipe[1]);
	/* A successful exec closes the pipe. */
	if (!err && read(pipe[0], &err, sizeof(err)) < 0)
		err = errno;
	close(pipe[0]);
	if (err && running->pid > 0)
		waitpid(running->pid, NULL, 0);
	return -err;
}

/* Tells the command to exit, even if it is stopped. */
static void tell_to_end(void *arg)
{
	const struct running *running = arg;

	if (running->ended)
		return;
	kill(running->pid, SIGTERM);
	kill(running->pid, SIGCONT);
}

/* Waits until the command is gone, for a limited time. Returns false if it is not. */
static bool await_gone(const struct running *running, uint64_t ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ns;
	struct timespec pause = { .tv_nsec = 2000 * 1000 };

	while (!waitpid(running->pid, NULL, WNOHANG)) {
		if (clock_ns(CLOCK_MONOTONIC) >= end_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Ends a command that cannot be followed: it would continue unnoticed. */
static void end_command(struct running *running)
{
	if (running->ended)
		return;
	tell_to_end(running);
	if (await_gone(running, END_NS))
		return;
	kill(running->pid, SIGKILL);
	await_gone(running, KILL_NS);
}

/* Delivers signals by a descriptor. 0 or -errno. */
static int open_child_signals(struct running *running)
{
	static const int taken[] = { SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,
				     SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, &running->before);
	running->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return running->signals < 0 ? -errno : 0;
}

/* Counts the descendants that still exist, and names the first. */
static void find_outlived(struct running *running)
{
	struct run_result *result = running->result;
	struct ancestry *ancestry = ancestry_new(running->config->proc, getpid());
	struct pidlist list = { 0 };

	if (pidlist_read(&list, running->config->proc->fd))
		list.n = 0;
	for (size_t i = 0; i < list.n; i++) {
		struct proctask_stat stat;

		if (!ancestry_has(ancestry, list.pids[i]) ||
		    proctask_stat_part(running->config->proc, list.pids[i], 0, &stat) ||
		    stat.state == 'Z')
			continue;
		if (result->outlived < RUN_NAMED) {
			struct run_outlived *named = &result->named[result->outlived];

			named->pid = list.pids[i];
			memcpy(named->comm, stat.comm, sizeof(named->comm));
		}
		result->outlived++;
	}
	pidlist_free(&list);
	ancestry_free(ancestry);
}

/* Masks unknown figures, and notes why. */
static void mask_unknown_kinds(struct running *running)
{
	struct run_result *result = running->result;
	bool off = running->delayacct.state == DELAYACCT_OFF;

	delayacct_read(&running->delayacct);
	if (off || running->delayacct.state == DELAYACCT_OFF) {
		counters_mask(&result->counters, DELAYACCT_KINDS & ~running->ends.kinds);
		if (!running->measure)
			add_note(result, (struct note){ .id = NOTE_DELAYACCT_OFF,
							.error = running->unmeasured });
	}
	/* Most kernels never account it. */
	if (!result->counters.delay[DELAY_IRQ].count)
		counters_mask(&result->counters, DELAY_BIT(DELAY_IRQ));
	if (running->stale)
		note(result, NOTE_STALE_STAMP, running->stale);
	if (running->config->delayacct_file &&
	    delayacct_left_on(running->config->proc->fd, running->config->delayacct_file))
		note(result, NOTE_DELAYACCT_LEFT, 0);
	if (!result->tasks)
		result->counters.valid = 0;
	if (!running->exits) {
		note(result, NOTE_RUN_REAPED, result->tasks);
		if (running->refused)
			add_note(result, note_of_refusal(running->refused));
		return;
	}
	if (exits_stats(running->exits)->error)
		note(result, NOTE_EXITS_REFUSED, (uint64_t)-exits_stats(running->exits)->error);
	if (exits_stats(running->exits)->lost)
		note(result, NOTE_EXITS_LOST, exits_stats(running->exits)->lost);
	if (!exits_stats(running->exits)->exact)
		note(result, NOTE_EXITS_INEXACT, 0);
}

/* Runs the command from start to exit. 0 or -errno. */
static int run_to_end(struct running *running, enum run_failure *failure)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	*failure = RUN_START;
	err = start_command(running);
	if (err)
		return err;
	*failure = RUN_WAIT;
	die_set_hook(tell_to_end, running);
	/* Only now: it inherited its caller's. */
	err = privileges_keep(running->config->privileges);
	if (!err)
		err = wait_for_end(running);
	die_set_hook(NULL, NULL);
	running->result->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	if (err) {
		end_command(running);
		return err;
	}
	/* The kernel sent its record before it could be reaped. */
	if (running->exits)
		drain_records(running, true);
	end_trace(running);
	find_outlived(running);
	mask_unknown_kinds(running);
	run_sum_settle(&running->result->counters, &running->result->user_ns,
		       &running->result->system_ns);
	return 0;
}

int run_command(char *const *command, const struct sampler_config *config,
		struct run_result *result, enum run_failure *failure)
{
	struct running running = { .command = command, .config = config, .result = result };
	int err;

	*result = (struct run_result){ .command = command, .counters.valid = UINT32_MAX };
	*failure = RUN_WAIT;
	/* This process becomes the parent of orphans, so they stay its descendants. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -errno;
	err = open_child_signals(&running);
	if (!err) {
		open_listeners(&running);
		delayacct_open(&running.delayacct, config->proc->fd, 0);
		open_measuring(&running);
		if (config->trace)
			open_trace(&running);
		err = run_to_end(&running, failure);
		measured_exits_free(&running.ends);
		measure_close(running.measure);
		delayacct_close(&running.delayacct);
		ancestry_free(running.ancestry);
		exits_close(running.exits);
		close(running.signals);
	}
	sigprocmask(SIG_SETMASK, &running.before, NULL);
	return err;
}

void run_result_free(struct run_result *result)
{
	run_trace_close(result->trace);
	*result = (struct run_result){ 0 };
}
