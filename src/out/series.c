/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/series.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* Frees the texts of one. */
static void drop_hang(struct series_hang *hang)
{
	free(hang->labels);
	free(hang->comm);
	free(hang->syscall);
	free(hang->on);
	*hang = (struct series_hang){ 0 };
}

/* Drops those of the previous frame. */
static void series_hangs_free(struct series_hangs *hangs)
{
	while (hangs->n)
		drop_hang(&hangs->all[--hangs->n]);
}

/* A text as a label; too long ones are left out, as a part could be another's. */
static char *label_of(const char *text)
{
	struct buf label = { 0 };
	char *copy;

	if (text)
		series_label(&label, text);
	copy = xstrdup(label.len <= SERIES_LABEL_MAX ? buf_cstr(&label) : "");
	buf_free(&label);
	return copy;
}

/* Adds a task's row, if it hangs; labels: those of its group. */
static void series_hangs_add(struct series_hangs *hangs, const struct frame *frame,
			     const struct row *row, const char *labels)
{
	const struct task_waits *waits = &row->raw->now.waits;
	const struct task_waiting *waiting = row_waiting(frame, row);
	uint64_t now_ns = sample_read_ns(frame->info->cur, row->raw), ns;
	/* Recordings lack which thread it is: then the longest wait is it, if all are such. */
	uint64_t since_ns = waits->tid ? waits->tid_ns : waits->first_ns;
	size_t at = hangs->n;

	if (!waits_in_d(waits) || (!waits->tid && waits->threads[SEEN_CPU]) || row->exited ||
	    now_ns < since_ns + SERIES_HANG_NS)
		return;
	ns = now_ns - since_ns;
	if (at == SERIES_HANGS) {
		if (hangs->all[--at].ns >= ns)
			return;
		drop_hang(&hangs->all[at]);
	} else {
		hangs->n++;
	}
	for (; at && hangs->all[at - 1].ns < ns; at--)
		hangs->all[at] = hangs->all[at - 1];
	hangs->all[at] = (struct series_hang){
		.ns = ns,
		.pid = row->task->key.pid,
		.kind = waits->threads[SEEN_BLKIO] ? SEEN_BLKIO : SEEN_DWAIT,
		.labels = xstrdup(labels),
		.comm = label_of(row->task->comm),
		.syscall = label_of(waiting ? waiting->syscall : NULL),
		.on = label_of(waiting && waiting->on.len ? waiting->on.data : NULL),
	};
}

void series_label(struct buf *out, const char *name)
{
	struct buf text = { 0 };
	size_t at = 0;

	if (!name) {
		buf_puts(out, SERIES_UNKNOWN);
		return;
	}
	/*
	 * A name that looks like a label of ours, or is empty, begins with an escape that no other
	 * name produces.
	 */
	if (!*name || !strcmp(name, SERIES_UNKNOWN) || !strcmp(name, SERIES_REST)) {
		buf_printf(&text, "\\x%02x", (unsigned char)*name);
		name += *name != '\0';
	}
	text_escape(&text, name, strlen(name), TEXT_UTF8);
	for (; at < text.len; at++) {
		if (text.data[at] == '\\' || text.data[at] == '"')
			buf_putc(out, '\\');
		buf_putc(out, text.data[at]);
	}
	buf_free(&text);
}

struct series {
	size_t max;
	size_t shown;
	struct series_group **groups; /* all known ones, exported ones first */
	size_t n;
	void *names; /* the same by name, of tsearch() */
	struct series_group rest;
	struct series_machine machine;
	const struct row **waiting; /* scratch: rows without a series yet */
	size_t waiting_cap;
	bool full; /* in this frame no more groups release their series */
	struct buf scratch;
};

/* Orders groups by name; the unnamed one comes first. */
static int compare_series(const void *a, const void *b)
{
	const struct series_group *x = a, *y = b;

	if (!x->name || !y->name)
		return (x->name != NULL) - (y->name != NULL);
	return strcmp(x->name, y->name);
}

struct series *series_open(size_t max)
{
	struct series *series = xcalloc(1, sizeof(*series));

	series->max = max;
	series->groups = xcalloc(max * SERIES_KEPT, sizeof(struct series_group *));
	series->rest.labels = xstrdup("group=\"" SERIES_REST "\"");
	series->machine.delayacct = DELAYACCT_UNKNOWN;
	return series;
}

/* Frees a group no longer in any list. */
static void free_series(struct series *series, struct series_group *group)
{
	tdelete(group, &series->names, compare_series);
	free(group->name);
	free(group->labels);
	free(group);
}

/* Drops the least recently active group without series. */
static void forget_oldest(struct series *series)
{
	size_t oldest = series->shown;

	for (size_t i = series->shown; i < series->n; i++)
		if (series->groups[i]->active_ns < series->groups[oldest]->active_ns)
			oldest = i;
	free_series(series, series->groups[oldest]);
	series->groups[oldest] = series->groups[--series->n];
}

/* Appends a label of a group, if it is known and not too long. */
static void append_label(struct buf *labels, const char *key, const char *value)
{
	size_t before = labels->len, begin;

	if (!value)
		return;
	buf_printf(labels, ",%s=\"", key);
	begin = labels->len;
	series_label(labels, value);
	if (labels->len - begin > SERIES_LABEL_MAX)
		labels->len = before;
	else
		buf_putc(labels, '"');
}

/* Writes a group's labels: its name, and its container's. False: too long. */
static bool write_labels(struct buf *labels, const struct group *group)
{
	const char *slash = group->pod ? strchr(group->pod, '/') : NULL;
	struct buf namespace = { 0 };

	labels->len = 0;
	series_label(labels, group->name);
	if (labels->len > SERIES_LABEL_MAX)
		return false;
	labels->len = 0;
	buf_puts(labels, "group=\"");
	series_label(labels, group->name);
	buf_putc(labels, '"');
	if (slash) {
		buf_add(&namespace, group->pod, (size_t)(slash - group->pod));
		append_label(labels, "namespace", buf_cstr(&namespace));
		append_label(labels, "pod", slash + 1);
	}
	append_label(labels, "container", group->container);
	buf_free(&namespace);
	return true;
}

/* True if more than its path is known of a group. */
static bool has_names(const struct group *group)
{
	return group->pod || group->container;
}

/* Adds a group, without series. NULL: its label is too long. */
static struct series_group *add_series(struct series *series, const struct group *of)
{
	const char *name = of->name;
	struct series_group *group;

	if (!write_labels(&series->scratch, of))
		return NULL;
	if (series->n == series->max * SERIES_KEPT)
		forget_oldest(series);
	group = xcalloc(1, sizeof(*group));
	group->name = xstrdup(name);
	group->labels = xstrdup(buf_cstr(&series->scratch));
	group->named = has_names(of);
	series->groups[series->n++] = group;
	if (!tsearch(group, &series->names, compare_series))
		die("out of memory");
	return group;
}

/* Adds names to the labels of a group whose names were unknown at first. */
static void learn_names(struct series *series, struct series_group *group, const struct group *of)
{
	if (group == &series->rest || group->named || !has_names(of) ||
	    !write_labels(&series->scratch, of))
		return;
	free(group->labels);
	group->labels = xstrdup(buf_cstr(&series->scratch));
	group->named = true;
}

/* The group of that name, if it is known. */
static struct series_group *find_series(const struct series *series, const char *name)
{
	struct series_group key = { .name = (char *)name }, **found;

	found = tfind(&key, &series->names, compare_series);
	return found ? *found : NULL;
}

/* Exchanges two groups of the list. */
static void exchange_groups(struct series *series, size_t a, size_t b)
{
	struct series_group *group = series->groups[a];

	series->groups[a] = series->groups[b];
	series->groups[b] = group;
}

/* Adds a group's current figures to another's. */
static void merge_now(struct series_group *to, const struct series_group *group)
{
	for (size_t i = 0; i < SERIES_STATES_N; i++)
		to->tasks[i] += group->tasks[i];
	for (size_t i = 0; i < WAITS_SEEN; i++)
		if (group->longest_ns[i] > to->longest_ns[i])
			to->longest_ns[i] = group->longest_ns[i];
}

/* Takes the series of the least recently active group, if it is idle long enough. False: none. */
static bool take_idle(struct series *series, uint64_t now_ns)
{
	size_t oldest = 0;

	for (size_t i = 1; i < series->shown && !series->full; i++)
		if (series->groups[i]->active_ns < series->groups[oldest]->active_ns)
			oldest = i;
	if (series->full || series->groups[oldest]->active_ns + SERIES_IDLE_NS > now_ns)
		return !(series->full = true);
	/* Its figures in this frame are counted with the rest now. */
	if (series->groups[oldest]->present)
		merge_now(&series->rest, series->groups[oldest]);
	series->groups[oldest]->shown = false;
	exchange_groups(series, oldest, --series->shown);
	return true;
}

/* Gives a group its own series, as there is room. */
static void show_series(struct series *series, struct series_group *group)
{
	size_t at = series->shown;

	while (series->groups[at] != group)
		at++;
	group->shown = true;
	exchange_groups(series, at, series->shown++);
}

/* True if anything was counted in the row. */
static bool has_grown(const struct row *row)
{
	const struct group_figures *figures = row->group->figures;
	const struct cgroup_sample *now = figures->now, *before = figures->before;

	if (row->group->sum.deltas->waited.total || row->group->sum.deltas->grown.run_ns)
		return true;
	return now && before && now->throttled_ns > before->throttled_ns;
}

/* The group that counts a row without a series yet. */
static struct series_group *claim(struct series *series, const struct row *row, uint64_t now_ns)
{
	struct series_group *group = find_series(series, row->group->name);

	if (series->shown == series->max && !(has_grown(row) && take_idle(series, now_ns)))
		return &series->rest;
	if (!group)
		group = add_series(series, row->group);
	if (!group)
		return &series->rest;
	show_series(series, group);
	group->active_ns = now_ns;
	return group;
}

/* Adds what was counted in the interval. */
static void count_growth(struct series_group *group, const struct row *sum)
{
	const struct deltas *deltas = sum->deltas;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (row_waited(sum) & DELAY_BIT(kind))
			group->delay_ns[kind] += deltas->waited.ns[kind];
		if (sum->valid & DELAY_COUNT_BIT(kind))
			group->delay_count[kind] += deltas->grown.delay[kind].count;
	}
	if (sum->valid & VALID_DWAIT)
		group->delay_ns[WAIT_DWAIT] += deltas->waited.ns[WAIT_DWAIT];
	if (sum->valid & VALID_RUN)
		group->run_ns += deltas->grown.run_ns;
	group->known |= sum->valid | row_waited(sum);
}

/* Adds how long a group was throttled between two readings of its file. False: unknown. */
static bool add_throttled(const struct group_figures *figures, uint64_t *ns)
{
	const struct cgroup_sample *now = figures->now, *before = figures->before;

	if (!now || !(now->have & CGROUP_BIT(CGROUP_THROTTLE)))
		return false;
	if (before && before->have & CGROUP_BIT(CGROUP_THROTTLE) &&
	    now->throttled_ns > before->throttled_ns)
		*ns += now->throttled_ns - before->throttled_ns;
	return true;
}

/* Adds how long the group of a row was throttled, and those above it. */
static void add_throttling(struct series_group *group, const struct frame *frame,
			   const struct row *row)
{
	group->throttling |= add_throttled(row->group->figures, &group->throttled_ns);
	for (;;) {
		group->holding |= add_throttled(row->group->figures, &group->held_ns);
		if (row->group->parent == NO_GROUP)
			return;
		row = &frame->rows[row->group->parent];
	}
}

/*
 * How long the longest wait of a kind has lasted. Of several kinds of waits in one process only the
 * longest of all is known: then it is at least the mean.
 */
static uint64_t longest_of(const struct task_waits *waits, enum wait_seen kind, uint64_t now_ns)
{
	uint32_t n = waits->threads[kind];

	if (n == waits_all(waits))
		return now_ns > waits->first_ns ? now_ns - waits->first_ns : 0;
	return waits_progress(waits, kind, now_ns) / n;
}

/* Adds the current state of a living task. */
static void add_task_now(struct series_group *group, const struct frame *frame,
			 const struct row *row)
{
	const struct task_waits *waits = &row->raw->now.waits;
	uint64_t now_ns = sample_read_ns(frame->info->cur, row->raw);
	char state = row_state(row);
	const char *at = strchr(SERIES_STATES, state == 't' ? 'T' : state);

	if (row->exited || !state)
		return;
	if (at)
		group->tasks[at - SERIES_STATES]++;
	for (unsigned kind = 0; kind < WAITS_SEEN; kind++) {
		uint64_t ns = waits->threads[kind] ? longest_of(waits, kind, now_ns) : 0;

		if (ns > group->longest_ns[kind])
			group->longest_ns[kind] = ns;
	}
}

/* Adds a row to a group, or to the rest. */
static void count_group(struct series *series, struct series_group *group,
			const struct frame *frame, const struct row *row)
{
	const struct group *of = row->group;

	learn_names(series, group, of);
	count_growth(group, &of->sum);
	add_throttling(group, frame, row);
	for (size_t i = 0; i < of->own; i++) {
		const struct task_raw *raw = of->members[i]->raw;

		/* Kinds that will be known start with 0 before the first interval. */
		group->known |= raw->counters.valid & (DELAY_BOTH(DELAY_ALL) | VALID_RUN);
		group->known |= raw->now.state ? VALID_DWAIT : 0;
		add_task_now(group, frame, of->members[i]);
		series_hangs_add(&series->machine.hangs, frame, of->members[i], group->labels);
	}
	group->present = true;
	if (has_grown(row))
		group->active_ns = frame->info->cur->begin_ns;
	/* The rest exists from the beginning, or its first growth would be lost. */
	series->rest.known |= group->known;
	series->rest.throttling |= group->throttling;
	series->rest.holding |= group->holding;
}

/* True if a row has anything to count: ancestors without tasks may have throttling only. */
static bool has_counts(const struct row *row)
{
	const struct cgroup_sample *now = row->group->figures->now;

	return row->group->own || (now && now->have & CGROUP_BIT(CGROUP_THROTTLE));
}

/* Orders rows by time waited, most first. */
static int compare_waited(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;
	uint64_t waited = (*x)->group->sum.deltas->waited.total;
	uint64_t other = (*y)->group->sum.deltas->waited.total;

	return (waited < other) - (waited > other);
}

/* Takes the figures of the machine. */
static void take_machine(struct series_machine *machine, const struct frame_info *info)
{
	machine->kinds = info->kinds & ~info->head.unknown;
	machine->states_known = info->states_known;
	machine->exits_known = info->head.exits >= 0 && info->head.lost >= 0;
	if (machine->exits_known) {
		machine->exits += (uint64_t)info->head.exits;
		machine->lost += (uint64_t)info->head.lost;
	}
	machine->delayacct = info->head.delayacct;
	machine->duration_ns = info->cur->end_ns - info->cur->begin_ns;
	machine->real_ns = info->real_ns;
	machine->source = info->head.source;
	machine->pressure = !info->head.cgroup;
	memset(machine->psi, 0, sizeof(machine->psi));
	for (unsigned i = 0; i < PSI_RESOURCES; i++)
		if (!info->system->pressure.error[i])
			machine->psi[i] = info->system->pressure.psi[i];
}

/* Clears the figures of the moment. */
static void forget_now(struct series_group *group)
{
	memset(group->tasks, 0, sizeof(group->tasks));
	memset(group->longest_ns, 0, sizeof(group->longest_ns));
	group->present = false;
}

void series_take(struct series *series, const struct frame *frame)
{
	uint64_t now_ns = frame->info->cur->begin_ns;
	size_t n = 0;

	RESERVE(series->waiting, frame->n, series->waiting_cap);
	take_machine(&series->machine, frame->info);
	series_hangs_free(&series->machine.hangs);
	for (size_t i = 0; i < series->n; i++)
		forget_now(series->groups[i]);
	forget_now(&series->rest);
	series->full = false;
	for (size_t i = 0; i < frame->n; i++) {
		struct series_group *group = find_series(series, frame->rows[i].group->name);

		if (group && group->shown)
			count_group(series, group, frame, &frame->rows[i]);
		else if (has_counts(&frame->rows[i]))
			series->waiting[n++] = &frame->rows[i];
	}
	if (n)
		qsort(series->waiting, n, sizeof(*series->waiting), compare_waited);
	for (size_t i = 0; i < n; i++)
		count_group(series, claim(series, series->waiting[i], now_ns), frame,
			    series->waiting[i]);
	series->rest.present = true;
}

size_t series_count(const struct series *series)
{
	return series->shown + 1;
}

const struct series_group *series_at(const struct series *series, size_t i)
{
	return i < series->shown ? series->groups[i] : &series->rest;
}

const struct series_machine *series_machine(const struct series *series)
{
	return &series->machine;
}

void series_close(struct series *series)
{
	if (!series)
		return;
	while (series->n)
		free_series(series, series->groups[--series->n]);
	series_hangs_free(&series->machine.hangs);
	free(series->groups);
	free(series->rest.labels);
	free(series->waiting);
	buf_free(&series->scratch);
	free(series);
}
