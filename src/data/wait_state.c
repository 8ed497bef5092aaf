/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/wait_state.h"

#define ROW(NAME, ident, bar, head, text) \
	[STATE_##NAME] = { .id = ident, .letter = bar, .heading = head, .help = text },
const struct wait_state_row wait_state_table[WAIT_STATES] = { WAIT_STATE_TABLE(ROW) };
#undef ROW

void wait_states_add(struct wait_states *sum, const struct wait_states *more)
{
	for (unsigned state = 0; state < WAIT_STATES; state++)
		sum->ns[state] += more->ns[state];
}

uint64_t wait_states_alive(const struct wait_states *states)
{
	uint64_t ns = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		ns += states->ns[state];
	return ns;
}
