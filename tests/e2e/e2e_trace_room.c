// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace in the kernel, where threads come and go, there is little room, or little is allowed.
 */
#include "tests/lib/traced_children.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/e2e.h"

#define MS(n) (UINT64_C(1000000) * (n))

static const struct trace_options plain = { .sites = 16384 };

/* ---- Coming and going ------------------------------------------------------------------------ */

static void *rest(void *arg)
{
	(void)arg;
	traced_children_doze(2);
	return NULL;
}

/* Has threads come and go, some at a time. */
static void churn(void *arg)
{
	unsigned n = *(unsigned *)arg;

	for (unsigned i = 0; i < n; i += 20) {
		pthread_t threads[20];

		for (unsigned j = 0; j < 20; j++)
			if (pthread_create(&threads[j], NULL, rest, NULL))
				_exit(1);
		for (unsigned j = 0; j < 20; j++)
			pthread_join(threads[j], NULL);
	}
}

static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

/* Threads that come and go: each ends once, whole, and its process has the times of all. */
E2E_TEST(test_churn)
{
	unsigned n = 20000;
	uint64_t all_ns = 0;
	size_t files, brief = 0;
	struct traced_children book;
	int status = 0;
	pid_t pid;

	e2e_require_bpf();
	files = open_files();
	traced_children_open(&book, &plain);
	pid = traced_children_child(churn, &n);
	book.only = pid;
	do {
		traced_children_doze(20);
		traced_children_read(&book);
	} while (waitpid(pid, &status, WNOHANG) == 0);
	traced_children_read(&book);
	assert_int_equal(status, 0);
	assert_int_equal(book.nended, n + 1);
	for (size_t i = 0; i < book.nended; i++) {
		const struct trace_end *end = &book.ended[i];

		brief += end->end.pid != pid && end->own[STATE_TIMER] < MS(19) / 10;
		all_ns += end->own[STATE_TIMER];
		assert_true(end->own_known);
		assert_int_equal(end->tgid, pid);
		assert_int_equal(end->end.last, i == n);
		assert_true(end->end.process_start_ns <= end->end.start_ns);
	}
	assert_int_equal(book.ended[n].process[STATE_TIMER], all_ns);
	/* Where the kernel hides switches of others, one beside them may go unseen. */
	assert_true(brief <= n / 1000);
	traced_children_close(&book);
	assert_int_equal(open_files(), files);
}

/* Becomes another program from a thread that does not lead. */
static void *become(void *arg)
{
	(void)arg;
	execl("/bin/sleep", "sleep", "60", NULL);
	return NULL;
}

static void run_become(void *arg)
{
	pthread_t thread;

	(void)arg;
	traced_children_doze(50);
	if (pthread_create(&thread, NULL, become, NULL))
		_exit(1);
	pause();
}

/* The thread that executes a program is the process's first thread from then on. */
E2E_TEST(test_exec)
{
	struct traced_children book;
	const struct traced_children_thread *thread;
	pid_t pid;

	e2e_require_bpf();
	traced_children_open(&book, &plain);
	pid = traced_children_child(run_become, NULL);
	traced_children_doze(30);
	traced_children_read(&book);
	traced_children_doze(400);
	traced_children_read(&book);
	/* The first of that number ended. */
	thread = traced_children_thread(&book, pid);
	assert_int_equal(thread->tgid, pid);
	assert_int_equal(thread->state, STATE_TIMER);
	assert_true(thread->ns[STATE_TIMER] > MS(200));
	traced_children_close(&book);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* Without room for sites waits are counted as lost, and states are whole. */
E2E_TEST(test_no_room)
{
	const struct trace_options few = { .sites = 1 };
	struct traced_children book;
	pid_t pid;

	e2e_require_bpf();
	traced_children_open(&book, &few);
	pid = traced_children_child(traced_children_sleep_often, NULL);
	traced_children_doze(300);
	traced_children_read(&book);
	assert_true(book.nsites <= 16);
	assert_true(book.lost_waits >= 20);
	assert_null(traced_children_site(&book, pid, STATE_TIMER));
	assert_true(traced_children_thread(&book, pid)->ns[STATE_TIMER] > MS(100));
	traced_children_close(&book);
}

/* Keeps some threads, of which each sleeps again and again, as long as a pipe's end is open. */
static void *keep_dozing(void *arg)
{
	int *end = arg;
	char byte;

	(void)!read(*end, &byte, 1);
	for (;;)
		traced_children_doze(20);
	return NULL;
}

static void crowd(void *arg)
{
	for (unsigned i = 0; i < 300; i++) {
		pthread_attr_t small;
		pthread_t thread;

		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		if (pthread_create(&thread, &small, keep_dozing, arg))
			_exit(1);
	}
	for (;;)
		pause();
}

/* Has that many threads, of which all but the first come when a signal does. */
static void come_late(void *arg)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &got);
	crowd(arg);
}

/* All threads that come after tracing began are traced. */
E2E_TEST(test_late_threads)
{
	struct traced_children book;
	size_t known = 0;
	pid_t pids[20];
	int ends[2];

	e2e_require_bpf();
	assert_int_equal(pipe(ends), 0);
	for (unsigned i = 0; i < 20; i++)
		pids[i] = traced_children_child(come_late, ends);
	traced_children_doze(100);
	traced_children_open(&book, &plain);
	for (unsigned i = 0; i < 20; i++)
		kill(pids[i], SIGUSR1);
	traced_children_doze(1500);
	traced_children_read(&book);
	for (size_t i = 0; i < book.nthreads; i++)
		for (unsigned k = 0; k < 20; k++)
			known += book.threads[i].tgid == pids[k] && book.threads[i].known;
	assert_int_equal(known, 20 * 301);
	traced_children_close(&book);
}

/* A site that is given back is made anew when it is waited in again. */
E2E_TEST(test_forget)
{
	struct traced_children book;
	const struct trace_site *site;
	struct trace_site before;
	const struct traced_children_thread *thread;
	uint32_t slot;
	int ends[2];
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(pipe(ends), 0);
	traced_children_open(&book, &plain);
	pid = traced_children_child(traced_children_read_pipe, ends);
	traced_children_doze(50);
	assert_int_equal(write(ends[1], "xyz", 3), 3);
	traced_children_doze(100);
	traced_children_read(&book);
	site = traced_children_site(&book, pid, STATE_PIPE);
	assert_non_null(site);
	assert_int_equal(site->count, 1);
	before = *site;
	slot = traced_children_slot(&book, site);
	assert_false(trace_forget(book.trace, 0));
	assert_false(trace_forget(book.trace, 1U << 31));
	/* It has changed since: is waited in by a thread that moved, and then was waited in. */
	assert_int_equal(write(ends[1], "x", 1), 1);
	traced_children_doze(50);
	assert_false(trace_forget(book.trace, slot));
	traced_children_read(&book);
	assert_int_equal(book.sites[slot].count, 2);
	/* Now it has not: whose wait goes on waits in a site that is made when the wait ends. */
	assert_true(trace_forget(book.trace, slot));
	memset(&book.sites[slot], 0, sizeof(book.sites[slot]));
	traced_children_doze(100);
	assert_int_equal(write(ends[1], "x", 1), 1);
	traced_children_doze(50);
	traced_children_read(&book);
	site = traced_children_site(&book, pid, STATE_PIPE);
	assert_non_null(site);
	assert_int_equal(site->count, 1);
	assert_true(site->ns >= MS(100));
	assert_true(site->key.ino == before.key.ino);
	assert_int_equal(site->fd, ends[0]);
	thread = traced_children_thread(&book, pid);
	assert_int_equal(thread->waiter.site, traced_children_slot(&book, site));
	assert_int_equal(thread->waiter.generation, (uint32_t)site->generation);
	assert_int_equal(book.lost_waits, 0);
	traced_children_close(&book);
}

/* Gives back all sites that nobody waits in, whoever has waited there. */
static void forget_all(struct traced_children *book)
{
	for (uint32_t slot = 1; slot < book->nsites; slot++)
		if (book->sites[slot].key.tgid && trace_forget(book->trace, slot))
			memset(&book->sites[slot], 0, sizeof(book->sites[slot]));
}

/*
 * Sites given back and used again by others: more than there are. Those of everybody are, as the
 * waits of other processes take room, too.
 */
E2E_TEST(test_forget_many)
{
	const struct trace_options few = { .sites = 512 };
	struct traced_children book;
	unsigned made = 0;

	e2e_require_bpf();
	traced_children_open(&book, &few);
	for (unsigned i = 0; i < 700; i++) {
		pid_t pid;

		forget_all(&book);
		pid = fork();
		if (!pid) {
			traced_children_doze(1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		traced_children_read(&book);
		if (traced_children_site(&book, pid, STATE_TIMER))
			made++;
	}
	assert_int_equal(made, 700);
	traced_children_close(&book);
}

/* ---- Who reads ------------------------------------------------------------------------------- */

/* Without privileges there is none. */
E2E_TEST(test_unprivileged)
{
	struct trace *trace;
	int status = 0;
	pid_t pid;

	e2e_require_bpf();
	pid = fork();
	if (!pid)
		_exit(setuid(NOBODY) || trace_open(&trace, &plain) != -EPERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Reads what happens in a pid namespace, from within: for its exit status. */
static int read_within(void)
{
	const struct traced_children_thread *thread;
	struct traced_children book;
	pid_t child;

	traced_children_open(&book, &plain);
	child = fork();
	if (!child)
		traced_children_sleep_often(NULL);
	/* On a busy machine it waits for a CPU, too. */
	for (unsigned tries = 0; tries < 100; tries++) {
		traced_children_doze(200);
		traced_children_read(&book);
		thread = traced_children_thread(&book, child);
		if (thread->ns[STATE_TIMER] >= MS(100))
			break;
	}
	for (size_t i = 0; i < book.nthreads; i++)
		if (book.threads[i].pid > child)
			return 1;
	if (thread->tgid != child || thread->ns[STATE_TIMER] < MS(100))
		return 2;
	if (!traced_children_site(&book, child, STATE_TIMER) ||
	    traced_children_thread(&book, 1)->tgid != 1)
		return 3;
	traced_children_close(&book);
	kill(child, SIGKILL);
	return 0;
}

/* In a pid namespace its processes are seen by the numbers that they have there, and no others. */
E2E_TEST(test_namespace)
{
	int status = 0;
	pid_t pid;

	e2e_require_bpf();
	pid = fork();
	if (!pid) {
		pid_t first;

		if (unshare(CLONE_NEWPID))
			_exit(100);
		first = fork();
		if (!first)
			_exit(read_within());
		waitpid(first, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 101);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
