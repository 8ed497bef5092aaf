/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proc.h"

/* Room for an answer: some 200 bytes with a name of full length. */
#define ANSWER_BYTES 1024

/* Room for a part of a long answer: the kernel's parts are never longer. */
#define DUMP_BYTES 16384

/* A request for one socket, as it is sent. */
struct unix_diag_request {
	struct nlmsghdr header;
	struct unix_diag_req body;
};

int unix_diag_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int err;

	if (fd < 0)
		return -errno;
	/* The socket is connected to the kernel, so that no other messages are received. */
	if (!connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Copies an address; an abstract one begins with a NUL. */
static void copy_name(const struct nlattr *attr, struct unix_socket *out)
{
	out->len = (size_t)nla_len(attr);
	if (out->len > sizeof(out->name))
		out->len = sizeof(out->name);
	memcpy(out->name, nla_data(attr), out->len);
	if (out->len && !out->name[0])
		out->name[0] = '@';
	else
		out->len = strnlen(out->name, out->len);
}

/* The body of an answer, or NULL if it has none; *err says why. */
static const struct unix_diag_msg *answer_body(const struct nlmsghdr *header, size_t len, int *err)
{
	*err = -EBADMSG;
	if (len > INT_MAX || !nlmsg_ok(header, (int)len))
		return NULL;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = nlmsg_data(header);

		if (nlmsg_datalen(header) >= (int)sizeof(*error) && error->error < 0)
			*err = error->error;
		return NULL;
	}
	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    nlmsg_datalen(header) < (int)sizeof(struct unix_diag_msg))
		return NULL;
	return nlmsg_data(header);
}

/* An attribute of an answer with at least so many bytes, or NULL. */
static const struct nlattr *find_attr(const void *bytes, int type, int least)
{
	const struct nlattr *attr =
		nlmsg_find_attr((struct nlmsghdr *)bytes, sizeof(struct unix_diag_msg), type);

	return attr && nla_len(attr) >= least ? attr : NULL;
}

int unix_diag_decode(const void *bytes, size_t len, struct unix_socket *out)
{
	const struct unix_diag_msg *body;
	const struct nlattr *attr;
	int err;

	*out = (struct unix_socket){ 0 };
	body = answer_body(bytes, len, &err);
	if (!body)
		return err;
	out->ino = body->udiag_ino;
	out->connected = body->udiag_state == TCP_ESTABLISHED;
	out->stream = body->udiag_type == SOCK_STREAM;
	attr = find_attr(bytes, UNIX_DIAG_PEER, sizeof(uint32_t));
	if (attr)
		out->peer = nla_get_u32((struct nlattr *)attr);
	attr = find_attr(bytes, UNIX_DIAG_NAME, 1);
	if (attr)
		copy_name(attr, out);
	return 0;
}

/* Sends a request. 0 or -errno. */
static int send_request(int fd, uint16_t flags, const struct unix_diag_req *body)
{
	struct unix_diag_request request = {
		.header = { .nlmsg_len = sizeof(request),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		.body = *body,
	};

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int unix_diag_ask(int fd, uint64_t ino, struct unix_socket *out)
{
	const struct unix_diag_req body = {
		.sdiag_family = AF_UNIX,
		.udiag_ino = (uint32_t)ino,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
		.udiag_cookie = { UINT32_MAX, UINT32_MAX },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	ssize_t n;
	int err;

	if (ino > UINT32_MAX)
		return -ENOENT;
	err = send_request(fd, 0, &body);
	if (err)
		return err;
	/* The kernel answers within the send. */
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	err = n < 0 ? -errno : unix_diag_decode(answer, (size_t)n, out);
	return !err && out->ino != ino ? -EBADMSG : err;
}

/* True if a listening socket has a connection not yet accepted: the client's inode. */
static bool has_pending(const struct nlmsghdr *header, uint64_t ino)
{
	const struct nlattr *attr = find_attr(header, UNIX_DIAG_ICONS, sizeof(uint32_t));
	uint32_t pending;

	for (int at = 0; attr && at + (int)sizeof(pending) <= nla_len(attr);
	     at += (int)sizeof(pending)) {
		memcpy(&pending, (const char *)nla_data(attr) + at, sizeof(pending));
		if (pending == ino)
			return true;
	}
	return false;
}

int unix_diag_ask_listener(int fd, uint64_t ino, struct unix_socket *out)
{
	const struct unix_diag_req body = {
		.sdiag_family = AF_UNIX,
		.udiag_states = 1 << TCP_LISTEN,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_ICONS,
	};
	_Alignas(struct nlmsghdr) char answers[DUMP_BYTES];
	int err = send_request(fd, NLM_F_DUMP, &body), found = -ENOENT;
	ssize_t n = 0;

	/* The kernel creates the next part of its answer when one is received, until its end. */
	while (!err && (n = recv(fd, answers, sizeof(answers), MSG_DONTWAIT)) > 0) {
		struct nlmsghdr *header = (struct nlmsghdr *)answers;
		int rest = (int)n;

		for (; !err && nlmsg_ok(header, rest); header = nlmsg_next(header, &rest)) {
			if (header->nlmsg_type == NLMSG_DONE)
				return found;
			if (!answer_body(header, header->nlmsg_len, &err))
				break;
			err = 0;
			if (has_pending(header, ino))
				found = unix_diag_decode(header, header->nlmsg_len, out);
		}
	}
	if (n < 0 && errno != EAGAIN)
		err = -errno;
	return err ? err : found;
}

/* Maximum size of a list: some 200,000 sockets. A longer one is not used. */
#define LIST_BYTES (32 * 1024 * 1024)

/* Number of cached namespaces. */
#define SPACES 8

/* Sockets found in no list are not searched for again at once. */
#define UNLISTED 64
#define UNLISTED_RENEWS 16

/* The states of a socket of TCP and UDP: TCP_LISTEN of include/net/tcp_states.h. */
#define LISTEN_STATE 10

/* A list as it was read. */
struct socket_table {
	unsigned renewed; /* number of the renewal at its reading; 0: never */
	struct socket_entry *all; /* by inode */
	size_t n, cap;
	struct buf names;
};

/* A network namespace. */
struct space {
	uint64_t id; /* its inode; 0: unused */
	unsigned used; /* number of the renewal at its last use */
	struct socket_table lists[SOCKET_LISTS];
};

/* A socket that was in no list. */
struct unlisted {
	uint64_t space, ino;
	unsigned renewed;
};

struct sockets {
	struct proc *proc;
	unsigned renewed;
	uint64_t ours; /* our own namespace; 0: unknown */
	struct space spaces[SPACES];
	struct space *at; /* the latest selected; NULL: none */
	pid_t tid; /* the task by which it was selected */
	struct unlisted unlisted[UNLISTED];
	size_t next_unlisted;
	struct buf text;
};

/* The inode's position in a line, in words, and the file's name below /proc/TID. */
static const struct {
	const char *file;
	unsigned ino_word;
} socket_lists[SOCKET_LISTS] = {
	[SOCKETS_UNIX] = { "net/unix", 6 },	[SOCKETS_TCP] = { "net/tcp", 9 },
	[SOCKETS_TCP6] = { "net/tcp6", 9 },	[SOCKETS_UDP] = { "net/udp", 9 },
	[SOCKETS_UDP6] = { "net/udp6", 9 },	[SOCKETS_NETLINK] = { "net/netlink", 9 },
	[SOCKETS_PACKET] = { "net/packet", 8 }, [SOCKETS_RAW] = { "net/raw", 9 },
	[SOCKETS_RAW6] = { "net/raw6", 9 },
};

/* Consumes a word after blanks. */
static bool take_field(struct span *line, struct span *word)
{
	while (take_word(line, " "))
		;
	return line->at < line->end && take_part(line, ' ', word);
}

/* Parses a number of exactly so many hexadecimal digits. */
static bool take_hex(struct span *text, unsigned digits, uint32_t *value)
{
	uint32_t sum = 0;

	if (text->end - text->at < (ptrdiff_t)digits)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		char c = *text->at++;

		if (c >= '0' && c <= '9')
			sum = sum << 4 | (uint32_t)(c - '0');
		else if (c >= 'A' && c <= 'F')
			sum = sum << 4 | (uint32_t)(c - 'A' + 10);
		else if (c >= 'a' && c <= 'f')
			sum = sum << 4 | (uint32_t)(c - 'a' + 10);
		else
			return false;
	}
	*value = sum;
	return true;
}

/*
 * Parses an address "0100007F:1F90": words of 32 bits as they are in memory, in network order
 * (get_tcp4_sock() of net/ipv4/tcp_ipv4.c), and the port.
 */
static bool parse_end(struct span text, struct socket_end *end)
{
	bool v6 = text.end - text.at > 16;
	uint32_t word, port;

	*end = (struct socket_end){ { 0 }, 0 };
	for (unsigned i = v6 ? 0 : 3; i < 4; i++) {
		if (!take_hex(&text, 8, &word))
			return false;
		memcpy(end->address + 4 * (size_t)i, &word, sizeof(word));
	}
	/* The any address of IPv4 is mapped to that of IPv6. */
	if (!v6 && word)
		end->address[10] = end->address[11] = 0xff;
	if (!take_word(&text, ":") || !take_hex(&text, 4, &port) || text.at != text.end)
		return false;
	end->port = (uint16_t)port;
	return true;
}

/* True if a list is of sockets with addresses and ports. */
static bool has_ends(enum socket_list list)
{
	return list >= SOCKETS_TCP && list <= SOCKETS_UDP6;
}

bool socket_parse(enum socket_list list, struct span line, struct socket_entry *out,
		  struct span *name)
{
	unsigned last = socket_lists[list].ino_word;
	struct span word;
	uint32_t state;

	*out = (struct socket_entry){ .list = list };
	*name = (struct span){ line.end, line.end };
	for (unsigned i = 0; i < last; i++) {
		if (!take_field(&line, &word))
			return false;
		if (!has_ends(list))
			continue;
		if ((i == 1 && !parse_end(word, &out->local)) ||
		    (i == 2 && !parse_end(word, &out->peer)) ||
		    (i == 3 && !take_hex(&word, 2, &state)))
			return false;
		if (i == 3)
			out->listening = state == LISTEN_STATE;
	}
	if (!take_field(&line, &word) || !take_uint(&word, &out->ino) || word.at != word.end)
		return false;
	if (list == SOCKETS_UNIX)
		*name = line;
	return true;
}

void sockets_renew(struct sockets *sockets)
{
	sockets->renewed++;
}

/* The network namespace of a task ("self": ours); 0: unknown. */
static uint64_t space_id(struct sockets *sockets, const char *task)
{
	char path[64], link[64];
	struct span text;
	int len;
	uint64_t id;

	snprintf(path, sizeof(path), "%s/ns/net", task);
	len = proc_readlink(sockets->proc, path, link, sizeof(link));
	if (len < 0)
		return 0;
	text = (struct span){ link, link + len };
	return take_word(&text, "net:[") && take_uint(&text, &id) ? id : 0;
}

struct sockets *sockets_open(struct proc *proc)
{
	struct sockets *sockets = xcalloc(1, sizeof(*sockets));

	sockets->proc = proc;
	sockets->renewed = 1;
	sockets->ours = space_id(sockets, "self");
	return sockets;
}

/* Drops the contents of lists. */
static void drop_space(struct space *space)
{
	for (unsigned i = 0; i < SOCKET_LISTS; i++) {
		free(space->lists[i].all);
		buf_free(&space->lists[i].names);
	}
	*space = (struct space){ 0 };
}

/* The entry of a namespace by its inode; a new one replaces the least recently used. */
static struct space *find_namespace(struct sockets *sockets, uint64_t id)
{
	struct space *oldest = &sockets->spaces[0];

	for (unsigned i = 0; i < SPACES; i++) {
		struct space *space = &sockets->spaces[i];

		if (space->id == id) {
			space->used = sockets->renewed;
			return space;
		}
		if (space->used < oldest->used)
			oldest = space;
	}
	drop_space(oldest);
	oldest->id = id;
	oldest->used = sockets->renewed;
	return oldest;
}

bool sockets_enter(struct sockets *sockets, pid_t tid)
{
	char task[16];
	uint64_t id;

	snprintf(task, sizeof(task), "%d", (int)tid);
	id = space_id(sockets, task);
	sockets->at = id ? find_namespace(sockets, id) : NULL;
	sockets->tid = tid;
	return sockets->at;
}

bool sockets_ours(const struct sockets *sockets)
{
	return sockets->at && sockets->at->id == sockets->ours;
}

/* Orders by inode. */
static int compare_entries(const void *a, const void *b)
{
	const struct socket_entry *x = a, *y = b;

	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* Adds a line's socket to its list. */
static void list_socket(struct socket_table *list, enum socket_list which, struct span line)
{
	struct socket_entry entry;
	struct span name;

	if (!socket_parse(which, line, &entry, &name))
		return;
	entry.name = (uint32_t)list->names.len;
	entry.name_len = (uint32_t)(name.end - name.at);
	buf_add(&list->names, name.at, entry.name_len);
	GROW(list->all, list->n, list->cap);
	list->all[list->n++] = entry;
}

/* Reads a list through the task's /proc. */
static void read_sockets(struct sockets *sockets, enum socket_list which)
{
	struct socket_table *list = &sockets->at->lists[which];
	struct span text, line;
	char path[64];

	list->renewed = sockets->renewed;
	list->n = list->names.len = sockets->text.len = 0;
	snprintf(path, sizeof(path), "%d/%s", (int)sockets->tid, socket_lists[which].file);
	if (file_read_all(sockets->proc->fd, path, &sockets->text, LIST_BYTES))
		return;
	text = (struct span){ sockets->text.data, sockets->text.data + sockets->text.len };
	/* The first line has the column headings. */
	take_line(&text, &line);
	while (take_line(&text, &line))
		list_socket(list, which, line);
	if (list->n)
		qsort(list->all, list->n, sizeof(*list->all), compare_entries);
}

/* The socket of an inode in a list; NULL also if it is there twice, as then one is forged. */
static const struct socket_entry *find_entry(const struct socket_table *list, uint64_t ino)
{
	const struct socket_entry key = { .ino = ino };
	const struct socket_entry *found;

	if (!list->n)
		return NULL;
	found = bsearch(&key, list->all, list->n, sizeof(key), compare_entries);
	if (!found || (found > list->all && found[-1].ino == ino) ||
	    (found + 1 < list->all + list->n && found[1].ino == ino))
		return NULL;
	return found;
}

/* True if a list's facts about a socket hold as long as the socket exists. */
static bool is_settled(const struct socket_entry *entry)
{
	return !has_ends(entry->list) || entry->listening || entry->peer.port;
}

/* True if a recent search for a socket failed. */
static bool is_unlisted(const struct sockets *sockets, uint64_t ino)
{
	for (size_t i = 0; i < UNLISTED; i++) {
		const struct unlisted *unlisted = &sockets->unlisted[i];

		if (unlisted->ino == ino && unlisted->space == sockets->at->id &&
		    sockets->renewed - unlisted->renewed < UNLISTED_RENEWS)
			return true;
	}
	return false;
}

const struct socket_entry *sockets_find(struct sockets *sockets, uint64_t ino)
{
	const struct socket_entry *entry;

	if (!sockets->at || !ino)
		return NULL;
	for (unsigned i = 0; i < SOCKET_LISTS; i++) {
		entry = find_entry(&sockets->at->lists[i], ino);
		if (entry &&
		    (is_settled(entry) || sockets->at->lists[i].renewed == sockets->renewed))
			return entry;
	}
	if (is_unlisted(sockets, ino))
		return NULL;
	for (unsigned i = 0; i < SOCKET_LISTS; i++) {
		if (sockets->at->lists[i].renewed == sockets->renewed)
			continue;
		read_sockets(sockets, i);
		entry = find_entry(&sockets->at->lists[i], ino);
		if (entry)
			return entry;
	}
	sockets->unlisted[sockets->next_unlisted++ % UNLISTED] =
		(struct unlisted){ sockets->at->id, ino, sockets->renewed };
	return NULL;
}

/* True if two ends are equal. */
static bool is_same_end(const struct socket_end *a, const struct socket_end *b)
{
	return a->port == b->port && !memcmp(a->address, b->address, sizeof(a->address));
}

/* True if a socket listens for connections to an end: at its address, or at any. */
static bool is_listener(const struct socket_entry *entry, const struct socket_end *end)
{
	static const uint8_t any[16];

	return entry->listening && entry->local.port == end->port &&
	       (!memcmp(entry->local.address, any, sizeof(any)) ||
		!memcmp(entry->local.address, end->address, sizeof(any)));
}

/* The other end of a socket in the lists of its protocol, as they were read; else the listener. */
static const struct socket_entry *search_peer(const struct sockets *sockets, unsigned first,
					      const struct socket_entry *entry)
{
	const struct socket_entry *listener = NULL;

	for (unsigned list = first; list <= first + 1; list++) {
		for (size_t i = 0; i < sockets->at->lists[list].n; i++) {
			const struct socket_entry *other = &sockets->at->lists[list].all[i];

			if (is_same_end(&other->local, &entry->peer) &&
			    is_same_end(&other->peer, &entry->local) && other->ino)
				return other;
			if (is_listener(other, &entry->peer))
				listener = other;
		}
	}
	return listener;
}

const struct socket_entry *sockets_find_peer(struct sockets *sockets,
					     const struct socket_entry *entry)
{
	bool tcp = entry->list == SOCKETS_TCP || entry->list == SOCKETS_TCP6;
	unsigned first = tcp ? SOCKETS_TCP : SOCKETS_UDP;
	const struct socket_entry *peer;
	struct socket_entry copy = *entry;

	/* Two ends on one machine mostly have equal addresses. */
	if (!has_ends(entry->list) || !entry->peer.port ||
	    memcmp(entry->local.address, entry->peer.address, sizeof(entry->local.address)) != 0)
		return NULL;
	peer = search_peer(sockets, first, &copy);
	if (peer && !peer->listening)
		return peer;
	for (unsigned list = first; list <= first + 1; list++)
		if (sockets->at->lists[list].renewed != sockets->renewed)
			read_sockets(sockets, list);
	return search_peer(sockets, first, &copy);
}

bool sockets_serves(struct sockets *sockets, const struct socket_entry *entry)
{
	struct socket_end local = entry->local;

	for (unsigned list = SOCKETS_TCP; list <= SOCKETS_TCP6; list++) {
		/* A listener has existed for longer than its connection. */
		if (!sockets->at->lists[list].renewed)
			read_sockets(sockets, list);
		for (size_t i = 0; i < sockets->at->lists[list].n; i++)
			if (is_listener(&sockets->at->lists[list].all[i], &local))
				return true;
	}
	return false;
}

struct span sockets_name(const struct sockets *sockets, const struct socket_entry *entry)
{
	const char *name = sockets->at->lists[entry->list].names.data;

	if (!entry->name_len)
		return (struct span){ NULL, NULL };
	return (struct span){ name + entry->name, name + entry->name + entry->name_len };
}

void sockets_close(struct sockets *sockets)
{
	if (!sockets)
		return;
	for (unsigned i = 0; i < SPACES; i++)
		drop_space(&sockets->spaces[i]);
	buf_free(&sockets->text);
	free(sockets);
}
