/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a record: the recorded members of its structs. */
#include <string.h>

#include "base/text.h"
#include "history/record.h"
#include "history/record_parts.h"

#define TABLE(name) \
	const struct field_table record_##name##_table = { #name, name##_fields, \
							   ARRAY_SIZE(name##_fields) }

/* A reading of pressure in the member `at`. */
#define PRESSURE(of, at) \
	FIELD(of, at.read_ns), FIELD_EACH(of, at.psi, .some.valid), \
		FIELD_EACH(of, at.psi, .some.avg10), FIELD_EACH(of, at.psi, .some.avg60), \
		FIELD_EACH(of, at.psi, .some.avg300), FIELD_EACH(of, at.psi, .some.total_us), \
		FIELD_EACH(of, at.psi, .full.valid), FIELD_EACH(of, at.psi, .full.avg10), \
		FIELD_EACH(of, at.psi, .full.avg60), FIELD_EACH(of, at.psi, .full.avg300), \
		FIELD_EACH(of, at.psi, .full.total_us), FIELD_EACH(of, at.error, )

#define HEAD(member) FIELD(struct record_head, member)

/* Those that differ in each record come first. */
static const struct field head_fields[] = {
	HEAD(real_ns),
	HEAD(begin_ns),
	HEAD(took_ns),
	HEAD(interval_ns),
	HEAD(frame.self),
	HEAD(frame.exits),
	HEAD(frame.account.machine_ns),
	HEAD(frame.account.run_ns),
	HEAD(frame.account.idle_ns),
	HEAD(frame.account.iowait_ns),
	HEAD(frame.account.steal_ns),
	HEAD(frame.account.irq_ns),
	HEAD(frame.account.recovered_ns),
	HEAD(frame.account.children_ns),
	HEAD(frame.account.unattributed_ns),
	FIELD_EACH(struct record_head, system.cpu_ns, ),
	FIELD_EACH(struct record_head, system.load, ),
	HEAD(system.forks),
	HEAD(system.uptime),
	HEAD(system.memory_used),
	HEAD(system.swap_used),
	PRESSURE(struct record_head, system.pressure),
	PRESSURE(struct record_head, system.of_group),
	HEAD(interval_known),
	HEAD(marked),
	HEAD(threads),
	HEAD(hangs_read),
	HEAD(traced),
	HEAD(n),
	HEAD(left),
	HEAD(steady),
	HEAD(have),
	HEAD(dropped),
	HEAD(frame.source),
	HEAD(frame.cgroup),
	HEAD(frame.hierarchy),
	FIELD_BELOW(struct record_head, frame.hierarchy_version, 3),
	FIELD_BELOW(struct record_head, frame.taskstats_version, 1 << 16),
	HEAD(frame.delayacct),
	HEAD(frame.measured),
	HEAD(frame.unknown),
	HEAD(frame.lost),
	HEAD(frame.others),
	HEAD(frame.account.valid),
	HEAD(frame.account.recovered_valid),
	HEAD(system.cpu_valid),
	HEAD(system.load_valid),
	HEAD(system.uptime_valid),
	HEAD(system.memory_valid),
	HEAD(system.cpus),
	HEAD(system.memory_total),
	HEAD(system.swap_total),
	FIELD_EACH(struct record_head, system.file_error, ),
	HEAD(clock_real_ns),
	HEAD(trace.interval_ns),
	HEAD(trace.lost),
	HEAD(trace.switches),
	HEAD(trace.stacked),
	HEAD(trace.cost),
};
TABLE(head);

static const struct field note_fields[] = {
	FIELD_BELOW(struct note, id, NOTE_IDS),
	FIELD(struct note, value),
	FIELD(struct note, error),
};
TABLE(note);

static const struct field sleep_fields[] = {
	FIELD(struct clock_sleep, from_ns),
	FIELD(struct clock_sleep, ahead_ns),
};
TABLE(sleep);

#define NAMES(member) FIELD(struct record_names, member)

static const struct field names_fields[] = {
	NAMES(start_ns), NAMES(latest_ns), NAMES(lo_ns), NAMES(hi_ns),	 NAMES(ppid),
	NAMES(uid),	 NAMES(user),	   NAMES(comm),	 NAMES(command), NAMES(cgroup),
	NAMES(pod),	 NAMES(container), NAMES(info),
};
TABLE(names);

#define RAW(member) FIELD(struct task_raw, member)

static const struct field raw_fields[] = {
	RAW(read_ns),
	RAW(counters.run_ns),
	RAW(counters.dwait_ns),
	RAW(counters.life_ns),
	RAW(counters.user_ns),
	RAW(counters.system_ns),
	RAW(now.state),
	FIELD_EACH(struct task_raw, counters.delay, .count),
	FIELD_EACH(struct task_raw, counters.delay, .ns),
	RAW(now.threads),
	RAW(now.waits.first_ns),
	FIELD_EACH(struct task_raw, now.waits.began_ns, ),
	FIELD_EACH(struct task_raw, now.waits.threads, ),
	RAW(now.waits.dwait_ns),
	RAW(now.waits.tid),
	RAW(now.waits.tid_ns),
	RAW(children.user_ns),
	RAW(children.system_ns),
	RAW(counters.valid),
	RAW(counters.members),
	RAW(now.exact),
	RAW(tgid),
	RAW(pid),
	RAW(was),
	RAW(single),
	RAW(exited),
	RAW(now.measured),
	RAW(now.measured_late),
};
TABLE(raw);

#define END(member) FIELD(struct record_end, member)

static const struct field end_fields[] = { END(status), END(reaper), END(mixed), END(ended) };
TABLE(end);

static const struct field dropped_fields[] = {
	FIELD(struct counters, valid),
	FIELD_EACH(struct counters, delay, .count),
	FIELD_EACH(struct counters, delay, .ns),
};
TABLE(dropped);

static const struct field fields_fields[] = {
	FIELD_EACH(struct task_record, field, ), FIELD(struct task_record, fields_valid),
	FIELD(struct task_record, range_valid),	 FIELD(struct task_record, stamp_valid),
	FIELD_EACH(struct task_record, max, ),	 FIELD_EACH(struct task_record, min, ),
	FIELD_EACH(struct task_record, stamp, ),
};
TABLE(fields);

#define PROC(member) FIELD(struct task_proc, member)

static const struct field proc_fields[] = {
	PROC(io.read),	PROC(io.written),     PROC(io.cancelled),     PROC(io_valid),
	PROC(io_whole), PROC(children_valid), PROC(children.user_ns), PROC(children.system_ns),
};
TABLE(proc);

#define EXTRA(member) FIELD(struct record_extra, member)

static const struct field extra_fields[] = {
	EXTRA(hang.tid),
	EXTRA(hang.since_ns),
	EXTRA(hang.on),
	EXTRA(hang.locked),
	EXTRA(tid),
	FIELD_BELOW(struct record_extra, state, WAIT_STATES + 1),
	FIELD_BELOW(struct record_extra, class, WAIT_CLASSES),
	EXTRA(syscall),
	EXTRA(on),
	EXTRA(where),
	EXTRA(has_held),
	EXTRA(held.frozen),
	EXTRA(held.tracer),
	EXTRA(tracer_comm),
	EXTRA(has_evidence),
	EXTRA(evidence.io_limits),
	EXTRA(evidence.throttled),
	EXTRA(evidence.quota),
	FIELD_BELOW(struct record_extra, evidence.budget, CPU_BUDGETS),
	EXTRA(evidence.writes),
	EXTRA(evidence.reads),
	EXTRA(evidence.memory_limit),
	EXTRA(evidence.memory_used),
	EXTRA(evidence.pinned),
	EXTRA(evidence.rival),
	FIELD_BELOW(struct record_extra, evidence.sharing, CPU_SHARINGS),
	EXTRA(evidence.cpu_group.name),
	EXTRA(evidence.memory_group.name),
	EXTRA(evidence.io_group.name),
	EXTRA(evidence.weighed_group.name),
	FIELD_BELOW(struct record_extra, evidence.cpu_group.version, 3),
	FIELD_BELOW(struct record_extra, evidence.memory_group.version, 3),
	FIELD_BELOW(struct record_extra, evidence.io_group.version, 3),
	FIELD_BELOW(struct record_extra, evidence.weighed_group.version, 3),
	EXTRA(io.stalled_ns),
	EXTRA(io.passed_ns),
	EXTRA(io.until_ns),
};
TABLE(extra);

#define TRACED(member) FIELD(struct record_traced, member)

static const struct field traced_fields[] = {
	FIELD_EACH(struct record_traced, states.ns, ),
	TRACED(lost_ns),
	TRACED(lost_known),
	TRACED(waker),
	TRACED(tgid),
	TRACED(start_ns),
	TRACED(more),
};
TABLE(traced);

static const struct field process_fields[] = {
	FIELD(struct record_process, tgid),
	FIELD(struct record_process, start_ns),
};
TABLE(process);

#define SITE(member) FIELD(struct record_site, site.member)

static const struct field site_fields[] = {
	SITE(count),
	SITE(ns),
	SITE(kind_ns),
	SITE(max_ns),
	SITE(waiting_ns),
	SITE(waiting),
	FIELD_EACH(struct record_site, site.log2_us, ),
	FIELD_EACH(struct record_site, site.wakers, .tgid),
	FIELD_EACH(struct record_site, site.wakers, .name),
	FIELD_EACH(struct record_site, site.wakers, .ns),
	FIELD_EACH(struct record_site, site.wakers, .count),
	SITE(at_least),
	SITE(tgid),
	SITE(start_ns),
	SITE(comm),
	FIELD_BELOW(struct record_site, site.state, WAIT_STATES),
	FIELD_BELOW(struct record_site, site.class, WAIT_CLASSES),
	SITE(kind),
	SITE(overlaps),
	SITE(syscall),
	SITE(on),
	SITE(on_ns),
	SITE(where),
	SITE(stacked),
	FIELD(struct record_site, stack),
};
TABLE(site);

#define USER_STACK(member) FIELD(struct record_user_stack, member)

static const struct field user_stack_fields[] = {
	USER_STACK(site), USER_STACK(stack), USER_STACK(ns), USER_STACK(count), USER_STACK(waker),
};
TABLE(user_stack);

#define LINK(member) FIELD(struct site_link, member)

static const struct field link_fields[] = {
	LINK(site), LINK(tgid),	 LINK(to), FIELD_BELOW(struct site_link, state, WAIT_STATES + 1),
	LINK(ns),   LINK(holds),
};
TABLE(link);

#define REST(member) FIELD(struct record_rest, member)

static const struct field rest_fields[] = {
	REST(tgid), REST(start_ns), REST(comm), FIELD_BELOW(struct record_rest, kind, WAIT_KINDS),
	REST(ns),   REST(unknown),
};
TABLE(rest);

#define GROUP(member) FIELD(struct cgroup_sample, member)

static const struct field group_fields[] = {
	GROUP(have),
	FIELD_EACH(struct cgroup_sample, error, ),
	FIELD_EACH(struct cgroup_sample, read_ns, ),
	FIELD_EACH(struct cgroup_sample, psi, .some.valid),
	FIELD_EACH(struct cgroup_sample, psi, .some.avg10),
	FIELD_EACH(struct cgroup_sample, psi, .some.avg60),
	FIELD_EACH(struct cgroup_sample, psi, .some.avg300),
	FIELD_EACH(struct cgroup_sample, psi, .some.total_us),
	FIELD_EACH(struct cgroup_sample, psi, .full.valid),
	FIELD_EACH(struct cgroup_sample, psi, .full.avg10),
	FIELD_EACH(struct cgroup_sample, psi, .full.avg60),
	FIELD_EACH(struct cgroup_sample, psi, .full.avg300),
	FIELD_EACH(struct cgroup_sample, psi, .full.total_us),
	GROUP(throttled_ns),
	GROUP(throttled),
	GROUP(event_valid),
	FIELD_EACH(struct cgroup_sample, events, ),
	GROUP(states.sleeping),
	GROUP(states.running),
	GROUP(states.stopped),
	GROUP(states.uninterruptible),
	GROUP(states.io_wait),
	GROUP(threaded),
	GROUP(cpu_elsewhere),
};
TABLE(group);

uint64_t record_format(void)
{
	static const struct field_table *const tables[] = {
		&record_head_table,    &record_note_table,	 &record_sleep_table,
		&record_names_table,   &record_raw_table,	 &record_end_table,
		&record_dropped_table, &record_fields_table,	 &record_proc_table,
		&record_extra_table,   &record_traced_table,	 &record_process_table,
		&record_site_table,    &record_link_table,	 &record_rest_table,
		&record_group_table,   &record_user_stack_table,
	};
	/* Enumerated values: notes, states, classes. A byte, so that no order counts. */
	static const unsigned char counts[] = { NOTE_IDS, WAIT_STATES, WAIT_CLASSES, DELAY_KINDS,
						PARTS };
	uint64_t hash = hash_bytes(HASH_START, counts, sizeof(counts));

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (size_t f = 0; f < tables[t]->n; f++) {
			const struct field *field = &tables[t]->fields[f];
			const unsigned char about[] = { field->type, (unsigned char)field->n };

			hash = hash_text(hash, field->name);
			hash = hash_bytes(hash, about, sizeof(about));
		}
	return hash;
}
