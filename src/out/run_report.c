/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "out/run_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/util.h"
#include "model/notes.h"
#include "out/json.h"
#include "out/out_sites.h"

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
static void append_line(struct buf *out, const struct report_line *line, uint64_t elapsed_ns)
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

		append_line(out, &line, result->elapsed_ns);
		total.counted &= !line.known || line.counted;
	}
	append_line(out, &total, result->elapsed_ns);
}

/* Appends how the command ended, and its use of time. */
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

/* The sites as if of one interval, which is the command's time. */
static struct trace_frame frame_of_run(const struct run_result *result)
{
	return (struct trace_frame){ .sites = result->traced.sites,
				     .n = result->traced.n,
				     .interval_ns = result->elapsed_ns,
				     .lost = result->traced.lost,
				     .cost = -1 };
}

/* Appends how the time was spent that all tasks had, and the largest sites of their waits. */
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
		note_append(buf, &result->notes[i], true);
		buf_putc(buf, '\n');
	}
	append_outlived(buf, result, charset);
}

/* Puts how the tasks spent their time, and what they waited on; null if not traced. */
static void put_traced(struct json *json, const struct run_result *result)
{
	const struct run_traced *traced = &result->traced;
	struct trace_frame frame = frame_of_run(result);
	struct site_owners all = { .all = true };

	json_put_counter(json, "alive_ns", traced->known, wait_states_alive(&traced->states));
	out_states_json(json, "states", traced->known ? &traced->states : NULL);
	if (traced->known)
		out_sites_json(json, "sites", &frame, &all);
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
	put_traced(&json, result);
	json_put_notes(&json, "notes", result->notes, result->nnotes);
	json_close(&json);
}
