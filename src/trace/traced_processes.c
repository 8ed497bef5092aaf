/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/traced_processes.h"

#include <stdlib.h>

#include "base/util.h"

/* Intervals for which exited tasks can still be found: exit records come late. */
#define KEPT_EPOCHS 2

#define BUCKETS_MIN 256

/* The bucket of a tgid. Ids are assigned consecutively: neighbours do not collide. */
static struct traced_process **bucket_of_tgid(const struct traced_processes *processes, pid_t tgid)
{
	return &processes->buckets[(size_t)(uint32_t)tgid & (processes->nbuckets - 1)];
}

/* Adds a process to the index. */
static void link_process(struct traced_processes *processes, struct traced_process *process)
{
	struct traced_process **bucket = bucket_of_tgid(processes, process->traced.tgid);

	process->chain = *bucket;
	*bucket = process;
}

/* Doubles the buckets. */
static void grow_buckets(struct traced_processes *processes)
{
	struct traced_process **old = processes->buckets, *process;
	size_t n = processes->nbuckets;

	processes->nbuckets = n ? n * 2 : BUCKETS_MIN;
	processes->buckets = xcalloc(processes->nbuckets, sizeof(struct traced_process *));
	for (size_t i = 0; i < n; i++)
		while ((process = old[i])) {
			old[i] = process->chain;
			link_process(processes, process);
		}
	free(old);
}

struct traced_process *traced_processes_find(const struct traced_processes *processes, pid_t tgid,
					     uint64_t start_ns, uint64_t slack_ns)
{
	struct traced_process *best = NULL;
	uint64_t least = slack_ns;

	if (!processes->nbuckets)
		return NULL;
	for (struct traced_process *at = *bucket_of_tgid(processes, tgid); at; at = at->chain) {
		uint64_t is = at->traced.start_ns;
		uint64_t off = is > start_ns ? is - start_ns : start_ns - is;

		if (at->traced.tgid != tgid || off > least)
			continue;
		least = off;
		best = at;
	}
	return best;
}

struct traced_process *traced_processes_make(struct traced_processes *processes, pid_t tgid,
					     uint64_t start_ns)
{
	struct traced_process *process = traced_processes_find(processes, tgid, start_ns, 0);

	if (process)
		return process;
	if (processes->n >= processes->nbuckets)
		grow_buckets(processes);
	process = xcalloc(1, sizeof(*process));
	process->traced.tgid = tgid;
	process->traced.start_ns = start_ns;
	process->made_epoch = processes->epoch;
	link_process(processes, process);
	processes->n++;
	return process;
}

/* True if a process need not be found any more. */
static bool is_past(const struct traced_processes *processes, const struct traced_process *process)
{
	uint64_t last = process->ended_epoch;

	if (!last && process->sites)
		return false;
	if (!last)
		last = process->made_epoch;
	if (!process->ended_epoch && process->rest_epoch > last)
		last = process->rest_epoch;
	return processes->epoch - last >= KEPT_EPOCHS;
}

void traced_processes_begin(struct traced_processes *processes, uint64_t read_ns,
			    void (*forget)(void *arg, struct traced_process *process), void *arg)
{
	processes->epoch++;
	processes->before_ns = processes->epoch > 1 ? processes->read_ns : read_ns;
	processes->read_ns = read_ns;
	for (size_t i = 0; i < processes->nbuckets; i++) {
		struct traced_process **link = &processes->buckets[i];

		while (*link) {
			struct traced_process *process = *link;

			if (!is_past(processes, process)) {
				link = &process->chain;
				continue;
			}
			forget(arg, process);
			*link = process->chain;
			processes->n--;
			free(process);
		}
	}
}

struct traced_process *traced_processes_next(const struct traced_processes *processes,
					     const struct traced_process *after)
{
	size_t i = 0;

	if (after && after->chain)
		return after->chain;
	if (after)
		i = (size_t)(bucket_of_tgid(processes, after->traced.tgid) - processes->buckets) +
		    1;
	while (i < processes->nbuckets && !processes->buckets[i])
		i++;
	return i < processes->nbuckets ? processes->buckets[i] : NULL;
}

void traced_processes_free(struct traced_processes *processes)
{
	for (size_t i = 0; i < processes->nbuckets; i++) {
		while (processes->buckets[i]) {
			struct traced_process *process = processes->buckets[i];

			processes->buckets[i] = process->chain;
			free(process);
		}
	}
	free(processes->buckets);
	*processes = (struct traced_processes){ 0 };
}
