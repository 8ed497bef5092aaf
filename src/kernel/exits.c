/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/exits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/acct.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/netlink.h"
#include "kernel/taskstats.h"

/* The flag of a process's last thread, since 5.19: older headers lack it. */
#ifndef AGROUP
#define AGROUP 0x20
#endif

/* Larger numbers belong to no CPU (CONFIG_NR_CPUS is at most 8192). */
#define CPUS_MAX 65536

/* Room for the records of a task and of its group, twice that of version 17. */
#define MESSAGE_SIZE 4096
#define BATCH 64

#define BUFFER (32U << 20)
#define ALL_BUFFERS (256U << 20)

/* More exits a second than one CPU can do (27,000 on two CPUs were seen, by vfork, on 6.18). */
#define EXITS_A_SECOND 25000

/* Limits of the time between two drains. */
#define DRAIN_MIN_NS (50 * NSEC_PER_MSEC)
#define DRAIN_MAX_NS NSEC_PER_SEC

/* Maximum number of listeners; with more CPUs they share listeners. */
#define LISTENERS_MAX 64

/* Memory for this many records is never freed. */
#define SMALL 1024

/* Minimum buffer space per message: a record of version 8 has 328 bytes. */
#define TRUESIZE_LEAST 512

/*
 * Maximum overruns per drain. The kernel reports the next only when the buffer has been empty, and
 * then a drain is over.
 */
#define OVERRUNS_MAX 16

struct listener {
	struct netlink nl;
	char cpus[NETLINK_VALUE_MAX];
	bool asked; /* registration was requested */
	size_t most; /* messages that fit into its buffer */
	uint64_t empty_ns; /* all messages that had come by this time have been received */
	uint32_t dropped; /* the kernel's counter of dropped messages, at the last reading: it
			   * wraps */
	int ack; /* the kernel's answer to the last request: 0 or -errno; 1: none yet */
};

struct exits {
	struct listener *listeners;
	struct pollfd *polls;
	size_t n;
	bool threads, want_fields;
	uint64_t drained_ns, period_ns;
	struct exits_stats stats;
	struct exit_record *records;
	struct task_record *fields;
	size_t nrecords, cap, nfields, fields_cap;
	struct netlink_batch *batch;
};

/* The listener whose messages are being received. */
struct drain {
	struct exits *exits;
	struct listener *listener;
};

/* Stores all fields of a record. */
static size_t keep_fields(struct exits *exits, const struct task_record *fields)
{
	GROW(exits->fields, exits->nfields, exits->fields_cap);
	exits->fields[exits->nfields] = *fields;
	return exits->nfields++;
}

/* Fields read of a record if not all are needed: there may be thousands of records a second. */
#define FIELDS_READ \
	(RECORD_BIT(RECORD_ac_exitcode) | RECORD_BIT(RECORD_ac_flag) | \
	 RECORD_BIT(RECORD_ac_tgid) | RECORD_BIT(RECORD_ac_tgetime))

/* Reads the needed fields of a task's record. 0 or -errno. */
static int read_exit_fields(const struct exits *exits, const struct taskstats_part *task,
			    struct task_record *fields)
{
	if (exits->want_fields)
		return taskstats_record(task->record, task->len, fields);
	return taskstats_fields(task->record, task->len, FIELDS_READ, fields);
}

/* A field of a record, 0 where its version has none. */
static uint64_t field_of(const struct task_record *fields, enum record_field field)
{
	return fields->fields_valid & RECORD_BIT(field) ? fields->field[field] : 0;
}

/* Removes impossible delays from the task's counters. Returns whether any were found. */
static bool leave_out_impossible_delays(const struct exits *exits,
					const struct taskstats_part *task,
					const struct taskstats_part *group, uint64_t life_ns,
					struct exit_record *out)
{
	struct counters own = out->counters, excess = { 0 };
	uint32_t wrong;

	/* Those present are the group's. */
	if (group && !exits->threads && taskstats_counters(task->record, task->len, &own))
		return false;
	wrong = counters_excess(&own, life_ns, &excess);
	out->impossible = excess.valid;
	out->left_out = group && !exits->threads ? 0 : wrong;
	if (group || exits->threads || out->last) {
		counters_take_off(&out->counters, &excess, excess.valid);
		return out->impossible;
	}
	out->left_out = excess.valid;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (excess.valid & DELAY_BIT(kind))
			out->counters.delay[kind] = excess.delay[kind];
	return out->impossible;
}

/* Fills a record from the task's part and, if it is the last of several threads, the group's. */
static int read_record(struct exits *exits, const struct taskstats_part *task,
		       const struct taskstats_part *group, const struct task_record *fields,
		       struct exit_record *out)
{
	const struct taskstats_part *whole = group && !exits->threads ? group : task;
	struct taskstats_identity who;
	int err = taskstats_identity(task->record, task->len, &who);

	if (!err)
		err = taskstats_counters(whole->record, whole->len, &out->counters);
	if (err)
		return err;
	out->pid = who.pid;
	out->ppid = who.ppid;
	out->uid = who.uid;
	out->counters.members = 1;
	out->life_ns = who.elapsed_ns;
	memcpy(out->comm, who.comm, strnlen(who.comm, who.comm_len));
	out->status = (uint32_t)field_of(fields, RECORD_ac_exitcode);
	out->last = group || field_of(fields, RECORD_ac_flag) & AGROUP;
	out->tgid = group ? (pid_t)group->id : (pid_t)field_of(fields, RECORD_ac_tgid);
	/* A process with several threads starts when its leader does. */
	if (!exits->threads && fields->fields_valid & RECORD_BIT(RECORD_ac_tgetime))
		out->life_ns = field_of(fields, RECORD_ac_tgetime) * NSEC_PER_USEC;
	out->counters.life_ns = group && !exits->threads ? 0 : who.elapsed_ns;
	out->single = exits->threads || !group;
	exits->stats.impossible +=
		leave_out_impossible_delays(exits, task, group, who.elapsed_ns, out);
	return 0;
}

/* Adds the record of a message's parts. False: not an exit record. */
static bool add_record(struct exits *exits, const struct listener *listener,
		       const struct taskstats_part *parts, int n)
{
	const struct taskstats_part *task = NULL, *group = NULL;
	struct exit_record record = { .lo_ns = listener->empty_ns,
				      .hi_ns = clock_ns(CLOCK_MONOTONIC) };
	struct task_record fields;

	for (int i = 0; i < n; i++)
		*(parts[i].tgid ? &group : &task) = &parts[i];
	if (!task || read_exit_fields(exits, task, &fields) ||
	    read_record(exits, task, group, &fields, &record))
		return false;
	if (exits->want_fields)
		record.field = keep_fields(exits, &fields);
	GROW(exits->records, exits->nrecords, exits->cap);
	exits->records[exits->nrecords++] = record;
	return true;
}

/* Handles a kernel message. False: not meant for a listener. */
static bool handle_exit(void *arg, const struct netlink_message *message)
{
	const struct drain *drain = arg;
	struct exits *exits = drain->exits;
	struct taskstats_part parts[2];
	int n;

	if (message->kind == NETLINK_STATUS) {
		drain->listener->ack = message->error;
		return true;
	}
	if (message->kind == NETLINK_CUT) {
		exits->stats.lost++;
		return true;
	}
	if (message->command != TASKSTATS_CMD_NEW)
		return false;
	exits->stats.received++;
	n = taskstats_parts(message->attributes, message->len, parts, 2);
	if (n < 1 || !add_record(exits, drain->listener, parts, n))
		exits->stats.lost++;
	return true;
}

/*
 * Reads the number of messages that the kernel dropped for this listener. False if it is not
 * available.
 */
static bool read_dropped(const struct listener *listener, uint32_t *dropped)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	if (getsockopt(listener->nl.fd, SOL_SOCKET, SO_MEMINFO, info, &len) ||
	    len <= SK_MEMINFO_DROPS * sizeof(*info))
		return false;
	*dropped = info[SK_MEMINFO_DROPS];
	return true;
}

/*
 * Counts the messages lost in so many overruns of the buffer. The kernel drops messages until the
 * buffer has been emptied, and reports ENOBUFS once each time that begins
 * (net/netlink/af_netlink.c:netlink_overrun()). It counts each dropped message; if the count cannot
 * be read, each overrun counts as one.
 */
static void count_dropped(struct exits *exits, struct listener *listener, unsigned overruns)
{
	uint32_t dropped = listener->dropped + overruns;

	debug_log("exit records of CPU %s: the buffer ran over", listener->cpus);
	if (exits->stats.exact)
		read_dropped(listener, &dropped);
	exits->stats.lost += dropped - listener->dropped;
	listener->dropped = dropped;
}

/*
 * Receives the messages of one listener: all present at the start, and a limited number of those
 * that come meanwhile. 0 or -errno.
 */
static int drain_listener(struct exits *exits, struct listener *listener)
{
	struct drain drain = { exits, listener };
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), before_ns;
	unsigned overruns = 0;
	size_t taken = 0;
	int n;

	do {
		before_ns = clock_ns(CLOCK_MONOTONIC);
		n = netlink_receive(&listener->nl, exits->batch, BATCH, handle_exit, &drain);
		overruns += n == -ENOBUFS;
		taken += n > 0 ? (size_t)n : 0;
	} while ((n == BATCH && taken < listener->most) ||
		 (n == -ENOBUFS && overruns < OVERRUNS_MAX));
	if (overruns)
		count_dropped(exits, listener, overruns);
	if (n < 0 && n != -EAGAIN && n != -EINTR && n != -ENOBUFS)
		return n;
	listener->empty_ns = n == BATCH || n == -ENOBUFS ? begin_ns : before_ns;
	return 0;
}

void exits_drain(struct exits *exits)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	exits->stats.error = 0;
	exits->drained_ns = now;
	if (poll(exits->polls, exits->n, 0) < 0) {
		exits->stats.error = errno == EINTR ? 0 : -errno;
		return;
	}
	for (size_t i = 0; i < exits->n; i++) {
		int err = 0;

		if (exits->polls[i].revents)
			err = drain_listener(exits, &exits->listeners[i]);
		else
			exits->listeners[i].empty_ns = now;
		if (err)
			exits->stats.error = err;
	}
}

/* Sends a request for the listener's CPUs. 0 or -errno. */
static int send_cpus(struct listener *listener, uint16_t attribute)
{
	struct netlink_request request = { .command = TASKSTATS_CMD_GET,
					   .ack = true,
					   .attribute = attribute,
					   .value = listener->cpus,
					   .len = strlen(listener->cpus) + 1 };

	return netlink_ask(&listener->nl, &request);
}

/* Registers a listener. Records that come before the answer are kept. 0 or -errno. */
static int register_listener(struct exits *exits, struct listener *listener)
{
	uint64_t deadline = netlink_deadline(&listener->nl);
	int err = send_cpus(listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);

	listener->asked = !err;
	listener->ack = 1;
	/* The kernel answers within the send, so this receives before it waits. */
	while (!err) {
		err = drain_listener(exits, listener);
		if (err || listener->ack <= 0)
			break;
		err = netlink_await(&listener->nl, deadline);
	}
	if (!err)
		err = listener->ack;
	debug_log("exit records of CPU %s: %s", listener->cpus, strerror(-err));
	return err;
}

int exits_register(struct exits *exits)
{
	int err = 0;

	for (size_t i = 0; !err && i < exits->n; i++)
		err = register_listener(exits, &exits->listeners[i]);
	return err;
}

/* Creates listeners, still closed, each for `share` of the CPUs, and what they share. */
static struct exits *exits_new(bool threads, unsigned cpus, unsigned share)
{
	struct exits *exits = xcalloc(1, sizeof(*exits));
	unsigned n = (cpus + share - 1) / share;

	exits->threads = threads;
	exits->n = n;
	exits->listeners = xcalloc(n, sizeof(*exits->listeners));
	exits->polls = xcalloc(n, sizeof(*exits->polls));
	exits->stats.exact = true;
	exits->period_ns = DRAIN_MAX_NS;
	exits->drained_ns = clock_ns(CLOCK_MONOTONIC);
	exits->batch = netlink_batch_new(BATCH, MESSAGE_SIZE);
	for (unsigned i = 0; i < n; i++) {
		struct listener *listener = &exits->listeners[i];

		listener->nl = NETLINK_CLOSED;
		listener->empty_ns = exits->drained_ns;
		snprintf(listener->cpus, sizeof(listener->cpus), "%u-%u", i * share,
			 (i + 1) * share < cpus ? (i + 1) * share - 1 : cpus - 1);
	}
	return exits;
}

/* Prepares a listener's connection for polling. */
static void watch_listener(struct exits *exits, size_t at)
{
	struct listener *listener = &exits->listeners[at];
	int size = 0;
	socklen_t len = sizeof(size);

	exits->polls[at] = (struct pollfd){ .fd = listener->nl.fd, .events = POLLIN };
	exits->stats.exact &= read_dropped(listener, &listener->dropped);
	if (!getsockopt(listener->nl.fd, SOL_SOCKET, SO_RCVBUF, &size, &len) && size > 0)
		listener->most = (size_t)size / TRUESIZE_LEAST;
}

/* Opens the connection of a listener. 0 or -errno. */
static int open_listener(struct exits *exits, size_t at, size_t buffer)
{
	struct listener *listener = &exits->listeners[at];
	/* One look-up of the family serves all. */
	int err = netlink_open(&listener->nl, at ? exits->listeners[0].nl.family : 0);
	uint64_t held_ns;

	if (err)
		return err;
	held_ns = netlink_size_buffer(&listener->nl, buffer) / NETLINK_TRUESIZE *
		  (NSEC_PER_SEC / EXITS_A_SECOND);
	if (held_ns < exits->period_ns)
		exits->period_ns = held_ns > DRAIN_MIN_NS ? held_ns : DRAIN_MIN_NS;
	watch_listener(exits, at);
	return 0;
}

unsigned exits_cpus(const char *list)
{
	const char *end = list + strlen(list);
	uint64_t number, highest = 0;

	for (;;) {
		if (!parse_uint(&list, end, &number) || number >= CPUS_MAX)
			return 0;
		highest = number > highest ? number : highest;
		if (list == end || *list == '\n')
			return (unsigned)highest + 1;
		if (*list != '-' && *list != ',')
			return 0;
		list++;
	}
}

/* CPU numbers are below this, including CPUs that are offline or not present yet. */
static unsigned possible_cpus(void)
{
	char list[1024];
	int n = file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", list, sizeof(list) - 1);
	unsigned cpus = 0;
	long configured;

	if (n > 0) {
		list[n] = '\0';
		cpus = exits_cpus(list);
	}
	configured = cpus ? 0 : sysconf(_SC_NPROCESSORS_CONF);
	return cpus ? cpus : configured > 0 ? (unsigned)configured : 1;
}

size_t exits_buffer(size_t asked, size_t listeners, bool secure)
{
	size_t most = BUFFER < ALL_BUFFERS / listeners ? BUFFER : ALL_BUFFERS / listeners;

	if (secure && asked > most)
		debug_log("buffers of %zu bytes are more than this user may have: %zu", asked,
			  most);
	return !asked || (secure && asked > most) ? most : asked;
}

/*
 * True if records can arrive: the kernel sends them to the initial network namespace only
 * (send_cpu_listeners() in kernel/taskstats.c, 6.18), but accepts the request elsewhere as well.
 * kthreadd, the second task, is there; if it is not visible the answer is unknown.
 */
static bool are_delivered(void)
{
	struct stat own, initial;

	return stat("/proc/self/ns/net", &own) || stat("/proc/2/ns/net", &initial) ||
	       (own.st_dev == initial.st_dev && own.st_ino == initial.st_ino);
}

int exits_open(struct exits **out, bool threads, bool fields, size_t buffer)
{
	unsigned cpus = possible_cpus();
	unsigned share = (cpus + LISTENERS_MAX - 1) / LISTENERS_MAX;
	struct exits *exits;
	int err = 0;

	if (!are_delivered())
		return -ENETUNREACH;
	exits = exits_new(threads, cpus, share);
	exits_want_fields(exits, fields);
	buffer = exits_buffer(buffer, exits->n, getauxval(AT_SECURE));
	for (size_t i = 0; !err && i < exits->n; i++)
		err = open_listener(exits, i, buffer);
	if (!err)
		err = exits_register(exits);
	if (err) {
		exits_close(exits);
		return err;
	}
	debug_log("%zu listeners for exit records, drained every %llu ms", exits->n,
		  (unsigned long long)(exits->period_ns / NSEC_PER_MSEC));
	*out = exits;
	return 0;
}

int exits_open_fds(struct exits **out, bool threads, const int *fds, size_t n, uint16_t family,
		   int timeout_ms)
{
	struct exits *exits = exits_new(threads, (unsigned)n, 1);

	for (size_t i = 0; i < n; i++) {
		netlink_open_fd(&exits->listeners[i].nl, fds[i], family, timeout_ms);
		watch_listener(exits, i);
	}
	*out = exits;
	return 0;
}

void exits_want_fields(struct exits *exits, bool fields)
{
	/* Changes only while the list is empty: either all records or none have their fields. */
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
		if (!exits->records[i].kept)
			exits->records[i].field =
				keep_fields(exits, &fields[exits->records[i].field]);
	free(fields);
}

struct task_record *exits_fields(struct exits *exits)
{
	return exits->want_fields ? exits->fields : NULL;
}

void exits_clear(struct exits *exits)
{
	/* Frees the memory used for a storm of exits. */
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

		/* Without this the kernel notices only at the next exit on that CPU. */
		if (listener->asked)
			send_cpus(listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
		netlink_close(&listener->nl);
	}
	free(exits->listeners);
	free(exits->polls);
	free(exits->records);
	free(exits->fields);
	netlink_batch_free(exits->batch);
	free(exits);
}
