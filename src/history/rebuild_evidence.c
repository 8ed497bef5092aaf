/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/util.h"
#include "history/rebuild_parts.h"

/* A real number of a row. */
static double real_of(sqlite3_stmt *row, int column, double absent)
{
	return archive_null(row, column) ? absent : sqlite3_column_double(row, column);
}

/* Replaces a text by a kept one. */
static void keep_text_in(struct buf *out, const char *text)
{
	out->len = 0;
	if (text)
		buf_puts(out, text);
	buf_cstr(out);
}

/* Takes what a task waits on, and since when it is kept waiting. */
static void take_explained_wait(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
				struct task *task, bool *bad)
{
	int64_t state = archive_int(row, 3, 0, INT64_MAX, WAIT_STATES, bad);
	int64_t class = archive_int(row, 4, 0, INT64_MAX, CLASS_UNKNOWN, bad);
	struct task_waiting *waiting;
	int64_t texts[3];

	for (int i = 0; i < 3; i++)
		texts[i] = archive_int(row, 5 + i, 0, INT64_MAX, 0, bad);
	if (!archive_null(row, 2))
		task->hang = (struct task_hang){
			.sample_ns = rebuild->begin_ns,
			.tid = (pid_t)archive_int(row, 1, 0, INT32_MAX, task->key.pid, bad),
			.since_ns = archive_uint(row, 2, 0, bad),
		};
	if (archive_null(row, 1))
		return;
	if (!task->waiting)
		task->waiting = xcalloc(1, sizeof(*task->waiting));
	waiting = task->waiting;
	waiting->sample_ns = rebuild->begin_ns;
	waiting->tid = (pid_t)archive_int(row, 1, 0, INT32_MAX, 0, bad);
	/* Of a later version. */
	waiting->state = state <= WAIT_STATES ? (enum wait_state)state : STATE_OTHER;
	waiting->class = class < WAIT_CLASSES ? (enum wait_class) class : CLASS_UNKNOWN;
	waiting->number = -1;
	waiting->syscall = rebuild_keep_text(rebuild, archive, texts[0], bad);
	keep_text_in(&waiting->on, rebuild_keep_text(rebuild, archive, texts[1], bad));
	keep_text_in(&waiting->where, rebuild_keep_text(rebuild, archive, texts[2], bad));
	keep_text_in(&waiting->stack, NULL);
}

/* Takes what holds a task that was asked about. */
static void take_explained_hold(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
				struct task *task, bool *bad)
{
	int64_t name = archive_int(row, 17, 0, INT64_MAX, 0, bad);
	bool frozen = archive_int(row, 15, 0, 1, 0, bad);
	pid_t tracer = (pid_t)archive_int(row, 16, 0, INT32_MAX, 0, bad);
	const char *comm;

	if (archive_null(row, 15))
		return;
	if (!task->held)
		task->held = xcalloc(1, sizeof(*task->held));
	comm = rebuild_keep_text(rebuild, archive, name, bad);
	*task->held = (struct task_held){ .sample_ns = rebuild->begin_ns,
					  .frozen = frozen,
					  .tracer = tracer };
	if (comm)
		strncpy(task->held->tracer_comm, comm, TASK_COMM_MAX);
}

/* Takes what explains a task. */
static void take_explained(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			   bool *bad)
{
	struct element *element = rebuild_element(rebuild, archive, row, bad);
	struct task_evidence *evidence;
	struct task *task;

	if (!element)
		return;
	task = element->raw.task;
	if (archive_int(row, 8, 0, 1, 0, bad)) {
		if (!task->evidence)
			task->evidence = xcalloc(1, sizeof(*task->evidence));
		evidence = task->evidence;
		evidence->sample_ns = rebuild->begin_ns;
		evidence->throttled = real_of(row, 9, -1);
		evidence->quota = real_of(row, 10, 0);
		evidence->memory_limit = archive_uint(row, 11, 0, bad);
		evidence->memory_used = archive_uint(row, 12, 0, bad);
		evidence->rival = (pid_t)archive_int(row, 13, 0, INT32_MAX, 0, bad);
		evidence->writes = real_of(row, 14, -1);
		evidence->io_limited = archive_int(row, 18, 0, 1, 0, bad);
	}
	take_explained_hold(rebuild, archive, row, task, bad);
	take_explained_wait(rebuild, archive, row, task, bad);
}

int rebuild_read_evidence(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	if (archive->version < 6)
		return 0;
	return rebuild_each_row(rebuild, archive, QUERY_EVIDENCE, number, take_explained);
}
