/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/exit_merge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/util.h"
#include "kernel/proctask.h"
#include "read/measured_exits.h"

/* Maximum difference of two readings of one clock taken by two methods. */
#define CLOCK_SLACK_NS NSEC_PER_MSEC

/* Maximum delay of a task between its last figures and the sending of its record. */
#define SEND_SLACK_NS (100 * NSEC_PER_MSEC)

/* A merge in progress. */
struct merge {
	const struct exit_batch *given;
	const struct sample *prev;
	struct sample *cur;
	bool *seen; /* by element of prev: whether its exit was found */
	/* The records to be added, and for each its task (NULL: a new one). */
	struct exit_record **left;
	struct task **tasks;
	size_t n;
};

/* The id of the row in which a task is counted. */
static pid_t row_pid(const struct exit_batch *given, const struct exit_record *record)
{
	return given->threads ? record->pid : record->tgid;
}

/* Orders by thread; within one id the longest life first, as the known task started first. */
static int compare_threads(const void *a, const void *b)
{
	const struct exit_record *x = a, *y = b;
	uint64_t xorder = task_order(x->tgid, x->pid), yorder = task_order(y->tgid, y->pid);

	if (xorder != yorder)
		return xorder < yorder ? -1 : 1;
	return (x->life_ns < y->life_ns) - (x->life_ns > y->life_ns);
}

/* The earliest time at which the task of a record can have started. */
static uint64_t earliest_start(const struct exit_record *record)
{
	uint64_t life = record->life_ns + NSEC_PER_USEC; /* it is truncated to us */

	return record->lo_ns > life ? record->lo_ns - life : 0;
}

/* True if the record can be that of the task. */
static bool starts_alike(const struct task *task, const struct exit_record *record)
{
	return task->start_lo <= exit_latest_start(record) + CLOCK_SLACK_NS &&
	       earliest_start(record) <= task->start_hi + SEND_SLACK_NS;
}

/* True if the record is the exit of the element read before: the task lived at that reading. */
static bool ends(const struct task_raw *before, const struct exit_record *record)
{
	return starts_alike(before->task, record) &&
	       before->task->start_hi + record->life_ns + SEND_SLACK_NS >= before->read_ns;
}

/*
 * Copies name and parent at the exit: it may have called exec since it was read, or lost its
 * parent.
 */
static void rename_task(struct task *task, const struct exit_record *record)
{
	/* The last of several threads may have a name of its own. */
	if (record->single)
		task_set_comm(task, record->comm, sizeof(record->comm));
	if (record->ppid)
		task->ppid = record->ppid;
}

/* Sets the storage bytes of an element's record. */
static void set_bytes(struct task_proc *proc, const struct task_record *fields)
{
	static const uint64_t bits = RECORD_BIT(RECORD_read_bytes) |
				     RECORD_BIT(RECORD_write_bytes) |
				     RECORD_BIT(RECORD_cancelled_write_bytes);

	if ((fields->fields_valid & bits) != bits)
		return;
	proc->io_valid = true;
	proc->io_whole = false;
	proc->io = (struct task_io){ .read = fields->field[RECORD_read_bytes],
				     .written = fields->field[RECORD_write_bytes],
				     .cancelled = fields->field[RECORD_cancelled_write_bytes] };
}

/* Sets the facts of an element's record other than the counters. */
static void set_fields(const struct exit_batch *given, struct sample *sample, size_t at,
		       const struct exit_record *record)
{
	if (!given->fields)
		return;
	if (sample->records) {
		sample->records[at] = given->fields[record->field];
		measured_range(record, &sample->records[at]);
	}
	/* /proc has the bytes of all threads that a zombie ever had. */
	if (given->io && (record->single || at >= sample->n))
		set_bytes(&sample->procs[at], &given->fields[record->field]);
}

/* Gives an element the task's last counters. A reading after its exit may be higher. */
static void finish_element(const struct exit_batch *given, struct sample *sample, size_t at,
			   const struct exit_record *record)
{
	const struct task_times times = { .at_ns = record->hi_ns, .states = record->times };
	struct counters last = record->counters;
	struct task_raw *raw = sample_touch(sample, at);

	counters_mask(&last, record->left_out);
	/* The last measured sum is more accurate than the accounted one. */
	counters_put(&last, &raw->counters, raw->now.measured & ~record->measured);
	raw->now.measured |= record->measured;
	counters_lift(&last, &raw->counters);
	raw->counters = last;
	task_raw_set_times(raw, record->times_known ? &times : NULL);
	raw->exited = true;
	raw->task->status = record->status;
	set_fields(given, sample, at, record);
}

/* True if there is a record of a thread's exit. */
static bool has_exit_record(const struct exit_batch *given, pid_t tgid, pid_t pid)
{
	for (size_t i = 0; i < given->n; i++)
		if (given->records[i].tgid == tgid && given->records[i].pid == pid)
			return true;
	return false;
}

/* A thread of the process that exited without a record, or 0. */
static pid_t find_vanished(const struct merge *merge, pid_t tgid)
{
	const struct sample *prev = merge->prev;

	for (size_t i = sample_place(prev, tgid, tgid) + 1;
	     i < prev->n && prev->raw[i]->tgid == tgid; i++)
		if (!sample_find(merge->cur, tgid, prev->raw[i]->pid) &&
		    !has_exit_record(merge->given, tgid, prev->raw[i]->pid))
			return prev->raw[i]->pid;
	return 0;
}

/*
 * True if the leader has exited but its id lives on: one of its threads called exec and took over
 * the id and the start. If that thread was read before, its counters continue from there.
 */
static bool is_taken_over(const struct merge *merge, size_t at, const struct exit_record *record)
{
	const struct task_raw *raw = merge->cur->raw[at];
	pid_t vanished;

	if (!merge->given->threads || !merge->prev || record->last || record->pid != record->tgid ||
	    !sample_find(merge->prev, record->tgid, record->tgid))
		return false;
	vanished = find_vanished(merge, record->tgid);
	/* Counters read before the leader's exit are the leader's, and below its last ones. */
	if (!vanished && (raw->task->start_hi + record->life_ns >= raw->read_ns ||
			  !counters_below(&raw->counters, &record->counters)))
		return false;
	sample_touch(merge->cur, at)->was = vanished ? vanished : -1;
	return true;
}

/* Adds a record to those that get their own element. */
static void add_left(struct merge *merge, struct exit_record *record, struct task *task)
{
	merge->left[merge->n] = record;
	merge->tasks[merge->n++] = task;
}

/* Merges the exit of a task that is in the sample. */
static void merge_end(struct merge *merge, size_t at, const struct exit_record *record)
{
	struct task_raw *now = sample_touch(merge->cur, at);
	uint64_t ended_ns = now->task->key.start_ns + record->life_ns;

	/* An unchanged element may have been read long before. */
	if (now->read_ns < ended_ns)
		now->read_ns = ended_ns;
	rename_task(now->task, record);
	finish_element(merge->given, merge->cur, at, record);
}

/* Finds the place of one record. */
static void place_record(struct merge *merge, struct exit_record *record)
{
	pid_t pid = row_pid(merge->given, record);
	size_t at = sample_place(merge->cur, record->tgid, pid);
	size_t was = merge->prev ? sample_place(merge->prev, record->tgid, pid) : NO_PLACE;
	const struct task_raw *now = at == NO_PLACE ? NULL : merge->cur->raw[at];
	const struct task_raw *before = was == NO_PLACE ? NULL : merge->prev->raw[was];
	bool *seen = before ? &merge->seen[was] : NULL;

	if (before && (*seen || !ends(before, record)))
		before = NULL;
	if (now && (now->exited || !starts_alike(now->task, record)))
		now = NULL;
	if (before)
		*seen = true;
	if (before && now && now->task == before->task && is_taken_over(merge, at, record))
		add_left(merge, record, before->task);
	else if (now && (!before || now->task == before->task))
		merge_end(merge, at, record);
	else if (before)
		add_left(merge, record, before->task);
	else if (merge->prev)
		add_left(merge, record, NULL);
}

/*
 * True if the next sample may contain the task: it can have started after this sample was listed,
 * and may be a zombie. Then it must be recognised, and needs its own element.
 */
static bool may_return(const struct merge *merge, const struct exit_record *record)
{
	const struct exit_batch *given = merge->given;
	uint64_t listed_ns = merge->cur->begin_ns;

	return record->hi_ns > listed_ns && exit_began_after(record, listed_ns) &&
	       !(given->gone && given->gone(given->arg, row_pid(given, record)));
}

/* Moves tasks that lived only within this interval to the front; returns how many. */
static size_t gather_new(struct merge *merge)
{
	size_t front = 0;

	for (size_t i = 0; i < merge->n; i++) {
		struct exit_record *record = merge->left[i];
		struct task *task = merge->tasks[i];

		if (task || !exit_began_after(record, merge->prev->begin_ns) ||
		    may_return(merge, record))
			continue;
		merge->left[i] = merge->left[front];
		merge->tasks[i] = merge->tasks[front];
		merge->left[front] = record;
		merge->tasks[front++] = task;
	}
	return front;
}

/* Compares a process id with a record's, for bsearch(). */
static int compare_tgid(const void *pid, const void *record)
{
	pid_t a = *(const pid_t *)pid, b = ((const struct exit_record *)record)->tgid;

	return (a > b) - (a < b);
}

/* The parent of an exited process; 1 if unknown. */
static pid_t parent_of_gone(const struct merge *merge, pid_t pid)
{
	const struct exit_batch *given = merge->given;
	const struct exit_record *record =
		bsearch(&pid, given->records, given->n, sizeof(*given->records), compare_tgid);
	const struct task_raw *before = sample_find(merge->prev, pid, pid);

	if (record)
		return record->ppid;
	return before ? before->task->ppid : 1;
}

/* The nearest living ancestor: a parent may have started and exited in the same interval. */
static pid_t find_reaper(const struct merge *merge, pid_t ppid)
{
	for (unsigned i = 0; ppid > 1 && i < PARENTS_MAX; i++) {
		const struct task_raw *raw = sample_find(merge->cur, ppid, ppid);

		if (raw && !raw->exited)
			break;
		ppid = parent_of_gone(merge, ppid);
	}
	return ppid;
}

/* Merges tasks that started and exited within the interval if many are alike. */
static void fold_left(struct merge *merge)
{
	size_t fresh = gather_new(merge), kept;

	for (size_t i = 0; i < fresh; i++)
		merge->left[i]->reaper = find_reaper(merge, merge->left[i]->ppid);
	kept = exit_fold_alike(merge->given, merge->left, fresh,
			       merge->cur->begin_ns - merge->prev->begin_ns);

	/* New ones have no task, so their order among themselves does not matter. */
	memmove(&merge->left[kept], &merge->left[fresh], (merge->n - fresh) * sizeof(*merge->left));
	memmove(&merge->tasks[kept], &merge->tasks[fresh],
		(merge->n - fresh) * sizeof(*merge->tasks));
	merge->n -= fresh - kept;
}

/* How a task exited, in words; NULL if nothing special. */
static char *ending(const struct task_raw *raw)
{
	char how[32] = "", text[64];
	unsigned members = raw->counters.members;
	int status = (int)raw->task->status;

	if (WIFSIGNALED(status)) {
#ifdef HAVE_SIGABBREV_NP
		const char *name = sigabbrev_np(WTERMSIG(status));

		if (name)
			snprintf(how, sizeof(how), "SIG%s", name);
		else
#endif
			snprintf(how, sizeof(how), "signal %d", WTERMSIG(status));
	} else if (WEXITSTATUS(status)) {
		snprintf(how, sizeof(how), "exit %d", WEXITSTATUS(status));
	}
	if (members > 1)
		snprintf(text, sizeof(text), "%u tasks%s%s", members, *how ? ", " : "", how);
	else
		snprintf(text, sizeof(text), "%s", how);
	return *text ? xstrdup(text) : NULL;
}

/* A task known from its record only. */
static struct task *task_of(const struct exit_batch *given, const struct exit_record *record)
{
	uint64_t lo = earliest_start(record), hi = exit_latest_start(record);
	struct task_key key = { row_pid(given, record), lo + (hi - lo) / 2 };
	struct task *task = task_new(key, record->tgid);

	task->start_lo = lo;
	task->start_hi = hi;
	task->latest_ns = hi;
	task->ppid = record->ppid;
	task->uid = record->uid;
	task_set_comm(task, record->comm, sizeof(record->comm));
	return task;
}

/* Adds elements for the records that have none. */
static void add_exited(struct merge *merge)
{
	struct sample *cur = merge->cur;

	sample_add_exited(cur, merge->n);
	for (size_t i = 0; i < merge->n; i++) {
		const struct exit_record *record = merge->left[i];
		struct task *known = merge->tasks[i];
		struct task *task = known ? task_ref(known) : task_of(merge->given, record);
		struct task_raw *raw = cur->raw[cur->n + i];

		rename_task(task, record);
		task->reaper = find_reaper(merge, record->ppid);
		task->mixed = record->mixed;
		raw->task = task;
		raw->tgid = record->tgid;
		raw->pid = row_pid(merge->given, record);
		raw->single = record->single;
		raw->read_ns = task->key.start_ns + record->life_ns;
		finish_element(merge->given, cur, cur->n + i, record);
	}
}

/* Sets for each exited task how it exited. */
static void report_ends(struct merge *merge)
{
	for (size_t i = 0; i < merge->cur->n + merge->cur->left; i++) {
		struct task_raw *raw = merge->cur->raw[i];

		if (raw->exited && !raw->task->ended)
			raw->task->ended = ending(raw);
	}
}

/*
 * Moves records that belong to rows of this kind to the front, sorted by row, and returns how many.
 * After them are `rest` exits of threads of which their processes' rows need nothing else.
 */
static size_t choose_records(const struct exit_batch *given, const struct sample *cur, size_t *rest)
{
	struct exit_batch all = *given;
	size_t n = 0;

	for (size_t i = 0; i < given->n; i++) {
		struct exit_record *record = &given->records[i];

		if (record->tgid)
			continue;
		/* Before version 12 it has no thread group: if the pid is gone it was a process. */
		record->tgid = record->pid;
		record->last = !sample_find(cur, record->pid, record->pid);
	}
	if (given->threads && given->n)
		qsort(given->records, given->n, sizeof(*given->records), compare_threads);
	*rest = 0;
	if (given->threads)
		return given->n;
	all.n = exit_fold_threads(given);
	for (size_t i = 0; i < all.n; i++) {
		struct exit_record record = all.records[i];

		if (!record.last)
			continue;
		all.records[i] = all.records[n];
		all.records[n++] = record;
	}
	*rest = all.n - n;
	return n;
}

/*
 * Moves records with impossible delays, of processes not yet sampled, to the front: the process
 * totals will include them. Returns their number.
 */
static size_t keep_threads(struct exit_record *records, size_t n, const struct sample *cur)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!records[i].left_out || records[i].kept ||
		    sample_find(cur, records[i].tgid, records[i].tgid))
			continue;
		records[kept] = records[i];
		records[kept++].kept = true;
	}
	return kept;
}

/* True if the element can be a zombie of a task that left the previous sample. */
static bool is_left_over(const struct task_raw *raw, const struct task_raw *left)
{
	const struct task *task = raw->task, *gone = left->task;

	return left->counters.members == 1 &&
	       raw->counters.run_ns <= left->counters.run_ns + EXIT_LACKS_NS &&
	       task->start_lo <= gone->start_hi + CLOCK_SLACK_NS &&
	       gone->start_lo <= task->start_hi + CLOCK_SLACK_NS;
}

/*
 * Finds zombies: a task that started after its process was listed and exited before the drain has
 * left that sample with its last counters; if it is a zombie the next sample lists it.
 */
static void find_left_over(const struct sample *prev, struct sample *cur)
{
	for (size_t i = prev->n; i < prev->n + prev->left; i++) {
		const struct task_raw *left = prev->raw[i];
		size_t at = sample_place(cur, left->tgid, left->pid);
		struct task_raw *raw;

		if (at == NO_PLACE || sample_find(prev, left->tgid, left->pid) ||
		    !is_left_over(cur->raw[at], left))
			continue;
		raw = sample_touch(cur, at);
		task_unref(raw->task);
		raw->task = task_ref(left->task);
		raw->task->reaper = 0; /* it has not left: its reaper is found when it does */
		raw->was = raw->pid;
	}
}

/* Finds the places of the records, in front, that belong to rows of this kind. */
static void merge_records(const struct exit_batch *given, const struct sample *prev,
			  struct sample *cur)
{
	struct merge merge = { .given = given, .prev = prev, .cur = cur };

	if (given->io && given->fields)
		sample_extend(cur, NEED_IO);
	merge.seen = xcalloc(prev ? prev->n + 1 : 1, sizeof(*merge.seen));
	merge.left = xcalloc(given->n, sizeof(*merge.left));
	merge.tasks = xcalloc(given->n, sizeof(*merge.tasks));
	for (size_t i = 0; i < given->n; i++)
		place_record(&merge, &given->records[i]);
	if (merge.n)
		fold_left(&merge);
	if (merge.n)
		add_exited(&merge);
	report_ends(&merge);
	free(merge.seen);
	free(merge.left);
	free(merge.tasks);
}

size_t exit_merge(const struct exit_batch *batch, const struct sample *prev, struct sample *cur)
{
	struct exit_batch given = *batch;
	size_t rest, kept;

	if (prev)
		find_left_over(prev, cur);
	given.n = choose_records(batch, cur, &rest);
	if (given.n)
		merge_records(&given, prev, cur);
	kept = keep_threads(batch->records + given.n, rest, cur);
	/* Without any, the arrays may be unallocated. */
	if (kept)
		memmove(batch->records, batch->records + given.n, kept * sizeof(*batch->records));
	return kept;
}
