/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks of waits: gets their functions from kernel/user_symbols.h, passes unwind rules to the
 * BPF program, and computes the interval of each site's stacks.
 */
#pragma once

#include "trace/traced_sites.h"

struct proc;
struct site_names;
struct trace;

struct user_stacks;

/*
 * Stacks are taken from `trace`, and become stacks of `names`. The caller keeps all of them. fetch:
 * as user_symbols_open().
 */
struct user_stacks *user_stacks_open(struct proc *proc, struct trace *trace,
				     struct site_names *names, bool fetch);

/*
 * Asks for the functions of new stacks, and processes pending answers. Returns whether there was
 * either: then more may come soon.
 */
bool user_stacks_learn(struct user_stacks *stacks);

/*
 * The id of the stack of a waiting thread: if it fell asleep before stacks were taken, it is read
 * now. 0: it has none.
 */
uint64_t user_stacks_of(struct user_stacks *stacks, const struct trace_waiter *waiter);

/* Adds the interval of its stacks to a site that is handed out. */
void user_stacks_settle(const struct user_stacks *stacks, struct traced_site *site);

/* Stops the use of `trace`, which is closed. */
void user_stacks_stop(struct user_stacks *stacks);

void user_stacks_close(struct user_stacks *stacks);
