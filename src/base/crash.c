// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "base/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
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
