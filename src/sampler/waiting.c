/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cgroup/freezer.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/symbols.h"
#include "kernel/syscall_target.h"
#include "kernel/syscalls.h"

_Static_assert(WAITING_ARGS == SYSCALL_ARGS, "as many arguments");

/* Threads of a process, and of all between two renewals, whose futexes are read to count them. */
#define FUTEX_THREADS 64
#define FUTEX_LOOKS 512

/* The futexes that the threads of a process wait for: their addresses, one per thread. */
struct futexes {
	pid_t tgid;
	unsigned n;
	uint64_t addresses[FUTEX_THREADS];
};

struct waiting_reader {
	struct proc *proc;
	struct wait_targets *targets;
	struct syscall_names *calls;
	struct procwait_stack stack;
	struct pidlist threads;
	struct freezer freezer;
	struct futexes *futexes; /* of processes since the renewal */
	size_t nfutexes;
	unsigned looks; /* threads whose futex may still be read until the next renewal */
	unsigned read, refused; /* tasks since the renewal */
	int error; /* of one that was refused */
};

/* A task whose wait is read. */
struct waiter {
	pid_t tgid, tid;
	char state; /* as of the sample */
	enum wait_state known; /* of a wait visible in the sample; WAIT_STATES: none */
	struct task_waiting *waiting;
	const struct task_waiting *before; /* in the previous sample; NULL: not read */
};

void waiting_renew(struct waiting_reader *reader)
{
	wait_targets_renew(reader->targets);
	reader->read = reader->refused = 0;
	reader->error = 0;
	reader->nfutexes = 0;
	reader->looks = FUTEX_LOOKS;
}

struct waiting_reader *waiting_open(struct proc *proc)
{
	struct waiting_reader *reader = xcalloc(1, sizeof(*reader));

	reader->proc = proc;
	reader->targets = wait_targets_open(proc);
	reader->calls = syscall_names_open();
	waiting_renew(reader);
	return reader;
}

/* Clears the known facts of a task's wait. */
static void clear(struct task_waiting *waiting)
{
	waiting->tid = 0;
	waiting->state = WAIT_STATES;
	waiting->class = CLASS_UNKNOWN;
	waiting->number = -1;
	waiting->syscall = NULL;
	waiting->futex = 0;
	waiting->on.len = waiting->where.len = waiting->stack.len = 0;
}

/* Reads the kernel function that the task waits in, and the stack if wanted. */
static void read_where(struct waiting_reader *reader, const struct waiter *waiter, bool stack)
{
	struct task_waiting *waiting = waiter->waiting;
	const struct procwait_stack *found = &reader->stack;
	size_t telling;

	if (!procwait_stack(reader->proc, waiter->tgid, waiter->tid, &reader->stack)) {
		telling = symbols_telling(found->functions, found->n);
		if (telling < found->n)
			buf_add(&waiting->where, found->functions[telling],
				symbol_length(found->functions[telling]));
		for (size_t i = 0; stack && i < found->n; i++) {
			buf_puts(&waiting->stack, found->functions[i]);
			buf_putc(&waiting->stack, '\n');
		}
	}
	if (waiting->where.len)
		return;
	proctask_wchan(reader->proc, waiter->tgid, waiter->tid, &waiting->where);
}

/* True if a kernel function reads or writes a pipe: also a named one. */
static bool is_of_pipe(const char *function)
{
	return strstr(function, "pipe_read") || strstr(function, "pipe_write") ||
	       !strcmp(function, "wait_for_partner") || !strcmp(function, "fifo_open");
}

/* Determines the state of a sleeping thread from its call. */
static enum wait_state state_of(struct waiting_reader *reader, const struct waiter *waiter,
				enum wait_state of_call, const char *function)
{
	bool d = waiter->state == 'D';

	if (d ? symbol_freezes_in_d(function) : symbol_freezes(function))
		return STATE_STOP;
	if (d && freezer_holds(&reader->freezer, reader->proc, waiter->tgid, waiter->tid))
		return STATE_STOP;
	if (waiter->known != WAIT_STATES)
		return waiter->known;
	if (waiter->state == 'T' || waiter->state == 't')
		return STATE_STOP;
	return of_call == STATE_OTHER && is_of_pipe(function) ? STATE_PIPE : of_call;
}

/* True if the thread is still in the same call: else the data may be of another wait. */
static bool waits_on(struct waiting_reader *reader, const struct waiter *waiter,
		     const struct procwait_syscall *call)
{
	struct procwait_syscall now;

	return !procwait_syscall(reader->proc, waiter->tgid, waiter->tid, &now) && !now.running &&
	       now.number == call->number && now.stack_pointer == call->stack_pointer &&
	       (call->number < 0 || !memcmp(now.args, call->args, sizeof(now.args)));
}

/* The class of a wait just read. */
static enum wait_class class_now(const struct task_waiting *waiting, enum wait_purpose about)
{
	const struct wait_facts facts = { .state = waiting->state,
					  .about = about,
					  .where = waiting->where.len ? waiting->where.data : NULL,
					  .on_path = waiting->on.len && *waiting->on.data == '/' };

	return wait_class_of(&facts);
}

/* Reads what is known if the system call is hidden: a function, perhaps. */
static void read_hidden(struct waiting_reader *reader, const struct waiter *waiter)
{
	struct task_waiting *waiting = waiter->waiting;

	proctask_wchan(reader->proc, waiter->tgid, waiter->tid, &waiting->where);
	if (!waiting->where.len)
		return;
	waiting->tid = waiter->tid;
	waiting->state = waiter->known;
	waiting->class = class_now(waiting, WAIT_FOR_UNKNOWN);
}

/* Reads a thread's wait. */
static void read_wait(struct waiting_reader *reader, const struct waiter *waiter, bool stack)
{
	struct task_waiting *waiting = waiter->waiting;
	struct syscall_wait wait = { .state = STATE_OTHER, .about = WAIT_FOR_EVENTS };
	struct procwait_syscall call;
	int err;

	/* More questions would hang with it. */
	if (proctask_executes(reader->proc, waiter->tgid))
		return;
	err = procwait_syscall(reader->proc, waiter->tgid, waiter->tid, &call);
	if (err == -EACCES || err == -EPERM) {
		read_hidden(reader, waiter);
		reader->refused++;
		reader->error = err;
		return;
	}
	reader->read += !err;
	if (err || call.running)
		return;
	read_where(reader, waiter, stack);
	if (call.number >= 0)
		wait = syscall_target(reader->targets, reader->proc, waiter->tid, &call,
				      &waiting->on);
	if (waiting->on.len && is_of_pipe(buf_cstr(&waiting->where)))
		wait_target_fifo(reader->targets, waiter->tid, (int)call.args[0], &waiting->on);
	if (!waits_on(reader, waiter, &call)) {
		clear(waiting);
		return;
	}
	waiting->tid = waiter->tid;
	waiting->number = call.number;
	memcpy(waiting->args, call.args, sizeof(waiting->args));
	waiting->syscall = syscall_name(reader->calls, call.number);
	if (call.number < 0 && symbols_fault(reader->stack.functions, reader->stack.n))
		waiting->syscall = PAGE_FAULT;
	waiting->state = state_of(reader, waiter, wait.state, buf_cstr(&waiting->where));
	waiting->class = class_now(waiting, wait.about);
	waiting->futex = wait.futex;
}

/* Finds the thread of a row's task to be read. False: none. */
static bool find_waiter(const struct frame_info *info, const struct row *row, bool threads,
			struct waiter *waiter)
{
	const struct task_raw *raw = row->raw;
	const struct task_extra *extra;

	/* Elements of exited tasks come after the living ones. */
	if (!row->task || row->exited || row->place >= info->cur->n)
		return false;
	extra = row_extra(info, row);
	*waiter = (struct waiter){ .tgid = raw->tgid,
				   .tid = threads ? raw->pid : raw->tgid,
				   .state = raw->now.state,
				   .known = WAIT_STATES };
	if (waits_in_d(&raw->now.waits)) {
		waiter->known = row_wait_state(row);
		if (raw->now.waits.tid && !threads)
			waiter->tid = raw->now.waits.tid;
	} else if (!threads && extra && extra->hang.tid) {
		waiter->tid = extra->hang.tid;
	}
	return true;
}

/* True if a thread in that state may be waiting, or was at its last reading. */
static bool may_wait(const struct waiter *waiter)
{
	return waiter->known != WAIT_STATES || !waiter->state || !strchr("RZX", waiter->state);
}

/* Reads which futexes the threads of a process wait for, unless they are too many. */
static void read_futexes(struct waiting_reader *reader, struct futexes *futexes)
{
	struct procwait_syscall call;
	int err = pidlist_read_threads(&reader->threads, reader->proc->fd, futexes->tgid);

	if (err || reader->threads.n > FUTEX_THREADS || reader->threads.n > reader->looks)
		return;
	reader->looks -= (unsigned)reader->threads.n;
	proc_prefetch_begin(reader->proc);
	for (size_t i = 0; i < reader->threads.n; i++)
		procwait_prefetch(reader->proc, futexes->tgid, reader->threads.pids[i]);
	for (size_t i = 0; i < reader->threads.n; i++) {
		pid_t tid = reader->threads.pids[i];

		if (!procwait_syscall(reader->proc, futexes->tgid, tid, &call) && !call.running &&
		    syscall_classify(call.number).target == SYSCALL_FUTEX)
			futexes->addresses[futexes->n++] = call.args[0];
	}
}

/* The futexes that a process's threads wait for, read once between two renewals. */
static const struct futexes *futexes_of(struct waiting_reader *reader, pid_t tgid)
{
	struct futexes *futexes;

	for (size_t i = 0; i < reader->nfutexes; i++)
		if (reader->futexes[i].tgid == tgid)
			return &reader->futexes[i];
	reader->futexes =
		xreallocarray(reader->futexes, reader->nfutexes + 1, sizeof(*reader->futexes));
	futexes = &reader->futexes[reader->nfutexes++];
	futexes->tgid = tgid;
	futexes->n = 0;
	read_futexes(reader, futexes);
	return futexes;
}

/* Names a futex, with its holder and the number of the process's threads waiting for it. */
static void name_futex(struct waiting_reader *reader, const struct waiter *waiter)
{
	struct task_waiting *waiting = waiter->waiting;
	uint64_t address = waiting->futex;
	const struct futexes *futexes = futexes_of(reader, waiter->tgid);
	struct procwait_syscall call = { .number = waiting->number };
	unsigned waiters = 0;
	pid_t owner;

	memcpy(call.args, waiting->args, sizeof(call.args));
	owner = futex_owner(reader->proc, waiter->tgid, waiter->tid, &call);
	for (unsigned i = 0; i < futexes->n; i++)
		waiters += futexes->addresses[i] == address;
	wait_target_futex(reader->targets, address, owner, waiters, &waiting->on);
}

/*
 * True if the data of a task's wait is still true: the task has not run since, and others cannot
 * change the wait's target meanwhile.
 */
static bool is_still_true(const struct sample *sample, const struct row *row,
			  const struct waiter *waiter, unsigned needs)
{
	const struct task_waiting *was = waiter->before;

	return was && sample_idle(sample, row->place) && was->tid && was->tid == waiter->tid &&
	       was->of_ns == row->raw->read_ns && waiter->known == WAIT_STATES && !was->on.len &&
	       !was->futex && (!(needs & NEED_STACK) || was->stack.len);
}

/* Copies a continuing wait. */
static void copy_waiting(struct task_waiting *waiting, const struct task_waiting *was)
{
	struct task_waiting texts = *waiting;

	*waiting = *was;
	waiting->on = texts.on;
	waiting->where = texts.where;
	waiting->stack = texts.stack;
	buf_add(&waiting->where, was->where.data, was->where.len);
	buf_add(&waiting->stack, was->stack.data, was->stack.len);
}

/* Reads a row's wait. */
static void fill_row(struct waiting_reader *reader, const struct sample *sample,
		     const struct row *row, const struct waiter *waiter, unsigned needs)
{
	struct task_waiting *waiting = waiter->waiting;

	clear(waiting);
	if (is_still_true(sample, row, waiter, needs)) {
		copy_waiting(waiting, waiter->before);
		reader->read++;
	} else if (may_wait(waiter)) {
		read_wait(reader, waiter, needs & NEED_STACK);
	}
	waiting->of_ns = row->raw->read_ns;
	if (waiting->futex)
		name_futex(reader, waiter);
	buf_cstr(&waiting->on);
	buf_cstr(&waiting->where);
	buf_cstr(&waiting->stack);
}

/* The wait of a row's task read for the previous sample; NULL: none. */
static const struct task_waiting *waiting_before(const struct frame_info *info,
						 const struct row *row)
{
	const struct task_extra *extra = NULL;

	if (row->before && info->prev->nextras)
		extra = sample_extra(info->prev, sample_index(info->prev, row->before));
	return extra ? extra->waiting : NULL;
}

void waiting_fill(struct waiting_reader *reader, const struct frame_info *info,
		  const struct row *const *rows, size_t n, bool threads, unsigned needs)
{
	struct waiter waiter;

	if (!(needs & NEED_SHOWN))
		return;
	for (size_t i = 0; i < n; i++) {
		struct task_extra *extra;

		if (!find_waiter(info, rows[i], threads, &waiter))
			continue;
		extra = sample_add_extra(info->cur, rows[i]->place);
		if (extra->waiting && (!(needs & NEED_STACK) || extra->waiting->stack.len))
			continue;
		if (!extra->waiting)
			extra->waiting = xcalloc(1, sizeof(*extra->waiting));
		waiter.waiting = extra->waiting;
		waiter.before = waiting_before(info, rows[i]);
		fill_row(reader, info->cur, rows[i], &waiter, needs);
	}
}

int waiting_refused(const struct waiting_reader *reader)
{
	return reader->read ? 0 : reader->error;
}

void waiting_close(struct waiting_reader *reader)
{
	if (!reader)
		return;
	wait_targets_close(reader->targets);
	syscall_names_close(reader->calls);
	procwait_stack_free(&reader->stack);
	pidlist_free(&reader->threads);
	freezer_close(&reader->freezer);
	free(reader->futexes);
	free(reader);
}
