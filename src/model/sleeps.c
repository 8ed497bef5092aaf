/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sleeps.h"

#include <stdlib.h>

#include "base/util.h"

/*
 * How much more than the scheduler saw may be booked, in parts of what it saw: beside busy tasks it
 * misses up to a fifth of what was waited (6.12 to 7.2). And what is too little to matter.
 */
#define MISSED_PART 4
#define OVERBOOKED_LEAST_NS (10 * NSEC_PER_MSEC)

/* How much the readings of a task's threads may differ in time. */
#define SLACK_NS NSEC_PER_MSEC

void sleeps_correct(const struct task *task, struct counters *counters)
{
	const struct counters excess = { .delay[DELAY_BLKIO].ns = task->overbooked_ns };

	if (task->overbooked_ns)
		counters_take_off(counters, &excess, DELAY_BIT(DELAY_BLKIO));
}

/*
 * Sets time in state D without I/O from the scheduler's sum; at least what the samples saw, as the
 * scheduler adds up nothing of waits that began while the switch was off.
 */
static void set_dwait(struct task_raw *raw, const struct task_raw *known,
		      const struct task_sleeps *was, const struct task_sleeps *now)
{
	uint64_t counted = was->dwait_ns;

	/* Nothing was read of a wait that went on since, but its time was counted. */
	if (known)
		counted += was->blocked * (known->read_ns - was->read_ns);
	if (now->dwait_ns > counted && now->dwait_ns - counted > raw->now.waits.dwait_ns)
		raw->now.waits.dwait_ns = now->dwait_ns - counted;
}

/*
 * Corrects blkio that is too much, where each booked wait is one that the scheduler saw in state D
 * and I/O wait: io_uring's waits for anything sleep in state S. Both begin when the task is
 * dequeued and end when it is woken, but since 6.12 the booking may begin with an older stamp:
 * another task that dequeues it gets its own (kernel/sched/sched.h:__block_task()).
 */
static bool check_blkio(struct task_raw *raw, const struct task_raw *known,
			const struct task_sleeps *was, const struct task_sleeps *now)
{
	const struct delay_sum none = { 0, 0 };
	const struct delay_sum *before = known ? &known->counters.delay[DELAY_BLKIO] : &none;
	struct delay_sum *sum = &raw->counters.delay[DELAY_BLKIO];
	uint32_t booked = (uint32_t)(sum->count - before->count);
	uint64_t slept_ns = now->iowait_ns - was->iowait_ns, excess_ns;

	if (!(raw->counters.valid & DELAY_BIT(DELAY_BLKIO)) || !booked ||
	    (uint32_t)(now->iowaits - was->iowaits) < booked || sum->ns < before->ns + slept_ns)
		return false;
	excess_ns = sum->ns - before->ns - slept_ns;
	if (excess_ns < OVERBOOKED_LEAST_NS || excess_ns < slept_ns / MISSED_PART)
		return false;
	sum->ns -= excess_ns;
	raw->task->overbooked_ns += excess_ns;
	return true;
}

/*
 * Takes off what passed before the reading before of a measured I/O wait that ended since: in state
 * S, where io_uring waits, such a wait is not seen before it ends.
 */
static void cut_blkio(struct task_raw *raw, const struct task_raw *known)
{
	struct delay_sum *sum = &raw->counters.delay[DELAY_BLKIO];
	uint64_t before, most;

	if (!known || known->now.threads != raw->now.threads || raw->read_ns < known->read_ns)
		return;
	before = known->counters.delay[DELAY_BLKIO].ns;
	most = raw->now.threads * (raw->read_ns - known->read_ns) +
	       waits_progress(&known->now.waits, SEEN_BLKIO, known->read_ns) + SLACK_NS;
	if (sum->ns <= before + most)
		return;
	raw->task->overbooked_ns += sum->ns - before - most;
	sum->ns = before + most;
}

bool sleeps_apply(struct task_raw *raw, const struct task_raw *known, bool born,
		  const struct task_sleeps *now)
{
	const struct task_sleeps none = { .epoch = now->epoch, .threads = now->threads };
	struct task *task = raw->task;
	const struct task_sleeps *was = task->sleeps;
	bool corrected = false;

	if (!known)
		was = born ? &none : NULL;
	if (was && was->epoch == now->epoch && was->threads == now->threads && !was->stale) {
		set_dwait(raw, known, was, now);
		if (now->measured)
			cut_blkio(raw, known);
		else
			corrected = check_blkio(raw, known, was, now);
	}
	if (!task->sleeps)
		task->sleeps = xcalloc(1, sizeof(*task->sleeps));
	*task->sleeps = *now;
	return corrected;
}
