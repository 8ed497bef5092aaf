/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/held.h"

#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "kernel/proctask.h"
#include "kernel/symbols.h"

/* Tasks of a sample that are looked at, at most. */
#define HELD_LOOKS 256

/* Puts the debugger of a task that one has stopped. */
static void find_tracer(struct proc *proc, const struct task_raw *raw, struct task_held *held)
{
	struct proctask_stat stat;

	if (proctask_tracer(proc, raw->tgid, raw->pid, &held->tracer) || !held->tracer)
		return;
	if (!proctask_stat_part(proc, held->tracer, 0, &stat))
		memcpy(held->tracer_comm, stat.comm, sizeof(held->tracer_comm));
}

/* Whether a task that sleeps was frozen, by the function of the kernel that it sleeps in. */
static bool is_frozen(struct proc *proc, const struct task_raw *raw)
{
	struct buf function = { 0 };
	bool frozen;

	proctask_wchan(proc, raw->tgid, raw->pid, &function);
	frozen = raw->now.state == 'D' ? symbol_freezes_in_d(buf_cstr(&function))
				       : symbol_freezes(buf_cstr(&function));
	buf_free(&function);
	return frozen;
}

void held_read(struct proc *proc, const struct sample *sample)
{
	unsigned looks = 0;

	for (size_t i = 0; i < sample->n; i++) {
		const struct task_raw *raw = sample->raw[i];
		struct task_held *held;

		if (!raw->now.state || !strchr("DSt", raw->now.state) || looks == HELD_LOOKS ||
		    proctask_executes(proc, raw->tgid))
			continue;
		looks++;
		if (!raw->task->held)
			raw->task->held = xcalloc(1, sizeof(*held));
		held = raw->task->held;
		*held = (struct task_held){ .sample_ns = sample->begin_ns };
		if (raw->now.state == 't')
			find_tracer(proc, raw, held);
		else
			held->frozen = is_frozen(proc, raw);
	}
}
