// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/tracebook.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/syscalls.h"
#include "tests/lib/e2e.h"
#include "tests/lib/guard.h"

/* Room for a slot, zeroed. */
#define GROW_TO(array, n, slot) \
	do { \
		if ((slot) < (n)) \
			break; \
		(array) = xreallocarray(array, (slot) + 1, sizeof(*(array))); \
		memset((array) + (n), 0, ((slot) + 1 - (n)) * sizeof(*(array))); \
		(n) = (slot) + 1; \
	} while (0)

/* Takes in a site. */
static void take_site(void *arg, uint32_t slot, const struct trace_site *site)
{
	struct tracebook *book = arg;

	GROW_TO(book->sites, book->nsites, slot);
	book->sites[slot] = *site;
}

/* Takes in a thread. */
static void take_traced(void *arg, uint32_t slot, const struct trace_thread *thread)
{
	struct tracebook *book = arg;
	uint64_t sum = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		sum += thread->ns[state];
	assert_int_equal(sum, thread->since_ns - thread->born_ns);
	assert_in_range(thread->state, 0, WAIT_STATES - 1);
	assert_true(thread->pid > 0 && thread->tgid > 0);
	GROW_TO(book->threads, book->nthreads, slot);
	book->threads[slot] = *thread;
	if (!thread->ended)
		return;
	memset(&book->threads[slot], 0, sizeof(book->threads[slot]));
	if (book->only && thread->tgid != book->only)
		return;
	book->ended = xreallocarray(book->ended, book->nended + 1, sizeof(*book->ended));
	book->ended[book->nended++] = *thread;
}

const char *tracebook_call(const struct tracebook *book, const struct trace_site *site)
{
	return syscall_name(book->calls, site->key.syscall);
}

void tracebook_read(struct tracebook *book)
{
	const struct trace_reader reader = { .site = take_site,
					     .thread = take_traced,
					     .arg = book };

	assert_int_equal(trace_read(book->trace, &reader, &book->counts), 0);
	book->lost_waits += book->counts.lost_waits;
	book->lost_threads += book->counts.lost_threads;
}

void tracebook_open(struct tracebook *book, const struct trace_options *options)
{
	*book = (struct tracebook){ .trace = NULL };
	assert_int_equal(trace_open(&book->trace, options), 0);
	book->calls = syscall_names_open();
	tracebook_read(book);
}

void tracebook_close(struct tracebook *book)
{
	trace_close(book->trace);
	syscall_names_close(book->calls);
	free(book->sites);
	free(book->threads);
	free(book->ended);
}

const struct trace_thread *tracebook_thread(const struct tracebook *book, pid_t pid)
{
	for (uint32_t i = 0; i < book->nthreads; i++)
		if (book->threads[i].pid == pid)
			return &book->threads[i];
	for (size_t i = 0; i < book->nended; i++)
		if (book->ended[i].pid == pid)
			return &book->ended[i];
	fail_msg("no thread %d", (int)pid);
	return NULL;
}

const struct trace_site *tracebook_site(const struct tracebook *book, pid_t tgid,
					enum wait_state state)
{
	const struct trace_site *most = NULL;

	for (uint32_t i = 0; i < book->nsites; i++) {
		const struct trace_site *site = &book->sites[i];

		if (site->key.tgid == tgid && site->key.state == state && !site->key.within &&
		    (!most || site->ns > most->ns))
			most = site;
	}
	return most;
}

uint32_t tracebook_slot(const struct tracebook *book, const struct trace_site *site)
{
	return (uint32_t)(site - book->sites);
}

pid_t tracebook_child(void (*run)(void *arg), void *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(arg);
		_exit(0);
	}
	guard_push_child(pid);
	return pid;
}

uint64_t tracebook_in_state(const struct tracebook *book, const struct trace_thread *thread,
			    enum wait_state state)
{
	uint64_t ns = thread->ns[state];

	return thread->state == state ? ns + (book->counts.read_ns - thread->since_ns) : ns;
}

void tracebook_doze(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

void tracebook_sleep_often(void *arg)
{
	(void)arg;
	for (;;)
		tracebook_doze(3);
}

void tracebook_read_pipe(void *arg)
{
	char byte;

	while (read(*(int *)arg, &byte, 1) == 1)
		;
}
