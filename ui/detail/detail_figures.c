/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/detail/detail_figures.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

/* Cells of the names at the left of the figures. */
#define NAME_CELLS 8

/* Cells of the interval's figures, a peak, and the history: a blank, moments, and a peak. */
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

/* Puts a number of waits. */
static int put_count_cell(struct pager *pager, int column, int cells, const struct value *count)
{
	value_append(&pager->cell, count, FORMAT_COUNT, (unsigned)cells - 1);
	return pager_right(pager, column, cells,
			   count->type == VALUE_NUMBER && count->number > 0 ? STYLE_NORMAL
									    : STYLE_DIM);
}

/* Puts a time in ms with as many decimals (at most three) as fit. */
static int put_ms(struct pager *pager, int column, int cells, const struct value *ms,
		  enum style style)
{
	struct buf *cell = &pager->cell;
	bool known = ms->type == VALUE_NUMBER;
	/* A whole number of ns again. */
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

/* Puts the count, the time and the average; the average is of booked waits. */
static void put_sum(struct pager *pager, int column, const int cells[3],
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

/* Puts the interval's figures. */
static void put_interval(const struct detail *detail, struct pager *pager, int column,
			 enum figure f)
{
	static const int cells[] = { 8, 10, 8 };

	put_sum(pager, column, cells, &detail->interval[f], share_style(detail, f));
}

/* Puts the whole life's figures. */
static void put_life(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	static const int cells[] = { 9, 12, 9 };

	put_sum(pager, column, cells, &detail->life[f], STYLE_NORMAL);
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

/* Puts the longest and the shortest wait. The kernel's shortest is 0 before the first wait. */
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

/* Puts the time of the longest wait. */
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

/* Cells of the history: beside the interval's, with as many moments as there is room for. */
static int history_cells(const struct pager *pager)
{
	int room = pager->width - NAME_CELLS - INTERVAL_CELLS;

	if (room < HISTORY_LEAST)
		room = pager->width - NAME_CELLS;
	if (room < HISTORY_LEAST)
		room = HISTORY_LEAST;
	return room < HISTORY_MOST ? room : HISTORY_MOST;
}

/* The moments in it. */
static int history_moments(const struct pager *pager)
{
	return history_cells(pager) - 1 - PEAK_CELLS;
}

/* Puts the shares of the last intervals, each figure on its own scale, with the peak named. */
static void put_history(const struct detail *detail, struct pager *pager, int column, enum figure f)
{
	const struct spark *spark = &detail->history[f];
	int cells = history_moments(pager);
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

/* The columns of figures that stay together: the interval's before those since the start. */
static const struct block {
	int cells; /* 0: the columns of the history */
	const char *heads, *booked; /* booked: with --booked; NULL: the same */
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

/* The group's title. */
static void group_title(const struct detail *detail, const struct pager *pager,
			const struct block *group, struct buf *out)
{
	char span[DETAIL_TIME];
	size_t moments = (size_t)history_moments(pager), n = detail->history[0].n;

	if (group->put == put_history)
		buf_printf(out, "last %zu of %zu intervals%s", n < moments ? n : moments, moments,
			   moments < SPARK_CELLS ? "" : ", the newest at the right");
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

/* Puts the heads of the group's columns. */
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
		   history_moments(pager) < SPARK_CELLS
			   ? "share, each line up to its"
			   : "share of the interval, each line on a scale up to its peak",
		   STYLE_DIM);
	buf_puts(&pager->cell, "peak %");
	pager_right(pager, column, history_cells(pager), STYLE_DIM);
}

/* Writes one block: the names, and the groups from `from` up to `to`. */
static void write_block(const struct detail *detail, struct pager *pager, const bool *shown,
			size_t from, size_t to)
{
	for (int line = -2; line < FIGURES; line++, pager->line++) {
		int column = NAME_CELLS;

		if (!pager_shows(pager))
			continue;
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
}
