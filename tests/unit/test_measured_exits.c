// SPDX-License-Identifier: GPL-2.0-or-later
/* What was measured and traced of tasks that ended, put into their exit records. */
#include "tests/lib/test.h"

#include "base/util.h"
#include "bpf/end_ring.h"
#include "bpf/measure_record.h"
#include "bpf/trace_record.h"
#include "kernel/exits.h"
#include "read/measured_exits.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))
#define BLKIO DELAY_BIT(DELAY_BLKIO)
#define RECLAIM DELAY_BIT(DELAY_RECLAIM)
#define SIZE sizeof(struct measured_end)

/* The end of a thread that began at 1 s, in a process that began at 0.5 s. */
static struct measured_end ended(uint64_t sequence, pid_t pid, pid_t tgid, bool last)
{
	return (struct measured_end){ .end = { .sequence = sequence,
					       .pid = pid,
					       .tgid = tgid,
					       .last = last,
					       .start_ns = MS(1000),
					       .process_start_ns = MS(500) },
				      .own[MEASURED_BLKIO] = { .ns = MS(3), .count = 2 },
				      .own[MEASURED_RECLAIM] = { .ns = MS(1), .count = 1 },
				      .process[MEASURED_BLKIO] = { .ns = MS(30), .count = 20 },
				      .process[MEASURED_RECLAIM] = { .ns = MS(10), .count = 10 } };
}

/* A record of that end, by the clock of the kernel's records; 500 s were booked. */
static struct exit_record record(pid_t pid, pid_t tgid, bool last)
{
	return (struct exit_record){
		.pid = pid,
		.tgid = tgid,
		.last = last,
		.life_ns = last ? MS(4500) : MS(4000),
		.lo_ns = MS(4990),
		.hi_ns = MS(5010),
		.counters = { .valid = DELAY_BOTH(DELAY_ALL),
			      .delay[DELAY_BLKIO] = { .count = 2, .ns = MS(500000) } },
	};
}

/* Of a process the sum of all threads, of a thread its own. */
TEST(test_whose)
{
	struct measured_exits ends = { .of.size = SIZE, .kinds = BLKIO | RECLAIM };
	struct measured_end found = ended(1, 8, 7, true);
	struct exit_record whole = record(8, 7, true), own = record(8, 7, true);

	own.life_ns = MS(4000);
	thread_ends_add(&ends.of, &found, 1);
	assert_int_equal(measured_exits_correct(&ends, &whole, 1, false), 0);
	assert_true(whole.measured);
	assert_int_equal(whole.counters.delay[DELAY_BLKIO].ns, MS(30));
	assert_int_equal(whole.counters.delay[DELAY_BLKIO].count, 20);
	assert_int_equal(whole.counters.delay[DELAY_RECLAIM].ns, MS(10));
	measured_exits_correct(&ends, &own, 1, true);
	assert_int_equal(own.counters.delay[DELAY_BLKIO].ns, MS(3));
	measured_exits_free(&ends);
}

/* Another task of that id is not meant, nor a process of which threads live on. */
TEST(test_another)
{
	struct measured_exits ends = { .of.size = SIZE, .kinds = BLKIO | RECLAIM };
	struct measured_end found[] = { ended(1, 8, 8, false), ended(2, 9, 9, true) };
	struct exit_record records[] = { record(8, 8, true), record(9, 9, true),
					 record(10, 10, true) };

	records[1].life_ns = MS(3000);
	thread_ends_add(&ends.of, found, ARRAY_SIZE(found));
	measured_exits_correct(&ends, records, ARRAY_SIZE(records), false);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		assert_false(records[i].measured);
		assert_int_equal(records[i].counters.delay[DELAY_BLKIO].ns, MS(500000));
	}
	measured_exits_free(&ends);
}

/* What was left out of a record as impossible is known now, and nothing is taken off its process.
 */
TEST(test_left_out)
{
	struct measured_exits ends = { .of.size = SIZE, .kinds = BLKIO | RECLAIM };
	struct measured_end found[] = { ended(1, 8, 7, false), ended(2, 9, 7, true) };
	struct exit_record records[] = { record(8, 7, false), record(9, 7, true) };

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		records[i].left_out = BLKIO;
		records[i].impossible = true;
		records[i].counters.valid &= ~DELAY_BOTH(BLKIO);
	}
	thread_ends_add(&ends.of, found, ARRAY_SIZE(found));
	assert_int_equal(measured_exits_correct(&ends, records, 2, false), 2);
	assert_int_equal(records[0].left_out | records[1].left_out, 0);
	assert_int_equal(records[1].counters.valid & DELAY_BOTH(BLKIO), DELAY_BOTH(BLKIO));
	/* Each is corrected once. */
	assert_int_equal(measured_exits_correct(&ends, records, 2, false), 0);
	measured_exits_free(&ends);
}

/* A record may come after the next taking; after two its end is forgotten. */
TEST(test_late)
{
	struct measured_exits ends = { .of.size = SIZE, .kinds = BLKIO | RECLAIM };
	struct measured_end found[] = { ended(1, 8, 8, true), ended(2, 9, 9, true),
					ended(3, 10, 10, true) };
	struct exit_record first = record(8, 8, true), again = first;

	thread_ends_add(&ends.of, &found[0], 1);
	thread_ends_add(&ends.of, &found[1], 1);
	measured_exits_correct(&ends, &first, 1, false);
	assert_true(first.measured);
	thread_ends_add(&ends.of, &found[2], 1);
	measured_exits_correct(&ends, &again, 1, false);
	assert_false(again.measured);
	assert_int_equal(ends.of.n, 2);
	measured_exits_free(&ends);
}

/* Where all who waited have an end, the others waited for nothing: not while ends are missing. */
TEST(test_none)
{
	struct measured_exits ends = { .of = { .size = SIZE, .lost_before = true },
				       .kinds = BLKIO,
				       .all = true };
	struct exit_record one = record(8, 8, true), other = one;

	measured_exits_correct(&ends, &one, 1, false);
	assert_false(one.measured);
	ends.of.lost_before = false;
	measured_exits_correct(&ends, &one, 1, false);
	assert_int_equal(one.measured, BLKIO);
	assert_int_equal(one.counters.delay[DELAY_BLKIO].ns, 0);
	ends.all = false;
	measured_exits_correct(&ends, &other, 1, false);
	assert_false(other.measured);
	measured_exits_free(&ends);
}

/* How a task spent its time, as a thread or with all its process; unknown where some was not seen.
 */
TEST(test_times)
{
	struct trace_end kept[4] = {
		[0] = { .end = ended(1, 8, 7, true).end,
			.own = { [STATE_IO] = MS(3) },
			.process = { [STATE_IO] = MS(30) },
			.own_known = 1,
			.process_known = 1 },
		[1] = { .end = ended(2, 9, 9, true).end, .own_known = 1 },
	};
	uint64_t written = 2;
	struct end_ring ring = { .kept = (const char *)kept,
				 .size = sizeof(kept[0]),
				 .room = ARRAY_SIZE(kept),
				 .written = &written };
	struct exit_record records[] = { record(8, 7, true), record(9, 9, true) };
	struct exit_record own = record(8, 7, true);
	struct thread_ends ends;
	size_t n;

	own.life_ns = MS(4000);
	thread_ends_open(&ends, &ring);
	thread_ends_take(&ends, &n);
	assert_int_equal(n, 2);
	thread_ends_put_times(&ends, records, ARRAY_SIZE(records), false);
	assert_true(records[0].times_known);
	assert_int_equal(records[0].times.ns[STATE_IO], MS(30));
	assert_false(records[1].times_known);
	assert_true(records[1].times_tried);
	thread_ends_put_times(&ends, &own, 1, true);
	assert_int_equal(own.times.ns[STATE_IO], MS(3));
	/* More were written than are kept, of which one is being written. */
	for (unsigned i = 0; i < ARRAY_SIZE(kept); i++)
		kept[i].end = ended(7 + i - (i == 3 ? 4 : 0), 20 + (pid_t)i, 20, false).end;
	kept[0].end.sequence = 9;
	kept[1].end.sequence = 10;
	kept[2].end.sequence = 7;
	kept[3].end.sequence = 0;
	written = 10;
	thread_ends_take(&ends, &n);
	assert_int_equal(n, 1);
	assert_true(ends.lost);
	assert_int_equal(ring.taken, 7);
	end_ring_free(&ring);
	thread_ends_free(&ends);
}
