// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/traced_children.h"

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
	struct traced_children *book = arg;

	GROW_TO(book->sites, book->nsites, slot);
	book->sites[slot] = *site;
}

/* Takes in who waits where. */
static void take_waiter(void *arg, const struct trace_waiter *waiter)
{
	struct traced_children *book = arg;

	assert_in_range(waiter->state, 0, WAIT_STATES);
	assert_true(waiter->pid > 0 && waiter->tgid > 0);
	GROW(book->waiters, book->nwaiters, book->waiters_cap);
	book->waiters[book->nwaiters++] = *waiter;
}

/* Takes in a thread. */
static void take_record(struct traced_children *book, const struct snapshot_record *record)
{
	struct traced_children_thread *thread = &book->threads[book->nthreads++];

	*thread = (struct traced_children_thread){ .pid = record->pid,
						   .tgid = record->tgid,
						   .known = record->times_known,
						   .state = record->in };
	memcpy(thread->ns, record->state_ns, sizeof(thread->ns));
	for (size_t i = 0; i < book->nwaiters; i++)
		if (book->waiters[i].pid == record->pid)
			thread->waiter = book->waiters[i];
}

/* Reads all threads. */
static void read_threads(struct traced_children *book)
{
	struct snapshot_view view;

	assert_int_equal(snapshot_take(book->walk, SNAPSHOT_WHOLE, &view), 0);
	book->threads = xreallocarray(book->threads, view.nrecords + 1, sizeof(*book->threads));
	book->nthreads = 0;
	for (size_t i = 0; i < view.nrecords; i++)
		take_record(book, &view.records[i]);
}

/* Takes the ends of threads. */
static void take_ended(struct traced_children *book)
{
	bool lost;
	size_t n;
	const struct trace_end *ends =
		(const void *)end_ring_take(trace_ends(book->trace), &n, &lost);

	assert_false(lost && book->only);
	for (size_t i = 0; i < n; i++) {
		if (!book->only || ends[i].end.tgid != book->only)
			continue;
		book->ended = xreallocarray(book->ended, book->nended + 1, sizeof(*book->ended));
		book->ended[book->nended++] = ends[i];
	}
}

const char *traced_children_call(const struct traced_children *book, const struct trace_site *site)
{
	return syscall_name(book->calls, site->key.syscall);
}

void traced_children_read(struct traced_children *book)
{
	const struct trace_reader reader = { .site = take_site,
					     .waiter = take_waiter,
					     .arg = book };

	book->nwaiters = 0;
	assert_int_equal(trace_read(book->trace, &reader, &book->counts), 0);
	book->lost_waits += book->counts.lost_waits;
	read_threads(book);
	take_ended(book);
}

void traced_children_open(struct traced_children *book, const struct trace_options *options)
{
	*book = (struct traced_children){ .trace = NULL };
	assert_int_equal(trace_open(&book->trace, options), 0);
	assert_int_equal(snapshot_open(&book->walk, true, SNAPSHOT_ANY, NULL, book->trace), 0);
	book->calls = syscall_names_open();
	traced_children_read(book);
}

void traced_children_close(struct traced_children *book)
{
	snapshot_close(book->walk);
	trace_close(book->trace);
	syscall_names_close(book->calls);
	free(book->sites);
	free(book->threads);
	free(book->waiters);
	free(book->ended);
}

const struct traced_children_thread *traced_children_thread(const struct traced_children *book,
							    pid_t pid)
{
	for (size_t i = 0; i < book->nthreads; i++)
		if (book->threads[i].pid == pid && book->threads[i].known)
			return &book->threads[i];
	fail_msg("no thread %d", (int)pid);
	return NULL;
}

const struct trace_site *traced_children_site(const struct traced_children *book, pid_t tgid,
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

uint32_t traced_children_slot(const struct traced_children *book, const struct trace_site *site)
{
	return (uint32_t)(site - book->sites);
}

pid_t traced_children_child(void (*run)(void *arg), void *arg)
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

void traced_children_doze(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

void traced_children_sleep_often(void *arg)
{
	(void)arg;
	for (;;)
		traced_children_doze(3);
}

void traced_children_read_pipe(void *arg)
{
	char byte;

	while (read(*(int *)arg, &byte, 1) == 1)
		;
}
