// SPDX-License-Identifier: GPL-2.0-or-later
/* However threads live, the states of each add up to the time that it lived in the interval. */
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

/* A thread as the kernel's program keeps it, and what it did in the interval, counted by itself. */
struct player {
	struct trace_thread thread;
	bool there; /* it lives, or ended in this interval */
	bool changed;
	uint64_t lived[WAIT_STATES];
	uint64_t counted_ns; /* up to when `lived` is counted */
};

/* A site, the same. */
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

/* Counts what a thread did up to now. */
static void count_time(struct play *play, struct player *player)
{
	uint64_t ns = play->now_ns - player->counted_ns;

	player->lived[player->thread.state] += ns;
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

/* Nothing is remembered of processes here. */
static void forget_nothing(void *arg, struct traced_process *process)
{
	(void)arg;
	(void)process;
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
	lives_settle(&play->lives);
	traced_sites_settle(&play->sites);
}

/* Asserts that a process spent what its threads did. */
static void check_process(struct play *play, const struct trace_thread *thread)
{
	struct traced_process *process =
		lives_process(&play->lives, thread->tgid, thread->process_start_ns, 0);
	struct wait_states sum = { 0 };

	for (unsigned i = 0; i < PLAYERS; i++)
		for (unsigned state = 0; state < WAIT_STATES; state++)
			if (play->players[i].there &&
			    play->players[i].thread.tgid == thread->tgid &&
			    play->players[i].thread.process_start_ns == thread->process_start_ns)
				sum.ns[state] += play->players[i].lived[state];
	assert_non_null(process);
	assert_memory_equal(&sum, &lives_of_process(&play->lives, process)->states, sizeof(sum));
}

/* Asserts that all threads spent the interval as they counted it themselves. */
static void check_threads(struct play *play, uint64_t before_ns)
{
	for (unsigned i = 0; i < PLAYERS; i++) {
		const struct trace_thread *thread = &play->players[i].thread;
		uint64_t since = thread->born_ns > before_ns ? thread->born_ns : before_ns;
		uint64_t until = thread->ended ? thread->since_ns : play->now_ns;
		const struct traced *traced;
		struct life *life;

		if (!play->players[i].there)
			continue;
		life = lives_thread(&play->lives, thread->pid, thread->start_ns, 0);
		assert_non_null(life);
		traced = lives_of_thread(&play->lives, life);
		assert_memory_equal(traced->states.ns, play->players[i].lived,
				    sizeof(play->players[i].lived));
		assert_true(wait_states_alive(&traced->states) == until - since);
		assert_int_equal(traced->tgid, thread->tgid);
		check_process(play, thread);
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
		memset(player->lived, 0, sizeof(player->lived));
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
		uint64_t before_ns = play.now_ns;

		for (uint64_t n = next_random(&play.seed) % 60; n; n--)
			happen(&play);
		read_all(&play);
		if (round) {
			check_threads(&play, before_ns);
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

/* Records that are a little older or newer than the reading take nothing from the sum. */
TEST(test_torn)
{
	struct lives lives = { 0 };
	struct trace_thread thread = record_of(STATE_RUN, 1000);
	const struct wait_states *states;
	struct life *life;

	lives_begin(&lives, 2000, forget_nothing, NULL);
	life = lives_update(&lives, 0, &thread);
	lives_settle(&lives);
	/* It ran until 30 before the reading, which its record did not show yet. */
	thread.ns[STATE_RUN] = 970;
	thread.ns[STATE_IO] = 100;
	thread.state = STATE_POLL;
	thread.since_ns = 2070;
	lives_begin(&lives, 3000, forget_nothing, NULL);
	assert_ptr_equal(lives_update(&lives, 0, &thread), life);
	lives_settle(&lives);
	states = &lives_of_thread(&lives, life)->states;
	assert_int_equal(states->ns[STATE_RUN], 0);
	assert_int_equal(states->ns[STATE_IO], 100);
	assert_int_equal(states->ns[STATE_POLL], 900);
	/* A state that begins only after the reading. */
	thread.ns[STATE_POLL] = 1940;
	thread.state = STATE_LOCK;
	thread.since_ns = 4010;
	lives_begin(&lives, 4000, forget_nothing, NULL);
	lives_update(&lives, 0, &thread);
	lives_settle(&lives);
	states = &lives_of_thread(&lives, life)->states;
	assert_int_equal(states->ns[STATE_LOCK], 0);
	assert_int_equal(wait_states_alive(states), 1000);
	/* Two records in one reading. */
	thread.state = STATE_RUN;
	thread.ns[STATE_LOCK] = 490;
	thread.since_ns = 4500;
	lives_begin(&lives, 5000, forget_nothing, NULL);
	lives_update(&lives, 0, &thread);
	thread.ns[STATE_RUN] += 300;
	thread.since_ns = 4800;
	thread.ended = 1;
	lives_update(&lives, 0, &thread);
	lives_settle(&lives);
	states = &lives_of_thread(&lives, life)->states;
	assert_int_equal(states->ns[STATE_LOCK], 500);
	assert_int_equal(states->ns[STATE_RUN], 300);
	lives_free(&lives);
}

/* A thread that is first seen late has no more than the interval; a lost end ends it. */
TEST(test_late)
{
	struct lives lives = { 0 };
	struct trace_thread thread = record_of(STATE_POLL, 1500);
	struct life *life;

	lives_begin(&lives, 2000, forget_nothing, NULL);
	lives_settle(&lives);
	lives_begin(&lives, 3000, forget_nothing, NULL);
	life = lives_update(&lives, 9, &thread);
	lives_settle(&lives);
	assert_int_equal(lives_of_thread(&lives, life)->states.ns[STATE_POLL], 1000);
	thread.pid = 5;
	thread.start_ns = 2;
	thread.born_ns = thread.since_ns = 3400;
	lives_begin(&lives, 4000, forget_nothing, NULL);
	lives_update(&lives, 9, &thread);
	lives_settle(&lives);
	assert_true(lives_thread(&lives, 4, 1, 0)->ended_epoch);
	life = lives_thread(&lives, 5, 2, 0);
	assert_int_equal(lives_of_thread(&lives, life)->states.ns[STATE_POLL], 600);
	assert_int_equal(life->process->threads, 1);
	/* Starts are compared as near as their clock can tell. */
	assert_null(lives_thread(&lives, 5, 12, 9));
	assert_ptr_equal(lives_thread(&lives, 5, 12, 10), life);
	lives_free(&lives);
}
