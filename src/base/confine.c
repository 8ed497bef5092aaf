/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

/* System calls of the library and libc that answering takes. A machine may lack some. */
static const int answering[] = {
	/* Connections and texts. */
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(close),
	SCMP_SYS(dup),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(eventfd2),
	SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64),
	SCMP_SYS(fstat),
	SCMP_SYS(fstat64),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),
	SCMP_SYS(_llseek),
	SCMP_SYS(lseek),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(ppoll_time64),
	SCMP_SYS(pread64),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(recv),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(send),
	SCMP_SYS(sendfile),
	SCMP_SYS(sendfile64),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(setsockopt),
	SCMP_SYS(shutdown),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	/* Memory, time, locks, signals, the end. */
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(futex),
	SCMP_SYS(futex_time64),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(madvise),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(nanosleep),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(time),
};

/* Memory may be had, but not such that it can be run: the third argument says how it is used. */
static const int mapping[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect) };

/* System calls that no program makes by accident. */
static const int hostile[] = {
	SCMP_SYS(bind),
	SCMP_SYS(bpf),
	SCMP_SYS(clone),
	SCMP_SYS(clone3),
	SCMP_SYS(connect),
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(init_module),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(mount),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(ptrace),
	SCMP_SYS(setns),
	SCMP_SYS(socket),
	SCMP_SYS(unshare),
	SCMP_SYS(vfork),
};

/* Adds calls to the filter, with one action for all. 0 or -errno. */
static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = seccomp_rule_add(filter, action, calls[i], 0);
	return err;
}

/* Makes the filter of confine_calls(). 0 or -errno. */
static int make_filter(scmp_filter_ctx filter)
{
	int err = add_calls(filter, SCMP_ACT_ALLOW, answering, ARRAY_SIZE(answering));

	if (!err)
		err = add_calls(filter, SCMP_ACT_KILL_PROCESS, hostile, ARRAY_SIZE(hostile));
	for (size_t i = 0; i < ARRAY_SIZE(mapping) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, mapping[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* A handler of a fault ends the process by the same signal. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	return err;
}

int confine_calls(void)
{
	/* Refused, not ended: what a later libc may try, such as to look at a file, it can do
	 * without. */
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? make_filter(filter) : -ENOMEM;

	/* Neither every kernel has filters, nor does every container permit them. */
	if (!err)
		(void)!seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return err;
}

#if __has_include(<linux/landlock.h>)

/* Rights to write, in the kernel's interface from its first version; truncating from the third. */
#define WRITES \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)
#define TRUNCATES (UINT64_C(1) << 14)

/* The version of the kernel's interface; 0: there is none, or it is switched off. */
static long landlock_version(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return version < 0 ? 0 : version;
}

/* Permits writing below an open folder. 0 or -errno. */
static int permit_below(int rules, int folder, uint64_t writes)
{
	const struct landlock_path_beneath_attr below = {
		.allowed_access =
			writes & (LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATES |
				  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG),
		.parent_fd = folder,
	};

	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) ? -errno
											    : 0;
}

int confine_writes(const char *folder)
{
	long version = landlock_version();
	const struct landlock_ruleset_attr what = {
		.handled_access_fs =
			WRITES | LANDLOCK_ACCESS_FS_EXECUTE | (version >= 3 ? TRUNCATES : 0),
	};
	int rules, fd, err;

	/* Neither every kernel has rules, nor does every container permit them. */
	rules = version ? (int)syscall(SYS_landlock_create_ruleset, &what, sizeof(what), 0) : -1;
	if (rules < 0)
		return 0;
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? -errno : permit_below(rules, fd, what.handled_access_fs);
	if (!err && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		(void)!syscall(SYS_landlock_restrict_self, rules, 0);
	if (fd >= 0)
		close(fd);
	close(rules);
	return err;
}

#else

int confine_writes(UNUSED const char *folder)
{
	return 0;
}

#endif
