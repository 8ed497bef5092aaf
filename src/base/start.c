/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

/* The handler's own stack, as the normal one may be used up; saved vector registers must fit. */
#define STACK_BYTES (64 * 1024)

/* Signals that end no program. All others do if not handled, also those without a name. */
static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU };

/* Process-wide on purpose: a handler is given nothing else. */
static struct {
	pid_t pid; /* runs the hooks; a forked child that has not called exec yet does not */
	struct {
		/* volatile: written in the order that crash_set_hook() says */
		void (*volatile run)(void *arg);
		void *volatile arg;
	} hooks[CRASH_HOOKS];
	struct sigaction before[_NSIG]; /* by signal number */
	char stack[STACK_BYTES];
} crash;

/* Whether the signal leaves a program running. */
static bool is_harmless(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (harmless[i] == number)
			return true;
	return false;
}

/* Whether the signal is a fault, which comes again at the same place, for the core dump to show. */
static bool comes_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

/* Calls the hooks, each once, and then has the signal do what it did before. */
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

		/* Some signals cannot be handled, and some are libc's own. */
		if (!is_harmless(number) && !sigaction(number, NULL, before) &&
		    before->sa_handler != SIG_IGN)
			sigaction(number, &action, NULL);
	}
}

void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg)
{
	/* This order keeps a signal from finding a hook with the argument of another. */
	crash.hooks[which].run = NULL;
	crash.hooks[which].arg = arg;
	crash.hooks[which].run = hook;
}

/* The most descriptors that are looked at. */
#define DESCRIPTORS_MAX 65536

/* Whether the variable is to be dropped. */
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

/* The first descriptor to keep that is not before `first`; INT_MAX: there is none. */
static int next_kept(int first, const int *keep, size_t n)
{
	int next = INT_MAX;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && keep[i] < next)
			next = keep[i];
	return next;
}

/* Closes all descriptors but the standard ones and some. */
static void close_others(const int *keep, size_t n)
{
	int first = STDERR_FILENO + 1, kept;

	do {
		kept = next_kept(first, keep, n);
		close_range_of(first, kept);
		first = kept < INT_MAX ? kept + 1 : kept;
	} while (kept < INT_MAX);
}

/* Points the standard descriptors at nothing. */
static void leave_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

void start_serving(const char *name, const int *keep, size_t n)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,
				       SIGTSTP, SIGPIPE, SIGXFSZ, SIGUSR1 };

	prctl(PR_SET_NAME, name);
	/* Whatever is to be put back, the other process puts back. */
	crash_set_hook(CRASH_SYSCTL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	close_others(keep, n);
	leave_output();
}

/* Whether the kernel would let this process lock any amount. */
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

int start_lock_memory(void)
{
	if (!is_unlimited())
		return -EPERM;
	/* On fault: room that is only reserved stays so. */
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? -errno : 0;
}
