/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/moment.h"
#include "history/schema.h"

struct delay_fix {
	struct task *task; /* a reference */
	struct counters dropped;
};

/* Sets how a task ended. */
static void end_task(struct rebuild *rebuild, struct archive *archive, struct element *element,
		     sqlite3_stmt *row, bool *bad)
{
	struct task *task = element->raw.task;
	int64_t how = archive_int(row, 3, 0, INT64_MAX, 0, bad);

	(void)rebuild;
	element->raw.exited = true;
	task->status = (uint32_t)archive_int(row, 1, 0, UINT32_MAX, 0, bad);
	task->reaper = (pid_t)archive_int(row, 4, 0, INT32_MAX, 0, bad);
	task->mixed = archive_int(row, 5, 0, 1, 0, bad);
	set_task_text(&task->ended, rebuild_text(archive, how, bad));
}

/* Takes an element that left: what its task was when it lived, if it did. */
static void read_leaver(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			bool *bad)
{
	struct version *version =
		rebuild_version(rebuild, archive, archive_int(row, 0, 1, INT64_MAX, 0, bad), bad);
	const struct element *living;
	struct element *left;

	if (!version || rebuild->nleft >= ELEMENTS_MAX) {
		*bad = true;
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
	left->read_ns =
		rebuild->begin_ns + (uint64_t)archive_int(row, 6, INT64_MIN, INT64_MAX, 0, bad);
	left->raw.counters.members = (unsigned)archive_int(row, 2, 0, INT32_MAX, 1, bad);
	end_task(rebuild, archive, left, row, bad);
}

/* Reads who left and who has gone. */
int rebuild_read_ends(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_ENDED, number);
	bool bad = false;
	int got;

	while ((got = archive_row(archive, rows)) == 1 && !bad)
		if (!archive_null(rows, 6))
			read_leaver(rebuild, archive, rows, &bad);
	sqlite3_reset(rows);
	rows = archive_ask(archive, QUERY_GONE, number);
	while (!got && !bad && (got = archive_row(archive, rows)) == 1) {
		int64_t id = archive_int(rows, 0, 1, INT64_MAX, 0, &bad);
		struct version *version = rebuild_version(rebuild, archive, id, &bad);
		struct element *element =
			version ? rebuild_living(rebuild, version->tgid, version->pid) : NULL;

		got = 0;
		if (element && element->raw.task == version->task)
			element->gone = true;
	}
	return bad ? -EBADMSG : got < 0 ? got : 0;
}

/* Whether the counters are the same, but for the life. */
static bool stands_alike(const struct counters *a, const struct counters *b)
{
	return a->valid == b->valid && a->members == b->members && a->run_ns == b->run_ns &&
	       a->user_ns == b->user_ns && a->system_ns == b->system_ns;
}

/* Reads counters that are as they are. */
void rebuild_stand(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	int64_t id = archive_int(row, 0, 1, INT64_MAX, 0, bad);
	struct version *version = rebuild_version(rebuild, archive, id, bad);
	struct element *element;
	struct counters before;
	struct task_raw *raw;

	if (!version || rebuild->n >= ELEMENTS_MAX) {
		*bad = true;
		return;
	}
	element = version->left ? &rebuild->left[version->at] : NULL;
	if (!element) {
		element = rebuild_living(rebuild, version->tgid, version->pid);
		if (!element || element->raw.task != version->task)
			element = rebuild_place(rebuild, version);
	}
	raw = &element->raw;
	element->version = id;
	element->met = element->fresh = element->whole = true;
	if (element->trace)
		element->trace->standing = false;
	before = raw->counters;
	raw->counters = (struct counters){
		.valid = (uint32_t)archive_int(row, 1, 0, UINT32_MAX, 0, bad),
		.members = (unsigned)archive_int(row, 2, 0, INT32_MAX, 1, bad),
		.run_ns = archive_uint(row, 6, 0, bad),
		.user_ns = archive_uint(row, 7, 0, bad),
		.system_ns = archive_uint(row, 8, 0, bad),
		.life_ns = archive_uint(row, 9, 0, bad),
	};
	element->alike = stands_alike(&raw->counters, &before);
	raw->single = archive_int(row, 3, 0, 1, 0, bad);
	raw->now = (struct task_now){ .exact = archive_int(row, 4, 0, 1, 0, bad) };
	raw->was = (pid_t)archive_int(row, 5, -1, INT32_MAX, 0, bad);
}

/* Adds a total of a kind. */
static void take_total(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);

	if (!element || kind >= DELAY_KINDS)
		return;
	element->raw.counters.delay[kind].ns = archive_uint(row, 2, 0, bad);
	element->raw.counters.delay[kind].count = archive_uint(row, 3, 0, bad);
}

/* Adds what a task did to its counters, and what it waited for a CPU, where that stands beside. */
static void take_activity(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			  bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t drift_ns = archive_int(row, 4, INT64_MIN, INT64_MAX, 0, bad);
	struct task_raw *raw;
	const unsigned char *state;

	if (!element)
		return;
	raw = &element->raw;
	/*
	 * Where the sample has all tasks as they are, some of them did nothing: a source that knows
	 * did not read them again.
	 */
	element->fresh =
		!element->alike || !archive_null(row, 1) || element->read_ns >= rebuild->begin_ns;
	if (!element->whole) {
		raw->counters.run_ns += archive_uint(row, 1, 0, bad);
		raw->counters.user_ns += archive_uint(row, 2, 0, bad);
		raw->counters.system_ns += archive_uint(row, 3, 0, bad);
		raw->counters.life_ns += (uint64_t)drift_ns;
		raw->counters.delay[DELAY_CPU].ns += archive_uint(row, 7, 0, bad);
		raw->counters.delay[DELAY_CPU].count += archive_uint(row, 8, 0, bad);
	}
	element->drifted = element->whole && archive->version >= 4;
	element->drift_ns = drift_ns;
	state = archive_null(row, 5) ? NULL : sqlite3_column_text(row, 5);
	raw->now.state = state ? (char)*state : '\0';
	raw->now.threads = (uint32_t)archive_int(row, 6, 0, UINT32_MAX, 0, bad);
}

/* Adds what a task waited to its counters. */
static void take_wait(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		      bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	uint64_t waited = archive_uint(row, 2, 0, bad);
	uint64_t booked = waited + (uint64_t)archive_int(row, 4, INT64_MIN, INT64_MAX, 0, bad);

	if (!element || kind > WAIT_DWAIT)
		return;
	if (kind == WAIT_DWAIT) {
		element->raw.now.waits.dwait_ns = booked;
	} else if (!element->whole) {
		element->raw.counters.delay[kind].ns += booked;
		element->raw.counters.delay[kind].count += archive_uint(row, 3, 0, bad);
	}
}

/* Sets waits in progress. */
static void take_waiting(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			 bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	uint32_t threads = (uint32_t)archive_int(row, 2, 0, UINT32_MAX, 0, bad);
	struct task_waits *waits;
	unsigned seen = kind == DELAY_CPU     ? SEEN_CPU
			: kind == DELAY_BLKIO ? SEEN_BLKIO
			: kind == WAIT_DWAIT  ? SEEN_DWAIT
					      : WAITS_SEEN;

	if (!element || seen == WAITS_SEEN)
		return;
	waits = &element->raw.now.waits;
	waits->first_ns = (uint64_t)archive_int(row, 3, INT64_MIN, INT64_MAX, 0, bad);
	waits->threads[seen] = threads;
	waits->began_ns[seen] =
		(uint64_t)archive_int(row, 4, INT64_MIN, INT64_MAX, (int64_t)waits->first_ns, bad);
	if (!threads)
		waits->first_ns = waits->began_ns[seen] = 0;
}

/* Sets children's times. */
static void take_children(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			  bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);

	if (!element)
		return;
	element->raw.children.user_ns = archive_uint(row, 1, 0, bad);
	element->raw.children.system_ns = archive_uint(row, 2, 0, bad);
}

/* Notes impossible delays: frames so far have found them by themselves. */
static void take_impossible(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			    bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	struct delay_fix *fix = rebuild->nfixes ? &rebuild->fixes[rebuild->nfixes - 1] : NULL;

	if (!element || kind >= DELAY_KINDS)
		return;
	if (!fix || fix->task != element->raw.task) {
		rebuild->fixes =
			xreallocarray(rebuild->fixes, rebuild->nfixes + 1, sizeof(*rebuild->fixes));
		fix = &rebuild->fixes[rebuild->nfixes++];
		*fix = (struct delay_fix){ .task = task_ref(element->raw.task) };
	}
	fix->dropped.delay[kind].ns = archive_uint(row, 2, 0, bad);
	fix->dropped.delay[kind].count = archive_uint(row, 3, 0, bad);
}

/* Makes noted impossible delays count. */
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

/* Sets a bit or clears it. */
static void set_bit(uint32_t *bits, uint32_t bit, bool on)
{
	*bits = on ? *bits | bit : *bits & ~bit;
}

/* Sets a field of a record. */
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

/* Sets what was read of files. */
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
static void take_field(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	int64_t field = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	bool known = !archive_null(row, 2);
	uint64_t value = (uint64_t)archive_int(row, 2, INT64_MIN, INT64_MAX, 0, bad);
	unsigned of = (unsigned)(field / 64), number = (unsigned)(field % 64);

	if (!element || field >= SCHEMA_FIELD_OF(FIELD_KINDS, 0))
		return;
	if (of <= FIELD_STAMP) {
		if (!element->record)
			element->record = xcalloc(1, sizeof(*element->record));
		set_record(element->record, of, number, known, value);
	} else {
		if (!element->proc)
			element->proc = xcalloc(1, sizeof(*element->proc));
		set_proc(element->proc, of, known, value);
	}
}

/* A row's living element that ended without leaving. */
static void read_end(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	struct element *element;

	if (!archive_null(row, 6))
		return;
	element = rebuild_element(rebuild, archive, row, bad);
	if (element)
		end_task(rebuild, archive, element, row, bad);
}

/* Forgets waits of those whose waits are others now: their rows say what they are. */
void rebuild_clear_waiting(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			   bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);

	if (element)
		element->raw.now.waits =
			(struct task_waits){ .dwait_ns = element->raw.now.waits.dwait_ns };
}

int rebuild_read_rows(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	static const struct {
		enum archive_query query;
		rebuild_row_taker *take;
	} tables[] = {
		{ QUERY_TOTAL, take_total },	       { QUERY_ACTIVITY, take_activity },
		{ QUERY_OTHER_WAIT, take_wait },       { QUERY_WAITING, take_waiting },
		{ QUERY_CHILDREN, take_children },     { QUERY_ENDED, read_end },
		{ QUERY_IMPOSSIBLE, take_impossible }, { QUERY_FIELD, take_field },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !err; i++)
		err = rebuild_each_row(rebuild, archive, tables[i].query, number, tables[i].take);
	return err;
}
