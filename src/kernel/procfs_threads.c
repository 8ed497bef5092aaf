/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/procfs_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Room for this many elements is never freed. */
#define SMALL 256

/* Tolerance of times: ticks are coarse, and two files are read a moment apart. */
#define SPENT_SLACK (50 * NSEC_PER_MSEC)

/*
 * The capacity for a round like the previous, of `last` elements: frees most memory of an earlier
 * peak.
 */
static size_t fitting_capacity(size_t cap, size_t last)
{
	return cap > SMALL && cap / 4 > last ? (last > SMALL / 2 ? last * 2 : SMALL) : cap;
}

/* Clears a round for the next sample. */
static void reset(struct threads_round *round)
{
	size_t processes = fitting_capacity(round->cap_processes, round->nprocesses);
	size_t threads = fitting_capacity(round->cap_threads, round->nthreads);

	if (processes != round->cap_processes)
		round->processes =
			xreallocarray(round->processes, processes, sizeof(*round->processes));
	if (threads != round->cap_threads)
		round->threads = xreallocarray(round->threads, threads, sizeof(*round->threads));
	round->cap_processes = processes;
	round->cap_threads = threads;
	round->nprocesses = round->nthreads = 0;
}

void procfs_threads_begin(struct procfs_threads *memory, uint64_t since_boot_ns)
{
	memory->now = !memory->now;
	memory->at = 0;
	memory->before_ns = memory->began_ns;
	memory->began_ns = since_boot_ns;
	reset(&memory->rounds[memory->now]);
}

const struct thread_figures *procfs_threads_of(struct procfs_threads *memory, pid_t tgid,
					       uint64_t start_ns, uint64_t read_ns, size_t *n)
{
	const struct threads_round *before = &memory->rounds[!memory->now];
	const struct process_figures *known = NULL;

	while (memory->at < before->nprocesses && before->processes[memory->at].tgid < tgid)
		memory->at++;
	if (memory->at < before->nprocesses && before->processes[memory->at].tgid == tgid)
		known = &before->processes[memory->at++];
	if (known && known->start_ns != start_ns)
		known = NULL; /* the pid was reused by another process */
	memory->process = (struct process_figures){
		.tgid = tgid,
		.start_ns = start_ns,
		.read_ns = read_ns,
		.first = memory->rounds[memory->now].nthreads,
	};
	memory->known = known;
	memory->lone = (struct thread_figures){ .tid = tgid, .start_ns = start_ns };
	memory->old = &memory->lone;
	memory->nold = 1;
	if (known)
		memcpy(memory->process.total, known->total, sizeof(known->total));
	if (known && known->n) {
		memory->old = &before->threads[known->first];
		memory->nold = known->n;
	} else if (known) {
		memcpy(memory->lone.count, known->total, sizeof(known->total));
	}
	*n = memory->nold;
	return memory->old;
}

void procfs_threads_add(struct procfs_threads *memory, const struct thread_figures *figures)
{
	struct threads_round *round = &memory->rounds[memory->now];

	GROW(round->threads, round->nthreads, round->cap_threads);
	round->threads[round->nthreads++] = *figures;
	memory->process.n++;
}

/* Adds what a thread has counted since the previous reading; a counter that fell adds nothing. */
static void advance_round(uint64_t *total, const struct thread_figures *now,
			  const struct thread_figures *was)
{
	for (unsigned i = 0; i < THREAD_COUNTERS; i++)
		if (now->count[i] > was->count[i])
			total[i] += now->count[i] - was->count[i];
}

/* Time since then, running or waiting; UINT64_MAX if it is another thread. */
static uint64_t spent(const struct thread_figures *now, const struct thread_figures *was)
{
	for (unsigned i = 0; i < THREAD_COUNTERS; i++)
		if (now->count[i] < was->count[i])
			return UINT64_MAX;
	return now->count[THREAD_RUN] - was->count[THREAD_RUN] + now->count[THREAD_WAIT] -
	       was->count[THREAD_WAIT] + now->count[THREAD_BLKIO] - was->count[THREAD_BLKIO];
}

/*
 * Finds the earlier id of the main thread, when all others have exited. At exec a thread ends the
 * others and takes the main thread's id and start, but keeps its own counters (de_thread() of
 * fs/exec.c). So if the counters cannot be the main thread's, they continue those of the thread
 * with the nearest ones.
 */
static const struct thread_figures *before_exec(const struct procfs_threads *memory,
						const struct thread_figures *now,
						const struct thread_figures *was)
{
	uint64_t most = memory->process.read_ns - memory->known->read_ns + SPENT_SLACK;
	uint64_t least = spent(now, was);

	if (least <= most)
		return was;
	for (size_t i = 0; i < memory->nold; i++) {
		uint64_t time = spent(now, &memory->old[i]);

		if (time < least) {
			least = time;
			was = &memory->old[i];
		}
	}
	return was;
}

/* Finds the same thread among the previous threads; *at advances along both lists. */
static const struct thread_figures *match_thread(const struct procfs_threads *memory,
						 const struct thread_figures *now, size_t *at)
{
	const struct thread_figures *was;

	while (*at < memory->nold && memory->old[*at].tid < now->tid)
		++*at;
	if (*at == memory->nold || memory->old[*at].tid != now->tid)
		return NULL;
	was = &memory->old[(*at)++];
	return was->start_ns == now->start_ns ? was : NULL;
}

/* Updates the process's total. True if a thread ran, started or exited. */
static bool advance_all(struct procfs_threads *memory)
{
	static const struct thread_figures none;
	struct process_figures *process = &memory->process;
	const struct thread_figures *threads = memory->rounds[memory->now].threads + process->first;
	const struct thread_figures *leader = NULL, *leader_was = NULL;
	bool moved = !memory->known;
	size_t at = 0, same = 0;

	for (size_t i = 0; i < process->n; i++) {
		const struct thread_figures *now = &threads[i],
					    *was = match_thread(memory, now, &at);

		same += was != NULL;
		moved |= !was || now->count[THREAD_RUN] != was->count[THREAD_RUN];
		if (was && now->tid == process->tgid) {
			leader = now;
			leader_was = was;
		} else if (was) {
			advance_round(process->total, now, was);
		} else if (!memory->known || now->start_ns >= memory->before_ns) {
			advance_round(process->total, now, &none);
		}
	}
	if (leader && memory->known && same == 1 && memory->nold > 1)
		leader_was = before_exec(memory, leader, leader_was);
	if (leader)
		advance_round(process->total, leader, leader_was);
	return moved || same != memory->nold;
}

bool procfs_threads_end(struct procfs_threads *memory, const struct process_figures **out)
{
	struct threads_round *round = &memory->rounds[memory->now];
	struct process_figures *process = &memory->process;
	bool moved = advance_all(memory);

	/* Most processes have one thread: only its counters are needed. */
	if (process->n == 1 &&
	    !memcmp(process->total, round->threads[process->first].count, sizeof(process->total))) {
		round->nthreads = process->first;
		process->n = 0;
	}
	GROW(round->processes, round->nprocesses, round->cap_processes);
	round->processes[round->nprocesses++] = *process;
	*out = process;
	return moved;
}

void procfs_threads_free(struct procfs_threads *memory)
{
	for (unsigned i = 0; i < 2; i++) {
		free(memory->rounds[i].processes);
		free(memory->rounds[i].threads);
	}
	*memory = (struct procfs_threads){ 0 };
}
