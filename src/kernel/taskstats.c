/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/taskstats.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "kernel/netlink.h"

/* ac_comm has this many bytes in every version (TS_COMM_LEN). */
#define COMM_SIZE 32
#define COMM_OFFSET 80
#define COMM_OFFSET15 128

/* A record with its version's layout. */
struct record_view {
	const uint8_t *bytes;
	size_t len;
	int version;
	bool v15;
};

/* Checks the version and chooses the layout. */
static int view_open(struct record_view *view, const uint8_t *record, size_t len)
{
	int version = taskstats_version(record, len);

	if (version < 0)
		return version;
	*view = (struct record_view){ record, len, version, version == 15 };
	return 0;
}

/* Reads size bytes in host order, unaligned; false if the record ends before them. */
static bool read_bytes(const struct record_view *view, size_t offset, void *to, size_t size)
{
	if (offset > view->len || size > view->len - offset)
		return false;
	memcpy(to, view->bytes + offset, size);
	return true;
}

/* Reads a field of the table; false if this record does not have it. */
static bool read_field(const struct record_view *view, enum record_field field, uint64_t *value)
{
	const struct record_row *row = &record_table[field];
	size_t offset = view->v15 ? row->offset15 : row->offset;
	uint8_t byte;
	uint32_t word;

	if (view->version < row->since)
		return false;
	switch (row->type) {
	case RECORD_U8:
	case RECORD_S8:
		if (!read_bytes(view, offset, &byte, sizeof(byte)))
			return false;
		*value = row->type == RECORD_S8 ? (uint64_t)(int8_t)byte : byte;
		return true;
	case RECORD_U32:
		if (!read_bytes(view, offset, &word, sizeof(word)))
			return false;
		*value = word;
		return true;
	case RECORD_U64:
		break;
	}
	return read_bytes(view, offset, value, sizeof(*value));
}

/* The offsets of a kind in this record's layout. */
static const struct delay_place *place_of(const struct record_view *view, enum delay_kind kind)
{
	return view->v15 ? &delay_table[kind].place15 : &delay_table[kind].place;
}

int taskstats_version(const uint8_t *record, size_t len)
{
	uint16_t version;

	if (len < sizeof(version))
		return -EBADMSG;
	memcpy(&version, record, sizeof(version));
	return version < TASKSTATS_OLDEST ? -EPROTONOSUPPORT : version;
}

int taskstats_counters(const uint8_t *record, size_t len, struct counters *counters)
{
	struct record_view view;
	uint64_t user, system;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	counters->valid = 0;
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_place *place = place_of(&view, kind);
		struct delay_sum *sum = &counters->delay[kind];

		if (view.version >= delay_table[kind].since &&
		    read_bytes(&view, place->count, &sum->count, sizeof(sum->count)) &&
		    read_bytes(&view, place->total, &sum->ns, sizeof(sum->ns)))
			counters->valid |= DELAY_BOTH(DELAY_BIT(kind));
	}
	if (read_field(&view, RECORD_cpu_run_virtual_total, &counters->run_ns))
		counters->valid |= VALID_RUN;
	if (read_field(&view, RECORD_ac_utime, &user) &&
	    read_field(&view, RECORD_ac_stime, &system)) {
		counters->user_ns = user * NSEC_PER_USEC;
		counters->system_ns = system * NSEC_PER_USEC;
		counters->valid |= VALID_TICK;
	}
	return 0;
}

int taskstats_elapsed(const uint8_t *record, size_t len, uint64_t *elapsed_ns)
{
	struct record_view view;
	uint64_t us;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	if (!read_field(&view, RECORD_ac_etime, &us))
		return -EBADMSG;
	*elapsed_ns = us * NSEC_PER_USEC;
	return 0;
}

int taskstats_identity(const uint8_t *record, size_t len, struct taskstats_identity *out)
{
	struct record_view view;
	uint64_t pid, ppid, uid;
	size_t comm;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	comm = view.v15 ? COMM_OFFSET15 : COMM_OFFSET;
	if (comm + COMM_SIZE > len || !read_field(&view, RECORD_ac_pid, &pid) ||
	    !read_field(&view, RECORD_ac_ppid, &ppid) || !read_field(&view, RECORD_ac_uid, &uid))
		return -EBADMSG;
	err = taskstats_elapsed(record, len, &out->elapsed_ns);
	if (err)
		return err;
	out->pid = (pid_t)pid;
	out->ppid = (pid_t)ppid;
	out->uid = (uid_t)uid;
	out->comm = (const char *)record + comm;
	out->comm_len = COMM_SIZE;
	return 0;
}

/* Reads max, min and the time of the max of one kind, as far as the record has them. */
static void read_range(const struct record_view *view, enum delay_kind kind,
		       struct task_record *out)
{
	const struct delay_place *place = place_of(view, kind);
	int64_t stamp[2];

	if (view->version < 15)
		return;
	if (read_bytes(view, place->max, &out->max[kind], sizeof(out->max[kind])) &&
	    read_bytes(view, place->min, &out->min[kind], sizeof(out->min[kind])))
		out->range_valid |= DELAY_BIT(kind);
	if (view->version < 17 || !read_bytes(view, place->stamp, stamp, sizeof(stamp)))
		return;
	/* A struct __kernel_timespec of wall-clock time; an impossible value counts as unset. */
	if (stamp[0] < 0 || stamp[0] > INT64_C(0xffffffff) || stamp[1] < 0 ||
	    stamp[1] >= (int64_t)NSEC_PER_SEC)
		return;
	out->stamp[kind] = (uint64_t)stamp[0] * NSEC_PER_SEC + (uint64_t)stamp[1];
	out->stamp_valid |= DELAY_BIT(kind);
}

/* Reads wanted fields; the others are unchanged. */
static void read_fields(const struct record_view *view, uint64_t wanted, struct task_record *out)
{
	out->fields_valid = 0;
	for (; wanted; wanted &= wanted - 1) {
		enum record_field field = (enum record_field)__builtin_ctzll(wanted);

		if (read_field(view, field, &out->field[field]))
			out->fields_valid |= RECORD_BIT(field);
	}
}

int taskstats_fields(const uint8_t *record, size_t len, uint64_t wanted, struct task_record *out)
{
	struct record_view view;
	int err = view_open(&view, record, len);

	if (!err)
		read_fields(&view, wanted, out);
	return err;
}

int taskstats_record(const uint8_t *record, size_t len, struct task_record *out)
{
	struct record_view view;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	*out = (struct task_record){ 0 };
	read_fields(&view, (RECORD_BIT(RECORD_FIELDS - 1) << 1) - 1, out);
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		read_range(&view, kind, out);
	return 0;
}

/* Reads one TASKSTATS_TYPE_AGGR_* attribute into part. 0 or -EBADMSG. */
static int read_aggregate(struct nlattr *aggregate, bool tgid, struct taskstats_part *part)
{
	int id_type = tgid ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID;
	struct nlattr *attr;
	bool have_id = false;
	int rest;

	*part = (struct taskstats_part){ .tgid = tgid };
	/* Searches by type, not by position: some CPUs need a TASKSTATS_TYPE_NULL in between. */
	nla_for_each_nested(attr, aggregate, rest)
	{
		if (nla_type(attr) == id_type) {
			if (nla_len(attr) < (int)sizeof(part->id))
				return -EBADMSG;
			part->id = nla_get_u32(attr);
			have_id = true;
		} else if (nla_type(attr) == TASKSTATS_TYPE_STATS) {
			part->record = nla_data(attr);
			part->len = (size_t)nla_len(attr);
		}
	}
	return have_id && part->record && rest <= 0 ? 0 : -EBADMSG;
}

int taskstats_parts(const void *attributes, size_t len, struct taskstats_part *parts, int max)
{
	struct nlattr *attr;
	int n = 0, rest, err;

	if (len > INT32_MAX)
		return -EBADMSG;
	nla_for_each_attr(attr, (struct nlattr *)attributes, (int)len, rest)
	{
		bool tgid = nla_type(attr) == TASKSTATS_TYPE_AGGR_TGID;

		if (!tgid && nla_type(attr) != TASKSTATS_TYPE_AGGR_PID)
			continue;
		if (n == max)
			return n;
		err = read_aggregate(attr, tgid, &parts[n]);
		if (err)
			return err;
		n++;
	}
	return rest > 0 ? -EBADMSG : n;
}

/* Maximum requests per pack. Above 64 no time is saved, but 128 halves the system calls. */
#define PACK_MAX 128
#define RECEIVE_BUFFER (1 << 20)
/* Room for a reply; grows when a kernel sends longer records. */
#define REPLY_SIZE 1024
#define REPLY_SIZE_MAX (1 << 16)

struct taskstats_client {
	struct netlink nl;
	struct netlink_batch *replies;
	uint8_t *requests;
	unsigned pack; /* see struct taskstats_client_stats */
	uint64_t overruns;
};

/* One pack of requests in progress. */
struct pack {
	struct taskstats_client *conn;
	bool tgid;
	const pid_t *ids;
	size_t first, n; /* of the query's requests */
	size_t missing;
	size_t cut; /* of the missing ones: their replies came, but were too long */
	bool done[PACK_MAX];
	uint32_t seq; /* of the first request */
	uint64_t before_ns, after_ns;
	taskstats_client_reply_fn *reply;
	void *arg;
};

/* Allocates the connection's buffers, and derives the pack size from the room for replies. */
static struct taskstats_client *taskstats_client_new(const struct netlink *nl)
{
	struct taskstats_client *conn = xcalloc(1, sizeof(*conn));
	size_t size;

	conn->nl = *nl;
	conn->replies = netlink_batch_new(PACK_MAX, REPLY_SIZE);
	conn->requests = xcalloc(PACK_MAX, NETLINK_REQUEST_MAX);
	size = netlink_size_buffer(&conn->nl, RECEIVE_BUFFER);
	conn->pack = size < NETLINK_TRUESIZE ? 1 : (unsigned)(size / NETLINK_TRUESIZE);
	if (conn->pack > PACK_MAX)
		conn->pack = PACK_MAX;
	debug_log("receive buffer %zu, pack %u", size, conn->pack);
	return conn;
}

int taskstats_client_open(struct taskstats_client **out)
{
	struct netlink nl;
	int err = netlink_open(&nl, 0);

	if (!err)
		*out = taskstats_client_new(&nl);
	return err;
}

int taskstats_client_open_fd(struct taskstats_client **out, int fd, uint16_t family, int timeout_ms)
{
	struct netlink nl;

	netlink_open_fd(&nl, fd, family, timeout_ms);
	*out = taskstats_client_new(&nl);
	return 0;
}

void taskstats_client_close(struct taskstats_client *conn)
{
	if (!conn)
		return;
	netlink_close(&conn->nl);
	netlink_batch_free(conn->replies);
	free(conn->requests);
	free(conn);
}

struct taskstats_client_stats taskstats_client_stats(const struct taskstats_client *conn)
{
	return (struct taskstats_client_stats){ conn->nl.sends, conn->nl.receives, conn->nl.foreign,
						conn->overruns, conn->pack };
}

/* Answers the request at that place of the pack, once. */
static void answer_request(struct pack *pack, size_t i, int error,
			   const struct taskstats_part *part)
{
	if (pack->done[i])
		return;
	pack->done[i] = true;
	pack->missing--;
	pack->reply(pack->arg, pack->first + i, error, part, pack->before_ns, pack->after_ns);
}

/* Answers the missing requests with an error. */
static void answer_missing(struct pack *pack, int error)
{
	for (size_t i = 0; i < pack->n; i++)
		answer_request(pack, i, error, NULL);
}

/* Sends the requests of the pack in one call. 0 or -errno. */
static int send_pack(struct pack *pack)
{
	struct taskstats_client *conn = pack->conn;
	size_t len = 0;
	int err;

	pack->seq = conn->nl.seq + 1;
	for (size_t i = 0; i < pack->n; i++) {
		uint32_t id = (uint32_t)pack->ids[pack->first + i];
		struct netlink_request request = {
			.command = TASKSTATS_CMD_GET,
			.attribute = pack->tgid ? TASKSTATS_CMD_ATTR_TGID : TASKSTATS_CMD_ATTR_PID,
			.value = &id,
			.len = sizeof(id),
		};

		len += netlink_write(&conn->nl, conn->requests + len, &request);
	}
	pack->before_ns = clock_ns(CLOCK_MONOTONIC);
	err = netlink_send(&conn->nl, conn->requests, len);
	/* The kernel answers within the send: its readings are between these times. */
	pack->after_ns = clock_ns(CLOCK_MONOTONIC);
	return err;
}

/* Handles a record. False for a message without a record. */
static bool handle_record(struct pack *pack, size_t i, const struct netlink_message *message)
{
	struct taskstats_part part;

	if (message->command != TASKSTATS_CMD_NEW)
		return false;
	if (taskstats_parts(message->attributes, message->len, &part, 1) != 1 ||
	    part.tgid != pack->tgid || part.id != (uint32_t)pack->ids[pack->first + i])
		answer_request(pack, i, -EBADMSG, NULL);
	else
		answer_request(pack, i, 0, &part);
	return true;
}

/* Handles a truncated reply: its request is repeated with more room. */
static bool handle_cut_off(struct pack *pack, size_t i)
{
	if (netlink_batch_room(pack->conn->replies) >= REPLY_SIZE_MAX)
		answer_request(pack, i, -EMSGSIZE, NULL);
	else
		pack->cut++;
	return true;
}

/* Handles a message. False if it does not answer a request of this pack. */
static bool handle_reply(void *arg, const struct netlink_message *message)
{
	struct pack *pack = arg;
	/* Unsigned: a stale sequence number lies far above the pack's end. */
	size_t i = message->seq - pack->seq;

	if (i >= pack->n || pack->done[i])
		return false;
	if (message->kind == NETLINK_ANSWER)
		return handle_record(pack, i, message);
	if (message->kind == NETLINK_CUT)
		return handle_cut_off(pack, i);
	if (message->error < 0)
		answer_request(pack, i, message->error, NULL);
	return message->error < 0;
}

/* Receives what is there. The number of datagrams, or -errno. */
static int receive_some(struct pack *pack)
{
	struct taskstats_client *conn = pack->conn;
	size_t cut = pack->cut;
	int n = netlink_receive(&conn->nl, conn->replies, pack->missing - pack->cut, handle_reply,
				pack);

	if (pack->cut > cut) {
		netlink_batch_enlarge(conn->replies, 2 * netlink_batch_room(conn->replies));
		debug_log("reply cut off: room for %zu bytes from now",
			  netlink_batch_room(conn->replies));
	}
	return n;
}

/* Receives until every request is answered. 0, or -errno with some missing. */
static int receive_pack(struct pack *pack)
{
	struct netlink *nl = &pack->conn->nl;
	uint64_t deadline = netlink_deadline(nl);
	bool lost = false; /* replies that will not come any more */

	while (pack->missing > pack->cut) {
		size_t missing = pack->missing;
		int n = receive_some(pack);

		if (n == -ENOBUFS) {
			/* Replies were dropped; queued ones still come, the others never. */
			pack->conn->overruns++;
			lost = true;
			if (clock_ns(CLOCK_MONOTONIC) < deadline)
				continue;
			n = -ETIMEDOUT; /* it would repeat the error forever */
		}
		if (n == -EAGAIN)
			n = lost ? -ENOBUFS : netlink_await(nl, deadline);
		else if (n >= 0 && pack->missing == missing &&
			 clock_ns(CLOCK_MONOTONIC) >= deadline)
			n = -ETIMEDOUT; /* messages for others must not delay us */
		if (n < 0 && n != -EINTR)
			return n;
	}
	return pack->cut ? -EMSGSIZE : 0;
}

/* Lists the requests left unanswered by an overrun or a truncation. Returns how many. */
static size_t collect_missing(const struct pack *pack, pid_t *ids, size_t *places)
{
	size_t n = 0;

	for (size_t i = 0; i < pack->n; i++) {
		if (pack->done[i])
			continue;
		ids[n] = pack->ids[pack->first + i];
		places[n++] = pack->first + i;
	}
	return n;
}

/* Passes on the replies of a second query under the first one's indexes. */
struct forward {
	taskstats_client_reply_fn *reply;
	void *arg;
	const size_t *places;
};

/* Passes on a reply. */
static void forward_reply(void *arg, size_t index, int error, const struct taskstats_part *part,
			  uint64_t before_ns, uint64_t after_ns)
{
	const struct forward *forward = arg;

	forward->reply(forward->arg, forward->places[index], error, part, before_ns, after_ns);
}

/* Repeats the lost requests; after an overrun all packs are half the size from now on. */
static int ask_again(struct pack *pack, bool overrun)
{
	struct taskstats_client *conn = pack->conn;
	pid_t ids[PACK_MAX];
	size_t places[PACK_MAX];
	size_t n = collect_missing(pack, ids, places);
	struct forward forward = { pack->reply, pack->arg, places };

	if (overrun && conn->pack == 1) {
		answer_missing(pack, -ENOBUFS);
		return 0;
	}
	if (overrun)
		conn->pack /= 2;
	debug_log("%zu replies lost for want of room, pack %u from now", n, conn->pack);
	return taskstats_client_query(conn, pack->tgid, ids, n, forward_reply, NULL, &forward);
}

int taskstats_client_query(struct taskstats_client *conn, bool tgid, const pid_t *ids, size_t n,
			   taskstats_client_reply_fn *reply, void (*between)(void *), void *arg)
{
	int err = 0;
	bool late = false;

	for (size_t first = 0; first < n;) {
		struct pack pack = { .conn = conn,
				     .tgid = tgid,
				     .ids = ids,
				     .first = first,
				     .reply = reply,
				     .arg = arg };

		pack.n = n - first < conn->pack ? n - first : conn->pack;
		pack.missing = pack.n;
		if (!err)
			err = send_pack(&pack);
		if (!err)
			err = receive_pack(&pack);
		if (err == -ENOBUFS || (err == -EMSGSIZE && pack.cut)) {
			err = ask_again(&pack, err == -ENOBUFS);
		} else if (err) {
			/* The first time-out may be one lost reply; a second one ends the query. */
			bool go_on = err == -ETIMEDOUT && pack.missing < pack.n && !late;

			answer_missing(&pack, err);
			late = true;
			err = go_on ? 0 : err;
		}
		first += pack.n;
		if (between && !err && first < n)
			between(arg);
	}
	return err;
}
