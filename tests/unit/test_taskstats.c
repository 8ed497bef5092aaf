// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder: every version, cut at every length, and messages that no kernel sends. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/taskstats.h"
#include "tests/lib/records.h"

/* The kinds of each version, written out: cpu blkio swapin reclaim thrash compact wpcopy irq. */
static const uint8_t kinds_of[] = { 0x0f, 0x1f, 0x1f, 0x3f, 0x3f, 0x7f, 0xff, 0xff, 0xff, 0xff };

/* A copy in a block of its very size: a read past its end is seen. */
static uint8_t *exact(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = xcalloc(len ? len : 1, 1);

	memcpy(copy, bytes, len);
	return copy;
}

/* Whether the place lies within the first len bytes. */
static bool inside(struct record_place place, size_t len)
{
	return place.size && place.offset + place.size <= len;
}

/* Asserts what taskstats_counters() takes from the first len bytes of a record. */
static void check_counters(const uint8_t *record, size_t len, unsigned version,
			   const struct record_values *values)
{
	struct counters raw;
	uint32_t valid = 0;
	uint64_t run, user, system;
	struct record_place run_at, user_at, system_at;

	memset(&raw, 0xa5, sizeof(raw));
	assert_int_equal(taskstats_counters(record, len, &raw), 0);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		struct record_kind_places at = record_kind(version, kind);

		if (!inside(at.count, len) || !inside(at.total, len))
			continue;
		valid |= DELAY_BOTH(DELAY_BIT(kind));
		assert_true(raw.delay[kind].count == values->delay[kind].count);
		assert_true(raw.delay[kind].ns == values->delay[kind].total);
	}
	assert_true(record_scalar(values, version, "cpu_run_virtual_total", &run, &run_at));
	assert_true(record_scalar(values, version, "ac_utime", &user, &user_at));
	assert_true(record_scalar(values, version, "ac_stime", &system, &system_at));
	if (inside(run_at, len)) {
		valid |= VALID_RUN;
		assert_true(raw.run_ns == run);
	}
	if (inside(user_at, len) && inside(system_at, len)) {
		valid |= VALID_TICK;
		assert_true(raw.user_ns == user * 1000);
		assert_true(raw.system_ns == system * 1000);
	}
	assert_int_equal(raw.valid, valid);
}

/* Asserts what taskstats_record() takes for one field. */
static void check_field(const struct task_record *record, size_t len, unsigned version,
			const struct record_values *values, unsigned field)
{
	const char *id = record_table[field].id;
	struct record_place at;
	uint64_t value;

	assert_true(record_scalar(values, version, id, &value, &at));
	if (!strcmp(id, "ac_nice"))
		value = (uint64_t)(int8_t)value;
	assert_int_equal(!!(record->fields_valid & RECORD_BIT(field)), inside(at, len));
	if (inside(at, len))
		assert_true(record->field[field] == value);
	else
		assert_true(record->field[field] == 0);
}

/* Asserts what taskstats_record() takes for the longest and shortest waits. */
static void check_range(const struct task_record *record, size_t len, unsigned version,
			const struct record_values *values, unsigned kind)
{
	struct record_kind_places at = record_kind(version, kind);
	const struct record_delay *delay = &values->delay[kind];
	bool range = inside(at.max, len) && inside(at.min, len);

	assert_int_equal(!!(record->range_valid & DELAY_BIT(kind)), range);
	if (range) {
		assert_true(record->max[kind] == delay->max);
		assert_true(record->min[kind] == delay->min);
	}
	assert_int_equal(!!(record->stamp_valid & DELAY_BIT(kind)), inside(at.stamp, len));
	if (inside(at.stamp, len))
		assert_true(record->stamp[kind] ==
			    (uint64_t)delay->stamp_sec * 1000000000 + (uint64_t)delay->stamp_nsec);
}

/* Asserts all that the decoder says of the first len bytes of a record. */
static void check_record(const uint8_t *bytes, size_t len, unsigned version,
			 const struct record_values *values)
{
	struct taskstats_identity who;
	struct task_record record;
	struct record_place comm = record_comm(version), etime;
	uint64_t elapsed, value;
	size_t identity = 0;

	check_counters(bytes, len, version, values);
	memset(&record, 0xa5, sizeof(record));
	assert_int_equal(taskstats_record(bytes, len, &record), 0);
	for (unsigned field = 0; field < RECORD_FIELDS; field++)
		check_field(&record, len, version, values, field);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		check_range(&record, len, version, values, kind);

	assert_true(record_scalar(values, version, "ac_etime", &value, &etime));
	assert_int_equal(taskstats_elapsed(bytes, len, &elapsed),
			 inside(etime, len) ? 0 : -EBADMSG);
	if (inside(etime, len))
		assert_true(elapsed == value * 1000);

	/* The elapsed time lies behind the rest of the identity. */
	identity = etime.offset + etime.size;
	assert_true(comm.offset + comm.size < identity);
	assert_int_equal(taskstats_identity(bytes, len, &who), len < identity ? -EBADMSG : 0);
	if (len < identity)
		return;
	assert_int_equal(who.pid, values->ac_pid);
	assert_int_equal(who.ppid, values->ac_ppid);
	assert_int_equal(who.uid, values->ac_uid);
	assert_true(who.elapsed_ns == value * 1000);
	assert_ptr_equal(who.comm, bytes + comm.offset);
	assert_int_equal(who.comm_len, 32);
	assert_memory_equal(who.comm, values->ac_comm, 32);
}

/* Whole records of every version. */
TEST(test_versions)
{
	struct record_values values;
	uint8_t bytes[RECORD_MAX];

	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST; version++) {
		struct counters raw = { 0 };
		size_t len;
		uint8_t *copy;

		record_fill(&values, version);
		len = record_make(bytes, version, &values);
		copy = exact(bytes, len);
		assert_int_equal(taskstats_version(copy, len), version);
		check_record(copy, len, version, &values);
		assert_int_equal(taskstats_counters(copy, len, &raw), 0);
		assert_int_equal(raw.valid, DELAY_BOTH((uint32_t)kinds_of[version - 8]) |
						    VALID_RUN | VALID_TICK);
		free(copy);
	}
}

/* Fields by version: those that came later are not seen in older ones. */
TEST(test_field_counts)
{
	static const uint8_t fields[] = { 32, 32, 33, 33, 37, 37, 37, 37, 37, 37 };
	struct record_values values;
	uint8_t bytes[RECORD_MAX];

	assert_int_equal(RECORD_FIELDS, 37);
	record_fill(&values, 3);
	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST; version++) {
		struct task_record record;
		size_t len = record_make(bytes, version, &values);

		assert_int_equal(taskstats_record(bytes, len, &record), 0);
		assert_int_equal(__builtin_popcountll(record.fields_valid), fields[version - 8]);
		assert_int_equal(record.range_valid, version < 15 ? 0 : 0xff);
		assert_int_equal(record.stamp_valid, version < 17 ? 0 : 0xff);
	}
}

/* Bytes behind a record of an old version are not the fields of a later one. */
TEST(test_longer)
{
	struct record_values values;
	uint8_t bytes[RECORD_MAX];

	record_fill(&values, 4);
	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST; version++) {
		struct task_record whole, longer;
		struct counters raw = { 0 };
		size_t len = record_make(bytes, version, &values);

		assert_int_equal(taskstats_record(bytes, len, &whole), 0);
		memset(bytes + len, 0x11, sizeof(bytes) - len);
		assert_int_equal(taskstats_counters(bytes, sizeof(bytes), &raw), 0);
		assert_int_equal(raw.valid, DELAY_BOTH((uint32_t)kinds_of[version - 8]) |
						    VALID_RUN | VALID_TICK);
		assert_int_equal(taskstats_record(bytes, sizeof(bytes), &longer), 0);
		assert_memory_equal(&whole, &longer, sizeof(whole));
	}
}

/* Some of the fields: they, as far as the version has them, and nothing else. */
TEST(test_some_fields)
{
	uint64_t wanted = RECORD_BIT(RECORD_ac_exitcode) | RECORD_BIT(RECORD_ac_tgetime);
	struct record_values values;
	uint8_t bytes[RECORD_MAX];

	record_fill(&values, 4);
	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST; version++) {
		struct task_record whole, some, left;
		size_t len = record_make(bytes, version, &values);

		memset(&some, 0x22, sizeof(some));
		left = some;
		assert_int_equal(taskstats_record(bytes, len, &whole), 0);
		assert_int_equal(taskstats_fields(bytes, len, wanted, &some), 0);
		left.fields_valid = whole.fields_valid & wanted;
		for (unsigned field = 0; field < RECORD_FIELDS; field++)
			if (left.fields_valid & RECORD_BIT(field))
				left.field[field] = whole.field[field];
		assert_memory_equal(&some, &left, sizeof(some));
	}
	assert_int_equal(taskstats_fields(bytes, 1, wanted, &(struct task_record){ 0 }), -EBADMSG);
}

/* Every version cut at every length: never read past the end, and nothing invented. */
TEST(test_truncated)
{
	struct record_values values;
	uint8_t bytes[RECORD_MAX];

	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST; version++) {
		size_t size;

		record_fill(&values, 7 * version);
		size = record_make(bytes, version, &values);
		for (size_t len = 0; len <= size; len++) {
			uint8_t *copy = exact(bytes, len);
			struct counters raw;

			if (len < 2) {
				assert_int_equal(taskstats_version(copy, len), -EBADMSG);
				assert_int_equal(taskstats_counters(copy, len, &raw), -EBADMSG);
			} else {
				check_record(copy, len, version, &values);
			}
			free(copy);
		}
	}
}

/* Versions without a known layout, and ones to come, which only add at the end. */
TEST(test_other_versions)
{
	static const unsigned old[] = { 0, 1, 7 }, later[] = { 18, 255, 65535 };
	struct record_values values;
	struct taskstats_identity who;
	struct task_record record;
	struct counters raw;
	uint8_t bytes[RECORD_MAX] = { 0 };
	uint64_t elapsed;

	record_fill(&values, 11);
	for (unsigned i = 0; i < ARRAY_SIZE(old); i++) {
		size_t len = record_make(bytes, old[i], &values);

		assert_int_equal(taskstats_version(bytes, len), -EPROTONOSUPPORT);
		assert_int_equal(taskstats_counters(bytes, len, &raw), -EPROTONOSUPPORT);
		assert_int_equal(taskstats_identity(bytes, len, &who), -EPROTONOSUPPORT);
		assert_int_equal(taskstats_elapsed(bytes, len, &elapsed), -EPROTONOSUPPORT);
		assert_int_equal(taskstats_record(bytes, len, &record), -EPROTONOSUPPORT);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(later); i++) {
		size_t len = record_make(bytes, later[i], &values);

		memset(bytes + len, 0xee, 64);
		assert_int_equal(taskstats_version(bytes, len + 64), later[i]);
		check_record(bytes, len, later[i], &values);
		check_record(bytes, len + 64, later[i], &values);
	}
}

/* A byte that holds a signed number. */
TEST(test_nice)
{
	static const int8_t levels[] = { -20, -1, 0, 1, 19 };
	struct record_values values;
	struct task_record record;
	uint8_t bytes[RECORD_MAX];

	record_fill(&values, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
		size_t len;

		values.ac_nice = (uint8_t)levels[i];
		len = record_make(bytes, 16, &values);
		assert_int_equal(taskstats_record(bytes, len, &record), 0);
		assert_true((int64_t)record.field[RECORD_ac_nice] == levels[i]);
	}
}

/* Times of a longest wait that are none. */
TEST(test_stamps)
{
	static const int64_t bad[][2] = { { -1, 0 },	    { 0, -1 },	      { 0, 1000000000 },
					  { INT64_MAX, 0 }, { INT64_MIN, 0 }, { 5, INT64_MAX } };
	struct record_values values;
	struct task_record record;
	uint8_t bytes[RECORD_MAX];

	record_fill(&values, 2);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		size_t len;

		values.delay[DELAY_RECLAIM].stamp_sec = bad[i][0];
		values.delay[DELAY_RECLAIM].stamp_nsec = bad[i][1];
		len = record_make(bytes, 17, &values);
		assert_int_equal(taskstats_record(bytes, len, &record), 0);
		assert_int_equal(record.stamp_valid, 0xff & ~DELAY_BIT(DELAY_RECLAIM));
		assert_int_equal(record.range_valid, 0xff);
	}
}

/* A process's record is made of its threads'. */
TEST(test_fold)
{
	struct task_record into = { 0 }, thread = { 0 };
	uint64_t sum = RECORD_BIT(RECORD_nvcsw), max = RECORD_BIT(RECORD_hiwater_rss);
	uint64_t leader = RECORD_BIT(RECORD_ac_nice), only = RECORD_BIT(RECORD_nivcsw);

	into.fields_valid = sum | max | leader;
	thread.fields_valid = sum | max | leader | only;
	into.field[RECORD_nvcsw] = 10;
	thread.field[RECORD_nvcsw] = 5;
	into.field[RECORD_hiwater_rss] = 10;
	thread.field[RECORD_hiwater_rss] = 12;
	into.field[RECORD_ac_nice] = 3;
	thread.field[RECORD_ac_nice] = 9;
	thread.field[RECORD_nivcsw] = 4;
	into.range_valid = thread.range_valid = 0xff;
	into.max[0] = 7, into.min[0] = 2, into.stamp[0] = 70;
	thread.max[0] = 9, thread.min[0] = 1, thread.stamp[0] = 90;
	into.max[1] = 7, into.min[1] = 2, into.stamp[1] = 70;
	thread.max[1] = 6, thread.min[1] = 0, thread.stamp[1] = 90;
	thread.max[2] = 4, thread.min[2] = 4;
	record_fold(&into, &thread);
	assert_true(into.field[RECORD_nvcsw] == 15);
	assert_true(into.field[RECORD_hiwater_rss] == 12);
	assert_true(into.field[RECORD_ac_nice] == 3);
	assert_true(into.fields_valid == (sum | max | leader));
	assert_true(into.max[0] == 9 && into.min[0] == 1 && into.stamp[0] == 90);
	assert_true(into.max[1] == 7 && into.min[1] == 2 && into.stamp[1] == 70);
	assert_true(into.max[2] == 4 && into.min[2] == 4);
}

/* The range over some kinds. A shortest wait of 0 is that of a kind without waits. */
TEST(test_range)
{
	struct task_record record = { .max = { 9, 30, 4, 50 }, .min = { 3, 0, 2, 1 } };
	uint64_t max, min;

	record_range(&record, DELAY_BIT(0) | DELAY_BIT(1) | DELAY_BIT(2), &max, &min);
	assert_int_equal(max, 30);
	assert_int_equal(min, 2);
	record_range(&record, DELAY_BIT(1), &max, &min);
	assert_int_equal(max, 30);
	assert_int_equal(min, 0);
	record_range(&record, 0, &max, &min);
	assert_int_equal(max, 0);
	assert_int_equal(min, 0);
}

/* taskstats_parts() on a block of the very size. */
static int parts_of(const uint8_t *bytes, size_t len, struct taskstats_part *parts, int max,
		    uint8_t **block)
{
	*block = exact(bytes, len);
	return taskstats_parts(*block, len, parts, max);
}

/* Replies as kernels send them: with and without padding, with attributes to come. */
TEST(test_messages)
{
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[4096], *block;
	struct taskstats_part part;
	size_t size;

	record_fill(&values, 5);
	size = record_make(record, 16, &values);
	for (unsigned i = 0; i < 8; i++) {
		struct record_message message = { .tgid = i & 1,
						  .id = 0xfedcba98,
						  .pad = i & 2,
						  .unknown = i & 4,
						  .record = record,
						  .len = size };
		size_t len = record_attributes(bytes, &message);

		assert_int_equal(parts_of(bytes, len, &part, 1, &block), 1);
		assert_int_equal(part.tgid, i & 1);
		assert_int_equal(part.id, 0xfedcba98);
		assert_int_equal(part.len, size);
		check_record(part.record, part.len, 16, &values);
		free(block);
	}
}

/* An exit record: a task and its group; as many as there is room for are taken. */
TEST(test_two_parts)
{
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[4096], *block;
	struct record_message message = { .id = 77, .record = record };
	struct taskstats_part parts[3];
	size_t len;

	record_fill(&values, 5);
	message.len = record_make(record, 16, &values);
	len = record_attributes(bytes, &message);
	message.tgid = true;
	message.id = 76;
	len += record_attributes(bytes + len, &message);
	assert_int_equal(parts_of(bytes, len, parts, 3, &block), 2);
	assert_false(parts[0].tgid);
	assert_int_equal(parts[0].id, 77);
	assert_true(parts[1].tgid);
	assert_int_equal(parts[1].id, 76);
	assert_int_equal(parts[1].len, message.len);
	free(block);
	assert_int_equal(parts_of(bytes, len, parts, 1, &block), 1);
	assert_int_equal(parts[0].id, 77);
	free(block);
}

/* A message cut at every length is no message, unless it is cut before its first record. */
TEST(test_truncated_message)
{
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[4096], *block;
	struct record_message message = { .id = 9, .record = record, .pad = true };
	struct taskstats_part part;
	size_t len;

	record_fill(&values, 8);
	message.len = record_make(record, 17, &values);
	len = record_attributes(bytes, &message);
	for (size_t cut = 1; cut < len; cut++) {
		assert_int_equal(parts_of(bytes, cut, &part, 1, &block), -EBADMSG);
		free(block);
	}
	assert_int_equal(parts_of(bytes, 0, &part, 1, &block), 0);
	free(block);
	assert_int_equal(taskstats_parts(bytes, (size_t)INT32_MAX + 1, &part, 1), -EBADMSG);
}

/* Sets the length or the type of the attribute header at that place. */
static void poke(uint8_t *bytes, size_t place, uint16_t value)
{
	memcpy(bytes + place, &value, sizeof(value));
}

/* Every attribute's length as hostile as it gets. */
TEST(test_hostile_lengths)
{
	/* Places of the lengths: of the aggregate, the id, the record. */
	static const size_t places[] = { 0, 4, 12 };
	static const uint16_t lengths[] = { 0, 1, 3, 0x7fff, 0xffff };
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[4096], *block;
	struct record_message message = { .id = 9, .record = record };
	struct taskstats_part part;

	record_fill(&values, 8);
	message.len = record_make(record, 16, &values);
	for (unsigned p = 0; p < ARRAY_SIZE(places); p++) {
		for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
			size_t len = record_attributes(bytes, &message);

			poke(bytes, places[p], lengths[i]);
			assert_int_equal(parts_of(bytes, len, &part, 1, &block), -EBADMSG);
			free(block);
		}
	}
	/* A record that is only a header has no version. */
	message.len = 0;
	assert_int_equal(parts_of(bytes, record_attributes(bytes, &message), &part, 1, &block), 1);
	assert_int_equal(part.len, 0);
	assert_int_equal(taskstats_version(part.record, part.len), -EBADMSG);
	free(block);
}

/* Aggregates that lack what they must have. */
TEST(test_incomplete)
{
	struct taskstats_part part;
	uint8_t nested[64], bytes[128], *block;
	uint32_t id = 5;
	uint16_t brief = 5;
	size_t n;

	/* The id of the other sort is none. */
	n = record_attribute(nested, 2, &id, sizeof(id));
	n += record_attribute(nested + n, 3, "record", 6);
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, nested, n), &part, 1, &block),
			 -EBADMSG);
	free(block);
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 5, nested, n), &part, 1, &block),
			 1);
	free(block);
	/* An id of two bytes. */
	n = record_attribute(nested, 1, &brief, sizeof(brief));
	n += record_attribute(nested + n, 3, "record", 6);
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, nested, n), &part, 1, &block),
			 -EBADMSG);
	free(block);
	/* No record; nothing at all. */
	n = record_attribute(nested, 1, &id, sizeof(id));
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, nested, n), &part, 1, &block),
			 -EBADMSG);
	free(block);
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, NULL, 0), &part, 1, &block),
			 -EBADMSG);
	free(block);
	/* All that is needed, and behind it an attribute that runs over the end. */
	n = record_attribute(nested, 1, &id, sizeof(id));
	n += record_attribute(nested + n, 3, "record", 6);
	n += record_attribute(nested + n, 6, "more", 4);
	poke(nested, n - 8, 9);
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, nested, n), &part, 1, &block),
			 -EBADMSG);
	free(block);
	/* Garbage where attributes should be nested. */
	memset(nested, 0xff, sizeof(nested));
	assert_int_equal(parts_of(bytes, record_attribute(bytes, 4, nested, sizeof(nested)), &part,
				  1, &block),
			 -EBADMSG);
	free(block);
}
