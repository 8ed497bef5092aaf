/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/rows.h"
#include "history/schema.h"

/* Files from this version on have each task's drift_ns also in whole samples. */
#define DRIFT_SINCE 4

struct delay_fix {
	struct task *task; /* a reference */
	struct counters dropped;
};

/* Sets how a task ended. */
static void end_task(struct rebuild *rebuild, struct element *element, const struct ended_row *row)
{
	struct task *task = element->raw.task;

	element->raw.exited = true;
	task->status = row->status;
	task->reaper = row->reaper;
	task->mixed = row->mixed;
	rebuild_set_text(&task->ended, rebuild_text(rebuild, row->how));
}

/* Adds an element that left; if its task had a living one, it takes over its figures. */
static void add_leaver(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct ended_row *row = from;
	struct version *version = row->left ? rebuild_version(rebuild, row->task) : NULL;
	const struct element *living;
	struct element *left;

	if (!version || rebuild->nleft >= ELEMENTS_MAX) {
		rebuild->archive->bad |= row->left;
		return;
	}
	living = rebuild_living(rebuild, version->tgid, version->pid);
	left = rebuild_add_leaver(rebuild, version);
	if (living && living->raw.task == version->task) {
		struct task *task = left->raw.task;

		left->raw = living->raw;
		left->raw.task = task;
		rebuild_leave_trace(left, living);
	}
	left->raw.now.waits = (struct task_waits){ 0 };
	left->raw.was = 0;
	left->read_ns = rebuild->begin_ns + (uint64_t)row->left_ns;
	left->raw.counters.members = row->members;
	end_task(rebuild, left, row);
}

/* Marks the element of a task that the sample does not have any more. */
static void mark_gone(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_gone *row = from;
	struct version *version = rebuild_version(rebuild, row->task);
	struct element *element =
		version ? rebuild_living(rebuild, version->tgid, version->pid) : NULL;

	if (element && element->raw.task == version->task)
		element->gone = true;
}

int rebuild_read_ends(struct rebuild *rebuild, int64_t number)
{
	static const struct archive_reader readers[] = {
		{ TABLE_ENDED, add_leaver },
		{ TABLE_GONE, mark_gone },
	};

	return archive_each_of(rebuild->archive, readers, ARRAY_SIZE(readers), number, rebuild);
}

/* Sets an element's counters, which are written in full. */
static void set_standing(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct standing_row *row = from;
	struct version *version = rebuild_version(rebuild, row->task);
	struct element *element;
	struct counters before;
	struct task_raw *raw;

	if (!version || rebuild->n >= ELEMENTS_MAX) {
		rebuild->archive->bad = true;
		return;
	}
	element = version->left ? &rebuild->left[version->at] : NULL;
	if (!element) {
		element = rebuild_living(rebuild, version->tgid, version->pid);
		if (!element || element->raw.task != version->task)
			element = rebuild_place(rebuild, version);
	}
	raw = &element->raw;
	element->version = row->task;
	element->met = element->fresh = element->whole = true;
	if (element->trace)
		element->trace->standing = false;
	before = raw->counters;
	raw->counters = (struct counters){
		.valid = row->valid,
		.members = row->members,
		.run_ns = row->run_ns,
		.user_ns = row->user_ns,
		.system_ns = row->system_ns,
		.life_ns = row->life_ns,
	};
	element->alike = counters_alike(&raw->counters, &before);
	raw->single = row->single;
	raw->now = (struct task_now){ .exact = row->exact };
	raw->was = row->was;
}

int rebuild_read_standing(struct rebuild *rebuild, int64_t number)
{
	return archive_each(rebuild->archive, TABLE_STANDING, number, set_standing, rebuild);
}

/* Sets the total of a kind, whose row belongs to one in `standing`. */
static void add_total(void *arg, const void *from)
{
	const struct sum_row *row = from;
	struct element *element = rebuild_element(arg, row->task);

	if (element && row->kind < DELAY_KINDS)
		element->raw.counters.delay[row->kind] = row->sum;
}

/* Adds to a task's counters what it did, and what it waited for a CPU if the row has that. */
static void add_activity(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct activity_row *row = from;
	struct element *element = rebuild_element(rebuild, row->task);
	struct counters *counters;

	if (!element)
		return;
	/* In a whole sample some tasks did nothing: a source that knows did not read them again. */
	element->fresh = !element->alike || row->ran || element->read_ns >= rebuild->begin_ns;
	if (!element->whole) {
		counters = &element->raw.counters;
		counters->run_ns += row->run_ns;
		counters->user_ns += row->user_ns;
		counters->system_ns += row->system_ns;
		counters->life_ns += (uint64_t)row->drift_ns;
		counters->delay[DELAY_CPU].ns += row->cpu.ns;
		counters->delay[DELAY_CPU].count += row->cpu.count;
	}
	element->drifted = element->whole && rebuild->archive->version >= DRIFT_SINCE;
	element->drift_ns = row->drift_ns;
	element->raw.now.state = row->state;
	element->raw.now.threads = row->threads;
}

/* Adds to a task's counters what it waited. */
static void add_wait(void *arg, const void *from)
{
	const struct wait_row *row = from;
	struct element *element = rebuild_element(arg, row->task);
	uint64_t booked = row->waited_ns + (uint64_t)row->ahead_ns;

	if (!element || row->kind > WAIT_DWAIT)
		return;
	if (row->kind == WAIT_DWAIT) {
		element->raw.now.waits.dwait_ns = booked;
	} else if (!element->whole) {
		element->raw.counters.delay[row->kind].ns += booked;
		element->raw.counters.delay[row->kind].count += row->waits;
	}
}

/* Clears a task's waits in progress, which changed: its rows have all of them. */
static void clear_waiting(void *arg, const void *from)
{
	const struct waiting_row *row = from;
	struct element *element = rebuild_element(arg, row->task);

	if (element)
		element->raw.now.waits =
			(struct task_waits){ .dwait_ns = element->raw.now.waits.dwait_ns };
}

/* Sets a task's waits in progress of one kind. */
static void set_in_progress(void *arg, const void *from)
{
	const struct waiting_row *row = from;
	struct element *element = rebuild_element(arg, row->task);
	struct task_waits *waits;
	unsigned seen = row->kind == DELAY_CPU	   ? SEEN_CPU
			: row->kind == DELAY_BLKIO ? SEEN_BLKIO
			: row->kind == WAIT_DWAIT  ? SEEN_DWAIT
						   : WAITS_SEEN;

	if (!element || seen == WAITS_SEEN)
		return;
	waits = &element->raw.now.waits;
	waits->threads[seen] = row->threads;
	waits->first_ns = row->threads ? (uint64_t)row->first_ns : 0;
	waits->began_ns[seen] =
		row->threads && row->began ? (uint64_t)row->began_ns : waits->first_ns;
}

/* Sets children's times. */
static void set_children(void *arg, const void *from)
{
	const struct children_row *row = from;
	struct element *element = rebuild_element(arg, row->task);

	if (!element)
		return;
	element->raw.children.user_ns = row->user_ns;
	element->raw.children.system_ns = row->system_ns;
}

/* Sets how a living element ended that did not leave: a zombie. */
static void set_ended(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct ended_row *row = from;
	struct element *element = row->left ? NULL : rebuild_element(rebuild, row->task);

	if (element)
		end_task(rebuild, element, row);
}

/*
 * Notes impossible delays. They apply from the next sample on: the frame of this one finds them
 * itself.
 */
static void note_impossible(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct sum_row *row = from;
	struct element *element = rebuild_element(rebuild, row->task);
	struct delay_fix *fix = rebuild->nfixes ? &rebuild->fixes[rebuild->nfixes - 1] : NULL;

	if (!element || row->kind >= DELAY_KINDS)
		return;
	if (!fix || fix->task != element->raw.task) {
		rebuild->fixes =
			xreallocarray(rebuild->fixes, rebuild->nfixes + 1, sizeof(*rebuild->fixes));
		fix = &rebuild->fixes[rebuild->nfixes++];
		*fix = (struct delay_fix){ .task = task_ref(element->raw.task) };
	}
	fix->dropped.delay[row->kind] = row->sum;
}

void rebuild_apply_fixes(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nfixes; i++) {
		struct task *task = rebuild->fixes[i].task;

		if (!task->dropped)
			task->dropped = xcalloc(1, sizeof(*task->dropped));
		*task->dropped = rebuild->fixes[i].dropped;
		task_unref(task);
	}
	rebuild->nfixes = 0;
}

/*
 * Adds the pressure of a task's group: of several samples the sums. Where some had none, the time
 * outside of it is more, and nothing limits what was waited then.
 */
static void add_bound(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_bound *row = from;
	struct element *element = rebuild_element(rebuild, row->task);

	if (!element)
		return;
	element->io.stalled_ns += row->io.stalled_ns;
	element->io.passed_ns += row->io.passed_ns;
	element->io.until_ns = rebuild->begin_ns + row->io.until_ns;
}

/* Sets a bit or clears it. */
static void set_bit(uint32_t *bits, uint32_t bit, bool on)
{
	*bits = on ? *bits | bit : *bits & ~bit;
}

/* Sets a field of a record, or a range or stamp of a kind. */
static void set_record(struct task_record *record, unsigned of, unsigned number, bool known,
		       uint64_t value)
{
	uint32_t bit = DELAY_BIT(number % DELAY_KINDS);

	if (of == FIELD_RECORD && number < RECORD_FIELDS) {
		record->field[number] = value;
		record->fields_valid = known ? record->fields_valid | RECORD_BIT(number)
					     : record->fields_valid & ~RECORD_BIT(number);
	}
	if (of == FIELD_RECORD || number >= DELAY_KINDS)
		return;
	if (of == FIELD_MAX)
		record->max[number] = value;
	if (of == FIELD_MIN)
		record->min[number] = value;
	if (of == FIELD_STAMP)
		record->stamp[number] = value;
	set_bit(of == FIELD_STAMP ? &record->stamp_valid : &record->range_valid, bit, known);
}

/* Sets what was read of a task's files. */
static void set_proc(struct task_proc *proc, unsigned of, bool known, uint64_t value)
{
	switch (of) {
	case FIELD_READ:
		proc->io.read = value;
		break;
	case FIELD_WRITTEN:
		proc->io.written = value;
		break;
	case FIELD_CANCELLED:
		proc->io.cancelled = value;
		break;
	case FIELD_WHOLE:
		proc->io_whole = value;
		break;
	case FIELD_CHILDREN_USER:
		proc->children.user_ns = value;
		break;
	default:
		proc->children.system_ns = value;
	}
	if (of >= FIELD_CHILDREN_USER)
		proc->children_valid = known;
	else
		proc->io_valid = known;
}

/* Sets what was read on demand. */
static void set_on_demand(void *arg, const void *from)
{
	const struct moment_field *row = from;
	struct element *element = rebuild_element(arg, row->task);
	unsigned of = row->field / 64, number = row->field % 64;

	if (!element || row->field >= SCHEMA_FIELD_OF(FIELD_KINDS, 0))
		return;
	if (of <= FIELD_STAMP) {
		if (!element->record)
			element->record = xcalloc(1, sizeof(*element->record));
		set_record(element->record, of, number, row->known, (uint64_t)row->value);
	} else {
		if (!element->proc)
			element->proc = xcalloc(1, sizeof(*element->proc));
		set_proc(element->proc, of, row->known, (uint64_t)row->value);
	}
}

int rebuild_read_rows(struct rebuild *rebuild, int64_t number)
{
	static const struct archive_reader readers[] = {
		{ TABLE_WAITING, clear_waiting },   { TABLE_TOTAL, add_total },
		{ TABLE_ACTIVITY, add_activity },   { TABLE_OTHER_WAIT, add_wait },
		{ TABLE_WAITING, set_in_progress }, { TABLE_CHILDREN, set_children },
		{ TABLE_ENDED, set_ended },	    { TABLE_IMPOSSIBLE, note_impossible },
		{ TABLE_FIELD, set_on_demand },	    { TABLE_IO_BOUND, add_bound },
	};

	return archive_each_of(rebuild->archive, readers, ARRAY_SIZE(readers), number, rebuild);
}
