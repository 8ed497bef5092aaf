/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/site_column.h"

#include <string.h>

#include "view/column_parts.h"
#include "view/layout.h"

/* A time in ms. */
static struct value in_ms(double ns)
{
	return value_number(ns / (double)NSEC_PER_MSEC);
}

/* A line's time as a share of the interval, in percent: of several threads it may be above 100. */
static struct value share_of_line(const struct view *view, const struct site_line *line)
{
	const struct trace_frame *trace = view->frame->info->trace;

	if (!trace || !trace->interval_ns || line->sum.unknown)
		return value_unset();
	return value_number((double)site_line_ns(line) * 100.0 / (double)trace->interval_ns);
}

/* The state, or the kind of delay. */
GETTER(get_site_state)
{
	return value_text(site_line_state(site_line_of(row)));
}

/* Time in the interval, in ms. */
GETTER(get_site_time)
{
	const struct site_line *line = site_line_of(row);

	return line->sum.unknown ? value_unset() : in_ms((double)site_line_ns(line));
}

/* The same as a share of the interval. */
GETTER(get_site_share)
{
	return share_of_line(view, site_line_of(row));
}

/* The share that is lost; unset of a line whose waits are for something to do. */
GETTER(get_site_lost)
{
	const struct site_line *line = site_line_of(row);

	return site_line_stalls(line) ? share_of_line(view, line) : value_unset();
}

/* Waits that ended. */
GETTER(get_site_count)
{
	const struct site *sum = &site_line_of(row)->sum;

	return sum->unattributed ? value_unset() : value_number((double)sum->count);
}

/* Time waited for each wait that ended, in ms. */
GETTER(get_site_avg)
{
	const struct site *sum = &site_line_of(row)->sum;

	if (!sum->count || sum->unattributed)
		return value_unset();
	return in_ms((double)sum->ns / (double)sum->count);
}

/* The longest wait, in ms. */
GETTER(get_site_max)
{
	const struct site *sum = &site_line_of(row)->sum;

	return sum->unattributed ? value_unset() : in_ms((double)sum->max_ns);
}

/* The longest wait in progress, in s. */
GETTER(get_site_waiting)
{
	const struct site *sum = &site_line_of(row)->sum;
	struct value value = value_number((double)sum->waiting_ns / (double)NSEC_PER_SEC);

	value.at_least = sum->at_least;
	return sum->waiting_ns ? value : value_unset();
}

/* The process; several that ended have none. */
GETTER(get_site_pid)
{
	pid_t tgid = site_line_of(row)->sum.tgid;

	return tgid > 0 ? value_number(tgid) : value_unset();
}

/* Its name. */
GETTER(get_site_comm)
{
	return value_text(site_line_of(row)->sum.comm);
}

/* The system call. */
GETTER(get_site_syscall)
{
	return value_text(site_line_of(row)->sum.syscall);
}

/* The class of the wait; not known for the rest of a kind. */
GETTER(get_site_class)
{
	const struct site_line *line = site_line_of(row);

	return value_text(line->others || line->sum.unattributed ? NULL
								 : wait_class_ids[line->sum.class]);
}

/* The target; of the rest of a kind, and of many small ones, that they are that. */
GETTER(get_site_on)
{
	const struct site_line *line = site_line_of(row);

	if (line->others)
		return value_text("(others)");
	return value_text(line->sum.unattributed && !line->sum.on ? "(unattributed)"
								  : line->sum.on);
}

/* The kernel's function. */
GETTER(get_site_where)
{
	return value_text(site_line_of(row)->sum.where);
}

/* The waker that ended most of the time. */
GETTER(get_site_waker)
{
	return value_text(site_line_of(row)->sum.wakers[0].name);
}

/* Members that all of these columns share. */
#define SITE .traced = true, .place = PLACE_MIDDLE

/* Time that is added up, and lost where the line's is. */
#define LOST .format = FORMAT_SHARE, .sum = SUM_ROW, .below = true, .stalls = get_site_lost
#define WAIT .unit = "(ms)", .width = 7, .least = 6, .format = FORMAT_WAIT

static const struct column columns_of_sites[] = {
	COLUMN("state", "STATE", get_site_state,
	       "the state in which it waited, or the kind of delay", .name = "state", TEXT(7),
	       .least = 5, SITE),
	COLUMN("class", "CLASS", get_site_class,
	       "what the wait means: served, contended, rationed or parked", .name = "class",
	       TEXT(9), SITE, .from = LAYOUT_WIDER, .yields = 1),
	COLUMN("time", "TIME", get_site_time, "time waited in the interval", .name = "time",
	       .unit = "(ms)", .width = 9, .least = 7, LOST, SITE, .sort_default = true),
	COLUMN("share", "SHARE", get_site_share,
	       "the same as a share of the interval, of one CPU's time", .name = "share of time",
	       .unit = "(%)", .width = 6, LOST, SITE, .yields = 11),
	COLUMN("count", "COUNT", get_site_count, "waits that ended in the interval",
	       .name = "count", COUNT(7), .least = 5, SITE, .yields = 7),
	COLUMN("avg", "AVG", get_site_avg, "time waited for each wait that ended",
	       .name = "average", WAIT, SITE, .yields = 4),
	COLUMN("max", "MAX", get_site_max,
	       "the longest wait since tracing began, or the one in progress", .name = "longest",
	       WAIT, SITE, .yields = 5),
	COLUMN("waiting", "WAITING", get_site_waiting,
	       "how long the longest wait in progress has lasted; >= where tracing began later",
	       .name = "in progress", .unit = "(s)", .width = 8, .format = FORMAT_SHARE, SITE,
	       .yields = 2),
	COLUMN("pid", "PID", get_site_pid, "the process", .name = "process id", COUNT(7), SITE,
	       .of_process = true, .yields = 3),
	COLUMN("comm", "COMMAND", get_site_comm, "the name of the process", .name = "command name",
	       TEXT(15), .least = 8, SITE, .of_process = true, .yields = 10),
	COLUMN("syscall", "SYSCALL", get_site_syscall, "the system call in which it waited",
	       .name = "system call", TEXT(15), .least = 9, SITE, .yields = 9),
	COLUMN("on", "ON", get_site_on,
	       "what it waited on: a file, socket, lock ...; for cpu: who ran instead",
	       .name = "waiting on", TEXT(36), .least = 18, .path = true, SITE),
	COLUMN("where", "WHERE", get_site_where, "the function of the kernel in which it waited",
	       .name = "where in the kernel", TEXT(26), .least = 10, SITE, .yields = 6),
	COLUMN("waker", "WAKER", get_site_waker, "the waker that ended most of the time",
	       .name = "woken by", TEXT(15), .least = 13, SITE, .yields = 8),
};

const struct column_table site_columns = { columns_of_sites, ARRAY_SIZE(columns_of_sites) };
