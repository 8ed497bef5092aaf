/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "out/series_hangs.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/series_label.h"

/* Frees the texts of one. */
static void drop_hang(struct series_hang *hang)
{
	free(hang->labels);
	free(hang->comm);
	free(hang->syscall);
	free(hang->on);
	*hang = (struct series_hang){ 0 };
}

void series_hangs_free(struct series_hangs *hangs)
{
	while (hangs->n)
		drop_hang(&hangs->all[--hangs->n]);
}

void series_hangs_begin(struct series_hangs *hangs)
{
	series_hangs_free(hangs);
}

/* A text as a label; one that is too long is left out, as a part of it may be another's. */
static char *label_of(const char *text)
{
	struct buf label = { 0 };
	char *copy;

	if (text)
		series_label(&label, text);
	copy = xstrdup(label.len <= SERIES_LABEL_MAX ? buf_cstr(&label) : "");
	buf_free(&label);
	return copy;
}

void series_hangs_add(struct series_hangs *hangs, const struct frame *frame, const struct row *row,
		      const char *labels)
{
	const struct task_waits *waits = &row->raw->now.waits;
	const struct task_waiting *waiting = row_waiting(frame, row);
	uint64_t now_ns = sample_read_ns(frame->info->cur, row->raw), ns;
	size_t at = hangs->n;

	if (!waits->tid || row->exited || now_ns < waits->tid_ns + SERIES_HANG_NS)
		return;
	ns = now_ns - waits->tid_ns;
	if (at == SERIES_HANGS) {
		if (hangs->all[--at].ns >= ns)
			return;
		drop_hang(&hangs->all[at]);
	} else {
		hangs->n++;
	}
	for (; at && hangs->all[at - 1].ns < ns; at--)
		hangs->all[at] = hangs->all[at - 1];
	hangs->all[at] = (struct series_hang){
		.ns = ns,
		.pid = row->task->key.pid,
		.kind = waits->threads[SEEN_BLKIO] ? SEEN_BLKIO : SEEN_DWAIT,
		.labels = xstrdup(labels),
		.comm = label_of(row->task->comm),
		.syscall = label_of(waiting ? waiting->syscall : NULL),
		.on = label_of(waiting && waiting->on.len ? waiting->on.data : NULL),
	};
}
