/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Listeners for exit records over socket pairs whose other end plays the kernel. After cmocka.h. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/exits.h"
#include "tests/lib/records.h"

#define FAMILY 0x17
#define CPUS 2
#define AGROUP 32
#define USUAL 16 /* version */
#define TIMEOUT_MS 50

/* Room for every message. */
#define MESSAGE_MAX 8192

/* The kernel's ends of the listeners' sockets. */
struct kernel {
	struct exits *exits;
	int listeners[CPUS]; /* the listeners' ends, theirs */
	int fds[CPUS];
	uint32_t seq[CPUS];
	unsigned version;
};

/* Opens listeners over socket pairs. */
static inline void kernel_open(struct kernel *kernel, bool threads)
{
	int pair[2];

	*kernel = (struct kernel){ .seq = { 100, 9000 }, .version = USUAL };
	for (unsigned i = 0; i < CPUS; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			die("no socket pair");
		kernel->listeners[i] = pair[0];
		kernel->fds[i] = pair[1];
	}
	assert_int_equal(exits_open_fds(&kernel->exits, threads, kernel->listeners, CPUS, FAMILY,
					TIMEOUT_MS),
			 0);
	/* A drain that waits ends the test. */
	alarm(60);
}

/* Closes them; the descriptors were taken over. */
static inline void kernel_close(struct kernel *kernel)
{
	uint8_t byte;

	exits_close(kernel->exits);
	for (unsigned i = 0; i < CPUS; i++) {
		ssize_t n = recv(kernel->fds[i], &byte, 1, MSG_DONTWAIT);

		assert_true(!n || (n < 0 && errno == ECONNRESET));
		close(kernel->fds[i]);
	}
	alarm(0);
}

/* Sends bytes on a CPU. */
static inline void send_bytes(struct kernel *kernel, unsigned cpu, const void *bytes, size_t len)
{
	assert_true(send(kernel->fds[cpu], bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		    (ssize_t)len);
}

/* Writes an exit record's message: the task's part and, where it is given, the group's. */
static inline size_t make_message(uint8_t *to, unsigned version, uint32_t seq,
				  const struct record_values *task,
				  const struct record_values *group)
{
	uint8_t record[RECORD_MAX];
	struct record_message message = {
		.type = FAMILY, .cmd = 2, .seq = seq, .id = task->ac_pid, .record = record
	};
	uint32_t len;

	message.len = record_make(record, version, task);
	len = (uint32_t)record_message(to, &message);
	if (!group)
		return len;
	message.tgid = true;
	message.id = task->ac_tgid;
	message.len = record_make(record, version, group);
	len += (uint32_t)record_attributes(to + len, &message);
	memcpy(to, &len, sizeof(len));
	return len;
}

/* Sends an exit record on a CPU, with its next number. */
static inline void send_exit(struct kernel *kernel, unsigned cpu, const struct record_values *task,
			     const struct record_values *group)
{
	uint8_t bytes[MESSAGE_MAX];

	send_bytes(kernel, cpu, bytes,
		   make_message(bytes, kernel->version, kernel->seq[cpu]++, task, group));
}

/* A task that ended, with counters of its own. */
static inline struct record_values make_task(uint32_t tgid, uint32_t pid, uint8_t flag)
{
	struct record_values values;

	record_fill(&values, pid);
	values.ac_pid = pid;
	values.ac_tgid = tgid;
	values.ac_flag = flag;
	values.ac_etime = 1000 * pid + 7;
	values.ac_tgetime = 3000 * tgid + 9;
	/* No wait is longer than the life. */
	for (unsigned kind = 0; kind < RECORD_KINDS; kind++)
		values.delay[kind].total %= values.ac_etime * 1000;
	return values;
}

/* Takes what there is, and wants that many records. */
static inline struct exit_record *drain(struct kernel *kernel, size_t expected)
{
	struct exit_record *records;
	size_t n;

	exits_drain(kernel->exits);
	records = exits_records(kernel->exits, &n);
	assert_int_equal(n, expected);
	return records;
}

/* Sends n exits in turn, and takes them in between; their pids go up from first. */
static inline void storm(struct kernel *kernel, uint32_t first, unsigned n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record_values task = make_task(first + i, first + i, AGROUP);

		send_exit(kernel, i % CPUS, &task, NULL);
		if (i % 50 == 49)
			exits_drain(kernel->exits);
	}
	exits_drain(kernel->exits);
}
