/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces measure.c and trace.c when built without BPF: they cannot be opened. */
#include <errno.h>

#include "base/util.h"
#include "bpf/measure.h"
#include "bpf/trace.h"

int measure_open(struct measure **out)
{
	*out = NULL;
	return -ENOSYS;
}

uint32_t measure_kinds(UNUSED const struct measure *measure)
{
	return 0;
}

bool measure_is_late(UNUSED const struct measure *measure)
{
	return false;
}

struct end_ring *measure_ends(UNUSED struct measure *measure)
{
	return NULL;
}

void measure_close(UNUSED struct measure *measure)
{
}

int trace_open(struct trace **out, UNUSED const struct trace_options *options)
{
	*out = NULL;
	return -ENOSYS;
}

int trace_read(UNUSED struct trace *trace, UNUSED const struct trace_reader *reader,
	       struct trace_counts *counts)
{
	*counts = (struct trace_counts){ .cost_ns = -1 };
	return -ENOSYS;
}

uint64_t trace_began_ns(UNUSED const struct trace *trace)
{
	return 0;
}

struct end_ring *trace_ends(UNUSED struct trace *trace)
{
	return NULL;
}

size_t trace_stack(UNUSED struct trace *trace, UNUSED int32_t stack, UNUSED uint64_t *addresses,
		   UNUSED size_t room)
{
	return 0;
}

int trace_take_stacks(UNUSED struct trace *trace,
		      UNUSED void (*meet)(void *arg, uint64_t id,
					  const struct trace_user_stack *stack),
		      UNUSED void *arg)
{
	return -ENOSYS;
}

int trace_add_rule(UNUSED struct trace *trace, UNUSED const struct trace_rule_key *key,
		   UNUSED const struct frame_rule *rule)
{
	return -ENOSYS;
}

int trace_choose(UNUSED struct trace *trace, UNUSED const struct trace_chosen *chosen,
		 UNUSED bool taken)
{
	return -ENOSYS;
}

bool trace_forget(UNUSED struct trace *trace, UNUSED uint32_t slot)
{
	return false;
}

void trace_close(UNUSED struct trace *trace)
{
}
