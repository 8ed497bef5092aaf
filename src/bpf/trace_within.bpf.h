/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times within others: the part of a wait or a run spent in reclaim and compaction. Part of
 * trace.bpf.c.
 */
#pragma once

#include "bpf/trace_wait.bpf.h"

static __always_inline int enter_within(__u32 kind)
{
	struct thread_storage *local = known(bpf_get_current_task_btf());

	if (local)
		local->within_ns[kind == DELAY_COMPACT] = bpf_ktime_get_ns();
	return 0;
}

/* Reads where the current task is, while it runs. */
__noinline int look_within(struct wait *wait, const struct thread_storage *local, __u32 kind)
{
	if (!wait || !local)
		return 0;
	look_at(wait, &local->thread, bpf_get_current_task_btf(), false, true);
	wait->key.state = STATE_RUN;
	wait->key.within = (__u8)(1 + kind);
	put_target(wait);
	return 0;
}

static __always_inline int leave_within(void *context, __u32 kind)
{
	struct thread_storage *local = known(bpf_get_current_task_btf());
	struct trace_site_slot *slot;
	struct wait wait = {};
	struct recent recent = {};
	struct site_word word;
	__u64 now = bpf_ktime_get_ns(), ns;

	if (!local || !local->within_ns[kind == DELAY_COMPACT])
		return 0;
	ns = now - local->within_ns[kind == DELAY_COMPACT];
	local->within_ns[kind == DELAY_COMPACT] = 0;
	look_within(&wait, local, kind);
	find_site(&recent, &wait.key, now);
	word.ref = recent.ref;
	slot = site_at(word.ref.slot);
	if (slot && slot->site.filled < FILLED)
		complete(word.word, &wait, (__s32)bpf_get_stackid(context, &stacks, 0), FILLED);
	if (!add_wait_at(word.ref, now, ns, 0, NULL))
		count_lost_wait();
	return 0;
}
