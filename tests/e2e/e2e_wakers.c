// SPDX-License-Identifier: GPL-2.0-or-later
/* Who ended waits for pipes and sockets, as the programs in the kernel traced it. */
#include "tests/lib/traced_children.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/e2e.h"

static const struct trace_options plain = { .sites = 16384 };

static void write_pipe(void *arg)
{
	for (;;) {
		traced_children_doze(5);
		if (write(*(int *)arg, "x", 1) != 1)
			_exit(1);
	}
}

/* The waker of a site that ended most; fails where it is another. */
static void check_waker(const struct trace_site *site, pid_t tgid)
{
	const struct trace_waker *most = site->wakers;

	for (unsigned i = 1; i < TRACE_WAKERS; i++)
		if (site->wakers[i].count > most->count)
			most = &site->wakers[i];
	if (most->tgid != tgid)
		fail_msg("woken by %d %s", most->tgid, most->name);
	assert_string_equal(most->name, program_invocation_short_name);
}

/* The writer of a pipe. */
E2E_TEST(test_pipe_waker)
{
	struct traced_children book;
	const struct trace_site *site;
	pid_t reader, writer;
	int ends[2];

	e2e_require_bpf();
	assert_int_equal(pipe(ends), 0);
	traced_children_open(&book, &plain);
	reader = traced_children_child(traced_children_read_pipe, &ends[0]);
	writer = traced_children_child(write_pipe, &ends[1]);
	traced_children_doze(400);
	traced_children_read(&book);
	site = traced_children_site(&book, reader, STATE_PIPE);
	assert_non_null(site);
	assert_true(site->count > 20);
	assert_int_equal(site->fd, ends[0]);
	assert_true(S_ISFIFO(site->mode));
	check_waker(site, writer);
	traced_children_close(&book);
}

/* Answers each byte after a while. */
static void serve(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	char byte;

	while (read(fd, &byte, 1) == 1) {
		traced_children_doze(5);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
}

static struct sockaddr_storage address;
static socklen_t address_length;

/* Asks for ever. */
static void ask(void *arg)
{
	int fd = socket(address.ss_family, SOCK_STREAM, 0);
	char byte;

	(void)arg;
	if (connect(fd, (struct sockaddr *)&address, address_length))
		_exit(1);
	while (write(fd, "x", 1) == 1 && recv(fd, &byte, 1, 0) == 1)
		;
	_exit(1);
}

/* The site in which a client waits for its server, of which the latter is the waker. */
static struct trace_site serve_and_ask(struct sockaddr *bound, socklen_t length)
{
	int fd = socket(bound->sa_family, SOCK_STREAM, 0);
	const struct trace_site *site;
	struct trace_site copy;
	struct traced_children book;
	pid_t server, client;

	assert_int_equal(bind(fd, bound, length), 0);
	assert_int_equal(listen(fd, 1), 0);
	address_length = sizeof(address);
	getsockname(fd, (struct sockaddr *)&address, &address_length);
	traced_children_open(&book, &plain);
	server = traced_children_child(serve, &fd);
	client = traced_children_child(ask, NULL);
	traced_children_doze(400);
	traced_children_read(&book);
	site = traced_children_site(&book, client, STATE_NET);
	assert_non_null(site);
	assert_string_equal(traced_children_call(&book, site), "recvfrom");
	assert_int_equal(site->key.target, TRACE_SOCKET);
	assert_int_equal(site->family, bound->sa_family);
	assert_true(site->count > 20);
	check_waker(site, server);
	copy = *site;
	traced_children_close(&book);
	close(fd);
	return copy;
}

/* A server on this machine, by IPv4. */
E2E_TEST(test_inet_waker)
{
	struct sockaddr_in bound = { .sin_family = AF_INET };
	struct trace_site site;

	e2e_require_bpf();
	bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	site = serve_and_ask((struct sockaddr *)&bound, sizeof(bound));
	assert_int_equal(site.protocol, IPPROTO_TCP);
	assert_memory_equal(site.peer, &bound.sin_addr, 4);
	assert_memory_equal(site.address, &bound.sin_addr, 4);
	assert_int_equal(site.peer_port, ntohs(((struct sockaddr_in *)&address)->sin_port));
	assert_true(site.port && site.port != site.peer_port);
}

/* The same by IPv6, where the machine has it. */
E2E_TEST(test_inet6_waker)
{
	struct sockaddr_in6 bound = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct trace_site site;
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	e2e_require_bpf();
	if (fd < 0 || bind(fd, (struct sockaddr *)&bound, sizeof(bound)))
		return;
	close(fd);
	site = serve_and_ask((struct sockaddr *)&bound, sizeof(bound));
	assert_memory_equal(site.peer, &bound.sin6_addr, 16);
	assert_memory_equal(site.address, &bound.sin6_addr, 16);
	assert_int_equal(site.peer_port, ntohs(((struct sockaddr_in6 *)&address)->sin6_port));
}

/* And by a unix socket, in the file system and in the abstract names. */
E2E_TEST(test_unix_waker)
{
	struct sockaddr_un {
		sa_family_t family;
		char path[108];
	} bound = { .family = AF_UNIX };
	struct trace_site site;
	socklen_t length;

	e2e_require_bpf();
	snprintf(bound.path, sizeof(bound.path), "%s/socket", e2e_folder());
	site = serve_and_ask((struct sockaddr *)&bound, sizeof(bound));
	unlink(bound.path);
	assert_string_equal(site.name, bound.path);
	memset(bound.path, 0, sizeof(bound.path));
	snprintf(bound.path + 1, sizeof(bound.path) - 1, "stalltop-%d", (int)getpid());
	length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(bound.path + 1));
	site = serve_and_ask((struct sockaddr *)&bound, length);
	assert_int_equal(site.name[0], '@');
	assert_string_equal(site.name + 1, bound.path + 1);
}
