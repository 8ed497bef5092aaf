/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/run_sum.h"

uint32_t run_sum_add(struct counters *sum, const struct counters *last, uint64_t life_ns)
{
	struct counters possible = *last, excess = { 0 };

	if (life_ns)
		counters_excess(last, life_ns, &excess);
	counters_take_off(&possible, &excess, excess.valid);
	counters_add(sum, &possible);
	return excess.valid;
}

void run_sum_add_range(struct task_record *sum, const struct task_record *last, uint32_t left_out,
		       bool first)
{
	struct task_record possible = *last;

	possible.range_valid &= ~left_out;
	possible.stamp_valid &= ~left_out;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (left_out & DELAY_BIT(kind))
			possible.max[kind] = possible.min[kind] = possible.stamp[kind] = 0;
	if (first)
		*sum = possible;
	else
		record_fold(sum, &possible);
}

void run_sum_settle(struct counters *sum, uint64_t *user_ns, uint64_t *system_ns)
{
	uint64_t reaped = *user_ns + *system_ns;
	uint64_t user = reaped ? *user_ns : sum->user_ns, all = user;

	if (!(sum->valid & VALID_RUN) || sum->run_ns <= reaped) {
		sum->run_ns = reaped;
		sum->valid |= VALID_RUN;
		return;
	}
	all += reaped ? *system_ns : sum->system_ns;
	*user_ns = all ? (uint64_t)((double)sum->run_ns * ((double)user / (double)all)) : 0;
	*system_ns = sum->run_ns - *user_ns;
}
