/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/evidence.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "read/limits.h"
#include "sampler/awaited.h"
#include "sampler/lock_waits.h"
#include "sampler/server_waits.h"

/* Rows explained per kind of delay. */
#define SUSPECTS 4

/* Rows blocked in a call. */
#define BLOCKED_MAX (SERVER_WAITS_MAX + AWAITING_MAX + LOCK_WAITS_MAX)

/* Minimum delay to collect evidence for: below the findings' thresholds. */
#define WAITED_LEAST 0.04
#define HANG_NS (NSEC_PER_SEC - 100 * NSEC_PER_MSEC)

/* How long "no quota" is cached. */
#define LIMITS_KEPT_NS (10 * NSEC_PER_SEC)

/* Rows with most CPU time: one of them may run on the CPU that a suspect needs. */
#define RUNNERS 8

/* Idle share of the machine above which an unpinned task is not short of CPU. */
#define IDLE_LEAST 20

/* Tasks whose readings are kept for the next sample. */
#define READINGS_MAX 32

/* Threads checked per suspect, and those with a budget whose readings are kept. */
#define THREADS_MAX 64
#define BUDGETS_MAX 8

/* Share of a budget whose use may mean throttling by it. */
#define BUDGET_USED 0.75

/* Share of a row's waits from which a yielding thread explains them. */
#define YIELDED_PART 0.75

/* Readings of a suspect, to be compared with the next ones. */
struct suspect_reading {
	struct task_key key; /* pid 0: the place is free */
	uint64_t sample_ns; /* the last sample in which it was a suspect */
	uint64_t written, read, io_ns; /* bytes written and read by its process, and when */
	char *cpu_group; /* the group with that throttled time; NULL: none */
	uint64_t throttled_ns, throttled_read_ns;
	uint64_t unlimited_until_ns; /* it has no limits, and is not checked for so long */
	double realtime_cpus; /* the real-time budget of its group; 0: none */
	pid_t rival; /* rival for which CPU sharing was examined; 0: none */
	enum cpu_sharing sharing;
	struct limiting_group weighed_group;
	/* Its threads with a budget of their own, pid 0: no more. */
	struct budget_reading {
		pid_t tid;
		struct proctask_schedstat stat;
		uint64_t read_ns;
	} budgets[BUDGETS_MAX];
};

/* Rows with most of something, the largest first. */
struct most_rows {
	const struct row *rows[RUNNERS];
	uint64_t most[RUNNERS];
	size_t n;
};

struct evidence {
	struct proc *proc;
	struct limits_reader *limits;
	struct server_waits server_waits;
	struct lock_waits lock_waits;
	struct awaited awaited;
	cpu_set_t *set; /* of RUNNABLE_CPUS */
	struct suspect_reading readings[READINGS_MAX];
};

/* Maximum number of CPUs. */
#define RUNNABLE_CPUS 8192

struct evidence *evidence_open(struct proc *proc)
{
	struct evidence *evidence = xcalloc(1, sizeof(*evidence));

	evidence->proc = proc;
	evidence->set = CPU_ALLOC(RUNNABLE_CPUS);
	if (!evidence->set)
		die("out of memory");
	return evidence;
}

/* Inserts a row among those with the largest values, up to so many. */
static void note_row(struct most_rows *most, size_t room, const struct row *row, uint64_t value)
{
	size_t at = most->n < room ? most->n++ : room;

	for (; at && most->most[at - 1] < value; at--) {
		if (at == room)
			continue;
		most->rows[at] = most->rows[at - 1];
		most->most[at] = most->most[at - 1];
	}
	if (at == room)
		return;
	most->rows[at] = row;
	most->most[at] = value;
}

/* The long waits that a row is suspected of. */
enum suspicion { OF_CPU, OF_IO, OF_MEMORY, OF_DWAIT, OF_HANG, SUSPICIONS };

/* How long a row waited for it. */
static uint64_t waited_for(const struct frame *frame, const struct row *row, enum suspicion of)
{
	const struct waited *waited = &row->deltas->waited;
	const struct task_waits *waits = &row->raw->now.waits;
	uint64_t now_ns = frame->info->cur->end_ns;

	switch (of) {
	case OF_CPU:
		return waited->ns[DELAY_CPU];
	case OF_IO:
		return waited->ns[DELAY_BLKIO];
	case OF_MEMORY:
		return waited->mem;
	case OF_DWAIT:
		return waited->ns[WAIT_DWAIT];
	default:
		return waits->tid && waits->tid_ns + HANG_NS < now_ns ? now_ns - waits->tid_ns : 0;
	}
}

/* Finds the most delayed rows, and those that used most CPU. */
static void find_suspects(const struct frame *frame, struct most_rows suspects[SUSPICIONS],
			  struct most_rows *runners)
{
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		uint64_t least = (uint64_t)((double)row->interval_ns * WAITED_LEAST);

		if (row->unchanged || row->exited)
			continue;
		note_row(runners, RUNNERS, row, row->deltas->grown.run_ns);
		/* Short-lived tasks are no findings. */
		for (unsigned of = 0; of < SUSPICIONS && !row->born; of++) {
			uint64_t ns = waited_for(frame, row, of);

			if (ns && ns >= least)
				note_row(&suspects[of], SUSPECTS, row, ns);
		}
	}
}

/* The evidence of a row's task, for this sample; created if there is none. */
static struct task_evidence *evidence_of(const struct frame_info *info, const struct row *row)
{
	struct task_extra *extra = sample_add_extra(info->cur, row->place);

	if (!extra->evidence) {
		extra->evidence = xcalloc(1, sizeof(*extra->evidence));
		extra->evidence->throttled = extra->evidence->writes = extra->evidence->reads = -1;
	}
	return extra->evidence;
}

static void free_suspect(struct suspect_reading *reading)
{
	free(reading->cpu_group);
	free(reading->weighed_group.name);
}

/* The readings of a row's task: its own, or the least recently used. */
static struct suspect_reading *readings_of(struct evidence *evidence, const struct frame_info *info,
					   const struct row *row)
{
	struct suspect_reading *found = &evidence->readings[0];
	const struct task_key *key = &row->task->key;

	for (unsigned i = 0; i < READINGS_MAX; i++) {
		struct suspect_reading *at = &evidence->readings[i];
		bool same = at->key.pid == key->pid && at->key.start_ns == key->start_ns;

		if (same || at->sample_ns < found->sample_ns)
			found = at;
		if (same)
			break;
	}
	if (found->key.pid != key->pid || found->key.start_ns != key->start_ns) {
		free_suspect(found);
		*found = (struct suspect_reading){ .key = *key };
	}
	found->sample_ns = info->cur->begin_ns;
	return found;
}

/* Names a group with a limit. */
static void name_group(struct limiting_group *group, struct buf *name, unsigned version)
{
	free(group->name);
	*group = (struct limiting_group){ .name = xstrdup(buf_cstr(name)), .version = version };
}

/* Sets how long the group was throttled since the previous reading. */
static void set_throttling(struct task_evidence *task, struct suspect_reading *was,
			   struct cpu_limit *now)
{
	if (!now->throttled_valid)
		return;
	name_group(&task->cpu_group, &now->group, now->version);
	if (was->cpu_group && !strcmp(was->cpu_group, task->cpu_group.name) &&
	    now->read_ns > was->throttled_read_ns && now->throttled_ns >= was->throttled_ns)
		task->throttled = (double)(now->throttled_ns - was->throttled_ns) * 100.0 /
				  (double)(now->read_ns - was->throttled_read_ns);
	free(was->cpu_group);
	was->cpu_group = xstrdup(task->cpu_group.name);
	was->throttled_ns = now->throttled_ns;
	was->throttled_read_ns = now->read_ns;
}

/*
 * Reads the limits of a row's groups, unless already read, or (asked: no matter) it had none
 * recently.
 */
static void look_at_limits(struct evidence *evidence, const struct frame_info *info,
			   const struct row *row, bool asked)
{
	struct task_evidence *task = evidence_of(info, row);
	struct suspect_reading *was = readings_of(evidence, info, row);
	struct limits limits = { 0 };
	uint64_t now_ns = info->cur->begin_ns;

	if ((now_ns < was->unlimited_until_ns && !asked) || task->quota > 0 || task->memory_limit ||
	    task->io_limits)
		return;
	if (!evidence->limits)
		evidence->limits = limits_open(evidence->proc);
	limits_read(evidence->limits, row->raw->tgid,
		    row->raw->pid == row->raw->tgid ? 0 : row->raw->pid, &limits);
	if (limits.cpu.period_us) {
		task->quota = (double)limits.cpu.quota_us / (double)limits.cpu.period_us;
		set_throttling(task, was, &limits.cpu);
	}
	was->realtime_cpus = 0;
	if (limits.realtime.period_us) {
		was->realtime_cpus =
			(double)limits.realtime.runtime_us / (double)limits.realtime.period_us;
		if (!limits.cpu.period_us)
			name_group(&task->cpu_group, &limits.realtime.group, 1);
	}
	if (limits.memory.limit)
		name_group(&task->memory_group, &limits.memory.group, limits.memory.version);
	if (limits.io.text.len) {
		name_group(&task->io_group, &limits.io.group, limits.io.version);
		task->io_limits = xstrdup(buf_cstr(&limits.io.text));
	}
	task->memory_limit = limits.memory.limit;
	task->memory_used = limits.memory.usage;
	if (!limits.cpu.period_us && !limits.realtime.period_us && !limits.memory.limit &&
	    !limits.io.text.len)
		was->unlimited_until_ns = now_ns + LIMITS_KEPT_NS;
	limits_free(&limits);
}

/* A budget of a thread: a number of CPUs; 0: none. */
struct budget {
	double cpus;
	enum cpu_budget sort;
};

/* The result of sched_getattr(), since 3.14. Its glibc wrapper came in 2.41. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* The budget of a thread by its policy: its own, or that of its group. */
static struct budget budget_of(pid_t tid, double realtime_cpus)
{
	struct scheduling attr = { 0 };

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0))
		return (struct budget){ 0 };
	if (attr.policy == SCHED_DEADLINE && attr.period_ns)
		return (struct budget){ (double)attr.runtime_ns / (double)attr.period_ns,
					BUDGET_DEADLINE };
	if (attr.policy == SCHED_FIFO || attr.policy == SCHED_RR)
		return (struct budget){ realtime_cpus, BUDGET_REALTIME };
	return (struct budget){ 0 };
}

/*
 * Decides whether a thread's budget throttled its row, by how long the thread waited and ran. A
 * deadline task that ran less than its budget has called sched_yield(); that explains its row if no
 * other thread waited much. A real-time budget is shared by its group.
 */
static void take_budget(struct task_evidence *task, const struct row *row,
			const struct budget *budget, uint64_t waited_ns, uint64_t ran_ns,
			uint64_t passed_ns)
{
	double all = (double)row->deltas->waited.ns[DELAY_CPU];
	bool used = (double)ran_ns >= (double)passed_ns * budget->cpus * BUDGET_USED;
	double share = fmin((double)waited_ns * 100.0 / (double)passed_ns, 100);

	if (task->rival && !used)
		return;
	if (task->quota > 0 && share <= task->throttled)
		return;
	if (!used && budget->sort == BUDGET_DEADLINE && (double)waited_ns < all * YIELDED_PART)
		return;
	task->quota = budget->cpus;
	task->budget = used || budget->sort != BUDGET_DEADLINE ? budget->sort : BUDGET_YIELD;
	task->throttled = task->budget == BUDGET_YIELD ? -1 : share;
}

/* Decides whether the budget of one of several threads throttled it since the previous reading. */
static void compare_budget(struct evidence *evidence, struct task_evidence *task,
			   const struct row *row, const struct suspect_reading *was,
			   struct budget_reading *now, const struct budget *budget)
{
	if (proctask_schedstat(evidence->proc, row->raw->tgid, now->tid, &now->stat))
		return;
	now->read_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < BUDGETS_MAX && was->budgets[i].tid; i++) {
		const struct budget_reading *before = &was->budgets[i];

		if (before->tid == now->tid && before->read_ns &&
		    now->stat.wait >= before->stat.wait && now->stat.run >= before->stat.run)
			take_budget(task, row, budget, now->stat.wait - before->stat.wait,
				    now->stat.run - before->stat.run,
				    now->read_ns - before->read_ns);
	}
}

/* Lists the threads of a row, at most THREADS_MAX. Returns their number. */
static size_t list_threads(const struct evidence *evidence, const struct row *row, int *tids)
{
	char path[64];
	int n;

	*tids = row->raw->pid;
	if (row->raw->single || row->raw->pid != row->raw->tgid)
		return 1;
	snprintf(path, sizeof(path), "%d/task", (int)row->raw->tgid);
	n = proc_numbers(evidence->proc, path, tids, THREADS_MAX);
	return n > 0 ? (size_t)n : 0;
}

/* Finds which of a row's threads has a budget, and whether that throttles it. */
static void look_at_budgets(struct evidence *evidence, const struct frame *frame,
			    const struct row *row)
{
	struct task_evidence *task = evidence_of(frame->info, row);
	struct suspect_reading *was = readings_of(evidence, frame->info, row);
	struct budget_reading now[BUDGETS_MAX] = { { 0 } };
	int tids[THREADS_MAX];
	size_t n = list_threads(evidence, row, tids), found = 0;

	for (size_t i = 0; i < n && found < BUDGETS_MAX; i++) {
		struct budget budget = budget_of(tids[i], was->realtime_cpus);

		if (budget.cpus <= 0 || budget.cpus >= 1)
			continue;
		if (n == 1) {
			take_budget(task, row, &budget, waited_for(frame, row, OF_CPU),
				    row->deltas->grown.run_ns, row->interval_ns);
			return;
		}
		now[found].tid = tids[i];
		compare_budget(evidence, task, row, was, &now[found++], &budget);
	}
	memcpy(was->budgets, now, sizeof(now));
}

/* Reads how much a row's process wrote and read since the previous sample. */
static void look_at_transfers(struct evidence *evidence, const struct frame *frame,
			      const struct row *row)
{
	struct task_evidence *task = evidence_of(frame->info, row);
	struct suspect_reading *was = readings_of(evidence, frame->info, row);
	const struct frame_info *info = frame->info;
	bool follows = info->prev && was->io_ns >= info->prev->begin_ns;
	double kb_s =
		info->prev ? 1e9 / 1024 / (double)(info->cur->begin_ns - info->prev->begin_ns) : 0;
	struct task_io io;

	/* Once per sample, whatever it is suspected of. */
	if (was->io_ns == info->cur->begin_ns ||
	    proctask_io(evidence->proc, row->raw->tgid, row->raw->pid, &io))
		return;
	if (follows && io.written >= was->written)
		task->writes = (double)(io.written - was->written) * kb_s;
	if (follows && io.read >= was->read)
		task->reads = (double)(io.read - was->read) * kb_s;
	was->written = io.written;
	was->read = io.read;
	was->io_ns = info->cur->begin_ns;
}

/* True if a task may not run on all CPUs. `set`: the allowed ones. */
static bool is_pinned(struct evidence *evidence, const struct frame *frame, const struct row *row)
{
	size_t size = CPU_ALLOC_SIZE(RUNNABLE_CPUS);
	int cpus = (int)frame->info->system->cpus;

	return cpus > 0 && !sched_getaffinity(row->raw->pid, size, evidence->set) &&
	       CPU_COUNT_S(size, evidence->set) < cpus;
}

/* True if a runner has run, as far as known, on a CPU allowed for a pinned task. */
static bool ran_there(const struct evidence *evidence, const struct row *runner)
{
	size_t size = CPU_ALLOC_SIZE(RUNNABLE_CPUS);
	unsigned cpu = runner->task->cpu;

	/* The CPUs of a process's threads are unknown. */
	if (!cpu || (!runner->raw->single && runner->raw->now.threads != 1))
		return false;
	return CPU_ISSET_S(cpu - 1, size, evidence->set);
}

/* Average time that a thread of a row waited for a CPU. */
static uint64_t waited_each(const struct row *row)
{
	uint32_t threads = row->raw->now.threads;

	return row->deltas->waited.ns[DELAY_CPU] / (threads > 1 && !row->raw->single ? threads : 1);
}

/* True if two processes are in sessions that share CPUs as groups do. */
static bool are_sessions(struct proc *proc, pid_t a, pid_t b)
{
	char path[32], texts[2][128];
	const pid_t pids[2] = { a, b };
	int len = proc_read(proc, "sys/kernel/sched_autogroup_enabled", texts[0], sizeof(texts[0]));

	if (len <= 0 || *texts[0] != '1')
		return false;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%d/autogroup", (int)pids[i]);
		if (proc_read(proc, path, texts[i], sizeof(texts[i])) <= 0)
			return false;
		/* "/autogroup-12 nice 0" */
		*strchrnul(texts[i], ' ') = '\0';
	}
	return strcmp(texts[0], texts[1]) != 0;
}

/* True if a task does not share CPUs, but takes precedence. */
static bool is_realtime(pid_t tid)
{
	int policy = sched_getscheduler(tid);

	policy = policy < 0 ? SCHED_OTHER : policy & ~SCHED_RESET_ON_FORK;
	return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

/* Finds what decides how a row's process shares CPUs with its rival: once per rival. */
static void look_at_sharing(struct evidence *evidence, const struct frame *frame,
			    const struct row *row)
{
	struct task_evidence *task = evidence_of(frame->info, row);
	struct suspect_reading *was = readings_of(evidence, frame->info, row);
	struct buf own = { 0 }, other = { 0 };
	unsigned version;

	if (was->rival != task->rival) {
		if (!evidence->limits)
			evidence->limits = limits_open(evidence->proc);
		was->rival = task->rival;
		version = limits_weighed(evidence->limits, row->raw->tgid, &own);
		limits_weighed(evidence->limits, task->rival, &other);
		if (is_realtime(task->rival))
			was->sharing = SHARING_UNKNOWN;
		else if (strcmp(buf_cstr(&own), buf_cstr(&other)) != 0)
			was->sharing = SHARING_GROUP;
		else if (own.len <= 1 && are_sessions(evidence->proc, row->raw->tgid, task->rival))
			was->sharing = SHARING_SESSION;
		else
			was->sharing = SHARING_NICE;
		name_group(&was->weighed_group, &own, version);
		buf_free(&own);
		buf_free(&other);
	}
	task->sharing = was->sharing;
	free(task->weighed_group.name);
	task->weighed_group = was->weighed_group;
	task->weighed_group.name = xstrdup(was->weighed_group.name);
}

/*
 * Finds the task that used most CPU on the CPUs the row is allowed on; for pinned tasks the last
 * CPU is read.
 */
static void find_runner(struct evidence *evidence, const struct frame *frame, const struct row *row,
			const struct most_rows *runners,
			void (*fill_cpu)(void *arg, const struct row *row), void *arg)
{
	struct task_evidence *task = evidence_of(frame->info, row);
	bool pinned = is_pinned(evidence, frame, row);

	task->pinned = pinned;
	if (!pinned && frame->info->machine.idle >= IDLE_LEAST)
		return;
	for (size_t i = 0; i < runners->n; i++) {
		const struct row *runner = runners->rows[i];

		if (runner == row || runner->born)
			continue;
		if (pinned)
			fill_cpu(arg, runner);
		if (pinned && !ran_there(evidence, runner))
			continue;
		/* A task that ran little did not take the CPU that another waited for. */
		if (runner->deltas->grown.run_ns * 2 < waited_each(row))
			return;
		task->rival = runner->raw->pid;
		look_at_sharing(evidence, frame, row);
		return;
	}
}

/* Finds rows blocked in a call, among requested ones. */
static size_t blocked_rows(const struct frame *frame, const struct row **blocked)
{
	size_t n = 0;
	uint64_t ns;

	for (size_t i = 0; i < frame->n && n < BLOCKED_MAX; i++)
		if (!frame->rows[i].exited && row_hang(frame, &frame->rows[i], &ns) &&
		    ns >= HANG_NS)
			blocked[n++] = &frame->rows[i];
	return n;
}

/* Finds such rows among all, if that costs little. */
static size_t find_blocked(struct evidence *evidence, const struct frame *frame,
			   const struct row **blocked)
{
	size_t n = server_waits_find(&evidence->server_waits, evidence->proc, frame, blocked);

	n = awaited_find(&evidence->awaited, evidence->proc, frame, blocked, n, n + AWAITING_MAX);
	return lock_waits_find(&evidence->lock_waits, evidence->proc, frame, blocked, n,
			       BLOCKED_MAX);
}

void evidence_read(struct evidence *evidence, struct waiting_reader *waiting, struct frame *frame,
		   bool hangs, void (*fill_cpu)(void *arg, const struct row *row), void *arg)
{
	struct most_rows suspects[SUSPICIONS] = { 0 }, runners = { 0 };
	const struct row *blocked[BLOCKED_MAX];
	size_t nblocked = 0;

	if (hangs)
		awaited_find(&evidence->awaited, evidence->proc, frame, blocked, 0, 0);
	else
		nblocked = find_blocked(evidence, frame, blocked);

	find_suspects(frame, suspects, &runners);
	for (unsigned of = 0; of < SUSPICIONS; of++) {
		for (size_t i = 0; i < suspects[of].n; i++) {
			if (of == OF_CPU || of == OF_MEMORY || of == OF_IO)
				look_at_limits(evidence, frame->info, suspects[of].rows[i], false);
			if (of == OF_IO || of == OF_MEMORY)
				look_at_transfers(evidence, frame, suspects[of].rows[i]);
			if (of != OF_CPU)
				continue;
			find_runner(evidence, frame, suspects[of].rows[i], &runners, fill_cpu, arg);
			look_at_budgets(evidence, frame, suspects[of].rows[i]);
		}
		if (of != OF_CPU)
			waiting_fill(waiting, frame->info, suspects[of].rows, suspects[of].n,
				     frame->info->threads, NEED_WAITING);
	}
	if (hangs && frame->info->selected_only)
		nblocked = blocked_rows(frame, blocked);
	waiting_fill(waiting, frame->info, blocked, nblocked, frame->info->threads, NEED_WAITING);
	for (size_t i = 0; i < nblocked; i++)
		frame_mark_changed(frame, &frame->rows[blocked[i] - frame->rows]);
}

void evidence_fill(struct evidence *evidence, const struct frame_info *info,
		   const struct row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i]->task && !rows[i]->exited)
			look_at_limits(evidence, info, rows[i], true);
}

void evidence_close(struct evidence *evidence)
{
	if (!evidence)
		return;
	limits_close(evidence->limits);
	server_waits_free(&evidence->server_waits);
	lock_waits_free(&evidence->lock_waits);
	awaited_free(&evidence->awaited);
	CPU_FREE(evidence->set);
	for (unsigned i = 0; i < READINGS_MAX; i++)
		free_suspect(&evidence->readings[i]);
	free(evidence);
}
