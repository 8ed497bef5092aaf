// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/scrape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/e2e.h"

unsigned scrape_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	close(fd);
	return ntohs(address.sin_port);
}

/* Fills in where to connect to, see scrape_call(). */
static void fill_address(unsigned port, const char *where, struct sockaddr_storage *out)
{
	struct sockaddr_un *local = (void *)out;
	struct sockaddr_in6 *v6 = (void *)out;
	struct sockaddr_in *v4 = (void *)out;

	*out = (struct sockaddr_storage){ .ss_family = AF_INET };
	if (where && strchr(where, '/')) {
		out->ss_family = AF_UNIX;
		snprintf(local->sun_path, sizeof(local->sun_path), "%s", where);
	} else if (where && strchr(where, ':')) {
		out->ss_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		assert_int_equal(inet_pton(AF_INET6, where, &v6->sin6_addr), 1);
	} else {
		v4->sin_port = htons((uint16_t)port);
		assert_int_equal(inet_pton(AF_INET, where ? where : "127.0.0.1", &v4->sin_addr), 1);
	}
}

int scrape_call(unsigned port, const char *where)
{
	struct sockaddr_storage address;
	int fd;

	fill_address(port, where, &address);
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!connect(fd, (struct sockaddr *)&address,
		     address.ss_family == AF_INET   ? sizeof(struct sockaddr_in)
		     : address.ss_family == AF_UNIX ? sizeof(struct sockaddr_un)
						    : sizeof(struct sockaddr_in6)))
		return fd;
	close(fd);
	return -1;
}

bool scrape_read(int fd, char *text, size_t size, double seconds)
{
	double until = e2e_now() + seconds;
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size - 1 && e2e_now() < until) {
		if (poll(&pollfd, 1, 100) <= 0)
			continue;
		n = read(fd, text + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	close(fd);
	return n <= 0;
}

const char *scrape_ask(unsigned port, const char *where, const char *request)
{
	static char text[1 << 22];
	int fd = scrape_call(port, where);

	if (fd < 0)
		return NULL;
	/* The other end may have heard enough. */
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		assert_true(errno == EPIPE || errno == ECONNRESET);
	assert_true(scrape_read(fd, text, sizeof(text), 30));
	return text;
}

void scrape_await(unsigned port, const char *where)
{
	double until = e2e_now() + 30;
	const char *text = NULL;

	while (e2e_now() < until) {
		text = scrape_ask(port, where, SCRAPE_GET);
		if (text && strstr(text, "# EOF\n"))
			return;
		e2e_sleep(0.05);
	}
	fail_msg("no metrics: %.200s", text ? text : "nobody answers");
}
