/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings only about tasks that were asked about by name. */
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
		return held && held->tracer ? " is stopped by debugger"
					    : " is stopped by a debugger";
	return held && held->frozen ? " is frozen by its cgroup" : NULL;
}

bool finding_find_held(struct finder *finder, struct finding *finding)
{
	const struct frame *frame = finder->view.frame;
	struct buf *text = &finder->findings->text;
	const struct task_held *held;

	if (!finder->info->some)
		return false;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->task || row->exited ||
		    (finder->query && !query_takes(finder->query, row)))
			continue;
		if (!held_words(row, row_held(frame, row)))
			continue;
		if (!finding->n++)
			finding->row = row;
	}
	if (!finding->n)
		return false;
	held = row_held(frame, finding->row);
	finding->share = -1;
	finding->kind = wait_state_table[STATE_STOP].id;
	finding_put_who(finder, finding->row);
	buf_puts(text, held_words(finding->row, held));
	if (row_state(finding->row) == 't' && held && held->tracer)
		buf_printf(text, " %d %s", (int)held->tracer, held->tracer_comm);
	finding_put_others(finder, finding->n);
	return true;
}
