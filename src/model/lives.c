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

/* Frees a thread. */
static void free_life(struct life *life)
{
	free(life->traced);
	free(life);
}

/* Frees a process. */
static void free_process(struct traced_process *process)
{
	free(process->whole);
	free(process);
}

/* Empties what changed in a reading; the first has all there is. */
static void empty_changes(struct lives *lives)
{
	if (lives->ngrowths > CHANGES_KEPT || lives->nintervals > CHANGES_KEPT) {
		free(lives->intervals);
		free(lives->growths);
		free(lives->changed);
		lives->intervals = NULL;
		lives->growths = NULL;
		lives->changed = NULL;
		lives->intervals_cap = lives->growths_cap = lives->changed_cap = 0;
	}
	lives->nchanged = lives->nintervals = lives->ngrowths = 0;
}

void lives_begin(struct lives *lives, uint64_t read_ns,
		 void (*forget)(void *arg, struct traced_process *process), void *arg)
{
	size_t kept = 0;

	lives->epoch++;
	lives->before_ns = lives->epoch > 1 ? lives->read_ns : read_ns;
	lives->read_ns = read_ns;
	empty_changes(lives);
	while (kept < lives->nended && is_past(lives, lives->ended[kept]->ended_epoch)) {
		unlink_thread(lives, lives->ended[kept]);
		free_life(lives->ended[kept++]);
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
			free_process(process);
		} else if (process->listed) {
			lives->empty[kept++] = process;
		}
	}
	lives->nempty = kept;
}

/* Begins the interval of a process whose thread changes. */
static void change_process(struct lives *lives, struct traced_process *process)
{
	struct process_interval *interval;

	if (process->epoch == lives->epoch)
		return;
	process->epoch = lives->epoch;
	process->interval = lives->nintervals++;
	RESERVE(lives->intervals, lives->nintervals, lives->intervals_cap);
	interval = &lives->intervals[process->interval];
	*interval = (struct process_interval){ 0 };
	memcpy(interval->unchanged, process->in, sizeof(interval->unchanged));
}

/* Makes a thread that was not seen before. */
static struct life *new_life(struct lives *lives, const struct trace_thread *record)
{
	struct life *life = xcalloc(1, sizeof(*life));

	life->now = *record;
	/* It has spent no time yet. */
	memset(life->now.ns, 0, sizeof(life->now.ns));
	life->now.since_ns = lives->read_ns;
	life->process = lives_process_make(lives, record->tgid, record->process_start_ns);
	change_process(lives, life->process);
	life->process->seen = true;
	life->process->hidden |= record->hidden;
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

/* Begins the interval of a thread that changes. */
static void change_life(struct lives *lives, struct life *life, bool known)
{
	struct traced_process *process = life->process;

	if (life->epoch == lives->epoch)
		return;
	life->epoch = lives->epoch;
	life->growth = lives->ngrowths++;
	RESERVE(lives->growths, lives->ngrowths, lives->growths_cap);
	lives->growths[life->growth] = (struct life_growth){ { 0 } };
	change_process(lives, process);
	if (known)
		lives->intervals[process->interval].unchanged[life->now.state]--;
	GROW(lives->changed, lives->nchanged, lives->changed_cap);
	lives->changed[lives->nchanged++] = life;
}

struct life *lives_update(struct lives *lives, uint32_t slot, const struct trace_thread *record)
{
	struct life *life = slot < lives->nslots ? lives->slots[slot] : NULL;
	uint64_t counted_ns = lives->read_ns;
	int64_t *grown;
	bool known;

	/* The end of the one before was missed. */
	if (life && life->now.born_ns != record->born_ns) {
		change_life(lives, life, true);
		life->process->in[life->now.state]--;
		end_life(lives, life);
		life = NULL;
	}
	known = life;
	if (!life)
		life = new_life(lives, record);
	change_id(lives, life, record);
	/* The time up to which the present state was counted: this reading, or the one before. */
	if (life->epoch != lives->epoch)
		counted_ns = lives->before_ns;
	change_life(lives, life, known);
	grown = lives->growths[life->growth].ns;
	if (known) {
		grown[life->now.state] -= (int64_t)(counted_ns - life->now.since_ns);
		life->process->in[life->now.state]--;
	}
	for (unsigned state = 0; state < WAIT_STATES; state++)
		grown[state] += (int64_t)(record->ns[state] - life->now.ns[state]);
	if (!record->ended) {
		grown[record->state] += (int64_t)(lives->read_ns - record->since_ns);
		life->process->in[record->state]++;
	}
	if (slot >= lives->nslots) {
		size_t old = lives->nslots;

		lives->nslots = slot + slot / 2 + 64;
		lives->slots = xreallocarray(lives->slots, lives->nslots, sizeof(*lives->slots));
		memset(lives->slots + old, 0, (lives->nslots - old) * sizeof(*lives->slots));
	}
	lives->slots[slot] = record->ended ? NULL : life;
	life->now = *record;
	if (record->ended) {
		if (!life->process->whole)
			life->process->whole = xcalloc(1, sizeof(*life->process->whole));
		for (unsigned state = 0; state < WAIT_STATES; state++)
			life->process->whole->ns[state] += record->ns[state];
		end_life(lives, life);
	}
	return life;
}

/* The state with the most time. */
static unsigned longest_state(const int64_t *ns)
{
	unsigned most = 0;

	for (unsigned state = 1; state < WAIT_STATES; state++)
		if (ns[state] > ns[most])
			most = state;
	return most;
}

/*
 * Makes a thread's interval of the differences. Records are read one after the other, so that a
 * state may have been left before `read_ns` and its time is taken back in the next interval: this
 * is taken off the longest state, as is what passed before the interval of a thread that was seen
 * late.
 */
static void settle_life(const struct lives *lives, struct life *life)
{
	struct wait_states *changed = &lives->intervals[life->process->interval].changed;
	int64_t *ns = lives->growths[life->growth].ns, owed = 0, all = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++) {
		all += ns[state];
		if (ns[state] >= 0)
			continue;
		owed -= ns[state];
		ns[state] = 0;
	}
	if (all > (int64_t)(lives->read_ns - lives->before_ns) && lives->epoch > 1)
		owed += all - (int64_t)(lives->read_ns - lives->before_ns);
	while (owed > 0) {
		unsigned most = longest_state(ns);
		int64_t part = owed < ns[most] ? owed : ns[most];

		if (!part)
			break;
		ns[most] -= part;
		owed -= part;
	}
	for (unsigned state = 0; state < WAIT_STATES; state++)
		changed->ns[state] += (uint64_t)ns[state];
}

void lives_settle(struct lives *lives)
{
	for (size_t i = 0; i < lives->nchanged; i++)
		settle_life(lives, lives->changed[i]);
}

struct traced *lives_of_process(const struct lives *lives, struct traced_process *process)
{
	const struct process_interval *interval =
		process->epoch == lives->epoch ? &lives->intervals[process->interval] : NULL;
	const uint32_t *still = interval ? interval->unchanged : process->in;
	uint64_t interval_ns = lives->read_ns - lives->before_ns;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		process->traced.states.ns[state] =
			(interval ? interval->changed.ns[state] : 0) + still[state] * interval_ns;
	return &process->traced;
}

struct traced *lives_of_thread(const struct lives *lives, struct life *life)
{
	struct traced *traced = life->traced;

	if (!traced)
		life->traced = traced = xcalloc(1, sizeof(*traced));
	traced->tgid = life->process->traced.tgid;
	traced->start_ns = life->process->traced.start_ns;
	traced->states = (struct wait_states){ 0 };
	if (life->epoch == lives->epoch)
		for (unsigned state = 0; state < WAIT_STATES; state++)
			traced->states.ns[state] = (uint64_t)lives->growths[life->growth].ns[state];
	else if (!life->ended_epoch)
		traced->states.ns[life->now.state] = lives->read_ns - lives->before_ns;
	return traced;
}

void lives_free(struct lives *lives)
{
	for (size_t i = 0; i < lives->buckets; i++) {
		while (lives->threads[i]) {
			struct life *life = lives->threads[i];

			lives->threads[i] = life->chain;
			free_life(life);
		}
		while (lives->processes[i]) {
			struct traced_process *process = lives->processes[i];

			lives->processes[i] = process->chain;
			free_process(process);
		}
	}
	free(lives->slots);
	free(lives->threads);
	free(lives->processes);
	free(lives->changed);
	free(lives->intervals);
	free(lives->growths);
	free(lives->ended);
	free(lives->empty);
	*lives = (struct lives){ 0 };
}
