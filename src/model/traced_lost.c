/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/traced_lost.h"

/* The time of a process's sites in a state, in the interval: by class, and which classes. */
struct sited_state {
	uint64_t ns, parked_ns;
	unsigned classes;
};

/* Adds up the sites in which threads of a process waited in the interval. */
static void sum_sites(const struct traced_process *process, uint64_t epoch,
		      struct sited_state *sums)
{
	for (const struct traced_site *at = process->sites; at; at = at->next) {
		struct sited_state *sum = &sums[at->site.state];
		bool lost;

		/* Other sites have figures of an earlier interval. */
		if ((at->epoch != epoch && !at->busy) || at->site.overlaps)
			continue;
		sum->ns += at->site.ns;
		lost = wait_is_lost(at->site.class, at->site.state);
		sum->parked_ns += lost ? 0 : at->site.ns;
		sum->classes |= 1u << (lost ? at->site.class : CLASS_PARKED);
	}
}

void traced_lose(const struct traced_process *process, uint64_t epoch, bool alone,
		 struct traced *traced)
{
	struct sited_state sums[WAIT_STATES] = { 0 };

	sum_sites(process, epoch, sums);
	traced->lost_ns = 0;
	traced->lost_known = true;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		uint64_t ns = traced->states.ns[state], sited_ns = sums[state].ns;
		unsigned parked = sums[state].classes & 1u << CLASS_PARKED;

		if (state == STATE_RUN || !ns)
			continue;
		if (!sums[state].classes)
			parked = !wait_is_lost(wait_class_of_state(state), state);
		else if (!alone && parked && sums[state].classes != parked)
			traced->lost_known = false;
		if (!alone || !sums[state].classes) {
			traced->lost_ns += parked ? 0 : ns;
			continue;
		}
		sited_ns -= sums[state].parked_ns;
		if (wait_is_lost(wait_class_of_state(state), state) && ns > sums[state].ns)
			sited_ns += ns - sums[state].ns;
		traced->lost_ns += sited_ns < ns ? sited_ns : ns;
	}
}

bool traced_is_of_disk(const struct traced_site *site)
{
	return site->now.key.state == STATE_POLL && site->site.state == STATE_IO;
}

void traced_move_polling(struct wait_states *states, uint64_t ns)
{
	ns = ns < states->ns[STATE_POLL] ? ns : states->ns[STATE_POLL];
	states->ns[STATE_POLL] -= ns;
	states->ns[STATE_IO] += ns;
}

void traced_move_completions(const struct traced_process *process, uint64_t epoch,
			     struct wait_states *states)
{
	for (const struct traced_site *at = process->sites; at; at = at->next)
		if (traced_is_of_disk(at) && (at->epoch == epoch || at->busy))
			traced_move_polling(states, at->site.ns);
}
