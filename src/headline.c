/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "headline.h"

#include <string.h>
#include <time.h>

#include "group.h"
#include "util.h"

#define KB_PER_GB (1024.0 * 1024.0)

/* Cells of a resource's name; all are shorter. */
#define NAME_WIDTH 10

/* Days and hours:minutes. */
static void append_uptime(struct buf *out, double seconds)
{
	uint64_t minutes = (uint64_t)(seconds / 60);

	if (minutes >= 24 * 60)
		buf_printf(out, "%llud", (unsigned long long)(minutes / (24 * 60)));
	buf_printf(out, "%02u:%02u", (unsigned)(minutes / 60 % 24), (unsigned)(minutes % 60));
}

/* What the counters come from. */
static void append_source(struct buf *out, const struct frame *frame)
{
	static const char *const states[] = { "off", "on" };

	buf_printf(out, "   %s", frame->source);
	if (frame->taskstats_version > 0)
		buf_printf(out, " v%d", frame->taskstats_version);
	buf_printf(out, "   delayacct %s",
		   frame->delayacct == DELAYACCT_UNKNOWN ? "-" : states[frame->delayacct]);
}

/* What rows are, where they are groups; of cgroups also in which hierarchy. */
static void append_grouping(struct buf *out, const struct frame *frame)
{
	int by = group_by_name(frame->group_by);
	struct buf label = { 0 };

	if (by < 0 || !group_folds((enum group_by)by))
		return;
	buf_printf(out, "   by %s", frame->group_by);
	if (by != GROUP_CGROUP)
		return;
	buf_puts(out, " (");
	if (frame->hierarchy)
		hierarchy_label(frame->hierarchy, &label);
	else
		buf_puts(&label, "-");
	text_escape(out, label.data, label.len, TEXT_ASCII);
	buf_putc(out, ')');
	buf_free(&label);
}

/* The three averages. */
static void append_load(struct buf *out, const double load[3])
{
	buf_puts(out, " load");
	for (unsigned i = 0; i < 3; i++) {
		buf_putc(out, ' ');
		buf_decimal(out, load[i], 2);
	}
}

void headline_title(struct buf *out, const struct view *view, uint64_t interval_ns)
{
	const struct frame *frame = view->frame;
	const struct system_sample *system = frame->system;
	time_t seconds = (time_t)(frame->real_ns / NSEC_PER_SEC);
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		buf_printf(out, "stalltop %02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	buf_puts(out, " up ");
	if (system->uptime_valid)
		append_uptime(out, system->uptime);
	else
		buf_putc(out, '-');
	if (system->load_valid)
		append_load(out, system->load);
	else
		buf_puts(out, " load -");
	if (frame->interval_ns)
		interval_ns = frame->interval_ns;
	buf_puts(out, "   ");
	buf_decimal(out, (double)interval_ns / (double)NSEC_PER_SEC, 2);
	buf_puts(out, " s");
	append_source(out, frame);
	append_grouping(out, frame);
	if (frame->cgroup) {
		buf_puts(out, "   cgroup ");
		text_escape(out, frame->cgroup, strlen(frame->cgroup), view->charset);
	}
	if (view->unit != UNIT_PERCENT)
		buf_printf(out, "   unit %s", unit_table[view->unit].id);
}

/* A figure with one decimal behind a space, and what it is. */
static void append_figure(struct buf *out, double figure, const char *what)
{
	buf_putc(out, ' ');
	buf_decimal(out, figure, 1);
	buf_puts(out, what);
}

/* The CPU states in percent of all CPUs' time. */
static void append_cpu(struct buf *out, const struct frame *frame)
{
	const struct system_sample *now = frame->system, *before = frame->system_before;
	double delta[CPU_STATES], all = 0;

	if (!now->cpu_valid || !before || !before->cpu_valid) {
		buf_puts(out, "   cpu - us - sy - id - wa - st");
		return;
	}
	for (unsigned s = 0; s < CPU_STATES; s++) {
		/* iowait and idle of a CPU can run back (proc_stat(5)). */
		delta[s] = now->cpu_ns[s] > before->cpu_ns[s] ?
				   (double)(now->cpu_ns[s] - before->cpu_ns[s]) : 0;
		all += delta[s];
	}
	all = all > 0 ? all / 100.0 : 1;
	buf_puts(out, "   cpu");
	append_figure(out, (delta[CPU_USER] + delta[CPU_NICE]) / all, " us");
	append_figure(out, (delta[CPU_SYSTEM] + delta[CPU_IRQ] + delta[CPU_SOFTIRQ]) / all, " sy");
	append_figure(out, delta[CPU_IDLE] / all, " id");
	append_figure(out, delta[CPU_IOWAIT] / all, " wa");
	append_figure(out, delta[CPU_STEAL] / all, " st");
}

/* An amount in GB of two, the unit once. */
static void append_gigabytes(struct buf *out, const char *name, uint64_t used, uint64_t total)
{
	buf_puts(out, name);
	if (!total) {
		buf_puts(out, " 0/0");
		return;
	}
	append_figure(out, (double)used / KB_PER_GB, "/");
	buf_decimal(out, (double)total / KB_PER_GB, 1);
	buf_putc(out, 'G');
}

/* A count that may be unknown. */
static void append_count(struct buf *out, int64_t count, const char *what)
{
	buf_puts(out, ", ");
	if (count < 0)
		buf_putc(out, '-');
	else
		buf_uint(out, (uint64_t)count);
	buf_putc(out, ' ');
	buf_puts(out, what);
}

void headline_tasks(struct buf *out, const struct view *view)
{
	const struct frame *frame = view->frame;
	const struct system_sample *system = frame->system;

	buf_puts(out, frame->threads ? "threads " : "tasks ");
	buf_uint(out, frame->cur->n);
	append_count(out, frame->prev ? (int64_t)frame->born : -1, "new");
	append_count(out, !frame->prev ? -1 : frame->exits >= 0 ? frame->exits :
			  (int64_t)frame->gone, "exited");
	append_count(out, frame->lost, "lost");
	append_cpu(out, frame);
	if (system->memory_valid) {
		append_gigabytes(out, "   mem", system->memory_used, system->memory_total);
		append_gigabytes(out, " swap", system->swap_used, system->swap_total);
	} else {
		buf_puts(out, "   mem - swap -");
	}
	buf_puts(out, "   self");
	if (frame->self >= 0)
		append_figure(out, frame->self, " %");
	else
		buf_puts(out, " -");
}

/* The line of a resource that is asked for. */
static const struct psi_line *psi_line(const struct system_sample *system,
				       enum psi_resource resource, bool full)
{
	return full ? &system->psi[resource].full : &system->psi[resource].some;
}

struct value pressure_now(const struct view *view, enum psi_resource resource, bool full)
{
	const struct system_sample *now = view->frame->system;
	const struct system_sample *before = view->frame->system_before;
	const struct psi_line *a, *b;

	if (!before || now->read_ns <= before->read_ns)
		return value_unset();
	a = psi_line(before, resource, full);
	b = psi_line(now, resource, full);
	if (!a->valid || !b->valid || b->total_us < a->total_us)
		return value_unset();
	return value_number((double)(b->total_us - a->total_us) * 1000.0 * 100.0 /
			    (double)(now->read_ns - before->read_ns));
}

void headline_pressure_head(struct buf *out)
{
	buf_puts(out, "pressure  some avg10  avg60 avg300    now   full avg10  avg60 avg300    now");
}

/* One average in a cell, or "-". */
static void append_average(struct buf *out, const struct psi_line *line, uint32_t average,
			   unsigned width)
{
	size_t at = out->len;

	if (line->valid)
		buf_fixed(out, average, 2);
	else
		buf_putc(out, '-');
	buf_align(out, at, width);
}

/* The four figures of a line. */
static void append_line(struct buf *out, const struct view *view, enum psi_resource resource,
			bool full)
{
	const struct psi_line *line = psi_line(view->frame->system, resource, full);
	struct value now = pressure_now(view, resource, full);

	append_average(out, line, line->avg10, full ? 13 : 10);
	append_average(out, line, line->avg60, 7);
	append_average(out, line, line->avg300, 7);
	value_append(out, &now, FORMAT_SHARE, 7);
}

bool headline_pressure(struct buf *out, const struct view *view, enum psi_resource resource)
{
	if (view->frame->system->psi_error[resource])
		return false;
	buf_puts(out, psi_names[resource]);
	buf_fill(out, ' ', NAME_WIDTH - strlen(psi_names[resource]));
	append_line(out, view, resource, false);
	append_line(out, view, resource, true);
	return true;
}

void headline_pressure_short(struct buf *out, const struct view *view)
{
	buf_puts(out, "some avg10");
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		const struct psi_line *line = &view->frame->system->psi[r].some;

		if (view->frame->system->psi_error[r] || r == PSI_IRQ)
			continue;
		buf_puts(out, "  ");
		buf_puts(out, psi_names[r]);
		append_average(out, line, line->avg10, 6);
	}
}
