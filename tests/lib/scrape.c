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

/* A port that nobody has. */
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

/* Connects to a port, or to the Unix socket at a path. The descriptor or -1. */
int scrape_call(unsigned port, const char *path)
{
	struct sockaddr_in inet = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (path)
		snprintf(local.sun_path, sizeof(local.sun_path), "%s", path);
	err = path ? connect(fd, (struct sockaddr *)&local, sizeof(local))
		   : connect(fd, (struct sockaddr *)&inet, sizeof(inet));
	if (!err)
		return fd;
	close(fd);
	return -1;
}

/* Reads up to the end of a connection, for so long at most, and closes it. False: it went on. */
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

/* Sends a request and returns the answer; NULL without one. */
const char *scrape_ask(unsigned port, const char *path, const char *request)
{
	static char text[1 << 22];
	int fd = scrape_call(port, path);

	if (fd < 0)
		return NULL;
	/* The other end may have heard enough. */
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		assert_true(errno == EPIPE || errno == ECONNRESET);
	assert_true(scrape_read(fd, text, sizeof(text), 30));
	return text;
}

/* Waits until there are metrics. */
void scrape_await(unsigned port, const char *path)
{
	double until = e2e_now() + 30;
	const char *text = NULL;

	while (e2e_now() < until) {
		text = scrape_ask(port, path, SCRAPE_GET);
		if (text && strstr(text, "# EOF\n"))
			return;
		e2e_sleep(0.05);
	}
	fail_msg("no metrics: %.200s", text ? text : "nobody answers");
}
