/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/schema.h"

#include "base/util.h"
#include "history/moment.h"
#include "history/rows.h"

/* The field type that follows from a member's type. */
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

/* A column: its name, its member of the struct ROW, and its description in the manual. */
#define COLUMN_OF(column, member, type_, text_, ...) \
	{ \
		.name = (column), .text = (text_), .at = offsetof(ROW, member), .type = (type_), \
		__VA_ARGS__ \
	}
#define COLUMN(column, member, text, ...) \
	COLUMN_OF(column, member, MEMBER_TYPE(((ROW *)0)->member), text, __VA_ARGS__)

/* When the column is NULL: see enum field_unknown. */
#define NOT_0 .unknown = UNKNOWN_ZERO
#define NOT_NEGATIVE .unknown = UNKNOWN_NEGATIVE
#define IF(flag) .unknown = UNKNOWN_UNLESS, .other = offsetof(ROW, flag)
#define IF_BITS(member, mask) \
	.unknown = UNKNOWN_UNLESS_BITS, .other = offsetof(ROW, member), .bits = (mask)
#define UNLESS_AS(member) .unknown = UNKNOWN_AS, .other = offsetof(ROW, member)
#define NAMED .unknown = UNKNOWN_NAMED

/* The number of a task, a site ... that must exist. */
#define A_NUMBER .least = 1, .most = UINT32_MAX
/* The id of a text or a process; NULL: none. */
#define AN_ID NOT_0
#define UNREAD .unread = true
/* The growth of an unknown counter may be below 0. */
#define GROWTH .least = INT64_MIN, .most = INT64_MAX
#define AN_ERROR .least = -4095, .most = 4095

#define ROW struct about_row
static const struct schema_field recording_fields[] = {
	COLUMN("name", name,
	       "version (of these tables), reads_from (the least version that a reader must "
	       "know to read them), stalltop (its version), host, kernel, boot (the id of the "
	       "boot), threads (1: rows are threads, 0: processes)."),
	COLUMN_OF("value", word, TYPE_VALUE, "the value."),
};

#undef ROW
#define ROW struct text_row
static const struct schema_field text_fields[] = {
	COLUMN("id", id, "its number.", UNREAD),
	COLUMN_OF("value", value, TYPE_BYTES, "a text; a blob where the bytes are not UTF-8."),
};

#undef ROW
#define ROW struct named_row
#define NAME_FIELDS(text) \
	{ \
		COLUMN("id", id, "its number.", UNREAD), COLUMN("name", name, text) \
	}
static const struct schema_field kind_fields[] =
	NAME_FIELDS("cpu, blkio, swapin, reclaim, thrash, compact, wpcopy, irq, dwait.");
static const struct schema_field resource_fields[] = NAME_FIELDS("cpu, memory, io, irq.");
static const struct schema_field field_name_fields[] =
	NAME_FIELDS("the name; of a field of struct taskstats: the kernel's name.");
static const struct schema_field wait_state_fields[] =
	NAME_FIELDS("run, cpu, io, dwait, lock, net, pipe, poll, timer, child, stop, other, park.");
static const struct schema_field wait_class_fields[] =
	NAME_FIELDS("unknown, served, contended, rationed, parked.");

#undef ROW
#define ROW struct moment_task
static const struct schema_field task_fields[] = {
	COLUMN("id", id, "the number that other tables have.", UNREAD),
	COLUMN("first", first, "the number of the first row of the same task.", UNREAD),
	COLUMN("tgid", tgid, "the process."),
	COLUMN("pid", pid, "the thread; the same as tgid where rows are processes."),
	COLUMN("ppid", ppid, "the parent."),
	COLUMN("uid", uid, "the real user id."),
	COLUMN("user", user, "the name of that user (text).", AN_ID),
	COLUMN("comm", comm, "the name (text).", AN_ID),
	COLUMN("command", command, "the command line (text), NULL: not read.", AN_ID),
	COLUMN("cgroup", cgroup, "the control group (text), NULL: not read.", AN_ID),
	COLUMN("pod", pod, "NAMESPACE/POD of its pod (text), NULL: none, or not known.", AN_ID,
	       .since = 8),
	COLUMN("container", container,
	       "the name of its container (text), NULL: none, or not known.", AN_ID, .since = 8),
	COLUMN("start_ns", start_ns, "when it started (monotonic)."),
	COLUMN("latest_ns", latest_ns,
	       "the latest time at which it can have started; NULL: start_ns.",
	       UNLESS_AS(start_ns)),
	COLUMN("lo_ns", lo_ns,
	       "its start as the source knows it: the earliest time; NULL: start_ns.",
	       UNLESS_AS(start_ns)),
	COLUMN("hi_ns", hi_ns, "and the latest time; NULL: start_ns.", UNLESS_AS(start_ns)),
};

#undef ROW
#define ROW struct moment_sample
static const struct schema_field sample_fields[] = {
	COLUMN("id", number, "its number.", UNREAD),
	COLUMN("time_ns", real_ns, "when it was taken, ns since 1970."),
	COLUMN("interval_ns", interval_ns,
	       "the interval; NULL: the sample is a baseline, without interval.",
	       IF(interval_known)),
	COLUMN("begin_ns", begin_ns, "when it began (monotonic)."),
	COLUMN("took_ns", took_ns, "how long it took."),
	COLUMN("whole", whole,
	       "1: it is whole: all tasks have a row in standing, so no earlier sample is needed."),
	COLUMN("tasks", n, "how many tasks were alive."),
	COLUMN("steady", steady,
	       "how many tasks, from the first on, have the place that they had before."),
	COLUMN("marked", marked, "1: the source told which tasks did nothing."),
	COLUMN("have", have, "what was read on demand: bits of the program's own."),
	COLUMN("source", source, "where counters came from (text).", AN_ID),
	COLUMN("taskstats_version", head.taskstats_version,
	       "the version of the records, NULL: none.", NOT_0),
	COLUMN("delayacct", head.delayacct,
	       "1: the kernel accounts delays, 0: it does not, NULL: not known.", NOT_NEGATIVE,
	       .least = 0, .most = 1),
	COLUMN("unknown", head.unknown, "kinds that are unknown in this interval, one bit each."),
	COLUMN("cgroup", cgroup, "the group whose pressure was shown (text), NULL: the machine.",
	       AN_ID),
	COLUMN("hierarchy", hierarchy, "the hierarchy of control groups (text).", AN_ID),
	COLUMN("hierarchy_version", head.hierarchy_version, "its version.", NOT_0),
	COLUMN("exits", head.exits,
	       "exit records received in the interval; NULL: none were listened for.", NOT_NEGATIVE,
	       .least = 0, .most = INT64_MAX / 2),
	COLUMN("lost", head.lost, "exit records that were lost.", NOT_NEGATIVE, .least = 0,
	       .most = INT64_MAX / 2),
	COLUMN("others", head.others, "ended tasks that have no row of their own."),
	COLUMN("self", head.self, "stalltop's own share of a CPU, in percent.", NOT_NEGATIVE),
	COLUMN("cpus", system.cpus, "CPUs online.", NOT_0),
	COLUMN("user_ns", cpu_ns[CPU_USER], "growth of the CPUs' time in the interval: user.",
	       IF(system.cpu_valid)),
	COLUMN("nice_ns", cpu_ns[CPU_NICE], "nice.", IF(system.cpu_valid)),
	COLUMN("system_ns", cpu_ns[CPU_SYSTEM], "system.", IF(system.cpu_valid)),
	COLUMN("idle_ns", cpu_ns[CPU_IDLE], "idle.", IF(system.cpu_valid)),
	COLUMN("iowait_ns", cpu_ns[CPU_IOWAIT], "iowait.", IF(system.cpu_valid)),
	COLUMN("irq_ns", cpu_ns[CPU_IRQ], "irq.", IF(system.cpu_valid)),
	COLUMN("softirq_ns", cpu_ns[CPU_SOFTIRQ], "softirq.", IF(system.cpu_valid)),
	COLUMN("steal_ns", cpu_ns[CPU_STEAL], "steal.", IF(system.cpu_valid)),
	COLUMN_OF("load1", system.load[0], TYPE_HUNDREDTHS,
		  "the load average of 1 minute, in hundredths.", IF(system.load_valid)),
	COLUMN_OF("load5", system.load[1], TYPE_HUNDREDTHS, "of 5 minutes.", IF(system.load_valid)),
	COLUMN_OF("load15", system.load[2], TYPE_HUNDREDTHS, "of 15 minutes.",
		  IF(system.load_valid)),
	COLUMN("uptime", system.uptime, "seconds since boot.", IF(system.uptime_valid)),
	COLUMN("memory_kb", system.memory_total, "memory, in kB.", IF(system.memory_valid)),
	COLUMN("memory_used_kb", system.memory_used, "of that, used.", IF(system.memory_valid)),
	COLUMN("swap_kb", system.swap_total, "swap space.", IF(system.memory_valid)),
	COLUMN("swap_used_kb", system.swap_used, "of that, used.", IF(system.memory_valid)),
	COLUMN("pressure_ns", pressure_ns,
	       "when the pressure files were read, counted from begin_ns."),
	COLUMN("machine_io_us", machine_us,
	       "the total of the machine's pressure of I/O (some), where a group's pressure was "
	       "shown (cgroup); NULL: the machine's was, or it is not known.",
	       IF(machine_known), .since = 7),
	COLUMN("machine_io_ns", machine_ns, "when that was read, since begin_ns.",
	       IF(machine_known), .since = 7),
	COLUMN_OF(
		"reads", reads, TYPE_BLOB,
		"when each task was read: numbers of 7 bits a byte, the lowest first; all bytes "
		"but a number's last have the highest bit set. Tasks are in the order of (tgid, "
		"pid). First comes how many tasks keep their time. Then comes the time of the next "
		"task: how much later it is than the time before (at first than begin_ns), with 0, "
		"-1, 1, -2 ... written as 0, 1, 2, 3, times four; plus 1 if several tasks have "
		"this time, and then their number follows; plus 2 if another time follows and not "
		"how many tasks keep theirs. After the last task come times in the sample before "
		"that became known only now: how many tasks to pass over, and the time from the "
		"begin of that sample. (Files before version 4 have another format.)"),
};

#undef ROW
#define ROW struct file_error_row
static const struct schema_field file_error_fields[] = {
	COLUMN("file", file, "the resource of a pressure file, or the name below /proc."),
	COLUMN("error", error, "the negative error number.", AN_ERROR),
};

#undef ROW
#define ROW struct gap_row
static const struct schema_field gap_fields[] = { COLUMN("dropped", dropped,
							 "how many samples are missing.") };

#undef ROW
#define ROW struct noted_row
static const struct schema_field note_fields[] = {
	COLUMN("number", number, "their order.", UNREAD),
	COLUMN("name", name, "the id of the note."),
	COLUMN("value", value, "the value of N in the note."),
	COLUMN("error", error, "a negative error number, NULL: none.", NOT_0, AN_ERROR),
};

#undef ROW
#define ROW struct account
static const struct schema_field account_fields[] = {
	COLUMN("machine_ns", machine_ns, "the time of all CPUs.", IF(valid)),
	COLUMN("run_ns", run_ns, "the run time of all tasks.", IF(valid)),
	COLUMN("idle_ns", idle_ns, "idle.", IF(valid)),
	COLUMN("iowait_ns", iowait_ns, "idle while tasks waited for I/O.", IF(valid)),
	COLUMN("steal_ns", steal_ns, "taken by the hypervisor.", IF(valid)),
	COLUMN("irq_ns", irq_ns, "time in interrupts.", IF(valid)),
	COLUMN("recovered_ns", recovered_ns, "time of ended tasks that was found at their parents.",
	       IF(recovered_valid)),
	COLUMN("children_ns", children_ns, "time of children that was booked to their parents.",
	       IF(recovered_valid)),
	COLUMN("rest_ns", rest_ns, "the rest: time that none of these explains.", IF(valid)),
};

#undef ROW
#define ROW struct clock_row
static const struct schema_field clock_fields[] = {
	COLUMN("number", number, "their order."),
	COLUMN("real_ns", real_ns, "the time at which the boot clock was 0, ns since 1970."),
	COLUMN("from_ns", from_ns, "the monotonic time from which on the row holds."),
	COLUMN("ahead_ns", ahead_ns,
	       "by how much the boot clock is ahead of the monotonic clock from then on."),
};

#undef ROW
#define ROW struct pressure_row
#define PRESSURE_LINE(since) \
	COLUMN("resource", resource, "the resource.", NAMED), \
		COLUMN("full", full, "1: full, 0: some."), \
		COLUMN("avg10", line.avg10, \
		       "the average of 10 s, in hundredths of a percent; NULL: there is none.", \
		       IF(line.valid)), \
		COLUMN("avg60", line.avg60, "the average of 60 s.", IF(line.valid)), \
		COLUMN("avg300", line.avg300, "the average of 300 s.", IF(line.valid)), \
		COLUMN("total_us", line.total_us, "stalled since " since ".", IF(line.valid))
static const struct schema_field pressure_fields[] = { PRESSURE_LINE("boot") };
static const struct schema_field cgroup_pressure_fields[] = {
	COLUMN("path", path, "the path (text).", A_NUMBER),
	PRESSURE_LINE("it was made"),
	COLUMN("read_ns", read_ns, "when it was read (monotonic)."),
};

#undef ROW
#define ROW struct activity_row
static const struct schema_field activity_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("run_ns", run_ns, "time on a CPU; NULL: not known, or the task was not seen before.",
	       IF(ran), GROWTH),
	COLUMN("user_ns", user_ns, "growth of its user time, which the kernel counts in ticks.",
	       IF(ticked), GROWTH),
	COLUMN("system_ns", system_ns, "growth of its system time, also in ticks.", IF(ticked),
	       GROWTH),
	COLUMN("drift_ns", drift_ns,
	       "how much longer its threads were alive than the time between its readings."),
	COLUMN("state", state, "its state: R S D T Z ...; NULL: not known."),
	COLUMN("threads", threads, "how many threads it has; NULL: not known.", NOT_0),
	COLUMN("cpu_ns", cpu.ns,
	       "what it waited for a CPU, if the kernel booked exactly this in the interval; NULL: "
	       "see other_wait.",
	       IF(waited), GROWTH, .since = 3),
	COLUMN("cpu_waits", cpu.count, "waits for a CPU that ended; NULL if cpu_ns is.", IF(waited),
	       GROWTH, .since = 3),
};

#undef ROW
#define ROW struct wait_row
static const struct schema_field other_wait_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("kind", kind, "the kind.", NAMED),
	COLUMN("waited_ns", waited_ns,
	       "the part of its waits that lies within the interval; NULL: not known.", IF(known)),
	COLUMN("waits", waits, "waits that ended; NULL: not known.", IF(counted), GROWTH),
	COLUMN("ahead_ns", ahead_ns,
	       "what the kernel booked in the interval, less waited_ns; so waited_ns + ahead_ns "
	       "was booked."),
};

#undef ROW
#define ROW struct standing_row
static const struct schema_field standing_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("known", valid,
	       "which of its counters are known, one bit each: times of kinds, numbers of waits of "
	       "kinds, run time, user and system time, children's times."),
	COLUMN("members", members, "how many tasks the row stands for."),
	COLUMN("single", single, "1: it is a single thread."),
	COLUMN("exact", exact, "1: it is known when its waits began."),
	COLUMN("was", was, "the pid that it had before exec; -1: it did not exist.", NOT_0,
	       .least = -1, .most = INT32_MAX),
	COLUMN("run_ns", run_ns, "time on a CPU since its start."),
	COLUMN("user_ns", user_ns, "user time."),
	COLUMN("system_ns", system_ns, "system time."),
	COLUMN("life_ns", life_ns, "how long its threads have been alive, added up; 0: not known."),
};

#undef ROW
#define ROW struct sum_row
static const struct schema_field sum_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("kind", kind, "the kind.", NAMED),
	COLUMN("ns", sum.ns, "the time since the start of the task."),
	COLUMN("waits", sum.count, "how many waits."),
};

#undef ROW
#define ROW struct children_row
static const struct schema_field children_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("user_ns", user_ns, "user time."),
	COLUMN("system_ns", system_ns, "system time."),
};

#undef ROW
#define ROW struct waiting_row
static const struct schema_field waiting_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("kind", kind, "cpu, blkio or dwait.", NAMED),
	COLUMN("threads", threads,
	       "how many threads wait; 0: no thread of the task waits any more."),
	COLUMN("longest_ns", first_ns, "when the longest wait of the task began (monotonic)."),
	COLUMN("began_ns", began_ns,
	       "when the waits of this kind began, added up modulo 2^64; NULL: longest_ns.",
	       IF(began)),
};

#undef ROW
#define ROW struct ended_row
static const struct schema_field ended_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("status", status, "the status that wait(2) returns."),
	COLUMN("exit_code", exit_code, "the exit code; NULL: a signal ended it.", IF(exited),
	       UNREAD),
	COLUMN("signal", signal, "the signal; NULL: none.", IF(signalled), UNREAD),
	COLUMN("members", members, "how many tasks the row stands for."),
	COLUMN("how", how, "how it ended, as shown (text).", AN_ID),
	COLUMN("reaper", reaper, "the parent that waits for it.", NOT_0),
	COLUMN("mixed", mixed, "1: it stands for tasks of several parents."),
	COLUMN("place", place,
	       "its place among the tasks that left; NULL: it is still there, as a zombie.",
	       IF(left), UNREAD),
	COLUMN("left_ns", left_ns, "when it ended, counted from begin_ns.", IF(left)),
};

#undef ROW
#define ROW struct moment_gone
static const struct schema_field gone_fields[] = { COLUMN("task", task, "the task.", A_NUMBER) };

#undef ROW
#define ROW struct moment_field
static const struct schema_field field_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("field", field, "the field (field_name).", NAMED),
	COLUMN("value", value, "its value; NULL: not known.", IF(known)),
};

#undef ROW
#define ROW struct moment_group
#define THROTTLE IF_BITS(sample.have, CGROUP_BIT(CGROUP_THROTTLE))
#define EVENT(event) IF_BITS(sample.event_valid, 1u << (event))
#define STATES IF_BITS(sample.have, CGROUP_BIT(CGROUP_STATES))
static const struct schema_field cgroup_fields[] = {
	COLUMN("path", path, "the path (text).", A_NUMBER),
	COLUMN("fresh", fresh, "1: it was not read in the sample before."),
	COLUMN("have", sample.have, "what was read: bits of the program's own.", .least = 0,
	       .most = CGROUP_ALL),
	COLUMN("throttled_ns", sample.throttled_ns, "how long it was throttled since it was made.",
	       THROTTLE),
	COLUMN("throttled", sample.throttled, "how often it was throttled.", THROTTLE),
	COLUMN("throttled_read_ns", sample.read_ns[CGROUP_THROTTLE],
	       "when the throttling was read (monotonic).", THROTTLE),
	COLUMN("event_known", sample.event_valid, "which of the events are known, one bit each."),
	COLUMN("high", sample.events[CGROUP_EVENT_HIGH],
	       "events in memory.events since it was made.", EVENT(CGROUP_EVENT_HIGH)),
	COLUMN("max", sample.events[CGROUP_EVENT_MAX], "the same.", EVENT(CGROUP_EVENT_MAX)),
	COLUMN("oom", sample.events[CGROUP_EVENT_OOM], "the same.", EVENT(CGROUP_EVENT_OOM)),
	COLUMN("oom_kill", sample.events[CGROUP_EVENT_OOM_KILL], "the same.",
	       EVENT(CGROUP_EVENT_OOM_KILL)),
	COLUMN("sleeping", sample.states.sleeping, "tasks in this state.", STATES),
	COLUMN("running", sample.states.running, "the same.", STATES),
	COLUMN("stopped", sample.states.stopped, "the same.", STATES),
	COLUMN("uninterruptible", sample.states.uninterruptible, "the same.", STATES),
	COLUMN("io_wait", sample.states.io_wait, "the same.", STATES),
};

#undef ROW
#define ROW struct moment_process
static const struct schema_field process_fields[] = {
	COLUMN("id", id, "its number.", UNREAD),
	COLUMN("tgid", tgid,
	       "the process; below 0: all ended processes together that have no row of their own.",
	       .least = INT32_MIN, .most = INT32_MAX),
	COLUMN("start_ns", start_ns, "when it started (monotonic)."),
};

#undef ROW
#define ROW struct moment_site
static const struct schema_field site_fields[] = {
	COLUMN("id", id, "its number.", UNREAD),
	COLUMN("process", process, "the process.", AN_ID),
	COLUMN("comm", comm, "the process's name (text).", AN_ID),
	COLUMN("state", state, "the state (wait_state)."),
	COLUMN("kind", kind, "the kind as which the kernel books these waits; NULL: none.",
	       NOT_NEGATIVE),
	COLUMN("overlaps", overlaps, "1: its time lies within that of other sites.", .least = 0,
	       .most = 1),
	COLUMN("syscall", syscall, "the system call (text).", AN_ID),
	COLUMN("target", on, "what the wait is on (text).", AN_ID),
	COLUMN("function", where, "the function of the kernel (text).", AN_ID),
	COLUMN("stack", stack,
	       "the functions of the kernel, the innermost first, one a line (text).", AN_ID),
	COLUMN("rank", order, "the order of sites with the same time: the lower rank comes first."),
	COLUMN("class", class, "what the waits mean (wait_class).", NOT_NEGATIVE, .since = 6),
};

#undef ROW
#define ROW struct trace_frame
static const struct schema_field trace_fields[] = {
	COLUMN("interval_ns", interval_ns,
	       "the interval of the trace, measured apart from the sample's."),
	COLUMN("lost", lost, "waits that found no room for a site."),
	COLUMN("switches", switches, "context switches."),
	COLUMN("cost", cost, "the share of a CPU that tracing took, in percent; NULL: not known.",
	       NOT_NEGATIVE),
};

#undef ROW
#define ROW struct moment_states
static const struct schema_field states_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("process", process, "its process.", AN_ID),
	COLUMN("waker", waker,
	       "who ended most of its waiting time (text): a pid and a name, or an interrupt.",
	       AN_ID),
	COLUMN("run_ns", states.ns[STATE_RUN], "time in this state; NULL: the task was not traced.",
	       IF(known)),
	COLUMN("cpu_ns", states.ns[STATE_CPU], "the same.", IF(known)),
	COLUMN("io_ns", states.ns[STATE_IO], "the same.", IF(known)),
	COLUMN("dwait_ns", states.ns[STATE_DWAIT], "the same.", IF(known)),
	COLUMN("lock_ns", states.ns[STATE_LOCK], "the same.", IF(known)),
	COLUMN("net_ns", states.ns[STATE_NET], "the same.", IF(known)),
	COLUMN("pipe_ns", states.ns[STATE_PIPE], "the same.", IF(known)),
	COLUMN("poll_ns", states.ns[STATE_POLL], "the same.", IF(known)),
	COLUMN("timer_ns", states.ns[STATE_TIMER], "the same.", IF(known)),
	COLUMN("child_ns", states.ns[STATE_CHILD], "the same.", IF(known)),
	COLUMN("stop_ns", states.ns[STATE_STOP], "the same.", IF(known)),
	COLUMN("other_ns", states.ns[STATE_OTHER], "the same.", IF(known)),
	/* Before version 5 parked threads counted as waiting for a lock. */
	COLUMN("park_ns", states.ns[STATE_PARK], "the same.", IF(known), .since = 5),
	COLUMN("lost_ns", lost_ns,
	       "the part of the time in which it neither ran nor was parked; NULL: not known.",
	       IF(lost_known), .since = 6),
};

#undef ROW
#define ROW struct moment_more
static const struct schema_field stood_for_fields[] = {
	COLUMN("task", task, "the task of the row.", A_NUMBER),
	COLUMN("number", number, "their order.", UNREAD),
	COLUMN("process", process, "the process.", A_NUMBER),
};

#undef ROW
#define ROW struct moment_site_wait
static const struct schema_field site_wait_fields[] = {
	COLUMN("site", site, "the site.", A_NUMBER),
	COLUMN("waits", wait.count, "waits that ended."),
	COLUMN("ns", wait.ns, "time waited in the interval."),
	COLUMN("kind_ns", wait.kind_ns,
	       "the part of ns that the kernel books; NULL: the site has no kind.", IF(of_kind)),
	COLUMN("max_ns", wait.max_ns, "the longest wait so far."),
	COLUMN("waiting", wait.waiting, "threads that wait there now."),
	COLUMN("waiting_ns", wait.waiting_ns,
	       "how long the longest of them has waited; 0: none waits."),
	COLUMN("at_least", wait.at_least, "1: a wait was in progress when tracing began."),
	COLUMN_OF("log2_us", wait.log2_us, TYPE_LENGTHS,
		  "a JSON array: how many waits that ended took less than 1 us, 2 us, 4 us ...; "
		  "NULL: none ended."),
};

#undef ROW
#define ROW struct moment_waker
static const struct schema_field site_waker_fields[] = {
	COLUMN("site", site, "the site.", A_NUMBER),
	COLUMN("number", number, "their order.", NAMED),
	COLUMN("tgid", tgid, "the process; NULL: an interrupt.", NOT_0, .least = INT32_MIN,
	       .most = INT32_MAX),
	COLUMN("name", name, "its name (text).", AN_ID),
	COLUMN("ns", ns, "waiting time that this waker ended."),
	COLUMN("waits", count, "how many waits."),
};

#undef ROW
#define ROW struct moment_link
static const struct schema_field site_link_fields[] = {
	COLUMN("site", site, "the site.", A_NUMBER),
	COLUMN("number", number, "their order.", NAMED),
	COLUMN("tgid", tgid, "the waker.", .least = 1, .most = INT32_MAX),
	COLUMN("state", state, "the state that it was in (wait_state); NULL: not known.",
	       NOT_NEGATIVE),
	COLUMN("to_site", to, "the site that it waited in; NULL: none, or not known.", NOT_0),
	COLUMN("ns", ns, "for so long."),
	COLUMN("holds", holds,
	       "1: it is in that state now, and holds what waits are for that go on.", .least = 0,
	       .most = 1),
};

#undef ROW
#define ROW struct moment_rest
static const struct schema_field unexplained_fields[] = {
	COLUMN("process", process, "the process."),
	COLUMN("kind", kind, "the kind.", NAMED),
	COLUMN("ns", ns, "the time; NULL: not known, because switches went unseen.", IF(known)),
	COLUMN("comm", comm, "the process's name (text).", AN_ID),
};

#undef ROW
#define ROW struct moment_evidence
static const struct schema_field evidence_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("thread", tid, "the thread that waits; NULL: none, or not known.", NOT_0),
	COLUMN("since_ns", since_ns,
	       "since when it has been kept waiting in a call (monotonic); NULL: it is not.",
	       NOT_0),
	COLUMN("state", state, "the state of the wait (wait_state); NULL: not known.",
	       NOT_NEGATIVE),
	COLUMN("class", class, "what the wait means (wait_class).", NOT_NEGATIVE),
	COLUMN("syscall", syscall, "the system call (text).", AN_ID),
	COLUMN("target", on, "what the wait is on (text).", AN_ID),
	COLUMN("function", where, "the function of the kernel (text).", AN_ID),
	COLUMN("known", known,
	       "1: the columns from throttled to writes, and io_limited, were read."),
	COLUMN("throttled", throttled,
	       "the share of the interval in which a quota kept the task's group off the CPUs, in "
	       "percent, added up over CPUs; NULL: not known.",
	       NOT_NEGATIVE),
	COLUMN("quota", quota,
	       "the CPUs that this quota grants; NULL: there is none, or it is not known.", NOT_0),
	COLUMN("memory_limit", memory_limit,
	       "the limit of the memory of the task's group, in bytes; NULL: there is none.",
	       IF(limited)),
	COLUMN("memory_used", memory_used, "the memory of that group in use.", IF(limited)),
	COLUMN("rival", rival,
	       "the task (its pid) that ran most on the CPUs that this one may run on; NULL: not "
	       "known.",
	       NOT_0),
	COLUMN("writes", writes, "what it wrote to storage, in kB a second; NULL: not known.",
	       NOT_NEGATIVE),
	COLUMN("frozen", frozen, "1: its cgroup froze it; NULL: that was not read.", IF(held)),
	COLUMN("tracer", tracer, "the debugger that stopped it; NULL: none, or not known.", NOT_0),
	COLUMN("tracer_name", tracer_name, "its name (text).", AN_ID),
	COLUMN("io_limited", io_limited,
	       "1: its cgroup has a limit of block I/O; NULL: that was not read.", IF(known)),
};
#undef ROW
#define ROW struct moment_bound
static const struct schema_field io_bound_fields[] = {
	COLUMN("task", task, "the task.", A_NUMBER),
	COLUMN("stalled_ns", io.stalled_ns,
	       "for how long a task of the group or several waited for I/O,"),
	COLUMN("passed_ns", io.passed_ns, "of so long between the last two readings."),
	COLUMN("until_ns", io.until_ns, "when the second was, since begin_ns of the sample."),
};

#undef ROW

/* A table whose rows are a struct. */
#define TABLE(row, name_, text_, fields_, ...) \
	{ \
		.name = (name_), .text = (text_), .fields = (fields_), .n = ARRAY_SIZE(fields_), \
		.size = sizeof(row), __VA_ARGS__ \
	}

/* The table has rows of a sample; its first n fields are the rest of the key. */
#define OF_SAMPLE(n) .of_sample = true, .key = (n)
#define PACKED .of_sample = true, .packed = true, .key = 1

const struct schema_table schema_tables[TABLES] = {
	[TABLE_RECORDING] =
		TABLE(struct about_row, "recording",
		      "What the recording is: a name and a value each.", recording_fields),
	[TABLE_TEXT] = TABLE(struct text_row, "text",
			     "Names, command lines and paths, each once; other tables have the id.",
			     text_fields),
	[TABLE_KIND] = TABLE(struct named_row, "kind", "Kinds of waits.", kind_fields),
	[TABLE_RESOURCE] = TABLE(struct named_row, "resource", "Resources that have pressure.",
				 resource_fields),
	[TABLE_FIELD_NAME] =
		TABLE(struct named_row, "field_name",
		      "Fields of records and files that are read on demand (see field).",
		      field_name_fields),
	[TABLE_TASK] =
		TABLE(struct moment_task, "task",
		      "A task. When its name, parent, user or group changes, it gets another row.",
		      task_fields),
	[TABLE_SAMPLE] =
		TABLE(struct moment_sample, "sample",
		      "A sample, and the interval since the sample before.", sample_fields),
	[TABLE_FILE_ERROR] = TABLE(struct file_error_row, "file_error",
				   "A file of the machine that could not be read.",
				   file_error_fields, OF_SAMPLE(1)),
	[TABLE_GAP] =
		TABLE(struct gap_row, "gap",
		      "Samples that are missing right before this one: the disk was too slow.",
		      gap_fields, OF_SAMPLE(0)),
	[TABLE_NOTE] = TABLE(struct noted_row, "note",
			     "What was missing in a sample, as in NOTES of stalltop(1).",
			     note_fields, OF_SAMPLE(1), .order = "number"),
	[TABLE_ACCOUNT] = TABLE(struct account, "account",
				"How the CPU time of the interval was spent, as in \"accounted\" "
				"of the JSON format.",
				account_fields, OF_SAMPLE(0)),
	[TABLE_CLOCK] = TABLE(struct clock_row, "clock",
			      "How the clocks differ. The rows of the last sample that has any "
			      "hold; there are new ones when that changes.",
			      clock_fields, OF_SAMPLE(1), .order = "number"),
	[TABLE_PRESSURE] = TABLE(
		struct pressure_row, "pressure",
		"Pressure of the machine. A line has a row if it changed since the sample before.",
		pressure_fields, OF_SAMPLE(2)),
	[TABLE_ACTIVITY] = TABLE(struct activity_row, "activity",
				 "What a task did in the interval. A task without a row did "
				 "nothing and is in the same state as before.",
				 activity_fields, PACKED),
	[TABLE_OTHER_WAIT] =
		TABLE(struct wait_row, "other_wait",
		      "What else a task waited for in the interval. If a kind has no row here, nor "
		      "cpu_ns in activity, the task did not wait, or it is not known.",
		      other_wait_fields, PACKED),
	[TABLE_STANDING] = TABLE(struct standing_row, "standing",
				 "All counters of a task since its start: if they were not known "
				 "before, and in whole samples.",
				 standing_fields, PACKED),
	[TABLE_TOTAL] =
		TABLE(struct sum_row, "total",
		      "Waits of a task since its start, for a row in standing. No row: none.",
		      sum_fields, PACKED),
	[TABLE_CHILDREN] =
		TABLE(struct children_row, "children", "Times of reaped children, if they changed.",
		      children_fields, PACKED),
	[TABLE_WAITING] = TABLE(struct waiting_row, "waiting",
				"Waits in progress, if they changed since the sample before. They "
				"go on until the task has other rows.",
				waiting_fields, OF_SAMPLE(2), .order = "task"),
	[TABLE_ENDED] = TABLE(struct ended_row, "ended",
			      "Tasks that ended in the interval, if exit records are listened for.",
			      ended_fields, OF_SAMPLE(1), .order = "place"),
	[TABLE_GONE] = TABLE(struct moment_gone, "gone",
			     "Tasks of the sample before that this one does not have.", gone_fields,
			     OF_SAMPLE(1)),
	[TABLE_IMPOSSIBLE] =
		TABLE(struct sum_row, "impossible",
		      "Impossible waits that the kernel booked; what is shown leaves them out.",
		      sum_fields, OF_SAMPLE(2)),
	[TABLE_FIELD] =
		TABLE(struct moment_field, "field", "What was read on demand, if it changed.",
		      field_fields, OF_SAMPLE(2)),
	[TABLE_CGROUP] = TABLE(struct moment_group, "cgroup",
			       "Figures of control groups, if they were shown.", cgroup_fields,
			       OF_SAMPLE(1)),
	[TABLE_CGROUP_PRESSURE] = TABLE(struct pressure_row, "cgroup_pressure",
					"Pressure of control groups, if it was shown.",
					cgroup_pressure_fields, OF_SAMPLE(3)),
	[TABLE_WAIT_STATE] = TABLE(
		struct named_row, "wait_state",
		"States of threads. Their times add up to the time that the threads were alive.",
		wait_state_fields, .since = 2),
	[TABLE_PROCESS] =
		TABLE(struct moment_process, "process", "Processes that were traced, each once.",
		      process_fields, .since = 2),
	[TABLE_SITE] = TABLE(struct moment_site, "site",
			     "What threads of a process wait on. Unknown texts are NULL.",
			     site_fields, .since = 2),
	[TABLE_TRACE] = TABLE(struct trace_frame, "trace", "Samples in which waits were traced.",
			      trace_fields, OF_SAMPLE(0), .since = 2),
	[TABLE_STATES] = TABLE(struct moment_states, "states",
			       "How tasks spent the interval. A task without a row spent it as the "
			       "one before: in the same states for all of it (its times then were "
			       "whole multiples of interval_ns), or not traced. A row in standing "
			       "ends this: then nothing is taken over from the interval before.",
			       states_fields, OF_SAMPLE(1), .since = 2),
	[TABLE_STOOD_FOR] =
		TABLE(struct moment_more, "stood_for",
		      "Processes whose sites belong to a row that stands for many ended tasks.",
		      stood_for_fields, OF_SAMPLE(2), .order = "task, number", .since = 2),
	[TABLE_SITE_WAIT] =
		TABLE(struct moment_site_wait, "site_wait",
		      "What was waited at sites. If a site has no row, the threads that waited "
		      "there in the sample before still wait, and nothing else happened.",
		      site_wait_fields, OF_SAMPLE(1), .since = 2),
	[TABLE_SITE_WAKER] = TABLE(struct moment_waker, "site_waker", "Who ended waits at sites.",
				   site_waker_fields, OF_SAMPLE(2), .since = 2),
	[TABLE_UNEXPLAINED] = TABLE(struct moment_rest, "unexplained",
				    "What no site explains of what a process waited: its waits "
				    "less those at sites, of either sign.",
				    unexplained_fields, OF_SAMPLE(2), .since = 2),
	[TABLE_WAIT_CLASS] = TABLE(struct named_row, "wait_class", "What waits mean.",
				   wait_class_fields, .since = 6),
	[TABLE_EVIDENCE] =
		TABLE(struct moment_evidence, "evidence",
		      "What explains the waits of tasks, for a few of those that suffer most in a "
		      "sample: what they wait on, and what was read of their limits.",
		      evidence_fields, OF_SAMPLE(1), .since = 6),
	[TABLE_IO_BOUND] =
		TABLE(struct moment_bound, "io_bound",
		      "The pressure of I/O of a task's control group, where much was booked for "
		      "the task: no more than that allows was waited (blkio), as no more than the "
		      "machine's does.",
		      io_bound_fields, OF_SAMPLE(1), .since = 7),
	[TABLE_SITE_LINK] = TABLE(struct moment_link, "site_link",
				  "What wakers did while waits at sites lasted that they ended.",
				  site_link_fields, OF_SAMPLE(2), .since = 8),
};
