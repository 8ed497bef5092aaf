/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/group.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "cgroup/cgroup_name.h"
#include "cgroup/hierarchy.h"
#include "kernel/proc.h"

/* Marks a free place in the table of names. */
#define EMPTY 0u

/* Marks a task that belongs to no group. */
#define NOWHERE UINT32_MAX

/* The data of a group, in the order of first appearance; rows refer to it. */
struct group_store {
	uint64_t id;
	bool named;
	size_t name, label; /* offsets in `names` */
	size_t pod, container; /* likewise; 0: unknown */
	const struct task *namer; /* a task in it, or below it; NULL: none has such names */
	const char *text; /* the name, once all are complete */
	size_t n; /* the number of its own members */
	size_t rank; /* its index among all groups sorted by name */
	struct deltas own, all;
	struct task_raw own_raw, all_raw;
	struct group_figures figures;
};

const struct group_row group_table[GROUP_BYS] = {
	[GROUP_PROCESS] = { "process", "task", "tasks", "one row per process", 0 },
	[GROUP_THREAD] = { "thread", "thread", "threads", "one row per thread", 0 },
	[GROUP_USER] = { "user", "user", "users", "one row per user", 0 },
	[GROUP_COMMAND] = { "command", "command", "commands", "one row for all tasks of a name",
			    0 },
	[GROUP_CGROUP] = { "cgroup", "cgroup", "cgroups", "one row per cgroup", NEED_CGROUP },
};

int group_by_name(const char *name)
{
	for (int by = 0; by < GROUP_BYS; by++)
		if (!strcmp(group_table[by].id, name))
			return by;
	return -1;
}

const char *group_name_of(const struct row *row, enum group_by by)
{
	if (by == GROUP_USER)
		return row->task->user;
	return by == GROUP_CGROUP ? row->task->cgroup : row->task->comm;
}

bool group_is_below(const char *path, const char *below)
{
	size_t len = strlen(below);

	if (!path)
		return false;
	while (len && below[len - 1] == '/')
		len--;
	return !strncmp(path, below, len) && (!path[len] || path[len] == '/');
}

/* A hash of a name. */
static uint64_t id_of(const char *name)
{
	uint64_t id = hash_text(HASH_START, name);

	return id ? id : 1;
}

/* The name of a group; NULL: the group of tasks without a known group. */
static const char *name_in(const struct grouping *grouping, const struct group_store *store)
{
	return store->named ? grouping->names.data + store->name : NULL;
}

/* The place of a name in the table, or where it would be. */
static size_t slot_of(const struct grouping *grouping, uint64_t id, const char *name)
{
	size_t at = id & (grouping->table_size - 1);

	for (; grouping->table[at] != EMPTY; at = (at + 1) & (grouping->table_size - 1)) {
		const struct group_store *store = &grouping->stores[grouping->table[at] - 1];
		const char *other = name_in(grouping, store);

		if (store->id == id && !other == !name && (!name || !strcmp(other, name)))
			break;
	}
	return at;
}

/* Makes the table at least twice as large as the number of groups, and reinserts all groups. */
static void grow_table(struct grouping *grouping, size_t n)
{
	if (grouping->table_size >= 2 * n + 2)
		return;
	while (grouping->table_size < 2 * n + 2)
		grouping->table_size = grouping->table_size ? grouping->table_size * 2 : 64;
	grouping->table =
		xreallocarray(grouping->table, grouping->table_size, sizeof(*grouping->table));
	memset(grouping->table, 0, grouping->table_size * sizeof(*grouping->table));
	for (size_t i = 0; i < grouping->frame.n; i++) {
		const struct group_store *store = &grouping->stores[i];

		grouping->table[slot_of(grouping, store->id, name_in(grouping, store))] =
			(uint32_t)i + 1;
	}
}

/* Makes room for one more group. */
static void grow_groups(struct grouping *grouping)
{
	size_t n = grouping->frame.n + 1;

	grow_table(grouping, n);
	if (n <= grouping->cap)
		return;
	grouping->cap = n * 2;
	grouping->stores =
		xreallocarray(grouping->stores, grouping->cap, sizeof(*grouping->stores));
	grouping->ranked =
		xreallocarray(grouping->ranked, grouping->cap, sizeof(*grouping->ranked));
	grouping->groups =
		xreallocarray(grouping->groups, grouping->cap, sizeof(*grouping->groups));
	grouping->frame.rows =
		xreallocarray(grouping->frame.rows, grouping->cap, sizeof(*grouping->frame.rows));
}

/* The index of the group of that name, added if new; `added` returns whether it was. */
static size_t group_index(struct grouping *grouping, const char *name, bool *added)
{
	uint64_t id = id_of(name);
	struct group_store *store;
	size_t slot;

	grow_groups(grouping);
	slot = slot_of(grouping, id, name);
	*added = grouping->table[slot] == EMPTY;
	if (!*added)
		return grouping->table[slot] - 1;
	store = &grouping->stores[grouping->frame.n++];
	memset(store, 0, sizeof(*store));
	store->id = id;
	store->named = name;
	store->name = store->label = grouping->names.len;
	if (name)
		buf_add(&grouping->names, name, strlen(name) + 1);
	grouping->table[slot] = (uint32_t)grouping->frame.n;
	return grouping->frame.n - 1;
}

/* The length of the parent group's path, in bytes; 0: there is none. */
static size_t above(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return 0;
	return slash == path ? 1 : (size_t)(slash - path);
}

/* Adds the groups above one that was added. */
static void add_above(struct grouping *grouping, size_t index)
{
	const struct task *namer = grouping->stores[index].namer;
	bool added = true;

	while (added && grouping->stores[index].named) {
		const char *path = name_in(grouping, &grouping->stores[index]);
		size_t len = above(path);
		char *parent;

		if (!len)
			return;
		/* A copy, as the names may move. */
		parent = xcalloc(len + 1, 1);
		memcpy(parent, path, len);
		index = group_index(grouping, parent, &added);
		if (added)
			grouping->stores[index].namer = namer;
		free(parent);
	}
}

/* Adds a text to the names (NULL: none). Returns its offset, or 0. */
static size_t add_name(struct grouping *grouping, const char *text)
{
	size_t at = grouping->names.len;

	if (text)
		buf_add(&grouping->names, text, strlen(text) + 1);
	return text ? at : 0;
}

void group_cgroup_name(const char *path, const char *pod, const char *container, struct buf *out)
{
	const struct container_name name = { pod, container };

	cgroup_name(path, &name, false, out);
}

/*
 * Adds the names of a cgroup's container, and its readable name if requested; in a tree without the
 * part above, which the rows there show.
 */
static void label_cgroup(struct grouping *grouping, struct group_store *store, bool tree,
			 bool readable)
{
	struct container_name name = { NULL, NULL };
	struct buf label = { 0 };
	const char *path = name_in(grouping, store);

	if (!path || !(store->namer || readable))
		return;
	if (store->namer) {
		name = (struct container_name){ store->namer->pod, store->namer->container };
		name = cgroup_named(path, &name);
	}
	if (readable)
		cgroup_name(path, &name, tree, &label);
	/* The path is in memory that may move now. */
	store->pod = add_name(grouping, name.pod);
	store->container = add_name(grouping, name.container);
	if (readable)
		store->label = add_name(grouping, buf_cstr(&label));
	buf_free(&label);
}

/* Finds the groups, and their numbers of members. */
static void find_groups(struct grouping *grouping, const struct frame *frame,
			const struct grouping_options *options)
{
	bool tree = options->tree && options->by == GROUP_CGROUP, added;

	grouping->frame.n = 0;
	grouping->names.len = 0;
	if (grouping->table)
		memset(grouping->table, 0, grouping->table_size * sizeof(*grouping->table));
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		size_t index;

		grouping->group_of[i] = NOWHERE;
		if (options->passes && !options->passes(options->arg, row))
			continue;
		index = group_index(grouping, group_name_of(row, options->by), &added);
		grouping->group_of[i] = (uint32_t)index;
		grouping->stores[index].n++;
		if (added && (row->task->pod || row->task->container))
			grouping->stores[index].namer = row->task;
		if (added && tree)
			add_above(grouping, index);
	}
	for (size_t i = 0; options->by == GROUP_CGROUP && i < grouping->frame.n; i++)
		label_cgroup(grouping, &grouping->stores[i], tree, options->readable);
}

/* Orders names, with a slash before all other bytes: a path comes right before those below it. */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a || !*b)
		return (*a != '\0') - (*b != '\0');
	if (*a == '/' || *b == '/')
		return (*b == '/') - (*a == '/');
	return (unsigned char)*a < (unsigned char)*b ? -1 : *a != *b;
}

/* Orders groups by name; those without a name come last. */
static int compare_stores(const void *a, const void *b)
{
	const struct group_store *const *x = a, *const *y = b;

	if (!(*x)->text || !(*y)->text)
		return !(*x)->text - !(*y)->text;
	return compare_paths((*x)->text, (*y)->text);
}

/* The text at an offset of the names; NULL: none. */
static const char *text_at(const struct grouping *grouping, size_t at)
{
	return at ? grouping->names.data + at : NULL;
}

/* Sets up the groups in their order. */
static void order_groups(struct grouping *grouping)
{
	size_t n = grouping->frame.n, members = 0;

	for (size_t i = 0; i < n; i++) {
		grouping->stores[i].text = name_in(grouping, &grouping->stores[i]);
		grouping->ranked[i] = &grouping->stores[i];
	}
	if (n)
		qsort(grouping->ranked, n, sizeof(*grouping->ranked), compare_stores);
	for (size_t i = 0; i < n; i++) {
		struct group_store *store = grouping->ranked[i];

		store->rank = i;
		grouping->groups[i] = (struct group){
			.name = store->text,
			.label = store->text ? grouping->names.data + store->label : NULL,
			.pod = text_at(grouping, store->pod),
			.container = text_at(grouping, store->container),
			.id = store->id,
			.members = grouping->members + members,
			.n = store->n,
			.sum = { .raw = &store->own_raw, .deltas = &store->own },
			.figures = &store->figures,
			.parent = NO_GROUP,
		};
		grouping->frame.rows[i] = (struct row){ .raw = &store->all_raw,
							.deltas = &store->all,
							.group = &grouping->groups[i] };
		members += store->n;
	}
}

/* True if a has waited more than b. */
static bool is_worse(const struct row *a, const struct row *b)
{
	return a && a->deltas->waited.total > (b ? b->deltas->waited.total : 0);
}

/* Adds the members to their groups. */
static void add_members(struct grouping *grouping, const struct frame *frame, bool life)
{
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		struct group_store *store;
		struct group *group;

		if (grouping->group_of[i] == NOWHERE)
			continue;
		store = &grouping->stores[grouping->group_of[i]];
		group = &grouping->groups[store->rank];
		grouping->members[group->members - grouping->members + (ptrdiff_t)group->own++] =
			row;
		row_add(&group->sum, &store->own, row);
		if (life)
			row_add_totals(&store->own_raw.counters, row);
		if (is_worse(row, group->worst))
			group->worst = row;
	}
}

/* The index of the parent of the group at `index`: the nearest one before it that it is below. */
static size_t parent_of(const struct grouping *grouping, size_t index)
{
	const struct group *groups = grouping->groups;
	size_t at = index;

	if (!index || !groups[index].name)
		return NO_GROUP;
	for (at = index - 1; at != NO_GROUP; at = groups[at].parent)
		if (group_is_below(groups[index].name, groups[at].name))
			return at;
	return NO_GROUP;
}

/* Adds a row to the row of the group of that rank. */
static void add_to(struct grouping *grouping, size_t rank, const struct row *row, bool life)
{
	struct group_store *store = grouping->ranked[rank];

	row_add(&grouping->frame.rows[rank], &store->all, row);
	if (life)
		row_add_totals(&store->all_raw.counters, row);
}

/* Makes the rows: sums of a group's own members, in a tree also of all groups below it. */
static void make_group_rows(struct grouping *grouping, const struct grouping_options *options,
			    uint64_t interval_ns)
{
	bool tree = options->tree && options->by == GROUP_CGROUP;
	struct row *rows = grouping->frame.rows;

	for (size_t i = 0; tree && i < grouping->frame.n; i++)
		grouping->groups[i].parent = parent_of(grouping, i);
	for (size_t i = 0; i < grouping->frame.n; i++) {
		struct group *group = &grouping->groups[i];

		group->sum.interval_ns = rows[i].interval_ns = interval_ns;
		add_to(grouping, i, &group->sum, options->life);
	}
	/* Groups below come later, so each is complete when it is added to its parent. */
	for (size_t i = grouping->frame.n; tree && i-- > 0;) {
		const struct group *group = &grouping->groups[i];
		struct group *parent;

		if (group->parent == NO_GROUP)
			continue;
		parent = &grouping->groups[group->parent];
		parent->n += group->n;
		if (is_worse(group->worst, parent->worst))
			parent->worst = group->worst;
		add_to(grouping, group->parent, &rows[i], options->life);
	}
}

/* Makes room for the arrays with an entry per task. */
static void reserve_members(struct grouping *grouping, size_t n)
{
	if (n <= grouping->members_cap && grouping->members)
		return;
	grouping->members_cap = n * 2 + 1;
	grouping->members =
		xreallocarray(grouping->members, grouping->members_cap, sizeof(*grouping->members));
	grouping->group_of = xreallocarray(grouping->group_of, grouping->members_cap,
					   sizeof(*grouping->group_of));
}

const struct frame *group_fold(struct grouping *grouping, const struct frame *frame,
			       const struct grouping_options *options)
{
	const struct frame_info *info = frame->info;

	grouping->frame.info = info;
	grouping->frame.group_by = group_table[options->by].id;
	reserve_members(grouping, frame->n);
	find_groups(grouping, frame, options);
	order_groups(grouping);
	add_members(grouping, frame, options->life);
	/* With figures since start, the members' intervals differ: see query.c. */
	make_group_rows(grouping, options,
			info->since_start ? info->cur->begin_ns : info->interval_ns);
	return &grouping->frame;
}

int group_next_hierarchy(const struct proc *proc, const char *name, struct buf *out)
{
	return hierarchy_after(proc->fd, name, out);
}

unsigned group_parts(const struct frame *folded)
{
	unsigned parts = 0;

	for (size_t i = 0; i < folded->n; i++) {
		const struct group *group = folded->rows[i].group;

		if (group && group->figures->now)
			parts |= group->figures->now->have;
	}
	return parts << NEED_GROUP_SHIFT;
}

const struct row *group_find(const struct grouping *grouping, uint64_t id)
{
	size_t at = id & (grouping->table_size - 1);

	if (!grouping->table_size)
		return NULL;
	for (; grouping->table[at] != EMPTY; at = (at + 1) & (grouping->table_size - 1)) {
		const struct group_store *store = &grouping->stores[grouping->table[at] - 1];

		if (store->id == id)
			return &grouping->frame.rows[store->rank];
	}
	return NULL;
}

void grouping_free(struct grouping *grouping)
{
	free(grouping->frame.rows);
	free(grouping->groups);
	free(grouping->stores);
	free(grouping->ranked);
	free(grouping->members);
	free(grouping->group_of);
	free(grouping->table);
	buf_free(&grouping->names);
	*grouping = (struct grouping){ 0 };
}

/* Samples without a request after which a group is dropped. */
#define FORGET_TICKS 16

struct above_node {
	struct group_above above;
	char *path;
	size_t len;
	uint64_t tick; /* when it was read last */
	struct above_node *next;
};

/* Orders groups by their paths. */
static int compare_above(const void *a, const void *b)
{
	const struct above_node *x = a, *y = b;
	int order = memcmp(x->path, y->path, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* The group whose path is the first `len` bytes; created if there is none. */
static struct above_node *find_node(struct groups_above *above, const char *path, size_t len)
{
	const struct above_node key = { .path = (char *)(uintptr_t)path, .len = len };
	struct above_node **found = tfind(&key, &above->tree, compare_above), *node;

	if (found)
		return *found;
	node = xcalloc(1, sizeof(*node));
	node->path = xcalloc(len + 1, 1);
	memcpy(node->path, path, len);
	node->len = len;
	node->tick = above->tick - 1;
	node->next = above->first;
	node->above.path = node->path;
	above->first = node;
	if (!tsearch(node, &above->tree, compare_above))
		die("out of memory");
	return node;
}

/* Frees a group no longer in any list. */
static void free_node(struct groups_above *above, struct above_node *node)
{
	tdelete(node, &above->tree, compare_above);
	free(node->path);
	free(node);
}

/* The length of the parent group's path; 0: that is the root, or there is none. */
static size_t length_above(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

const struct group_above *groups_above_read(struct groups_above *above, const char *path,
					    read_throttling_fn *read, void *arg)
{
	const struct group_above *first = NULL, **link = &first;
	size_t len = strlen(path);

	while ((len = length_above(path, len))) {
		struct above_node *node = find_node(above, path, len);

		*link = &node->above;
		/* Those above it were read with it. */
		if (node->tick == above->tick)
			return first;
		node->tick = above->tick;
		node->above.figures = (struct group_figures){ NULL, NULL, NULL };
		read(arg, node->path, &node->above.figures);
		link = &node->above.figures.above;
	}
	return first;
}

void groups_above_tick(struct groups_above *above)
{
	struct above_node **link = &above->first, *node;

	above->tick++;
	while ((node = *link)) {
		if (node->tick + FORGET_TICKS > above->tick) {
			link = &node->next;
			continue;
		}
		*link = node->next;
		free_node(above, node);
	}
}

void groups_above_free(struct groups_above *above)
{
	struct above_node *node;

	while ((node = above->first)) {
		above->first = node->next;
		free_node(above, node);
	}
}
