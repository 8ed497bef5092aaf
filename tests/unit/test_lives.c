// SPDX-License-Identifier: GPL-2.0-or-later
/* However threads live, they are found, and their sites have the time that they waited there. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/traced_sites.h"

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
	struct trace_thread thread;
	bool there; /* it lives, or ended in this interval */
	bool changed;
	uint64_t counted_ns; /* up to when its wait is counted at its site */
};

/* A site, the same, and what was waited there in the interval. */
struct place {
	struct trace_site site;
	bool changed;
	uint64_t waited, ended;
};

struct play {
	uint64_t seed, now_ns;
	struct player players[PLAYERS];
	struct place places[PLACES];
	struct lives lives;
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
	struct trace_thread *thread = &player->thread;
	uint64_t ns = play->now_ns - thread->since_ns;

	count_time(play, player);
	thread->ns[thread->state] += ns;
	thread->since_ns = play->now_ns;
	player->changed = true;
	if (thread->site) {
		struct place *place = &play->places[thread->site];

		place->site.ns += ns;
		place->site.kind_ns += ns;
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
	struct trace_thread *thread = &player->thread;
	uint32_t slot = 1 + (uint32_t)(next_random(&play->seed) % (PLACES - 1));
	struct place *place = &play->places[slot];

	thread->state = (uint8_t)(next_random(&play->seed) % WAIT_STATES);
	if (next_random(&play->seed) % 2 || thread->state == STATE_RUN)
		return;
	if (place->site.key.tgid != thread->tgid || place->site.key.state != thread->state ||
	    place->site.key.start_ns != thread->process_start_ns) {
		/* Only a slot that was given back is another site's. */
		if (place->site.key.tgid)
			return;
		place->site = (struct trace_site){
			.key = { .tgid = thread->tgid,
				 .start_ns = thread->process_start_ns,
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
		lives |= play->players[i].there && !play->players[i].thread.ended &&
			 play->players[i].thread.tgid == (int32_t)process;
	/* Without threads a process has gone: another one has the id. */
	if (!lives)
		play->starts[process] = play->now_ns;
	*player = (struct player){
		.thread = { .pid = ++play->last_pid,
			    .tgid = (int32_t)process,
			    .start_ns = play->now_ns,
			    .process_start_ns = play->starts[process],
			    .born_ns = play->now_ns,
			    .since_ns = play->now_ns },
		.there = true,
		.changed = true,
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
	if (player->thread.ended)
		return;
	leave_state(play, player);
	if (dice == 0) {
		player->thread.ended = 1;
	} else if (dice == 1) {
		/* exec: it is the leader now. */
		player->thread.start_ns = play->now_ns;
		enter_state(play, player);
	} else {
		enter_state(play, player);
	}
}

/* Takes a slot back: its totals are gone. Refuses where somebody waits there again. */
static bool give_back(void *arg, uint32_t slot)
{
	struct play *play = arg;
	struct place *place = &play->places[slot];

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

/* Has what changed read, at this time. */
static void read_all(struct play *play)
{
	for (unsigned i = 0; i < PLAYERS; i++)
		if (play->players[i].there && !play->players[i].thread.ended)
			count_time(play, &play->players[i]);
	if (next_random(&play->seed) % 8 == 0)
		traced_sites_forget(&play->sites, 1, give_back, play);
	traced_sites_begin(&play->sites);
	lives_begin(&play->lives, play->now_ns, forget_sites, play);
	for (uint32_t i = 1; i < PLACES; i++)
		if (play->places[i].changed)
			traced_sites_update(&play->sites, i, &play->places[i].site);
	for (uint32_t i = 0; i < PLAYERS; i++)
		if (play->players[i].there && play->players[i].changed)
			lives_update(&play->lives, i, &play->players[i].thread);
	traced_sites_move(&play->sites);
	traced_sites_settle(&play->sites);
}

/* Asserts that all threads are found, and their processes with as many as live. */
static void check_threads(struct play *play)
{
	for (unsigned i = 0; i < PLAYERS; i++) {
		const struct trace_thread *thread = &play->players[i].thread, *other;
		const struct life *life;
		size_t living = 0;

		if (!play->players[i].there)
			continue;
		for (unsigned k = 0; k < PLAYERS; k++) {
			other = &play->players[k].thread;
			living += play->players[k].there && !other->ended &&
				  other->tgid == thread->tgid &&
				  other->process_start_ns == thread->process_start_ns;
		}
		life = lives_thread(&play->lives, thread->pid, thread->start_ns, 0);
		assert_non_null(life);
		assert_int_equal(!life->ended_epoch, !thread->ended);
		assert_ptr_equal(life->process, lives_process(&play->lives, thread->tgid,
							      thread->process_start_ns, 0));
		assert_int_equal(life->process->threads, living);
	}
}

/* Asserts the same of the sites; returns how many had any waiting. */
static size_t check_sites(const struct play *play)
{
	size_t shown = 0;

	for (uint32_t i = 1; i < PLACES; i++) {
		const struct traced_site *site =
			i < play->sites.nslots ? play->sites.slots[i] : NULL;
		const struct place *place = &play->places[i];
		unsigned waiting = 0;

		for (unsigned p = 0; p < PLAYERS; p++)
			waiting += play->players[p].there && play->players[p].thread.site == i;
		if (!site) {
			assert_true(!place->waited && !waiting);
			continue;
		}
		assert_int_equal(site->waiting, waiting);
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

		player->changed = false;
		if (player->thread.ended)
			*player = (struct player){ 0 };
	}
	for (unsigned i = 0; i < PLACES; i++) {
		play->places[i].changed = false;
		play->places[i].waited = play->places[i].ended = 0;
	}
}

/* Random lives: begun, ended, by exec another, waiting at sites, for one interval or many. */
TEST(test_conserved)
{
	struct play play = { .seed = UINT64_C(0x9e3779b97f4a7c15), .now_ns = NSEC_PER_SEC };
	size_t shown = 0, ended = 0;

	play.sites.lives = &play.lives;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint64_t n = next_random(&play.seed) % 60; n; n--)
			happen(&play);
		read_all(&play);
		if (round) {
			check_threads(&play);
			shown += check_sites(&play);
		}
		for (unsigned i = 0; i < PLAYERS; i++)
			ended += play.players[i].thread.ended;
		go_on(&play);
	}
	assert_true(shown > ROUNDS);
	assert_true(ended > ROUNDS / 4);
	traced_sites_free(&play.sites);
	lives_free(&play.lives);
}

/* A thread's record. */
static struct trace_thread record_of(enum wait_state state, uint64_t since_ns)
{
	return (struct trace_thread){ .pid = 4,
				      .tgid = 4,
				      .start_ns = 1,
				      .process_start_ns = 1,
				      .born_ns = 1000,
				      .state = (uint8_t)state,
				      .since_ns = since_ns };
}

/* Nothing is remembered of processes here. */
static void forget_nothing(void *arg, struct traced_process *process)
{
	(void)arg;
	(void)process;
}

/* A thread whose end was missed ends when its slot is another's. */
TEST(test_missed)
{
	struct lives lives = { 0 };
	struct trace_thread thread = record_of(STATE_POLL, 1500);
	struct life *life;

	lives_begin(&lives, 2000, forget_nothing, NULL);
	lives_update(&lives, 9, &thread);
	thread.pid = 5;
	thread.start_ns = 2;
	thread.born_ns = thread.since_ns = 3400;
	lives_begin(&lives, 4000, forget_nothing, NULL);
	lives_update(&lives, 9, &thread);
	assert_true(lives_thread(&lives, 4, 1, 0)->ended_epoch);
	life = lives_thread(&lives, 5, 2, 0);
	assert_int_equal(life->process->threads, 1);
	/* Starts are compared as near as their clock can tell. */
	assert_null(lives_thread(&lives, 5, 12, 9));
	assert_ptr_equal(lives_thread(&lives, 5, 12, 10), life);
	lives_free(&lives);
}
