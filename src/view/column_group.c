/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of columns of groups. */
#include "config.h"

#include "view/column_parts.h"

#include "model/group.h"

/* The number of tasks in the row. */
COLUMN_GETTER(column_get_members)
{
	return value_number(row->members);
}

/* The group of the row. */
COLUMN_GETTER(column_get_group)
{
	return value_text(row->group ? row->group->label : NULL);
}

/* The member of the group that has waited most. */
COLUMN_GETTER(column_get_worst)
{
	if (!row->group || !row->group->worst)
		return value_unset();
	return value_text(row->group->worst->task->comm);
}

/* The group's reading with that part, in this frame or (before) in the frame before it, or NULL. */
static const struct cgroup_sample *group_part(const struct row *row, unsigned part, bool before)
{
	const struct cgroup_sample *sample = NULL;

	if (row->group)
		sample = before ? row->group->figures->before : row->group->figures->now;
	return sample && sample->have & CGROUP_BIT(part) ? sample : NULL;
}

/* The group's own pressure; arg: the resource. */
COLUMN_GETTER(column_get_pressure)
{
	const struct cgroup_sample *now = group_part(row, (unsigned)column->arg, false);

	if (!now || !now->psi[column->arg].some.valid)
		return value_unset();
	return value_number(now->psi[column->arg].some.avg10 / 100.0);
}

/* The time for which the group was throttled, as a share of the interval, in percent. */
COLUMN_GETTER(column_get_throttled)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_THROTTLE, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_THROTTLE, true);
	uint64_t ns;

	if (!now || !before)
		return value_unset();
	ns = now->read_ns[CGROUP_THROTTLE] - before->read_ns[CGROUP_THROTTLE];
	if (!ns || now->throttled_ns < before->throttled_ns)
		return value_unset();
	return value_number((double)(now->throttled_ns - before->throttled_ns) * 100.0 /
			    (double)ns);
}

/* The events at the group's memory limits in the interval; arg: enum cgroup_event. */
COLUMN_GETTER(column_get_event)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_EVENTS, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_EVENTS, true);
	unsigned bit = 1u << column->arg;

	if (!now || !before || !(now->event_valid & before->event_valid & bit) ||
	    now->events[column->arg] < before->events[column->arg])
		return value_unset();
	return value_number((double)(now->events[column->arg] - before->events[column->arg]));
}
