/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/detail_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "data/wait_state.h"
#include "ui/detail/detail_figures.h"

/* Cells of a field's parts; the meaning gets the rest. */
#define FIELD_CELLS 26
#define GROWTH_CELLS 12
#define VALUE_CELLS 17
#define UNIT_CELLS 5

/* Maximum lines of a command line before the figures; all of it comes at the end. */
#define COMMAND_LINES 3

#define MIB (1024.0 * 1024.0)

/* Percent of a memory limit from which the use is highlighted. */
#define MEMORY_WARM 90.0
#define MEMORY_HOT 98.0

/* The width from which two fields share a line. */
#define FIELDS_TWICE 170

/* The meaning of a state's letter. */
static const char *state_words(char state)
{
	static const char *const words[] = {
		"R running",
		"S sleeping",
		"D uninterruptible sleep",
		"T stopped",
		"t stopped by a tracer",
		"Z zombie: has exited",
		"X dead",
		"I idle",
		"P parked",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i][0] == state)
			return words[i];
	return "-";
}

/* Writes the current text, and the group of the limit. */
static void write_limit(struct detail_page *page, const struct limiting_group *group,
			enum style style)
{
	struct pager *pager = &page->pager;
	struct buf *text = &page->text;

	buf_puts(text, ", cgroup ");
	text_escape(text, group->name, strlen(group->name), pager->term->charset);
	buf_putc(text, ')');
	pager_put(pager, 0, pager->width, text->data, text->len, style);
	pager->line++;
	text->len = 0;
}

/* Writes how cgroup limits slow the task: they may look like a busy machine. */
static void write_task_limits(struct detail_page *page, const struct task_evidence *limits)
{
	struct buf *text = &page->text;
	double used;

	text->len = 0;
	if (limits->quota > 0 && limits->budget == BUDGET_QUOTA && limits->cpu_group.name) {
		if (limits->throttled >= 0)
			buf_printf(text, "its cgroup is throttled %.1f %% (", limits->throttled);
		else
			buf_puts(text, "its cgroup may be throttled (");
		buf_printf(text, "quota %.0f %%", limits->quota * 100);
		write_limit(page, &limits->cpu_group, style_of_share(limits->throttled));
	}
	if (limits->io_limits && limits->io_group.name) {
		buf_puts(text, "I/O limit of its cgroup (");
		text_escape(text, limits->io_limits, strlen(limits->io_limits),
			    page->pager.term->charset);
		write_limit(page, &limits->io_group, STYLE_NORMAL);
	}
	if (!limits->memory_limit || !limits->memory_group.name)
		return;
	used = (double)limits->memory_used * 100.0 / (double)limits->memory_limit;
	buf_printf(text, "its cgroup uses %.1f of %.1f MiB of memory (%.0f %% of its limit",
		   (double)limits->memory_used / MIB, (double)limits->memory_limit / MIB, used);
	write_limit(page, &limits->memory_group,
		    used >= MEMORY_HOT	  ? STYLE_HOT
		    : used >= MEMORY_WARM ? STYLE_WARM
					  : STYLE_NORMAL);
}

/* Prints how long the task has been waiting, and for what. */
static int put_wait_in_progress(struct detail_page *page, int column,
				const struct detail_task *task)
{
	static const char *const words[WAIT_STATES] = {
		[STATE_CPU] = "a CPU",
		[STATE_IO] = "block I/O",
		[STATE_DWAIT] = "other than I/O (dwait)",
	};
	struct buf *text = &page->text;

	text->len = 0;
	buf_puts(text, task->wait_exact ? "" : ">= ");
	buf_fixed(text, task->wait_ns / NSEC_PER_MSEC, 3);
	buf_printf(text, " s for %s", words[task->waits_for]);
	return pager_item(&page->pager, column, "waiting", text->data, text->len);
}

/* Writes the lines that describe the task. Returns whether its command line is complete. */
static bool write_identity(struct detail_page *page, const struct detail *detail,
			   const struct frame *frame)
{
	const struct detail_task *task = &detail->task;
	struct pager *pager = &page->pager;
	char text[DETAIL_TIME];
	bool whole;
	int at = 0;

	page->text.len = 0;
	text_escape(&page->text, task->user.data, task->user.len, pager->term->charset);
	at = pager_item(pager, at, "user", page->text.data, page->text.len);
	at = pager_item_plain(pager, at, "state",
			      detail->ended ? "ended" : state_words(task->state));
	if (task->waits_for < WAIT_STATES && !detail->ended)
		at = put_wait_in_progress(page, at, task);
	at = pager_item_number(pager, at, "parent", (uint64_t)task->ppid);
	if (detail->who.thread)
		at = pager_item_number(pager, at, "process", (uint64_t)detail->who.tgid);
	if (detail->threads.frame)
		at = pager_item_number(pager, at, "threads", detail->threads.frame->n);
	detail_time(text, "%Y-%m-%d %H:%M:%S", clocks_real_ns(frame->info->clocks, task->start_ns));
	at = pager_item_plain(pager, at, "started", text);
	detail_span(text, detail->task.age_ns);
	pager_item_plain(pager, at, "age", text);
	pager->line++;
	whole = pager_some(pager, "command", task->command.data, task->command.len, COMMAND_LINES);
	if (!whole) {
		pager_puts(pager, strlen("command "), "(whole at the end of this page)", STYLE_DIM);
		pager->line++;
	}
	pager_long(pager, "cgroup", task->cgroup.data, task->cgroup.len);
	if (task->pod.len)
		pager_long(pager, "pod", task->pod.data, task->pod.len);
	if (task->container.len)
		pager_long(pager, "container", task->container.data, task->container.len);
	if (!detail->ended)
		detail_wait_name(&detail->wait, pager);
	if (detail->limits)
		write_task_limits(page, detail->limits);
	return whole;
}

/* Writes explanations that the figures' names do not give. */
static void write_legend(const struct detail *detail, struct pager *pager)
{
	const struct frame *threads = detail->threads.frame;

	const char *lines[] = {
		detail->booked ? "all figures: accounted when a wait ends"
			       : "waited ms, history: as waits go on; rest: when they end",
		"dwait: uninterruptible sleep not for I/O; never accounted",
		"run: time on a CPU, exact; real: the same, counted in clock ticks",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++, pager->line++)
		pager_puts(pager, 0, lines[i], STYLE_DIM);
	if (detail->error) {
		if (detail->error == -ENODATA)
			buf_puts(&pager->cell, "the history has no threads");
		else
			buf_printf(&pager->cell, "threads cannot be read: %s",
				   strerror(-detail->error));
		pager_puts(pager, 0, buf_cstr(&pager->cell), STYLE_NOTE);
		pager->cell.len = 0;
		pager->line++;
	} else if (!detail->who.thread && detail->record.fields_valid && threads &&
		   threads->n > 1) {
		pager_puts(pager, 0, "max, min and the record: of the threads alive now",
			   STYLE_DIM);
		pager->line++;
	}
}

/* Cells of the growth: in a narrow field it is left out. */
static int growth_room(int cells)
{
	return cells >= FIELD_CELLS + GROWTH_CELLS + VALUE_CELLS ? GROWTH_CELLS : 0;
}

/* Prints one field, in so many cells. */
static void put_field(const struct detail *detail, struct pager *pager, int column, int cells,
		      unsigned f)
{
	const struct record_row *row = &record_table[f];
	int room = cells - FIELD_CELLS, growth_cells = growth_room(cells);
	int value_cells = room - growth_cells < VALUE_CELLS ? room - growth_cells : VALUE_CELLS;
	bool grows = growth_cells && row->nature == RECORD_COUNTER;
	struct value growth = value_unset(), value = value_number((double)detail->record.field[f]);
	int end = column + cells;

	if (row->type == RECORD_S8)
		value.number = (double)(int64_t)detail->record.field[f];
	if (grows && detail->record_interval_ns && detail->growth.fields_valid & RECORD_BIT(f))
		growth = value_number((double)detail->growth.field[f]);
	column = pager_put(pager, column, FIELD_CELLS, row->id, strlen(row->id), STYLE_LABEL);
	if (value_cells < 2)
		return;
	if (grows)
		value_append(&pager->cell, &growth, FORMAT_COUNT, (unsigned)growth_cells - 1);
	column = pager_right(pager, column, growth_cells,
			     growth.type == VALUE_NUMBER && growth.number > 0 ? STYLE_NORMAL
									      : STYLE_DIM);
	value_append(&pager->cell, &value, FORMAT_COUNT, (unsigned)value_cells - 1);
	column = pager_right(pager, column, value_cells,
			     value.number != 0 ? STYLE_NORMAL : STYLE_DIM);
	if (column >= end)
		return;
	column = pager_put(pager, column + 1, UNIT_CELLS, row->unit, strlen(row->unit), STYLE_DIM);
	if (column < end)
		pager_put(pager, column, end - column, row->help, strlen(row->help), STYLE_DIM);
}

/* Prints the headings of the columns, in the line of the part's title. */
static void put_heads(struct pager *pager, int column, int cells)
{
	int end = column + cells;

	column += FIELD_CELLS;
	if (growth_room(cells)) {
		buf_puts(&pager->cell, "interval");
		column = pager_right(pager, column, GROWTH_CELLS, STYLE_DIM);
	}
	if (column + VALUE_CELLS >= end)
		return;
	buf_puts(&pager->cell, "now");
	column = pager_right(pager, column, VALUE_CELLS, STYLE_DIM);
	pager_puts(pager, column + 1, "unit", STYLE_DIM);
}

/* Writes the fields of one group. Returns false if the record has none of them. */
static bool write_group(const struct detail *detail, struct pager *pager, const char *group,
			int across)
{
	const struct task_record *record = &detail->record;
	int cells = pager->width / across, place = 0;
	char title[32];

	snprintf(title, sizeof(title), "Record: %s", group);
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		if (!(record->fields_valid & RECORD_BIT(f)) ||
		    strcmp(record_table[f].group, group) != 0)
			continue;
		if (!place) {
			pager_part(pager, title);
			pager->line--;
			for (int i = 0; i < across; i++)
				put_heads(pager, i * cells, cells);
		}
		if (place % across == 0)
			pager->line++;
		if (pager_shows(pager))
			put_field(detail, pager, place % across * cells, cells - 2, f);
		place++;
	}
	pager->line += place != 0;
	return place != 0;
}

/* Writes the record's fields that are not delays, one part per group, in the order of its table. */
static void write_records(const struct detail *detail, struct pager *pager)
{
	int across = pager->width >= FIELDS_TWICE ? 2 : 1;
	bool any = false;

	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		unsigned first = 0;

		while (strcmp(record_table[first].group, record_table[f].group) != 0)
			first++;
		if (first == f)
			any |= write_group(detail, pager, record_table[f].group, across);
	}
	/* The page says above that records are not stored in the history. */
	if (any || detail->error == -ENODATA)
		return;
	pager_part(pager, "Record");
	pager_puts(pager, 0, "no records from this source: see help, notes", STYLE_DIM);
	pager->line++;
}

/* A share of the interval in percent; 0 if unknown. */
static double known_share(const struct detail *detail, unsigned figure)
{
	const struct value *share = &detail->interval[figure].share;

	return share->type == VALUE_NUMBER && share->number > 0 ? share->number : 0;
}

/* Prints a name followed by a share. Returns the column for the next. */
static int put_named_share(struct pager *pager, int column, const char *name, double share,
			   enum style style)
{
	column = pager_puts(pager, column, name, style);
	buf_putc(&pager->cell, ' ');
	buf_decimal(&pager->cell, share, 1);
	buf_puts(&pager->cell, " %");
	column = pager_put(pager, column, (int)pager->cell.len, pager->cell.data, pager->cell.len,
			   STYLE_NORMAL);
	pager->cell.len = 0;
	return column + 2;
}

/* Shares of the interval by state, in percent; as far as the kernel counts them, or as traced. */
static double take_shares(const struct detail *detail, double shares[WAIT_STATES])
{
	double alive = 0, total = known_share(detail, FIGURE_TOTAL);

	memset(shares, 0, WAIT_STATES * sizeof(*shares));
	for (unsigned state = 0; state < WAIT_STATES; state++)
		alive += (double)detail->states.ns[state];
	for (unsigned state = 0; alive > 0 && state < WAIT_STATES; state++)
		shares[state] =
			(double)detail->states.ns[state] * 100 / (double)detail->interval_ns;
	if (alive > 0)
		return alive * 100 / (double)detail->interval_ns;
	shares[STATE_RUN] = known_share(detail, FIGURE_RUN);
	shares[STATE_CPU] = known_share(detail, DELAY_CPU);
	shares[STATE_IO] = known_share(detail, DELAY_BLKIO);
	shares[STATE_DWAIT] = fmax(total - shares[STATE_CPU] - shares[STATE_IO], 0);
	return 100.0 * (detail->threads.frame && detail->threads.frame->n
				? (double)detail->threads.frame->n
				: 1);
}

/*
 * Writes the use of the interval's time: on a CPU, waiting for one, blocked, and on what; and a bar
 * of it, whose width is all the time of the threads.
 */
static void write_time_bar(struct detail_page *page, const struct detail *detail)
{
	static const enum wait_state blocked[] = { STATE_IO,  STATE_DWAIT, STATE_LOCK,
						   STATE_NET, STATE_PIPE,  STATE_CHILD };
	struct pager *pager = &page->pager;
	double shares[WAIT_STATES], all, sum = 0, end = 0;
	int column = 0;

	if (!detail->interval_ns)
		return;
	all = take_shares(detail, shares);
	for (size_t i = 0; i < ARRAY_SIZE(blocked); i++)
		sum += shares[blocked[i]];
	pager_part(pager, all > 150 ? "Time of all threads" : "Time");
	column = put_named_share(pager, 0, "on CPU", shares[STATE_RUN], style_of_state('r'));
	column = put_named_share(pager, column, "waiting for a CPU", shares[STATE_CPU],
				 style_of_state('c'));
	column = put_named_share(pager, column, "blocked", sum, STYLE_BOLD);
	/* Other kinds of sleep, too: time in no share would be missing. */
	for (unsigned state = 0; state < WAIT_STATES; state++)
		if (state != STATE_RUN && state != STATE_CPU && shares[state] >= 0.05)
			column = put_named_share(pager, column, wait_state_table[state].id,
						 shares[state],
						 style_of_state(wait_state_table[state].letter));
	pager->line++;
	column = 0;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		char letter = wait_state_table[state].letter;

		end += shares[state] * pager->width / all;
		for (; column < pager->width && column + 0.5 < end; column++)
			pager_put(pager, column, 1, &letter, 1, style_of_state(letter));
	}
	for (; column < pager->width; column++)
		pager_put(pager, column, 1, ".", 1, STYLE_DIM);
	pager->line++;
}

void detail_page_write(struct detail_page *page, const struct detail *detail, struct ui *ui)
{
	struct pager *pager = &page->pager;
	bool whole = true;

	page->threads.n = 0;
	if (!detail->sum)
		whole = write_identity(page, detail, ui->frame);
	if (!detail->sum)
		write_time_bar(page, detail);
	if (page->extra.write)
		page->extra.write(page->extra.arg, ui, pager);
	pager_part(pager, "Delays");
	detail_figures_write(detail, pager);
	write_legend(detail, pager);
	if (detail->of_group) {
		detail_group_write(detail, ui, pager, &page->text);
		return;
	}
	if (detail->sum) {
		detail_account_write(&ui->frame->info->head.account, pager);
		return;
	}
	if (!detail->ended)
		detail_wait_write(&detail->wait, pager, &page->text);
	detail_threads_write(&page->threads, detail, ui, pager);
	write_records(detail, pager);
	if (whole)
		return;
	pager_part(pager, "Command line");
	pager_long(pager, "command", detail->task.command.data, detail->task.command.len);
}

void detail_page_free(struct detail_page *page)
{
	detail_threads_free(&page->threads);
	if (page->extra.free)
		page->extra.free(page->extra.arg);
	buf_free(&page->text);
	buf_free(&page->pager.cell);
}

void detail_wait_name(const struct detail_wait *wait, struct pager *pager)
{
	if (!wait->tid)
		return;
	pager_long(pager, "sleeps in", wait->where.data, wait->where.len);
	pager_long(pager, "waits on", wait->on.data, wait->on.len);
}

/* Writes the functions of the stack, one per line. */
static void write_stack(const struct buf *stack, struct pager *pager, struct buf *scratch)
{
	const char *name = "stack";
	struct span text = { stack->data, stack->data + stack->len }, line;

	if (!stack->len)
		return;
	while (take_line(&text, &line)) {
		scratch->len = 0;
		text_escape(scratch, line.at, (size_t)(line.end - line.at), pager->term->charset);
		pager_puts(pager, 0, name, STYLE_DIM);
		pager_put(pager, 6, pager->width - 6, scratch->data, scratch->len, STYLE_NORMAL);
		pager->line++;
		name = "";
	}
}

void detail_wait_write(const struct detail_wait *wait, struct pager *pager, struct buf *scratch)
{
	int at = 0;

	if (!wait->tid && !wait->cpu)
		return;
	pager_part(pager, "Waits for");
	if (wait->tid && wait->state < WAIT_STATES)
		at = pager_item_plain(pager, at, "state", wait_state_table[wait->state].id);
	if (wait->tid)
		at = pager_item_number(pager, at, "thread", (uint64_t)wait->tid);
	if (wait->cpu)
		pager_item_number(pager, at, "last on CPU", wait->cpu - 1);
	pager->line++;
	if (!wait->tid)
		return;
	pager_long(pager, "system call", wait->call.data, wait->call.len);
	pager_long(pager, "on", wait->on.data, wait->on.len);
	pager_long(pager, "where", wait->where.data, wait->where.len);
	write_stack(&wait->stack, pager, scratch);
}
