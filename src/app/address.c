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

/* Connections that wait to be taken. */
#define BACKLOG 128

/* The longest name of a host (RFC 1035). */
#define HOST_MAX 255

/* The parts of [ADDRESS]:PORT. */
struct endpoint {
	char host[HOST_MAX + 1];
	const char *port;
};

/* Takes a text apart. False where it has not that form. */
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

/* Whether the text is the path of a Unix socket. */
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

/* Opens a socket that listens at an address. The descriptor or -errno. */
static int open_socket(int family, const struct sockaddr *address, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, err;

	if (fd < 0)
		return -errno;
	if (family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, address, len) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Whether the file is a socket without a listener. */
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
static int listen_at_path(const char *path, struct address_socket *out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat info;

	memcpy(address.sun_path, path, strlen(path));
	out->fd = open_socket(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
	if (out->fd == -EADDRINUSE && is_left(&address) && !unlink(path))
		out->fd = open_socket(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
	if (out->fd >= 0 && !lstat(path, &info))
		out->inode = info.st_ino;
	return out->fd < 0 ? out->fd : 0;
}

/* Opens a TCP socket. 0 or -errno; errors of names are appended to why, and -EINVAL. */
static int listen_at_host(const char *text, struct address_socket *out, struct buf *why)
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
	out->fd = open_socket(found->ai_family, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return out->fd < 0 ? out->fd : 0;
}

bool address_listen(const char *text, struct address_socket *out, struct buf *why)
{
	size_t len = why->len;
	int err;

	*out = (struct address_socket){ .fd = -1 };
	err = is_path(text) ? listen_at_path(text, out) : listen_at_host(text, out, why);
	if (err && why->len == len)
		buf_puts(why, strerror(-err));
	return !err;
}

bool address_is_open(const struct address_socket *socket)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in *v4 = (const void *)&address;
	const struct sockaddr_in6 *v6 = (const void *)&address;
	socklen_t len = sizeof(address);

	if (getsockname(socket->fd, (struct sockaddr *)&address, &len))
		return false;
	if (address.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
	return address.ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Takes the name out of a Host. False where it has not that form. */
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
	/* The dot of a whole name. */
	if (!quoted && len > 1 && name[len - 1] == '.')
		name[len - 1] = '\0';
	return true;
}

/* Whether it is the name of the machine, with or without a domain. */
static bool is_node(const char *name, const char *node)
{
	size_t len = strcspn(node, ".");

	return !strcasecmp(name, node) ||
	       (len && !strncasecmp(name, node, len) && (!name[len] || name[len] == '.'));
}

/* Whether a name is among those of a list, which are parted by commas. */
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

void address_close(const char *text, struct address_socket *socket)
{
	struct stat info;

	if (socket->fd >= 0)
		close(socket->fd);
	/* Only a file that is still ours. */
	if (socket->inode && !lstat(text, &info) && S_ISSOCK(info.st_mode) &&
	    info.st_ino == socket->inode)
		unlink(text);
	*socket = (struct address_socket){ .fd = -1 };
}
