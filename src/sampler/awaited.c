/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/awaited.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/syscall_target.h"
#include "kernel/syscalls.h"
#include "kernel/wait_target.h"

/* Processes per sample whose call is read. */
#define LOOKS_MAX 64

/* True if a row's process is stopped; a task frozen in a sleep reads as D, but does not wait. */
static bool is_stopped(const struct row *row)
{
	char state = row->raw->now.state;

	return state == 'T' || state == 't' || (state == 'D' && !waits_in_d(&row->raw->now.waits));
}

/* Drops all results. */
static void forget_targets(struct awaited *awaited)
{
	for (size_t i = 0; i < awaited->nstopped; i++)
		buf_free(&awaited->stopped[i].links);
	awaited->nstopped = awaited->before.n = awaited->now.n = 0;
}

/* Finds the stopped processes. If they have changed all others are checked again. */
static void find_stopped(struct awaited *awaited, struct proc *proc, const struct frame *frame)
{
	struct task_key keys[STOPPED_MAX];
	size_t living = frame_living(frame), n = 0, same = 0;

	for (size_t i = 0; i < living && n < STOPPED_MAX; i++)
		if (is_stopped(&frame->rows[i]))
			keys[n++] = frame->rows[i].task->key;
	while (same < n && same < awaited->nstopped &&
	       keys[same].pid == awaited->stopped[same].key.pid &&
	       keys[same].start_ns == awaited->stopped[same].key.start_ns)
		same++;
	if (same == n && same == awaited->nstopped)
		return;
	forget_targets(awaited);
	if (!awaited->targets)
		awaited->targets = wait_targets_open(proc);
	for (; awaited->nstopped < n; awaited->nstopped++) {
		struct stopped *stopped = &awaited->stopped[awaited->nstopped];

		*stopped = (struct stopped){ .key = keys[awaited->nstopped] };
		if (!proctask_executes(proc, stopped->key.pid))
			wait_target_links(awaited->targets, stopped->key.pid, &stopped->links);
	}
}

/* The stopped process of that id, if it is one. */
static pid_t stopped_of(const struct awaited *awaited, pid_t pid)
{
	for (size_t i = 0; pid && i < awaited->nstopped; i++)
		if (awaited->stopped[i].key.pid == pid)
			return pid;
	return 0;
}

/* The stopped process that a task waits for through a descriptor. */
static pid_t stopped_by_fd(const struct awaited *awaited, pid_t tid, int fd)
{
	for (size_t i = 0; i < awaited->nstopped; i++)
		if (wait_target_reaches(awaited->targets, tid, fd, &awaited->stopped[i].links))
			return awaited->stopped[i].key.pid;
	return 0;
}

/* The stopped process that a task waits for in its call; 0: none. */
static pid_t stopped_by_call(const struct awaited *awaited, struct proc *proc, pid_t tid,
			     const struct procwait_syscall *call)
{
	struct syscall_class class = syscall_classify(call->number);
	struct buf text = { 0 };
	pid_t other;

	switch (class.target) {
	case SYSCALL_FD:
		/* A reader of requests is idle; a pipe may have other writers. */
		return syscall_hangs(awaited->targets, tid, call)
			       ? stopped_by_fd(awaited, tid, (int)call->args[class.argument])
			       : 0;
	case SYSCALL_LOCK:
	case SYSCALL_CHILD:
		wait_targets_take_other(awaited->targets);
		syscall_target(awaited->targets, proc, tid, call, &text);
		other = wait_targets_take_other(awaited->targets);
		buf_free(&text);
		return stopped_of(awaited, other);
	default:
		return 0;
	}
}

/* Reads the wait of a row's process. */
static void read_target(const struct awaited *awaited, struct proc *proc, const struct row *row,
			struct awaiting *awaiting)
{
	struct procwait_syscall call;
	pid_t tgid = row->raw->tgid, tid = row->raw->pid;

	awaiting->judged = true;
	if (proctask_executes(proc, tgid) || procwait_syscall(proc, tgid, tid, &call) ||
	    call.running || call.number < 0)
		return;
	awaiting->on = stopped_by_call(awaited, proc, tid, &call);
}

/* Records that a row's process is blocked. False: it was recorded before. */
static bool record_blocked(const struct frame *frame, const struct row *row,
			   const struct awaiting *awaiting)
{
	struct task_hang *hang = &sample_add_extra(frame->info->cur, row->place)->hang;

	hang->on = awaiting->on;
	if (hang->tid)
		return false;
	hang->tid = row->raw->pid;
	hang->since_ns = awaiting->since_ns;
	return true;
}

/* The previous sample's results are kept for comparison. */
static void keep_found(struct awaited *awaited)
{
	struct awaitings last = awaited->before;

	awaited->before = awaited->now;
	awaited->now = last;
	awaited->now.n = 0;
}

size_t awaited_find(struct awaited *awaited, struct proc *proc, const struct frame *frame,
		    const struct row **rows, size_t n, size_t most)
{
	size_t living = frame_living(frame), at = 0, looks = 0;
	const struct awaiting *before;

	find_stopped(awaited, proc, frame);
	if (!awaited->nstopped)
		return n;
	wait_targets_renew(awaited->targets);
	keep_found(awaited);
	before = awaited->before.all;
	for (size_t i = 0; i < living; i++) {
		const struct row *row = &frame->rows[i];
		struct awaiting awaiting = { .order = raw_order(row->raw),
					     .run_ns = row->raw->counters.run_ns,
					     .since_ns = row->raw->read_ns };

		if (row->raw->now.state && row->raw->now.state != 'S')
			continue;
		while (at < awaited->before.n && before[at].order < awaiting.order)
			at++;
		if (at < awaited->before.n && before[at].order == awaiting.order &&
		    before[at].run_ns == awaiting.run_ns) {
			awaiting = before[at];
			if (!awaiting.judged && looks++ < LOOKS_MAX)
				read_target(awaited, proc, row, &awaiting);
		}
		GROW(awaited->now.all, awaited->now.n, awaited->now.cap);
		awaited->now.all[awaited->now.n++] = awaiting;
		if (awaiting.on && record_blocked(frame, row, &awaiting) && n < most)
			rows[n++] = row;
	}
	return n;
}

void awaited_free(struct awaited *awaited)
{
	forget_targets(awaited);
	wait_targets_close(awaited->targets);
	free(awaited->before.all);
	free(awaited->now.all);
	*awaited = (struct awaited){ 0 };
}
