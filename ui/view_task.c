/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detail.h"
#include "detail_record.h"
#include "detail_account.h"
#include "detail_group.h"
#include "detail_threads.h"
#include "paper.h"
#include "util.h"

/* Cells of the names at the left of the figures. */
#define NAME_CELLS 8

/* Shares of the interval, in percent, from which a delay stands out. */
#define SHARE_WARM 10.0
#define SHARE_HOT 50.0

#define TIME_TEXT 32

struct task_view {
	struct detail detail;
	struct paper paper;
	struct buf text;
	struct detail_threads threads;
};

/* Writes a time of the wall clock. */
static void format_time(char text[TIME_TEXT], const char *format, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, TIME_TEXT, format, &tm))
		strcpy(text, "-");
}

/* Writes how long something lasted, such as 3d04:05:06. */
static void format_span(char text[TIME_TEXT], uint64_t ns)
{
	uint64_t seconds = ns / NSEC_PER_SEC, days = seconds / 86400;
	char day[TIME_TEXT / 2] = "";

	seconds %= 86400;
	if (days)
		snprintf(day, sizeof(day), "%llud", (unsigned long long)days);
	snprintf(text, TIME_TEXT, "%s%02u:%02u:%02u", day, (unsigned)(seconds / 3600),
		 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

/* How long the task has lived. */
static uint64_t age_ns(const struct detail *detail)
{
	const struct detail_task *task = &detail->task;

	return task->read_ns > task->start_ns ? task->read_ns - task->start_ns : 0;
}

/* ------------------------------------------------------------------------- */
/* What the task is.                                                           */

/* Appends "NAME VALUE" where it fits into the line, else in the next. The column behind it. */
static int put_item(struct paper *paper, int column, const char *name, const char *value,
		    size_t len)
{
	int cells = (int)strlen(name) + 1 +
		    (int)text_width(value, len, paper->term->charset);

	if (column && column + cells > paper->width) {
		paper->line++;
		column = 0;
	}
	column = paper_puts(paper, column, name, STYLE_DIM) + 1;
	column = paper_put(paper, column, cells - (int)strlen(name) - 1, value, len, STYLE_NORMAL);
	return column + 3;
}

/* The same with a text that needs no escaping. */
static int put_plain(struct paper *paper, int column, const char *name, const char *value)
{
	return put_item(paper, column, name, value, strlen(value));
}

/* The same with a number. */
static int put_number(struct paper *paper, int column, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return put_plain(paper, column, name, text);
}

/* Bytes of escaped text that fit into so many cells; one character at least. */
static size_t fitting(const char *text, size_t len, unsigned cells, enum text_charset charset)
{
	size_t taken = 0, next;

	while (taken < len) {
		for (next = taken + 1; next < len && ((unsigned char)text[next] & 0xC0) == 0x80;)
			next++;
		if (taken && text_width(text, next, charset) > cells)
			break;
		taken = next;
	}
	return taken;
}

/* A text that may take several lines, behind its name. */
static void put_long(struct task_view *view, const char *name, const struct buf *raw)
{
	struct paper *paper = &view->paper;
	struct buf *text = &view->text;
	int left = (int)strlen(name) + 1, room = paper->width - left;

	if (!raw->len)
		return;
	if (room < NAME_CELLS)
		room = NAME_CELLS;
	text->len = 0;
	text_escape(text, raw->data, raw->len, paper->term->charset);
	paper_puts(paper, 0, name, STYLE_DIM);
	for (size_t at = 0, n; at < text->len; at += n) {
		n = fitting(text->data + at, text->len - at, (unsigned)room,
			    paper->term->charset);
		paper_put(paper, left, room, text->data + at, n, STYLE_NORMAL);
		paper->line++;
	}
}

/* What a state's letter stands for. */
static const char *state_words(char state)
{
	static const char *const words[] = {
		"R running", "S sleeping", "D uninterruptible sleep", "T stopped",
		"t stopped by a tracer", "Z zombie", "X dead", "I idle", "P parked",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i][0] == state)
			return words[i];
	return "-";
}

/* The lines that describe the task. */
static void write_identity(struct task_view *view, const struct frame *frame)
{
	const struct detail *detail = &view->detail;
	const struct detail_task *task = &detail->task;
	struct paper *paper = &view->paper;
	char text[TIME_TEXT];
	int at = 0;

	view->text.len = 0;
	text_escape(&view->text, task->user.data, task->user.len, paper->term->charset);
	at = put_item(paper, at, "user", view->text.data, view->text.len);
	at = put_plain(paper, at, "state", state_words(task->state));
	if (task->stuck_ns) {
		snprintf(text, sizeof(text), ">= %.1f s",
			 (double)task->stuck_ns / (double)NSEC_PER_SEC);
		at = put_plain(paper, at, "waiting", text);
	}
	at = put_number(paper, at, "parent", (uint64_t)task->ppid);
	if (detail->who.thread)
		at = put_number(paper, at, "process", (uint64_t)detail->who.tgid);
	if (detail->threads.frame)
		at = put_number(paper, at, "threads", detail->threads.frame->n);
	format_time(text, "%Y-%m-%d %H:%M:%S", frame->epoch_ns + task->start_ns);
	at = put_plain(paper, at, "started", text);
	format_span(text, age_ns(detail));
	put_plain(paper, at, "age", text);
	paper->line++;
	put_long(view, "command", &task->command);
	put_long(view, "cgroup", &task->cgroup);
	put_long(view, "sleeps in", &task->wchan);
}

/* ------------------------------------------------------------------------- */
/* The figures: a line each, in blocks of columns as many as fit.              */

/* Puts a number of waits. */
static int put_count(struct task_view *view, int column, int cells,
		     const struct figure_sum *figure)
{
	struct value value = figure->known && figure->counted ?
				     value_number((double)figure->sum.count) : value_unset();

	value_append(&view->paper.cell, &value, FORMAT_COUNT, (unsigned)cells - 1);
	return paper_right(&view->paper, column, cells,
			   value.type == VALUE_NUMBER && value.number > 0 ? STYLE_NORMAL :
									    STYLE_DIM);
}

/* Puts a time in ms with as many decimals (three at most) as there is room for. */
static int put_ms(struct task_view *view, int column, int cells, bool known, uint64_t ns,
		  enum style style)
{
	struct buf *cell = &view->paper.cell;
	uint64_t unit = NSEC_PER_USEC;

	if (!known)
		buf_putc(cell, '-');
	for (unsigned decimals = 3; known && !cell->len; unit *= 10) {
		buf_fixed(cell, ns / unit + (ns % unit >= unit / 2), decimals);
		if (cell->len < (size_t)cells)
			break;
		cell->len = 0;
		if (!decimals--) {
			struct value value = value_number((double)ns / (double)NSEC_PER_MSEC);

			value_append(cell, &value, FORMAT_COUNT, (unsigned)cells - 1);
		}
	}
	return paper_right(&view->paper, column, cells, known && ns ? style : STYLE_DIM);
}

/* Puts count, total and average. */
static void put_sum(struct task_view *view, int column, const int cells[3],
		    const struct figure_sum *figure, enum style style)
{
	uint64_t count = figure->sum.count, ns = figure->sum.ns;
	bool averaged = figure->known && figure->counted && count;

	column = put_count(view, column, cells[0], figure);
	column = put_ms(view, column, cells[1], figure->known, ns, style);
	put_ms(view, column, cells[2], averaged, averaged ? ns / count : 0, STYLE_NORMAL);
}

/* How a delay of the interval is shown. */
static enum style share_style(const struct detail *detail, enum figure f)
{
	double share = detail->interval_ns ? (double)detail->interval[f].sum.ns * 100.0 /
						     (double)detail->interval_ns : 0;

	if (!figure_kinds(f))
		return STYLE_NORMAL;
	return share >= SHARE_HOT ? STYLE_HOT : share >= SHARE_WARM ? STYLE_WARM : STYLE_NORMAL;
}

/* The interval's figures. */
static void put_interval(struct task_view *view, int column, enum figure f)
{
	static const int cells[] = { 8, 10, 8 };

	put_sum(view, column, cells, &view->detail.interval[f], share_style(&view->detail, f));
}

/* The whole life's. */
static void put_life(struct task_view *view, int column, enum figure f)
{
	static const int cells[] = { 9, 12, 9 };

	put_sum(view, column, cells, &view->detail.life[f], STYLE_NORMAL);
}

/* Kinds of which something is known: what was not accounted has no longest wait either. */
static uint32_t known_kinds(const struct detail *detail)
{
	uint32_t kinds = 0;

	for (enum figure f = 0; f < FIGURE_TOTAL; f++)
		if (detail->life[f].known)
			kinds |= figure_kinds(f);
	return kinds;
}

/* The longest and the shortest wait. The kernel's shortest is 0 where there was none yet. */
static void put_range(struct task_view *view, int column, enum figure f)
{
	const struct task_record *record = &view->detail.record;
	uint32_t kinds = figure_kinds(f) & record->range_valid & known_kinds(&view->detail);
	uint64_t max, min;

	record_range(record, kinds, &max, &min);
	column = put_ms(view, column, 8, kinds, max, STYLE_NORMAL);
	put_ms(view, column, 8, kinds, min, STYLE_NORMAL);
}

/* When the longest wait was. */
static void put_stamp(struct task_view *view, int column, enum figure f)
{
	const struct task_record *record = &view->detail.record;
	char text[TIME_TEXT] = "-";

	if (f < FIGURE_TOTAL && view->detail.life[f].known &&
	    record->stamp_valid & DELAY_BIT(f) && record->max[f])
		format_time(text, "%Y-%m-%d %H:%M:%S", record->stamp[f]);
	buf_puts(&view->paper.cell, text);
	paper_right(&view->paper, column, 20, text[1] ? STYLE_NORMAL : STYLE_DIM);
}

/* The last intervals' shares, each on a scale of its own, whose end is said. */
static void put_history(struct task_view *view, int column, enum figure f)
{
	const struct spark *spark = &view->detail.history[f];
	double peak = spark_peak(spark);
	struct value value = value_number(peak);
	struct buf *cell = &view->paper.cell;

	spark_append(spark, view->paper.term->charset, cell);
	column = paper_put(&view->paper, column + 1, SPARK_CELLS, cell->data, cell->len,
			   peak > 0 ? share_style(&view->detail, f) : STYLE_DIM);
	cell->len = 0;
	value_append(cell, &value, FORMAT_SHARE, 7);
	paper_right(&view->paper, column, 7, peak >= 0.05 ? STYLE_NORMAL : STYLE_DIM);
}

/* Columns of the figures that stay together. */
static const struct block {
	int cells;
	const char *heads;
	void (*put)(struct task_view *view, int column, enum figure f);
} groups[] = {
	{ 26, "   count  total ms  avg ms", put_interval },
	{ 30, "    count    total ms   avg ms", put_life },
	{ 16, "  max ms  min ms", put_range },
	{ 20, "         time of max", put_stamp },
	{ 68, " share of the interval, each line on a scale up to its peak   peak %",
	  put_history },
};

/* The group's title. */
static void group_title(struct task_view *view, const struct block *group, struct buf *out)
{
	const struct detail *detail = &view->detail;
	char span[TIME_TEXT];

	if (group->put == put_history)
		buf_printf(out, "last %zu of %d intervals, the newest at the right",
			   detail->history[0].n, SPARK_CELLS);
	if (group->put == put_interval && !detail->interval_ns)
		buf_puts(out, "this interval");
	else if (group->put == put_interval)
		buf_printf(out, "this interval, %.3f s",
			   (double)detail->interval_ns / (double)NSEC_PER_SEC);
	if (group->put != put_life)
		return;
	format_span(span, age_ns(detail));
	if (detail->sum)
		buf_puts(out, "whole lives");
	else
		buf_printf(out, "whole life, %s", span);
}

/* One block: the names, and the groups from `from` up to `to`. */
static void write_block(struct task_view *view, const bool *shown, size_t from, size_t to)
{
	struct paper *paper = &view->paper;

	for (int line = -2; line < FIGURES; line++, paper->line++) {
		int column = NAME_CELLS;

		if (!paper_shows(paper))
			continue;
		if (line >= 0)
			paper_puts(paper, 0, figure_name((enum figure)line), STYLE_LABEL);
		for (size_t i = from; i < to; i++) {
			if (!shown[i])
				continue;
			if (line == -2) {
				group_title(view, &groups[i], &paper->cell);
				paper_right(paper, column, groups[i].cells, STYLE_BOLD);
			} else if (line == -1) {
				paper_puts(paper, column, groups[i].heads, STYLE_DIM);
			} else {
				groups[i].put(view, column, (enum figure)line);
			}
			column += groups[i].cells;
		}
	}
}

/* All figures. */
static void write_figures(struct task_view *view)
{
	const struct detail *detail = &view->detail;
	struct paper *paper = &view->paper;
	bool shown[ARRAY_SIZE(groups)];
	int cells = NAME_CELLS;
	size_t from = 0;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		shown[i] = !(groups[i].put == put_range && detail->sum) &&
			   !(groups[i].put == put_stamp && !detail->record.stamp_valid);
		if (!shown[i])
			continue;
		if (i > from && cells + groups[i].cells > paper->width) {
			write_block(view, shown, from, i);
			paper->line++;
			from = i;
			cells = NAME_CELLS;
		}
		cells += groups[i].cells;
	}
	write_block(view, shown, from, ARRAY_SIZE(groups));
}

/* What the figures' names do not say. */
static void write_legend(struct task_view *view)
{
	const struct detail *detail = &view->detail;
	struct paper *paper = &view->paper;
	const struct frame *threads = detail->threads.frame;

	paper_puts(paper, 0, "run: on a CPU, exact; real: the same by clock ticks", STYLE_DIM);
	paper->line++;
	if (detail->error) {
		buf_printf(&paper->cell, "threads cannot be read: %s", strerror(-detail->error));
		paper_puts(paper, 0, buf_cstr(&paper->cell), STYLE_NOTE);
		paper->cell.len = 0;
		paper->line++;
	} else if (!detail->who.thread && detail->record.fields_valid && threads &&
		   threads->n > 1) {
		paper_puts(paper, 0, "max, min and the record: of the threads that live",
			   STYLE_DIM);
		paper->line++;
	}
}

/* ------------------------------------------------------------------------- */
/* The page.                                                                   */

/* The whole of it. */
static void write_page(struct task_view *view, struct ui *ui)
{
	const struct detail *detail = &view->detail;

	if (!detail->sum)
		write_identity(view, ui->frame);
	paper_part(&view->paper, "Delays");
	write_figures(view);
	write_legend(view);
	if (detail->of_group) {
		detail_group_write(detail, ui, &view->paper, &view->text);
		return;
	}
	if (detail->sum) {
		detail_account_write(ui->frame, &view->paper);
		return;
	}
	detail_threads_write(&view->threads, detail, &view->paper, ui);
	detail_record_write(detail, &view->paper);
}

/* The bar at the top: whose detail this is. */
static void draw_bar(struct task_view *view, struct ui *ui)
{
	const struct detail *detail = &view->detail;
	struct term *term = &ui->term;
	int column = 0;
	char text[48];

	term_put(term, 0, 0, term->columns, "", 0, STYLE_HEAD);
	if (detail->sum) {
		snprintf(text, sizeof(text), "%s%zu %s", detail->of_group ? "" : "sum of ",
			 detail->members, ui->frame->threads ? "threads" : "tasks");
		column = term_puts(term, 0, column, text, STYLE_HEAD);
		view->text.len = 0;
		if (detail->of_group)
			detail_group_name(detail, ui->term.charset, &view->text);
		term_put(term, 0, column, term->columns - column, view->text.data,
			 view->text.len, STYLE_HEAD);
		return;
	}
	snprintf(text, sizeof(text), "%s %d ", detail->who.thread ? "thread" : "process",
		 (int)detail->who.key.pid);
	column = term_puts(term, 0, column, text, STYLE_HEAD);
	view->text.len = 0;
	ui_escape(ui, &view->text, detail->who.comm);
	term_put(term, 0, column, term->columns - column, view->text.data, view->text.len,
		 STYLE_HEAD);
}

/* Says that the task has ended. */
static void draw_end(struct task_view *view, struct ui *ui)
{
	const struct detail *detail = &view->detail;
	char seen[TIME_TEXT], gone[TIME_TEXT], text[6 * TIME_TEXT];

	format_time(seen, "%H:%M:%S", detail->seen_ns);
	format_time(gone, "%H:%M:%S", detail->gone_ns);
	if (detail->seen_ns)
		snprintf(text, sizeof(text), "ended between %s and %s%s%s: its last figures", seen,
			 gone, *detail->how ? ", " : "", detail->how);
	else
		snprintf(text, sizeof(text), "ended before %s", gone);
	term_put(&ui->term, 1, 0, ui->term.columns, text, strlen(text), STYLE_NOTE);
}

/* The whole view. */
static void task_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct task_view *view = state;
	int top = 1 + view->detail.ended;

	if (height > 0)
		draw_bar(view, ui);
	if (view->detail.ended && height > 1)
		draw_end(view, ui);
	list->plain = true;
	paper_count(&view->paper, &ui->term);
	write_page(view, ui);
	list_size(list, view->paper.line, height > top ? (size_t)(height - top) : 0);
	paper_draw(&view->paper, list, top);
	write_page(view, ui);
}

/* What the machine's time went to is found out for the sum only. */
static unsigned task_needs(struct ui *ui, void *state)
{
	(void)ui;
	const struct detail *detail = &((struct task_view *)state)->detail;

	if (detail->of_group)
		return group_table[detail->group.which.by].needs | NEED_STAT;
	return detail->sum ? NEED_ACCOUNT : 0;
}

/* A new frame is there. */
static void task_frame(struct ui *ui, void *state)
{
	detail_next(&((struct task_view *)state)->detail, ui);
}

/* Names the task whose detail this is. */
static bool task_target(struct ui *ui, void *state, struct ui_task *task)
{
	const struct detail *detail = &((struct task_view *)state)->detail;

	if (detail->sum) {
		ui_complain(ui, "this is %s: signals and nice values are for one task",
			    detail->of_group ? "a group" : "a sum");
		return false;
	}
	*task = detail->who;
	if (detail->ended)
		ui_complain(ui, "%d no longer exists", (int)task->key.pid);
	return !detail->ended;
}

/* Frees the state. */
static void task_close(struct ui *ui, void *state)
{
	struct task_view *view = state;

	(void)ui;
	detail_free(&view->detail);
	detail_threads_free(&view->threads);
	buf_free(&view->text);
	buf_free(&view->paper.cell);
	free(view);
}

static const struct view_ops view_task = {
	.name = "task",
	.where = WHERE_TASK,
	.needs = task_needs,
	.frame = task_frame,
	.draw = task_draw,
	.target = task_target,
	.close = task_close,
};

/* Opens the page. */
static unsigned open_page(struct ui *ui, const struct ui_task *task, const struct group *group)
{
	struct task_view *view = xcalloc(1, sizeof(*view));

	detail_start(&view->detail, ui, task, group);
	ui_push(ui, &view_task, view);
	return REACT_REDRAW;
}

unsigned view_task_open(struct ui *ui, const struct ui_task *task)
{
	return open_page(ui, task, NULL);
}

unsigned view_task_open_group(struct ui *ui, const struct group *group)
{
	return open_page(ui, NULL, group);
}

unsigned view_task_part(struct ui *ui, int by)
{
	struct page *page = ui_page(ui);
	const struct task_view *view = page->state;
	const struct paper *paper = &view->paper;
	size_t top = page->list.top, to = by > 0 ? top : 0;

	for (size_t i = 0; i < paper->nparts; i++) {
		if (by > 0 ? paper->parts[i] > top : paper->parts[i] < top) {
			to = paper->parts[i];
			if (by > 0)
				break;
		}
	}
	list_scroll(&page->list, (long)to - (long)top);
	return REACT_REDRAW;
}
