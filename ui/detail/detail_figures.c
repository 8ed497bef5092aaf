/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/detail_figures.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "view/summary.h"

/* Cells of the names at the left. */
#define SUM_NAME_CELLS 10

void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out)
{
	const struct ui_group *which = &detail->group.which;

	buf_printf(out, " of %s ", group_table[which->by].id);
	if (which->named)
		text_escape(out, which->name.data, which->name.len, charset);
	else
		buf_puts(out, "-");
	if (which->below)
		buf_puts(out, " and below");
}

/* Writes a line: a name and the contents of `scratch`. */
static void write_line(struct pager *pager, const char *name, const struct buf *scratch,
		       enum style style)
{
	pager_puts(pager, 0, name, STYLE_LABEL);
	pager_put(pager, SUM_NAME_CELLS, pager->width - SUM_NAME_CELLS, scratch->data, scratch->len,
		  style);
	pager->line++;
}

/* Writes the member with most waits. */
static void write_worst(const struct detail_group *group, struct pager *pager, struct buf *scratch)
{
	scratch->len = 0;
	if (group->worst.len) {
		buf_printf(scratch, "%d (", (int)group->worst_pid);
		text_escape(scratch, group->worst.data, group->worst.len, pager->term->charset);
		buf_puts(scratch, ") waited most in the interval: ");
		buf_decimal(scratch, (double)group->worst_ns / (double)NSEC_PER_MSEC, 1);
		buf_puts(scratch, " ms");
	} else {
		buf_puts(scratch, "-");
	}
	write_line(pager, "worst", scratch, STYLE_NORMAL);
}

/* Appends counts of tasks by state. */
static void append_states(struct buf *out, const struct cgroup_states *states)
{
	buf_printf(out,
		   "%llu running, %llu sleeping, %llu stopped, %llu uninterruptible, "
		   "%llu in I/O wait",
		   (unsigned long long)states->running, (unsigned long long)states->sleeping,
		   (unsigned long long)states->stopped, (unsigned long long)states->uninterruptible,
		   (unsigned long long)states->io_wait);
}

/* Writes the number of members per state, and the source: the program or cgroupstats. */
static void write_states(const struct detail *detail, const struct ui *ui, struct pager *pager,
			 struct buf *scratch)
{
	const struct detail_group *group = &detail->group;

	scratch->len = 0;
	append_states(scratch, &group->states);
	if (group->stateless)
		buf_printf(scratch, ", %zu unknown", group->stateless);
	buf_printf(scratch, " (counted here, %s)",
		   ui->frame->info->threads ? "threads" : "processes");
	write_line(pager, "states", scratch, STYLE_NORMAL);
	if (!(group->now.have & CGROUP_BIT(CGROUP_STATES)))
		return;
	scratch->len = 0;
	append_states(scratch, &group->now.states);
	buf_puts(scratch, " (cgroupstats, threads)");
	write_line(pager, "", scratch, STYLE_NORMAL);
	pager_puts(pager, SUM_NAME_CELLS,
		   "since Linux 6.1 cgroupstats omits tasks that sleep for a set "
		   "time or poll",
		   STYLE_DIM);
	pager->line++;
}

/* Writes a line of figures. */
static void write_summary(struct pager *pager, const struct summary *line, enum style style)
{
	summary_append(&pager->cell, line);
	pager_put(pager, 0, pager->width, pager->cell.data, pager->cell.len, style);
	pager->cell.len = 0;
	pager->line++;
}

/* Writes the group's own pressure, in lines like the machine's above the table. */
static void write_pressure(const struct detail_group *group, struct pager *pager,
			   struct buf *scratch)
{
	const struct cgroup_sample *now = &group->now, *before = &group->before;
	struct summary line;
	bool head = false;

	for (enum psi_resource r = 0; r < PSI_RESOURCES; r++) {
		struct psi_pair pair = { .now = &now->psi[r] };

		if (!(now->have & CGROUP_BIT(r)))
			continue;
		if (!head) {
			pager_part(pager, "Pressure of the group");
			line = summary_pressure_head(scratch);
			write_summary(pager, &line, STYLE_DIM);
		}
		head = true;
		if (before->have & CGROUP_BIT(r) && now->read_ns[r] > before->read_ns[r]) {
			pair.before = &before->psi[r];
			pair.interval_ns = now->read_ns[r] - before->read_ns[r];
		}
		line = summary_pressure(scratch, r, &pair);
		write_summary(pager, &line, STYLE_NORMAL);
	}
}

/* Appends the growth of a figure, whose earlier value may be unknown. */
static void append_growth(struct buf *out, uint64_t now, uint64_t before, bool known)
{
	buf_uint(out, now);
	if (known && now >= before)
		buf_printf(out, " (+%llu)", (unsigned long long)(now - before));
}

/* Writes the effects of the group's limits, since it was made and in the interval. */
static void write_limits(const struct detail_group *group, struct pager *pager, struct buf *scratch)
{
	const struct cgroup_sample *now = &group->now, *before = &group->before;
	unsigned known = before->have & now->have;

	if (now->have & CGROUP_BIT(CGROUP_THROTTLE)) {
		scratch->len = 0;
		append_growth(scratch, now->throttled_ns / NSEC_PER_USEC,
			      before->throttled_ns / NSEC_PER_USEC,
			      known & CGROUP_BIT(CGROUP_THROTTLE));
		buf_puts(scratch, " us in ");
		append_growth(scratch, now->throttled, before->throttled,
			      known & CGROUP_BIT(CGROUP_THROTTLE));
		buf_printf(scratch, " %s, by its CPU quota",
			   plural(now->throttled, "period", "periods"));
		write_line(pager, "throttled", scratch, STYLE_NORMAL);
	}
	if (!(now->have & CGROUP_BIT(CGROUP_EVENTS)))
		return;
	scratch->len = 0;
	for (unsigned e = 0; e < CGROUP_EVENT_KINDS; e++) {
		if (!(now->event_valid & 1u << e))
			continue;
		buf_printf(scratch, "%s%s ", scratch->len ? ", " : "", cgroup_event_names[e]);
		append_growth(scratch, now->events[e], before->events[e],
			      known & CGROUP_BIT(CGROUP_EVENTS) && before->event_valid & 1u << e);
	}
	write_line(pager, "memory", scratch, STYLE_NORMAL);
}

void detail_group_write(const struct detail *detail, const struct ui *ui, struct pager *pager,
			struct buf *scratch)
{
	const struct detail_group *group = &detail->group;

	pager_part(pager, "Group");
	write_worst(group, pager, scratch);
	write_states(detail, ui, pager, scratch);
	write_limits(group, pager, scratch);
	write_pressure(group, pager, scratch);
}

/* Writes one line: a part of the machine's time. */
static void write_share(const struct account *account, struct pager *pager, const char *name,
			bool known, double ns, const char *what)
{
	char text[64];

	pager_puts(pager, 0, name, STYLE_LABEL);
	if (known)
		snprintf(text, sizeof(text), "%12.1f %7.1f", ns / (double)NSEC_PER_MSEC,
			 ns * 100.0 / (double)account->machine_ns);
	else
		snprintf(text, sizeof(text), "%12s %7s", "-", "-");
	pager_puts(pager, 10, text, known && ns * ns >= 1 ? STYLE_NORMAL : STYLE_DIM);
	pager_puts(pager, 33, what, STYLE_DIM);
	pager->line++;
}

void detail_account_write(const struct account *account, struct pager *pager)
{
	pager_part(pager, "CPU time of the machine");
	if (!account->valid) {
		pager_puts(pager, 0, "unknown: no interval yet, or not all tasks are read",
			   STYLE_DIM);
		pager->line++;
		return;
	}
	pager_puts(pager, 10, "          ms       %", STYLE_DIM);
	pager->line++;
	write_share(account, pager, "machine", true, (double)account->machine_ns,
		    "CPUs times interval");
	write_share(account, pager, "run", true, (double)account->run_ns, "of all rows");
	write_share(account, pager, "recovered", account->recovered_valid,
		    (double)account->recovered_ns,
		    "exited tasks: not in exit records, known from parents");
	write_share(account, pager, "idle", true, (double)account->idle_ns, "");
	write_share(account, pager, "iowait", true, (double)account->iowait_ns, "");
	write_share(account, pager, "steal", true, (double)account->steal_ns, "");
	if (account->irq_ns)
		write_share(account, pager, "irq", true, (double)account->irq_ns,
			    "not counted as run time of tasks");
	write_share(account, pager, "rest", true, (double)account->unattributed_ns,
		    "remainder (either sign)");
}

/* Cells of the names left of the figures. */
#define NAME_CELLS 8

/* Cells of the interval's figures, a peak, and the history: a blank, samples, and a peak. */
#define INTERVAL_CELLS 26
#define PEAK_CELLS 7
#define HISTORY_MOST (1 + SPARK_CELLS + PEAK_CELLS)
#define HISTORY_LEAST (1 + 20 + PEAK_CELLS)

void detail_time(char text[DETAIL_TIME], const char *format, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, DETAIL_TIME, format, &tm))
		strcpy(text, "-");
}

void detail_span(char text[DETAIL_TIME], uint64_t ns)
{
	uint64_t seconds = ns / NSEC_PER_SEC, days = seconds / 86400;
	char day[DETAIL_TIME / 2] = "";

	seconds %= 86400;
	if (days)
		snprintf(day, sizeof(day), "%llud", (unsigned long long)days);
	snprintf(text, DETAIL_TIME, "%s%02u:%02u:%02u", day, (unsigned)(seconds / 3600),
		 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

/* Prints a number of waits. */
static int put_count_cell(struct pager *pager, int column, int cells, const struct value *count)
{
	value_append(&pager->cell, count, FORMAT_COUNT, (unsigned)cells - 1);
	return pager_right(pager, column, cells,
			   count->type == VALUE_NUMBER && count->number > 0 ? STYLE_NORMAL
									    : STYLE_DIM);
}

/* Prints a time in ms with as many decimals (at most three) as fit. */
static int put_ms(struct pager *pager, int column, int cells, const struct value *ms,
		  enum style style)
{
	struct buf *cell = &pager->cell;
	bool known = ms->type == VALUE_NUMBER;
	/* An integral number of ns again. */
	uint64_t unit = NSEC_PER_USEC,
		 ns = known ? (uint64_t)(ms->number * (double)NSEC_PER_MSEC + 0.5) : 0;

	if (!known)
		buf_putc(cell, '-');
	for (unsigned decimals = 3; known && !cell->len; unit *= 10) {
		buf_fixed(cell, ns / unit + (ns % unit >= unit / 2), decimals);
		if (cell->len < (size_t)cells)
			break;
		cell->len = 0;
		if (!decimals--)
			value_append(cell, ms, FORMAT_COUNT, (unsigned)cells - 1);
	}
	return pager_right(pager, column, cells, known && ns ? style : STYLE_DIM);
}

/* Prints the count, the time and the average; the average is of accounted waits. */
static void put_sum_cells(struct pager *pager, int column, const int cells[3],
			  const struct figure_values *figure, enum style style)
{
	column = put_count_cell(pager, column, cells[0], &figure->count);
	column = put_ms(pager, column, cells[1], &figure->ms, style);
	put_ms(pager, column, cells[2], &figure->avg, STYLE_NORMAL);
}

/* The style of a delay of the interval. */
static enum style share_style(const struct detail *detail, enum figure f)
{
	const struct value *share = &detail->interval[f].share;

	if (!column_is_delay(detail_column(f)) || share->type != VALUE_NUMBER)
		return STYLE_NORMAL;
	return style_of_share(share->number);
}

/* Prints the interval's figures. */
static void put_interval(const struct detail *detail, struct pager *pager, int column,
			 enum figure f)
{
	static const int cells[] = { 8, 10, 8 };

	put_sum_cells(pager, column, cells, &detail->interval[f], share_style(detail, f));
}

/* Prints the whole life's figures. */
static void put_life(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	static const int cells[] = { 9, 12, 9 };

	put_sum_cells(pager, column, cells, &detail->life[f], STYLE_NORMAL);
}

/* The kinds with known figures: a kind that was not accounted has no longest wait either. */
static uint32_t life_kinds(const struct detail *detail)
{
	uint32_t kinds = 0;

	for (enum figure f = 0; f < FIGURE_TOTAL; f++)
		if (detail->life[f].ms.type == VALUE_NUMBER)
			kinds |= detail_column(f)->kinds;
	return kinds;
}

/* Prints the longest and the shortest wait. The kernel's shortest is 0 before the first wait. */
static void put_range(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	const struct task_record *record = &detail->record;
	uint32_t kinds = detail_column(f)->kinds & record->range_valid & life_kinds(detail);
	struct value longest = value_unset(), shortest = value_unset();
	uint64_t max, min;

	record_range(record, kinds, &max, &min);
	if (kinds) {
		longest = value_number((double)max / (double)NSEC_PER_MSEC);
		shortest = value_number((double)min / (double)NSEC_PER_MSEC);
	}
	column = put_ms(pager, column, 8, &longest, STYLE_NORMAL);
	put_ms(pager, column, 8, &shortest, STYLE_NORMAL);
}

/* Prints the time of the longest wait. */
static void put_stamp(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	const struct task_record *record = &detail->record;
	char text[DETAIL_TIME] = "-";

	if ((unsigned)f < DELAY_KINDS && detail->life[f].ms.type == VALUE_NUMBER &&
	    record->stamp_valid & DELAY_BIT(f) && record->max[f])
		detail_time(text, "%Y-%m-%d %H:%M:%S", record->stamp[f]);
	buf_puts(&pager->cell, text);
	pager_right(pager, column, 20, text[1] ? STYLE_NORMAL : STYLE_DIM);
}

/* Cells of the history: beside the interval's, with as many samples as fit. */
static int history_cells(const struct pager *pager)
{
	int room = pager->width - NAME_CELLS - INTERVAL_CELLS;

	if (room < HISTORY_LEAST)
		room = pager->width - NAME_CELLS;
	if (room < HISTORY_LEAST)
		room = HISTORY_LEAST;
	return room < HISTORY_MOST ? room : HISTORY_MOST;
}

/* Its number of samples. */
static int history_intervals(const struct pager *pager)
{
	return history_cells(pager) - 1 - PEAK_CELLS;
}

/* Prints the shares of the last intervals, each figure on its own scale, with its peak. */
static void put_history(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	const struct spark *spark = &detail->history[f];
	int cells = history_intervals(pager);
	double peak = spark_peak(spark, (size_t)cells);
	struct value value = value_number(peak);
	struct buf *cell = &pager->cell;

	spark_append(spark, (size_t)cells, pager->term->charset, cell);
	column = pager_put(pager, column + 1, cells, cell->data, cell->len,
			   peak > 0 ? share_style(detail, f) : STYLE_DIM);
	cell->len = 0;
	value_append(cell, &value, FORMAT_SHARE, PEAK_CELLS);
	pager_right(pager, column, PEAK_CELLS, peak >= 0.05 ? STYLE_NORMAL : STYLE_DIM);
}

/* Columns of figures that stay together: the interval's before those since start. */
static const struct block {
	int cells; /* 0: the columns of the history */
	const char *heads, *booked; /* with --booked; NULL: the same */
	void (*put)(const struct detail *detail, struct pager *pager, int column, enum figure f);
} groups[] = {
	{ INTERVAL_CELLS, "   count waited ms  avg ms", "   count booked ms  avg ms",
	  put_interval },
	{ 0, NULL, NULL, put_history },
	{ 30, "    count    total ms   avg ms", NULL, put_life },
	{ 16, "  max ms  min ms", NULL, put_range },
	{ 20, "         time of max", NULL, put_stamp },
};

/* Cells of a group. */
static int group_cells(const struct block *group, const struct pager *pager)
{
	return group->cells ? group->cells : history_cells(pager);
}

/* The group's heading. */
static void group_title(const struct detail *detail, const struct pager *pager,
			const struct block *group, struct buf *out)
{
	char span[DETAIL_TIME];
	size_t intervals = (size_t)history_intervals(pager), n = detail->history[0].n;

	if (group->put == put_history)
		buf_printf(out, "last %zu of %zu intervals%s", n < intervals ? n : intervals,
			   intervals, intervals < SPARK_CELLS ? "" : ", the newest at the right");
	if (group->put == put_interval && !detail->interval_ns)
		buf_puts(out, "this interval");
	else if (group->put == put_interval)
		buf_printf(out, "this interval, %.3f s",
			   (double)detail->interval_ns / (double)NSEC_PER_SEC);
	if (group->put != put_life)
		return;
	detail_span(span, detail->task.age_ns);
	if (detail->sum)
		buf_puts(out, "whole lives");
	else
		buf_printf(out, "whole life, %s", span);
}

/* Prints the headings of the group's columns. */
static void put_group_heads(const struct detail *detail, struct pager *pager, int column,
			    const struct block *group)
{
	if (group->put != put_history) {
		pager_puts(pager, column,
			   detail->booked && group->booked ? group->booked : group->heads,
			   STYLE_DIM);
		return;
	}
	pager_puts(pager, column + 1,
		   history_intervals(pager) < SPARK_CELLS
			   ? "share, each line up to its"
			   : "share of the interval, each line on a scale up to its peak",
		   STYLE_DIM);
	buf_puts(&pager->cell, "peak %");
	pager_right(pager, column, history_cells(pager), STYLE_DIM);
}

static bool is_zero(const struct value *value)
{
	return value->type != VALUE_NUMBER || value->number <= 0;
}

/* True if a figure is uninteresting: all of it is 0, or unknown. */
static bool is_nothing(const struct detail *detail, enum figure f)
{
	return column_is_delay(detail_column(f)) && f != FIGURE_TOTAL &&
	       is_zero(&detail->interval[f].ms) && is_zero(&detail->life[f].ms) &&
	       !(spark_peak(&detail->history[f], SPARK_CELLS) > 0);
}

/* Names the figures without a line, as they are 0 or unknown. */
static void write_nothing(const struct detail *detail, struct pager *pager, bool unknown)
{
	struct buf *cell = &pager->cell;

	for (enum figure f = 0; f < FIGURES; f++) {
		bool known = detail->interval[f].ms.type == VALUE_NUMBER ||
			     detail->life[f].ms.type == VALUE_NUMBER;

		if (is_nothing(detail, f) && known != unknown)
			buf_printf(cell, "%s%s",
				   cell->len ? ", "
				   : unknown ? "unknown: "
					     : "none: ",
				   detail_column(f)->id);
	}
	if (!cell->len)
		return;
	pager_put(pager, 0, pager->width, cell->data, cell->len, STYLE_DIM);
	cell->len = 0;
	pager->line++;
}

/* Writes one block: the names, and the groups from `from` up to `to`. */
static void write_block(const struct detail *detail, struct pager *pager, const bool *shown,
			size_t from, size_t to)
{
	for (int line = -2; line < FIGURES; line++) {
		int column = NAME_CELLS;

		if (line >= 0 && is_nothing(detail, (enum figure)line))
			continue;
		if (!pager_shows(pager)) {
			pager->line++;
			continue;
		}
		if (line >= 0)
			pager_puts(pager, 0, detail_column((enum figure)line)->id, STYLE_LABEL);
		for (size_t i = from; i < to; i++) {
			if (!shown[i])
				continue;
			if (line == -2) {
				group_title(detail, pager, &groups[i], &pager->cell);
				pager_right(pager, column, group_cells(&groups[i], pager),
					    STYLE_BOLD);
			} else if (line == -1) {
				put_group_heads(detail, pager, column, &groups[i]);
			} else {
				groups[i].put(detail, pager, column, (enum figure)line);
			}
			column += group_cells(&groups[i], pager);
		}
		pager->line++;
	}
}

void detail_figures_write(const struct detail *detail, struct pager *pager)
{
	bool shown[ARRAY_SIZE(groups)];
	int cells = NAME_CELLS;
	size_t from = 0;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		shown[i] = !(groups[i].put == put_range && detail->sum) &&
			   !(groups[i].put == put_stamp && !detail->record.stamp_valid);
		if (!shown[i])
			continue;
		if (i > from && cells + group_cells(&groups[i], pager) > pager->width) {
			write_block(detail, pager, shown, from, i);
			pager->line++;
			from = i;
			cells = NAME_CELLS;
		}
		cells += group_cells(&groups[i], pager);
	}
	write_block(detail, pager, shown, from, ARRAY_SIZE(groups));
	write_nothing(detail, pager, false);
	write_nothing(detail, pager, true);
}
