/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* Maximum difference of two readings of one trace's times. */
#define TIMES_SLACK_NS NSEC_PER_MSEC

/* Deltas kept in memory, and the share of them that a frame should use at least. */
#define USED_KEPT 512
#define USED_PART 8

const struct deltas no_deltas;

/*
 * Splits the run time in the ratio of the tick figures: the interval's, or the whole life's if no
 * tick fell into the interval. Without any, or without a run time to split, it is unknown.
 */
static void split_run(struct row *row, struct counters *grown)
{
	uint64_t user = grown->user_ns, system = grown->system_ns;

	grown->user_ns = grown->system_ns = 0;
	if (!(row->valid & VALID_RUN))
		row->valid &= ~VALID_TICK;
	if (!grown->run_ns || !(row->valid & VALID_TICK))
		return;
	if (!user && !system) {
		user = row->raw->counters.user_ns;
		system = row->raw->counters.system_ns;
	}
	if (!user && !system) {
		row->valid &= ~VALID_TICK;
		return;
	}
	grown->user_ns = (uint64_t)((double)grown->run_ns *
				    ((double)user / ((double)user + (double)system)));
	grown->system_ns = grown->run_ns - grown->user_ns;
}

/* Removes impossible time from the accounted delays, and from the task's totals. */
static void drop_impossible(struct frame_info *info, struct row *row, struct deltas *deltas,
			    const struct task_raw *before)
{
	struct counters excess = { 0 };
	uint32_t kinds = resolve_booked(row, deltas, before, &info->machine, &excess);

	if (!kinds)
		return;
	waited_drop(row->raw->task, &excess, kinds);
	row->corrected = true;
	info->stale++;
}

/*
 * Computes the time waited. Returns whether more was accounted than is possible, which was not
 * known before.
 */
static bool resolve(const struct frame_info *info, struct row *row, struct deltas *deltas)
{
	bool beyond = deltas && deltas->waited.beyond;

	resolve_row(row, deltas, info->since_start || row->born,
		    info->since_start ? NULL : &info->machine, row_io_bound(info, row));
	return deltas && deltas->waited.beyond && !beyond && !row->corrected;
}

/* Counts the task's state, if known. */
static void count_state(struct frame_info *info, const struct task_raw *raw)
{
	if (!raw->now.state || raw->exited)
		return;
	info->states_known = true;
	info->blocked += waits_in_d(&raw->now.waits) != 0;
	info->running += raw->now.state == 'R' || raw->now.waits.threads[SEEN_CPU];
}

/* Computes the growth since the previous reading of counters valid in both. */
static void since_before(const struct frame_info *info, struct row *row, struct counters *grown,
			 uint32_t valid)
{
	uint64_t now_ns = sample_read_ns(info->cur, row->raw);
	/* The end time of a task is accurate only to some ms. */
	uint64_t before_ns = sample_read_ns(info->prev, row->before);

	row->interval_ns = now_ns > before_ns ? now_ns - before_ns : 1;
	row->valid = valid;
	counters_diff(grown, &row->raw->counters, &row->before->counters, valid);
	split_run(row, grown);
}

/* Computes the growth of counters as read: those that fell are raised. */
static void difference(const struct frame_info *info, struct row *row, struct counters *grown,
		       struct task_raw *raw, const struct task_raw *before)
{
	row->before = before;
	/* Elements shared by two samples are read-only. */
	if (raw == before) {
		since_before(info, row, grown, raw->counters.valid);
		return;
	}
	since_before(info, row, grown, counters_lift(&raw->counters, &before->counters));
	raw->ran_ns = grown->run_ns ? before->read_ns : before->ran_ns;
}

/* Computes deltas since the task's start. */
static void since_birth(struct row *row, struct counters *grown, const struct counters *life,
			uint64_t interval_ns)
{
	static const struct counters none;

	row->interval_ns = interval_ns ? interval_ns : 1;
	row->valid = life->valid;
	counters_diff(grown, life, &none, row->valid);
	split_run(row, grown);
}

/* The time from the task's start to the element's reading. */
static uint64_t age_of(const struct sample *sample, const struct task_raw *raw)
{
	uint64_t read_ns = sample_read_ns(sample, raw), start_ns = raw->task->key.start_ns;

	return read_ns > start_ns ? read_ns - start_ns : 0;
}

/* Computes deltas of the whole life, without impossible delays. */
static void of_life(struct frame_info *info, struct row *row, struct counters *grown)
{
	const struct task_raw *raw = row->raw;
	bool wrong;
	struct counters life = waited_life(raw, &wrong);

	since_birth(row, grown, &life, age_of(info->cur, raw));
	info->stale += wrong;
}

/* Time by state of an element's threads up to then, if they stay in their states. */
static struct wait_states times_by(const struct task_times *times, uint64_t by_ns)
{
	struct wait_states states = times->states;

	for (unsigned state = 0; state < WAIT_STATES && by_ns > times->at_ns; state++)
		states.ns[state] += times->in[state] * (by_ns - times->at_ns);
	return states;
}

/* Far more running was traced than the scheduler counted: switches were missed. */
static bool is_contradicted(const struct frame_info *info, const struct row *row,
			    const struct wait_states *spent)
{
	return row->valid & VALID_RUN && !info->since_start && row->interval_ns &&
	       spent->ns[STATE_RUN] > row->deltas->grown.run_ns + row->interval_ns / 4;
}

/* Computes how the row's task spent the interval, if all its threads were traced. */
static void find_spent(struct frame *frame, const struct frame_info *info, struct row *row)
{
	const struct task_raw *raw = row->raw, *before = row->before;
	struct traced *traced;
	struct wait_states spent, was = { { 0 } };

	if (!raw->times || !info->prev || (before ? !before->times : !row->born))
		return;
	if (row->unchanged) {
		for (unsigned state = 0; state < WAIT_STATES; state++)
			spent.ns[state] = raw->times->in[state] * row->interval_ns;
	} else {
		spent = times_by(raw->times, sample_read_ns(info->cur, raw));
		if (before)
			was = times_by(before->times, sample_read_ns(info->prev, before));
		/* The samples are of two traces: the later one began at 0. */
		if (wait_states_alive(&spent) + TIMES_SLACK_NS < wait_states_alive(&was))
			return;
		wait_states_take(&spent, &was);
	}
	if (is_contradicted(info, row, &spent))
		return;
	if (!frame->traced)
		frame->traced = xcalloc(frame->cap, sizeof(*frame->traced));
	traced = &frame->traced[row - frame->rows];
	*traced = (struct traced){ .states = spent,
				   .tgid = row->task->tgid,
				   .start_ns = row->task->key.start_ns };
	row->traced = traced;
}

/* Builds one row; before is NULL for a task missing in the previous sample. */
static void build_row(struct frame *frame, struct frame_info *info, struct row *row,
		      struct task_raw *raw, const struct task_raw *before,
		      const struct frame_options *options)
{
	const struct sample *prev = info->prev;
	struct deltas *deltas = &frame->deltas[frame->ndeltas];
	uint64_t start = raw->task->key.start_ns;

	memset(row, 0, sizeof(*row));
	row->task = raw->task;
	row->raw = raw;
	row->place = (uint32_t)(row - frame->rows);
	row->deltas = deltas;
	row->members = raw->counters.members;
	row->exited = raw->exited;
	deltas->waited = no_deltas.waited;
	if (raw != before)
		raw->ran_ns = start;
	if (before)
		difference(info, row, &deltas->grown, raw, before);
	else
		deltas->grown = no_deltas.grown;
	/*
	 * A thread that took over an id at exec and was not read before counts as started at the
	 * exec.
	 */
	row->born = prev && !before && (raw->was || raw->task->latest_ns >= prev->begin_ns);
	/*
	 * A task that started or exited in the interval is measured against the whole interval, so
	 * that shares of rows can be compared and add up.
	 */
	if (options->since_start) {
		of_life(info, row, &deltas->grown);
	} else if (row->born) {
		since_birth(row, &deltas->grown, &raw->counters, info->interval_ns);
		drop_impossible(info, row, deltas, NULL);
	} else if (before) {
		drop_impossible(info, row, deltas, before);
		if (raw->exited)
			row->interval_ns = info->interval_ns;
	}
	deltas->grown.valid &= ~DELAY_BOTH(options->unknown & ~raw->now.measured);
	if (raw->times)
		find_spent(frame, info, row);
	info->stale += resolve(info, row, deltas);
	info->io_booked |= raw->counters.delay[DELAY_BLKIO].ns >
			   (before ? before->counters.delay[DELAY_BLKIO].ns : 0);
	count_state(info, raw);
	if (info->cur->records)
		waited_check_range(raw, &info->cur->records[row->place]);
	info->kinds |= raw->counters.valid & DELAY_ALL;
	if (row->valid & VALID_RUN)
		info->run_ns += deltas->grown.run_ns;
	if (counters_any(&deltas->grown) || deltas->waited.total)
		frame->ndeltas++;
	else
		row->deltas = &no_deltas;
	info->born += row->born ? row->members : 0;
	info->ended += row->exited ? row->members : 0;
}

/* The element of prev that is the same task; *at advances along both samples' common order. */
static const struct task_raw *match_elements(struct frame_info *info, const struct task_raw *raw,
					     size_t *at)
{
	const struct sample *prev = info->prev;
	uint64_t order = raw_order(raw);
	const struct task_raw *before;

	if (!prev)
		return NULL;
	while (*at < prev->n && raw_order(prev->raw[*at]) < order) {
		info->gone++;
		++*at;
	}
	if (*at == prev->n || raw_order(prev->raw[*at]) != order)
		return NULL;
	before = prev->raw[(*at)++];
	if (before->task->key.start_ns == raw->task->key.start_ns)
		return before;
	info->gone++; /* the pid was reused by another task */
	return NULL;
}

/* The previous element of an exited task, or of a task that changed its id at exec. */
static const struct task_raw *find_before(const struct frame_info *info, const struct task_raw *raw,
					  pid_t pid)
{
	const struct task_raw *before = info->prev ? sample_find(info->prev, raw->tgid, pid) : NULL;

	if (before && (raw->was || before->task == raw->task))
		return before;
	/* A zombie may have left the previous sample: see exit_merge.c. */
	for (size_t i = 0; raw->was && info->prev && i < info->prev->left; i++)
		if (info->prev->raw[info->prev->n + i]->task == raw->task)
			return info->prev->raw[info->prev->n + i];
	return NULL;
}

/* True if an element's threads stay in waits that are delays, though not in state D. */
static bool waits_unseen(const struct task_raw *raw)
{
	return raw->times && (raw->times->in[STATE_IO] || raw->times->in[STATE_DWAIT]);
}

/* Starts the row of an unchanged task. */
static void begin_idle(struct row *row, const struct task_raw *raw, const struct task_raw *before)
{
	*row = (struct row){ .task = raw->task,
			     .deltas = &no_deltas,
			     .members = raw->counters.members,
			     .valid = raw->counters.valid & before->counters.valid,
			     .unchanged = true };
	if (raw->now.state && before->now.state)
		row->valid |= VALID_DWAIT;
}

/*
 * Builds rows from i on, up to `end`, as long as their source marks the task as unchanged. Most
 * rows are such, so they cost little: if it was idle in the previous frame, too, and not traced,
 * the row built for that is still true, except for its interval. Returns the first of another kind.
 */
static size_t build_idle(struct frame *frame, struct frame_info *info, size_t i, size_t end)
{
	const struct sample *cur = info->cur, *prev = info->prev;
	uint64_t interval_ns = info->interval_ns;
	size_t first = i;
	uint32_t valid = 0;

	for (; i < end && sample_idle(cur, i) && !waits_unseen(cur->raw[i]); i++) {
		struct row *row = &frame->rows[i];
		const struct task_raw *raw = cur->raw[i], *before = prev->raw[i];

		if (!row->unchanged || row->traced || !sample_idle(prev, i))
			begin_idle(row, raw, before);
		row->raw = raw;
		row->place = (uint32_t)i;
		row->before = before;
		row->traced = NULL;
		row->interval_ns = interval_ns;
		if (raw->times)
			find_spent(frame, info, row);
		valid |= row->valid;
	}
	info->kinds |= valid & DELAY_ALL;
	frame->unchanged += i - first;
	return i;
}

/* Builds all rows: of living tasks, then of exited ones. */
static void build_rows(struct frame *frame, struct frame_info *info,
		       const struct frame_options *options)
{
	const struct sample *cur = info->cur, *prev = info->prev;
	/* The number of first elements at the same place in the previous sample. */
	size_t same = prev ? sample_stable(cur, 1) : 0, at = same;
	size_t fast = options->since_start || options->unknown ? 0 : same;

	for (size_t i = 0; i < frame->n; i++) {
		const struct task_raw *before;
		struct task_raw *raw;

		if (fast)
			i = build_idle(frame, info, i, fast);
		if (i == frame->n)
			break;
		raw = cur->raw[i];
		if (i >= cur->n)
			before = find_before(info, raw, raw->pid);
		else if (i < same)
			before = prev->raw[i];
		else
			before = match_elements(info, raw, &at);
		if (raw->was)
			before = find_before(info, raw, raw->was);
		build_row(frame, info, &frame->rows[i], raw, before, options);
	}
	if (prev)
		info->gone += prev->n - at;
}

/*
 * Frees pages of deltas if the previous frame used few of those used earlier: in the first
 * intervals many tasks changed.
 */
static void drop_used(struct frame *frame)
{
	if (frame->used < frame->ndeltas)
		frame->used = frame->ndeltas;
	if (frame->used < USED_KEPT || frame->used / USED_PART < frame->ndeltas)
		return;
	free(frame->deltas);
	frame->deltas = xcalloc(frame->cap, sizeof(*frame->deltas));
	frame->used = 0;
}

void frame_build(struct frame *frame, struct frame_info *info, const struct sample *prev,
		 struct sample *cur, const struct frame_options *options)
{
	size_t n = cur->n + cur->left;

	if (frame->cap < n) {
		free(frame->rows);
		free(frame->deltas);
		free(frame->traced);
		frame->traced = NULL;
		frame->cap = n * 2;
		frame->rows = xcalloc(frame->cap, sizeof(*frame->rows));
		/* Reserves room for all, but few of its pages are ever used. */
		frame->deltas = xcalloc(frame->cap, sizeof(*frame->deltas));
	}
	drop_used(frame);
	frame->info = info;
	frame->n = n;
	frame->unchanged = 0;
	frame->ndeltas = 0;
	info->cur = cur;
	info->prev = prev;
	info->tasks = n;
	info->bare = false;
	info->real_ns = cur->real_ns;
	info->since_start = options->since_start;
	info->head.unknown = options->unknown;
	info->machine = options->machine;
	info->interval_ns = prev ? cur->begin_ns - prev->begin_ns : 0;
	info->born = info->gone = info->ended = 0;
	info->stale = 0;
	info->io_booked = false;
	info->blocked = info->running = 0;
	info->states_known = false;
	info->kinds = 0;
	info->run_ns = 0;
	info->trace = NULL;
	info->head.nnotes = 0;
	build_rows(frame, info, options);
}

bool frame_resolve(struct frame *frame, struct row *row)
{
	bool empty = row->deltas == &no_deltas, more;
	struct deltas *deltas = NULL;

	/* Most unchanged tasks were not traced in waits that are replaced. */
	if (!empty) {
		deltas = &frame->deltas[row->deltas - frame->deltas];
	} else if (row->traced->states.ns[STATE_DWAIT] || row->traced->states.ns[STATE_IO]) {
		deltas = &frame->deltas[frame->ndeltas];
		*deltas = no_deltas;
		deltas->grown.valid = row->valid;
	}
	more = resolve(frame->info, row, deltas);
	if (!empty || !deltas || !deltas->waited.total)
		return more;
	row->deltas = deltas;
	frame->ndeltas++;
	frame->unchanged -= row->unchanged;
	row->unchanged = false;
	return more;
}

void frame_note(struct frame_info *info, enum note_id id, uint64_t value)
{
	frame_note_error(info, id, value, 0);
}

void frame_note_error(struct frame_info *info, enum note_id id, uint64_t value, int error)
{
	for (size_t i = 0; i < info->head.nnotes; i++)
		if (info->head.notes[i].id == id && info->head.notes[i].value == value)
			return;
	if (info->head.nnotes < NOTES_MAX)
		info->head.notes[info->head.nnotes++] = (struct note){ id, value, error };
}

/* Adds one delay sum to another. */
static void add_sum(struct delay_sum *a, const struct delay_sum *b)
{
	a->count += b->count;
	a->ns += b->ns;
}

void row_add(struct row *sum, struct deltas *deltas, const struct row *row)
{
	sum->valid |= row->valid;
	sum->members += row->members;
	if (row->traced) {
		traced_add(&deltas->traced, row->traced, !sum->traced);
		sum->traced = &deltas->traced;
	}
	if (row->deltas == &no_deltas)
		return;
	counters_add_known(&deltas->grown, &row->deltas->grown, row->valid);
	add_sum(&deltas->total, &row->deltas->total);
	add_sum(&deltas->mem, &row->deltas->mem);
	waited_add(&deltas->waited, &row->deltas->waited);
}

struct row row_of_interval(const struct frame *frame, const struct row *row, struct deltas *deltas)
{
	const struct frame_info *info = frame->info;
	struct counters excess = { 0 };
	struct row of = *row;

	*deltas = *row->deltas;
	of.deltas = deltas;
	if (!info->since_start || (row->born && !row->before))
		return of;
	if (!row->before) {
		of.valid = 0;
		of.interval_ns = 0;
		return of;
	}
	since_before(info, &of, &deltas->grown, row->valid & row->before->counters.valid);
	deltas->waited = no_deltas.waited;
	resolve_booked(&of, deltas, row->before, &info->machine, &excess);
	of.traced = NULL;
	resolve_row(&of, deltas, false, &info->machine, row_io_bound(info, row));
	of.traced = row->traced;
	return of;
}

struct row row_since_start(const struct frame *frame, const struct row *row, struct deltas *deltas)
{
	struct counters life = row_totals(row);
	struct row of = *row;

	*deltas = no_deltas;
	of.deltas = deltas;
	of.before = NULL;
	of.born = true;
	since_birth(&of, &deltas->grown, &life, row->task ? age_of(frame->info->cur, row->raw) : 0);
	deltas->total = delay_total(deltas->grown.delay, of.valid);
	deltas->mem = delay_mem(deltas->grown.delay, of.valid);
	return of;
}

struct counters row_totals(const struct row *row)
{
	return row->task ? waited_life(row->raw, NULL) : row->raw->counters;
}

void row_add_totals(struct counters *sum, const struct row *row)
{
	struct counters life = row_totals(row);

	counters_add_known(sum, &life, life.valid);
}

uint64_t row_age_ns(const struct frame *frame, const struct row *row)
{
	return age_of(frame->info->cur, row->raw);
}

const struct task_record *row_record(const struct frame *frame, const struct row *row)
{
	if (!row->task || !frame->info->cur->records)
		return NULL;
	return &frame->info->cur->records[row->place];
}

const struct task_record *row_record_before(const struct frame *frame, const struct row *row)
{
	if (!row->task || !row->before || !frame->info->prev->records)
		return NULL;
	return &frame->info->prev->records[sample_index(frame->info->prev, row->before)];
}

const struct task_proc *row_proc(const struct frame *frame, const struct row *row)
{
	if (!row->task || !frame->info->cur->procs)
		return NULL;
	return &frame->info->cur->procs[row->place];
}

const struct task_proc *row_proc_before(const struct frame *frame, const struct row *row)
{
	if (!row->task || !row->before || !frame->info->prev->procs)
		return NULL;
	return &frame->info->prev->procs[sample_index(frame->info->prev, row->before)];
}

char row_state(const struct row *row)
{
	return row->raw->now.state;
}

/* Takes children's times from the counters, else from the separate reading. */
static bool children_of(const struct task_raw *raw, const struct task_proc *proc, bool system,
			uint64_t *ns)
{
	const struct task_children *children = NULL;

	if (raw->counters.valid & VALID_CHILDREN)
		children = &raw->children;
	else if (proc && proc->children_valid)
		children = &proc->children;
	if (!children)
		return false;
	*ns = system ? children->system_ns : children->user_ns;
	return true;
}

bool row_children(const struct frame *frame, const struct row *row, bool system, uint64_t *ns)
{
	return children_of(row->raw, row_proc(frame, row), system, ns);
}

bool row_children_before(const struct frame *frame, const struct row *row, bool system,
			 uint64_t *ns)
{
	return row->before && children_of(row->before, row_proc_before(frame, row), system, ns);
}

void frame_mark_changed(struct frame *frame, struct row *row)
{
	frame->unchanged -= row->unchanged;
	row->unchanged = false;
}

bool row_lost(const struct row *row, uint64_t *ns)
{
	*ns = row->traced ? row->traced->lost_ns : row->deltas->waited.total;
	if (row->traced)
		return row->traced->lost_known;
	return row->valid & (DELAY_TOTAL_KINDS | VALID_DWAIT);
}

bool row_wait(const struct frame *frame, const struct row *row, uint64_t *ns)
{
	const struct task_waits *waits = &row->raw->now.waits;

	if (row->exited || !row->task || !waits_all(waits))
		return false;
	*ns = frame->info->cur->end_ns > waits->first_ns
		      ? frame->info->cur->end_ns - waits->first_ns
		      : 0;
	return true;
}

const struct task_extra *row_extra(const struct frame_info *info, const struct row *row)
{
	return row->task && !row->exited ? sample_extra(info->cur, row->place) : NULL;
}

/* A hash of all that is known of an unchanged task's row. */
static uint64_t hash_idle_row(const struct row *row)
{
	const struct task *task = row->task;
	const uint64_t of[] = { task->key.start_ns, (uint64_t)task->key.pid << 32 | row->valid,
				row->raw->read_ns, (uint64_t)task->info << 32 | task->renamed };

	return hash_bytes(HASH_START, of, sizeof(of)) | 1;
}

uint64_t row_still(const struct frame *frame, const struct row *row)
{
	bool still = row->unchanged && row->deltas == &no_deltas && !row->traced && row->task &&
		     row->interval_ns == frame->info->interval_ns && !row_extra(frame->info, row);

	return still ? hash_idle_row(row) : 0;
}

const struct io_pressure *row_io_bound(const struct frame_info *info, const struct row *row)
{
	const struct task_extra *extra = row_extra(info, row);

	return extra && extra->io.passed_ns ? &extra->io : NULL;
}

const struct task_stop *row_stop(const struct frame *frame, const struct row *row)
{
	const struct task_extra *extra = row_extra(frame->info, row);

	return extra ? extra->held : NULL;
}

bool row_hang(const struct frame *frame, const struct row *row, uint64_t *ns)
{
	const struct sample *cur = frame->info->cur;
	const struct task_extra *extra = row_extra(frame->info, row);

	if (!extra || !extra->hang.tid || (extra->held && extra->held->frozen))
		return false;
	*ns = cur->end_ns > extra->hang.since_ns ? cur->end_ns - extra->hang.since_ns : 0;
	return true;
}

pid_t row_hang_on(const struct frame *frame, const struct row *row)
{
	const struct task_extra *extra = row_extra(frame->info, row);

	return extra ? extra->hang.on : 0;
}

uint32_t row_locked(const struct frame *frame, const struct row *row)
{
	const struct task_extra *extra = row_extra(frame->info, row);

	return extra ? extra->hang.locked : 0;
}

enum wait_state row_wait_state(const struct row *row)
{
	const uint32_t *threads = row->raw->now.waits.threads;

	if (threads[SEEN_DWAIT])
		return STATE_DWAIT;
	return threads[SEEN_BLKIO] ? STATE_IO : threads[SEEN_CPU] ? STATE_CPU : WAIT_STATES;
}

const struct task_evidence *row_evidence(const struct frame *frame, const struct row *row)
{
	const struct task_extra *extra = row_extra(frame->info, row);

	return extra ? extra->evidence : NULL;
}

const struct row *frame_of_pid(const struct frame *frame, pid_t pid)
{
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].task && frame->rows[i].task->key.pid == pid &&
		    !frame->rows[i].exited)
			return &frame->rows[i];
	return NULL;
}

const struct task_waiting *row_waiting(const struct frame *frame, const struct row *row)
{
	const struct task_extra *extra = row_extra(frame->info, row);

	return extra && extra->waiting && extra->waiting->tid ? extra->waiting : NULL;
}

const struct row *frame_find(const struct frame *frame, const struct task_key *key)
{
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].task->key.pid == key->pid &&
		    frame->rows[i].task->key.start_ns == key->start_ns)
			return &frame->rows[i];
	return NULL;
}

size_t frame_living(const struct frame *frame)
{
	size_t n = frame->info->cur->n;

	return n < frame->n ? n : frame->n;
}

size_t frame_from(const struct frame *frame, uint64_t order)
{
	size_t at;

	LOWER_BOUND(at, frame_living(frame), raw_order(frame->rows[at].raw) < order);
	return at;
}

const struct row *frame_find_living(const struct frame *frame, pid_t tgid, pid_t pid,
				    uint64_t start_ns)
{
	uint64_t order = task_order(tgid, pid);
	size_t at = frame_from(frame, order);
	const struct row *row = at < frame_living(frame) ? &frame->rows[at] : NULL;

	if (!row || raw_order(row->raw) != order ||
	    !task_same_start(row->task->key.start_ns, start_ns))
		return NULL;
	return row;
}

void frame_free(struct frame *frame)
{
	free(frame->rows);
	free(frame->deltas);
	free(frame->traced);
	*frame = (struct frame){ 0 };
}
