/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for trace.c in a program that was built without it: nothing is ever open. */
#include "config.h"

#include "bpf/trace.h"

#include <errno.h>

int trace_open(struct trace **out, const struct trace_options *options)
{
	(void)options;
	*out = NULL;
	return -ENOSYS;
}

int trace_read(struct trace *trace, const struct trace_reader *reader, struct trace_counts *counts)
{
	(void)trace;
	(void)reader;
	*counts = (struct trace_counts){ .cost_ns = -1 };
	return -ENOSYS;
}

size_t trace_stack(struct trace *trace, int32_t stack, uint64_t *addresses, size_t room)
{
	(void)trace;
	(void)stack;
	(void)addresses;
	(void)room;
	return 0;
}

bool trace_forget(struct trace *trace, uint32_t slot)
{
	(void)trace;
	(void)slot;
	return false;
}

uint64_t trace_syscalls(const struct trace *trace)
{
	(void)trace;
	return 0;
}

void trace_close(struct trace *trace)
{
	(void)trace;
}
