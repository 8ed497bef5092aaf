/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All columns, with their values for a row of a task or of a group. */
#include "view/column_parts.h"

#include <sys/wait.h>

#include "base/util.h"
#include "frame/group.h"
#include "view/layout.h"

/* The id of the task, process or thread. */
GETTER(get_pid)
{
	return row->task ? value_number(row->task->key.pid) : value_unset();
}

/* The id of its thread group. */
GETTER(get_tgid)
{
	return row->task ? value_number(row->task->tgid) : value_unset();
}

/* The id of its parent. */
GETTER(get_ppid)
{
	return row->task ? value_number(row->task->ppid) : value_unset();
}

/* The real user's name. */
GETTER(get_user)
{
	return row->task ? value_text(row->task->user) : value_unset();
}

/* The real user's id. */
GETTER(get_uid)
{
	return row->task ? value_number(row->task->uid) : value_unset();
}

/* Returns the text of a state letter: values own no text. */
static const char *state_text(char state)
{
	static const char *const texts[] = { "R", "S", "D", "T", "t", "Z", "X", "I", "P", "W" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i][0] == state)
			return texts[i];
	return NULL;
}

/* The task's state. */
GETTER(get_state)
{
	char state = row_state(row);

	if (row->exited && !state)
		return value_text("X");
	return value_text(state_text(state));
}

/* Time on a CPU. */
GETTER(get_run)
{
	return row->valid & VALID_RUN ? column_share(row, row->deltas->grown.run_ns)
				      : value_unset();
}

/* User time. */
GETTER(get_usr)
{
	return row->valid & VALID_TICK ? column_share(row, row->deltas->grown.user_ns)
				       : value_unset();
}

/* System time. */
GETTER(get_sys)
{
	return row->valid & VALID_TICK ? column_share(row, row->deltas->grown.system_ns)
				       : value_unset();
}

/* Time since the task's start, in s. */
GETTER(get_elapsed)
{
	if (!row->task || row->members > 1)
		return value_unset();
	return value_number((double)row_age_ns(view->frame, row) / (double)NSEC_PER_SEC);
}

/* A wait in progress, in s. */
GETTER(get_wait)
{
	uint64_t ns = 0, call_ns = 0;
	bool waits = row_wait(view->frame, row, &ns), hangs = row_hang(view->frame, row, &call_ns);

	if (!waits && !hangs)
		return value_unset();
	return value_number((double)(ns > call_ns ? ns : call_ns) / (double)NSEC_PER_SEC);
}

/* The task's wait in progress; arg: one of its texts. */
enum { WAITING_SYSCALL, WAITING_ON, WAITING_WHERE };

/* The task with most CPU time on the CPUs that this one waited for. */
static struct value get_rival(const struct view *view, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(view->frame, row);
	const struct row *rival =
		evidence && evidence->rival ? frame_of_pid(view->frame, evidence->rival) : NULL;

	return rival ? value_text(rival->task->comm) : value_unset();
}

GETTER(get_waiting)
{
	const struct task_waiting *waiting = row_waiting(view->frame, row);

	if (!waiting)
		return column->arg == WAITING_ON ? get_rival(view, row) : value_unset();
	if (column->arg == WAITING_SYSCALL)
		return value_text(waiting->syscall);
	if (column->arg == WAITING_ON)
		return value_text(waiting->on.len ? waiting->on.data : NULL);
	return value_text(waiting->where.len ? waiting->where.data : NULL);
}

/* The last CPU that the task ran on. */
GETTER(get_cpu)
{
	if (!row->task || row->exited || !row->task->cpu)
		return value_unset();
	return value_number(row->task->cpu - 1);
}

/* Time on a CPU since the task's start, in s. */
GETTER(get_time)
{
	if (!(row->raw->counters.valid & VALID_RUN))
		return value_unset();
	return value_number((double)row->raw->counters.run_ns / (double)NSEC_PER_SEC);
}

/* Time of exited and reaped children in the interval; arg: 0 user, 1 system. */
GETTER(get_children)
{
	uint64_t ns, old;

	if (!row->task || !row_children(view->frame, row, column->arg, &ns))
		return value_unset();
	if (view->frame->info->since_start || row->born)
		old = 0;
	else if (!row_children_before(view->frame, row, column->arg, &old))
		return value_unset();
	return column_share(row, ns > old ? ns - old : 0);
}

/*
 * True if a row lacks the counters of threads that exited in earlier intervals: for an exited
 * process with several threads, only the records of the threads that exited with it exist.
 */
static bool lacks_threads(const struct row *row)
{
	return row->exited && !row->raw->single && !row->born;
}

/* Storage bytes in the interval, in kB/s; arg: 0 read, 1 write, 2 cancelled. */
GETTER(get_io)
{
	const struct task_proc *now = row_proc(view->frame, row);
	const struct task_proc *before = row_proc_before(view->frame, row);
	const struct task_io none = { 0, 0, 0 }, *a = &none, *b;
	uint64_t bytes, old;

	if (!now || !now->io_valid || !row->interval_ns)
		return value_unset();
	if (!view->frame->info->since_start && before && before->io_valid &&
	    before->io_whole == now->io_whole)
		a = &before->io;
	else if (view->frame->info->since_start ? lacks_threads(row) : !row->born)
		return value_unset();
	b = &now->io;
	bytes = column->arg == 0 ? b->read : column->arg == 1 ? b->written : b->cancelled;
	old = column->arg == 0 ? a->read : column->arg == 1 ? a->written : a->cancelled;
	return value_number((double)(bytes > old ? bytes - old : 0) / 1024.0 *
			    ((double)NSEC_PER_SEC / (double)row->interval_ns));
}

/* A field of the record: a gauge unchanged, a counter's growth in the interval. */
GETTER(get_record)
{
	const struct record_row *field = &record_table[column->arg];
	const struct task_record *now = row_record(view->frame, row);
	const struct task_record *before = row_record_before(view->frame, row);
	uint64_t bit = RECORD_BIT(column->arg), value;

	if (!now || !(now->fields_valid & bit))
		return value_unset();
	/* A single task's value has no meaning for several. */
	if (field->fold == FOLD_LEADER && row->members > 1)
		return value_unset();
	value = now->field[column->arg];
	if (field->type == RECORD_S8)
		return value_number((double)(int64_t)value);
	if (field->nature == RECORD_GAUGE || row->born)
		return value_number((double)value);
	if (view->frame->info->since_start || view->unit == UNIT_TOTAL)
		return lacks_threads(row) ? value_unset() : value_number((double)value);
	if (!before || !(before->fields_valid & bit))
		return value_unset();
	/* A process's sum over its threads falls when one exits. */
	if (value < before->field[column->arg])
		return value_number(0);
	return value_number((double)(value - before->field[column->arg]));
}

/* The cgroup's path. */
GETTER(get_cgroup)
{
	bool is_group = row->group && view->frame->group_by == group_table[GROUP_CGROUP].id;
	struct value value = value_text(is_group ? row->group->name : NULL);

	if (row->task) {
		value = value_text(row->task->cgroup);
		value.pod = row->task->pod;
		value.container = row->task->container;
	}
	return value;
}

/* The container's name for users: its pod, and its name. */
GETTER(get_pod)
{
	return value_text(row->task ? row->task->pod : row->group ? row->group->pod : NULL);
}

GETTER(get_container)
{
	return value_text(row->task    ? row->task->container
			  : row->group ? row->group->container
				       : NULL);
}

/* A name, with how its task exited. */
static struct value name_value(const struct row *row, const char *name)
{
	struct value value = value_text(name);

	value.more = row->exited ? row->task->ended : NULL;
	return value;
}

/* The task's name. */
GETTER(get_comm)
{
	return row->task ? name_value(row, row->task->comm) : value_unset();
}

/* The command line; the name if there is none (kernel threads). */
GETTER(get_command)
{
	if (!row->task)
		return value_unset();
	/* It was requested and could not be read. */
	if (!row->task->command && !row->exited && row->task->info & NEED_COMMAND)
		return value_unset();
	if (row->task->command && *row->task->command)
		return name_value(row, row->task->command);
	return name_value(row, row->task->comm);
}

struct value row_in_state(const struct row *row, int wanted)
{
	char state = row->task ? row_state(row) : 0;

	if (row->exited || !state)
		return value_unset();
	if (wanted == STATE_IOWAIT)
		return row->raw->now.state
			       ? value_number(row->raw->now.waits.threads[SEEN_BLKIO] != 0)
			       : value_unset();
	/* A task stopped by a tracer counts as stopped, and an idle kernel thread as sleeping. */
	state = state == 't' ? 'T' : state == 'I' ? 'S' : state;
	return value_number(state == wanted);
}

/* True if the task is in a state; arg: see row_in_state(). */
GETTER(get_in_state)
{
	return row_in_state(row, column->arg);
}

/* Exit status as in a shell: 128 plus the signal's number if a signal ended the task. */
GETTER(get_exit)
{
	int status;

	if (!row->task || !row->exited)
		return value_unset();
	status = (int)row->task->status;
	return value_number(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Members shared by many columns. */
#define DELAY .width = 6, .format = FORMAT_SHARE
#define BYTES .unit = "(kB/s)", .width = 8, .format = FORMAT_COUNT, .sum = SUM_ADD, .needs = NEED_IO
#define STORAGE .place = PLACE_RIGHT, .from = LAYOUT_WIDEST, .yields = 1
#define IN_STATE(state) COUNT(5), .sum = SUM_ADD, .arg = state

/* A pressure column of cgroups. */
#define PRESSURE(resource) \
	PERCENT, .of_groups = true, .needs = NEED_GROUP(resource), .arg = resource, \
		 .place = PLACE_RIGHT
#define EVENTS(event) COUNT(6), .of_groups = true, .needs = NEED_GROUP(CGROUP_EVENTS), .arg = event

/* Kinds in the default view: those also in narrow views, those only if the source has them. */
#define KINDS_NARROW (DELAY_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO))
#define KINDS_GIVEN DELAY_BIT(DELAY_IRQ)

/* The turn in which a kind's column is dropped. */
#define KIND_YIELDS(kind) \
	((kind) == DELAY_BLKIO ? 8 : (kind) == DELAY_RECLAIM ? 10 : (kind) == DELAY_CPU ? 11 : 9)

#define KIND_COLUMN(NAME, kernel, ident, head, key, version, at, at15, text) \
	COLUMN(ident, head, column_get_delay, text, DELAY, .sum = SUM_ROW, .digit = key, \
	       .since = version, .kinds = DELAY_BIT(DELAY_##NAME), .arg = DELAY_##NAME, \
	       .formats = IN_CSV | IN_JSON, .place = PLACE_MIDDLE, \
	       .from = DELAY_BIT(DELAY_##NAME) & KINDS_NARROW ? 0 : LAYOUT_WIDE, \
	       .given = DELAY_BIT(DELAY_##NAME) & KINDS_GIVEN, \
	       .yields = KIND_YIELDS(DELAY_##NAME)),

/* The share of time in a state. */
#define STATE_COLUMN(NAME, ident, letter, head, text) \
	COLUMN("s-" ident, head, column_get_in_wait, "traced: time it " text, PERCENT, \
	       .traced = true, .sum = SUM_ROW, .arg = STATE_##NAME, \
	       .stalls = (BUSY_STATES & ~(1u << STATE_RUN)) & 1u << STATE_##NAME \
				 ? column_get_in_wait \
				 : NULL),

/* Counters of the record are shown as their growth in the interval. */
#define RECORD_COLUMN(name, head, type, at, at15, version, nature, fold, part, measure, text) \
	COLUMN(#name, head, get_record, text, .unit = "(" measure ")", .width = 8, \
	       .format = FORMAT_COUNT, .needs = NEED_RECORD, .since = version, \
	       .sum = RECORD_##nature == RECORD_COUNTER ? SUM_ADD : SUM_NONE, \
	       .arg = RECORD_##name),

const struct column columns[] = {
	COLUMN("pid", "PID", get_pid, "process id; in rows of threads the thread's id",
	       .thread_heading = "TID", COUNT(7), .letter = 'N', .formats = IN_CSV | IN_JSON,
	       .place = PLACE_LEFT),
	COLUMN("tgid", "TGID", get_tgid, "id of the process a thread belongs to", COUNT(7),
	       .formats = IN_CSV | IN_JSON),
	COLUMN("ppid", "PPID", get_ppid, "id of the parent process", COUNT(7),
	       .formats = IN_CSV | IN_JSON),
	COLUMN("user", "USER", get_user, "name of the real user", TEXT(8),
	       .formats = IN_CSV | IN_JSON, .place = PLACE_LEFT, .of_process = true, .yields = 2),
	COLUMN("uid", "UID", get_uid, "id of the real user", COUNT(7), .formats = IN_CSV | IN_JSON),
	COLUMN("state", "S", get_state,
	       "state: R running, S sleeping, D uninterruptible sleep, T stopped, Z zombie, I idle",
	       .unit = "-", .width = 1, .warm = "D", .formats = IN_CSV | IN_JSON,
	       .place = PLACE_LEFT, .yields = 6),
	COLUMN("exit", "EXIT", get_exit,
	       "exit status of a task that exited in the interval, 128 + number for a signal",
	       COUNT(5)),
	COLUMN("run", "RUN", get_run, "time on a CPU", PERCENT, .sum = SUM_ROW, .letter = 'P',
	       .formats = IN_CSV | IN_JSON, .place = PLACE_MIDDLE),
	COLUMN("usr", "USR", get_usr, "time on a CPU in user mode, estimated from clock ticks",
	       PERCENT, .sum = SUM_ROW),
	COLUMN("sys", "SYS", get_sys, "time on a CPU in the kernel, estimated from clock ticks",
	       PERCENT, .sum = SUM_ROW),
	COLUMN("total", "TOTAL", column_get_delay,
	       "total wait: all kinds but thrash, which is in blkio or swapin", DELAY,
	       .sum = SUM_ROW, .digit = '0', .sort_default = true,
	       .kinds = DELAY_TOTAL_KINDS | VALID_DWAIT, .arg = ARG_TOTAL, .place = PLACE_MIDDLE),
	COLUMN("lost", "LOST", column_get_lost,
	       "traced: all time but running and idle waits (idle pools, timers, servers without "
	       "requests); else total",
	       PERCENT, .sum = SUM_ROW, .formats = IN_JSON),
	/* The larger of two sums is not the sum of the members' larger counters: no SUM_ADD. */
	COLUMN("mem", "MEM", column_get_delay,
	       "waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash",
	       DELAY, .sum = SUM_DELTAS, .digit = '9', .kinds = DELAY_MEM_KINDS, .arg = ARG_MEM,
	       .place = PLACE_RIGHT, .narrow = true, .yields = 7),
	DELAY_TABLE(KIND_COLUMN) COLUMN(
		"dwait", "DWAIT", column_get_delay,
		"in uninterruptible sleep without I/O wait: kernel locks, frozen or remote file "
		"systems",
		DELAY, .sum = SUM_ROW, .kinds = VALID_DWAIT, .arg = WAIT_DWAIT,
		.formats = IN_CSV | IN_JSON, .place = PLACE_MIDDLE, .from = LAYOUT_WIDE,
		.yields = 9),
	COLUMN("trend", "TREND", column_get_trend,
	       "total wait in each of the last 10 intervals, scaled to their maximum (10 % or "
	       "more), as far as --history reaches",
	       .unit = "(bar)", .width = VALUE_BAR_CELLS, .format = FORMAT_TEXT, .bar = true,
	       .graph = true, .past = true, .sum = SUM_ROW),
	COLUMN("states", "STATES", column_get_states,
	       "traced: how it spends its time, a letter for each tenth: r runs, c waits for a "
	       "CPU, i for I/O, b for other than I/O, l for a lock, n for a socket, p for a pipe, "
	       ". for any of several events, t for a time, w for a child; s is stopped, o other",
	       .unit = "(bar)", .width = VALUE_BAR_CELLS, .format = FORMAT_TEXT, .bar = true,
	       .traced = true, .sum = SUM_ROW),
	COLUMN("bar", "SHARES", column_get_bar,
	       "how it spends its time, a letter for each tenth: r runs, c waits for a CPU, i for "
	       "I/O, m for memory, b in uninterruptible sleep; the rest sleeps",
	       .unit = "(bar)", .width = VALUE_BAR_CELLS, .format = FORMAT_TEXT, .bar = true,
	       .sum = SUM_ROW, .place = PLACE_RIGHT, .from = LAYOUT_WIDE + 1, .yields = 1),
	WAIT_STATE_TABLE(STATE_COLUMN)
		COLUMN("waker", "WAKER", column_get_waker,
		       "traced: the waker of most of its wait time, a process or an interrupt",
		       TEXT(15), .traced = true),
	/* Columns available from /proc, too. */
	COLUMN("elap", "ELAP", get_elapsed, "time since the task's start", .unit = "(hm)",
	       .width = 7, .format = FORMAT_DURATION),
	COLUMN("wait", "WAIT", get_wait,
	       "age of the wait in progress (of a process: of its longest-waiting thread); "
	       "without BPF a lower bound: since first seen",
	       .unit = "(s)", .width = 6, .format = FORMAT_SHARE, .sum = SUM_MOST,
	       .needs = NEED_HANGS, .place = PLACE_MIDDLE, .from = LAYOUT_WIDER, .yields = 1),
	COLUMN("syscall", "SYSCALL", get_waiting,
	       "system call it is blocked in (of a process: in its longest state D, else in the "
	       "main thread)",
	       TEXT(12), .needs = NEED_WAITING, .arg = WAITING_SYSCALL, .formats = IN_JSON),
	COLUMN("on", "ON", get_waiting,
	       "what it waits on: a file, tcp and unix sockets by their peer, a pipe and the "
	       "process at its other end, a child, a futex; for a CPU: the task that ran most on "
	       "it",
	       TEXT(24), .least = 12, .needs = NEED_WAITING, .arg = WAITING_ON, .formats = IN_JSON,
	       .place = PLACE_RIGHT, .from = LAYOUT_WIDER, .yields = 1),
	COLUMN("where", "WHERE", get_waiting, "kernel function it sleeps in, scheduler skipped",
	       TEXT(20), .needs = NEED_WAITING, .arg = WAITING_WHERE, .formats = IN_JSON),
	COLUMN("cpu-nr", "CPU#", get_cpu, "CPU it last ran on (of a process: its main thread)",
	       COUNT(5), .needs = NEED_CPU),
	COLUMN("time", "TIME", get_time, "time on a CPU since the task's start", .unit = "(s)",
	       .width = 8, .format = FORMAT_SHARE, .sum = SUM_ROW, .needs = NEED_LIFE,
	       .letter = 'T'),
	COLUMN("cuser", "CUSR", get_children,
	       "user time of children reaped in the interval, over their whole lives", PERCENT,
	       .sum = SUM_ADD, .needs = NEED_STAT),
	COLUMN("csys", "CSYS", get_children,
	       "system time of children reaped in the interval, over their whole lives", PERCENT,
	       .sum = SUM_ADD, .needs = NEED_STAT, .arg = 1),
	COLUMN("read", "READ", get_io, "bytes read from storage", BYTES, STORAGE),
	COLUMN("write", "WRITE", get_io, "bytes written to storage", BYTES, STORAGE, .arg = 1),
	COLUMN("cancel", "CANC", get_io,
	       "dirtied bytes that were truncated before they reached storage", BYTES, .arg = 2),
	COLUMN("running", "RUNG", get_in_state, "tasks that run or are runnable", IN_STATE('R')),
	COLUMN("sleeping", "SLPG", get_in_state, "tasks that sleep", IN_STATE('S')),
	COLUMN("stopped", "STPD", get_in_state, "tasks stopped by a signal or a tracer",
	       IN_STATE('T')),
	COLUMN("uninterruptible", "UNIN", get_in_state, "tasks in uninterruptible sleep",
	       IN_STATE('D')),
	COLUMN("iowait", "IOWT", get_in_state, "tasks that wait for block I/O",
	       IN_STATE(STATE_IOWAIT)),
	RECORD_TABLE(RECORD_COLUMN)
	/* Columns of groups. */
	COLUMN("members", "N", column_get_members, "number of tasks in the row", COUNT(7),
	       .sum = SUM_ADD, .of_groups = true, .formats = IN_CSV | IN_JSON, .place = PLACE_LEFT),
	COLUMN("psi-cpu", "PCPU", column_get_pressure, "CPU pressure of the cgroup: some avg10",
	       PRESSURE(PSI_CPU), .yields = 3),
	COLUMN("psi-mem", "PMEM", column_get_pressure, "memory pressure of the cgroup: some avg10",
	       PRESSURE(PSI_MEMORY), .yields = 5),
	COLUMN("psi-io", "PIO", column_get_pressure, "I/O pressure of the cgroup: some avg10",
	       PRESSURE(PSI_IO), .yields = 4),
	COLUMN("throttled", "THROT", column_get_throttled,
	       "time throttled by the CPU limit of the cgroup, or of one above", PERCENT,
	       .stalls = column_get_throttled, .of_groups = true,
	       .needs = NEED_GROUP(CGROUP_THROTTLE), .place = PLACE_RIGHT, .yields = 6),
	COLUMN("mem-high", "MHIGH", column_get_event,
	       "how often the cgroup was throttled for exceeding memory.high",
	       EVENTS(CGROUP_EVENT_HIGH)),
	COLUMN("mem-max", "MMAX", column_get_event, "how often it was about to exceed memory.max",
	       EVENTS(CGROUP_EVENT_MAX)),
	COLUMN("mem-oom", "MOOM", column_get_event,
	       "how often an allocation was about to fail at its memory limit",
	       EVENTS(CGROUP_EVENT_OOM)),
	COLUMN("worst", "WORST", column_get_worst, "the member of the group that waited most",
	       TEXT(15), .of_groups = true, .place = PLACE_RIGHT, .yields = 1),
	COLUMN("cgroup", "CGROUP", get_cgroup,
	       "path of the cgroup; if too long, the name of its container, pod or unit", TEXT(24),
	       .least = 12, .cgroup = true, .needs = NEED_CGROUP, .formats = IN_JSON,
	       .place = PLACE_RIGHT, .from = LAYOUT_WIDER, .yields = 1),
	COLUMN("pod", "POD", get_pod, "namespace and name of the Kubernetes pod", TEXT(24),
	       .least = 12, .needs = NEED_CGROUP, .formats = IN_JSON),
	COLUMN("container", "CONTAINER", get_container,
	       "name of the container, as its manager has it", TEXT(15), .least = 8,
	       .needs = NEED_CGROUP, .formats = IN_JSON),
	COLUMN("group", "GROUP", column_get_group, "the group: a user, a command, a cgroup",
	       TEXT(15), .of_groups = true, .last = true, .names = true,
	       .formats = IN_CSV | IN_JSON),
	COLUMN("comm", "COMMAND", get_comm, "name of the task", TEXT(15), .last = true,
	       .names = true, .longer = "command", .formats = IN_CSV | IN_JSON,
	       .place = PLACE_RIGHT),
	COLUMN("command", "COMMAND", get_command, "command line of the process", TEXT(15),
	       .last = true, .needs = NEED_COMMAND, .formats = IN_JSON),
};

const size_t columns_n = ARRAY_SIZE(columns);
const struct column_table task_columns = { columns, ARRAY_SIZE(columns) };
