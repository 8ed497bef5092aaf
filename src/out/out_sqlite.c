/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of an SQLite database, for queries: of tasks or groups, in the columns of CSV; of the
 * sites of waits, in theirs; of pressure, exited tasks, findings and notes. Rows of unchanged tasks
 * are left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "frame/notes.h"
#include "history/record_file.h"
#include "out/out.h"
#include "out/out_sites.h"
#include "view/site_lines.h"

/* Tables that do not depend on options. */
#define TABLES \
	"CREATE TABLE sample(id INTEGER PRIMARY KEY, time_ns, interval_ns, tasks, source, " \
	"cgroup);" \
	"CREATE TABLE pressure(sample, time_ns, resource, level, avg10, avg60, avg300, total_us);" \
	"CREATE TABLE ending(sample, time_ns, pid, tgid, user, comm, command, cgroup, exit_code," \
	" signal, how, members);" \
	"CREATE TABLE finding(sample, time_ns, id, severity, text, pid, \"group\", kind, share, " \
	"ns," \
	" at_least, count);" \
	"CREATE TABLE note(sample, time_ns, id, value, text);"

/* Below this an integer is written as one. */
#define WHOLE_MOST 9e15

/* The statements that add rows. */
enum database_table {
	TO_SAMPLE,
	TO_ROWS,
	TO_SITES,
	TO_PRESSURE,
	TO_ENDING,
	TO_FINDING,
	TO_NOTE,
	TABLES_N
};

static const char *const table_names[TABLES_N] = {
	[TO_SAMPLE] = "sample", [TO_SITES] = "site",	  [TO_PRESSURE] = "pressure",
	[TO_ENDING] = "ending", [TO_FINDING] = "finding", [TO_NOTE] = "note",
};

struct database {
	sqlite3 *db;
	sqlite3_stmt *puts[TABLES_N];
	sqlite3_stmt *put; /* the row being made, */
	int column; /* and its last column so far */
	sqlite3_int64 sample;
	struct buf text; /* scratch buffer */
	bool unready; /* the file was created, and is empty yet */
};

/* Records the first failure. */
static void note_failure(struct out *out, int result)
{
	struct database *to = out->state;
	int system = to->db ? sqlite3_system_errno(to->db) : 0;

	if (out->error || result == SQLITE_OK || result == SQLITE_DONE)
		return;
	out->error = (result & 0xff) == SQLITE_FULL ? -ENOSPC : system ? -system : -EIO;
}

/* Starts a row of a table. */
static void begin_row(struct database *to, enum database_table table)
{
	to->put = to->puts[table];
	to->column = 0;
	sqlite3_reset(to->put);
	sqlite3_clear_bindings(to->put);
}

/* Ends it. */
static void end(struct out *out)
{
	struct database *to = out->state;

	note_failure(out, sqlite3_step(to->put));
	sqlite3_reset(to->put);
}

/* Put a value; unknown is NULL. */
static void put_int(struct database *to, bool known, int64_t value)
{
	to->column++;
	if (known)
		sqlite3_bind_int64(to->put, to->column, value);
}

static void put_real(struct database *to, bool known, double value)
{
	to->column++;
	if (known)
		sqlite3_bind_double(to->put, to->column, value);
}

static void bind_text(struct database *to, const char *text)
{
	to->column++;
	if (!text)
		return;
	to->text.len = 0;
	text_escape(&to->text, text, strlen(text), TEXT_UTF8);
	sqlite3_bind_text(to->put, to->column, to->text.len ? to->text.data : "", (int)to->text.len,
			  SQLITE_TRANSIENT);
}

/* Puts a cell. */
static void bind_cell(struct database *to, const struct column *column, const struct view *view,
		      const struct row *row)
{
	struct value value = column_get(column, view, row);

	if (value_chars(&value))
		bind_text(to, value_chars(&value));
	else if (value.type == VALUE_NUMBER && fabs(value.number) < WHOLE_MOST &&
		 value.number == floor(value.number))
		put_int(to, true, (int64_t)value.number);
	else
		put_real(to, value.type == VALUE_NUMBER, value.number);
}

/* Prepares the statement that adds a row of so many columns. */
static void prepare_insert(struct out *out, enum database_table table, const char *name, int n)
{
	struct database *to = out->state;
	struct buf sql = { 0 };

	buf_printf(&sql, "INSERT INTO %s VALUES(?", name);
	for (int i = 1; i < n; i++)
		buf_puts(&sql, ",?");
	buf_putc(&sql, ')');
	note_failure(out, sqlite3_prepare_v2(to->db, buf_cstr(&sql), -1, &to->puts[table], NULL));
	buf_free(&sql);
}

/* Creates the table of rows, and the view with each wait in a row of its own. */
static void make_row_table(struct out *out, bool groups)
{
	const char *name = groups ? "\"group\"" : "task";
	struct database *to = out->state;
	struct buf sql = { 0 };
	int n = groups ? 5 : 11;

	buf_printf(&sql, "CREATE TABLE %s(sample, time_ns, interval_ns%s", name,
		   groups ? ", name, members"
			  : ", pid, tgid, ppid, uid, user, comm, state, exited");
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		buf_printf(&sql, ", %s_count, %s_ns, %s_waited_ns", delay_table[kind].id,
			   delay_table[kind].id, delay_table[kind].id);
	buf_puts(&sql, ", dwait_waited_ns, run_ns, wait_ns");
	n += 3 * DELAY_KINDS + 3;
	for (size_t i = 0; i < out->layout.n; i++, n++)
		buf_printf(&sql, ", \"%s\"", out->layout.columns[i]->id);
	buf_puts(&sql, "); CREATE VIEW wait AS");
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		const char *id = wait_kind_id(kind);

		buf_printf(&sql, "%s SELECT sample, time_ns, interval_ns, %s, '%s' AS kind, ",
			   kind ? " UNION ALL" : "",
			   groups ? "name, members" : "pid, tgid, user, comm", id);
		buf_printf(&sql,
			   kind < DELAY_KINDS
				   ? "%1$s_waited_ns AS waited_ns, %1$s_ns AS booked_ns, "
				     "%1$s_count AS waits FROM %2$s WHERE %1$s_waited_ns > 0"
				   : "%1$s_waited_ns, NULL, NULL FROM %2$s WHERE "
				     "%1$s_waited_ns > 0",
			   id, name);
	}
	note_failure(out, sqlite3_exec(to->db, buf_cstr(&sql), NULL, NULL, NULL));
	prepare_insert(out, TO_ROWS, name, n);
	buf_free(&sql);
}

/* Makes the table of sites. */
static void make_sites(struct out *out)
{
	struct database *to = out->state;
	struct buf sql = { 0 };

	buf_puts(&sql, "CREATE TABLE site(sample, time_ns, interval_ns");
	for (size_t i = 0; i < site_columns.n; i++)
		buf_printf(&sql, ", \"%s\"", site_columns.columns[i].id);
	buf_puts(&sql, ", kind, ns, kind_ns, max_ns, stack)");
	note_failure(out, sqlite3_exec(to->db, buf_cstr(&sql), NULL, NULL, NULL));
	prepare_insert(out, TO_SITES, table_names[TO_SITES], (int)site_columns.n + 8);
	buf_free(&sql);
}

/* Creates the database: a new file. 0 or -errno. */
static int make_database(struct database *to, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0)
		return -errno;
	close(fd);
	to->unready = true;
	if (sqlite3_open_v2(path, &to->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX,
			    NULL))
		return -EIO;
	return 0;
}

static int sqlite_open(struct out *out)
{
	struct database *to = xcalloc(1, sizeof(*to));

	out->state = to;
	out->error = make_database(to, out->config->path);
	if (out->error)
		return out->error;
	out_named(out->config, IN_CSV, &out->layout);
	/* Nothing waits for the disk: a concurrent reader sees what is committed. */
	note_failure(out, sqlite3_exec(to->db,
				       "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
				       "PRAGMA temp_store=MEMORY; BEGIN;" TABLES,
				       NULL, NULL, NULL));
	make_row_table(out, group_folds(out->config->view->group_by));
	make_sites(out);
	prepare_insert(out, TO_SAMPLE, table_names[TO_SAMPLE], 6);
	prepare_insert(out, TO_PRESSURE, table_names[TO_PRESSURE], 8);
	prepare_insert(out, TO_ENDING, table_names[TO_ENDING], 12);
	prepare_insert(out, TO_FINDING, table_names[TO_FINDING], 12);
	prepare_insert(out, TO_NOTE, table_names[TO_NOTE], 5);
	note_failure(out, sqlite3_exec(to->db, "COMMIT", NULL, NULL, NULL));
	to->unready = out->error;
	return out->error;
}

static void sqlite_close(struct out *out)
{
	struct database *to = out->state;

	if (!to)
		return;
	for (unsigned table = 0; table < TABLES_N; table++)
		sqlite3_finalize(to->puts[table]);
	if (to->db)
		sqlite3_exec(to->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close(to->db);
	/* Else the next attempt would find it there. */
	if (to->unready)
		record_file_remove(AT_FDCWD, out->config->path);
	buf_free(&to->text);
	free(to);
}

/* Starts a row with its sample's number. */
static void begin_of(struct out *out, enum database_table table, const struct frame_info *info)
{
	struct database *to = out->state;

	begin_row(to, table);
	put_int(to, true, to->sample);
	put_int(to, true, (int64_t)info->real_ns);
}

/* Puts the identity of a row. */
static void bind_identity(struct database *to, const struct row *row)
{
	const struct task *task = row->task;
	const char state[] = { row->group ? '\0' : row_state(row), '\0' };

	if (row->group) {
		bind_text(to, row->group->name);
		put_int(to, true, row->members);
		return;
	}
	put_int(to, true, task->key.pid);
	put_int(to, true, task->tgid);
	put_int(to, true, task->ppid);
	put_int(to, true, task->uid);
	bind_text(to, task->user);
	bind_text(to, task->comm);
	bind_text(to, *state ? state : NULL);
	put_int(to, true, row->exited);
}

/* Adds a row of a task or a group. */
static void insert_row(struct out *out, const struct view *view, const struct row *row)
{
	const struct waited *waited = &row->deltas->waited;
	struct database *to = out->state;
	uint32_t known = row_waited(row);
	uint64_t wait_ns = 0;
	bool waits = row_wait(view->frame, row, &wait_ns);

	if (row->deltas == &no_deltas && !waits && !row->exited)
		return;
	begin_of(out, TO_ROWS, view->frame->info);
	put_int(to, row->interval_ns, (int64_t)row->interval_ns);
	bind_identity(to, row);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *grown = &row->deltas->grown.delay[kind];

		put_int(to, row->valid & DELAY_COUNT_BIT(kind), (int64_t)grown->count);
		put_int(to, row->valid & DELAY_BIT(kind), (int64_t)grown->ns);
		put_int(to, known & DELAY_BIT(kind), (int64_t)waited->ns[kind]);
	}
	put_int(to, known & VALID_DWAIT, (int64_t)waited->ns[WAIT_DWAIT]);
	put_int(to, row->valid & VALID_RUN, (int64_t)row->deltas->grown.run_ns);
	put_int(to, waits, (int64_t)wait_ns);
	for (size_t i = 0; i < out->layout.n; i++)
		bind_cell(to, out->layout.columns[i], view, row);
	end(out);
}

/* Adds how a row's task exited. */
static void add_ending(struct out *out, const struct view *view, const struct row *row)
{
	struct database *to = out->state;
	const struct task *task = row->task;
	int status = task ? (int)task->status : 0;

	if (!task || !row->exited)
		return;
	begin_of(out, TO_ENDING, view->frame->info);
	put_int(to, true, task->key.pid);
	put_int(to, true, task->tgid);
	bind_text(to, task->user);
	bind_text(to, task->comm);
	bind_text(to, task->command);
	bind_text(to, task->cgroup);
	put_int(to, WIFEXITED(status), WEXITSTATUS(status));
	put_int(to, WIFSIGNALED(status), WTERMSIG(status));
	bind_text(to, task->ended);
	put_int(to, true, row->members);
	end(out);
}

/* Puts the functions of a stack, one per line. */
static void bind_stack(struct database *to, const struct trace_frame *trace, size_t stack)
{
	const struct site_stack *functions = stack < trace->nstacks ? &trace->stacks[stack] : NULL;

	to->column++;
	to->text.len = 0;
	for (size_t i = 0; functions && i < functions->n; i++) {
		if (i)
			buf_putc(&to->text, '\n');
		text_escape(&to->text, functions->functions[i], strlen(functions->functions[i]),
			    TEXT_UTF8);
	}
	if (to->text.len)
		sqlite3_bind_text(to->put, to->column, to->text.data, (int)to->text.len,
				  SQLITE_TRANSIENT);
}

/* Adds the sites of the rows' processes. */
static void insert_sites(struct out *out, const struct view *view)
{
	const struct frame_info *info = view->frame->info;
	const struct query *rows = &out->config->view->query;
	struct site_owners owners = { .all = query_takes_all(rows) && !rows->rows };
	const struct site_lines_query query = { .owners = &owners, .by = SITES_BY_SITE };
	struct database *to = out->state;
	struct site_lines sites = { 0 };

	if (!info->trace)
		return;
	if (!owners.all)
		out_sites_owners(&owners, &out->order);
	site_lines_build(&sites, info->trace, &query);
	for (size_t i = 0; i < sites.n; i++) {
		const struct site_line *line = &sites.lines[i];
		const struct site *sum = &line->sum;

		begin_of(out, TO_SITES, info);
		put_int(to, true, (int64_t)info->trace->interval_ns);
		for (size_t c = 0; c < site_columns.n; c++)
			if (!strcmp(site_columns.columns[c].id, "state"))
				bind_text(to, out_site_state(sum));
			else
				bind_cell(to, &site_columns.columns[c], view, &line->row);
		bind_text(to, sum->kind >= 0 ? wait_kind_id((unsigned)sum->kind) : NULL);
		put_int(to, !sum->unknown, (int64_t)sum->ns);
		put_int(to, sum->kind >= 0, (int64_t)sum->kind_ns);
		put_int(to, !sum->unattributed, (int64_t)sum->max_ns);
		bind_stack(to, info->trace, line->n ? line->sites[0]->stack : 0);
		end(out);
	}
	site_lines_free(&sites);
	site_owners_free(&owners);
}

/* Adds the pressure shown. */
static void add_pressure(struct out *out, const struct frame_info *info)
{
	const struct psi_reading *pressure = frame_pressure(info);
	struct database *to = out->state;

	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		const struct psi *psi = &pressure->psi[i / 2];
		const struct psi_line *line = i % 2 ? &psi->full : &psi->some;

		if (!line->valid)
			continue;
		begin_of(out, TO_PRESSURE, info);
		bind_text(to, psi_names[i / 2]);
		bind_text(to, i % 2 ? "full" : "some");
		put_real(to, true, line->avg10 / 100.0);
		put_real(to, true, line->avg60 / 100.0);
		put_real(to, true, line->avg300 / 100.0);
		put_int(to, true, (int64_t)line->total_us);
		end(out);
	}
}

/* Adds the findings. */
static void add_findings(struct out *out, const struct frame_info *info)
{
	const struct findings *findings = &out->findings;
	struct database *to = out->state;

	for (size_t i = 0; findings->known && i < findings->n; i++) {
		const struct finding *finding = &findings->all[i];
		const struct row *row = finding->row;

		begin_of(out, TO_FINDING, info);
		bind_text(to, finding->id);
		bind_text(to, finding_severities[finding->severity]);
		bind_text(to, finding_text(findings, finding));
		put_int(to, row && row->task, row && row->task ? row->task->key.pid : 0);
		bind_text(to, row && row->group ? row->group->name : NULL);
		bind_text(to, finding->kind);
		put_real(to, finding->share >= 0, finding->share);
		put_int(to, finding->ns, (int64_t)finding->ns);
		put_int(to, true, finding->at_least);
		put_int(to, true, (int64_t)finding->n);
		end(out);
	}
}

/* Adds the notes. */
static void insert_notes(struct out *out, const struct frame_info *info)
{
	struct database *to = out->state;

	for (size_t i = 0; i < info->head.nnotes; i++) {
		const struct note *note = &info->head.notes[i];

		begin_of(out, TO_NOTE, info);
		bind_text(to, note_table[note->id].id);
		put_int(to, true, (int64_t)note->value);
		out->scratch.len = 0;
		note_append(&out->scratch, note);
		bind_text(to, buf_cstr(&out->scratch));
		end(out);
	}
}

static void sqlite_frame(struct out *out, const struct view *view)
{
	const struct frame_info *info = view->frame->info;
	struct database *to = out->state;

	note_failure(out, sqlite3_exec(to->db, "BEGIN", NULL, NULL, NULL));
	begin_row(to, TO_SAMPLE);
	put_int(to, true, ++to->sample);
	put_int(to, true, (int64_t)info->real_ns);
	put_int(to, info->interval_ns, (int64_t)info->interval_ns);
	put_int(to, true, (int64_t)(info->bare ? info->tasks : info->cur->n));
	bind_text(to, info->head.source);
	bind_text(to, info->head.cgroup);
	end(out);
	add_pressure(out, info);
	add_findings(out, info);
	insert_notes(out, info);
	for (size_t i = 0; i < out->order.n && !info->bare; i++) {
		insert_row(out, view, out->order.rows[i]);
		add_ending(out, view, out->order.rows[i]);
	}
	if (!info->bare)
		insert_sites(out, view);
	note_failure(out, sqlite3_exec(to->db, "COMMIT", NULL, NULL, NULL));
}

const struct out_ops out_sqlite = {
	.name = "sqlite",
	.open = sqlite_open,
	.finds = true,
	.frame = sqlite_frame,
	.close = sqlite_close,
};
