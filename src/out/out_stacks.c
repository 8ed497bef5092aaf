/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks for flame graph tools, with the time waited in each. Folded: one line per stack, from
 * the process and its outermost function to the innermost, then the target of the wait. As a
 * profile of pprof (github.com/google/pprof, proto/profile.proto): each sample appends a message
 * that continues the numbering of strings and locations, so a file with all of them is one profile.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/out.h"
#include "out/out_sites.h"

/* The waits of a site with one stack. */
struct timed {
	const struct site *site;
	const struct site_stack
		*stack; /* NULL: shorter waits, those for a CPU, stacks without room */
	uint64_t ns, count;
};

/* Appends a name without the separators of frames and lines. */
static void append_frame(struct buf *out, const char *name)
{
	size_t at = out->len;

	text_escape(out, name, strlen(name), TEXT_UTF8);
	for (; at < out->len; at++)
		if (out->data[at] == ';')
			out->data[at] = ',';
}

/* Appends the target of a site's waits, as an innermost function. */
static void append_leaf(struct buf *out, const struct site *site)
{
	buf_printf(out, "[%s]", out_site_state(site));
	if (!site->on)
		return;
	buf_putc(out, ' ');
	append_frame(out, site->on);
}

typedef void put_stack_fn(struct out *out, const struct timed *timed);

/* Passes on the stacks of a site, and the time without a stack. */
static void each_stack_of(struct out *out, const struct trace_frame *trace, const struct site *site,
			  put_stack_fn *put)
{
	struct timed rest = { .site = site, .ns = site->ns, .count = site->count };

	for (size_t i = 0; i < site->nuser_stacks; i++) {
		const struct site_user_stack *part = &site->user_stacks[i];
		struct timed timed = { site, &trace->stacks[part->stack], part->ns, part->count };

		put(out, &timed);
		rest.ns -= part->ns < rest.ns ? part->ns : rest.ns;
		rest.count -= part->count < rest.count ? part->count : rest.count;
	}
	if (rest.ns)
		put(out, &rest);
}

/* Passes on the stacks of the tasks that passed the filters, if stacks were requested. */
static void each_stack(struct out *out, const struct view *view, put_stack_fn *put)
{
	const struct trace_frame *trace = view->frame->info->trace;
	struct site_owners owners = { 0 };

	out->stacked |= trace && trace->stacked;
	out_sites_owners(&owners, &out->order);
	for (size_t i = 0; trace && i < trace->n; i++) {
		const struct site *site = trace->sites[i];

		/* The time of others is included in these. */
		if (site->stacked && !site->overlaps && !site->unattributed &&
		    site_owners_have(&owners, site))
			each_stack_of(out, trace, site, put);
	}
	site_owners_free(&owners);
}

/* Stacks are part of the trace. */
static unsigned stack_needs(UNUSED const struct out_config *config)
{
	return 0;
}

/* ---- Folded --------------------------------------------------------------------------------- */

static void put_folded(struct out *out, const struct timed *timed)
{
	struct buf *buf = &out->buf;

	append_frame(buf, timed->site->comm ? timed->site->comm : "?");
	for (size_t k = timed->stack ? timed->stack->n : 0; k; k--) {
		buf_putc(buf, ';');
		append_frame(buf, timed->stack->functions[k - 1]);
	}
	if (!timed->stack)
		buf_puts(buf, ";[no stack]");
	buf_putc(buf, ';');
	append_leaf(buf, timed->site);
	buf_putc(buf, ' ');
	buf_uint(buf, timed->ns);
	buf_putc(buf, '\n');
}

static void folded_frame(struct out *out, const struct view *view)
{
	each_stack(out, view, put_folded);
}

const struct out_ops out_folded = {
	.name = "folded",
	.needs = stack_needs,
	.stacks = true,
	.frame = folded_frame,
};

/* ---- A profile ------------------------------------------------------------------------------ */

/* The numbers of members, in Profile, ValueType, Sample, Label, Location, Line, Function. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
};

/* A text with a number in the profile. */
struct numbered {
	char *text;
	uint64_t number;
};

struct profile {
	void *strings, *places; /* struct numbered, of tsearch() */
	uint64_t nstrings, nplaces;
	uint64_t duration_ns;
	struct buf message, part, name; /* scratch buffer */
};

static int compare_numbered(const void *a, const void *b)
{
	return strcmp(((const struct numbered *)a)->text, ((const struct numbered *)b)->text);
}

/* Finds the number of a text, or assigns one: then it is new. */
static uint64_t profile_number(void **tree, const char *text, uint64_t next, bool *new)
{
	struct numbered key = { .text = (char *)(uintptr_t)text }, *made;
	void *const *found = tfind(&key, tree, compare_numbered);

	*new = !found;
	if (found)
		return (*(struct numbered *const *)found)->number;
	made = xcalloc(1, sizeof(*made));
	*made = (struct numbered){ xstrdup(text), next };
	if (!tsearch(made, tree, compare_numbered))
		die("out of memory");
	return next;
}

static void free_numbered(void *of)
{
	struct numbered *numbered = of;

	free(numbered->text);
	free(numbered);
}

/* Appends a number with seven bits per byte, the lowest first. */
static void put_varint(struct buf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

static void put_varint_member(struct buf *out, unsigned member, uint64_t value)
{
	put_varint(out, member << 3);
	put_varint(out, value);
}

static void put_bytes(struct buf *out, unsigned member, const void *bytes, size_t n)
{
	put_varint(out, member << 3 | 2);
	put_varint(out, n);
	buf_add(out, bytes, n);
}

/* Moves a message that was built in another buffer. */
static void put_message(struct buf *out, unsigned member, struct buf *message)
{
	put_bytes(out, member, message->data, message->len);
	message->len = 0;
}

/* The number of a string, which is written to the profile once. */
static uint64_t string_number(struct out *out, const char *text)
{
	struct profile *profile = out->state;
	bool new;
	uint64_t number = profile_number(&profile->strings, text, profile->nstrings, &new);

	if (new) {
		put_bytes(&out->buf, PROFILE_STRING, text, strlen(text));
		profile->nstrings++;
	}
	return number;
}

/* The number of a location: "function (file:line)", which is written to the profile once. */
static uint64_t location_number(struct out *out, const char *text)
{
	struct profile *profile = out->state;
	const char *file = text[strlen(text) - 1] == ')' ? strrchr(text, '(') : NULL;
	const char *line = file ? strrchr(file, ':') : NULL;
	bool new;
	uint64_t number = profile_number(&profile->places, text, profile->nplaces + 1, &new);
	struct buf *name = &profile->name;

	if (!new)
		return number;
	profile->nplaces++;
	put_varint_member(&profile->part, FUNCTION_ID, number);
	name->len = 0;
	buf_add(name, text, file && file > text + 1 ? (size_t)(file - 1 - text) : strlen(text));
	put_varint_member(&profile->part, FUNCTION_NAME, string_number(out, buf_cstr(name)));
	if (file && file > text + 1) {
		name->len = 0;
		buf_add(name, file + 1, strcspn(file + 1, line ? ":" : ")"));
		put_varint_member(&profile->part, FUNCTION_FILE,
				  string_number(out, buf_cstr(name)));
	}
	put_message(&out->buf, PROFILE_FUNCTION, &profile->part);
	put_varint_member(&profile->part, LINE_FUNCTION, number);
	if (line)
		put_varint_member(&profile->part, LINE_NUMBER, strtoull(line + 1, NULL, 10));
	put_varint_member(&profile->message, LOCATION_ID, number);
	put_message(&profile->message, LOCATION_LINE, &profile->part);
	put_message(&out->buf, PROFILE_LOCATION, &profile->message);
	return number;
}

/* Puts the value types, and the empty string, which comes first. */
static void begin_profile(struct out *out, const struct frame_info *info)
{
	static const char *const types[][2] = { { "waits", "count" }, { "time", "nanoseconds" } };
	struct profile *profile = out->state;

	tdestroy(profile->strings, free_numbered);
	tdestroy(profile->places, free_numbered);
	profile->strings = profile->places = NULL;
	profile->nstrings = profile->nplaces = profile->duration_ns = 0;
	string_number(out, "");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		put_varint_member(&profile->part, VALUE_TYPE, string_number(out, types[i][0]));
		put_varint_member(&profile->part, VALUE_UNIT, string_number(out, types[i][1]));
		put_message(&out->buf, PROFILE_SAMPLE_TYPE, &profile->part);
	}
	put_varint_member(&out->buf, PROFILE_DEFAULT_TYPE, string_number(out, types[1][0]));
	put_varint_member(&out->buf, PROFILE_TIME, info->real_ns - info->interval_ns);
}

static void put_sample_of(struct out *out, const struct timed *timed)
{
	struct profile *profile = out->state;
	const char *process = timed->site->comm ? timed->site->comm : "?";
	struct buf *name = &profile->name, sample = { 0 };
	uint64_t number, key;

	name->len = 0;
	append_leaf(name, timed->site);
	number = location_number(out, buf_cstr(name));
	put_varint_member(&sample, SAMPLE_LOCATION, number);
	for (size_t i = 0; timed->stack && i < timed->stack->n; i++) {
		number = location_number(out, timed->stack->functions[i]);
		put_varint_member(&sample, SAMPLE_LOCATION, number);
	}
	if (!timed->stack)
		put_varint_member(&sample, SAMPLE_LOCATION, location_number(out, "[no stack]"));
	put_varint_member(&sample, SAMPLE_VALUE, timed->count);
	put_varint_member(&sample, SAMPLE_VALUE, timed->ns);
	name->len = 0;
	append_frame(name, process);
	number = string_number(out, buf_cstr(name));
	key = string_number(out, "process");
	put_varint_member(&profile->part, LABEL_KEY, key);
	put_varint_member(&profile->part, LABEL_TEXT, number);
	put_message(&sample, SAMPLE_LABEL, &profile->part);
	put_message(&out->buf, PROFILE_SAMPLE, &sample);
	buf_free(&sample);
}

static void pprof_frame(struct out *out, const struct view *view)
{
	const struct frame_info *info = view->frame->info;
	struct profile *profile = out->state;

	if (!profile)
		profile = out->state = xcalloc(1, sizeof(*profile));
	if (!out->frames)
		begin_profile(out, info);
	each_stack(out, view, put_sample_of);
	profile->duration_ns += info->interval_ns;
	put_varint_member(&out->buf, PROFILE_DURATION, profile->duration_ns);
}

static void pprof_close(struct out *out)
{
	struct profile *profile = out->state;

	if (!profile)
		return;
	tdestroy(profile->strings, free_numbered);
	tdestroy(profile->places, free_numbered);
	buf_free(&profile->message);
	buf_free(&profile->part);
	buf_free(&profile->name);
	free(profile);
}

const struct out_ops out_pprof = {
	.name = "pprof",
	.needs = stack_needs,
	.stacks = true,
	.frame = pprof_frame,
	.close = pprof_close,
};
