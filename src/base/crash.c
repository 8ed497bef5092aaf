// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "base/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/util.h"

/* A stack that is used up cannot take a handler; what a vector unit saves must fit, too. */
#define STACK_BYTES (64 * 1024)

/* Those that end no program. All others do if nobody handles them, those without a name, too. */
static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU };

/* Process-wide on purpose: a handler is given nothing else. */
static struct {
	pid_t pid; /* a child that was forked, but has not called exec yet, puts nothing back */
	struct {
		/* volatile: written in the order that crash_set_hook() says */
		void (*volatile run)(void *arg);
		void *volatile arg;
	} hooks[CRASH_HOOKS];
	struct sigaction before[_NSIG]; /* by number */
	char stack[STACK_BYTES];
} crash;

/* Whether the signal ends no program. */
static bool is_harmless(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (harmless[i] == number)
			return true;
	return false;
}

/* Whether it is a fault, which comes again by itself where it was, for the core dump to tell. */
static bool comes_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

/* Calls the hooks, each once, and has the signal do what it did before. */
static void handle(int number, siginfo_t *info, void *context)
{
	(void)context;
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
	/* A second signal waits until the first has put all back. */
	sigfillset(&action.sa_mask);
	for (int number = 1; number < _NSIG; number++) {
		struct sigaction *before = &crash.before[number];

		/* Some cannot be handled, and some are libc's own. */
		if (!is_harmless(number) && !sigaction(number, NULL, before) &&
		    before->sa_handler != SIG_IGN)
			sigaction(number, &action, NULL);
	}
}

void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg)
{
	/* In this order no signal finds a hook with another's argument. */
	crash.hooks[which].run = NULL;
	crash.hooks[which].arg = arg;
	crash.hooks[which].run = hook;
}
