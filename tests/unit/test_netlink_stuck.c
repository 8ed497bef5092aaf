// SPDX-License-Identifier: GPL-2.0-or-later
/* A kernel that does not answer, fails, or never ends: whoever talks to it goes on all the same. */
#include "tests/lib/test.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "kernel/taskstats.h"
#include "tests/lib/exiting.h"

#define OLDEST 8

/* The kernel of these tests: what every receiving says from now on, and how often it did. */
static struct {
	int error; /* fails with it */
	bool endless; /* has a full batch of records, again and again */
	unsigned calls;
} stuck;

/* Fills all buffers with the exit record of some task. */
static int fill(struct mmsghdr *messages, unsigned n)
{
	struct record_values task = make_task(70, 70, AGROUP);

	for (unsigned i = 0; i < n; i++) {
		messages[i].msg_hdr.msg_namelen = 0;
		messages[i].msg_hdr.msg_flags = 0;
		messages[i].msg_len = (unsigned)make_message(messages[i].msg_hdr.msg_iov->iov_base,
							     OLDEST, stuck.calls, &task, NULL);
	}
	return (int)n;
}

/* In place of libc's. */
int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout)
{
	stuck.calls++;
	if (stuck.error) {
		errno = stuck.error;
		return -1;
	}
	if (stuck.endless)
		return fill(messages, n);
	return (int)syscall(SYS_recvmmsg, fd, messages, n, flags, timeout);
}

/* Opens listeners. */
static void stuck_open(struct kernel *kernel)
{
	kernel_open(kernel, false);
	stuck.calls = 0;
}

/* Closes them; from then on the kernel is as it should be. */
static void stuck_close(struct kernel *kernel)
{
	memset(&stuck, 0, sizeof(stuck));
	exits_close(kernel->exits);
	for (unsigned i = 0; i < CPUS; i++)
		close(kernel->fds[i]);
	alarm(0);
}

/* Says on a CPU how its request went. */
static void answer(struct kernel *kernel, unsigned cpu, int error)
{
	uint8_t bytes[64];

	send_bytes(kernel, cpu, bytes, record_error(bytes, 1, error));
}

/* A request has come on a CPU, for it and no other. */
static void check_request(const struct kernel *kernel, unsigned cpu, uint16_t attribute)
{
	static const char *const cpus[CPUS] = { "0-0", "1-1" };
	uint8_t bytes[128];
	uint16_t type;

	assert_int_equal(recv(kernel->fds[cpu], bytes, sizeof(bytes), MSG_DONTWAIT), 28);
	memcpy(&type, bytes + 22, sizeof(type));
	assert_int_equal(type, attribute);
	assert_string_equal((const char *)bytes + 24, cpus[cpu]);
}

/* All answer; records that come before the answer are taken, and at the end they are let go. */
TEST(test_registered)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;
	uint8_t byte;

	stuck_open(&kernel);
	send_exit(&kernel, 1, &task, NULL);
	for (unsigned i = 0; i < CPUS; i++)
		answer(&kernel, i, 0);
	assert_int_equal(exits_register(kernel.exits), 0);
	for (unsigned i = 0; i < CPUS; i++) {
		check_request(&kernel, i, 3);
		assert_int_equal(recv(kernel.fds[i], &byte, 1, MSG_DONTWAIT), -1);
	}
	drain(&kernel, 1);
	exits_close(kernel.exits);
	kernel.exits = NULL;
	for (unsigned i = 0; i < CPUS; i++)
		check_request(&kernel, i, 4);
	stuck_close(&kernel);
}

/* The first that is refused ends it, with the kernel's reason. */
TEST(test_refused)
{
	struct kernel kernel;
	uint8_t byte;

	stuck_open(&kernel);
	answer(&kernel, 0, -EINVAL);
	assert_int_equal(exits_register(kernel.exits), -EINVAL);
	check_request(&kernel, 0, 3);
	assert_int_equal(recv(kernel.fds[1], &byte, 1, MSG_DONTWAIT), -1);
	stuck_close(&kernel);
}

/* An answer that got lost is waited for as long as is said, and no longer. */
TEST(test_lost_answer)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	stuck_open(&kernel);
	answer(&kernel, 0, 0);
	send_exit(&kernel, 1, &task, NULL);
	assert_int_equal(exits_register(kernel.exits), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) >= begin + TIMEOUT_MS * NSEC_PER_MSEC);
	stuck_close(&kernel);
}

/* Where receiving fails it is no use to try again at once, and the reason is the kernel's. */
TEST(test_failing)
{
	static const int errors[] = { EIO, ENOMEM, EPERM };
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;

	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		stuck_open(&kernel);
		answer(&kernel, 0, 0);
		stuck.error = errors[i];
		assert_int_equal(exits_register(kernel.exits), -errors[i]);
		assert_int_equal(stuck.calls, 1);
		send_exit(&kernel, 1, &task, NULL);
		drain(&kernel, 0);
		assert_int_equal(exits_stats(kernel.exits)->error, -errors[i]);
		/* It was there all the time. */
		stuck.error = 0;
		drain(&kernel, 1);
		assert_int_equal(exits_stats(kernel.exits)->error, 0);
		stuck_close(&kernel);
	}
}

/* A buffer that runs over all the time keeps nobody. */
TEST(test_overruns)
{
	struct kernel kernel;

	stuck_open(&kernel);
	stuck.error = ENOBUFS;
	assert_int_equal(exits_register(kernel.exits), -ETIMEDOUT);
	answer(&kernel, 0, 0);
	drain(&kernel, 0);
	assert_int_equal(exits_stats(kernel.exits)->error, 0);
	stuck_close(&kernel);
}

/* Nor do exits that come faster than they are taken: a drain takes what a buffer can hold. */
TEST(test_endless)
{
	struct kernel kernel;
	struct exit_record *records;
	uint64_t begin, end;
	int size = 0;
	socklen_t len = sizeof(size);
	size_t n;

	stuck_open(&kernel);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(
			getsockopt(kernel.listeners[i], SOL_SOCKET, SO_RCVBUF, &size, &len), 0);
	stuck.endless = true;
	assert_int_equal(exits_register(kernel.exits), -ETIMEDOUT);
	exits_clear(kernel.exits);
	stuck.endless = false;
	drain(&kernel, 0);
	answer(&kernel, 0, 0);
	stuck.endless = true;
	begin = clock_ns(CLOCK_MONOTONIC);
	exits_drain(kernel.exits);
	end = clock_ns(CLOCK_MONOTONIC);
	records = exits_records(kernel.exits, &n);
	/* A record of that version takes 800 bytes and more. */
	assert_in_range(n, (size_t)size / 800, (size_t)size);
	exits_clear(kernel.exits);
	/* What was there before has been taken, so what comes next ended since. */
	exits_drain(kernel.exits);
	records = exits_records(kernel.exits, &n);
	assert_true(n && records[0].lo_ns >= begin && records[0].lo_ns <= end);
	stuck_close(&kernel);
}

/* Counts the answers. */
static void count(void *arg, size_t index, int error, const struct taskstats_part *part,
		  uint64_t before_ns, uint64_t after_ns)
{
	unsigned *late = arg;

	(void)index;
	(void)part;
	(void)before_ns;
	(void)after_ns;
	*late += error == -ETIMEDOUT;
}

/* Who asks for tasks gets an answer to each question, in the time of one. */
TEST(test_client)
{
	static const pid_t ids[300] = { 1 };
	struct taskstats_client *client;
	unsigned late = 0;
	int fds[2];

	alarm(60);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(taskstats_client_open_fd(&client, fds[0], FAMILY, TIMEOUT_MS), 0);
	stuck.error = ENOBUFS;
	assert_int_equal(
		taskstats_client_query(client, false, ids, ARRAY_SIZE(ids), count, NULL, &late),
		-ETIMEDOUT);
	assert_int_equal(late, ARRAY_SIZE(ids));
	stuck.error = 0;
	taskstats_client_close(client);
	close(fds[1]);
	alarm(0);
}
