/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/syscall_hang.h"

#include <seccomp.h>

#include "base/util.h"
#include "kernel/futex_owner.h"
#include "kernel/syscalls.h"

/* Calls that wait for a descriptor: most of them want something done. */
enum fd_call { CALL_DOES, CALL_READS, CALL_IDLES };

/* Calls that wait for data that may never be sent. The first is for a call of its own. */
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
	/* Drivers have those in it that serve them. */
	{ SCMP_SYS(ioctl), CALL_READS },
	{ SCMP_SYS(accept), CALL_IDLES },
	{ SCMP_SYS(accept4), CALL_IDLES },
	{ SCMP_SYS(mq_timedreceive), CALL_IDLES },
};

/*
 * Whether such a call hangs on what a descriptor is: somebody writes what is read from a file
 * (which may be a server's) or a connection, and is awaited. What comes by a pipe, a terminal, a
 * device, datagrams, events and files of the kernel may as well never come.
 */
static const bool hangs_on[][WAIT_FDS] = {
	[CALL_DOES] = { [WAIT_FD_FILE] = true,
			[WAIT_FD_PIPE] = true,
			[WAIT_FD_STREAM] = true,
			[WAIT_FD_SOCKET] = true,
			[WAIT_FD_OTHER] = true },
	/* The reader of a pipe has nothing to do until the pipe is written to. */
	[CALL_READS] = { [WAIT_FD_FILE] = true, [WAIT_FD_STREAM] = true },
	[CALL_IDLES] = { false },
};

/* How the call waits for its descriptor. */
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
		       (by != CALL_READS || wait_target_about(targets, tid, fd) != ABOUT_REQUESTS);
	default:
		/* Nothing, any of several, a time, a child, a signal. */
		return false;
	}
}
