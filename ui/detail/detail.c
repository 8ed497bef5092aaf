/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/detail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "history/cursor.h"
#include "ui/table/table_state.h"

/* The counters' ticks. */
static uint64_t ticks_of(const struct task_raw *raw)
{
	return raw->counters.user_ns + raw->counters.system_ns;
}

/* Time on a CPU in ticks, which a row's deltas lack. False: unknown. */
static bool row_ticks(const struct row *row, uint64_t *ns)
{
	const struct task_raw *before = row->before;

	if (!(row->raw->counters.valid & VALID_TICK) ||
	    (before ? !(before->counters.valid & VALID_TICK) : !row->born))
		return false;
	*ns = ticks_of(row->raw) - (before ? ticks_of(before) : 0);
	return true;
}

/* Time on a CPU in the view's unit; arg: whether in ticks. It runs as often as it waits for one. */
static struct value get_ran(const struct column *column, const struct view *view,
			    const struct row *row)
{
	uint64_t runs = row->deltas->grown.delay[DELAY_CPU].count, ns = row->deltas->grown.run_ns;
	bool known = column->arg ? row_ticks(row, &ns) : (row->valid & VALID_RUN) != 0;

	if (!known)
		return value_unset();
	if (view->unit == UNIT_PERCENT)
		return row->interval_ns
			       ? value_number((double)ns * 100.0 / (double)row->interval_ns)
			       : value_unset();
	if (view->unit == UNIT_MS)
		return value_number((double)ns / (double)NSEC_PER_MSEC);
	if (!(row->valid & DELAY_COUNT_BIT(DELAY_CPU)) || (view->unit == UNIT_AVG && !runs))
		return value_unset();
	if (view->unit == UNIT_COUNT)
		return value_number((double)runs);
	return value_number((double)ns / (double)runs / (double)NSEC_PER_MSEC);
}

const struct column *detail_column(enum figure figure)
{
	static const struct column ran[] = { { .id = "run", .get = get_ran },
					     { .id = "real", .get = get_ran, .arg = 1 } };
	const char *id = figure == FIGURE_TOTAL ? "total" : "mem";

	if (figure >= FIGURE_RUN)
		return &ran[figure - FIGURE_RUN];
	if (figure < FIGURE_TOTAL)
		id = wait_kind_id(figure);
	return column_by_id(id, strlen(id));
}

/* A column's value in a unit. */
static struct value value_in(const struct column *column, struct view view, enum unit unit,
			     const struct row *row)
{
	view.unit = unit;
	return column->get(column, &view, row);
}

/* Copies the figures of a row; booked: the accounted ones. */
static void take_figures(struct figure_values *figures, const struct frame *frame,
			 const struct row *row, bool booked)
{
	const struct view view = { .frame = frame, .booked = booked };

	for (enum figure f = 0; f < FIGURES; f++) {
		const struct column *column = detail_column(f);

		figures[f] = (struct figure_values){
			.count = value_in(column, view, UNIT_COUNT, row),
			.ms = value_in(column, view, UNIT_MS, row),
			.avg = value_in(column, view, UNIT_AVG, row),
			.share = value_in(column, view, UNIT_PERCENT, row),
		};
	}
}

/* Adds the shares of the interval to the history. */
static void remember_row(struct detail *detail)
{
	for (enum figure f = 0; f < FIGURES; f++) {
		const struct value *share = &detail->interval[f].share;

		spark_add(&detail->history[f],
			  share->type == VALUE_NUMBER ? share->number : (double)NAN);
	}
}

/* True if a task is the task of the detail. */
static bool is_detailed(const struct detail *detail, const struct task *task)
{
	const struct task_key *a = &detail->who.key, *b = &task->key;

	return a->pid == b->pid && task_same_start(a->start_ns, b->start_ns);
}

/* The task's row in a frame, or NULL. */
static const struct row *find_row(const struct detail *detail, const struct frame *frame)
{
	for (size_t i = 0; frame && i < frame->n; i++)
		if (is_detailed(detail, frame->rows[i].task))
			return &frame->rows[i];
	return NULL;
}

/* The task whose history is collected from past frames. */
struct taking {
	struct detail *detail;
	struct ui *ui;
};

/* Adds a frame of the past to the history. */
static void take_past(void *arg, UNUSED size_t i, const struct frame *frame)
{
	const struct taking *taking = arg;
	struct detail *detail = taking->detail;
	struct figure_values past[FIGURES] = { 0 };
	struct query query = taking->ui->query;
	struct view view = ui_view(taking->ui);
	struct order order = { 0 };
	const struct row *row = &order.sum;

	view.frame = frame;
	query.sort = NULL;
	query.rows = 0;
	if (detail->sum)
		query_run(&query, &view, &order);
	else
		row = find_row(detail, frame);
	if (row)
		take_figures(past, frame, row, detail->booked);
	for (enum figure f = 0; f < FIGURES; f++) {
		const struct value *share = &past[f].share;
		/* A figure unknown now was unknown then. */
		bool known = row && share->type == VALUE_NUMBER &&
			     detail->interval[f].share.type == VALUE_NUMBER;

		spark_add(&detail->history[f], known ? share->number : (double)NAN);
	}
	order_free(&order);
}

/* Starts the history with the stored samples before the shown one. */
static void begin_history(struct detail *detail, struct ui *ui)
{
	struct position positions[SPARK_CELLS - 1];
	struct taking taking = { detail, ui };
	struct cursor *past = ui->history.past;
	size_t n = 0;

	detail->jumps = ui->history.jumps;
	memset(detail->history, 0, sizeof(detail->history));
	if (past && !ui->history.back)
		cursor_want_threads(past, ui->sampler_config.threads);
	/* Threads below processes are not stored, nor sums over filtered rows or groups. */
	if (past && !detail->of_group &&
	    (detail->sum ? query_takes_all(&ui->query)
			 : detail->who.thread == ui->frame->info->threads))
		n = cursor_earlier(past, ui->frame->info->real_ns, positions,
				   ARRAY_SIZE(positions));
	cursor_walk(past, positions, n, take_past, &taking);
}

/* Adds the shown interval to the history, which starts with the earlier ones. */
static void continue_history(struct detail *detail, struct ui *ui)
{
	if (!detail->history[0].n || detail->jumps != ui->history.jumps)
		begin_history(detail, ui);
	remember_row(detail);
}

/* Copies the figures of the task's row. */
static void take_task_row(struct detail *detail, struct ui *ui, const struct frame *frame,
			  const struct row *row)
{
	struct deltas deltas;
	struct row of = row_of_interval(frame, row, &deltas);

	detail->task.start_ns = row->task->key.start_ns;
	detail->task.age_ns = row_age_ns(frame, row);
	detail->task.ppid = row->task->ppid;
	detail->interval_ns = of.interval_ns;
	take_figures(detail->interval, frame, &of, detail->booked);
	of = row_since_start(frame, row, &deltas);
	take_figures(detail->life, frame, &of, true);
	if (detail->interval_ns)
		continue_history(detail, ui);
}

/* Replaces a text; NULL keeps the old one. */
static void take_detail_text(struct buf *to, const char *text)
{
	if (!text)
		return;
	to->len = 0;
	buf_puts(to, text);
}

/* Replaces a text. */
static void copy_text(struct buf *to, const struct buf *from)
{
	to->len = 0;
	buf_add(to, from->data, from->len);
}

/* Formats the system call with its arguments; how many of the six it uses is unknown. */
static void take_call(struct buf *call, const struct task_waiting *waiting)
{
	call->len = 0;
	if (waiting->number < 0)
		return;
	if (waiting->syscall)
		buf_puts(call, waiting->syscall);
	else
		buf_printf(call, "system call %d", waiting->number);
	for (unsigned i = 0; i < WAITING_ARGS; i++)
		buf_printf(call, "%s0x%llx", i ? ", " : "(", (unsigned long long)waiting->args[i]);
	buf_putc(call, ')');
}

/* Copies a row's wait: see row_waiting(). */
static void take_wait(struct detail_wait *wait, const struct frame *frame, const struct row *row)
{
	const struct task_waiting *waiting = row_waiting(frame, row);

	wait->tid = waiting ? waiting->tid : 0;
	wait->cpu = row->task->cpu;
	if (!waiting)
		return;
	wait->state = waiting->state;
	take_call(&wait->call, waiting);
	copy_text(&wait->on, &waiting->on);
	copy_text(&wait->where, &waiting->where);
	copy_text(&wait->stack, &waiting->stack);
}

/* Copies the limits of the task's groups; for an exited task the last ones stay. */
static void take_limits(struct detail *detail, const struct frame *frame, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(frame, row);

	if (row->exited)
		return;
	evidence_free(detail->limits);
	detail->limits = evidence ? evidence_copy(evidence) : NULL;
}

/* Copies the task's description: its state, command line and so on. */
static void take_texts(struct detail *detail, struct ui *ui, const struct frame *frame,
		       const struct row *row)
{
	unsigned needs =
		NEED_COMMAND | NEED_CGROUP | NEED_LATEST | NEED_STACK | NEED_CPU | NEED_LIMITS;
	char state;

	if (frame == ui->frame)
		sampler_fill(ui->sampler, &row, 1, needs);
	else
		sampler_fill_threads(ui->sampler, &detail->threads, &row, 1, needs);
	take_detail_text(&detail->task.user, row->task->user);
	take_detail_text(&detail->task.command, row->task->command);
	take_detail_text(&detail->task.cgroup, row->task->cgroup);
	take_detail_text(&detail->task.pod, row->task->pod);
	take_detail_text(&detail->task.container, row->task->container);
	memcpy(detail->who.comm, row->task->comm, sizeof(detail->who.comm));
	state = row_state(row);
	if (state)
		detail->task.state = state;
	detail->task.waits_for =
		row_wait(frame, row, &detail->task.wait_ns) ? row_wait_state(row) : WAIT_STATES;
	detail->task.wait_exact = row->raw->now.exact;
	detail->states = row->traced ? row->traced->states : (struct wait_states){ 0 };
	take_wait(&detail->wait, frame, row);
	take_limits(detail, frame, row);
}

/* Adds the growth of a thread's counters. False: unknown. */
static bool add_growth(struct task_record *growth, const struct task_record *now,
		       const struct task_record *before, bool born)
{
	static const struct task_record none;

	if (!before && !born)
		return false;
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		uint64_t old = before ? before->field[f] : none.field[f];

		if (record_table[f].nature == RECORD_COUNTER && now->field[f] > old)
			growth->field[f] += now->field[f] - old;
	}
	growth->fields_valid |= now->fields_valid;
	return true;
}

/* The row's record, if valid: that of a live thread. */
static const struct task_record *record_of(const struct detail *detail, const struct row *row)
{
	if (row->exited || (detail->who.thread && !is_detailed(detail, row->task)))
		return NULL;
	return row_record(detail->threads.frame, row);
}

/* The record into which the others are merged: the leader's, or any if the leader has exited. */
static const struct task_record *first_record(const struct detail *detail)
{
	const struct frame *frame = detail->threads.frame;
	const struct task_record *first = NULL;

	for (size_t i = 0; i < frame->n; i++) {
		const struct task_record *record = record_of(detail, &frame->rows[i]);

		if (record && (!first || frame->rows[i].task->key.pid == detail->who.tgid))
			first = record;
	}
	return first;
}

/* Takes the records of the threads: merged into the process's, or the thread's own. */
static void take_records(struct detail *detail)
{
	const struct frame *frame = detail->threads.frame;
	const struct task_record *first = first_record(detail);
	bool grown = false;

	/* The process exited a moment ago: keeps the last record. */
	if (!first)
		return;
	detail->record = *first;
	detail->growth = (struct task_record){ 0 };
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		const struct task_record *record = record_of(detail, row);

		if (!record)
			continue;
		if (record != first)
			record_fold(&detail->record, record);
		grown |= add_growth(&detail->growth, record, row_record_before(frame, row),
				    row->born);
	}
	detail->record_interval_ns = grown ? frame->info->interval_ns : 0;
}

/* Reads the threads. */
static void read_detail_threads(struct detail *detail, struct ui *ui)
{
	/* Threads below processes are not stored in the history. */
	if (ui->history.back) {
		threads_close(&detail->threads);
		detail->record = (struct task_record){ 0 };
		detail->record_interval_ns = 0;
		detail->error = -ENODATA;
		return;
	}
	threads_want(&detail->threads, &detail->who.tgid, 1, false);
	detail->error = sampler_read_threads(ui->sampler, &detail->threads, NEED_RECORD);
	if (!detail->error)
		take_records(detail);
}

/* Adds a task's memory delay of its whole life. */
static void add_mem(struct delay_sum *sum, const struct row *row)
{
	struct counters life = row_totals(row);
	struct delay_sum mem = delay_mem(life.delay, life.valid);

	sum->count += mem.count;
	sum->ns += mem.ns;
}

/* The memory delay of the whole lives of all rows; for groups, of their own members. */
static struct delay_sum sum_mem(const struct order *order)
{
	struct delay_sum sum = { 0, 0 };

	for (size_t i = 0; i < order->n; i++) {
		const struct group *group = order->rows[i]->group;

		for (size_t m = 0; group && m < group->own; m++)
			add_mem(&sum, group->members[m]);
		if (!group)
			add_mem(&sum, order->rows[i]);
	}
	return sum;
}

/* Adds up the whole lives of groups' own members: usually groups are folded without lives. */
static void add_thread_states(struct order *order)
{
	memset(&order->sum_raw, 0, sizeof(order->sum_raw));
	for (size_t i = 0; i < order->n; i++) {
		const struct group *group = order->rows[i]->group;

		for (size_t m = 0; m < group->own; m++)
			row_add_totals(&order->sum_raw.counters, group->members[m]);
	}
}

/* Sets the member of a group with most waits. */
static void take_worst(struct detail_group *group, const struct order *order)
{
	const struct row *worst = NULL;

	group->worst.len = 0;
	for (size_t i = 0; i < order->n; i++)
		if (order->rows[i]->deltas->waited.total >
		    (worst ? worst->deltas->waited.total : 0))
			worst = order->rows[i];
	if (!worst)
		return;
	buf_puts(&group->worst, worst->task->comm);
	group->worst_pid = worst->task->key.pid;
	group->worst_ns = worst->deltas->waited.total;
}

/* Counts a group's members by state, like the columns. */
static void count_states(struct detail_group *group, const struct order *order)
{
	static const char letters[] = { 'S', 'R', 'T', 'D', STATE_IOWAIT };
	struct cgroup_states *states = &group->states;
	uint64_t *const counts[] = { &states->sleeping, &states->running, &states->stopped,
				     &states->uninterruptible, &states->io_wait };

	*states = (struct cgroup_states){ 0 };
	group->stateless = 0;
	for (size_t i = 0; i < order->n; i++) {
		group->stateless += !row_state(order->rows[i]);
		for (size_t s = 0; s < ARRAY_SIZE(letters); s++) {
			struct value value = row_in_state(order->rows[i], letters[s]);

			*counts[s] += value.type == VALUE_NUMBER && value.number > 0;
		}
	}
}

/* Copies the contents of a group's files. */
static void take_files(struct detail_group *group, struct ui *ui)
{
	const struct row *row = ui_group_row(ui, group->which.id);
	const struct group_figures *figures;

	group->now.have = group->before.have = 0;
	if (!row || group->which.by != GROUP_CGROUP)
		return;
	sampler_fill(ui->sampler, &row, 1, NEED_GROUP_PARTS);
	figures = row->group->figures;
	if (figures->now)
		group->now = *figures->now;
	if (figures->before)
		group->before = *figures->before;
}

/* Copies the figures of the sum over the rows that pass. */
static void take_sum(struct detail *detail, struct ui *ui)
{
	struct query query = ui->query;
	struct view view = ui_view(ui);
	struct order *order = &detail->order;
	struct deltas deltas;
	struct row of;
	bool of_groups = !detail->of_group && ui_folds(ui) && ui_rows_frame(ui);

	/* Requests only the sum. */
	query.sort = NULL;
	query.rows = 0;
	order->life = true;
	if (detail->of_group) {
		/* These filters choose groups: this group has passed, with all its members. */
		query.active = query.hangs = false;
		query.over_ms = -1;
		ui_only_group(&detail->group.which, &query);
	}
	/* Filters on figures choose groups: the sum is over those groups, as in the sum row. */
	if (of_groups)
		view.frame = ui_rows_frame(ui);
	query_run(&query, &view, order);
	if (of_groups)
		add_thread_states(order);
	if (detail->of_group) {
		take_worst(&detail->group, order);
		count_states(&detail->group, order);
		take_files(&detail->group, ui);
	}
	detail->members = of_groups ? order->sum.members : order->passed;
	detail->interval_ns = view.frame->info->interval_ns;
	of = row_of_interval(view.frame, &order->sum, &deltas);
	take_figures(detail->interval, view.frame, &of, detail->booked);
	of = row_since_start(view.frame, &order->sum, &deltas);
	/* The larger of swapin and thrash was chosen for each member separately. */
	deltas.mem = sum_mem(order);
	take_figures(detail->life, view.frame, &of, true);
	if (detail->interval_ns)
		continue_history(detail, ui);
}

/* The frame with the task's row: a thread below a process is only in the threads' frame. */
static const struct frame *frame_of(const struct detail *detail, const struct ui *ui)
{
	if (detail->who.thread == ui->frame->info->threads)
		return ui->frame;
	return detail->who.thread ? detail->threads.frame : NULL;
}

/* Copies the task's row of the current frame. */
static void take_detail_task(struct detail *detail, struct ui *ui)
{
	const struct frame *frame = frame_of(detail, ui);
	const struct row *row = find_row(detail, frame);

	/* The rows are threads now, so that a process has no row. */
	if (!frame)
		return;
	detail->absent = !row && ui->history.back;
	if (detail->absent) {
		detail->interval_ns = 0;
		return;
	}
	if (!row) {
		detail->ended = true;
		detail->gone_ns = ui->frame->info->real_ns;
		return;
	}
	take_task_row(detail, ui, frame, row);
	take_texts(detail, ui, frame, row);
	detail->ended = row->exited;
	if (row->exited && row->task->ended)
		snprintf(detail->how, sizeof(detail->how), "%s", row->task->ended);
	detail->gone_ns = ui->frame->info->real_ns;
	if (!row->exited)
		detail->seen_ns = ui->frame->info->real_ns;
}

void detail_start(struct detail *detail, struct ui *ui, const struct ui_task *task,
		  const struct group *group)
{
	detail->sum = !task;
	detail->of_group = group;
	detail->booked = ui->settings->booked;
	if (group)
		ui_take_group(ui, &detail->group.which, group);
	if (detail->sum) {
		take_sum(detail, ui);
		return;
	}
	detail->who = *task;
	read_detail_threads(detail, ui);
	take_detail_task(detail, ui);
}

void detail_next(struct detail *detail, struct ui *ui)
{
	if (detail->sum) {
		take_sum(detail, ui);
		return;
	}
	if (detail->jumps != ui->history.jumps)
		detail->ended = false;
	if (detail->ended)
		return;
	/* Comes first, so that a process that exits meanwhile keeps its last threads. */
	if (detail->who.thread || frame_of(detail, ui) != ui->frame || find_row(detail, ui->frame))
		read_detail_threads(detail, ui);
	take_detail_task(detail, ui);
}

static void free_wait(struct detail_wait *wait)
{
	buf_free(&wait->call);
	buf_free(&wait->on);
	buf_free(&wait->where);
	buf_free(&wait->stack);
}

void detail_free(struct detail *detail)
{
	threads_close(&detail->threads);
	order_free(&detail->order);
	buf_free(&detail->group.which.name);
	buf_free(&detail->group.worst);
	buf_free(&detail->task.user);
	buf_free(&detail->task.command);
	buf_free(&detail->task.cgroup);
	buf_free(&detail->task.pod);
	buf_free(&detail->task.container);
	free_wait(&detail->wait);
	evidence_free(detail->limits);
}
