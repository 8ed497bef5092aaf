// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking in packs, over a socket pair whose other end plays the kernel, well and badly. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/peer.h"
#include "tests/lib/records.h"

/* Nothing here should ever wait for this long. */
#define LONG_MS 20000

/* A pack as it is on every machine: the buffer that may be had is never below the default. */
#define PACK 64

/* Everything must have been asked in the way the kernel takes it, and answered once. */
static void finish(struct peer *peer, struct answers *answers)
{
	assert_true(answers_once(answers));
	assert_int_equal(peer->malformed, 0);
	answers_free(answers);
	peer_close(peer);
}

/* Asks a peer that plays so, and wants no error. */
static void query(struct peer *peer, struct answers *answers, size_t n,
		  void (*play)(struct peer *peer, const struct ask *asks, size_t n))
{
	peer_open(peer, LONG_MS, play);
	assert_true(taskstats_client_stats(peer->conn).pack >= PACK);
	assert_int_equal(answers_query(answers, peer, false, 1000, n, NULL), 0);
}

/* Puts the replies to the next pack into the socket, before they are asked for. */
static void prefill(void *arg)
{
	struct peer *peer = arg;
	unsigned pack = taskstats_client_stats(peer->conn).pack;

	for (unsigned i = 0; i < pack; i++, peer->step++) {
		struct ask ask = { peer->number + peer->step, 5000 + peer->step, true };

		peer_reply(peer, &ask);
	}
}

/* As the kernel does, all replies are there when the send returns: two calls a pack. */
TEST(test_calls)
{
	static const size_t counts[] = { 1, 2, 128, 129, 1000 };

	for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
		struct peer peer;
		struct answers answers;
		struct taskstats_client_stats stats;
		size_t packs;

		peer_open(&peer, LONG_MS, NULL);
		stats = taskstats_client_stats(peer.conn);
		packs = (counts[i] + stats.pack - 1) / stats.pack;
		/* The first request of a connection has the number 1. */
		peer.number = 1;
		prefill(&peer);
		assert_int_equal(answers_query(&answers, &peer, true, 5000, counts[i], prefill), 0);
		stats = taskstats_client_stats(peer.conn);
		assert_int_equal(answers_count(&answers, 0), counts[i]);
		assert_int_equal(answers.between, packs - 1);
		assert_int_equal(stats.sends, packs);
		assert_int_equal(stats.receives, packs);
		assert_int_equal(stats.foreign, 0);
		assert_int_equal(stats.overruns, 0);
		finish(&peer, &answers);
	}
}

/* No requests, no calls. */
TEST(test_none)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 0, peer_play_all);
	assert_int_equal(taskstats_client_stats(peer.conn).sends, 0);
	assert_int_equal(taskstats_client_stats(peer.conn).receives, 0);
	assert_int_equal(answers.between, 0);
	finish(&peer, &answers);
}

/* By PID and by TGID, several queries over one connection. */
TEST(test_both_sorts)
{
	struct peer peer;
	struct answers answers;

	peer_open(&peer, LONG_MS, peer_play_all);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(answers_query(&answers, &peer, i & 1, 10 + 1000 * i, 300, NULL),
				 0);
		assert_int_equal(answers_count(&answers, 0), 300);
		assert_true(answers_once(&answers));
		answers_free(&answers);
	}
	assert_int_equal(peer.requests, 1200);
	assert_int_equal(peer.malformed, 0);
	assert_int_equal(peer.packs, taskstats_client_stats(peer.conn).sends);
	peer_close(&peer);
}

/* Answers backwards. */
static void play_backwards(struct peer *peer, const struct ask *asks, size_t n)
{
	while (n--)
		peer_reply(peer, &asks[n]);
}

/* Replies are matched by number, not by place. */
TEST(test_order)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 300, play_backwards);
	assert_int_equal(answers_count(&answers, 0), 300);
	finish(&peer, &answers);
}

/* Every third task has gone. */
static void play_gone(struct peer *peer, const struct ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (asks[i].id % 3)
			peer_reply(peer, &asks[i]);
		else
			peer_error(peer, &asks[i], -ESRCH);
	}
}

/* A task that has gone is an answer in its place. */
TEST(test_gone)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 300, play_gone);
	assert_int_equal(answers_count(&answers, -ESRCH), 100);
	assert_int_equal(answers_count(&answers, 0), 200);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(answers.errors[i], (1000 + i) % 3 ? 0 : -ESRCH);
	assert_int_equal(taskstats_client_stats(peer.conn).foreign, 0);
	finish(&peer, &answers);
}

/* Nobody may ask. */
static void play_forbidden(struct peer *peer, const struct ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		peer_error(peer, &asks[i], -EPERM);
}

/* Without the privilege every request says so. */
TEST(test_forbidden)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 10, play_forbidden);
	assert_int_equal(answers_count(&answers, -EPERM), 10);
	finish(&peer, &answers);
}

/* Sends a reply in which one thing is not what it should be. */
static void send_odd(struct peer *peer, const struct ask *ask, unsigned what)
{
	uint8_t bytes[2048], record[RECORD_MAX] = { 16 };
	struct record_message message = { .type = PEER_FAMILY,
					  .cmd = 2,
					  .seq = ask->seq,
					  .tgid = ask->tgid,
					  .id = ask->id,
					  .record = record,
					  .len = record_size(16) };

	if (what == 0)
		message.type = PEER_FAMILY + 1;
	if (what == 1)
		message.seq += 5000;
	if (what == 2)
		message.seq = ask->seq - 5000;
	if (what == 3)
		message.cmd = 1;
	if (what == 4)
		message.type = NLMSG_DONE;
	peer_send(peer, bytes, record_message(bytes, &message));
}

#define ODD 5

/* Before each reply what does not belong there, behind it the reply again and an ACK. */
static void play_foreign(struct peer *peer, const struct ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned what = 0; what < ODD; what++)
			send_odd(peer, &asks[i], what);
		peer_error(peer, &asks[i], 0);
		peer_reply(peer, &asks[i]);
		peer_reply(peer, &asks[i]);
		peer_error(peer, &asks[i], -ESRCH);
	}
}

/* What is no answer is dropped and counted; the answer that there is stays the first. */
TEST(test_foreign)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 20, play_foreign);
	assert_int_equal(answers_count(&answers, 0), 20);
	/* What comes behind the last reply may be read or not. */
	assert_in_range(taskstats_client_stats(peer.conn).foreign, 20 * (ODD + 1) + 19 * 2,
			20 * (ODD + 1) + 20 * 2);
	assert_true(answers_once(&answers));
	answers_free(&answers);
	/* What was left over is stale for the next query. */
	assert_int_equal(answers_query(&answers, &peer, true, 7, 5, NULL), 0);
	assert_int_equal(answers_count(&answers, 0), 5);
	finish(&peer, &answers);
}

/* Sets the length that a message says it has. */
static void set_length(uint8_t *bytes, uint32_t len)
{
	memcpy(bytes, &len, sizeof(len));
}

/* Replies with another id, of the other sort, without a record. */
static void play_wrong(struct peer *peer, const struct ask *asks, size_t n)
{
	uint8_t bytes[2048];

	for (size_t i = 0; i < n; i++) {
		struct ask ask = asks[i];
		struct record_message message = { .type = PEER_FAMILY,
						  .cmd = 2,
						  .seq = ask.seq,
						  .tgid = ask.tgid,
						  .id = ask.id,
						  .record = "" };

		switch (i % 4) {
		case 0:
			ask.id++;
			peer_reply(peer, &ask);
			break;
		case 1:
			ask.tgid = !ask.tgid;
			peer_reply(peer, &ask);
			break;
		case 2:
			/* Cut off behind the headers: a message without attributes. */
			record_message(bytes, &message);
			set_length(bytes, 20);
			peer_send(peer, bytes, 20);
			break;
		default:
			peer_reply(peer, &ask);
		}
	}
}

/* A reply that is not what was asked is an answer, but no record. */
TEST(test_wrong)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 20, play_wrong);
	assert_int_equal(answers_count(&answers, -EBADMSG), 15);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(answers.right[i], i % 4 == 3);
	finish(&peer, &answers);
}

/* Datagrams too short for a message, with lengths that lie, errors without a body. */
static void play_short(struct peer *peer, const struct ask *asks, size_t n)
{
	static const uint32_t lies[] = { 0, 1, 15, 17, 19, 0x7fffffff, 0xffffffff };
	uint8_t bytes[2048];

	for (size_t cut = 1; cut < 20; cut++) {
		peer_reply_bytes(bytes, &asks[0]);
		peer_send(peer, bytes, cut);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
		size_t len = peer_reply_bytes(bytes, &asks[0]);

		set_length(bytes, lies[i]);
		peer_send(peer, bytes, lies[i] == 17 || lies[i] == 19 ? lies[i] : len);
	}
	record_error(bytes, asks[0].seq, -ESRCH);
	set_length(bytes, 18);
	peer_send(peer, bytes, 18);
	peer_play_all(peer, asks, n);
}

/* Messages too short to be any are dropped. */
TEST(test_short)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 30, play_short);
	assert_int_equal(answers_count(&answers, 0), 30);
	assert_int_equal(taskstats_client_stats(peer.conn).foreign, 19 + 7 + 1);
	finish(&peer, &answers);
}

/* Three replies a datagram where they fit, and bytes behind them. */
static void play_together(struct peer *peer, const struct ask *asks, size_t n)
{
	uint8_t bytes[4096];

	for (size_t i = 0; i < n; i += 3) {
		size_t len = 0;

		for (size_t j = i; j < n && j < i + 3; j++)
			len += record_error(bytes + len, asks[j].seq, -ESRCH);
		if (i % 2)
			len += 3;
		peer_send(peer, bytes, len);
	}
}

/* A datagram may hold several messages. */
TEST(test_together)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 200, play_together);
	assert_int_equal(answers_count(&answers, -ESRCH), 200);
	finish(&peer, &answers);
}

/* A kernel to come, whose record has grown to that size. */
static void reply_large(struct peer *peer, const struct ask *asks, size_t n, size_t size)
{
	static const size_t room = 1 << 17;
	uint8_t *bytes = xcalloc(1, room), *record = xcalloc(1, room);
	struct record_values values;

	memset(&values, 0, sizeof(values));
	for (size_t i = 0; i < n; i++) {
		struct record_message message = { .type = PEER_FAMILY,
						  .cmd = 2,
						  .seq = asks[i].seq,
						  .tgid = asks[i].tgid,
						  .id = asks[i].id,
						  .record = record,
						  .len = size };

		values.delay[0].count = asks[i].id;
		values.cpu_run_virtual_total = UINT64_C(1000) * asks[i].id;
		record_make(record, 18, &values);
		peer_send(peer, bytes, record_message(bytes, &message));
	}
	free(bytes);
	free(record);
}

/* Records of 1,500 bytes. */
static void play_large(struct peer *peer, const struct ask *asks, size_t n)
{
	reply_large(peer, asks, n, 1500);
}

/* Records of 3,500 bytes: the room must grow twice. */
static void play_larger(struct peer *peer, const struct ask *asks, size_t n)
{
	reply_large(peer, asks, n, 3500);
}

/* A reply that was cut off is asked for once more, with room; from then on it fits. */
TEST(test_large)
{
	struct peer peer;
	struct answers answers;
	uint64_t sends;

	query(&peer, &answers, 100, play_large);
	assert_int_equal(answers_count(&answers, 0), 100);
	assert_true(answers_once(&answers));
	answers_free(&answers);
	sends = taskstats_client_stats(peer.conn).sends;
	assert_int_equal(answers_query(&answers, &peer, false, 1, 64, NULL), 0);
	assert_int_equal(answers_count(&answers, 0), 64);
	assert_int_equal(taskstats_client_stats(peer.conn).sends, sends + 1);
	finish(&peer, &answers);

	query(&peer, &answers, 100, play_larger);
	assert_int_equal(answers_count(&answers, 0), 100);
	assert_true(taskstats_client_stats(peer.conn).pack >= PACK);
	finish(&peer, &answers);

	/* One alone must be answered too. */
	query(&peer, &answers, 1, play_larger);
	assert_int_equal(answers_count(&answers, 0), 1);
	finish(&peer, &answers);
}

/* Large ones among others. */
static void play_some_large(struct peer *peer, const struct ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % 2)
			peer_reply(peer, &asks[i]);
		else
			reply_large(peer, &asks[i], 1, 2000);
	}
}

/* Only what was cut off is asked for again. */
TEST(test_some_large)
{
	struct peer peer;
	struct answers answers;

	query(&peer, &answers, 60, play_some_large);
	assert_int_equal(answers_count(&answers, 0), 60);
	assert_in_range(peer.requests, 61, 90);
	finish(&peer, &answers);
}
