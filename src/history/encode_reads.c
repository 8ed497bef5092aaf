/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/util.h"
#include "history/encode_parts.h"
#include "history/varint.h"

/* Adds a run of elements with the same time of reading; kept: that of the sample before. */
static void add_run(struct buf *out, size_t run, bool kept, uint64_t *last_ns, uint64_t read_ns)
{
	if (!run)
		return;
	varint_append(out, (uint64_t)run << 1 | kept);
	if (kept)
		return;
	varint_append(out, varint_fold((int64_t)(read_ns - *last_ns)));
	*last_ns = read_ns;
}

/*
 * Adds the times of reading: runs of the living elements (twice the number of elements, plus 1
 * where they keep their times, else followed by the growth since the run before, at first since the
 * sample's begin); a 0; then times that elements of the sample before got only now: how many
 * elements to pass over, and the time since that sample's begin. A moment that stands for itself
 * has those, too, for who reads the one before it, unless that was dropped.
 */
void encode_reads(struct encoder *encoder, const struct frame *frame, bool whole)
{
	const struct frame_info *info = frame->info;
	const struct sample *cur = info->cur, *prev = info->prev;
	struct buf *out = &encoder->parts[PART_READS];
	uint64_t last_ns = cur->begin_ns;
	size_t run = 0, passed = 0;
	bool kept = false;

	for (size_t i = 0; i < cur->n; i++) {
		const struct task_raw *raw = &cur->raw[i], *before = frame->rows[i].before;
		bool keeps = !whole && before && !raw->was && raw->read_ns == before->read_ns;

		if (run && (keeps != kept || (!kept && raw->read_ns != raw[-1].read_ns))) {
			add_run(out, run, kept, &last_ns, raw[-1].read_ns);
			run = 0;
		}
		kept = keeps;
		run++;
	}
	add_run(out, run, kept, &last_ns, cur->n ? cur->raw[cur->n - 1].read_ns : 0);
	varint_append(out, 0);
	for (size_t i = 0; prev && !encoder->dropped && i < cur->n; i++, passed++) {
		const struct task_raw *before = frame->rows[i].before;
		size_t was = before && before < prev->raw + prev->n ? (size_t)(before - prev->raw)
								    : SIZE_MAX;

		if (was >= encoder->nreads || before->read_ns == encoder->reads[was])
			continue;
		varint_append(out, passed);
		varint_append(out, varint_fold((int64_t)(before->read_ns - prev->begin_ns)));
		passed = 0;
	}
}

/* Keeps the times of reading for the next moment. */
void encode_keep_reads(struct encoder *encoder, const struct sample *cur)
{
	if (encoder->reads_cap < cur->n) {
		encoder->reads_cap = cur->n + cur->n / 2;
		encoder->reads =
			xreallocarray(encoder->reads, encoder->reads_cap, sizeof(*encoder->reads));
	}
	for (size_t i = 0; i < cur->n; i++)
		encoder->reads[i] = cur->raw[i].read_ns;
	encoder->nreads = cur->n;
}
