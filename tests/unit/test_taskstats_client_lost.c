// SPDX-License-Identifier: GPL-2.0-or-later
/* Replies that are lost, late, or drowned: a query ends in time, with an answer to each request. */
#include "tests/lib/test.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "base/util.h"
#include "tests/lib/peer.h"

/* Nothing should ever wait for this long; the time-out where waiting is the test. */
#define LONG_MS 20000
#define SHORT_MS 150

/* Everything must have been asked in the way the kernel takes it, and answered once. */
static void finish(struct peer *peer, struct answers *answers)
{
	assert_true(answers_once(answers));
	assert_int_equal(peer->malformed, 0);
	answers_free(answers);
	peer_close(peer);
}

/* Milliseconds since that time. */
static uint64_t since(uint64_t start)
{
	return (clock_ns(CLOCK_MONOTONIC) - start) / NSEC_PER_MSEC;
}

/*
 * Puts the replies to the next pack into the socket before they are asked for, as the kernel
 * has them there when the send returns. Each of the first packs, up to `number`, loses one.
 */
static void prefill(void *arg)
{
	struct peer *peer = arg;
	unsigned pack = taskstats_client_stats(peer->conn).pack;

	for (unsigned i = 0; i < pack; i++) {
		unsigned place = peer->step * pack + i;
		/* The first request of a connection has the number 1. */
		struct ask ask = { 1 + place, 1000 + place, false };

		if (i != 7 || peer->step >= peer->number)
			peer_reply(peer, &ask);
	}
	peer->step++;
}

/* One lost reply is one lost answer, after the time-out. */
TEST(test_one_lost)
{
	struct peer peer;
	struct answers answers;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	peer_open(&peer, SHORT_MS, NULL);
	peer.number = 1;
	prefill(&peer);
	assert_int_equal(answers_query(&answers, &peer, false, 1000, 500, prefill), 0);
	assert_int_equal(answers_count(&answers, 0), 499);
	assert_int_equal(answers.errors[7], -ETIMEDOUT);
	assert_in_range(since(start), SHORT_MS - 1, LONG_MS);
	finish(&peer, &answers);
}

/* Losses in pack after pack end the query: its time has a bound whatever is asked. */
TEST(test_always_lost)
{
	struct peer peer;
	struct answers answers;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	unsigned pack;

	peer_open(&peer, SHORT_MS, NULL);
	peer.number = 1000;
	pack = taskstats_client_stats(peer.conn).pack;
	prefill(&peer);
	assert_int_equal(answers_query(&answers, &peer, false, 1000, 5000, prefill), -ETIMEDOUT);
	assert_int_equal(answers_count(&answers, 0), 2 * (pack - 1));
	assert_int_equal(answers_count(&answers, -ETIMEDOUT), 5000 - 2 * (pack - 1));
	assert_int_equal(taskstats_client_stats(peer.conn).sends, 2);
	assert_in_range(since(start), 2 * SHORT_MS - 2, LONG_MS);
	finish(&peer, &answers);
}

/* Says nothing. */
static void play_silent(struct peer *peer, const struct ask *asks, size_t n)
{
	(void)peer;
	(void)asks;
	(void)n;
}

/* Silence ends the query after one time-out, with an answer to each request. */
TEST(test_silence)
{
	struct peer peer;
	struct answers answers;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	peer_open(&peer, SHORT_MS, play_silent);
	assert_int_equal(answers_query(&answers, &peer, true, 1, 5000, NULL), -ETIMEDOUT);
	assert_int_equal(answers_count(&answers, -ETIMEDOUT), 5000);
	assert_in_range(since(start), SHORT_MS - 1, LONG_MS);
	assert_int_equal(taskstats_client_stats(peer.conn).sends, 1);
	assert_int_equal(answers.between, 0);
	finish(&peer, &answers);
}

/* Replies that come after their time are not taken for others'. */
TEST(test_late)
{
	struct peer peer;
	struct answers answers;

	peer_open(&peer, SHORT_MS, NULL);
	assert_int_equal(answers_query(&answers, &peer, false, 100, 50, NULL), -ETIMEDOUT);
	assert_int_equal(answers_count(&answers, -ETIMEDOUT), 50);
	assert_true(answers_once(&answers));
	answers_free(&answers);
	/* The first query's replies now, then the second's. */
	for (uint32_t i = 0; i < 100; i++) {
		struct ask ask = { 1 + i, 100 + i, false };

		peer_reply(&peer, &ask);
	}
	assert_int_equal(answers_query(&answers, &peer, false, 150, 50, NULL), 0);
	assert_int_equal(answers_count(&answers, 0), 50);
	assert_int_equal(taskstats_client_stats(peer.conn).foreign, 50);
	finish(&peer, &answers);
}

/* Acknowledges, without end and without an answer. */
static void play_flood(struct peer *peer, const struct ask *asks, size_t n)
{
	(void)n;
	while (!peer->stop)
		peer_error(peer, &asks[0], 0);
}

/* Foreign messages that never end do not keep the query from ending. */
TEST(test_flood)
{
	struct peer peer;
	struct answers answers;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	peer_open(&peer, SHORT_MS, play_flood);
	assert_int_equal(answers_query(&answers, &peer, false, 1, 300, NULL), -ETIMEDOUT);
	assert_int_equal(answers_count(&answers, -ETIMEDOUT), 300);
	assert_in_range(since(start), SHORT_MS - 1, LONG_MS);
	assert_true(taskstats_client_stats(peer.conn).foreign > 0);
	finish(&peer, &answers);
}

/* Answers half of the pack and goes. */
static void play_leave(struct peer *peer, const struct ask *asks, size_t n)
{
	peer_play_all(peer, asks, n / 2);
	shutdown(peer->fd, SHUT_RDWR);
}

/* A connection that breaks in the middle, and one that was broken before. */
TEST(test_closed)
{
	struct peer peer;
	struct answers answers;
	int err;

	peer_open(&peer, LONG_MS, play_leave);
	err = answers_query(&answers, &peer, false, 1, 300, NULL);
	assert_true(err < 0 && err != -ETIMEDOUT);
	assert_true(answers_once(&answers));
	assert_int_equal(answers_count(&answers, 0), taskstats_client_stats(peer.conn).pack / 2);
	assert_int_equal(answers_count(&answers, err),
			 300 - taskstats_client_stats(peer.conn).pack / 2);
	answers_free(&answers);
	err = answers_query(&answers, &peer, false, 1, 300, NULL);
	assert_int_equal(err, -EPIPE);
	assert_int_equal(answers_count(&answers, -EPIPE), 300);
	finish(&peer, &answers);
}
