/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found of tasks that were asked about by name and of no others. */
#include "config.h"

#include "base/util.h"
#include "model/frame.h"
#include "view/findings_parts.h"

/* How a task is held, in words: " is stopped", " by debugger" follows; NULL: it is not held. */
static const char *held_words(const struct row *row, const struct task_held *held)
{
	char state = row_state(row);

	if (state == 'T')
		return " is stopped";
	if (state == 't')
		return held->tracer ? " is stopped by debugger" : " is stopped by a debugger";
	return held->frozen ? " is frozen by its cgroup" : NULL;
}

/* What was read of a row with the last sample; nothing where that was not. */
static struct task_held held_of(const struct finder *finder, const struct row *row)
{
	const struct sample *cur = finder->info->cur;

	return cur && row->task->held && row->task->held->sample_ns == cur->begin_ns
		       ? *row->task->held
		       : (struct task_held){ 0 };
}

bool finding_find_held(struct finder *finder, struct finding *finding)
{
	const struct frame *frame = finder->view.frame;
	struct buf *text = &finder->findings->text;
	struct task_held first = { 0 }, held;
	const char *words = NULL;

	if (!finder->info->some)
		return false;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->task || row->exited ||
		    (finder->query && !query_takes(finder->query, row)))
			continue;
		held = held_of(finder, row);
		if (!held_words(row, &held))
			continue;
		finding->n++;
		if (words)
			continue;
		finding->row = row;
		words = held_words(row, &held);
		first = held;
	}
	if (!words)
		return false;
	finding->share = -1;
	finding->kind = wait_state_table[STATE_STOP].id;
	finding_put_who(finder, finding->row);
	buf_puts(text, words);
	if (row_state(finding->row) == 't' && first.tracer)
		buf_printf(text, " %d %s", (int)first.tracer, first.tracer_comm);
	finding_put_others(finder, finding->n);
	return true;
}
