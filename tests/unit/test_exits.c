// SPDX-License-Identifier: GPL-2.0-or-later
/* Exit records: what is taken of them, when, and for how long; and lists of CPUs. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/lib/calls.h"
#include "tests/lib/exiting.h"

/* Asserts that counters are those of the values, as far as the version has them. */
static void check_counters(const struct counters *counters, unsigned version,
			   const struct record_values *values)
{
	static const unsigned since[RECORD_KINDS] = { 8, 8, 8, 8, 9, 11, 13, 14 };

	for (unsigned kind = 0; kind < RECORD_KINDS; kind++) {
		bool has = version >= since[kind];

		assert_int_equal(counters->valid & DELAY_BOTH(DELAY_BIT(kind)),
				 has ? DELAY_BOTH(DELAY_BIT(kind)) : 0);
		assert_true(counters->delay[kind].count == (has ? values->delay[kind].count : 0));
		assert_true(counters->delay[kind].ns == (has ? values->delay[kind].total : 0));
	}
	assert_int_equal(counters->valid & (VALID_RUN | VALID_TICK), VALID_RUN | VALID_TICK);
	assert_true(counters->run_ns == values->cpu_run_virtual_total);
	assert_true(counters->user_ns == values->ac_utime * 1000);
	assert_true(counters->system_ns == values->ac_stime * 1000);
}

/* Asserts who a record says has ended, and how. */
static void check_who(const struct exit_record *record, const struct record_values *values)
{
	assert_int_equal(record->pid, values->ac_pid);
	assert_int_equal(record->ppid, values->ac_ppid);
	assert_true(record->uid == values->ac_uid);
	assert_string_equal(record->comm, values->ac_comm);
	assert_int_equal(record->status, values->ac_exitcode);
	assert_int_equal(record->counters.members, 1);
}

/* A process of one thread. */
TEST(test_single)
{
	struct kernel kernel;

	for (unsigned threads = 0; threads < 2; threads++) {
		struct record_values task = make_task(70, 70, AGROUP);
		const struct exit_record *record;

		kernel_open(&kernel, threads);
		send_exit(&kernel, 0, &task, NULL);
		record = drain(&kernel, 1);
		check_who(record, &task);
		check_counters(&record->counters, USUAL, &task);
		assert_true(record->last);
		assert_int_equal(record->tgid, 70);
		assert_true(record->life_ns == (threads ? task.ac_etime : task.ac_tgetime) * 1000);
		assert_true(record->counters.life_ns == task.ac_etime * 1000);
		assert_true(record->single);
		kernel_close(&kernel);
	}
}

/* A thread whose process goes on: the leader or another. */
TEST(test_thread)
{
	struct kernel kernel;

	for (unsigned threads = 0; threads < 2; threads++) {
		struct record_values task = make_task(70, 72, 0), leader = make_task(70, 70, 1);
		const struct exit_record *records;

		kernel_open(&kernel, threads);
		send_exit(&kernel, 0, &task, NULL);
		send_exit(&kernel, 0, &leader, NULL);
		records = drain(&kernel, 2);
		for (unsigned i = 0; i < 2; i++) {
			check_who(&records[i], i ? &leader : &task);
			check_counters(&records[i].counters, USUAL, i ? &leader : &task);
			assert_false(records[i].last);
			assert_int_equal(records[i].tgid, 70);
		}
		kernel_close(&kernel);
	}
}

/* The last of several threads brings the group's counters: those of a process. */
TEST(test_last)
{
	struct kernel kernel;

	for (unsigned threads = 0; threads < 2; threads++) {
		struct record_values task = make_task(70, 72, AGROUP), group;
		const struct exit_record *record;

		kernel_open(&kernel, threads);
		record_fill(&group, 4711);
		send_exit(&kernel, 1, &task, &group);
		record = drain(&kernel, 1);
		check_who(record, &task);
		check_counters(&record->counters, USUAL, threads ? &task : &group);
		assert_true(record->last);
		assert_int_equal(record->tgid, 70);
		assert_true(record->life_ns == (threads ? task.ac_etime : task.ac_tgetime) * 1000);
		/* How long all threads lived is not known. */
		assert_true(record->counters.life_ns == (threads ? task.ac_etime * 1000 : 0));
		assert_int_equal(record->single, threads);
		kernel_close(&kernel);
	}
}

/* What a task cannot have waited in its life is left out, of a process's sum too. */
TEST(test_impossible)
{
	const uint32_t blkio = DELAY_BIT(DELAY_BLKIO);
	struct record_values task = make_task(70, 72, AGROUP), group = make_task(0, 0, 0);
	struct exit_record *record;
	struct kernel kernel;

	task.delay[DELAY_BLKIO].total = task.ac_etime * 1000 * 5 + 5000000;
	task.delay[DELAY_BLKIO].count = 3;
	group.delay[DELAY_BLKIO].total = task.delay[DELAY_BLKIO].total + 4711;
	group.delay[DELAY_BLKIO].count = 10;
	for (unsigned threads = 0; threads < 2; threads++) {
		kernel_open(&kernel, threads);
		send_exit(&kernel, 0, &task, NULL);
		send_exit(&kernel, 1, &task, &group);
		record = drain(&kernel, 2);
		assert_int_equal(record[0].left_out, blkio);
		assert_int_equal(record[0].counters.delay[DELAY_BLKIO].ns, 0);
		assert_int_equal(record[0].counters.delay[DELAY_CPU].ns,
				 task.delay[DELAY_CPU].total);
		assert_int_equal(record[1].left_out, threads ? blkio : 0);
		assert_int_equal(record[1].counters.delay[DELAY_BLKIO].ns, threads ? 0 : 4711);
		assert_int_equal(record[1].counters.delay[DELAY_BLKIO].count, threads ? 0 : 7);
		assert_int_equal(exits_stats(kernel.exits)->impossible, 2);
		kernel_close(&kernel);
	}
}

/* What is a little too much of several waits is cut to the life, in a process's sum too. */
TEST(test_cut)
{
	struct record_values task = make_task(70, 72, AGROUP), group = make_task(0, 0, 0);
	uint64_t life_ns = task.ac_etime * 1000;
	struct exit_record *record;
	struct kernel kernel;

	task.delay[DELAY_BLKIO].total = life_ns + life_ns / 2 + 5000000;
	task.delay[DELAY_BLKIO].count = 30;
	group.delay[DELAY_BLKIO].total = task.delay[DELAY_BLKIO].total + 4711;
	group.delay[DELAY_BLKIO].count = 37;
	for (unsigned threads = 0; threads < 2; threads++) {
		kernel_open(&kernel, threads);
		send_exit(&kernel, 0, &task, NULL);
		send_exit(&kernel, 1, &task, &group);
		record = drain(&kernel, 2);
		assert_int_equal(record[0].left_out, 0);
		assert_true(record[0].impossible && record[1].impossible);
		assert_int_equal(record[0].counters.delay[DELAY_BLKIO].ns, life_ns);
		assert_int_equal(record[0].counters.delay[DELAY_BLKIO].count, 30);
		assert_int_equal(record[1].left_out, 0);
		assert_int_equal(record[1].counters.delay[DELAY_BLKIO].ns,
				 threads ? life_ns : life_ns + 4711);
		assert_int_equal(record[1].counters.delay[DELAY_BLKIO].count, threads ? 30 : 37);
		kernel_close(&kernel);
	}
	/* Of a thread that ends before the others it is the excess in the process's sum. */
	task.ac_flag = 0;
	kernel_open(&kernel, false);
	send_exit(&kernel, 0, &task, NULL);
	record = drain(&kernel, 1);
	assert_int_equal(record[0].left_out, DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(record[0].counters.delay[DELAY_BLKIO].ns,
			 task.delay[DELAY_BLKIO].total - life_ns);
	assert_int_equal(record[0].counters.delay[DELAY_BLKIO].count, 0);
	kernel_close(&kernel);
}

/* The group's part says who the group is, whatever the task's says; its order is free. */
TEST(test_last_group)
{
	uint8_t bytes[MESSAGE_MAX], record[RECORD_MAX];
	struct record_values task = make_task(0, 72, 0), group = make_task(0, 0, 0);
	struct record_message message = { .type = FAMILY,
					  .cmd = 2,
					  .seq = 100,
					  .tgid = true,
					  .id = 70,
					  .pad = true,
					  .unknown = true,
					  .record = record };
	struct kernel kernel;
	uint32_t len;

	kernel_open(&kernel, false);
	message.len = record_make(record, USUAL, &group);
	len = (uint32_t)record_message(bytes, &message);
	message.tgid = false;
	message.id = 72;
	message.len = record_make(record, USUAL, &task);
	len += (uint32_t)record_attributes(bytes + len, &message);
	memcpy(bytes, &len, sizeof(len));
	send_bytes(&kernel, 0, bytes, len);
	check_counters(&drain(&kernel, 1)->counters, USUAL, &group);
	assert_int_equal(drain(&kernel, 1)->tgid, 70);
	assert_int_equal(drain(&kernel, 1)->pid, 72);
	assert_true(drain(&kernel, 1)->last);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	kernel_close(&kernel);
}

/* All versions; before 12 the record says neither the group nor its start. */
TEST(test_versions)
{
	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST + 1; version++) {
		struct record_values task = make_task(70, 70, AGROUP);
		struct record_values last = make_task(80, 82, AGROUP), group;
		const struct exit_record *records;
		struct kernel kernel;

		kernel_open(&kernel, false);
		kernel.version = version;
		record_fill(&group, 4711);
		send_exit(&kernel, 0, &task, NULL);
		send_exit(&kernel, 0, &last, &group);
		records = drain(&kernel, 2);
		check_who(&records[0], &task);
		check_counters(&records[0].counters, version, &task);
		assert_int_equal(records[0].tgid, version < 12 ? 0 : 70);
		assert_true(records[0].life_ns ==
			    (version < 12 ? task.ac_etime : task.ac_tgetime) * 1000);
		check_who(&records[1], &last);
		check_counters(&records[1].counters, version, &group);
		assert_int_equal(records[1].tgid, 80);
		assert_true(records[1].last);
		assert_int_equal(exits_stats(kernel.exits)->lost, 0);
		kernel_close(&kernel);
	}
}

/* Names are raw bytes, which need no end and no sense. */
TEST(test_comm)
{
	struct record_values task = make_task(70, 70, AGROUP);
	struct kernel kernel;

	kernel_open(&kernel, false);
	memset(task.ac_comm, 'x', sizeof(task.ac_comm));
	memcpy(task.ac_comm, "\x1b[2J\xff\n)(", 8);
	send_exit(&kernel, 0, &task, NULL);
	assert_memory_equal(drain(&kernel, 1)->comm, task.ac_comm, sizeof(task.ac_comm));
	assert_int_equal(drain(&kernel, 1)->comm[sizeof(task.ac_comm)], 0);
	exits_clear(kernel.exits);
	memset(task.ac_comm, 0, sizeof(task.ac_comm));
	memcpy(task.ac_comm, "a\0b", 3);
	send_exit(&kernel, 0, &task, NULL);
	assert_string_equal(drain(&kernel, 1)->comm, "a");
	assert_int_equal(drain(&kernel, 1)->comm[2], 0);
	exits_clear(kernel.exits);
	task.ac_comm[0] = '\0';
	send_exit(&kernel, 0, &task, NULL);
	assert_string_equal(drain(&kernel, 1)->comm, "");
	kernel_close(&kernel);
}

/* A record came between two drains of its listener. */
TEST(test_times)
{
	struct record_values task = make_task(70, 70, AGROUP);
	const struct exit_record *records;
	struct kernel kernel;
	uint64_t t[5];

	t[0] = clock_ns(CLOCK_MONOTONIC);
	kernel_open(&kernel, false);
	t[1] = clock_ns(CLOCK_MONOTONIC);
	send_exit(&kernel, 0, &task, NULL);
	drain(&kernel, 1);
	t[2] = clock_ns(CLOCK_MONOTONIC);
	send_exit(&kernel, 0, &task, NULL);
	send_exit(&kernel, 1, &task, NULL);
	t[3] = clock_ns(CLOCK_MONOTONIC);
	records = drain(&kernel, 3);
	t[4] = clock_ns(CLOCK_MONOTONIC);
	assert_true(records[0].lo_ns >= t[0] && records[0].lo_ns <= t[1]);
	assert_true(records[0].hi_ns >= t[1] && records[0].hi_ns <= t[2]);
	/* The second listener was seen empty then, too. */
	for (unsigned i = 1; i < 3; i++) {
		assert_true(records[i].lo_ns >= t[1] && records[i].lo_ns <= t[2]);
		assert_true(records[i].hi_ns >= t[3] && records[i].hi_ns <= t[4]);
	}
	kernel_close(&kernel);
}

/* With nothing there a drain is one call; it waits for nobody, and says when the next is due. */
TEST(test_due)
{
	struct record_values task = make_task(70, 70, AGROUP);
	const struct exits_stats *stats;
	struct kernel kernel;
	uint64_t before, now;

	kernel_open(&kernel, false);
	stats = exits_stats(kernel.exits);
	now = clock_ns(CLOCK_MONOTONIC);
	assert_true(exits_due_ns(kernel.exits) <= now + NSEC_PER_SEC);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t due = exits_due_ns(kernel.exits);

		before = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(CALLS_OF(drain(&kernel, 0)), 1);
		now = clock_ns(CLOCK_MONOTONIC);
		assert_true(exits_due_ns(kernel.exits) > due);
		assert_true(exits_due_ns(kernel.exits) >= before + 50 * NSEC_PER_MSEC);
		assert_true(exits_due_ns(kernel.exits) <= now + NSEC_PER_SEC);
	}
	send_exit(&kernel, 1, &task, NULL);
	assert_int_equal(CALLS_OF(drain(&kernel, 1)), 2);
	assert_true(stats->exact);
	kernel_close(&kernel);
}

/* More records than one call takes, on both listeners; each in its order. */
TEST(test_many)
{
	struct exit_record *records;
	struct kernel kernel;

	kernel_open(&kernel, false);
	kernel.version = 8;
	for (uint32_t i = 0; i < 64; i++) {
		struct record_values task = make_task(1000 + i, 1000 + i, AGROUP);

		send_exit(&kernel, 0, &task, NULL);
		if (i < 63)
			send_exit(&kernel, 1, &task, NULL);
	}
	for (uint32_t i = 64; i < 100; i++) {
		struct record_values task = make_task(1000 + i, 1000 + i, AGROUP);

		send_exit(&kernel, 0, &task, NULL);
	}
	records = drain(&kernel, 163);
	for (unsigned i = 0; i < 163; i++)
		assert_int_equal(records[i].pid, 1000 + (i < 100 ? i : i - 100));
	assert_int_equal(exits_stats(kernel.exits)->received, 163);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	/* They are kept until they are cleared. */
	drain(&kernel, 163);
	exits_clear(kernel.exits);
	drain(&kernel, 0);
	kernel_close(&kernel);
}

/* What a storm took is given back when it is over. */
TEST(test_clear)
{
	struct kernel kernel;
	struct exit_record *records;
	size_t n;

	kernel_open(&kernel, false);
	exits_want_fields(kernel.exits, true);
	storm(&kernel, 1, 5000);
	assert_int_equal(drain(&kernel, 5000)[4999].pid, 5000);
	exits_clear(kernel.exits);
	storm(&kernel, 1, 10);
	assert_non_null(drain(&kernel, 10));
	exits_clear(kernel.exits);
	records = exits_records(kernel.exits, &n);
	assert_null(records);
	assert_null(exits_fields(kernel.exits));
	assert_int_equal(n, 0);
	/* A little is kept. */
	storm(&kernel, 100, 700);
	exits_clear(kernel.exits);
	storm(&kernel, 900, 10);
	exits_clear(kernel.exits);
	assert_non_null(exits_records(kernel.exits, &n));
	storm(&kernel, 50, 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(exits_fields(kernel.exits)[drain(&kernel, 20)[i].field]
					 .field[RECORD_ac_pid],
				 50 + (i < 10 ? 2 * i : 2 * (i - 10) + 1));
	assert_int_equal(exits_stats(kernel.exits)->received, 5740);
	assert_int_equal(exits_stats(kernel.exits)->lost, 0);
	kernel_close(&kernel);
}

/* All fields are kept only where they are wanted. */
TEST(test_fields)
{
	struct record_values one = make_task(70, 70, AGROUP), two = make_task(80, 82, AGROUP);
	struct record_values group = make_task(0, 4711, 0);
	const struct task_record *fields;
	struct exit_record *records;
	struct kernel kernel;

	kernel_open(&kernel, false);
	assert_null(exits_fields(kernel.exits));
	send_exit(&kernel, 0, &one, NULL);
	drain(&kernel, 1);
	assert_null(exits_fields(kernel.exits));
	/* Not in the middle: the first has none. */
	exits_want_fields(kernel.exits, true);
	send_exit(&kernel, 0, &two, NULL);
	drain(&kernel, 2);
	assert_null(exits_fields(kernel.exits));
	exits_clear(kernel.exits);
	exits_want_fields(kernel.exits, true);
	send_exit(&kernel, 0, &one, NULL);
	send_exit(&kernel, 0, &two, &group);
	records = drain(&kernel, 2);
	fields = exits_fields(kernel.exits);
	assert_non_null(fields);
	/* They are the task's: the group's record has sums of delays only. */
	for (unsigned i = 0; i < 2; i++) {
		const struct task_record *own = &fields[records[i].field];
		const struct record_values *values = i ? &two : &one;

		assert_true(own->fields_valid == RECORD_BIT(RECORD_FIELDS) - 1);
		assert_int_equal(own->field[RECORD_ac_pid], values->ac_pid);
		assert_true(own->field[RECORD_read_bytes] == values->read_bytes);
		assert_true(own->field[RECORD_ac_exe_inode] == values->ac_exe_inode);
		assert_int_equal(own->range_valid, DELAY_ALL);
		assert_true(own->max[DELAY_IRQ] == values->delay[DELAY_IRQ].max);
	}
	exits_clear(kernel.exits);
	exits_want_fields(kernel.exits, false);
	send_exit(&kernel, 0, &one, NULL);
	drain(&kernel, 1);
	assert_null(exits_fields(kernel.exits));
	kernel_close(&kernel);
}

/* Some records are kept, in another order; their fields go with them. */
TEST(test_keep)
{
	struct kernel kernel;

	for (unsigned fields = 0; fields < 2; fields++) {
		static const uint32_t left[] = { 109, 102, 104, 200, 202, 201, 203 };
		struct exit_record *records;

		kernel_open(&kernel, false);
		exits_want_fields(kernel.exits, fields);
		storm(&kernel, 100, 10);
		records = drain(&kernel, 10);
		/* By listeners: 100 102 104 106 108, 101 103 105 107 109 */
		records[0] = records[9];
		exits_keep(kernel.exits, 3);
		drain(&kernel, 3);
		storm(&kernel, 200, 4);
		records = drain(&kernel, 7);
		for (unsigned i = 0; i < 7; i++) {
			assert_int_equal(records[i].pid, left[i]);
			if (fields)
				assert_int_equal(exits_fields(kernel.exits)[records[i].field]
							 .field[RECORD_ac_pid],
						 left[i]);
		}
		exits_keep(kernel.exits, 0);
		drain(&kernel, 0);
		storm(&kernel, 300, 1);
		assert_int_equal(drain(&kernel, 1)->pid, 300);
		assert_int_equal(exits_stats(kernel.exits)->received, 15);
		kernel_close(&kernel);
	}
}

/* Whoever has the privileges from the file alone gets no more of the kernel's memory by asking. */
TEST(test_buffer)
{
	for (size_t n = 1; n <= 64; n *= 2) {
		size_t usual = exits_buffer(0, n, false);

		assert_in_range(usual, 1 << 20, 1 << 25);
		assert_in_range(usual * n, 1 << 25, 1 << 28);
		assert_int_equal(exits_buffer(0, n, true), usual);
		for (unsigned secure = 0; secure < 2; secure++) {
			assert_int_equal(exits_buffer(65536, n, secure), 65536);
			assert_int_equal(exits_buffer(usual, n, secure), usual);
			assert_int_equal(exits_buffer(1 << 30, n, secure),
					 secure ? usual : 1 << 30);
		}
	}
}

/* CPUs by the list of those that can be there. */
TEST(test_cpus)
{
	static const struct {
		const char *list;
		unsigned cpus;
	} cases[] = {
		{ "0", 1 },
		{ "0\n", 1 },
		{ "0-3", 4 },
		{ "0-3\n", 4 },
		{ "0-3,8", 9 },
		{ "0-3,8\n", 9 },
		{ "0,2,4-5\n", 6 },
		{ "8,0-3", 9 },
		{ "0-8191\n", 8192 },
		{ "0-65535", 65536 },
		{ "7", 8 },
		{ "", 0 },
		{ "\n", 0 },
		{ "x", 0 },
		{ "0-", 0 },
		{ "0-\n", 0 },
		{ "0,", 0 },
		{ "-3", 0 },
		{ "0-3 ", 0 },
		{ "0-3x", 0 },
		{ " 0-3", 0 },
		{ "0--3", 0 },
		{ "0x3", 0 },
		{ "0-65536", 0 },
		{ "0-4294967296", 0 },
		{ "0-18446744073709551616", 0 },
		{ "0-99999999999999999999999999", 0 },
	};
	char list[1024] = "";
	int n;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(exits_cpus(cases[i].list), cases[i].cpus);
	n = file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", list, sizeof(list) - 1);
	if (n > 0)
		assert_true(exits_cpus(list) >= (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
}

/* What was never opened is closed like what was. */
TEST(test_close_nothing)
{
	exits_close(NULL);
}
