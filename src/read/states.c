/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/states.h"

#include <ctype.h>
#include <fcntl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/proctask.h"
#include "kernel/symbols.h"

/* Maximum size of /proc/stat: one line per CPU, and one with a number per interrupt. */
#define STAT_BYTES (1024 * 1024)

/* An element, and its data from the previous sample (NULL: none). */
struct subject {
	struct task_raw *raw;
	const struct task_raw *known;
};

/* True if the task has not run since. A task about to run may sleep again without a trace. */
static bool is_idle(const struct subject *subject)
{
	const struct task_raw *raw = subject->raw, *known = subject->known;

	return known && known->task == raw->task && known->now.state && known->now.state != 'R' &&
	       known->counters.valid & raw->counters.valid & VALID_RUN &&
	       known->counters.run_ns == raw->counters.run_ns;
}

/* Adds a thread's wait to the sample's. */
static void note_thread_wait(struct thread_waits *waits, const struct thread_wait *wait)
{
	GROW(waits->all, waits->n, waits->cap);
	waits->all[waits->n++] = *wait;
}

/* The previous wait of the thread, or NULL. Threads come in the order of the sample. */
static const struct thread_wait *find_wait(struct states *states, pid_t tgid, pid_t tid)
{
	const struct thread_waits *before = &states->before;
	uint64_t order = task_order(tgid, tid);

	while (states->at < before->n &&
	       task_order(before->all[states->at].tgid, before->all[states->at].tid) < order)
		states->at++;
	if (states->at == before->n || before->all[states->at].tid != tid ||
	    before->all[states->at].tgid != tgid)
		return NULL;
	return &before->all[states->at];
}

/*
 * True if any task waits for I/O: procs_blocked of /proc/stat counts just those (nr_iowait() of
 * kernel/sched/core.c). True if that cannot be read.
 */
static bool any_in_io(struct states *states)
{
	struct span text, rest;
	uint64_t n;

	if (states->in_io >= 0)
		return states->in_io;
	states->in_io = 1;
	states->text.len = 0;
	if (file_read_all(states->proc->fd, "stat", &states->text, STAT_BYTES))
		return true;
	text = (struct span){ states->text.data, states->text.data + states->text.len };
	if (find_line(text, "procs_blocked", &rest) && take_uint(&rest, &n))
		states->in_io = n != 0;
	return states->in_io;
}

/*
 * True if a function that a task sleeps in (/proc/PID/wchan) waits for I/O. wchan shows the first
 * function outside the scheduler: io_schedule() itself is never seen. Names as of kernels 5.10 to
 * 6.18.
 */
static bool is_io_function(const char *name)
{
	static const char *const parts[] = {
		"iomap_dio",   "blockdev_direct", "folio_wait",	  "wait_on_page",
		"wait_on_bit", "bit_wait",	  "wait_on_buf",  "submit_bio_wait",
		"blk_mq_get",  "rq_qos_wait",	  "balance_dirt", "filemap_",
		"swap_",       "io_schedule",	  "blkdev_",	  "do_swap_page",
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/*
 * The kind of a wait in state D: for I/O or not, which is certain only at its end; WAITS_SEEN:
 * none, as a frozen task (cgroup v1, or a suspend) is meant to sleep. If the function is hidden,
 * accounted delays decide: most tasks that wait for I/O did so recently.
 */
static enum wait_seen kind_of_wait(struct states *states, const struct subject *subject, pid_t tid)
{
	const struct task_raw *raw = subject->raw, *known = subject->known;
	bool io = any_in_io(states);

	states->text.len = 0;
	if (!proctask_wchan(states->proc, raw->tgid, tid, &states->text) && states->text.len) {
		if (symbol_freezes_in_d(buf_cstr(&states->text)))
			return WAITS_SEEN;
		io = io && is_io_function(buf_cstr(&states->text));
	} else {
		io = io && known &&
		     raw->counters.delay[DELAY_BLKIO].ns > known->counters.delay[DELAY_BLKIO].ns;
	}
	if (!io && freezer_holds(&states->freezer, states->proc, raw->tgid, tid))
		return WAITS_SEEN;
	return io ? SEEN_BLKIO : SEEN_DWAIT;
}

/* Copies the state of an idle task. */
static void keep_state(struct states *states, const struct subject *subject)
{
	struct task_raw *raw = subject->raw;
	pid_t tgid = raw->tgid;

	raw->now = subject->known->now;
	waits_go_on(&raw->now.waits, raw->read_ns, subject->known->read_ns);
	if (states->rows || raw->single || !waits_in_d(&raw->now.waits))
		return;
	find_wait(states, tgid, 0);
	for (; states->at < states->before.n && states->before.all[states->at].tgid == tgid;
	     states->at++)
		note_thread_wait(&states->now, &states->before.all[states->at]);
}

/* Counts a thread in state D, with the start and the kind of its wait as far as known. */
static void count_wait(const struct subject *subject, pid_t tid, enum wait_seen kind,
		       uint64_t since_ns)
{
	const struct task_raw *known = subject->known;
	struct task_raw *raw = subject->raw;

	if (kind == WAITS_SEEN)
		return;
	waits_add(&raw->now.waits, kind, since_ns, raw->read_ns, known ? known->read_ns : 0);
	waits_of_thread(&raw->now.waits, kind, tid, since_ns);
}

/* Adds the wait of a thread in state D, of a process with several threads. */
static void add_thread_wait(struct states *states, const struct subject *subject, pid_t tid)
{
	const struct task_raw *raw = subject->raw;
	const struct thread_wait *was = find_wait(states, raw->tgid, tid);
	struct thread_wait wait = { .tgid = raw->tgid, .tid = tid, .since_ns = raw->read_ns };
	struct proctask_schedstat sched;

	if (proctask_schedstat(states->proc, raw->tgid, tid, &sched))
		return;
	if (was && was->slices == sched.slices) {
		wait = *was;
	} else {
		wait.slices = sched.slices;
		wait.kind = kind_of_wait(states, subject, tid);
	}
	count_wait(subject, tid, wait.kind, wait.since_ns);
	note_thread_wait(&states->now, &wait);
}

/* Reads the threads of a process with several. */
static void read_threads(struct states *states, const struct subject *subject)
{
	struct task_raw *raw = subject->raw;
	struct proctask_stat stat;

	if (pidlist_read_threads(&states->threads, states->proc->fd, raw->tgid))
		return;
	for (size_t i = 0; i < states->threads.n; i++) {
		pid_t tid = states->threads.pids[i];

		if (proctask_stat_part(states->proc, raw->tgid, tid, &stat))
			continue;
		if (tid == raw->tgid)
			raw->now.state = stat.state;
		if (stat.state == 'D')
			add_thread_wait(states, subject, tid);
	}
	raw->now.threads = (uint32_t)states->threads.n;
}

/*
 * True if run times prove which tasks did not run. A CPU of nohz_full= updates the run time of its
 * task once a second (kernel/sched/core.c:sched_tick_remote()).
 */
static bool runs_are_told(struct states *states)
{
	char text[8] = "";

	if (!states->ticks_read) {
		states->ticks_read = true;
		states->ticks = file_read(AT_FDCWD, "/sys/devices/system/cpu/nohz_full", text,
					  sizeof(text) - 1) <= 0 ||
				!isdigit((unsigned char)*text);
	}
	return states->ticks;
}

/*
 * True if a single runnable thread got no CPU since the previous reading: the kernel accounts the
 * wait when it ends. It is first seen in the interval after the one in which it began.
 */
static bool is_waiting_for_cpu(struct states *states, const struct subject *subject)
{
	const struct task_raw *raw = subject->raw, *known = subject->known;
	const uint32_t valid = VALID_RUN | DELAY_BIT(DELAY_CPU);

	return known && known->task == raw->task && known->now.state == 'R' &&
	       (known->counters.valid & raw->counters.valid & valid) == valid &&
	       known->counters.run_ns == raw->counters.run_ns &&
	       known->counters.delay[DELAY_CPU].ns == raw->counters.delay[DELAY_CPU].ns &&
	       runs_are_told(states);
}

/* Reads the state of a task that ran. */
static void read_state(struct states *states, const struct subject *subject)
{
	struct task_raw *raw = subject->raw;
	pid_t tid = states->rows ? raw->pid : 0;
	struct proctask_stat stat;

	raw->now = (struct task_now){ 0 };
	if (!states->rows && !raw->single) {
		read_threads(states, subject);
		return;
	}
	if (proctask_stat_part(states->proc, raw->tgid, tid, &stat))
		return;
	raw->now.state = stat.state;
	raw->now.threads = 1;
	if (stat.state == 'R' && is_waiting_for_cpu(states, subject))
		count_wait(subject, raw->pid, SEEN_CPU,
			   subject->known->now.waits.threads[SEEN_CPU]
				   ? subject->known->now.waits.first_ns
				   : subject->known->read_ns);
	if (stat.state == 'D')
		count_wait(subject, raw->pid, kind_of_wait(states, subject, raw->pid),
			   raw->read_ns);
}

/* The element in the previous sample; *at: where to search from, in the sample's order. */
static struct subject subject_of(const struct sample *prev, struct task_raw *raw, size_t *at)
{
	struct subject subject = { .raw = raw };
	uint64_t order = raw_order(raw);

	while (*at < prev->n && raw_order(prev->raw[*at]) < order)
		++*at;
	if (*at < prev->n && raw_order(prev->raw[*at]) == order)
		subject.known = prev->raw[*at];
	return subject;
}

/*
 * Prefetches the stat of the elements from `from` on that are to be read. Returns the first element
 * for which there was no room.
 */
static size_t prefetch_states(struct states *states, const struct sample *prev,
			      const struct sample *cur, size_t from, size_t at)
{
	size_t next = from;

	proc_prefetch_begin(states->proc);
	for (; next < cur->n; next++) {
		struct subject subject = subject_of(prev, cur->raw[next], &at);
		const struct task_raw *raw = subject.raw;

		if ((states->rows || raw->single) && !is_idle(&subject) &&
		    !proctask_prefetch(states->proc, raw->tgid, states->rows ? raw->pid : 0,
				       PROCTASK_STAT))
			break;
	}
	return next > from ? next : cur->n;
}

void states_read(struct states *states, const struct sample *prev, struct sample *cur)
{
	struct thread_waits now = states->before;
	size_t at = 0, ahead = 0;

	states->before = states->now;
	states->now = now;
	states->now.n = states->at = 0;
	states->in_io = -1;
	for (size_t i = 0; i < cur->n; i++) {
		struct subject subject = subject_of(prev, cur->raw[i], &at);

		if (is_idle(&subject)) {
			keep_state(states, &subject);
			continue;
		}
		if (i >= ahead)
			ahead = prefetch_states(states, prev, cur, i, at);
		read_state(states, &subject);
	}
}

void states_free(struct states *states)
{
	freezer_close(&states->freezer);
	pidlist_free(&states->threads);
	free(states->before.all);
	free(states->now.all);
	buf_free(&states->text);
}
