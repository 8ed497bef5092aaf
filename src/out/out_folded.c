/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as flame graphs are made of: a line for each user stack of a site, from the
 * process and its outermost function to the innermost, and what was waited for; at its end the time
 * waited in the interval in ns. Tools add up lines that come again.
 */
#include <string.h>

#include "base/util.h"
#include "out/out.h"
#include "out/out_sites.h"

/* Appends a frame's name: what separates frames and lines is none of it. */
static void append_frame(struct buf *out, const char *name)
{
	size_t at = out->len;

	text_escape(out, name, strlen(name), TEXT_UTF8);
	for (; at < out->len; at++)
		if (out->data[at] == ';')
			out->data[at] = ',';
}

/* Appends what a site's waits are for, as the innermost frame, and their time. */
static void append_leaf(struct buf *out, const struct site *site, uint64_t ns)
{
	buf_printf(out, ";[%s]", out_site_state(site));
	if (site->on) {
		buf_putc(out, ' ');
		append_frame(out, site->on);
	}
	buf_putc(out, ' ');
	buf_uint(out, ns);
	buf_putc(out, '\n');
}

/* Appends the stacks of a site; the time that none has: shorter waits, and stacks without room. */
static void append_site(struct buf *out, const struct trace_frame *trace, const struct site *site)
{
	uint64_t rest = site->ns;

	for (size_t i = 0; i < site->nuser_stacks; i++) {
		const struct site_user_stack *part = &site->user_stacks[i];
		const struct site_stack *stack = &trace->stacks[part->stack];

		append_frame(out, site->comm ? site->comm : "?");
		for (size_t k = stack->n; k; k--) {
			buf_putc(out, ';');
			append_frame(out, stack->functions[k - 1]);
		}
		append_leaf(out, site, part->ns);
		rest -= part->ns < rest ? part->ns : rest;
	}
	if (!rest)
		return;
	append_frame(out, site->comm ? site->comm : "?");
	buf_puts(out, ";[no stack]");
	append_leaf(out, site, rest);
}

/* Whether the time of a site is in no other, and its stacks were asked for. */
static bool has_place(const struct site *site)
{
	return site->stacked && !site->overlaps && !site->unattributed;
}

/* Stacks come with the trace. */
static unsigned folded_needs(UNUSED const struct out_config *config)
{
	return 0;
}

static void folded_frame(struct out *out, const struct view *view)
{
	const struct trace_frame *trace = view->frame->info->trace;
	struct site_owners owners = { 0 };

	if (!trace)
		return;
	out_sites_owners(&owners, &out->order);
	for (size_t i = 0; i < trace->n; i++)
		if (has_place(trace->sites[i]) && site_owners_have(&owners, trace->sites[i]))
			append_site(&out->buf, trace, trace->sites[i]);
	site_owners_free(&owners);
}

const struct out_ops out_folded = {
	.name = "folded",
	.needs = folded_needs,
	.frame = folded_frame,
};
