// SPDX-License-Identifier: GPL-2.0-or-later
/* Exit records that are lost, cannot be read, or are none. */
#include "tests/lib/test.h"

#include <linux/sock_diag.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/lib/calls.h"
#include "tests/lib/exiting.h"

/* The kernel of these tests: whether it counts what it drops, and what it says of descriptors. */
#define FDS 64

static bool counts = true;
static uint32_t dropped[FDS];
static unsigned overruns[FDS]; /* so often ENOBUFS comes from now on */
static unsigned asked; /* how often it was asked what it dropped */

/* In place of libc's: SO_MEMINFO as above. */
int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict len)
{
	if (level != SOL_SOCKET || name != SO_MEMINFO)
		return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
	asked++;
	if (!counts) {
		errno = ENOPROTOOPT;
		return -1;
	}
	assert_in_range(fd, 0, FDS - 1);
	assert_true(*len >= SK_MEMINFO_VARS * sizeof(*dropped));
	*len = SK_MEMINFO_VARS * sizeof(*dropped);
	memset(value, 0x55, *len);
	memcpy((uint8_t *)value + SK_MEMINFO_DROPS * sizeof(*dropped), &dropped[fd],
	       sizeof(*dropped));
	return 0;
}

/* In place of libc's: overruns as above. */
int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout)
{
	assert_in_range(fd, 0, FDS - 1);
	if (!overruns[fd])
		return (int)syscall(SYS_recvmmsg, fd, messages, n, flags, timeout);
	overruns[fd]--;
	errno = ENOBUFS;
	return -1;
}

/* Drops records of a CPU, and has the next drain hear of it that often. */
static void drop(const struct kernel *kernel, unsigned cpu, unsigned records, unsigned times)
{
	dropped[kernel->listeners[cpu]] += records;
	overruns[kernel->listeners[cpu]] += times;
}

/* What the kernel drops is lost: its own count says how many, also where that wraps. */
TEST(test_lost)
{
	struct record_values task = make_task(70, 70, AGROUP);
	const struct exits_stats *stats;
	struct kernel kernel;

	/* From before the listeners were there. */
	memset(dropped, 0xfe, sizeof(dropped));
	kernel_open(&kernel, false);
	stats = exits_stats(kernel.exits);
	assert_true(stats->exact);
	storm(&kernel, 1, 10);
	drain(&kernel, 10);
	assert_int_equal(stats->lost, 0);
	/* What was dropped had numbers, too. */
	kernel.seq[0] += 3;
	send_exit(&kernel, 0, &task, NULL);
	drop(&kernel, 0, 3, 1);
	/* The poll and one call to receive; the question and the call that fails are made up. */
	assert_int_equal(CALLS_OF(drain(&kernel, 11)), 2);
	assert_int_equal(stats->lost, 3);
	send_exit(&kernel, 1, &task, NULL);
	drop(&kernel, 1, UINT32_MAX, 2);
	drain(&kernel, 12);
	assert_true(stats->lost == UINT32_MAX + UINT64_C(3));
	send_exit(&kernel, 1, &task, NULL);
	drop(&kernel, 1, 0, 1);
	drain(&kernel, 13);
	assert_true(stats->lost == UINT32_MAX + UINT64_C(3));
	assert_int_equal(stats->received, 13);
	assert_true(stats->exact);
	kernel_close(&kernel);
}

/* A gap in the numbers says nothing: it costs no call to ask, and is no loss. */
TEST(test_numbers)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;

	kernel_open(&kernel, false);
	asked = 0;
	for (unsigned i = 0; i < 10; i++) {
		kernel.seq[0] = kernel.seq[0] * 5 + i;
		send_exit(&kernel, 0, &task, NULL);
		drain(&kernel, i + 1);
	}
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	assert_int_equal(asked, 0);
	kernel_close(&kernel);
}

/* A kernel that does not count: each time that a buffer ran over at least one was lost. */
TEST(test_uncounted)
{
	struct record_values task = make_task(70, 70, AGROUP);
	const struct exits_stats *stats;
	struct kernel kernel;

	counts = false;
	kernel_open(&kernel, false);
	stats = exits_stats(kernel.exits);
	assert_false(stats->exact);
	asked = 0;
	storm(&kernel, 1, 10);
	drain(&kernel, 10);
	assert_int_equal(stats->lost, 0);
	send_exit(&kernel, 0, &task, NULL);
	drop(&kernel, 0, 30, 1);
	assert_int_equal(CALLS_OF(drain(&kernel, 11)), 2);
	assert_int_equal(stats->lost, 1);
	for (unsigned i = 0; i < CPUS; i++) {
		send_exit(&kernel, i, &task, NULL);
		drop(&kernel, i, 30, 2);
	}
	drain(&kernel, 13);
	assert_int_equal(stats->lost, 5);
	assert_int_equal(stats->received, 13);
	assert_int_equal(asked, 0);
	assert_false(stats->exact);
	kernel_close(&kernel);
	counts = true;
}

/* Sends a message that is no exit record of this family. */
static void send_foreign(struct kernel *kernel, unsigned what)
{
	uint8_t bytes[MESSAGE_MAX], record[RECORD_MAX] = { USUAL };
	struct record_message message = { .type = FAMILY,
					  .cmd = 2,
					  .seq = 7,
					  .id = 70,
					  .record = record,
					  .len = record_size(USUAL) };

	if (what == 0)
		message.type = FAMILY + 1;
	if (what == 1)
		message.cmd = 1;
	if (what == 2)
		message.type = 3; /* NLMSG_DONE */
	send_bytes(kernel, 0, bytes, record_message(bytes, &message));
}

/* What is none of ours is neither taken nor counted. */
TEST(test_foreign)
{
	static const uint32_t lies[] = { 0, 1, 15, 17, 19, 0x7fffffff, 0xffffffff };
	struct record_values task = make_task(70, 70, AGROUP);
	uint8_t bytes[MESSAGE_MAX];
	struct kernel kernel;
	size_t len;

	kernel_open(&kernel, false);
	send_exit(&kernel, 0, &task, NULL);
	for (unsigned what = 0; what < 3; what++)
		send_foreign(&kernel, what);
	send_bytes(&kernel, 0, bytes, record_error(bytes, 7, 0));
	send_bytes(&kernel, 0, bytes, record_error(bytes, 7, -EPERM));
	len = make_message(bytes, USUAL, 7, &task, NULL);
	for (size_t cut = 1; cut < 20; cut++)
		send_bytes(&kernel, 0, bytes, cut);
	for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
		memcpy(bytes, &lies[i], sizeof(lies[i]));
		send_bytes(&kernel, 0, bytes, lies[i] < 20 ? (lies[i] > 16 ? 19 : 18) : len);
	}
	record_error(bytes, 7, -EPERM);
	memcpy(bytes, &(uint32_t){ 18 }, 4);
	send_bytes(&kernel, 0, bytes, 18);
	send_exit(&kernel, 0, &task, NULL);
	drain(&kernel, 2);
	assert_int_equal(exits_stats(kernel.exits)->received, 2);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	kernel_close(&kernel);
}

/* Sends an exit record's message that cannot be read. */
static void send_broken(struct kernel *kernel, unsigned what)
{
	struct record_values task = make_task(70, 70, AGROUP);
	uint8_t bytes[MESSAGE_MAX] = { 0 };
	uint32_t len =
		(uint32_t)make_message(bytes, what == 0 ? 7 : USUAL, kernel->seq[0]++, &task, NULL);

	if (what == 1)
		len = 20; /* no attributes */
	if (what == 2)
		len = 20 + 4 + 8 + 4 + 120; /* the attributes run over the end */
	if (what == 3)
		bytes[22] = 5; /* the group's part alone, of another id's type */
	if (what == 4)
		bytes[34] = 99; /* no stats */
	if (what == 5)
		bytes[20] = bytes[21] = 0xff; /* an attribute longer than all */
	if (what == 6)
		len = 5000; /* larger than anything that is known: cut off */
	memcpy(bytes, &len, sizeof(len));
	send_bytes(kernel, 0, bytes, len);
}

#define BROKEN 7

/* What cannot be read is lost, once; what comes behind it is not. */
TEST(test_broken)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;

	kernel_open(&kernel, false);
	send_exit(&kernel, 0, &task, NULL);
	for (unsigned what = 0; what < BROKEN; what++) {
		send_broken(&kernel, what);
		drain(&kernel, 1 + what);
		assert_int_equal(exits_stats(kernel.exits)->lost, what + 1);
		send_exit(&kernel, 0, &task, NULL);
		drain(&kernel, 2 + what);
		assert_int_equal(exits_stats(kernel.exits)->lost, what + 1);
	}
	kernel_close(&kernel);
}

/* Records that end early: up to where the elapsed time is they are none, then they are some. */
TEST(test_cut_record)
{
	struct record_values task = make_task(70, 70, AGROUP);
	uint8_t bytes[MESSAGE_MAX], record[RECORD_MAX];
	struct kernel kernel;
	uint64_t lost = 0;
	size_t n = 0;

	kernel_open(&kernel, false);
	record_make(record, USUAL, &task);
	for (size_t len = 0; len <= record_size(USUAL); len += 8) {
		struct record_message message = { .type = FAMILY,
						  .cmd = 2,
						  .id = 70,
						  .seq = kernel.seq[0]++,
						  .record = record,
						  .len = len };

		send_bytes(&kernel, 0, bytes, record_message(bytes, &message));
		/* ac_etime ends at 152. */
		if (len < 152)
			lost++;
		else
			n++;
		drain(&kernel, n);
		assert_int_equal(exits_stats(kernel.exits)->lost, lost);
	}
	kernel_close(&kernel);
}

/* A datagram may hold several messages, and bytes behind them. */
TEST(test_together)
{
	uint8_t bytes[MESSAGE_MAX];
	struct exit_record *records;
	struct kernel kernel;
	size_t len = 0;

	kernel_open(&kernel, false);
	for (uint32_t i = 0; i < 3; i++) {
		struct record_values task = make_task(70 + i, 70 + i, AGROUP);

		len += make_message(bytes + len, USUAL, kernel.seq[0]++, &task, NULL);
		if (i == 1)
			len += record_error(bytes + len, 7, -EPERM);
	}
	send_bytes(&kernel, 0, bytes, len + 3);
	records = drain(&kernel, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(records[i].pid, 70 + i);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	kernel_close(&kernel);
}

/* Who has gone sends no more: nobody goes on to receive it. */
TEST(test_closed)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;

	kernel_open(&kernel, false);
	send_exit(&kernel, 0, &task, NULL);
	send_exit(&kernel, 1, &task, NULL);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(shutdown(kernel.fds[i], SHUT_RDWR), 0);
	drain(&kernel, 2);
	drain(&kernel, 2);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	kernel_close(&kernel);
}

/* Whatever bytes come, nothing falls over; a record behind them is taken. */
TEST(test_garbage)
{
	struct record_values task = make_task(70, 72, AGROUP), group = make_task(0, 0, 0);
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	uint8_t bytes[MESSAGE_MAX];
	struct exit_record *records;
	struct kernel kernel;
	size_t n;

	kernel_open(&kernel, false);
	exits_want_fields(kernel.exits, true);
	for (unsigned i = 0; i < 5000; i++) {
		size_t len = make_message(bytes, 8 + i % 10, i, &task, &group);

		/* Anything in the headers and attributes, or anywhere. */
		for (unsigned k = 0; k < 1 + i % 8; k++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			bytes[(seed >> 33) % (i % 3 ? 40 : len)] = (uint8_t)(seed >> 56);
		}
		if (i % 5 == 0)
			len = 1 + (seed >> 20) % len;
		send_bytes(&kernel, 0, bytes, len);
		send_exit(&kernel, 1, &task, NULL);
		exits_drain(kernel.exits);
		records = exits_records(kernel.exits, &n);
		assert_true(n == 1 || n == 2);
		assert_int_equal(records[n - 1].pid, 72);
		assert_int_equal(records[n - 1].tgid, 70);
		exits_clear(kernel.exits);
	}
	kernel_close(&kernel);
}
