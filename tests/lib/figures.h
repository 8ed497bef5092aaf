/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/snapshot.h"
#include "tests/lib/reader.h"

/*
 * A snapshot between two readings of taskstats: what the kernel says on either side of it is
 * what the snapshot must say, field by field.
 */

/* Taskstats before and after. sums: of the process, or of the thread; who: the task's own. */
struct figures_task {
	pid_t id;
	bool there; /* in both readings */
	bool busy; /* a field moved from one to the other */
	struct reader_record sums[2];
	struct reader_record who[2];
};

struct figures {
	bool threads; /* a task a thread, else one a process */
	size_t n;
	struct figures_task *tasks;
};

/* What a comparison came to. */
struct figures_result {
	size_t tasks; /* compared */
	size_t busy; /* of those */
	size_t fields; /* compared, of all of them */
	size_t other_than_0; /* of those */
	size_t wrong;
	size_t missing; /* tasks that the snapshot lacks */
};

/* How many fields there are, and their names. */
size_t figures_fields(void);
const char *figures_name(size_t field);

/* All tasks of the machine but those of one process (0: of none), read once; then once more. */
void figures_before(struct figures *figures, bool threads, pid_t but);
void figures_after(struct figures *figures);
void figures_free(struct figures *figures);

/* Adds to the result; says what is wrong. */
void figures_compare(const struct figures *figures, const struct snapshot_view *view,
		     struct figures_result *result);

/*
 * Whether the comparison would have noticed the field missing in the records: false where it is 0
 * in all tasks.
 */
bool figures_notices(const struct figures *figures, const struct snapshot_view *view, size_t field);

/* The entry of a task, or NULL. */
const struct snapshot_entry *figures_entry(const struct snapshot_view *view, pid_t id);
