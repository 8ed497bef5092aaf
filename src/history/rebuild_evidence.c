/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/util.h"
#include "history/rebuild_parts.h"

/* Replaces a buffer's text by a kept one. */
static void keep_text_in(struct buf *out, const char *text)
{
	out->len = 0;
	if (text)
		buf_puts(out, text);
	buf_cstr(out);
}

/* Sets what a task waits on, and since when it hangs. */
static void set_explained_wait(struct rebuild *rebuild, const struct moment_evidence *row,
			       const struct task *task, struct task_extra *extra)
{
	struct task_waiting *waiting;

	if (row->since_ns)
		extra->hang = (struct task_hang){
			.tid = row->tid ? row->tid : task->key.pid,
			.since_ns = row->since_ns,
		};
	if (!row->tid)
		return;
	if (!extra->waiting)
		extra->waiting = xcalloc(1, sizeof(*extra->waiting));
	waiting = extra->waiting;
	waiting->tid = row->tid;
	/* Other states were written by a later version. */
	waiting->state = row->state < 0		    ? (enum wait_state)WAIT_STATES
			 : row->state < WAIT_STATES ? (enum wait_state)row->state
						    : STATE_OTHER;
	waiting->class = row->class >= 0 && row->class < WAIT_CLASSES ? (enum wait_class)row->class
								      : CLASS_UNKNOWN;
	waiting->number = -1;
	waiting->syscall = rebuild_keep_text(rebuild, row->syscall);
	keep_text_in(&waiting->on, rebuild_keep_text(rebuild, row->on));
	keep_text_in(&waiting->where, rebuild_keep_text(rebuild, row->where));
	keep_text_in(&waiting->stack, NULL);
}

/* Sets what holds a task, if that was read. */
static void set_explained_hold(struct rebuild *rebuild, const struct moment_evidence *row,
			       struct task_extra *extra)
{
	const char *comm;

	if (!row->held)
		return;
	if (!extra->held)
		extra->held = xcalloc(1, sizeof(*extra->held));
	comm = rebuild_keep_text(rebuild, row->tracer_name);
	*extra->held = (struct task_held){ .frozen = row->frozen, .tracer = row->tracer };
	if (comm)
		strncpy(extra->held->tracer_comm, comm, TASK_COMM_MAX);
}

/* Sets what explains a task's waits. */
static void set_explained(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_evidence *row = from;
	struct element *element = rebuild_element(rebuild, row->task);
	struct task_evidence *evidence;
	struct task_extra *extra;

	if (!element || element < rebuild->elements || element >= rebuild->elements + rebuild->n)
		return;
	extra = sample_add_extra(&rebuild->explained, (size_t)(element - rebuild->elements));
	if (row->known) {
		if (!extra->evidence)
			extra->evidence = xcalloc(1, sizeof(*extra->evidence));
		evidence = extra->evidence;
		evidence->throttled = row->throttled;
		evidence->quota = row->quota;
		evidence->memory_limit = row->memory_limit;
		evidence->memory_used = row->memory_used;
		evidence->rival = row->rival;
		evidence->writes = row->writes;
		evidence->io_limited = row->io_limited;
	}
	set_explained_hold(rebuild, row, extra);
	set_explained_wait(rebuild, row, element->raw.task, extra);
}

int rebuild_read_evidence(struct rebuild *rebuild, int64_t number)
{
	return archive_each(rebuild->archive, TABLE_EVIDENCE, number, set_explained, rebuild);
}
