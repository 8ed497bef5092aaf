// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a message's attributes and as a record: no harm, and no invention. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARTS_MAX 4

/* A copy in a block of its very size: a read past its end is seen. */
static uint8_t *exact(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = xcalloc(len ? len : 1, 1);

	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

/* Ends the fuzzer at a promise that was broken. */
static void demand(int kept)
{
	if (!kept)
		abort();
}

/* The name is within the record. */
static void check_identity(const uint8_t *record, size_t len)
{
	struct taskstats_identity who;
	const char *bytes = (const char *)record;
	unsigned sum = 0;

	if (taskstats_identity(record, len, &who))
		return;
	demand(who.comm >= bytes && who.comm + who.comm_len <= bytes + len);
	for (size_t i = 0; i < who.comm_len; i++)
		sum += (unsigned char)who.comm[i];
	demand(sum <= who.comm_len * 255);
}

/* Whatever is called valid lies within version and length. */
static void check_record(const uint8_t *bytes, size_t len)
{
	uint8_t *record = exact(bytes, len);
	int version = taskstats_version(record, len);
	int expected = version < 0 ? version : 0;
	struct counters raw = { 0 };
	struct task_record all;
	uint64_t elapsed;

	demand(version >= TASKSTATS_OLDEST || version == (len < 2 ? -EBADMSG : -EPROTONOSUPPORT));
	demand(taskstats_counters(record, len, &raw) == expected);
	demand(!raw.valid || version >= 0);
	/* Time and count come together; the first kind ends at byte 32. */
	demand((raw.valid & DELAY_ALL) == ((raw.valid >> DELAY_KINDS) & DELAY_ALL));
	demand(!(raw.valid & DELAY_BIT(DELAY_CPU)) == (version < 0 || len < 32));
	demand(version >= 14 || !(raw.valid & DELAY_BIT(DELAY_IRQ)));
	demand(version >= 9 || !(raw.valid & DELAY_BIT(DELAY_THRASH)));
	if (!taskstats_elapsed(record, len, &elapsed))
		demand(len >= 152);
	if (!taskstats_record(record, len, &all)) {
		demand(version >= 15 || !all.range_valid);
		demand(version >= 17 || !all.stamp_valid);
		demand(version >= 12 || !(all.fields_valid & RECORD_BIT(RECORD_ac_tgid)));
	}
	check_identity(record, len);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *attributes = exact(data, size);
	struct taskstats_part parts[PARTS_MAX];
	int n = taskstats_parts(attributes, size, parts, PARTS_MAX);

	demand(n == -EBADMSG || (n >= 0 && n <= PARTS_MAX));
	for (int i = 0; i < n; i++) {
		demand(parts[i].record >= attributes &&
		       parts[i].record + parts[i].len <= attributes + size);
		check_record(parts[i].record, parts[i].len);
	}
	free(attributes);
	check_record(data, size);
	return 0;
}
