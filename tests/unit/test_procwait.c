// SPDX-License-Identifier: GPL-2.0-or-later
/* What a thread sleeps in: texts of /proc, hostile ones too, and what a call works on. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/procwait.h"
#include "kernel/syscall_target.h"
#include "tests/lib/tree.h"

/* Parses a copy without a byte to spare, so that a read past the end is seen. */
static int parse(const char *text, size_t len, struct procwait_syscall *out)
{
	char *copy = xcalloc(len, 1);
	int err;

	memcpy(copy, text, len);
	err = procwait_syscall_parse(copy, len, out);
	free(copy);
	return err;
}

/* A call with its arguments; a page fault; a running thread; a thread of the kernel. */
TEST(test_call)
{
	static const char whole[] =
		"230 0x0 0xffffffffffffffff 0x7ffd 0x1 0x2 0x3 0x7ffe12 0x7f01\n";
	struct procwait_syscall call;

	assert_int_equal(parse(whole, strlen(whole), &call), 0);
	assert_false(call.running);
	assert_int_equal(call.number, 230);
	assert_true(call.args[1] == UINT64_MAX);
	assert_int_equal(call.args[5], 3);
	assert_int_equal(call.stack_pointer, 0x7ffe12);
	for (size_t len = 0; len < strlen(whole); len++)
		assert_int_equal(parse(whole, len, &call), -EBADMSG);
	assert_int_equal(parse("running\n", 8, &call), 0);
	assert_true(call.running);
	assert_int_equal(call.number, -1);
	assert_int_equal(parse("-1 0x7ffe12 0x7f01\n", 19, &call), 0);
	assert_false(call.running);
	assert_int_equal(call.number, -1);
	assert_int_equal(parse("0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n", 34, &call), 0);
	assert_int_equal(call.number, -1);
	assert_false(call.running);
}

/* A 32-bit program's call is the one by which a 64-bit program does the same. */
TREE_TEST(test_32bit)
{
#ifdef __x86_64__
	const struct tree *tree = *state;
	const uint32_t auxv32[] = { 32, 0xf7f3c570 }, args[SYSCALL_ARGS] = { 5, 0xff00, 1 };
	const uint64_t auxv64[] = { 33, 0x7ffe12 };
	struct procwait_syscall call;

	put(tree, "7/auxv", (const char *)auxv32, sizeof(auxv32));
	put_text(tree, "7/task/8/syscall", "7 0xffffffff 0x0 0x0 0x0 0x0 0x0 0xff9010 0x8049000\n");
	assert_int_equal(procwait_syscall(tree->proc, 7, 8, &call), 0);
	assert_int_equal(call.number, SCMP_SYS(wait4));
	/* recv() by socketcall(): the arguments are in memory. */
	put(tree, "8/mem", (const char *)args, sizeof(args));
	put_text(tree, "7/task/8/syscall", "102 0xa 0x0 0x0 0x0 0x0 0x0 0xff9010 0x8049000\n");
	assert_int_equal(procwait_syscall(tree->proc, 7, 8, &call), 0);
	assert_int_equal(call.number, SCMP_SYS(recvfrom));
	assert_int_equal(call.args[0], 5);
	assert_int_equal(call.args[1], 0xff00);
	/* A 64-bit program with all that so low is none. */
	put(tree, "7/auxv", (const char *)auxv64, sizeof(auxv64));
	put_text(tree, "7/task/8/syscall", "7 0x1 0x0 0x0 0x0 0x0 0x0 0xff9010 0x8049000\n");
	assert_int_equal(procwait_syscall(tree->proc, 7, 8, &call), 0);
	assert_int_equal(call.number, 7);
#else
#endif
}

/* Texts that are none leave what was there. */
TEST(test_broken)
{
	static const char *const texts[] = {
		"running",
		"running \n",
		"1\n",
		"-2 0x1 0x2\n",
		"99999999999 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x1\n",
		"1 0x0 0x0 0x0 0x0 0x0 0x0 0x1\n",
		"1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x1 0x1\n",
		"1 0x 0x0 0x0 0x0 0x0 0x0 0x1 0x1\n",
		"1 0x10000000000000000 0x0 0x0 0x0 0x0 0x0 0x1 0x1\n",
		"1  0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x1\n",
		"1 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0xg\n",
	};
	struct procwait_syscall call = { .number = 77 };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(parse(texts[i], strlen(texts[i]), &call), -EBADMSG);
		assert_int_equal(call.number, 77);
	}
}

/* Functions of a stack, with modules, as far as the lines are whole; never more than there is room.
 */
TREE_TEST(test_stack)
{
	struct procwait_stack stack = { .n = 0 };

	put_text(*state, "7/task/8/stack",
		 "[<0>] anon_pipe_read+0x366/0x410\n[<0>] fuse_lookup+0x1/0x2 [fuse]\n"
		 "junk\n\n[<0>]  \n[<0>] cut+0x1");
	assert_int_equal(procwait_stack(((struct tree *)*state)->proc, 7, 8, &stack), 0);
	assert_int_equal(stack.n, 2);
	assert_string_equal(stack.functions[0], "anon_pipe_read+0x366/0x410");
	assert_string_equal(stack.functions[1], "fuse_lookup+0x1/0x2");
	stack.text.len = 0;
	for (unsigned i = 0; i < 2 * STACK_FUNCTIONS; i++)
		buf_puts(&stack.text, "[<0>] f+0x1/0x2\n");
	procwait_stack_parse(&stack);
	assert_int_equal(stack.n, STACK_FUNCTIONS);
	put_text(*state, "7/task/8/stack", "");
	assert_int_equal(procwait_stack(((struct tree *)*state)->proc, 7, 8, &stack), 0);
	assert_int_equal(stack.n, 0);
	assert_int_equal(procwait_stack(((struct tree *)*state)->proc, 7, 9, &stack), -ENOENT);
	procwait_stack_free(&stack);
}

/* What a call with these arguments is on. */
static const char *target_of(const struct tree *tree, const char *name,
			     const struct procwait_syscall *args, struct syscall_wait *wait)
{
	static struct buf out;
	struct wait_targets *targets = wait_targets_open(tree->proc);
	struct procwait_syscall call = *args;

	buf_free(&out);
	call.number = seccomp_syscall_resolve_name(name);
	*wait = syscall_target(targets, tree->proc, 7, &call, &out);
	wait_targets_close(targets);
	return buf_cstr(&out);
}

#define ARGS(...) (&(struct procwait_syscall){ .args = { __VA_ARGS__ } })

/* Paths in the task's memory: absolute, from a directory, without an end, at no address. */
TREE_TEST(test_path)
{
	const struct tree *tree = *state;
	struct syscall_wait wait;
	char memory[8192] = "/absolute\033[31m";

	strcpy(memory + 100, "relative");
	memset(memory + 4000, 'x', sizeof(memory) - 4000);
	put(tree, "7/mem", memory, sizeof(memory));
	put_text(tree, "7/fd/x", "");
	assert_int_equal(symlinkat("/home/me", tree->fd, "7/cwd"), 0);
	assert_int_equal(symlinkat("/srv", tree->fd, "7/fd/5"), 0);
	assert_string_equal(target_of(tree, "openat", ARGS(5, 0), &wait), "/absolute\033[31m");
	assert_int_equal(wait.state, STATE_OTHER);
	assert_string_equal(target_of(tree, "openat", ARGS(5, 100), &wait), "/srv/relative");
	assert_string_equal(target_of(tree, "openat", ARGS((uint64_t)-100, 100), &wait),
			    "/home/me/relative");
	assert_string_equal(target_of(tree, "chdir", ARGS(100), &wait), "/home/me/relative");
	/* No NUL within the longest path, nor up to the end of what is there; not there. */
	assert_string_equal(target_of(tree, "openat", ARGS(5, 4000), &wait), "");
	assert_string_equal(target_of(tree, "openat", ARGS(5, 8000), &wait), "");
	assert_string_equal(target_of(tree, "openat", ARGS(5, 1 << 30), &wait), "");
	assert_string_equal(target_of(tree, "openat", ARGS(5, UINT64_MAX), &wait), "");
	assert_string_equal(target_of(tree, "openat", ARGS(6, 100), &wait), "relative");
}

/* Descriptors decide the state of calls that take any file; poll() names one, or counts. */
TREE_TEST(test_files)
{
	const struct tree *tree = *state;
	struct pollfd polled[3] = { { .fd = -1 }, { .fd = 4 }, { .fd = 5 } };
	struct syscall_wait wait;

	put(tree, "7/mem", (const char *)polled, sizeof(polled));
	put_text(tree, "7/fd/x", "");
	assert_int_equal(symlinkat("pipe:[12]", tree->fd, "7/fd/4"), 0);
	assert_int_equal(symlinkat("/dev/tty1", tree->fd, "7/fd/5"), 0);
	assert_int_equal(symlinkat("socket:[13]", tree->fd, "7/fd/6"), 0);
	assert_string_equal(target_of(tree, "read", ARGS(4), &wait), "pipe");
	assert_int_equal(wait.state, STATE_PIPE);
	assert_string_equal(target_of(tree, "read", ARGS(5), &wait), "/dev/tty1");
	assert_int_equal(wait.state, STATE_OTHER);
	assert_string_equal(target_of(tree, "write", ARGS(6), &wait), "socket");
	assert_int_equal(wait.state, STATE_NET);
	assert_string_equal(target_of(tree, "read", ARGS(7), &wait), "");
	assert_string_equal(target_of(tree, "ppoll", ARGS(8, 2), &wait), "2 files");
	assert_int_equal(wait.state, STATE_POLL);
	assert_string_equal(target_of(tree, "ppoll", ARGS(16, 1), &wait), "/dev/tty1");
	assert_string_equal(target_of(tree, "ppoll", ARGS(0, 1), &wait), "");
	assert_string_equal(target_of(tree, "ppoll", ARGS(0, 4), &wait), "");
	assert_string_equal(target_of(tree, "ppoll", ARGS(0, UINT64_MAX), &wait), "");
}

/* Children, futexes, times. */
TREE_TEST(test_others)
{
	const struct tree *tree = *state;
	struct syscall_wait wait;

	assert_string_equal(target_of(tree, "wait4", ARGS(4712), &wait), "child 4712");
	assert_int_equal(wait.state, STATE_CHILD);
	assert_string_equal(target_of(tree, "wait4", ARGS(UINT32_MAX), &wait), "any child");
	assert_string_equal(target_of(tree, "waitid", ARGS(1, 4713), &wait), "child 4713");
	assert_string_equal(target_of(tree, "futex", ARGS(0x7f0012), &wait), "");
	assert_int_equal(wait.futex, 0x7f0012);
	assert_int_equal(wait.state, STATE_PARK);
	target_of(tree, "futex", ARGS(0x7f0012, FUTEX_WAIT_PRIVATE, 2), &wait);
	assert_int_equal(wait.state, STATE_LOCK);
	target_of(tree, "futex", ARGS(0x7f0012, FUTEX_WAIT_BITSET_PRIVATE, 2), &wait);
	assert_int_equal(wait.state, STATE_PARK);
	target_of(tree, "futex", ARGS(0x7f0012, FUTEX_LOCK_PI), &wait);
	assert_int_equal(wait.state, STATE_LOCK);
	assert_string_equal(target_of(tree, "clock_nanosleep", ARGS(0), &wait), "");
	assert_int_equal(wait.state, STATE_TIMER);
	assert_int_equal(wait.futex, 0);
}
