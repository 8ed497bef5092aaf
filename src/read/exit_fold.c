/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/exit_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Tasks that ran and waited for at most 1/LITTLE of the interval did little: 1.0 %. */
#define LITTLE 100

/* Orders by process; within it exits of threads before that of the process, longest lives first. */
static int compare_processes(const void *a, const void *b)
{
	const struct exit_record *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->last != y->last)
		return x->last ? 1 : -1;
	return (x->life_ns < y->life_ns) - (x->life_ns > y->life_ns);
}

/* The record behind a pointer of qsort(). */
#define RECORD(pointer) (*(struct exit_record *const *)(pointer))

/* Orders by the fields that must be equal in merged records, whatever their parents. */
static int compare_alike(const void *a, const void *b)
{
	const struct exit_record *x = RECORD(a), *y = RECORD(b);

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

/* The same order within each parent. */
static int compare_by_parent(const void *a, const void *b)
{
	const struct exit_record *x = RECORD(a), *y = RECORD(b);

	if (x->ppid != y->ppid)
		return x->ppid < y->ppid ? -1 : 1;
	return compare_alike(a, b);
}

/* The same order within each reaper. */
static int compare_by_reaper(const void *a, const void *b)
{
	const struct exit_record *x = RECORD(a), *y = RECORD(b);

	if (x->reaper != y->reaper)
		return x->reaper < y->reaper ? -1 : 1;
	return compare_alike(a, b);
}

/* True if x exited before y, and so represents both. */
static bool ended_before(const struct exit_record *x, const struct exit_record *y)
{
	return x->hi_ns != y->hi_ns ? x->hi_ns < y->hi_ns : x->pid < y->pid;
}

uint64_t exit_latest_start(const struct exit_record *record)
{
	return record->hi_ns > record->life_ns ? record->hi_ns - record->life_ns : 0;
}

bool exit_began_after(const struct exit_record *record, uint64_t since_ns)
{
	return exit_latest_start(record) >= since_ns;
}

/* Adds the fields of a record to another's, if stored. */
static void fold_fields(const struct exit_batch *given, const struct exit_record *into,
			const struct exit_record *record)
{
	if (given->fields && !into->kept && !record->kept)
		record_fold(&given->fields[into->field], &given->fields[record->field]);
}

/* Adds one record to another; the added one is left with no members, so it is dropped. */
static void fold_alike(const struct exit_batch *given, struct exit_record *into,
		       struct exit_record *record)
{
	fold_fields(given, into, record);
	counters_add(&into->counters, &record->counters);
	/* All other fields of a sum stay valid. */
	into->left_out = 0;
	record->counters.members = 0;
	into->single = false;
	if (!into->status)
		into->status = record->status;
	into->measured &= record->measured;
	into->times_known &= record->times_known;
	wait_states_add(&into->times, &record->times);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (record->max_us[kind] > into->max_us[kind])
			into->max_us[kind] = record->max_us[kind];
	into->mixed |= record->mixed || into->ppid != record->ppid;
	into->others |= record->others;
}

/* Merges n records into the one that ended first. */
static struct exit_record *fold_run(const struct exit_batch *given, struct exit_record **records,
				    size_t n)
{
	size_t first = 0;

	for (size_t i = 1; i < n; i++)
		if (ended_before(records[i], records[first]))
			first = i;
	for (size_t i = 0; i < n; i++)
		if (i != first)
			fold_alike(given, records[first], records[i]);
	return records[first];
}

/* Sorts records, and merges equal ones if there are at least `many`. Returns how many remain. */
static size_t fold_equal(const struct exit_batch *given, struct exit_record **records, size_t n,
			 size_t many, int (*compare)(const void *a, const void *b))
{
	size_t kept = 0, same;

	qsort(records, n, sizeof(*records), compare);
	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !compare(&records[i], &records[i + same]);)
			same++;
		if (same >= many) {
			records[kept++] = fold_run(given, &records[i], same);
			continue;
		}
		memmove(&records[kept], &records[i], same * sizeof(*records));
		kept += same;
	}
	return kept;
}

/*
 * Subtracts a thread's impossible delays from its process's sum, or stores them until the process
 * ends.
 */
static void take_off(struct exit_record *into, const struct exit_record *record)
{
	uint32_t kinds = record->left_out;

	if (into->last) {
		counters_take_off(&into->counters, &record->counters, kinds);
		return;
	}
	counters_clear(&into->counters, kinds & ~into->left_out);
	counters_add_known(&into->counters, &record->counters, kinds);
	into->left_out |= kinds;
}

/* Adds the exit of a thread to that of its process, or of another thread of that process. */
static void fold_thread(const struct exit_batch *given, struct exit_record *into,
			const struct exit_record *record)
{
	take_off(into, record);
	fold_fields(given, into, record);
	/* The last of several threads may have a name of its own. */
	if (record->pid == record->tgid)
		memcpy(into->comm, record->comm, sizeof(into->comm));
}

size_t exit_fold_threads(const struct exit_batch *given)
{
	struct exit_record *records = given->records;
	size_t kept = 0;

	/* Without records there may be no array. */
	if (given->n)
		qsort(records, given->n, sizeof(*records), compare_processes);
	for (size_t i = 0; i < given->n; i++) {
		struct exit_record *before = kept ? &records[kept - 1] : NULL;

		if (!records[i].tgid || !before || before->last ||
		    before->tgid != records[i].tgid) {
			records[kept++] = records[i];
			continue;
		}
		/* The leader's record stays, among those of exited threads, for its name. */
		if (!records[i].last && before->pid == before->tgid) {
			take_off(before, &records[i]);
			fold_fields(given, before, &records[i]);
			continue;
		}
		fold_thread(given, &records[i], before);
		*before = records[i];
	}
	return kept;
}

/* Time that the tasks of a record ran and waited. */
static uint64_t did_ns(const struct exit_record *record)
{
	const struct counters *did = &record->counters;

	return did->run_ns + delay_total(did->delay, did->valid).ns;
}

/* Moves records that did little to the front. Returns how many there are. */
static size_t gather_little(struct exit_record **records, size_t n, uint64_t little_ns)
{
	size_t front = 0;

	for (size_t i = 0; i < n; i++) {
		struct exit_record *record = records[i];

		if (did_ns(record) > little_ns)
			continue;
		records[i] = records[front];
		records[front++] = record;
	}
	return front;
}

size_t exit_fold_alike(const struct exit_batch *given, struct exit_record **records, size_t n,
		       uint64_t interval_ns)
{
	size_t little, kept;

	n = fold_equal(given, records, n, EXIT_FOLD_MANY, compare_by_parent);
	little = gather_little(records, n, interval_ns / LITTLE);
	kept = fold_equal(given, records, little, EXIT_FOLD_MANY, compare_by_reaper);
	memmove(&records[kept], &records[little], (n - little) * sizeof(*records));
	n = kept + n - little;
	for (size_t i = 0; i < n; i++)
		if (records[i]->mixed)
			records[i]->ppid = records[i]->reaper;
	return n;
}

/* True if an exit record may be aggregated: its task is in no sample. */
static bool may_fold(const struct exit_batch *given, const struct sample *prev,
		     const struct exit_record *record)
{
	/* Before version 12 a record does not say its thread group. */
	pid_t tgid = record->tgid ? record->tgid : record->pid;
	pid_t pid = given->threads || !record->last ? record->pid : tgid;

	/*
	 * Exits of threads have no row among processes; they belong to the exit of their process.
	 */
	if (!given->threads && record->tgid && !record->last)
		return false;
	if ((given->threads || pid == tgid) && sample_find(prev, tgid, pid))
		return false;
	return exit_began_after(record, prev->begin_ns) && given->gone(given->arg, pid);
}

/* Orders exits of threads apart from those of processes, then by the fields equal for merging. */
static int compare_kept(const void *a, const void *b)
{
	const struct exit_record *x = RECORD(a), *y = RECORD(b);

	if (x->last != y->last)
		return x->last ? 1 : -1;
	return compare_by_parent(a, b);
}

/* Orders by what the tasks did, most first; records merged regardless of name come last. */
static int compare_did(const void *a, const void *b)
{
	const struct exit_record *x = RECORD(a), *y = RECORD(b);
	uint64_t xdid = did_ns(x), ydid = did_ns(y);

	if (x->others != y->others)
		return x->others ? 1 : -1;
	return (xdid < ydid) - (xdid > ydid);
}

/* Keeps the `most` records that did most, and merges all others by user. */
static void fold_rest(const struct exit_batch *given, struct exit_record **records, size_t n,
		      size_t most)
{
	qsort(records, n, sizeof(*records), compare_did);
	for (size_t i = most; i < n; i++) {
		records[i]->others = true;
		memcpy(records[i]->comm, EXIT_OTHERS, sizeof(EXIT_OTHERS));
	}
	fold_equal(given, &records[most], n - most, 2, compare_alike);
}

size_t exit_fold_kept(const struct exit_batch *batch, const struct sample *prev, size_t most)
{
	struct exit_record *records = batch->records, **foldable;
	size_t n = batch->threads ? batch->n : exit_fold_threads(batch), may = 0, kept = 0;

	foldable = xcalloc(n + 1, sizeof(*foldable));
	for (size_t i = 0; i < n; i++)
		if (may_fold(batch, prev, &records[i]))
			foldable[may++] = &records[i];
	may = fold_equal(batch, foldable, may, 2, compare_kept);
	if (may > most)
		fold_rest(batch, foldable, may, most);
	free(foldable);
	for (size_t i = 0; i < n; i++)
		if (records[i].counters.members)
			records[kept++] = records[i];
	return kept;
}

uint64_t exit_fold_others(const struct exit_batch *batch)
{
	uint64_t n = 0;

	for (size_t i = 0; i < batch->n; i++)
		n += batch->records[i].others ? batch->records[i].counters.members : 0;
	return n;
}
