/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/texts.h"

/* How far the life of a task without news may be from what a reader takes it to be. */
#define LIFE_SLACK_NS (2 * NSEC_PER_MSEC)

/*
 * Moments after which one stands for itself again: a reader that starts anywhere reads those since.
 */
#define WHOLE_MOMENTS 1800

/* Moments after which the tasks that have gone are forgotten. */
#define SWEEP_MOMENTS 16

/* The texts of a task. */
enum task_text { TEXT_USER, TEXT_COMM, TEXT_COMMAND, TEXT_CGROUP, TASK_TEXTS };

/* A task of the recording, at the index that is its task's `recorded`. */
struct known_task {
	struct task *task; /* a reference; NULL: the place is free */
	uint64_t met; /* the last moment that had it */
	struct moment_task written; /* its latest version */
	const char *texts[TASK_TEXTS]; /* that version's, kept by the numbers for texts */
};

struct encoder {
	struct texts texts;
	struct known_task *known; /* from 1 on */
	size_t nknown, cap;
	size_t free; /* the first place that may be free */
	uint32_t ntasks; /* task numbers given out */
	uint64_t moments;
	uint64_t whole_at; /* the last moment that stands for itself */
	bool begun; /* there is a sample before */
	bool segment; /* the next moment begins a segment */
	uint64_t dropped;
	/* Of the sample before: the times of reading that were recorded, and the system. */
	uint64_t *reads;
	size_t nreads, reads_cap;
	struct system_sample system;
	size_t nsleeps; /* what was written of the clocks */
	uint64_t clock_real_ns;
	/* Parts that are being filled; texts, tasks and groups may be left of a dropped moment. */
	struct buf parts[MOMENT_PARTS];
	struct buf moment;
};

struct encoder *encoder_open(void)
{
	struct encoder *encoder = xcalloc(1, sizeof(*encoder));

	encoder->segment = true;
	encoder->free = 1;
	return encoder;
}

void encoder_begin_segment(struct encoder *encoder)
{
	encoder->segment = true;
}

void varint_append(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

/* The number of a text, which the moment gets if it is new. */
static uint32_t add_text(struct encoder *encoder, const char *text, const char **kept)
{
	static const char padding[8];
	struct buf *out = &encoder->parts[PART_TEXTS];
	struct moment_text head = { 0 };
	bool added;

	head.id = texts_take(&encoder->texts, text, &added, kept);
	if (!added)
		return head.id;
	head.len = (uint32_t)strlen(text);
	buf_add(out, &head, sizeof(head));
	buf_add(out, text, head.len);
	buf_add(out, padding, -out->len % sizeof(padding));
	return head.id;
}

/* Does the same where the copy is not needed. */
static uint32_t number_text(struct encoder *encoder, const char *text)
{
	return add_text(encoder, text, NULL);
}

/* The number of a task's text, which most often is what it was. */
static uint32_t number_again(struct encoder *encoder, struct known_task *known,
			     enum task_text which, const char *text, uint32_t was)
{
	const char **kept = &known->texts[which];

	if (text && *kept && !strcmp(text, *kept))
		return was;
	return add_text(encoder, text, kept);
}

/* Takes a free place for a task. */
static struct known_task *add_known(struct encoder *encoder, struct task *task)
{
	struct known_task *known;

	while (encoder->free < encoder->nknown && encoder->known[encoder->free].task)
		encoder->free++;
	if (encoder->free >= encoder->cap) {
		encoder->cap = encoder->cap ? encoder->cap * 2 : 256;
		encoder->known =
			xreallocarray(encoder->known, encoder->cap, sizeof(*encoder->known));
	}
	if (encoder->free >= encoder->nknown)
		encoder->nknown = encoder->free + 1;
	known = &encoder->known[encoder->free];
	*known = (struct known_task){ .task = task_ref(task) };
	task->recorded = (uint32_t)encoder->free;
	return known;
}

/* Gives a place back. */
static void forget_known(struct encoder *encoder, size_t at)
{
	struct known_task *known = &encoder->known[at];

	if (!known->task)
		return;
	known->task->recorded = 0;
	task_unref(known->task);
	known->task = NULL;
	if (at < encoder->free)
		encoder->free = at;
}

/* Forgets tasks that were not met for a while; all: all of them. */
static void sweep(struct encoder *encoder, bool all)
{
	for (size_t i = 1; i < encoder->nknown; i++)
		if (all || encoder->known[i].met + 2 < encoder->moments)
			forget_known(encoder, i);
}

/* The number of an element's task, of its present version; another: of one of its own. */
static uint32_t number_task(struct encoder *encoder, const struct task_raw *raw, bool another)
{
	struct task *task = raw->task;
	struct known_task *known =
		task->recorded ? &encoder->known[task->recorded] : add_known(encoder, task);
	const struct moment_task *was = &known->written;
	struct moment_task now = {
		.id = was->id,
		.first = was->first,
		.tgid = raw->tgid,
		.pid = raw->pid,
		.ppid = task->ppid,
		.uid = task->uid,
		.user = number_again(encoder, known, TEXT_USER, task->user, was->user),
		.comm = number_again(encoder, known, TEXT_COMM, task->comm, was->comm),
		.command = number_again(encoder, known, TEXT_COMMAND, task->command, was->command),
		.cgroup = number_again(encoder, known, TEXT_CGROUP, task->cgroup, was->cgroup),
		.start_ns = task->key.start_ns,
		.latest_ns = task->latest_ns,
		.lo_ns = task->start_lo,
		.hi_ns = task->start_hi,
	};

	known->met = encoder->moments;
	if (now.id && !another && !memcmp(&now, &known->written, sizeof(now)))
		return now.id;
	now.id = ++encoder->ntasks;
	if (!now.first)
		now.first = now.id;
	known->written = now;
	buf_add(&encoder->parts[PART_TASKS], &now, sizeof(now));
	return now.id;
}

/* Whether a task's names may be others than were recorded. Its texts are compared as pointers. */
static bool may_be_renamed(const struct encoder *encoder, const struct task_raw *raw, bool still)
{
	const struct known_task *known;

	if (!raw->task->recorded)
		return true;
	known = &encoder->known[raw->task->recorded];
	/* A source that knows tells of those that ran; nobody else gets another name. */
	return !still || known->written.ppid != raw->task->ppid ||
	       !known->written.command != !raw->task->command ||
	       !known->written.cgroup != !raw->task->cgroup;
}

/* How far the growth of the life is from what a reader takes it to be. */
static int64_t drift_of(const struct task_raw *raw, const struct task_raw *before)
{
	return (int64_t)(raw->counters.life_ns - before->counters.life_ns -
			 life_growth(before, raw->read_ns));
}

/* Whether the life is about what a reader takes it to be. */
static bool lives_as_expected(const struct task_raw *raw, const struct task_raw *before)
{
	uint64_t slack = LIFE_SLACK_NS * (before->now.threads ? before->now.threads : 1);
	int64_t drift = drift_of(raw, before);

	return drift <= (int64_t)slack && drift >= -(int64_t)slack;
}

/* Whether the counters are the same, but for the life. */
static bool counts_alike(const struct counters *a, const struct counters *b)
{
	return a->valid == b->valid && a->members == b->members && a->run_ns == b->run_ns &&
	       a->user_ns == b->user_ns && a->system_ns == b->system_ns &&
	       !memcmp(a->delay, b->delay, sizeof(a->delay));
}

/* Whether children's times are the same. */
static bool children_alike(const struct task_raw *a, const struct task_raw *b)
{
	return !(a->counters.valid & VALID_CHILDREN) ||
	       !memcmp(&a->children, &b->children, sizeof(a->children));
}

/* Whether the waits in progress are the same, and go on. */
static bool waits_alike(const struct task_waits *a, const struct task_waits *b)
{
	return a->first_ns == b->first_ns &&
	       !memcmp(a->began_ns, b->began_ns, sizeof(a->began_ns)) &&
	       !memcmp(a->threads, b->threads, sizeof(a->threads));
}

/* Whether the element is what a reader makes of its not being mentioned. */
static bool is_as_expected(const struct sample *cur, const struct row *row,
			   const struct task_raw *before)
{
	const struct task_raw *raw = row->raw;
	size_t i = (size_t)(raw - cur->raw);

	if (row->still)
		return true;
	if (!before || raw->exited || raw->was || (cur->marks && !sample_unchanged(cur, i)))
		return false;
	return !waits_all(&raw->now.waits) && !waits_all(&before->now.waits) &&
	       !raw->now.waits.block_ns && !before->now.waits.block_ns &&
	       raw->single == before->single && raw->now.state == before->now.state &&
	       raw->now.exact == before->now.exact && raw->now.threads == before->now.threads &&
	       counts_alike(&raw->counters, &before->counters) && children_alike(raw, before) &&
	       lives_as_expected(raw, before);
}

/* Whether growth says all: nothing that seldom changes has changed, and no total fell. */
static bool grows(const struct task_raw *raw, const struct task_raw *before)
{
	const struct counters *now = &raw->counters, *was = &before->counters;
	bool fell = now->run_ns < was->run_ns || now->user_ns < was->user_ns ||
		    now->system_ns < was->system_ns;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		fell |= now->delay[kind].ns < was->delay[kind].ns ||
			now->delay[kind].count < was->delay[kind].count;
	return !fell && !raw->was && now->valid == was->valid && now->members == was->members &&
	       raw->single == before->single && raw->now.exact == before->now.exact &&
	       !now->life_ns == !was->life_ns;
}

/* All that grew, also what is not known: a reader adds it up again. */
static void take_growth(struct counters *grown, const struct counters *now,
			const struct counters *before)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		grown->delay[kind].count = now->delay[kind].count - before->delay[kind].count;
		grown->delay[kind].ns = now->delay[kind].ns - before->delay[kind].ns;
	}
	grown->run_ns = now->run_ns - before->run_ns;
	grown->user_ns = now->user_ns - before->user_ns;
	grown->system_ns = now->system_ns - before->system_ns;
	grown->valid = now->valid;
}

/* Takes what was waited in the interval; figures since the start are no interval's. */
static void take_deltas(struct moment_change *change, const struct frame_info *info,
			const struct row *row)
{
	struct counters grown;

	change->known = row->valid;
	change->waited = row->deltas->waited;
	if (!info->since_start || !row->before)
		return;
	counters_diff(&grown, &row->raw->counters, &row->before->counters,
		      row->raw->counters.valid & row->before->counters.valid);
	change->known = waited_take(&change->waited, &grown, grown.valid, row->raw, row->before);
}

/* Whether the moment has an element of that task already. */
static bool is_met(const struct encoder *encoder, const struct task *task)
{
	return task->recorded && encoder->known[task->recorded].met == encoder->moments;
}

/* Adds what happened to an element. whole: it is written as it is. */
static void add_change(struct encoder *encoder, const struct frame_info *info,
		       const struct row *row, bool whole)
{
	const struct task_raw *raw = row->raw, *before = row->before;
	static const struct counters nothing;
	struct moment_change change = { .raw = *raw };
	bool left = raw >= info->cur->raw + info->cur->n;

	/* A thread that called exec took over the task of its leader, which left. */
	change.task = number_task(encoder, raw, left && is_met(encoder, raw->task));

	if (raw->was)
		before = NULL;
	if (whole || !before || !grows(raw, before))
		change.flags |= CHANGE_WHOLE;
	if (left) {
		change.flags |= CHANGE_LEFT;
		change.place = (uint32_t)((size_t)(raw - info->cur->raw) - info->cur->n);
	}
	if (row->before || row->born)
		change.flags |= CHANGE_ROW;
	if (change.flags & CHANGE_ROW && !row->still)
		take_deltas(&change, info, row);
	take_growth(&change.grown, &raw->counters, before ? &before->counters : &nothing);
	if (before)
		change.drift_ns = drift_of(raw, before);
	if (change.flags & CHANGE_WHOLE ? waits_all(&raw->now.waits)
					: !waits_alike(&raw->now.waits, &before->now.waits))
		change.flags |= CHANGE_WAITS;
	if (raw->counters.valid & VALID_CHILDREN &&
	    (change.flags & CHANGE_WHOLE || !children_alike(raw, before)))
		change.flags |= CHANGE_CHILDREN;
	if (raw->task->dropped && (whole || raw->counters.valid & ~row->valid & DELAY_ALL)) {
		change.flags |= CHANGE_DROPPED;
		change.dropped = *raw->task->dropped;
	}
	if (raw->exited) {
		change.status = raw->task->status;
		change.ended = number_text(encoder, raw->task->ended);
		change.reaper = raw->task->reaper;
		change.mixed = raw->task->mixed;
	}
	if (row->still || (row->deltas == &no_deltas && change.flags & CHANGE_WHOLE && before &&
			   counts_alike(&raw->counters, &before->counters)))
		change.flags &= ~CHANGE_ROW;
	buf_add(&encoder->parts[PART_CHANGES], &change, sizeof(change));
}

/* Adds a value if it is new. */
static void add_field(struct encoder *encoder, uint32_t task, enum moment_field_of of,
		      unsigned number, bool known, uint64_t value, bool was_known, uint64_t was)
{
	struct moment_field field = { .task = task,
				      .of = (uint16_t)of,
				      .number = (uint16_t)number,
				      .known = known,
				      .value = value };

	if (known == was_known && (!known || value == was))
		return;
	buf_add(&encoder->parts[PART_FIELDS], &field, sizeof(field));
}

/* Adds what is new in an element's record. */
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

/* Adds what is new in what was read of an element's files. */
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
	size_t at = (size_t)(row->raw - cur->raw), was = 0;
	const struct task_raw *before = whole || row->raw->was ? NULL : row->before;
	bool left = at >= cur->n;
	uint32_t task;

	if (!cur->records && !cur->procs)
		return;
	/* What has left is in no later sample: it is written as it is. */
	if (left)
		before = NULL;
	if (before)
		was = (size_t)(before - prev->raw);
	task = number_task(encoder, row->raw, false);
	if (cur->records)
		add_record_fields(encoder, task, &cur->records[at],
				  before && prev->records ? &prev->records[was] : &no_record,
				  cur->have & NEED_RECORD);
	if (cur->procs)
		add_proc_fields(encoder, task, &cur->procs[at],
				before && prev->procs ? &prev->procs[was] : &no_proc);
}

/* Adds the tasks that the sample does not have any more. */
static void add_gone(struct encoder *encoder, const struct sample *prev, const struct sample *cur)
{
	size_t i = sample_stable(cur, 1), at = i;

	for (; i < prev->n; i++) {
		const struct task_raw *raw = &prev->raw[i];
		uint64_t order = raw_order(raw);

		while (at < cur->n && raw_order(&cur->raw[at]) < order)
			at++;
		if (at < cur->n && raw_order(&cur->raw[at]) == order &&
		    cur->raw[at].task->key.start_ns == raw->task->key.start_ns)
			continue;
		if (raw->task->recorded)
			buf_add(&encoder->parts[PART_GONE],
				&encoder->known[raw->task->recorded].written.id, sizeof(uint32_t));
	}
}

/* Adds a run of elements with the same time of reading; kept: that of the sample before. */
static void add_run(struct buf *out, size_t run, bool kept, uint64_t *last_ns, uint64_t read_ns)
{
	if (!run)
		return;
	varint_append(out, (uint64_t)run << 1 | kept);
	if (kept)
		return;
	varint_append(out, varint_fold((int64_t)(read_ns - *last_ns)));
	*last_ns = read_ns;
}

/*
 * Adds the times of reading: runs of the living elements (twice the number of elements, plus 1
 * where they keep their times, else followed by the growth since the run before, at first since the
 * sample's begin); a 0; then times that elements of the sample before got only now: how many
 * elements to pass over, and the time since that sample's begin.
 */
static void add_reads(struct encoder *encoder, const struct frame *frame, bool whole)
{
	const struct frame_info *info = frame->info;
	const struct sample *cur = info->cur, *prev = info->prev;
	struct buf *out = &encoder->parts[PART_READS];
	uint64_t last_ns = cur->begin_ns;
	size_t run = 0, passed = 0;
	bool kept = false;

	for (size_t i = 0; i < cur->n; i++) {
		const struct task_raw *raw = &cur->raw[i], *before = frame->rows[i].before;
		bool keeps = !whole && before && !raw->was && raw->read_ns == before->read_ns;

		if (run && (keeps != kept || (!kept && raw->read_ns != raw[-1].read_ns))) {
			add_run(out, run, kept, &last_ns, raw[-1].read_ns);
			run = 0;
		}
		kept = keeps;
		run++;
	}
	add_run(out, run, kept, &last_ns, cur->n ? cur->raw[cur->n - 1].read_ns : 0);
	varint_append(out, 0);
	for (size_t i = 0; !whole && i < cur->n; i++, passed++) {
		const struct task_raw *before = frame->rows[i].before;
		size_t was = before && before < prev->raw + prev->n ? (size_t)(before - prev->raw)
								    : SIZE_MAX;

		if (was >= encoder->nreads || before->read_ns == encoder->reads[was])
			continue;
		varint_append(out, passed);
		varint_append(out, varint_fold((int64_t)(before->read_ns - prev->begin_ns)));
		passed = 0;
	}
}

/* Keeps the times of reading for the next moment. */
static void keep_reads(struct encoder *encoder, const struct sample *cur)
{
	if (encoder->reads_cap < cur->n) {
		encoder->reads_cap = cur->n + cur->n / 2;
		encoder->reads =
			xreallocarray(encoder->reads, encoder->reads_cap, sizeof(*encoder->reads));
	}
	for (size_t i = 0; i < cur->n; i++)
		encoder->reads[i] = cur->raw[i].read_ns;
	encoder->nreads = cur->n;
}

/* Takes the machine's figures: pressure that is new, growth of the CPUs' times. */
static void take_system(struct encoder *encoder, struct moment *moment, bool whole)
{
	const struct system_sample *now = &moment->system, *was = &encoder->system;

	for (unsigned s = 0; s < CPU_STATES; s++)
		moment->cpu_ns[s] = encoder->begun ? (int64_t)(now->cpu_ns[s] - was->cpu_ns[s]) : 0;
	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		const struct psi *a = &now->psi[i / 2], *b = &was->psi[i / 2];
		const struct psi_line *x = i % 2 ? &a->full : &a->some;
		const struct psi_line *y = i % 2 ? &b->full : &b->some;

		if (whole || x->valid != y->valid || x->avg10 != y->avg10 || x->avg60 != y->avg60 ||
		    x->avg300 != y->avg300 || x->total_us != y->total_us)
			moment->psi_new |= 1u << i;
	}
	encoder->system = *now;
}

/* Takes the clocks if they are other ones. */
static void take_clocks(struct encoder *encoder, struct moment *moment, const struct clocks *clocks,
			bool whole)
{
	moment->clock_real_ns = clocks->real_ns;
	if (!whole && clocks->n == encoder->nsleeps && clocks->real_ns == encoder->clock_real_ns)
		return;
	encoder->nsleeps = clocks->n;
	encoder->clock_real_ns = clocks->real_ns;
	moment->flags |= MOMENT_SLEEPS;
	buf_add(&encoder->parts[PART_SLEEPS], clocks->sleeps, clocks->n * sizeof(*clocks->sleeps));
}

/* Takes what belongs to the frame as a whole. */
static void take_info(struct encoder *encoder, struct moment *moment, const struct frame_info *info)
{
	const struct sample *cur = info->cur;

	moment->begin_ns = cur->begin_ns;
	moment->end_ns = cur->end_ns;
	moment->real_ns = cur->real_ns;
	moment->interval_ns = info->interval_ns;
	moment->n = cur->n;
	moment->left = cur->left;
	moment->steady = info->prev ? sample_stable(cur, 1) : 0;
	moment->have = cur->have;
	moment->threads = info->threads;
	moment->source = number_text(encoder, info->source);
	moment->cgroup = number_text(encoder, info->cgroup);
	moment->hierarchy = number_text(encoder, info->hierarchy);
	moment->hierarchy_version = info->hierarchy_version;
	moment->taskstats_version = info->taskstats_version;
	moment->delayacct = info->delayacct;
	moment->unknown = info->unknown;
	moment->exits = info->exits;
	moment->lost = info->lost;
	moment->others = info->others;
	moment->self = info->self;
	moment->system = *info->system;
	moment->account = info->account;
	memcpy(moment->notes, info->notes, sizeof(moment->notes));
	moment->nnotes = info->nnotes;
}

/* Adds an element to which nothing happened if its names are others than were recorded. */
static void check_names(struct encoder *encoder, const struct frame_info *info,
			const struct row *row)
{
	struct known_task *known = &encoder->known[row->raw->task->recorded];
	uint32_t was = known->written.id;

	known->met = encoder->moments;
	if (may_be_renamed(encoder, row->raw, row->still) &&
	    number_task(encoder, row->raw, false) != was)
		add_change(encoder, info, row, false);
}

/* Adds all elements that a reader must be told of. */
static void add_changes(struct encoder *encoder, const struct frame *frame, bool whole)
{
	const struct frame_info *info = frame->info;

	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		const struct task_raw *before = row->raw->was ? NULL : row->before;
		bool same = before && is_as_expected(info->cur, row, before);

		if (whole || !same || i >= info->cur->n || !row->raw->task->recorded)
			add_change(encoder, info, row, whole || !row->raw->task->recorded);
		else
			check_names(encoder, info, row);
		add_fields(encoder, info, row, whole);
	}
}

/* Adds what was read of the groups' files. */
static void add_groups(struct encoder *encoder, const struct frame *folded)
{
	for (size_t i = 0; i < folded->n; i++) {
		const struct group *group = folded->rows[i].group;
		struct moment_group read = { 0 };

		if (!group || !group->name || !group->figures->now)
			continue;
		read.path = number_text(encoder, group->name);
		read.fresh = !group->figures->before;
		read.sample = *group->figures->now;
		buf_add(&encoder->parts[PART_GROUPS], &read, sizeof(read));
	}
}

/* Puts the parts behind the head. */
static void put_together(struct encoder *encoder, struct moment *head)
{
	static const char padding[8];
	struct buf *out = &encoder->moment;

	out->len = 0;
	buf_add(out, head, sizeof(*head));
	for (unsigned part = 0; part < MOMENT_PARTS; part++) {
		head->at[part] = out->len;
		head->bytes[part] = encoder->parts[part].len;
		buf_add(out, encoder->parts[part].data, encoder->parts[part].len);
		buf_add(out, padding, -out->len % sizeof(padding));
	}
	head->size = out->len;
	memcpy(out->data, head, sizeof(*head));
}

/* Begins anew: what was numbered is in another file. */
static void begin_segment(struct encoder *encoder)
{
	texts_free(&encoder->texts);
	sweep(encoder, true);
	encoder->ntasks = 0;
	encoder->parts[PART_TEXTS].len = encoder->parts[PART_TASKS].len = 0;
}

const struct moment *encoder_take(struct encoder *encoder, const struct frame *frame,
				  const struct frame *folded)
{
	const struct frame_info *info = frame->info;
	bool whole = encoder->segment || encoder->dropped || !encoder->begun || !info->prev ||
		     encoder->moments - encoder->whole_at >= WHOLE_MOMENTS;
	struct moment head = { .dropped = encoder->dropped };

	if (encoder->segment)
		begin_segment(encoder);
	head.flags = (whole ? MOMENT_WHOLE : 0) | (info->prev ? 0 : MOMENT_FIRST) |
		     (info->cur->marks ? MOMENT_MARKED : 0) |
		     (encoder->segment ? MOMENT_SEGMENT : 0);
	encoder->moments++;
	if (whole)
		encoder->whole_at = encoder->moments;
	take_info(encoder, &head, info);
	take_system(encoder, &head, whole);
	take_clocks(encoder, &head, info->clocks, whole);
	add_changes(encoder, frame, whole);
	if (!whole)
		add_gone(encoder, info->prev, info->cur);
	add_reads(encoder, frame, whole);
	keep_reads(encoder, info->cur);
	if (folded)
		add_groups(encoder, folded);
	put_together(encoder, &head);
	for (unsigned part = PART_GONE; part < MOMENT_PARTS; part++)
		encoder->parts[part].len = 0;
	if (encoder->moments % SWEEP_MOMENTS == 0)
		sweep(encoder, false);
	encoder->begun = true;
	return (const struct moment *)(const void *)encoder->moment.data;
}

void encoder_keep(struct encoder *encoder)
{
	encoder->parts[PART_TEXTS].len = encoder->parts[PART_TASKS].len = 0;
	encoder->segment = false;
	encoder->dropped = 0;
}

void encoder_drop(struct encoder *encoder)
{
	/* What was numbered stays so: the next moment has that, too. */
	encoder->dropped++;
}

void encoder_close(struct encoder *encoder)
{
	if (!encoder)
		return;
	sweep(encoder, true);
	texts_free(&encoder->texts);
	for (unsigned part = 0; part < MOMENT_PARTS; part++)
		buf_free(&encoder->parts[part]);
	buf_free(&encoder->moment);
	free(encoder->known);
	free(encoder->reads);
	free(encoder);
}
