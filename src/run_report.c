/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command waited for, as a table and as JSON. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "json.h"
#include "notes.h"
#include "run.h"
#include "util.h"

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

/* One kind, or the sum of all. */
static void append_line(struct buf *out, const struct run_result *result, const char *name,
			const struct delay_sum *sum, bool known, uint64_t max, bool max_known)
{
	buf_printf(out, "%-8s", name);
	append_cell(out, known, (double)sum->count, 0, 10);
	append_cell(out, known, ms(sum->ns), 3, 13);
	append_cell(out, known && sum->count, ms(sum->ns) / (double)sum->count, 3, 11);
	append_cell(out, known && max_known, ms(max), 3, 11);
	append_cell(out, known && result->elapsed_ns,
		    (double)sum->ns * 100.0 / (double)result->elapsed_ns, 1, 13);
	buf_putc(out, '\n');
}

/* All kinds and their sum. */
static void append_delays(struct buf *out, const struct run_result *result)
{
	const struct task_raw *raw = &result->raw;
	const struct task_record *record = &result->record;
	struct delay_sum total = delay_total(raw->delay, raw->valid);

	buf_printf(out, "%-8s %10s %13s %11s %11s %13s\n", "", "count", "total ms", "avg ms",
		   "max ms", "% of elapsed");
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		append_line(out, result, delay_table[kind].id, &raw->delay[kind],
			    raw->valid & DELAY_BIT(kind), record->max[kind],
			    record->range_valid & DELAY_BIT(kind));
	append_line(out, result, "total", &total, raw->valid & DELAY_ALL, 0, false);
}

/* How the command ended, and what it took. */
static void append_end(struct buf *out, const struct run_result *result)
{
	const struct task_raw *raw = &result->raw;

	buf_printf(out, "elapsed %.3f s  user %.3f s  system %.3f s  run ",
		   ms(result->elapsed_ns) / 1000, ms(result->user_ns) / 1000,
		   ms(result->system_ns) / 1000);
	if (raw->valid & VALID_RUN)
		buf_printf(out, "%.3f s", ms(raw->run_ns) / 1000);
	else
		buf_putc(out, '-');
	buf_puts(out, "  processes ");
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

/* Who is still there. */
static void append_outlived(struct buf *out, const struct run_result *result,
			    enum text_charset charset)
{
	if (!result->outlived)
		return;
	buf_printf(out, "note: %zu %s and %s not counted:", result->outlived,
		   result->outlived == 1 ? "descendant goes on" : "descendants go on",
		   result->outlived == 1 ? "is" : "are");
	for (size_t i = 0; i < result->outlived && i < RUN_NAMED; i++) {
		const char *comm = result->named[i].comm;

		buf_printf(out, " %d ", (int)result->named[i].pid);
		text_escape(out, comm, strlen(comm), charset);
	}
	buf_puts(out, result->outlived > RUN_NAMED ? " ...\n" : "\n");
}

void run_text(struct buf *out, const struct run_result *result, enum text_charset charset)
{
	append_delays(out, result);
	append_end(out, result);
	for (size_t i = 0; i < result->nnotes; i++) {
		buf_puts(out, "note: ");
		note_append(out, &result->notes[i], true);
		buf_putc(out, '\n');
	}
	append_outlived(out, result, charset);
}

/* The delays by kind. */
static json_t *delays(const struct run_result *result)
{
	const struct task_record *record = &result->record;
	json_t *object = json_object();

	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *sum = &result->raw.delay[kind];
		bool range = record->range_valid & DELAY_BIT(kind);
		json_t *json = json_null();

		if (result->raw.valid & DELAY_BIT(kind)) {
			json = json_object();
			json_set(json, "count", json_counter(true, sum->count));
			json_set(json, "ns", json_counter(true, sum->ns));
			json_set(json, "max_ns", json_counter(range, record->max[kind]));
			json_set(json, "min_ns", json_counter(range, record->min[kind]));
		}
		json_set(object, delay_table[kind].id, json);
	}
	return object;
}

/* The descendants that are still there. */
static json_t *outlived(const struct run_result *result, struct buf *scratch)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->outlived && i < RUN_NAMED; i++) {
		json_t *object = json_object();

		json_set(object, "pid", json_integer(result->named[i].pid));
		json_set(object, "comm", json_name(scratch, result->named[i].comm));
		json_array_append_new(array, object);
	}
	return array;
}

void run_json(struct buf *out, const struct run_result *result)
{
	json_t *object = json_object(), *command = json_array();
	bool signaled = WIFSIGNALED(result->status);
	struct buf scratch = { 0 };

	for (size_t i = 0; result->command[i]; i++)
		json_array_append_new(command, json_name(&scratch, result->command[i]));
	json_set(object, "command", command);
	json_set(object, "exit_code",
		 json_counter(!signaled, (uint64_t)WEXITSTATUS(result->status)));
	json_set(object, "signal", json_counter(signaled, (uint64_t)WTERMSIG(result->status)));
	json_set(object, "elapsed", json_seconds(result->elapsed_ns));
	json_set(object, "user_ns", json_counter(true, result->user_ns));
	json_set(object, "system_ns", json_counter(true, result->system_ns));
	json_set(object, "run_ns",
		 json_counter(result->raw.valid & VALID_RUN, result->raw.run_ns));
	json_set(object, "processes", json_counter(!result->ungrouped, result->processes));
	json_set(object, "tasks", json_counter(true, result->tasks));
	json_set(object, "delays", delays(result));
	json_set(object, "outlived", json_counter(true, result->outlived));
	json_set(object, "outlived_tasks", outlived(result, &scratch));
	json_set(object, "notes", json_notes(&scratch, result->notes, result->nnotes));
	json_append(out, object);
	buf_putc(out, '\n');
	buf_free(&scratch);
}
