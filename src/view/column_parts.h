/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Getters of the column table that have files of their own. */
#pragma once

#include "base/util.h"
#include "view/column.h"

/* The arg of delay columns that are not a single kind. */
enum { ARG_TOTAL = WAIT_KINDS, ARG_MEM };

/* The states in which a task is active or blocked, by which its bar is compared. */
#define BUSY_STATES \
	(1u << STATE_RUN | 1u << STATE_CPU | 1u << STATE_IO | 1u << STATE_DWAIT | 1u << STATE_LOCK)

/* The head of a getter, with its parameters. */
#define COLUMN_GETTER(name) \
	struct value name(UNUSED const struct column *column, UNUSED const struct view *view, \
			  const struct row *row)

/* The same, of a getter used only in its own file. */
#define GETTER(name) static COLUMN_GETTER(name)

/* A row: the members that all columns have, and further ones. */
#define COLUMN(ident, head, getter, text, ...) \
	{ \
		.id = ident, .heading = head, .get = getter, .help = text, __VA_ARGS__ \
	}

/* Members shared by many columns. */
#define COUNT(cells) .unit = "(#)", .width = cells, .format = FORMAT_COUNT
#define PERCENT .unit = "(%)", .width = 6, .format = FORMAT_SHARE
#define TEXT(cells) .unit = "(str)", .width = cells, .format = FORMAT_TEXT

/* Share of the row's interval, in percent. */
static inline struct value column_share(const struct row *row, uint64_t ns)
{
	if (!row->interval_ns)
		return value_unset();
	/* Most times are 0 in most rows: saves the division. */
	return value_number(ns ? (double)ns * 100.0 / (double)row->interval_ns : 0);
}

/* A delay in the view's unit. */
column_get_fn column_get_delay;

/* The number of tasks in the row. */
column_get_fn column_get_members;

/* The group of the row. */
column_get_fn column_get_group;

/* The member of the group with most waits. */
column_get_fn column_get_worst;

/* The group's own pressure; arg: the resource. */
column_get_fn column_get_pressure;

/* The time for which the group was throttled, as a share of the interval, in percent. */
column_get_fn column_get_throttled;

/* Events at the group's memory limits in the interval; arg: enum cgroup_event. */
column_get_fn column_get_event;

/* Time of its threads by state in the interval. */
column_get_fn column_get_states;
column_get_fn column_get_bar;

/* The row's waits in the last intervals, including this one. */
column_get_fn column_get_trend;

/* The time in a state, of all threads, as a share of the traced time; arg: the state. */
column_get_fn column_get_in_wait;

/* The waker that ended most of the row's waiting time. */
column_get_fn column_get_waker;

/* The part of the interval that the row lost. */
column_get_fn column_get_lost;
