/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "history/record_parts.h"

/* Maximum number of tasks; a record that claims more is malformed. */
#define ELEMENTS_MAX (1 << 22)

/* The record being read. */
struct record_reading {
	struct record_state *state;
	struct bytes in;
	bool key;
	uint64_t passed_ns; /* time between the starts of the previous sample and of this one */
	size_t n, nleft; /* elements of it so far */
	size_t place; /* one more than the last place with a row */
};

/* Replaces a text of a task. */
static void set_task_text(char **text, const char *by)
{
	free(*text);
	*text = xstrdup(by);
}

/* Sets a task's identity and names. */
static void set_names(struct record_state *state, struct task *task,
		      const struct record_names *names)
{
	task->key.start_ns = names->start_ns;
	task->latest_ns = names->latest_ns;
	task->start_lo = names->lo_ns;
	task->start_hi = names->hi_ns;
	task->ppid = names->ppid;
	task->uid = names->uid;
	task->info = (uint16_t)names->info;
	task_set_user(task, shared_ref(record_keep(state, names->user)));
	task_set_comm(task, names->comm ? names->comm : "", TASK_COMM_MAX);
	set_task_text(&task->command, names->command);
	task_set_cgroup(task, shared_ref(record_keep(state, names->cgroup)));
	set_task_text(&task->pod, names->pod);
	set_task_text(&task->container, names->container);
	task->renamed++;
}

/* Sets how a task exited. */
static void set_task_end(struct task *task, const struct record_end *end)
{
	task->status = end->status;
	task->reaper = end->reaper;
	task->mixed = end->mixed;
	set_task_text(&task->ended, end->ended);
}

/* In a key record: the previous element of the same task, if it continues; NULL: there was none. */
static struct recorded_element *find_former(struct record_reading *reading,
					    const struct task_raw *raw, uint64_t start_ns)
{
	struct record_state *state = reading->state;
	size_t at;

	LOWER_BOUND(at, state->n, raw_order(state->known[at].raw) < raw_order(raw));
	if (!reading->key || at == state->n || raw_order(state->known[at].raw) != raw_order(raw) ||
	    state->known[at].raw->task->key.start_ns != start_ns)
		return NULL;
	return &state->known[at];
}

/* Moves the values played for an element to its successor in the next record. */
static void take_played(struct recorded_element *was, struct recorded_element *now)
{
	if (was->moved || record_decoder_state(now) || !record_decoder_state(was))
		return;
	record_rare(now)->played = was->more->played;
	was->more->played = NULL;
}

/* Copies the task of an element that was in earlier records, too, and its played values. */
static void keep_task(struct recorded_element *was, struct recorded_element *now)
{
	now->raw->task = task_ref(was->raw->task);
	now->raw->ran_ns = was->raw->ran_ns;
	take_played(was, now);
}

/*
 * Reads the row of an element after its first parts into `now`, whose raw element has the expected
 * values, and its task; without one it gets a task.
 */
static void get_row(struct record_reading *reading, struct recorded_element *now, unsigned parts)
{
	struct record_names names = { 0 };
	struct record_end end = { 0 };
	struct recorded_element *former = NULL;
	uint64_t cpu = 0;

	if (parts & PART_MARK)
		now->mark = (uint8_t)bytes_get_below(&reading->in, 256);
	if (parts & PART_NAMES)
		table_get(&record_names_table, &reading->in, &names);
	if (parts & PART_CPU)
		cpu = bytes_get_below(&reading->in, UINT32_MAX);
	if (parts & PART_END)
		table_get(&record_end_table, &reading->in, &end);
	table_get(&record_raw_table, &reading->in, now->raw);
	/* A letter of /proc/PID/stat: outputs print it unchanged. */
	reading->in.bad |= now->raw->now.state && !isalpha((unsigned char)now->raw->now.state);
	if (!now->raw->task)
		former = find_former(reading, now->raw, names.start_ns);
	if (former)
		keep_task(former, now);
	if (!now->raw->task)
		now->raw->task = task_new((struct task_key){ now->raw->pid, names.start_ns },
					  now->raw->tgid);
	if (parts & PART_NAMES && !reading->in.bad)
		set_names(reading->state, now->raw->task, &names);
	if (parts & PART_END && !reading->in.bad)
		set_task_end(now->raw->task, &end);
	if (parts & PART_CPU || reading->key)
		now->raw->task->cpu = (uint32_t)cpu;
}

/* The reader's data of an element. */
static struct decoder_state *played_of(struct recorded_element *known)
{
	struct recorded_rare *more = record_rare(known);

	if (!more->played)
		more->played = xcalloc(1, sizeof(*more->played));
	return more->played;
}

/* A raw element of a task with the expected values. */
static struct task_raw *new_raw(const struct task_raw *expected, struct task *task)
{
	struct task_raw *raw = task_raw_new();

	*raw = *expected;
	raw->task = task;
	return raw;
}

/* Reads an existing element. */
static void get_known(struct record_reading *reading, struct recorded_element *was,
		      struct recorded_element *now)
{
	unsigned parts = (unsigned)bytes_get_below(&reading->in, PARTS);
	uint64_t before_ns = was->raw->read_ns;
	struct task_raw expected;

	if (parts & PART_BEFORE)
		before_ns += (uint64_t)bytes_get_signed(&reading->in);
	expected = record_predict(was->raw, before_ns, reading->passed_ns);
	*now = *was;
	record_change(was, now, new_raw(&expected, task_ref(was->raw->task)));
	now->mark = record_predict_mark(reading->state, was->mark, false);
	get_row(reading, now, parts);
	if (raw_order(now->raw) != raw_order(was->raw))
		reading->in.bad = true;
	if (parts & PART_BEFORE)
		played_of(now)->before_ns = before_ns;
}

/* Reads a new element, or one of a task that left. */
static void get_new(struct record_reading *reading, struct recorded_element *now)
{
	struct record_state *state = reading->state;
	unsigned parts = (unsigned)bytes_get_below(&reading->in, PARTS);
	struct task_raw expected = { 0 };
	struct recorded_element *of = NULL;
	uint64_t before_ns = 0;

	*now = (struct recorded_element){ 0 };
	if (parts & PART_TASK) {
		uint64_t number = bytes_get_below(&reading->in, state->n + state->nleft + 1);

		of = number ? record_numbered(state, number) : NULL;
		reading->in.bad |= !of || reading->key;
	}
	if (parts & PART_BEFORE)
		before_ns = state->head.begin_ns + (uint64_t)bytes_get_signed(&reading->in);
	if (of)
		expected = record_predict(of->raw, of->raw->read_ns, reading->passed_ns);
	now->raw = new_raw(&expected, of ? task_ref(of->raw->task) : NULL);
	reading->in.bad |= !of && !(parts & PART_NAMES);
	if (of)
		take_played(of, now);
	get_row(reading, now, parts);
	if (before_ns)
		played_of(now)->before_ns = before_ns;
}

/* The next element to be read; the one after the last. */
static struct recorded_element *next_element(struct record_reading *reading)
{
	struct record_state *state = reading->state;

	GROW(state->next, reading->n, state->next_cap);
	return &state->next[reading->n++];
}

/* Keeps some elements unchanged. */
static void read_kept_elements(struct record_reading *reading, size_t *at, uint64_t n)
{
	struct record_state *state = reading->state;

	for (; n && *at < state->n; n--) {
		struct recorded_element *was = &state->known[(*at)++], *now = next_element(reading);

		*now = *was;
		now->mark = record_predict_mark(state, was->mark, true);
		was->moved = true;
	}
	reading->in.bad |= n != 0;
}

/* True if the element read last comes after the one before it. */
static bool in_order(const struct record_reading *reading)
{
	const struct recorded_element *last = &reading->state->next[reading->n - 1];

	return reading->n < 2 || raw_order(last[-1].raw) < raw_order(last->raw);
}

/* Reads the living elements. */
static void get_elements(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct bytes *in = &reading->in;
	size_t at = 0;
	uint64_t step;

	while (!in->bad && (step = bytes_get(in)) && !in->bad) {
		uint64_t n = step >> STEP_BITS;

		switch (step & ((1 << STEP_BITS) - 1)) {
		case STEP_KEEP:
			read_kept_elements(reading, &at, n);
			break;
		case STEP_GONE:
			in->bad |= n > state->n - at;
			at += in->bad ? 0 : n;
			break;
		case STEP_CHANGED:
			if (at == state->n) {
				in->bad = true;
				break;
			}
			get_known(reading, &state->known[at], next_element(reading));
			at++;
			break;
		default:
			get_new(reading, next_element(reading));
		}
		in->bad |= reading->n > ELEMENTS_MAX || (reading->n && !in_order(reading));
	}
	in->bad |= reading->n != state->head.n;
}

/* Reads the elements of tasks that left. */
static void get_left(struct record_reading *reading)
{
	struct record_state *state = reading->state;

	for (; reading->nleft < state->head.left && !reading->in.bad; reading->nleft++) {
		GROW(state->next_left, reading->nleft, state->next_left_cap);
		get_new(reading, &state->next_left[reading->nleft]);
	}
}

/* Takes the place of the next row; false: there are no more. */
static bool next_place(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	uint64_t more = bytes_get(&reading->in);

	if (!more || reading->in.bad) {
		reading->place = 0;
		return false;
	}
	if (more > state->n + state->nleft - reading->place) {
		reading->in.bad = true;
		reading->place = 0;
		return false;
	}
	reading->place += more;
	return true;
}

/* The element of the row's place. */
static struct recorded_element *at_place(const struct record_reading *reading)
{
	return record_numbered(reading->state, reading->place);
}

/* Reads impossible delays: they apply from the next record on. */
static void get_dropped(struct record_reading *reading)
{
	struct record_state *state = reading->state;

	while (next_place(reading)) {
		struct deferred_excess fix = { .task = task_ref(at_place(reading)->raw->task) };

		table_get(&record_dropped_table, &reading->in, &fix.dropped);
		/* What a key record has may be of any time before. */
		if (!reading->key || fix.task->dropped)
			rebuilt_impossible(played_of(at_place(reading)), &fix.dropped,
					   fix.task->dropped);
		GROW(state->rebuilt.fixes, state->rebuilt.nfixes, state->rebuilt.fixes_cap);
		state->rebuilt.fixes[state->rebuilt.nfixes++] = fix;
	}
}

/* Reads what was read on demand. */
static void get_on_demand(struct record_reading *reading)
{
	while (next_place(reading)) {
		struct recorded_rare *more = record_rare(at_place(reading));

		if (!more->record)
			more->record = xcalloc(1, sizeof(*more->record));
		table_get(&record_fields_table, &reading->in, more->record);
	}
	while (next_place(reading)) {
		struct recorded_rare *more = record_rare(at_place(reading));

		if (!more->proc)
			more->proc = xcalloc(1, sizeof(*more->proc));
		table_get(&record_proc_table, &reading->in, more->proc);
	}
}

/* Sets a buffer's text. */
static void set_buf(struct buf *buf, const char *text)
{
	buf_puts(buf, text ? text : "");
	buf_cstr(buf);
}

/* Sets what a task waits on. */
static void set_waiting(struct record_state *state, struct task_extra *extra,
			const struct record_extra *row)
{
	struct task_waiting *waiting = extra->waiting = xcalloc(1, sizeof(*waiting));

	waiting->tid = row->tid;
	waiting->state = (enum wait_state)row->state;
	waiting->class = (enum wait_class)row->class;
	waiting->number = -1;
	waiting->syscall = record_keep(state, row->syscall);
	set_buf(&waiting->on, row->on);
	set_buf(&waiting->where, row->where);
	set_buf(&waiting->stack, NULL);
}

/* Reads what was read of elements besides their counters. */
static void get_extras(struct record_reading *reading)
{
	struct record_state *state = reading->state;

	while (next_place(reading)) {
		struct record_extra row = { 0 };
		struct task_extra *extra;

		if (!table_get(&record_extra_table, &reading->in, &row))
			return;
		extra = sample_add_extra(&state->rebuilt.extras, reading->place - 1);
		extra->hang = row.hang;
		if (row.tid)
			set_waiting(state, extra, &row);
		if (row.has_evidence)
			extra->evidence = evidence_copy(&row.evidence);
		if (row.has_held) {
			extra->held = xcalloc(1, sizeof(*extra->held));
			*extra->held = row.held;
			if (row.tracer_comm)
				strncpy(extra->held->tracer_comm, row.tracer_comm, TASK_COMM_MAX);
		}
		if (row.io.passed_ns)
			rebuilt_bound(played_of(at_place(reading)), &row.io, state->head.begin_ns);
	}
}

/* Reads how a task spent the interval, which has a row; else it is as expected. */
static void get_traced(struct record_reading *reading, struct recorded_element *known, bool row)
{
	struct record_state *state = reading->state;
	uint64_t interval_ns = state->head.trace.interval_ns;
	struct record_traced now = record_predict_traced(record_steady_states(known), interval_ns);
	struct record_process last = { 0 };
	bool traced = row ? bytes_get_below(&reading->in, 2) : record_steady_states(known) != NULL;

	if (row && traced)
		table_get(&record_traced_table, &reading->in, &now);
	now.waker = record_keep(state, now.waker);
	if (traced)
		rebuilt_traced(played_of(known), &now);
	for (uint32_t i = 0; i < now.more && traced && !reading->in.bad; i++)
		if (table_get(&record_process_table, &reading->in, &last))
			rebuilt_more(record_decoder_state(known), &last);
	record_note_traced(known, traced ? &now : NULL, interval_ns);
}

/* Keeps the texts of a site that was read. */
static void keep_site(struct record_state *state, struct record_site *row)
{
	row->site.comm = record_keep(state, row->site.comm);
	row->site.syscall = record_keep(state, row->site.syscall);
	row->site.on = record_keep(state, row->site.on);
	row->site.where = record_keep(state, row->site.where);
	row->stack = record_keep(state, row->stack);
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		row->site.wakers[i].name = record_keep(state, row->site.wakers[i].name);
}

/* Reads the sites that are not as expected. */
static void get_sites(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct bytes *in = &reading->in;
	uint64_t id = 0, more;

	while ((more = bytes_get(in)) && !in->bad) {
		struct recorded_site *known;
		size_t at;

		id += more;
		at = record_site_index(state, id);
		if (at == state->nsites || state->sites[at].row.site.id != id)
			record_add_site(state, at);
		known = &state->sites[at];
		if (!table_get(&record_site_table, in, &known->row)) {
			known->row = (struct record_site){ .site.kind = -1 };
			return;
		}
		known->row.site.id = id;
		if (known->row.site.kind >= (int)WAIT_KINDS || known->row.site.kind < -1)
			in->bad = true;
		keep_site(state, &known->row);
		known->there = true;
	}
	id = 0;
	while ((more = bytes_get(in)) && !in->bad) {
		size_t at;

		id += more;
		at = record_site_index(state, id);
		if (at == state->nsites || state->sites[at].row.site.id != id)
			in->bad = true;
		else
			record_leave_site(&state->sites[at]);
	}
}

/* Reads the rests that no site explains, and what wakers did. */
static void get_links(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct site_link last = { 0 };
	uint64_t n = bytes_get(&reading->in);

	for (; n && !reading->in.bad; n--) {
		struct record_rest row = { 0 };
		struct site rest;

		if (!table_get(&record_rest_table, &reading->in, &row))
			return;
		rest = site_unattributed(row.tgid, row.start_ns, record_keep(state, row.comm),
					 row.kind, row.ns);
		rest.unknown = row.unknown;
		rebuilt_site(state->rebuilt.given, &rest);
	}
	n = bytes_get(&reading->in);
	for (; n && !reading->in.bad; n--)
		if (table_get(&record_link_table, &reading->in, &last))
			rebuilt_link(state->rebuilt.given, &last);
}

/* Reads the user stacks of all sites. */
static void get_user_stacks(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct record_user_stack row = { 0 };

	for (uint64_t n = bytes_get(&reading->in); n && !reading->in.bad; n--) {
		struct site_user_stack part;

		if (!table_get(&record_user_stack_table, &reading->in, &row))
			return;
		row.stack = record_keep(state, row.stack);
		part = (struct site_user_stack){ .stack = rebuilt_stack(state, row.stack),
						 .ns = row.ns,
						 .count = row.count,
						 .waker = row.waker };
		rebuilt_user_stack(state->rebuilt.given, row.site, &part);
	}
}

/* Reads what was traced. */
static void get_trace(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	bool traced = state->head.traced;
	size_t at = 0;

	record_predict_sites(state, traced, state->head.trace.interval_ns);
	for (size_t i = 0; i < state->n + state->nleft && !traced && state->standing; i++)
		record_note_traced(record_numbered(state, i + 1), NULL, 0);
	state->standing = traced;
	if (!traced)
		return;
	while (!reading->in.bad) {
		bool row = next_place(reading);
		size_t until = row ? reading->place - 1 : state->n + state->nleft;

		for (; at < until; at++)
			get_traced(reading, record_numbered(state, at + 1), false);
		if (!row)
			break;
		get_traced(reading, record_numbered(state, ++at), true);
	}
	rebuilt_totals(state->rebuilt.given, &state->head.trace);
	get_sites(reading);
	for (size_t i = 0; i < state->nsites; i++) {
		struct recorded_site *known = &state->sites[i];

		if (!known->there)
			continue;
		known->seen = state->number;
		known->row.site.stack = rebuilt_stack(state, known->row.stack);
		rebuilt_site(state->rebuilt.given, &known->row.site);
	}
	get_links(reading);
	get_user_stacks(reading);
}

/* Reads the figures of groups. */
static void get_groups(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct bytes *in = &reading->in;
	uint64_t how;

	while ((how = bytes_get_below(in, 3)) && !in->bad) {
		struct recorded_group *known = NULL;
		const char *path;
		size_t at;

		if (how == 1) {
			at = bytes_get_below(in, state->ngroups);
		} else {
			path = bytes_get_text(in);
			if (!path || in->bad) {
				in->bad = true;
				return;
			}
			at = record_group_index(state, path);
			if (at < state->ngroups && !strcmp(state->groups[at].path, path)) {
				in->bad = true;
				return;
			}
			record_add_group(state, at, path);
		}
		if (in->bad)
			return;
		known = &state->groups[at];
		known->follows = bytes_get_below(in, 2) != 0;
		known->there = true;
		known->seen = state->number;
		table_get(&record_group_table, in, &known->sample);
		rebuilt_group(state, known);
	}
}

/* Reads the head, the notes and how long the clocks slept. */
static void get_head(struct record_reading *reading)
{
	struct record_state *state = reading->state;
	struct clocks *clocks = &state->clocks;
	struct frame_head *frame = &state->head.frame;
	struct bytes *in = &reading->in;
	uint64_t n;

	record_predict_head(state);
	table_get(&record_head_table, in, &state->head);
	frame->source = record_keep(state, frame->source);
	frame->cgroup = record_keep(state, frame->cgroup);
	frame->hierarchy = record_keep(state, frame->hierarchy);
	if (!frame->source)
		frame->source = "";
	in->bad |= frame->delayacct < DELAYACCT_UNKNOWN || frame->delayacct > DELAYACCT_ON ||
		   (frame->hierarchy_version && !frame->hierarchy);
	frame->nnotes = 0;
	for (n = bytes_get_below(in, NOTES_MAX + 1); n && !in->bad; n--) {
		frame->notes[frame->nnotes] = (struct note){ 0 };
		table_get(&record_note_table, in, &frame->notes[frame->nnotes++]);
	}
	for (n = bytes_get_below(in, (uint64_t)(in->end - in->at) + 1); n && !in->bad; n--) {
		struct clock_sleep sleep = { 0 };

		table_get(&record_sleep_table, in, &sleep);
		clocks->sleeps =
			xreallocarray(clocks->sleeps, clocks->n + 1, sizeof(*clocks->sleeps));
		clocks->sleeps[clocks->n++] = sleep;
	}
	clocks->real_ns = state->head.clock_real_ns;
}

/* Reads what belongs to elements. */
static void get_tasks(struct record_reading *reading)
{
	struct record_state *state = reading->state;

	get_elements(reading);
	get_left(reading);
	if (reading->in.bad) {
		/* What was read of it belongs to no sample. */
		for (size_t i = 0; i < reading->n; i++)
			record_forget(&state->next[i]);
		for (size_t i = 0; i < reading->nleft; i++)
			record_forget(&state->next_left[i]);
		for (size_t i = 0; i < state->n; i++)
			if (state->known[i].moved)
				state->known[i] = (struct recorded_element){ 0 };
		return;
	}
	rebuilt_keep_left(state);
	record_turn(state, reading->n, reading->nleft);
	get_dropped(reading);
	get_on_demand(reading);
	get_extras(reading);
	get_trace(reading);
}

bool record_is_key(const void *bytes, size_t len)
{
	return len && *(const unsigned char *)bytes == 1;
}

int record_decode(struct record_state *state, const void *bytes, size_t len, bool bare)
{
	struct record_reading reading = { .state = state, .in = { .at = bytes } };
	uint64_t begin_ns = state->head.begin_ns;

	reading.in.end = reading.in.at + len;
	reading.key = bytes_get_below(&reading.in, 2);
	if (reading.in.bad || (!reading.key && !state->begun))
		return -EBADMSG;
	rebuilt_begin(state, bare);
	if (reading.key)
		record_begin_key(state);
	record_begin(state);
	get_head(&reading);
	reading.passed_ns = reading.key ? 0 : state->head.begin_ns - begin_ns;
	if (!bare && !reading.in.bad)
		get_groups(&reading);
	if (!bare && !reading.in.bad)
		get_tasks(&reading);
	reading.in.bad |= !bare && reading.in.at != reading.in.end;
	if (reading.in.bad) {
		record_clear(state);
		return -EBADMSG;
	}
	record_end_of(state);
	rebuilt_end(state);
	return 0;
}
