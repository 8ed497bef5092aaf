/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "column_group.h"

#include "cgroup.h"
#include "group.h"
#include "util.h"

/* How many tasks the row is of. */
struct value column_get_members(const struct column *column, const struct view *view,
			     const struct row *row)
{
	(void)column;
	(void)view;
	return value_number(row->members);
}

/* The group that the row is of. */
struct value column_get_group(const struct column *column, const struct view *view,
			     const struct row *row)
{
	(void)column;
	(void)view;
	return value_text(row->group ? row->group->label : NULL);
}

/* Who of the group has waited most. */
struct value column_get_worst(const struct column *column, const struct view *view,
			     const struct row *row)
{
	(void)column;
	(void)view;
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
struct value column_get_pressure(const struct column *column, const struct view *view,
			     const struct row *row)
{
	const struct cgroup_sample *now = group_part(row, (unsigned)column->arg, false);

	(void)view;
	if (!now || !now->psi[column->arg].some.valid)
		return value_unset();
	return value_number(now->psi[column->arg].some.avg10 / 100.0);
}

/* Time that the group was throttled, as a share of the interval, in percent. */
struct value column_get_throttled(const struct column *column, const struct view *view,
			     const struct row *row)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_THROTTLE, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_THROTTLE, true);
	uint64_t ns;

	(void)column;
	(void)view;
	if (!now || !before)
		return value_unset();
	ns = now->read_ns[CGROUP_THROTTLE] - before->read_ns[CGROUP_THROTTLE];
	if (!ns || now->throttled_ns < before->throttled_ns)
		return value_unset();
	return value_number((double)(now->throttled_ns - before->throttled_ns) * 100.0 / (double)ns);
}

/* What the group's memory limits did in the interval; arg: enum cgroup_event. */
struct value column_get_event(const struct column *column, const struct view *view,
			     const struct row *row)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_EVENTS, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_EVENTS, true);
	unsigned bit = 1u << column->arg;

	(void)view;
	if (!now || !before || !(now->event_valid & before->event_valid & bit) ||
	    now->events[column->arg] < before->events[column->arg])
		return value_unset();
	return value_number((double)(now->events[column->arg] - before->events[column->arg]));
}
