/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/locked.h"

#include "base/util.h"
#include "kernel/futex_owner.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"

/* Bounds in a sample: rows passed, threads looked at, threads of one process. */
#define PASSED_MAX 1000
#define LOOKS_MAX 18
#define PROCESS_LOOKS 3

/* How many waiters of a process are followed, as the first of them may have the lock next. */
#define FOLLOWED_LEAST 2

/* Tells that a row's task is kept waiting, unless that is told of it already. */
static bool tell(const struct frame *frame, const struct row *row,
		 const struct locked_thread *thread)
{
	struct task_hang *hang = &row->raw->task->hang;
	uint64_t sample_ns = frame->info->cur->begin_ns;

	if (hang->tid && hang->sample_ns == sample_ns)
		return false;
	*hang = (struct task_hang){ .sample_ns = sample_ns,
				    .tid = thread->tid,
				    .since_ns = thread->since_ns };
	return true;
}

/* Keeps those that have not run since they were seen to wait, and tells of them. */
static size_t look_again(struct locked *locked, struct proc *proc, const struct frame *frame,
			 const struct row **rows, size_t n, size_t most)
{
	struct proctask_schedstat sched;
	size_t kept = 0;

	for (size_t i = 0; i < locked->n; i++) {
		const struct locked_thread *thread = &locked->all[i];
		const struct row *row =
			frame_find_living(frame, thread->tgid, thread->pid, thread->start_ns);

		if (!row || proctask_schedstat(proc, thread->tgid, thread->tid, &sched) ||
		    sched.slices != thread->slices)
			continue;
		locked->all[kept++] = *thread;
		if (n < most && tell(frame, row, thread))
			rows[n++] = row;
	}
	locked->n = kept;
	return n;
}

/* Whether a thread waits for a lock that another holds; since then it has not run. */
static bool waits_for_lock(struct locked_thread *thread, struct proc *proc)
{
	struct proctask_schedstat sched;
	struct procwait_syscall call;

	if (procwait_syscall(proc, thread->tgid, thread->tid, &call) || call.running ||
	    !futex_is_lock(&call))
		return false;
	if (proctask_schedstat(proc, thread->tgid, thread->tid, &sched) ||
	    !futex_owner(proc, thread->tgid, thread->tid, &call))
		return false;
	thread->slices = sched.slices;
	return true;
}

/* How many threads of a row's task are followed; *is_it: whether that one is among them. */
static unsigned followed(const struct locked *locked, const struct row *row, pid_t tid, bool *is_it)
{
	unsigned n = 0;

	*is_it = false;
	for (size_t i = 0; i < locked->n; i++) {
		const struct locked_thread *thread = &locked->all[i];

		if (thread->tgid != row->raw->tgid || thread->pid != row->raw->pid)
			continue;
		*is_it |= thread->tid == tid;
		n++;
	}
	return n;
}

/* Looks at some of a row's threads, others each time. Returns how many were looked at. */
static unsigned look_at_row(struct locked *locked, struct proc *proc, const struct row *row,
			    uint64_t sample_ns, bool threads)
{
	struct locked_thread thread = { .tgid = row->raw->tgid,
					.pid = row->raw->pid,
					.start_ns = row->task->key.start_ns,
					.since_ns = sample_ns };
	unsigned n = 1, looks = 0;
	bool known;

	if (followed(locked, row, 0, &known) >= FOLLOWED_LEAST)
		return 0;
	/* Asking for more would hang with it. */
	if (proctask_executes(proc, thread.tgid))
		return 1;
	if (!threads) {
		if (pidlist_read_threads(&locked->threads, proc->fd, thread.tgid))
			return 1;
		n = (unsigned)locked->threads.n;
	}
	for (; looks < n && looks < PROCESS_LOOKS; looks++) {
		size_t at = ((size_t)locked->turn * PROCESS_LOOKS + looks) % n;

		thread.tid = threads ? thread.pid : locked->threads.pids[at];
		followed(locked, row, thread.tid, &known);
		if (!known && locked->n < LOCKED_MAX && waits_for_lock(&thread, proc))
			locked->all[locked->n++] = thread;
	}
	return looks + 1;
}

/* Whether a row may have threads that wait for one another. */
static bool has_others(const struct row *row, bool threads)
{
	if (threads)
		return row->raw->tgid != row->raw->pid;
	return !row->raw->single && row->raw->now.threads > 1;
}

/* Looks at the rows whose turn it is. */
static void look_on(struct locked *locked, struct proc *proc, const struct frame *frame)
{
	size_t living = frame_living(frame), at = frame_from(frame, locked->next), passed;
	bool threads = frame->info->threads;
	unsigned looks = 0;

	for (passed = 0; passed < living && passed < PASSED_MAX; passed++) {
		const struct row *row = &frame->rows[(at + passed) % living];

		if (looks >= LOOKS_MAX || locked->n == LOCKED_MAX)
			break;
		if (has_others(row, threads))
			looks += look_at_row(locked, proc, row, frame->info->cur->end_ns, threads);
	}
	if (living)
		locked->next = raw_order(frame->rows[(at + passed) % living].raw);
	locked->turn++;
}

size_t locked_find(struct locked *locked, struct proc *proc, const struct frame *frame,
		   const struct row **rows, size_t n, size_t most)
{
	n = look_again(locked, proc, frame, rows, n, most);
	look_on(locked, proc, frame);
	return n;
}

void locked_free(struct locked *locked)
{
	pidlist_free(&locked->threads);
	*locked = (struct locked){ 0 };
}
