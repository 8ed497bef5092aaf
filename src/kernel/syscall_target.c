/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/syscall_target.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "kernel/procwait.h"
#include "kernel/sockets.h"
#include "kernel/syscalls.h"
#include "kernel/wait_target.h"
#include "kernel/wait_target_parts.h"

/* Calls that wait for a descriptor: most of them need an action by someone else. */
enum fd_call { CALL_DOES, CALL_READS, CALL_IDLES };

/* Calls that wait for data that may never be sent. The first is used for its own call. */
static const struct {
	int number;
	enum fd_call call;
} fd_calls[] = {
	{ SCMP_SYS(read), CALL_READS },
	{ SCMP_SYS(readv), CALL_READS },
	{ SCMP_SYS(pread64), CALL_READS },
	{ SCMP_SYS(preadv), CALL_READS },
	{ SCMP_SYS(preadv2), CALL_READS },
	{ SCMP_SYS(recvfrom), CALL_READS },
	{ SCMP_SYS(recvmsg), CALL_READS },
	{ SCMP_SYS(recvmmsg), CALL_READS },
	{ SCMP_SYS(splice), CALL_READS },
	{ SCMP_SYS(tee), CALL_READS },
	/* Drivers that serve such calls have them. */
	{ SCMP_SYS(ioctl), CALL_READS },
	{ SCMP_SYS(accept), CALL_IDLES },
	{ SCMP_SYS(accept4), CALL_IDLES },
	{ SCMP_SYS(mq_timedreceive), CALL_IDLES },
};

/*
 * Whether the call counts as blocked for this type of file: regular files and connections have a
 * counterpart that owes an answer; others may idle for ever.
 */
static const bool hangs_on[][WAIT_FDS] = {
	[CALL_DOES] = { [WAIT_FD_FILE] = true,
			[WAIT_FD_PIPE] = true,
			[WAIT_FD_STREAM] = true,
			[WAIT_FD_SOCKET] = true,
			[WAIT_FD_OTHER] = true },
	/* The reader of a pipe is idle until the pipe is written to. */
	[CALL_READS] = { [WAIT_FD_FILE] = true, [WAIT_FD_STREAM] = true },
	[CALL_IDLES] = { false },
};

/* How a call waits for its descriptor. */
static enum fd_call fd_call_of(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(fd_calls); i++)
		if (fd_calls[i].number == number)
			return fd_calls[i].call;
	return CALL_DOES;
}

bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call)
{
	struct syscall_class class = syscall_classify(call->number);
	enum fd_call by;
	int fd;

	switch (class.target) {
	case SYSCALL_PATH:
	case SYSCALL_PATH_AT:
		return true;
	case SYSCALL_FUTEX:
		return futex_is_lock(call);
	case SYSCALL_FD:
	case SYSCALL_LOCK:
		by = fd_call_of(call->number);
		fd = (int)call->args[class.argument];
		if (class.state == STATE_POLL || by == CALL_IDLES)
			return false;
		/* A server that reads waits for requests, which may never come. */
		return hangs_on[by][wait_target_kind(targets, tid, fd)] &&
		       (by != CALL_READS ||
			wait_target_about(targets, tid, fd) != WAIT_FOR_REQUESTS);
	default:
		/* Nothing, any of several, a time, a child, a signal. */
		return false;
	}
}

/* Sets of descriptors for select() are read up to this size: FD_SETSIZE of the C library. */
#define SELECTED 1024

/* The kernel reads a set as words of that many bits. */
#define LONG_BITS (8 * sizeof(unsigned long))
#define SELECTED_WORDS (SELECTED / LONG_BITS)

/* The sets for reading, for writing, for exceptions. */
#define SELECT_SETS 3

/* A thread in a system call, and the sources of its target. */
struct caller {
	struct wait_targets *targets;
	struct proc *proc;
	pid_t tid;
	const struct procwait_syscall *call;
	struct buf *out;
};

/* Appends the directory that a path starts from: a descriptor's, or AT_FDCWD. */
static void add_directory(const struct caller *caller, int dirfd)
{
	char path[32];
	int len;

	if (dirfd != AT_FDCWD)
		snprintf(path, sizeof(path), "%d/fd/%d", (int)caller->tid, dirfd);
	else
		snprintf(path, sizeof(path), "%d/cwd", (int)caller->tid);
	len = proc_readlink(caller->proc, path, buf_reserve(caller->out, PATH_MAX), PATH_MAX);
	if (len > 0)
		caller->out->len += (size_t)len;
}

/*
 * Appends the path that an argument points to, and the directory it starts from. The path may
 * change, or become invalid, at any time.
 */
static void add_path(const struct caller *caller, unsigned argument, int dirfd)
{
	size_t at = caller->out->len, len;
	char path[PATH_MAX];
	int got;

	got = procwait_memory(caller->proc, caller->tid, caller->call->args[argument], path,
			      sizeof(path));
	if (got <= 0)
		return;
	len = strnlen(path, (size_t)got);
	if (len == (size_t)got)
		return;
	if (*path != '/') {
		add_directory(caller, dirfd);
		if (len && caller->out->len && caller->out->data[caller->out->len - 1] != '/')
			buf_putc(caller->out, '/');
	}
	buf_add(caller->out, path, len);
	wait_target_server(caller->targets, caller->tid, at, caller->out);
}

/* Appends the only descriptor, or the number of descriptors. */
static enum wait_purpose add_files(const struct caller *caller, const struct polled_set *set)
{
	if (set->n == 1)
		wait_target_fd(caller->targets, caller->tid, set->all[0].fd, 0, 0, caller->out);
	else if (set->n)
		buf_printf(caller->out, "%zu files", set->n);
	return wait_target_about_any(caller->targets, caller->tid, set);
}

/* Appends the files that poll() waits for, unless there are too many. */
static enum wait_purpose add_polled(const struct caller *caller)
{
	struct pollfd polled[WAIT_SET_MAX];
	uint64_t n = caller->call->args[1];
	struct polled_set set = { .n = 0 };
	int got;

	/* Without any it waits for a time. */
	if (!n)
		return WAIT_FOR_EVENTS;
	if (n > WAIT_SET_MAX)
		return WAIT_FOR_UNKNOWN;
	got = procwait_memory(caller->proc, caller->tid, caller->call->args[0], polled,
			      n * sizeof(*polled));
	if (got != (int)(n * sizeof(*polled)))
		return WAIT_FOR_UNKNOWN;
	for (unsigned i = 0; i < n; i++)
		if (polled[i].fd >= 0)
			polled_set_add(&set, polled[i].fd, 0);
	return add_files(caller, &set);
}

/* Reads the descriptors of all sets of select() as one set. False if they cannot be read. */
static bool read_selected(const struct caller *caller, unsigned long *selected, size_t words)
{
	const uint64_t *sets = &caller->call->args[1];
	unsigned long set[SELECTED_WORDS];
	size_t size = words * sizeof(*set);

	memset(selected, 0, size);
	for (unsigned i = 0; i < SELECT_SETS; i++) {
		if (!sets[i])
			continue;
		if (procwait_memory(caller->proc, caller->tid, sets[i], set, size) != (int)size)
			return false;
		for (size_t k = 0; k < words; k++)
			selected[k] |= set[k];
	}
	return true;
}

/* Appends the files that select() waits for: the sets do not change until it returns. */
static enum wait_purpose add_selected(const struct caller *caller)
{
	unsigned long selected[SELECTED_WORDS];
	/* The kernel uses the lower 32 bits. */
	int end = (int)caller->call->args[0];
	struct polled_set set = { .n = 0 };

	if (!end)
		return WAIT_FOR_EVENTS;
	if (end < 0 || end > SELECTED ||
	    !read_selected(caller, selected, ((size_t)end + LONG_BITS - 1) / LONG_BITS))
		return WAIT_FOR_UNKNOWN;
	for (int fd = 0; fd < end; fd++)
		if (selected[(size_t)fd / LONG_BITS] >> ((size_t)fd % LONG_BITS) & 1)
			polled_set_add(&set, fd, 0);
	return add_files(caller, &set);
}

/* Appends the child that wait4() or waitid() waits for. */
static void add_child(const struct caller *caller, unsigned argument)
{
	const uint64_t *args = caller->call->args;

	if (argument)
		wait_target_waitid(caller->targets, caller->tid, args[0], args[1], caller->out);
	else
		wait_target_child(caller->targets, (int32_t)args[0], caller->out);
}

/* True if a call that creates a task waits for it: vfork(), or with that flag. */
static bool is_vfork(const struct caller *caller)
{
	uint64_t flags = caller->call->args[0];

	if (caller->call->number == __NR_clone3 &&
	    procwait_memory(caller->proc, caller->tid, caller->call->args[0], &flags,
			    sizeof(flags)) != (int)sizeof(flags))
		return false;
	return (caller->call->number != __NR_clone && caller->call->number != __NR_clone3) ||
	       flags & CLONE_VFORK;
}

struct syscall_wait syscall_target(struct wait_targets *targets, struct proc *proc, pid_t tid,
				   const struct procwait_syscall *call, struct buf *out)
{
	const struct caller caller = { targets, proc, tid, call, out };
	struct syscall_class class = syscall_classify(call->number);
	struct syscall_wait wait = { .state = class.state };
	int fd;

	if (class.argument >= SYSCALL_ARGS)
		return wait;
	fd = (int)call->args[class.argument];
	switch (class.target) {
	case SYSCALL_FD:
		if (class.state == STATE_OTHER)
			wait.state = wait_target_state(targets, tid, fd);
		wait.about = wait_target_about(targets, tid, fd);
		wait_target_lock(targets, tid, fd, file_lock_of(call), out);
		break;
	case SYSCALL_LOCK:
		if (file_lock_of(call) == FILE_LOCK_NONE)
			wait.state = STATE_OTHER;
		wait_target_lock(targets, tid, fd, file_lock_of(call), out);
		break;
	case SYSCALL_PATH:
		wait.about = WAIT_FOR_FILE;
		add_path(&caller, class.argument, AT_FDCWD);
		break;
	case SYSCALL_PATH_AT:
		wait.about = WAIT_FOR_FILE;
		add_path(&caller, class.argument, (int)call->args[class.argument - 1]);
		break;
	case SYSCALL_FUTEX:
		wait.futex = call->args[class.argument];
		if (wait.state == STATE_LOCK && !futex_is_lock(call))
			wait.state = STATE_PARK;
		break;
	case SYSCALL_CHILD:
		add_child(&caller, class.argument);
		break;
	case SYSCALL_VFORK:
		if (is_vfork(&caller))
			wait_target_vforked(targets, tid, out);
		break;
	case SYSCALL_POLL:
		wait.about = add_polled(&caller);
		break;
	case SYSCALL_SELECT:
		wait.about = add_selected(&caller);
		break;
	case SYSCALL_SIGNAL:
		wait.about = WAIT_FOR_EVENTS;
		break;
	case SYSCALL_NOTHING:
		break;
	}
	return wait;
}

/* The kind of file that is waited for, and the subject of the wait. */

/* True if a socket is a connection whose other end sends a stream. */
static bool is_stream(struct wait_targets *targets, pid_t tid, uint64_t ino)
{
	const struct socket_entry *entry;
	struct unix_socket own;

	if (!sockets_enter(targets->sockets, tid))
		return false;
	if (sockets_ours(targets->sockets) && targets->diag >= 0) {
		if (!unix_diag_ask(targets->diag, ino, &own))
			return own.connected && own.stream;
	}
	entry = sockets_find(targets->sockets, ino);
	return entry && (entry->list == SOCKETS_TCP || entry->list == SOCKETS_TCP6) &&
	       entry->peer.port;
}

enum wait_fd wait_target_kind(struct wait_targets *targets, pid_t tid, int fd)
{
	static const char *const others[] = { "/dev/", "/proc/", "/sys/" };
	struct fd_link link;
	struct span text;
	uint64_t number;

	if (wait_target_link(targets, tid, fd, &link))
		return WAIT_FD_OTHER;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		return WAIT_FD_PIPE;
	if (take_word(&text, "socket:[") && take_uint(&text, &number))
		return is_stream(targets, tid, number) ? WAIT_FD_STREAM : WAIT_FD_SOCKET;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (take_word(&text, others[i]))
			return WAIT_FD_OTHER;
	return *link.text == '/' ? WAIT_FD_FILE : WAIT_FD_OTHER;
}

enum wait_state wait_target_state(struct wait_targets *targets, pid_t tid, int fd)
{
	struct fd_link link;
	struct span text;

	if (wait_target_link(targets, tid, fd, &link))
		return STATE_OTHER;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		return STATE_PIPE;
	return take_word(&text, "socket:[") ? STATE_NET : STATE_OTHER;
}

/* The first port that the kernel chooses by default (net.ipv4.ip_local_port_range). */
#define CHOSEN_PORTS 32768

/* The subject of waits for a connection found in the lists. */
static enum wait_purpose about_listed(struct wait_targets *targets,
				      const struct socket_entry *entry)
{
	switch (entry->list) {
	case SOCKETS_TCP:
	case SOCKETS_TCP6:
		if (entry->listening)
			return WAIT_FOR_REQUESTS;
		if (!entry->peer.port)
			return WAIT_FOR_UNKNOWN;
		return sockets_serves(targets->sockets, entry) ? WAIT_FOR_REQUESTS
							       : WAIT_FOR_ANSWER;
	case SOCKETS_UDP:
	case SOCKETS_UDP6:
		if (entry->peer.port)
			return WAIT_FOR_ANSWER;
		/*
		 * A port chosen by the kernel is mostly a client's: it may have asked for
		 * something.
		 */
		return entry->local.port < CHOSEN_PORTS ? WAIT_FOR_REQUESTS : WAIT_FOR_UNKNOWN;
	case SOCKETS_NETLINK:
	case SOCKETS_PACKET:
	case SOCKETS_RAW:
	case SOCKETS_RAW6:
		return WAIT_FOR_EVENTS;
	default:
		return WAIT_FOR_UNKNOWN;
	}
}

/* The subject of waits for a Unix socket of our own namespace. */
static enum wait_purpose about_unix(struct wait_targets *targets, const struct unix_socket *own)
{
	struct unix_socket peer;

	if (!own->connected)
		return WAIT_FOR_REQUESTS;
	/* The server's end has the name that it listened on. */
	if (own->len)
		return WAIT_FOR_REQUESTS;
	if (own->peer && unix_diag_ask(targets->diag, own->peer, &peer))
		return WAIT_FOR_UNKNOWN;
	return !own->peer || peer.len ? WAIT_FOR_ANSWER : WAIT_FOR_UNKNOWN;
}

/* The subject of waits for a socket by inode. */
static enum wait_purpose about_socket(struct wait_targets *targets, pid_t tid, uint64_t ino)
{
	const struct socket_entry *entry;
	struct unix_socket own;

	if (!sockets_enter(targets->sockets, tid))
		return WAIT_FOR_UNKNOWN;
	if (sockets_ours(targets->sockets) && targets->diag >= 0) {
		if (!unix_diag_ask(targets->diag, ino, &own))
			return about_unix(targets, &own);
	}
	entry = sockets_find(targets->sockets, ino);
	return entry ? about_listed(targets, entry) : WAIT_FOR_UNKNOWN;
}

/*
 * The subject of waits for completions of a ring, by io_uring/fdinfo.c: requests in progress are
 * those taken minus the completions (requests with several completions make it less), and requests
 * that wait until something can be read or written are listed.
 */
static enum wait_purpose ring_purpose(struct wait_targets *targets, pid_t tid, int fd)
{
	char text[FDINFO_BYTES];
	int len = wait_target_fdinfo(targets, tid, fd, text);
	struct span all = { text, text + (len > 0 ? len : 0) }, line;
	uint64_t taken, completed, polls = 0;
	bool listed = false;

	/* Fields of Linux 5.17 and later. */
	if (!find_line(all, "SqHead:", &line) || !take_uint(&line, &taken) ||
	    !find_line(all, "CqTail:", &line) || !take_uint(&line, &completed))
		return WAIT_FOR_UNKNOWN;
	while (take_line(&all, &line)) {
		if (take_word(&line, "PollList:"))
			listed = true;
		else if (take_word(&line, "  op="))
			polls++;
		else if (listed)
			break;
	}
	/* The list may continue beyond the part read. */
	if (!listed || len >= FDINFO_BYTES - 1)
		return WAIT_FOR_UNKNOWN;
	return (uint32_t)(taken - completed) <= polls ? WAIT_FOR_IDLE_RING : WAIT_FOR_DISK_RING;
}

/* The subject of waits for any of the files of an epoll descriptor. */
static enum wait_purpose about_epolled(struct wait_targets *targets, pid_t tid, int fd)
{
	struct polled_set set;
	enum wait_purpose about;

	/* A nested epoll descriptor is not followed further. */
	if (targets->within_polled)
		return WAIT_FOR_UNKNOWN;
	wait_target_epolled(targets, tid, fd, &set);
	targets->within_polled = true;
	about = wait_target_about_any(targets, tid, &set);
	targets->within_polled = false;
	return about;
}

enum wait_purpose wait_target_about(struct wait_targets *targets, pid_t tid, int fd)
{
	static const char *const events[] = { "/dev/", "/proc/", "/sys/" };
	struct fd_link link;
	struct span text;
	uint64_t number;

	if (wait_target_link(targets, tid, fd, &link))
		return WAIT_FOR_UNKNOWN;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "socket:[") && take_uint(&text, &number))
		return about_socket(targets, tid, number);
	if (take_word(&text, "anon_inode:[eventpoll]"))
		return about_epolled(targets, tid, fd);
	if (take_word(&text, "anon_inode:"))
		return take_word(&text, "[io_uring]") ? ring_purpose(targets, tid, fd)
		       : take_word(&text, "[pidfd]")  ? WAIT_FOR_UNKNOWN
						      : WAIT_FOR_EVENTS;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (take_word(&text, events[i]))
			return WAIT_FOR_EVENTS;
	return *link.text == '/' ? WAIT_FOR_FILE : WAIT_FOR_UNKNOWN;
}

enum wait_purpose wait_target_about_any(struct wait_targets *targets, pid_t tid,
					const struct polled_set *set)
{
	size_t looks = set->n < WAIT_SET_MAX ? set->n : WAIT_SET_MAX;
	bool events = set->n <= WAIT_SET_MAX;

	for (size_t i = 0; i < looks; i++) {
		enum wait_purpose about = wait_target_about(targets, tid, set->all[i].fd);

		/* The number may be another file's by now. */
		if (about != WAIT_FOR_UNKNOWN && set->all[i].ino &&
		    wait_target_check(targets, tid, set->all[i].fd, 0, set->all[i].ino))
			about = WAIT_FOR_UNKNOWN;
		if (set->n == 1 || about == WAIT_FOR_REQUESTS)
			return about;
		events &= about == WAIT_FOR_EVENTS;
	}
	return events ? WAIT_FOR_EVENTS : WAIT_FOR_UNKNOWN;
}
