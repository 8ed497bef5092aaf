// SPDX-License-Identifier: GPL-2.0-or-later
/* A socket of the real kernel that is out of buffer: what was dropped is asked for again. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/taskstats.h"

#define ASKED 500

/* What came for each request. */
struct answers {
	unsigned calls[ASKED];
	size_t right, wrong;
};

/* Opens a connection and finds its descriptor; a test that cannot is skipped. */
static int open_or_skip(struct taskstats_client **conn, const char *name)
{
	int err = taskstats_client_open(conn);

	if (err == -ENOENT || err == -EPROTONOSUPPORT) {
		printf("# skip: %s: no taskstats\n", name);
		skip();
	}
	assert_int_equal(err, 0);
	for (int fd = 3; fd < 256; fd++) {
		int domain;
		socklen_t len = sizeof(domain);

		if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_NETLINK)
			return fd;
	}
	fail_msg("no netlink socket is open");
	return -1;
}

/* Collects an answer. */
static void collect(void *arg, size_t index, int error, const struct taskstats_part *part,
		    uint64_t before_ns, uint64_t after_ns)
{
	struct answers *answers = arg;

	answers->calls[index]++;
	if (!error && part && part->id == (uint32_t)getpid() && before_ns <= after_ns)
		answers->right++;
	else
		answers->wrong++;
}

/* Asks for this process many times. */
static void ask(struct taskstats_client *conn, struct answers *answers, const char *name)
{
	pid_t ids[ASKED];

	memset(answers, 0, sizeof(*answers));
	for (unsigned i = 0; i < ASKED; i++)
		ids[i] = getpid();
	assert_int_equal(taskstats_client_query(conn, true, ids, ASKED, collect, NULL, answers), 0);
	for (unsigned i = 0; i < ASKED; i++)
		assert_int_equal(answers->calls[i], 1);
	if (!answers->right && geteuid()) {
		printf("# skip: %s: no CAP_NET_ADMIN\n", name);
		taskstats_client_close(conn);
		skip();
	}
}

/* Sets the receive buffer; the kernel doubles it, and has a least one. */
static void shrink(int fd, int size)
{
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
}

/* With the buffer that was asked for, nothing is dropped. */
TEST(test_enough)
{
	struct taskstats_client *conn;
	struct answers answers;

	open_or_skip(&conn, "test_enough");
	ask(conn, &answers, "test_enough");
	assert_int_equal(answers.right, ASKED);
	assert_int_equal(taskstats_client_stats(conn).overruns, 0);
	assert_int_equal(taskstats_client_stats(conn).foreign, 0);
	taskstats_client_close(conn);
}

/* With less and less, packs shrink until all replies fit, and every answer is right. */
TEST(test_overrun)
{
	static const int sizes[] = { 32768, 8192, 1 };

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct taskstats_client *conn;
		struct answers answers;
		int fd = open_or_skip(&conn, "test_overrun");
		unsigned pack = taskstats_client_stats(conn).pack;
		uint64_t overruns;

		shrink(fd, sizes[i]);
		ask(conn, &answers, "test_overrun");
		assert_int_equal(answers.right, ASKED);
		overruns = taskstats_client_stats(conn).overruns;
		assert_true(overruns > 0);
		assert_true(taskstats_client_stats(conn).pack < pack);
		/* It has learnt. */
		ask(conn, &answers, "test_overrun");
		assert_int_equal(answers.right, ASKED);
		assert_int_equal(taskstats_client_stats(conn).overruns, overruns);
		taskstats_client_close(conn);
	}
}
