// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether it adds up where children outlive their parents, and an ancestor reaps them. */
#include "tests/lib/test.h"

#include "tests/lib/play.h"

/* The parent ends, then the child, which moved to who reaps it. */
static void reap_orphan(struct play *play, pid_t reaper)
{
	prime_family(play);
	open_scene(play);
	lives(play, 301, reaper, 20);
	ends(play, 201, SHELL, 16);
	reaped(play, SHELL, 20);
	take_recovered(play, 4);
	open_scene(play);
	is_zombie(play, 301, reaper, 46);
	take_recovered(play, 0);
	open_scene(play);
	reaped(play, reaper, reaper == SHELL ? 70 : 50);
	take_recovered(play, 4);
	finish(play, 70);
}

/* Init gets it. */
PLAY_TEST(test_orphan_of_init)
{
	reap_orphan(*state, INIT);
}

/* An ancestor that asked for it does. */
PLAY_TEST(test_orphan_of_subreaper)
{
	reap_orphan(*state, SHELL);
}

/* Orphans of several parents that came and went are one row, of the nearest that lives. */
PLAY_TEST(test_orphans_mixed)
{
	struct play *play = *state;

	prime(play);
	for (unsigned i = 1; i <= 3; i++) {
		open_scene(play);
		end_many(play, 401, SHELL, 5, 56);
		play->ends[0].mixed = true;
		reaped(play, INIT, 60 * i);
		take_recovered(play, 4);
	}
	finish(play, 3 * 60);
}

/* A zombie when its parent ends: nothing says whose it is then but the times of who reaps it. */
static void reap_orphan_zombie(struct play *play, pid_t reaper, enum account_seen seen)
{
	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 301, 201, 46);
	take(play, seen);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	is_zombie(play, 301, 201, 46);
	take(play, seen);
	assert_true(play->account.recovered_ns == 0);
	open_scene(play);
	ends(play, 201, SHELL, 16);
	reaped(play, INIT, reaper == INIT ? 50 : 0);
	reaped(play, SHELL, reaper == INIT ? 20 : 70);
	take(play, seen);
	assert_true(play->account.recovered_ns == 8 * INT64_C(1000000));
	/* What others run later is theirs alone. */
	for (unsigned i = 1; i <= 2; i++) {
		open_scene(play);
		ends(play, 202, INIT, 26);
		ends(play, 203, SHELL, 16);
		reaped(play, INIT, (reaper == INIT ? 50 : 0) + 30 * i);
		reaped(play, SHELL, (reaper == INIT ? 20 : 70) + 20 * i);
		take(play, seen);
		assert_true(play->account.recovered_ns == 8 * INT64_C(1000000));
	}
	finish(play, 24 + 2 * 50);
}

/* Init does. */
PLAY_TEST(test_orphan_zombie_init)
{
	reap_orphan_zombie(*state, INIT, ALL);
}

/* An ancestor that asked for orphans does, or the parent did before it ended. */
PLAY_TEST(test_orphan_zombie_subreaper)
{
	reap_orphan_zombie(*state, SHELL, ALL);
}

/* All times count at once. */
PLAY_TEST(test_orphan_zombie_lost)
{
	reap_orphan_zombie(*state, INIT, LOST);
}

/* The parent reaped one child, and left another to init. */
PLAY_TEST(test_orphan_zombie_and_child)
{
	struct play *play = *state;

	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 301, 201, 0);
	lives(play, 302, 201, 0);
	take(play, ALL);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	is_zombie(play, 301, 201, 496);
	is_zombie(play, 302, 201, 46);
	take_recovered(play, 0);
	open_scene(play);
	ends(play, 201, SHELL, 16);
	reaped(play, INIT, 50);
	reaped(play, SHELL, 520);
	take_recovered(play, 12);
	finish(play, 570);
}

/*
 * Nobody waits for the orphan, and init has reaped another that was not seen to end yet, whose
 * time may be taken for the orphan's. Of 8 ms that records lack so many are found.
 */
static void leave_orphan(struct play *play, unsigned run_ms, int found_ms)
{
	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 301, 201, run_ms);
	lives(play, 401, INIT, 0);
	take(play, ALL);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	is_zombie(play, 301, 201, run_ms);
	lives(play, 401, INIT, 0);
	take_recovered(play, 0);
	open_scene(play);
	lives(play, 401, INIT, 200);
	ends(play, 201, SHELL, 16);
	reaped(play, SHELL, 20);
	reaped(play, INIT, 210);
	take(play, ALL);
	open_scene(play);
	ends(play, 401, INIT, 206);
	take(play, ALL);
	/* That no tick may come any more shows once. */
	finish(play, 222 - 10 + found_ms);
}

/* It ran for longer than that. */
PLAY_TEST(test_orphan_of_nobody)
{
	leave_orphan(*state, 500, 4);
}

/* It ran for about as long: the wrong guess costs what its reaper's own child lacks, no more. */
PLAY_TEST(test_orphan_of_nobody_alike)
{
	leave_orphan(*state, 200, 0);
}

/* Both end in one interval: the child was known as its parent's, its record tells who got it. */
static void end_both(struct play *play, pid_t reaper)
{
	prime_family(play);
	open_scene(play);
	ends(play, 201, SHELL, 16);
	ends(play, 301, reaper, 46);
	reaped(play, INIT, reaper == INIT ? 50 : 0);
	reaped(play, SHELL, reaper == INIT ? 20 : 70);
	take_recovered(play, 8);
	open_scene(play);
	ends(play, 202, SHELL, 26);
	reaped(play, SHELL, reaper == INIT ? 50 : 100);
	take_recovered(play, 4);
	finish(play, 100);
}

/* Init gets it. */
PLAY_TEST(test_both_end_init)
{
	end_both(*state, INIT);
}

/* The ancestor does. */
PLAY_TEST(test_both_end_subreaper)
{
	end_both(*state, SHELL);
}
