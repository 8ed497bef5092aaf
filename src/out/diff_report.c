/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/diff_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/util.h"
#include "frame/notes.h"
#include "out/json.h"
#include "out/out.h"
#include "out/out_sites.h"
#include "view/remedies.h"

/* Smaller changes are not printed in text, where they would be 0.0. */
#define PERCENT_LEAST 0.05

/* The command of that name, created if necessary. */
static struct diff_command *find_command(struct diff *diff, const char *name)
{
	size_t at;

	LOWER_BOUND(at, diff->n, text_compare(diff->commands[at].name, name) < 0);
	if (at < diff->n && !text_compare(diff->commands[at].name, name))
		return &diff->commands[at];
	GROW(diff->commands, diff->n, diff->cap);
	memmove(&diff->commands[at + 1], &diff->commands[at],
		(diff->n++ - at) * sizeof(*diff->commands));
	diff->commands[at] = (struct diff_command){ .name = xstrdup(name) };
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

/* Orders changes: largest growth first; else by name and kind. */
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

/* Lists the waits of either side, in order. Returns how many. */
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

/* Appends a number at the right of a cell, or "-". */
static void append_cell(struct buf *out, bool valid, double number, int decimals, int width)
{
	if (valid)
		buf_printf(out, " %*.*f", width, decimals, number);
	else
		buf_printf(out, " %*s", width, "-");
}

/* Nanoseconds as milliseconds. */
static double ms(uint64_t ns)
{
	return (double)ns / (double)NSEC_PER_MSEC;
}

/* One kind, or the sum of all, and which of its values are known. */
struct report_line {
	const char *name;
	struct delay_sum sum;
	bool known, counted; /* its time, its number of waits */
	bool max_known;
	uint64_t max;
};

/* Appends a line; its shares are of the elapsed time. */
static void append_report_line(struct buf *out, const struct report_line *line, uint64_t elapsed_ns)
{
	bool counted = line->known && line->counted;

	buf_printf(out, "%-8s", line->name);
	append_cell(out, counted, (double)line->sum.count, 0, 10);
	append_cell(out, line->known, ms(line->sum.ns), 3, 13);
	append_cell(out, counted && line->sum.count, ms(line->sum.ns) / (double)line->sum.count, 3,
		    11);
	append_cell(out, line->known && line->max_known, ms(line->max), 3, 11);
	append_cell(out, line->known && elapsed_ns,
		    (double)line->sum.ns * 100.0 / (double)elapsed_ns, 1, 13);
	buf_putc(out, '\n');
}

/* Appends all kinds and their sum. */
static void append_delays(struct buf *out, const struct run_result *result)
{
	const struct counters *counters = &result->counters;
	const struct task_record *record = &result->record;
	struct report_line total = { .name = "total",
				     .sum = delay_total(counters->delay, counters->valid),
				     .known = counters->valid & DELAY_ALL,
				     .counted = true };

	buf_printf(out, "%-8s %10s %13s %11s %11s %13s\n", "", "count", "total ms", "avg ms",
		   "max ms", "% of elapsed");
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		struct report_line line = { .name = delay_table[kind].id,
					    .sum = counters->delay[kind],
					    .known = counters->valid & DELAY_BIT(kind),
					    .counted = counters->valid & DELAY_COUNT_BIT(kind),
					    .max_known = record->range_valid & DELAY_BIT(kind),
					    .max = record->max[kind] };

		append_report_line(out, &line, result->elapsed_ns);
		total.counted &= !line.known || line.counted;
	}
	append_report_line(out, &total, result->elapsed_ns);
}

/* Appends how the command exited, and its use of time. */
static void append_end(struct buf *out, const struct run_result *result)
{
	const struct counters *counters = &result->counters;

	buf_printf(out, "elapsed %.3f s  user %.3f s  system %.3f s  run ",
		   ms(result->elapsed_ns) / 1000, ms(result->user_ns) / 1000,
		   ms(result->system_ns) / 1000);
	if (counters->valid & VALID_RUN)
		buf_printf(out, "%.3f s", ms(counters->run_ns) / 1000);
	else
		buf_putc(out, '-');
	buf_puts(out, "\nprocesses ");
	if (result->ungrouped)
		buf_putc(out, '-');
	else
		buf_uint(out, result->processes);
	buf_printf(out, "  tasks %llu  ", (unsigned long long)result->tasks);
	if (WIFSIGNALED(result->status))
		buf_printf(out, "signal %d\n", WTERMSIG(result->status));
	else
		buf_printf(out, "exit %d\n", WEXITSTATUS(result->status));
}

/* Appends the descendants that are still running. */
static void append_outlived(struct buf *out, const struct run_result *result,
			    enum text_charset charset)
{
	if (!result->outlived)
		return;
	buf_printf(out, "note: %zu %s and %s not counted:", result->outlived,
		   plural(result->outlived, "descendant is still running",
			  "descendants are still running"),
		   plural(result->outlived, "is", "are"));
	for (size_t i = 0; i < result->outlived && i < RUN_NAMED; i++) {
		const char *comm = result->named[i].comm;

		buf_printf(out, " %d ", (int)result->named[i].pid);
		text_escape(out, comm, strlen(comm), charset);
	}
	buf_puts(out, result->outlived > RUN_NAMED ? " ...\n" : "\n");
}

/* The sites as of one interval, which is the command's time. */
static struct trace_frame frame_of_run(const struct run_result *result)
{
	return (struct trace_frame){ .sites = (const struct site *const *)result->traced.sites,
				     .n = result->traced.n,
				     .interval_ns = result->elapsed_ns,
				     .lost = result->traced.lost,
				     .cost = -1 };
}

/* Appends the time of all tasks by state, and the largest sites of their waits. */
static void append_traced(struct buf *out, const struct run_result *result,
			  const struct site_choice *sites, enum text_charset charset)
{
	const struct wait_states *states = &result->traced.states;
	struct trace_frame trace = frame_of_run(result);
	const struct frame_info info = { .trace = &trace };
	const struct frame frame = { .info = &info };
	const struct view view = { .frame = &frame, .charset = charset };
	uint64_t alive = wait_states_alive(states);
	struct site_owners all = { .all = true };

	if (!result->traced.known)
		return;
	buf_printf(out, "\n%-8s %10s %13s %11s\n", "state", "total ms", "% of elapsed",
		   "% of tasks'");
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		uint64_t ns = states->ns[state];

		buf_printf(out, "%-8s", wait_state_table[state].id);
		append_cell(out, true, ms(ns), 3, 10);
		append_cell(out, result->elapsed_ns,
			    (double)ns * 100.0 / (double)result->elapsed_ns, 1, 13);
		append_cell(out, alive, (double)ns * 100.0 / (double)alive, 1, 11);
		buf_putc(out, '\n');
	}
	buf_printf(out, "%-8s", "alive");
	append_cell(out, true, ms(alive), 3, 10);
	append_cell(out, result->elapsed_ns, (double)alive * 100.0 / (double)result->elapsed_ns, 1,
		    13);
	buf_puts(out, "\n\n");
	out_sites_text(out, &view, &all, sites, false);
	buf_putc(out, '\n');
}

void run_text(struct out *out, const struct run_result *result)
{
	enum text_charset charset = out->config->charset;
	struct buf *buf = &out->buf;

	append_delays(buf, result);
	append_end(buf, result);
	append_traced(buf, result, &out->config->view->sites, charset);
	for (size_t i = 0; i < result->nnotes; i++) {
		buf_puts(buf, "note: ");
		remedy_append_note(buf, &result->notes[i]);
		buf_putc(buf, '\n');
	}
	append_outlived(buf, result, charset);
}

/* Puts the tasks' time by state, and their sites; null if not traced. */
static void put_traced_json(struct json *json, const struct run_result *result)
{
	const struct run_traced *traced = &result->traced;
	struct trace_frame frame = frame_of_run(result);
	struct site_owners all = { .all = true };

	json_put_counter(json, "alive_ns", traced->known, wait_states_alive(&traced->states));
	out_states_json(json, "states", traced->known ? &traced->states : NULL);
	if (traced->known)
		out_sites_json(json, "sites", &frame, 0, &all);
	else
		json_put_null(json, "sites");
}

/* Puts the descendants that are still running. */
static void put_outlived(struct json *json, const struct run_result *result)
{
	json_open_array(json, "outlived_tasks");
	for (size_t i = 0; i < result->outlived && i < RUN_NAMED; i++) {
		json_open_object(json, NULL);
		json_put_int(json, "pid", result->named[i].pid);
		json_put_text(json, "comm", result->named[i].comm);
		json_close(json);
	}
	json_close(json);
}

void run_json(struct out *out, const struct run_result *result)
{
	const struct counters *counters = &result->counters;
	struct json json = { .out = &out->buf };

	json_open_object(&json, NULL);
	json_open_array(&json, "command");
	for (size_t i = 0; result->command[i]; i++)
		json_put_text(&json, NULL, result->command[i]);
	json_close(&json);
	json_put_exit(&json, result->status);
	json_put_seconds(&json, "elapsed", true, result->elapsed_ns);
	json_put_uint(&json, "user_ns", result->user_ns);
	json_put_uint(&json, "system_ns", result->system_ns);
	json_put_counter(&json, "run_ns", counters->valid & VALID_RUN, counters->run_ns);
	json_put_counter(&json, "processes", !result->ungrouped, result->processes);
	json_put_uint(&json, "tasks", result->tasks);
	json_put_delays(&json, "delays", counters->delay, counters->valid, &result->record);
	json_put_uint(&json, "outlived", result->outlived);
	put_outlived(&json, result);
	put_traced_json(&json, result);
	json_put_notes(&json, "notes", result->notes, result->nnotes);
	json_close(&json);
}
