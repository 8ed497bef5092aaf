/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/schema.h"

#include "base/util.h"
#include "history/moment.h"
#include "history/rows.h"

/* What a member is, where its type says all. */
#define MEMBER_TYPE(member) \
	_Generic((member), \
		bool: TYPE_BOOL, \
		double: TYPE_REAL, \
		char: TYPE_LETTER, \
		const char *: TYPE_WORD, \
		int: TYPE_I32, \
		unsigned: TYPE_U32, \
		long: sizeof(long) == sizeof(int64_t) ? TYPE_I64 : TYPE_I32, \
		unsigned long: sizeof(long) == sizeof(int64_t) ? TYPE_U64 : TYPE_U32, \
		long long: TYPE_I64, \
		unsigned long long: TYPE_U64)

/* A column, and the member of the struct ROW that it has. */
#define COLUMN_OF(column, member, type_, ...) \
	{ \
		.name = (column), .at = offsetof(ROW, member), .type = (type_), __VA_ARGS__ \
	}
#define COLUMN(column, member, ...) \
	COLUMN_OF(column, member, MEMBER_TYPE(((ROW *)0)->member), __VA_ARGS__)

/* When it is NULL: see enum field_unknown. */
#define NOT_0 .unknown = UNKNOWN_ZERO
#define NOT_NEGATIVE .unknown = UNKNOWN_NEGATIVE
#define IF(flag) .unknown = UNKNOWN_UNLESS, .other = offsetof(ROW, flag)
#define IF_BITS(member, mask) \
	.unknown = UNKNOWN_UNLESS_BITS, .other = offsetof(ROW, member), .bits = (mask)
#define UNLESS_AS(member) .unknown = UNKNOWN_AS, .other = offsetof(ROW, member)
#define NAMED .unknown = UNKNOWN_NAMED

/* The number of a task, a site ... there is. */
#define A_NUMBER .least = 1, .most = UINT32_MAX
/* An id of a text, or of a process. */
#define AN_ID NOT_0
#define UNREAD .unread = true
/* Growth of a counter that is not known may be below 0. */
#define GROWTH .least = INT64_MIN, .most = INT64_MAX
#define AN_ERROR .least = -4095, .most = 4095

#define ROW struct about_row
static const struct schema_field recording_fields[] = {
	COLUMN("name", name),
	COLUMN_OF("value", word, TYPE_VALUE),
};

#undef ROW
#define ROW struct text_row
static const struct schema_field text_fields[] = {
	COLUMN("id", id, UNREAD),
	COLUMN_OF("value", value, TYPE_BYTES),
};

#undef ROW
#define ROW struct named_row
static const struct schema_field name_fields[] = {
	COLUMN("id", id, UNREAD),
	COLUMN("name", name),
};

#undef ROW
#define ROW struct moment_task
static const struct schema_field task_fields[] = {
	COLUMN("id", id, UNREAD),
	COLUMN("first", first, UNREAD),
	COLUMN("tgid", tgid),
	COLUMN("pid", pid),
	COLUMN("ppid", ppid),
	COLUMN("uid", uid),
	COLUMN("user", user, AN_ID),
	COLUMN("comm", comm, AN_ID),
	COLUMN("command", command, AN_ID),
	COLUMN("cgroup", cgroup, AN_ID),
	COLUMN("start_ns", start_ns),
	COLUMN("latest_ns", latest_ns, UNLESS_AS(start_ns)),
	COLUMN("lo_ns", lo_ns, UNLESS_AS(start_ns)),
	COLUMN("hi_ns", hi_ns, UNLESS_AS(start_ns)),
};

#undef ROW
#define ROW struct moment_sample
static const struct schema_field sample_fields[] = {
	COLUMN("id", number, UNREAD),
	COLUMN("time_ns", real_ns),
	COLUMN("interval_ns", interval_ns, IF(interval_known)),
	COLUMN("begin_ns", begin_ns),
	COLUMN("took_ns", took_ns),
	COLUMN("whole", whole),
	COLUMN("tasks", n),
	COLUMN("steady", steady),
	COLUMN("marked", marked),
	COLUMN("have", have),
	COLUMN("source", source, AN_ID),
	COLUMN("taskstats_version", head.taskstats_version, NOT_0),
	COLUMN("delayacct", head.delayacct, NOT_NEGATIVE, .least = 0, .most = 1),
	COLUMN("unknown", head.unknown),
	COLUMN("cgroup", cgroup, AN_ID),
	COLUMN("hierarchy", hierarchy, AN_ID),
	COLUMN("hierarchy_version", head.hierarchy_version, NOT_0),
	COLUMN("exits", head.exits, NOT_NEGATIVE, .least = 0, .most = INT64_MAX / 2),
	COLUMN("lost", head.lost, NOT_NEGATIVE, .least = 0, .most = INT64_MAX / 2),
	COLUMN("others", head.others),
	COLUMN("self", head.self, NOT_NEGATIVE),
	COLUMN("cpus", system.cpus, NOT_0),
	COLUMN("user_ns", cpu_ns[CPU_USER], IF(system.cpu_valid)),
	COLUMN("nice_ns", cpu_ns[CPU_NICE], IF(system.cpu_valid)),
	COLUMN("system_ns", cpu_ns[CPU_SYSTEM], IF(system.cpu_valid)),
	COLUMN("idle_ns", cpu_ns[CPU_IDLE], IF(system.cpu_valid)),
	COLUMN("iowait_ns", cpu_ns[CPU_IOWAIT], IF(system.cpu_valid)),
	COLUMN("irq_ns", cpu_ns[CPU_IRQ], IF(system.cpu_valid)),
	COLUMN("softirq_ns", cpu_ns[CPU_SOFTIRQ], IF(system.cpu_valid)),
	COLUMN("steal_ns", cpu_ns[CPU_STEAL], IF(system.cpu_valid)),
	COLUMN_OF("load1", system.load[0], TYPE_HUNDREDTHS, IF(system.load_valid)),
	COLUMN_OF("load5", system.load[1], TYPE_HUNDREDTHS, IF(system.load_valid)),
	COLUMN_OF("load15", system.load[2], TYPE_HUNDREDTHS, IF(system.load_valid)),
	COLUMN("uptime", system.uptime, IF(system.uptime_valid)),
	COLUMN("memory_kb", system.memory_total, IF(system.memory_valid)),
	COLUMN("memory_used_kb", system.memory_used, IF(system.memory_valid)),
	COLUMN("swap_kb", system.swap_total, IF(system.memory_valid)),
	COLUMN("swap_used_kb", system.swap_used, IF(system.memory_valid)),
	COLUMN("pressure_ns", pressure_ns),
	COLUMN_OF("reads", reads, TYPE_BLOB),
};

#undef ROW
#define ROW struct file_error_row
static const struct schema_field file_error_fields[] = {
	COLUMN("file", file),
	COLUMN("error", error, AN_ERROR),
};

#undef ROW
#define ROW struct gap_row
static const struct schema_field gap_fields[] = { COLUMN("dropped", dropped) };

#undef ROW
#define ROW struct noted_row
static const struct schema_field note_fields[] = {
	COLUMN("number", number, UNREAD),
	COLUMN("name", name),
	COLUMN("value", value),
	COLUMN("error", error, NOT_0, AN_ERROR),
};

#undef ROW
#define ROW struct account
static const struct schema_field account_fields[] = {
	COLUMN("machine_ns", machine_ns, IF(valid)),
	COLUMN("run_ns", run_ns, IF(valid)),
	COLUMN("idle_ns", idle_ns, IF(valid)),
	COLUMN("iowait_ns", iowait_ns, IF(valid)),
	COLUMN("steal_ns", steal_ns, IF(valid)),
	COLUMN("irq_ns", irq_ns, IF(valid)),
	COLUMN("recovered_ns", recovered_ns, IF(recovered_valid)),
	COLUMN("children_ns", children_ns, IF(recovered_valid)),
	COLUMN("rest_ns", rest_ns, IF(valid)),
};

#undef ROW
#define ROW struct clock_row
static const struct schema_field clock_fields[] = {
	COLUMN("number", number),
	COLUMN("real_ns", real_ns),
	COLUMN("from_ns", from_ns),
	COLUMN("ahead_ns", ahead_ns),
};

#undef ROW
#define ROW struct pressure_row
#define PRESSURE_LINE \
	COLUMN("resource", resource, NAMED), COLUMN("full", full), \
		COLUMN("avg10", line.avg10, IF(line.valid)), \
		COLUMN("avg60", line.avg60, IF(line.valid)), \
		COLUMN("avg300", line.avg300, IF(line.valid)), \
		COLUMN("total_us", line.total_us, IF(line.valid))
static const struct schema_field pressure_fields[] = { PRESSURE_LINE };
static const struct schema_field cgroup_pressure_fields[] = {
	COLUMN("path", path, A_NUMBER),
	PRESSURE_LINE,
	COLUMN("read_ns", read_ns),
};

#undef ROW
#define ROW struct activity_row
static const struct schema_field activity_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("run_ns", run_ns, IF(ran), GROWTH),
	COLUMN("user_ns", user_ns, IF(ticked), GROWTH),
	COLUMN("system_ns", system_ns, IF(ticked), GROWTH),
	COLUMN("drift_ns", drift_ns),
	COLUMN("state", state),
	COLUMN("threads", threads, NOT_0),
	COLUMN("cpu_ns", cpu.ns, IF(waited), GROWTH, .since = 3),
	COLUMN("cpu_waits", cpu.count, IF(waited), GROWTH, .since = 3),
};

#undef ROW
#define ROW struct wait_row
static const struct schema_field other_wait_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("kind", kind, NAMED),
	COLUMN("waited_ns", waited_ns, IF(known)),
	COLUMN("waits", waits, IF(counted), GROWTH),
	COLUMN("ahead_ns", ahead_ns),
};

#undef ROW
#define ROW struct standing_row
static const struct schema_field standing_fields[] = {
	COLUMN("task", task, A_NUMBER), COLUMN("known", valid),
	COLUMN("members", members),	COLUMN("single", single),
	COLUMN("exact", exact),		COLUMN("was", was, NOT_0, .least = -1, .most = INT32_MAX),
	COLUMN("run_ns", run_ns),	COLUMN("user_ns", user_ns),
	COLUMN("system_ns", system_ns), COLUMN("life_ns", life_ns),
};

#undef ROW
#define ROW struct sum_row
static const struct schema_field sum_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("kind", kind, NAMED),
	COLUMN("ns", sum.ns),
	COLUMN("waits", sum.count),
};

#undef ROW
#define ROW struct children_row
static const struct schema_field children_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("user_ns", user_ns),
	COLUMN("system_ns", system_ns),
};

#undef ROW
#define ROW struct waiting_row
static const struct schema_field waiting_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("kind", kind, NAMED),
	COLUMN("threads", threads),
	COLUMN("longest_ns", first_ns),
	COLUMN("began_ns", began_ns, IF(began)),
};

#undef ROW
#define ROW struct ended_row
static const struct schema_field ended_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("status", status),
	COLUMN("exit_code", exit_code, IF(exited), UNREAD),
	COLUMN("signal", signal, IF(signalled), UNREAD),
	COLUMN("members", members),
	COLUMN("how", how, AN_ID),
	COLUMN("reaper", reaper, NOT_0),
	COLUMN("mixed", mixed),
	COLUMN("place", place, IF(left), UNREAD),
	COLUMN("left_ns", left_ns, IF(left)),
};

#undef ROW
#define ROW struct moment_gone
static const struct schema_field gone_fields[] = { COLUMN("task", task, A_NUMBER) };

#undef ROW
#define ROW struct moment_field
static const struct schema_field field_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("field", field, NAMED),
	COLUMN("value", value, IF(known)),
};

#undef ROW
#define ROW struct moment_group
#define THROTTLE IF_BITS(sample.have, CGROUP_BIT(CGROUP_THROTTLE))
#define EVENT(event) IF_BITS(sample.event_valid, 1u << (event))
#define STATES IF_BITS(sample.have, CGROUP_BIT(CGROUP_STATES))
static const struct schema_field cgroup_fields[] = {
	COLUMN("path", path, A_NUMBER),
	COLUMN("fresh", fresh),
	COLUMN("have", sample.have, .least = 0, .most = CGROUP_ALL),
	COLUMN("throttled_ns", sample.throttled_ns, THROTTLE),
	COLUMN("throttled", sample.throttled, THROTTLE),
	COLUMN("throttled_read_ns", sample.read_ns[CGROUP_THROTTLE], THROTTLE),
	COLUMN("event_known", sample.event_valid),
	COLUMN("high", sample.events[CGROUP_EVENT_HIGH], EVENT(CGROUP_EVENT_HIGH)),
	COLUMN("max", sample.events[CGROUP_EVENT_MAX], EVENT(CGROUP_EVENT_MAX)),
	COLUMN("oom", sample.events[CGROUP_EVENT_OOM], EVENT(CGROUP_EVENT_OOM)),
	COLUMN("oom_kill", sample.events[CGROUP_EVENT_OOM_KILL], EVENT(CGROUP_EVENT_OOM_KILL)),
	COLUMN("sleeping", sample.states.sleeping, STATES),
	COLUMN("running", sample.states.running, STATES),
	COLUMN("stopped", sample.states.stopped, STATES),
	COLUMN("uninterruptible", sample.states.uninterruptible, STATES),
	COLUMN("io_wait", sample.states.io_wait, STATES),
};

#undef ROW
#define ROW struct moment_process
static const struct schema_field process_fields[] = {
	COLUMN("id", id, UNREAD),
	COLUMN("tgid", tgid, .least = INT32_MIN, .most = INT32_MAX),
	COLUMN("start_ns", start_ns),
};

#undef ROW
#define ROW struct moment_site
static const struct schema_field site_fields[] = {
	COLUMN("id", id, UNREAD),
	COLUMN("process", process, AN_ID),
	COLUMN("comm", comm, AN_ID),
	COLUMN("state", state),
	COLUMN("kind", kind, NOT_NEGATIVE),
	COLUMN("overlaps", overlaps, .least = 0, .most = 1),
	COLUMN("syscall", syscall, AN_ID),
	COLUMN("target", on, AN_ID),
	COLUMN("function", where, AN_ID),
	COLUMN("stack", stack, AN_ID),
	COLUMN("rank", order),
	COLUMN("class", class, NOT_NEGATIVE, .since = 6),
};

#undef ROW
#define ROW struct trace_frame
static const struct schema_field trace_fields[] = {
	COLUMN("interval_ns", interval_ns),
	COLUMN("lost", lost),
	COLUMN("switches", switches),
	COLUMN("cost", cost, NOT_NEGATIVE),
};

#undef ROW
#define ROW struct moment_states
static const struct schema_field states_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("process", process, AN_ID),
	COLUMN("waker", waker, AN_ID),
	COLUMN("run_ns", states.ns[STATE_RUN], IF(known)),
	COLUMN("cpu_ns", states.ns[STATE_CPU], IF(known)),
	COLUMN("io_ns", states.ns[STATE_IO], IF(known)),
	COLUMN("dwait_ns", states.ns[STATE_DWAIT], IF(known)),
	COLUMN("lock_ns", states.ns[STATE_LOCK], IF(known)),
	COLUMN("net_ns", states.ns[STATE_NET], IF(known)),
	COLUMN("pipe_ns", states.ns[STATE_PIPE], IF(known)),
	COLUMN("poll_ns", states.ns[STATE_POLL], IF(known)),
	COLUMN("timer_ns", states.ns[STATE_TIMER], IF(known)),
	COLUMN("child_ns", states.ns[STATE_CHILD], IF(known)),
	COLUMN("stop_ns", states.ns[STATE_STOP], IF(known)),
	COLUMN("other_ns", states.ns[STATE_OTHER], IF(known)),
	/* Who parked waited for a lock before. */
	COLUMN("park_ns", states.ns[STATE_PARK], IF(known), .since = 5),
	COLUMN("lost_ns", lost_ns, IF(lost_known), .since = 6),
};

#undef ROW
#define ROW struct moment_more
static const struct schema_field stood_for_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("number", number, UNREAD),
	COLUMN("process", process, A_NUMBER),
};

#undef ROW
#define ROW struct moment_site_wait
static const struct schema_field site_wait_fields[] = {
	COLUMN("site", site, A_NUMBER),
	COLUMN("waits", wait.count),
	COLUMN("ns", wait.ns),
	COLUMN("kind_ns", wait.kind_ns, IF(of_kind)),
	COLUMN("max_ns", wait.max_ns),
	COLUMN("waiting", wait.waiting),
	COLUMN("waiting_ns", wait.waiting_ns),
	COLUMN("at_least", wait.at_least),
	COLUMN_OF("log2_us", wait.log2_us, TYPE_LENGTHS),
};

#undef ROW
#define ROW struct moment_waker
static const struct schema_field site_waker_fields[] = {
	COLUMN("site", site, A_NUMBER),
	COLUMN("number", number, NAMED),
	COLUMN("tgid", tgid, NOT_0, .least = INT32_MIN, .most = INT32_MAX),
	COLUMN("name", name, AN_ID),
	COLUMN("ns", ns),
	COLUMN("waits", count),
};

#undef ROW
#define ROW struct moment_rest
static const struct schema_field unexplained_fields[] = {
	COLUMN("process", process),
	COLUMN("kind", kind, NAMED),
	COLUMN("ns", ns, IF(known)),
	COLUMN("comm", comm, AN_ID),
};

#undef ROW
#define ROW struct moment_evidence
static const struct schema_field evidence_fields[] = {
	COLUMN("task", task, A_NUMBER),
	COLUMN("thread", tid, NOT_0),
	COLUMN("since_ns", since_ns, NOT_0),
	COLUMN("state", state, NOT_NEGATIVE),
	COLUMN("class", class, NOT_NEGATIVE),
	COLUMN("syscall", syscall, AN_ID),
	COLUMN("target", on, AN_ID),
	COLUMN("function", where, AN_ID),
	COLUMN("known", known),
	COLUMN("throttled", throttled, NOT_NEGATIVE),
	COLUMN("quota", quota, NOT_0),
	COLUMN("memory_limit", memory_limit, IF(limited)),
	COLUMN("memory_used", memory_used, IF(limited)),
	COLUMN("rival", rival, NOT_0),
	COLUMN("writes", writes, NOT_NEGATIVE),
	COLUMN("frozen", frozen, IF(held)),
	COLUMN("tracer", tracer, NOT_0),
	COLUMN("tracer_name", tracer_name, AN_ID),
	COLUMN("io_limited", io_limited, IF(known)),
};
#undef ROW

/* A table of rows of a struct. */
#define TABLE(row, name_, fields_, ...) \
	{ \
		.name = (name_), .fields = (fields_), .n = ARRAY_SIZE(fields_), \
		.size = sizeof(row), __VA_ARGS__ \
	}

/* Of a sample; its rows are told apart by the first n of its fields. */
#define OF_SAMPLE(n) .of_sample = true, .key = (n)
#define PACKED .of_sample = true, .packed = true, .key = 1

const struct schema_table schema_tables[TABLES] = {
	[TABLE_RECORDING] = TABLE(struct about_row, "recording", recording_fields),
	[TABLE_TEXT] = TABLE(struct text_row, "text", text_fields),
	[TABLE_KIND] = TABLE(struct named_row, "kind", name_fields),
	[TABLE_RESOURCE] = TABLE(struct named_row, "resource", name_fields),
	[TABLE_FIELD_NAME] = TABLE(struct named_row, "field_name", name_fields),
	[TABLE_TASK] = TABLE(struct moment_task, "task", task_fields),
	[TABLE_SAMPLE] = TABLE(struct moment_sample, "sample", sample_fields),
	[TABLE_FILE_ERROR] =
		TABLE(struct file_error_row, "file_error", file_error_fields, OF_SAMPLE(1)),
	[TABLE_GAP] = TABLE(struct gap_row, "gap", gap_fields, OF_SAMPLE(0)),
	[TABLE_NOTE] =
		TABLE(struct noted_row, "note", note_fields, OF_SAMPLE(1), .order = "number"),
	[TABLE_ACCOUNT] = TABLE(struct account, "account", account_fields, OF_SAMPLE(0)),
	[TABLE_CLOCK] =
		TABLE(struct clock_row, "clock", clock_fields, OF_SAMPLE(1), .order = "number"),
	[TABLE_PRESSURE] = TABLE(struct pressure_row, "pressure", pressure_fields, OF_SAMPLE(2)),
	[TABLE_ACTIVITY] = TABLE(struct activity_row, "activity", activity_fields, PACKED),
	[TABLE_OTHER_WAIT] = TABLE(struct wait_row, "other_wait", other_wait_fields, PACKED),
	[TABLE_STANDING] = TABLE(struct standing_row, "standing", standing_fields, PACKED),
	[TABLE_TOTAL] = TABLE(struct sum_row, "total", sum_fields, PACKED),
	[TABLE_CHILDREN] = TABLE(struct children_row, "children", children_fields, PACKED),
	[TABLE_WAITING] =
		TABLE(struct waiting_row, "waiting", waiting_fields, OF_SAMPLE(2), .order = "task"),
	[TABLE_ENDED] =
		TABLE(struct ended_row, "ended", ended_fields, OF_SAMPLE(1), .order = "place"),
	[TABLE_GONE] = TABLE(struct moment_gone, "gone", gone_fields, OF_SAMPLE(1)),
	[TABLE_IMPOSSIBLE] = TABLE(struct sum_row, "impossible", sum_fields, OF_SAMPLE(2)),
	[TABLE_FIELD] = TABLE(struct moment_field, "field", field_fields, OF_SAMPLE(2)),
	[TABLE_CGROUP] = TABLE(struct moment_group, "cgroup", cgroup_fields, OF_SAMPLE(1)),
	[TABLE_CGROUP_PRESSURE] =
		TABLE(struct pressure_row, "cgroup_pressure", cgroup_pressure_fields, OF_SAMPLE(3)),
	[TABLE_WAIT_STATE] = TABLE(struct named_row, "wait_state", name_fields, .since = 2),
	[TABLE_PROCESS] = TABLE(struct moment_process, "process", process_fields, .since = 2),
	[TABLE_SITE] = TABLE(struct moment_site, "site", site_fields, .since = 2),
	[TABLE_TRACE] = TABLE(struct trace_frame, "trace", trace_fields, OF_SAMPLE(0), .since = 2),
	[TABLE_STATES] =
		TABLE(struct moment_states, "states", states_fields, OF_SAMPLE(1), .since = 2),
	[TABLE_STOOD_FOR] = TABLE(struct moment_more, "stood_for", stood_for_fields, OF_SAMPLE(2),
				  .order = "task, number", .since = 2),
	[TABLE_SITE_WAIT] = TABLE(struct moment_site_wait, "site_wait", site_wait_fields,
				  OF_SAMPLE(1), .since = 2),
	[TABLE_SITE_WAKER] = TABLE(struct moment_waker, "site_waker", site_waker_fields,
				   OF_SAMPLE(2), .since = 2),
	[TABLE_UNEXPLAINED] = TABLE(struct moment_rest, "unexplained", unexplained_fields,
				    OF_SAMPLE(2), .since = 2),
	[TABLE_WAIT_CLASS] = TABLE(struct named_row, "wait_class", name_fields, .since = 6),
	[TABLE_EVIDENCE] = TABLE(struct moment_evidence, "evidence", evidence_fields, OF_SAMPLE(1),
				 .since = 6),
};
