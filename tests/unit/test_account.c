// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether it adds up: who ends how, who reaps when, and what parents' times then tell. */
#include "tests/lib/test.h"

#include "tests/lib/play.h"

/* Reading /proc/PID/stat: open, read, close. */
#define STAT_CALLS 3

/* A child seen alive that runs 100 ms to its end and is reaped `late` intervals after it. */
static void reap_late(struct play *play, unsigned late, bool reads_zero)
{
	open_scene(play);
	lives(play, 201, SHELL, 50);
	take(play, ALL);
	open_scene(play);
	lives(play, 201, SHELL, 70);
	take_recovered(play, 0);
	for (unsigned i = 0; i < late; i++) {
		open_scene(play);
		if (i == 0)
			is_zombie(play, 201, SHELL, 96);
		else
			lives(play, 201, SHELL, reads_zero ? 0 : 96);
		take_recovered(play, 0);
	}
	open_scene(play);
	if (!late)
		ends(play, 201, SHELL, 96);
	reaped(play, SHELL, 100);
	take_recovered(play, 4);
	finish(play, 50);
	assert_true(play->shown_ns == 46 * INT64_C(1000000));
}

/* Reaped in the interval in which it ended. */
PLAY_TEST(test_child)
{
	reap_late(*state, 0, false);
}

/* A zombie for one interval. */
PLAY_TEST(test_zombie_reaped)
{
	reap_late(*state, 1, false);
}

/* A zombie for two, which reads 0. */
PLAY_TEST(test_zombie_reaped_later)
{
	reap_late(*state, 2, true);
}

/* A zombie that nobody reaps is nobody's, and nobody is looked at for it. */
PLAY_TEST(test_zombie_stays)
{
	struct play *play = *state;
	uint64_t calls;

	open_scene(play);
	lives(play, 201, SHELL, 0);
	take(play, ALL);
	calls = play->calls;
	for (unsigned i = 0; i < 4; i++) {
		open_scene(play);
		is_zombie(play, 201, SHELL, 96);
		take_recovered(play, 0);
	}
	assert_int_equal(play->calls, calls);
	assert_run(play, 96);
}

/* Children that no sample sees alive. */
PLAY_TEST(test_short_lived)
{
	struct play *play = *state;

	prime(play);
	open_scene(play);
	ends(play, 201, SHELL, 26);
	reaped(play, SHELL, 30);
	take_recovered(play, 4);
	assert_true(play->account.children_ns == MS(30));
	open_scene(play);
	ends(play, 202, SHELL, 51);
	ends(play, 203, SHELL, 38);
	reaped(play, SHELL, 130);
	take_recovered(play, 11);
	assert_true(play->account.children_ns == MS(100));
	finish(play, 130);
	assert_true(play->account.children_ns == 0);
	/* 23 ms: the parent's time counts ticks. */
	open_scene(play);
	ends(play, 204, SHELL, 21);
	reaped(play, SHELL, 150);
	take_recovered(play, -1);
	/* 17 ms, which makes the tick full. */
	open_scene(play);
	ends(play, 205, SHELL, 15);
	reaped(play, SHELL, 170);
	take_recovered(play, 5);
	assert_run(play, 170);
}

/* Hundreds of them in one element: each may lack a tick, and no more. */
PLAY_TEST(test_folded)
{
	struct play *play = *state;

	prime(play);
	for (unsigned i = 1; i <= 3; i++) {
		open_scene(play);
		end_many(play, 300, SHELL, 100, 610);
		reaped(play, SHELL, 1000 * i);
		take_recovered(play, 390);
	}
	assert_run(play, 3000);
	open_scene(play);
	end_many(play, 300, SHELL, 100, 10);
	reaped(play, SHELL, 5000);
	take_recovered(play, 1000);
}

/* A grandchild is in its parent's times, and with them in the grandparent's. */
PLAY_TEST(test_grandchild)
{
	struct play *play = *state;

	open_scene(play);
	lives(play, 201, SHELL, 10);
	lives(play, 301, 201, 0);
	take(play, ALL);
	open_scene(play);
	lives(play, 201, SHELL, 20);
	ends(play, 301, 201, 46);
	reaped(play, 201, 50);
	take_recovered(play, 4);
	open_scene(play);
	lives(play, 201, SHELL, 30);
	ends(play, 302, 201, 17);
	reaped(play, 201, 70);
	take_recovered(play, 3);
	assert_run(play, 90);
	/* 40 ms of its own, and its children's; one more child in the last moment. */
	open_scene(play);
	ends(play, 201, SHELL, 33);
	ends(play, 303, 201, 15);
	reaped(play, SHELL, 40 + 70 + 20);
	take_recovered(play, 12);
	finish(play, 120);
}

/* The parent is a zombie for a while: until it is reaped, its children's times are not seen. */
PLAY_TEST(test_grandchild_late)
{
	struct play *play = *state;

	prime_family(play);
	open_scene(play);
	is_zombie(play, 201, SHELL, 33);
	ends(play, 301, 201, 46);
	reaped(play, 201, 50);
	take_recovered(play, -10);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	take_recovered(play, 0);
	open_scene(play);
	reaped(play, SHELL, 90);
	take_recovered(play, 21);
	finish(play, 90);
}

/* The parent came and went between two samples, and the child with it. */
PLAY_TEST(test_grandchild_unseen)
{
	struct play *play = *state;

	prime(play);
	for (unsigned i = 1; i <= 3; i++) {
		open_scene(play);
		ends(play, 201, SHELL, 16);
		ends_below(play, 301, 201, SHELL, 46);
		reaped(play, SHELL, 70 * i);
		take_recovered(play, 8);
	}
	assert_run(play, 210);
}

/* Children that nobody waits for are in nobody's times: their records count. */
PLAY_TEST(test_auto_reaped)
{
	struct play *play = *state;

	open_two(play);
	take(play, ALL);
	for (unsigned i = 0; i < 4; i++) {
		open_two(play);
		end_many(play, 300, 150, 10, 500);
		ends(play, 201, SHELL, 26);
		reaped(play, SHELL, 30 * (i + 1));
		/* That no tick may come any more shows once. */
		take_recovered(play, i ? 4 : 4 - 10);
	}
	assert_run(play, 4 * 530 - 10);
}

/*
 * A child is reaped between its own reading and its parent's, which is looked at as another
 * child ended. `ended` have before.
 */
static void reap_between(struct play *play, unsigned ended)
{
	open_scene(play);
	lives(play, 201, SHELL, 0);
	take(play, ALL);
	open_scene(play);
	lives(play, 201, SHELL, 900);
	if (ended)
		end_many(play, 300, SHELL, ended, 6 * ended);
	reaped(play, SHELL, 10 * ended);
	take_recovered(play, 4 * (int)ended);
	open_scene(play);
	lives(play, 201, SHELL, 1800);
	ends(play, 202, SHELL, 26);
	reaped(play, SHELL, 10 * ended + 2000 + 30);
	take_recovered(play, 10);
	open_scene(play);
	ends(play, 201, SHELL, 1996);
	take_recovered(play, -2);
	finish(play, 2030 + 10 * (int)ended);
}

/* It is the first. */
PLAY_TEST(test_reaped_between)
{
	reap_between(*state, 0);
}

/* What earlier children lacked makes no room for it. */
PLAY_TEST(test_reaped_between_late)
{
	reap_between(*state, 500);
}

/* The parent goes in the next interval, too: what it had of the child is the grandparent's. */
PLAY_TEST(test_reaped_between_and_gone)
{
	struct play *play = *state;

	prime_family(play);
	open_scene(play);
	lives(play, 201, SHELL, 10);
	lives(play, 301, 201, 900);
	ends(play, 302, 201, 26);
	reaped(play, 201, 1030);
	take_recovered(play, 10);
	open_scene(play);
	ends(play, 201, SHELL, 16);
	ends(play, 301, 201, 996);
	reaped(play, SHELL, 1050);
	take_recovered(play, 2);
	finish(play, 1050);
}

/* The record comes before the zombie's parent has reaped it, though it was never listed. */
PLAY_TEST(test_reaped_after)
{
	struct play *play = *state;

	prime(play);
	open_scene(play);
	ends(play, 201, SHELL, 496);
	take_recovered(play, -10);
	open_scene(play);
	take_recovered(play, 0);
	open_scene(play);
	reaped(play, SHELL, 500);
	take_recovered(play, 14);
	finish(play, 500);
}

/* Without exit records: what the sample before had is missed, and what none had shows then. */
PLAY_TEST(test_some)
{
	struct play *play = *state;

	open_two(play);
	lives(play, 201, SHELL, 30);
	take(play, SOME);
	open_two(play);
	lives(play, 201, SHELL, 60);
	take(play, SOME);
	assert_true(play->account.recovered_ns == 0);
	/* 90 ms more of it, and 5000 ms of others. */
	open_two(play);
	reaped(play, SHELL, 150 + 5000);
	take(play, SOME);
	assert_true(play->account.recovered_ns == 5090 * INT64_C(1000000));
	assert_true(play->account.children_ns == MS(5150));
	open_two(play);
	take(play, SOME);
	assert_run(play, 5120);
}

/* A pid that is used again does not hide that who had it has gone. */
PLAY_TEST(test_pid_again)
{
	struct play *play = *state;

	open_scene(play);
	lives(play, 201, SHELL, 30);
	take(play, SOME);
	for (unsigned i = 1; i <= 3; i++) {
		open_scene(play);
		lives_anew(play, 201, SHELL, 30);
		reaped(play, SHELL, 40 * i);
		take(play, SOME);
		assert_true(play->account.recovered_ns == 10 * INT64_C(1000000));
	}
}

/* A reading without one that lives, for the kernel gave no answer: it has not been reaped. */
PLAY_TEST(test_unread)
{
	struct play *play = *state;

	for (unsigned i = 0; i < 2; i++) {
		open_scene(play);
		lives(play, 201, SHELL, 50 + 10 * i);
		take(play, ALL);
	}
	play->samples[play->n].unread = 1;
	open_scene(play);
	ends(play, 202, SHELL, 26);
	reaped(play, SHELL, 30);
	take_recovered(play, 4);
	/* It is there again, with nothing to compare with. */
	open_scene(play);
	lives(play, 201, SHELL, 80)->task->latest_ns = SEC(1);
	take_recovered(play, 0);
	/* Where another gave no answer it may have gone all the same. */
	play->samples[play->n].unread = 1;
	open_scene(play);
	ends(play, 201, SHELL, 96);
	reaped(play, SHELL, 130);
	take_recovered(play, 4);
	finish(play, 10 + 30 + 20);
}

/* The same without exit records: it has gone, which /proc says. */
PLAY_TEST(test_unread_gone)
{
	struct play *play = *state;

	open_scene(play);
	/* That its reading before had its children's times does not say that it is there. */
	lives(play, 201, SHELL, 90)->counters.valid |= VALID_CHILDREN;
	take(play, SOME);
	play->samples[play->n].unread = 1;
	open_scene(play);
	assert_int_equal(unlinkat(play->tree->fd, "201/stat", 0), 0);
	reaped(play, SHELL, 100);
	take(play, SOME);
	assert_true(play->account.recovered_ns == 10 * INT64_C(1000000));
}

/* After a loss all are looked at; what was found stays found when all is seen again. */
PLAY_TEST(test_lost)
{
	struct play *play = *state;
	uint64_t calls;

	open_two(play);
	take(play, ALL);
	open_two(play);
	ends(play, 201, 150, 26);
	reaped(play, 150, 30);
	take_recovered(play, 4);
	calls = play->calls;
	open_two(play);
	reaped(play, SHELL, 1000);
	reaped(play, 150, 30 + 700);
	take(play, LOST);
	assert_true(play->account.recovered_ns == 1700 * INT64_C(1000000));
	assert_int_equal(play->calls, calls + 3 * STAT_CALLS);
	for (unsigned i = 1; i <= 2; i++) {
		open_two(play);
		ends(play, 202, SHELL, 16);
		ends(play, 203, 150, 46);
		reaped(play, SHELL, 1000 + 20 * i);
		reaped(play, 150, 730 + 50 * i);
		take_recovered(play, 8);
	}
	assert_run(play, 1700 + 30 + 2 * 70);
}

/* The first call learns what there was; who comes later begins with nothing. */
PLAY_TEST(test_primes)
{
	struct play *play = *state;
	uint64_t calls;

	reaped(play, INIT, 7000000);
	reaped(play, SHELL, 3000);
	open_scene(play);
	calls = play->calls;
	take(play, ALL);
	assert_int_equal(play->calls, calls + 2 * STAT_CALLS);
	assert_false(play->account.recovered_valid);
	assert_true(play->account.recovered_ns == 0 && play->account.children_ns == 0);
	assert_true(play->reader.primed);
	/* One is born, and its child comes and goes. */
	open_scene(play);
	lives(play, 201, SHELL, 0);
	ends(play, 301, 201, 46);
	reaped(play, 201, 50);
	take_recovered(play, 4);
	/* One is older than the sample before, which did not have it. */
	reaped(play, 202, 9000);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 202, SHELL, 0)->task->latest_ns = SEC(1);
	ends(play, 303, 202, 26);
	take_recovered(play, 0);
	open_scene(play);
	lives(play, 201, SHELL, 0);
	lives(play, 202, SHELL, 0);
	ends(play, 302, 202, 46);
	reaped(play, 202, 9050);
	take_recovered(play, 4);
	assert_run(play, 126);
}

/* Primed anew in the midst of it, with what came between left out. */
PLAY_TEST(test_primes_again)
{
	struct play *play = *state;

	prime(play);
	open_scene(play);
	ends(play, 201, SHELL, 26);
	reaped(play, SHELL, 30);
	take_recovered(play, 4);
	play->reader.primed = false;
	open_scene(play);
	ends(play, 202, SHELL, 496);
	reaped(play, SHELL, 530);
	take(play, ALL);
	assert_false(play->account.recovered_valid);
	assert_true(play->account.recovered_ns == 0);
	for (unsigned i = 1; i <= 2; i++) {
		open_scene(play);
		ends(play, 203, SHELL, 16);
		reaped(play, SHELL, 530 + 20 * i);
		take_recovered(play, 4);
	}
}

/* Only who may have reaped is read. */
PLAY_TEST(test_reads)
{
	struct play *play = *state;
	uint64_t calls;

	prime(play);
	calls = play->calls;
	for (unsigned i = 0; i < 3; i++) {
		open_scene(play);
		lives(play, 201, SHELL, 10 * i);
		take_recovered(play, 0);
		assert_int_equal(play->calls, calls);
	}
	open_scene(play);
	ends(play, 201, SHELL, 26);
	reaped(play, SHELL, 30);
	take_recovered(play, 4);
	assert_int_equal(play->calls, calls + STAT_CALLS);
	finish(play, 30);
	assert_int_equal(play->calls, calls + STAT_CALLS);
}

/* A machine of two CPUs, in an interval of 2 s. */
static struct account machine(const struct system_sample *before, const struct system_sample *now,
			      bool irq_apart)
{
	struct account account = { .run_ns = MS(1000),
				   .recovered_valid = true,
				   .recovered_ns = INT64_C(50000000) };

	account_system(&account, before, now, SEC(2), irq_apart);
	return account;
}

/* What the system says, and what is left of the machine's time. */
TEST(test_system)
{
	struct system_sample before = { .cpu_valid = true, .cpus = 1 };
	struct system_sample now = { .cpu_valid = true, .cpus = 2 };
	struct account account;

	for (unsigned i = 0; i < CPU_STATES; i++) {
		before.cpu_ns[i] = SEC(10 * (i + 1));
		now.cpu_ns[i] = before.cpu_ns[i] + MS(100 * (i + 1));
	}
	account = machine(&before, &now, false);
	assert_true(account.valid && account.machine_ns == SEC(4));
	assert_true(account.idle_ns == MS(400) && account.iowait_ns == MS(500));
	assert_true(account.steal_ns == MS(800) && account.irq_ns == 0);
	assert_true(account.unattributed_ns ==
		    (4000 - 1000 - 50 - 400 - 500 - 800) * INT64_C(1000000));
	account = machine(&before, &now, true);
	assert_true(account.irq_ns == MS(600 + 700));
	assert_true(account.unattributed_ns == (1250 - 1300) * INT64_C(1000000));
	/* iowait runs back. */
	now.cpu_ns[CPU_IOWAIT] = before.cpu_ns[CPU_IOWAIT] - MS(300);
	account = machine(&before, &now, true);
	assert_true(account.iowait_ns == 0);
	assert_true(account.unattributed_ns == 450 * INT64_C(1000000));
}

/* What was recovered counts where it is known; without readings of both times nothing does. */
TEST(test_system_invalid)
{
	struct system_sample before = { .cpu_valid = true, .cpus = 2 }, now = before, bad = before;
	struct account account = { .run_ns = MS(1500), .recovered_ns = INT64_C(50000000) };

	account_system(&account, &before, &now, SEC(2), false);
	assert_true(account.valid && account.unattributed_ns == 2500 * INT64_C(1000000));
	account.recovered_valid = true;
	account.recovered_ns = -INT64_C(50000000);
	account_system(&account, &before, &now, SEC(2), false);
	assert_true(account.valid && account.unattributed_ns == 2550 * INT64_C(1000000));
	account_system(&account, &before, &now, 0, false);
	assert_false(account.valid);
	assert_false(machine(NULL, &now, false).valid);
	bad.cpu_valid = false;
	assert_false(machine(&bad, &now, false).valid);
	assert_false(machine(&before, &bad, false).valid);
	bad = before;
	bad.cpus = 0;
	assert_false(machine(&before, &bad, false).valid);
}
