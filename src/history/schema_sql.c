/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the SQL for the tables. */
#include "config.h"

#include "history/schema.h"

#include <string.h>

/* Tables are packed from this version on; before, they have the names of the views. */
#define PACKED_SINCE 4

/*
 * Waits for a CPU are in table `activity` from this version on; before, all waits are in table
 * `wait`.
 */
#define BESIDE_SINCE 3

/* Views for the most frequent queries, with names in place of numbers. */
static const char views[] =
	"CREATE VIEW wait AS SELECT sample, task, 0 AS kind, cpu_ns AS waited_ns,"
	" cpu_waits AS waits, 0 AS ahead_ns FROM activity WHERE cpu_ns IS NOT NULL"
	" UNION ALL SELECT sample, task, kind, waited_ns, waits, ahead_ns FROM other_wait;"
	"CREATE VIEW tasks AS SELECT t.id AS task, t.first, t.tgid, t.pid, t.ppid, t.uid,"
	" u.value AS user, n.value AS comm, c.value AS command, g.value AS cgroup, t.start_ns"
	" FROM task t LEFT JOIN text u ON u.id = t.user LEFT JOIN text n ON n.id = t.comm"
	" LEFT JOIN text c ON c.id = t.command LEFT JOIN text g ON g.id = t.cgroup;"
	"CREATE VIEW waits AS SELECT w.sample, s.time_ns, s.interval_ns, t.task, t.first,"
	" t.tgid, t.pid, t.user, t.comm, t.command, t.cgroup, k.name AS kind, w.waited_ns,"
	" w.waited_ns + w.ahead_ns AS booked_ns, w.waits FROM wait w"
	" JOIN sample s ON s.id = w.sample JOIN tasks t ON t.task = w.task"
	" JOIN kind k ON k.id = w.kind;"
	"CREATE VIEW endings AS SELECT e.sample, s.time_ns, t.task, t.first, t.tgid, t.pid,"
	" t.user, t.comm, t.command, t.cgroup, e.exit_code, e.signal, e.members FROM ended e"
	" JOIN sample s ON s.id = e.sample JOIN tasks t ON t.task = e.task;"
	"CREATE VIEW pressures AS SELECT p.sample, s.time_ns, r.name AS resource,"
	" CASE p.full WHEN 1 THEN 'full' ELSE 'some' END AS level, p.avg10 / 100.0 AS avg10,"
	" p.avg60 / 100.0 AS avg60, p.avg300 / 100.0 AS avg300, p.total_us FROM pressure p"
	" JOIN sample s ON s.id = p.sample JOIN resource r ON r.id = p.resource;"
	"CREATE VIEW sites AS SELECT w.sample, s.time_ns, t.interval_ns, i.id AS site, p.tgid,"
	" n.value AS comm, z.name AS state, k.name AS kind, c.value AS syscall,"
	" g.value AS target, f.value AS function, h.value AS stack, w.waits, w.ns, w.kind_ns,"
	" w.max_ns, w.waiting, w.waiting_ns, w.log2_us FROM site_wait w"
	" JOIN sample s ON s.id = w.sample JOIN trace t ON t.sample = w.sample"
	" JOIN site i ON i.id = w.site JOIN process p ON p.id = i.process"
	" JOIN wait_state z ON z.id = i.state LEFT JOIN kind k ON k.id = i.kind"
	" LEFT JOIN text n ON n.id = i.comm LEFT JOIN text c ON c.id = i.syscall"
	" LEFT JOIN text g ON g.id = i.target LEFT JOIN text f ON f.id = i.function"
	" LEFT JOIN text h ON h.id = i.stack;";

/* Returns the type that a column is declared with, after a blank; "": none. */
static const char *type_of(const struct schema_field *field)
{
	switch (field->type) {
	case TYPE_REAL:
		return " REAL";
	case TYPE_LETTER:
	case TYPE_WORD:
	case TYPE_LENGTHS:
		return " TEXT";
	case TYPE_VALUE:
	case TYPE_BYTES:
		return "";
	case TYPE_BLOB:
		return " BLOB";
	default:
		return " INTEGER";
	}
}

/* Appends the SQL that makes a table that is not packed. */
static void create_plain(const struct schema_table *table, struct buf *sql)
{
	bool with_rowid = true;

	buf_printf(sql, "CREATE TABLE %s(", table->name);
	if (table->of_sample)
		buf_printf(sql, "sample INTEGER%s, ", table->key ? "" : " PRIMARY KEY");
	for (unsigned i = 0; i < table->n; i++) {
		const struct schema_field *field = &table->fields[i];
		bool key = !table->of_sample && !i;

		buf_printf(sql, "%s%s%s%s", i ? ", " : "", field->name, type_of(field),
			   key ? " PRIMARY KEY" : "");
		with_rowid &= !key || field->type != TYPE_WORD;
	}
	for (unsigned i = 0; i < table->key; i++)
		buf_printf(sql, "%s%s", i ? ", " : ", PRIMARY KEY(sample, ", table->fields[i].name);
	buf_puts(sql, table->key ? "))" : ")");
	buf_puts(sql, table->key || !with_rowid ? " WITHOUT ROWID;" : ";");
}

/* Appends the SQL that makes a packed table and its view. */
static void create_packed(const struct schema_table *table, struct buf *sql)
{
	struct buf view = { 0 };

	buf_printf(sql, "CREATE TABLE packed_%s(key INTEGER PRIMARY KEY", table->name);
	buf_printf(&view, "CREATE VIEW %s AS SELECT s.id AS sample", table->name);
	/* Values of the same column stand side by side, because zstd packs this best. */
	for (unsigned i = 0; i < table->n; i++) {
		const char *name = table->fields[i].name;

		buf_puts(&view, ",CASE n.column1");
		for (unsigned place = 1; place <= PACKED_ROWS; place++) {
			buf_printf(sql, ",%s%u", name, place);
			buf_printf(&view, " WHEN %u THEN %s%u", place, name, place);
		}
		buf_printf(&view, " END AS %s", name);
	}
	buf_puts(sql, ");");
	/* The view joins the samples, so that a query for one sample uses the key. */
	buf_printf(&view,
		   " FROM sample s CROSS JOIN packed_%s p ON p.key BETWEEN s.id << %d"
		   " AND (s.id << %d) + %d CROSS JOIN (VALUES(1)",
		   table->name, PACKED_KEY_BITS, PACKED_KEY_BITS, (1 << PACKED_KEY_BITS) - 1);
	for (unsigned place = 2; place <= PACKED_ROWS; place++)
		buf_printf(&view, ",(%u)", place);
	buf_printf(&view, ") n WHERE %s IS NOT NULL;", table->fields[0].name);
	buf_add(sql, view.data, view.len);
	buf_free(&view);
}

void schema_create(struct buf *sql)
{
	for (unsigned id = 0; id < TABLES; id++)
		if (schema_tables[id].packed)
			create_packed(&schema_tables[id], sql);
		else
			create_plain(&schema_tables[id], sql);
	buf_puts(sql, views);
}

void schema_insert(enum table_id id, struct buf *sql)
{
	const struct schema_table *table = &schema_tables[id];
	unsigned columns = table->n * (table->packed ? PACKED_ROWS : 1u) + table->of_sample;

	buf_printf(sql, "INSERT INTO %s%s VALUES(?", table->packed ? "packed_" : "", table->name);
	while (--columns)
		buf_puts(sql, ",?");
	buf_putc(sql, ')');
}

/* Appends columns of a place in a packed row, with commas: the place's number follows each name. */
static void append_columns(struct buf *sql, const char *columns, unsigned place)
{
	while (*columns) {
		int len = (int)strcspn(columns, ",");

		buf_printf(sql, "%.*s", len, columns);
		/* Anything but a name is a constant. */
		if (*columns >= 'a')
			buf_uint(sql, place);
		columns += len;
		if (*columns == ',')
			buf_putc(sql, *columns++);
	}
}

/* Appends the query for rows of a packed table whose column `there` is not NULL. */
static void select_packed(const struct schema_table *table, const char *columns, const char *there,
			  struct buf *sql)
{
	for (unsigned place = 1; place <= PACKED_ROWS; place++) {
		buf_puts(sql, place > 1 ? " UNION ALL SELECT " : "SELECT ");
		append_columns(sql, columns, place);
		buf_printf(sql,
			   " FROM packed_%s WHERE key BETWEEN ?1 << %d AND (?1 << %d) + %d"
			   " AND %s%u IS NOT NULL",
			   table->name, PACKED_KEY_BITS, PACKED_KEY_BITS,
			   (1 << PACKED_KEY_BITS) - 1, there, place);
	}
}

/* Appends the query for rows of a table that may be packed; in later versions it may be a view. */
static void select_view(enum table_id id, int64_t version, const char *columns, const char *there,
			struct buf *sql)
{
	const struct schema_table *table = &schema_tables[id];
	bool all = id == TABLE_OTHER_WAIT && version < BESIDE_SINCE;

	if (version >= PACKED_SINCE && version <= SCHEMA_VERSION)
		select_packed(table, columns, there, sql);
	else
		buf_printf(sql, "SELECT %s FROM %s WHERE sample = ?1 AND %s IS NOT NULL", columns,
			   all ? "wait" : table->name, there);
}

/* Appends the fields that are read, with commas, as a file of a version has them. */
static void append_read_fields(const struct schema_table *table, int64_t version, struct buf *out)
{
	for (unsigned i = 0; i < table->n; i++) {
		const struct schema_field *field = &table->fields[i];

		if (!field->unread)
			buf_printf(out, "%s%s", out->len ? "," : "",
				   version < field->since ? "NULL" : field->name);
	}
}

void schema_select(enum table_id id, int64_t version, struct buf *sql)
{
	const struct schema_table *table = &schema_tables[id];
	struct buf fields = { 0 };

	append_read_fields(table, version, &fields);
	if (table->packed)
		select_view(id, version, buf_cstr(&fields), table->fields[0].name, sql);
	else
		buf_printf(sql, "SELECT %s FROM %s WHERE %s = ?1", buf_cstr(&fields), table->name,
			   table->of_sample ? "sample" : table->fields[0].name);
	if (table->order)
		buf_printf(sql, " ORDER BY %s", table->order);
	buf_free(&fields);
}

void schema_select_waits(int64_t version, struct buf *sql)
{
	if (version >= BESIDE_SINCE) {
		select_view(TABLE_ACTIVITY, version, "task,0,cpu_ns,cpu_waits,0", "cpu_ns", sql);
		buf_puts(sql, " UNION ALL ");
	}
	schema_select(TABLE_OTHER_WAIT, version, sql);
	buf_puts(sql, " ORDER BY 1");
}
