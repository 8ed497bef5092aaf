/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Lines: an object a sample. Each task is built and written before the next one. */
#include "config.h"

#include <jansson.h>
#include <string.h>

#include "notes.h"
#include "out.h"
#include "util.h"

/* Enough digits for a time in us, and no more: few figures grow a tail of noise by them. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(16))

/* Appends what jansson writes. */
static int append_dump(const char *bytes, size_t len, void *arg)
{
	buf_add(arg, bytes, len);
	return 0;
}

/* Writes a value out and frees it. */
static void dump(struct buf *out, json_t *json)
{
	if (!json || json_dump_callback(json, append_dump, out, DUMP_FLAGS | JSON_ENCODE_ANY))
		die("out of memory");
	json_decref(json);
}

/* Sets a member; the object takes the value over. */
static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new_nocheck(object, name, value ? value : json_null()))
		die("out of memory");
}

/* A counter, or null. Counters beyond 2^63 do not occur in 290 years of ns. */
static json_t *counter(bool valid, uint64_t value)
{
	return valid ? json_integer((json_int_t)value) : json_null();
}

/* A count of something that was perhaps not counted. */
static json_t *count(int64_t value)
{
	return counter(value >= 0, (uint64_t)value);
}

/* Seconds, from ns, to the us. */
static json_t *seconds(uint64_t ns)
{
	return json_real((double)(ns / NSEC_PER_USEC) / 1e6);
}

/* An untrusted text, escaped as in every format; NULL is null. */
static json_t *text(struct out *out, const char *bytes)
{
	if (!bytes)
		return json_null();
	out->scratch.len = 0;
	text_escape(&out->scratch, bytes, strlen(bytes), TEXT_UTF8);
	return json_stringn_nocheck(out->scratch.data ? out->scratch.data : "", out->scratch.len);
}

/* A pressure line; null where there is none. */
static json_t *psi_line(const struct psi_line *now, const struct psi_line *before)
{
	json_t *object;

	if (!now->valid)
		return json_null();
	object = json_object();
	set(object, "avg10", json_real(now->avg10 / 100.0));
	set(object, "avg60", json_real(now->avg60 / 100.0));
	set(object, "avg300", json_real(now->avg300 / 100.0));
	set(object, "total_us", counter(true, now->total_us));
	set(object, "delta_us",
	    counter(before && before->valid && now->total_us >= before->total_us,
		    before ? now->total_us - before->total_us : 0));
	return object;
}

/* All pressure. */
static json_t *pressure(const struct frame *frame)
{
	json_t *psi = json_object();

	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		const struct psi *now = &frame->system->psi[r];
		const struct psi *before = frame->system_before ? &frame->system_before->psi[r] :
								  NULL;
		json_t *object = json_null();

		if (!frame->system->psi_error[r]) {
			object = json_object();
			set(object, "some", psi_line(&now->some, before ? &before->some : NULL));
			set(object, "full", psi_line(&now->full, before ? &before->full : NULL));
		}
		set(psi, psi_names[r], object);
	}
	return psi;
}

/* CPU states as deltas; null without an interval. */
static json_t *cpu_states(const struct frame *frame)
{
	const struct system_sample *now = frame->system, *before = frame->system_before;
	json_t *object;

	if (!now->cpu_valid || !before || !before->cpu_valid)
		return json_null();
	object = json_object();
	for (unsigned s = 0; s < CPU_STATES; s++)
		set(object, cpu_state_names[s],
		    counter(true, now->cpu_ns[s] > before->cpu_ns[s] ?
					  now->cpu_ns[s] - before->cpu_ns[s] : 0));
	return object;
}

/* The system as a whole. */
static json_t *system_object(const struct frame *frame)
{
	const struct system_sample *system = frame->system;
	json_t *object = json_object(), *load = json_null();

	if (system->load_valid) {
		load = json_array();
		for (unsigned i = 0; i < ARRAY_SIZE(system->load); i++)
			json_array_append_new(load, json_real(system->load[i]));
	}
	set(object, "cpus", counter(system->cpus > 0, system->cpus));
	set(object, "uptime", system->uptime_valid ? json_real(system->uptime) : json_null());
	set(object, "loadavg", load);
	set(object, "cpu_ns", cpu_states(frame));
	return object;
}

/* The notes with their words. */
static json_t *notes(struct out *out, const struct frame *frame)
{
	json_t *array = json_array();

	for (size_t i = 0; i < frame->nnotes; i++) {
		json_t *object = json_object();

		out->scratch.len = 0;
		note_append(&out->scratch, &frame->notes[i], true);
		set(object, "id", json_string(note_table[frame->notes[i].id].id));
		set(object, "text", json_stringn(out->scratch.data, out->scratch.len));
		json_array_append_new(array, object);
	}
	return array;
}

/* What was counted in the interval. */
static json_t *delta(const struct row *row)
{
	json_t *object = json_object();

	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		json_t *sum = json_null();

		if (row->valid & DELAY_BIT(kind)) {
			sum = json_object();
			set(sum, "count", counter(row->valid & DELAY_COUNT_BIT(kind),
						  row->delta[kind].count));
			set(sum, "ns", counter(true, row->delta[kind].ns));
		}
		set(object, delay_table[kind].id, sum);
	}
	return object;
}

/* What was counted since the task's start. */
static json_t *cumulative(const struct row *row, const struct task_record *record)
{
	json_t *object = json_object();
	uint32_t valid = row->raw->valid;

	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		bool range = record && record->range_valid & DELAY_BIT(kind);
		json_t *sum = json_null();

		if (valid & DELAY_BIT(kind)) {
			sum = json_object();
			set(sum, "count", counter(valid & DELAY_COUNT_BIT(kind),
						  row->raw->delay[kind].count));
			set(sum, "ns", counter(true, row->raw->delay[kind].ns));
			set(sum, "max_ns", counter(range, range ? record->max[kind] : 0));
			set(sum, "min_ns", counter(range, range ? record->min[kind] : 0));
		}
		set(object, delay_table[kind].id, sum);
	}
	return object;
}

/* Who the row is. */
static void set_identity(struct out *out, json_t *object, const struct view *view,
			 const struct row *row)
{
	const struct task_proc *proc = row_proc(view->frame, row);
	const struct task *task = row->task;

	set(object, "pid", json_integer(task->key.pid));
	set(object, "tgid", json_integer(task->tgid));
	set(object, "ppid", json_integer(task->ppid));
	set(object, "uid", json_integer(task->uid));
	set(object, "user", text(out, task->user));
	set(object, "comm", text(out, task->comm));
	set(object, "state", proc && proc->state ? json_stringn(&proc->state, 1) : json_null());
	set(object, "command", text(out, task->command));
	set(object, "cgroup", text(out, task->cgroup));
	set(object, "start", seconds(view->frame->epoch_ns + task->key.start_ns));
}

/* The columns that were asked for by name and have no member of their own. */
static json_t *fields(struct out *out, const struct view *view, const struct row *row,
		      const struct layout *extra)
{
	json_t *object = json_object();

	for (size_t i = 0; i < extra->n; i++) {
		struct value value = column_get(extra->columns[i], view, row);
		json_t *json = json_null();

		if (value.type == VALUE_TEXT)
			json = text(out, value.text);
		else if (value.type == VALUE_NUMBER)
			json = json_real(value.number);
		set(object, extra->columns[i]->id, json);
	}
	return object;
}

/* A task. */
static json_t *task_object(struct out *out, const struct view *view, const struct row *row)
{
	json_t *object = json_object();

	set_identity(out, object, view, row);
	set(object, "interval", row->interval_ns ? seconds(row->interval_ns) : json_null());
	set(object, "exited", json_boolean(row->exited));
	set(object, "new", json_boolean(row->born));
	set(object, "run_ns", counter(row->valid & VALID_RUN, row->run_ns));
	set(object, "user_ns", counter(row->valid & VALID_TICK, row->user_ns));
	set(object, "system_ns", counter(row->valid & VALID_TICK, row->system_ns));
	set(object, "delta", delta(row));
	set(object, "cumulative", cumulative(row, row_record(view->frame, row)));
	if (out->layout.n)
		set(object, "fields", fields(out, view, row, &out->layout));
	return object;
}

/* The sample without its tasks. */
static json_t *sample_object(struct out *out, const struct frame *frame)
{
	json_t *object = json_object();

	set(object, "time", seconds(frame->real_ns));
	set(object, "interval", frame->interval_ns ? seconds(frame->interval_ns) : json_null());
	set(object, "source", json_string(frame->source));
	set(object, "taskstats_version",
	    counter(frame->taskstats_version > 0, (uint64_t)frame->taskstats_version));
	set(object, "delayacct", frame->delayacct == DELAYACCT_UNKNOWN ?
					 json_null() : json_boolean(frame->delayacct));
	set(object, "group_by", json_string(frame->threads ? "thread" : "process"));
	set(object, "tasks_seen", json_integer((json_int_t)frame->n));
	set(object, "exits_seen", count(frame->exits));
	set(object, "exits_lost", count(frame->lost));
	set(object, "notes", notes(out, frame));
	set(object, "psi", pressure(frame));
	set(object, "system", system_object(frame));
	return object;
}

/*
 * What named fields need. A thread's longest and shortest waits are in the record that it
 * is asked for anyway.
 */
static unsigned json_needs(const struct out_config *config)
{
	struct layout named;

	layout_named(&named, config->fields);
	return layout_needs(&named, config->unit) | (config->threads ? NEED_RECORD : 0);
}

/* Columns with a member of their own, besides the delay kinds. */
static const char *const fixed[] = { "pid", "tgid", "ppid", "uid", "user", "comm", "state", "run",
				     "command", "cgroup" };

/* A sample: the object's own members first, then the tasks one by one. */
static void json_frame(struct out *out, const struct view *view)
{
	struct buf *buf = &out->buf;

	if (!out->frames)
		out_extra_fields(out->config, fixed, ARRAY_SIZE(fixed), &out->layout);
	dump(buf, sample_object(out, view->frame));
	buf->len--; /* the closing brace comes behind the tasks */
	buf_puts(buf, ",\"tasks\":[");
	for (size_t i = 0; i < out->order.n; i++) {
		if (i)
			buf_putc(buf, ',');
		dump(buf, task_object(out, view, out->order.rows[i]));
	}
	buf_puts(buf, "]}\n");
}

const struct out_ops out_json = {
	.name = "json",
	.needs = json_needs,
	.frame = json_frame,
};
