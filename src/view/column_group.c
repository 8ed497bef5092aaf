/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of columns of groups. */
#include "config.h"

#include "view/column_parts.h"

#include <math.h>

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

/* A reading with that part, in this frame or (before) in the frame before it, or NULL. */
static const struct cgroup_sample *figures_part(const struct group_figures *figures, unsigned part,
						bool before)
{
	const struct cgroup_sample *sample = before ? figures->before : figures->now;

	return sample && sample->have & CGROUP_BIT(part) ? sample : NULL;
}

/* The same of the row's group. */
static const struct cgroup_sample *group_part(const struct row *row, unsigned part, bool before)
{
	return row->group ? figures_part(row->group->figures, part, before) : NULL;
}

/* The group's own pressure; arg: the resource. */
COLUMN_GETTER(column_get_pressure)
{
	const struct cgroup_sample *now = group_part(row, (unsigned)column->arg, false);

	if (!now || !now->psi[column->arg].some.valid)
		return value_unset();
	return value_number(now->psi[column->arg].some.avg10 / 100.0);
}

/* The share of the interval for which a group was throttled, in percent; below 0: not known. */
static double own_throttling(const struct group_figures *figures)
{
	const struct cgroup_sample *now = figures_part(figures, CGROUP_THROTTLE, false);
	const struct cgroup_sample *before = figures_part(figures, CGROUP_THROTTLE, true);
	uint64_t ns;

	if (!now || !before)
		return -1;
	ns = now->read_ns[CGROUP_THROTTLE] - before->read_ns[CGROUP_THROTTLE];
	if (!ns || now->throttled_ns < before->throttled_ns)
		return -1;
	return (double)(now->throttled_ns - before->throttled_ns) * 100.0 / (double)ns;
}

/*
 * The share for which the group was throttled, by its own quota or by that of a group above,
 * whichever was longer: how much the two overlap is not known.
 */
COLUMN_GETTER(column_get_throttled)
{
	const struct group_figures *figures = row->group ? row->group->figures : NULL;
	double share = -1;

	for (; figures; figures = figures->above ? &figures->above->figures : NULL)
		share = fmax(share, own_throttling(figures));
	return share < 0 ? value_unset() : value_number(share);
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
