/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Lines: one object per sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "out/diff_report.h"
#include "out/json.h"
#include "out/out.h"
#include "out/out_sites.h"

/* Puts a count, which may be unknown (negative). */
static void put_count(struct json *json, const char *name, int64_t value)
{
	json_put_counter(json, name, value >= 0, (uint64_t)value);
}

/* Puts a pressure line, or null. */
static void put_psi_line(struct json *json, const char *name, const struct psi_line *now,
			 const struct psi_line *before, uint64_t interval_ns)
{
	uint64_t us = 0;
	bool grown = psi_grown(before, now, interval_ns, &us);

	if (!now->valid) {
		json_put_null(json, name);
		return;
	}
	json_open_object(json, name);
	json_put_fixed(json, "avg10", now->avg10, 2);
	json_put_fixed(json, "avg60", now->avg60, 2);
	json_put_fixed(json, "avg300", now->avg300, 2);
	json_put_uint(json, "total_us", now->total_us);
	json_put_counter(json, "delta_us", grown, us);
	json_close(json);
}

/* Puts all pressure. */
static void put_pressure(struct json *json, const struct frame_info *info)
{
	json_open_object(json, "psi");
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		const struct psi_reading *pressure = frame_pressure(info);
		const struct psi_reading *pressure_before = frame_pressure_before(info);
		const struct psi *now = &pressure->psi[r];
		const struct psi *before = pressure_before ? &pressure_before->psi[r] : NULL;

		if (pressure->error[r]) {
			json_put_null(json, psi_names[r]);
			continue;
		}
		json_open_object(json, psi_names[r]);
		put_psi_line(json, "some", &now->some, before ? &before->some : NULL,
			     info->interval_ns);
		put_psi_line(json, "full", &now->full, before ? &before->full : NULL,
			     info->interval_ns);
		json_close(json);
	}
	json_close(json);
}

/* Puts CPU states as deltas; null without an interval. */
static void put_cpu_states(struct json *json, const struct frame_info *info)
{
	uint64_t ns[CPU_STATES];

	if (!system_cpu_grown(info->system_before, info->system, ns)) {
		json_put_null(json, "cpu_ns");
		return;
	}
	json_open_object(json, "cpu_ns");
	for (unsigned s = 0; s < CPU_STATES; s++)
		json_put_uint(json, cpu_state_names[s], ns[s]);
	json_close(json);
}

/* Puts the system as a whole. */
static void put_system(struct json *json, const struct frame_info *info)
{
	const struct system_sample *system = info->system;

	json_open_object(json, "system");
	json_put_counter(json, "cpus", system->cpus > 0, system->cpus);
	json_put_real(json, "uptime", system->uptime_valid ? system->uptime : NAN);
	if (system->load_valid) {
		json_open_array(json, "loadavg");
		for (unsigned i = 0; i < ARRAY_SIZE(system->load); i++)
			json_put_real(json, NULL, system->load[i]);
		json_close(json);
	} else {
		json_put_null(json, "loadavg");
	}
	put_cpu_states(json, info);
	json_close(json);
}

/* Puts the names of a container: its namespace and pod (NAMESPACE/POD), and its name. */
static void put_container(struct json *json, const char *pod, const char *container)
{
	const char *slash = pod ? strchr(pod, '/') : NULL;
	char *namespace = slash ? xstrdup(pod) : NULL;

	if (slash)
	namespace[slash - pod] = '\0';
	json_put_text(json, "namespace", namespace);
	json_put_text(json, "pod", slash ? slash + 1 : pod);
	json_put_text(json, "container", container);
	free(namespace);
}

/* Puts the identity of the row's task or group. */
static void put_row_identity(struct json *json, const struct view *view, const struct row *row)
{
	const struct task *task = row->task;
	char state[] = { 0, 0 };

	if (row->group) {
		json_put_text(json, "group", row->group->name);
		put_container(json, row->group->pod, row->group->container);
		json_put_uint(json, "members", row->members);
		return;
	}
	state[0] = row_state(row);
	json_put_int(json, "pid", task->key.pid);
	json_put_int(json, "tgid", task->tgid);
	json_put_int(json, "ppid", task->ppid);
	json_put_uint(json, "uid", task->uid);
	json_put_text(json, "user", task->user);
	json_put_text(json, "comm", task->comm);
	json_put_text(json, "state", *state ? state : NULL);
	json_put_text(json, "command", task->command);
	json_put_text(json, "cgroup", task->cgroup);
	put_container(json, task->pod, task->container);
	json_put_seconds(json, "start", true,
			 clocks_real_ns(view->frame->info->clocks, task->key.start_ns));
}

/* Puts the columns named by -F that have no member of their own. */
static void put_fields(struct json *json, const struct view *view, const struct row *row,
		       const struct layout *extra)
{
	json_open_object(json, "fields");
	for (size_t i = 0; i < extra->n; i++) {
		struct value value = column_get(extra->columns[i], view, row);

		if (value.type == VALUE_NUMBER)
			json_put_real(json, extra->columns[i]->id, value.number);
		else
			json_put_text(json, extra->columns[i]->id, value_chars(&value));
	}
	json_close(json);
}

/* Puts how time waited is known, for the kinds that are not simply accounted. */
static void put_reasons(struct json *json, const struct row *row)
{
	const uint8_t *reason = row->deltas->waited.reason;
	bool any = false;

	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		if (reason[kind] == REASON_BOOKED)
			continue;
		if (!any)
			json_open_object(json, "reason");
		any = true;
		json_put_text(json, wait_kind_id(kind), wait_reason_table[reason[kind]].id);
	}
	if (any)
		json_close(json);
}

/* Puts a text, null if empty. */
static void put_optional_text(struct json *json, const char *name, const struct buf *text)
{
	json_put_text(json, name, text && text->len ? text->data : NULL);
}

/* Puts the wait in progress, the longest of the task's threads; null if unknown. */
static void put_waiting_json(struct json *json, const struct view *view, const struct row *row)
{
	const struct task_waiting *waiting = row_waiting(view->frame, row);
	uint64_t ns = 0;
	bool timed = row_wait(view->frame, row, &ns);
	enum wait_state state = timed ? row_wait_state(row) : WAIT_STATES;

	if (!timed && !waiting) {
		json_put_null(json, "waiting");
		return;
	}
	if (state == WAIT_STATES)
		state = waiting->state;
	json_open_object(json, "waiting");
	json_put_text(json, "state", state < WAIT_STATES ? wait_state_table[state].id : NULL);
	json_put_text(json, "class", waiting ? wait_class_ids[waiting->class] : NULL);
	json_put_counter(json, "ns", timed, ns);
	json_put_bool(json, "at_least", timed && !row->raw->now.exact);
	json_put_text(json, "syscall", waiting ? waiting->syscall : NULL);
	put_optional_text(json, "on", waiting ? &waiting->on : NULL);
	put_optional_text(json, "where", waiting ? &waiting->where : NULL);
	json_close(json);
}

/* Puts what happened in the interval. */
static void put_deltas(struct json *json, const struct row *row)
{
	if (!row->group) {
		json_put_bool(json, "exited", row->exited);
		if (row->exited) {
			json_put_exit(json, (int)row->task->status);
			json_put_uint(json, "members", row->members);
		}
		json_put_bool(json, "new", row->born);
	}
	json_put_counter(json, "run_ns", row->valid & VALID_RUN, row->deltas->grown.run_ns);
	json_put_counter(json, "user_ns", row->valid & VALID_TICK, row->deltas->grown.user_ns);
	json_put_counter(json, "system_ns", row->valid & VALID_TICK, row->deltas->grown.system_ns);
	json_put_delays(json, "delta", row->deltas->grown.delay, row->valid, NULL);
}

/*
 * Puts the time waited in the interval, for all kinds, including waits that the kernel does not
 * account.
 */
static void put_waited(struct json *json, const struct row *row)
{
	const struct waited *waited = &row->deltas->waited;
	uint32_t known = row_waited(row);

	json_open_object(json, "waited");
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		json_put_counter(json, delay_table[kind].id, known & DELAY_BIT(kind),
				 waited->ns[kind]);
	json_put_counter(json, "dwait", known & VALID_DWAIT, waited->ns[WAIT_DWAIT]);
	json_close(json);
}

/* Puts the members of a task, or a group, from its interval on. */
static void put_figures(struct json *json, const struct view *view, const struct row *row,
			const struct layout *extra)
{
	static const struct task_record no_record;
	const struct task_record *record = row_record(view->frame, row);
	struct counters life;
	uint64_t lost_ns = 0;
	bool known;

	put_deltas(json, row);
	life = row_totals(row);
	json_put_delays(json, "cumulative", life.delay, life.valid, record ? record : &no_record);
	put_waited(json, row);
	if (!row->group)
		put_reasons(json, row);
	known = row_lost(row, &lost_ns);
	json_put_counter(json, "lost_ns", known, lost_ns);
	if (!row->group)
		put_waiting_json(json, view, row);
	json_put_counter(json, "alive_ns", row->traced,
			 row->traced ? wait_states_alive(&row->traced->states) : 0);
	out_states_json(json, "states", row->traced ? &row->traced->states : NULL);
	if (extra->n)
		put_fields(json, view, row, extra);
	json_close(json);
}

/* Puts a task, or a group; if unchanged since the previous sample, by its text there. */
static void put_row_json(struct out *out, struct json *json, const struct view *view,
			 const struct row *row)
{
	struct json within = { .out = json->out, .objects = 1, .depth = 1 };
	uint64_t key = out_text_key(out, view->frame, row);
	const struct row_text *was = out_text_find(out, key);
	const char *text = was ? out->texts.text.data + was->at : NULL;
	size_t at = json->out->len, head, tail;

	if (was) {
		buf_add(json->out, text, was->head);
	} else {
		json_open_object(json, NULL);
		put_row_identity(json, view, row);
	}
	head = json->out->len;
	json_put_seconds(&within, "interval", row->interval_ns, row->interval_ns);
	tail = json->out->len;
	if (was)
		buf_add(json->out, text + was->head + was->between, was->tail + 1);
	else
		put_figures(json, view, row, &out->layout);
	/* The comma after it is not part of it: the last task has none. */
	json->out->len--;
	out_text_note(out, key, at, head, tail);
	buf_putc(json->out, ',');
}

/* Puts a signed amount, or null. */
static void put_signed(struct json *json, const char *name, bool valid, int64_t ns)
{
	if (valid)
		json_put_int(json, name, ns);
	else
		json_put_null(json, name);
}

/* Puts the machine's time by state; null if unknown. */
static void put_accounted(struct json *json, const struct account *account)
{
	if (!account->valid) {
		json_put_null(json, "accounted");
		return;
	}
	json_open_object(json, "accounted");
	json_put_uint(json, "machine_ns", account->machine_ns);
	json_put_uint(json, "run_ns", account->run_ns);
	put_signed(json, "recovered_ns", account->recovered_valid, account->recovered_ns);
	json_put_uint(json, "idle_ns", account->idle_ns);
	json_put_uint(json, "iowait_ns", account->iowait_ns);
	json_put_uint(json, "steal_ns", account->steal_ns);
	json_put_uint(json, "irq_ns", account->irq_ns);
	json_put_int(json, "rest_ns", account->unattributed_ns);
	json_put_counter(json, "children_ns", account->recovered_valid, account->children_ns);
	json_close(json);
}

/* Puts the triggers: which have fired since the last sample, and when each last fired. */
static void put_triggers(struct json *json, const struct trigger_set *set,
			 const struct frame_info *info)
{
	json_open_array(json, "triggers");
	for (size_t i = 0; i < set->n; i++) {
		const struct trigger *trigger = &set->all[i];

		json_open_object(json, NULL);
		json_put_text(json, "when", trigger->spec->text);
		json_put_bool(json, "fired", trigger->fired);
		json_put_seconds(json, "since", trigger->last_ns, out_since_ns(trigger, info));
		json_put_bool(json, "gone", trigger->gone);
		json_close(json);
	}
	json_close(json);
}

/* Puts the findings; null if nothing is known yet, and for figures since start. */
static void put_findings(struct json *json, const struct findings *findings)
{
	if (!findings->known) {
		json_put_null(json, "findings");
		return;
	}
	json_open_array(json, "findings");
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->all[i];
		const struct row *row = finding->row;

		json_open_object(json, NULL);
		json_put_text(json, "id", finding->id);
		json_put_text(json, "severity", finding_severities[finding->severity]);
		json_put_text(json, "text", finding_text(findings, finding));
		json_put_counter(json, "pid", row && row->task,
				 row && row->task ? (uint64_t)row->task->key.pid : 0);
		json_put_text(json, "group", row && row->group ? row->group->name : NULL);
		json_put_text(json, "kind", finding->kind);
		json_put_real(json, "share", finding->share >= 0 ? finding->share : NAN);
		json_put_counter(json, "ns", finding->ns, finding->ns);
		json_put_bool(json, "at_least", finding->at_least);
		json_put_uint(json, "count", finding->n);
		json_close(json);
	}
	json_close(json);
}

/* Puts the members of a sample, except its tasks. */
static void put_sample(struct json *json, const struct out *out, const struct frame *frame)
{
	const struct out_config *config = out->config;
	const struct frame_info *info = frame->info;

	json_put_seconds(json, "time", true, info->real_ns);
	json_put_seconds(json, "interval", info->interval_ns, info->interval_ns);
	json_put_text(json, "source", info->head.source);
	json_put_counter(json, "taskstats_version", info->head.taskstats_version > 0,
			 (uint64_t)info->head.taskstats_version);
	if (info->head.delayacct == DELAYACCT_UNKNOWN)
		json_put_null(json, "delayacct");
	else
		json_put_bool(json, "delayacct", info->head.delayacct);
	json_put_bool(json, "measured", info->head.measured);
	json_put_text(json, "group_by", frame->group_by);
	json_put_uint(json, "tasks_seen", info->tasks);
	put_count(json, "exits_seen", info->head.exits);
	put_count(json, "exits_lost", info->head.lost);
	json_put_notes(json, "notes", info->head.notes, info->head.nnotes);
	put_findings(json, &out->findings);
	json_put_text(json, "cgroup", info->head.cgroup);
	put_pressure(json, info);
	put_system(json, info);
	put_accounted(json, &info->head.account);
	if (config->triggers)
		put_triggers(json, config->triggers, info);
}

/*
 * The needs of named fields. A thread's longest and shortest waits are in its record, which is
 * requested anyway.
 */
static unsigned json_needs(const struct out_config *config)
{
	struct layout named;

	layout_named(&named, config->view->fields);
	return layout_needs(&named, config->view->unit) | NEED_ACCOUNT |
	       (config->view->group_by == GROUP_THREAD ? NEED_RANGE : 0) |
	       (group_folds(config->view->group_by) ? NEED_LIFE : 0);
}

/* Puts the sites of the tasks that passed the filters; null if waits are not traced. */
static void put_trace_json(struct json *json, const struct order *order,
			   const struct frame_info *info)
{
	const struct trace_frame *trace = info->trace;
	struct site_owners owners = { 0 };

	if (!trace) {
		json_put_null(json, "trace");
		json_put_null(json, "sites");
		return;
	}
	json_open_object(json, "trace");
	json_put_seconds(json, "interval", true, trace->interval_ns);
	json_put_uint(json, "switches", trace->switches);
	json_put_uint(json, "lost", trace->lost);
	json_put_real(json, "cost", trace->cost >= 0 ? trace->cost : NAN);
	json_close(json);
	out_sites_owners(&owners, order);
	out_sites_json(json, "sites", trace, info->cur->begin_ns, &owners);
	site_owners_free(&owners);
}

/* A sample: the object's own members first, then the tasks one by one. */
static void json_frame(struct out *out, const struct view *view)
{
	struct json json = { .out = &out->buf };

	if (!out->frames)
		out_named(out->config, IN_JSON, &out->layout);
	json_open_object(&json, NULL);
	put_sample(&json, out, view->frame);
	json_open_array(&json, "tasks");
	for (size_t i = 0; i < out->order.n; i++)
		put_row_json(out, &json, view, out->order.rows[i]);
	json_close(&json);
	put_trace_json(&json, &out->order, view->frame->info);
	json_close(&json);
}

const struct out_ops out_json = {
	.name = "json",
	.needs = json_needs,
	.frame = json_frame,
	.finds = true,
	.run = run_json,
	.diff = diff_json,
};
