/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Lines: an object a sample. Each task is built and written before the next one. */
#include "config.h"

#include <string.h>
#include <sys/wait.h>

#include "json.h"
#include "out.h"
#include "util.h"

/* A count of something that was perhaps not counted. */
static json_t *count(int64_t value)
{
	return json_counter(value >= 0, (uint64_t)value);
}

/* A pressure line; null where there is none. */
static json_t *psi_line(const struct psi_line *now, const struct psi_line *before)
{
	json_t *object;

	if (!now->valid)
		return json_null();
	object = json_object();
	json_set(object, "avg10", json_real(now->avg10 / 100.0));
	json_set(object, "avg60", json_real(now->avg60 / 100.0));
	json_set(object, "avg300", json_real(now->avg300 / 100.0));
	json_set(object, "total_us", json_counter(true, now->total_us));
	json_set(object, "delta_us",
		 json_counter(before && before->valid && now->total_us >= before->total_us,
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
			json_set(object, "some",
				 psi_line(&now->some, before ? &before->some : NULL));
			json_set(object, "full",
				 psi_line(&now->full, before ? &before->full : NULL));
		}
		json_set(psi, psi_names[r], object);
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
		json_set(object, cpu_state_names[s],
			 json_counter(true, now->cpu_ns[s] > before->cpu_ns[s] ?
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
	json_set(object, "cpus", json_counter(system->cpus > 0, system->cpus));
	json_set(object, "uptime", system->uptime_valid ? json_real(system->uptime) : json_null());
	json_set(object, "loadavg", load);
	json_set(object, "cpu_ns", cpu_states(frame));
	return object;
}

/* What was counted in the interval. */
static json_t *delta(const struct row *row)
{
	json_t *object = json_object();

	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		json_t *sum = json_null();

		if (row->valid & DELAY_BIT(kind)) {
			sum = json_object();
			json_set(sum, "count", json_counter(row->valid & DELAY_COUNT_BIT(kind),
						  row->deltas->delay[kind].count));
			json_set(sum, "ns", json_counter(true, row->deltas->delay[kind].ns));
		}
		json_set(object, delay_table[kind].id, sum);
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
			json_set(sum, "count", json_counter(valid & DELAY_COUNT_BIT(kind),
						  row->raw->delay[kind].count));
			json_set(sum, "ns", json_counter(true, row->raw->delay[kind].ns));
			json_set(sum, "max_ns", json_counter(range, range ? record->max[kind] : 0));
			json_set(sum, "min_ns", json_counter(range, range ? record->min[kind] : 0));
		}
		json_set(object, delay_table[kind].id, sum);
	}
	return object;
}

/* Who the row is. */
static void set_identity(struct out *out, json_t *object, const struct view *view,
			 const struct row *row)
{
	char state = row->group ? 0 : row_state(view->frame, row);
	const struct task *task = row->task;

	if (row->group) {
		json_set(object, "group", json_name(&out->scratch, row->group->name));
		json_set(object, "members", json_integer(row->members));
		return;
	}
	json_set(object, "pid", json_integer(task->key.pid));
	json_set(object, "tgid", json_integer(task->tgid));
	json_set(object, "ppid", json_integer(task->ppid));
	json_set(object, "uid", json_integer(task->uid));
	json_set(object, "user", json_name(&out->scratch, task->user));
	json_set(object, "comm", json_name(&out->scratch, task->comm));
	json_set(object, "state", state ? json_stringn(&state, 1) : json_null());
	json_set(object, "command", json_name(&out->scratch, task->command));
	json_set(object, "cgroup", json_name(&out->scratch, task->cgroup));
	json_set(object, "start", json_seconds(view->frame->epoch_ns + task->key.start_ns));
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
			json = json_name(&out->scratch, value.text);
		else if (value.type == VALUE_NUMBER)
			json = json_real(value.number);
		json_set(object, extra->columns[i]->id, json);
	}
	return object;
}

/* How the task ended. */
static void set_end(json_t *object, const struct row *row)
{
	int status = (int)row->raw->status;
	bool signaled = WIFSIGNALED(status);

	json_set(object, "exit_code", signaled ? json_null() : json_integer(WEXITSTATUS(status)));
	json_set(object, "signal", signaled ? json_integer(WTERMSIG(status)) : json_null());
	json_set(object, "members", json_integer(row->members));
}

/* A task, or a group. */
static json_t *task_object(struct out *out, const struct view *view, const struct row *row)
{
	json_t *object = json_object();

	set_identity(out, object, view, row);
	json_set(object, "interval", row->interval_ns ? json_seconds(row->interval_ns) : json_null());
	if (!row->group) {
		json_set(object, "exited", json_boolean(row->exited));
		if (row->exited)
			set_end(object, row);
		json_set(object, "new", json_boolean(row->born));
	}
	json_set(object, "run_ns", json_counter(row->valid & VALID_RUN, row->deltas->run_ns));
	json_set(object, "user_ns", json_counter(row->valid & VALID_TICK, row->deltas->user_ns));
	json_set(object, "system_ns", json_counter(row->valid & VALID_TICK, row->deltas->system_ns));
	json_set(object, "delta", delta(row));
	json_set(object, "cumulative", cumulative(row, row_record(view->frame, row)));
	if (out->layout.n)
		json_set(object, "fields", fields(out, view, row, &out->layout));
	return object;
}

/* A signed amount. */
static json_t *signed_ns(bool valid, int64_t ns)
{
	return valid ? json_integer(ns) : json_null();
}

/* What the machine's time went to; null where it is not known. */
static json_t *accounted(const struct account *account)
{
	json_t *object;

	if (!account->valid)
		return json_null();
	object = json_object();
	json_set(object, "machine_ns", json_counter(true, account->machine_ns));
	json_set(object, "run_ns", json_counter(true, account->run_ns));
	json_set(object, "recovered_ns",
		 signed_ns(account->recovered_valid, account->recovered_ns));
	json_set(object, "idle_ns", json_counter(true, account->idle_ns));
	json_set(object, "iowait_ns", json_counter(true, account->iowait_ns));
	json_set(object, "steal_ns", json_counter(true, account->steal_ns));
	json_set(object, "irq_ns", json_counter(true, account->irq_ns));
	json_set(object, "rest_ns", signed_ns(true, account->rest_ns));
	json_set(object, "children_ns",
		 json_counter(account->recovered_valid, account->children_ns));
	return object;
}

/* The triggers: which have fired since the sample before, and when they last did. */
static json_t *triggers(struct out *out, const struct frame *frame)
{
	const struct trigger_set *set = out->config->triggers;
	json_t *array = json_array();

	for (size_t i = 0; i < set->n; i++) {
		const struct trigger *trigger = &set->all[i];
		json_t *object = json_object();

		json_set(object, "when", json_name(&out->scratch, trigger->spec->text));
		json_set(object, "fired", json_boolean(trigger->fired));
		json_set(object, "since", trigger->last_ns ?
			 json_seconds(out_since_ns(trigger, frame)) : json_null());
		json_set(object, "gone", json_boolean(trigger->gone));
		json_array_append_new(array, object);
	}
	return array;
}

/* The sample without its tasks. */
static json_t *sample_object(struct out *out, const struct frame *frame)
{
	json_t *object = json_object();

	json_set(object, "time", json_seconds(frame->real_ns));
	json_set(object, "interval", frame->interval_ns ? json_seconds(frame->interval_ns) : json_null());
	json_set(object, "source", json_string(frame->source));
	json_set(object, "taskstats_version",
	    json_counter(frame->taskstats_version > 0, (uint64_t)frame->taskstats_version));
	json_set(object, "delayacct", frame->delayacct == DELAYACCT_UNKNOWN ?
					 json_null() : json_boolean(frame->delayacct));
	json_set(object, "group_by", json_string(frame->group_by));
	json_set(object, "tasks_seen", json_integer((json_int_t)frame->tasks));
	json_set(object, "exits_seen", count(frame->exits));
	json_set(object, "exits_lost", count(frame->lost));
	json_set(object, "notes", json_notes(&out->scratch, frame->notes, frame->nnotes));
	json_set(object, "cgroup", json_name(&out->scratch, frame->cgroup));
	json_set(object, "psi", pressure(frame));
	json_set(object, "system", system_object(frame));
	json_set(object, "accounted", accounted(&frame->account));
	if (out->config->triggers)
		json_set(object, "triggers", triggers(out, frame));
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
	return layout_needs(&named, config->unit) | NEED_ACCOUNT |
	       (config->group_by == GROUP_THREAD ? NEED_RANGE : 0) |
	       (group_folds(config->group_by) ? NEED_LIFE : 0);
}

/* Columns with a member of their own, besides the delay kinds. */
static const char *const fixed[] = { "pid", "tgid", "ppid", "uid", "user", "comm", "state", "run",
				     "command", "cgroup" };

/* And in grouped views. */
static const char *const fixed_of_group[] = { "group", "members", "run" };

/* Finds the columns that were named and have no member of their own. */
static void resolve(struct out *out)
{
	if (group_folds(out->config->group_by))
		out_extra_fields(out->config, fixed_of_group, ARRAY_SIZE(fixed_of_group),
				 &out->layout);
	else
		out_extra_fields(out->config, fixed, ARRAY_SIZE(fixed), &out->layout);
}

/* A sample: the object's own members first, then the tasks one by one. */
static void json_frame(struct out *out, const struct view *view)
{
	struct buf *buf = &out->buf;

	if (!out->frames)
		resolve(out);
	json_append(buf, sample_object(out, view->frame));
	buf->len--; /* the closing brace comes behind the tasks */
	buf_puts(buf, ",\"tasks\":[");
	for (size_t i = 0; i < out->order.n; i++) {
		if (i)
			buf_putc(buf, ',');
		json_append(buf, task_object(out, view, out->order.rows[i]));
	}
	buf_puts(buf, "]}\n");
}

const struct out_ops out_json = {
	.name = "json",
	.needs = json_needs,
	.frame = json_frame,
};
