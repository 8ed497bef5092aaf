/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/exit_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* By process, of which the longest life first, and ends of threads before that of the process. */
static int compare_processes(const void *a, const void *b)
{
	const struct exit_record *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->last != y->last)
		return x->last ? 1 : -1;
	return (x->life_ns < y->life_ns) - (x->life_ns > y->life_ns);
}

/* Orders what may be folded into one. */
static int compare_alike(const struct exit_record *x, const struct exit_record *y)
{
	if (x->ppid != y->ppid)
		return x->ppid < y->ppid ? -1 : 1;
	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

/* The same of pointers; equal ones in the order of their ends. */
static int compare_alike_left(const void *a, const void *b)
{
	const struct exit_record *x = *(struct exit_record *const *)a;
	const struct exit_record *y = *(struct exit_record *const *)b;
	int order = compare_alike(x, y);

	return order ? order : (x->hi_ns > y->hi_ns) - (x->hi_ns < y->hi_ns);
}

uint64_t exit_latest_start(const struct exit_record *record)
{
	return record->hi_ns > record->life_ns ? record->hi_ns - record->life_ns : 0;
}

bool exit_began_after(const struct exit_record *record, uint64_t since_ns)
{
	return exit_latest_start(record) >= since_ns;
}

/* Adds the fields of one record to those of another, where they were kept. */
static void fold_fields(const struct exit_batch *given, const struct exit_record *into,
			const struct exit_record *record)
{
	if (given->fields)
		record_fold(&given->fields[into->field], &given->fields[record->field]);
}

/* Adds one record to another. */
static void fold_alike(const struct exit_batch *given, struct exit_record *into,
		       const struct exit_record *record)
{
	fold_fields(given, into, record);
	counters_add(&into->counters, &record->counters);
	into->single = false;
	if (!into->status)
		into->status = record->status;
}

/* Adds the end of a thread to that of its process, or of another thread of it. */
static void fold_thread(const struct exit_batch *given, struct exit_record *into,
			const struct exit_record *record)
{
	fold_fields(given, into, record);
	/* The last of several threads may have a name of its own. */
	if (record->pid == record->tgid)
		memcpy(into->comm, record->comm, sizeof(into->comm));
}

size_t exit_fold_threads(const struct exit_batch *given)
{
	struct exit_record *records = given->records;
	size_t kept = 0;

	/* Without any there may be no array. */
	if (given->n)
		qsort(records, given->n, sizeof(*records), compare_processes);
	for (size_t i = 0; i < given->n; i++) {
		struct exit_record *before = kept ? &records[kept - 1] : NULL;

		if (!records[i].tgid || !before || before->last ||
		    before->tgid != records[i].tgid) {
			records[kept++] = records[i];
			continue;
		}
		/* The leader of those that go stays, so that its name does. */
		if (!records[i].last && before->pid == before->tgid) {
			fold_fields(given, before, &records[i]);
			continue;
		}
		fold_thread(given, &records[i], before);
		*before = records[i];
	}
	return kept;
}

size_t exit_fold_alike(const struct exit_batch *given, struct exit_record **records, size_t n)
{
	size_t kept = 0, same;

	qsort(records, n, sizeof(*records), compare_alike_left);
	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !compare_alike(records[i], records[i + same]);)
			same++;
		if (same < EXIT_FOLD_MANY) {
			memmove(&records[kept], &records[i], same * sizeof(*records));
			kept += same;
			continue;
		}
		for (size_t k = 1; k < same; k++)
			fold_alike(given, records[i], records[i + k]);
		records[kept++] = records[i];
	}
	return kept;
}

/* The same order of records themselves, ends of threads apart from those of processes. */
static int compare_alike_records(const void *a, const void *b)
{
	const struct exit_record *x = a, *y = b;

	if (x->last != y->last)
		return x->last ? 1 : -1;
	return compare_alike(x, y);
}

/* Whether a record need not be told from others like it: no sample has it, nor will. */
static bool may_fold(const struct exit_batch *given, const struct sample *prev,
		     const struct exit_record *record)
{
	/* Before version 12 it says no thread group. */
	pid_t tgid = record->tgid ? record->tgid : record->pid;
	pid_t pid = given->threads || !record->last ? record->pid : tgid;

	/* The end of a thread has no row among processes, but is for that of its process. */
	if (!given->threads && record->tgid && !record->last)
		return false;
	if ((given->threads || pid == tgid) && sample_find(prev, tgid, pid))
		return false;
	return exit_began_after(record, prev->begin_ns) && given->gone(given->arg, pid);
}

size_t exit_fold_kept(const struct exit_batch *batch, const struct sample *prev)
{
	struct exit_record *records = batch->records, *into = NULL;
	size_t n = batch->threads ? batch->n : exit_fold_threads(batch), kept = 0;

	qsort(records, n, sizeof(*records), compare_alike_records);
	for (size_t i = 0; i < n; i++) {
		bool may = may_fold(batch, prev, &records[i]);

		if (may && into && !compare_alike_records(into, &records[i])) {
			fold_alike(batch, into, &records[i]);
			continue;
		}
		records[kept] = records[i];
		if (may)
			into = &records[kept];
		kept++;
	}
	return kept;
}
