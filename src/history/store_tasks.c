/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/wait.h>

#include "base/util.h"
#include "history/store_parts.h"
#include "history/store_tables.h"

/* Whether bytes are valid UTF-8 without a NUL, which any reader can show as a text. */
static bool is_utf8(const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + len;

	while (at < end) {
		unsigned more = *at < 0x80 ? 0 : *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
		uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
		uint32_t code = more == 3 ? *at & 7 : more == 2 ? *at & 15 : *at & 31;

		if (!*at || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || end - at <= more)
			return false;
		at++;
		for (unsigned i = 0; i < more; i++, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*at & 63);
		}
		if (more && (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
			return false;
	}
	return true;
}

/* Writes new texts. */
void store_put_texts(struct store *store, const struct moment *moment)
{
	const char *first = moment_part(moment, PART_TEXTS), *at = first;
	const char *end = at + moment->bytes[PART_TEXTS];

	while (at < end) {
		const struct moment_text *text = (const void *)at;
		const char *bytes = at + sizeof(*text);

		store_begin(store, PUT_TEXT);
		store_int(store, text->id);
		store_chars(store, bytes, text->len, !is_utf8(bytes, text->len));
		store_end(store);
		at = bytes + text->len;
		at += -(at - first) & 7;
	}
}

/* Writes new tasks, and what tasks have become. */
void store_put_tasks(struct store *store, const struct moment *moment)
{
	const struct moment_task *tasks = moment_part(moment, PART_TASKS);

	for (size_t i = 0; i < moment->bytes[PART_TASKS] / sizeof(*tasks); i++) {
		const struct moment_task *task = &tasks[i];

		store_begin(store, PUT_TASK);
		store_int(store, task->id);
		store_int(store, task->first);
		store_int(store, task->tgid);
		store_int(store, task->pid);
		store_int(store, task->ppid);
		store_int(store, task->uid);
		store_id(store, task->user);
		store_id(store, task->comm);
		store_id(store, task->command);
		store_id(store, task->cgroup);
		store_int(store, (int64_t)task->start_ns);
		store_known(store, task->latest_ns != task->start_ns, task->latest_ns);
		store_known(store, task->lo_ns != task->start_ns, task->lo_ns);
		store_known(store, task->hi_ns != task->start_ns, task->hi_ns);
		store_end(store);
	}
}

/* Whether a change tells what was done in the interval, and not only how the task stands. */
static bool tells_interval(const struct moment_change *change)
{
	return change->flags & CHANGE_ROW || !(change->flags & CHANGE_WHOLE);
}

/* Whether what a task waited for a CPU is told beside what it did: all of it was booked. */
static bool is_beside(const struct moment_change *change)
{
	const struct delay_sum *booked = &change->grown.delay[DELAY_CPU];
	uint64_t waited = change->waited.ns[DELAY_CPU];

	_Static_assert(DELAY_CPU == 0, "the view wait has its number");
	return tells_interval(change) && change->known & DELAY_BIT(DELAY_CPU) &&
	       change->raw.counters.valid & DELAY_COUNT_BIT(DELAY_CPU) && booked->ns == waited &&
	       (waited || booked->count);
}

/* Writes what a task did in the interval. */
static void put_activity(struct store *store, const struct moment_change *change)
{
	const struct task_raw *raw = &change->raw;
	bool done = tells_interval(change), beside = is_beside(change);

	store_begin_task(store, PUT_ACTIVITY, change->task);
	store_known(store, done && raw->counters.valid & VALID_RUN, change->grown.run_ns);
	store_known(store, done && raw->counters.valid & VALID_TICK, change->grown.user_ns);
	store_known(store, done && raw->counters.valid & VALID_TICK, change->grown.system_ns);
	store_int(store, change->drift_ns);
	store_letter(store, raw->now.state);
	store_known(store, raw->now.threads, raw->now.threads);
	store_known(store, beside, change->waited.ns[DELAY_CPU]);
	store_known(store, beside, change->grown.delay[DELAY_CPU].count);
	store_end(store);
}

/*
 * Writes what else a task waited in the interval. What was booked beyond what was waited is
 * `ahead`; of `dwait`, which is never booked, what was added up beyond what the interval had room
 * for.
 */
static void put_waits(struct store *store, const struct moment_change *change)
{
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		bool dwait = kind == WAIT_DWAIT;
		bool known = change->known & (dwait ? VALID_DWAIT : DELAY_BIT(kind));
		uint64_t waited = known ? change->waited.ns[kind] : 0;
		uint64_t booked =
			dwait ? change->raw.now.waits.dwait_ns : change->grown.delay[kind].ns;
		uint64_t waits = dwait ? 0 : change->grown.delay[kind].count;
		bool counted = !dwait && change->raw.counters.valid & DELAY_COUNT_BIT(kind);

		if (!waited && !booked && !waits)
			continue;
		/* What the task brought along is in its totals. */
		if ((!tells_interval(change) && !dwait) || (kind == DELAY_CPU && is_beside(change)))
			continue;
		store_begin_task(store, PUT_OTHER_WAIT, change->task);
		store_int(store, kind);
		store_known(store, known, waited);
		store_known(store, counted || waits, waits);
		store_int(store, (int64_t)(booked - waited));
		store_end(store);
	}
}

/* Writes the waits in progress, where they are others than before. */
static void put_in_progress(struct store *store, const struct moment_change *change)
{
	static const unsigned kind_of[WAITS_SEEN] = {
		[SEEN_CPU] = DELAY_CPU, [SEEN_BLKIO] = DELAY_BLKIO, [SEEN_DWAIT] = WAIT_DWAIT
	};
	const struct task_waits *waits = &change->raw.now.waits;

	for (unsigned seen = 0; seen < WAITS_SEEN && change->flags & CHANGE_WAITS; seen++) {
		/* A row without threads says that none waits any more. */
		if (!waits->threads[seen] && (waits_all(waits) || seen != SEEN_CPU))
			continue;
		store_begin_task(store, PUT_WAITING, change->task);
		store_int(store, kind_of[seen]);
		store_int(store, waits->threads[seen]);
		store_int(store, (int64_t)waits->first_ns);
		store_known(store,
			    waits->threads[seen] != 1 || waits->began_ns[seen] != waits->first_ns,
			    waits->began_ns[seen]);
		store_end(store);
	}
}

/* Writes a task's counters as they are. */
static void put_standing(struct store *store, const struct moment_change *change)
{
	const struct task_raw *raw = &change->raw;
	const struct counters *counters = &raw->counters;

	store_begin_task(store, PUT_STANDING, change->task);
	store_int(store, counters->valid);
	store_int(store, counters->members);
	store_int(store, raw->single);
	store_int(store, raw->now.exact);
	store_known(store, raw->was, (uint64_t)(int64_t)raw->was);
	store_int(store, (int64_t)counters->run_ns);
	store_int(store, (int64_t)counters->user_ns);
	store_int(store, (int64_t)counters->system_ns);
	store_int(store, (int64_t)counters->life_ns);
	store_end(store);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *sum = &counters->delay[kind];

		if (!sum->count && !sum->ns)
			continue;
		store_begin_task(store, PUT_TOTAL, change->task);
		store_int(store, kind);
		store_int(store, (int64_t)sum->ns);
		store_int(store, (int64_t)sum->count);
		store_end(store);
	}
}

/* Writes how a task ended. */
static void put_end(struct store *store, const struct moment *moment,
		    const struct moment_change *change)
{
	int status = (int)change->status;
	bool left = change->flags & CHANGE_LEFT;

	store_begin_task(store, PUT_ENDED, change->task);
	store_int(store, change->status);
	store_known(store, !WIFSIGNALED(status), (uint64_t)WEXITSTATUS(status));
	store_known(store, WIFSIGNALED(status), (uint64_t)WTERMSIG(status));
	store_int(store, change->raw.counters.members);
	store_id(store, change->ended);
	store_known(store, change->reaper, (uint64_t)change->reaper);
	store_int(store, change->mixed);
	store_known(store, left, change->place);
	store_known(store, left, change->raw.read_ns - moment->begin_ns);
	store_end(store);
}

/* Writes sums by kind that are not 0. */
static void put_impossible(struct store *store, const struct moment_change *change)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *sum = &change->dropped.delay[kind];

		if (!sum->count && !sum->ns)
			continue;
		store_begin_task(store, PUT_IMPOSSIBLE, change->task);
		store_int(store, kind);
		store_int(store, (int64_t)sum->ns);
		store_int(store, (int64_t)sum->count);
		store_end(store);
	}
}

/* Writes all that happened to a task. */
static void put_change(struct store *store, const struct moment *moment,
		       const struct moment_change *change)
{
	put_activity(store, change);
	put_waits(store, change);
	put_in_progress(store, change);
	if (change->flags & CHANGE_WHOLE)
		put_standing(store, change);
	if (change->flags & CHANGE_CHILDREN) {
		store_begin_task(store, PUT_CHILDREN, change->task);
		store_int(store, (int64_t)change->raw.children.user_ns);
		store_int(store, (int64_t)change->raw.children.system_ns);
		store_end(store);
	}
	if (change->raw.exited)
		put_end(store, moment, change);
	if (change->flags & CHANGE_DROPPED)
		put_impossible(store, change);
}

/* Writes what happened to tasks. */
void store_put_changes(struct store *store, const struct moment *moment)
{
	const struct moment_change *changes = moment_part(moment, PART_CHANGES);
	const struct moment_field *fields = moment_part(moment, PART_FIELDS);
	const uint32_t *gone = moment_part(moment, PART_GONE);

	for (size_t i = 0; i < moment->bytes[PART_CHANGES] / sizeof(*changes); i++)
		put_change(store, moment, &changes[i]);
	for (size_t i = 0; i < moment->bytes[PART_FIELDS] / sizeof(*fields); i++) {
		store_begin_task(store, PUT_FIELD, fields[i].task);
		store_int(store, STORE_FIELD_OF(fields[i].of, fields[i].number));
		store_known(store, fields[i].known, fields[i].value);
		store_end(store);
	}
	for (size_t i = 0; i < moment->bytes[PART_GONE] / sizeof(*gone); i++) {
		store_begin_task(store, PUT_GONE, gone[i]);
		store_end(store);
	}
}
