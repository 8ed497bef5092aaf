/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/util.h"
#include "history/encode_parts.h"
#include "history/schema.h"

/* How far a task's life may be from what a reader assumes without the task being written. */
#define LIFE_SLACK_NS (2 * NSEC_PER_MSEC)

/* Computes how far the growth of the life is from what a reader assumes. */
static int64_t drift_of(const struct task_raw *raw, const struct task_raw *before)
{
	return (int64_t)(raw->counters.life_ns - before->counters.life_ns -
			 life_growth(before, raw->read_ns));
}

/* Whether the life is about what a reader assumes. */
static bool lives_as_expected(const struct task_raw *raw, const struct task_raw *before)
{
	uint64_t slack = LIFE_SLACK_NS * (before->now.threads ? before->now.threads : 1);
	int64_t drift = drift_of(raw, before);

	return drift <= (int64_t)slack && drift >= -(int64_t)slack;
}

/* Whether the counters are the same, except the life. */
static bool counts_alike(const struct counters *a, const struct counters *b)
{
	return counters_alike(a, b) && !memcmp(a->delay, b->delay, sizeof(a->delay));
}

/* Whether children's times are the same. */
static bool children_alike(const struct task_raw *a, const struct task_raw *b)
{
	return !(a->counters.valid & VALID_CHILDREN) ||
	       !memcmp(&a->children, &b->children, sizeof(a->children));
}

/* Whether the same waits are in progress. */
static bool waits_alike(const struct task_waits *a, const struct task_waits *b)
{
	return a->first_ns == b->first_ns &&
	       !memcmp(a->began_ns, b->began_ns, sizeof(a->began_ns)) &&
	       !memcmp(a->threads, b->threads, sizeof(a->threads));
}

/* Whether the source said that nothing happened to the task; what was traced is written apart. */
static bool is_still(const struct row *row)
{
	return row->still || row->quiet;
}

/* Whether a reader gets the element right without a row. */
static bool is_as_expected(const struct sample *cur, const struct row *row,
			   const struct task_raw *before)
{
	const struct task_raw *raw = row->raw;

	if (is_still(row))
		return true;
	/* These came from the trace: whoever queries the tables wants a row. */
	if (row->deltas->waited.ns[WAIT_DWAIT] || row->deltas->waited.ns[DELAY_BLKIO])
		return false;
	if (!before || raw->exited || raw->was ||
	    (cur->marks && !sample_unchanged(cur, row->place)))
		return false;
	return !waits_all(&raw->now.waits) && !waits_all(&before->now.waits) &&
	       !raw->now.waits.dwait_ns && !before->now.waits.dwait_ns &&
	       raw->single == before->single && raw->now.state == before->now.state &&
	       raw->now.exact == before->now.exact && raw->now.threads == before->now.threads &&
	       counts_alike(&raw->counters, &before->counters) && children_alike(raw, before) &&
	       lives_as_expected(raw, before);
}

/* Whether the growth of the counters is enough: no total fell, and nothing else of them changed. */
static bool grows(const struct task_raw *raw, const struct task_raw *before)
{
	const struct counters *now = &raw->counters, *was = &before->counters;

	return !counters_fell(now, was) && !raw->was && now->valid == was->valid &&
	       now->members == was->members && raw->single == before->single &&
	       raw->now.exact == before->now.exact && !now->life_ns == !was->life_ns;
}

/*
 * Encodes what was waited in the interval; if the frame has figures since the start, they are
 * computed here.
 */
static void encode_deltas(struct moment_change *change, const struct frame_info *info,
			  const struct row *row)
{
	struct counters grown;

	change->known = row->valid | row_waited(row);
	change->waited = row->deltas->waited;
	if (!info->since_start || !row->before)
		return;
	counters_diff(&grown, &row->raw->counters, &row->before->counters,
		      row->raw->counters.valid & row->before->counters.valid);
	change->known = waited_take(&change->waited, &grown, grown.valid, row->raw, row->before,
				    &info->machine, row_io_bound(info, row));
}

/*
 * Adds what happened to an element; whole: its counters are written in full. Returns whether they
 * were.
 */
static bool add_change(struct encoder *encoder, const struct frame_info *info,
		       const struct row *row, bool whole)
{
	const struct task_raw *raw = row->raw, *before = row->before;
	static const struct counters nothing;
	struct moment_change change = { .raw = *raw };
	bool left = row->place >= info->cur->n;

	/* A thread that called exec has taken over the task of its leader, which left. */
	change.task = encode_task(encoder, raw, left && encode_is_met(encoder, raw->task));

	if (raw->was)
		before = NULL;
	if (whole || !before || !grows(raw, before))
		change.flags |= CHANGE_WHOLE;
	if (left) {
		change.flags |= CHANGE_LEFT;
		change.place = row->place - (uint32_t)info->cur->n;
	}
	if (row->before || row->born)
		change.flags |= CHANGE_ROW;
	if (change.flags & CHANGE_ROW && !is_still(row))
		encode_deltas(&change, info, row);
	/* Unknown counters are written, too: a reader adds up all of them. */
	counters_diff(&change.grown, &raw->counters, before ? &before->counters : &nothing,
		      UINT32_MAX);
	if (before)
		change.drift_ns = drift_of(raw, before);
	if (change.flags & CHANGE_WHOLE ? waits_all(&raw->now.waits)
					: !waits_alike(&raw->now.waits, &before->now.waits))
		change.flags |= CHANGE_WAITS;
	if (raw->counters.valid & VALID_CHILDREN &&
	    (change.flags & CHANGE_WHOLE || !children_alike(raw, before)))
		change.flags |= CHANGE_CHILDREN;
	if (raw->task->dropped && (whole || row->corrected)) {
		change.flags |= CHANGE_DROPPED;
		change.dropped = *raw->task->dropped;
	}
	if (raw->exited) {
		change.status = raw->task->status;
		change.ended = encode_text(encoder, raw->task->ended);
		change.reaper = raw->task->reaper;
		change.mixed = raw->task->mixed;
	}
	if (is_still(row) || (row->deltas == &no_deltas && change.flags & CHANGE_WHOLE && before &&
			      counts_alike(&raw->counters, &before->counters)))
		change.flags &= ~CHANGE_ROW;
	buf_add(&encoder->moment, &change, sizeof(change));
	return change.flags & CHANGE_WHOLE;
}

/* Adds a value if it changed. */
static void add_field(struct encoder *encoder, uint32_t task, enum moment_field_of of,
		      unsigned number, bool known, uint64_t value, bool was_known, uint64_t was)
{
	struct moment_field field = { .task = task,
				      .field = SCHEMA_FIELD_OF(of, number),
				      .known = known,
				      .value = (int64_t)value };

	if (known == was_known && (!known || value == was))
		return;
	buf_add(&encoder->parts[PART_FIELDS], &field, sizeof(field));
}

/* Adds what changed in an element's record. */
static void add_record_fields(struct encoder *encoder, uint32_t task, const struct task_record *now,
			      const struct task_record *was, bool fields)
{
	for (unsigned f = 0; f < RECORD_FIELDS && fields; f++)
		add_field(encoder, task, FIELD_RECORD, f, now->fields_valid & RECORD_BIT(f),
			  now->field[f], was->fields_valid & RECORD_BIT(f), was->field[f]);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		uint32_t bit = DELAY_BIT(kind);

		add_field(encoder, task, FIELD_MAX, kind, now->range_valid & bit, now->max[kind],
			  was->range_valid & bit, was->max[kind]);
		add_field(encoder, task, FIELD_MIN, kind, now->range_valid & bit, now->min[kind],
			  was->range_valid & bit, was->min[kind]);
		add_field(encoder, task, FIELD_STAMP, kind, now->stamp_valid & bit,
			  now->stamp[kind], was->stamp_valid & bit, was->stamp[kind]);
	}
}

/* Adds what changed in what was read of an element's files. */
static void add_proc_fields(struct encoder *encoder, uint32_t task, const struct task_proc *now,
			    const struct task_proc *was)
{
	add_field(encoder, task, FIELD_READ, 0, now->io_valid, now->io.read, was->io_valid,
		  was->io.read);
	add_field(encoder, task, FIELD_WRITTEN, 0, now->io_valid, now->io.written, was->io_valid,
		  was->io.written);
	add_field(encoder, task, FIELD_CANCELLED, 0, now->io_valid, now->io.cancelled,
		  was->io_valid, was->io.cancelled);
	add_field(encoder, task, FIELD_WHOLE, 0, now->io_valid, now->io_whole, was->io_valid,
		  was->io_whole);
	add_field(encoder, task, FIELD_CHILDREN_USER, 0, now->children_valid, now->children.user_ns,
		  was->children_valid, was->children.user_ns);
	add_field(encoder, task, FIELD_CHILDREN_SYSTEM, 0, now->children_valid,
		  now->children.system_ns, was->children_valid, was->children.system_ns);
}

/* Adds what was read of an element on demand. */
static void add_fields(struct encoder *encoder, const struct frame_info *info,
		       const struct row *row, bool whole)
{
	static const struct task_record no_record;
	static const struct task_proc no_proc;
	const struct sample *cur = info->cur, *prev = info->prev;
	size_t at = row->place, was = 0;
	const struct task_raw *before = whole || row->raw->was ? NULL : row->before;
	bool left = at >= cur->n;
	uint32_t task;

	if (!cur->records && !cur->procs)
		return;
	/* An element that left is in no later sample: all its values are written. */
	if (left)
		before = NULL;
	if (before)
		was = sample_index(prev, before);
	task = encode_task(encoder, row->raw, false);
	if (cur->records)
		add_record_fields(encoder, task, &cur->records[at],
				  before && prev->records ? &prev->records[was] : &no_record,
				  cur->have & NEED_RECORD);
	if (cur->procs)
		add_proc_fields(encoder, task, &cur->procs[at],
				before && prev->procs ? &prev->procs[was] : &no_proc);
}

/* Adds the tasks of the sample before that this one does not have. */
void encode_gone(struct encoder *encoder, const struct sample *prev, const struct sample *cur)
{
	size_t i = sample_stable(cur, 1), at = i;

	for (; i < prev->n; i++) {
		const struct task_raw *raw = prev->raw[i];
		uint64_t order = raw_order(raw);

		while (at < cur->n && raw_order(cur->raw[at]) < order)
			at++;
		if (at < cur->n && raw_order(cur->raw[at]) == order &&
		    cur->raw[at]->task->key.start_ns == raw->task->key.start_ns)
			continue;
		if (raw->task->recorded[encoder->slot])
			buf_add(&encoder->parts[PART_GONE],
				&encode_known(encoder, raw->task)->written.id, sizeof(uint32_t));
	}
}

/*
 * Adds an element to which nothing happened if its names have changed. Returns whether its counters
 * were written in full.
 */
static bool check_names(struct encoder *encoder, const struct frame_info *info,
			const struct row *row)
{
	struct known_task *known = encode_known(encoder, row->raw->task);
	uint32_t was = known->written.id;

	known->met = encoder->moments;
	return encode_may_be_renamed(encoder, row->raw, is_still(row)) &&
	       encode_task(encoder, row->raw, false) != was &&
	       add_change(encoder, info, row, false);
}

/* Adds the pressure of its group that limits a row. */
static void add_bound(struct encoder *encoder, const struct frame_info *info, const struct row *row)
{
	const struct io_pressure *io = row_io_bound(info, row);
	struct moment_bound bound;

	if (!io)
		return;
	bound = (struct moment_bound){ encode_known(encoder, row->task)->written.id, *io };
	bound.io.until_ns -= info->cur->begin_ns;
	buf_add(&encoder->parts[PART_BOUNDS], &bound, sizeof(bound));
}

/* Adds all elements that a reader would get wrong without a row. */
void encode_changes(struct encoder *encoder, const struct frame *frame, bool whole)
{
	const struct frame_info *info = frame->info;

	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		const struct task_raw *before = row->raw->was ? NULL : row->before;
		bool same = before && is_as_expected(info->cur, row, before), told;

		if (whole || !same || i >= info->cur->n || !row->raw->task->recorded[encoder->slot])
			told = add_change(encoder, info, row,
					  whole || !row->raw->task->recorded[encoder->slot]);
		else
			told = check_names(encoder, info, row);
		add_fields(encoder, info, row, whole);
		add_bound(encoder, info, row);
		encode_states(encoder, info, row, told);
	}
}
