/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/encode_parts.h"

/*
 * At least one of this many moments is whole: a reader that starts anywhere reads on from the last
 * whole one.
 */
#define WHOLE_MOMENTS 900

/* Tasks that have gone are looked for, and forgotten, each time after this many moments. */
#define SWEEP_MOMENTS 16

/* The texts of a file that are remembered, at most. */
#define TEXTS_BYTES (2 << 20)

/* Parts with more memory than this give it back between moments. */
#define TRIM_BYTES (UINT64_C(512) << 10)

/* So many times what a moment took stays for the next. */
#define SPARE_ROOM 4

struct encoder *encoder_open(unsigned slot)
{
	struct encoder *encoder = xcalloc(1, sizeof(*encoder));

	encoder->slot = slot;
	encoder->segment = true;
	encoder->free = 1;
	return encoder;
}

void encoder_begin_segment(struct encoder *encoder)
{
	encoder->segment = true;
}

/* Encodes the machine's figures: pressure that changed, and the growth of the CPUs' times. */
static void encode_system(struct encoder *encoder, struct moment *moment, bool whole)
{
	const struct system_sample *now = &moment->sample.system, *was = &encoder->system;
	const struct psi_reading *shown = moment_pressure(moment);

	for (unsigned s = 0; s < CPU_STATES; s++)
		moment->sample.cpu_ns[s] =
			encoder->begun ? (int64_t)(now->cpu_ns[s] - was->cpu_ns[s]) : 0;
	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		const struct psi *a = &shown->psi[i / 2], *b = &encoder->pressure.psi[i / 2];
		const struct psi_line *x = i % 2 ? &a->full : &a->some;
		const struct psi_line *y = i % 2 ? &b->full : &b->some;

		if (whole || x->valid != y->valid || x->avg10 != y->avg10 || x->avg60 != y->avg60 ||
		    x->avg300 != y->avg300 || x->total_us != y->total_us)
			moment->psi_new |= 1u << i;
	}
	encoder->system = *now;
	encoder->pressure = *shown;
}

/* Encodes the clocks if they changed. */
static void encode_clocks(struct encoder *encoder, struct moment *moment,
			  const struct clocks *clocks, bool whole)
{
	moment->clock_real_ns = clocks->real_ns;
	if (!whole && clocks->n == encoder->nsleeps && clocks->real_ns == encoder->clock_real_ns)
		return;
	encoder->nsleeps = clocks->n;
	encoder->clock_real_ns = clocks->real_ns;
	moment->flags |= MOMENT_SLEEPS;
	buf_add(&encoder->parts[PART_SLEEPS], clocks->sleeps, clocks->n * sizeof(*clocks->sleeps));
}

/* Copies the machine's pressure of I/O, where a group's is shown: it limits what tasks waited. */
static void encode_machine_io(struct moment_sample *sample, const struct sample *cur)
{
	const struct psi_reading *machine = &sample->system.pressure;

	sample->machine_known = sample->cgroup && machine->psi[PSI_IO].some.valid;
	if (!sample->machine_known)
		return;
	sample->machine_us = machine->psi[PSI_IO].some.total_us;
	sample->machine_ns = (int64_t)(machine->read_ns - cur->begin_ns);
}

/* Copies what belongs to the frame as a whole. */
static void encode_info(struct encoder *encoder, struct moment *moment,
			const struct frame_info *info)
{
	struct moment_sample *sample = &moment->sample;
	const struct sample *cur = info->cur;

	*sample = (struct moment_sample){
		.real_ns = cur->real_ns,
		.interval_ns = info->interval_ns,
		.interval_known = info->prev,
		.begin_ns = cur->begin_ns,
		.took_ns = cur->end_ns - cur->begin_ns,
		.whole = moment->flags & MOMENT_WHOLE,
		.marked = cur->marks,
		.n = cur->n,
		.steady = info->prev ? sample_stable(cur, 1) : 0,
		.have = cur->have,
		.source = encode_text(encoder, info->head.source),
		.cgroup = encode_text(encoder, info->head.cgroup),
		.hierarchy = encode_text(encoder, info->head.hierarchy),
		.head = info->head,
		.system = *info->system,
	};
	sample->head.source = sample->head.cgroup = sample->head.hierarchy = NULL;
	sample->pressure_ns = (int64_t)(moment_pressure(moment)->read_ns - cur->begin_ns);
	encode_machine_io(sample, cur);
	moment->threads = info->threads;
}

/* Adds the figures of one group. */
static void encode_group(struct encoder *encoder, uint32_t path,
			 const struct group_figures *figures)
{
	const struct moment_group read = { .path = path,
					   .fresh = !figures->before,
					   .sample = *figures->now };

	buf_add(&encoder->parts[PART_GROUPS], &read, sizeof(read));
}

/* Whether the moment has a group already. */
static bool has_group(const struct encoder *encoder, uint32_t path)
{
	const struct buf *part = &encoder->parts[PART_GROUPS];
	const struct moment_group *there = (const void *)part->data;

	for (size_t n = part->len / sizeof(*there); n--;)
		if (there[n].path == path)
			return true;
	return false;
}

/* Adds the figures of the groups, and of all groups above them. */
static void add_groups(struct encoder *encoder, const struct frame *folded)
{
	const struct group_above *last = NULL;

	for (size_t i = 0; i < folded->n; i++) {
		const struct group *group = folded->rows[i].group;

		if (group && group->name && group->figures->now)
			encode_group(encoder, encode_text(encoder, group->name), group->figures);
	}
	for (size_t i = 0; i < folded->n; i++) {
		const struct group *group = folded->rows[i].group;
		const struct group_above *above = group ? group->figures->above : NULL;

		/* Groups with the same parent follow each other. */
		if (above == last)
			continue;
		last = above;
		for (; above && above->figures.now; above = above->figures.above) {
			uint32_t path = encode_text(encoder, above->path);

			if (!has_group(encoder, path))
				encode_group(encoder, path, &above->figures);
		}
	}
}

/* Begins the moment: leaves room for the head, behind which the changes are put. */
static void begin_moment(struct encoder *encoder)
{
	encoder->moment.len = 0;
	buf_fill(&encoder->moment, 0, sizeof(struct moment));
}

/* Makes the moment: the head, the changes, and the other parts behind them. */
static void put_together(struct encoder *encoder, struct moment *head)
{
	static const char padding[8];
	struct buf *out = &encoder->moment;

	head->at[PART_CHANGES] = sizeof(*head);
	head->bytes[PART_CHANGES] = out->len - sizeof(*head);
	for (unsigned part = 0; part < MOMENT_PARTS; part++) {
		if (part == PART_CHANGES)
			continue;
		head->at[part] = out->len;
		head->bytes[part] = encoder->parts[part].len;
		buf_add(out, encoder->parts[part].data, encoder->parts[part].len);
		buf_add(out, padding, -out->len % sizeof(padding));
	}
	head->size = out->len;
	memcpy(out->data, head, sizeof(*head));
}

/* Empties the parts of numbered things: those before PART_GONE. */
static void forget_numbered(struct encoder *encoder)
{
	for (unsigned part = 0; part < PART_GONE; part++)
		encoder->parts[part].len = 0;
}

/* Forgets all numbers: a new file begins. */
static void begin_segment(struct encoder *encoder)
{
	texts_free(&encoder->texts);
	encode_sweep(encoder, true);
	encode_sweep_trace(encoder, true);
	encoder->ntasks = 0;
	forget_numbered(encoder);
}

/*
 * Forgets texts where they have become many: a file may grow for as long as a machine starts
 * programs. Those that are still used are written once more.
 */
static void drop_texts(struct encoder *encoder)
{
	if (encoder->texts.bytes < TEXTS_BYTES)
		return;
	for (size_t i = 1; i < encoder->nknown; i++)
		memset(encoder->known[i].texts, 0, sizeof(encoder->known[i].texts));
	encode_drop_site_texts(encoder);
	texts_drop(&encoder->texts);
}

const struct moment *encoder_encode(struct encoder *encoder, const struct frame *frame,
				    const struct frame *folded)
{
	const struct frame_info *info = frame->info;
	bool whole = encoder->segment || encoder->dropped || !encoder->begun || !info->prev ||
		     encoder->moments - encoder->whole_at >= WHOLE_MOMENTS;
	struct moment head = { .dropped = encoder->dropped };

	if (encoder->segment)
		begin_segment(encoder);
	drop_texts(encoder);
	head.flags = (whole ? MOMENT_WHOLE : 0) | (encoder->segment ? MOMENT_SEGMENT : 0);
	encoder->moments++;
	begin_moment(encoder);
	if (whole)
		encoder->whole_at = encoder->moments;
	encode_info(encoder, &head, info);
	encode_system(encoder, &head, whole);
	encode_clocks(encoder, &head, info->clocks, whole);
	encode_changes(encoder, frame, whole);
	encode_evidence(encoder, frame);
	encode_trace(encoder, &head, info->trace, whole);
	if (!whole)
		encode_gone(encoder, info->prev, info->cur);
	encode_reads(encoder, frame, whole);
	encode_keep_reads(encoder, info->cur);
	if (folded)
		add_groups(encoder, folded);
	put_together(encoder, &head);
	for (unsigned part = PART_GONE; part < MOMENT_PARTS; part++)
		encoder->parts[part].len = 0;
	if (encoder->moments % SWEEP_MOMENTS == 0) {
		encode_sweep(encoder, false);
		encode_sweep_trace(encoder, false);
	}
	encoder->begun = true;
	return (const struct moment *)(const void *)encoder->moment.data;
}

void encoder_keep(struct encoder *encoder)
{
	forget_numbered(encoder);
	encoder->segment = false;
	encoder->dropped = 0;
}

void encoder_trim(struct encoder *encoder)
{
	bool whole = encoder->whole_at == encoder->moments;

	/* Moments of a machine on which much happens need the room again. */
	if (!whole && encoder->moment.cap / SPARE_ROOM <= encoder->moment.len)
		return;
	for (unsigned part = 0; part < MOMENT_PARTS; part++)
		if (encoder->parts[part].cap > TRIM_BYTES && !encoder->parts[part].len)
			buf_free(&encoder->parts[part]);
	if (encoder->moment.cap > TRIM_BYTES)
		buf_free(&encoder->moment);
}

void encoder_drop(struct encoder *encoder)
{
	/* Numbers that were given stay: the next moment has these parts, too. */
	encoder->dropped++;
}

void encoder_close(struct encoder *encoder)
{
	if (!encoder)
		return;
	encode_sweep(encoder, true);
	encode_sweep_trace(encoder, true);
	texts_free(&encoder->texts);
	for (unsigned part = 0; part < MOMENT_PARTS; part++)
		buf_free(&encoder->parts[part]);
	buf_free(&encoder->moment);
	free(encoder->known);
	free(encoder->reads);
	free(encoder);
}
