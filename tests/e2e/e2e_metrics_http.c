// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics over HTTP: clients get theirs whatever others do, and whatever the sampler does; and not
 * everybody is one.
 */
#include "tests/lib/parse.h"
#include "tests/lib/scrape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

/* Starts it listening at a port. */
static unsigned start_listening(struct e2e_proc *p)
{
	unsigned port = scrape_port();

	e2e_start_stalltop(p, NULL, e2e_format("--listen :%u -d 0.3", port));
	scrape_await(port, NULL);
	return port;
}

/* Ends it as it should end. */
static void stop_listening(struct e2e_proc *p)
{
	struct e2e_result r;

	kill(p->pid, SIGTERM);
	e2e_finish(p, 20, &r);
	check_silent_success(&r);
}

/* Asserts the status of an answer, and what must be in it. */
static void check_answer(unsigned port, const char *request, const char *status, const char *part)
{
	const char *text = scrape_ask(port, NULL, request);

	assert_non_null(text);
	if (strncmp(text, "HTTP/1.1 ", 9) != 0 || strncmp(text + 9, status, strlen(status)) != 0 ||
	    !strstr(text, part))
		fail_msg("%.100s: %.400s", request, text);
}

/* What is asked for is answered; all else is refused. */
E2E_TEST(test_http)
{
	struct e2e_proc p;
	unsigned port;

	e2e_require();
	port = start_listening(&p);
	check_answer(port, SCRAPE_GET, "200",
		     "Content-Type: application/openmetrics-text; version=1.0.0");
	check_answer(port, SCRAPE_GET, "200", "Connection: close\r\n");
	check_answer(port,
		     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: "
		     "application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n",
		     "200", "# UNIT stalltop_delay_seconds seconds\n");
	check_answer(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n",
		     "200", "# TYPE stalltop_delay_seconds_total counter\n");
	/* Who does not say what it reads reads that, promtool as well. */
	check_answer(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "# HELP stalltop_delay_seconds_total ");
	check_answer(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n", "200",
		     "Content-Type: text/plain; version=0.0.4");
	check_answer(port, "GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200", "stalltop_build_info{");
	check_answer(port, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "Content-Length: ");
	check_answer(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "/metrics");
	check_answer(port, "GET /metrics/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		     "404", "");
	check_answer(port,
		     "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		     "405", "Allow: GET, HEAD");
	check_answer(port, "DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405", "");
	stop_listening(&p);
}

/* Asserts that a request for a host has an answer of that status. */
static void check_host(unsigned port, const char *path, const char *host, const char *status)
{
	const char *request = e2e_format("GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	const char *text = scrape_ask(port, path, request);

	if (!text || strncmp(text, e2e_format("HTTP/1.1 %s", status), 12) != 0)
		fail_msg("Host: %s: %.200s", host, text ? text : "no answer");
}

/*
 * A page in a browser of this machine has its name resolve to where stalltop listens, and asks for
 * that name: it gets nothing. Where others can reach it, that is told.
 */
E2E_TEST(test_hosts)
{
	static const char *const taken[] = { "localhost",     "LocalHost:80", "127.0.0.1",
					     "10.0.0.7:9779", "[::1]",	      "[fe80::1]:99",
					     "localhost." };
	static const char *const refused[] = { "evil.example",	 "evil.example:9779",
					       "127.0.0.1.evil", "localhost.evil",
					       "[::1",		 "",
					       "127.0.0.1:x" };
	const char *path = e2e_path("hosts");
	char node[256] = "";
	struct e2e_result r;
	struct e2e_proc p;
	unsigned port;

	e2e_require();
	gethostname(node, sizeof(node) - 1);
	port = start_listening(&p);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		check_host(port, NULL, taken[i], "200");
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		check_host(port, NULL, refused[i], "421");
	check_host(port, NULL, e2e_format("%s.evil.example", node), "421");
	stop_listening(&p);
	/* A path no browser asks. */
	e2e_start_stalltop(&p, NULL, e2e_format("--listen %s -d 0.3", path));
	scrape_await(0, path);
	check_host(0, path, "evil.example", "200");
	stop_listening(&p);
	/* Behind a proxy it has the names that are given. */
	port = scrape_port();
	e2e_start_stalltop(
		&p, NULL,
		e2e_format("--listen 127.0.0.1:%u --listen-names metrics.example,m -d 0.3", port));
	scrape_await(port, NULL);
	check_host(port, NULL, "Metrics.example:443", "200");
	check_host(port, NULL, "m", "200");
	check_host(port, NULL, "metrics", "421");
	check_host(port, NULL, "evil.example", "421");
	stop_listening(&p);
	/* Others know the machine by its name. */
	port = scrape_port();
	e2e_start_stalltop(&p, NULL, e2e_format("--listen 0.0.0.0:%u -d 0.3", port));
	scrape_await(port, NULL);
	check_host(port, NULL, node, "200");
	check_host(port, NULL, e2e_format("%s.example.org:%u", node, port), "200");
	check_host(port, NULL, "evil.example", "421");
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.err.data, "anyone who can reach that address"));
}

/* Has a file of hosts of its own. */
static int use_hosts(const char *file)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount(file, "/etc/hosts", NULL, MS_BIND, NULL);
}

/* At each address of a name that the machine has, whether of version 4 or 6. */
E2E_TEST(test_addresses)
{
	const char *file = e2e_path("names");
	const struct e2e_how how = { .hook = use_hosts, .hook_arg = file };
	unsigned port = scrape_port();
	const char *args = e2e_format("--listen several.test:%u -d 0.3", port);
	struct e2e_result r;
	struct e2e_proc p;
	FILE *hosts;
	int held, one = 1;

	e2e_require();
	if (access("/etc/hosts", F_OK))
		e2e_skip("there is no /etc/hosts");
	hosts = fopen(file, "w");
	fputs("::1 several.test\n127.0.0.1 several.test\n127.0.0.2 several.test\n"
	      "127.0.0.1 several.test\n192.0.2.7 several.test\n",
	      hosts);
	fclose(hosts);
	e2e_start_stalltop(&p, &how, args);
	scrape_await(port, NULL);
	scrape_await(port, "127.0.0.2");
	if (!access("/proc/net/if_inet6", F_OK))
		scrape_await(port, "::1");
	assert_int_equal(scrape_call(port, "127.0.0.3"), -1);
	stop_listening(&p);
	/* Who calls one of them must not reach another program. */
	held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(held, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(held,
			      (const struct sockaddr *)&(struct sockaddr_in){
				      .sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) },
			      sizeof(struct sockaddr_in)),
			 0);
	assert_int_equal(listen(held, 1), 0);
	e2e_run(&r, &how, "%s -n 1", args);
	close(held);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "Address already in use"));
}

/* At the path of a Unix socket, which is removed at the end, and replaced where it was left. */
E2E_TEST(test_unix)
{
	const char *path = e2e_path("socket");
	const char *args = e2e_format("--listen %s -d 0.3 -g user", path);
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	e2e_start_stalltop(&p, NULL, args);
	scrape_await(0, path);
	assert_non_null(strstr(scrape_ask(0, path, SCRAPE_GET), "group=\"root\"}"));
	/* Somebody listens there. */
	e2e_run(&r, NULL, "--listen %s -n 1", path);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "cannot listen at"));
	scrape_await(0, path);
	/* Left behind by a sudden end. */
	kill(p.pid, SIGKILL);
	e2e_finish(&p, 20, &r);
	assert_int_equal(access(path, F_OK), 0);
	e2e_start_stalltop(&p, NULL, args);
	scrape_await(0, path);
	stop_listening(&p);
	assert_int_equal(access(path, F_OK), -1);
	/* A file that is no socket stays. */
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	e2e_run(&r, NULL, "--listen %s -n 1", path);
	assert_int_equal(r.status, 1);
	assert_int_equal(access(path, F_OK), 0);
}

/* Requests that are none, or too long, do no harm and are not waited for. */
E2E_TEST(test_broken)
{
	char *request = e2e_keep(calloc(1, 100000));
	struct e2e_proc p;
	unsigned port;

	e2e_require();
	port = start_listening(&p);
	memset(request, 'A', 90000);
	assert_non_null(scrape_ask(port, NULL, request));
	memcpy(request, "GET /metrics HTTP/1.1\r\nX: ", 26);
	memcpy(request + 80000, "\r\n\r\n", 5);
	assert_null(strstr(scrape_ask(port, NULL, request), "# EOF"));
	assert_null(
		strstr(scrape_ask(port, NULL, "\r\n\r\n\x01\xff\x80 \xc3\x28\r\n\r\n"), "# EOF"));
	assert_null(strstr(scrape_ask(port, NULL, "GET /metrics\r\n\r\n"), "HTTP/1.1 200"));
	for (unsigned i = 0; i < 50; i++) {
		int fd = scrape_call(port, NULL);

		/* Gone in the middle of a request, or before it has its answer. */
		assert_true(fd >= 0);
		assert_true(send(fd, SCRAPE_GET, i % 2 ? strlen(SCRAPE_GET) : 9, MSG_NOSIGNAL) > 0);
		close(fd);
	}
	scrape_await(port, NULL);
	stop_listening(&p);
}

/* Many that say nothing and many that do not read keep nobody out, and are not kept. */
E2E_TEST(test_slow)
{
	enum { MANY = 300 };
	struct e2e_proc p;
	unsigned port, i;
	int fds[MANY], small = 1024;
	char text[4096];

	e2e_require();
	port = start_listening(&p);
	for (i = 0; i < MANY; i++) {
		fds[i] = scrape_call(port, NULL);
		assert_true(fds[i] >= 0);
		if (i % 2) {
			setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
			send(fds[i], SCRAPE_GET, strlen(SCRAPE_GET), MSG_NOSIGNAL);
		}
		if (i % 30 == 0)
			scrape_await(port, NULL);
	}
	scrape_await(port, NULL);
	/* The first had to give way to later ones, the last had its time: 10 s. */
	assert_true(scrape_read(fds[0], text, sizeof(text), 30));
	assert_true(scrape_read(fds[MANY - 2], text, sizeof(text), 60));
	assert_string_equal(text, "");
	for (i = 1; i < MANY; i++)
		if (i != MANY - 2)
			close(fds[i]);
	scrape_await(port, NULL);
	stop_listening(&p);
}

/* The pid of the process that answers: the program's only child. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	return atoi(text);
}

/* A number of a process's status, hexadecimal as masks are. */
static uint64_t number_of(pid_t pid, const char *name)
{
	char path[64], text[4096];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	at = strstr(text, name);
	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 16);
}

/* A scrape needs no sample; who answers ends with the program, and the program says if it ends. */
E2E_TEST(test_apart)
{
	struct e2e_result r;
	struct e2e_proc p;
	unsigned port;
	double until;

	e2e_require();
	port = start_listening(&p);
	e2e_stop(p.pid);
	for (unsigned i = 0; i < 20; i++)
		assert_non_null(strstr(scrape_ask(port, NULL, SCRAPE_GET), "# EOF\n"));
	kill(p.pid, SIGCONT);
	/* It has no privilege that it could lose. */
	assert_int_equal(number_of(child_of(p.pid), "CapEff:"), 0);
	kill(child_of(p.pid), SIGKILL);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "the HTTP process has exited"));

	/* As by the filter of its system calls. */
	start_listening(&p);
	assert_int_equal(number_of(child_of(p.pid), "Seccomp:"), 2);
	kill(child_of(p.pid), SIGSYS);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err.data, "seccomp filter"));

	port = start_listening(&p);
	kill(p.pid, SIGKILL);
	e2e_finish(&p, 20, &r);
	for (until = e2e_now() + 20; e2e_now() < until; e2e_sleep(0.05)) {
		int fd = scrape_call(port, NULL);

		if (fd < 0)
			return;
		close(fd);
	}
	fail_msg("it answers after the program's end");
}
