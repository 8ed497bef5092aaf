/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild_parts.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Texts with greater numbers are not kept: a damaged file may claim any number. */
#define KEPT_TEXTS_MAX (1 << 20)

/* Versions of tasks with smaller numbers are found without a search. */
#define NUMBERED_MAX (1 << 20)

/* A task that left, and the number of its elements. */
struct ended_task {
	struct task *task; /* a reference */
	size_t elements;
};

/* Orders by identity. */
static int compare_ended_tasks(const void *a, const void *b)
{
	const struct task *x = ((const struct ended_task *)a)->task;
	const struct task *y = ((const struct ended_task *)b)->task;

	if (x->tgid != y->tgid)
		return (x->tgid > y->tgid) - (x->tgid < y->tgid);
	if (x->key.pid != y->key.pid)
		return (x->key.pid > y->key.pid) - (x->key.pid < y->key.pid);
	return (x->key.start_ns > y->key.start_ns) - (x->key.start_ns < y->key.start_ns);
}

/* Counts an element of a task that left. */
static void note_ended(struct rebuild *rebuild, struct task *task)
{
	struct ended_task *made = xcalloc(1, sizeof(*made)), **node;

	made->task = task;
	node = tsearch(made, &rebuild->ended, compare_ended_tasks);
	if (!node)
		die("out of memory");
	if (*node == made)
		task_ref(task);
	else
		free(made);
	(*node)->elements++;
}

/* Uncounts an element of a task that left, which is about to be freed. */
static void forget_ended(struct rebuild *rebuild, struct task *task)
{
	const struct ended_task key = { .task = task };
	struct ended_task **node = tfind(&key, &rebuild->ended, compare_ended_tasks), *ended;

	if (!node || --(*node)->elements)
		return;
	ended = *node;
	tdelete(&key, &rebuild->ended, compare_ended_tasks);
	task_unref(ended->task);
	free(ended);
}

/* Orders by number. */
static int compare_versions(const void *a, const void *b)
{
	int64_t x = ((const struct version *)a)->id, y = ((const struct version *)b)->id;

	return (x > y) - (x < y);
}

/* Frees a node of the tree. */
static void free_version(void *version)
{
	task_unref(((struct version *)version)->task);
	free(version);
}

/* Finds the first element that is not before an order. */
static size_t place_in_order(const struct rebuild *rebuild, uint64_t order)
{
	size_t at;

	LOWER_BOUND(at, rebuild->n, raw_order(&rebuild->elements[at].raw) < order);
	return at;
}

/* Finds the living element of a thread, or NULL. */
struct element *rebuild_living(const struct rebuild *rebuild, pid_t tgid, pid_t pid)
{
	size_t at = place_in_order(rebuild, task_order(tgid, pid));

	if (at == rebuild->n || raw_order(&rebuild->elements[at].raw) != task_order(tgid, pid))
		return NULL;
	return &rebuild->elements[at];
}

bool rebuild_is_wanted(const pid_t *pids, size_t npids, pid_t tgid)
{
	size_t at;

	LOWER_BOUND(at, npids, pids[at] < tgid);
	return !npids || (at < npids && pids[at] == tgid);
}

struct element_trace *rebuild_trace_of(struct element *element)
{
	if (!element->trace)
		element->trace = xcalloc(1, sizeof(*element->trace));
	return element->trace;
}

/* Forgets what was traced of an element. */
static void rebuild_drop_trace(struct element *element)
{
	if (!element->trace)
		return;
	free(element->trace->more);
	free(element->trace);
	element->trace = NULL;
}

void rebuild_leave_trace(struct element *left, const struct element *living)
{
	const struct element_trace *of = living->trace;

	if (!of || !of->traced)
		return;
	rebuild_trace_of(left);
	left->trace->traced = true;
	left->trace->sum = of->sum;
}

void rebuild_drop(struct element *element)
{
	task_unref(element->raw.task);
	free(element->record);
	free(element->proc);
	rebuild_drop_trace(element);
}

char *rebuild_text(struct rebuild *rebuild, uint32_t id)
{
	struct archive *archive = rebuild->archive;
	struct text_row row;
	char *text;

	if (!id)
		return NULL;
	if (archive_get(archive, TABLE_TEXT, id, &row) != 1) {
		archive->bad = true;
		return NULL;
	}
	text = xcalloc(row.value.len + 1, 1);
	if (row.value.len)
		memcpy(text, row.value.data, row.value.len);
	archive_done(archive, TABLE_TEXT);
	return text;
}

/* Keeps a text by its number. */
static void note_text(struct rebuild *rebuild, size_t id, const char *text)
{
	size_t n = rebuild->nkept_texts;

	if (id >= n) {
		rebuild->nkept_texts = id + id / 2 + 64;
		rebuild->kept_texts = xreallocarray(rebuild->kept_texts, rebuild->nkept_texts,
						    sizeof(*rebuild->kept_texts));
		memset(rebuild->kept_texts + n, 0,
		       (rebuild->nkept_texts - n) * sizeof(*rebuild->kept_texts));
	}
	rebuild->kept_texts[id] = text;
}

const char *rebuild_keep_text(struct rebuild *rebuild, uint32_t id)
{
	const char *kept;
	bool added;
	char *text;

	if (id && id < rebuild->nkept_texts && rebuild->kept_texts[id])
		return rebuild->kept_texts[id];
	text = rebuild_text(rebuild, id);
	texts_number(&rebuild->texts, text, &added, &kept);
	free(text);
	if (id && id < KEPT_TEXTS_MAX)
		note_text(rebuild, id, kept);
	return kept;
}

/* Finds a known task: of a living element, or of one that left. */
static struct task *find_task(const struct rebuild *rebuild, pid_t tgid, pid_t pid, uint64_t start)
{
	struct element *element = rebuild_living(rebuild, tgid, pid);
	struct task wanted = { .tgid = tgid, .key = { pid, start } };
	const struct ended_task key = { .task = &wanted };
	struct ended_task **node;

	if (element && element->raw.task->key.start_ns == start)
		return element->raw.task;
	node = tfind(&key, &rebuild->ended, compare_ended_tasks);
	return node ? (*node)->task : NULL;
}

void rebuild_set_text(char **text, char *by)
{
	free(*text);
	*text = by;
}

/* Sets a text that many tasks have. */
static void copy_text(struct rebuild *rebuild, uint32_t id, char **text)
{
	const char *kept = rebuild_keep_text(rebuild, id);

	rebuild_set_text(text, kept ? xstrdup(kept) : NULL);
}

/* Sets names and times of a task from a version's row. */
static void name_task(struct rebuild *rebuild, const struct moment_task *row, struct task *task)
{
	const char *name;

	task->ppid = row->ppid;
	task->uid = row->uid;
	task->latest_ns = row->latest_ns;
	task->start_lo = row->lo_ns;
	task->start_hi = row->hi_ns;
	task->user = rebuild_keep_text(rebuild, row->user);
	/* Many tasks share names, so these are kept; command lines are long and rarely shared. */
	name = rebuild_keep_text(rebuild, row->comm);
	task_set_comm(task, name ? name : "", name ? strlen(name) : 0);
	copy_text(rebuild, row->cgroup, &task->cgroup);
	copy_text(rebuild, row->pod, &task->pod);
	copy_text(rebuild, row->container, &task->container);
	rebuild_set_text(&task->command, rebuild_text(rebuild, row->command));
}

/* Lets a version be found by its number without a search. */
static void number_version(struct rebuild *rebuild, struct version *version)
{
	size_t id = (size_t)version->id, n = rebuild->nby_number;

	if (version->id <= 0 || version->id >= NUMBERED_MAX)
		return;
	if (id >= n) {
		rebuild->nby_number = id + id / 2 + 64;
		rebuild->by_number = xreallocarray(rebuild->by_number, rebuild->nby_number,
						   sizeof(struct version *));
		memset(rebuild->by_number + n, 0,
		       (rebuild->nby_number - n) * sizeof(struct version *));
	}
	rebuild->by_number[id] = version;
}

/* Reads the version with a number. NULL, and bad: there is none. */
static struct version *read_version(struct rebuild *rebuild, int64_t id)
{
	struct version *version;
	struct moment_task row;
	struct task *task;

	if (archive_get(rebuild->archive, TABLE_TASK, id, &row) != 1) {
		rebuild->archive->bad = true;
		return NULL;
	}
	archive_done(rebuild->archive, TABLE_TASK);
	task = find_task(rebuild, row.tgid, row.pid, row.start_ns);
	if (task)
		task_ref(task);
	else
		task = task_new((struct task_key){ row.pid, row.start_ns }, row.tgid);
	name_task(rebuild, &row, task);
	version = xcalloc(1, sizeof(*version));
	*version = (struct version){ .id = id, .tgid = row.tgid, .pid = row.pid, .task = task };
	if (!tsearch(version, &rebuild->versions, compare_versions))
		die("out of memory");
	number_version(rebuild, version);
	rebuild->nversions++;
	return version;
}

struct version *rebuild_version(struct rebuild *rebuild, int64_t id)
{
	struct version key = { .id = id };
	void *found;

	if (id > 0 && (uint64_t)id < rebuild->nby_number && rebuild->by_number[id])
		return rebuild->by_number[id];
	found = tfind(&key, &rebuild->versions, compare_versions);
	return found ? *(struct version **)found : read_version(rebuild, id);
}

/* Adds an empty element to those that left. */
struct element *rebuild_add_leaver(struct rebuild *rebuild, struct version *version)
{
	GROW(rebuild->left, rebuild->nleft, rebuild->left_cap);
	version->left = true;
	version->at = rebuild->nleft;
	note_ended(rebuild, version->task);
	rebuild->left[rebuild->nleft] = (struct element){
		.raw = { .task = task_ref(version->task),
			 .tgid = version->tgid,
			 .pid = version->pid,
			 .counters.members = 1 },
		.version = version->id,
	};
	return &rebuild->left[rebuild->nleft++];
}

/* Inserts an empty living element, or empties the one of the same thread. */
struct element *rebuild_place(struct rebuild *rebuild, const struct version *version)
{
	uint64_t order = task_order(version->tgid, version->pid);
	size_t at = place_in_order(rebuild, order);
	struct element *element;

	if (at < rebuild->n && raw_order(&rebuild->elements[at].raw) == order) {
		rebuild_drop(&rebuild->elements[at]);
	} else {
		GROW(rebuild->elements, rebuild->n, rebuild->cap);
		memmove(&rebuild->elements[at + 1], &rebuild->elements[at],
			(rebuild->n - at) * sizeof(*rebuild->elements));
		rebuild->n++;
	}
	element = &rebuild->elements[at];
	*element = (struct element){ .raw = { .task = task_ref(version->task),
					      .tgid = version->tgid,
					      .pid = version->pid,
					      .counters.members = 1 } };
	return element;
}

struct element *rebuild_element(struct rebuild *rebuild, uint32_t task)
{
	struct version *version = rebuild_version(rebuild, task);
	struct element *element = NULL;

	if (version && version->left)
		return &rebuild->left[version->at];
	if (version)
		element = rebuild_living(rebuild, version->tgid, version->pid);
	if (element && element->raw.task == version->task) {
		element->version = task;
		return element;
	}
	rebuild->archive->bad = true;
	return NULL;
}

/* Removes elements that have gone; unmet: also those that the sample did not have. */
void rebuild_remove_gone(struct rebuild *rebuild, bool unmet)
{
	size_t kept = 0;

	for (size_t i = 0; i < rebuild->n; i++) {
		struct element *element = &rebuild->elements[i];

		if (element->gone || (unmet && !element->met)) {
			/* It exited in a sample that was passed over: its end must not get lost. */
			if (element->exited) {
				struct version version = { .task = element->raw.task,
							   .tgid = element->raw.tgid,
							   .pid = element->raw.pid };
				struct element *left = rebuild_add_leaver(rebuild, &version);
				struct task *task = left->raw.task;

				left->raw = element->raw;
				left->raw.task = task;
				left->raw.exited = true;
				left->read_ns = element->raw.read_ns;
				rebuild_leave_trace(left, element);
			}
			rebuild_drop(element);
			continue;
		}
		if (kept != i)
			rebuild->elements[kept] = *element;
		kept++;
	}
	rebuild->n = kept;
}

/* Frees the elements that left before the last sample made. */
void rebuild_drop_older(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nolder; i++) {
		forget_ended(rebuild, rebuild->older[i].raw.task);
		rebuild_drop(&rebuild->older[i]);
	}
	rebuild->nolder = 0;
}

/* Makes the elements that left in the last sample made the older ones. */
void rebuild_put_aside(struct rebuild *rebuild)
{
	struct element *older = rebuild->older;
	size_t cap = rebuild->older_cap;

	rebuild_drop_older(rebuild);
	rebuild->older = rebuild->left;
	rebuild->nolder = rebuild->nleft;
	rebuild->older_cap = rebuild->left_cap;
	rebuild->left = older;
	rebuild->nleft = 0;
	rebuild->left_cap = cap;
}

/* Forgets where elements that left are: their tasks may live again. */
void rebuild_free_numbers(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nleft; i++) {
		struct version key = { .id = rebuild->left[i].version };
		void *found = tfind(&key, &rebuild->versions, compare_versions);

		if (found)
			(*(struct version **)found)->left = false;
	}
}

/* Forgets the numbers of tasks. */
void rebuild_forget_versions(struct rebuild *rebuild)
{
	tdestroy(rebuild->versions, free_version);
	rebuild->versions = NULL;
	rebuild->nversions = 0;
	if (rebuild->nby_number)
		memset(rebuild->by_number, 0, rebuild->nby_number * sizeof(struct version *));
	if (rebuild->nkept_texts)
		memset(rebuild->kept_texts, 0, rebuild->nkept_texts * sizeof(*rebuild->kept_texts));
}
