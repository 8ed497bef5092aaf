/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "out/diff_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "out/json.h"
#include "out/out.h"

/* A change below this is none in text, where it would be shown as 0.0. */
#define PERCENT_LEAST 0.05

/* The command of that name, made if need be. */
static struct diff_command *find_command(struct diff *diff, const char *name)
{
	size_t at;

	LOWER_BOUND(at, diff->n, text_compare(diff->commands[at].name, name) < 0);
	if (at < diff->n && !text_compare(diff->commands[at].name, name))
		return &diff->commands[at];
	GROW(diff->commands, diff->n, diff->cap);
	memmove(&diff->commands[at + 1], &diff->commands[at],
		(diff->n++ - at) * sizeof(*diff->commands));
	diff->commands[at] = (struct diff_command){ .name = name ? xstrdup(name) : NULL };
	return &diff->commands[at];
}

void diff_add(struct diff *diff, enum diff_side side, const struct frame *folded)
{
	diff->samples[side]++;
	diff->interval_ns[side] += folded->info->interval_ns;
	for (size_t i = 0; i < folded->n; i++) {
		const struct row *row = &folded->rows[i];
		const struct waited *waited = &row->deltas->waited;
		struct diff_command *command = NULL;

		for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
			if (!waited->ns[kind])
				continue;
			if (!command)
				command = find_command(diff, row->group->name);
			command->ns[side][kind] += waited->ns[kind];
		}
	}
}

/* Nanoseconds in percent of a side's interval. */
static double percent_of(const struct diff *diff, enum diff_side side, uint64_t ns)
{
	uint64_t interval_ns = diff->interval_ns[side];

	return interval_ns ? 100.0 * (double)ns / (double)interval_ns : 0;
}

/* The growth of a command's waits. */
static double growth_of(const struct diff_change *change)
{
	return change->percent[DIFF_AFTER] - change->percent[DIFF_BEFORE];
}

/* Orders changes: what grew most first; else by name and kind. */
static int compare_changes(const void *a, const void *b)
{
	const struct diff_change *x = a, *y = b;
	double gx = growth_of(x), gy = growth_of(y);
	int names;

	if (gx != gy)
		return gx < gy ? 1 : -1;
	names = text_compare(x->command->name, y->command->name);
	return names ? names : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Lists what was waited on either side, in order. Returns how many. */
static size_t list_changes(const struct diff *diff, struct diff_change **out)
{
	struct diff_change *changes = xcalloc(diff->n * WAIT_KINDS + 1, sizeof(*changes));
	size_t n = 0;

	for (size_t i = 0; i < diff->n; i++)
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
			const struct diff_command *command = &diff->commands[i];
			struct diff_change change = { .command = command, .kind = kind };

			if (!command->ns[DIFF_BEFORE][kind] && !command->ns[DIFF_AFTER][kind])
				continue;
			for (unsigned side = 0; side < DIFF_SIDES; side++)
				change.percent[side] =
					percent_of(diff, side, command->ns[side][kind]);
			changes[n++] = change;
		}
	if (n)
		qsort(changes, n, sizeof(*changes), compare_changes);
	*out = changes;
	return n;
}

/* Appends a command's name, escaped. */
static void append_name(struct buf *out, const char *name, enum text_charset charset)
{
	if (name)
		text_escape(out, name, strlen(name), charset);
	else
		buf_putc(out, '-');
}

void diff_text(struct buf *out, const struct diff_listing *listing)
{
	const struct diff *diff = listing->diff;
	static const char *const heads[DIFF_SIDES] = { "before", "after" };
	size_t shown = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		buf_printf(out, "%s: ", heads[side]);
		text_escape(out, diff->what[side], strlen(diff->what[side]), listing->charset);
		buf_printf(out, ", %.1f s in %llu samples\n", (double)diff->interval_ns[side] / 1e9,
			   (unsigned long long)diff->samples[side]);
	}
	buf_puts(out, "\n  CHANGE  BEFORE   AFTER KIND    COMMAND\n"
		      "     (%)     (%)     (%) (str)   (str)\n");
	for (size_t i = 0; i < listing->n && (!listing->rows || shown < listing->rows); i++) {
		const struct diff_change *change = &listing->changes[i];

		if (fabs(growth_of(change)) < PERCENT_LEAST)
			continue;
		buf_printf(out, "%+8.1f %7.1f %7.1f %-7s ", growth_of(change),
			   change->percent[DIFF_BEFORE], change->percent[DIFF_AFTER],
			   wait_kind_id(change->kind));
		append_name(out, change->command->name, listing->charset);
		buf_putc(out, '\n');
		shown++;
	}
	if (!shown)
		buf_puts(out, "       -       -       - -       nothing waits more or less\n");
}

/* Appends a quoted text of CSV. */
static void append_quoted(struct buf *out, const char *name)
{
	struct buf text = { 0 };

	if (name)
		text_escape(&text, name, strlen(name), TEXT_UTF8);
	buf_putc(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"')
			buf_putc(out, '"');
		buf_putc(out, text.data[i]);
	}
	buf_putc(out, '"');
	buf_free(&text);
}

void diff_csv(struct buf *out, const struct diff_listing *listing)
{
	const struct diff *diff = listing->diff;

	buf_puts(out, "command,kind,before_ns,before_interval,after_ns,after_interval\r\n");
	for (size_t i = 0; i < listing->n; i++) {
		const struct diff_change *change = &listing->changes[i];

		append_quoted(out, change->command->name);
		buf_printf(out, ",%s", wait_kind_id(change->kind));
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			buf_putc(out, ',');
			buf_uint(out, change->command->ns[side][change->kind]);
			buf_putc(out, ',');
			buf_fixed(out, diff->interval_ns[side], 9);
		}
		buf_puts(out, "\r\n");
	}
}

void diff_json(struct buf *out, const struct diff_listing *listing)
{
	static const char *const names[DIFF_SIDES] = { "before", "after" };
	static const char *const values[DIFF_SIDES] = { "before_ns", "after_ns" };
	const struct diff *diff = listing->diff;
	struct json json = { .out = out };

	json_open_object(&json, NULL);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		json_open_object(&json, names[side]);
		json_put_text(&json, "recording", diff->what[side]);
		json_put_fixed(&json, "interval", diff->interval_ns[side], 9);
		json_put_uint(&json, "samples", diff->samples[side]);
		json_close(&json);
	}
	json_open_array(&json, "changes");
	for (size_t i = 0; i < listing->n; i++) {
		const struct diff_change *change = &listing->changes[i];

		json_open_object(&json, NULL);
		json_put_text(&json, "command", change->command->name);
		json_put_text(&json, "kind", wait_kind_id(change->kind));
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			json_put_uint(&json, values[side], change->command->ns[side][change->kind]);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
}

void diff_report(const struct diff *diff, const struct out_ops *format, enum text_charset charset,
		 size_t rows, struct buf *out)
{
	struct diff_change *changes;
	struct diff_listing listing = { .diff = diff, .rows = rows, .charset = charset };

	listing.n = list_changes(diff, &changes);
	listing.changes = changes;
	format->diff(out, &listing);
	free(changes);
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		free(diff->commands[i].name);
	free(diff->commands);
	*diff = (struct diff){ 0 };
}
