/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/packed.h"

#include <string.h>

/* The name of the view, and its columns behind the sample. */
static const struct {
	const char *name, *columns;
} packed_tables[PACKED_TABLES] = {
	[PACKED_ACTIVITY] = { "activity", "task,run_ns,user_ns,system_ns,drift_ns,state,threads,"
					  "cpu_ns,cpu_waits" },
	[PACKED_OTHER_WAIT] = { "other_wait", "task,kind,waited_ns,waits,ahead_ns" },
	[PACKED_STANDING] = { "standing", "task,known,members,single,exact,was,run_ns,user_ns,"
					  "system_ns,life_ns" },
	[PACKED_TOTAL] = { "total", "task,kind,ns,waits" },
	[PACKED_CHILDREN] = { "children", "task,user_ns,system_ns" },
};

/* Appends the columns of a place, and constants. */
static void append_columns(struct buf *sql, const char *columns, unsigned place)
{
	while (*columns) {
		size_t len = strcspn(columns, ",");

		buf_printf(sql, "%.*s", (int)len, columns);
		if (*columns > '9')
			buf_printf(sql, "%u", place);
		columns += len;
		if (*columns == ',')
			buf_putc(sql, *columns++);
	}
}

void packed_select(enum packed packed, const char *columns, const char *there, struct buf *sql)
{
	for (unsigned place = 1; place <= PACKED_ROWS; place++) {
		buf_puts(sql, place > 1 ? " UNION ALL SELECT " : "SELECT ");
		append_columns(sql, columns ? columns : packed_tables[packed].columns, place);
		buf_printf(sql,
			   " FROM packed_%s WHERE key BETWEEN ?1 << %d AND (?1 << %d) + %d"
			   " AND %s%u IS NOT NULL",
			   packed_tables[packed].name, PACKED_KEY_BITS, PACKED_KEY_BITS,
			   (1 << PACKED_KEY_BITS) - 1, there, place);
	}
}

void packed_select_view(enum packed packed, const char *columns, const char *there, struct buf *sql)
{
	buf_printf(sql, "SELECT %s FROM %s WHERE sample = ?1 AND %s IS NOT NULL",
		   columns ? columns : packed_tables[packed].columns, packed_tables[packed].name,
		   there);
}
