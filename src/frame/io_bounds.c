/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/io_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "cgroup/cgroup.h"
#include "cgroup/hierarchy.h"
#include "kernel/proctask.h"

/* Maximum groups read per sample, and maximum rows checked. */
#define GROUPS_MAX 16
#define ROWS_MAX 64

/*
 * Share of the interval from which accounted blkio is much. What pressure loses of each second
 * (PRESSURE_TICK_NS in resolve.c) is about as much: below, it rules nothing out.
 */
#define BOOKED_PART 20

/* Samples for which a group is read, and a task's group cached, after the last accounted wait. */
#define KEEP_TICKS 8

/* Samples after which the group of a task with few accounted waits is looked up again. */
#define LOOK_TICKS 4

/* A group whose pressure is read. */
struct bound_group {
	uint64_t id; /* of all groups that ever were in some place; 0: the place is free */
	char *path;
	uint64_t tick; /* the last in which waits were accounted to one of its tasks */
	uint64_t type_tick; /* the last check of whether it is threaded */
	bool threaded;
	bool root; /* its pressure is the machine's, and it has no file of it */
	struct io_pressure io; /* between the last two readings */
};

/* Where a task was found. */
struct bound_task {
	struct task_key key; /* pid 0: the place is free */
	uint64_t group; /* its id; 0: unknown, or not read */
	uint64_t tick; /* the last look-up */
};

/* A row with accounted waits. */
struct booked_row {
	struct row *row;
	uint64_t ns;
};

struct io_bounds {
	struct proc *proc;
	bool tried; /* to open the members below */
	struct hierarchy hierarchy; /* of version 2; without a name: none */
	struct cgroup_reader *reader; /* NULL: groups have no files */
	struct bound_group groups[GROUPS_MAX];
	struct bound_task tasks[ROWS_MAX];
	struct buf lines, path; /* scratch buffer */
	uint64_t tick, last_id;
};

struct io_bounds *io_bounds_open(struct proc *proc)
{
	struct io_bounds *bounds = xcalloc(1, sizeof(*bounds));

	bounds->proc = proc;
	return bounds;
}

/* The blkio accounted in the interval, of a row that it may be too much for; else 0. */
static uint64_t booked_blkio(const struct row *row)
{
	uint64_t now = row->raw->counters.delay[DELAY_BLKIO].ns;
	uint64_t was = row->before ? row->before->counters.delay[DELAY_BLKIO].ns : 0;

	if (row->deltas == &no_deltas || row->traced || row->exited || row->raw->was ||
	    (!row->before && !row->born) || row->raw->now.measured & DELAY_BIT(DELAY_BLKIO) ||
	    !(row->raw->counters.valid & DELAY_BIT(DELAY_BLKIO)))
		return 0;
	return now > was ? now - was : 0;
}

/* Finds the rows with most accounted waits, in this order. Returns how many. */
static size_t find_booked(const struct frame *frame, struct booked_row found[ROWS_MAX])
{
	size_t n = 0;

	if (!frame->info->interval_ns || !frame->info->io_booked)
		return 0;
	for (size_t i = 0; i < frame->n; i++) {
		struct row *row = &frame->rows[i];
		uint64_t ns = row->unchanged ? 0 : booked_blkio(row);
		size_t at;

		if (!ns || (n == ROWS_MAX && ns <= found[n - 1].ns))
			continue;
		n += n < ROWS_MAX;
		for (at = n - 1; at && found[at - 1].ns < ns; at--)
			found[at] = found[at - 1];
		found[at] = (struct booked_row){ row, ns };
	}
	return n;
}

/* Opens the readers of groups, once. Returns whether groups have files. */
static bool open_group_reader(struct io_bounds *bounds)
{
	if (bounds->tried)
		return bounds->reader;
	bounds->tried = true;
	if (hierarchy_open(&bounds->hierarchy, bounds->proc->fd, HIERARCHY_V2))
		return false;
	if (bounds->hierarchy.fd >= 0)
		bounds->reader = cgroup_reader_open(bounds->proc->fd, &bounds->hierarchy);
	return bounds->reader;
}

/* Drops a group. */
static void forget_group(struct bound_group *group)
{
	free(group->path);
	*group = (struct bound_group){ 0 };
}

/* Reads a group's pressure, and finds that between two readings. */
static void read_group_pressure(struct io_bounds *bounds, struct bound_group *group)
{
	const struct cgroup_sample *now, *before;
	uint64_t passed_ns, us;

	group->io = (struct io_pressure){ 0 };
	if (group->root ||
	    cgroup_read(bounds->reader, group->path, CGROUP_BIT(PSI_IO), &now, &before) ||
	    !before || !(now->have & before->have & CGROUP_BIT(PSI_IO)))
		return;
	passed_ns = now->read_ns[PSI_IO] - before->read_ns[PSI_IO];
	if (now->read_ns[PSI_IO] <= before->read_ns[PSI_IO] ||
	    !psi_grown(&before->psi[PSI_IO].some, &now->psi[PSI_IO].some, passed_ns, &us))
		return;
	group->io = (struct io_pressure){
		.stalled_ns = us * NSEC_PER_USEC,
		.passed_ns = passed_ns,
		.until_ns = now->read_ns[PSI_IO],
	};
}

/* Reads the groups whose tasks had accounted waits recently. */
static void read_groups(struct io_bounds *bounds)
{
	cgroup_reader_tick(bounds->reader);
	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		struct bound_group *group = &bounds->groups[i];

		if (group->id && group->tick + KEEP_TICKS < bounds->tick)
			forget_group(group);
		if (group->id)
			read_group_pressure(bounds, group);
	}
}

/* True if any group is read. */
static bool has_groups(const struct io_bounds *bounds)
{
	for (unsigned i = 0; i < GROUPS_MAX; i++)
		if (bounds->groups[i].id)
			return true;
	return false;
}

/* Finds the type of a group, once per sample: only the root has none. */
static void look_at_type(struct io_bounds *bounds, struct bound_group *group)
{
	const char *below = hierarchy_below(&bounds->hierarchy, group->path);
	int type;

	if (group->type_tick == bounds->tick)
		return;
	group->type_tick = bounds->tick;
	type = below ? hierarchy_type(&bounds->hierarchy, below) : -EINVAL;
	group->root = type == -ENOENT && !strcmp(below, ".");
	/* Its processes may have threads in other groups. Unknown counts as that. */
	group->threaded = type != HIERARCHY_DOMAIN && type != HIERARCHY_DOMAIN_THREADED;
}

/* The place of a group: its own, a free one, or the least recently used; or NULL. */
static struct bound_group *place_of_group(struct io_bounds *bounds, const char *path)
{
	struct bound_group *oldest = &bounds->groups[0];

	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		struct bound_group *group = &bounds->groups[i];

		if (group->id && !strcmp(group->path, path))
			return group;
		if (group->tick < oldest->tick)
			oldest = group;
	}
	/* Rows of this sample with more accounted waits use all of them. */
	if (oldest->id && oldest->tick == bounds->tick)
		return NULL;
	forget_group(oldest);
	oldest->id = ++bounds->last_id;
	oldest->path = xstrdup(path);
	look_at_type(bounds, oldest);
	read_group_pressure(bounds, oldest);
	return oldest;
}

/* The place of a task: its own, or the least recently used. */
static struct bound_task *place_of_task(struct io_bounds *bounds, const struct task_key *key)
{
	struct bound_task *oldest = &bounds->tasks[0];

	for (unsigned i = 0; i < ROWS_MAX; i++) {
		struct bound_task *task = &bounds->tasks[i];

		if (task->key.pid == key->pid && task->key.start_ns == key->start_ns)
			return task;
		if (task->tick < oldest->tick)
			oldest = task;
	}
	*oldest = (struct bound_task){ .key = *key };
	return oldest;
}

/* The path of the group that a row is in now; NULL: unknown. */
static const char *path_of(struct io_bounds *bounds, const struct frame_info *info,
			   const struct row *row, bool known)
{
	const struct task *task = row->task;

	/* If moves are not visible, the text may be seconds old: see taskinfo.c. */
	if (known && task->groups && task->cgroup)
		return task->cgroup;
	bounds->lines.len = bounds->path.len = 0;
	if (proctask_cgroup(bounds->proc, task->tgid, info->threads ? task->key.pid : 0,
			    &bounds->lines) ||
	    hierarchy_path(&bounds->hierarchy, bounds->lines.data, bounds->lines.len,
			   &bounds->path))
		return NULL;
	return buf_cstr(&bounds->path);
}

/* True if all threads of a row are in the group of its task. */
static bool is_whole(struct io_bounds *bounds, const struct row *row, struct bound_group *group)
{
	if (row->raw->single || row->raw->now.threads == 1)
		return true;
	look_at_type(bounds, group);
	return !group->threaded;
}

/* Marks a group with an id as in use. */
static void keep_group(struct io_bounds *bounds, uint64_t id)
{
	for (unsigned i = 0; i < GROUPS_MAX && id; i++)
		if (bounds->groups[i].id == id)
			bounds->groups[i].tick = bounds->tick;
}

/* Bounds a row by its group, if that was read before and the row was in it before. */
static void bound_row(struct io_bounds *bounds, struct frame *frame, struct frame_info *info,
		      const struct booked_row *booked, bool known)
{
	struct row *row = booked->row;
	struct bound_task *task = place_of_task(bounds, &row->task->key);
	bool much = booked->ns > info->interval_ns / BOOKED_PART;
	struct bound_group *group;
	const char *path;

	if (!much && task->tick && task->tick + LOOK_TICKS > bounds->tick) {
		keep_group(bounds, task->group);
		return;
	}
	path = path_of(bounds, info, row, known);
	group = path ? place_of_group(bounds, path) : NULL;
	if (group)
		group->tick = bounds->tick;
	if (much && group && task->group == group->id && group->io.passed_ns &&
	    task->tick + KEEP_TICKS >= bounds->tick && is_whole(bounds, row, group)) {
		sample_add_extra(info->cur, row->place)->io = group->io;
		info->stale += frame_resolve(frame, row);
	}
	task->group = group ? group->id : 0;
	task->tick = bounds->tick;
}

void io_bounds_take(struct io_bounds *bounds, struct frame *frame, struct frame_info *info,
		    bool known)
{
	struct booked_row found[ROWS_MAX];
	size_t n = find_booked(frame, found);

	bounds->tick++;
	if ((!n && !has_groups(bounds)) || !open_group_reader(bounds))
		return;
	read_groups(bounds);
	for (size_t i = 0; i < n; i++)
		bound_row(bounds, frame, info, &found[i], known);
}

void io_bounds_close(struct io_bounds *bounds)
{
	if (!bounds)
		return;
	for (unsigned i = 0; i < GROUPS_MAX; i++)
		free(bounds->groups[i].path);
	cgroup_reader_close(bounds->reader);
	hierarchy_close(&bounds->hierarchy);
	buf_free(&bounds->lines);
	buf_free(&bounds->path);
	free(bounds);
}
