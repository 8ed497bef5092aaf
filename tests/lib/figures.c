// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/figures.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The kernel adds a thread that exits to the ended ones before it stops counting as a living one:
 * so much may a process's sums be off while its threads exit.
 */
#define SLACK_TIME 20000000U /* in the field's ns */
#define SLACK_COUNT 200U

#define SAID_AT_MOST 10U

/* How a field may move. */
enum motion {
	GROWS,
	SHRINKS, /* once it is not 0 */
	STAYS,
	TEXT,
};

#define ADDS 1U /* a process has the sum of its parts */
#define THREADS_ONLY 2U /* the kernel has no such thing of a process */
#define NO_ENDED 4U /* nor of its ended threads */

struct field {
	const char *name;
	size_t theirs; /* in struct reader_record */
	size_t their_size;
	size_t ours; /* in struct snapshot_record */
	size_t our_size;
	uint64_t unit; /* of ours in one of theirs */
	uint64_t slack;
	enum motion motion;
	unsigned int flags;
};

#define SIZE(type, member) sizeof(((type *)0)->member)
#define PLACES(their, our) \
	offsetof(struct reader_record, their), SIZE(struct reader_record, their), \
		offsetof(struct snapshot_record, our), SIZE(struct snapshot_record, our)
#define KIND(name, i) \
	{ name " count", PLACES(kind[i].count, count[i]), 1, SLACK_COUNT, GROWS, ADDS }, \
		{ name " ns", PLACES(kind[i].ns, delay[i].ns), 1, SLACK_TIME, GROWS, ADDS }, \
		{ name " max", PLACES(kind[i].max_ns, delay[i].max), 1, 0, GROWS, THREADS_ONLY }, \
	{ \
		name " min", PLACES(kind[i].min_ns, delay[i].min), 1, 0, SHRINKS, THREADS_ONLY \
	}

static const struct field fields[] = {
	KIND("cpu", 0),
	KIND("blkio", 1),
	KIND("swapin", 2),
	KIND("reclaim", 3),
	KIND("thrash", 4),
	KIND("compact", 5),
	KIND("wpcopy", 6),
	KIND("irq", 7),
	{ "run", PLACES(run_ns, run_ns), 1, SLACK_TIME, GROWS, ADDS },
	{ "user", PLACES(utime_us, user_ns), 1000, SLACK_TIME / 1000, GROWS, ADDS | NO_ENDED },
	{ "system", PLACES(stime_us, system_ns), 1000, SLACK_TIME / 1000, GROWS, ADDS | NO_ENDED },
	{ "ppid", PLACES(ppid, ppid), 1, 0, STAYS, 0 },
	{ "uid", PLACES(uid, uid), 1, 0, STAYS, 0 },
	{ "comm", PLACES(comm, comm), 1, 0, TEXT, 0 },
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

size_t figures_fields(void)
{
	return FIELDS;
}

const char *figures_name(size_t field)
{
	return fields[field].name;
}

/* A number of 4 or 8 bytes. */
static uint64_t number_at(const void *record, size_t at, size_t size)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, (const char *)record + at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)record + at, sizeof(narrow));
	return narrow;
}

/* Their value in one of the two readings. */
static uint64_t theirs(const struct field *field, const struct figures_task *task, int reading)
{
	const struct reader_record *record =
		field->flags & ADDS ? &task->sums[reading] : &task->who[reading];

	return number_at(record, field->theirs, field->their_size);
}

/* The parts of an entry. */
struct parts {
	const struct snapshot_record *first;
	size_t n;
	bool ended; /* with a record of ended threads */
};

/* Where the entry's are. */
static struct parts parts_of(const struct snapshot_view *view, const struct snapshot_entry *entry)
{
	struct parts parts = { .first = &view->records[entry->record - 1] };

	parts.n = snapshot_parts(view, entry->record - 1);
	for (size_t i = 0; i < parts.n; i++)
		parts.ended |= parts.first[i].part == SNAPSHOT_ENDED;
	return parts;
}

/* Our value. A leader that has ended is among the ended ones. */
static uint64_t ours(const struct field *field, const struct parts *parts)
{
	uint64_t sum = 0;

	if (!(field->flags & ADDS))
		return number_at(parts->first, field->ours, field->our_size);
	for (size_t i = 0; i < parts->n; i++)
		if (i || !parts->ended || !parts->first->exit_state)
			sum += number_at(&parts->first[i], field->ours, field->our_size) /
			       field->unit;
	return sum;
}

/* Whether the field can be compared. */
static bool is_comparable(const struct figures *figures, const struct field *field,
			  const struct parts *parts)
{
	if (!figures->threads && field->flags & THREADS_ONLY)
		return false;
	return !(field->flags & NO_ENDED && parts->ended);
}

/* Whether ours lies between theirs. */
static bool is_between(const struct field *field, const struct figures_task *task,
		       const struct parts *parts)
{
	uint64_t a = theirs(field, task, 0), b = theirs(field, task, 1);
	uint64_t x = ours(field, parts), slack = task->busy && parts->ended ? field->slack : 0;
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	switch (field->motion) {
	case TEXT:
		return !strncmp((const char *)parts->first + field->ours,
				(const char *)&task->who[0] + field->theirs, field->our_size) ||
		       !strncmp((const char *)parts->first + field->ours,
				(const char *)&task->who[1] + field->theirs, field->our_size);
	case STAYS:
		return x == a || x == b;
	case SHRINKS:
		return a ? b <= x && x <= a : !x || x >= b;
	case GROWS:
		break;
	}
	return x + slack >= low && x <= high + slack;
}

/* Whether the field is 0, or empty. */
static bool is_zero(const struct field *field, const struct figures_task *task)
{
	if (field->motion == TEXT)
		return !*((const char *)&task->who[0] + field->theirs);
	return !theirs(field, task, 0);
}

/* Says what does not fit. */
static void complain(const struct field *field, const struct figures_task *task,
		     const struct parts *parts)
{
	printf("# %s of %d (%s): %ju, then %ju; the snapshot has %ju (%zu parts%s)\n", field->name,
	       (int)task->id, task->who[0].comm, (uintmax_t)theirs(field, task, 0),
	       (uintmax_t)theirs(field, task, 1), (uintmax_t)ours(field, parts), parts->n,
	       parts->ended ? ", ended ones" : "");
}

const struct snapshot_entry *figures_entry(const struct snapshot_view *view, pid_t id)
{
	for (size_t i = 0; i < view->nentries; i++)
		if (view->entries[i].pid == id)
			return &view->entries[i];
	return NULL;
}

/* Entries by id. */
struct index {
	size_t n;
	const struct snapshot_entry **of;
};

/* Makes it of a snapshot. */
static struct index make_index(const struct snapshot_view *view)
{
	struct index index = { 0 };

	for (size_t i = 0; i < view->nentries; i++)
		if ((size_t)view->entries[i].pid >= index.n)
			index.n = (size_t)view->entries[i].pid + 1;
	index.of = calloc(index.n + 1, sizeof(*index.of));
	for (size_t i = 0; i < view->nentries; i++)
		index.of[view->entries[i].pid] = &view->entries[i];
	return index;
}

/* The entry of a task, or NULL. */
static const struct snapshot_entry *entry_of(const struct index *index, pid_t id)
{
	return (size_t)id < index->n ? index->of[id] : NULL;
}

/* The parts of a task that can be compared: of a zombie process the kernel says only zeros. */
static bool find_parts(const struct figures *figures, const struct snapshot_view *view,
		       const struct snapshot_entry *entry, struct parts *parts)
{
	if (!entry || !entry->record)
		return false;
	*parts = parts_of(view, entry);
	return figures->threads || parts->ended || !parts->first->exit_state;
}

void figures_compare(const struct figures *figures, const struct snapshot_view *view,
		     struct figures_result *result)
{
	struct index index = make_index(view);
	struct parts parts;

	for (size_t i = 0; i < figures->n; i++) {
		const struct figures_task *task = &figures->tasks[i];
		const struct snapshot_entry *entry = entry_of(&index, task->id);

		if (!task->there)
			continue;
		if (!entry) {
			printf("# %d (%s) is missing\n", (int)task->id, task->who[0].comm);
			result->missing++;
		}
		if (!find_parts(figures, view, entry, &parts))
			continue;
		result->tasks++;
		result->busy += task->busy;
		for (size_t f = 0; f < FIELDS; f++) {
			if (!is_comparable(figures, &fields[f], &parts))
				continue;
			result->fields++;
			result->other_than_0 += !is_zero(&fields[f], task);
			if (!is_between(&fields[f], task, &parts) &&
			    ++result->wrong <= SAID_AT_MOST)
				complain(&fields[f], task, &parts);
		}
	}
	free(index.of);
}

bool figures_notices(const struct figures *figures, const struct snapshot_view *view, size_t field)
{
	const struct field *dropped = &fields[field];
	struct snapshot_record *copy = calloc(view->nrecords, sizeof(*copy));
	struct snapshot_view without = *view;
	struct index index = make_index(view);
	struct parts parts;
	bool noticed = false;

	memcpy(copy, view->records, view->nrecords * sizeof(*copy));
	for (size_t i = 0; i < view->nrecords; i++)
		memset((char *)&copy[i] + dropped->ours, 0, dropped->our_size);
	without.records = copy;
	for (size_t i = 0; i < figures->n && !noticed; i++) {
		const struct figures_task *task = &figures->tasks[i];

		noticed = task->there &&
			  find_parts(figures, &without, entry_of(&index, task->id), &parts) &&
			  is_comparable(figures, dropped, &parts) &&
			  !is_between(dropped, task, &parts);
	}
	free(copy);
	free(index.of);
	return noticed;
}

/* Reads a task once. False when it is not there. */
static bool read_task(const struct figures *figures, struct figures_task *task, int reading)
{
	struct reader_record *who = &task->who[reading], *sums = &task->sums[reading];

	if (reader_pid(task->id, who))
		return false;
	*sums = *who;
	return figures->threads || !reader_tgid(task->id, sums);
}

/* Adds a task, read for the first time. */
static void add_task(struct figures *figures, pid_t id)
{
	struct figures_task *task;

	figures->tasks = realloc(figures->tasks, (figures->n + 1) * sizeof(*figures->tasks));
	task = &figures->tasks[figures->n++];
	memset(task, 0, sizeof(*task));
	task->id = id;
	task->there = read_task(figures, task, 0);
}

/* Adds what is named by numbers in a folder: processes but one, or their threads. */
static void add_folder(struct figures *figures, const char *path, bool threads_of, pid_t but)
{
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char below[300];

		if (!isdigit((unsigned char)d->d_name[0]) || atoi(d->d_name) == but)
			continue;
		snprintf(below, sizeof(below), "/proc/%s/task", d->d_name);
		if (threads_of)
			add_folder(figures, below, false, 0);
		else
			add_task(figures, atoi(d->d_name));
	}
	if (dir)
		closedir(dir);
}

void figures_before(struct figures *figures, bool threads, pid_t but)
{
	*figures = (struct figures){ .threads = threads };
	add_folder(figures, "/proc", threads, but);
}

/* Whether the process became a zombie: then its sums read 0. */
static bool has_ended(const struct figures_task *task)
{
	return task->sums[1].run_ns < task->who[1].run_ns && !task->sums[1].run_ns;
}

/* Whether a field moved. */
static bool has_moved(const struct figures_task *task)
{
	for (size_t f = 0; f < FIELDS; f++)
		if (fields[f].motion != TEXT &&
		    theirs(&fields[f], task, 0) != theirs(&fields[f], task, 1))
			return true;
	return false;
}

void figures_after(struct figures *figures)
{
	for (size_t i = 0; i < figures->n; i++) {
		struct figures_task *task = &figures->tasks[i];

		task->there &= read_task(figures, task, 1) && !has_ended(task);
		task->busy = task->there && has_moved(task);
	}
}

void figures_free(struct figures *figures)
{
	free(figures->tasks);
	*figures = (struct figures){ 0 };
}
