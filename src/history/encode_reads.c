/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/util.h"
#include "history/encode_parts.h"
#include "history/varint.h"

/* Consecutive elements that keep their times, or that have the same time. */
struct run {
	size_t n;
	bool kept; /* they keep the times of the sample before */
	uint64_t read_ns;
};

/* Finds the run that begins at an element. */
static struct run find_run(const struct frame *frame, size_t i, bool whole)
{
	const struct sample *cur = frame->info->cur;
	struct run run = { .read_ns = cur->raw[i]->read_ns };

	for (; i < cur->n; i++, run.n++) {
		const struct task_raw *raw = cur->raw[i], *before = frame->rows[i].before;
		bool kept = !whole && before && !raw->was && raw->read_ns == before->read_ns;

		if (run.n && (kept != run.kept || (!kept && raw->read_ns != run.read_ns)))
			break;
		run.kept = kept;
	}
	return run;
}

/* Adds the times at which all elements were read. */
static void add_runs(struct buf *out, const struct frame *frame, bool whole)
{
	const struct sample *cur = frame->info->cur;
	uint64_t last_ns = cur->begin_ns;
	struct run run = { 0 }, next;

	if (cur->n)
		run = find_run(frame, 0, whole);
	if (cur->n && !run.kept)
		varint_append(out, 0);
	for (size_t i = 0; i < cur->n; run = next) {
		i += run.n;
		next = i < cur->n ? find_run(frame, i, whole) : (struct run){ .kept = true };
		if (run.kept) {
			varint_append(out, run.n);
			continue;
		}
		varint_append(out, varint_fold((int64_t)(run.read_ns - last_ns)) << 2 |
					   (next.kept ? 0 : READ_NEXT) |
					   (run.n > 1 ? READ_SEVERAL : 0));
		if (run.n > 1)
			varint_append(out, run.n);
		last_ns = run.read_ns;
	}
}

/*
 * Adds the times of reading. First comes how many of the living elements keep their times. Then
 * comes, for elements that do not, by how much their time is later than that of the elements before
 * (at first: than the sample's begin), with READ_ bits; and so on. Behind the last element come
 * times that elements of the sample before got only now: how many elements to pass over, and the
 * time since that sample's begin. A whole moment has these, too, for readers of the moment before
 * it, unless that was dropped.
 */
void encode_reads(struct encoder *encoder, const struct frame *frame, bool whole)
{
	const struct frame_info *info = frame->info;
	const struct sample *cur = info->cur, *prev = info->prev;
	struct buf *out = &encoder->parts[PART_READS];
	size_t passed = 0;

	add_runs(out, frame, whole);
	for (size_t i = 0; prev && !encoder->dropped && i < cur->n; i++, passed++) {
		const struct task_raw *before = frame->rows[i].before;
		size_t was;

		/* What two samples have was not dated anew in between. */
		if (!before || before == cur->raw[i])
			continue;
		was = i < sample_stable(cur, 1) ? i : sample_index(prev, before);
		if (was >= encoder->nreads || before->read_ns == encoder->reads[was])
			continue;
		varint_append(out, passed);
		varint_append(out, varint_fold((int64_t)(before->read_ns - prev->begin_ns)));
		passed = 0;
	}
}

/* Remembers the times of reading for the next moment. */
void encode_keep_reads(struct encoder *encoder, const struct sample *cur)
{
	RESERVE(encoder->reads, cur->n, encoder->reads_cap);
	for (size_t i = 0; i < cur->n; i++)
		encoder->reads[i] = cur->raw[i]->read_ns;
	encoder->nreads = cur->n;
}
