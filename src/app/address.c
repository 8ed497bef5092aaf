/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"

/* Connections waiting to be accepted. */
#define BACKLOG 128

/* Maximum length of a host name (RFC 1035). */
#define HOST_MAX 255

/* The parts of [ADDRESS]:PORT. */
struct endpoint {
	char host[HOST_MAX + 1];
	const char *port;
};

/* Parses a text. False if malformed. */
static bool split_endpoint(const char *text, struct endpoint *out)
{
	const char *colon = strrchr(text, ':'), *from = text, *end;
	uint64_t port;

	if (!colon)
		return false;
	out->port = from = colon + 1;
	if (!parse_uint(&from, from + strlen(from), &port) || *from || !port || port > UINT16_MAX)
		return false;
	from = text;
	end = colon;
	/* An IPv6 address has colons of its own. */
	if (from != end && *from == '[') {
		if (*--end != ']' || end - from < 2)
			return false;
		from++;
	} else if (memchr(from, ':', (size_t)(end - from))) {
		return false;
	}
	if ((size_t)(end - from) > HOST_MAX)
		return false;
	memcpy(out->host, from, (size_t)(end - from));
	out->host[end - from] = '\0';
	return true;
}

/* True if the text is the path of a Unix socket. */
static bool is_path(const char *text)
{
	return strchr(text, '/');
}

bool address_is_good(const char *text)
{
	struct endpoint endpoint;
	struct sockaddr_un address;

	if (is_path(text))
		return strlen(text) < sizeof(address.sun_path);
	return split_endpoint(text, &endpoint);
}

/* Opens another listening socket at an address. others: a name has more addresses. 0 or -errno. */
static int open_socket(const struct sockaddr *address, socklen_t len, bool others,
		       struct address_sockets *out)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, err;

	if (fd < 0)
		return -errno;
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* An IPv6 socket for all addresses must not block the IPv4 socket. */
	if (address->sa_family == AF_INET6 && others)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (!bind(fd, address, len) && !listen(fd, BACKLOG)) {
		out->fds[out->count++] = fd;
		return 0;
	}
	err = -errno;
	close(fd);
	return err;
}

/* True if the file is a socket without a listener. */
static bool is_left(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat info;
	bool left;

	if (fd < 0)
		return false;
	left = !lstat(address->sun_path, &info) && S_ISSOCK(info.st_mode) &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	       errno == ECONNREFUSED;
	close(fd);
	return left;
}

/* Opens a Unix socket. 0 or -errno. */
static int listen_at_path(const char *path, struct address_sockets *out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct sockaddr *any = (const void *)&address;
	struct stat info;
	int err;

	memcpy(address.sun_path, path, strlen(path));
	err = open_socket(any, sizeof(address), false, out);
	if (err == -EADDRINUSE && is_left(&address) && !unlink(path))
		err = open_socket(any, sizeof(address), false, out);
	if (!err && !lstat(path, &info))
		out->inode = info.st_ino;
	return err;
}

/* True if an address is in the list before its end: hosts files may have one twice. */
static bool is_repeated(const struct addrinfo *list, const struct addrinfo *end)
{
	for (; list != end; list = list->ai_next)
		if (list->ai_addrlen == end->ai_addrlen &&
		    !memcmp(list->ai_addr, end->ai_addr, end->ai_addrlen))
			return true;
	return false;
}

/* Opens TCP sockets at addresses, except those that this machine lacks. 0 or -errno. */
static int listen_at_all(const struct addrinfo *list, struct address_sockets *out)
{
	int err, absent = 0;

	for (const struct addrinfo *at = list; at && out->count < ADDRESS_SOCKETS;
	     at = at->ai_next) {
		if (is_repeated(list, at))
			continue;
		err = open_socket(at->ai_addr, at->ai_addrlen, list->ai_next, out);
		if (err == -EADDRNOTAVAIL || err == -EAFNOSUPPORT)
			absent = err;
		else if (err)
			return err;
	}
	return out->count ? 0 : absent;
}

/* Opens TCP sockets. 0 or -errno; errors of names are appended to why, and -EINVAL. */
static int listen_at_host(const char *text, struct address_sockets *out, struct buf *why)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found;
	struct endpoint endpoint;
	int err;

	if (!split_endpoint(text, &endpoint))
		return -EINVAL;
	err = getaddrinfo(*endpoint.host ? endpoint.host : ADDRESS_DEFAULT, endpoint.port, &hints,
			  &found);
	if (err) {
		buf_puts(why, err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
		return -EINVAL;
	}
	err = listen_at_all(found, out);
	freeaddrinfo(found);
	return err;
}

bool address_listen(const char *text, struct address_sockets *out, struct buf *why)
{
	size_t len = why->len;
	int err;

	*out = (struct address_sockets){ .count = 0 };
	err = is_path(text) ? listen_at_path(text, out) : listen_at_host(text, out, why);
	if (err && why->len == len)
		buf_puts(why, strerror(-err));
	if (err)
		address_close(text, out);
	return !err;
}

/* True if a socket is reachable from other machines. */
static bool socket_is_open(int fd)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in *v4 = (const void *)&address;
	const struct sockaddr_in6 *v6 = (const void *)&address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len))
		return false;
	if (address.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
	return address.ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool address_is_open(const struct address_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (socket_is_open(sockets->fds[i]))
			return true;
	return false;
}

/* Extracts the name from a Host header. False if malformed. */
static bool take_host(const char *host, char name[HOST_MAX + 1])
{
	bool quoted = *host == '[';
	size_t len = strcspn(host, quoted ? "]" : ":"), ports;
	const char *rest = host + len;

	if (quoted && *rest++ != ']')
		return false;
	if (*rest == ':')
		rest++;
	ports = strspn(rest, "0123456789");
	if (rest[ports] || len > HOST_MAX || len < 1U + quoted)
		return false;
	memcpy(name, host + quoted, len - quoted);
	name[len - quoted] = '\0';
	/* The dot of a fully qualified name. */
	if (!quoted && len > 1 && name[len - 1] == '.')
		name[len - 1] = '\0';
	return true;
}

/* True if it is the name of the machine, with or without a domain. */
static bool is_node(const char *name, const char *node)
{
	size_t len = strcspn(node, ".");

	return !strcasecmp(name, node) ||
	       (len && !strncasecmp(name, node, len) && (!name[len] || name[len] == '.'));
}

/* True if a name is in a comma-separated list. */
static bool is_listed(const char *names, const char *name)
{
	size_t len;

	for (; names && *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (len == strlen(name) && !strncasecmp(names, name, len))
			return true;
	}
	return false;
}

bool address_takes_host(const char *text, const char *node, const char *names, const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	struct endpoint endpoint;
	char name[HOST_MAX + 1];

	if (!host || is_path(text))
		return true;
	if (!take_host(host, name))
		return false;
	return inet_pton(*host == '[' ? AF_INET6 : AF_INET, name, address) == 1 ||
	       !strcasecmp(name, "localhost") || is_listed(names, name) ||
	       (node && *node && is_node(name, node)) ||
	       (split_endpoint(text, &endpoint) && !strcasecmp(name, endpoint.host));
}

void address_close(const char *text, struct address_sockets *sockets)
{
	struct stat info;

	for (size_t i = 0; i < sockets->count; i++)
		close(sockets->fds[i]);
	/* Only a file that is still ours. */
	if (sockets->inode && !lstat(text, &info) && S_ISSOCK(info.st_mode) &&
	    info.st_ino == sockets->inode)
		unlink(text);
	*sockets = (struct address_sockets){ .count = 0 };
}
