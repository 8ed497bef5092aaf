/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "history/record.h"
#include "history/record_parts.h"

/* Every so many records one is a key record: readers start anywhere, at the last one before. */
#define KEY_RECORDS 900

/* The record being written. */
struct record_making {
	struct record_state *state;
	const struct frame *frame;
	const struct frame_info *info;
	struct buf *out;
	bool key; /* a key record: readers that continue from the previous one need its times,
		   * too */
	uint64_t passed_ns; /* time between the starts of the previous sample and of this one */
	enum record_step step; /* the pending step, */
	size_t n; /* and its number of elements */
	size_t place; /* one more than the last place with a row; 0: none has one */
	uint64_t site; /* the id of the last site with a row */
	struct buf row, stack; /* scratch buffer */
};

/* A task's current identity and names. */
static struct record_names names_of(const struct task *task)
{
	return (struct record_names){ .start_ns = task->key.start_ns,
				      .latest_ns = task->latest_ns,
				      .lo_ns = task->start_lo,
				      .hi_ns = task->start_hi,
				      .ppid = task->ppid,
				      .uid = task->uid,
				      .info = task->info & NEED_COMMAND,
				      .user = task->user,
				      .comm = task->comm,
				      .command = task->command,
				      .cgroup = task->cgroup,
				      .pod = task->pod,
				      .container = task->container };
}

/* Their hash. */
static uint64_t hash_names(const struct task *task)
{
	const struct record_names names = names_of(task);
	uint64_t hash = hash_bytes(HASH_START, &names, offsetof(struct record_names, user));

	hash = hash_text(hash, names.user);
	hash = hash_text(hash, names.comm);
	hash = hash_text(hash, names.command);
	hash = hash_text(hash, names.cgroup);
	hash = hash_text(hash, names.pod);
	return hash_text(hash, names.container);
}

/* Writes the pending step. */
static void flush_steps(struct record_making *making)
{
	if (making->n)
		bytes_put(making->out, (uint64_t)making->n << STEP_BITS | making->step);
	making->n = 0;
}

/* Adds a step for n elements. */
static void add_steps(struct record_making *making, enum record_step step, size_t n)
{
	if (making->n && (making->step != step || step >= STEP_CHANGED))
		flush_steps(making);
	making->step = step;
	making->n += n;
}

/* The marks of a living element. */
static uint8_t element_mark(const struct sample *cur, size_t i)
{
	return cur->marks && i < cur->n ? cur->marks[i] : 0;
}

/*
 * True if a task's names may differ from the recorded ones: it ran (if the source knows), or was
 * moved to another cgroup.
 */
static bool is_renamed(const struct recorded_element *known, const struct task *task, uint8_t mark)
{
	if (mark & MARK_UNCHANGED && known->ppid == task->ppid && known->renamed == task->renamed)
		return false;
	return known->names != hash_names(task);
}

/* Writes a row for an element; `was`: the row that it is encoded against. */
static void put_element_row(struct record_making *making, struct recorded_element *known,
			    const struct task_raw *was, unsigned parts)
{
	const struct task_raw *raw = known->raw;
	const struct task *task = raw->task;
	struct buf *out = making->out;

	if (parts & PART_MARK)
		bytes_put(out, known->mark);
	if (parts & PART_NAMES) {
		const struct record_names names = names_of(task), none = { 0 };

		table_put(&record_names_table, out, &names, &none);
		known->names = hash_names(task);
		known->ppid = task->ppid;
		known->renamed = task->renamed;
	}
	if (parts & PART_CPU)
		bytes_put(out, known->cpu = task->cpu);
	if (parts & PART_END) {
		const struct record_end end = { task->status, task->reaper, task->mixed,
						task->ended },
					none = { 0 };

		table_put(&record_end_table, out, &end, &none);
	}
	table_put(&record_raw_table, out, raw, was);
}

/* The reading time of an element of the last record, according to its sample by now. */
static uint64_t before_of(const struct record_making *making, const struct recorded_element *was,
			  size_t i)
{
	const struct row *row = &making->frame->rows[i];

	return row->before && !row->raw->was && row->before->task == was->raw->task
		       ? row->before->read_ns
		       : was->raw->read_ns;
}

/* Writes the changes of an existing element. */
static void put_known_element(struct record_making *making, struct recorded_element *was,
			      struct recorded_element *now, size_t i)
{
	const struct record_state *state = making->state;
	struct task_raw *raw = making->info->cur->raw[i], expected;
	bool same = raw == was->raw;
	uint64_t before_ns = same ? was->raw->read_ns : before_of(making, was, i);
	unsigned parts = 0;

	*now = *was;
	now->mark = element_mark(making->info->cur, i);
	if (is_renamed(was, raw->task, now->mark))
		parts |= PART_NAMES;
	now->renamed = raw->task->renamed;
	if (was->cpu != raw->task->cpu)
		parts |= PART_CPU;
	if (before_ns != was->raw->read_ns)
		parts |= PART_BEFORE;
	if (!parts && now->mark == record_predict_mark(state, was->mark, true) &&
	    (same || !memcmp(raw, was->raw, sizeof(*raw)))) {
		add_steps(making, STEP_KEEP, 1);
		was->moved = true;
		return;
	}
	if (now->mark != record_predict_mark(state, was->mark, false))
		parts |= PART_MARK;
	if (raw->exited)
		parts |= PART_END;
	add_steps(making, STEP_CHANGED, 1);
	flush_steps(making);
	bytes_put(making->out, parts);
	if (parts & PART_BEFORE)
		bytes_put_signed(making->out, (int64_t)(before_ns - was->raw->read_ns));
	expected = record_predict(was->raw, before_ns, making->passed_ns);
	record_change(was, now, task_raw_ref(raw));
	put_element_row(making, now, &expected, parts);
}

/* The element of the last record with a task, counted from 1; 0: none. */
static size_t number_of_task(const struct record_state *state, const struct task_raw *raw)
{
	size_t at;

	LOWER_BOUND(at, state->n, raw_order(state->known[at].raw) < raw_order(raw));
	if (at < state->n && state->known[at].raw->task == raw->task)
		return at + 1;
	for (at = 0; at < state->nleft; at++)
		if (state->left[at].raw->task == raw->task)
			return state->n + at + 1;
	return 0;
}

/* Writes a new element, or one that left; task: the number of the element that had its task. */
static void put_new(struct record_making *making, struct recorded_element *now, size_t i,
		    size_t task)
{
	const struct record_state *state = making->state;
	struct task_raw expected = { 0 };
	struct task_raw *raw = making->info->cur->raw[i];
	const struct task_raw *before = raw->was ? NULL : making->frame->rows[i].before;
	unsigned parts = PART_NAMES | (raw->exited ? PART_END : 0);

	*now = (struct recorded_element){ .raw = task_raw_ref(raw),
					  .mark = element_mark(making->info->cur, i) };
	if (task) {
		const struct recorded_element *of = record_numbered(state, task);

		expected = record_predict(of->raw, of->raw->read_ns, making->passed_ns);
		now->names = of->names;
		now->cpu = of->cpu;
		parts |= PART_TASK;
		if (of->names == hash_names(raw->task))
			parts &= ~PART_NAMES;
	}
	if (now->mark)
		parts |= PART_MARK;
	if (now->cpu != raw->task->cpu)
		parts |= PART_CPU;
	if (making->key && before && !making->state->dropped)
		parts |= PART_BEFORE;
	bytes_put(making->out, parts);
	if (task)
		bytes_put(making->out, task);
	if (parts & PART_BEFORE)
		bytes_put_signed(making->out,
				 (int64_t)(before->read_ns - making->info->cur->begin_ns));
	put_element_row(making, now, &expected, parts);
}

/*
 * How many elements, from those at `at` and i on, are unchanged, and cheaply known to be: the
 * source says so, and names have counters.
 */
static size_t count_kept(const struct record_making *making, size_t at, size_t i)
{
	const struct record_state *state = making->state;
	const struct sample *cur = making->info->cur;
	size_t n = 0;

	for (; cur->marks && at + n < state->n && i + n < cur->n; n++) {
		const struct recorded_element *known = &state->known[at + n];
		const struct task_raw *raw = cur->raw[i + n];

		if (known->raw != raw || known->mark != cur->marks[i + n] ||
		    !(known->mark & MARK_UNCHANGED) || known->ppid != raw->task->ppid ||
		    known->renamed != raw->task->renamed || known->cpu != raw->task->cpu)
			break;
	}
	return n;
}

/* Writes that n elements are unchanged. */
static void put_kept_elements(struct record_making *making, size_t at, size_t i, size_t n)
{
	struct record_state *state = making->state;

	memcpy(&state->next[i], &state->known[at], n * sizeof(*state->next));
	for (size_t k = at; k < at + n; k++)
		state->known[k].moved = true;
	add_steps(making, STEP_KEEP, n);
}

/* Writes the changes of living elements. */
static void put_elements(struct record_making *making)
{
	struct record_state *state = making->state;
	const struct sample *cur = making->info->cur;
	size_t at = 0;

	RESERVE(state->next, cur->n, state->next_cap);
	for (size_t i = 0; i < cur->n; i++) {
		const struct task_raw *raw = cur->raw[i];
		size_t kept = count_kept(making, at, i);

		if (kept) {
			put_kept_elements(making, at, i, kept);
			at += kept;
			i += kept - 1;
			continue;
		}
		for (; at < state->n && raw_order(state->known[at].raw) < raw_order(raw); at++)
			add_steps(making, STEP_GONE, 1);
		if (at < state->n && state->known[at].raw->task == raw->task) {
			put_known_element(making, &state->known[at++], &state->next[i], i);
			continue;
		}
		add_steps(making, STEP_NEW, 1);
		flush_steps(making);
		put_new(making, &state->next[i], i, raw->was ? number_of_task(state, raw) : 0);
	}
	flush_steps(making);
	bytes_put(making->out, 0);
}

/* Writes the elements of tasks that left. */
static void put_left(struct record_making *making)
{
	struct record_state *state = making->state;
	const struct sample *cur = making->info->cur;

	RESERVE(state->next_left, cur->left, state->next_left_cap);
	for (size_t i = 0; i < cur->left; i++)
		put_new(making, &state->next_left[i], cur->n + i,
			number_of_task(state, cur->raw[cur->n + i]));
}

/* The element at a place of the record being written. */
static struct recorded_element *known_at(const struct record_state *state, size_t place)
{
	return place < state->n ? &state->known[place] : &state->left[place - state->n];
}

/* Begins the row of a place, encoded as the distance from the previous one. */
static void put_row_place(struct record_making *making, size_t place)
{
	bytes_put(making->out, place + 1 - making->place);
	making->place = place + 1;
}

/* Begins rows of places, or ends them. */
static void begin_places(struct record_making *making)
{
	making->place = 0;
}

static void end_places(struct record_making *making)
{
	bytes_put(making->out, 0);
}

/* Writes the delays that tasks' totals exclude from now on, as they were impossible. */
static void put_dropped(struct record_making *making)
{
	static const struct counters none;
	bool any = making->key || making->info->stale;

	begin_places(making);
	for (size_t i = 0; i < making->frame->n && any; i++) {
		const struct row *row = &making->frame->rows[i];

		if (!(making->key || row->corrected) || !row->task->dropped)
			continue;
		put_row_place(making, i);
		table_put(&record_dropped_table, making->out, row->task->dropped, &none);
	}
	end_places(making);
}

/*
 * Writes a row of data read on demand of an element, if it differs from `known` (NULL: all 0),
 * which is updated. Returns that.
 */
static void *put_read(struct record_making *making, const struct field_table *table, size_t place,
		      const void *read, void *known, size_t size)
{
	if (!known)
		known = xcalloc(1, size);
	making->row.len = 0;
	if (!table_put(table, &making->row, read, known))
		return known;
	put_row_place(making, place);
	buf_add(making->out, making->row.data, making->row.len);
	return memcpy(known, read, size);
}

/* Writes data of elements that is read on demand. */
static void put_on_demand(struct record_making *making)
{
	const struct sample *cur = making->info->cur;

	begin_places(making);
	for (size_t i = 0; i < cur->n + cur->left && cur->records; i++) {
		struct recorded_rare *more = record_rare(known_at(making->state, i));

		more->record = put_read(making, &record_fields_table, i, &cur->records[i],
					more->record, sizeof(*more->record));
	}
	end_places(making);
	begin_places(making);
	for (size_t i = 0; i < cur->n + cur->left && cur->procs; i++) {
		struct recorded_rare *more = record_rare(known_at(making->state, i));

		more->proc = put_read(making, &record_proc_table, i, &cur->procs[i], more->proc,
				      sizeof(*more->proc));
	}
	end_places(making);
}

/* An element's data besides its counters. */
static struct record_extra extra_of(const struct task_extra *extra, uint64_t begin_ns)
{
	const struct task_waiting *waiting = extra->waiting;
	struct record_extra out = { .hang = extra->hang, .io = extra->io };

	if (out.io.passed_ns)
		out.io.until_ns -= begin_ns;
	if (waiting && waiting->tid) {
		out.tid = waiting->tid;
		out.state = waiting->state;
		out.class = waiting->class;
		out.syscall = waiting->syscall;
		out.on = waiting->on.len ? waiting->on.data : NULL;
		out.where = waiting->where.len ? waiting->where.data : NULL;
	}
	if (extra->held) {
		out.has_held = true;
		out.held = *extra->held;
		out.tracer_comm = extra->held->tracer ? extra->held->tracer_comm : NULL;
	}
	if (extra->evidence) {
		out.has_evidence = true;
		out.evidence = *extra->evidence;
	}
	return out;
}

/*
 * Writes elements' data besides their counters: of changed ones, and if only some tasks were
 * selected, of all.
 */
static void put_extras(struct record_making *making)
{
	static const struct record_extra none;
	const struct sample *cur = making->info->cur;

	begin_places(making);
	for (size_t i = 0; i < cur->nextras; i++) {
		const struct record_extra extra = extra_of(cur->extras[i], cur->begin_ns);
		size_t place = cur->extras[i]->place;

		if (place >= cur->n ||
		    (making->frame->rows[place].unchanged && !making->info->selected_only))
			continue;
		making->row.len = 0;
		if (!table_put(&record_extra_table, &making->row, &extra, &none))
			continue;
		put_row_place(making, place);
		buf_add(making->out, making->row.data, making->row.len);
	}
	end_places(making);
}

/* How a row's task spent the interval. */
static struct record_traced traced_of(const struct traced *traced)
{
	struct record_traced out = { .states = traced->states,
				     .lost_ns = traced->lost_ns,
				     .lost_known = traced->lost_known,
				     .waker = traced->waker,
				     .tgid = traced->tgid,
				     .start_ns = traced->start_ns };

	for (const struct traced *at = traced->more; at; at = at->more)
		out.more++;
	return out;
}

/* Writes how a row's task spent the interval, unless that is as expected. */
static void put_traced(struct record_making *making, size_t place)
{
	const struct traced *traced = making->frame->rows[place].traced;
	uint64_t interval_ns = making->info->trace->interval_ns;
	struct recorded_element *known = known_at(making->state, place);
	struct record_traced now = { 0 }, expected;
	struct record_process last = { 0 };

	expected = record_predict_traced(record_steady_states(known), interval_ns);
	if (traced)
		now = traced_of(traced);
	making->row.len = 0;
	if (table_put(&record_traced_table, &making->row, &now, &expected) ||
	    !traced != !record_steady_states(known)) {
		put_row_place(making, place);
		bytes_put(making->out, traced != NULL);
		if (traced)
			buf_add(making->out, making->row.data, making->row.len);
	}
	for (const struct traced *at = traced ? traced->more : NULL; at; at = at->more) {
		const struct record_process more = { at->tgid, at->start_ns };

		table_put(&record_process_table, making->out, &more, &last);
		last = more;
	}
	record_note_traced(known, traced ? &now : NULL, interval_ns);
}

/* A kept text equal to another; `was`: the one kept for it before. */
static const char *keep_again(struct record_state *state, const char *text, const char *was)
{
	return text && was && !strcmp(text, was) ? was : record_keep(state, text);
}

/* Appends the text of a stack: one function per line. */
static const char *stack_text(struct record_making *making, size_t stack)
{
	const struct trace_frame *trace = making->info->trace;

	if (!stack || stack >= trace->nstacks)
		return NULL;
	making->stack.len = 0;
	for (size_t i = 0; i < trace->stacks[stack].n; i++)
		buf_printf(&making->stack, "%s%s", i ? "\n" : "",
			   trace->stacks[stack].functions[i]);
	return buf_cstr(&making->stack);
}

/* Writes a site; known: the expected one. */
static void put_site(struct record_making *making, struct recorded_site *known,
		     const struct site *site)
{
	struct record_state *state = making->state;
	const struct record_site was = known->row;
	struct record_site now = { .site = *site,
				   .stack = known->seen && known->trace_stack == site->stack
						    ? was.stack
						    : stack_text(making, site->stack) };
	bool differs;

	making->row.len = 0;
	differs = table_put(&record_site_table, &making->row, &now, &was);
	if (differs || !known->there) {
		bytes_put(making->out, site->id - making->site);
		making->site = site->id;
		buf_add(making->out, making->row.data, making->row.len);
	}
	now.site.comm = keep_again(state, site->comm, was.site.comm);
	now.site.syscall = keep_again(state, site->syscall, was.site.syscall);
	now.site.on = keep_again(state, site->on, was.site.on);
	now.site.where = keep_again(state, site->where, was.site.where);
	now.stack = keep_again(state, now.stack, was.stack);
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		now.site.wakers[i].name =
			keep_again(state, site->wakers[i].name, was.site.wakers[i].name);
	known->row = now;
	known->trace_stack = site->stack;
	known->there = true;
	known->seen = state->number;
}

/* Orders sites by id. */
static int compare_ids(const void *a, const void *b)
{
	uint64_t x = (*(const struct site *const *)a)->id, y = (*(const struct site *const *)b)->id;

	return (x > y) - (x < y);
}

/* Writes the sites that are not as expected, by id; last those without waiters from now on. */
static void put_sites(struct record_making *making, const struct trace_frame *trace)
{
	struct record_state *state = making->state;
	const struct site **sites = xcalloc(trace->n + 1, sizeof(*sites));
	size_t n = 0, at = 0;

	for (size_t i = 0; i < trace->n; i++)
		if (!trace->sites[i]->unattributed)
			sites[n++] = trace->sites[i];
	qsort(sites, n, sizeof(*sites), compare_ids);
	making->site = 0;
	for (size_t i = 0; i < n; i++) {
		at = record_site_index(state, sites[i]->id);
		if (at == state->nsites || state->sites[at].row.site.id != sites[i]->id)
			record_add_site(state, at);
		put_site(making, &state->sites[at], sites[i]);
	}
	bytes_put(making->out, 0);
	making->site = 0;
	for (at = 0; at < state->nsites; at++) {
		struct recorded_site *known = &state->sites[at];

		if (!known->there || known->seen == state->number)
			continue;
		bytes_put(making->out, known->row.site.id - making->site);
		making->site = known->row.site.id;
		record_leave_site(known);
	}
	bytes_put(making->out, 0);
	free(sites);
}

/* Writes the rests without a site, and the wakers' activities. */
static void put_links(struct record_making *making, const struct trace_frame *trace)
{
	struct record_rest none = { 0 };
	struct site_link last = { 0 };
	size_t rests = 0;

	for (size_t i = 0; i < trace->n; i++)
		rests += trace->sites[i]->unattributed;
	bytes_put(making->out, rests);
	for (size_t i = 0; i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		const struct record_rest rest = {
			site->tgid,	      site->start_ns,	     site->comm,
			(uint32_t)site->kind, site->unattributed_ns, site->unknown
		};

		if (site->unattributed)
			table_put(&record_rest_table, making->out, &rest, &none);
	}
	bytes_put(making->out, trace->nlinks);
	for (size_t i = 0; i < trace->nlinks; i++) {
		table_put(&record_link_table, making->out, &trace->links[i], &last);
		last = trace->links[i];
	}
}

/* Writes the user stacks of all sites. */
static void put_user_stacks(struct record_making *making, const struct trace_frame *trace)
{
	struct record_user_stack row, last = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++)
		n += trace->sites[i]->nuser_stacks + trace->sites[i]->nwaker_stacks;
	bytes_put(making->out, n);
	for (size_t i = 0; i < trace->n; i++)
		for (size_t k = 0;
		     k < trace->sites[i]->nuser_stacks + trace->sites[i]->nwaker_stacks; k++) {
			const struct site_user_stack *part = &trace->sites[i]->user_stacks[k];

			row = (struct record_user_stack){ .site = trace->sites[i]->id,
							  .stack = stack_text(making, part->stack),
							  .ns = part->ns,
							  .count = part->count,
							  .waker = part->waker };
			table_put(&record_user_stack_table, making->out, &row, &last);
			row.stack = keep_again(making->state, row.stack, last.stack);
			last = row;
		}
}

/* Writes what was traced. */
static void put_trace(struct record_making *making)
{
	struct record_state *state = making->state;
	const struct trace_frame *trace = making->info->trace;

	record_predict_sites(state, trace, trace ? trace->interval_ns : 0);
	begin_places(making);
	for (size_t i = 0; i < making->frame->n && (trace || state->standing); i++)
		if (trace)
			put_traced(making, i);
		else
			record_note_traced(known_at(state, i), NULL, 0);
	state->standing = trace;
	if (!trace)
		return;
	end_places(making);
	put_sites(making, trace);
	put_links(making, trace);
	put_user_stacks(making, trace);
}

/* Writes the figures of a group, unless already in the record. */
static void put_group(struct record_making *making, const char *path,
		      const struct group_figures *figures)
{
	struct record_state *state = making->state;
	size_t at = record_group_index(state, path);
	bool there = at < state->ngroups && !strcmp(state->groups[at].path, path);
	struct recorded_group *known =
		there ? &state->groups[at] : record_add_group(state, at, path);

	if (there && known->there)
		return;
	bytes_put(making->out, there ? 1 : 2);
	if (there)
		bytes_put(making->out, at);
	else
		bytes_put_text(making->out, path);
	bytes_put(making->out, figures->before != NULL);
	table_put(&record_group_table, making->out, figures->now, &known->sample);
	known->sample = *figures->now;
	known->there = true;
	known->seen = state->number;
}

/* Writes the figures of the groups, and of all their parent groups. */
static void put_groups(struct record_making *making, const struct frame *folded)
{
	for (size_t i = 0; folded && i < folded->n; i++) {
		const struct group *group = folded->rows[i].group;

		if (!group || !group->name || !group->figures->now)
			continue;
		put_group(making, group->name, group->figures);
		for (const struct group_above *above = group->figures->above;
		     above && above->figures.now; above = above->figures.above)
			put_group(making, above->path, &above->figures);
	}
	bytes_put(making->out, 0);
}

/* The head of a frame's record. */
static struct record_head head_of(struct record_state *state, const struct frame_info *info,
				  uint64_t dropped)
{
	const struct sample *cur = info->cur;
	struct record_head head = {
		.real_ns = cur->real_ns,
		.begin_ns = cur->begin_ns,
		.took_ns = cur->end_ns - cur->begin_ns,
		.interval_ns = info->interval_ns,
		.interval_known = info->prev,
		.marked = cur->marks,
		.threads = info->threads,
		.hangs_read = cur->hangs_read,
		.traced = info->trace,
		.n = cur->n,
		.left = cur->left,
		.steady = info->prev ? sample_stable(cur, 1) : 0,
		.have = cur->have,
		.dropped = dropped,
		.frame = info->head,
		.system = *info->system,
		.clock_real_ns = info->clocks->real_ns,
	};

	if (info->trace)
		head.trace = (struct trace_frame){ .interval_ns = info->trace->interval_ns,
						   .lost = info->trace->lost,
						   .stacked = info->trace->stacked,
						   .switches = info->trace->switches,
						   .cost = info->trace->cost };
	head.frame.source = record_keep(state, info->head.source);
	head.frame.cgroup = record_keep(state, info->head.cgroup);
	head.frame.hierarchy = record_keep(state, info->head.hierarchy);
	return head;
}

/* Writes the head, the notes and, if changed, how long the clocks slept. */
static void put_head(struct record_making *making, uint64_t dropped)
{
	static const struct note no_note;
	static const struct clock_sleep no_sleep;
	struct record_state *state = making->state;
	const struct frame_info *info = making->info;
	const struct record_head head = head_of(state, info, dropped);
	const struct clocks *clocks = info->clocks;

	record_predict_head(state);
	table_put(&record_head_table, making->out, &head, &state->head);
	state->head = head;
	bytes_put(making->out, info->head.nnotes);
	for (size_t i = 0; i < info->head.nnotes; i++)
		table_put(&record_note_table, making->out, &info->head.notes[i], &no_note);
	/* Suspensions once found stay: their number only grows. */
	bytes_put(making->out, clocks->n - state->clocks.n);
	for (size_t i = state->clocks.n; i < clocks->n; i++)
		table_put(&record_sleep_table, making->out, &clocks->sleeps[i], &no_sleep);
	state->clocks.n = clocks->n;
}

bool record_is_due(const struct record_state *state)
{
	return !state->begun || state->number + 1 >= KEY_RECORDS;
}

void record_restart(struct record_state *state, uint64_t dropped)
{
	record_clear(state);
	state->dropped = dropped;
}

void record_encode(struct record_state *state, const struct frame *frame,
		   const struct frame *folded, struct buf *out)
{
	const struct frame_info *info = frame->info;
	bool key = record_is_due(state) || !info->prev;
	struct record_making making = {
		.state = state, .frame = frame, .info = info, .out = out, .key = key
	};

	if (key)
		record_clear(state);
	else
		making.passed_ns = info->cur->begin_ns - state->head.begin_ns;
	bytes_put(out, key);
	record_begin(state);
	put_head(&making, state->dropped);
	put_groups(&making, folded);
	put_elements(&making);
	put_left(&making);
	record_turn(state, info->cur->n, info->cur->left);
	put_dropped(&making);
	put_on_demand(&making);
	put_extras(&making);
	put_trace(&making);
	record_end_of(state);
	state->dropped = 0;
	buf_free(&making.row);
	buf_free(&making.stack);
}
