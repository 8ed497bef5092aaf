/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/syscalls.h"

#include <linux/net.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The same on all machines: headers older than the calls (5.11, 5.16, 6.7) lack them. */
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif
#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455
#endif
/* libseccomp also lacks calls: 2.5.1 those of 2020 and later. */
#ifndef __SNR_futex_waitv
#define __SNR_futex_waitv __NR_futex_waitv
#endif
#ifndef __SNR_futex_wait
#define __SNR_futex_wait __NR_futex_wait
#endif

/* Room for names: the numbers in use end below 500. */
#define NAMES 1024

struct syscall_names {
	char *texts[NAMES]; /* allocated by libseccomp */
	bool asked[NAMES];
};

/*
 * The calls in which a thread may sleep for long. A call that this machine lacks has a negative
 * number here (SCMP_SYS), which no thread has.
 */
static const struct {
	int number;
	struct syscall_class class;
} classes[] = {
#define ROW(name, state, target, argument) \
	{ \
		SCMP_SYS(name), \
		{ \
			STATE_##state, SYSCALL_##target, argument \
		} \
	}
	/* The descriptor decides. */
	ROW(read, OTHER, FD, 0),
	ROW(write, OTHER, FD, 0),
	ROW(readv, OTHER, FD, 0),
	ROW(writev, OTHER, FD, 0),
	ROW(pread64, OTHER, FD, 0),
	ROW(pwrite64, OTHER, FD, 0),
	ROW(preadv, OTHER, FD, 0),
	ROW(pwritev, OTHER, FD, 0),
	ROW(preadv2, OTHER, FD, 0),
	ROW(pwritev2, OTHER, FD, 0),
	ROW(sendfile, OTHER, FD, 0),
	ROW(splice, OTHER, FD, 0),
	ROW(tee, OTHER, FD, 0),
	ROW(vmsplice, OTHER, FD, 0),
	ROW(copy_file_range, OTHER, FD, 0),
	ROW(ioctl, OTHER, FD, 0),
	ROW(fcntl, LOCK, LOCK, 0),
	ROW(flock, LOCK, FD, 0),
	ROW(close, OTHER, FD, 0),
	ROW(fsync, OTHER, FD, 0),
	ROW(fdatasync, OTHER, FD, 0),
	ROW(syncfs, OTHER, FD, 0),
	ROW(sync_file_range, OTHER, FD, 0),
	ROW(fallocate, OTHER, FD, 0),
	ROW(ftruncate, OTHER, FD, 0),
	ROW(fadvise64, OTHER, FD, 0),
	ROW(readahead, OTHER, FD, 0),
	ROW(lseek, OTHER, FD, 0),
	ROW(fstat, OTHER, FD, 0),
	ROW(fstatfs, OTHER, FD, 0),
	ROW(fchmod, OTHER, FD, 0),
	ROW(fchown, OTHER, FD, 0),
	ROW(fchdir, OTHER, FD, 0),
	ROW(getdents, OTHER, FD, 0),
	ROW(getdents64, OTHER, FD, 0),
	ROW(fgetxattr, OTHER, FD, 0),
	ROW(fsetxattr, OTHER, FD, 0),
#ifndef __s390x__ /* there its one argument is the address of all of them */
	ROW(mmap, OTHER, FD, 4),
#endif
	ROW(mq_timedreceive, OTHER, FD, 0),
	ROW(mq_timedsend, OTHER, FD, 0),
	/* Sockets. */
	ROW(accept, NET, FD, 0),
	ROW(accept4, NET, FD, 0),
	ROW(connect, NET, FD, 0),
	ROW(sendto, NET, FD, 0),
	ROW(sendmsg, NET, FD, 0),
	ROW(sendmmsg, NET, FD, 0),
	ROW(recvfrom, NET, FD, 0),
	ROW(recvmsg, NET, FD, 0),
	ROW(recvmmsg, NET, FD, 0),
	ROW(shutdown, NET, FD, 0),
	/* Any of several. */
	ROW(poll, POLL, POLL, 0),
	ROW(ppoll, POLL, POLL, 0),
	ROW(select, POLL, SELECT, 0),
	ROW(pselect6, POLL, SELECT, 0),
	ROW(epoll_wait, POLL, FD, 0),
	ROW(epoll_pwait, POLL, FD, 0),
	ROW(epoll_pwait2, POLL, FD, 0),
	ROW(io_uring_enter, POLL, FD, 0),
	ROW(io_getevents, POLL, NOTHING, 0),
	ROW(io_pgetevents, POLL, NOTHING, 0),
	/* Locks of the program. */
	ROW(futex, LOCK, FUTEX, 0),
	ROW(futex_wait, PARK, FUTEX, 0),
	ROW(futex_waitv, PARK, NOTHING, 0),
	ROW(semop, LOCK, NOTHING, 0),
	ROW(semtimedop, LOCK, NOTHING, 0),
	ROW(pause, POLL, SIGNAL, 0),
	ROW(rt_sigsuspend, POLL, SIGNAL, 0),
	ROW(rt_sigtimedwait, POLL, SIGNAL, 0),
	ROW(nanosleep, TIMER, NOTHING, 0),
	ROW(clock_nanosleep, TIMER, NOTHING, 0),
	ROW(wait4, CHILD, CHILD, 0),
	ROW(waitid, CHILD, CHILD, 1),
#ifdef __NR_vfork
	ROW(vfork, OTHER, VFORK, 0),
#endif
	ROW(clone, OTHER, VFORK, 0),
	ROW(clone3, OTHER, VFORK, 0),
	/* Paths. */
	ROW(open, OTHER, PATH, 0),
	ROW(openat, OTHER, PATH_AT, 1),
	ROW(openat2, OTHER, PATH_AT, 1),
	ROW(creat, OTHER, PATH, 0),
	ROW(stat, OTHER, PATH, 0),
	ROW(lstat, OTHER, PATH, 0),
	ROW(newfstatat, OTHER, PATH_AT, 1),
	ROW(statx, OTHER, PATH_AT, 1),
	ROW(statfs, OTHER, PATH, 0),
	ROW(access, OTHER, PATH, 0),
	ROW(faccessat, OTHER, PATH_AT, 1),
	ROW(faccessat2, OTHER, PATH_AT, 1),
	ROW(readlink, OTHER, PATH, 0),
	ROW(readlinkat, OTHER, PATH_AT, 1),
	ROW(getxattr, OTHER, PATH, 0),
	ROW(lgetxattr, OTHER, PATH, 0),
	ROW(setxattr, OTHER, PATH, 0),
	ROW(lsetxattr, OTHER, PATH, 0),
	ROW(execve, OTHER, PATH, 0),
	ROW(execveat, OTHER, PATH_AT, 1),
	ROW(chdir, OTHER, PATH, 0),
	ROW(mkdir, OTHER, PATH, 0),
	ROW(mkdirat, OTHER, PATH_AT, 1),
	ROW(mknod, OTHER, PATH, 0),
	ROW(mknodat, OTHER, PATH_AT, 1),
	ROW(rmdir, OTHER, PATH, 0),
	ROW(unlink, OTHER, PATH, 0),
	ROW(unlinkat, OTHER, PATH_AT, 1),
	ROW(rename, OTHER, PATH, 0),
	ROW(renameat, OTHER, PATH_AT, 1),
	ROW(renameat2, OTHER, PATH_AT, 1),
	ROW(link, OTHER, PATH, 0),
	ROW(linkat, OTHER, PATH_AT, 1),
	ROW(symlink, OTHER, PATH, 1),
	ROW(symlinkat, OTHER, PATH_AT, 2),
	ROW(truncate, OTHER, PATH, 0),
	ROW(chmod, OTHER, PATH, 0),
	ROW(fchmodat, OTHER, PATH_AT, 1),
	ROW(chown, OTHER, PATH, 0),
	ROW(lchown, OTHER, PATH, 0),
	ROW(fchownat, OTHER, PATH_AT, 1),
	ROW(utimensat, OTHER, PATH_AT, 1),
	ROW(mount, OTHER, PATH, 1),
	ROW(umount2, OTHER, PATH, 0),
	ROW(swapon, OTHER, PATH, 0),
	ROW(swapoff, OTHER, PATH, 0),
#undef ROW
};

struct syscall_names *syscall_names_open(void)
{
	return xcalloc(1, sizeof(struct syscall_names));
}

const char *syscall_name(struct syscall_names *names, int number)
{
	if (number < 0 || number >= NAMES)
		return NULL;
	if (!names->asked[number]) {
		names->asked[number] = true;
		names->texts[number] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
	}
	return names->texts[number];
}

void syscall_names_close(struct syscall_names *names)
{
	for (size_t i = 0; i < NAMES; i++)
		free(names->texts[i]);
	free(names);
}

struct syscall_class syscall_classify(int number)
{
	if (number >= 0)
		for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
			if (classes[i].number == number)
				return classes[i].class;
	return (struct syscall_class){ STATE_OTHER, SYSCALL_NOTHING, 0 };
}

#if defined(__x86_64__)
#define ARCH_32 SCMP_ARCH_X86
#elif defined(__aarch64__)
#define ARCH_32 SCMP_ARCH_ARM
#endif

#ifdef ARCH_32
/*
 * Calls of 32-bit programs by names of their own, and the equivalent for 64-bit programs. NULL:
 * equal name, but other arguments.
 */
static const char *const renamed[][2] = {
	{ "_llseek", "lseek" },
	{ "_newselect", "select" },
	{ "arm_fadvise64_64", NULL },
	{ "arm_sync_file_range", NULL },
	{ "fadvise64_64", "fadvise64" },
	{ "fcntl64", "fcntl" },
	{ "fstat64", "fstat" },
	{ "fstatat64", "newfstatat" },
	{ "fstatfs64", "fstatfs" },
	{ "ftruncate64", "ftruncate" },
	{ "lstat64", "lstat" },
	{ "mmap", NULL },
	{ "mmap2", "mmap" },
	{ "select", NULL },
	{ "sendfile64", "sendfile" },
	{ "stat64", "stat" },
	{ "statfs64", "statfs" },
	{ "truncate64", "truncate" },
	{ "umount", "umount2" },
	{ "waitpid", "wait4" },
	{ "recv", "recvfrom" },
	{ "send", "sendto" },
};

/* The name of the 64-bit equivalent of a call, in place; false: there is none. */
static bool translate_name(char *name, size_t size)
{
	char *suffix = strstr(name, "_time64");

	if (suffix)
		*suffix = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++) {
		if (strcmp(name, renamed[i][0]) != 0)
			continue;
		if (renamed[i][1])
			snprintf(name, size, "%s", renamed[i][1]);
		return renamed[i][1];
	}
	return true;
}

int syscall_native(int number)
{
	char *text = number >= 0 ? seccomp_syscall_resolve_num_arch(ARCH_32, number) : NULL;
	char name[64];
	int native = -1;

	if (!text)
		return -1;
	snprintf(name, sizeof(name), "%s", text);
	free(text);
	if (!strcmp(name, "socketcall"))
		return SYSCALL_SOCKETCALL;
	if (translate_name(name, sizeof(name)))
		native = seccomp_syscall_resolve_name_arch(SCMP_ARCH_NATIVE, name);
	return native < 0 ? -1 : native;
}
#else
int syscall_native(UNUSED int number)
{
	return -1;
}
#endif

int syscall_of_socketcall(unsigned which)
{
	static const int numbers[] = {
		[SYS_CONNECT] = SCMP_SYS(connect),   [SYS_ACCEPT] = SCMP_SYS(accept),
		[SYS_SEND] = SCMP_SYS(sendto),	     [SYS_RECV] = SCMP_SYS(recvfrom),
		[SYS_SENDTO] = SCMP_SYS(sendto),     [SYS_RECVFROM] = SCMP_SYS(recvfrom),
		[SYS_SHUTDOWN] = SCMP_SYS(shutdown), [SYS_SENDMSG] = SCMP_SYS(sendmsg),
		[SYS_RECVMSG] = SCMP_SYS(recvmsg),   [SYS_ACCEPT4] = SCMP_SYS(accept4),
		[SYS_RECVMMSG] = SCMP_SYS(recvmmsg), [SYS_SENDMMSG] = SCMP_SYS(sendmmsg),
	};

	/* The others do not sleep; no machine that has this call has one of these as its first. */
	return which < ARRAY_SIZE(numbers) && numbers[which] > 0 ? numbers[which] : -1;
}

bool syscall_completes(int number)
{
	return number == SCMP_SYS(io_uring_enter) || number == SCMP_SYS(io_getevents) ||
	       number == SCMP_SYS(io_pgetevents);
}

int syscall_limit(void)
{
	int limit = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].number >= limit)
			limit = classes[i].number + 1;
	return limit;
}
