// SPDX-License-Identifier: GPL-2.0-or-later
/* System calls: names and what a sleeper in them waits for. */
#include "tests/lib/test.h"

#include <limits.h>
#include <sys/syscall.h>

#include "base/util.h"
#include "kernel/syscalls.h"

/* Names are those of this machine, the same text at each call, and unknown for what is no call. */
TEST(test_names)
{
	struct syscall_names *names = syscall_names_open();
	const char *name = syscall_name(names, SYS_read);

	assert_string_equal(name, "read");
	assert_ptr_equal(syscall_name(names, SYS_read), name);
	assert_string_equal(syscall_name(names, SYS_openat), "openat");
	assert_string_equal(syscall_name(names, SYS_futex), "futex");
	assert_null(syscall_name(names, -1));
	assert_null(syscall_name(names, INT_MIN));
	assert_null(syscall_name(names, 999));
	assert_null(syscall_name(names, 999));
	assert_null(syscall_name(names, INT_MAX));
	syscall_names_close(names);
}

/* One call of each sort. */
TEST(test_classes)
{
	static const struct {
		int number;
		struct syscall_class class;
	} rows[] = {
		{ SYS_read, { STATE_OTHER, SYSCALL_FD, 0 } },
#ifndef __s390x__
		{ SYS_mmap, { STATE_OTHER, SYSCALL_FD, 4 } },
#endif
		{ SYS_recvfrom, { STATE_NET, SYSCALL_FD, 0 } },
		{ SYS_ppoll, { STATE_POLL, SYSCALL_POLL, 0 } },
		{ SYS_pselect6, { STATE_POLL, SYSCALL_SELECT, 0 } },
		{ SYS_epoll_pwait, { STATE_POLL, SYSCALL_FD, 0 } },
		{ SYS_futex, { STATE_LOCK, SYSCALL_FUTEX, 0 } },
		{ SYS_clock_nanosleep, { STATE_TIMER, SYSCALL_NOTHING, 0 } },
		{ SYS_wait4, { STATE_CHILD, SYSCALL_CHILD, 0 } },
		{ SYS_waitid, { STATE_CHILD, SYSCALL_CHILD, 1 } },
		{ SYS_symlinkat, { STATE_OTHER, SYSCALL_PATH_AT, 2 } },
		{ SYS_rt_sigsuspend, { STATE_POLL, SYSCALL_SIGNAL, 0 } },
		{ -1, { STATE_OTHER, SYSCALL_NOTHING, 0 } },
		{ INT_MIN, { STATE_OTHER, SYSCALL_NOTHING, 0 } },
		{ INT_MAX, { STATE_OTHER, SYSCALL_NOTHING, 0 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct syscall_class class = syscall_classify(rows[i].number);

		assert_int_equal(class.state, rows[i].class.state);
		assert_int_equal(class.target, rows[i].class.target);
		assert_int_equal(class.argument, rows[i].class.argument);
	}
}

/* Nothing at or above the limit has a class, and the last below it has one. */
TEST(test_limit)
{
	int limit = syscall_limit();
	struct syscall_class last = syscall_classify(limit - 1);

	assert_true(limit > SYS_futex && limit < 1024);
	assert_true(last.state != STATE_OTHER || last.target != SYSCALL_NOTHING);
	for (int number = limit; number < 2048; number++) {
		assert_int_equal(syscall_classify(number).state, STATE_OTHER);
		assert_int_equal(syscall_classify(number).target, SYSCALL_NOTHING);
	}
}

/* A call that this machine lacks has no number, so every number has one class. */
TEST(test_once)
{
#ifdef SYS_poll
	assert_int_equal(syscall_classify(SYS_poll).state, STATE_POLL);
#endif
#ifdef SYS_open
	assert_int_equal(syscall_classify(SYS_open).target, SYSCALL_PATH);
#else
	/* Where open is missing its number on other machines is another call's. */
	assert_int_equal(syscall_classify(2).target, SYSCALL_NOTHING);
#endif
}

/* Calls of 32-bit programs are those that 64-bit programs do the same by, or none. */
TEST(test_native)
{
#ifdef __x86_64__
	/* arch/x86/entry/syscalls/syscall_32.tbl */
	static const struct {
		int number, native;
	} rows[] = {
		{ 3, SYS_read },
		{ 7, SYS_wait4 },
		{ 82, -1 /* select */ },
		{ 90, -1 /* mmap */ },
		{ 102, SYSCALL_SOCKETCALL },
		{ 117, -1 /* ipc */ },
		{ 140, SYS_lseek },
		{ 142, SYS_select },
		{ 162, SYS_nanosleep },
		{ 168, SYS_poll },
		{ 192, SYS_mmap },
		{ 221, SYS_fcntl },
		{ 240, SYS_futex },
		{ 300, SYS_newfstatat },
		{ 371, SYS_recvfrom },
		{ 407, SYS_clock_nanosleep },
		{ 422, SYS_futex },
		{ 414, SYS_ppoll },
		{ -1, -1 },
		{ INT_MAX, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(syscall_native(rows[i].number), rows[i].native);
#elif defined(__aarch64__)
	/* arch/arm/tools/syscall.tbl */
	assert_int_equal(syscall_native(3), SYS_read);
	assert_int_equal(syscall_native(291), SYS_recvfrom);
	assert_int_equal(syscall_native(162), SYS_nanosleep);
#else
	assert_int_equal(syscall_native(3), -1);
#endif
	assert_int_equal(syscall_of_socketcall(10), SYS_recvfrom);
	assert_int_equal(syscall_of_socketcall(18), SYS_accept4);
	assert_int_equal(syscall_of_socketcall(0), -1);
	assert_int_equal(syscall_of_socketcall(1), -1);
	assert_int_equal(syscall_of_socketcall(99), -1);
}
