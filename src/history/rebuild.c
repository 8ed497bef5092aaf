/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/moment.h"
#include "history/rebuild_parts.h"
#include "history/varint.h"

/* The most versions of tasks that are remembered. */
#define VERSIONS_MAX (1 << 16)

/* Files from this version on have all times of reading as encode_reads() writes them. */
#define RUNS_SINCE 4

/* The bytes of the times of reading, and how far they were read. */
struct reads {
	const unsigned char *at, *end;
	uint64_t last_ns;
	size_t i; /* the element whose time comes next */
};

/* Sets the time of reading of the next `run` elements to the last one read. */
static void set_times(struct rebuild *rebuild, struct reads *reads, uint64_t run)
{
	for (; run && reads->i < rebuild->n; run--, reads->i++)
		rebuild->elements[reads->i].read_ns = reads->last_ns;
}

/*
 * Reads the times of files before version 4: runs of elements up to a 0, with a bit for runs that
 * keep their times. False: the bytes are bad.
 */
static bool read_old_runs(struct rebuild *rebuild, struct reads *reads)
{
	uint64_t run, value;

	while (varint_take(&reads->at, reads->end, &run) && run) {
		if (run & 1) {
			reads->i += run >> 1;
			continue;
		}
		if (!varint_take(&reads->at, reads->end, &value))
			return false;
		reads->last_ns += (uint64_t)varint_unfold(value);
		set_times(rebuild, reads, run >> 1);
	}
	return true;
}

/* Reads the times of all elements: see encode_reads(). False: the bytes are bad. */
static bool read_runs(struct rebuild *rebuild, struct reads *reads)
{
	uint64_t run, value = 0;

	while (reads->i < rebuild->n) {
		if (!(value & READ_NEXT)) {
			if (!varint_take(&reads->at, reads->end, &run))
				return false;
			reads->i = run < rebuild->n - reads->i ? reads->i + run : rebuild->n;
			if (reads->i == rebuild->n)
				break;
		}
		if (!varint_take(&reads->at, reads->end, &value))
			return false;
		run = 1;
		if (value & READ_SEVERAL && !varint_take(&reads->at, reads->end, &run))
			return false;
		reads->last_ns += (uint64_t)varint_unfold(value >> 2);
		set_times(rebuild, reads, run);
	}
	return true;
}

/* Reads the times at which elements were read, and corrections of the sample before. */
static void read_times(struct rebuild *rebuild, const struct buf *bytes)
{
	const unsigned char *first = (const unsigned char *)bytes->data;
	struct reads reads = { first, first + bytes->len, rebuild->begin_ns, 0 };
	bool old = rebuild->archive->version < RUNS_SINCE;
	uint64_t run, value;
	size_t i = 0;

	for (size_t e = 0; e < rebuild->n; e++)
		rebuild->elements[e].read_ns = rebuild->elements[e].raw.read_ns;
	if (!(old ? read_old_runs(rebuild, &reads) : read_runs(rebuild, &reads)))
		return;
	while (varint_take(&reads.at, reads.end, &run) &&
	       varint_take(&reads.at, reads.end, &value)) {
		if (run >= rebuild->n || i + run >= rebuild->n)
			return;
		i += run;
		rebuild->elements[i].before_ns =
			rebuild->before_ns + (uint64_t)varint_unfold(value);
		rebuild->elements[i].raw.read_ns = rebuild->elements[i].before_ns;
		rebuild->elements[i].corrected = true;
	}
}

/* Lets an element's threads live on until it was read. */
static void add_life(struct element *element)
{
	if (!element->whole)
		element->raw.counters.life_ns += life_growth(&element->raw, element->read_ns);
	element->raw.read_ns = element->read_ns;
}

/* Begins a sample: clears what belonged to the one before only. */
static void begin_sample(struct rebuild *rebuild)
{
	struct system_sample *system = &rebuild->moment.system;

	rebuild_apply_fixes(rebuild);
	sample_reset(&rebuild->explained);
	for (size_t i = 0; i < rebuild->n; i++) {
		struct element *element = &rebuild->elements[i];

		element->exited |= element->raw.exited && rebuild->passed;
		element->raw.exited = false;
		element->raw.was = 0;
		element->dwait_ns =
			rebuild->passed ? element->dwait_ns + element->raw.now.waits.dwait_ns : 0;
		element->raw.now.waits.dwait_ns = 0;
		element->met = element->gone = element->whole = element->alike = false;
		element->corrected = element->drifted = false;
		if (rebuild->passed)
			continue;
		element->fresh = element->exited = false;
		element->io = (struct io_pressure){ 0 };
	}
	if (!rebuild->passed) {
		rebuild->moment.head.nnotes = 0;
		rebuild_begin_groups(rebuild);
		rebuild->nsamples++;
	}
	rebuild_begin_trace(rebuild);
	memset(system->pressure.error, 0, sizeof(system->pressure.error));
	memset(system->file_error, 0, sizeof(system->file_error));
	rebuild->account = (struct account){ 0 };
}

/* Reads the tasks of a sample, and what happened to them. 0 or -errno. */
static int read_elements(struct rebuild *rebuild, int64_t number, const struct buf *reads)
{
	int err = rebuild_read_ends(rebuild, number);

	if (err)
		return err;
	rebuild_remove_gone(rebuild, false);
	err = rebuild_read_standing(rebuild, number);
	if (err)
		return err;
	if (rebuild->whole)
		rebuild_remove_gone(rebuild, true);
	read_times(rebuild, reads);
	for (size_t i = 0; i < rebuild->n; i++)
		add_life(&rebuild->elements[i]);
	for (size_t i = 0; i < rebuild->nleft; i++)
		add_life(&rebuild->left[i]);
	return rebuild_read_rows(rebuild, number);
}

/* Reads a sample's own row. 0 or -errno. */
static int read_head(struct rebuild *rebuild, int64_t number, struct buf *reads)
{
	struct archive *archive = rebuild->archive;
	struct moment_sample row;
	int got = archive_get(archive, TABLE_SAMPLE, number, &row);

	if (got != 1)
		return got ? got : -EBADMSG;
	if (!rebuild->bare)
		buf_add(reads, row.reads.data, row.reads.len);
	archive_done(archive, TABLE_SAMPLE);
	rebuild_set_head(rebuild, &row);
	return archive->bad ? -EBADMSG : 0;
}

/* Reads a sample: see rebuild_read(). */
static int rebuild_sample(struct rebuild *rebuild, int64_t number)
{
	bool first = !rebuild->passed;
	struct buf reads = { 0 };
	int err;

	rebuild_free_numbers(rebuild);
	if (first)
		rebuild_put_aside(rebuild);
	if (first && rebuild->nversions > VERSIONS_MAX)
		rebuild_forget_versions(rebuild);
	begin_sample(rebuild);
	err = read_head(rebuild, number, &reads);
	if (!err && !rebuild->bare)
		err = read_elements(rebuild, number, &reads);
	buf_free(&reads);
	if (!err)
		err = rebuild_read_frame(rebuild, number);
	if (!err && !rebuild->bare)
		err = rebuild_read_evidence(rebuild, number);
	if (!err && !rebuild->bare)
		err = rebuild_read_trace(rebuild, number);
	rebuild_add_accounts(&rebuild->moment.head.account, &rebuild->account, first);
	rebuild->passed++;
	return err;
}

int rebuild_read(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	bool begun = archive_begin(archive);
	int err;

	rebuild->archive = archive;
	archive->bad = false;
	err = rebuild_sample(rebuild, number);
	rebuild->archive = NULL;
	if (begun)
		archive_end(archive);
	return err;
}

void rebuild_begin_file(struct rebuild *rebuild)
{
	rebuild_forget_versions(rebuild);
	rebuild_forget_all_sites(rebuild);
}

/* Gives out what was read of a living element besides its counters. */
static void give_extra(const struct rebuild *rebuild, size_t i, struct sample *cur, size_t at)
{
	struct task_extra *from = sample_extra(&rebuild->explained, i), *to;

	if (!from && !rebuild->elements[i].io.passed_ns)
		return;
	to = sample_add_extra(cur, at);
	if (from)
		*to = *from;
	if (from)
		*from = (struct task_extra){ .place = from->place };
	to->place = (uint32_t)at;
	to->io = rebuild->elements[i].io;
}

/* Copies an element into a sample, at an index. */
static void give_element(const struct element *element, struct sample *cur, size_t at, bool several)
{
	struct task_raw *raw = cur->raw[at];

	*raw = element->raw;
	task_ref(raw->task);
	raw->exited |= element->exited;
	if (several) {
		raw->now.waits.dwait_ns += element->dwait_ns;
		if (raw->read_ns < cur->begin_ns && !raw->exited)
			raw->read_ns = cur->begin_ns;
	}
	if (cur->records && element->record)
		cur->records[at] = *element->record;
	if (cur->procs && element->proc)
		cur->procs[at] = *element->proc;
}

/*
 * Corrects an element in the sample before by what is known only now: when it was read, and how
 * long it had lived, which the time alone says if nothing else happened.
 */
static void correct(const struct element *element, struct sample *prev)
{
	const struct task_raw *now = &element->raw;
	struct task_raw *raw = sample_find(prev, now->tgid, now->pid);

	if (!raw)
		return;
	if (element->corrected)
		raw->read_ns = element->before_ns;
	if (element->drifted && raw->task == now->task && raw->counters.life_ns)
		raw->counters.life_ns = now->counters.life_ns - life_growth(raw, now->read_ns) -
					(uint64_t)element->drift_ns;
}

/* Corrects the elements of which something is known now. */
static void correct_all(const struct element *elements, size_t n, struct sample *prev)
{
	for (size_t i = 0; i < n; i++)
		if (elements[i].corrected || elements[i].drifted)
			correct(&elements[i], prev);
}

/* Copies from the sample before what only frames know, and corrects that sample. */
static void match_before(const struct rebuild *rebuild, struct sample *prev, struct sample *cur)
{
	size_t at = 0;

	for (size_t i = 0; prev && i < cur->n; i++) {
		uint64_t order = raw_order(cur->raw[i]);

		while (at < prev->n && raw_order(prev->raw[at]) < order)
			at++;
		if (at < prev->n && raw_order(prev->raw[at]) == order &&
		    prev->raw[at]->task == cur->raw[i]->task)
			cur->raw[i]->ran_ns = prev->raw[at]->ran_ns;
	}
	if (!prev || rebuild->passed != 1)
		return;
	correct_all(rebuild->elements, rebuild->n, prev);
	correct_all(rebuild->left, rebuild->nleft, prev);
}

/*
 * Moves the pressure to where it belongs: the recorded one is that which was shown, so if a group
 * was looked at, it is the group's.
 */
static void give_pressure(const struct rebuild *rebuild, struct playback_moment *moment)
{
	struct system_sample *system = &moment->system;

	if (!moment->head.cgroup)
		return;
	system->of_group = system->pressure;
	system->pressure = rebuild->machine;
}

void rebuild_give(struct rebuild *rebuild, struct sample *prev, struct sample *cur,
		  const pid_t *pids, size_t npids, struct playback_moment *moment)
{
	bool several = rebuild->passed > 1;
	size_t left = 0;

	sample_reset(cur);
	cur->begin_ns = rebuild->begin_ns;
	cur->end_ns = rebuild->end_ns;
	cur->real_ns = rebuild->real_ns;
	for (size_t i = 0; i < rebuild->n; i++)
		if (rebuild_is_wanted(pids, npids, rebuild->elements[i].raw.tgid))
			sample_add(cur, 0, 0);
	for (size_t i = 0; i < rebuild->nleft; i++)
		left += rebuild_is_wanted(pids, npids, rebuild->left[i].raw.tgid);
	sample_leave(cur, left);
	sample_extend(cur, rebuild->have);
	cur->have = rebuild->have;
	if (rebuild->marked && !several) {
		sample_mark(cur, 0);
		cur->stable[1] =
			npids || !prev || rebuild->steady > cur->n || rebuild->steady > prev->n
				? 0
				: rebuild->steady;
	}
	for (size_t i = 0, at = 0; i < rebuild->n; i++) {
		const struct element *element = &rebuild->elements[i];

		if (!rebuild_is_wanted(pids, npids, element->raw.tgid))
			continue;
		if (cur->marks)
			cur->marks[at] = element->fresh ? 0 : (uint8_t)MARK_UNCHANGED;
		give_extra(rebuild, i, cur, at);
		give_element(element, cur, at++, several);
	}
	for (size_t i = 0, at = cur->n; i < rebuild->nleft; i++)
		if (rebuild_is_wanted(pids, npids, rebuild->left[i].raw.tgid))
			give_element(&rebuild->left[i], cur, at++, false);
	match_before(rebuild, prev, cur);
	/*
	 * A frame compares elements with the same index in both samples; a damaged file may claim
	 * too many.
	 */
	for (size_t i = 0; i < cur->stable[1]; i++)
		if (cur->raw[i]->task != prev->raw[i]->task)
			cur->stable[1] = i;
	*moment = rebuild->moment;
	give_pressure(rebuild, moment);
	/* The account is about the whole machine. */
	if (npids)
		moment->head.account = (struct account){ 0 };
	moment->bare = rebuild->bare;
	moment->clocks = &rebuild->clocks;
	rebuild_give_trace(rebuild, pids, npids, moment);
	rebuild->passed = 0;
}

void rebuild_group(const struct rebuild *rebuild, const char *path,
		   const struct cgroup_sample **now, const struct cgroup_sample **before)
{
	const struct group_reading *group = rebuild_reading(rebuild, path);

	*now = group && group->now_valid ? &group->now : NULL;
	*before = *now && group->before_valid ? &group->before : NULL;
}

void rebuild_free(struct rebuild *rebuild)
{
	rebuild_apply_fixes(rebuild);
	free(rebuild->fixes);
	rebuild_forget_versions(rebuild);
	rebuild_put_aside(rebuild);
	rebuild_drop_older(rebuild);
	for (size_t i = 0; i < rebuild->n; i++)
		rebuild_drop(&rebuild->elements[i]);
	free(rebuild->elements);
	sample_free(&rebuild->explained);
	free(rebuild->left);
	free(rebuild->older);
	rebuild_free_groups(rebuild);
	rebuild_free_trace(rebuild);
	free(rebuild->kept_texts);
	free(rebuild->by_number);
	texts_free(&rebuild->texts);
	clocks_free(&rebuild->clocks);
	*rebuild = (struct rebuild){ 0 };
}
