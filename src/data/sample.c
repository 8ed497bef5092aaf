/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct task *task_new(struct task_key key, pid_t tgid)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->refs = 1;
	task->key = key;
	task->latest_ns = key.start_ns;
	task->start_lo = key.start_ns;
	task->start_hi = key.start_ns;
	task->tgid = tgid;
	task->fresh = true;
	return task;
}

void task_unref(struct task *task)
{
	if (!task || --task->refs)
		return;
	free(task->command);
	free(task->cgroup);
	free(task->ended);
	free(task->dropped);
	free(task->sleeps);
	if (task->waiting) {
		buf_free(&task->waiting->on);
		buf_free(&task->waiting->where);
		buf_free(&task->waiting->stack);
	}
	free(task->waiting);
	if (task->evidence)
		free(task->evidence->group);
	free(task->evidence);
	free(task->held);
	free(task->io_bound);
	free(task);
}

void task_set_comm(struct task *task, const char *comm, size_t len)
{
	size_t n = strnlen(comm, len < TASK_COMM_MAX ? len : TASK_COMM_MAX);

	if (!task->comm[n] && !memcmp(task->comm, comm, n))
		return;
	task->other |= NEED_COMMAND;
	memcpy(task->comm, comm, n);
	task->comm[n] = '\0';
}

void sample_return(struct sample *sample)
{
	for (size_t i = sample->n; i < sample->n + sample->left; i++)
		task_unref(sample->raw[i].task);
	free(sample->records);
	free(sample->procs);
	sample->records = NULL;
	sample->procs = NULL;
	sample->have = 0;
	sample->left = 0;
	sample->unread = 0;
	sample->unread_error = 0;
	sample->corrected = 0;
}

void sample_miss(struct sample *sample, int error)
{
	sample->unread++;
	sample->unread_error = error;
}

void waits_add(struct task_waits *waits, enum wait_seen kind, uint64_t since_ns, uint64_t read_ns,
	       uint64_t before_ns)
{
	uint64_t later_ns = since_ns > before_ns ? since_ns : before_ns;

	if (kind == SEEN_DWAIT && read_ns > later_ns)
		waits->dwait_ns += read_ns - later_ns;
	if (!waits_all(waits) || since_ns < waits->first_ns)
		waits->first_ns = since_ns;
	waits->began_ns[kind] += since_ns;
	waits->threads[kind]++;
}

void waits_of_thread(struct task_waits *waits, enum wait_seen kind, pid_t tid, uint64_t since_ns)
{
	if (kind == SEEN_CPU || (waits->tid && waits->tid_ns <= since_ns))
		return;
	waits->tid = tid;
	waits->tid_ns = since_ns;
}

void waits_go_on(struct task_waits *waits, uint64_t read_ns, uint64_t before_ns)
{
	waits->dwait_ns = waits->threads[SEEN_DWAIT] * (read_ns - before_ns);
}

void sample_reset(struct sample *sample)
{
	sample_return(sample);
	for (size_t i = 0; i < sample->n; i++)
		task_unref(sample->raw[i].task);
	free(sample->marks);
	sample->marks = NULL;
	sample->n = 0;
	sample->pass = 0;
	memset(sample->stable, 0, sizeof(sample->stable));
}

void sample_truncate(struct sample *sample, size_t n)
{
	for (size_t i = n; i < sample->n; i++)
		task_unref(sample->raw[i].task);
	if (n < sample->n)
		sample->n = n;
}

void sample_mark(struct sample *sample, size_t n)
{
	sample->marks = xreallocarray(sample->marks, sample->n + 1, sizeof(*sample->marks));
	memset(sample->marks + n, 0, sample->n - n);
}

void sample_touch(struct sample *sample, const struct task_raw *raw)
{
	size_t at = (size_t)(raw - sample->raw);

	if (sample_tells(sample, at))
		sample->marks[at] &= (uint8_t)~MARK_UNCHANGED;
}

struct task_raw *sample_add(struct sample *sample, pid_t tgid, pid_t pid)
{
	struct task_raw *raw;

	GROW(sample->raw, sample->n, sample->cap);
	raw = &sample->raw[sample->n++];
	*raw = (struct task_raw){ .tgid = tgid, .pid = pid, .counters.members = 1 };
	return raw;
}

/* Resizes an array that runs parallel to the elements, the new part zeroed. */
static void *extend(void *array, size_t size, size_t from, size_t to)
{
	array = xreallocarray(array, to + 1, size);
	memset((char *)array + from * size, 0, (to - from) * size);
	return array;
}

void sample_leave(struct sample *sample, size_t n)
{
	size_t all = sample->n + n;

	RESERVE(sample->raw, all, sample->cap);
	if (n)
		memset(&sample->raw[sample->n], 0, n * sizeof(*sample->raw));
	if (sample->records)
		sample->records = extend(sample->records, sizeof(*sample->records), sample->n, all);
	if (sample->procs)
		sample->procs = extend(sample->procs, sizeof(*sample->procs), sample->n, all);
	sample->left = n;
}

void sample_extend(struct sample *sample, unsigned needs)
{
	if (needs & (NEED_RECORD | NEED_RANGE) && !sample->records)
		sample->records = xcalloc(sample->n + sample->left + 1, sizeof(*sample->records));
	if (needs & NEED_PROC && !sample->procs)
		sample->procs = xcalloc(sample->n + sample->left + 1, sizeof(*sample->procs));
	sample->have |= needs & (NEED_RECORD | NEED_RANGE | NEED_PROC);
}

void sample_compact(struct sample *sample)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->n; i++) {
		if (!sample->raw[i].task)
			continue;
		if (kept != i) {
			sample->raw[kept] = sample->raw[i];
			if (sample->records)
				sample->records[kept] = sample->records[i];
			if (sample->procs)
				sample->procs[kept] = sample->procs[i];
		}
		kept++;
	}
	sample->n = kept;
}

/* Compares a task_order() with an element's, for bsearch(). */
static int compare_order(const void *order, const void *raw)
{
	uint64_t a = *(const uint64_t *)order, b = raw_order(raw);

	return (a > b) - (a < b);
}

struct task_raw *sample_find(const struct sample *sample, pid_t tgid, pid_t pid)
{
	uint64_t order = task_order(tgid, pid);

	if (!sample->n)
		return NULL;
	return bsearch(&order, sample->raw, sample->n, sizeof(*sample->raw), compare_order);
}

void sample_free(struct sample *sample)
{
	sample_reset(sample);
	free(sample->raw);
	*sample = (struct sample){ 0 };
}
