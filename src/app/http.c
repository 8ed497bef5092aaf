/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "app/address.h"
#include "base/util.h"

/* The status of a request that is for another server (RFC 9110). */
#define MISDIRECTED 421

/* Interval between checks of the connections. */
#define LOOK_MS 500

/* Until the oldest are closed there may be more connections than the limit. */
#define ACCEPTED (2 * HTTP_CONNECTIONS)

/* The connections of all sockets. */
#define CALLERS (ADDRESS_SOCKETS * ACCEPTED)

static const char *const content_types[EXPOSITIONS] = {
	[EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
};

/* A connection. */
struct http_caller {
	const struct MHD_Connection *connection; /* NULL: the place is free */
	int fd;
	uint64_t began_ns;
	bool closing;
};

struct http {
	struct MHD_Daemon *daemons[ADDRESS_SOCKETS]; /* one per socket */
	size_t count;
	struct MHD_Response *texts[EXPOSITIONS]; /* NULL: there is no sample yet */
	const struct http_names *names;
	struct MHD_Response *early, *unknown, *refused, *misdirected;
	struct http_caller callers[CALLERS];
	size_t open; /* clients that are not closing */
};

/* Makes a response of a text of our own. */
static struct MHD_Response *make_answer(const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (!response)
		die("out of memory");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
	return response;
}

/* The format that a client requests; every client accepts text. */
static enum exposition choose(struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	return accept && strstr(accept, "application/openmetrics-text") ? EXPOSITION_OPENMETRICS
									: EXPOSITION_TEXT;
}

/* Answers a request. The connection ends with it: a body is not read. */
static enum MHD_Result serve_request(void *arg, struct MHD_Connection *connection, const char *url,
				     const char *method, UNUSED const char *version,
				     UNUSED const char *data, UNUSED size_t *size,
				     UNUSED void **request)
{
	struct http *http = arg;
	struct MHD_Response *response;

	if (!address_takes_host(
		    http->names->address, http->names->node, http->names->more,
		    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return MHD_queue_response(connection, MISDIRECTED, http->misdirected);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return MHD_queue_response(connection, MHD_HTTP_METHOD_NOT_ALLOWED, http->refused);
	if (strcmp(url, "/metrics") != 0)
		return MHD_queue_response(connection, MHD_HTTP_NOT_FOUND, http->unknown);
	response = http->texts[choose(connection)];
	return response ? MHD_queue_response(connection, MHD_HTTP_OK, response)
			: MHD_queue_response(connection, MHD_HTTP_SERVICE_UNAVAILABLE, http->early);
}

/* Ends a connection, whatever its state. */
static void hang_up(struct http *http, struct http_caller *caller)
{
	shutdown(caller->fd, SHUT_RDWR);
	caller->closing = true;
	http->open--;
}

/* The oldest connection; NULL: none. */
static struct http_caller *oldest_of(struct http *http)
{
	struct http_caller *oldest = NULL;

	for (size_t i = 0; i < CALLERS; i++) {
		struct http_caller *caller = &http->callers[i];

		if (caller->connection && !caller->closing &&
		    (!oldest || caller->began_ns < oldest->began_ns))
			oldest = caller;
	}
	return oldest;
}

/* Adds a new connection. */
static void take_caller(struct http *http, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	size_t i = 0;

	while (i < CALLERS && http->callers[i].connection)
		i++;
	if (i == CALLERS || !info)
		return;
	http->callers[i] = (struct http_caller){ connection, info->connect_fd,
						 clock_ns(CLOCK_MONOTONIC), false };
	if (++http->open > HTTP_CONNECTIONS)
		hang_up(http, oldest_of(http));
}

/* Called by the library when a connection begins and when it has ended. */
static void note_caller(void *arg, struct MHD_Connection *connection, UNUSED void **socket,
			enum MHD_ConnectionNotificationCode code)
{
	struct http *http = arg;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		take_caller(http, connection);
		return;
	}
	for (size_t i = 0; i < CALLERS; i++) {
		struct http_caller *caller = &http->callers[i];

		if (caller->connection != connection)
			continue;
		http->open -= !caller->closing;
		caller->connection = NULL;
	}
}

/* Ends the connections that have taken too long. */
static void hang_up_late(struct http *http)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < CALLERS; i++) {
		struct http_caller *caller = &http->callers[i];

		if (caller->connection && !caller->closing &&
		    now_ns - caller->began_ns > HTTP_SECONDS * NSEC_PER_SEC)
			hang_up(http, caller);
	}
}

/* Makes a response of a part of a file. The response closes the descriptor. */
static struct MHD_Response *make_text(int fd, uint64_t size, uint64_t offset, const char *type)
{
	int own = dup(fd);
	struct MHD_Response *response =
		own < 0 ? NULL : MHD_create_response_from_fd_at_offset64(size, own, offset);

	if (!response) {
		if (own >= 0)
			close(own);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

/* Answers with these texts from now on; answers in progress continue with theirs. */
static void use_texts(struct http *http, const struct http_texts *texts, int fd)
{
	uint64_t offset = 0;

	for (unsigned i = 0; i < EXPOSITIONS; i++) {
		struct MHD_Response *response =
			make_text(fd, texts->size[i], offset, content_types[i]);

		offset += texts->size[i];
		if (!response)
			continue;
		if (http->texts[i])
			MHD_destroy_response(http->texts[i]);
		http->texts[i] = response;
	}
	close(fd);
}

/* Receives texts, if any came. False if no more can come. */
static bool receive(struct http *http, int from)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	struct http_texts texts;
	struct iovec iov = { .iov_base = &texts, .iov_len = sizeof(texts) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
	int fd;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!header || n != sizeof(texts))
		return n != 0;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	use_texts(http, &texts, fd);
	return true;
}

/* Allocates resources. 0 or -errno. */
static int open_http(struct http *http, const struct address_sockets *listening)
{
	http->early = make_answer("no sample has been taken yet\n");
	http->unknown = make_answer("stalltop: not found (try /metrics)\n");
	http->misdirected = make_answer("unknown Host: use the address, or name this host in "
					"--listen-names\n");
	http->refused = make_answer("only GET and HEAD\n");
	MHD_add_response_header(http->refused, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	for (; http->count < listening->count; http->count++) {
		struct MHD_Daemon *daemon = MHD_start_daemon(
			MHD_USE_EPOLL, 0, NULL, NULL, serve_request, http, MHD_OPTION_LISTEN_SOCKET,
			listening->fds[http->count], MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)ACCEPTED, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SECONDS,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_REQUEST_BYTES,
			MHD_OPTION_NOTIFY_CONNECTION, note_caller, http, MHD_OPTION_END);

		if (!daemon)
			return -ENOMEM;
		http->daemons[http->count] = daemon;
	}
	return 0;
}

/* The time until something is due, in ms; negative: until a client comes. */
static int idle_ms(const struct http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int idle = http->open ? LOOK_MS : -1;

	for (size_t i = 0; i < http->count; i++)
		if (MHD_get_timeout(http->daemons[i], &ms) == MHD_YES &&
		    ms < (idle < 0 ? LOOK_MS : (unsigned)idle))
			idle = (int)ms;
	return idle;
}

/* Runs the library's pending work. 0 or -errno. */
static int run_daemons(struct http *http)
{
	for (size_t i = 0; i < http->count; i++)
		if (MHD_run(http->daemons[i]) != MHD_YES)
			return -EIO;
	return 0;
}

int http_serve(const struct address_sockets *listening, int texts, const struct http_names *names)
{
	struct http http = { .names = names };
	int err = open_http(&http, listening);
	struct pollfd fds[1 + ADDRESS_SOCKETS] = { { .fd = texts, .events = POLLIN } };
	bool more = true;

	for (size_t i = 0; !err && i < http.count; i++)
		fds[1 + i] = (struct pollfd){ .fd = MHD_get_daemon_info(http.daemons[i],
									MHD_DAEMON_INFO_EPOLL_FD)
							    ->epoll_fd,
					      .events = POLLIN };
	while (more && !err) {
		if (poll(fds, 1 + http.count, idle_ms(&http)) < 0 && errno != EINTR)
			return -errno;
		more = receive(&http, texts);
		err = run_daemons(&http);
		hang_up_late(&http);
	}
	/* The process exits: nothing is freed. */
	return err;
}
