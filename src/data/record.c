/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/record.h"

#define RECORD_ROW(name, heading, type, offset, offset15, since, nature, fold, group, unit, help) \
	{ #name,	   heading,	RECORD_##type, offset, offset15, since, \
	  RECORD_##nature, FOLD_##fold, group,	       unit,   help },
const struct record_row record_table[RECORD_FIELDS] = { RECORD_TABLE(RECORD_ROW) };
#undef RECORD_ROW

_Static_assert(RECORD_FIELDS <= 64, "fields_valid holds a bit a field");

/* Folds the longest and shortest waits; min is 0 in a task that never waited. */
static void fold_range(struct task_record *into, const struct task_record *thread)
{
	into->range_valid |= thread->range_valid;
	into->stamp_valid |= thread->stamp_valid;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (thread->max[kind] > into->max[kind]) {
			into->max[kind] = thread->max[kind];
			into->stamp[kind] = thread->stamp[kind];
		}
		if (thread->min[kind] && (!into->min[kind] || thread->min[kind] < into->min[kind]))
			into->min[kind] = thread->min[kind];
	}
}

void record_fold(struct task_record *into, const struct task_record *thread)
{
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		if (!(into->fields_valid & thread->fields_valid & RECORD_BIT(f)))
			continue;
		if (record_table[f].fold == FOLD_SUM)
			into->field[f] += thread->field[f];
		else if (record_table[f].fold == FOLD_MAX && thread->field[f] > into->field[f])
			into->field[f] = thread->field[f];
	}
	fold_range(into, thread);
}

void record_range(const struct task_record *record, uint32_t kinds, uint64_t *max, uint64_t *min)
{
	*max = *min = 0;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (!(kinds & DELAY_BIT(kind)))
			continue;
		if (record->max[kind] > *max)
			*max = record->max[kind];
		if (record->min[kind] && (!*min || record->min[kind] < *min))
			*min = record->min[kind];
	}
}
