/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

/* The handler's own stack, as the normal one may be used up; saved vector registers must fit. */
#define STACK_BYTES (64 * 1024)

/* Signals that do not end a program. All others do if unhandled, including unnamed ones. */
static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU };

/* Process-wide on purpose: signal handlers get no argument. */
static struct {
	pid_t pid; /* the process that runs the hooks; a forked child before exec does not */
	struct {
		/* volatile: written in the order that crash_set_hook() needs */
		void (*volatile run)(void *arg);
		void *volatile arg;
	} hooks[CRASH_HOOKS];
	struct sigaction before[_NSIG]; /* by signal number */
	char stack[STACK_BYTES];
} crash;

/* True if the signal does not end the program. */
static bool is_harmless(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (harmless[i] == number)
			return true;
	return false;
}

/* True for faults, which recur at the same instruction, so that the core dump shows it. */
static bool comes_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

/* Calls each hook once, then restores the signal's previous action. */
static void handle(int number, siginfo_t *info, UNUSED void *context)
{
	sigaction(number, &crash.before[number], NULL);
	for (size_t i = 0; i < CRASH_HOOKS && getpid() == crash.pid; i++) {
		void (*run)(void *arg) = crash.hooks[i].run;

		crash.hooks[i].run = NULL;
		if (run)
			run(crash.hooks[i].arg);
	}
	if (!comes_again(number, info))
		raise(number);
}

void crash_catch(void)
{
	const stack_t stack = { .ss_sp = crash.stack, .ss_size = sizeof(crash.stack) };
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	crash.pid = getpid();
	sigaltstack(&stack, NULL);
	/* A second signal waits until the hooks of the first have run. */
	sigfillset(&action.sa_mask);
	for (int number = 1; number < _NSIG; number++) {
		struct sigaction *before = &crash.before[number];

		/* Some signals cannot be handled, and some are reserved by libc. */
		if (!is_harmless(number) && !sigaction(number, NULL, before) &&
		    before->sa_handler != SIG_IGN)
			sigaction(number, &action, NULL);
	}
}

void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg)
{
	/* This order prevents that a signal calls a hook with another hook's argument. */
	crash.hooks[which].run = NULL;
	crash.hooks[which].arg = arg;
	crash.hooks[which].run = hook;
}

/* Upper limit of descriptors to close one by one. */
#define DESCRIPTORS_MAX 65536

/* True if the variable is to be removed. */
static bool is_unsafe(const char *variable)
{
	static const char *const names[] = {
		"TERMINFO=",
		"TERMINFO_DIRS=",
		"TERMCAP=",
		"TERMPATH=", /* ncurses */
		"NLCB=",
		"NLDBG=",
		"NLSYSCONFDIR=", /* libnl */
		"LIBBPF_LOG_LEVEL=", /* libbpf */
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

void start_drop_environment(char **environment)
{
	char **to = environment;

	for (char **from = environment; *from; from++)
		if (!is_unsafe(*from))
			*to++ = *from;
	*to = NULL;
}

void start_take_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Closes descriptors from `first` on, before `end`. */
static void close_range_of(int first, int end)
{
#ifdef SYS_close_range
	if (first >= end || !syscall(SYS_close_range, first, end - 1, 0))
		return;
#endif
	/* Before Linux 5.9. */
	for (int fd = first; fd < end && fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

/* The first descriptor to keep at or after `first`; INT_MAX: there is none. */
static int next_kept(int first, const int *keep, size_t n)
{
	int next = INT_MAX;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && keep[i] < next)
			next = keep[i];
	return next;
}

/* Closes all descriptors but the standard ones and those listed. */
static void close_others(const int *keep, size_t n)
{
	int first = STDERR_FILENO + 1, kept;

	do {
		kept = next_kept(first, keep, n);
		close_range_of(first, kept);
		first = kept < INT_MAX ? kept + 1 : kept;
	} while (kept < INT_MAX);
}

/* Redirects the standard descriptors to /dev/null. */
static void leave_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

void start_take_signals(void)
{
	static const int stay[] = { SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction was;
	sigset_t none;

	for (int number = 1; number < _NSIG; number++) {
		bool stays = false;

		for (size_t i = 0; i < ARRAY_SIZE(stay); i++)
			stays |= stay[i] == number;
		if (!stays && !sigaction(number, NULL, &was) && was.sa_handler == SIG_IGN)
			signal(number, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void process_become_helper(const char *name, const int *keep, size_t n)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,
				       SIGTSTP, SIGPIPE, SIGXFSZ, SIGUSR1 };

	prctl(PR_SET_NAME, name);
	/* The parent runs the crash hooks. */
	crash_set_hook(CRASH_SYSCTL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	close_others(keep, n);
	leave_output();
}

/* True if the kernel permits this process to lock any amount of memory. */
static bool is_unlimited(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct rlimit limit;

	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return true;
	return !syscall(SYS_capget, &head, caps) &&
	       caps[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

pid_t process_start(char *const *arguments, char *const *environment, int *output)
{
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	if (!posix_spawn_file_actions_init(&actions)) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (posix_spawnp(&pid, *arguments, &actions, NULL, arguments, environment))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*output = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

int start_lock_memory(void)
{
	if (!is_unlimited())
		return -EPERM;
	/* On fault: reserved but unused memory is not populated. */
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? -errno : 0;
}

/* Capabilities that older headers do not have. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

/* The first members of a row. */
#define CAPABILITY(name) CAP_##name, "CAP_" #name

const struct privilege_row privilege_table[] = {
	{ CAPABILITY(NET_ADMIN), PRIVILEGE_COUNTERS, PRIVILEGE_COUNTERS },
	{ CAPABILITY(BPF), PRIVILEGE_PROGRAMS, PRIVILEGE_PROGRAMS },
	{ CAPABILITY(PERFMON), PRIVILEGE_PROGRAMS, PRIVILEGE_PROGRAMS },
	/* /proc mounted with hidepid shows others' tasks only with it. */
	{ CAPABILITY(SYS_PTRACE), PRIVILEGE_COUNTERS | PRIVILEGE_LOOK,
	  PRIVILEGE_COUNTERS | PRIVILEGE_LOOK },
	/* Stacks; programs before 5.8, which had no capability of their own; the switch. */
	{ CAPABILITY(SYS_ADMIN), PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS | PRIVILEGE_SWITCH,
	  PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS },
	{ CAPABILITY(SYSLOG), PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS,
	  PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS },
	/* Memory for programs before 5.11; windows. */
	{ CAPABILITY(SYS_RESOURCE), PRIVILEGE_PROGRAMS | PRIVILEGE_PRESSURE, PRIVILEGE_PROGRAMS },
	/* I/O, system call and descriptors of a task are readable by its user only. */
	{ CAPABILITY(DAC_READ_SEARCH), PRIVILEGE_COUNTERS | PRIVILEGE_LOOK | PRIVILEGE_FILES, 0 },
	{ CAPABILITY(DAC_OVERRIDE), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(CHOWN), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(FOWNER), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(IPC_LOCK), PRIVILEGE_MEMORY, 0 },
	{ CAPABILITY(KILL), PRIVILEGE_ACT, 0 },
	{ CAPABILITY(SYS_NICE), PRIVILEGE_ACT, 0 },
};

const size_t privilege_table_n = ARRAY_SIZE(privilege_table);

bool privileges_foreign(void)
{
	return getauxval(AT_SECURE);
}

/* True if the program has the capability in its permitted set. */
static bool is_permitted(int capability)
{
	return capng_have_capability(CAPNG_PERMITTED, (unsigned)capability);
}

/* Applies the chosen sets. Returns 0 or -errno. */
static int apply_choice(void)
{
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

/* Keeps the permitted capabilities that serve the uses, and no others. Returns 0 or -errno. */
static int keep_capabilities(unsigned uses, bool effective)
{
	const capng_type_t types = effective ? CAPNG_EFFECTIVE | CAPNG_PERMITTED : CAPNG_PERMITTED;
	bool foreign = privileges_foreign(), kept[ARRAY_SIZE(privilege_table)];

	if (capng_get_caps_process())
		return -EPERM;
	for (size_t i = 0; i < ARRAY_SIZE(privilege_table); i++) {
		const struct privilege_row *row = &privilege_table[i];

		kept[i] = (foreign ? row->foreign : row->uses) & uses &&
			  is_permitted(row->capability);
	}
	/* The caller's inheritable capabilities are left as they are. */
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, (unsigned)capability);
	for (size_t i = 0; i < ARRAY_SIZE(privilege_table); i++)
		if (kept[i])
			capng_update(CAPNG_ADD, types, (unsigned)privilege_table[i].capability);
	return apply_choice();
}

int privileges_begin(void)
{
	if (getuid() != geteuid() || getgid() != getegid())
		return -EPERM;
	return privileges_foreign() ? keep_capabilities(PRIVILEGE_ALL, false) : 0;
}

int privileges_keep(unsigned uses)
{
	int err = keep_capabilities(uses, true);

	/* Programs started from here on get none by their files. */
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

/* Makes foreign privileges effective, or ineffective. */
static void put_in_effect(bool effective)
{
	if (!privileges_foreign() || capng_get_caps_process())
		return;
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		if (is_permitted(capability))
			capng_update(effective ? CAPNG_ADD : CAPNG_DROP, CAPNG_EFFECTIVE,
				     (unsigned)capability);
	if (apply_choice())
		debug_log("capabilities could not be %s", effective ? "raised" : "lowered");
}

void privileges_suspend(void)
{
	put_in_effect(false);
}

void privileges_resume(void)
{
	put_in_effect(true);
}

int privileges_leave(void)
{
	return privileges_foreign() ? keep_capabilities(0, false) : 0;
}

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

/* System calls that the library and libc need to answer. Some machines lack some. */
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

/* Calls to find, open and read files. */
static const int finding[] = {
	SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fstatat64),
	SCMP_SYS(lstat),      SCMP_SYS(lstat64),   SCMP_SYS(newfstatat), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(stat),	   SCMP_SYS(stat64),	 SCMP_SYS(statx),
};

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

/* Adds calls to the filter, all with one action. 0 or -errno. */
static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = seccomp_rule_add(filter, action, calls[i], 0);
	return err;
}

/* Permits opening files to read them. 0 or -errno. */
static int permit_reading(scmp_filter_ctx filter)
{
	const scmp_datum_t writes = O_ACCMODE | O_CREAT | O_TRUNC;
	int err = add_calls(filter, SCMP_ACT_ALLOW, finding, ARRAY_SIZE(finding));

	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, writes, O_RDONLY));
	return err ? err
		   : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, writes, O_RDONLY));
}

/* Builds the filter of confine_calls(), or with files that of confine_reading(). 0 or -errno. */
static int make_filter(scmp_filter_ctx filter, bool files)
{
	int err = add_calls(filter, SCMP_ACT_ALLOW, answering, ARRAY_SIZE(answering));

	if (!err && files)
		err = permit_reading(filter);

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

/* Restricts the process to the calls for answering, and for reading files. 0 or -errno. */
static int confine_to(bool files)
{
	/* Refused with an error, not fatal: calls that a later libc may try and can do without. */
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? make_filter(filter, files) : -ENOMEM;

	/* Some kernels lack filters, and some containers forbid them. */
	if (!err)
		(void)!seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return err;
}

int confine_calls(void)
{
	return confine_to(false);
}

int confine_reading(void)
{
	return confine_to(true);
}

#if __has_include(<linux/landlock.h>)

/* Rights to write, from the first version of the kernel interface; truncating from the third. */
#define WRITES \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)
#define TRUNCATES (UINT64_C(1) << 14)

/* Version of the kernel interface; 0: none, or disabled. */
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

	/* Some kernels lack rules, and some containers forbid them. */
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
