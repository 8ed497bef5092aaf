// SPDX-License-Identifier: GPL-2.0-or-later
/* However threads live, sites have the time that was waited there, and who waits there for longest.
 */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "trace/traced_sites.h"

#define PLAYERS 40
#define PROCESSES 30
#define PLACES 12
#define ROUNDS 3000

/* Pseudo-random numbers, the same in every run. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A thread as the kernel's program keeps it. */
struct player {
	struct trace_waiter thread;
	uint64_t process_start_ns;
	bool there; /* it lives, or ended in this interval */
	bool ended;
	uint64_t counted_ns; /* up to when its wait is counted at its site */
};

/* A site, the same, and what was waited there in the interval. */
struct row_key {
	struct trace_site site;
	bool changed;
	uint64_t waited, ended;
};

struct play {
	uint64_t seed, now_ns;
	struct player players[PLAYERS];
	struct row_key places[PLACES];
	struct traced_processes processes;
	struct traced_sites sites;
	uint64_t starts[PROCESSES + 1]; /* of the processes that have these ids now */
	int32_t last_pid;
};

/* Counts what a thread waited up to now. */
static void count_time(struct play *play, struct player *player)
{
	uint64_t ns = play->now_ns - player->counted_ns;

	if (player->thread.site)
		play->places[player->thread.site].waited += ns;
	player->counted_ns = play->now_ns;
}

/* Ends the state that a thread is in, as the program in the kernel books it. */
static void leave_state(struct play *play, struct player *player)
{
	struct trace_waiter *thread = &player->thread;
	uint64_t ns = play->now_ns - thread->since_ns;

	count_time(play, player);
	thread->since_ns = play->now_ns;
	if (thread->site) {
		struct row_key *place = &play->places[thread->site];

		place->site.ns += ns;
		place->site.booked_ns += ns;
		place->site.count++;
		place->ended++;
		place->site.last_ns = play->now_ns;
		place->changed = true;
		if (ns > place->site.max_ns)
			place->site.max_ns = ns;
	}
	thread->site = 0;
}

/* Has a thread enter a state, in half of the cases at a site of its process. */
static void enter_state(struct play *play, struct player *player)
{
	struct trace_waiter *thread = &player->thread;
	uint32_t slot = 1 + (uint32_t)(next_random(&play->seed) % (PLACES - 1));
	struct row_key *place = &play->places[slot];

	thread->state = (uint8_t)(next_random(&play->seed) % WAIT_STATES);
	if (next_random(&play->seed) % 2 || thread->state == STATE_RUN)
		return;
	if (place->site.key.tgid != thread->tgid || place->site.key.state != thread->state ||
	    place->site.key.start_ns != player->process_start_ns) {
		/* Only a slot that was given back is another site's. */
		if (place->site.key.tgid)
			return;
		place->site = (struct trace_site){
			.key = { .tgid = thread->tgid,
				 .start_ns = player->process_start_ns,
				 .state = thread->state },
			.generation = place->site.generation + 1,
		};
	}
	place->changed = true;
	thread->site = slot;
	thread->generation = (uint32_t)place->site.generation;
}

/* Has a thread begin, in one of the processes. */
static void begin_life(struct play *play, struct player *player)
{
	uint32_t process = 1 + (uint32_t)(next_random(&play->seed) % PROCESSES);
	bool lives = false;

	for (unsigned i = 0; i < PLAYERS; i++)
		lives |= play->players[i].there && !play->players[i].ended &&
			 play->players[i].thread.tgid == (int32_t)process;
	/* Without threads a process has gone: another one has the id. */
	if (!lives)
		play->starts[process] = play->now_ns;
	*player = (struct player){
		.thread = { .pid = ++play->last_pid,
			    .tgid = (int32_t)process,
			    .since_ns = play->now_ns },
		.process_start_ns = play->starts[process],
		.there = true,
		.counted_ns = play->now_ns,
	};
}

/* Something happens to a thread. */
static void happen(struct play *play)
{
	struct player *player = &play->players[next_random(&play->seed) % PLAYERS];
	uint64_t dice = next_random(&play->seed) % 20;

	play->now_ns += 1 + next_random(&play->seed) % 1000;
	if (!player->there) {
		begin_life(play, player);
		return;
	}
	if (player->ended)
		return;
	leave_state(play, player);
	if (dice == 0)
		player->ended = true;
	else
		enter_state(play, player);
}

/* Takes a slot back: its totals are gone. Refuses where somebody waits there again. */
static bool give_back(void *arg, uint32_t slot)
{
	struct play *play = arg;
	struct row_key *place = &play->places[slot];

	for (unsigned i = 0; i < PLAYERS; i++)
		if (play->players[i].there && play->players[i].thread.site == slot)
			return false;
	if (place->changed)
		return false;
	place->site = (struct trace_site){ .generation = place->site.generation };
	return true;
}

/* Forgets a process's sites with it. */
static void forget_sites(void *arg, struct traced_process *process)
{
	struct play *play = arg;

	traced_sites_forget_process(&play->sites, process, give_back, play);
}

/* Whether a process has threads that live. */
static bool has_threads(const struct play *play, const struct player *of)
{
	bool lives = false;

	for (unsigned i = 0; i < PLAYERS; i++)
		lives |= play->players[i].there && !play->players[i].ended &&
			 play->players[i].thread.tgid == of->thread.tgid &&
			 play->players[i].process_start_ns == of->process_start_ns;
	return lives;
}

/* Notes which processes have ended. */
static void note_ends(struct play *play)
{
	for (unsigned i = 0; i < PLAYERS; i++) {
		const struct player *player = &play->players[i];
		struct traced_process *process;

		if (!player->there || !player->ended || has_threads(play, player))
			continue;
		process = traced_processes_find(&play->processes, player->thread.tgid,
						player->process_start_ns, 0);
		if (process)
			process->ended_epoch = play->processes.epoch;
	}
}

/* Has what changed read, and who waits, at this time. */
static void read_all(struct play *play)
{
	for (unsigned i = 0; i < PLAYERS; i++)
		if (play->players[i].there && !play->players[i].ended)
			count_time(play, &play->players[i]);
	if (next_random(&play->seed) % 8 == 0)
		traced_sites_forget(&play->sites, 1, give_back, play);
	traced_sites_begin(&play->sites);
	traced_processes_begin(&play->processes, play->now_ns, forget_sites, play);
	for (uint32_t i = 1; i < PLACES; i++)
		if (play->places[i].changed)
			traced_sites_update(&play->sites, i, &play->places[i].site);
	for (uint32_t i = 0; i < PLAYERS; i++)
		if (play->players[i].there && !play->players[i].ended)
			traced_sites_wait(&play->sites, &play->players[i].thread);
	traced_sites_settle(&play->sites);
	note_ends(play);
}

/* Asserts that sites have what was waited there; returns how many had any waiting. */
static size_t check_sites(const struct play *play)
{
	size_t shown = 0;

	for (uint32_t i = 1; i < PLACES; i++) {
		const struct traced_site *site =
			i < play->sites.nslots ? play->sites.slots[i] : NULL;
		const struct row_key *place = &play->places[i];
		uint64_t first_ns = UINT64_MAX;
		unsigned waiting = 0;

		for (unsigned p = 0; p < PLAYERS; p++) {
			const struct player *player = &play->players[p];

			if (!player->there || player->ended || player->thread.site != i)
				continue;
			waiting++;
			if (player->thread.since_ns < first_ns)
				first_ns = player->thread.since_ns;
		}
		if (!site) {
			assert_true(!place->waited && !waiting);
			continue;
		}
		assert_int_equal(site->waiting, waiting);
		assert_true(!waiting || site->first.since_ns == first_ns);
		assert_true(waiting || !site->first.pid);
		if (!place->waited && !place->ended && !waiting)
			continue;
		shown++;
		assert_true(site->site.ns == place->waited);
		assert_true(site->site.count == place->ended);
		assert_true(site->site.kind < 0 || site->site.kind_ns == place->waited);
	}
	return shown;
}

/* Begins the next interval. */
static void go_on(struct play *play)
{
	for (unsigned i = 0; i < PLAYERS; i++) {
		struct player *player = &play->players[i];

		if (player->ended)
			*player = (struct player){ 0 };
	}
	for (unsigned i = 0; i < PLACES; i++) {
		play->places[i].changed = false;
		play->places[i].waited = play->places[i].ended = 0;
	}
}

/* Random lives: begun, ended, waiting at sites, for one interval or many. */
TEST(test_conserved)
{
	struct play play = { .seed = UINT64_C(0x9e3779b97f4a7c15), .now_ns = NSEC_PER_SEC };
	size_t shown = 0, ended = 0;

	play.sites.processes = &play.processes;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint64_t n = next_random(&play.seed) % 60; n; n--)
			happen(&play);
		read_all(&play);
		shown += round ? check_sites(&play) : 0;
		for (unsigned i = 0; i < PLAYERS; i++)
			ended += play.players[i].ended;
		go_on(&play);
	}
	assert_true(shown > ROUNDS);
	assert_true(ended > ROUNDS / 4);
	/* Of those that ended long ago none is left. */
	assert_true(play.processes.n <= PROCESSES + PLACES);
	traced_sites_free(&play.sites);
	traced_processes_free(&play.processes);
}

/* Nothing is remembered of processes here. */
static void forget_nothing(void *arg, struct traced_process *process)
{
	(void)process;
	++*(unsigned *)arg;
}

/* A process is found as near as its start is known, and forgotten when it has nothing any more. */
TEST(test_processes)
{
	struct traced_processes all = { 0 };
	struct traced_process *first, *second, *at = NULL;
	unsigned forgotten = 0, n = 0;

	traced_processes_begin(&all, 1000, forget_nothing, &forgotten);
	first = traced_processes_make(&all, 5, 100);
	second = traced_processes_make(&all, 5, 200);
	for (int32_t i = 6; i < 1000; i++)
		traced_processes_make(&all, i, 100);
	assert_ptr_equal(traced_processes_make(&all, 5, 100), first);
	assert_ptr_equal(traced_processes_find(&all, 5, 190, 10), second);
	assert_null(traced_processes_find(&all, 5, 190, 9));
	assert_ptr_equal(traced_processes_find(&all, 5, 120, UINT64_MAX), first);
	while ((at = traced_processes_next(&all, at)))
		n++;
	assert_int_equal(n, all.n);
	assert_int_equal(n, 996);
	traced_processes_begin(&all, 2000, forget_nothing, &forgotten);
	assert_int_equal(all.before_ns, 1000);
	second->rest_epoch = all.epoch;
	assert_int_equal(forgotten, 0);
	traced_processes_begin(&all, 3000, forget_nothing, &forgotten);
	assert_int_equal(forgotten, 995);
	assert_ptr_equal(traced_processes_find(&all, 5, 200, 0), second);
	traced_processes_begin(&all, 4000, forget_nothing, &forgotten);
	assert_int_equal(all.n, 0);
	traced_processes_free(&all);
}

#define SEC(n) ((uint64_t)(n)*NSEC_PER_SEC)

/* Takes a reading of one site and one thread that waits there. */
static const struct traced_site *read_waiter(struct traced_sites *sites, uint64_t read_ns,
					     const struct trace_waiter *waiter,
					     const struct trace_stack_sum *sum)
{
	const struct trace_site record = { .key = { .start_ns = 1,
						    .tgid = 5,
						    .syscall = -1,
						    .stack = -1,
						    .state = STATE_PIPE },
					   .generation = 1 };
	const struct trace_stack_key key = { .site = 1, .generation = 1, .stack = 77 };

	traced_sites_begin(sites);
	traced_processes_begin(sites->processes, read_ns, NULL, NULL);
	traced_sites_update(sites, 1, &record);
	if (sum)
		traced_sites_stack(sites, &key, sum);
	if (waiter)
		traced_sites_wait(sites, waiter);
	traced_sites_settle(sites);
	return traced_sites_at(sites, 1, 1, UINT32_MAX);
}

/*
 * A stack that is known only after its wait has gone on for long has the time of the interval, not
 * that of the intervals before.
 */
TEST(test_late_stack)
{
	struct traced_processes processes = { 0 };
	struct traced_sites sites = { .processes = &processes };
	struct trace_waiter waiter = { .since_ns = SEC(10),
				       .pid = 5,
				       .tgid = 5,
				       .site = 1,
				       .generation = 1,
				       .state = STATE_PIPE };
	const struct traced_site *site;

	read_waiter(&sites, SEC(100), &waiter, NULL);
	read_waiter(&sites, SEC(102), &waiter, NULL);
	waiter.user_stack = 77;
	site = read_waiter(&sites, SEC(104), &waiter, NULL);
	assert_int_equal(site->nstacks, 1);
	assert_int_equal(site->stacks[0].progress_ns, SEC(94));
	assert_int_equal(site->stacks[0].progress_ns - site->stacks[0].shown_ns, SEC(2));
	assert_int_equal(site->site.ns, SEC(2));
	traced_sites_free(&sites);
	traced_processes_free(&processes);
}

/* What was waited before the first interval is in none, and a short wait in progress in no stack.
 */
TEST(test_stacks_at_first)
{
	struct traced_processes processes = { 0 };
	struct traced_sites sites = { .processes = &processes, .stacks_over_ns = SEC(1) };
	struct trace_waiter waiter = { .since_ns = SEC(99),
				       .pid = 5,
				       .tgid = 5,
				       .site = 1,
				       .generation = 1,
				       .state = STATE_PIPE,
				       .user_stack = 78 };
	const struct trace_stack_sum sum = { .ns = SEC(7), .count = 3 };
	const struct traced_site *site = read_waiter(&sites, SEC(100) - 1, &waiter, &sum);

	assert_int_equal(site->nstacks, 1);
	assert_int_equal(site->stacks[0].id, 77);
	assert_int_equal(site->stacks[0].shown_ns, SEC(7));
	assert_int_equal(site->stacks[0].shown_count, 3);
	traced_sites_free(&sites);
	traced_processes_free(&processes);
}
