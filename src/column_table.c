/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "column.h"

#include <string.h>
#include <sys/wait.h>

#include "column_group.h"
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

/* Of the columns that count tasks by state: no letter of /proc/PID/stat. */
enum { ARG_IOWAIT = 'i' };

/* What a getter is handed. */
#define GETTER(name) \
	static struct value name(const struct column *column, const struct view *view, \
				 const struct row *row)

/* The id of the task, process or thread. */
GETTER(get_pid)
{
	(void)column;
	(void)view;
	return row->task ? value_number(row->task->key.pid) : value_unset();
}

/* The id of its thread group. */
GETTER(get_tgid)
{
	(void)column;
	(void)view;
	return row->task ? value_number(row->task->tgid) : value_unset();
}

/* The id of its parent. */
GETTER(get_ppid)
{
	(void)column;
	(void)view;
	return row->task ? value_number(row->task->ppid) : value_unset();
}

/* The real user's name. */
GETTER(get_user)
{
	(void)column;
	(void)view;
	return row->task ? value_text(row->task->user) : value_unset();
}

/* The real user's id. */
GETTER(get_uid)
{
	(void)column;
	(void)view;
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

	(void)column;
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
	(void)column;
	(void)view;
	return row->valid & VALID_RUN ? share(row, row->deltas->run_ns) : value_unset();
}

/* Its user part. */
GETTER(get_usr)
{
	(void)column;
	(void)view;
	return row->valid & VALID_TICK ? share(row, row->deltas->user_ns) : value_unset();
}

/* Its system part. */
GETTER(get_sys)
{
	(void)column;
	(void)view;
	return row->valid & VALID_TICK ? share(row, row->deltas->system_ns) : value_unset();
}

/* The kinds that a delay column is made of. */
static uint32_t kinds_of(int arg)
{
	if (arg == COLUMN_TOTAL)
		return DELAY_TOTAL_KINDS;
	return arg == COLUMN_MEM ? DELAY_MEM_KINDS : DELAY_BIT(arg);
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
	if (arg == COLUMN_TOTAL)
		return delay_total(delays, valid);
	return arg == COLUMN_MEM ? delay_mem(delays, valid) : delays[arg];
}

/* The interval's delay of the column's kinds. Groups have added their members' mem and total. */
static struct delay_sum delta_of(int arg, const struct row *row)
{
	if (arg == COLUMN_TOTAL)
		return row->deltas->total;
	return arg == COLUMN_MEM ? row->deltas->mem : row->deltas->delay[arg];
}

/* A delay in the view's unit. */
GETTER(get_delay)
{
	uint32_t kinds = kinds_of(column->arg);
	uint32_t known = row->valid & kinds;
	/* Of what is summed every count must be known. */
	bool counted = ((row->valid >> DELAY_KINDS) & known) == known;
	struct delay_sum delta;

	if (view->unit == UNIT_MAX)
		return longest(view, row, kinds);
	if (view->unit == UNIT_TOTAL) {
		known = raw_known(row->raw);
		if (!(known & kinds))
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

	(void)column;
	(void)view;
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

	(void)column;
	if (!row_wait(view->frame, row, &ns))
		return value_unset();
	return value_number((double)ns / (double)NSEC_PER_SEC);
}

/* Time on a CPU since the task's start, in s. */
GETTER(get_time)
{
	(void)column;
	(void)view;
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

	(void)column;
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
	(void)column;
	(void)view;
	return row->task ? name_of(row, row->task->comm) : value_unset();
}

/* The command line; the name where there is none (kernel threads). */
GETTER(get_command)
{
	(void)column;
	(void)view;
	if (!row->task)
		return value_unset();
	if (row->task->command && *row->task->command)
		return name_of(row, row->task->command);
	return name_of(row, row->task->comm);
}

/* Whether the task is in one of some states; arg: a state's letter, W for a wait for I/O. */
GETTER(get_in_state)
{
	char state = row->task ? row_state(view->frame, row) : 0;

	if (row->exited || !state)
		return value_unset();
	if (column->arg == ARG_IOWAIT)
		return row->raw->state ? value_number(row->raw->wait == WAIT_IO) : value_unset();
	/* What was stopped by a tracer is stopped, and idle kernel threads sleep. */
	state = state == 't' ? 'T' : state == 'I' ? 'S' : state;
	return value_number(state == column->arg);
}

/* Exit status as a shell has it: 128 and the signal's number where one ended the task. */
GETTER(get_exit)
{
	int status = (int)row->raw->status;

	(void)column;
	(void)view;
	if (!row->task || !row->exited)
		return value_unset();
	return value_number(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

#define DELAY_COLUMN(NAME, id, heading, digit, since, place, place15, help) \
	{ id, heading, NULL, 6, FORMAT_SHARE, SUM_ROW, digit, false, 0, DELAY_##NAME, get_delay, \
	  help },

/* Counters of the record are shown as their growth in the interval. */
#define RECORD_COLUMN(name, heading, type, offset, offset15, since, nature, fold, group, unit, \
		      help) \
	{ #name, heading, "(" unit ")", 8, FORMAT_COUNT, \
	  RECORD_##nature == RECORD_COUNTER ? SUM_ADD : SUM_NONE, 0, false, NEED_RECORD, \
	  RECORD_##name, get_record, help },

const struct column columns[] = {
	{ "pid", "PID", "(#)", 7, FORMAT_COUNT, SUM_NONE, 0, false, 0, 0, get_pid,
	  "process id; in thread rows the thread's" },
	{ "tgid", "TGID", "(#)", 7, FORMAT_COUNT, SUM_NONE, 0, false, 0, 0, get_tgid,
	  "id of the process a thread belongs to" },
	{ "ppid", "PPID", "(#)", 7, FORMAT_COUNT, SUM_NONE, 0, false, 0, 0, get_ppid,
	  "id of the parent process" },
	{ "user", "USER", "(str)", 8, FORMAT_TEXT, SUM_NONE, 0, false, 0, 0, get_user,
	  "name of the real user" },
	{ "uid", "UID", "(#)", 7, FORMAT_COUNT, SUM_NONE, 0, false, 0, 0, get_uid,
	  "id of the real user" },
	{ "state", "S", "", 1, FORMAT_TEXT, SUM_NONE, 0, false, NEED_STAT, 0, get_state,
	  "state: R runs, S sleeps, D sleeps uninterruptibly, T stopped, Z zombie, I idle" },
	{ "exit", "EXIT", "(#)", 5, FORMAT_COUNT, SUM_NONE, 0, false, 0, 0, get_exit,
	  "exit status of a task that ended in the interval, 128 and more for a signal" },
	{ "run", "RUN", "(%)", 6, FORMAT_SHARE, SUM_ROW, 0, false, 0, 0, get_run,
	  "time on a CPU" },
	{ "usr", "USR", "(%)", 6, FORMAT_SHARE, SUM_ROW, 0, false, 0, 0, get_usr,
	  "time on a CPU in user mode, estimated from clock ticks" },
	{ "sys", "SYS", "(%)", 6, FORMAT_SHARE, SUM_ROW, 0, false, 0, 0, get_sys,
	  "time on a CPU in the kernel, estimated from clock ticks" },
	{ "total", "TOTAL", NULL, 6, FORMAT_SHARE, SUM_ROW, '0', false, 0, COLUMN_TOTAL, get_delay,
	  "all waiting: every kind but thrash, which is booked as blkio or swapin too" },
	{ "mem", "MEM", NULL, 6, FORMAT_SHARE, SUM_ROW, '9', false, 0, COLUMN_MEM, get_delay,
	  "waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash" },
	DELAY_TABLE(DELAY_COLUMN)
	{ "elap", "ELAP", "(hm)", 7, FORMAT_DURATION, SUM_NONE, 0, false, 0, 0, get_elapsed,
	  "time since the task's start" },
	{ "wait", "WAIT", "(s)", 6, FORMAT_SHARE, SUM_MOST, 0, false, NEED_STAT, 0, get_wait,
	  "how long it has been waiting by now; where only samples tell, in state D, at least" },
	{ "time", "TIME", "(s)", 8, FORMAT_SHARE, SUM_ROW, 0, false, NEED_LIFE, 0, get_time,
	  "time on a CPU since the task's start" },
	{ "cuser", "CUSR", "(%)", 6, FORMAT_SHARE, SUM_ADD, 0, false, NEED_STAT, 0, get_children,
	  "user time of children that ended and were reaped in the interval, their whole lives'" },
	{ "csys", "CSYS", "(%)", 6, FORMAT_SHARE, SUM_ADD, 0, false, NEED_STAT, 1, get_children,
	  "system time of children that ended and were reaped in the interval" },
	{ "read", "READ", "(kB/s)", 8, FORMAT_COUNT, SUM_ADD, 0, false, NEED_IO, 0, get_io,
	  "bytes read from storage" },
	{ "write", "WRITE", "(kB/s)", 8, FORMAT_COUNT, SUM_ADD, 0, false, NEED_IO, 1, get_io,
	  "bytes written to storage" },
	{ "cancel", "CANC", "(kB/s)", 8, FORMAT_COUNT, SUM_ADD, 0, false, NEED_IO, 2, get_io,
	  "bytes written that were truncated before they reached storage" },
	{ "running", "RUNG", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, NEED_STAT, 'R',
	  get_in_state, "tasks that run or wait for a CPU" },
	{ "sleeping", "SLPG", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, NEED_STAT, 'S',
	  get_in_state, "tasks that sleep" },
	{ "stopped", "STPD", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, NEED_STAT, 'T',
	  get_in_state, "tasks that were stopped, by a signal or a tracer" },
	{ "uninterruptible", "UNIN", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, NEED_STAT, 'D',
	  get_in_state, "tasks that sleep uninterruptibly" },
	{ "iowait", "IOWT", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, NEED_STAT, ARG_IOWAIT,
	  get_in_state, "tasks that wait for block I/O" },
	RECORD_TABLE(RECORD_COLUMN)
	{ "members", "N", "(#)", 5, FORMAT_COUNT, SUM_ADD, 0, false, 0, 0, column_get_members,
	  "tasks that the row is of" },
	{ "psi-cpu", "PCPU", "(%)", 6, FORMAT_SHARE, SUM_NONE, 0, false, NEED_GROUP(PSI_CPU),
	  PSI_CPU, column_get_pressure, "pressure on the control group: some of it waits for a CPU, avg10" },
	{ "psi-mem", "PMEM", "(%)", 6, FORMAT_SHARE, SUM_NONE, 0, false, NEED_GROUP(PSI_MEMORY),
	  PSI_MEMORY, column_get_pressure, "some of it waits for memory, avg10" },
	{ "psi-io", "PIO", "(%)", 6, FORMAT_SHARE, SUM_NONE, 0, false, NEED_GROUP(PSI_IO),
	  PSI_IO, column_get_pressure, "some of it waits for I/O, avg10" },
	{ "throttled", "THROT", "(%)", 6, FORMAT_SHARE, SUM_NONE, 0, false,
	  NEED_GROUP(CGROUP_THROTTLE), 0, column_get_throttled,
	  "time that the control group was throttled by its limit of CPU time" },
	{ "mem-high", "MHIGH", "(#)", 6, FORMAT_COUNT, SUM_NONE, 0, false,
	  NEED_GROUP(CGROUP_EVENTS), CGROUP_EVENT_HIGH, column_get_event,
	  "times that it was throttled for being above memory.high" },
	{ "mem-max", "MMAX", "(#)", 6, FORMAT_COUNT, SUM_NONE, 0, false,
	  NEED_GROUP(CGROUP_EVENTS), CGROUP_EVENT_MAX, column_get_event,
	  "times that it was about to go above memory.max" },
	{ "mem-oom", "MOOM", "(#)", 6, FORMAT_COUNT, SUM_NONE, 0, false,
	  NEED_GROUP(CGROUP_EVENTS), CGROUP_EVENT_OOM, column_get_event,
	  "times that an allocation was about to fail at its limit" },
	{ "worst", "WORST", "(str)", 15, FORMAT_TEXT, SUM_NONE, 0, false, 0, 0, column_get_worst,
	  "the member of the group that waited most" },
	{ "cgroup", "CGROUP", "(str)", 24, FORMAT_TEXT, SUM_NONE, 0, false, NEED_CGROUP, 0,
	  get_cgroup, "path of the control group" },
	{ "group", "GROUP", "(str)", 15, FORMAT_TEXT, SUM_NONE, 0, true, 0, 0, column_get_group,
	  "the group: a user, a command, a control group" },
	{ "comm", "COMMAND", "(str)", 15, FORMAT_TEXT, SUM_NONE, 0, true, 0, 0, get_comm,
	  "name of the task" },
	{ "command", "COMMAND", "(str)", 15, FORMAT_TEXT, SUM_NONE, 0, true, NEED_COMMAND, 0,
	  get_command, "command line of the process" },
};

const size_t columns_n = ARRAY_SIZE(columns);

int unit_by_name(const char *name)
{
	for (int unit = 0; unit < UNITS; unit++)
		if (!strcmp(unit_table[unit].id, name))
			return unit;
	return -1;
}

const struct column *column_by_id(const char *id, size_t id_len)
{
	for (size_t i = 0; i < columns_n; i++)
		if (strlen(columns[i].id) == id_len && !memcmp(columns[i].id, id, id_len))
			return &columns[i];
	return NULL;
}

const struct column *column_known(const char *id)
{
	return column_by_id(id, strlen(id));
}

const struct column *column_of_kind(enum delay_kind kind)
{
	return column_known(delay_table[kind].id);
}

bool column_is_delay(const struct column *column)
{
	return column->get == get_delay;
}

enum column_rows column_rows(const struct column *column)
{
	static column_get_fn *const of_groups[] = {
		column_get_members, column_get_group, column_get_worst, column_get_pressure,
		column_get_throttled, column_get_event,
	};

	for (size_t i = 0; i < ARRAY_SIZE(of_groups); i++)
		if (column->get == of_groups[i])
			return ROWS_GROUPS;
	return column->sum == SUM_NONE ? ROWS_TASKS : ROWS_ALL;
}

unsigned column_since(const struct column *column)
{
	if (column->get == get_record)
		return record_table[column->arg].since;
	return column_is_delay(column) && column->arg < DELAY_KINDS ?
		       delay_table[column->arg].since : 0;
}

bool column_rose(const struct column *column, const struct view *view, const struct row *row)
{
	const struct task_record *now = row_record(view->frame, row);
	const struct task_record *before = row_record_before(view->frame, row);
	uint32_t kinds;

	if (!column_is_delay(column) || !now || !before)
		return false;
	kinds = kinds_of(column->arg) & now->range_valid & before->range_valid;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind) && now->max[kind] > before->max[kind])
			return true;
	return false;
}

unsigned column_needs(const struct column *column, enum unit unit)
{
	if (!column_is_delay(column))
		return column->needs;
	return column->needs | (unit == UNIT_MAX ? NEED_RANGE : 0) |
	       (unit == UNIT_TOTAL ? NEED_LIFE : 0);
}

bool column_descends(const struct column *column)
{
	return column->format != FORMAT_TEXT;
}

const char *column_unit(const struct column *column, enum unit unit)
{
	return column->unit ? column->unit : unit_table[unit].label;
}
