/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times within others: what reclaim and compaction take of a wait or a run. Part of trace.bpf.c. */
#ifndef STALLTOP_BPF_TRACE_WITHIN_H
#define STALLTOP_BPF_TRACE_WITHIN_H

#include "bpf/trace_wait.bpf.h"

/* What the kernel has booked of a kind that lies within others. */
static __always_inline __u64 booked_within(const struct task_struct *task, __u32 kind)
{
	const struct task_delay_info *delays = task->delays;

	return delays && kind == DELAY_RECLAIM ? delays->freepages_delay : 0;
}

static __always_inline int enter_within(__u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = known(task);

	if (!local)
		return 0;
	local->within_ns[kind == DELAY_COMPACT] = bpf_ktime_get_ns();
	if (kind == DELAY_RECLAIM)
		local->within_booked_ns = booked_within(task, kind);
	return 0;
}

/* The kernel books reclaim between the two tracepoints (mm/vmscan.c), compaction around them. */
static __always_inline int leave_within(void *context, __u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = known(task);
	struct trace_thread_slot *thread;
	struct trace_site_slot *slot;
	struct trace_key key = {};
	struct seen_file seen = {};
	struct recent recent = {};
	__u64 now = bpf_ktime_get_ns(), ns, kind_ns;
	struct call call;

	if (!local || !local->within_ns[kind == DELAY_COMPACT])
		return 0;
	thread = thread_at(local->slot);
	if (!thread)
		return 0;
	ns = now - local->within_ns[kind == DELAY_COMPACT];
	local->within_ns[kind == DELAY_COMPACT] = 0;
	kind_ns = ns;
	if (kind == DELAY_RECLAIM && task->delays)
		kind_ns = booked_within(task, kind) - local->within_booked_ns;
	begin_key(&key, &call, &seen, &thread->thread, task, false, true);
	key.state = STATE_RUN;
	key.within = (__u8)(1 + kind);
	put_target(&key, &call, &seen);
	find_site(&recent, &key, now);
	slot = site_at(recent.ref.slot);
	if (slot && slot->site.filled < FILLED)
		complete(recent.ref, task, &call, &seen,
			 (__s32)bpf_get_stackid(context, &stacks, 0), FILLED);
	if (!add_wait_at(recent.ref, now, ns, kind_ns, NULL))
		count_lost_wait();
	return 0;
}

#endif
