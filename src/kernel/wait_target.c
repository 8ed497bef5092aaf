/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/wait_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "data/wait_state.h"
#include "kernel/file_owner.h"
#include "kernel/mount_tables.h"
#include "kernel/mounts.h"
#include "kernel/proctask.h"
#include "kernel/sockets.h"
#include "kernel/wait_target_parts.h"

/* Maximum descriptors of a process compared with those that others wait for. */
#define LINKS_MAX 256

struct wait_targets *wait_targets_open(struct proc *proc)
{
	struct wait_targets *targets = xcalloc(1, sizeof(*targets));

	targets->proc = proc;
	targets->diag = unix_diag_open();
	targets->sockets = sockets_open(proc);
	targets->owners = file_owners_open(proc);
	targets->locks = file_locks_open(proc->fd);
	targets->mounts = mount_tables_open(proc->fd);
	return targets;
}

void wait_targets_renew(struct wait_targets *targets)
{
	sockets_renew(targets->sockets);
	file_owners_renew(targets->owners);
	file_locks_renew(targets->locks);
	mount_tables_renew(targets->mounts);
}

int wait_target_link(struct wait_targets *targets, pid_t tid, int fd, struct fd_link *link)
{
	char path[64];
	int len;

	snprintf(path, sizeof(path), "%d/fd/%d", (int)tid, fd);
	len = proc_readlink(targets->proc, path, link->text, sizeof(link->text) - 1);
	if (len < 0)
		return len;
	link->text[len] = '\0';
	link->len = (size_t)len;
	return 0;
}

int wait_target_fdinfo(struct wait_targets *targets, pid_t tid, int fd, char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)tid, fd);
	return proc_read(targets->proc, path, text, FDINFO_BYTES);
}

/* Parses a number of a line of fdinfo; false if it has none. */
static bool find_field(struct span text, const char *key, uint64_t *value)
{
	struct span rest;

	return find_line(text, key, &rest) && take_uint(&rest, value);
}

int wait_target_check(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino)
{
	char text[FDINFO_BYTES];
	int len = wait_target_fdinfo(targets, tid, fd, text);
	uint64_t value, mount;
	uint32_t mount_dev;
	struct span all, mounts;

	if (len < 0)
		return len;
	all = (struct span){ text, text + len };
	if (!find_field(all, "ino:", &value))
		return -ENODATA;
	if (value != ino)
		return -ESTALE;
	if (!dev || !find_field(all, "mnt_id:", &mount) ||
	    mount_tables_find(targets->mounts, tid, &mounts) ||
	    !mount_device(mounts, mount, &mount_dev))
		return 0;
	return mount_dev == dev ? 0 : -ESTALE;
}

/* Appends " 4711 less": the process that is waited for, and its name. */
static void append_pid_and_name(struct wait_targets *targets, pid_t pid, struct buf *out)
{
	struct proctask_stat stat;

	targets->other = pid;
	buf_printf(out, " %d", (int)pid);
	if (proctask_stat_part(targets->proc, pid, 0, &stat))
		return;
	buf_putc(out, ' ');
	buf_puts(out, stat.comm);
}

/* Appends " of 4711 less"; nothing if the process is unknown. */
static void add_owner(struct wait_targets *targets, pid_t pid, struct buf *out)
{
	if (!pid)
		return;
	buf_puts(out, " of");
	append_pid_and_name(targets, pid, out);
}

/* Appends the process that has the socket of an inode. */
static void add_socket_owner(struct wait_targets *targets, pid_t tid, uint64_t ino, struct buf *out)
{
	char link[32];

	snprintf(link, sizeof(link), "socket:[%llu]", (unsigned long long)ino);
	add_owner(targets, file_owners_find(targets->owners, tid, link, 0), out);
}

/* Access of the other end of a descriptor's pipe (S_IRUSR, S_IWUSR); 0: either. */
static mode_t other_access(struct wait_targets *targets, pid_t tid, int fd)
{
	struct stat info;
	char path[64];

	snprintf(path, sizeof(path), "%d/fd/%d", (int)tid, fd);
	if (proc_lstat(targets->proc, path, &info))
		return 0;
	/* The mode of the link itself is the descriptor's access. */
	if (!(info.st_mode & S_IWUSR))
		return S_IWUSR;
	return info.st_mode & S_IRUSR ? 0 : S_IRUSR;
}

/* Appends a pipe, with a process that has its other end. */
static void add_pipe(struct wait_targets *targets, pid_t tid, int fd, const struct fd_link *link,
		     struct buf *out)
{
	buf_puts(out, "pipe");
	add_owner(
		targets,
		file_owners_find(targets->owners, tid, link->text, other_access(targets, tid, fd)),
		out);
}

/* Appends an address. */
static void add_address(const struct socket_end *end, struct buf *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t any[16];
	char text[INET6_ADDRSTRLEN];

	if (!memcmp(end->address, any, sizeof(any))) {
		buf_putc(out, '*');
	} else if (!memcmp(end->address, mapped, sizeof(mapped))) {
		inet_ntop(AF_INET, end->address + 12, text, sizeof(text));
		buf_puts(out, text);
	} else {
		inet_ntop(AF_INET6, end->address, text, sizeof(text));
		buf_printf(out, "[%s]", text);
	}
	buf_putc(out, ':');
	buf_uint(out, end->port);
}

/* Appends a socket by its ends, after the name of its protocol. */
static void add_ends(bool tcp, const struct socket_end *local, const struct socket_end *peer,
		     struct buf *out)
{
	size_t at;

	if (peer->port) {
		add_address(peer, out);
		return;
	}
	at = out->len;
	add_address(local, out);
	if (tcp && out->data[at] != '*')
		buf_puts(out, " (listening)");
}

/* The name of a protocol; "socket" for one without a list here. */
static const char *protocol_name(int protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp ";
	case IPPROTO_UDP:
		return "udp ";
	case 262: /* IPPROTO_MPTCP, which older headers lack */
		return "mptcp ";
	default:
		return "socket ";
	}
}

/* Converts an address from the kernel's form. */
static struct socket_end end_of(int family, const uint8_t *address, uint16_t port)
{
	static const uint8_t any[4];
	struct socket_end end = { .port = port };

	if (family == AF_INET6) {
		memcpy(end.address, address, 16);
	} else if (memcmp(address, any, sizeof(any)) != 0) {
		end.address[10] = end.address[11] = 0xff;
		memcpy(end.address + 12, address, 4);
	}
	return end;
}

void wait_target_inet(int family, int protocol, const uint8_t *address, uint16_t port,
		      const uint8_t *peer, uint16_t peer_port, struct buf *out)
{
	struct socket_end local = end_of(family, address, port);
	struct socket_end other = end_of(family, peer, peer_port);

	buf_puts(out, protocol_name(protocol));
	add_ends(protocol == IPPROTO_TCP, &local, &other, out);
}

/* Appends a Unix socket of our own network namespace. False if the kernel has no answer. */
static bool add_unix(struct wait_targets *targets, pid_t tid, uint64_t ino, struct buf *out)
{
	struct unix_socket own, peer = { 0 };

	if (targets->diag < 0)
		return false;
	if (unix_diag_ask(targets->diag, ino, &own))
		return false;
	buf_puts(out, "unix");
	if (own.peer && unix_diag_ask(targets->diag, own.peer, &peer))
		peer.len = 0;
	/* The connection is not accepted yet: the listener has to accept it. */
	if (own.connected && !own.peer && !unix_diag_ask_listener(targets->diag, ino, &peer))
		own.peer = peer.ino;
	/* Both ends of an accepted connection have the server's path. */
	if (peer.len || own.len) {
		buf_putc(out, ' ');
		buf_add(out, peer.len ? peer.name : own.name, peer.len ? peer.len : own.len);
	}
	if (own.peer)
		add_socket_owner(targets, tid, own.peer, out);
	return true;
}

/* Appends a socket found in a list. */
static void add_listed(struct wait_targets *targets, pid_t tid, const struct socket_entry *entry,
		       struct buf *out)
{
	static const char *const names[SOCKET_LISTS] = {
		[SOCKETS_TCP] = "tcp ",	 [SOCKETS_TCP6] = "tcp ",	[SOCKETS_UDP] = "udp ",
		[SOCKETS_UDP6] = "udp ", [SOCKETS_NETLINK] = "netlink", [SOCKETS_PACKET] = "packet",
		[SOCKETS_RAW] = "raw",	 [SOCKETS_RAW6] = "raw",	[SOCKETS_UNIX] = "unix",
	};
	bool tcp = entry->list == SOCKETS_TCP || entry->list == SOCKETS_TCP6;
	const struct socket_entry *peer;
	struct span name;

	buf_puts(out, names[entry->list]);
	if (tcp || entry->list == SOCKETS_UDP || entry->list == SOCKETS_UDP6)
		add_ends(tcp, &entry->local, &entry->peer, out);
	name = sockets_name(targets->sockets, entry);
	if (name.at < name.end) {
		buf_putc(out, ' ');
		buf_add(out, name.at, (size_t)(name.end - name.at));
	}
	peer = sockets_find_peer(targets->sockets, entry);
	if (peer)
		add_socket_owner(targets, tid, peer->ino, out);
}

/* Appends the socket of an inode. */
static void add_socket(struct wait_targets *targets, pid_t tid, uint64_t ino, struct buf *out)
{
	const struct socket_entry *entry = NULL;

	if (sockets_enter(targets->sockets, tid)) {
		if (sockets_ours(targets->sockets) && add_unix(targets, tid, ino, out))
			return;
		entry = sockets_find(targets->sockets, ino);
	}
	if (entry)
		add_listed(targets, tid, entry, out);
	else
		buf_puts(out, "socket");
}

/* The process of a pidfd, or 0. */
static pid_t pidfd_process(struct wait_targets *targets, pid_t tid, int fd)
{
	char text[FDINFO_BYTES];
	int len = wait_target_fdinfo(targets, tid, fd, text);
	uint64_t pid;

	if (len < 0 || !find_field((struct span){ text, text + len }, "Pid:", &pid) ||
	    pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

/* A file of an epoll descriptor, by a line of its fdinfo; false: another line. */
static bool parse_polled(struct span line, int *fd, uint64_t *ino)
{
	static const char key[] = " ino:";
	uint64_t number;
	char text[32];

	if (!take_word(&line, "tfd:"))
		return false;
	while (take_word(&line, " "))
		continue;
	line.at = take_uint(&line, &number)
			  ? memmem(line.at, (size_t)(line.end - line.at), key, strlen(key))
			  : NULL;
	*fd = line.at && number <= INT_MAX ? (int)number : -1;
	*ino = 0;
	if (*fd < 0)
		return true;
	line.at += strlen(key);
	snprintf(text, sizeof(text), "%.*s", (int)(line.end - line.at), line.at);
	*ino = strtoull(text, NULL, 16);
	return true;
}

bool wait_target_epolled(struct wait_targets *targets, pid_t tid, int fd, struct polled_set *set)
{
	char text[FDINFO_BYTES];
	int len = wait_target_fdinfo(targets, tid, fd, text), polled;
	struct span all = { text, text + (len > 0 ? len : 0) }, line;
	uint64_t ino;

	*set = (struct polled_set){ .n = 0 };
	while (take_line(&all, &line))
		if (parse_polled(line, &polled, &ino))
			polled_set_add(set, polled, ino);
	return len < FDINFO_BYTES - 1;
}

/* Appends the only file of an epoll descriptor, or the number of files. */
static void add_epolled(struct wait_targets *targets, pid_t tid, int fd, struct buf *out)
{
	struct buf what = { 0 };
	struct polled_set set;

	if (!wait_target_epolled(targets, tid, fd, &set))
		buf_printf(out, " of %zu files and more", set.n ? set.n - 1 : 0);
	else if (set.n > 1)
		buf_printf(out, " of %zu files", set.n);
	/* Its number may now belong to a descriptor that refers to this one: only one is opened. */
	targets->within_polled = true;
	if (set.n == 1 && set.all[0].ino &&
	    !wait_target_fd(targets, tid, set.all[0].fd, 0, set.all[0].ino, &what))
		buf_printf(out, ": %s", buf_cstr(&what));
	targets->within_polled = false;
	buf_free(&what);
}

/* Appends a file without a file system: "anon_inode:[eventfd]" as "eventfd". */
static void add_anonymous(struct wait_targets *targets, pid_t tid, int fd, struct span name,
			  struct buf *out)
{
	bool bracketed = name.end - name.at > 2 && *name.at == '[' && name.end[-1] == ']';

	if (bracketed) {
		name.at++;
		name.end--;
	}
	buf_add(out, name.at, (size_t)(name.end - name.at));
	if (is_text(&name, "pidfd"))
		add_owner(targets, pidfd_process(targets, tid, fd), out);
	else if (is_text(&name, "eventpoll") && !targets->within_polled)
		add_epolled(targets, tid, fd, out);
}

/* True if a path shows which mount it is on: no "..", and not among devices. */
static bool is_plain_path(const char *path)
{
	static const char *const others[] = { "/dev/", "/proc/", "/sys/", "/memfd:" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strncmp(path, others[i], strlen(others[i])))
			return false;
	return *path == '/' && !strstr(path, "/..");
}

void wait_target_server(struct wait_targets *targets, pid_t tid, size_t at, struct buf *out)
{
	struct buf server = { 0 };
	struct span mounts;
	uint32_t fuse;
	char link[32];

	if (!is_plain_path(buf_cstr(out) + at) || mount_tables_find(targets->mounts, tid, &mounts))
		return;
	if (mount_server(mounts, buf_cstr(out) + at, &server, &fuse)) {
		buf_puts(out, " (");
		buf_add(out, server.data, server.len);
		snprintf(link, sizeof(link), FILE_OWNER_FUSE "%u", fuse);
		if (fuse)
			add_owner(targets, file_owners_find(targets->owners, tid, link, 0), out);
		buf_putc(out, ')');
	}
	buf_free(&server);
}

/* Appends the process at the other end of a file with a path: " (of 4711 tmux)". */
static void add_other_end(struct wait_targets *targets, pid_t tid, const char *link, mode_t access,
			  struct buf *out)
{
	pid_t owner = file_owners_find(targets->owners, tid, link, access);

	if (!owner)
		return;
	buf_puts(out, " (of");
	append_pid_and_name(targets, owner, out);
	buf_putc(out, ')');
}

void wait_target_fifo(struct wait_targets *targets, pid_t tid, int fd, struct buf *out)
{
	struct fd_link link;

	if (!wait_target_link(targets, tid, fd, &link) && *link.text == '/')
		add_other_end(targets, tid, link.text, other_access(targets, tid, fd), out);
}

/* Appends the process with the master of a pseudo-terminal. */
static void add_master(struct wait_targets *targets, pid_t tid, struct span number, struct buf *out)
{
	char link[32];

	snprintf(link, sizeof(link), FILE_OWNER_PTY "%.*s", (int)(number.end - number.at),
		 number.at);
	add_other_end(targets, tid, link, 0, out);
}

/*
 * Appends the link by which others identify a descriptor that they wait for: of a pipe, a socket,
 * or a terminal's master. False: none of these.
 */
static bool put_end(struct wait_targets *targets, pid_t pid, int fd, struct buf *out)
{
	char text[FDINFO_BYTES];
	struct fd_link link;
	uint64_t number;
	int len;

	if (wait_target_link(targets, pid, fd, &link))
		return false;
	if (file_owner_is_master(link.text)) {
		len = wait_target_fdinfo(targets, pid, fd, text);
		if (len < 0 ||
		    !find_field((struct span){ text, text + len }, "tty-index:", &number))
			return false;
		buf_printf(out, FILE_OWNER_PTY "%llu", (unsigned long long)number);
		return true;
	}
	if (strncmp(link.text, "pipe:[", 6) != 0 && strncmp(link.text, "socket:[", 8) != 0)
		return false;
	buf_puts(out, link.text);
	return true;
}

void wait_target_links(struct wait_targets *targets, pid_t pid, struct buf *out)
{
	int fds[LINKS_MAX], n;
	char path[32];

	snprintf(path, sizeof(path), "%d/fd", (int)pid);
	n = proc_numbers(targets->proc, path, fds, LINKS_MAX);
	for (int i = 0; i < n; i++)
		if (put_end(targets, pid, fds[i], out))
			buf_putc(out, '\0');
}

/* The inode of the socket at the other end, or of the one not accepted yet; 0: none. */
static uint64_t peer_of(struct wait_targets *targets, pid_t tid, uint64_t ino)
{
	const struct socket_entry *entry;
	struct unix_socket own, listener;

	if (!sockets_enter(targets->sockets, tid))
		return 0;
	if (sockets_ours(targets->sockets) && targets->diag >= 0 &&
	    !unix_diag_ask(targets->diag, ino, &own)) {
		if (!own.peer && own.connected &&
		    !unix_diag_ask_listener(targets->diag, ino, &listener))
			return listener.ino;
		return own.peer;
	}
	entry = sockets_find(targets->sockets, ino);
	entry = entry ? sockets_find_peer(targets->sockets, entry) : NULL;
	return entry ? entry->ino : 0;
}

bool wait_target_reaches(struct wait_targets *targets, pid_t tid, int fd, const struct buf *links)
{
	struct fd_link link;
	struct span text;
	char other[48];
	uint64_t number;

	if (!links->len || wait_target_link(targets, tid, fd, &link))
		return false;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		snprintf(other, sizeof(other), "%.*s", (int)sizeof(other) - 1, link.text);
	else if (take_word(&text, "socket:[") && take_uint(&text, &number))
		snprintf(other, sizeof(other), "socket:[%llu]",
			 (unsigned long long)peer_of(targets, tid, number));
	else if (take_word(&text, "/dev/pts/"))
		snprintf(other, sizeof(other), FILE_OWNER_PTY "%.*s", (int)(text.end - text.at),
			 text.at);
	else
		return false;
	for (size_t at = 0; at < links->len; at += strlen(links->data + at) + 1)
		if (!strcmp(links->data + at, other))
			return true;
	return false;
}

int wait_target_fd(struct wait_targets *targets, pid_t tid, int fd, uint32_t dev, uint64_t ino,
		   struct buf *out)
{
	static const char pidfd[] = "pidfd";
	struct fd_link link;
	int err = wait_target_link(targets, tid, fd, &link);
	size_t at = out->len;
	struct span text;
	uint64_t number;

	if (!err && ino)
		err = wait_target_check(targets, tid, fd, dev, ino);
	if (err)
		return err;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		add_pipe(targets, tid, fd, &link, out);
	else if (take_word(&text, "socket:[") && take_uint(&text, &number))
		add_socket(targets, tid, number, out);
	else if (take_word(&text, "anon_inode:"))
		add_anonymous(targets, tid, fd, text, out);
	else if (take_word(&text, "pidfd:["))
		/* Since 6.9, where a pidfd has an inode of its own. */
		add_anonymous(targets, tid, fd, (struct span){ pidfd, &pidfd[strlen(pidfd)] }, out);
	else
		buf_add(out, link.text, link.len);
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "/dev/pts/"))
		add_master(targets, tid, text, out);
	else if (*link.text == '/')
		wait_target_server(targets, tid, at, out);
	return 0;
}

int wait_target_path(struct wait_targets *targets, pid_t tid, uint32_t dev, const char *path,
		     struct buf *out)
{
	struct span mounts;
	int err = mount_tables_find(targets->mounts, tid, &mounts);
	size_t at = out->len;

	if (err)
		return err;
	if (!mount_path(mounts, dev, path, out))
		return -ENOENT;
	wait_target_server(targets, tid, at, out);
	return 0;
}

/* Appends the lock holder and the number of waiters. */
static void append_lock_holder(struct wait_targets *targets, pid_t owner, unsigned waiters,
			       struct buf *out)
{
	if (owner) {
		buf_puts(out, SITE_HELD_BY);
		append_pid_and_name(targets, owner, out);
	}
	if (waiters)
		buf_printf(out, " (%u wait)", waiters);
}

void wait_target_futex(struct wait_targets *targets, uint64_t address, pid_t owner,
		       unsigned waiters, struct buf *out)
{
	buf_printf(out, "futex 0x%llx", (unsigned long long)address);
	append_lock_holder(targets, owner, waiters, out);
}

/* The process of a thread; 0: unknown. */
static pid_t process_of_thread(struct wait_targets *targets, pid_t tid)
{
	char path[32], text[512];
	uint64_t tgid;
	int len;

	snprintf(path, sizeof(path), "%d/status", (int)tid);
	len = file_read(targets->proc->fd, path, text, sizeof(text));
	return len > 0 && find_field((struct span){ text, text + len }, "Tgid:", &tgid) &&
			       tgid <= INT_MAX
		       ? (pid_t)tgid
		       : 0;
}

/*
 * Finds the process with the descriptor that a lock belongs to; 0: not found, or the lock belongs
 * to a process.
 */
static pid_t find_descriptor(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort)
{
	struct fd_link link;
	struct buf name = { 0 };
	pid_t holder;

	if (sort == FILE_LOCK_POSIX || wait_target_link(targets, tid, fd, &link))
		return 0;
	buf_puts(&name, sort == FILE_LOCK_FLOCK ? FILE_OWNER_FLOCK : FILE_OWNER_OFD);
	buf_add(&name, link.text, link.len);
	holder = file_owners_find(targets->owners, tid, buf_cstr(&name), 0);
	buf_free(&name);
	return holder;
}

void wait_target_holder(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
			struct buf *out)
{
	struct file_lock_wait wait;
	char text[FDINFO_BYTES];
	uint64_t ino = 0;
	int len;

	if (sort == FILE_LOCK_NONE)
		return;
	len = wait_target_fdinfo(targets, tid, fd, text);
	if (len > 0 && !find_field((struct span){ text, text + len }, "ino:", &ino))
		ino = 0;
	wait = file_locks_find(targets->locks, process_of_thread(targets, tid), sort, ino);
	if (!wait.holder && wait.waiters)
		wait.holder = find_descriptor(targets, tid, fd, sort);
	append_lock_holder(targets, wait.holder, wait.waiters, out);
}

int wait_target_lock(struct wait_targets *targets, pid_t tid, int fd, enum file_lock sort,
		     struct buf *out)
{
	int err = wait_target_fd(targets, tid, fd, 0, 0, out);

	if (!err)
		wait_target_holder(targets, tid, fd, sort, out);
	return err;
}

void wait_target_vforked(struct wait_targets *targets, pid_t tid, struct buf *out)
{
	char path[64], text[4096];
	uint64_t pid = 0;
	struct span left;
	int len;

	snprintf(path, sizeof(path), "%d/task/%d/children", (int)tid, (int)tid);
	len = file_read(targets->proc->fd, path, text, sizeof(text));
	left = (struct span){ text, text + (len > 0 ? len : 0) };
	while (take_uint(&left, &pid) && left.at < left.end)
		left.at++;
	if (pid && pid <= INT_MAX)
		wait_target_child(targets, (pid_t)pid, out);
}

void wait_target_child(struct wait_targets *targets, pid_t pid, struct buf *out)
{
	if (pid > 0) {
		buf_puts(out, "child");
		append_pid_and_name(targets, pid, out);
	} else if (pid < -1) {
		buf_printf(out, "child of group %d", -(int)pid);
	} else {
		buf_puts(out, "any child");
	}
}

void wait_target_debugger(struct wait_targets *targets, pid_t tracer, struct buf *out)
{
	if (!tracer)
		return;
	buf_puts(out, "debugger");
	append_pid_and_name(targets, tracer, out);
}

int wait_target_waitid(struct wait_targets *targets, pid_t tid, uint64_t idtype, uint64_t id,
		       struct buf *out)
{
	/* The kernel uses the lower 32 bits of both. */
	int32_t type = (int32_t)idtype, value = (int32_t)id;

	switch (type) {
	case P_PID:
		wait_target_child(targets, value, out);
		return 0;
	case P_PGID:
		wait_target_child(targets, value > 1 ? -value : -1, out);
		return 0;
	case 3: /* P_PIDFD, which older headers lack */
		value = pidfd_process(targets, tid, value);
		if (!value)
			return -ENOENT;
		wait_target_child(targets, value, out);
		return 0;
	default:
		wait_target_child(targets, -1, out);
		return 0;
	}
}

pid_t wait_targets_take_other(struct wait_targets *targets)
{
	pid_t other = targets->other;

	targets->other = 0;
	return other;
}

uint64_t wait_targets_put_off(const struct wait_targets *targets)
{
	return file_owners_put_off(targets->owners);
}

void wait_targets_close(struct wait_targets *targets)
{
	if (!targets)
		return;
	file_close(targets->diag);
	sockets_close(targets->sockets);
	file_owners_close(targets->owners);
	file_locks_close(targets->locks);
	mount_tables_close(targets->mounts);
	free(targets);
}
