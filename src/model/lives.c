/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/lives.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The number of intervals for which ended tasks can still be found: exit records come late. */
#define KEPT_EPOCHS 2

#define BUCKETS_MIN 256

/* What so many changed in a reading stays in memory for the next. */
#define CHANGES_KEPT 1024

/* The bucket of a pid. Pids are given out one after the other: neighbours do not collide. */
static size_t bucket_of_key(const struct lives *lives, pid_t pid)
{
	return (size_t)(uint32_t)pid & (lives->buckets - 1);
}

/* Doubles the buckets. */
static void grow_buckets(struct lives *lives)
{
	struct life **threads = lives->threads;
	struct traced_process **processes = lives->processes;
	size_t buckets = lives->buckets;

	lives->buckets = buckets ? buckets * 2 : BUCKETS_MIN;
	lives->threads = xcalloc(lives->buckets, sizeof(*lives->threads));
	lives->processes = xcalloc(lives->buckets, sizeof(*lives->processes));
	for (size_t i = 0; i < buckets; i++) {
		while (threads[i]) {
			struct life *life = threads[i];
			size_t at = bucket_of_key(lives, life->now.pid);

			threads[i] = life->chain;
			life->chain = lives->threads[at];
			lives->threads[at] = life;
		}
		while (processes[i]) {
			struct traced_process *process = processes[i];
			size_t at = bucket_of_key(lives, process->traced.tgid);

			processes[i] = process->chain;
			process->chain = lives->processes[at];
			lives->processes[at] = process;
		}
	}
	free(threads);
	free(processes);
}

/* Adds a thread to the index by pid. */
static void link_thread(struct lives *lives, struct life *life)
{
	size_t at;

	if (lives->nthreads >= lives->buckets)
		grow_buckets(lives);
	at = bucket_of_key(lives, life->now.pid);
	life->chain = lives->threads[at];
	lives->threads[at] = life;
	lives->nthreads++;
}

/* Removes it from that index. */
static void unlink_thread(struct lives *lives, const struct life *life)
{
	struct life **link = &lives->threads[bucket_of_key(lives, life->now.pid)];

	while (*link != life)
		link = &(*link)->chain;
	*link = life->chain;
	lives->nthreads--;
}

/* Removes a process from the index by tgid. */
static void unlink_process(struct lives *lives, const struct traced_process *process)
{
	struct traced_process **link =
		&lives->processes[bucket_of_key(lives, process->traced.tgid)];

	while (*link != process)
		link = &(*link)->chain;
	*link = process->chain;
	lives->nprocesses--;
}

/* The distance of two times. */
static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

struct traced_process *lives_process(const struct lives *lives, pid_t tgid, uint64_t start_ns,
				     uint64_t slack_ns)
{
	struct traced_process *at, *best = NULL;
	uint64_t least = slack_ns;

	if (!lives->buckets)
		return NULL;
	for (at = lives->processes[bucket_of_key(lives, tgid)]; at; at = at->chain) {
		uint64_t off = distance(at->traced.start_ns, start_ns);

		if (at->traced.tgid != tgid || off > least)
			continue;
		least = off;
		best = at;
	}
	return best;
}

struct life *lives_thread(const struct lives *lives, pid_t pid, uint64_t start_ns,
			  uint64_t slack_ns)
{
	struct life *at, *best = NULL;
	uint64_t least = slack_ns;

	if (!lives->buckets)
		return NULL;
	for (at = lives->threads[bucket_of_key(lives, pid)]; at; at = at->chain) {
		uint64_t off = distance(at->now.start_ns, start_ns);

		/* A thread that called exec has the id and start of the leader, which has gone. */
		if (at->now.pid != pid || off > least ||
		    (best && off == least && at->ended_epoch && !best->ended_epoch))
			continue;
		least = off;
		best = at;
	}
	return best;
}

/* Notes that the process has no threads now: it is forgotten when it still has none later. */
static void empty_process(struct lives *lives, struct traced_process *process)
{
	process->ended_epoch = lives->epoch;
	if (process->listed)
		return;
	GROW(lives->empty, lives->nempty, lives->empty_cap);
	lives->empty[lives->nempty++] = process;
	process->listed = true;
}

struct traced_process *lives_process_make(struct lives *lives, pid_t tgid, uint64_t start_ns)
{
	struct traced_process *process = lives_process(lives, tgid, start_ns, 0);
	size_t at;

	if (process)
		return process;
	if (lives->nprocesses >= lives->buckets)
		grow_buckets(lives);
	process = xcalloc(1, sizeof(*process));
	process->traced.tgid = tgid;
	process->traced.start_ns = start_ns;
	at = bucket_of_key(lives, tgid);
	process->chain = lives->processes[at];
	lives->processes[at] = process;
	lives->nprocesses++;
	empty_process(lives, process);
	return process;
}

/* Notes that a thread is gone. Its slot may be another's from now on. */
static void end_life(struct lives *lives, struct life *life)
{
	life->ended_epoch = lives->epoch;
	life->now.ended = 1;
	life->process->name = life->now.name;
	GROW(lives->ended, lives->nended, lives->ended_cap);
	lives->ended[lives->nended++] = life;
	if (!--life->process->threads)
		empty_process(lives, life->process);
}

/* Whether a task that ended in that reading need not be found any more. */
static bool is_past(const struct lives *lives, uint64_t ended_epoch)
{
	return lives->epoch - ended_epoch >= KEPT_EPOCHS;
}

void lives_begin(struct lives *lives, uint64_t read_ns,
		 void (*forget)(void *arg, struct traced_process *process), void *arg)
{
	size_t kept = 0;

	lives->epoch++;
	lives->before_ns = lives->epoch > 1 ? lives->read_ns : read_ns;
	lives->read_ns = read_ns;
	/* The first reading has all there is. */
	if (lives->nchanged > CHANGES_KEPT) {
		free(lives->changed);
		lives->changed = NULL;
		lives->changed_cap = 0;
	}
	lives->nchanged = 0;
	while (kept < lives->nended && is_past(lives, lives->ended[kept]->ended_epoch)) {
		unlink_thread(lives, lives->ended[kept]);
		free(lives->ended[kept++]);
	}
	lives->nended -= kept;
	if (kept && lives->nended)
		memmove(lives->ended, lives->ended + kept, lives->nended * sizeof(*lives->ended));
	kept = 0;
	for (size_t i = 0; i < lives->nempty; i++) {
		struct traced_process *process = lives->empty[i];

		process->listed = !process->threads;
		if (process->listed && is_past(lives, process->ended_epoch)) {
			forget(arg, process);
			unlink_process(lives, process);
			free(process);
		} else if (process->listed) {
			lives->empty[kept++] = process;
		}
	}
	lives->nempty = kept;
}

/* Makes a thread that was not seen before. */
static struct life *new_life(struct lives *lives, const struct trace_thread *record)
{
	struct life *life = xcalloc(1, sizeof(*life));

	life->now = *record;
	life->process = lives_process_make(lives, record->tgid, record->process_start_ns);
	life->process->seen = true;
	life->process->threads++;
	link_thread(lives, life);
	return life;
}

/* Takes over an id that changed: a thread has called exec. */
static void change_id(struct lives *lives, struct life *life, const struct trace_thread *record)
{
	if (life->now.pid == record->pid && life->now.start_ns == record->start_ns)
		return;
	unlink_thread(lives, life);
	life->now.pid = record->pid;
	life->now.start_ns = record->start_ns;
	link_thread(lives, life);
}

/* Notes that a thread changes in this reading. */
static void change_life(struct lives *lives, struct life *life)
{
	if (life->epoch == lives->epoch)
		return;
	life->epoch = lives->epoch;
	GROW(lives->changed, lives->nchanged, lives->changed_cap);
	lives->changed[lives->nchanged++] = life;
}

struct life *lives_update(struct lives *lives, uint32_t slot, const struct trace_thread *record)
{
	struct life *life = slot < lives->nslots ? lives->slots[slot] : NULL;

	/* The end of the one before was missed. */
	if (life && life->now.born_ns != record->born_ns) {
		change_life(lives, life);
		end_life(lives, life);
		life = NULL;
	}
	if (!life)
		life = new_life(lives, record);
	change_id(lives, life, record);
	change_life(lives, life);
	if (slot >= lives->nslots) {
		size_t old = lives->nslots;

		lives->nslots = slot + slot / 2 + 64;
		lives->slots = xreallocarray(lives->slots, lives->nslots, sizeof(*lives->slots));
		memset(lives->slots + old, 0, (lives->nslots - old) * sizeof(*lives->slots));
	}
	lives->slots[slot] = record->ended ? NULL : life;
	life->now = *record;
	if (record->ended)
		end_life(lives, life);
	return life;
}

void lives_free(struct lives *lives)
{
	for (size_t i = 0; i < lives->buckets; i++) {
		while (lives->threads[i]) {
			struct life *life = lives->threads[i];

			lives->threads[i] = life->chain;
			free(life);
		}
		while (lives->processes[i]) {
			struct traced_process *process = lives->processes[i];

			lives->processes[i] = process->chain;
			free(process);
		}
	}
	free(lives->slots);
	free(lives->threads);
	free(lives->processes);
	free(lives->changed);
	free(lives->ended);
	free(lives->empty);
	*lives = (struct lives){ 0 };
}
