// SPDX-License-Identifier: GPL-2.0-or-later
/* Who holds the locks that threads of this process wait for. */
#include "kernel/proc.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <seccomp.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/procwait.h"
#include "tests/lib/calls.h"

/* A thread that does something for ever, or until it is let go. */
struct sleeper {
	void (*sleep)(void *on);
	void *on;
	_Atomic pid_t tid;
	pthread_t thread;
};

static void *run(void *arg)
{
	struct sleeper *sleeper = arg;

	sleeper->tid = (pid_t)syscall(SYS_gettid);
	sleeper->sleep(sleeper->on);
	return NULL;
}

static void lock(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
}

static void await(void *semaphore)
{
	sem_wait(semaphore);
}

/* Starts a thread, and reads the futex that it is in by then. */
static struct procwait_syscall call_of(struct sleeper *sleeper, struct proc *proc)
{
	struct procwait_syscall call = { .running = true };

	assert_int_equal(pthread_create(&sleeper->thread, NULL, run, sleeper), 0);
	for (unsigned i = 0; i < 500 && (call.running || call.number != SCMP_SYS(futex)); i++) {
		usleep(10000);
		if (sleeper->tid && procwait_syscall(proc, getpid(), sleeper->tid, &call))
			call.running = true;
	}
	assert_int_equal(call.number, SCMP_SYS(futex));
	return call;
}

/* Each kind of mutex names this thread; the waiter itself never. */
TEST(test_mutexes)
{
	struct proc proc = { .fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	pid_t self = (pid_t)syscall(SYS_gettid);

	for (unsigned kind = 0; kind < 3; kind++) {
		struct procwait_syscall call;
		pthread_mutexattr_t attributes;
		pthread_mutex_t mutex;
		struct sleeper sleeper = { .sleep = lock, .on = &mutex };

		pthread_mutexattr_init(&attributes);
		if (kind == 1)
			pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		else if (kind == 2)
			pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&mutex, &attributes);
		pthread_mutex_lock(&mutex);
		call = call_of(&sleeper, &proc);
		assert_true(futex_is_lock(&call));
		assert_int_equal(futex_owner(&proc, getpid(), sleeper.tid, &call), self);
		/* It is no other process's, nor one's own. */
		assert_int_equal(futex_owner(&proc, getppid(), sleeper.tid, &call), 0);
		assert_int_equal(futex_owner(&proc, getpid(), self, &call), 0);
		pthread_mutex_unlock(&mutex);
		pthread_join(sleeper.thread, NULL);
		/* Nobody has it any more. */
		assert_int_equal(futex_owner(&proc, getpid(), 1, &call), 0);
		pthread_mutex_destroy(&mutex);
		pthread_mutexattr_destroy(&attributes);
	}
	close(proc.fd);
}

/* A semaphore has no owner. */
TEST(test_semaphore)
{
	struct proc proc = { .fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct procwait_syscall call;
	uint64_t calls;
	sem_t semaphore;
	struct sleeper sleeper = { .sleep = await, .on = &semaphore };

	sem_init(&semaphore, 0, 0);
	call = call_of(&sleeper, &proc);
	assert_false(futex_is_lock(&call));
	calls = CALLS_OF(assert_int_equal(futex_owner(&proc, getpid(), sleeper.tid, &call), 0));
	assert_int_equal(calls, 1); /* getpid() */
	sem_post(&semaphore);
	pthread_join(sleeper.thread, NULL);
	close(proc.fd);
}

/* What words and operations mean, as C libraries use them. */
TEST(test_words)
{
	static const struct {
		int operation;
		uint32_t value;
		bool lock;
	} rows[] = {
		{ FUTEX_WAIT, 2, true }, /* glibc, Go */
		{ FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, true },
		{ FUTEX_WAIT, FUTEX_WAITERS | 4711, true }, /* musl; robust ones of glibc */
		{ FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, true },
		{ FUTEX_WAIT, 0, false },
		{ FUTEX_WAIT, 1, false },
		{ FUTEX_WAIT, UINT32_MAX, false }, /* musl's semaphores */
		{ FUTEX_WAIT, FUTEX_WAITERS, false },
		{ FUTEX_WAIT_BITSET, 2, false }, /* conditions */
		{ FUTEX_WAKE, 2, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct procwait_syscall call = { .number = SCMP_SYS(futex),
						 .args = { 8, (uint64_t)rows[i].operation,
							   rows[i].value } };

		assert_int_equal(futex_is_lock(&call), rows[i].lock);
		call.number++;
		assert_false(futex_is_lock(&call));
	}
}
