/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a moment as rows of tables. */
#include "config.h"

#include <sys/wait.h>

#include "base/util.h"
#include "history/rows.h"
#include "history/store_parts.h"
#include "model/notes.h"

/* A part each of whose elements is a row of a table. */
struct part_rows {
	enum moment_part part;
	enum table_id table;
	size_t size;
};

/* Writes the elements of a part. */
static void put_part(struct store *store, const struct moment *moment, const struct part_rows *of)
{
	const char *at = moment_part(moment, of->part), *end = at + moment->bytes[of->part];

	for (; at < end; at += of->size)
		store_put_row(store, of->table, at);
}

/* Writes new texts. */
static void put_texts(struct store *store, const struct moment *moment)
{
	const char *first = moment_part(moment, PART_TEXTS), *at = first;
	const char *end = at + moment->bytes[PART_TEXTS];

	while (at < end) {
		const struct moment_text *text = (const void *)at;
		const char *bytes = at + sizeof(*text);
		const struct text_row row = { text->id, { bytes, text->len } };

		store_put_row(store, TABLE_TEXT, &row);
		at = bytes + text->len;
		at += -(at - first) & 7;
	}
}

/* Writes the sample's own row, and how many samples are missing before it. */
static void put_sample_row(struct store *store, const struct moment *moment)
{
	const struct gap_row gap = { moment->dropped };
	struct moment_sample row = moment->sample;

	row.number = store->sample;
	row.reads =
		(struct row_bytes){ moment_part(moment, PART_READS), moment->bytes[PART_READS] };
	store_put_row(store, TABLE_SAMPLE, &row);
	if (moment->dropped)
		store_put_row(store, TABLE_GAP, &gap);
}

/* Writes the error of a file that could not be read. */
static void put_file_error(struct store *store, const char *file, int error)
{
	const struct file_error_row row = { file, error };

	if (error)
		store_put_row(store, TABLE_FILE_ERROR, &row);
}

/* Writes lines of pressure; which: bits of 2 * resource, + 1 for full. */
static void put_psi_lines(struct store *store, enum table_id table, struct pressure_row row,
			  const struct psi psi[PSI_RESOURCES], uint32_t lines)
{
	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		row.resource = i / 2;
		row.full = i % 2;
		row.line = row.full ? psi[i / 2].full : psi[i / 2].some;
		if (lines & 1u << i)
			store_put_row(store, table, &row);
	}
}

/* Writes what was read of the machine: errors of files, and pressure that changed. */
static void put_machine(struct store *store, const struct moment *moment)
{
	const struct psi_reading *pressure = moment_pressure(moment);

	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		put_file_error(store, psi_names[r], pressure->error[r]);
	for (unsigned f = 0; f < SYSTEM_FILES; f++)
		put_file_error(store, system_file_names[f], moment->sample.system.file_error[f]);
	put_psi_lines(store, TABLE_PRESSURE, (struct pressure_row){ 0 }, pressure->psi,
		      moment->psi_new);
}

/* Writes notes, how the machine's time was spent, and the clocks if they changed. */
static void put_head(struct store *store, const struct moment *moment)
{
	const struct frame_head *head = &moment->sample.head;
	const struct clock_sleep *sleeps = moment_part(moment, PART_SLEEPS);

	for (size_t i = 0; i < head->nnotes; i++) {
		const struct note *note = &head->notes[i];
		const struct noted_row row = { (uint32_t)i, note_table[note->id].id,
					       (int64_t)note->value, note->error };

		store_put_row(store, TABLE_NOTE, &row);
	}
	if (head->account.valid || head->account.recovered_valid)
		store_put_row(store, TABLE_ACCOUNT, &head->account);
	for (size_t i = 0; i < moment->bytes[PART_SLEEPS] / sizeof(*sleeps); i++) {
		const struct clock_row row = { (uint32_t)i, (int64_t)moment->clock_real_ns,
					       sleeps[i].from_ns, (int64_t)sleeps[i].ahead_ns };

		if (moment->flags & MOMENT_SLEEPS)
			store_put_row(store, TABLE_CLOCK, &row);
	}
}

/* Whether a change has figures of the interval, and not only the counters in full. */
static bool tells_interval(const struct moment_change *change)
{
	return change->flags & CHANGE_ROW || !(change->flags & CHANGE_WHOLE);
}

/* Whether a task's waits for a CPU are columns of `activity`: all that was waited was booked. */
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
	const struct counters *grown = &change->grown;
	bool done = tells_interval(change);
	const struct activity_row row = {
		.task = change->task,
		.ran = done && raw->counters.valid & VALID_RUN,
		.ticked = done && raw->counters.valid & VALID_TICK,
		.run_ns = grown->run_ns,
		.user_ns = grown->user_ns,
		.system_ns = grown->system_ns,
		.drift_ns = change->drift_ns,
		.state = raw->now.state,
		.threads = raw->now.threads,
		.waited = is_beside(change),
		.cpu = grown->delay[DELAY_CPU],
	};

	store_put_row(store, TABLE_ACTIVITY, &row);
}

/*
 * Writes a task's other waits in the interval. `ahead` is what was booked minus what was waited; of
 * `dwait`, which is never booked: what was added up minus what fits into the interval.
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
		struct wait_row row;

		if (!waited && !booked && !waits)
			continue;
		/* What it waited before is in its totals. */
		if ((!tells_interval(change) && !dwait) || (kind == DELAY_CPU && is_beside(change)))
			continue;
		row = (struct wait_row){ change->task,
					 kind,
					 known,
					 counted || waits,
					 waited,
					 waits,
					 (int64_t)(booked - waited) };
		store_put_row(store, TABLE_OTHER_WAIT, &row);
	}
}

/* Writes the waits in progress if they changed. */
static void put_in_progress(struct store *store, const struct moment_change *change)
{
	static const unsigned kind_of[WAITS_SEEN] = {
		[SEEN_CPU] = DELAY_CPU, [SEEN_BLKIO] = DELAY_BLKIO, [SEEN_DWAIT] = WAIT_DWAIT
	};
	const struct task_waits *waits = &change->raw.now.waits;

	for (unsigned seen = 0; seen < WAITS_SEEN && change->flags & CHANGE_WAITS; seen++) {
		const struct waiting_row row = {
			.task = change->task,
			.kind = kind_of[seen],
			.threads = waits->threads[seen],
			.first_ns = (int64_t)waits->first_ns,
			.began_ns = (int64_t)waits->began_ns[seen],
			.began = waits->threads[seen] != 1 ||
				 waits->began_ns[seen] != waits->first_ns,
		};

		/* A row with 0 threads says that none waits any more. */
		if (waits->threads[seen] || (!waits_all(waits) && seen == SEEN_CPU))
			store_put_row(store, TABLE_WAITING, &row);
	}
}

/* Writes sums by kind that are not 0. */
static void put_sums(struct store *store, enum table_id table, uint32_t task,
		     const struct delay_sum sums[DELAY_KINDS])
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct sum_row row = { task, kind, sums[kind] };

		if (sums[kind].count || sums[kind].ns)
			store_put_row(store, table, &row);
	}
}

/* Writes a task's counters in full. */
static void put_standing(struct store *store, const struct moment_change *change)
{
	const struct task_raw *raw = &change->raw;
	const struct counters *counters = &raw->counters;
	const struct standing_row row = {
		.task = change->task,
		.valid = counters->valid,
		.members = counters->members,
		.single = raw->single,
		.exact = raw->now.exact,
		.was = raw->was,
		.run_ns = counters->run_ns,
		.user_ns = counters->user_ns,
		.system_ns = counters->system_ns,
		.life_ns = counters->life_ns,
	};

	store_put_row(store, TABLE_STANDING, &row);
	put_sums(store, TABLE_TOTAL, change->task, counters->delay);
}

/* Writes how a task ended. */
static void put_end(struct store *store, const struct moment *moment,
		    const struct moment_change *change)
{
	int status = (int)change->status;
	const struct ended_row row = {
		.task = change->task,
		.status = change->status,
		.exit_code = (unsigned)WEXITSTATUS(status),
		.signal = (unsigned)WTERMSIG(status),
		.exited = !WIFSIGNALED(status),
		.signalled = WIFSIGNALED(status),
		.members = change->raw.counters.members,
		.how = change->ended,
		.reaper = change->reaper,
		.mixed = change->mixed,
		.left = change->flags & CHANGE_LEFT,
		.place = change->place,
		.left_ns = (int64_t)(change->raw.read_ns - moment->sample.begin_ns),
	};

	store_put_row(store, TABLE_ENDED, &row);
}

/* Writes all that happened to a task. */
static void put_change(struct store *store, const struct moment *moment,
		       const struct moment_change *change)
{
	const struct task_children *times = &change->raw.children;
	const struct children_row children = { change->task, times->user_ns, times->system_ns };

	put_activity(store, change);
	put_waits(store, change);
	put_in_progress(store, change);
	if (change->flags & CHANGE_WHOLE)
		put_standing(store, change);
	if (change->flags & CHANGE_CHILDREN)
		store_put_row(store, TABLE_CHILDREN, &children);
	if (change->raw.exited)
		put_end(store, moment, change);
	if (change->flags & CHANGE_DROPPED)
		put_sums(store, TABLE_IMPOSSIBLE, change->task, change->dropped.delay);
}

/* Writes the pressure of groups; their other figures are rows of a part. */
static void put_group_pressures(struct store *store, const struct moment *moment)
{
	const struct moment_group *groups = moment_part(moment, PART_GROUPS);

	for (size_t i = 0; i < moment->bytes[PART_GROUPS] / sizeof(*groups); i++) {
		const struct cgroup_sample *sample = &groups[i].sample;

		for (unsigned r = 0; r < PSI_RESOURCES; r++)
			if (sample->have & CGROUP_BIT(r))
				put_psi_lines(
					store, TABLE_CGROUP_PRESSURE,
					(struct pressure_row){ .path = groups[i].path,
							       .read_ns = sample->read_ns[r] },
					sample->psi, 3u << 2 * r);
	}
}

void store_put_moment(struct store *store, const struct moment *moment)
{
	static const struct part_rows parts[] = {
		{ PART_TASKS, TABLE_TASK, sizeof(struct moment_task) },
		{ PART_PROCESSES, TABLE_PROCESS, sizeof(struct moment_process) },
		{ PART_SITES, TABLE_SITE, sizeof(struct moment_site) },
		{ PART_GONE, TABLE_GONE, sizeof(struct moment_gone) },
		{ PART_FIELDS, TABLE_FIELD, sizeof(struct moment_field) },
		{ PART_GROUPS, TABLE_CGROUP, sizeof(struct moment_group) },
		{ PART_EVIDENCE, TABLE_EVIDENCE, sizeof(struct moment_evidence) },
		{ PART_BOUNDS, TABLE_IO_BOUND, sizeof(struct moment_bound) },
		{ PART_STATES, TABLE_STATES, sizeof(struct moment_states) },
		{ PART_MORE, TABLE_STOOD_FOR, sizeof(struct moment_more) },
		{ PART_SITE_WAITS, TABLE_SITE_WAIT, sizeof(struct moment_site_wait) },
		{ PART_WAKERS, TABLE_SITE_WAKER, sizeof(struct moment_waker) },
		{ PART_LINKS, TABLE_SITE_LINK, sizeof(struct moment_link) },
		{ PART_RESTS, TABLE_UNEXPLAINED, sizeof(struct moment_rest) },
	};
	const struct moment_change *changes = moment_part(moment, PART_CHANGES);

	put_texts(store, moment);
	put_sample_row(store, moment);
	put_machine(store, moment);
	put_head(store, moment);
	for (size_t i = 0; i < moment->bytes[PART_CHANGES] / sizeof(*changes); i++)
		put_change(store, moment, &changes[i]);
	put_group_pressures(store, moment);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		put_part(store, moment, &parts[i]);
	if (moment->flags & MOMENT_TRACED)
		store_put_row(store, TABLE_TRACE, &moment->trace);
}
