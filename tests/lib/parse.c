// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *parse_json_line(const char *line)
{
	json_error_t error;
	json_t *v;

	v = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!v || !json_is_object(v))
		fail_msg("no JSON object: %s at %d: %.200s", error.text, error.column, line);
	return e2e_keep_json(v);
}

/* How often a byte is in a text: an upper limit for what it parts. */
static size_t count_byte(const char *p, size_t len, char byte)
{
	size_t n = 0;

	while (len--)
		n += *p++ == byte;
	return n;
}

void parse_json(const struct e2e_result *r, struct samples *s)
{
	char *p = r->out.data, *end = p + r->out.len;

	s->n = 0;
	s->v = e2e_keep(calloc(count_byte(p, r->out.len, '\n') + 1, sizeof(*s->v)));
	if (memchr(p, '\0', r->out.len))
		fail_msg("a NUL byte in the output");
	while (p < end) {
		char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			fail_msg("the last line is cut off: %.200s", p);
		*eol = '\0';
		s->v[s->n++] = parse_json_line(p);
		*eol = '\n';
		p = eol + 1;
	}
}

void check_silent_success(const struct e2e_result *r)
{
	if (r->status || r->err.len)
		fail_msg("status %d, standard error: %.500s", r->status, r->err.data);
}

/* A member that must be there. */
static json_t *member(json_t *object, const char *name)
{
	json_t *v = json_object_get(object, name);

	if (!v)
		fail_msg("no member \"%s\" in %.300s", name,
			 (char *)e2e_keep(json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY)));
	return v;
}

double member_real(json_t *object, const char *name)
{
	json_t *v = member(object, name);

	if (!json_is_number(v))
		fail_msg("\"%s\" is no number", name);
	return json_number_value(v);
}

uint64_t member_u64(json_t *object, const char *name)
{
	json_t *v = member(object, name);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		fail_msg("\"%s\" is no count: %s", name,
			 (char *)e2e_keep(json_dumps(v, JSON_ENCODE_ANY)));
	return (uint64_t)json_integer_value(v);
}

const char *member_text(json_t *object, const char *name)
{
	json_t *v = member(object, name);

	if (!json_is_string(v))
		fail_msg("\"%s\" is no text", name);
	return json_string_value(v);
}

/* Whether the row is of a task that ended in the interval. */
static bool is_exited(json_t *task)
{
	return json_is_true(json_object_get(task, "exited"));
}

json_t *task_of(json_t *sample, pid_t pid)
{
	json_t *tasks = member(sample, "tasks"), *task, *exited = NULL;
	size_t i;

	json_array_foreach(tasks, i, task)
	{
		if (member_u64(task, "pid") != (uint64_t)pid)
			continue;
		if (!is_exited(task))
			return task;
		exited = task;
	}
	return exited;
}

json_t *task_must(json_t *sample, pid_t pid)
{
	json_t *task = task_of(sample, pid);

	if (!task)
		fail_msg("no row for %d among %zu", (int)pid,
			 json_array_size(member(sample, "tasks")));
	return task;
}

/* Order of pids. */
static int compare_entries(const void *a, const void *b)
{
	const struct task_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The same, of one pid the living first. */
static int compare_living(const void *a, const void *b)
{
	const struct task_entry *x = a, *y = b;
	int order = compare_entries(a, b);

	return order ? order : is_exited(x->task) - is_exited(y->task);
}

const char *text_or_none(json_t *object, const char *name)
{
	json_t *value = member(object, name);

	return json_is_null(value) ? "(none)" : member_text(object, name);
}

json_t *group_of(json_t *sample, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(member(sample, "tasks"), i,
			   row) if (!strcmp(text_or_none(row, "group"), name)) return row;
	return NULL;
}

void index_tasks(json_t *sample, struct task_index *index)
{
	json_t *tasks = member(sample, "tasks"), *task;
	size_t i, n;

	index->n = json_array_size(tasks);
	index->v = e2e_keep(calloc(index->n + 1, sizeof(*index->v)));
	json_array_foreach(tasks, i, task) index->v[i] =
		(struct task_entry){ member_u64(task, "pid"), task };
	qsort(index->v, index->n, sizeof(*index->v), compare_living);
	for (i = 1, n = 1; i < index->n; i++) {
		/* the pid of a task that ended may be used again, and by many in turn */
		if (index->v[i].pid != index->v[n - 1].pid)
			index->v[n++] = index->v[i];
		else if (!is_exited(index->v[i].task))
			fail_msg("two rows for %ju", index->v[i].pid);
	}
	index->n = index->n ? n : 0;
}

json_t *indexed_task(const struct task_index *index, uint64_t pid)
{
	struct task_entry key = { .pid = pid };
	struct task_entry *e = NULL;

	/* bsearch() wants an array even where there is none */
	if (index->n)
		e = bsearch(&key, index->v, index->n, sizeof(key), compare_entries);
	return e ? e->task : NULL;
}

uint64_t kind_value(json_t *task, const char *which, const char *kind, const char *what)
{
	json_t *v = member(member(task, which), kind);

	if (!json_is_object(v) || json_is_null(member(v, what)))
		fail_msg("%s of %s of %d is unset", which, kind, (int)member_u64(task, "pid"));
	return member_u64(v, what);
}

bool kind_unset(json_t *task, const char *which, const char *kind, const char *what)
{
	json_t *v = member(member(task, which), kind);

	return json_is_null(v) || json_is_null(member(v, what));
}

const char *note_of(json_t *sample, const char *id)
{
	json_t *notes = member(sample, "notes"), *note;
	size_t i;

	json_array_foreach(notes, i, note) if (!strcmp(member_text(note, "id"),
						       id)) return member_text(note, "text");
	return NULL;
}

/* A cell: quoted with doubled quotes, or bare without any of what needs quotes. */
static const char *csv_field(const char *p, const char *end, char **out)
{
	if (p < end && *p == '"') {
		for (p++;; p++) {
			if (p >= end)
				fail_msg("an open quote");
			if (*p == '"' && (p + 1 >= end || p[1] != '"'))
				break;
			p += *p == '"';
			*(*out)++ = *p;
		}
		p++;
	} else {
		for (; p < end && *p != ',' && *p != '\r'; p++) {
			if (*p == '"' || *p == '\n')
				fail_msg("a bare quote or newline: %.80s", p);
			*(*out)++ = *p;
		}
	}
	*(*out)++ = '\0';
	return p;
}

/* A record up to its CRLF; the number of its cells. */
static size_t csv_record(const char **at, const char *end, char **cells, char **out)
{
	const char *p = *at;
	size_t n = 0;

	for (;;) {
		cells[n++] = *out;
		p = csv_field(p, end, out);
		if (p < end && *p == ',') {
			p++;
			continue;
		}
		if (end - p < 2 || p[0] != '\r' || p[1] != '\n')
			fail_msg("a record does not end in CRLF: %.80s", p);
		*at = p + 2;
		return n;
	}
}

void parse_csv(const char *data, size_t len, struct csv *csv)
{
	size_t lines = count_byte(data, len, '\n'), n;
	char **cells = e2e_keep(calloc(lines + count_byte(data, len, ',') + 1, sizeof(*cells)));
	char *out = e2e_keep(calloc(1, len + 1));
	const char *p = data;

	csv->rows = 0;
	csv->cell = e2e_keep(calloc(lines + 1, sizeof(*csv->cell)));
	while (p < data + len) {
		n = csv_record(&p, data + len, cells, &out);
		if (csv->rows && n != csv->columns)
			fail_msg("%zu cells under %zu heads in line %zu", n, csv->columns,
				 csv->rows + 1);
		csv->columns = n;
		csv->cell[csv->rows++] = cells;
		cells += n;
	}
}

size_t csv_column(const struct csv *csv, const char *name)
{
	size_t i;

	for (i = 0; csv->rows && i < csv->columns; i++)
		if (!strcmp(csv->cell[0][i], name))
			return i;
	fail_msg("no column \"%s\"", name);
	return 0;
}

size_t csv_row(const struct csv *csv, pid_t pid)
{
	size_t column = csv_column(csv, "pid"), i;

	for (i = 1; i < csv->rows; i++)
		if (atoi(csv->cell[i][column]) == (int)pid)
			return i;
	return 0;
}

const char *csv_cell(const struct csv *csv, size_t row, const char *name)
{
	assert_true(row > 0 && row < csv->rows);
	return csv->cell[row][csv_column(csv, name)];
}

/* A row's cells: parted by spaces, but for the last, which takes what is left. */
static void split_row(const char *line, size_t columns, struct text_row *row)
{
	char *p = e2e_keep(strdup(line));
	size_t max = columns ? columns : strlen(line) + 1;

	row->line = line;
	row->n = 0;
	row->cell = e2e_keep(calloc(max + 1, sizeof(*row->cell)));
	for (;;) {
		p += strspn(p, " ");
		if (!*p)
			return;
		row->cell[row->n++] = p;
		if (row->n == max)
			return;
		p += strcspn(p, " ");
		if (!*p)
			return;
		*p++ = '\0';
	}
}

/* One sample from its first line on; the line after its last. */
static size_t parse_text_sample(const char **line, size_t n, struct text_sample *s)
{
	size_t i = 0;

	s->header = line;
	while (i < n && *line[i])
		i++;
	s->header_lines = i;
	if (i + 3 >= n)
		fail_msg("a sample ends after its header");
	split_row(line[i + 1], 0, &s->heads);
	split_row(line[i + 2], 0, &s->units);
	s->row = e2e_keep(calloc(n, sizeof(*s->row)));
	for (i += 3; i < n && strncmp(line[i] + strspn(line[i], " "), "= ", 2); i++) {
		if (!*line[i])
			fail_msg("a blank line among the rows");
		split_row(line[i], s->heads.n, &s->row[s->rows++]);
	}
	if (i + 1 >= n || *line[i + 1])
		fail_msg("no sum row with a blank line behind it");
	split_row(line[i], 0, &s->sum);
	return i + 2;
}

void parse_text(const char *data, size_t len, struct text *text)
{
	char *copy = e2e_keep(calloc(1, len + 1)), *rest = copy;
	size_t n = 0, max = count_byte(data, len, '\n'), i;
	const char **line = e2e_keep(calloc(max + 2, sizeof(*line)));

	memcpy(copy, data, len);
	if (len && data[len - 1] != '\n')
		fail_msg("the last line is cut off");
	if (memchr(data, '\0', len))
		fail_msg("a NUL byte in the output");
	while (n < max)
		line[n++] = strsep(&rest, "\n");
	text->n = 0;
	text->v = e2e_keep(calloc(max + 1, sizeof(*text->v)));
	for (i = 0; i < n;)
		i += parse_text_sample(line + i, n - i, &text->v[text->n++]);
}

size_t text_column(const struct text_sample *s, const char *heading)
{
	size_t i;

	for (i = 0; i < s->heads.n; i++)
		if (!strcmp(s->heads.cell[i], heading))
			return i;
	fail_msg("no heading \"%s\" in: %s", heading, s->heads.line);
	return 0;
}

const char *text_cell(const struct text_sample *s, pid_t pid, const char *heading)
{
	size_t ids = text_column(s, "PID"), column = text_column(s, heading), i;

	for (i = 0; i < s->rows; i++)
		if (s->row[i].n > ids && atoi(s->row[i].cell[ids]) == (int)pid) {
			if (s->row[i].n <= column)
				fail_msg("no cell under %s in: %s", heading, s->row[i].line);
			return s->row[i].cell[column];
		}
	fail_msg("no row for %d", (int)pid);
	return NULL;
}

bool cell_value(const char *cell, double *value, double *slack)
{
	const char *dot = strchr(cell, '.');
	char *end;

	*value = strtod(cell, &end);
	*slack = 0.5;
	if (end == cell)
		return false;
	if (dot)
		for (dot++; dot < end; dot++)
			*slack /= 10;
	if (*end == 'k' || *end == 'M') {
		double scale = *end == 'k' ? 1e3 : 1e6;

		*value *= scale;
		*slack *= scale;
		end++;
	}
	/* what a decimal number cannot say exactly */
	*slack += 1e-6 + *value * 1e-9;
	return !*end;
}

json_t *parse_sample(const struct e2e_how *how, const char *args)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, how, "-b -n 1 -o json %s", args);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	return s.v[0];
}

json_t *parse_one(const char *args)
{
	return parse_sample(NULL, e2e_format("-d 0.2 %s", args));
}

json_t *parse_rows(const char *args)
{
	json_t *sample = parse_sample(NULL, e2e_format("-d 0.5 %s", args));
	json_t *rows = json_object_get(sample, "tasks");

	/* all rows that there are, whatever is filtered */
	assert_true(member_u64(sample, "tasks_seen") >= json_array_size(rows));
	return rows;
}

bool rows_have_pid(json_t *rows, pid_t pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (member_u64(row, "pid") == (uint64_t)pid) return true;
	return false;
}
