/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All columns: what each says of a row, of a task or of a group. */
#include "config.h"

#include "column.h"

#include <sys/wait.h>

#include "cgroup.h"
#include "group.h"
#include "util.h"

const struct unit_row unit_table[UNITS] = {
	[UNIT_PERCENT] = { "percent", "(%)", "time waited as a share of the interval" },
	[UNIT_MS] = { "ms", "(ms)", "milliseconds waited in the interval" },
	[UNIT_COUNT] = { "count", "(#)", "waits that ended in the interval" },
	[UNIT_AVG] = { "avg", "(ms/#)", "milliseconds a wait, of those in the interval" },
	[UNIT_MAX] = { "max", "(max)", "longest wait since the task's start, in milliseconds" },
	[UNIT_TOTAL] = { "total", "(tot)", "milliseconds waited since the task's start" },
};

/* Delay columns that are no kind: their arg. */
enum { ARG_TOTAL = DELAY_KINDS, ARG_MEM };

#define UNUSED __attribute__((unused))

/* A getter, and what it is handed. */
#define GETTER(name) \
	static struct value name(UNUSED const struct column *column, \
				 UNUSED const struct view *view, const struct row *row)

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

/* The texts of the state letters, as values hold no text of their own. */
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
	char state = row_state(view->frame, row);

	if (row->exited && !state)
		return value_text("X");
	return value_text(state_text(state));
}

/* Share of the interval, in percent. */
static struct value share(const struct row *row, uint64_t ns)
{
	if (!row->interval_ns)
		return value_unset();
	/* Most are 0 in most rows: spared the division. */
	return value_number(ns ? (double)ns * 100.0 / (double)row->interval_ns : 0);
}

/* Time on a CPU. */
GETTER(get_run)
{
	return row->valid & VALID_RUN ? share(row, row->deltas->run_ns) : value_unset();
}

/* Its user part. */
GETTER(get_usr)
{
	return row->valid & VALID_TICK ? share(row, row->deltas->user_ns) : value_unset();
}

/* Its system part. */
GETTER(get_sys)
{
	return row->valid & VALID_TICK ? share(row, row->deltas->system_ns) : value_unset();
}

/* Longest wait of any of the kinds, in ms. */
static struct value longest(const struct view *view, const struct row *row, uint32_t kinds)
{
	const struct task_record *record = row_record(view->frame, row);
	uint64_t max = 0;

	kinds &= row->raw->valid & (record ? record->range_valid : 0);
	if (!kinds)
		return value_unset();
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind) && record->max[kind] > max)
			max = record->max[kind];
	return value_number((double)max / (double)NSEC_PER_MSEC);
}

/* Sum of the column's kinds over an array of kinds. */
static struct delay_sum sum_of(int arg, const struct delay_sum *delays, uint32_t valid)
{
	if (arg == ARG_TOTAL)
		return delay_total(delays, valid);
	return arg == ARG_MEM ? delay_mem(delays, valid) : delays[arg];
}

/* The interval's delay of the column's kinds. Groups have added their members' mem and total. */
static struct delay_sum delta_of(int arg, const struct row *row)
{
	if (arg == ARG_TOTAL)
		return row->deltas->total;
	return arg == ARG_MEM ? row->deltas->mem : row->deltas->delay[arg];
}

/* A delay in the view's unit. */
GETTER(get_delay)
{
	uint32_t known = row->valid & column->kinds;
	/* Of what is summed every count must be known. */
	bool counted = ((row->valid >> DELAY_KINDS) & known) == known;
	struct delay_sum delta;

	if (view->unit == UNIT_MAX)
		return longest(view, row, column->kinds);
	if (view->unit == UNIT_TOTAL) {
		known = raw_known(row->raw);
		if (!(known & column->kinds))
			return value_unset();
		delta = sum_of(column->arg, row->raw->delay, known);
		return value_number((double)delta.ns / (double)NSEC_PER_MSEC);
	}
	if (!known)
		return value_unset();
	delta = delta_of(column->arg, row);
	if (view->unit == UNIT_PERCENT)
		return share(row, delta.ns);
	if (view->unit == UNIT_MS)
		return value_number((double)delta.ns / (double)NSEC_PER_MSEC);
	if (!counted || (view->unit == UNIT_AVG && !delta.count))
		return value_unset();
	if (view->unit == UNIT_COUNT)
		return value_number((double)delta.count);
	return value_number((double)delta.ns / (double)delta.count / (double)NSEC_PER_MSEC);
}

/* Time since the task's start, in s. */
GETTER(get_elapsed)
{
	uint64_t start;

	if (!row->task || row->members > 1)
		return value_unset();
	start = row->task->key.start_ns;
	if (row->raw->read_ns <= start)
		return value_number(0);
	return value_number((double)(row->raw->read_ns - start) / (double)NSEC_PER_SEC);
}

/* A wait in progress, in s. */
GETTER(get_wait)
{
	uint64_t ns;

	if (!row_wait(view->frame, row, &ns))
		return value_unset();
	return value_number((double)ns / (double)NSEC_PER_SEC);
}

/* Time on a CPU since the task's start, in s. */
GETTER(get_time)
{
	if (!(row->raw->valid & VALID_RUN))
		return value_unset();
	return value_number((double)row->raw->run_ns / (double)NSEC_PER_SEC);
}

/* Ended and reaped children's time in the interval; arg: 0 user, 1 system. */
GETTER(get_children)
{
	uint64_t ns, old;

	if (!row->task || !row_children(view->frame, row, column->arg, &ns))
		return value_unset();
	if (view->frame->since_start || row->born)
		old = 0;
	else if (!row_children_before(view->frame, row, column->arg, &old))
		return value_unset();
	return share(row, ns > old ? ns - old : 0);
}

/* Storage bytes in the interval, in kB/s; arg: 0 read, 1 write, 2 cancelled. */
GETTER(get_io)
{
	const struct task_proc *now = row_proc(view->frame, row);
	const struct task_proc *before = row_proc_before(view->frame, row);
	const struct proctask_io none = { 0, 0, 0 }, *a = &none, *b;
	uint64_t bytes, old;

	if (!now || !now->io_valid || !row->interval_ns)
		return value_unset();
	if (before && before->io_valid && !view->frame->since_start)
		a = &before->io;
	else if (!row->born && !view->frame->since_start)
		return value_unset();
	b = &now->io;
	bytes = column->arg == 0 ? b->read : column->arg == 1 ? b->written : b->cancelled;
	old = column->arg == 0 ? a->read : column->arg == 1 ? a->written : a->cancelled;
	return value_number((double)(bytes > old ? bytes - old : 0) / 1024.0 *
			    ((double)NSEC_PER_SEC / (double)row->interval_ns));
}

/* A field of the record: a gauge as it is, a counter's growth in the interval. */
GETTER(get_record)
{
	const struct record_row *field = &record_table[column->arg];
	const struct task_record *now = row_record(view->frame, row);
	const struct task_record *before = row_record_before(view->frame, row);
	uint64_t bit = RECORD_BIT(column->arg), value;

	if (!now || !(now->fields_valid & bit))
		return value_unset();
	value = now->field[column->arg];
	if (field->type == RECORD_S8)
		return value_number((double)(int64_t)value);
	if (field->nature == RECORD_GAUGE || view->frame->since_start ||
	    view->unit == UNIT_TOTAL || row->born)
		return value_number((double)value);
	if (!before || !(before->fields_valid & bit))
		return value_unset();
	/* A process's sum over its threads falls when one ends. */
	if (value < before->field[column->arg])
		return value_number(0);
	return value_number((double)(value - before->field[column->arg]));
}

/* The cgroup's path. */
GETTER(get_cgroup)
{
	bool is_group = row->group && view->frame->group_by == group_table[GROUP_CGROUP].id;

	if (row->task)
		return value_text(row->task->cgroup);
	return value_text(is_group ? row->group->name : NULL);
}

/* A name, with how its task ended. */
static struct value name_of(const struct row *row, const char *name)
{
	struct value value = value_text(name);

	value.more = row->exited ? row->task->ended : NULL;
	return value;
}

/* The task's name. */
GETTER(get_comm)
{
	return row->task ? name_of(row, row->task->comm) : value_unset();
}

/* The command line; the name where there is none (kernel threads). */
GETTER(get_command)
{
	if (!row->task)
		return value_unset();
	if (row->task->command && *row->task->command)
		return name_of(row, row->task->command);
	return name_of(row, row->task->comm);
}

struct value row_in_state(const struct view *view, const struct row *row, int wanted)
{
	char state = row->task ? row_state(view->frame, row) : 0;

	if (row->exited || !state)
		return value_unset();
	if (wanted == STATE_IOWAIT)
		return row->raw->state ? value_number(row->raw->wait == WAIT_IO) : value_unset();
	/* What was stopped by a tracer is stopped, and idle kernel threads sleep. */
	state = state == 't' ? 'T' : state == 'I' ? 'S' : state;
	return value_number(state == wanted);
}

/* Whether the task is in a state; arg: see row_in_state(). */
GETTER(get_in_state)
{
	return row_in_state(view, row, column->arg);
}

/* Exit status as a shell has it: 128 and the signal's number where one ended the task. */
GETTER(get_exit)
{
	int status = (int)row->raw->status;

	if (!row->task || !row->exited)
		return value_unset();
	return value_number(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* How many tasks the row is of. */
GETTER(get_members)
{
	return value_number(row->members);
}

/* The group that the row is of. */
GETTER(get_group)
{
	return value_text(row->group ? row->group->label : NULL);
}

/* Who of the group has waited most. */
GETTER(get_worst)
{
	if (!row->group || !row->group->worst)
		return value_unset();
	return value_text(row->group->worst->task->comm);
}

/* The group's reading that has a part, of the frame or (before) of the one before it; NULL. */
static const struct cgroup_sample *group_part(const struct row *row, unsigned part, bool before)
{
	const struct cgroup_sample *sample = NULL;

	if (row->group)
		sample = before ? row->group->figures->before : row->group->figures->now;
	return sample && sample->have & CGROUP_BIT(part) ? sample : NULL;
}

/* The group's own pressure; arg: the resource. */
GETTER(get_pressure)
{
	const struct cgroup_sample *now = group_part(row, (unsigned)column->arg, false);

	if (!now || !now->psi[column->arg].some.valid)
		return value_unset();
	return value_number(now->psi[column->arg].some.avg10 / 100.0);
}

/* Time that the group was throttled, as a share of the interval, in percent. */
GETTER(get_throttled)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_THROTTLE, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_THROTTLE, true);
	uint64_t ns;

	if (!now || !before)
		return value_unset();
	ns = now->read_ns[CGROUP_THROTTLE] - before->read_ns[CGROUP_THROTTLE];
	if (!ns || now->throttled_ns < before->throttled_ns)
		return value_unset();
	return value_number((double)(now->throttled_ns - before->throttled_ns) * 100.0 / (double)ns);
}

/* What the group's memory limits did in the interval; arg: enum cgroup_event. */
GETTER(get_event)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_EVENTS, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_EVENTS, true);
	unsigned bit = 1u << column->arg;

	if (!now || !before || !(now->event_valid & before->event_valid & bit) ||
	    now->events[column->arg] < before->events[column->arg])
		return value_unset();
	return value_number((double)(now->events[column->arg] - before->events[column->arg]));
}

/* What many columns share. */
#define COUNT(cells) .unit = "(#)", .width = cells, .format = FORMAT_COUNT
#define PERCENT .unit = "(%)", .width = 6, .format = FORMAT_SHARE
#define TEXT(cells) .unit = "(str)", .width = cells, .format = FORMAT_TEXT

/* Kinds in the default view: these are in narrow ones too, these only where they are given. */
#define KINDS_NARROW (DELAY_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO))
#define KINDS_GIVEN DELAY_BIT(DELAY_IRQ)

/* The turn in which a kind makes room. */
#define KIND_YIELDS(kind) \
	((kind) == DELAY_BLKIO ? 8 : (kind) == DELAY_RECLAIM ? 10 : (kind) == DELAY_CPU ? 11 : 9)

/* What goes by the view's unit. */
#define DELAY .width = 6, .format = FORMAT_SHARE, .get = get_delay

#define BYTES \
	.unit = "(kB/s)", .width = 8, .format = FORMAT_COUNT, .sum = SUM_ADD, .needs = NEED_IO, \
	.get = get_io
#define IN_STATE(state) COUNT(5), .sum = SUM_ADD, .needs = NEED_STAT, .arg = state, \
	.get = get_in_state

/* Of control groups. */
#define PRESSURE(resource) PERCENT, .of_groups = true, .needs = NEED_GROUP(resource), \
	.arg = resource, .get = get_pressure, .place = PLACE_RIGHT
#define EVENTS(event) COUNT(6), .of_groups = true, .needs = NEED_GROUP(CGROUP_EVENTS), \
	.arg = event, .get = get_event

#define KIND_COLUMN(NAME, ident, head, key, version, at, at15, text) \
	{ .id = ident, .heading = head, DELAY, .sum = SUM_ROW, .digit = key, .since = version, \
	  .kinds = DELAY_BIT(DELAY_##NAME), .arg = DELAY_##NAME, .formats = IN_CSV | IN_JSON, \
	  .place = PLACE_MIDDLE, .wide = !(DELAY_BIT(DELAY_##NAME) & KINDS_NARROW), \
	  .given = DELAY_BIT(DELAY_##NAME) & KINDS_GIVEN, .yields = KIND_YIELDS(DELAY_##NAME), \
	  .help = text },

/* Counters of the record are shown as their growth in the interval. */
#define RECORD_COLUMN(name, head, type, at, at15, version, nature, fold, part, measure, text) \
	{ .id = #name, .heading = head, .unit = "(" measure ")", .width = 8, \
	  .format = FORMAT_COUNT, .needs = NEED_RECORD, .since = version, \
	  .sum = RECORD_##nature == RECORD_COUNTER ? SUM_ADD : SUM_NONE, \
	  .arg = RECORD_##name, .get = get_record, .help = text },

const struct column columns[] = {
	{ .id = "pid", .heading = "PID", .thread_heading = "TID", COUNT(7), .get = get_pid,
	  .letter = 'N', .formats = IN_CSV | IN_JSON, .place = PLACE_LEFT,
	  .help = "process id; in thread rows the thread's" },
	{ .id = "tgid", .heading = "TGID", COUNT(7), .get = get_tgid, .formats = IN_CSV | IN_JSON,
	  .help = "id of the process a thread belongs to" },
	{ .id = "ppid", .heading = "PPID", COUNT(7), .get = get_ppid, .formats = IN_CSV | IN_JSON,
	  .help = "id of the parent process" },
	{ .id = "user", .heading = "USER", TEXT(8), .get = get_user, .formats = IN_CSV | IN_JSON,
	  .place = PLACE_LEFT, .of_process = true, .yields = 2, .help = "name of the real user" },
	{ .id = "uid", .heading = "UID", COUNT(7), .get = get_uid, .formats = IN_CSV | IN_JSON,
	  .help = "id of the real user" },
	{ .id = "state", .heading = "S", .unit = "", .width = 1, .warm = "D", .needs = NEED_STAT,
	  .get = get_state, .formats = IN_CSV | IN_JSON, .place = PLACE_LEFT, .yields = 6,
	  .help = "state: R runs, S sleeps, D sleeps uninterruptibly, T stopped, Z zombie, I idle" },
	{ .id = "exit", .heading = "EXIT", COUNT(5), .get = get_exit,
	  .help = "exit status of a task that ended in the interval, 128 and more for a signal" },
	{ .id = "run", .heading = "RUN", PERCENT, .sum = SUM_ROW, .letter = 'P', .get = get_run,
	  .formats = IN_CSV | IN_JSON, .place = PLACE_MIDDLE, .help = "time on a CPU" },
	{ .id = "usr", .heading = "USR", PERCENT, .sum = SUM_ROW, .get = get_usr,
	  .help = "time on a CPU in user mode, estimated from clock ticks" },
	{ .id = "sys", .heading = "SYS", PERCENT, .sum = SUM_ROW, .get = get_sys,
	  .help = "time on a CPU in the kernel, estimated from clock ticks" },
	{ .id = "total", .heading = "TOTAL", DELAY, .sum = SUM_ROW, .digit = '0', .first = true,
	  .kinds = DELAY_TOTAL_KINDS, .arg = ARG_TOTAL, .place = PLACE_MIDDLE,
	  .help = "all waiting: every kind but thrash, which is booked as blkio or swapin too" },
	/* Of counters added up the larger of two is not the members' larger ones added up. */
	{ .id = "mem", .heading = "MEM", DELAY, .sum = SUM_DELTAS, .digit = '9',
	  .kinds = DELAY_MEM_KINDS, .arg = ARG_MEM, .place = PLACE_RIGHT, .narrow = true,
	  .yields = 7,
	  .help = "waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash" },
	DELAY_TABLE(KIND_COLUMN)
	{ .id = "elap", .heading = "ELAP", .unit = "(hm)", .width = 7, .format = FORMAT_DURATION,
	  .get = get_elapsed, .help = "time since the task's start" },
	{ .id = "wait", .heading = "WAIT", .unit = "(s)", .width = 6, .format = FORMAT_SHARE,
	  .sum = SUM_MOST, .needs = NEED_STAT, .get = get_wait,
	  .help = "how long it has been waiting by now; where only samples tell, in state D, at least" },
	{ .id = "time", .heading = "TIME", .unit = "(s)", .width = 8, .format = FORMAT_SHARE,
	  .sum = SUM_ROW, .needs = NEED_LIFE, .letter = 'T', .get = get_time,
	  .help = "time on a CPU since the task's start" },
	{ .id = "cuser", .heading = "CUSR", PERCENT, .sum = SUM_ADD, .needs = NEED_STAT, .arg = 0,
	  .get = get_children,
	  .help = "user time of children that ended and were reaped in the interval, their whole lives'" },
	{ .id = "csys", .heading = "CSYS", PERCENT, .sum = SUM_ADD, .needs = NEED_STAT, .arg = 1,
	  .get = get_children,
	  .help = "system time of children that ended and were reaped in the interval" },
	{ .id = "read", .heading = "READ", BYTES, .arg = 0, .help = "bytes read from storage" },
	{ .id = "write", .heading = "WRITE", BYTES, .arg = 1, .help = "bytes written to storage" },
	{ .id = "cancel", .heading = "CANC", BYTES, .arg = 2,
	  .help = "bytes written that were truncated before they reached storage" },
	{ .id = "running", .heading = "RUNG", IN_STATE('R'),
	  .help = "tasks that run or wait for a CPU" },
	{ .id = "sleeping", .heading = "SLPG", IN_STATE('S'), .help = "tasks that sleep" },
	{ .id = "stopped", .heading = "STPD", IN_STATE('T'),
	  .help = "tasks that were stopped, by a signal or a tracer" },
	{ .id = "uninterruptible", .heading = "UNIN", IN_STATE('D'),
	  .help = "tasks that sleep uninterruptibly" },
	{ .id = "iowait", .heading = "IOWT", IN_STATE(STATE_IOWAIT),
	  .help = "tasks that wait for block I/O" },
	RECORD_TABLE(RECORD_COLUMN)
	{ .id = "members", .heading = "N", COUNT(5), .sum = SUM_ADD, .of_groups = true,
	  .get = get_members, .formats = IN_CSV | IN_JSON, .place = PLACE_LEFT,
	  .help = "tasks that the row is of" },
	{ .id = "psi-cpu", .heading = "PCPU", PRESSURE(PSI_CPU), .yields = 3,
	  .help = "pressure on the control group: some of it waits for a CPU, avg10" },
	{ .id = "psi-mem", .heading = "PMEM", PRESSURE(PSI_MEMORY), .yields = 5,
	  .help = "some of it waits for memory, avg10" },
	{ .id = "psi-io", .heading = "PIO", PRESSURE(PSI_IO), .yields = 4,
	  .help = "some of it waits for I/O, avg10" },
	{ .id = "throttled", .heading = "THROT", PERCENT, .of_groups = true,
	  .needs = NEED_GROUP(CGROUP_THROTTLE), .get = get_throttled,
	  .help = "time that the control group was throttled by its limit of CPU time" },
	{ .id = "mem-high", .heading = "MHIGH", EVENTS(CGROUP_EVENT_HIGH),
	  .help = "times that it was throttled for being above memory.high" },
	{ .id = "mem-max", .heading = "MMAX", EVENTS(CGROUP_EVENT_MAX),
	  .help = "times that it was about to go above memory.max" },
	{ .id = "mem-oom", .heading = "MOOM", EVENTS(CGROUP_EVENT_OOM),
	  .help = "times that an allocation was about to fail at its limit" },
	{ .id = "worst", .heading = "WORST", TEXT(15), .of_groups = true, .get = get_worst,
	  .place = PLACE_RIGHT, .yields = 1, .help = "the member of the group that waited most" },
	{ .id = "cgroup", .heading = "CGROUP", TEXT(24), .needs = NEED_CGROUP, .get = get_cgroup,
	  .formats = IN_JSON, .help = "path of the control group" },
	{ .id = "group", .heading = "GROUP", TEXT(15), .of_groups = true, .last = true,
	  .names = true, .get = get_group, .formats = IN_CSV | IN_JSON,
	  .help = "the group: a user, a command, a control group" },
	{ .id = "comm", .heading = "COMMAND", TEXT(15), .last = true, .names = true,
	  .whole = "command", .get = get_comm, .formats = IN_CSV | IN_JSON, .place = PLACE_RIGHT,
	  .help = "name of the task" },
	{ .id = "command", .heading = "COMMAND", TEXT(15), .last = true, .needs = NEED_COMMAND,
	  .get = get_command, .formats = IN_JSON, .help = "command line of the process" },
};

const size_t columns_n = ARRAY_SIZE(columns);
