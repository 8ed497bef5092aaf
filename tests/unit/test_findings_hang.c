// SPDX-License-Identifier: GPL-2.0-or-later
/* What is found of who hangs, or is kept waiting in a call, and of who keeps him. */
#include "tests/lib/test.h"

#include "tests/lib/findings.h"

/* In uninterruptible sleep for a second and more. */
FINDINGS_TEST(test_hang)
{
	struct state *s = *state;
	struct site *site;

	sleeps(s, 1, SEEN_DWAIT, 999);
	build(s);
	assert_int_equal(s->findings.n, 1);
	assert_string_equal(s->findings.all[0].id, "dwait");
	sleeps(s, 2, SEEN_BLKIO, 1000);
	build(s);
	check(s, 0, "hang", "1 task hung: gamma 3, >= 1.0 s for block I/O");
	assert_string_equal(s->findings.all[0].kind, "blkio");
	assert_int_equal(s->findings.all[0].severity, FINDING_CRITICAL);
	assert_int_equal(s->findings.all[0].ns, SEC(1));
	assert_true(s->findings.all[0].share < 0);
	/* It is not told again as a share. */
	for (size_t i = 1; i < s->findings.n; i++)
		assert_string_not_equal(s->findings.all[i].id, "io");
	assert_true(s->findings.all[0].at_least);
	/* Where the source knows when it began it is no "at least". */
	sleeps(s, 0, SEEN_DWAIT, 41000);
	s->now[0]->now.exact = true;
	build(s);
	check(s, 0, "hang", "2 tasks hung: alpha 1, 41 s in state D");
	assert_false(s->findings.all[0].at_least);
	assert_string_equal(s->findings.all[0].kind, "dwait");
	assert_int_equal(s->findings.all[0].row->task->key.pid, 1);
	/* A thread that waits longer for a CPU is not taken for it. */
	sleeps(s, 0, SEEN_CPU, 60000);
	build(s);
	check(s, 0, "hang", "2 tasks hung: alpha 1, 41 s in state D");
	site = traces(s, 0, STATE_DWAIT, 2000);
	site->syscall = "pwrite64";
	site->on = "/mnt/nc/x";
	site->where = "percpu_rwsem_wait";
	site->waiting = 1;
	site->waiting_ns = SEC(41);
	build(s);
	check(s, 0, "hang", "2 tasks hung: alpha 1, 41 s in pwrite64 on /mnt/nc/x (frozen)");
	/* The lock is of no file system. */
	site->on = NULL;
	build(s);
	check(s, 0, "hang", "2 tasks hung: alpha 1, 41 s in pwrite64 (percpu_rwsem_wait)");
}

/* What the hanging task waits on, as read of it, and no older than the sample. */
FINDINGS_TEST(test_hang_waiting)
{
	struct state *s = *state;
	struct task_waiting *waiting = xcalloc(1, sizeof(*waiting));

	sleeps(s, 3, SEEN_DWAIT, 5000);
	sample_add_extra(&s->scene.samples[1], 3)->waiting = waiting;
	*waiting = (struct task_waiting){ .tid = 4, .state = STATE_DWAIT, .syscall = "fsync" };
	buf_puts(&waiting->on, "/srv/\x01");
	buf_cstr(&waiting->on);
	build(s);
	check(s, 0, "hang", "1 task hung: delta 4, >= 5.0 s in fsync on /srv/\\x01");
	assert_false(finding_wants_target(&s->findings.none));
	buf_puts(&waiting->where, "folio_wait_bit");
	buf_cstr(&waiting->where);
	build(s);
	check(s, 0, "hang",
	      "1 task hung: delta 4, >= 5.0 s in fsync on /srv/\\x01 (folio_wait_bit)");
	waiting->tid = 0;
	build(s);
	check(s, 0, "hang", "1 task hung: delta 4, >= 5.0 s in state D");
	assert_true(finding_wants_target(&s->findings.all[0]));
}

/* Several threads wait for a lock at each look, none of them for long. */
FINDINGS_TEST(test_contended)
{
	struct state *s = *state;
	struct sample *cur = &s->scene.samples[1];
	struct task_extra *extra = sample_add_extra(cur, 1);
	struct task_waiting *waiting = xcalloc(1, sizeof(*waiting));

	s->now[1]->now.threads = 8;
	runs(s, 1, 10);
	extra->waiting = waiting;
	extra->hang = (struct task_hang){ .tid = 5, .since_ns = cur->end_ns, .locked = 6 };
	*waiting = (struct task_waiting){ .tid = 5, .state = STATE_LOCK, .syscall = "futex" };
	buf_puts(&waiting->on, "futex 0x10 held by 2 beta (6 wait)");
	buf_cstr(&waiting->on);
	build(s);
	check(s, 0, "lock",
	      "lock: beta 2: 6 of 8 threads wait, right now in futex on futex 0x10 held by 2 "
	      "beta (6 wait)");
	/* One that waits for long is told of as such. */
	extra->hang.since_ns = cur->end_ns - SEC(20);
	cur->hangs_read = true;
	build(s);
	check(s, 0, "kept",
	      "1 task blocked: beta 2, 20 s in futex on futex 0x10 held by 2 beta (6 wait)");
	assert_int_equal(s->findings.n, 1);
}

/* In a call, kept by somebody; by the server of a file system. */
FINDINGS_TEST(test_kept)
{
	struct state *s = *state;
	struct task_waiting *waiting = xcalloc(1, sizeof(*waiting));
	struct sample *cur = &s->scene.samples[1];
	struct task_extra *extra = sample_add_extra(cur, 1);

	extra->waiting = waiting;
	cur->hangs_read = true;
	build(s);
	check_none(s, "no waits");
	extra->hang.tid = 2;
	extra->hang.since_ns = cur->end_ns - MS(999);
	build(s);
	check_none(s, "no waits");
	extra->hang.since_ns = cur->end_ns - SEC(20);
	build(s);
	check(s, 0, "kept", "1 task blocked: beta 2, 20 s");
	assert_int_equal(s->findings.all[0].severity, FINDING_INFO);
	/* Frozen there, which is only known where it was asked about. */
	extra->held = xcalloc(1, sizeof(struct task_stop));
	extra->held->frozen = true;
	build(s);
	check_none(s, "no waits");
	extra->held->frozen = false;
	*waiting = (struct task_waiting){ .tid = 2, .state = STATE_PIPE, .syscall = "read" };
	buf_puts(&waiting->on, "pipe of 7 tee");
	buf_cstr(&waiting->on);
	build(s);
	check(s, 0, "kept", "1 task blocked: beta 2, 20 s in read on pipe of 7 tee");
	assert_string_equal(s->findings.all[0].kind, "pipe");
	/* Where there is little room who holds a lock says more than its address. */
	waiting->state = STATE_LOCK;
	waiting->syscall = "futex";
	waiting->on.len = 0;
	buf_puts(&waiting->on, "futex 0x55877bcee200 held by 7 lock-holder (20 wait)");
	buf_cstr(&waiting->on);
	build(s);
	check(s, 0, "kept",
	      "1 task blocked: beta 2, 20 s in futex on futex 0x55877bcee200 held by 7 "
	      "lock-holder (20 wait)");
	s->text.len = 0;
	finding_append(&s->text, &s->findings, &s->findings.all[0], 75, TEXT_UTF8);
	assert_string_equal(buf_cstr(&s->text),
			    "1 task blocked: beta, 20 s in futex held by 7 lock-holder (20 wait)");
	waiting->state = STATE_OTHER;
	waiting->syscall = "read";
	waiting->on.len = 0;
	buf_puts(&waiting->on, "/far/file");
	buf_cstr(&waiting->on);
	buf_puts(&waiting->where, "request_wait_answer");
	buf_cstr(&waiting->where);
	build(s);
	check(s, 0, "file-server",
	      "file server not responding: beta 2 waits 20 s in read on /far/file");
	assert_int_equal(s->findings.n, 1);
	assert_int_equal(s->findings.all[0].severity, FINDING_CRITICAL);
}

/* The same of a server, as traced. */
FINDINGS_TEST(test_server)
{
	struct state *s = *state;
	struct site *site = traces(s, 1, STATE_OTHER, 2000);

	site->syscall = "read";
	site->on = "/far/file";
	site->where = "request_wait_answer";
	site->waiting = 2;
	site->waiting_ns = MS(999);
	build(s);
	check_none(s, "no waits");
	site->waiting_ns = SEC(130);
	build(s);
	check(s, 0, "file-server",
	      "file server not responding: beta 2 waits 130 s in read on /far/file (and 1 "
	      "other)");
	/* One that has nothing to do looks the same but for the function. */
	site->where = "pipe_read";
	build(s);
	check_none(s, "no waits");
}

/* Threads of the kernel wait for disks as others have them write. */
FINDINGS_TEST(test_kernel)
{
	struct state *s = *state;
	struct task *kthreadd = s->now[1]->task;

	waits(s, 2, DELAY_BLKIO, 1200);
	s->now[2]->task->ppid = 2;
	kthreadd->ppid = 0;
	build(s);
	assert_int_equal(s->findings.n, 1);
	task_set_comm(kthreadd, "kthreadd", 8);
	build(s);
	check_none(s, "only a kernel thread waits for long; gamma 3 waited most, 1200 ms");
}
