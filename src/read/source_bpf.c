/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters by a program in the kernel that walks over all tasks (snapshot.c). For a task that did
 * not change it only says that the task is there; its element is that of the sample before, which
 * both samples have: so idle tasks cost next to nothing.
 *
 * Samples with fields that only taskstats has (struct task_record) are taken by taskstats.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"
#include "bpf/measure.h"
#include "bpf/refusal.h"
#include "bpf/snapshot.h"
#include "bpf/snapshot_counters.h"
#include "kernel/proctask.h"
#include "read/measured_exits.h"
#include "read/source.h"
#include "read/states.h"
#include "read/walk_index.h"

struct bpf_source {
	struct source_env env;
	struct snapshot *snapshot;
	struct measure *measure; /* NULL: waits are not measured */
	int unmeasured; /* -errno: they should be */
	bool traced; /* its samples include the threads' time by state */
	uint64_t measure_ns; /* CLOCK_MONOTONIC: tasks started earlier may have been waiting when
			      * first seen */
	struct measured_exits ends;
	void *taskstats; /* NULL: not opened yet */
	bool no_taskstats;
	uint64_t pass; /* the number of the last pass */
	struct pidlist hidden; /* processes that are in /proc but not in the walk */
	struct walk_index places;
	size_t kept; /* the number of first elements that the sample still has of its last turn */
	uint64_t begin_ns, end_ns; /* of the previous pass */
};

/* True if the kernel accounts its delays: swapin is never measured. */
static bool is_record_accounted(const struct snapshot_record *record)
{
	return record->kinds & DELAY_BIT(DELAY_SWAPIN);
}

/* True if measuring began after the task's start: its earlier waits are unknown. */
static bool is_measured_late(const struct bpf_source *source, const struct snapshot_record *record)
{
	return record->measured && !is_record_accounted(record) &&
	       record->start_ns < source->measure_ns;
}

/* Updates the identity of the task. */
static void identify_task(struct task *task, const struct snapshot_record *record, bool ran)
{
	task->start_lo = task->start_hi = record->start_ns;
	task->ppid = record->ppid;
	task->fresh |= ran || task->uid != record->uid ||
		       strncmp(task->comm, record->comm, SNAPSHOT_COMM) != 0 ||
		       task->cgroup_id != record->cgroup || task->groups != record->groups ||
		       task->exec != record->exec;
	if (task->exec != record->exec)
		task->other |= NEED_COMMAND;
	if (task->groups != record->groups)
		task->other |= NEED_CGROUP;
	task->uid = record->uid;
	task->cgroup_id = record->cgroup;
	task->groups = record->groups;
	task->exec = record->exec;
	task->accounted = is_record_accounted(record);
	task_set_comm(task, record->comm, sizeof(record->comm));
}

/* Fills in the element i of a sample. known: the earlier element of the same task, or NULL. */
static void fill_element(const struct bpf_source *source, struct sample *cur, size_t i,
			 const struct snapshot_view *view, const struct snapshot_entry *entry,
			 const struct task_raw *known)
{
	const struct snapshot_record *parts = &view->records[entry->record - 1];
	size_t n = snapshot_parts(view, entry->record - 1);
	struct task_raw *raw = cur->raw[i];
	struct task_key key = { parts->pid, parts->start_ns };

	snapshot_counters(parts, n, known ? known->read_ns : 0, raw);
	if (source->env.threads) {
		raw->single = true; /* regardless of its process's number of threads */
		raw->now.threads = 1;
	}
	raw->task = known ? task_ref(known->task) : task_new(key, parts->tgid);
	identify_task(raw->task, parts, !known || known->counters.run_ns != raw->counters.run_ns);
	raw->now.measured_late = is_measured_late(source, parts);
	cur->marks[i] = (raw->task->accounted ? 0 : MARK_UNACCOUNTED) |
			(waits_all(&raw->now.waits) ? MARK_WAITS : 0);
	if (cur->records)
		snapshot_range(parts, n, &cur->records[i]);
}

/* Shares an element of the previous sample. */
static void keep_element(const struct bpf_source *source, struct sample *cur, size_t i,
			 const struct sample *prev, size_t before)
{
	struct task_raw *raw = prev->raw[before];

	cur->marks[i] = prev->marks[before] | MARK_UNCHANGED;
	/* An element shared by more samples is complete. */
	if (i < source->kept && cur->raw[i] == raw)
		return;
	sample_share(cur, i, raw);
	/*
	 * The exit marks and waits were true for the previous sample only: if waits have ended
	 * since, there is a record.
	 */
	if (!raw->exited && !raw->was && raw->counters.members == 1 && !raw->now.waits.dwait_ns)
		return;
	raw = sample_own(cur, i);
	raw->exited = false;
	raw->was = 0;
	raw->counters.members = 1;
	raw->now.waits.dwait_ns = 0;
}

/* Updates the times of an element whose waits continue since the previous sample. */
static void advance_waits(struct sample *cur, size_t i, const struct task_raw *before,
			  uint64_t now_ns)
{
	struct task_raw *raw = sample_own(cur, i);

	raw->read_ns = now_ns;
	waits_go_on(&raw->now.waits, now_ns, before->read_ns);
}

/*
 * Gives the sample its elements. Those that kept their places since it was last filled are left
 * unchanged. Returns how many keep their places from the previous sample.
 */
static size_t lay_out_sample(struct bpf_source *source, const struct sample *prev,
			     struct sample *cur, const struct snapshot_view *view, bool steady)
{
	size_t stable = walk_index_sort(&source->places, prev, view, steady);

	sample_remove_exited(cur);
	for (unsigned age = SAMPLES; age > 1; age--)
		cur->stable[age] = prev->stable[age - 1] < stable ? prev->stable[age - 1] : stable;
	cur->stable[1] = stable;
	source->kept = cur->pass && cur->pass + SAMPLES == source->pass ? cur->stable[SAMPLES] : 0;
	sample_truncate(cur, source->kept);
	walk_index_add(&source->places, prev, cur, stable);
	sample_mark(cur, source->kept);
	return stable;
}

/* Updates the element i, which is the former one at its place or was just added. */
static void update_element(struct bpf_source *source, const struct sample *prev, uint32_t before,
			   struct sample *cur, uint32_t i, const struct snapshot_view *view,
			   const struct snapshot_entry *entry)
{
	const struct task_raw *known = before == NO_ELEMENT ? NULL : prev->raw[before];

	if (entry->record) {
		sample_renew(cur, i);
		fill_element(source, cur, i, view, entry, known);
		return;
	}
	keep_element(source, cur, i, prev, before);
	if (cur->marks[i] & MARK_WAITS)
		advance_waits(cur, i, known, view->begin_ns);
}

/*
 * Gives unchanged elements a time of reading if they are compared with a new one: the time of the
 * previous walk.
 */
static void date_elements(const struct bpf_source *source, struct sample *prev,
			  const struct snapshot_view *view)
{
	size_t nwalk = source->places.nwalk;
	double step = nwalk ? (double)(source->end_ns - source->begin_ns) / (double)nwalk : 0;

	for (size_t k = 0; k < view->nentries; k++) {
		uint32_t e = source->places.next[k].element;

		if (view->entries[k].record && e < LEFT_OUT && sample_idle(prev, e))
			sample_own(prev, e)->read_ns =
				source->begin_ns + (uint64_t)(step * (double)k);
	}
}

/* Updates all elements. False if an entry has no element. */
static bool update_elements(struct bpf_source *source, const struct sample *prev,
			    struct sample *cur, size_t stable, const struct snapshot_view *view,
			    bool in_order)
{
	for (size_t k = 0; k < view->nentries; k++) {
		struct walk_slot *place = &source->places.next[k];
		uint32_t before = place->element;

		/* Most are unchanged and already there: keep_element() at its shortest. */
		if (!view->entries[k].record && before < stable && before < source->kept &&
		    cur->raw[before] == prev->raw[before] && !(prev->marks[before] & MARK_WAITS)) {
			cur->marks[before] = prev->marks[before] | MARK_UNCHANGED;
			continue;
		}
		if (before == LEFT_OUT)
			continue;
		if (before == NO_ELEMENT || before >= stable)
			place->element = source->places.elements[k];
		if (place->element >= cur->n)
			return false;
		update_element(source, prev, before, cur, place->element, view, &view->entries[k]);
		if (in_order && view->entries[k].record)
			snapshot_pass(source->snapshot, view->entries[k].record - 1);
	}
	return true;
}

/* Builds the sample from the walk. False if an element is not found. */
static bool make_sample(struct bpf_source *source, struct sample *prev, struct sample *cur,
			const struct snapshot_view *found, unsigned needs)
{
	struct snapshot_view view = *found;
	size_t stable;
	bool steady;

	if (!walk_index_find(&source->places, prev, &view, &steady))
		return false;
	source->pass++;
	date_elements(source, prev, &view);
	stable = lay_out_sample(source, prev, cur, &view, steady);
	sample_extend(cur, needs & NEED_RANGE);
	/* Merged entries are not in the order of their records. */
	if (!update_elements(source, prev, cur, stable, &view, view.entries == found->entries))
		return false;
	cur->pass = source->pass;
	walk_index_keep(&source->places, view.nentries);
	source->begin_ns = view.begin_ns;
	source->end_ns = view.end_ns;
	return true;
}

/* Adds measured and traced figures to a sample taken by taskstats. */
static void add_measured(const struct bpf_source *source, struct sample *cur,
			 const struct snapshot_view *view)
{
	for (size_t k = 0; k < view->nentries; k++) {
		size_t first = view->entries[k].record ? view->entries[k].record - 1 : 0;
		const struct snapshot_record *parts = &view->records[first];
		struct task_raw found = { 0 }, *raw;

		if (!view->entries[k].record)
			continue;
		raw = sample_find(cur, parts->tgid, parts->pid);
		if (!raw || !task_same_start(raw->task->key.start_ns, parts->start_ns))
			continue;
		snapshot_counters(parts, snapshot_parts(view, first), 0, &found);
		task_raw_set_times(raw, found.times);
		task_raw_set_times(&found, NULL);
		if (!parts->measured)
			continue;
		counters_put(&raw->counters, &found.counters, found.now.measured);
		raw->now.measured = found.now.measured;
		raw->now.measured_late = is_measured_late(source, parts);
	}
}

/* Lets taskstats take the sample, if available. False if not. */
static bool ask_taskstats(struct bpf_source *source, struct sample *prev, struct sample *cur,
			  unsigned needs, int *err)
{
	struct snapshot_view view;

	*err = 0;
	if (!source->taskstats && !source->no_taskstats)
		source->no_taskstats = source_taskstats.open(&source->env, &source->taskstats) != 0;
	if (!source->taskstats)
		return false;
	/* Waits that end between the two are in the sample, and counted by the next walk. */
	if (source->measure || source->traced)
		*err = snapshot_take(source->snapshot, SNAPSHOT_WHOLE, &view);
	if (!*err)
		*err = source_taskstats.sample(source->taskstats, prev, cur, needs);
	if (!*err && (source->measure || source->traced))
		add_measured(source, cur, &view);
	return true;
}

/*
 * Finds live processes listed in /proc but not visited by the walk (kernel hides them from BPF),
 * and keeps them in hidden.
 */
static void find_hidden(struct bpf_source *source, const struct sample *cur)
{
	struct pidlist *hidden = &source->hidden;
	size_t kept = 0;
	char path[16];

	for (size_t i = 0; i < hidden->n; i++) {
		pid_t pid = hidden->pids[i];

		if (!walk_index_want(&source->places, pid) || sample_find(cur, pid, pid))
			continue;
		snprintf(path, sizeof(path), "%d", (int)pid);
		if (!faccessat(source->env.proc->fd, path, F_OK, 0))
			hidden->pids[kept++] = pid;
	}
	hidden->n = kept;
}

/* Takes a sample. */
static int bpf_sample(void *state, struct sample *prev, struct sample *cur, unsigned needs)
{
	struct bpf_source *source = state;
	bool follows = prev->pass && prev->pass == source->pass;
	unsigned how = (!follows || needs & (NEED_IDENTITY | NEED_RANGE) ? SNAPSHOT_WHOLE : 0) |
		       (needs & NEED_CGROUP ? SNAPSHOT_CGROUPS : 0);
	struct snapshot_view view;
	int err;

	if (needs & NEED_RECORD && ask_taskstats(source, prev, cur, needs, &err))
		return err;
	if (!follows && pidlist_read(&source->hidden, source->env.proc->fd))
		source->hidden.n = 0;
	err = snapshot_take(source->snapshot, how, &view);
	if (err)
		return err;
	/* The walk has no places for a sample of another source, or for none. */
	if (!follows)
		source->places.nwalk = 0;
	if (!make_sample(source, prev, cur, &view, needs)) {
		/* The order of the walk has changed. */
		err = snapshot_take(source->snapshot, how | SNAPSHOT_WHOLE, &view);
		if (!err && !make_sample(source, prev, cur, &view, needs))
			err = -EBADMSG;
	}
	if (!err && (!follows || cur->n != prev->n))
		find_hidden(source, cur);
	cur->unread = source->hidden.n;
	return err;
}

/* Opens the source: loads the programs. Continues without measuring if that fails. */
static int bpf_open(const struct source_env *env, void **state)
{
	struct bpf_source *source = xcalloc(1, sizeof(*source));
	int err;

	if (env->measuring)
		source->measure = env->measuring;
	else if (env->measure)
		source->unmeasured = measure_open(&source->measure);
	if (source->measure)
		measured_exits_open(&source->ends, source->measure);
	source->measure_ns = clock_ns(CLOCK_MONOTONIC);
	err = snapshot_open(&source->snapshot, env->threads, SNAPSHOT_ANY, source->measure,
			    env->trace);
	if (err) {
		if (!env->measuring)
			measure_close(source->measure);
		free(source);
		return err;
	}
	source->env = *env;
	source->traced = env->trace;
	source->places.env = &source->env;
	*state = source;
	return 0;
}

/* Appends how the program reads the tasks, and what was refused before. */
static void bpf_describe(const void *state, struct buf *out)
{
	const struct bpf_source *source = state;

	if (snapshot_way(source->snapshot) == SNAPSHOT_WALK) {
		buf_puts(out, "loaded, reads all tasks in one run");
		return;
	}
	buf_puts(out, "loaded, called for each thread; ");
	text_escape(out, refusal_words(), strlen(refusal_words()), TEXT_ASCII);
}

/* Why waits are not measured as requested: -errno. */
static int bpf_unmeasured(const void *state)
{
	return ((const struct bpf_source *)state)->unmeasured;
}

/* The programs that measure waits, if they do. */
static struct measure *bpf_measuring(const void *state)
{
	return ((const struct bpf_source *)state)->measure;
}

/* Includes the threads' time by state in samples. */
static void bpf_trace(void *state, const struct trace *trace)
{
	struct bpf_source *source = state;

	source->traced = trace;
	snapshot_trace(source->snapshot, trace);
}

/* Replaces accounted figures of exit records by measured ones. */
static size_t bpf_correct_exits(void *state, struct exit_record *records, size_t n)
{
	struct bpf_source *source = state;

	if (!source->measure)
		return 0;
	return measured_exits_take(&source->ends, records, n, source->env.threads);
}

/* Closes the source. */
static void bpf_close(void *state)
{
	struct bpf_source *source = state;

	snapshot_close(source->snapshot);
	if (!source->env.measuring)
		measure_close(source->measure);
	measured_exits_free(&source->ends);
	if (source->taskstats)
		source_taskstats.close(source->taskstats);
	pidlist_free(&source->hidden);
	walk_index_free(&source->places);
	free(source);
}

const struct source_ops source_bpf = {
	.name = "bpf",
	.kinds = DELAY_ALL,
	.programs = true,
	.exits = true,
	.many = true,
	.open = bpf_open,
	.sample = bpf_sample,
	.describe = bpf_describe,
	.unmeasured = bpf_unmeasured,
	.measuring = bpf_measuring,
	.trace = bpf_trace,
	.correct_exits = bpf_correct_exits,
	.close = bpf_close,
};
