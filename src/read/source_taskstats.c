/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters by taskstats. A process row is one TGID query: the kernel's own sum over threads, ended
 * ones included. A thread row is one PID query.
 *
 * A TGID record says neither which process it is nor when that began. It does have the sum of its
 * threads' elapsed times: for a process of one thread (most are) the time of reading less that sum
 * is the process's start, known within the time that a pack of requests takes. As long as that
 * agrees with what is known, the process is the same one. Where it does not (threads, reuse of the
 * pid, a zombie), or where the process ran and so may have called exec, setuid or prctl, a PID
 * query tells its identity.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proctask.h"
#include "kernel/taskstats.h"
#include "read/source.h"
#include "read/states.h"

/* A start time as one reading shows it: within [lo, hi]. */
struct bracket {
	uint64_t lo, hi;
};

struct taskstats_source {
	struct source_env env;
	struct taskstats_client *conn;
	int version;
	struct pidlist processes, threads;
	struct states states;
	/* Scratch of one sample, kept for its memory. */
	struct bracket *starts; /* by element: the start that its TGID record shows */
	const struct task_raw **known; /* by element: the element of its pid in the previous
					* sample */
	size_t starts_cap;
	pid_t *ids; /* the ids of the current query */
	size_t *places; /* their elements */
	size_t n, cap;
	/* State of the current sample. */
	struct sample *cur;
	int error;
};

/* The start that a reading taken between two times shows. */
static struct bracket bracket_of(uint64_t elapsed_ns, uint64_t before_ns, uint64_t after_ns)
{
	/* The kernel truncates elapsed to us, so the start may be up to one us earlier. */
	uint64_t early = elapsed_ns + NSEC_PER_USEC;

	return (struct bracket){ before_ns > early ? before_ns - early : 0,
				 after_ns > elapsed_ns ? after_ns - elapsed_ns : 0 };
}

/* True if the task can have started then. */
static bool has_same_start(const struct task *task, struct bracket start)
{
	return task->start_lo <= start.hi && start.lo <= task->start_hi;
}

/* Adds a reading of the task's own start (not of a sum over threads). */
static void narrow_start(struct task *task, struct bracket start)
{
	if (start.lo > task->start_lo)
		task->start_lo = start.lo;
	if (start.hi < task->start_hi)
		task->start_hi = start.hi;
}

/* True if the process known before can be the one whose TGID record showed that start. */
static bool same_single(const struct taskstats_source *source, size_t i)
{
	return source->known[i] && has_same_start(source->known[i]->task, source->starts[i]);
}

/* Adds an id to the next query. */
static void ask_pack(struct taskstats_source *source, pid_t id, size_t place)
{
	if (source->n == source->cap) {
		source->cap = source->cap ? source->cap * 2 : 256;
		source->ids = xreallocarray(source->ids, source->cap, sizeof(*source->ids));
		source->places =
			xreallocarray(source->places, source->cap, sizeof(*source->places));
	}
	source->ids[source->n] = id;
	source->places[source->n++] = place;
}

/* Records an error reply. An exited task is no error. */
static void note_error_reply(struct taskstats_source *source, int error)
{
	if (proctask_gone(error))
		return;
	if (error == -EPERM || error == -EPROTONOSUPPORT)
		source->error = error;
	else
		sample_count_unread(source->cur, error);
	debug_log("taskstats reply: error %d", error);
}

/* Reads the counters of a reply into an element. False: it has none. */
static bool read_counters(struct taskstats_source *source, struct task_raw *raw, int error,
			  const struct taskstats_part *part, uint64_t before_ns, uint64_t after_ns)
{
	if (!error)
		error = taskstats_counters(part->record, part->len, &raw->counters);
	if (error) {
		note_error_reply(source, error);
		return false;
	}
	source->version = taskstats_version(part->record, part->len);
	taskstats_elapsed(part->record, part->len, &raw->counters.life_ns);
	raw->read_ns = before_ns + (after_ns - before_ns) / 2;
	return true;
}

/* Reads the reply to a TGID query: counters, and the start derived from them. */
static void read_group_reply(void *arg, size_t index, int error, const struct taskstats_part *part,
			     uint64_t before_ns, uint64_t after_ns)
{
	struct taskstats_source *source = arg;
	struct task_raw *raw = source->cur->raw[source->places[index]];
	uint64_t elapsed;

	if (!read_counters(source, raw, error, part, before_ns, after_ns))
		return;
	if (!taskstats_elapsed(part->record, part->len, &elapsed))
		source->starts[source->places[index]] = bracket_of(elapsed, before_ns, after_ns);
}

/* The task of a PID record: the one known by that pid, or a new one. */
static struct task *identify_by_record(const struct taskstats_identity *who,
				       const struct task_raw *known, pid_t tgid, uint64_t before_ns,
				       uint64_t after_ns)
{
	struct bracket start = bracket_of(who->elapsed_ns, before_ns, after_ns);
	struct task *task;

	if (known && has_same_start(known->task, start)) {
		task = task_ref(known->task);
		narrow_start(task, start);
	} else {
		struct task_key key = { who->pid, start.lo + (start.hi - start.lo) / 2 };

		task = task_new(key, tgid);
		task->start_lo = start.lo;
		task->start_hi = start.hi;
		task->latest_ns = start.hi;
	}
	task->ppid = who->ppid;
	task->uid = who->uid;
	task->fresh = true;
	task->exec = task->groups = 0; /* unknown from here on */
	task_set_comm(task, who->comm, who->comm_len);
	return task;
}

/* True if the kernel keeps delays of a PID record's task: it has accounted some. */
static bool shows_accounting(const struct taskstats_part *part)
{
	struct counters own = { 0 };

	return !taskstats_counters(part->record, part->len, &own) && counters_booked(&own);
}

/* Reads the reply to a PID query: the element's identity, and in thread rows its counters too. */
static void read_task_reply(void *arg, size_t index, int error, const struct taskstats_part *part,
			    uint64_t before_ns, uint64_t after_ns)
{
	struct taskstats_source *source = arg;
	size_t place = source->places[index];
	struct task_raw *raw = source->cur->raw[place];
	struct taskstats_identity who;

	if (!error)
		error = taskstats_identity(part->record, part->len, &who);
	if (error) {
		/* The task exited after its counters were read: its last ones, if it is known. */
		if (error == -ESRCH && raw->counters.valid && same_single(source, place))
			raw->task = task_ref(source->known[place]->task);
		note_error_reply(source, error);
		return;
	}
	if (source->env.threads && !read_counters(source, raw, error, part, before_ns, after_ns))
		return;
	raw->task = identify_by_record(&who, source->known[place], raw->tgid, before_ns, after_ns);
	raw->task->accounted |= shows_accounting(part);
	raw->single = source->env.threads || has_same_start(raw->task, source->starts[place]);
	if (source->cur->records)
		taskstats_record(part->record, part->len, &source->cur->records[place]);
}

/* Merges the reply to a PID query for a thread other than the leader into its process. */
static void fold_task_record(void *arg, size_t index, int error, const struct taskstats_part *part,
			     UNUSED uint64_t before_ns, UNUSED uint64_t after_ns)
{
	struct taskstats_source *source = arg;
	struct task_record record;

	if (!error)
		error = taskstats_record(part->record, part->len, &record);
	if (error)
		note_error_reply(source, error);
	else
		record_fold(&source->cur->records[source->places[index]], &record);
}

/*
 * Calls the caller's `between`: taskstats_client passes the argument of the replies, the caller's
 * own is in env.
 */
static void between_packs(void *arg)
{
	struct taskstats_source *source = arg;

	source->env.between(source->env.arg);
}

/* Sends the collected requests and empties the list. */
static int query(struct taskstats_source *source, bool tgid, taskstats_client_reply_fn *reply)
{
	void (*between)(void *) = source->env.between ? between_packs : NULL;
	size_t n = source->n;
	int err;

	source->n = 0;
	err = taskstats_client_query(source->conn, tgid, source->ids, n, reply, between, source);
	return source->error ? source->error : err;
}

/* Resizes the scratch by element to the sample, zeroed. */
static void reset_scratch(struct taskstats_source *source)
{
	size_t n = source->cur->n;

	if (n > source->starts_cap) {
		source->starts_cap = n * 2;
		source->starts =
			xreallocarray(source->starts, source->starts_cap, sizeof(*source->starts));
		source->known =
			xreallocarray(source->known, source->starts_cap, sizeof(*source->known));
	}
	for (size_t i = 0; i < n; i++) {
		source->starts[i] = (struct bracket){ 0, 0 };
		source->known[i] = NULL;
	}
}

/* Finds for each element the previous task of its pid, in one pass as both are sorted. */
static void find_known(struct taskstats_source *source, const struct sample *prev)
{
	size_t j = 0;

	for (size_t i = 0; i < source->cur->n; i++) {
		uint64_t order = raw_order(source->cur->raw[i]);

		while (j < prev->n && raw_order(prev->raw[j]) < order)
			j++;
		if (j < prev->n && raw_order(prev->raw[j]) == order)
			source->known[i] = prev->raw[j];
	}
}

/*
 * True if all tasks must be in the previous sample: none was created since (that is, since before
 * it was listed). Then /proc need not be listed, a sixth of a sample's cost.
 */
static bool none_created(const struct sample *prev, const struct sample *cur)
{
	return prev->n && !prev->unread && cur->system.forks &&
	       cur->system.forks == prev->system.forks;
}

/* Lists the selected processes. */
static int list_processes(struct taskstats_source *source, const struct sample *prev)
{
	struct pidlist *list = &source->processes;
	const pid_t *pids = source->env.pids;
	size_t n = pids ? source->env.npids : prev->n;

	if (!pids && !none_created(prev, source->cur))
		return pidlist_read(list, source->env.proc->fd);
	if (list->cap < n) {
		list->cap = n;
		list->pids = xreallocarray(list->pids, n, sizeof(*list->pids));
	}
	list->n = 0;
	for (size_t i = 0; i < n; i++) {
		pid_t pid = pids ? pids[i] : prev->raw[i]->tgid;

		if (!list->n || list->pids[list->n - 1] != pid)
			list->pids[list->n++] = pid;
	}
	return 0;
}

/* True if the process existed a moment ago. */
static bool is_there(const struct sample *cur, pid_t pid)
{
	const struct task_raw *raw = sample_find(cur, pid, pid);

	return raw && raw->counters.valid;
}

/* True if a process of the previous sample has exited: its children have another parent now. */
static bool some_left(const struct taskstats_source *source, const struct sample *prev)
{
	size_t still = 0;

	for (size_t i = 0; i < source->cur->n; i++)
		still += source->known[i] && source->cur->raw[i]->counters.valid;
	return still < prev->n;
}

/* Chooses the processes whose identity is queried, and keeps that of the others. */
static void choose_unsure(struct taskstats_source *source, const struct sample *prev,
			  unsigned needs)
{
	bool orphans = some_left(source, prev), parent_there = false;
	pid_t parent = -1;

	for (size_t i = 0; i < source->cur->n; i++) {
		struct task_raw *raw = source->cur->raw[i];
		const struct task_raw *known = source->known[i];

		if (!raw->counters.valid)
			continue;
		if (needs & (NEED_RECORD | NEED_IDENTITY) || source->env.pids ||
		    !same_single(source, i)) {
			ask_pack(source, raw->pid, i);
			continue;
		}
		if (orphans && known->task->ppid != parent) {
			parent = known->task->ppid;
			parent_there = !parent || is_there(source->cur, parent);
		}
		if (known->counters.run_ns != raw->counters.run_ns || (orphans && !parent_there))
			ask_pack(source, raw->pid, i);
		else
			raw->task = task_ref(known->task);
		raw->single = true;
	}
}

/* Queries the threads other than leaders, of processes that have or had more than one. */
static int query_other_threads(struct taskstats_source *source)
{
	for (size_t i = 0; i < source->cur->n; i++) {
		const struct task_raw *raw = source->cur->raw[i];

		if (!raw->task || raw->single ||
		    pidlist_read_threads(&source->threads, source->env.proc->fd, raw->tgid))
			continue;
		for (size_t t = 0; t < source->threads.n; t++)
			if (source->threads.pids[t] != raw->tgid)
				ask_pack(source, source->threads.pids[t], i);
	}
	return query(source, false, fold_task_record);
}

/* Adds an element for each listed process, to be queried. */
static void add_processes(struct taskstats_source *source, struct sample *sample)
{
	for (size_t i = 0; i < source->processes.n; i++) {
		pid_t pid = source->processes.pids[i];

		sample_add(sample, pid, pid);
		ask_pack(source, pid, i);
	}
}

/* Takes a sample with one row per process. */
static int sample_processes(struct taskstats_source *source, const struct sample *prev,
			    unsigned needs)
{
	struct sample *cur = source->cur;
	int err;

	add_processes(source, cur);
	reset_scratch(source);
	sample_extend(cur, needs & NEED_RECORD);
	find_known(source, prev);
	err = query(source, true, read_group_reply);
	if (err)
		return err;
	choose_unsure(source, prev, needs);
	err = query(source, false, read_task_reply);
	if (!err && needs & NEED_RECORD)
		err = query_other_threads(source);
	return err;
}

/* Adds the threads of a process to the sample. */
static void add_threads(struct taskstats_source *source, pid_t tgid, bool single)
{
	struct pidlist *threads = &source->threads;
	size_t n = 1;

	if (!single) {
		int err = pidlist_read_threads(threads, source->env.proc->fd, tgid);

		if (err) {
			note_error_reply(source, err);
			return;
		}
		n = threads->n;
	}
	for (size_t t = 0; t < n; t++)
		sample_add(source->cur, tgid, single ? tgid : threads->pids[t]);
}

/*
 * Lists the threads of all processes. Opening /proc/PID/task costs three times a TGID
 * query, and the query shows whether a known process still has its one thread.
 */
static int list_all_threads(struct taskstats_source *source, const struct sample *prev)
{
	struct sample *cur = source->cur, groups = { 0 };
	int err;

	add_processes(source, &groups);
	source->cur = &groups;
	reset_scratch(source);
	find_known(source, prev);
	err = query(source, true, read_group_reply);
	source->cur = cur;
	for (size_t i = 0; !err && i < groups.n; i++)
		if (groups.raw[i]->counters.valid)
			add_threads(source, groups.raw[i]->tgid, same_single(source, i));
	cur->unread += groups.unread;
	if (groups.unread)
		cur->unread_error = groups.unread_error;
	sample_free(&groups);
	return err;
}

/* Reuses the threads of the previous sample. */
static int same_threads(struct taskstats_source *source, const struct sample *prev)
{
	for (size_t i = 0; i < prev->n; i++)
		sample_add(source->cur, prev->raw[i]->tgid, prev->raw[i]->pid);
	return 0;
}

/* Takes a sample with one row per thread. */
static int sample_threads(struct taskstats_source *source, const struct sample *prev,
			  unsigned needs)
{
	struct sample *cur = source->cur;
	int err = none_created(prev, cur) ? same_threads(source, prev)
					  : list_all_threads(source, prev);

	if (err)
		return err;
	for (size_t i = 0; i < cur->n; i++)
		ask_pack(source, cur->raw[i]->pid, i);
	reset_scratch(source);
	sample_extend(cur, needs & NEED_RECORD);
	find_known(source, prev);
	return query(source, false, read_task_reply);
}

/* Takes a sample. */
static int taskstats_sample(void *state, struct sample *prev, struct sample *cur, unsigned needs)
{
	struct taskstats_source *source = state;
	int err;

	sample_reset(cur);
	source->cur = cur;
	source->error = 0;
	source->n = 0;
	if (needs & NEED_RANGE)
		needs |= NEED_RECORD;
	err = list_processes(source, prev);
	if (err)
		return err;
	if (source->env.threads)
		err = sample_threads(source, prev, needs);
	else
		err = sample_processes(source, prev, needs);
	sample_compact(cur);
	states_read(&source->states, prev, cur);
	/* Tasks that did not answer in time count as unread; all else is a sample. */
	return err == -ETIMEDOUT ? 0 : err;
}

/* Closes the source. */
static void taskstats_close(void *state)
{
	struct taskstats_source *source = state;

	taskstats_client_close(source->conn);
	pidlist_free(&source->processes);
	pidlist_free(&source->threads);
	states_free(&source->states);
	free(source->starts);
	free(source->known);
	free(source->ids);
	free(source->places);
	free(source);
}

/* Reads the reply to the first query of all: whether taskstats may be asked. */
static void read_probe(void *arg, UNUSED size_t index, int error, const struct taskstats_part *part,
		       UNUSED uint64_t before_ns, UNUSED uint64_t after_ns)
{
	struct taskstats_source *source = arg;

	source->error = error;
	if (!error)
		source->version = taskstats_version(part->record, part->len);
	if (source->version < 0)
		source->error = source->version;
}

/* Opens the source, and queries its own record to see whether that is permitted. */
static int taskstats_open(const struct source_env *env, void **state)
{
	struct taskstats_source *source = xcalloc(1, sizeof(*source));
	pid_t self = getpid();
	int err = taskstats_client_open(&source->conn);

	source->env = *env;
	source->states = (struct states){ .proc = env->proc, .rows = env->threads };
	if (!err)
		err = taskstats_client_query(source->conn, false, &self, 1, read_probe, NULL,
					     source);
	if (!err)
		err = source->error;
	if (err) {
		taskstats_close(source);
		return err;
	}
	*state = source;
	return 0;
}

/* The version of the kernel's record. */
static int taskstats_source_version(const void *state)
{
	return ((const struct taskstats_source *)state)->version;
}

/* Appends the version. */
static void taskstats_describe(const void *state, struct buf *out)
{
	buf_printf(out, "version %d", taskstats_source_version(state));
}

const struct source_ops source_taskstats = {
	.name = "taskstats",
	.kinds = DELAY_ALL,
	.exits = true,
	.open = taskstats_open,
	.sample = taskstats_sample,
	.version = taskstats_source_version,
	.describe = taskstats_describe,
	.close = taskstats_close,
};
