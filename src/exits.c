/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "exits.h"

#include <errno.h>
#include <linux/acct.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpus.h"
#include "taskstats.h"
#include "util.h"

/* A record of a task and of its group, of version 17 twice over. */
#define MESSAGE_SIZE 4096
#define BATCH 64

/* What a record takes of a receive buffer (1.3 kB were seen on 6.18). */
#define RECORD_TRUESIZE 2560
#define BUFFER (32U << 20)
#define ALL_BUFFERS (256U << 20)

/* More exits a second than a CPU can do (27,000 on two were seen, by vfork, on 6.18). */
#define EXITS_A_SECOND 25000

/* The limits of what lies between two drains. */
#define DRAIN_MIN_NS (50 * NSEC_PER_MSEC)
#define DRAIN_MAX_NS NSEC_PER_SEC

/* With more CPUs than this they share listeners. */
#define LISTENERS_MAX 64

#define ACK_TIMEOUT_MS 1000

/* Memory for this many records is kept whatever their number. */
#define SMALL 1024

struct listener {
	struct nl_sock *sock; /* owns fd where it is set */
	int fd;
	char cpus[32];
	uint64_t empty_ns; /* when it was seen to be empty */
	uint32_t dropped;  /* by the kernel, as it was read last: it wraps */
};

struct exits {
	struct listener *listeners;
	struct pollfd *polls;
	size_t n;
	uint16_t family;
	bool threads, want_fields;
	uint64_t drained_ns, period_ns;
	struct exits_stats stats;
	struct exit_record *records;
	struct task_record *fields;
	size_t nrecords, cap, nfields, fields_cap;
	uint8_t *buffers;
	struct mmsghdr headers[BATCH];
	struct iovec vectors[BATCH];
	struct sockaddr_nl senders[BATCH];
};

/* Room for one more record. */
static struct exit_record *add_record(struct exits *exits)
{
	if (exits->nrecords == exits->cap) {
		exits->cap = exits->cap ? exits->cap * 2 : SMALL;
		exits->records = xreallocarray(exits->records, exits->cap,
					       sizeof(*exits->records));
	}
	return &exits->records[exits->nrecords++];
}

/* Keeps all fields of a record. */
static size_t keep_fields(struct exits *exits, const struct task_record *fields)
{
	if (exits->nfields == exits->fields_cap) {
		exits->fields_cap = exits->fields_cap ? exits->fields_cap * 2 : SMALL;
		exits->fields = xreallocarray(exits->fields, exits->fields_cap,
					      sizeof(*exits->fields));
	}
	exits->fields[exits->nfields] = *fields;
	return exits->nfields++;
}

/* A field of a record, 0 where its version has none. */
static uint64_t field_of(const struct task_record *fields, enum record_field field)
{
	return fields->fields_valid & RECORD_BIT(field) ? fields->field[field] : 0;
}

/* Fills a record from the task's part and, for the last of several threads, the group's. */
static int read_record(const struct exits *exits, const struct taskstats_part *task,
		       const struct taskstats_part *group, const struct task_record *fields,
		       struct exit_record *out)
{
	const struct taskstats_part *whole = group && !exits->threads ? group : task;
	struct taskstats_identity who;
	int err = taskstats_identity(task->record, task->len, &who);

	if (!err)
		err = taskstats_counters(whole->record, whole->len, &out->raw);
	if (err)
		return err;
	out->pid = who.pid;
	out->ppid = who.ppid;
	out->uid = who.uid;
	out->members = 1;
	out->life_ns = who.elapsed_ns;
	memcpy(out->comm, who.comm, strnlen(who.comm, who.comm_len));
	out->status = (uint32_t)field_of(fields, RECORD_ac_exitcode);
	out->last = group || field_of(fields, RECORD_ac_flag) & AGROUP;
	out->tgid = group ? (pid_t)group->id : (pid_t)field_of(fields, RECORD_ac_tgid);
	/* Of several threads the process's start is the leader's. */
	if (!exits->threads && fields->fields_valid & RECORD_BIT(RECORD_ac_tgetime))
		out->life_ns = field_of(fields, RECORD_ac_tgetime) * NSEC_PER_USEC;
	out->raw.life_ns = group && !exits->threads ? 0 : who.elapsed_ns;
	out->raw.single = exits->threads || !group;
	return 0;
}

/* Takes the parts of a message. False where they are no exit record. */
static bool take_parts(struct exits *exits, const struct listener *listener,
		       const struct taskstats_part *parts, int n, uint64_t now_ns)
{
	const struct taskstats_part *task = NULL, *group = NULL;
	struct exit_record record = { .lo_ns = listener->empty_ns, .hi_ns = now_ns };
	struct task_record fields;

	for (int i = 0; i < n; i++)
		*(parts[i].tgid ? &group : &task) = &parts[i];
	if (!task || taskstats_record(task->record, task->len, &fields) ||
	    read_record(exits, task, group, &fields, &record))
		return false;
	record.raw.exited = true;
	record.raw.status = record.status;
	if (exits->want_fields)
		record.field = keep_fields(exits, &fields);
	*add_record(exits) = record;
	return true;
}

/* Takes one message of the kernel's. False where it is no exit record. */
static bool take_message(struct exits *exits, size_t at, struct nlmsghdr *header, uint64_t now_ns)
{
	struct listener *listener = &exits->listeners[at];
	struct taskstats_part parts[2];
	struct genlmsghdr *generic;
	int n;

	if (header->nlmsg_type != exits->family || !genlmsg_valid_hdr(header, 0))
		return false;
	generic = genlmsg_hdr(header);
	if (generic->cmd != TASKSTATS_CMD_NEW)
		return false;
	exits->stats.received++;
	n = taskstats_parts(genlmsg_attrdata(generic, 0), (size_t)genlmsg_attrlen(generic, 0),
			    parts, 2);
	if (n < 1 || !take_parts(exits, listener, parts, n, now_ns))
		exits->stats.lost++;
	return true;
}

/* Takes one datagram. The answer to a request in it goes to *ack, which starts as 1. */
static void take_datagram(struct exits *exits, size_t at, const struct mmsghdr *datagram,
			  uint64_t now_ns, int *ack)
{
	const struct sockaddr_nl *sender = datagram->msg_hdr.msg_name;
	struct nlmsghdr *header = datagram->msg_hdr.msg_iov->iov_base;
	int rest = (int)datagram->msg_len;

	/* Any process may write to our port; only port 0 is the kernel. */
	if (datagram->msg_hdr.msg_namelen >= sizeof(*sender) &&
	    sender->nl_family == AF_NETLINK && sender->nl_pid != 0)
		return;
	if (datagram->msg_hdr.msg_flags & MSG_TRUNC) {
		exits->stats.lost++;
		return;
	}
	for (; nlmsg_ok(header, rest); header = nlmsg_next(header, &rest)) {
		const struct nlmsgerr *error = nlmsg_data(header);

		if (header->nlmsg_type != NLMSG_ERROR)
			take_message(exits, at, header, now_ns);
		else if (nlmsg_datalen(header) >= (int)sizeof(*error))
			*ack = error->error;
	}
}

/* Reads how many the kernel has dropped for this listener. False where it does not say. */
static bool read_dropped(const struct listener *listener, uint32_t *dropped)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	if (getsockopt(listener->fd, SOL_SOCKET, SO_MEMINFO, info, &len) ||
	    len <= SK_MEMINFO_DROPS * sizeof(*info))
		return false;
	*dropped = info[SK_MEMINFO_DROPS];
	return true;
}

/*
 * Counts what was lost when the buffer ran over, so many times. The kernel drops messages until
 * the buffer has been emptied, and says ENOBUFS anew when that begins again
 * (net/netlink/af_netlink.c:netlink_overrun()). It counts each; where it does not tell, each
 * time was at least one.
 */
static void count_dropped(struct exits *exits, struct listener *listener, unsigned overruns)
{
	uint32_t dropped = listener->dropped + overruns;

	exits->stats.syscalls += exits->stats.exact;
	if (exits->stats.exact)
		read_dropped(listener, &dropped);
	exits->stats.lost += dropped - listener->dropped;
	listener->dropped = dropped;
}

/* Takes what one listener has. */
static void drain_listener(struct exits *exits, size_t at, int *ack)
{
	struct listener *listener = &exits->listeners[at];
	uint64_t before_ns;
	unsigned overruns = 0;
	int n;

	do {
		for (size_t i = 0; i < BATCH; i++)
			exits->headers[i].msg_hdr.msg_namelen = sizeof(*exits->senders);
		before_ns = clock_ns(CLOCK_MONOTONIC);
		exits->stats.syscalls++;
		n = recvmmsg(listener->fd, exits->headers, BATCH, MSG_DONTWAIT, NULL);
		if (n < 0 && errno == ENOBUFS) {
			debug_log("exit records of CPU %s: the buffer ran over", listener->cpus);
			overruns++;
			n = BATCH;
			continue;
		}
		for (int i = 0; i < n; i++)
			if (exits->headers[i].msg_len)
				take_datagram(exits, at, &exits->headers[i],
					      clock_ns(CLOCK_MONOTONIC), ack);
	} while (n == BATCH);
	if (overruns)
		count_dropped(exits, listener, overruns);
	listener->empty_ns = before_ns;
}

void exits_drain(struct exits *exits)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ack = 1;

	exits->stats.syscalls++;
	exits->drained_ns = now;
	if (poll(exits->polls, exits->n, 0) < 0)
		return;
	for (size_t i = 0; i < exits->n; i++) {
		if (exits->polls[i].revents)
			drain_listener(exits, i, &ack);
		else
			exits->listeners[i].empty_ns = now;
	}
}

/* Sends a request for a cpumask. 0 or -errno. */
static int send_cpumask(struct exits *exits, const struct listener *listener, int attribute)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err;

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, exits->family, 0,
				 NLM_F_REQUEST | NLM_F_ACK, TASKSTATS_CMD_GET,
				 TASKSTATS_GENL_VERSION) ||
	    nla_put_string(msg, attribute, listener->cpus) < 0)
		die("out of memory");
	err = nl_send_auto(listener->sock, msg);
	nlmsg_free(msg);
	return err < 0 ? -EIO : 0;
}

/* Registers a listener. Records that come before the answer are taken. 0 or -errno. */
static int register_listener(struct exits *exits, size_t at)
{
	struct listener *listener = &exits->listeners[at];
	int ack = 1, err = send_cpumask(exits, listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);

	while (!err && ack > 0) {
		if (poll(&exits->polls[at], 1, ACK_TIMEOUT_MS) < 1)
			return -ETIMEDOUT;
		drain_listener(exits, at, &ack);
	}
	debug_log("exit records of CPU %s: %s", listener->cpus, strerror(err ? -err : -ack));
	return err ? err : ack;
}

/* Enlarges the receive buffer. How many records it holds. */
static unsigned size_buffer(int fd, size_t wanted)
{
	int size = (int)wanted;
	socklen_t len = sizeof(size);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		debug_log("receive buffer: %s", strerror(errno));
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len) || size < 0)
		return 0;
	return (unsigned)size / RECORD_TRUESIZE;
}

/* What all listeners share. */
static struct exits *exits_new(bool threads, size_t n, uint16_t family)
{
	struct exits *exits = xcalloc(1, sizeof(*exits));

	exits->threads = threads;
	exits->family = family;
	exits->n = n;
	exits->listeners = xcalloc(n, sizeof(*exits->listeners));
	exits->polls = xcalloc(n, sizeof(*exits->polls));
	exits->stats.exact = true;
	exits->period_ns = DRAIN_MAX_NS;
	exits->drained_ns = clock_ns(CLOCK_MONOTONIC);
	exits->buffers = xcalloc(BATCH, MESSAGE_SIZE);
	for (size_t i = 0; i < BATCH; i++) {
		exits->vectors[i].iov_base = exits->buffers + i * MESSAGE_SIZE;
		exits->vectors[i].iov_len = MESSAGE_SIZE;
		exits->headers[i].msg_hdr.msg_iov = &exits->vectors[i];
		exits->headers[i].msg_hdr.msg_iovlen = 1;
		exits->headers[i].msg_hdr.msg_name = &exits->senders[i];
	}
	for (size_t i = 0; i < n; i++) {
		exits->listeners[i].fd = -1;
		exits->listeners[i].empty_ns = exits->drained_ns;
		exits->polls[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	}
	return exits;
}

/* Opens the socket of a listener. 0 or -errno. */
static int open_listener(struct exits *exits, size_t at, size_t buffer)
{
	struct listener *listener = &exits->listeners[at];
	uint64_t held_ns;

	listener->sock = nl_socket_alloc();
	if (!listener->sock)
		die("out of memory");
	if (genl_connect(listener->sock) < 0)
		return -EAFNOSUPPORT;
	listener->fd = nl_socket_get_fd(listener->sock);
	exits->polls[at].fd = listener->fd;
	if (!exits->family) {
		struct timeval timeout = { .tv_sec = ACK_TIMEOUT_MS / 1000 };
		int family;

		/* The look-up waits for its reply without a limit of its own. */
		setsockopt(listener->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		family = genl_ctrl_resolve(listener->sock, TASKSTATS_GENL_NAME);
		if (family < 0)
			return -ENOENT;
		exits->family = (uint16_t)family;
	}
	exits->stats.exact &= read_dropped(listener, &listener->dropped);
	held_ns = size_buffer(listener->fd, buffer) * (NSEC_PER_SEC / EXITS_A_SECOND);
	if (held_ns < exits->period_ns)
		exits->period_ns = held_ns > DRAIN_MIN_NS ? held_ns : DRAIN_MIN_NS;
	return register_listener(exits, at);
}

int exits_open(struct exits **out, bool threads, size_t buffer)
{
	unsigned cpus = cpus_possible();
	unsigned share = (cpus + LISTENERS_MAX - 1) / LISTENERS_MAX;
	size_t n = (cpus + share - 1) / share;
	struct exits *exits = exits_new(threads, n, 0);
	int err = 0;

	if (!buffer)
		buffer = BUFFER < ALL_BUFFERS / n ? BUFFER : ALL_BUFFERS / n;
	for (unsigned i = 0; !err && i < n; i++) {
		unsigned last = (i + 1) * share < cpus ? (i + 1) * share - 1 : cpus - 1;

		snprintf(exits->listeners[i].cpus, sizeof(exits->listeners[i].cpus), "%u-%u",
			 i * share, last);
		err = open_listener(exits, i, buffer);
	}
	if (err) {
		exits_close(exits);
		return err;
	}
	debug_log("%zu listeners for exit records, drained every %llu ms", n,
		  (unsigned long long)(exits->period_ns / NSEC_PER_MSEC));
	*out = exits;
	return 0;
}

int exits_open_fds(struct exits **out, bool threads, const int *fds, size_t n, uint16_t family)
{
	struct exits *exits = exits_new(threads, n, family);

	for (size_t i = 0; i < n; i++) {
		struct listener *listener = &exits->listeners[i];

		listener->fd = exits->polls[i].fd = fds[i];
		exits->stats.exact &= read_dropped(listener, &listener->dropped);
	}
	*out = exits;
	return 0;
}

void exits_want_fields(struct exits *exits, bool fields)
{
	/* Only from an empty list on: a record without its fields has none. */
	if (!exits->nrecords)
		exits->want_fields = fields;
}

uint64_t exits_due_ns(const struct exits *exits)
{
	return exits->drained_ns + exits->period_ns;
}

struct exit_record *exits_records(struct exits *exits, size_t *n)
{
	*n = exits->nrecords;
	return exits->records;
}

void exits_keep(struct exits *exits, size_t n)
{
	struct task_record *fields = exits->fields;

	exits->nrecords = n;
	if (!exits->want_fields)
		return;
	exits->fields = NULL;
	exits->nfields = exits->fields_cap = 0;
	for (size_t i = 0; i < n; i++)
		exits->records[i].field = keep_fields(exits,
						      &fields[exits->records[i].field]);
	free(fields);
}

const struct task_record *exits_fields(const struct exits *exits)
{
	return exits->want_fields ? exits->fields : NULL;
}

void exits_clear(struct exits *exits)
{
	/* What a storm took is given back. */
	if (exits->cap > SMALL && exits->nrecords < exits->cap / 4) {
		free(exits->records);
		free(exits->fields);
		exits->records = NULL;
		exits->fields = NULL;
		exits->cap = exits->fields_cap = 0;
	}
	exits->nrecords = exits->nfields = 0;
}

const struct exits_stats *exits_stats(const struct exits *exits)
{
	return &exits->stats;
}

void exits_close(struct exits *exits)
{
	if (!exits)
		return;
	for (size_t i = 0; i < exits->n; i++) {
		struct listener *listener = &exits->listeners[i];

		if (!listener->sock) {
			if (listener->fd >= 0)
				close(listener->fd);
			continue;
		}
		/* Else the kernel finds out with the next exit on that CPU only. */
		if (exits->family && listener->fd >= 0)
			send_cpumask(exits, listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
		nl_socket_free(listener->sock);
	}
	free(exits->listeners);
	free(exits->polls);
	free(exits->records);
	free(exits->fields);
	free(exits->buffers);
	free(exits);
}
