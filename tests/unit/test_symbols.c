// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of functions, and which of a stack says why it waits. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/symbols.h"
#include "tests/lib/tree.h"

/* Reads a made-up table; NULL where it has nothing. */
static struct symbols *read_table(void **state, const char *text)
{
	put_text(*state, "kallsyms", text);
	return symbols_read(((struct tree *)*state)->fd);
}

/* An address belongs to the function that begins nearest below it, in whatever order they came. */
TREE_TEST(test_addresses)
{
	struct symbols *symbols = read_table(state, "ffffffff81002000 T second\n"
						    "ffffffff81001ff0 t __pfx_second\n"
						    "ffffffff81001000 t first\n"
						    "ffffffff81001000 T alias_of_first\n"
						    "ffffffff81002004 t $xrv64i2p1\n"
						    "ffffffff81002006 t .L0 \n"
						    "ffffffff81002008 t L0\001\n"
						    "ffffffff81003000 d data\n"
						    "ffffffffc0001000 t of_module\t[ext4]\n");
	uint64_t offset;

	assert_non_null(symbols);
	assert_null(symbol_at(symbols, 0xffffffff81000fff, &offset));
	assert_string_equal(symbol_at(symbols, 0xffffffff81001000, &offset), "first");
	assert_int_equal(offset, 0);
	assert_string_equal(symbol_at(symbols, 0xffffffff81001ff8, &offset), "first");
	assert_int_equal(offset, 0xff8);
	assert_string_equal(symbol_at(symbols, 0xffffffff81002010, &offset), "second");
	assert_int_equal(offset, 0x10);
	assert_string_equal(symbol_at(symbols, 0xffffffffc0001001, &offset), "of_module");
	/* Far behind the last function of the kernel itself there is none. */
	assert_null(symbol_at(symbols, 0xffffffffb0000000, &offset));
	assert_null(symbol_at(symbols, UINT64_MAX, &offset));
	symbols_free(symbols);
}

/* Addresses that are hidden are no table, nor is a missing or a broken file. */
TREE_TEST(test_hidden)
{
	static const char *const texts[] = {
		"0000000000000000 T first\n0000000000000000 t second\n",
		"",
		"\n\n\n",
		"ffffffff81001000",
		"ffffffff81001000 ",
		"ffffffff81001000 T",
		"ffffffff81001000 T ",
		"ffffffff81001000 T \t[module]\n",
		"fffffffff81001000 T too_long\n",
		" ffffffff81001000 T blank\n",
		"ffffffff81001000  T blanks\n",
		"ffffffff81001000 D data\n",
	};

	assert_null(symbols_read(((struct tree *)*state)->fd));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (read_table(state, texts[i]))
			fail_msg("a table of \"%s\"", texts[i]);
	symbols_free(NULL);
}

/* What only waits for its caller, by name and with what a compiler adds. */
TEST(test_generic)
{
	static const char *const generic[] = {
		"schedule",	   "__schedule",	  "schedule_timeout",
		"io_schedule",	   "io_schedule_timeout", "wait_for_completion_killable",
		"schedule.isra.0", "schedule+0x10/0x90",  "poll_schedule_timeout.constprop.0",
		"futex_do_wait",   "bit_wait_io",
	};
	static const char *const telling[] = {
		"pipe_read",
		"do_epoll_wait",
		"futex_wait",
		"percpu_rwsem_wait",
		"do_wait",
		"request_wait_answer",
		"scheduler_of_mine",
		"hrtimer_nanosleep",
		"",
		"rwsem_down_write_slowpath",
	};

	for (size_t i = 0; i < ARRAY_SIZE(generic); i++)
		if (!symbol_is_generic(generic[i]))
			fail_msg("%s is generic", generic[i]);
	for (size_t i = 0; i < ARRAY_SIZE(telling); i++)
		if (symbol_is_generic(telling[i]))
			fail_msg("%s is not generic", telling[i]);
}

/* A frozen task is told by where it is; which sleeps are frozen in their place only state D tells.
 */
TEST(test_frozen)
{
	assert_true(symbol_freezes("__refrigerator"));
	assert_true(symbol_freezes_in_d("__refrigerator+0x12/0x34"));
	assert_false(symbol_freezes("hrtimer_nanosleep"));
	assert_true(symbol_freezes_in_d("hrtimer_nanosleep"));
	assert_true(symbol_freezes_in_d("futex_wait_queue"));
	assert_false(symbol_freezes_in_d("folio_wait_bit_common"));
	assert_false(symbol_freezes_in_d("request_wait_answer"));
}

/* Page faults are told by functions that nothing else has. */
TEST(test_fault)
{
	static const char *const fault[] = { "folio_wait_bit_common+0x1/0x2", "filemap_fault",
					     "do_user_addr_fault.isra.0+0x12/0x34",
					     "asm_exc_page_fault" };
	static const char *const call[] = { "folio_wait_bit_common", "filemap_fault_around",
					    "vfs_read", "do_syscall_64" };

	assert_true(symbols_fault(fault, 4));
	assert_false(symbols_fault(call, 4));
	assert_false(symbols_fault(NULL, 0));
}

/* The function that is chosen of real stacks. */
TEST(test_telling)
{
	static const struct {
		const char *const stack[8];
		const char *chosen;
	} cases[] = {
		{ { "anon_pipe_read+0x366/0x410", "vfs_read+0x32c/0x360", "ksys_read+0xba/0xe0" },
		  "anon_pipe_read+0x366/0x410" },
		{ { "futex_do_wait", "__futex_wait", "futex_wait", "do_futex", "__x64_sys_futex" },
		  "futex_wait" },
		{ { "poll_schedule_timeout.constprop.0", "do_sys_poll", "__x64_sys_poll" },
		  "do_sys_poll" },
		{ { "rwsem_down_write_slowpath", "down_write", "ext4_buffered_write_iter",
		    "vfs_write" },
		  "ext4_buffered_write_iter" },
		{ { "percpu_rwsem_wait", "__percpu_down_read", "vfs_write" }, "percpu_rwsem_wait" },
		{ { "do_wait", "kernel_wait4", "do_syscall_64" }, "do_wait" },
		{ { "request_wait_answer", "__fuse_simple_request", "fuse_lookup_name" },
		  "request_wait_answer" },
		{ { "io_schedule_timeout", "__iomap_dio_rw", "iomap_dio_rw" }, "__iomap_dio_rw" },
		{ { "submit_bio_wait", "blkdev_issue_flush", "ext4_sync_file" },
		  "blkdev_issue_flush" },
		/* Nothing but the way in: the lock, if there is one. The scheduler says nothing. */
		{ { "schedule", "mutex_lock", "__x64_sys_foo", "do_syscall_64" }, "mutex_lock" },
		{ { "schedule", "do_syscall_64", "entry_SYSCALL_64_after_hwframe" }, NULL },
		{ { "do_syscall_64", "entry_SYSCALL_64_after_hwframe" }, NULL },
		/* Addresses without a name, as of programs at tracepoints (riscv64). */
		{ { "", "", "schedule", "pipe_read", "vfs_read" }, "pipe_read" },
		{ { NULL }, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = 0, at;

		while (cases[i].stack[n])
			n++;
		at = symbols_telling(cases[i].stack, n);
		if (!cases[i].chosen)
			assert_int_equal(at, n);
		else if (at == n || strcmp(cases[i].stack[at], cases[i].chosen))
			fail_msg("case %zu: %s", i, at == n ? "none" : cases[i].stack[at]);
	}
}

/* Names as a person knows them, whatever a compiler or a stack writes behind them. */
TEST(test_length)
{
	assert_int_equal(symbol_length("do_sigtimedwait.isra.0"), strlen("do_sigtimedwait"));
	assert_int_equal(symbol_length("pipe_read+0x1a/0x20"), strlen("pipe_read"));
	assert_int_equal(symbol_length("pipe_read"), strlen("pipe_read"));
	assert_int_equal(symbol_length(""), 0);
}
