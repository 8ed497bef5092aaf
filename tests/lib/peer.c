// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/peer.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/records.h"

/* A request as bytes: two headers and one attribute. */
struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attr;
	uint32_t id;
};

/* Takes a request. False for what the kernel would refuse or answer otherwise. */
static bool take_ask(const struct request *request, struct ask *ask)
{
	*ask = (struct ask){ request->header.nlmsg_seq, request->id, request->attr.nla_type == 2 };
	/* By flags a GET is a request and nothing else: an ACK would double the replies. */
	return request->header.nlmsg_len == sizeof(*request) &&
	       request->header.nlmsg_type == PEER_FAMILY &&
	       request->header.nlmsg_flags == NLM_F_REQUEST && request->generic.cmd == 1 &&
	       request->generic.version == 1 && request->attr.nla_len == 8 &&
	       (request->attr.nla_type == 1 || request->attr.nla_type == 2);
}

/* Takes the requests of one send apart and has them answered. */
static void take_pack(struct peer *peer, const uint8_t *bytes, size_t len)
{
	struct ask asks[PEER_ASKS_MAX];
	size_t n = 0;

	for (; len >= sizeof(struct request) && n < PEER_ASKS_MAX; n++) {
		struct request request;

		memcpy(&request, bytes, sizeof(request));
		if (!take_ask(&request, &asks[n]))
			peer->malformed++;
		bytes += sizeof(request);
		len -= sizeof(request);
	}
	if (len)
		peer->malformed++;
	peer->packs++;
	peer->requests += (unsigned)n;
	peer->play(peer, asks, n);
}

/* Answers until the connection closes. */
static void *run(void *arg)
{
	static const size_t room = PEER_ASKS_MAX * sizeof(struct request);
	struct peer *peer = arg;
	uint8_t *bytes = xcalloc(1, room);
	ssize_t len;

	while ((len = recv(peer->fd, bytes, room, 0)) > 0)
		take_pack(peer, bytes, (size_t)len);
	free(bytes);
	return NULL;
}

void peer_open(struct peer *peer, int timeout_ms,
	       void (*play)(struct peer *peer, const struct ask *asks, size_t n))
{
	int fds[2], size = 1 << 20;

	memset(peer, 0, sizeof(*peer));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		die("no socket pair");
	/* As much as may be had: what is under way counts against the sender here. */
	if (setsockopt(fds[1], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	peer->fd = fds[1];
	peer->play = play;
	if (taskstats_client_open_fd(&peer->conn, fds[0], PEER_FAMILY, timeout_ms))
		die("no connection");
	if (play) {
		if (pthread_create(&peer->thread, NULL, run, peer))
			die("no thread");
		peer->running = true;
	}
}

void peer_close(struct peer *peer)
{
	peer->stop = true;
	taskstats_client_close(peer->conn);
	if (peer->running)
		pthread_join(peer->thread, NULL);
	if (peer->fd >= 0)
		close(peer->fd);
}

void peer_send(struct peer *peer, const void *bytes, size_t len)
{
	if (peer->fd >= 0 && send(peer->fd, bytes, len, MSG_NOSIGNAL) < 0)
		peer->stop = true;
}

size_t peer_reply_bytes(uint8_t *to, const struct ask *ask)
{
	struct record_values values;
	uint8_t record[RECORD_MAX];
	struct record_message message = { .type = PEER_FAMILY,
					  .cmd = 2,
					  .seq = ask->seq,
					  .tgid = ask->tgid,
					  .id = ask->id,
					  .record = record };

	memset(&values, 0, sizeof(values));
	values.ac_pid = ask->id;
	values.delay[0].count = ask->id;
	values.cpu_run_virtual_total = UINT64_C(1000) * ask->id;
	message.len = record_make(record, 16, &values);
	return record_message(to, &message);
}

void peer_reply(struct peer *peer, const struct ask *ask)
{
	uint8_t bytes[2048];

	peer_send(peer, bytes, peer_reply_bytes(bytes, ask));
}

void peer_error(struct peer *peer, const struct ask *ask, int error)
{
	uint8_t bytes[64];

	peer_send(peer, bytes, record_error(bytes, ask->seq, error));
}

void peer_play_all(struct peer *peer, const struct ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		peer_reply(peer, &asks[i]);
}

/* What the callbacks are handed. */
struct collector {
	struct answers *answers;
	const pid_t *ids;
	bool tgid;
	void (*between)(void *);
	struct peer *peer;
};

/* Collects an answer. */
static void collect(void *arg, size_t index, int error, const struct taskstats_part *part,
		    uint64_t before_ns, uint64_t after_ns)
{
	const struct collector *collector = arg;
	struct answers *answers = collector->answers;
	uint32_t id = (uint32_t)collector->ids[index];
	struct counters raw = { 0 };

	answers->calls[index]++;
	answers->errors[index] = error;
	/* What was never sent has no times. */
	answers->ordered_times &= before_ns <= after_ns && (error || before_ns);
	answers->right[index] = !error && part && part->id == id && part->tgid == collector->tgid &&
				!taskstats_counters(part->record, part->len, &raw) &&
				raw.delay[DELAY_CPU].count == id &&
				raw.run_ns == UINT64_C(1000) * id;
}

/* Counts the calls between packs. */
static void count_between(void *arg)
{
	const struct collector *collector = arg;

	collector->answers->between++;
	if (collector->between)
		collector->between(collector->peer);
}

int answers_query(struct answers *answers, struct peer *peer, bool tgid, uint32_t first, size_t n,
		  void (*between)(void *))
{
	pid_t *ids = xcalloc(n + 1, sizeof(*ids));
	struct collector collector = { answers, ids, tgid, between, peer };
	int err;

	answers->n = n;
	answers->calls = xcalloc(n + 1, sizeof(*answers->calls));
	answers->errors = xcalloc(n + 1, sizeof(*answers->errors));
	answers->right = xcalloc(n + 1, sizeof(*answers->right));
	answers->ordered_times = true;
	answers->between = 0;
	for (size_t i = 0; i < n; i++)
		ids[i] = (pid_t)(first + i);
	err = taskstats_client_query(peer->conn, tgid, ids, n, collect, count_between, &collector);
	free(ids);
	return err;
}

bool answers_once(const struct answers *answers)
{
	for (size_t i = 0; i < answers->n; i++)
		if (answers->calls[i] != 1)
			return false;
	return answers->ordered_times;
}

size_t answers_count(const struct answers *answers, int error)
{
	size_t n = 0;

	for (size_t i = 0; i < answers->n; i++)
		n += error ? answers->errors[i] == error : answers->right[i];
	return n;
}

void answers_free(struct answers *answers)
{
	free(answers->calls);
	free(answers->errors);
	free(answers->right);
	memset(answers, 0, sizeof(*answers));
}
